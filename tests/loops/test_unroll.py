"""Turns of a kernel that computes few numbers stand one after the other; not where XLA would copy an array."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops import told
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]
TURNS = 1003  # a prime number is no multiple of the turns that stand together, nor is this
DATA = jnp.asarray(np.random.default_rng(0).normal(size=TURNS))


def logistic(x):
    for _ in range(TURNS):
        x = 3.2 * x * (1.0 - x)
    return x


def congruential(x):
    state = (x * 1e6).astype(int)
    for _ in range(TURNS):
        state = (state * 1103515245 + 12345) % 2147483648
    return state


def peaks(x):
    """A branch, which is a select then."""
    level = x
    for value in DATA:
        if value > level:
            level = value
        else:
            level = level * 0.9
    return level


def lorenz(x):
    state = x * jnp.ones(3)
    for _ in range(TURNS):
        a, b, c = state
        state = state + 0.001 * jnp.stack([10.0 * (b - a), a * (28.0 - c) - b, a * b - 8.0 / 3.0 * c])
    return state


def running_sum(x):
    sums, total = jnp.zeros(TURNS), x
    for i in range(TURNS):
        total = total + DATA[i]
        sums[i] = total
    return sums


UNROLLED = [logistic, congruential, peaks, lorenz, running_sum]


def recurrence(x):
    y = jnp.ones(TURNS) * x
    for i in range(2, TURNS):
        y[i] = 0.5 * y[i - 1] - 0.2 * y[i - 2] + DATA[i]
    return y


def short(x):
    for _ in range(100):
        x = 3.2 * x * (1.0 - x)
    return x


def of_vectors(x):
    v = x * DATA[:64]
    for _ in range(TURNS):
        v = 0.5 * v + 0.1
    return v


def of_matrices(x):
    m = x * jnp.eye(2)
    for value in DATA:
        m = m @ jnp.array([[0.5, 0.1], [0.2, 0.3]]) + value
    return m


def of_loops(x):
    for _ in range(TURNS):
        for _ in range(3):
            x = jnp.sin(x)
        while x > 0.5:
            x = x * 0.5
    return x


NOT_UNROLLED = [recurrence, short, of_vectors, of_matrices, of_loops]


@pytest.mark.parametrize("function", [*UNROLLED, *NOT_UNROLLED])
def test_it_gives_the_same(function):
    without = ["blocks", "factors", "kernel", "ranges", "rows", "selects", "shifts", "sorts"]
    for each in (function, jax.vmap(function)):
        x = 0.3 if each is function else np.linspace(0.1, 0.4, 3)
        ours, theirs = (jax.jit(ag.autograph(each, optimize=o))(x) for o in (True, without))
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("function", [logistic, peaks, lorenz])
def test_derivatives(function):
    total = lambda x: jnp.sum(ag.autograph(function)(x))
    by_hand = lambda x: jnp.sum(ag.autograph(function, optimize=False)(x))
    np.testing.assert_allclose(jax.jit(jax.grad(total))(0.3), jax.jit(jax.grad(by_hand))(0.3), rtol=1e-6)


@pytest.mark.parametrize("function", [*UNROLLED, *NOT_UNROLLED])
def test_which_are_unrolled(function):
    with told.listening() as heard:
        jax.jit(ag.autograph(function)).lower(0.3)
    assert any(one.name == "unroll" and one.is_done for one in heard) == (function in UNROLLED)
