"""NumPy's functions on MutableArrays: `np.dot(a, b)`, `np.where(m, x, y)`, `np.copyto(a, b)`, `np.asarray(x)`.

Those that only move elements give views where NumPy does; those that write, write into the array; what is known of shape and
dtype alone is asked of the layout; all others are jax.numpy's, of the current values.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from numpy.polynomial import polyutils

from ..errors import AutographError, PortingError, user_location
from . import (
    casting,
    distances,
    filters,
    foreign,
    hooks,
    known_calls,
    linear_algebra,
    making,
    numbers,
    ordering,
    overwriting,
    places,
    polynomials,
    repeating,
    selecting_functions,
    slopes,
    splines,
    ufuncs,
)
from .arrays import MutableArray, result, static, value_of, widened, wrap
from .casting import canonical, kind_of
from .creating import array, as_canonical, asarray, diag, full_like, layouts, values
from .names import MATH, is_numeric_function, jax_function, lacking
from .refusals import about_traced_values, is_of_jax, not_made_by_ported_code
from .spelling import spelt, with_out_by_name
from .ufuncs import stored
from .views import is_static
from .writing import WRITING

Function = Callable[..., Any]
Way = Literal[
    "arrays that share memory or are written", "known without the values", "by jax.numpy or jax.scipy",
    "by the library's own Python code, converted", "by the library itself at run time, with a derivative",
    "by the library itself at run time, without a derivative",
]  # fmt: skip

_MOVES = (
    np.moveaxis, np.rollaxis, np.swapaxes, np.squeeze, np.expand_dims, np.diagonal, np.split, np.array_split, np.hsplit,
    np.vsplit, np.dsplit, np.flip, np.fliplr, np.flipud, np.rot90, np.broadcast_to, np.atleast_1d, np.atleast_2d, np.atleast_3d,
    np.lib.stride_tricks.sliding_window_view, np.roll, np.repeat, np.tile, np.resize, np.matrix_transpose, np.delete,
    np.linalg.diagonal, np.linalg.matrix_transpose, *([np.unstack] if hasattr(np, "unstack") else []),  # from NumPy 2.1 on
)  # fmt: skip
_FACTS = (
    np.shape, np.ndim, np.size, np.iscomplexobj, np.isrealobj, np.result_type, np.can_cast, np.min_scalar_type, np.common_type,
    np.ndim, np.isfortran,
)  # fmt: skip
_MAKING = (np.zeros, np.ones, np.empty, np.full)
_LIKE = (np.zeros_like, np.ones_like, np.empty_like)
# Their arrays have one dtype, which NumPy and JAX choose differently for integers beside floats of 32 bits.
_PROMOTING = (
    np.dot, np.inner, np.outer, np.vdot, np.tensordot, np.kron, np.cross, np.concatenate, np.stack, np.vstack, np.hstack,
    np.dstack, np.column_stack, np.append, np.convolve, np.correlate, np.linalg.solve, np.block, np.polyval,
)  # fmt: skip


_JOINING = (np.concatenate, np.stack, np.vstack, np.hstack, np.dstack, np.column_stack)
_AT_TRACED_PLACES: dict[Function, Function] = {np.delete: repeating.deleted, np.roll: repeating.rolled}
_INEXACT = (
    np.mean, np.var, np.std, np.median, np.average, np.quantile, np.percentile, np.nanmean, np.nanvar,
    np.nanstd, np.nanmedian, np.nanquantile, np.nanpercentile, np.interp, np.trapezoid, np.sinc,
    np.i0, np.linspace, np.logspace, np.geomspace, np.cov, np.corrcoef, np.gradient, np.histogram, np.angle, np.unwrap,
)  # fmt: skip
# Those of numpy.linalg that compute with integers, too.
_OF_INTEGERS = (
    np.linalg.matrix_power, np.linalg.multi_dot, np.linalg.outer, np.linalg.matmul, np.linalg.trace, np.linalg.cross,
    np.linalg.vecdot, np.linalg.tensordot,
)  # fmt: skip
_BY_SORTING = (np.median,)
_HISTOGRAMS = (np.histogram, np.histogram2d, np.histogramdd)  # whose counts are integers, or floats
_OF_DOUBLES = (np.cov, np.corrcoef, np.histogram)
_KEEPING = (np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.dstack, np.where, np.round, np.append, np.mean)
_BY_UFUNC = {
    np.sum: np.add.reduce, np.prod: np.multiply.reduce, np.max: np.maximum.reduce, np.min: np.minimum.reduce,
    np.amax: np.maximum.reduce, np.amin: np.minimum.reduce, np.all: np.logical_and.reduce, np.any: np.logical_or.reduce,
}  # fmt: skip
_CALLING = (np.apply_along_axis, np.piecewise)
_ALONG = {np.cumsum: np.add.accumulate, np.cumprod: np.multiply.accumulate}


def ported(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """A function of math or NumPy that ported code calls. What it makes is an array that can be written."""
    ufunc, method = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(function, np.ufunc):
        return _of_ufunc(function, "__call__", args, kwargs)
    if isinstance(ufunc, np.ufunc):
        return _of_ufunc(ufunc, method, args, kwargs)
    if function in WRITING and isinstance(args[0] if args else None, np.ndarray):
        return _by_numpy_itself(function, args, kwargs)
    if function in MATH:
        return _of_math(function, args, kwargs)
    if overwriting.is_for(function, args, kwargs):
        return overwriting.called(function, args, kwargs, ported)
    if linear_algebra.is_lookup(function):
        return function(*layouts(args), **layouts(kwargs))
    if linear_algebra.is_fortran(function):
        return _of_fortran(function, args, kwargs)
    is_known = is_static((values(args), values(kwargs))) and not _calls_traced(function, args)
    if function in _OWN or not is_known or _has_array((args, kwargs)):
        return call(function, args, kwargs)
    found = function(*args, **kwargs)
    return _results(found, found)


def _of_ufunc(ufunc: np.ufunc, method: str, args: Any, kwargs: dict[str, Any]) -> Any:
    writes_numpys = method == "at" and isinstance(args[0], np.ndarray)
    found = NotImplemented if writes_numpys else ufuncs.call(ufunc, method, args, dict(kwargs))
    return _by_numpy_itself(getattr(ufunc, method), args, kwargs) if found is NotImplemented else found


def _calls_traced(function: Function, args: Any) -> bool:
    """Is NumPy to call a function that knows traced values from elsewhere: `np.apply_along_axis(lambda v: v * x, 0, TABLE)`?"""
    given = jax.tree.leaves(args) if function in _CALLING else ()
    return any(callable(part) and hooks.holds_traced(part) for part in given)


def _by_numpy_itself(function: Function, args: Any, kwargs: Any) -> Any:
    """A function that writes into an array of NumPy's own."""
    given, options = values(args), values(kwargs)
    if not is_static((given, options)):
        raise not_made_by_ported_code()
    return function(*given, **options)


def of_compiled(function: Function, args: Any, kwargs: Any) -> Any:
    """A function in C of a library: it takes what is known, as NumPy's arrays."""
    if jax_function(function) is not None:
        return ported(function, args, kwargs)
    if not is_static((values(args), values(kwargs))):
        return _by_its_library(function, args, kwargs)
    with _refusing_callbacks(function, args, kwargs):
        return _results(known_calls.called(function, args, kwargs))


@contextlib.contextmanager
def _refusing_callbacks(function: Function, args: Any, kwargs: Any) -> Iterator[None]:
    """A function in C that calls one of Python's takes numbers from it: what comes of traced ones is a refusal.

    An error of that Python function is its own.
    """
    try:
        yield
    except AutographError:
        raise
    except Exception as error:
        called = [argument for argument in (*args, *kwargs.values()) if callable(argument)]
        if about_traced_values(error) and any(map(hooks.holds_traced, called)):
            raise lacking(function) from error
        raise


def _by_its_library(function: Function, args: Any, kwargs: Any) -> Any:
    if (ours := splines.routine(function) or distances.routine(function) or filters.routine(function)) is not None:
        hooks.mapped(function)
        return ours(*args, **kwargs)
    if not foreign.may_be_called(function, args, kwargs):
        raise lacking(function)
    return foreign.called(function, args, kwargs)


def _of_fortran(function: Any, args: Any, kwargs: Any) -> Any:
    given, options = values(args), values(kwargs)
    if is_static((given, options)) and not linear_algebra.writes(function):
        with _refusing_callbacks(function, args, kwargs):
            return _results(function(*given, **options))
    ours = linear_algebra.routine(function, of_selections=selecting_functions.holds_selection((args, kwargs)))
    if ours is None:
        return _by_its_library(function, args, kwargs)
    hooks.mapped(function)
    return ours(*args, **kwargs)


def _has_array(x: Any) -> bool:
    if isinstance(x, dict):
        return any(map(_has_array, x.values()))
    return any(map(_has_array, x)) if isinstance(x, (list, tuple)) else isinstance(x, MutableArray)


def _of_math(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    args = tuple(_one(values(x)) for x in args)
    kwargs = {name: _one(values(x)) for name, x in kwargs.items()}
    if is_static((args, kwargs)):
        return function(*args, **kwargs)
    ours = jax_function(function)
    if ours is None:
        raise lacking(function)
    hooks.mapped(function)
    return ours(*args, **kwargs)


def _one(x: Any) -> Any:
    """Python's math takes an array of one element as a number."""
    return x.reshape(()) if isinstance(x, jax.Array) and x.size == 1 else x


def call(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    """What `function(*args, **kwargs)` of NumPy gives where an argument is, or holds, a MutableArray or a traced value."""
    if not args and (first := _first_name(function)) in kwargs:  # np.flip(m=x)
        args, kwargs = (kwargs[first],), {name: value for name, value in kwargs.items() if name != first}
    if function in _MAKING and args and not is_static(values(args[0])) and is_static(values((args[1:], kwargs))):
        return making.made(function, args[0], values(args[1:]), values(kwargs))
    if function is np.full and len(args) > 1 and not is_static(values(args[0])):
        return making.full(*args, **kwargs)
    if function in (np.eye, np.identity) and not is_static(values(args)):
        return making.identity(function, *values(args), **values(kwargs))
    if function is np.arange and making.is_counted(*map(values, making.bounds(args, kwargs))):
        options = {name: value for name, value in kwargs.items() if name not in ("start", "stop", "step")}
        return making.counted(*map(values, making.bounds(args, kwargs)), **values(options))
    if function is np.linspace and not is_static(values(kwargs.get("num", args[2] if len(args) > 2 else None))):
        return making.evenly_spaced(*values(args), **values(kwargs))
    if function is np.broadcast_shapes:
        return making.broadcast_shapes(*values(args))
    if function is np.broadcast_to and not is_static(values(args[1:])):
        return making.broadcast_to(asarray(args[0]) if np.ndim(args[0]) == 0 else args[0], args[1])
    if function is np.repeat and (
        selecting_functions.holds_selection((args, kwargs)) or not is_static(values((args[1:], kwargs)))
    ):
        return repeating.repeated(*args, **kwargs)
    if (function not in _FACTS or function in (np.shape, np.size)) and selecting_functions.holds_selection((args, kwargs)):
        return selecting_functions.call(function, args, kwargs)
    if function in (np.nonzero, np.flatnonzero) or function is np.where and len(args) == 1:
        (array,) = map(asarray, args)
        if not is_static(array.value):
            return making.indices(array) if function is np.flatnonzero else making.nonzero(array)
    if function is np.unique and not is_static(values(args[0])):
        return ordering.unique(*args, **kwargs)
    if function in _OWN:
        return _OWN[function](*args, **kwargs)
    if function in _BY_UFUNC:
        return _reduced(_BY_UFUNC[function], *args, **kwargs)
    if function in _ALONG:
        return _accumulated(_ALONG[function], *args, **kwargs)
    if function in _AT_TRACED_PLACES and _is_at_traced_place(function, args, kwargs):
        return _AT_TRACED_PLACES[function](*args, **kwargs)
    if function in _MOVES and args and isinstance(args[0], list | tuple) and not is_static(values(args[0])):
        args = (asarray(args[0]), *args[1:])
    if function in _MOVES and args and isinstance(args[0], MutableArray):
        if len(args) > 1 and function in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
            return tuple(function(x) for x in args)
        rest, options = static(args[1:]), {name: static(option) for name, option in kwargs.items()}
        return args[0].moved(lambda array: function(array, *rest, **options))
    if function in _FACTS:
        return function(*layouts(args), **layouts(kwargs))
    if function in _LIKE:
        return wrap(as_canonical(function(*layouts(args), **layouts(kwargs))))
    return _computed(function, args, dict(kwargs))


@functools.cache
def _first_name(function: Function) -> str | None:
    """What NumPy calls the first argument, where it may be given by that name."""
    try:
        first = next(iter(inspect.signature(function).parameters.values()), None)
    except (TypeError, ValueError):  # NumPy tells it of few of its functions in C
        return None
    return first.name if first is not None and first.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD else None


def _computed(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    args, kwargs = with_out_by_name(function, tuple(args), kwargs)
    out = kwargs.pop("out", None)
    if ufuncs.asks_for_array(out):
        return ufuncs.as_array(_computed(function, args, kwargs))
    out = out[0] if isinstance(out, tuple) else out
    if not (out is None or isinstance(out, MutableArray)):
        raise refuse("a traced result in `out=` of a NumPy array", "leave `out` out")
    given, options = args, kwargs
    args, kwargs = values(args), values(kwargs)
    known = is_static((args, kwargs)) and not _calls_traced(function, args)
    if known:
        found = like = function(*args, **kwargs)
    else:
        found, like = _as_numpy_has_it(_by_jax(function, args, kwargs), function, given, options)
        if function in _AT_MOST and np.ndim(found) == 0:
            numbers.natural(numbers.bounded(found, _AT_MOST[function](np.size(layouts(args[0])))))
    if out is None and function in _KEEPING and not isinstance(found, tuple):  # `np.where(mask)` gives indices
        return stored(found, None, like)
    if out is None:
        return _results(found, like)
    return stored(found, out, rule="unsafe" if function is np.mean else "same_kind")


# What a number that these give never exceeds, by the size of their first argument: `np.zeros(np.argmin(x) + 1)`.
_AT_MOST: dict[Any, Callable[[int], int]] = {
    np.argmin: lambda size: size - 1, np.argmax: lambda size: size - 1, np.count_nonzero: lambda size: size,
    np.searchsorted: lambda size: size,
}  # fmt: skip


def _as_numpy_has_it(found: Any, function: Function, given: Any, options: Any) -> tuple[Any, Any]:
    """What JAX has computed, with NumPy's dtypes; and what NumPy gives for arguments of this layout, where that matters."""
    dtypes = {jnp.result_type(leaf) for leaf in jax.tree.leaves((found, values((given, options)))) if hasattr(leaf, "dtype")}
    agreed = {canonical(kind) for kind in (bool, int, float, complex)}  # where all are of these, JAX gives what NumPy does
    is_small = any(np.ndim(part) == 0 for part in jax.tree.leaves(found))
    # NumPy keeps integers in some cases where JAX computes in floats: `np.unwrap(n, period=5)`, `np.polyder(n)`.
    kinds = {kind.kind for kind in dtypes}
    may_be_integers = function not in _CALLING and "f" in kinds and kinds & {"b", "i", "u"}
    is_asked = is_small or may_be_integers or function in (*_KEEPING, *_HISTOGRAMS) or dtypes - agreed
    like = _like(function, given, options) if is_asked else None
    if like is None or jax.tree.structure(like) != jax.tree.structure(found):
        return found, like
    return jax.tree.map(_in_its_dtype, found, like), like


def _in_its_dtype(one: Any, other: Any) -> Any:
    if type(one) is type(other) is bool:  # `np.iterable(x)`
        return one
    to = canonical(casting.dtype_of(other))
    if to.kind in "fc" and jnp.iscomplexobj(one):  # the eigenvalues of ones are real, those of others are not
        to = canonical(np.result_type(to, np.complex64))
    return casting.to(one, to)


def _by_jax(function: Function, args: Any, kwargs: dict[str, Any]) -> Any:
    counterpart = jax_function(function)
    if counterpart is None:
        raise lacking(function)
    hooks.mapped(function)
    if function in _JOINING and args and isinstance(args[0], list | tuple):
        args = ([casting.nested(part) for part in args[0]], *args[1:])
    if function in _PROMOTING:
        operands = 1 if function in (*_JOINING, np.block) else 2
        args = (*_promoted(args[:operands], numbers_adapt=False), *args[operands:])
    if function in _CALLING:
        args = jax.tree.map(_on_values, args)
    if function in (np.take, np.take_along_axis):
        args, kwargs = jax.tree.map(widened, (args, kwargs))
    if function is np.where and len(args) == 3:
        args = (args[0], *_promoted(args[1:], numbers_adapt=True))
    module = getattr(function, "__module__", None) or ""
    if function in _INEXACT or module in ("numpy.linalg", "numpy.fft") and function not in _OF_INTEGERS:
        args = jax.tree.map(_inexact, args)
    if function in _OF_DOUBLES:
        args = jax.tree.map(_double, args)
    if module.startswith("scipy.linalg"):
        args = tuple(map(_inexact, args))
    args, kwargs = spelt(function, counterpart, tuple(args), kwargs)
    try:
        found = _sorting(function, counterpart)(*map(_listed, args), **kwargs)
        linear_algebra.check(function, args, found)
        return found
    except (jax.errors.ConcretizationTypeError, jax.errors.NonConcreteBooleanIndexError) as error:
        name = getattr(function, "__name__", repr(function))
        refusal = refuse(f"the shape of what `{name}` gives", "np.where keeps the shape")
        refusal.lacks = function  # NumPy's own Python code may do
        raise refusal from error
    except (TypeError, ValueError, IndexError, NotImplementedError) as error:
        if isinstance(error, (jax.errors.JAXTypeError, AutographError)) or not is_of_jax(error):
            raise
        # Ones are no positive definite matrix, and a function of the caller's may know traced values.
        with contextlib.suppress(np.linalg.LinAlgError, jax.errors.JAXTypeError):
            function(*_ones(args), **_ones(kwargs))  # NumPy's own error, where it has one
        reason = str(error).partition("\n")[0]
        refusal = refuse(f"what `{function.__name__}` gives ({reason})", "compute it from functions that JAX has")
        refusal.lacks = function
        raise refusal from error


def _on_values(x: Any) -> Any:
    """A function of NumPy's or in C that JAX calls for NumPy: `np.apply_along_axis(np.linalg.norm, 0, x)`."""
    if not callable(x) or isinstance(x, types.FunctionType) and not is_numeric_function(x):
        return x
    run = ported if is_numeric_function(x) else of_compiled
    return lambda *args, **kwargs: values(run(x, args, kwargs))


def _sorting(function: Function, counterpart: Function) -> Function:
    if function not in _BY_SORTING:
        return counterpart
    return lambda a, *rest, **options: hooks.marked(lambda a: counterpart(a, *rest, **options), a)


def refuse(what: str, way_out: str) -> PortingError:
    return PortingError(f"{what} cannot be had of traced data", location=user_location(), help=way_out)


def _results(found: Any, like: Any = None) -> Any:
    """What a function gives, as arrays that can be written; `like` is what NumPy gives, an array also without dimensions."""
    if isinstance(found, (tuple, list)):
        likes = like if isinstance(like, (tuple, list)) else [None] * len(found)
        parts = [_results(part, one) for part, one in zip(found, likes, strict=True)]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    if isinstance(found, np.ndarray) and found.dtype.fields is not None:
        return found  # records, which no array of JAX's holds
    return wrap(found) if isinstance(like, np.ndarray) and isinstance(found, jax.Array | np.ndarray) else result(found)


def _like(function: Function, given: Any, options: Any) -> Any:
    """What NumPy gives for arguments of this layout; None where their values matter: ones are no positive definite matrix."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*_ones(given), **_ones(options))
    except (np.linalg.LinAlgError, ValueError, ArithmeticError, IndexError):
        return None


def _ones(x: Any) -> Any:
    """Arguments of the same layout that NumPy can compute with."""
    return jax.tree.map(
        lambda leaf: np.ones_like(leaf) if isinstance(leaf, np.ndarray) else leaf,
        layouts(x),
        is_leaf=lambda leaf: leaf is None,
    )


def _listed(x: Any) -> Any:
    """jax.numpy takes no lists of numbers where NumPy takes them as an array; nor tuples, which may be a shape."""
    is_list = isinstance(x, list) or isinstance(x, tuple) and not is_static(x)
    return casting.nested(x) if is_list and _is_of_numbers(x) else x


def _is_of_numbers(x: Any) -> bool:
    return all(map(_is_of_numbers, x)) if isinstance(x, list | tuple) else np.ndim(x) == 0


def _inexact(x: Any) -> Any:
    integers = isinstance(x, (jax.Array, np.ndarray)) and x.dtype.kind in "biu"
    return jnp.asarray(x).astype(canonical(float)) if integers else x


def _double(x: Any) -> Any:
    is_array = isinstance(x, (jax.Array, np.ndarray))
    return jnp.asarray(x).astype(canonical(np.result_type(x.dtype, float))) if is_array and x.dtype.kind in "fc" else x


def _promoted(operands: Any, *, numbers_adapt: bool) -> Any:
    """All as arrays of one dtype. A Python number is an array too, of the dtype that NumPy gives one, if it does not adapt."""
    kinds = map(kind_of if numbers_adapt else casting.dtype_of, jax.tree.leaves(operands))
    dtype = canonical(np.result_type(*kinds))
    return jax.tree.map(lambda leaf: jnp.asarray(leaf, dtype=dtype), operands)


# ------------------------------------------------------------------ functions with a way of their own


def _is_at_traced_place(function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """`np.roll(x, k)`, `np.delete(x, places)`, `np.roll(x, shift=(k, 1), axis=(0, 1))`: is the second argument traced?"""
    place = args[1] if len(args) > 1 else kwargs.get("obj", kwargs.get("shift"))
    if function is np.delete:
        return not is_static(values(place)) and not isinstance(place, slice)
    return any(making.is_traced_integer(values(one)) for one in (place if isinstance(place, tuple) else (place,)))


def _reduced(reduce: Function, a: Any, axis: Any = None, *rest: Any, **options: Any) -> Any:
    first = ("out",) if reduce.__self__ in (np.maximum, np.minimum, np.logical_and, np.logical_or) else ("dtype", "out")
    names = (*first, "keepdims", "initial", "where")
    options = {**dict(zip(names, rest, strict=False)), **options}
    given = {name: option for name, option in options.items() if option is not np._NoValue}
    return reduce(asarray(a), axis=axis, **given)


def _accumulated(accumulate: Function, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
    a = asarray(a)
    a, axis = (a.ravel(), 0) if axis is None else (a, axis)
    return accumulate(a, axis, dtype, out)


def _sort(a: Any, axis: int | None = -1, kind: Any = None, order: Any = None, **options: Any) -> Any:
    a = asarray(a)
    options = {name: option for name, option in options.items() if name == "stable" and option is not None}
    found = np.sort(a.value, axis, **options) if is_static(a.value) else hooks.marked(jnp.sort, a.value, axis=axis)
    return result(found, None if axis is None else a.shadow)


def _partition(a: Any, kth: Any, axis: int | None = -1, kind: Any = "introselect", order: Any = None) -> Any:
    """Sorted: NumPy says of the element at `kth` alone which it is, and of the others on which side of it they are."""
    a = asarray(a)
    if is_static(a.value):
        return result(np.partition(a.value, kth, axis, kind, order), None if axis is None else a.shadow)
    np.partition(np.empty(a.shape), kth, axis)  # NumPy's error for a place that there is not
    return _sort(a, axis)


def _argsort(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Any:
    value = asarray(a).value
    if is_static(value):
        return wrap(np.argsort(value, axis, kind, order, stable=stable))
    order = hooks.marked(jnp.argsort, value, axis=axis, stable=bool(stable) or kind in ("stable", "mergesort"))
    return wrap(order.astype(canonical(np.intp)))


def _shares_memory(a: Any, b: Any, *rest: Any, exact: bool = True) -> bool:
    if not (isinstance(a, MutableArray) and isinstance(b, MutableArray)) or not {*a.memory()} & {*b.memory()}:
        return False
    if a._buffer is not b._buffer:  # traced data picks one of several
        return True
    first, second = (set(np.asarray(_places(x)).ravel().tolist()) for x in (a, b))
    return bool(first & second)


def _places(x: MutableArray) -> Any:
    root = x if x.base is None else x.base
    places: Any = np.arange(root.size).reshape(root.shape)
    return functools.reduce(lambda found, step: step.get(found), x._path, places)


def _einsum(*operands: Any, out: Any = None, **options: Any) -> Any:
    """A view, where of one array nothing is added up: its diagonal, its transpose."""
    arrays = [operand for operand in operands if isinstance(operand, MutableArray)]
    if len(arrays) == 1 and out is None:
        moved = lambda array: np.einsum(*(array if o is arrays[0] else static(o) for o in operands), **options)  # noqa: E731
        if np.may_share_memory(moved(arrays[0].shadow), arrays[0].shadow):
            return arrays[0].moved(moved)
    return _computed(np.einsum, operands, {**options, "out": out})


def _ix(*args: Any) -> Any:
    arrays = list(map(asarray, args))
    if any(array.dtype == bool or array.ndim != 1 or not array.size for array in arrays):
        return _computed(np.ix_, args, {})
    sizes = [[1] * place + [-1] + [1] * (len(arrays) - 1 - place) for place in range(len(arrays))]
    return tuple(array.reshape(size) for array, size in zip(arrays, sizes, strict=True))


def _broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    arrays = list(map(asarray, args))
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    return tuple(a if a.shape == shape else a.moved(lambda array: np.broadcast_to(array, shape)) for a in arrays)


def _nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    found = _computed(np.nan_to_num, (x,), {"nan": nan, "posinf": posinf, "neginf": neginf})
    if copy or not isinstance(x, MutableArray):
        return found
    x.put(value_of(found))
    return x


def _take(a: Any, indices: Any, *args: Any, **kwargs: Any) -> Any:
    """Of places outside JAX gives NaN, and NumPy an error: where the program handles that, as an index does."""
    options = dict(zip(("axis", "out", "mode"), args, strict=False)) | kwargs
    if hooks.is_named(IndexError) and options.get("mode", "raise") == "raise":
        return selecting_functions.taken(a, indices, **options)
    return _computed(np.take, (a, indices, *args), kwargs)


_OWN: dict[Function, Function] = {
    np.asarray: asarray, np.array: array, np.asanyarray: asarray, **WRITING,
    np.full_like: full_like, np.diag: diag, np.trim_zeros: polynomials.trim_zeros, np.roots: polynomials.roots,
    np.polydiv: polynomials.polydiv, np.bincount: places.bincount, np.choose: places.choose,
    np.ravel_multi_index: places.ravel_multi_index,
    polyutils.trimseq: polynomials.trimseq,
    np.take: _take, np.compress: making.compressed, np.argwhere: lambda a: np.column_stack(np.nonzero(a)),
    np.sort: _sort, np.partition: _partition, np.argsort: _argsort,
    np.shares_memory: _shares_memory, np.may_share_memory: _shares_memory,
    np.reshape: lambda a, shape, order="C", *, copy=None: asarray(a).reshape(shape, order=order, copy=copy),
    np.ravel: lambda a, order="C": asarray(a).ravel(order), np.copy: lambda a, order="K", subok=False: asarray(a).copy(order),
    np.transpose: lambda a, axes=None: asarray(a).transpose(axes), np.real: lambda val: val.real, np.imag: lambda val: val.imag,
    np.asfortranarray: lambda a, dtype=None: asarray(a, dtype, "F"),
    np.ascontiguousarray: lambda a, dtype=None: np.atleast_1d(asarray(a, dtype, "C")),
    np.from_dlpack: lambda x, /, *, device=None, copy=None: array(x) if copy else asarray(x),
    np.asarray_chkfinite: asarray, np.einsum: _einsum, np.ix_: _ix, np.broadcast_arrays: _broadcast_arrays,
    np.nan_to_num: _nan_to_num,
}  # fmt: skip


def way_of(function: Any) -> Way | None:
    """How ported code has this function of NumPy, math or SciPy on traced values; None where it is refused."""
    if function in (*_OWN, *_MOVES):
        return "arrays that share memory or are written"
    if function in (*_FACTS, *_LIKE):
        return "known without the values"
    if function in (*_BY_UFUNC, *_ALONG) or jax_function(function) is not None:
        return "by jax.numpy or jax.scipy"
    inner = getattr(function, "_implementation", function)
    if isinstance(inner, types.FunctionType):
        return "by the library's own Python code, converted"
    if not isinstance(function, np.ufunc) or function.signature:
        return None
    if slopes.of_ufunc(function) is not None:
        return "by the library itself at run time, with a derivative"
    return "by the library itself at run time, without a derivative"
