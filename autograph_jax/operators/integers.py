"""Python's functions of whole numbers on traced ones: `pow(n, k, m)`, `math.factorial`, `math.isqrt`; others are refused."""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import powers
from autograph_jax.operators.effects import checks
from autograph_jax.operators.sequences.bounded import as_python_int
from autograph_jax.operators.values.traced import is_traced


def pow_(base: Any, exp: Any, mod: Any = None) -> Any:
    """`pow(base, exp, mod)`, by repeated squaring in the modulus."""
    if mod is None:
        return powers.power(base, exp)
    if not any(map(_is_integer, (base, exp, mod))):  # JAX's arrays have no such `pow`, known or not
        return builtins.pow(base, exp, mod)
    if not isinstance(mod, int) or (abs(mod) - 1) ** 2 > _largest():
        raise _refusal("`pow` of traced numbers has a modulus that is traced, or whose square is too large")
    if mod == 0:
        raise ValueError("pow() 3rd argument cannot be 0")
    if isinstance(exp, int) and exp < 0:
        raise _refusal("`pow` of a traced number in a modulus has a negative exponent")
    if not isinstance(exp, int):
        checks.raise_where(exp < 0, ValueError("pow() in a modulus of a traced exponent that is negative"))
    bits = exp.bit_length() if isinstance(exp, int) else jnp.iinfo(exp.dtype).bits
    size = abs(mod)
    square, result = jnp.asarray(base) % size, jnp.asarray(1 % size)
    for bit in range(bits):
        result = jnp.where(jnp.asarray(exp >> bit) & 1, result * square % size, result)
        square = square * square % size
    return as_python_int(result % mod)


def factorial(n: Any) -> Any:
    """`math.factorial`, from a table of those that fit."""
    if not _is_traced_integer(n):
        return math.factorial(n)
    table = [1]
    while table[-1] * len(table) <= _largest():
        table.append(table[-1] * len(table))
    checks.raise_where(n < 0, ValueError("factorial() not defined for negative values"))
    checks.raise_where(n >= len(table), OverflowError("the factorial of a traced number is too large for its type"))
    return as_python_int(jnp.asarray(table)[jnp.clip(n, 0, len(table) - 1)])


def isqrt(n: Any) -> Any:
    """`math.isqrt`: the root in floating point, which rounding leaves off by one at most."""
    if not _is_traced_integer(n):
        return math.isqrt(n)
    checks.raise_where(n < 0, ValueError("isqrt() argument must be nonnegative"))
    n = jnp.asarray(n, int)
    root = jnp.sqrt(n.astype(float)).astype(int)
    root = jnp.where((root > 0) & (root > n // jnp.maximum(root, 1)), root - 1, root)
    root = jnp.where(root + 1 <= n // (root + 1), root + 1, root)
    return as_python_int(root)


def _refusing(function: Callable[..., Any]) -> Callable[..., Any]:
    def apply(*numbers: Any) -> Any:
        if any(map(_is_traced_integer, numbers)):
            raise _refusal(f"`math.{function.__name__}` is asked of a traced number")
        return function(*numbers)

    return apply


def _is_integer(value: Any) -> bool:
    return isinstance(value, jax.Array) and value.ndim == 0 and jnp.issubdtype(value.dtype, jnp.integer)


def _is_traced_integer(value: Any) -> bool:
    return is_traced(value) and _is_integer(value)


def _largest() -> int:
    return int(jnp.iinfo(jax.dtypes.canonicalize_dtype(int)).max)


def _refusal(what: str) -> StagingError:
    return StagingError(
        what,
        location=user_location(),
        details=["Whole numbers of Python have no largest one; those of JAX would overflow."],
        help="make it a static argument, or compute it in a loop of your own",
    )


OVERRIDES: dict[Any, Callable[..., Any]] = {
    builtins.pow: pow_,
    operator.pow: powers.power,
    operator.ipow: powers.power_in_place,
    math.factorial: factorial,
    math.isqrt: isqrt,
    math.comb: _refusing(math.comb),
    math.perm: _refusing(math.perm),
}
