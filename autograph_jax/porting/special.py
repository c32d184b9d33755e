"""Functions of scipy.special that jax.scipy.special lacks and that a line or two of jax.numpy give, by NIST's handbook.

Source: NIST Digital Library of Mathematical Functions, chapters 8 (incomplete gamma functions), 18 (orthogonal
polynomials) and 19 (elliptic integrals).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np

from ..errors import PortingError, user_location
from . import hooks
from .mathematics import gamma_sign

Function = Callable[..., Any]


def jax_function(name: str) -> Function | None:
    """What computes the function of scipy.special of this name on traced values; None where nothing does."""
    return _OURS.get(name) or getattr(jsp, name, None)


# Orthogonal polynomials of a known degree, by their recurrences: p_{k+1}(x) from p_k(x), p_{k-1}(x) and k


def _polynomial(first: Function, following: Function) -> Function:
    def evaluate(n: Any, x: Any) -> Any:
        if isinstance(n, jax.Array) or np.ndim(n) or int(n) != n or n < 0:
            raise TypeError("the degree of a polynomial of a traced argument is one known integer, not negative")
        before, now = jnp.ones_like(x), first(x)
        for k in range(1, int(n)):
            before, now = now, following(k, x, now, before)
        return now if n > 0 else before

    return evaluate


_POLYNOMIALS: dict[str, Function] = {
    "eval_legendre": _polynomial(lambda x: x, lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1)),
    "eval_chebyt": _polynomial(lambda x: x, lambda k, x, p, q: 2 * x * p - q),
    "eval_chebyu": _polynomial(lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - q),
    "eval_hermite": _polynomial(lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q),
    "eval_hermitenorm": _polynomial(lambda x: x, lambda k, x, p, q: x * p - k * q),
    "eval_laguerre": _polynomial(lambda x: 1 - x, lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1)),
}


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
    """By Pfaff's transformation (NIST 15.8.1) where the series would not converge."""
    refused = PortingError(
        "`scipy.special.hyp2f1` of traced data below -9 has no counterpart: JAX's series does not converge there",
        location=user_location(),
        help="take it of arguments between -9 and 1",
    )
    hooks.raise_where(jnp.any(jax.lax.stop_gradient(x) < -9), refused)
    is_negative = x < -0.5
    safe = jnp.where(is_negative, x, -1.0)
    first, inside = jnp.where(is_negative, c - a, a), jnp.where(is_negative, safe / (safe - 1), x)
    return jnp.where(is_negative, (1 - safe) ** (-b), 1.0) * jsp.hyp2f1(first, b, c, inside)


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
    "betaincc": lambda a, b, x: jsp.betainc(b, a, 1 - x), "zetac": lambda x: jsp.zeta(x, 1.0) - 1,
    "chdtr": lambda v, x: jsp.gammainc(v / 2, x / 2), "chdtrc": lambda v, x: jsp.gammaincc(v / 2, x / 2),
    "gdtr": lambda a, b, x: jsp.gammainc(b, a * x), "gdtrc": lambda a, b, x: jsp.gammaincc(b, a * x),
    "pdtr": lambda k, m: jsp.gammaincc(jnp.floor(k) + 1, m), "pdtrc": lambda k, m: jsp.gammainc(jnp.floor(k) + 1, m),
    "bdtr": lambda k, n, p: jsp.betainc(n - jnp.floor(k), jnp.floor(k) + 1, 1 - p), "stdtr": _stdtr,
    "fdtr": lambda n, d, x: jsp.betainc(n / 2, d / 2, n * x / (d + n * x)),
    "fdtrc": lambda n, d, x: jsp.betainc(d / 2, n / 2, d / (d + n * x)),
    "ellipk": lambda m: _ellipkm1(1 - m), "ellipkm1": _ellipkm1, "ellipe": _ellipe, **_POLYNOMIALS,
}  # fmt: skip


def _not_zero(x: Any) -> Any:
    return jnp.where(x == 0, 1.0, x)
