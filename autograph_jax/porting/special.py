"""Functions of scipy.special that jax.scipy.special lacks and that a line or two of jax.numpy give, by NIST's handbook.

Source: NIST Digital Library of Mathematical Functions, chapters 8 (incomplete gamma functions), 18 (orthogonal
polynomials) and 19 (elliptic integrals).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np

from ..errors import PortingError, user_location
from . import foreign, hooks
from .mathematics import gamma_sign

Function = Callable[..., Any]


def jax_function(name: str) -> Function | None:
    """What computes the function of scipy.special of this name on traced values; None where nothing does."""
    return _OURS.get(name) or getattr(jsp, name, None)


# Orthogonal polynomials of known degrees, by their recurrences: p_{k+1}(x) from p_k(x), p_{k-1}(x) and k


def _polynomial(name: str, first: Function, following: Function) -> Function:
    def evaluate(n: Any, x: Any) -> Any:
        if isinstance(n, jax.Array) or not np.all((np.floor(n) == n) & (np.asarray(n) >= 0)):
            return foreign.of_ufunc(getattr(sys.modules["scipy.special"], name))(n, x)
        degrees = np.asarray(n, int)
        found, before, now = jnp.ones_like(x + 0.0 * degrees), jnp.ones_like(x), first(x)
        for k in range(1, degrees.max(initial=0) + 1):
            found = jnp.where(degrees == k, now, found)
            before, now = now, following(k, x, now, before)
        return found

    return evaluate


_RECURRENCES: dict[str, tuple[Function, Function]] = {
    "eval_legendre": (lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
    "eval_chebyt": (lambda x: x, lambda k, x, p, q: 2 * x * p - q),
    "eval_chebyu": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - q),
    "eval_hermite": (lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    "eval_hermitenorm": (lambda x: x, lambda k, x, p, q: x * p - k * q),
    "eval_laguerre": (lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
}
_POLYNOMIALS: dict[str, Function] = {name: _polynomial(name, *own) for name, own in _RECURRENCES.items()}


# Elliptic integrals, by the arithmetic-geometric mean, whose error squares with each step

_STEPS = 9


def _ellipkm1(p: Any) -> Any:
    is_small = abs(p) < 1e-15  # where so many steps are too few; NIST 19.12.1
    safe = jnp.where(is_small, 1.0, p)
    a, g = jnp.ones_like(safe), jnp.sqrt(safe)
    for _ in range(_STEPS):
        a, g = (a + g) / 2, jnp.sqrt(a * g)
    return jnp.where(is_small, np.log(4) - jnp.log(jnp.where(is_small, p, 1.0)) / 2, jnp.pi / (2 * a))


def _ellipe(m: Any) -> Any:
    a, g, total, power = jnp.ones_like(m), jnp.sqrt(1 - m), m / 2, 0.5
    for _ in range(_STEPS):
        a, g, difference = (a + g) / 2, jnp.sqrt(a * g), (a - g) / 2
        power *= 2
        total = total + power * difference**2
    return jnp.where(m == 1, 1.0, jnp.pi / (2 * a) * (1 - total))


# Distributions


def _stdtr(df: Any, t: Any) -> Any:
    near = 0.5 + jnp.sign(t) / 2 * jsp.betainc(0.5, df / 2, t**2 / (df + t**2))
    tail = jsp.betainc(df / 2, 0.5, df / (df + t**2)) / 2
    return jnp.where(t < -jnp.sqrt(df), tail, near)


def _huber(delta: Any, r: Any) -> Any:
    found = jnp.where(abs(r) <= delta, r**2 / 2, delta * (abs(r) - delta / 2))
    return jnp.where(delta < 0, jnp.inf, found)


def _pseudo_huber(delta: Any, r: Any) -> Any:
    found = delta**2 * jnp.expm1(jnp.log1p((r / _not_zero(delta)) ** 2) / 2)
    return jnp.where(delta < 0, jnp.inf, found)


def _rgamma(x: Any) -> Any:
    is_pole = (x <= 0) & (jnp.floor(x) == x)
    return jnp.where(is_pole, 0.0, 1 / jsp.gamma(jnp.where(is_pole, 1.0, x)))


_FACTORS = 19  # so many in the product, which has no rounding errors of logarithms


def _binom(n: Any, k: Any) -> Any:
    """By a product where k or n - k is a small integer; by gamma functions, with their signs, elsewhere."""
    n, k = jnp.broadcast_arrays(n, k)
    few = jnp.where((jnp.floor(n) == n) & (k > n / 2) & (n > 0), n - k, k)
    product = jnp.ones_like(n)
    for i in range(1, _FACTORS + 1):
        product = jnp.where(i <= few, product * (n - few + i) / i, product)
    sizes = jsp.gammaln(n + 1) - jsp.gammaln(k + 1) - jsp.gammaln(n - k + 1)
    sign = gamma_sign(n + 1) * gamma_sign(k + 1) * gamma_sign(n - k + 1)
    is_product = (jnp.floor(k) == k) & (few >= 0) & (few <= _FACTORS)
    found = jnp.where(is_product, product, sign * jnp.exp(sizes))
    return jnp.where((n < 0) & (jnp.floor(n) == n), jnp.nan, found)


def _hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """By Kummer's transformation (NIST 13.2.39) where the terms of the series would alternate."""
    is_negative = x < -1
    first, size = jnp.where(is_negative, b - a, a), jnp.where(is_negative, -x, x)
    return jnp.where(is_negative, jnp.exp(x), 1.0) * jsp.hyp1f1(first, b, size)


def _hyp2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    """By Pfaff's transformation (NIST 15.8.1) where the series would not converge, by 1 - x (15.8.4) where it would slowly.

    A series that ends, where a or b is a whole number and not positive, is a polynomial, for all x.
    """
    a, b, c, x = promoted = jnp.broadcast_arrays(
        *(jnp.asarray(one, jnp.result_type(a, b, c, x, float)) for one in (a, b, c, x))
    )
    known_a, known_b, known_c, known_x = map(jax.lax.stop_gradient, promoted)
    degree = jnp.minimum(_degree(known_a), _degree(known_b))
    ends, outside = jnp.isfinite(degree), (known_x < -9) | (known_x > 0.9)
    polynomial, is_exact = _ending_series(a, b, c, x, degree)
    is_pole = jnp.isfinite(_degree(known_c))
    excess = known_c - known_a - known_b
    off = jnp.abs(excess - jnp.round(excess))
    is_near_one = (known_x > 0.9) & (known_x < 1) & ~ends & ~is_pole & (off > 1e-14)
    _refuse_hyp2f1((known_x < -9) & ~ends, "below -9", "take it of arguments between -9 and 1")
    _refuse_hyp2f1(ends & outside & ~is_exact, "where its series ends late", "take it of arguments between -9 and 1")
    _refuse_hyp2f1(ends & is_pole, "with such a `c`", "take it with a `c` that is no whole number, or positive")
    _refuse_hyp2f1(
        (known_x >= 1) & (known_c < 0) & ~ends & ~is_pole, "from 1 on with such a `c`", "take it with a positive `c`"
    )
    _refuse_hyp2f1(
        is_near_one & (off < 1e-4), "near 1, where c - a - b is nearly whole,", "take it of arguments between -9 and 0.9"
    )
    is_negative = x < -0.5
    safe = jnp.where(is_negative, x, -1.0)
    first, inside = jnp.where(is_negative, c - a, a), jnp.where(is_negative, safe / (safe - 1), x)
    inside = jnp.where(ends & outside | is_near_one, 0.5, inside)
    found = jnp.where(is_negative, (1 - safe) ** (-b), 1.0) * jsp.hyp2f1(first, b, c, inside)
    found = jnp.where(is_near_one, _hyp2f1_near_one(a, b, c, x, is_near_one), found)
    at_one = jsp.gamma(c) * jsp.gamma(jnp.maximum(c - a - b, 1e-9)) * _rgamma(c - a) * _rgamma(c - b)  # NIST 15.4.20
    found = jnp.where((x == 1) & (excess > 0), at_one, found)
    return jnp.where(ends & outside, polynomial, found)


_MOST_TERMS = 60


def _degree(a: Any) -> jax.Array:
    """Of the polynomial that the series is with this parameter; infinite where it does not end."""
    return jnp.where((a <= 0) & (jnp.floor(a) == a), -a, jnp.inf)


def _ending_series(a: Any, b: Any, c: Any, x: Any, degree: Any) -> tuple[jax.Array, jax.Array]:
    """The sum, and whether it is one of not too many terms that do not cancel."""

    def add(state: Any, k: Any) -> Any:
        total, size, term = state
        term = jnp.where(k < degree, term * (a + k) * (b + k) / (_not_zero(c + k) * (k + 1)) * x, 0.0)
        return (total + term, jnp.maximum(size, jnp.abs(term)), term), None

    one = jnp.ones_like(x)
    (total, size, _), _ = jax.lax.scan(add, (one, one, one), jnp.arange(_MOST_TERMS, dtype=x.dtype))
    return total, (degree <= _MOST_TERMS) & (size * 1e-5 <= jnp.maximum(jnp.abs(total), 1))


def _hyp2f1_near_one(a: Any, b: Any, c: Any, x: Any, is_near: Any) -> jax.Array:
    a, b, c, x = (jnp.where(is_near, one, other) for one, other in zip((a, b, c, x), (0.5, 0.5, 1.25, 0.95), strict=True))
    d, rest = c - a - b, 1 - x
    plain = jsp.gamma(d) * _rgamma(c - a) * _rgamma(c - b) * jsp.hyp2f1(a, b, 1 - d, rest)
    return jsp.gamma(c) * (plain + rest**d * jsp.gamma(-d) * _rgamma(a) * _rgamma(b) * jsp.hyp2f1(c - a, c - b, 1 + d, rest))


def _refuse_hyp2f1(where: Any, at: str, way_out: str) -> None:
    refused = PortingError(
        f"`scipy.special.hyp2f1` of traced data {at} has no counterpart: JAX's series does not converge there",
        location=user_location(),
        help=way_out,
    )
    hooks.raise_where(jnp.any(where), refused)


def _incomplete_gamma(of_jax: Function, at_zero: float) -> Function:
    """P(a, x) or Q(a, x), also of the parameters 0, where it is `at_zero`, and infinity: JAX's is NaN (NIST 8.2.5, 8.11.1)."""

    def apply(a: Any, x: Any) -> jax.Array:
        a, x = (jnp.asarray(one, jnp.result_type(a, x, float)) for one in (a, x))
        is_zero, is_endless = (a == 0) & (x > 0), (a == jnp.inf) & (x >= 0)
        at_the_end = jnp.where(x == jnp.inf, jnp.nan, 1 - at_zero)
        found = of_jax(jnp.where(is_zero | is_endless, 1.0, a), x)
        return jnp.where(is_zero, at_zero, jnp.where(is_endless, at_the_end, found))

    return apply


_gammainc, _gammaincc = _incomplete_gamma(jsp.gammainc, 1.0), _incomplete_gamma(jsp.gammaincc, 0.0)


def _exprel(x: Any) -> Any:
    small = abs(x) < 1e-5
    safe = jnp.where(small, 1.0, x)
    return jnp.where(small, 1 + x / 2 + x**2 / 6, jnp.expm1(safe) / safe)


_OURS: dict[str, Function] = {
    **{name: getattr(jnp, name) for name in ("cbrt", "exp2", "expm1", "log1p")}, "round": jnp.rint, "psi": jsp.digamma,
    "exp10": lambda x: 10.0**x, "cosm1": lambda x: -2 * jnp.sin(x / 2) ** 2, "exprel": _exprel,
    "log_expit": jax.nn.log_sigmoid, "rgamma": _rgamma, "erfcinv": lambda x: -jsp.ndtri(x / 2) / np.sqrt(2),
    "inv_boxcox": lambda y, lmbda: jnp.where(lmbda == 0, jnp.exp(y), jnp.exp(jnp.log1p(lmbda * y) / _not_zero(lmbda))),
    "huber": _huber, "pseudo_huber": _pseudo_huber, "binom": _binom, "hyp1f1": _hyp1f1, "hyp2f1": _hyp2f1,
    "gammainc": _gammainc, "gammaincc": _gammaincc,
    "betaincc": lambda a, b, x: jsp.betainc(b, a, 1 - x), "zetac": lambda x: jsp.zeta(x, 1.0) - 1,
    "chdtr": lambda v, x: _gammainc(v / 2, x / 2), "chdtrc": lambda v, x: _gammaincc(v / 2, x / 2),
    "gdtr": lambda a, b, x: _gammainc(b, a * x), "gdtrc": lambda a, b, x: _gammaincc(b, a * x),
    "pdtr": lambda k, m: _gammaincc(jnp.floor(k) + 1, m), "pdtrc": lambda k, m: _gammainc(jnp.floor(k) + 1, m),
    "bdtr": lambda k, n, p: jsp.betainc(jnp.trunc(n) - jnp.floor(k), jnp.floor(k) + 1, 1 - p), "stdtr": _stdtr,
    "fdtr": lambda n, d, x: jsp.betainc(n / 2, d / 2, n * x / (d + n * x)),
    "fdtrc": lambda n, d, x: jsp.betainc(d / 2, n / 2, d / (d + n * x)),
    "ellipk": lambda m: _ellipkm1(1 - m), "ellipkm1": _ellipkm1, "ellipe": _ellipe, **_POLYNOMIALS,
}  # fmt: skip


def _not_zero(x: Any) -> Any:
    return jnp.where(x == 0, 1.0, x)
