"""Bisection for many equations at once: one equation is written down, and mapped."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def bisection(a):
    low, high = 0.0, 10.0
    while high - low > 1e-12:
        middle = 0.5 * (low + high)
        if middle**3 + middle > a:
            high = middle
        else:
            low = middle
    return 0.5 * (low + high)


def bisection_lax(a):
    def going(carry):
        return carry[1] - carry[0] > 1e-12

    def turn(carry):
        low, high = carry
        middle = 0.5 * (low + high)
        above = middle**3 + middle > a
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    low, high = lax.while_loop(going, turn, (0.0, 10.0))
    return 0.5 * (low + high)


def bisection_literal(a):
    roots = np.empty_like(a)
    for i in range(a.shape[0]):
        low, high = 0.0, 10.0
        while high - low > 1e-12:
            middle = 0.5 * (low + high)
            if middle**3 + middle > a[i]:
                high = middle
            else:
                low = middle
        roots[i] = 0.5 * (low + high)
    return roots


def bisection_numpy(a):
    low, high = np.zeros_like(a), np.full_like(a, 10.0)
    while np.max(high - low) > 1e-12:
        middle = 0.5 * (low + high)
        above = middle**3 + middle > a
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return 0.5 * (low + high)


def right_sides(n):
    return (np.random.default_rng(1).uniform(0.0, 100.0, n),)


PROGRAM = Program(
    "bisection", bisection, bisection_lax, bisection_literal, right_sides, 5_000, numpy=bisection_numpy, mapped=True
)
