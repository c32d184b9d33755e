"""Derivatives of functions of scipy.special that are called at run time, by NIST's handbook: Bessel's, Lambert's W, quantiles.

Each is a tuple with the derivative by each argument, of what the function gives and its arguments; None is an order, a branch
or a parameter, by which there is none here. Source: NIST Digital Library of Mathematical Functions, chapters 4 (Lambert's W), 7
(error functions), 8 (incomplete gamma and beta functions), 9 (Airy's), 10 (Bessel's), 18 (polynomials), 19 and 22 (elliptic).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np
from jax.custom_derivatives import SymbolicZero

Slope = Callable[..., Any]
Ufunc = Callable[[np.ufunc], Callable[..., Any]]  # which computes a ufunc on JAX's arrays


def tangents(ufunc: np.ufunc, given: Any, found: Sequence[Any], changes: Sequence[Any], apply: Ufunc) -> list[Any] | None:
    """How what a ufunc gives changes with its arguments; None where that is not known."""
    slopes = of_ufunc(ufunc)
    ways = [n for n, change in enumerate(changes) if not isinstance(change, SymbolicZero)]
    if slopes is None or any(slopes[n] is None for n in ways):
        return None
    total = [jnp.zeros_like(part) for part in found]
    for n in ways:
        parts = slopes[n](lambda name, *args: apply(_named(name))(*args), *found, *given)
        parts = parts if isinstance(parts, tuple) else (parts,)
        total = [one + (jnp.asarray(part) * changes[n]).astype(one.dtype) for one, part in zip(total, parts, strict=True)]
    return total


def _named(name: str) -> Any:
    return getattr(sys.modules["scipy.special._ufuncs"], name)


def of_ufunc(ufunc: np.ufunc) -> Sequence[Any] | None:
    """The derivatives by each argument; None where none is known."""
    theirs = sys.modules.get("scipy.special._ufuncs")
    return _SLOPES.get(ufunc.__name__) if getattr(theirs, ufunc.__name__, None) is ufunc else None


def _bessel(name: str, before: float, after: float) -> tuple[Any, Slope]:
    """Of a function of an order and a number, by its neighbours (NIST 10.6.1 and 10.29.1)."""
    return None, lambda f, y, v, x: before * f(name, v - 1.0, x) + after * f(name, v + 1.0, x)


def _spherical(kind: str) -> tuple[Any, Slope]:
    """Of a spherical Bessel function, by SciPy's own derivative."""
    return None, lambda f, y, n, x: f(f"_spherical_{kind}_d", n, x)


def _spherical_slope(kind: str, sign: int) -> tuple[Any, Slope]:
    """Of that derivative, by the differential equation (NIST 10.47.1 and 10.47.2)."""
    return None, lambda f, y, n, x: sign * (1 + sign * n * (n + 1.0) / x**2) * f(f"_spherical_{kind}", n, x) - 2 * y / x


def _scaled(name: str, sign: float) -> tuple[Any, Slope]:
    """Of `ive` and `kve`, which have an exponential factor."""
    half = 0.5 * sign
    factor = (lambda x: -jnp.sign(x)) if sign > 0 else (lambda x: 1.0)
    return None, lambda f, y, v, x: half * (f(name, v - 1.0, x) + f(name, v + 1.0, x)) + factor(x) * y


def _log_beta(a: Any, b: Any) -> Any:
    return jsp.gammaln(a) + jsp.gammaln(b) - jsp.gammaln(a + b)


def _by_modulus(f: Any, y: Any, phi: Any, m: Any) -> Any:
    """Of the incomplete integral of the first kind (NIST 19.4.5)."""
    sine, root = jnp.sin(phi), jnp.sqrt(1 - m * jnp.sin(phi) ** 2)
    return f("ellipeinc", phi, m) / (2 * m * (1 - m)) - y / (2 * m) - sine * jnp.cos(phi) / (2 * (1 - m) * root)


def _students_density(df: Any, t: Any) -> Any:
    half = (df + 1) / 2
    return jnp.exp(jsp.gammaln(half) - jsp.gammaln(df / 2) - half * jnp.log1p(t**2 / df)) / jnp.sqrt(df * jnp.pi)


def _gegenbauer(f: Any, n: Any, a: float, x: Any) -> jax.Array:
    """The derivative of Gegenbauer's polynomial, of which Legendre's and Chebyshev's second ones are cases (NIST 18.9.19)."""
    is_constant = (n == 0) | (n == -1)
    return jnp.where(is_constant, 0.0, 2 * a * f("eval_gegenbauer", jnp.where(is_constant, 1.0, n) - 1.0, a + 1, x))


_SPHERICAL = {"jn": -1, "yn": -1, "in": 1, "kn": 1}
_SLOPES: dict[str, Sequence[Any]] = {
    "j0": [lambda f, y, x: -f("j1", x)], "j1": [lambda f, y, x: (f("j0", x) - f("jv", 2.0, x)) / 2],
    "y0": [lambda f, y, x: -f("y1", x)], "y1": [lambda f, y, x: (f("y0", x) - f("yv", 2.0, x)) / 2],
    "k0": [lambda f, y, x: -f("k1", x)], "k1": [lambda f, y, x: -(f("k0", x) + f("kv", 2.0, x)) / 2],
    "k0e": [lambda f, y, x: y - f("k1e", x)], "k1e": [lambda f, y, x: y - (f("k0e", x) + f("kve", 2.0, x)) / 2],
    **{name: _bessel("jv", 0.5, -0.5) for name in ("jv", "jn")}, **{name: _bessel("yv", 0.5, -0.5) for name in ("yv", "yn")},
    "iv": _bessel("iv", 0.5, 0.5), **{name: _bessel("kv", -0.5, -0.5) for name in ("kv", "kn")},
    "hankel1": _bessel("hankel1", 0.5, -0.5), "hankel2": _bessel("hankel2", 0.5, -0.5),
    **{f"_spherical_{kind}": _spherical(kind) for kind in _SPHERICAL},
    **{f"_spherical_{kind}_d": _spherical_slope(kind, sign) for kind, sign in _SPHERICAL.items()},
    "ive": _scaled("ive", 1.0), "kve": _scaled("kve", -1.0),
    "airy": [lambda f, a, da, b, db, x: (da, x * a, db, x * b)],
    "_lambertw": (lambda f, w, z, *_: jnp.exp(-w) / (1 + w), None, None), "wrightomega": [lambda f, w, z: w / (1 + w)],
    "erfi": [lambda f, y, x: 2 / np.sqrt(np.pi) * jnp.exp(x**2)],
    "shichi": [lambda f, s, c, x: (jnp.sinh(x) / x, jnp.cosh(x) / x)],
    "hyp0f1": (None, lambda f, y, v, z: f("hyp0f1", v + 1.0, z) / v),
    "ellipkinc": (lambda f, y, phi, m: 1 / jnp.sqrt(1 - m * jnp.sin(phi) ** 2), _by_modulus),
    "ellipeinc": (
        lambda f, y, phi, m: jnp.sqrt(1 - m * jnp.sin(phi) ** 2), lambda f, y, phi, m: (y - f("ellipkinc", phi, m)) / (2 * m),
    ),
    "ellipj": (lambda f, s, c, d, ph, u, m: (c * d, -s * d, -m * s * c, d), None),
    "gammaincinv": (None, lambda f, x, a, y: jnp.exp(jsp.gammaln(a) + x + (1 - a) * jnp.log(x))),
    "gammainccinv": (None, lambda f, x, a, y: -jnp.exp(jsp.gammaln(a) + x + (1 - a) * jnp.log(x))),
    "betaincinv": (None, None, lambda f, x, a, b, y: jnp.exp(_log_beta(a, b) + (1 - a) * jnp.log(x) + (1 - b) * jnp.log1p(-x))),
    "stdtrit": (None, lambda f, t, df, p: 1 / _students_density(df, t)),
    "chdtri": (None, lambda f, x, v, p: -2 * jnp.exp(jsp.gammaln(v / 2) + x / 2 + (1 - v / 2) * jnp.log(x / 2))),
    "eval_legendre": (None, lambda f, y, n, x: _gegenbauer(f, jnp.maximum(n, -1 - n), 0.5, x)),
    "eval_chebyt": (None, lambda f, y, n, x: n * f("eval_chebyu", n - 1.0, x)),
    "eval_chebyu": (
        None, lambda f, y, n, x: jnp.where(n < -1, -1, 1) * _gegenbauer(f, jnp.where(n < -1, -2 - n, n), 1.0, x),
    ),
    "eval_laguerre": (None, lambda f, y, n, x: -f("eval_genlaguerre", n - 1.0, 1.0, x)),
    "eval_jacobi": (
        None, None, None, lambda f, y, n, a, b, x: (n + a + b + 1) / 2 * f("eval_jacobi", n - 1.0, a + 1, b + 1, x),
    ),
    "eval_gegenbauer": (None, None, lambda f, y, n, a, x: 2 * a * f("eval_gegenbauer", n - 1.0, a + 1, x)),
    "eval_genlaguerre": (None, None, lambda f, y, n, a, x: -f("eval_genlaguerre", n - 1.0, a + 1, x)),
}  # fmt: skip
