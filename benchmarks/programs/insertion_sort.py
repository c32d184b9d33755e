"""Insertion sort: a `while` with two tests, a write in it and one after it."""

import jax.numpy as jnp
import numpy as np
from jax import lax

from programs.program import Program


def insertion_sort(x):
    for i in range(1, x.shape[0]):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def insertion_sort_lax(x):
    def insert(i, x):
        key = x[i]

        def going(carry):
            j, x = carry
            return (j >= 0) & (x[jnp.maximum(j, 0)] > key)

        def shift(carry):
            j, x = carry
            return j - 1, x.at[j + 1].set(x[j])

        j, x = lax.while_loop(going, shift, (i - 1, x))
        return x.at[j + 1].set(key)

    return lax.fori_loop(1, x.shape[0], insert, x)


def insertion_sort_literal(x):
    x = x.copy()
    for i in range(1, x.shape[0]):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def numbers(n):
    return (np.random.default_rng(2).random(n),)


PROGRAM = Program("insertion sort", insertion_sort, insertion_sort_lax, insertion_sort_literal, numbers, 1_000, numpy=np.sort)
