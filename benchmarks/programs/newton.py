"""Newton's method for square roots of a whole array: a `while` until the largest error is small."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def newton(a):
    x = a
    error = jnp.max(jnp.abs(x * x - a))
    while error > 1e-10:
        x = 0.5 * (x + a / x)
        error = jnp.max(jnp.abs(x * x - a))
    return x


def newton_lax(a):
    def going(carry):
        return carry[1] > 1e-10

    def turn(carry):
        x = 0.5 * (carry[0] + a / carry[0])
        return x, jnp.max(jnp.abs(x * x - a))

    return lax.while_loop(going, turn, (a, jnp.max(jnp.abs(a * a - a))))[0]


def newton_numpy(a):
    x = a
    error = np.max(np.abs(x * x - a))
    while error > 1e-10:
        x = 0.5 * (x + a / x)
        error = np.max(np.abs(x * x - a))
    return x


def numbers(n):
    return (1.0 + 9.0 * np.random.default_rng(0).random(n),)


PROGRAM = Program("Newton", newton, newton_lax, newton_numpy, numbers, 20_000)
