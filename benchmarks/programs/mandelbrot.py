"""Mandelbrot's set: after how many turns a point leaves the circle. One point is written down, and mapped."""

import numpy as np
from jax import lax

from programs.program import Program

LIMIT = 100


def escape(a, b):
    x, y = 0.0, 0.0
    turns = 0
    while turns < LIMIT and x * x + y * y <= 4.0:
        x, y = x * x - y * y + a, 2.0 * x * y + b
        turns += 1
    return turns


def escape_lax(a, b):
    def going(carry):
        x, y, turns = carry
        return (turns < LIMIT) & (x * x + y * y <= 4.0)

    def turn(carry):
        x, y, turns = carry
        return x * x - y * y + a, 2.0 * x * y + b, turns + 1

    return lax.while_loop(going, turn, (0.0, 0.0, 0))[2]


def escape_literal(a, b):
    found = np.zeros(a.shape[0], np.int64)
    for i in range(a.shape[0]):
        x, y, turns = 0.0, 0.0, 0
        while turns < LIMIT and x * x + y * y <= 4.0:
            x, y = x * x - y * y + a[i], 2.0 * x * y + b[i]
            turns += 1
        found[i] = turns
    return found


def escape_numpy(a, b):
    x, y, turns = np.zeros_like(a), np.zeros_like(a), np.zeros(a.shape[0], np.int64)
    for _ in range(LIMIT):
        inside = np.flatnonzero(x * x + y * y <= 4.0)
        u, v = x[inside], y[inside]
        x[inside], y[inside] = u * u - v * v + a[inside], 2.0 * u * v + b[inside]
        turns[inside] += 1
    return turns


def points(n):
    a, b = np.meshgrid(np.linspace(-2.2, 0.9, n), np.linspace(-1.2, 1.2, n))
    return a.ravel(), b.ravel()


PROGRAM = Program("Mandelbrot", escape, escape_lax, escape_literal, points, 120, numpy=escape_numpy, mapped=True)
