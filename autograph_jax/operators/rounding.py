"""`round(x, digits)` of a float of Python's: the decimal number that is nearest to what x is exactly, and half to even.

`jnp.round` multiplies, rounds and divides, and XLA divides by 10 as it multiplies by 0.1: `round(2.3, 1)` is
2.3000000000000003, and `round(1.15, 1)` 1.2, since 1.15 (which is 1.149999...) times 10 is rounded to 11.5 before. Here the
product is known exactly, as a sum of two numbers.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

_BITS = {"float64": (11, 26), "float32": (8, 11)}  # of the exponent, and of half of the digits
_MOST_DIGITS = {"float64": 11, "float32": 5}  # 5**11 has 26 bits, and 5**5 has 12


def to_digits(x: jax.Array, digits: int) -> jax.Array:
    """Of numbers with 32 or 64 bits. Where the power of ten is too large for that, as NumPy does it."""
    if abs(digits) > _MOST_DIGITS.get(str(x.dtype), -1):
        found, is_whole = by_scaling(x, digits), jnp.abs(x) * 10.0**digits >= 2 ** jnp.finfo(x.dtype).nmant
        return jnp.where(is_whole, lax.stop_gradient(x), found) if digits > 0 else found
    x = lax.stop_gradient(x)
    power = lax.full_like(x, 10.0 ** abs(digits))
    found = _decimals(x, power) if digits >= 0 else _to_tens(x, power)
    return jnp.where(jnp.isfinite(found), found, x)


def by_scaling(x: jax.Array, digits: int) -> jax.Array:
    """As NumPy does it: `np.round(1.15, 1)` is 1.2."""
    x = lax.stop_gradient(x)
    power = 10.0 ** abs(digits)
    if digits >= 0:
        return _divided(lax.round(x * power, lax.RoundingMethod.TO_NEAREST_EVEN), power)
    return lax.round(_divided(x, power), lax.RoundingMethod.TO_NEAREST_EVEN) * power


def _divided(x: jax.Array, power: Any) -> jax.Array:
    """x / power, rounded once: by one number, known or not, XLA divides as it multiplies by its inverse."""
    return x / jnp.where(x != x, lax.full_like(x, 1), power)


def _decimals(x: jax.Array, power: jax.Array) -> jax.Array:
    product, rest = _product(x, power)
    near = lax.round(product, lax.RoundingMethod.TO_NEAREST_EVEN)
    off = product - near  # is exact, and at most a half; where it is one, the rest decides
    near = near + jnp.where((off == 0.5) & (rest > 0), 1.0, jnp.where((off == -0.5) & (rest < 0), -1.0, 0.0)).astype(x.dtype)
    is_whole = jnp.abs(product) >= 2 ** jnp.finfo(x.dtype).nmant
    return jnp.where(is_whole, x, jnp.copysign(_divided(near, power), x))


def _to_tens(x: jax.Array, power: jax.Array) -> jax.Array:
    near = lax.round(_divided(x, power), lax.RoundingMethod.TO_NEAREST_EVEN)
    product, rest = _product(near, power)
    off = (x - product) - rest
    is_far = (jnp.abs(off) > power / 2) | (jnp.abs(off) == power / 2) & (near % 2 != 0)
    return jnp.copysign((near + jnp.where(is_far, jnp.sign(off), 0.0)) * power, x)


def _product(x: jax.Array, power: jax.Array) -> tuple[jax.Array, jax.Array]:
    """x * power, and what rounding has lost."""
    first = lax.reduce_precision(x, *_BITS[str(x.dtype)])
    large, small = first * power, (x - first) * power  # both exact
    product = large + small
    return product, small - (product - large)
