"""Gradient descent on Rosenbrock's function, with a step that is halved until it helps (Armijo's rule)."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program

TURNS = 300


def rosenbrock(x):
    return jnp.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def minimize(x):
    for _ in range(TURNS):
        value, slope = jax.value_and_grad(rosenbrock)(x)
        length = 1.0
        while rosenbrock(x - length * slope) > value - 1e-4 * length * (slope @ slope):
            length = 0.5 * length
        x = x - length * slope
    return x


def minimize_lax(x):
    def turn(_, x):
        value, slope = jax.value_and_grad(rosenbrock)(x)
        square = slope @ slope

        def too_long(length):
            return rosenbrock(x - length * slope) > value - 1e-4 * length * square

        length = lax.while_loop(too_long, lambda length: 0.5 * length, 1.0)
        return x - length * slope

    return lax.fori_loop(0, TURNS, turn, x)


def minimize_literal(x):
    for _ in range(TURNS):
        inner, left = x[1:] - x[:-1] ** 2, 1.0 - x[:-1]
        value = np.sum(100.0 * inner**2 + left**2)
        slope = np.zeros_like(x)
        slope[:-1] = -400.0 * inner * x[:-1] - 2.0 * left
        slope[1:] += 200.0 * inner
        square = slope @ slope
        length = 1.0
        while True:
            new = x - length * slope
            inner, left = new[1:] - new[:-1] ** 2, 1.0 - new[:-1]
            if np.sum(100.0 * inner**2 + left**2) <= value - 1e-4 * length * square:
                break
            length = 0.5 * length
        x = x - length * slope
    return x


def starts(n):
    return (np.where(np.arange(n) % 2 == 0, -1.2, 1.0),)


# Which step is taken may turn on one rounding; the valley takes such differences further.
PROGRAM = Program("line search", minimize, minimize_lax, minimize_literal, starts, 10, tolerance=1e-3)
