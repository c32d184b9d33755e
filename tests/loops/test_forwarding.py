"""What a turn has written is handed to the turns after it: the same numbers, and only where it surely is what they read."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import told
from autograph_jax.loops.optimizations import ALL
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]
TURNS = 1003  # no multiple of the turns that stand together
DATA = np.random.default_rng(0).normal(size=TURNS)


def first_order(x, data):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + data[i]
    return x


def fourth_order(x, data):
    for i in range(4, len(x)):
        x[i] = 0.5 * x[i - 1] - 0.2 * x[i - 4] + 0.1
    return x


def from_three_before(x, data):
    for i in range(3, len(x)):
        x[i] = 0.5 * x[i - 3] + data[i]
    return x


def backwards(x, data):
    for i in range(len(x) - 2, -1, -1):
        x[i] = data[i] - 0.3 * x[i + 1]
    return x


def thomas(x, data):
    c, d = jnp.zeros(len(x)), jnp.zeros(len(x))
    c[0], d[0] = 0.25, x[0] / 4
    for i in range(1, len(x)):
        m = 4 - c[i - 1]
        c[i] = 1 / m
        d[i] = (x[i] - d[i - 1]) / m
    for i in range(len(x) - 2, -1, -1):
        d[i] = d[i] - c[i] * d[i + 1]
    return d


def two_that_read_each_other(x, data):
    y = jnp.zeros(len(x))
    for i in range(1, len(x)):
        before = x[i - 1]
        x[i] = 0.5 * before - 0.25 * y[i - 1]
        y[i] = 0.5 * y[i - 1] + 0.25 * before
    return x, y


def rows(x, data):
    t = jnp.zeros((len(x), 3)) + x[0]
    for i in range(1, len(x)):
        t[i] = 0.5 * t[i - 1] + data[i]
    return t


def a_column(x, data):
    t = jnp.zeros((len(x), 3)) + x[0]
    for i in range(1, len(x)):
        t[i, 1] = 0.5 * t[i - 1, 1] + data[i]
    return t


def a_diagonal(x, data):
    t = jnp.zeros((520, 520)) + x[0]
    for i in range(1, 520):
        t[i, 519 - i] = 0.5 * t[i - 1, 520 - i] + data[i]
    return t.sum(0)


def each_second(x, data):
    y = jnp.zeros(2 * len(x)) + x[0]
    for i in range(1, len(x)):
        y[2 * i] = 0.5 * y[2 * i - 2] + data[i]
    return y


def of_integers(x, data):
    y = jnp.zeros(len(x), int)
    y[0] = (x[0] * 1000).astype(int)
    for i in range(1, len(x)):
        y[i] = (y[i - 1] * 1103515245 + 12345) % 2147483648
    return y


def in_a_branch(x, data):
    for i in range(1, len(x)):
        if x[i - 1] > 0:
            x[i] = x[i - 1] - 0.7
        else:
            x[i] = x[i - 1] + data[i] ** 2
    return x


def the_old_one(x, data):
    """What is there is read before it is written."""
    for i in range(1, len(x)):
        x[i] = x[i] + 0.5 * x[i - 1]
    return x


def the_next_one(x, data):
    for i in range(1, len(x) - 1):
        x[i] = 0.5 * (x[i - 1] + x[i + 1])
    return x


def another_column(x, data):
    t = jnp.zeros((len(x), 3)) + x[0]
    for i in range(1, len(x)):
        t[i, 1] = 0.5 * t[i - 1, 2] + data[i]
    return t


def what_it_has_just_written(x, data):
    y = jnp.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + data[i]
        x[i] = x[i - 1] + y[i] * y[i - 1]
    return x, y


FORWARDED = [first_order, fourth_order, from_three_before, backwards, thomas, two_that_read_each_other, rows, a_column]
FORWARDED += [a_diagonal, each_second, of_integers, in_a_branch, the_old_one, the_next_one, another_column]
FORWARDED += [what_it_has_just_written]


def from_five_before(x, data):
    for i in range(5, len(x)):
        x[i] = 0.5 * x[i - 5] + data[i]
    return x


def around_the_end(x, data):
    """The first turn reads the last element."""
    for i in range(len(x)):
        x[i] = 0.5 * x[i - 1] + data[i]
    return x


def where_data_says(x, data):
    places = jnp.asarray(np.random.default_rng(1).integers(0, TURNS, TURNS))
    for i in range(1, len(x)):
        x[i] = 0.5 * x[places[i]] + data[i]
    return x


def at_one_place(x, data):
    for i in range(1, len(x)):
        x[3] = 0.5 * x[3] + data[i]
    return x


def written_twice(x, data):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1]
        x[i - 1] = data[i]
    return x


def twice_as_fast(x, data):
    """Where it reads, another turn than one of the four before has written, or none."""
    y = jnp.zeros(2 * len(x)) + x[0]
    for i in range(1, len(x)):
        y[2 * i] = 0.5 * y[i] + data[i]
    return y


def overlapping(x, data):
    """The window of two turns before has been written over by the turn after it."""
    for i in range(2, len(x) - 1):
        x = lax.dynamic_update_slice(x, 0.5 * lax.dynamic_slice(x, (i - 2,), (2,)) + data[i], (i,))
    return x


def rows_and_old_ones(x, data):
    t = jnp.outer(x, jnp.arange(1.0, 4.0))
    for i in range(1, len(x)):
        t[i] = 0.5 * t[i - 1] + 0.25 * t[i] + data[i]
    return t


def a_large_table(x, data):
    """To copy it takes longer than the loop."""
    t = jnp.zeros((len(x), 40)) + x[0]
    for i in range(1, len(x)):
        t[i, 1] = 0.5 * t[i - 1, 2] + data[i]
    return t


def the_sum_of_all(x, data):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i - 1] + 1e-9 * x.sum()
    return x


def short(x, data):
    for i in range(1, 100):
        x[i] = 0.5 * x[i - 1] + data[i]
    return x


LEFT = [from_five_before, around_the_end, where_data_says, at_one_place, written_twice]
LEFT += [overlapping, a_large_table, rows_and_old_ones, twice_as_fast, the_sum_of_all, short]


@pytest.mark.parametrize("function", [*FORWARDED, *LEFT])
def test_it_gives_the_same(function):
    for each in (function, jax.vmap(function, (0, None))):
        x = DATA[::-1].copy() if each is function else np.stack([DATA[::-1], 2 * DATA, DATA**2])
        ours, theirs = (jax.jit(ag.autograph(each, optimize=o))(x, DATA) for o in (True, ALL - {"forwarding", "unroll"}))
        for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("function", [first_order, fourth_order, thomas])
def test_derivatives(function):
    total = lambda x: jnp.sum(ag.autograph(function)(x, jnp.asarray(DATA)))
    by_hand = lambda x: jnp.sum(ag.autograph(function, optimize=False)(x, jnp.asarray(DATA)))
    np.testing.assert_allclose(jax.jit(jax.grad(total))(DATA), jax.jit(jax.grad(by_hand))(DATA), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("function", [*FORWARDED, *LEFT])
def test_where_it_is_done(function):
    with told.listening() as heard:
        jax.jit(ag.autograph(function)).lower(DATA, DATA)
    assert any(one.name == "forwarding" and one.is_done for one in heard) == (function in FORWARDED)


@pytest.mark.parametrize("optimize", [ALL - {"forwarding"}, ALL - {"unroll"}, ["ranges", "kernel", "forwarding"]])
def test_without_it(optimize):
    with told.listening() as heard:
        jax.jit(ag.autograph(first_order, optimize=optimize)).lower(DATA, DATA)
    assert not any(one.name == "forwarding" for one in heard)
