"""NumPy's functions of selections: which axis of the result is the selected one is seen by asking NumPy with two sizes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from . import hooks, least_squares, ordering
from .arrays import MutableArray, static, value_of, wrap
from .creating import as_canonical, asarray
from .rows import Mask, Window, bound_of, refusal
from .selections import Selection, by_element, together
from .views import is_static

Function = Callable[..., Any]

# Sums of products: a row of zeros adds nothing.
_PRODUCTS = (
    np.dot, np.matmul, np.vdot, np.inner, np.outer, np.tensordot, np.einsum, np.linalg.norm, np.kron, np.linalg.vector_norm,
    np.linalg.outer, np.vecdot, np.trace,
)  # fmt: skip
# Each row of the result is made of one row.
_BY_ROW = (
    np.tile, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.stack, np.vstack, np.column_stack, np.ravel,
    np.atleast_1d, np.atleast_2d, np.broadcast_to, np.matrix_transpose, np.linalg.solve, np.linalg.det, np.linalg.inv,
)  # fmt: skip
# Each element is looked up in what is, or may be, a selection too.
_ALONG = (np.cumsum, np.cumprod, np.nancumsum)  # of those that count nothing depends on what stands behind them
_BY_ELEMENT = (
    np.where, np.clip, np.isclose, np.real, np.imag, np.nan_to_num, np.iscomplex, np.isreal, np.angle, np.round, np.sinc,
    np.real_if_close,
)  # fmt: skip
_NORMS = (np.linalg.norm, np.linalg.vector_norm)
_REDUCTIONS = "sum prod mean any all max min amax amin var std".split()
_JOINING = (np.concatenate, np.hstack, np.append)
_MAKING = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)
_ITSELF = (
    np.asarray, np.asanyarray, np.array, np.ascontiguousarray, np.asfortranarray, np.copy, np.require, np.asarray_chkfinite,
)  # fmt: skip


def call(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)` of NumPy, where an argument is, or holds, a selection."""
    name, first = function.__name__, args[0] if args else None
    if function in _BY_ELEMENT and not (function is np.where and len(args) == 1):
        return by_element(lambda *arrays: function(*arrays, **kwargs), args)
    module = getattr(function, "__module__", None) or ""
    if name in ("lstsq", "qr") and module.startswith(("numpy.linalg", "scipy.linalg")):
        of_scipy = module.startswith("scipy")
        if name == "qr":
            return least_squares.of_selection("scipy.linalg" if of_scipy else "numpy.linalg", *args, **kwargs)
        return (least_squares.scipys if of_scipy else least_squares.numpys)(*args, **kwargs)
    if function is np.isin and isinstance(first, Selection):
        return by_element(lambda element: function(element, *args[1:], **kwargs), args[:1])
    if function in _LOOKING_UP:
        return _LOOKING_UP[function](*args, **kwargs)
    if function in _PRODUCTS:
        if function in _NORMS:
            _check_order(function, *args, **kwargs)
        return of_products(function, args, kwargs)
    if function in _JOINING:
        return _joined(function, args, kwargs)
    if function in _BY_ROW:
        return _through(function, args, kwargs, lambda selection: selection)
    if isinstance(first, Selection):
        found = _of_one(function, name, first, args[1:], kwargs)
        if found is not NotImplemented:
            return found
    error = refusal(f"`np.{name}` is called with it")
    error.lacks = function  # NumPy's own Python code may do
    raise error


def _of_one(function: Function, name: str, selection: Selection, rest: Any, kwargs: dict[str, Any]) -> Any:
    if name in _REDUCTIONS:
        names = ("axis", "dtype", "out") if name in ("sum", "prod", "mean", "var", "std") else ("axis", "out", "keepdims")
        name = name.removeprefix("a") if name in ("amax", "amin") else name
        return selection.reduced(name, **dict(zip(names, rest, strict=False)), **kwargs)
    if function in (np.argmax, np.argmin):
        return ordering.extreme(selection, name, *rest, **kwargs)
    if function in _ALONG:
        return _through(function, (selection.compact(), *rest), kwargs, lambda one: one)
    if function in _ITSELF:
        dtype = kwargs.get("dtype") or (rest[0] if rest and function in (np.asarray, np.array, np.asanyarray) else None)
        copied = function in (np.array, np.copy)
        found = selection.astype(dtype) if dtype is not None else selection.copy() if copied else selection
        return found[(None,) * max(kwargs.get("ndmin", 0) - found.ndim, 0)] if kwargs.get("ndmin", 0) > found.ndim else found
    if function in _MAKING:
        kwargs = {key: value for key, value in kwargs.items() if key != "shape"}
        return selection.like(function(np.empty(selection.array.shape, selection.dtype), *rest, **kwargs))
    if function in (np.sort, np.argsort):
        return ordering.in_order(function, selection, *rest, **kwargs)
    if function in (np.nonzero, np.flatnonzero, np.where) and selection.ndim == 1:
        compact = selection.compact()
        found = indices(wrap(compact.filled(0)))
        return found if function is np.flatnonzero else (found,)
    if function is np.count_nonzero and not rest and not kwargs:
        return jnp.asarray(value_of((selection != 0).sum()))
    if function in (np.median, np.percentile, np.quantile) and selection.ndim == 1:
        share = 0.5 if function is np.median else rest[0] / 100 if function is np.percentile else rest[0]
        if len(rest) == (function is not np.median) and not kwargs and np.ndim(share) == 0:
            return ordering.quantile(selection, share)
    if function in (np.flip, np.flipud) and selection.ndim == 1:
        return selection[::-1]
    if function is np.shape:
        return selection.shape
    if function is np.size:
        return selection.size if not rest else selection.shape[rest[0]]
    if function is np.reshape:
        return _reshaped(selection, *rest, **kwargs)
    if function is np.digitize and not holds_selection((rest, kwargs)):
        return selection.like(function(wrap(selection.values), *rest, **kwargs))
    if function in (np.diff, np.ediff1d) and selection.ndim == 1 and not rest and not kwargs:
        return selection[1:] - selection[:-1]
    return NotImplemented


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
    return by_element(lambda one, other: other, (target, x))


def made(function: Function, shape: Any, args: Any, kwargs: Any) -> Any:
    """`np.zeros((2, k))` of a traced k, of which a bound is known."""
    whole = value_of(shape)
    whole = shape if isinstance(shape, tuple | list) else [whole] if np.ndim(whole) == 0 else list(whole)
    sizes = [_size(size) for size in whole]
    open_ones = [axis for axis, size in enumerate(sizes) if not isinstance(size, int)]
    if len(open_ones) != 1:
        return function(tuple(map(static, sizes)), *args, **kwargs)
    (axis,) = open_ones
    count = sizes[axis]
    capacity = bound_of(count)
    if capacity is None:
        capacity = hooks.max_len()
        if capacity is None:
            raise refusal("an array of that length is made")
        hooks.raise_where(count > capacity, ValueError(f"an array longer than max_len={capacity}"))
    sizes[axis] = capacity
    return Selection(wrap(as_canonical(function(tuple(sizes), *args, **kwargs))), axis, Window(0, count))


def counted(stop: Any, **kwargs: Any) -> Any:
    """`np.arange(k)` of a traced k, of which a bound is known."""
    return made(lambda sizes, **options: np.arange(*sizes, **options), stop, (), kwargs)


def _size(size: Any) -> Any:
    size = value_of(size)
    return size if isinstance(size, jax.core.Tracer) else operator.index(size)


def indices(array: MutableArray) -> Selection:
    """`np.flatnonzero(array)`."""
    from . import selecting

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


def _taken(a: Any, indices: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`np.take(a, indices)` of the elements, or rows, of an array or selection."""
    if not (axis == 0 or axis is None and np.ndim(a) == 1) or out is not None or mode != "raise":
        raise refusal("`np.take` is called with it")
    return a[asarray(indices) if isinstance(indices, list | tuple) else indices]


# Each element is looked up in what is, or may be, a selection too.
_LOOKING_UP: dict[Function, Function] = {
    np.searchsorted: ordering.searched, np.interp: ordering.interpolated, np.polyval: ordering.polynomial, np.take: _taken,
}  # fmt: skip


def of_products(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`np.dot(a[:k], b[:k])`, `A[:, :k] @ x[:k]`."""
    return _through(function, args, kwargs, lambda selection: selection.like(selection.filled(0)), sums=True)


def _check_order(function: Function, x: Any, ord: Any = None, *_: Any, **options: Any) -> None:
    """A row of zeros adds nothing to a norm, except where the smallest row or singular value is taken."""
    ord = options.get("ord", ord) if function is np.linalg.norm else options.get("ord", 2)
    if not is_static(ord) or not isinstance(ord, str | None) and ord < 0:
        raise refusal(f"`np.{function.__name__}` is called with it, of order {ord}")


def _through(
    function: Function, args: Any, kwargs: Any, prepared: Callable[[Selection], Selection], *, sums: bool = False
) -> Any:
    """What a function makes of all rows; the axis that grows with their number is the selected one.

    Where none grows, all rows are in the result: `sums` tells that those which do not count make no difference.
    """
    selections = [leaf for leaf in _leaves((args, kwargs)) if isinstance(leaf, Selection)]
    rows, values = together(selections)
    axes = _growing(function, args, kwargs, values[0].shape[selections[0].axis])
    if axes is None or not sums and -1 in axes:
        raise refusal(f"`np.{function.__name__}` is called with it")
    ready = [prepared(Selection(wrap(v), s.axis, rows)).array for v, s in zip(values, selections, strict=True)]
    arrays = dict(zip(map(id, selections), ready, strict=True))
    given, options = (_replaced(x, lambda leaf: arrays.get(id(leaf), leaf)) for x in (args, kwargs))
    found = function(*given, **options)
    parts = [
        part if axis < 0 else Selection(wrap(jnp.asarray(value_of(part))), axis, rows)
        for part, axis in zip(found if isinstance(found, tuple) else (found,), axes, strict=True)
    ]
    return tuple(parts) if isinstance(found, tuple) else parts[0]


def _growing(function: Function, args: Any, kwargs: Any, capacity: int) -> list[int] | None:
    """Of each result the axis whose size depends on the capacity, -1 for none; None where NumPy refuses, or it is several."""
    shapes = []
    for size in (capacity, capacity + 1):
        given, options = (_replaced(x, functools.partial(_probe, size)) for x in (args, kwargs))
        try:
            found = function(*given, **options)
        except (ValueError, TypeError, IndexError, np.linalg.LinAlgError):
            return None
        shapes.append([np.shape(part) for part in (found if isinstance(found, tuple) else (found,))])
    axes = []
    for before, after in zip(*shapes, strict=True):
        moved = [axis for axis, pair in enumerate(zip(before, after, strict=False)) if pair[0] != pair[1]]
        if len(before) != len(after) or len(moved) > 1 or moved and after[moved[0]] != before[moved[0]] + 1:
            return None
        axes.append(moved[0] if moved else -1)
    return axes


def _probe(size: int, x: Any) -> Any:
    """An array that NumPy can compute with, of the same shape; of a selection, with so many rows."""
    if isinstance(x, Selection):
        return np.ones((*x.array.shape[: x.axis], size, *x.array.shape[x.axis + 1 :]), x.dtype)
    return np.ones(x.shape, x.dtype) if isinstance(x, MutableArray | jax.Array) else x


def _replaced(x: Any, put: Callable[[Any], Any]) -> Any:
    if isinstance(x, dict):
        return {name: _replaced(part, put) for name, part in x.items()}
    if isinstance(x, list | tuple) and not hasattr(x, "_fields"):
        return type(x)(_replaced(part, put) for part in x)
    return put(x)


def _leaves(x: Any) -> Sequence[Any]:
    if isinstance(x, dict):
        return [leaf for part in x.values() for leaf in _leaves(part)]
    if isinstance(x, list | tuple):
        return [leaf for part in x for leaf in _leaves(part)]
    return [x]


def holds_selection(args: Any) -> bool:
    """Is one of these, or in a list among these, a selection?"""
    return any(isinstance(leaf, Selection) for leaf in _leaves(args))


def _joined(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`np.concatenate([a, b[:k]])`: one behind the other, where the first ones may have rows that do not count."""
    parts = list(args[0]) if function is not np.append else list(args)
    parts = [part if isinstance(part, Selection) else np.atleast_1d(asarray(part)) for part in parts]
    first = next(part for part in parts if isinstance(part, Selection))
    axis = kwargs.get("axis", 0 if first.ndim == 1 or function is np.concatenate else 1)
    if axis % first.ndim != first.axis:
        return _through(function, args, kwargs, lambda selection: selection)
    masks = [s.mask if isinstance(s, Selection) else jnp.ones(s.shape[first.axis], bool) for s in parts]
    values = [wrap(s.values) if isinstance(s, Selection) else s for s in parts]
    whole = np.concatenate(values, axis=first.axis)
    mask = jnp.concatenate(masks)
    return Selection(wrap(jnp.asarray(value_of(whole))), first.axis, Mask(mask, (mask,)))


def _reshaped(selection: Selection, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """`s.reshape(-1)`, `s.reshape(-1, 1)`, `s.reshape(n, 1)` of one axis."""
    sizes = tuple(shape) if isinstance(shape, tuple | list) else (shape,)
    open_ones = [n for n, size in enumerate(sizes) if isinstance(size, jax.Array) or size == -1]
    if selection.ndim != 1 or len(open_ones) != 1 or any(size != 1 for n, size in enumerate(sizes) if n not in open_ones):
        raise refusal("it is reshaped")
    key = tuple(slice(None) if n in open_ones else None for n in range(len(sizes)))
    return selection[key]
