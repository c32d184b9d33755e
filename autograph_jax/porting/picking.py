"""`x[mask]`, `A[mask, :k]`, `A[np.ix_(i, j)]`, `A[i, j]`: what masks and indices pick, where traced data says how many."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from . import casting
from .arrays import keys, value_of, wrap
from .computing import aligned, together
from .rows import Mask, Rows, over, refusal
from .selecting import ALL, Parts, expanded, picks, sliced, within
from .selecting import width as width_of
from .selections import Selection, selected
from .ufuncs import operand_dtypes, repeated


def read(selection: Selection, parts: Parts) -> Any:
    """`selection[parts]`, a copy."""
    place = _only_mask(parts)
    return _by_places(selection, parts) if place is None else _by_mask(selection, parts, place)


def write(selection: Selection, parts: Parts, new: Any) -> None:
    """`selection[parts] = new`."""
    place = _only_mask(parts)
    if place is None or isinstance(parts[place], Selection) or _moves_to_front(parts, place):
        _scatter(selection, parts, new)
        return
    rest, axis, mask = *_beside(selection, parts, place), parts[place]
    axes = range(axis, axis + mask.ndim)
    if rest.ndim == 0 or any(one in rest.rows for one in axes):
        _scatter(selection, parts, new)
        return
    _check(rest, axis, mask)
    shape = _flattened(rest.array.shape, axis, mask.ndim)
    rows = {_after(one, axis, mask.ndim): own for one, own in rest.rows.items()} | {axis: Mask(mask.ravel(), (mask,))}
    held = Selection(wrap(jnp.asarray(rest.array.value).reshape(shape)), rows)
    held.put(new)
    rest.array.put(held.array.value.reshape(rest.array.shape))


def changed_at(ufunc: np.ufunc, array: Any, key: Any, *operands: Any) -> None:
    """`ufunc.at(array, key, *operands)`: each place is changed as often as the key names it."""
    selection = _all_of(array)
    places, where = _places(selection, expanded(selection.ndim, keys(key)[0]))
    values = tuple(x.array.value if isinstance(x, Selection) else casting.nested(value_of(x)) for x in operands)
    dtypes = operand_dtypes(ufunc, selection.array.value, values)
    others = [_brought(operand, places, dtype).ravel() for operand, dtype in zip(operands, dtypes[1:], strict=False)]
    selection.array.put(repeated(ufunc, jnp.asarray(selection.array.value), where.ravel(), others, dtypes[0]))


def _scatter(selection: Selection, parts: Parts, new: Any) -> None:
    array, (places, where) = selection.array, _places(selection, parts)
    flat = jnp.asarray(array.value).reshape(-1)
    array.put(flat.at[where].set(_brought(new, places, array.dtype), mode="drop").reshape(array.shape))


def _places(selection: Selection, parts: Parts) -> tuple[Selection, Any]:
    """The numbers of the elements that are picked: where in the array they are, behind its end where they do not count."""
    array = selection.array
    numbers = Selection(wrap(np.arange(array.size).reshape(array.shape)), selection.rows)
    found = read(numbers, parts) if any(map(picks, parts)) else sliced(numbers, parts)
    places = found if isinstance(found, Selection) else Selection(wrap(jnp.asarray(value_of(found))), {})
    return places, jnp.where(places.over(), places.values, array.size) if places.rows else places.values


def _brought(new: Any, places: Selection, dtype: Any) -> Any:
    """What is written, an element for each place."""
    held = Selection(wrap(jnp.zeros(places.array.shape, dtype)), places.own())
    held.put(new)
    return jnp.asarray(held.array.value)


# ------------------------------------------------------------------ one mask


def _only_mask(parts: Parts) -> int | None:
    """Where the only part is that picks elements, and is a mask."""
    picking = [number for number, part in enumerate(parts) if picks(part)]
    return picking[0] if len(picking) == 1 and parts[picking[0]].dtype == bool else None


def _beside(selection: Selection, parts: Parts, place: int) -> tuple[Selection, int]:
    """What the other parts of the key leave, and the first axis of it that the mask is for."""
    key = (*parts[:place], *(ALL,) * parts[place].ndim, *parts[place + 1 :])
    rest = sliced(selection, key)
    axis = sum(1 for part in parts[:place] if part is None or isinstance(part, slice))
    if isinstance(rest, Selection):
        return rest, axis
    return Selection(rest if hasattr(rest, "shadow") else wrap(jnp.asarray(rest)), {}), axis  # one element, `p[flag, -1]`


def _check(rest: Selection, axis: int, mask: Any) -> None:
    sizes = rest.array.shape[axis : axis + mask.ndim]
    if mask.shape != sizes:
        raise IndexError(f"boolean index has shape {mask.shape}, the indexed array {sizes} along its axes")


def _by_mask(selection: Selection, parts: Parts, place: int) -> Any:
    rest, axis = _beside(selection, parts, place)
    given = parts[place]
    mask, width = given if isinstance(given, Selection) else Selection(wrap(given), {}), given.ndim
    origin: tuple[Any, ...] = () if isinstance(given, Selection) else (given,)
    is_same = True
    for number in range(width):
        one = axis + number
        if one in rest.rows and number in mask.rows:
            is_same = is_same and rest.rows[one].is_same(mask.rows[number])
            _, (rest, mask) = together([rest, mask], [(0, one), (1, number)])
        elif one in rest.rows:
            rest = _all_of(rest.exactly(mask.capacity(number), one))
        elif number in mask.rows:
            mask, is_same = _all_of(mask.exactly(rest.capacity(one), number)), False
    _check(rest, axis, mask.array)
    holds = mask.values & mask.over() if mask.rows else jnp.asarray(mask.array.value)
    if not origin:
        kept = [part for own in given.rows.values() for part in own.origin]
        origin = (*kept, given.array.value) if is_same and mask.rows else (holds,)
    value = rest.values.reshape(_flattened(rest.array.shape, axis, width))
    rows = {_after(one, axis, width): own for one, own in rest.own().items() if not axis <= one < axis + width}
    if axis and _moves_to_front(parts, place):
        value = jnp.moveaxis(value, axis, 0)
        rows, axis = {one + (one < axis): own for one, own in rows.items()}, 0
    return selected(value, rows | {axis: Mask(holds.reshape(-1), origin)})


def _all_of(x: Any) -> Selection:
    return x if isinstance(x, Selection) else Selection(x, {})


def _flattened(shape: tuple[int, ...], axis: int, width: int) -> tuple[int, ...]:
    return (*shape[:axis], int(np.prod(shape[axis : axis + width], dtype=int)), *shape[axis + width :])


def _after(one: int, axis: int, width: int) -> int:
    """Where an axis is, when these are one."""
    return one if one < axis else one - width + 1


def _moves_to_front(parts: Parts, place: int) -> bool:
    """NumPy's rule for `A[0, :, mask]`: the axis of what is picked comes first, where a slice stands in between."""
    numbers = [number for number, part in enumerate(parts) if number == place or _is_index(part)]
    return numbers[-1] - numbers[0] + 1 != len(numbers)


def _is_index(part: Any) -> bool:
    return part is not None and not isinstance(part, slice)


# ------------------------------------------------------------------ indices


def _by_places(selection: Selection, parts: Parts) -> Any:
    parts = tuple(one for part in parts for one in (np.nonzero(_array(part)) if _is_mask(part) else (part,)))
    along = [part for part in parts if part is not None]
    whole = selection.compact([axis for axis in selection.rows if _is_index(along[axis])])
    rest = _all_of(sliced(whole, tuple(ALL if _is_index(part) else part for part in parts)))
    numbers = [number for number, part in enumerate(parts) if _is_index(part)]
    if any(isinstance(parts[number], Selection) and parts[number].dtype.kind not in "iu" for number in numbers):
        raise refusal("it is used as an index of another array")
    index_rows, arrays = aligned([parts[number] for number in numbers])
    places = jnp.broadcast_arrays(*(jnp.asarray(value_of(array)) for array in arrays))
    ndim = places[0].ndim
    counts: Any = True
    for place, own in index_rows.items():
        counts = counts & over(own.of(places[0].shape[place]), place + ndim, ndim)
    key: list[Any] = [ALL] * rest.ndim
    for number, one in zip(numbers, places, strict=True):
        size = rest.count(number) if number in rest.rows else rest.capacity(number)
        key[number] = jnp.clip(within(one, size, counts), 0, max(rest.capacity(number) - 1, 0))
    first = numbers[0] if numbers[-1] - numbers[0] + 1 == len(numbers) else 0
    rows: dict[int, Rows] = {first + place + ndim: own for place, own in index_rows.items()}
    for axis, own in rest.own().items():
        if axis not in numbers:
            before = sum(number < axis for number in numbers)
            rows[axis - before + (ndim if axis - before >= first else 0)] = own
    return selected(rest.values[tuple(key)], rows)


def _is_mask(part: Any) -> bool:
    return picks(part) and part.dtype == bool


def _array(mask: Any) -> Any:
    if isinstance(mask, Selection) and width_of(mask) != 1:
        raise refusal("it is indexed by a mask of several axes")
    return mask if isinstance(mask, Selection) else wrap(mask)
