"""Branches that hold loops over arrays: the same numbers as Python's, and no copy of an array in a turn of the loop around."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops.optimizations import ALL, ON_CPU_ALONE
from tests.platforms import needs_cpu

pytestmark = pytest.mark.usefixtures("x64")
SIZE = 211
RANDOM = np.random.default_rng(0)
DATA = RANDOM.random(SIZE), RANDOM.random(SIZE)
WAYS = [True, sorted(ALL - ON_CPU_ALONE), False]


def one(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
    return x, y


def the_other(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            y[i] = x[i]
        else:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
    return x, y


def an_array_each(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        else:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
    return x, y


def the_same_array(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * y[i - m]
        else:
            for m in range(i - 1, 0, -1):
                x[m] = 0.3 * x[m] + 0.5
    return x, y


def each_of_the_other(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * y[i - m]
        else:
            for m in range(1, i):
                y[m] += 0.01 * x[i - m]
        x[0] = x[i + 1] * y[i]
    return x, y


def both_arrays(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * y[i - m]
                y[m] = 0.5 * x[m - 1]
        else:
            for m in range(1, i):
                y[m] += 0.01 * x[i - m]
    return x, y


def numbers_too(x, y):
    total, count, last = 0.0, 0, 0.0
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
                total += x[m]
            last = x[i - 1]
        else:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
            count += i
    y[0] = total + count + last
    return x, y


def of_three(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.7:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        elif x[i] > 0.3:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
        else:
            for m in range(1, i):
                x[m] = 0.5 * x[m] + 0.2
    return x, y


def one_after_the_other(x, y):
    for i in range(2, len(x) - 2):
        is_large = x[i] > 0.5
        if is_large:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        if not is_large:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
    return x, y


def by_while(x, y):
    for i in range(2, len(x) - 2):
        m = i
        if x[i] > 0.5:
            while m > 0 and x[m - 1] > x[m]:
                x[m - 1], x[m] = x[m], x[m - 1]
                m = m - 1
        else:
            while m > 0 and y[m - 1] < y[m]:
                y[m - 1], y[m] = y[m], y[m - 1]
                m = m - 1
    return x, y


PROGRAMS = [
    one, the_other, an_array_each, the_same_array, each_of_the_other, both_arrays, numbers_too, of_three,
    one_after_the_other, by_while,
]  # fmt: skip


def copies(program, *operands):
    """The lines of what XLA makes of it, but for those before and after its loops, that copy an array."""
    computations = program.lower(*operands).compile().as_text().split("\n\n")
    lines = [line for one in computations if "ENTRY" not in one for line in one.splitlines()]
    return [line for line in lines if re.search(rf"= f64\[{SIZE}\]\S* copy\(", line)]


@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_numpy(program, optimize):
    converted = ag.jit(ag.autograph(program, optimize=optimize))
    expected = program(*(array.copy() for array in DATA))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), converted(*map(jnp.asarray, DATA)), expected)


@needs_cpu
@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_no_turn_copies_an_array(program, optimize):
    assert copies(ag.jit(ag.autograph(program, optimize=optimize)), *map(jnp.asarray, DATA)) == []
