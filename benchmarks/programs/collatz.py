"""Collatz' numbers: which start below a limit takes the longest to come to 1."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def longest(limit):
    best = 0
    longest = 0
    for start in range(1, limit):
        n = start
        turns = 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            turns += 1
        if turns > longest:
            best = start
            longest = turns
    return best


def longest_lax(limit):
    def going(carry):
        return carry[0] != 1

    def turn(carry):
        n, turns = carry
        return jnp.where(n % 2 == 0, n // 2, 3 * n + 1), turns + 1

    def one(start, carry):
        best, longest = carry
        _, turns = lax.while_loop(going, turn, (start, 0))
        return jnp.where(turns > longest, start, best), jnp.maximum(turns, longest)

    return lax.fori_loop(1, limit, one, (0, 0))[0]


def longest_literal(limit):
    best, longest = 0, 0
    for start in range(1, limit):
        n, turns = start, 0
        while n != 1:
            if n % 2 == 0:
                n = n // 2
            else:
                n = 3 * n + 1
            turns += 1
        if turns > longest:
            best, longest = start, turns
    return best


def limits(n):
    return (np.int64(n),)


PROGRAM = Program("Collatz", longest, longest_lax, longest_literal, limits, 3_000)
