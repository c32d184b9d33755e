"""An adaptive Dormand-Prince 5(4) solver for two species: a step is taken where its error is small enough.

Hairer, Norsett, Wanner: Solving Ordinary Differential Equations I, table II.5.2.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def field(y):
    return jnp.array([y[0] * (1.1 - 0.4 * y[1]), y[1] * (0.1 * y[0] - 0.4)])


def step(f, y, k1, h):
    """The new state, its slope, and the estimate of the error."""
    k2 = f(y + h * (k1 / 5))
    k3 = f(y + h * (3 / 40 * k1 + 9 / 40 * k2))
    k4 = f(y + h * (44 / 45 * k1 - 56 / 15 * k2 + 32 / 9 * k3))
    k5 = f(y + h * (19372 / 6561 * k1 - 25360 / 2187 * k2 + 64448 / 6561 * k3 - 212 / 729 * k4))
    k6 = f(y + h * (9017 / 3168 * k1 - 355 / 33 * k2 + 46732 / 5247 * k3 + 49 / 176 * k4 - 5103 / 18656 * k5))
    new = y + h * (35 / 384 * k1 + 500 / 1113 * k3 + 125 / 192 * k4 - 2187 / 6784 * k5 + 11 / 84 * k6)
    k7 = f(new)
    error = h * (71 / 57600 * k1 - 71 / 16695 * k3 + 71 / 1920 * k4 - 17253 / 339200 * k5 + 22 / 525 * k6 - 1 / 40 * k7)
    return new, k7, error


def solve(y, end):
    t = 0.0
    h = 0.1
    slope = field(y)
    while t < end:
        h = jnp.minimum(h, end - t)
        new, new_slope, errors = step(field, y, slope, h)
        error = jnp.max(jnp.abs(errors)) / 1e-9
        if error <= 1.0:
            t = t + h
            y = new
            slope = new_slope
        h = h * jnp.clip(0.9 * error**-0.2, 0.2, 5.0)
    return y


def solve_lax(y, end):
    def going(carry):
        return carry[0] < end

    def turn(carry):
        t, h, y, slope = carry
        h = jnp.minimum(h, end - t)
        new, new_slope, errors = step(field, y, slope, h)
        error = jnp.max(jnp.abs(errors)) / 1e-9
        taken = error <= 1.0
        following = h * jnp.clip(0.9 * error**-0.2, 0.2, 5.0)
        return jnp.where(taken, t + h, t), following, jnp.where(taken, new, y), jnp.where(taken, new_slope, slope)

    return lax.while_loop(going, turn, (0.0, 0.1, y, field(y)))[2]


def solve_literal(y, end):
    def field(y):
        return np.array([y[0] * (1.1 - 0.4 * y[1]), y[1] * (0.1 * y[0] - 0.4)])

    t, h = 0.0, 0.1
    k1 = field(y)
    while t < end:
        h = min(h, end - t)
        k2 = field(y + h * (k1 / 5))
        k3 = field(y + h * (3 / 40 * k1 + 9 / 40 * k2))
        k4 = field(y + h * (44 / 45 * k1 - 56 / 15 * k2 + 32 / 9 * k3))
        k5 = field(y + h * (19372 / 6561 * k1 - 25360 / 2187 * k2 + 64448 / 6561 * k3 - 212 / 729 * k4))
        k6 = field(y + h * (9017 / 3168 * k1 - 355 / 33 * k2 + 46732 / 5247 * k3 + 49 / 176 * k4 - 5103 / 18656 * k5))
        new = y + h * (35 / 384 * k1 + 500 / 1113 * k3 + 125 / 192 * k4 - 2187 / 6784 * k5 + 11 / 84 * k6)
        k7 = field(new)
        errors = h * (71 / 57600 * k1 - 71 / 16695 * k3 + 71 / 1920 * k4 - 17253 / 339200 * k5 + 22 / 525 * k6 - 1 / 40 * k7)
        error = np.max(np.abs(errors)) / 1e-9
        if error <= 1.0:
            t, y, k1 = t + h, new, k7
        h = h * min(max(0.9 * error**-0.2, 0.2), 5.0)
    return y


def start(n):
    return np.array([10.0, 5.0]), float(n)


PROGRAM = Program("adaptive ODE", solve, solve_lax, solve_literal, start, 100, tolerance=1e-6)
