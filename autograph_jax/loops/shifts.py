"""`n // 8` and `n % 8` of integers are a shift and a mask: jax.numpy stages a division, a remainder and what makes them floor.

Of negative numbers too: in two's complement an arithmetic shift rounds down, and the low bits are Python's remainder.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.loops.ranges import Range

Maker = Callable[[Any], Any]  # the equation that makes an atom, or None
RangeOf = Callable[[Any], Range | None]


class Shifts:
    """Looks in a program for divisions by powers of two."""

    def __init__(self, maker: Maker, range_of: RangeOf) -> None:
        self._maker, self._range_of = maker, range_of

    def floored(self, equation: Any) -> tuple[str, Any, int] | None:
        """Of a select that ends `n // c` or `n % c`: which, n, and c; None if it is anything else."""
        if len(equation.invars) != 3 or not jnp.issubdtype(equation.outvars[0].aval.dtype, jnp.signedinteger):
            return None
        _, plain, moved = equation.invars
        made = self._maker(plain)
        if made is None or made.primitive.name not in ("div", "rem") or (power := self._power(made.invars[1])) is None:
            return None
        name = made.primitive.name
        n = made.invars[0]
        if name == "div":
            is_it = self._is(moved, "sub", plain, 1) and self._asks(equation.invars[0], lambda: self._signs_differ(n), n, power)
        else:
            is_it = self._is(moved, "add", plain, power) and self._asks(
                equation.invars[0], lambda: self._is_negative(plain), n, power
            )
        return (name, n, power) if is_it else None

    def truncated(self, equation: Any) -> tuple[str, Any, int] | None:
        """Of a division or a remainder of what is not negative."""
        n, by = equation.invars
        span, power = self._range_of(n), self._power(by)
        is_unsigned = jnp.issubdtype(n.aval.dtype, jnp.unsignedinteger)
        if power is None or not (is_unsigned or span is not None and span[0] >= 0):
            return None
        return equation.primitive.name, n, power

    def _power(self, atom: Any) -> int | None:
        """A power of two that this is known to be."""
        span = self._range_of(atom)
        if span is None or span[0] != span[1] or span[0] <= 0 or span[0] & (span[0] - 1):
            return None
        return span[0]

    def _asks(self, predicate: Any, signs: Callable[[], Callable[[Any], bool]], n: Any, power: int) -> bool:
        """Is this `signs and n % power != 0`?"""
        made = self._made(predicate, "and")
        if made is None:
            return False
        ask = signs()
        for first, second in (made.invars, made.invars[::-1]):
            if ask(first) and self._is_not_whole(second, n, power):
                return True
        return False

    def _signs_differ(self, n: Any) -> Callable[[Any], bool]:
        """`sign(n) != sign(c)`, where c is positive."""

        def ask(atom: Any) -> bool:
            made = self._made(atom, "ne")
            if made is None:
                return False
            for one, other in (made.invars, made.invars[::-1]):
                of = self._made(one, "sign")
                by = self._made(other, "sign")
                if of is not None and of.invars[0] is n and (by is not None and self._power(by.invars[0]) is not None):
                    return True
            return False

        return ask

    def _is_negative(self, rest: Any) -> Callable[[Any], bool]:
        """`(rest < 0) != (c < 0)`, where c is positive."""

        def ask(atom: Any) -> bool:
            made = self._made(atom, "ne")
            return made is not None and any(
                self._is(one, "lt", rest, 0) and self._range_of(other) == (0, 0)
                for one, other in (made.invars, made.invars[::-1])
            )

        return ask

    def _is_not_whole(self, atom: Any, n: Any, power: int) -> bool:
        made = self._made(atom, "ne")
        if made is None or self._range_of(made.invars[1]) != (0, 0):
            return False
        rest = self._made(made.invars[0], "rem")
        return rest is not None and rest.invars[0] is n and self._power(rest.invars[1]) == power

    def _is(self, atom: Any, name: str, first: Any, number: int) -> bool:
        made = self._made(atom, name)
        return made is not None and made.invars[0] is first and self._range_of(made.invars[1]) == (number, number)

    def _made(self, atom: Any, name: str) -> Any:
        """The equation of that name that makes an atom, behind conversions of booleans to booleans."""
        made = self._maker(atom)
        while made is not None and made.primitive.name == "convert_element_type" and name in ("and", "ne"):
            if made.invars[0].aval.dtype != made.outvars[0].aval.dtype:
                return None
            made = self._maker(made.invars[0])
        return made if made is not None and made.primitive.name == name else None


def by_bits(name: str, power: int, n: jax.Array) -> jax.Array:
    """`n // power` or `n % power`."""
    if name == "rem":
        return jax.lax.bitwise_and(n, jax.lax.full_like(n, power - 1))
    is_unsigned = jnp.issubdtype(n.dtype, jnp.unsignedinteger)
    shift = jax.lax.shift_right_logical if is_unsigned else jax.lax.shift_right_arithmetic
    return shift(n, jax.lax.full_like(n, power.bit_length() - 1))
