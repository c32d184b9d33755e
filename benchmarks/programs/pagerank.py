"""PageRank by power iteration on a dense matrix of links."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def pagerank(links):
    n = links.shape[0]
    rank = jnp.ones(n) / n
    change = 1.0
    while change > 1e-12:
        new = 0.15 / n + 0.85 * (links @ rank)
        change = jnp.sum(jnp.abs(new - rank))
        rank = new
    return rank


def pagerank_lax(links):
    n = links.shape[0]

    def turn(carry):
        rank, _ = carry
        new = 0.15 / n + 0.85 * (links @ rank)
        return new, jnp.sum(jnp.abs(new - rank))

    return lax.while_loop(lambda carry: carry[1] > 1e-12, turn, (jnp.ones(n) / n, 1.0))[0]


def pagerank_literal(links):
    n = links.shape[0]
    rank = np.ones(n) / n
    change = 1.0
    while change > 1e-12:
        new = 0.15 / n + 0.85 * (links @ rank)
        change = np.sum(np.abs(new - rank))
        rank = new
    return rank


def web(n):
    links = np.random.default_rng(8).random((n, n)) ** 8
    return (links / links.sum(axis=0),)


PROGRAM = Program("PageRank", pagerank, pagerank_lax, pagerank_literal, web, 300)
