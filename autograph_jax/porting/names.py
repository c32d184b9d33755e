"""`math.sqrt(x)` and `np.sqrt(x)` of a traced x are `jnp.sqrt(x)`: the jax.numpy function for one of math's or NumPy's."""

from __future__ import annotations

import cmath
import functools
import math
import sys
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from . import (
    complex_order,
    distances,
    foreign,
    histograms,
    hooks,
    integers,
    linear_algebra,
    quantiles,
    searching,
    special,
)
from .exact import exp, log2, log10
from .mathematics import OF_CMATH, OF_MATH, mirrored, parts
from .products import rounded

Function = Callable[..., Any]


def _multiplying(function: Function) -> Function:
    """A function of jax.numpy's, whose products of matrices may be compiled to less."""

    @functools.wraps(function)
    def multiply(*args: Any, **kwargs: Any) -> Any:
        words = [arg for arg in args if isinstance(arg, str)]  # of einsum, before the arrays
        arrays = args[len(words) :]
        is_of_matrices = all(np.ndim(leaf) > 1 for leaf in jax.tree.leaves(arrays))
        marked = hooks.marked if is_of_matrices else lambda function, *arrays: function(*arrays)
        return marked(lambda *arrays: function(*words, *arrays, **kwargs), *arrays)

    return multiply


# Of NumPy's functions those of which jax.numpy computes something else, or in another way.
_NUMPYS: dict[Function, Function] = {
    np.matmul: _multiplying(jnp.matmul), np.dot: _multiplying(jnp.dot), np.inner: _multiplying(jnp.inner),
    np.tensordot: _multiplying(jnp.tensordot), np.einsum: _multiplying(jnp.einsum),
    np.linalg.multi_dot: _multiplying(jnp.linalg.multi_dot),
    **({np.linalg.matmul: _multiplying(jnp.linalg.matmul)} if hasattr(np.linalg, "matmul") else {}),  # from NumPy 2.0 on
    **linear_algebra.NUMPYS, np.convolve: integers.convolve, np.correlate: integers.correlate, np.polymul: integers.polymul,
    np.round: integers.round_, np.around: integers.round_, np.polyfit: integers.polyfit,
    np.linalg.matrix_power: integers.matrix_power, np.clip: complex_order.clip,
    np.searchsorted: searching.searchsorted,
    np.argmax: complex_order.argmax, np.argmin: complex_order.argmin, **histograms.FUNCTIONS, **quantiles.FUNCTIONS,
}  # fmt: skip


MATH = frozenset(function for module in (math, cmath) for function in vars(module).values() if type(function) is type(math.sin))


@functools.cache
def jax_function(function: Function) -> Function | None:
    """The jax.numpy function that does on traced values what a function of math or NumPy does; None where there is none."""
    if function in (math.factorial, math.isqrt):
        return lambda n: hooks.of_integers[function](n)
    if function in OF_MATH or function in OF_CMATH:
        return OF_MATH.get(function) or OF_CMATH[function]
    name = getattr(function, "__name__", "")
    if getattr(math, name, None) is function:
        return getattr(jnp, name, None)
    if function in _NUMPYS:
        return _NUMPYS[function]
    for theirs, ours in ((np, jnp), (np.linalg, jnp.linalg), (np.fft, jnp.fft)):
        if getattr(theirs, name, None) is function:
            return getattr(ours, name, None)
    if (found := _of_scipy(function)) is not None:
        return found
    theirs = sys.modules.get("scipy.special")  # a function of it cannot come before its module
    return special.jax_function(name) if theirs and getattr(theirs, name, None) is function else None


_CUT = (np.sqrt, np.arcsin, np.arccos, np.arccosh, np.arctanh)


def _of_both_sides(function: Function) -> Function:
    """Of complex numbers, where a zero beside a negative one says on which side of the cut they are: `np.sqrt(-4 - 0j)`."""
    return lambda a: mirrored(function, a) if jnp.iscomplexobj(a) else function(a)


def _reciprocal(a: jax.Array) -> jax.Array:
    """Of an integer zero, NumPy gives what the processor makes of an infinity."""
    if a.dtype.kind not in "iu":
        return jnp.reciprocal(a)
    is_wide = a.dtype.kind == "i" and a.dtype.itemsize >= 4
    return jnp.where(a == 0, jnp.iinfo(a.dtype).min if is_wide else 0, jnp.reciprocal(jnp.where(a == 0, 1, a)))


# Where jax.numpy computes something else than NumPy does.
_UFUNCS: dict[np.ufunc, Function] = {
    np.exp: exp,
    np.log2: log2,
    np.log10: log10,
    np.maximum: complex_order.maximum,
    np.minimum: complex_order.minimum,
    np.multiply: lambda a, b: rounded(jnp.multiply(a, b)),
    np.reciprocal: lambda a: _reciprocal(a),
    **{
        ufunc: _of_both_sides(getattr(jnp, ufunc.__name__)) for ufunc in (np.sqrt, np.arcsin, np.arccos, np.arccosh, np.arctanh)
    },
    np.square: lambda a: rounded(jnp.square(a)),
    np.power: lambda a, b: _power(a, b),
    np.floor_divide: lambda a, b: _floor_divide(a, b),
    np.remainder: lambda a, b: _remainder(a, b),
    np.fmod: lambda a, b: _unless_zero(jnp.fmod, a, b),
    np.nextafter: lambda a, b: _next_after(a, b),
    np.divmod: lambda a, b: (_floor_divide(a, b), _remainder(a, b)),
    np.modf: parts,
    np.sign: lambda a: jnp.sign(a) if a.dtype.kind != "f" else jnp.where(a == 0, 0, jnp.sign(a)),  # of -0.0
}


def _next_after(a: Any, b: Any) -> jax.Array:
    """JAX has no derivative of it; it goes along with its first argument."""
    here, there = jax.lax.stop_gradient(jnp.asarray(a)), jax.lax.stop_gradient(jnp.asarray(b))
    return jnp.nextafter(here, there) + (jnp.asarray(a) - here)


def _power(a: Any, b: Any) -> jax.Array:
    """`x**2` is x * x, also in its derivative at 0."""
    known = isinstance(b, np.ndarray) and b.ndim == 0 and b.dtype.kind in "if" and float(b).is_integer() and abs(b) < 64
    if known and b < 0 and a.dtype.kind in "iu":
        raise ValueError("Integers to negative integer powers are not allowed.")
    if known and a.dtype != bool:
        return rounded(jax.lax.integer_pow(a, int(b)))
    return _power_of_integers(a, b) if jnp.result_type(a, b).kind in "iu" else jnp.power(a, b)


def _power_of_integers(a: Any, b: Any) -> jax.Array:
    """By squaring, as long as the exponents are: jax.numpy takes their last six bits alone."""
    hooks.raise_where(jnp.any(b < 0), ValueError("Integers to negative integer powers are not allowed."))
    a, b = jnp.broadcast_arrays(a, jnp.maximum(b, 0))

    def squared(state: Any) -> Any:
        found, base, exponent = state
        return jnp.where(exponent & 1, found * base, found), base * base, exponent >> 1

    return jax.lax.while_loop(lambda state: jnp.any(state[2] > 0), squared, (jnp.ones_like(a), a, b))[0]


def _floor_divide(a: jax.Array, b: jax.Array) -> jax.Array:
    """A zero has the sign of the quotient."""
    found = _unless_zero(jnp.floor_divide, a, b)
    return found if found.dtype.kind != "f" else _zero_signed(found, jnp.signbit(a) != jnp.signbit(b))


def _remainder(a: jax.Array, b: jax.Array) -> jax.Array:
    """A zero has the sign of the divisor."""
    found = _unless_zero(jnp.remainder, a, b)
    return found if found.dtype.kind != "f" else _zero_signed(found, jnp.signbit(b))


def _zero_signed(x: jax.Array, is_negative: jax.Array) -> jax.Array:
    """Where it is zero with this sign, and with the derivative that it has."""
    fixed = jax.lax.stop_gradient(x)
    return jnp.where(x == 0, jnp.where(is_negative, -(fixed - x), x - fixed), x)


def _unless_zero(function: Function, a: jax.Array, b: jax.Array) -> jax.Array:
    """NumPy's `1 // 0` and `1 % 0` of integers are 0, with a warning."""
    if jnp.result_type(a, b).kind not in "iu":
        return function(a, b)
    return jnp.where(b == 0, 0, function(a, jnp.where(b == 0, 1, b)))


def numpy_ufunc(ufunc: np.ufunc) -> Function:
    """The function on JAX arrays that computes what a ufunc of NumPy or SciPy does."""
    found = _UFUNCS.get(ufunc) or jax_function(ufunc)
    if found is None and not ufunc.signature:
        return foreign.of_ufunc(ufunc)
    if found is None:
        raise lacking(ufunc)
    hooks.mapped(ufunc)
    return found


def lacking(function: Any) -> PortingError:
    name = getattr(function, "__name__", repr(function))
    special_functions = sys.modules.get("scipy.special")
    of_scipy = isinstance(function, np.ufunc) and not hasattr(np, name) and hasattr(special_functions, name)
    module = "scipy.special" if of_scipy else getattr(function, "__module__", None) or "numpy"
    error = PortingError(
        f"`{module}.{name}` has no counterpart on traced values",
        location=user_location(),
        help=f"compute it from functions that jax.numpy has, or call `{name}` on values that are known",
    )
    error.lacks = function
    return error


def _of_scipy(function: Function) -> Function | None:
    return linear_algebra.jax_function(function) or distances.jax_function(function)


def is_numeric_function(function: Any) -> bool:
    """Is this a function of math, NumPy or SciPy's linear algebra that may have to be replaced?"""
    if isinstance(getattr(type(function), "__call__", None), types.FunctionType):  # noqa: B004 - an object: np.poly1d(c)
        return False
    module = getattr(function, "__module__", None) or ""
    root = module.partition(".")[0]
    if isinstance(function, np.ufunc) or root in ("math", "cmath", "numpy"):
        return True
    if root == "scipy":
        return linear_algebra.is_lookup(function) or _of_scipy(function) is not None
    return type(function).__name__ == "fortran"  # no call: near Python's limit of recursion few frames are left
