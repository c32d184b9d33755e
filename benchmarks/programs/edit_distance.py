"""The edit distance of two words: both branches of an `if` write one table."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def edit_distance(a, b):
    rows, columns = a.shape[0], b.shape[0]
    table = jnp.zeros((rows + 1, columns + 1), dtype=int)
    for i in range(rows + 1):
        table[i, 0] = i
    for j in range(columns + 1):
        table[0, j] = j
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + jnp.minimum(jnp.minimum(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])
    return table[rows, columns]


def edit_distance_lax(a, b):
    columns = b.shape[0]

    def row(above, numbered):
        number, letter = numbered

        def cell(left, column):
            corner, top, other = column
            value = jnp.where(letter == other, corner, 1 + jnp.minimum(jnp.minimum(top, left), corner))
            return value, value

        first = number + 1
        return jnp.append(first, lax.scan(cell, first, (above[:-1], above[1:], b))[1]), None

    return lax.scan(row, jnp.arange(columns + 1), (jnp.arange(a.shape[0]), a))[0][-1]


def edit_distance_literal(a, b):
    rows, columns = a.shape[0], b.shape[0]
    table = np.zeros((rows + 1, columns + 1), np.int64)
    for i in range(rows + 1):
        table[i, 0] = i
    for j in range(columns + 1):
        table[0, j] = j
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + min(table[i - 1, j], table[i, j - 1], table[i - 1, j - 1])
    return table[rows, columns]


def words(n):
    random = np.random.default_rng(1)
    return tuple(random.integers(0, 4, n) for _ in range(2))


PROGRAM = Program("edit distance", edit_distance, edit_distance_lax, edit_distance_literal, words, 300)
