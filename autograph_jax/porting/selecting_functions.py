"""NumPy's functions of selections, by what they do with the elements: each by itself, all together, or their axes alone."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks, least_squares, making, ordering, quantiles, repeating, reshaping, squares
from .arrays import value_of, wrap
from .computing import by_element, reduced
from .creating import asarray
from .probing import holds_selection as holds_selection
from .probing import moved, of_products, through
from .rows import Window, refusal
from .selections import Selection, selected
from .views import is_static

Function = Callable[..., Any]

# Sums of products: a row of zeros adds nothing.
_PRODUCTS = (
    np.dot, np.matmul, np.vdot, np.inner, np.outer, np.tensordot, np.einsum, np.linalg.outer, np.vecdot,
    np.linalg.multi_dot,
)  # fmt: skip
_NORMS = ("norm", "vector_norm", "matrix_norm")
# The same elements, along other axes.
_MOVING = (
    np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.atleast_1d, np.atleast_2d, np.atleast_3d,
    np.matrix_transpose, np.linalg.matrix_transpose,
)  # fmt: skip
# Of each row of these arguments, by number, one row of the result is made; None: of all.
_BY_ROW: dict[Function, tuple[int, ...] | None] = {
    np.stack: None, np.tile: (0,), np.broadcast_to: (0,), np.digitize: (0,),
}  # fmt: skip
_ALONG = (np.cumsum, np.cumprod, np.nancumsum)  # of those that count nothing depends on what stands behind them
_BY_ELEMENT = (
    np.where, np.clip, np.isclose, np.real, np.imag, np.nan_to_num, np.iscomplex, np.isreal, np.angle, np.round, np.sinc,
    np.real_if_close,
)  # fmt: skip
_REDUCTIONS = "sum prod mean any all max min amax amin var std".split()
_JOINING = (np.concatenate, np.hstack, np.vstack, np.column_stack, np.append, np.block)
_MAKING = (np.zeros_like, np.ones_like, np.empty_like, np.full_like)
_ITSELF = (
    np.asarray, np.asanyarray, np.array, np.ascontiguousarray, np.asfortranarray, np.copy, np.require, np.asarray_chkfinite,
    np.from_dlpack,
)  # fmt: skip


def call(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`function(*args, **kwargs)` of NumPy, where an argument is, or holds, a selection."""
    name, first = function.__name__, args[0] if args else None
    if function in _BY_ELEMENT and not (function is np.where and len(args) == 1):
        return by_element(lambda *arrays: function(*arrays, **kwargs), args)
    if function is np.broadcast_arrays:
        return by_element(_broadcast, args)
    module = getattr(function, "__module__", None) or ""
    if name in ("lstsq", "qr") and module.startswith(("numpy.linalg", "scipy.linalg")):
        of_scipy = module.startswith("scipy")
        if name == "qr":
            return least_squares.of_selection("scipy.linalg" if of_scipy else "numpy.linalg", *args, **kwargs)
        return (least_squares.scipys if of_scipy else least_squares.numpys)(*args, **kwargs)
    if squares.is_for(function):
        return squares.call(function, *args, **kwargs)
    if isinstance(first, Selection) and squares.is_for_stacks(function, first):
        return through(function, args, kwargs, lambda selection, _: selection.values)
    if isinstance(first, Selection) and squares.is_for_singular_values(function, kwargs):
        return squares.singular_values(first)
    if name in _NORMS and module.startswith(("numpy.linalg", "scipy.linalg")):
        return _norm(function, args, kwargs)
    if function is np.isin and isinstance(first, Selection):
        return by_element(lambda element: function(element, *args[1:], **kwargs), args[:1])
    if function is np.kron:
        return reshaping.kron(*(x if isinstance(x, Selection) else asarray(x) for x in args))
    if function in _PRODUCTS:
        return of_products(function, args, kwargs)
    if function in _JOINING:
        return making.joined(function, args, kwargs)
    if function in _ITSELF and isinstance(first, list | tuple):
        return call(function, (making.stacked(first), *args[1:]), kwargs)
    if function in _BY_ROW:
        return _by_row(function, args, kwargs)
    if function in _LOOKING_UP:
        return _LOOKING_UP[function](*args, **kwargs)
    if isinstance(first, Selection):
        found = _of_one(function, name, first, args[1:], kwargs)
        if found is not NotImplemented:
            return found
    error = refusal(f"`np.{name}` is called with it")
    if not module.startswith(("numpy.linalg", "scipy.linalg")):
        error.lacks = function  # NumPy's own Python code may do
    raise error


def _broadcast(*arrays: Any) -> tuple[Any, ...]:
    """Of NumPy's some are views: what is written to these shows elsewhere, and to the others in several places."""
    found = tuple(array.copy() for array in np.broadcast_arrays(*arrays))
    for array in found:
        array.flags.writeable = False
    return found


def _of_one(function: Function, name: str, selection: Selection, rest: Any, kwargs: dict[str, Any]) -> Any:
    if name in _REDUCTIONS:
        _, *names = inspect.signature(function).parameters
        name = name.removeprefix("a") if name in ("amax", "amin") else name
        return reduced(selection, name, **dict(zip(names, rest, strict=False)), **kwargs)
    if function in (np.argmax, np.argmin):
        return ordering.extreme(selection, name, *rest, **kwargs)
    if function in _MOVING:
        return _moved(function, selection, rest, kwargs)
    if function in _ALONG:
        return _accumulated(function, selection, *rest, **kwargs)
    if function in _ITSELF:
        dtype = kwargs.get("dtype") or (rest[0] if rest and function is not np.copy else None)
        copied = function in (np.array, np.copy)
        found = selection.astype(dtype) if dtype is not None else selection.copy() if copied else selection
        return found[(None,) * max(kwargs.get("ndmin", 0) - found.ndim, 0)] if kwargs.get("ndmin", 0) > found.ndim else found
    if function in _MAKING:
        if kwargs.get("shape") is not None:
            return function(wrap(np.empty(0, selection.dtype)), *rest, **kwargs)
        kwargs = {key: value for key, value in kwargs.items() if key != "shape"}
        return selection.like(function(np.empty(selection.array.shape, selection.dtype), *rest, **kwargs))
    if function in (np.sort, np.argsort):
        return ordering.in_order(function, selection, *rest, **kwargs)
    if function is np.count_nonzero:
        return reduced(selection != 0, "sum", *rest, **kwargs)
    if function is np.diagonal or name == "diagonal":
        return squares.diagonal(selection, *rest, **kwargs)
    if function is np.diag:
        return squares.with_diagonal(selection, *rest, **kwargs)
    if function is np.trace:
        return squares.trace(selection, *rest, **kwargs)
    if function in (np.tril, np.triu):
        return squares.triangle(function, selection, *rest, **kwargs)
    if function is np.shape:
        return selection.shape
    if function is np.iterable:
        return True
    if function is np.unique:
        return ordering.unique(selection, *rest, **kwargs)
    if function is np.size:
        return selection.size if not rest else selection.shape[rest[0]]
    if function is np.ravel:
        return reshaping.raveled(selection, *rest, **kwargs)
    if function is np.reshape:
        return reshaping.reshaped(selection, *rest, **kwargs)
    if function in (np.flip, np.flipud, np.fliplr):
        return _flipped(selection, *rest, **kwargs) if function is np.flip else _flipped(selection, int(function is np.fliplr))
    return _of_vector(function, selection, rest, kwargs) if selection.ndim == 1 else NotImplemented


_OF_ALL = ((), (None,), (0,), (-1,), (("axis", None),), (("axis", 0),), (("axis", -1),))  # options, of a vector
_WITHOUT_NAN: dict[Function, Function] = {
    np.nansum: np.sum, np.nanprod: np.prod, np.nanmean: np.mean, np.nanvar: np.var, np.nanstd: np.std,
}  # fmt: skip


def _of_vector(function: Function, selection: Selection, rest: Any, kwargs: dict[str, Any]) -> Any:
    if function in (np.nonzero, np.flatnonzero, np.where):
        found = making.indices(wrap(selection.compact().filled(0)))
        return found if function is np.flatnonzero else (found,)
    if function in (np.median, np.nanmedian) and (*rest, *kwargs.items()) in _OF_ALL:
        return ordering.median(function, selection)
    if function in _WITHOUT_NAN and (*rest, *kwargs.items()) in _OF_ALL:
        return _WITHOUT_NAN[function](selection[np.logical_not(np.isnan(selection))])
    if function in quantiles.OF_SHARES and len(rest) < 3:
        return ordering.of_shares(function, selection, *rest, **kwargs)
    if function in (np.diff, np.ediff1d) and not rest and not kwargs:
        return selection[1:] - selection[:-1]
    return NotImplemented


# ------------------------------------------------------------------ functions with a way of their own


def _norm(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """`np.linalg.norm`: zeros add nothing to it, but where it is the least of something."""
    places = dict(zip(("x", "ord", "axis"), args, strict=False)) | kwargs
    order, axis = places.get("ord"), places.get("axis")
    if not is_static(order) or not isinstance(order, str | None) and order < 0:
        raise refusal(f"`np.{function.__name__}` is called with it, of order {order}")

    def without_others(selection: Selection, _: Selection) -> jax.Array:
        axes = range(selection.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        lost = [int(one) % selection.ndim for one in axes]
        axes = [one for one in selection.rows if one in lost]
        return selection.filled(0, axes) if axes else selection.values

    return through(function, args, kwargs, without_others)


def _by_row(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    along = _BY_ROW[function]
    others = [x for number, x in enumerate(args) if along is not None and number not in along]
    if holds_selection((others, kwargs)):
        raise refusal(f"`np.{function.__name__}` is called with it")
    return through(function, args, kwargs, lambda selection, _: selection.values)


def _moved(function: Function, selection: Selection, rest: Any, kwargs: Any) -> Any:
    if function is np.squeeze and not rest and kwargs.get("axis") is None:
        ones = tuple(axis for axis, size in enumerate(selection.array.shape) if size == 1 and axis not in selection.rows)
        rest, kwargs = (ones,), {}
    if function is np.transpose and (rest or kwargs.get("axes")) in ((), (None,), None):
        rest, kwargs = (), {}
    return moved(function, selection, rest, kwargs)


def _accumulated(function: Function, selection: Selection, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    if axis is None:
        selection, axis = reshaping.raveled(selection), 0
    compact = selection.compact((axis % selection.ndim,))
    found = selected(function(wrap(compact.values), axis, dtype), compact.own())
    if out is None:
        return found
    out[...] = found
    return out


def taken(a: Any, places: Any, axis: Any = None, out: Any = None, mode: str = "raise") -> Any:
    """`np.take`, of a selection or at the places of one."""
    array = a if isinstance(a, Selection) else asarray(a)
    array, axis = (np.ravel(array), 0) if axis is None else (array, axis % array.ndim)
    if mode != "raise":
        size = array.shape[axis]
        places = np.clip(places, 0, size - 1) if mode == "clip" else places % size
    found = array[(slice(None),) * axis + (places,)]
    if out is None:
        return found
    out[...] = found
    return out


# Each element is looked up in what is, or may be, a selection too.
def _placed(arr: Any, mask: Any, vals: Any) -> None:
    """`np.place` of a selection: its elements one after the other where the mask holds, the first again where they end.

    What is written into may be a selection, too: then there have to be as many, or one.
    """
    if isinstance(arr, Selection) or isinstance(mask, Selection):
        arr[mask] = vals if isinstance(vals, Selection) else _only(vals, "place")
        return
    marked, given = jnp.asarray(value_of(asarray(mask))).astype(bool), vals.ravel().compact()
    count = jnp.asarray(value_of(given.count(0)))
    hooks.raise_where((count == 0) & marked.any(), ValueError("Cannot insert from an empty array!"))
    places = (jnp.cumsum(marked.ravel()) - 1) % jnp.maximum(count, 1)
    np.copyto(arr, wrap(jnp.take(given.values, places).reshape(marked.shape)), "unsafe", where=wrap(marked))


def _masked(a: Any, mask: Any, values: Any) -> None:
    """`np.putmask` where the array or its mask is a selection."""
    a[mask] = _only(values, "putmask")


def _only(values: Any, name: str) -> Any:
    if isinstance(values, Selection) or np.size(values) != 1:
        raise refusal(f"`np.{name}` writes several elements into it")
    return asarray(values).reshape(())[()]


def _convolved(a: Any, v: Any, mode: str = "full") -> Any:
    """`np.convolve`: zeros behind the elements that count add nothing."""
    first, second = (one.compact() if isinstance(one, Selection) else np.atleast_1d(asarray(one)) for one in (a, v))
    if first.ndim != 1 or second.ndim != 1 or mode not in ("full", "same", "valid"):
        raise refusal("`np.convolve` is called with it")
    for one, name in ((first, "a"), (second, "v")):
        hooks.raise_where(jnp.asarray(one.shape[0] == 0), ValueError(f"{name} cannot be empty"))
    whole: Any = [wrap(one.filled(0)) if isinstance(one, Selection) else one for one in (first, second)]
    found: Any = np.convolve(whole[0], whole[1])
    less, most = (function(first.shape[0], second.shape[0]) for function in (jnp.minimum, jnp.maximum))
    start, count = {"full": (0, less + most - 1), "same": ((less - 1) // 2, most), "valid": (less - 1, most - less + 1)}[mode]
    return Selection(found, {0: Window(start, count)})


_LOOKING_UP: dict[Function, Function] = {
    np.searchsorted: ordering.searched, np.interp: ordering.interpolated, np.polyval: ordering.polynomial, np.take: taken,
    np.place: _placed, np.putmask: _masked, np.lexsort: ordering.in_order_of_several, np.delete: repeating.deleted,
    np.convolve: _convolved,
}  # fmt: skip


def _flipped(selection: Selection, axis: Any = None) -> Any:
    axes = range(selection.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    turned = [int(one) % selection.ndim for one in axes]
    return selection[tuple(slice(None, None, -1) if one in turned else slice(None) for one in range(selection.ndim))]
