"""`np.zeros((2, k))`, `np.eye(k)`, `np.nonzero(x)`, `np.concatenate([a, b[:k]])`: arrays of which traced data says how long."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from . import counts, hooks, selecting
from .arrays import MutableArray, static, value_of, wrap
from .computing import by_element, together
from .creating import as_canonical, asarray
from .numbers import bound_of, bounded, difference
from .rows import Mask, Rows, Window, refusal
from .selections import Selection, selected

Function = Callable[..., Any]


def made(function: Function, shape: Any, args: Any, kwargs: Any) -> Any:
    """`np.zeros((2, k))` of a traced k, of which a bound is known."""
    whole = value_of(shape)
    whole = shape if isinstance(shape, tuple | list) else [whole] if np.ndim(whole) == 0 else list(whole)
    sizes = [_size(size) for size in whole]
    rows: dict[int, Rows] = {axis: Window(0, size) for axis, size in enumerate(sizes) if not isinstance(size, int)}
    for own in rows.values():
        hooks.raise_where(own.count < 0, ValueError("negative dimensions are not allowed"))
    capacities = tuple(static(size) if isinstance(size, int) else _capacity(size) for size in sizes)
    found = wrap(as_canonical(function(capacities, *args, **kwargs)))
    return Selection(found, rows) if rows else found


def full(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C", **_: Any) -> Any:
    """`np.full(k, x)` of a traced k and a traced x."""
    kind = asarray(fill_value).dtype if dtype is None else dtype
    found = made(np.zeros, shape, (), {"dtype": kind})
    found[...] = fill_value
    return found


def identity(function: Function, size: Any, columns: Any = None, *rest: Any, **kwargs: Any) -> Any:
    """`np.eye(k)`, `np.identity(k)` of a traced k."""
    columns = kwargs.pop("M", columns)
    size, columns = _size(size), _size(size if columns is None else columns)
    if rest or kwargs.keys() - {"dtype", "order"} or function is np.identity and columns is not size:
        raise refusal(f"`np.{function.__name__}` makes an array of that length")
    one = made(lambda shape, **options: np.eye(*shape, **options), (size, columns), (), kwargs)
    if isinstance(one, Selection) and columns is size:
        one.rows[1] = one.rows[0]
    return one


def _capacity(count: Any) -> int:
    capacity = bound_of(count)
    if capacity is None:
        computed, most = counts.most_of(count), hooks.max_len()
        capacity = computed if most is None or computed is not None and computed <= most else most
        if capacity is None:
            raise refusal("an array of that length is made")
        if capacity is not computed:
            hooks.raise_where(count > capacity, ValueError(f"an array longer than max_len={capacity}"))
    return max(capacity, 0)


def bounds(args: Any, kwargs: dict[str, Any]) -> list[Any]:
    """The start, the stop and, if there is one, the step of a call of `np.arange`."""
    given = [kwargs.get(name) if place >= len(args) else args[place] for place, name in enumerate(("start", "stop", "step"))]
    start, stop, step = given
    start, stop = (0, start) if stop is None else (0 if start is None else start, stop)  # NumPy's arange(k, None, 1) is to k
    return [start, stop] if step is None else [start, stop, step]


def is_counted(*args: Any) -> bool:
    """Are these what `np.arange` takes, integers of which one is traced, and a step that is not?"""
    bounds, steps = args[:2], args[2:]
    are_integers = all(isinstance(one, int | np.integer) or is_traced_integer(one) for one in bounds)
    return are_integers and any(map(is_traced_integer, bounds)) and all(isinstance(one, int) and one != 0 for one in steps)


def is_traced_integer(value: Any) -> bool:
    return isinstance(value, jax.Array) and value.ndim == 0 and value.dtype.kind in "iu"


def counted(first: Any, stop: Any, step: int = 1, **kwargs: Any) -> Any:
    """`np.arange(k)`, `np.arange(i, k, step)` of a traced k or i, where a bound of how many there are is known."""
    if isinstance(first, int) and first == 0 and step == 1:
        return _first_integers(jnp.maximum(stop, 0), kwargs)
    known = difference(stop, first)  # of `np.arange(i, i + 3)`
    apart = stop - first if known is None else known
    count = -(-apart // step) if step != 1 else apart
    if step > 1 and (most := bound_of(apart)) is not None:
        count = bounded(count, -(-most // step))
    found = _first_integers(max(count, 0) if isinstance(count, int) else jnp.maximum(count, 0), kwargs)
    return (found * step if step != 1 else found) + first


def _first_integers(count: Any, kwargs: Any) -> Any:
    return made(lambda sizes, **options: np.arange(*sizes, **options), count, (), kwargs)


def evenly_spaced(
    start: Any, stop: Any, num: Any, endpoint: Any = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """`np.linspace` between numbers, of a traced number of points, of which a bound is known."""
    if np.ndim(start) or np.ndim(stop) or dtype is not None or axis != 0:
        raise refusal("`np.linspace` makes an array of that length")
    hooks.raise_where(num < 0, ValueError("Number of samples must be non-negative."))
    kind = jnp.result_type(start, stop, float)
    start, stop = jnp.asarray(start, kind), jnp.asarray(stop, kind)
    parts = num - 1 if endpoint else num
    step = (stop - start) / jnp.where(parts > 0, parts, 1)
    places = jnp.arange(_capacity(num))
    points = places * step + start
    points = jnp.where((places == num - 1) & (num > 1), stop, points) if endpoint else points
    found = Selection(wrap(points), {0: Window(0, jnp.maximum(num, 0))})
    return (found, jnp.where(parts > 0, step, jnp.nan)) if retstep else found


def _size(size: Any) -> Any:
    size = value_of(size)
    return size if isinstance(size, jax.core.Tracer) else operator.index(size)


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """`np.broadcast_shapes`, of shapes with a traced number in them."""
    shapes = tuple(shape if isinstance(shape, tuple | list) else (shape,) for shape in shapes)
    ndim = max(map(len, shapes), default=0)
    columns = zip(*[(1,) * (ndim - len(shape)) + tuple(shape) for shape in shapes], strict=True)
    return tuple(map(_common_size, columns))


def _common_size(sizes: Sequence[Any]) -> Any:
    others = [size for size in sizes if not isinstance(size, int) or size != 1]
    for other in others[1:]:
        if other is not others[0]:
            error = ValueError("shape mismatch: objects cannot be broadcast to a single shape")
            hooks.raise_where(jnp.asarray(other != others[0]), error)
    return others[0] if others else 1


def broadcast_to(x: Any, shape: Any) -> Any:
    """`np.broadcast_to(x, shape)`, of a shape with a traced number in it."""
    target = made(np.zeros, shape, (), {"dtype": x.dtype})
    return by_element(lambda one, other: np.where(True, other, one), (target, x))


def indices(array: MutableArray) -> Selection:
    """`np.flatnonzero(array)`."""
    mask = jnp.asarray(array.value).ravel() != 0
    return selecting.of_array(wrap(np.arange(array.size)), (mask,))


def nonzero(array: MutableArray) -> tuple[Selection, ...]:
    """`np.nonzero(array)`, an index of each axis."""
    flat = indices(array)
    places = np.unravel_index(np.arange(array.size), array.shape)
    return tuple(flat.like(jnp.asarray(place)[flat.values]) for place in places)


def compressed(condition: Any, a: Any, axis: int | None = None, out: Any = None) -> Any:
    """`np.compress`, `np.extract`: the elements, or rows along an axis, where a condition holds."""
    array, holds = asarray(a), asarray(condition).astype(bool)
    array, axis = (array.ravel(), 0) if axis is None else (array, axis % array.ndim)
    found = array[(slice(None),) * axis + (holds.ravel() if len(holds) == array.shape[axis] else np.flatnonzero(holds),)]
    if out is None:
        return found
    out[...] = found
    return out


def joined(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`np.concatenate([a[:k], b])`, `np.vstack`, `np.block`: one behind the other, and a mask says which rows count."""
    if function is np.block:
        return _block(args[0], _depth(args[0]))[0]
    parts = list(args[:2]) if function is np.append else list(args[0])
    rest = args[2:] if function is np.append else args[1:]
    axis = rest[0] if rest else kwargs.get("axis", None if function is np.append else 0)
    parts = [part if isinstance(part, Selection) else np.atleast_1d(asarray(part)) for part in parts]
    if function is np.vstack:
        parts = [np.atleast_2d(part) for part in parts]
    elif function is np.hstack:
        axis = 0 if parts[0].ndim == 1 else 1
    elif function is np.column_stack:
        parts, axis = [part[:, None] if part.ndim == 1 else part for part in parts], 1
    elif axis is None:
        parts, axis = [np.ravel(part) for part in parts], 0
    found = concatenated(parts, axis % parts[0].ndim)
    out = rest[1] if len(rest) > 1 else kwargs.get("out")
    kinds = [np.empty(1, part.dtype) for part in parts]
    options = {name: kwargs[name] for name in ("dtype", "casting") if name in kwargs}
    if options:
        found = found.astype(np.concatenate(kinds, **options).dtype)
    if out is None:
        return found
    out[...] = found
    return out


def stacked(parts: Any) -> Any:
    """`np.array([a[:k], b[:k]])`."""
    if not isinstance(parts, list | tuple):
        return parts if isinstance(parts, Selection) else asarray(parts)
    return np.stack([stacked(part) for part in parts])


def concatenated(parts: Sequence[Any], axis: int) -> Any:
    """Along this axis each part with rows of its own, along each other one with the same rows."""
    ready, rows = list(parts), {}
    if len({part.ndim for part in parts}) > 1:
        raise ValueError("all the input array dimensions must match exactly")
    for other in range(parts[0].ndim):
        holders = [n for n, part in enumerate(ready) if isinstance(part, Selection) and other in part.rows]
        if other == axis or not holders:
            continue
        if len(holders) == len(ready):
            rows[other], ready = together(ready, [(n, other) for n in holders])
            continue
        size = next(_sizes(part)[other] for n, part in enumerate(ready) if n not in holders)
        for n in holders:
            ready[n] = ready[n].exactly(size, other)
    whole = np.concatenate([wrap(part.values) if isinstance(part, Selection) else part for part in ready], axis=axis)
    if any(isinstance(part, Selection) and axis in part.rows for part in ready):
        masks = [
            part.mask(axis) if isinstance(part, Selection) and axis in part.rows else jnp.ones(_sizes(part)[axis], bool)
            for part in ready
        ]
        mask = jnp.concatenate(masks)
        rows[axis] = Mask(mask, (mask,))
    return selected(whole, rows)


def _sizes(part: Any) -> tuple[int, ...]:
    return part.array.shape if isinstance(part, Selection) else np.shape(value_of(part))


def _depth(part: Any) -> int:
    return 1 + max(map(_depth, part)) if isinstance(part, list) else 0


def _block(part: Any, depth: int) -> tuple[Any, int]:
    """What stands in nested lists, put together, and how many axes there are: the innermost lists along the last axis."""
    if not isinstance(part, list):
        return part if isinstance(part, Selection) else asarray(part), 0
    found = [_block(inner, depth - 1)[0] for inner in part]
    ndim = max(depth, *(one.ndim for one in found))
    found = [one[(None,) * (ndim - one.ndim)] for one in found]
    return concatenated(found, ndim - depth), ndim
