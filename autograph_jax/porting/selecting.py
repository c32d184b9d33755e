"""What `x[mask]`, `x[mask, :]`, `x[:k]`, `x[:, i:j]` and `x[indices]` read and write where traced data says which elements."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks
from .rows import Mask, Window, refusal
from .selections import Selection, together

if TYPE_CHECKING:
    from .arrays import MutableArray

_ALL = slice(None)


def is_open(part: Any) -> bool:
    """Does this part of a key select a number of elements that is not known?"""
    if isinstance(part, slice):
        return any(isinstance(bound, jax.Array) for bound in (part.start, part.stop, part.step))
    return isinstance(part, Selection) or isinstance(part, jax.Array) and part.dtype == bool


def of_array(array: MutableArray, key: tuple[Any, ...]) -> Selection:
    """`array[key]`: a view for a slice, a copy for a mask and for indices."""
    parts, place = _expanded(array.ndim, key)
    selector = parts[place]
    if sum(isinstance(part, Selection) for part in parts) > 1:
        return _by_pairs(array, parts)
    width = selector.ndim if isinstance(selector, jax.Array) else 1
    _check(parts, place, array, width)
    before = sum(1 for part in parts[:place] if part is None or isinstance(part, slice))
    ints = [number for number, part in enumerate(parts) if _is_index(part)]
    rest = _rest(array, parts, place, width)
    if isinstance(selector, slice):
        return _window(rest, before, selector)
    value = jnp.asarray(rest.value)
    if ints and any(abs(number - place) > 1 and not _is_index(parts[number - 1]) for number in ints):
        value, before = jnp.moveaxis(value, range(before, before + width), range(width)), 0  # NumPy's rule for such keys
    if isinstance(selector, Selection):
        return _by_indices(value, before, selector)
    shape = (*value.shape[:before], selector.size, *value.shape[before + width :])
    return _where(value.reshape(shape), before, selector.ravel(), (selector,))


def put_into(array: MutableArray, key: tuple[Any, ...], new: Any) -> None:
    """`array[key] = new`."""
    from .arrays import wrap

    parts, place = _expanded(array.ndim, key)
    selector = parts[place]
    if isinstance(selector, slice):
        of_array(array, key).put(new)
    elif isinstance(selector, Selection):
        places = of_array(wrap(np.arange(array.size).reshape(array.shape)), key)
        held = places.like(jnp.zeros(places.array.shape, array.dtype))
        held.put(new)
        flat = jnp.asarray(array.value).reshape(-1)
        where = jnp.where(places.over(), places.values, flat.size)
        array.put(flat.at[where].set(held.array.value, mode="drop").reshape(array.shape))
    else:
        _check(parts, place, array, selector.ndim)
        rest = _rest(array, parts, place, selector.ndim)
        axis = sum(1 for part in parts[:place] if part is None or isinstance(part, slice))
        shape = (*rest.shape[:axis], -1, *rest.shape[axis + selector.ndim :])
        held = Selection(wrap(jnp.asarray(rest.value).reshape(shape)), axis, Mask(selector.ravel(), (selector,)))
        held.put(new)
        rest.put(held.array.value.reshape(rest.shape))


def _rest(array: MutableArray, parts: list[Any], place: int, width: int) -> MutableArray:
    """What the other parts of the key leave. A mask without dimensions takes no axis: `x[x > 0]` of a scalar."""
    key = (*parts[:place], *[_ALL] * width, *parts[place + 1 :])
    return array[key] if key else array


def _check(parts: list[Any], place: int, array: Any, width: int) -> None:
    for number, part in enumerate(parts):
        if number != place and (is_open(part) or np.ndim(part) and not isinstance(part, slice)):
            raise refusal("it is selected along two axes")
    sizes = array.shape[sum(1 for part in parts[:place] if part is not None) :][:width]
    selector = parts[place]
    if isinstance(selector, jax.Array) and selector.shape != sizes:
        raise IndexError(f"boolean index has shape {selector.shape}, the indexed array {array.shape}")


def _expanded(ndim: int, key: tuple[Any, ...]) -> tuple[list[Any], int]:
    """A key without an ellipsis, and where in it the part is that selects."""
    used = sum(part.ndim if isinstance(part, jax.Array) and part.dtype == bool else 1 for part in key if _takes_axis(part))
    missing = [_ALL] * (ndim - used)
    parts: list[Any] = []
    for part in key if any(part is ... for part in key) else (*key, ...):
        parts += missing if part is ... else [part]
    return parts, next(number for number, part in enumerate(parts) if is_open(part))


def _takes_axis(part: Any) -> bool:
    return part is not None and part is not ...


def _is_index(part: Any) -> bool:
    return not isinstance(part, slice) and part is not None and not is_open(part)


def _where(value: jax.Array, axis: int, mask: jax.Array, origin: tuple[Any, ...]) -> Selection:
    from .arrays import wrap

    if mask.size:
        one = jnp.take(value, jnp.argmax(mask)[None], axis=axis)
        over = mask.reshape(mask.shape + (1,) * (value.ndim - axis - 1))
        value = jnp.where(over, value, one)
    return Selection(wrap(value), axis, Mask(mask, origin))


def _by_indices(value: jax.Array, axis: int, indices: Selection) -> Selection:
    from .arrays import wrap

    if indices.ndim != 1 or indices.dtype == bool:
        raise refusal("it is used as an index of another array")
    places = indices.values
    hooks.raise_where(jnp.any(indices.mask & ((places < -value.shape[axis]) | (places >= value.shape[axis]))), _outside())
    return Selection(wrap(jnp.take(value, places, axis=axis, mode="wrap")), axis, indices.rows.own())


def _by_pairs(array: MutableArray, parts: list[Any]) -> Selection:
    """`m[rows, columns]` of several index arrays that are as long as each other."""
    from .arrays import wrap

    chosen = [part for part in parts if isinstance(part, Selection)]
    others = [part for part in parts if not isinstance(part, Selection)]
    if any(part.ndim != 1 or part.dtype == bool for part in chosen) or any(is_open(part) or np.ndim(part) for part in others):
        raise refusal("it is selected along two axes")
    rows, values = together(chosen)
    remaining, outside, axis = iter(values), jnp.zeros(values[0].shape, bool), 0
    actual: list[Any] = []
    for part in parts:
        places = next(remaining) if isinstance(part, Selection) else part
        if isinstance(part, Selection):
            outside |= (places < -array.shape[axis]) | (places >= array.shape[axis])
            places = jnp.clip(jnp.where(places < 0, places + array.shape[axis], places), 0, array.shape[axis] - 1)
        actual.append(places)
        axis += part is not None
    hooks.raise_where(jnp.any(outside & rows.of(len(outside))), _outside())
    shapes = []
    for size in (1, 2):  # NumPy's rule for where the axis comes to be
        keys = (np.zeros(size, int) if isinstance(p, Selection) else 0 if _is_index(p) else p for p in parts)
        shapes.append(np.shape(np.empty((max(1, *array.shape),) * array.ndim)[tuple(keys)]))
    (at,) = (number for number, pair in enumerate(zip(*shapes, strict=True)) if pair[0] != pair[1])
    return Selection(wrap(jnp.asarray(array.value)[tuple(actual)]), at, rows)


def _outside() -> IndexError:
    return IndexError("index is out of bounds")


def _window(array: MutableArray, axis: int, bounds: slice) -> Selection:
    """`x[i:j]` of an axis."""
    size = array.shape[axis]
    if bounds.step is not None and (isinstance(bounds.step, jax.Array) or bounds.step not in (1, -1)):
        raise refusal("it is taken in steps")
    if bounds.step == -1:
        turned = (_ALL,) * axis + (slice(None, None, -1),)
        start = 0 if bounds.start is None else size - 1 - _from_start(bounds.start, size, -1, size - 1)
        stop = size if bounds.stop is None else size - 1 - _from_start(bounds.stop, size, -1, size - 1)
        return Selection(array[turned], axis, Window(start, _count(start, stop)))
    start = 0 if bounds.start is None else _from_start(bounds.start, size, 0, size)
    stop = size if bounds.stop is None else _from_start(bounds.stop, size, 0, size)
    return Selection(array, axis, Window(start, _count(start, stop)))


def _from_start(bound: Any, size: Any, least: int, most: Any) -> Any:
    """A bound as Python counts it: negative ones from the end, and none beyond it."""
    if not any(isinstance(part, jax.Array) for part in (bound, size)):
        return min(max(bound + size if bound < 0 else bound, least), most)
    return jnp.clip(jnp.where(jnp.asarray(bound) < 0, bound + size, bound), least, most)


def _count(start: Any, stop: Any) -> Any:
    if isinstance(start, int) and start == 0:
        return stop
    return jnp.maximum(stop - start, 0)


# ------------------------------------------------------------------ parts of a selection


@dataclasses.dataclass(frozen=True)
class _Key:
    """A key of a selection: its parts with all rows at `number`, and what it has said there."""

    parts: tuple[Any, ...]
    number: int
    at: Any

    @property
    def axis(self) -> int:
        """Where in the result the selected axis comes to be."""
        return sum(1 for part in self.parts[: self.number] if part is None or isinstance(part, slice))

    def at_place(self, place: Any) -> tuple[Any, ...]:
        return (*self.parts[: self.number], place, *self.parts[self.number + 1 :])


def _key(selection: Selection, key: Any) -> _Key:
    from .arrays import value_of

    given = tuple(part if isinstance(part, slice) else value_of(part) for part in (key if isinstance(key, tuple) else (key,)))
    missing = [_ALL] * (selection.ndim - sum(map(_takes_axis, given)))
    parts: list[Any] = []
    for part in given if any(part is ... for part in given) else (*given, ...):
        parts += missing if part is ... else [part]
    number = [number for number, part in enumerate(parts) if part is not None][selection.axis]
    at, parts[number] = parts[number], _ALL
    if any(is_open(part) or np.ndim(part) for part in parts if part is not None and not isinstance(part, slice)):
        raise refusal("elements of it are picked along two axes")
    return _Key(tuple(parts), number, at)


def read(selection: Selection, key: Any) -> Any:
    """`selection[key]`."""
    if isinstance(key, tuple) and sum(isinstance(part, Selection) for part in key) > 1:
        return _pairs_of(selection, key)
    key = _key(selection, key)
    if _is_one(key.at):
        if isinstance(selection.rows, Mask):
            selection = selection.compact()
        return selection.array[key.at_place(_place(selection, key.at))]
    part = Selection(selection.array[key.parts], key.axis, selection.rows)
    if isinstance(key.at, slice):
        return part if key.at == _ALL else _slice_of(part, key.at)
    if isinstance(key.at, Selection) and key.at.dtype == bool:
        return _marked(part, key.at)
    return _at_indices(part, key.at)


def _pairs_of(selection: Selection, key: tuple[Any, ...]) -> Any:
    """`s[rows, columns]` of several index arrays."""
    from .arrays import wrap

    missing = [_ALL] * (selection.ndim - sum(map(_takes_axis, key)))
    given = key if any(part is ... for part in key) else (*key, ...)
    parts = [one for part in given for one in (missing if part is ... else [part])]
    number = [number for number, part in enumerate(parts) if part is not None][selection.axis]
    at = parts[number]
    if not isinstance(at, Selection) or at.dtype == bool:
        raise refusal("elements of it are picked along two axes")
    places, count = at.values, selection.count
    hooks.raise_where(jnp.any(at.mask & ((places < -count) | (places >= count))), _outside())
    parts[number] = at.like(jnp.where(places < 0, places + count, places))
    return of_array(wrap(selection.compact().values), tuple(parts))


def write(selection: Selection, key: Any, new: Any) -> None:
    """`selection[key] = new`."""
    whole_key, key = key, _key(selection, key)
    is_view = isinstance(selection.rows, Window)
    if _is_one(key.at) and is_view:
        selection.array[key.at_place(_place(selection, key.at))] = new
        return
    if _is_one(key.at):
        whole = selection.compact()
        write(whole, whole_key, new)
        selection.put(whole)
        return
    part = Selection(selection.array[key.parts], key.axis, selection.rows)
    if isinstance(key.at, slice) and (key.at == _ALL or is_view):
        (part if key.at == _ALL else _slice_of(part, key.at)).put(new)
    elif isinstance(key.at, Selection) and key.at.dtype == bool:
        held = _marked(part, key.at)
        held.put(new)
        whole = part if part.rows.is_same(key.at.rows) else part.compact()  # as the rows of `held` lie
        before = jax.lax.slice_in_dim(whole.values, 0, held.capacity, axis=whole.axis)
        part.put(whole.like(jnp.where(held.over(), held.array.value, before)))
    elif isinstance(key.at, slice):
        whole = part.compact()
        _slice_of(whole, key.at).put(new)
        part.put(whole)
    elif part.ndim == 1:
        _write_at(part, key.at, new)
    else:
        raise refusal("elements of it are written")


def _write_at(part: Selection, at: Any, new: Any) -> None:
    """`s[i] = v`, `s[indices] = values` of one axis."""
    from .arrays import wrap

    compact, indices = (
        part.compact(),
        at if isinstance(at, Selection) else Selection(wrap(jnp.atleast_1d(at)), 0, Window(0, np.size(at))),
    )
    places, count = indices.values, part.count
    outside = (places < -count) | (places >= count)
    hooks.raise_where(jnp.any(outside & indices.mask), _outside())
    held = indices.like(jnp.zeros(places.shape, part.dtype))
    held.put(new)
    where = jnp.where(indices.mask, jnp.where(places < 0, places + count, places), compact.capacity)
    part.put(compact.like(compact.values.at[where].set(held.array.value, mode="drop")))


def _is_one(at: Any) -> bool:
    return not isinstance(at, slice | Selection) and np.ndim(at) == 0


def _place(selection: Selection, at: Any) -> Any:
    """Where in the array the row is that has this number among those that count."""
    count = selection.count
    place = jnp.where(jnp.asarray(at) < 0, at + count, at)
    hooks.raise_where(jnp.any((place < 0) | (place >= count)), _outside())
    place = jnp.clip(place, 0, selection.capacity - 1)
    return place + selection.rows.start


def _slice_of(part: Selection, bounds: slice) -> Selection:
    """Rows from one number to another, of those that count; in the other order with the step -1."""
    if bounds.step not in (None, 1, -1):
        raise refusal("it is taken in steps")
    if isinstance(part.rows, Mask):
        part = part.compact()
    if bounds.step == -1:
        if bounds.start is not None or bounds.stop is not None:
            raise refusal("it is taken in steps")
        turned = part._taken(part.values, part.count - 1 - jnp.arange(part.capacity))
        return part.like(turned)
    start = 0 if bounds.start is None else _from_start(bounds.start, part.count, 0, part.count)
    stop = part.count if bounds.stop is None else _from_start(bounds.stop, part.count, 0, part.count)
    return Selection(part.array, part.axis, Window(part.rows.start + start, _count(start, stop)))


def _marked(part: Selection, marks: Selection) -> Selection:
    """`s[s > 0]`: of the rows that count, some."""
    if marks.ndim != 1:
        raise refusal("it is indexed by a mask of several axes")
    rows, (values, holds) = together([part, marks])
    same = part.rows.is_same(marks.rows)
    origin = (*part.rows.origin, marks.array.value) if same else (holds,)
    return _where(values, part.axis, rows.of(holds.shape[0]) & holds, origin)


def _at_indices(part: Selection, indices: Any) -> Any:
    from .arrays import wrap

    chosen = indices if isinstance(indices, Selection) else None
    places = jnp.asarray(indices if chosen is None else chosen.values)
    outside = (places < -part.count) | (places >= part.count)
    hooks.raise_where(jnp.any(outside if chosen is None else outside & chosen.mask), _outside())
    part = part.compact()
    taken = part._taken(part.values, jnp.where(places < 0, places + part.count, places))
    return wrap(taken) if chosen is None else Selection(wrap(taken), part.axis, chosen.rows.own())
