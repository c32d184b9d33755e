"""What `x[:k]`, `A[i, j:k]`, `A[:k, ::-1]` read and write where traced data says which; masks and indices: picking.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks
from .rows import Mask, Rows, Window, refusal
from .selections import Selection

if TYPE_CHECKING:
    from .arrays import MutableArray

ALL = slice(None)
Parts = tuple[Any, ...]


def is_open(part: Any) -> bool:
    """Does this part of a key select a number of elements that is not known?"""
    if isinstance(part, slice):
        return any(isinstance(bound, jax.Array) for bound in (part.start, part.stop, part.step))
    return isinstance(part, Selection) or isinstance(part, jax.Array) and part.dtype == bool


def of_array(array: MutableArray, key: Parts) -> Any:
    """`array[key]`: a view for slices, a copy for masks and indices."""
    return _read(Selection(array, {}), key)


def put_into(array: MutableArray, key: Parts, new: Any) -> None:
    """`array[key] = new`."""
    _write(Selection(array, {}), key, new)


def read(selection: Selection, key: Any) -> Any:
    """`selection[key]`."""
    from .arrays import keys

    return _read(selection, keys(key)[0])


def write(selection: Selection, key: Any, new: Any) -> None:
    """`selection[key] = new`."""
    from .arrays import keys

    _write(selection, keys(key)[0], new)


def _read(selection: Selection, key: Parts) -> Any:
    from . import picking

    parts = expanded(selection.ndim, key)
    return picking.read(selection, parts) if any(map(picks, parts)) else sliced(selection, parts)


def _write(selection: Selection, key: Parts, new: Any) -> None:
    from . import picking

    parts = expanded(selection.ndim, key)
    if any(map(picks, parts)):
        picking.write(selection, parts, new)
        return
    if masked := _parted(selection, parts):
        whole = selection.compact(masked)
        _write(whole, key, new)
        selection.put(whole)
        return
    actual, rows = _located(selection, parts)
    if rows:
        Selection(selection.array[actual], rows).put(new)
    else:
        selection.array[actual] = new


def picks(part: Any) -> bool:
    """Is it a mask, or several indices?"""
    if part is None or isinstance(part, slice):
        return False
    return isinstance(part, Selection) or np.ndim(part) > 0 or isinstance(part, jax.Array) and part.dtype == bool


def width(part: Any) -> int:
    """How many axes a part of a key stands for."""
    if part is None or part is ...:
        return 0
    return part.ndim if picks(part) and part.dtype == bool else 1


def expanded(ndim: int, key: Parts) -> Parts:
    """A key without an ellipsis, and with a part for each axis. Known masks are the indices that they stand for."""
    key = tuple(one for part in key for one in (np.nonzero(part) if _is_known_mask(part) else (part,)))
    missing = (ALL,) * (ndim - sum(map(width, key)))
    whole = key if any(part is ... for part in key) else (*key, ...)
    parts = tuple(one for part in whole for one in (missing if part is ... else (part,)))
    if sum(map(width, parts)) > ndim:
        raise IndexError(f"too many indices for array: array is {ndim}-dimensional")
    return parts


def _is_known_mask(part: Any) -> bool:
    return isinstance(part, np.ndarray) and part.dtype == bool and part.ndim > 0


def sliced(selection: Selection, parts: Parts) -> Any:
    """The elements that slices and integers say: a view, but of those that a mask selects along an axis."""
    masked = _parted(selection, parts)
    whole = selection.compact(masked) if masked else selection
    actual, rows = _located(whole, parts)
    found = whole.array[actual] if actual else whole.array
    return Selection(found, rows) if rows else found


def is_all(part: Any) -> bool:
    return isinstance(part, slice) and part.start is None and part.stop is None and part.step is None


def _parted(selection: Selection, parts: Parts) -> list[int]:
    """The axes along which a mask selects, and of these elements the key takes some."""
    along = [part for part in parts if part is not None]
    return [axis for axis, rows in selection.rows.items() if isinstance(rows, Mask) and not is_all(along[axis])]


def _located(selection: Selection, parts: Parts) -> tuple[Parts, dict[int, Rows]]:
    """A key of the array that stays a view, and which rows of what it gives count."""
    actual: list[Any] = []
    rows: dict[int, Rows] = {}
    axis = place = 0
    for part in parts:
        if part is None:
            actual.append(None)
            place += 1
            continue
        own = selection.rows.get(axis)
        if not isinstance(part, slice):
            actual.append(part if own is None else _place(selection, axis, part))
        elif own is not None and is_all(part) or own is None and not is_open(part):
            actual.append(part)
            rows |= {} if own is None else {place: own}
        else:
            taken, rows[place] = _window(selection, axis, part)
            actual.append(taken)
        place += isinstance(part, slice)
        axis += 1
    return tuple(actual), rows


def _place(selection: Selection, axis: int, number: Any) -> Any:
    """Where in the array the row is that has this number among those that count."""
    place = within(number, selection.count(axis))
    return jnp.clip(place, 0, max(selection.capacity(axis) - 1, 0)) + selection.rows[axis].start


def within(places: Any, size: Any, counts: Any = True) -> Any:
    """Places counted from the start, all inside an axis of that size, or NumPy's error where they count."""
    places = jnp.asarray(places)
    places = jnp.where(places < 0, places + size, places)
    hooks.raise_where(jnp.any(((places < 0) | (places >= size)) & counts), IndexError("index is out of bounds"))
    return places


def check_handled(shape: tuple[int, ...], key: Parts) -> None:
    """NumPy's error for places outside of an array, where the program handles it; elsewhere the nearest ones are taken."""
    if not hooks.is_named(IndexError):
        return
    axis = 0
    for part in expanded(len(shape), key):
        if isinstance(part, jax.Array) and part.dtype != bool:
            within(part, shape[axis])
        axis += width(part)


def _window(selection: Selection, axis: int, bounds: slice) -> tuple[slice, Window]:
    """`x[i:j]` of an axis, which may be a window already."""
    own, capacity = selection.rows.get(axis), selection.capacity(axis)
    size = capacity if own is None else selection.count(axis)
    first = 0 if own is None else own.start
    if bounds.step is not None and (isinstance(bounds.step, jax.Array) or bounds.step not in (1, -1)):
        raise refusal("it is taken in steps")
    if bounds.step == -1:
        start = 0 if bounds.start is None else size - 1 - _from_start(bounds.start, size, -1, size - 1)
        stop = size if bounds.stop is None else size - 1 - _from_start(bounds.stop, size, -1, size - 1)
        before = 0 if own is None else capacity - size - first
        return slice(None, None, -1), Window(before + start, _count(start, stop))
    start = 0 if bounds.start is None else _from_start(bounds.start, size, 0, size)
    stop = size if bounds.stop is None else _from_start(bounds.stop, size, 0, size)
    return ALL, Window(first + start, _count(start, stop))


def _from_start(bound: Any, size: Any, least: int, most: Any) -> Any:
    """A bound as Python counts it: negative ones from the end, and none beyond it."""
    if not any(isinstance(part, jax.Array) for part in (bound, size)):
        return min(max(bound + size if bound < 0 else bound, least), most)
    return jnp.clip(jnp.where(jnp.asarray(bound) < 0, bound + size, bound), least, most)


def _count(start: Any, stop: Any) -> Any:
    if isinstance(start, int) and start == 0:
        return stop
    return jnp.maximum(stop - start, 0)
