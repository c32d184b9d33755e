"""Thomas' algorithm for a tridiagonal system: two arrays are written in one loop, and each value reads the one before."""

import jax.numpy as jnp
import numpy as np
import scipy.linalg
from jax import lax

from programs.program import Program


def thomas(lower, diagonal, upper, right):
    n = diagonal.shape[0]
    c = jnp.zeros(n)
    d = jnp.zeros(n)
    x = jnp.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (right[i] - lower[i] * d[i - 1]) / m
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def thomas_lax(lower, diagonal, upper, right):
    def forward(before, row):
        low, middle, up, value = row
        m = middle - low * before[0]
        now = up / m, (value - low * before[1]) / m
        return now, now

    def backward(after, row):
        value = row[1] - row[0] * after
        return value, value

    zero = jnp.zeros(())
    _, rows = lax.scan(forward, (zero, zero), (lower.at[0].set(0.0), diagonal, upper, right))
    return lax.scan(backward, zero, rows, reverse=True)[1]


def thomas_literal(lower, diagonal, upper, right):
    n = diagonal.shape[0]
    c, d, x = np.zeros(n), np.zeros(n), np.zeros(n)
    c[0] = upper[0] / diagonal[0]
    d[0] = right[0] / diagonal[0]
    for i in range(1, n):
        m = diagonal[i] - lower[i] * c[i - 1]
        c[i] = upper[i] / m
        d[i] = (right[i] - lower[i] * d[i - 1]) / m
    x[n - 1] = d[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = d[i] - c[i] * x[i + 1]
    return x


def thomas_scipy(lower, diagonal, upper, right):
    return scipy.linalg.solve_banded((1, 1), np.stack([np.roll(upper, 1), diagonal, np.roll(lower, -1)]), right)


def system(n):
    random = np.random.default_rng(0)
    lower, upper, right = (random.random(n) for _ in range(3))
    upper[-1] = 0.0
    return lower, 4.0 + random.random(n), upper, right


PROGRAM = Program("Thomas' solver", thomas, thomas_lax, thomas_literal, system, 10_000, numpy=thomas_scipy)
