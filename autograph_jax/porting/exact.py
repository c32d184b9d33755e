"""`np.exp` in double precision, rounded as NumPy rounds it: XLA's is up to two units in the last place away.

A solver's test on rounding errors (`if p == p1`, `while abs(x - mid) > tol`) ends a turn earlier or later for that.
Method: P. T. P. Tang, Table-driven implementation of the exponential function in IEEE floating-point arithmetic, ACM TOMS
15(2), 1989: x = (32 m + j) ln2/32 + r, exp(x) = 2^m 2^(j/32) exp(r), the table in two parts.
"""

from __future__ import annotations

import decimal
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

_PARTS = 32
_LAST_BITS = 1.5 * 2.0**52  # a double of this size has no bits for fractions
_LEAST, _GREATEST = -745.2, 709.8  # below it is 0, above it infinite


def _table() -> tuple[np.ndarray, np.ndarray]:
    with decimal.localcontext(decimal.Context(prec=60)):
        exact = [decimal.Decimal(2) ** (decimal.Decimal(j) / _PARTS) for j in range(_PARTS)]
        first = [float(value) for value in exact]
        return np.array(first), np.array([float(value - decimal.Decimal(f)) for value, f in zip(exact, first, strict=True)])


def _logarithm() -> tuple[float, float]:
    """ln2 / 32 as a number with few bits, which times an integer is exact, and the rest."""
    with decimal.localcontext(decimal.Context(prec=60)):
        exact = decimal.Decimal(2).ln() / _PARTS
        few = float(int(exact * 2**38)) / 2**38
        return few, float(exact - decimal.Decimal(few))


_FIRST, _SECOND = _table()
_STEP, _STEP_REST = _logarithm()


@jax.custom_jvp
def exp(x: jax.Array) -> jax.Array:
    """exp(x) of doubles, correctly rounded but for one value in fifty; of any other dtype, jax.numpy's."""
    return _doubles(x) if x.dtype == np.float64 else jnp.exp(x)


@exp.defjvp
def _tangent(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    found = exp(*primals)
    return found, found * tangents[0]


@jax.jit
def _doubles(x: jax.Array) -> jax.Array:
    inside = jnp.clip(x, _LEAST, _GREATEST)
    steps, whole = _nearest(inside / (_STEP + _STEP_REST))
    r, lost = _sum(inside - steps * _STEP, -steps * _STEP_REST)
    square = r * r
    tail = square * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * (1 / 120 + r * (1 / 720)))))
    place, power = whole & (_PARTS - 1), whole >> (_PARTS.bit_length() - 1)
    first, second = (jnp.asarray(table).at[place].get(mode="promise_in_bounds") for table in (_FIRST, _SECOND))
    found = first + (second + first * (r + (lost + tail)))
    half = power >> 1
    found = found * _power_of_two(half) * _power_of_two(power - half)
    return jnp.where(x >= _GREATEST, jnp.inf, jnp.where(x <= _LEAST, 0.0, jnp.where(x != x, x, found)))


def _sum(a: jax.Array, b: jax.Array) -> tuple[jax.Array, jax.Array]:
    """a + b, and what rounding has lost, where a is the greater one."""
    total = a + b
    return total, b - (total - a)


def _nearest(x: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The integer nearest to x, of less than 2**31, as a double and as an integer.

    It stands in the last bits of the sum. To round and to convert are no vector code on most CPUs: exp took 1.7 times as long.
    """
    shifted = jax.lax.reduce_precision(x + _LAST_BITS, 11, 52)
    return shifted - _LAST_BITS, (jax.lax.bitcast_convert_type(shifted, np.int64) << 32) >> 32


def _power_of_two(n: jax.Array) -> jax.Array:
    return jax.lax.bitcast_convert_type((n + 1023) << 52, np.float64)


# `int(np.log2(8))` is 3: XLA divides two logarithms.


def log2(x: Any) -> jax.Array:
    """log2(x), which is an integer for a power of two."""
    found = jnp.log2(x)
    if found.dtype not in (np.float32, np.float64):
        return found
    mantissa, exponent = jnp.frexp(jax.lax.stop_gradient(jnp.asarray(x, found.dtype)))
    return _unless(mantissa == 0.5, (exponent - 1).astype(found.dtype), found)


def log10(x: Any) -> jax.Array:
    """log10(x), which is an integer for a power of ten."""
    found = jnp.log10(x)
    if found.dtype not in (np.float32, np.float64):
        return found
    with np.errstate(over="ignore", under="ignore"):
        powers = jnp.asarray(np.array([float(f"1e{k}") for k in _EXPONENTS]).astype(found.dtype))
    nearest = jnp.round(jnp.clip(jax.lax.stop_gradient(found), _EXPONENTS[0], _EXPONENTS[-1]))
    place = jnp.where(jnp.isnan(nearest), 0, nearest).astype(int) - _EXPONENTS[0]
    return _unless(powers[place] == x, nearest, found)


_EXPONENTS = range(-307, 309)


def _unless(is_exact: jax.Array, exact: jax.Array, found: jax.Array) -> jax.Array:
    """The exact value where there is one; with the derivative of the other, which is next to it."""
    near = jax.lax.stop_gradient(found)
    return found + jnp.where(is_exact & jnp.isfinite(near), exact - jnp.where(jnp.isfinite(near), near, 0), 0)
