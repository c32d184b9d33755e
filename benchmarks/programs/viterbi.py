"""Viterbi's algorithm: the likeliest path of a hidden Markov model, with a table of where each state came from."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def viterbi(start, moves, emissions, observed):
    turns, states = observed.shape[0], start.shape[0]
    came_from = jnp.zeros((turns, states), dtype=int)
    score = start + emissions[:, observed[0]]
    for t in range(1, turns):
        scores = score[:, None] + moves
        came_from[t] = jnp.argmax(scores, axis=0)
        score = jnp.max(scores, axis=0) + emissions[:, observed[t]]
    path = jnp.zeros(turns, dtype=int)
    path[turns - 1] = jnp.argmax(score)
    for t in range(turns - 2, -1, -1):
        path[t] = came_from[t + 1, path[t + 1]]
    return path


def viterbi_lax(start, moves, emissions, observed):
    def forward(score, symbol):
        scores = score[:, None] + moves
        return jnp.max(scores, axis=0) + emissions[:, symbol], jnp.argmax(scores, axis=0)

    def backward(state, came_from):
        before = came_from[state]
        return before, before

    score, came_from = lax.scan(forward, start + emissions[:, observed[0]], observed[1:])
    last = jnp.argmax(score)
    return jnp.append(lax.scan(backward, last, came_from, reverse=True)[1], last)


def viterbi_literal(start, moves, emissions, observed):
    turns, states = observed.shape[0], start.shape[0]
    came_from = np.zeros((turns, states), np.int64)
    score = start + emissions[:, observed[0]]
    for t in range(1, turns):
        new = np.empty_like(score)
        for state in range(states):
            scores = score + moves[:, state]
            came_from[t, state] = np.argmax(scores)
            new[state] = scores[came_from[t, state]] + emissions[state, observed[t]]
        score = new
    path = np.zeros(turns, np.int64)
    path[turns - 1] = np.argmax(score)
    for t in range(turns - 2, -1, -1):
        path[t] = came_from[t + 1, path[t + 1]]
    return path


def viterbi_numpy(start, moves, emissions, observed):
    turns = observed.shape[0]
    came_from = np.zeros((turns, start.shape[0]), np.int64)
    score = start + emissions[:, observed[0]]
    for t in range(1, turns):
        scores = score[:, None] + moves
        came_from[t] = np.argmax(scores, axis=0)
        score = np.max(scores, axis=0) + emissions[:, observed[t]]
    path = np.zeros(turns, np.int64)
    path[turns - 1] = np.argmax(score)
    for t in range(turns - 2, -1, -1):
        path[t] = came_from[t + 1, path[t + 1]]
    return path


def model(n, states=16, symbols=8):
    random = np.random.default_rng(4)
    start, moves, emissions = (random.random(shape) for shape in (states, (states, states), (states, symbols)))
    return np.log(start), np.log(moves), np.log(emissions), random.integers(0, symbols, n)


PROGRAM = Program("Viterbi", viterbi, viterbi_lax, viterbi_literal, model, 500, numpy=viterbi_numpy)
