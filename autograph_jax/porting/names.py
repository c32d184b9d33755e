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
from . import foreign, hooks, integers, linear_algebra, special
from .exact import exp, log2, log10
from .products import rounded

Function = Callable[..., Any]

# Where the two libraries have different names, or other arguments.
_MATH: dict[Function, Function] = {
    math.acos: jnp.arccos, math.acosh: jnp.arccosh, math.asin: jnp.arcsin, math.asinh: jnp.arcsinh, math.atan: jnp.arctan,
    math.atanh: jnp.arctanh, math.atan2: jnp.arctan2, math.fabs: lambda x: abs(_float(x)),
    math.fmod: lambda x, y: jnp.fmod(_float(x), _float(y)), math.pow: lambda x, y: jnp.power(_float(x), _float(y)),
    math.remainder: lambda x, y: _remainder(_float(x), _float(y)),
    math.gamma: lambda x: jnp.exp(jax.scipy.special.gammaln(x)) * _gamma_sign(x), math.lgamma: jax.scipy.special.gammaln,
    math.erf: jax.scipy.special.erf, math.erfc: jax.scipy.special.erfc, math.ldexp: jnp.ldexp, math.gcd: jnp.gcd,
    math.lcm: jnp.lcm, math.log: lambda x, *base: jnp.log(x) / jnp.log(base[0]) if base else jnp.log(x),
    math.log2: log2, math.log10: log10,
    math.floor: lambda x: _integer(jnp.floor(x)), math.ceil: lambda x: _integer(jnp.ceil(x)),
    math.trunc: lambda x: _integer(jnp.trunc(x)), math.hypot: lambda *x: jnp.sqrt(sum(jnp.square(v) for v in x)),
    math.degrees: jnp.degrees, math.radians: jnp.radians,
    math.dist: lambda p, q: jnp.linalg.norm(_float(jnp.asarray(p)) - jnp.asarray(q)),
    math.isclose: lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: _is_close(a, b, rel_tol, abs_tol),
    math.fsum: lambda x: jnp.sum(jnp.asarray(x, float)),
    math.prod: lambda x, *, start=1: start * in_own_type(jnp.prod, jnp.asarray(x), start),
}  # fmt: skip


# Those of cmath give complex numbers, whatever they get.
_CMATH: dict[Function, Function] = {
    **{
        getattr(cmath, name): functools.partial(lambda ours, x: ours(x + 0j), getattr(jnp, name.replace("a", "arc", 1)))
        for name in "acos acosh asin asinh atan atanh".split()
    },
    **{
        getattr(cmath, name): functools.partial(lambda ours, x: ours(x + 0j), getattr(jnp, name))
        for name in "cos cosh exp log10 sin sinh sqrt tan tanh".split()
    },
    cmath.log: lambda x, *base: jnp.log(x + 0j) / jnp.log(base[0] + 0j) if base else jnp.log(x + 0j), cmath.phase: jnp.angle,
    cmath.polar: lambda x: (jnp.abs(x), jnp.angle(x)), cmath.rect: lambda r, phi: r * jnp.exp(1j * phi),
    cmath.isfinite: jnp.isfinite, cmath.isinf: jnp.isinf, cmath.isnan: jnp.isnan,
    cmath.isclose: lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: _is_close(a, b, rel_tol, abs_tol),
}  # fmt: skip


def _float(x: Any) -> Any:
    """Python's math has floats throughout."""
    return x if jnp.issubdtype(jnp.result_type(x), jnp.floating) else jnp.asarray(x, float)


def _remainder(x: Any, y: Any) -> jax.Array:
    """What is left after the nearest multiple of y, of two as near the even one (IEEE 754). jnp.remainder's is Python's %."""
    left, size = jnp.fmod(x, y), jnp.abs(y)
    is_odd = jnp.fmod((x - left) / y, 2) != 0
    is_far = (2 * jnp.abs(left) > size) | (2 * jnp.abs(left) == size) & is_odd
    return jnp.where(is_far, left - jnp.copysign(size, left), left)


def _gamma_sign(x: Any) -> jax.Array:
    return jnp.where((x < 0) & (jnp.floor(x) % 2 != 0), -1.0, 1.0)


def _is_close(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> jax.Array:
    """Python's rule, by the larger of the two; NumPy's goes by the second. An infinity is close to itself alone."""
    within = jnp.abs(a - b) <= jnp.maximum(rel_tol * jnp.maximum(jnp.abs(a), jnp.abs(b)), abs_tol)
    return jnp.equal(a, b) | within & jnp.isfinite(a) & jnp.isfinite(b)


def in_own_type(reduce: Function, rows: jax.Array, start: Any) -> jax.Array:
    """A sum or a product over the first axis, in the type that it has row after row: JAX's own of int8 is an int32."""
    is_number = isinstance(start, int | float | complex | jax.Array)
    kind = start if is_number else jax.dtypes.canonicalize_dtype(getattr(start, "dtype", rows.dtype))
    return reduce(rows, axis=0, dtype=jnp.result_type(kind, rows))


def _integer(x: jax.Array) -> jax.Array:
    """Python's `math.floor` and the like give integers."""
    return x.astype(int)


# Of NumPy's functions those of which jax.numpy computes something else.
_NUMPYS: dict[Function, Function] = {
    **linear_algebra.NUMPYS, np.convolve: integers.convolve, np.correlate: integers.correlate, np.polymul: integers.polymul,
    np.linalg.matrix_power: integers.matrix_power,
}  # fmt: skip


MATH = frozenset(function for module in (math, cmath) for function in vars(module).values() if type(function) is type(math.sin))


@functools.cache
def jax_function(function: Function) -> Function | None:
    """The jax.numpy function that does on traced values what a function of math or NumPy does; None where there is none."""
    if function in _MATH or function in _CMATH:
        return _MATH.get(function) or _CMATH[function]
    name = getattr(function, "__name__", "")
    if getattr(math, name, None) is function:
        return getattr(jnp, name, None)
    if function in _NUMPYS:
        return _NUMPYS[function]
    for theirs, ours in ((np, jnp), (np.linalg, jnp.linalg), (np.fft, jnp.fft)):
        if getattr(theirs, name, None) is function:
            return getattr(ours, name, None)
    if (found := linear_algebra.jax_function(function)) is not None:
        return found
    theirs = sys.modules.get("scipy.special")  # a function of it cannot come before its module
    return special.jax_function(name) if theirs and getattr(theirs, name, None) is function else None


# Where jax.numpy computes something else than NumPy does.
_UFUNCS: dict[np.ufunc, Function] = {
    np.exp: exp,
    np.log2: log2,
    np.log10: log10,
    np.multiply: lambda a, b: rounded(jnp.multiply(a, b)),
    np.square: lambda a: rounded(jnp.square(a)),
    np.power: lambda a, b: _power(a, b),
    np.floor_divide: lambda a, b: _unless_zero(jnp.floor_divide, a, b),
    np.remainder: lambda a, b: _unless_zero(jnp.remainder, a, b),
    np.fmod: lambda a, b: _unless_zero(jnp.fmod, a, b),
    np.nextafter: lambda a, b: _next_after(a, b),
    np.divmod: lambda a, b: (_unless_zero(jnp.floor_divide, a, b), _unless_zero(jnp.remainder, a, b)),
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


def is_numeric_function(function: Any) -> bool:
    """Is this a function of math, NumPy or SciPy's linear algebra that may have to be replaced?"""
    if isinstance(getattr(type(function), "__call__", None), types.FunctionType):  # noqa: B004 - an object: np.poly1d(c)
        return False
    module = getattr(function, "__module__", None) or ""
    root = module.partition(".")[0]
    if isinstance(function, np.ufunc) or root in ("math", "cmath", "numpy"):
        return True
    if root == "scipy":
        return linear_algebra.is_lookup(function) or linear_algebra.jax_function(function) is not None
    return type(function).__name__ == "fortran"  # no call: near Python's limit of recursion few frames are left
