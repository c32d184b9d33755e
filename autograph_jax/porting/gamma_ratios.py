"""Beta functions, binomial coefficients, Pochhammer's symbol: ratios of gamma functions, which are too large themselves.

Source: Didonato and Morris, Algorithm 708 (ACM TOMS 18, 1992), its ALGDIV; NIST Digital Library of Mathematical
Functions, 5.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
from jax.custom_derivatives import SymbolicZero
from jax.scipy.special import digamma

Binary = Callable[[jax.Array, jax.Array], jax.Array]
_LARGE = 8.0  # from here on Stirling's series is as exact as a double
_STIRLING = (0.0833333333333333, -0.00277777777760991, 7.9365066682539e-4, -5.95202931351870e-4, 8.37308034031215e-4,
             -0.00165322962780713)  # fmt: skip
_FACTORS = 19  # so many in a product, which has no rounding errors of logarithms


def _with_slopes(slopes: Callable[..., tuple[jax.Array, jax.Array]]) -> Callable[[Binary], Callable[[Any, Any], jax.Array]]:
    """A function of two numbers with these derivatives by each, of its value and of them; those of what it computes are not its
    own: it goes by which of its arguments are integers. Where gamma functions have poles they are NaN.
    """

    def of(function: Binary) -> Callable[[Any, Any], jax.Array]:
        own = jax.custom_jvp(function)

        def push(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
            value = own(*primals)
            pairs = zip(slopes(value, *primals), tangents, strict=True)
            parts = [slope * tangent for slope, tangent in pairs if not isinstance(tangent, SymbolicZero)]
            return value, sum(parts, start=jnp.zeros_like(value))

        own.defjvp(push, symbolic_zeros=True)
        return functools.wraps(function)(lambda a, b: own(*_floats(a, b)))

    return of


@_with_slopes(lambda _, a, b: (digamma(a) - digamma(a + b), digamma(b) - digamma(a + b)))
def betaln(a: jax.Array, b: jax.Array) -> jax.Array:
    return _log_beta(a, b)[0]


@_with_slopes(lambda value, a, b: (value * (digamma(a) - digamma(a + b)), value * (digamma(b) - digamma(a + b))))
def beta(a: jax.Array, b: jax.Array) -> jax.Array:
    size, sign = _log_beta(a, b)
    return sign * jnp.exp(size)


@_with_slopes(
    lambda value, n, k: (value * (digamma(n + 1) - digamma(n - k + 1)), value * (digamma(n - k + 1) - digamma(k + 1)))
)
def binom(n: jax.Array, k: jax.Array) -> jax.Array:
    """By a product where k or n - k is a small integer; by a beta function, with its sign, elsewhere."""
    few = jnp.where(_is_whole(n) & (k > n / 2) & (n > 0), n - k, k)
    product = jnp.ones_like(n)
    for i in range(1, _FACTORS + 1):
        product = jnp.where(i <= few, product * (n - (i - 1)) / i, product)
    is_product = _is_whole(k) & (few >= 0) & (few <= _FACTORS)
    is_beyond = ~is_product & (_is_pole(k + 1) | _is_pole(n - k + 1))
    safe_n, safe_k = (jnp.where(is_product | is_beyond, one, x) for one, x in ((1.0, n), (0.5, k)))
    size, sign = _log_beta(safe_n - safe_k + 1, safe_k + 1)
    found = jnp.where(is_product, product, sign * jnp.sign(safe_n + 1) * jnp.exp(-size) / jnp.abs(safe_n + 1))
    return jnp.where(_is_pole(n + 1) | jnp.isnan(n), jnp.nan, jnp.where(is_beyond, 0.0, found))


@_with_slopes(lambda value, z, m: (value * (digamma(z + m) - digamma(z)), value * digamma(z + m)))
def poch(z: jax.Array, m: jax.Array) -> jax.Array:
    """By a product where m is a small integer; by the ratio of the two gamma functions, with their signs, elsewhere."""
    up, down = jnp.ones_like(z), jnp.ones_like(z)
    for i in range(_FACTORS):
        up, down = jnp.where(i < m, up * (z + i), up), jnp.where(i < -m, down * (z - i - 1), down)
    is_product = _is_whole(m) & (jnp.abs(m) <= _FACTORS)
    is_zero, is_infinite = _is_pole(z) & ~_is_pole(z + m), ~_is_pole(z) & _is_pole(z + m)
    is_safe = ~(is_product | _is_pole(z) | _is_pole(z + m))
    safe_z, safe_m = jnp.where(is_safe, z, 1.0), jnp.where(is_safe, m, 0.5)
    sign = jsp.gammasgn(safe_z) * jsp.gammasgn(safe_z + safe_m)
    found = sign * jnp.exp(-_log_ratio(safe_m, safe_z))
    found = jnp.where(is_zero, 0.0, jnp.where(is_infinite, jnp.inf, found))
    is_open = _is_pole(z) & _is_pole(z + m) & ~is_product  # of two poles: (-1)^m gamma(1 - z) / gamma(1 - z - m)
    mirrored = jnp.where(m % 2 == 0, 1.0, -1.0) * jnp.exp(
        jsp.gammaln(jnp.where(is_open, 1 - z, 1.0)) - jsp.gammaln(jnp.where(is_open, 1 - z - m, 1.0))
    )
    return jnp.where(is_product, up / down, jnp.where(is_open, mirrored, found))


def _log_beta(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The logarithm of its size, and its sign. At a pole of one gamma function it is finite where the other one's is."""
    pole, other = jnp.where(_is_pole(a), a, b), jnp.where(_is_pole(a), b, a)
    has_pole = _is_pole(pole)
    is_mirrored = has_pole & (other > 0) & _is_whole(other) & (1 - pole - other > 0)
    parity = jnp.where(other % 2 == 0, 1.0, -1.0)
    is_zero = ~has_pole & (_is_pole(a + b) | (a == jnp.inf) & (b > 0) | (b == jnp.inf) & (a > 0))
    is_infinite = has_pole & ~is_mirrored
    is_plain = ~(has_pole | is_zero)
    first, second = (
        jnp.where(is_mirrored, mirrored, jnp.where(is_plain, plain, 1.0))
        for mirrored, plain in ((1 - pole - other, a), (other, b))
    )
    sign = jsp.gammasgn(first) * jsp.gammasgn(second) * jsp.gammasgn(first + second)
    low, high = jnp.minimum(first, second), jnp.maximum(first, second)
    size = jsp.gammaln(low) + _log_ratio(low, high)
    size = jnp.where(is_infinite, jnp.inf, jnp.where(is_zero, -jnp.inf, size))
    return size, jnp.where(is_mirrored, parity, jnp.where(is_plain, sign, 1.0))


def _log_ratio(a: jax.Array, b: jax.Array) -> jax.Array:
    """log(|gamma(b) / gamma(a + b)|), with no difference of large logarithms where both are large."""
    is_large = (b >= _LARGE) & (a + b >= _LARGE)
    safe_a, safe_b = jnp.where(is_large, a, 1.0), jnp.where(is_large, b, _LARGE)
    small_a, small_b = jnp.where(is_large, 1.0, a), jnp.where(is_large, 1.0, b)
    return jnp.where(is_large, _by_stirling(safe_a, safe_b), jsp.gammaln(small_b) - jsp.gammaln(small_a + small_b))


def _by_stirling(a: jax.Array, b: jax.Array) -> jax.Array:
    """`ALGDIV`. Its powers of b / (a + b) are of one minus the share of a."""
    share, x, t = a / (a + b), b / (a + b), (1 / b) ** 2
    ones, correction = jnp.ones_like(a), jnp.zeros_like(a)
    powers = [ones]
    for _ in _STIRLING[1:]:  # (1 - x**n) / (1 - x) of n = 1, 3, 5, ...
        powers.append(1 + x + x**2 * powers[-1])
    for own, power in zip(reversed(_STIRLING), reversed(powers), strict=True):
        correction = correction * t + own * power
    correction = correction * share / b
    u, v = (b + (a - 0.5)) * jnp.log1p(a / b), a * (jnp.log(b) - 1)
    return jnp.where(u <= v, (correction - v) - u, (correction - u) - v)


def _floats(a: Any, b: Any) -> tuple[jax.Array, jax.Array]:
    kind = jnp.result_type(a, b, float)
    first, second = jnp.broadcast_arrays(jnp.asarray(a, kind), jnp.asarray(b, kind))
    return first, second


def _is_whole(x: jax.Array) -> jax.Array:
    return jnp.floor(x) == x


def _is_pole(x: jax.Array) -> jax.Array:
    """Of the gamma function."""
    return (x <= 0) & _is_whole(x)
