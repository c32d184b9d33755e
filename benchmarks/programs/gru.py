"""A gated recurrent unit over a sequence. Cho and others, arXiv:1406.1078."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def cell(h, x, inward, across):
    ir, iz, ih = jnp.split(inward @ x, 3)
    hr, hz, hh = jnp.split(across @ h, 3)
    r, z = jax.nn.sigmoid(ir + hr), jax.nn.sigmoid(iz + hz)
    return (1.0 - z) * jnp.tanh(ih + r * hh) + z * h


def gru(inward, across, xs):
    h = jnp.zeros(across.shape[1])
    for x in xs:
        h = cell(h, x, inward, across)
    return h


def gru_lax(inward, across, xs):
    return lax.scan(lambda h, x: (cell(h, x, inward, across), None), jnp.zeros(across.shape[1]), xs)[0]


def gru_literal(inward, across, xs):
    width = across.shape[1]
    h = np.zeros(width)
    for t in range(xs.shape[0]):
        i, a = inward @ xs[t], across @ h
        r = 1.0 / (1.0 + np.exp(-i[:width] - a[:width]))
        z = 1.0 / (1.0 + np.exp(-i[width : 2 * width] - a[width : 2 * width]))
        h = (1.0 - z) * np.tanh(i[2 * width :] + r * a[2 * width :]) + z * h
    return h


def weights(n, width=32, inputs=16):
    random = np.random.default_rng(7)
    return (
        random.normal(size=(3 * width, inputs)) / 4,
        random.normal(size=(3 * width, width)) / 6,
        random.normal(size=(n, inputs)),
    )


PROGRAM = Program("GRU", gru, gru_lax, gru_literal, weights, 200, unrolls=True)
