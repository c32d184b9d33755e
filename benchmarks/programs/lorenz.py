"""Lorenz' equations by Runge-Kutta's method of order four, with a known number of steps."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def field(x, y, z):
    return 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z


def step(x, y, z, h):
    a, b, c = field(x, y, z)
    d, e, f = field(x + 0.5 * h * a, y + 0.5 * h * b, z + 0.5 * h * c)
    g, i, j = field(x + 0.5 * h * d, y + 0.5 * h * e, z + 0.5 * h * f)
    k, m, n = field(x + h * g, y + h * i, z + h * j)
    x = x + h / 6.0 * (a + 2.0 * d + 2.0 * g + k)
    y = y + h / 6.0 * (b + 2.0 * e + 2.0 * i + m)
    z = z + h / 6.0 * (c + 2.0 * f + 2.0 * j + n)
    return x, y, z


def lorenz(x, y, z, h, steps):
    for _ in range(steps):
        x, y, z = step(x, y, z, h)
    return jnp.stack([x, y, z])


def lorenz_lax(x, y, z, h, steps):
    state = lax.scan(lambda state, _: (step(*state, h), None), (x, y, z), length=steps)[0]
    return jnp.stack(state)


def lorenz_literal(x, y, z, h, steps):
    for _ in range(steps):
        a, b, c = 10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z
        u, v, w = x + 0.5 * h * a, y + 0.5 * h * b, z + 0.5 * h * c
        d, e, f = 10.0 * (v - u), u * (28.0 - w) - v, u * v - 8.0 / 3.0 * w
        u, v, w = x + 0.5 * h * d, y + 0.5 * h * e, z + 0.5 * h * f
        g, i, j = 10.0 * (v - u), u * (28.0 - w) - v, u * v - 8.0 / 3.0 * w
        u, v, w = x + h * g, y + h * i, z + h * j
        k, m, n = 10.0 * (v - u), u * (28.0 - w) - v, u * v - 8.0 / 3.0 * w
        x = x + h / 6.0 * (a + 2.0 * d + 2.0 * g + k)
        y = y + h / 6.0 * (b + 2.0 * e + 2.0 * i + m)
        z = z + h / 6.0 * (c + 2.0 * f + 2.0 * j + n)
    return np.array([x, y, z])


def start(n):
    # Steps so small that the end lies before the equations' chaos has made rounding visible.
    return 1.0, 2.0, 3.0, 5.0 / max(n, 100), n


PROGRAM = Program("fixed RK4", lorenz, lorenz_lax, lorenz_literal, start, 40_000, static=(4,))
