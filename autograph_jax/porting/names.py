"""`math.sqrt(x)` and `np.sqrt(x)` of a traced x are `jnp.sqrt(x)`: the jax.numpy function for one of math's or NumPy's."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

Function = Callable[..., Any]

# Where the two libraries have different names, or other arguments.
_MATH: dict[Function, Function] = {
    math.acos: jnp.arccos, math.acosh: jnp.arccosh, math.asin: jnp.arcsin, math.asinh: jnp.arcsinh, math.atan: jnp.arctan,
    math.atanh: jnp.arctanh, math.atan2: jnp.arctan2, math.fabs: jnp.abs, math.fmod: jnp.fmod, math.pow: jnp.power,
    math.gamma: lambda x: jnp.exp(jax.scipy.special.gammaln(x)) * _gamma_sign(x), math.lgamma: jax.scipy.special.gammaln,
    math.erf: jax.scipy.special.erf, math.erfc: jax.scipy.special.erfc, math.ldexp: jnp.ldexp, math.gcd: jnp.gcd,
    math.lcm: jnp.lcm, math.log: lambda x, *base: jnp.log(x) / jnp.log(base[0]) if base else jnp.log(x),
    math.floor: lambda x: _integer(jnp.floor(x)), math.ceil: lambda x: _integer(jnp.ceil(x)),
    math.trunc: lambda x: _integer(jnp.trunc(x)), math.hypot: lambda *x: jnp.sqrt(sum(jnp.square(v) for v in x)),
    math.degrees: jnp.degrees, math.radians: jnp.radians, math.dist: lambda p, q: jnp.linalg.norm(jnp.subtract(p, q)),
    math.isclose: lambda a, b, *, rel_tol=1e-9, abs_tol=0.0: _is_close(a, b, rel_tol, abs_tol),
    math.fsum: lambda x: jnp.sum(jnp.asarray(x)), math.prod: lambda x: jnp.prod(jnp.asarray(x)),
}  # fmt: skip


def _gamma_sign(x: Any) -> jax.Array:
    return jnp.where((x < 0) & (jnp.floor(x) % 2 != 0), -1.0, 1.0)


def _is_close(a: Any, b: Any, rel_tol: Any, abs_tol: Any) -> jax.Array:
    """Python's rule, by the larger of the two; NumPy's goes by the second. An infinity is close to itself alone."""
    within = jnp.abs(a - b) <= jnp.maximum(rel_tol * jnp.maximum(jnp.abs(a), jnp.abs(b)), abs_tol)
    return jnp.equal(a, b) | within & jnp.isfinite(a) & jnp.isfinite(b)


def _integer(x: jax.Array) -> jax.Array:
    """Python's `math.floor` and the like give integers."""
    return x.astype(int)


@functools.cache
def jax_function(function: Function) -> Function | None:
    """The jax.numpy function that does on traced values what a function of math or NumPy does; None where there is none."""
    if function in _MATH:
        return _MATH[function]
    name = getattr(function, "__name__", "")
    if getattr(math, name, None) is function:
        return getattr(jnp, name, None)
    for theirs, ours in ((np, jnp), (np.linalg, jnp.linalg), (np.fft, jnp.fft)):
        if getattr(theirs, name, None) is function:
            return getattr(ours, name, None)
    return None


def is_numeric_function(function: Any) -> bool:
    """Is this a function of math or NumPy that may have to be replaced?"""
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, np.ufunc) or module == "math" or module.partition(".")[0] == "numpy"
