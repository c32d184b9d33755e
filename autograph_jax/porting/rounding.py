"""`round(x, digits)` of a float of Python's: the decimal number that is nearest to what x is exactly, and half to even.

`jnp.round` multiplies, rounds and divides, and XLA divides by 10 as it multiplies by 0.1: `round(2.3, 1)` is
2.3000000000000003, and `round(1.15, 1)` 1.2, since 1.15 (which is 1.149999...) times 10 is rounded to 11.5 before. Here the
product is known exactly, as a sum of two numbers.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

_BITS = {"float64": (11, 26), "float32": (8, 11)}  # of the exponent, and of half of the digits
_MOST_DIGITS = {"float64": 11, "float32": 5}  # 5**11 has 26 bits, and 5**5 has 12


def to_digits(x: jax.Array, digits: int) -> jax.Array:
    """Of numbers with 32 or 64 bits, to at most 5 or 11 digits; to more, and of fewer bits, as NumPy does it."""
    if abs(digits) > _MOST_DIGITS.get(str(x.dtype), -1):
        found, most = by_scaling(x, digits), 2.0 ** (jnp.finfo(x.dtype).nmant + 1)
        return found if digits < 0 else jnp.where(jnp.abs(x) >= most / 10.0 ** min(digits, 300), lax.stop_gradient(x), found)
    x = lax.stop_gradient(x)
    power = lax.full_like(x, 10.0 ** abs(digits))
    found = _decimals(x, power) if digits >= 0 else _to_tens(x, power)
    return jnp.where(jnp.isfinite(found), found, x)


def _is_whole(scaled: jax.Array) -> jax.Array:
    """Has a number of this size no fractions?"""
    return jnp.abs(scaled) >= 2.0 ** (jnp.finfo(scaled.dtype).nmant + 1)


def by_scaling(x: jax.Array, digits: int) -> jax.Array:
    """As NumPy does it: `np.round(1.15, 1)` is 1.2."""
    if x.dtype not in (np.float16, np.float32, np.float64):
        return jnp.round(x, digits)
    x = lax.stop_gradient(x)
    if abs(digits) > np.log10(float(jnp.finfo(x.dtype).max)):  # 10**digits is infinite
        return x if digits > 0 else jnp.copysign(lax.full_like(x, 0), x)
    power = 10.0 ** abs(digits)
    return _divided(_nearest(x * power), power) if digits >= 0 else _nearest(_divided(x, power)) * power


def _nearest(x: jax.Array) -> jax.Array:
    return lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN)


def _divided(x: jax.Array, power: Any) -> jax.Array:
    """x / power, rounded once: XLA makes `x / 10` to `x * 0.1`, by one number for all x, be it known or not."""
    return x / jnp.where(x != x, lax.full_like(x, 1), power)


def _decimals(x: jax.Array, power: jax.Array) -> jax.Array:
    product, rest = _product(x, power)
    near = _nearest(product)
    off = product - near  # is exact, and at most a half; where it is one, the rest decides
    is_up, is_down = (off == 0.5) & (rest > 0), (off == -0.5) & (rest < 0)
    is_between = (off == 0) & (jnp.abs(rest) == 0.5) & (near % 2 != 0)  # where the product has room for no half
    near = near + jnp.where(is_up, 1, jnp.where(is_down, -1, jnp.where(is_between, 2 * rest, 0))).astype(x.dtype)
    return jnp.where(_is_whole(product), x, jnp.copysign(_divided(near, power), x))


def _to_tens(x: jax.Array, power: jax.Array) -> jax.Array:
    near = _nearest(_divided(x, power))
    product, rest = _product(near, power)
    off = (x - product) - rest
    is_far = (jnp.abs(off) > power / 2) | (jnp.abs(off) == power / 2) & (near % 2 != 0)
    found = jnp.copysign((near + jnp.where(is_far, jnp.sign(off), 0.0)) * power, x)
    return jnp.where(_is_whole(x / power), x, found)  # a multiple, or as near to one as there is a number


def _product(x: jax.Array, power: jax.Array) -> tuple[jax.Array, jax.Array]:
    """x * power, and what rounding has lost."""
    first = lax.reduce_precision(x, *_BITS[str(x.dtype)])
    large, small = first * power, (x - first) * power  # both exact
    product = large + small
    return product, small - (product - large)
