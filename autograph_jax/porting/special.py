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
from . import foreign, gamma_ratios, hooks

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
    """Of a large p by that of its inverse, NIST 19.7.3."""
    is_large = p > 1
    p, scale = jnp.where(is_large, 1 / _not_zero(p), p), jnp.where(is_large, 1 / jnp.sqrt(jnp.where(is_large, p, 1.0)), 1.0)
    is_small = abs(p) < 1e-15  # where so many steps are too few; NIST 19.12.1
    safe = jnp.where(is_small, 1.0, p)
    a, g = jnp.ones_like(safe), jnp.sqrt(safe)
    for _ in range(_STEPS):
        a, g = (a + g) / 2, jnp.sqrt(a * g)
    found = jnp.where(is_small, np.log(4) - jnp.log(jnp.where(is_small, p, 1.0)) / 2, jnp.pi / (2 * a))
    return jnp.where(scale == 0, 0.0, scale * found)


def _ellipe(m: Any) -> Any:
    a, g, total, power = jnp.ones_like(m), jnp.sqrt(1 - m), m / 2, 0.5
    for _ in range(_STEPS):
        a, g, difference = (a + g) / 2, jnp.sqrt(a * g), (a - g) / 2
        power *= 2
        total = total + power * difference**2
    return jnp.where(m == 1, 1.0, jnp.pi / (2 * a) * (1 - total))


# Distributions


_NEARLY_NORMAL = 1e5


def _stdtr(df: Any, t: Any) -> Any:
    """By the incomplete beta function, or, of many degrees of freedom, by the normal distribution (Hill, CACM 13, 1970)."""
    df, t = _floats(df, t)
    is_many, is_infinite = df > _NEARLY_NORMAL, jnp.isinf(t)
    safe_df, safe_t = jnp.where((df > 0) & ~is_many, df, 1.0), jnp.where(is_infinite | is_many, 0.0, t)
    square = safe_t**2
    is_tiny = square * (safe_df + 1) < 1e-8 * safe_df
    apart = jnp.where(is_tiny, 1.0, square)
    near = 0.5 + jnp.sign(safe_t) / 2 * jsp.betainc(0.5, safe_df / 2, apart / (safe_df + apart))
    tail = jsp.betainc(safe_df / 2, 0.5, safe_df / (safe_df + apart)) / 2
    far = jnp.minimum(jnp.sqrt(safe_df), 1.0)
    middle = jnp.exp(-gamma_ratios.betaln(0.5, safe_df / 2)) / jnp.sqrt(safe_df)  # the density at 0
    near = jnp.where(is_tiny, 0.5 + middle * safe_t * (1 - square * (safe_df + 1) / (6 * safe_df)), near)
    found = jnp.where(safe_t < -far, tail, jnp.where(safe_t > far, 1 - tail, near))
    ends = jnp.where(t > 0, 1.0, 0.0)
    found = jnp.where(is_infinite, ends, jnp.where(is_many, jsp.ndtr(_normal(df, t, is_many & ~is_infinite)), found))
    return jnp.where((df > 0) & ~jnp.isnan(t), found, jnp.nan)


def _normal(df: jax.Array, t: jax.Array, where: jax.Array) -> jax.Array:
    """The place of the normal distribution that stands for one of Student's."""
    df, t = jnp.where(where, df, 2 * _NEARLY_NORMAL), jnp.clip(jnp.where(where, t, 0.0), -1e9, 1e9)
    ratio = t**2 / df
    is_small = ratio < 1e-8
    growth = jnp.where(is_small, 1 - ratio / 2, jnp.log1p(ratio) / jnp.where(is_small, 1.0, ratio))
    share = (1 - 0.5 / df) * growth
    return t * jnp.sqrt(share) * (1 + (share * t**2 + 3) / (48 * (df - 0.5) ** 2))


def _fdtr(n: Any, d: Any, x: Any) -> Any:
    n, d, x = _floats(n, d, x)
    end = x == jnp.inf
    safe = jnp.where(end, 1.0, x)
    found = jnp.where(end, 1.0, jsp.betainc(n / 2, d / 2, n * safe / (d + n * safe)))
    return jnp.where((n > 0) & (d > 0) & (x >= 0) & (end | (n + d < jnp.inf)), found, jnp.nan)


def _fdtrc(n: Any, d: Any, x: Any) -> Any:
    n, d, x = _floats(n, d, x)
    end = x == jnp.inf
    safe = jnp.where(end, 1.0, x)
    found = jnp.where(end, 0.0, jsp.betainc(d / 2, n / 2, d / (d + n * safe)))
    return jnp.where((n > 0) & (d > 0) & (x >= 0) & (end | (n + d < jnp.inf)), found, jnp.nan)


def _bdtr(k: Any, n: Any, p: Any) -> Any:
    """The probability of at most k of n events."""
    k, n, p = _floats(jnp.floor(k), jnp.trunc(n), p)
    is_some = (k >= 0) & (k < n)
    some = jsp.betainc(jnp.where(is_some, n - k, 1.0), jnp.where(is_some, k + 1, 1.0), 1 - p)
    return jnp.where((k >= 0) & (k <= n) & (n < jnp.inf) & (p >= 0) & (p <= 1), jnp.where(is_some, some, 1.0), jnp.nan)


def _huber(delta: Any, r: Any) -> Any:
    found = jnp.where(abs(r) <= delta, r**2 / 2, delta * (abs(r) - delta / 2))
    return jnp.where(delta < 0, jnp.inf, found)


def _pseudo_huber(delta: Any, r: Any) -> Any:
    found = delta**2 * jnp.expm1(jnp.log1p((r / _not_zero(delta)) ** 2) / 2)
    found = jnp.where((delta == 0) | (r == 0), 0.0, found)
    return jnp.where(delta < 0, jnp.inf, found)


def _rgamma(x: Any) -> Any:
    is_pole = (x <= 0) & (jnp.floor(x) == x)
    return jnp.where(is_pole, 0.0, 1 / jsp.gamma(jnp.where(is_pole, 1.0, x)))


def _hyp1f1(a: Any, b: Any, x: Any) -> Any:
    """By Kummer's transformation (NIST 13.2.39) where the terms of the series would alternate."""
    a, b, x = _floats(a, b, x)
    is_negative = x < -1
    first, size = jnp.where(is_negative, b - a, a), jnp.where(is_negative, -x, x)
    known, whole, far = map(jax.lax.stop_gradient, (first, b, size))
    refused = PortingError(
        "`scipy.special.hyp1f1` of traced data at 100 and beyond has no counterpart with these parameters:"
        " JAX's asymptotic series does not converge there",
        location=user_location(),
        help="take it of smaller arguments, or of parameters that are small beside them",
    )
    has_pole = jnp.isfinite(jnp.minimum(_degree(known), _degree(whole)))
    is_slow = has_pole | ((1 + jnp.abs(1 - known)) * (1 + jnp.abs(whole - known)) > far / 2)
    hooks.raise_where(jnp.any((far >= _ASYMPTOTIC) & is_slow), refused)
    return jnp.where(is_negative, jnp.exp(x), 1.0) * jsp.hyp1f1(first, b, size)


_ASYMPTOTIC = 100.0  # from here on JAX's is by an asymptotic series


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
    """P(a, x) or Q(a, x), also of the parameters 0, where it is `at_zero`, and infinity: JAX's is NaN (NIST 8.2.5, 8.11.1).

    Of a large parameter JAX's series takes too many terms.
    """

    def apply(a: Any, x: Any) -> jax.Array:
        a, x = (jnp.asarray(one, jnp.result_type(a, x, float)) for one in (a, x))
        is_zero, is_endless = (a == 0) & (x > 0), (a == jnp.inf) & (x >= 0)
        is_large = (a > _LARGE) & ~is_endless & (x >= 0)
        at_the_end = jnp.where(x == jnp.inf, jnp.nan, 1 - at_zero)
        plain = of_jax(jnp.where(is_zero | is_endless | is_large, 1.0, a), x)
        large = _gamma_of_large(jnp.where(is_large, a, _LARGE), jnp.where(is_large, x, _LARGE), 2 * at_zero - 1)
        found = jnp.where(is_large, large, plain)
        return jnp.where(is_zero, at_zero, jnp.where(is_endless, at_the_end, found))

    return apply


_LARGE = 1e6


def _gamma_of_large(a: jax.Array, x: jax.Array, sign: float) -> jax.Array:
    """P, where the sign is 1, or Q, where it is -1, by the first term of Temme's expansion (NIST 8.12.3 to 8.12.8)."""
    excess = jnp.clip((x - a) / a, -0.05, 0.05)  # beyond it is 0 or 1
    square = sum(2 * (-excess) ** k / (k + 2) for k in range(14))  # of eta / excess
    eta = excess * jnp.sqrt(square)
    first = -1 / 3 + eta * (1 / 12 + eta * (-2 / 135 + eta * (1 / 864 + eta / 2835)))
    rest = jnp.exp(-a * eta**2 / 2) / jnp.sqrt(2 * jnp.pi * a) * first
    return jsp.erfc(-sign * eta * jnp.sqrt(a / 2)) / 2 - sign * rest


_gammainc, _gammaincc = _incomplete_gamma(jsp.gammainc, 1.0), _incomplete_gamma(jsp.gammaincc, 0.0)


def _exprel(x: Any) -> Any:
    small, end = abs(x) < 1e-5, x == jnp.inf
    safe = jnp.where(small | end, 1.0, x)
    return jnp.where(end, jnp.inf, jnp.where(small, 1 + x / 2 + x**2 / 6, jnp.expm1(safe) / safe))


def _zetac(x: Any) -> Any:
    """The sum from the second term on."""
    refused = PortingError(
        "`scipy.special.zetac` of traced data below 1 has no counterpart: JAX's series does not converge there",
        location=user_location(),
        help="take it of arguments from 1 on",
    )
    hooks.raise_where(jnp.any(x < 1), refused)
    is_end = (x == 1) | (x == jnp.inf)
    return jnp.where(is_end, jnp.where(x == 1, jnp.inf, 0.0), jsp.zeta(jnp.where(is_end, 2.0, x), 2.0))


def _expi(x: Any) -> Any:
    """JAX's series does not end for numbers far beyond the largest logarithm, its fraction not near zero."""
    is_negative = x < 0
    negative, positive = jnp.where(is_negative, x, -1.0), jnp.where(is_negative, 1.0, x)
    found = jsp.expi(jnp.minimum(jnp.where(x == 0, 1.0, positive), 1e3))
    return jnp.where(is_negative, -_expn(1.0, -negative), jnp.where(x == 0, -jnp.inf, found))


_MANY = 5000
_FEW = 30  # so many terms of the series, of which the last is below 1e-30


def _expn(n: Any, x: Any) -> Any:
    """Of a large number n by its asymptotic series (NIST 8.20.6), whose terms JAX's loops would count.

    Up to 1 by the power series (NIST 8.19.8): of an array JAX's takes a fraction for all, which does not end near zero.
    """
    n, x = _floats(jnp.trunc(n), x)
    is_many = n >= _MANY
    few, near, far = jnp.where((n >= 0) & ~is_many, n, 2.0), jnp.where((x > 0) & (x <= 1), x, 1.0), jnp.where(x > 1, x, 2.0)
    found = jnp.where(x > 1, jsp.expn(few, jnp.minimum(far, 1e3)), _expn_of_small(few, near))
    at_zero = jnp.where(n > 1, 1 / jnp.where(n > 1, n - 1, 1.0), jnp.inf)
    x_many = jnp.minimum(x, 1e3)
    share = 1 / jnp.where(is_many, x_many + n, 1.0)
    terms = 1 + n * share**2 * (1 + share**2 * (n - 2 * x_many + share**2 * (n**2 - 8 * n * x_many + 6 * x_many**2)))
    found = jnp.where(is_many & (x >= 0), jnp.exp(-x_many) * share * terms, jnp.where(x == 0, at_zero, found))
    return jnp.where((n >= 0) & (x >= 0), found, jnp.nan)


def _expn_of_small(n: jax.Array, x: jax.Array) -> jax.Array:
    power, total = jnp.ones_like(x), jnp.zeros_like(x)
    for k in range(_FEW):
        total = total + jnp.where(k == n - 1, 0.0, power / jnp.where(k == n - 1, 1.0, k - n + 1))
        power = power * -x / (k + 1)
    count = jnp.maximum(n - 1, 0.0)
    sign = jnp.where(count % 2 == 0, 1.0, -1.0)
    own = sign * x**count * jnp.exp(-jsp.gammaln(count + 1)) * (jsp.digamma(count + 1) - jnp.log(x))
    return jnp.where(n == 0, jnp.exp(-x) / x, own - total)


def _log_ndtr(x: Any) -> Any:
    """Above the mean of the small rest."""
    return jnp.where(x > 0, jnp.log1p(-jsp.ndtr(-jnp.maximum(x, 0.0))), jsp.log_ndtr(jnp.minimum(x, 0.0)))


def _digamma(x: Any) -> Any:
    return jnp.where(x == 0, -jnp.copysign(jnp.inf, x), jsp.digamma(_not_zero(x)))


def _owens_t(h: Any, a: Any) -> Any:
    return jnp.where(h == 0, jnp.arctan(a) / (2 * jnp.pi), jsp.owens_t(_not_zero(h), a))


def _rel_entr(x: Any, y: Any) -> Any:
    return _entropy_of_two(x, y, 0.0, 0.0)


def _kl_div(x: Any, y: Any) -> Any:
    x, y = _floats(x, y)
    return _entropy_of_two(x, y, y - x, y)


def _entropy_of_two(x: Any, y: Any, beside: Any, at_zero: Any) -> jax.Array:
    """x log(x / y), and what stands beside it; without a difference of logarithms where the two are near to each other."""
    x, y = _floats(x, y)
    is_inside = (x > 0) & (y > 0)
    x_inside, y_inside = jnp.where(is_inside, x, 1.0), jnp.where(is_inside, y, 1.0)
    is_near = (x_inside < 2 * y_inside) & (y_inside < 2 * x_inside) & (x_inside < jnp.inf)
    near = x_inside * jnp.log1p(jnp.where(is_near, (x_inside - y_inside) / y_inside, 0.0))
    found = jnp.where(is_near, near, x_inside * (jnp.log(x_inside) - jnp.log(y_inside))) + beside
    outside = jnp.where((x == 0) & (y >= 0), at_zero, jnp.inf)
    return jnp.where(jnp.isnan(x) | jnp.isnan(y), jnp.nan, jnp.where(is_inside, found, outside))


_OURS: dict[str, Function] = {
    **{name: getattr(jnp, name) for name in ("cbrt", "exp2", "expm1", "log1p")}, "round": jnp.rint,
    "psi": _digamma, "digamma": _digamma,
    "exp10": lambda x: 10.0**x, "cosm1": lambda x: -2 * jnp.sin(x / 2) ** 2, "exprel": _exprel,
    "log_expit": jax.nn.log_sigmoid, "rgamma": _rgamma, "erfcinv": lambda x: -jsp.ndtri(x / 2) / np.sqrt(2),
    "inv_boxcox": lambda y, lmbda: jnp.where(lmbda == 0, jnp.exp(y), jnp.exp(jnp.log1p(lmbda * y) / _not_zero(lmbda))),
    "huber": _huber, "pseudo_huber": _pseudo_huber, "binom": gamma_ratios.binom, "hyp1f1": _hyp1f1, "hyp2f1": _hyp2f1,
    "gammainc": _gammainc, "gammaincc": _gammaincc, "beta": gamma_ratios.beta, "betaln": gamma_ratios.betaln,
    "poch": gamma_ratios.poch,
    "betaincc": lambda a, b, x: jsp.betainc(b, a, 1 - x), "zetac": _zetac,
    "chdtr": lambda v, x: _gammainc(v / 2, x / 2), "chdtrc": lambda v, x: _gammaincc(v / 2, x / 2),
    "gdtr": lambda a, b, x: jnp.where(x < 0, jnp.nan, _gammainc(b, a * x)),
    "gdtrc": lambda a, b, x: jnp.where(x < 0, jnp.nan, _gammaincc(b, a * x)),
    "pdtr": lambda k, m: jnp.where(k < 0, jnp.nan, _gammaincc(jnp.floor(k) + 1, m)),
    "pdtrc": lambda k, m: jnp.where(k < 0, jnp.nan, _gammainc(jnp.floor(k) + 1, m)),
    "bdtr": _bdtr, "stdtr": _stdtr, "fdtr": _fdtr, "fdtrc": _fdtrc, "expi": _expi, "expn": _expn,
    "exp1": lambda x: _expn(1.0, x),
    "log_ndtr": _log_ndtr, "owens_t": _owens_t, "rel_entr": _rel_entr, "kl_div": _kl_div,
    "ellipk": lambda m: _ellipkm1(1 - m), "ellipkm1": _ellipkm1, "ellipe": _ellipe, **_POLYNOMIALS,
}  # fmt: skip


def _floats(*numbers: Any) -> list[jax.Array]:
    kind = jnp.result_type(*numbers, float)
    return list(jnp.broadcast_arrays(*(jnp.asarray(number, kind) for number in numbers)))


def _not_zero(x: Any) -> Any:
    return jnp.where(x == 0, 1.0, x)
