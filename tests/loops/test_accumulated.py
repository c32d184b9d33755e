"""Gradients of loops in loops that read arrays by elements: right, and a turn takes no time or memory of the size of these."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun
from jax.interpreters.ad import add_jaxvals

import autograph_jax as ag
from autograph_jax.loops.accumulated import accumulated
from autograph_jax.loops.tracing import traced
from tests.platforms import needs_cpu

pytestmark = pytest.mark.usefixtures("x64")
SIZE = 61
RANDOM = np.random.default_rng(0)
MATRIX = RANDOM.random((SIZE, SIZE)) + SIZE * np.eye(SIZE)
VECTOR = RANDOM.random(SIZE)


def product(a, x):
    y = jnp.zeros(SIZE)
    for i in range(SIZE):
        total = 0.0
        for j in range(SIZE):
            total += a[i, j] * x[j]
        y[i] = total
    return y


def substituted(a, x):
    y = jnp.zeros(SIZE)
    for i in range(SIZE):
        total = x[i]
        for j in range(i):
            total -= a[i, j] * y[j]
        y[i] = total / a[i, i]
    return y


def filtered(a, x):
    y = x * 0.5
    for i in range(4, SIZE - 4):
        total = 0.0
        for j in range(3):
            total += x[j] * a[i, i + j] * y[i - j]
        y[i] = total
    return y


def spread_out(a, x):
    y = x * 0.5
    for i in range(4, SIZE - 4):
        for j in range(3):
            y[i + j] += 0.3 * a[i, j]
    return y


def twice_over(a, x):
    y = jnp.zeros(SIZE)
    for i in range(SIZE):
        first, second = 0.0, 1.0
        for j in range(i):
            first += a[i, j] * x[j]
        for j in range(i, SIZE):
            second += a[j, i] * first * x[i]
        y[i] = second
    return y


def until_small(a, x):
    y = jnp.zeros(SIZE)
    for i in range(SIZE):
        total, j = x[i], 0
        while j < i and total > 0.1:
            total -= 0.01 * a[i, j] * x[j]
            j += 1
        y[i] = total
    return y


def in_a_branch(a, x):
    y = x * 0.5
    for i in range(4, SIZE - 4):
        if y[i] > 0.25:
            for j in range(3):
                y[i + j] += 0.3 * a[i, j]
        else:
            y[i] = a[i, 0]
    return y


def in_branches_of_a_branch(a, x):
    y = x * 0.5
    for i in range(4, SIZE - 4):
        if y[i] > 0.15:
            j = 0
            while j < 3 and y[i] > -1:
                y[i + j] += 0.3 * a[i, j] * x[j]
                j += 1
        elif y[i] > 0.1:
            y[i] = a[i, 0] * a[0, i]
        else:
            y[0] = y[i]
    return y


PROGRAMS = [product, substituted, filtered, spread_out, twice_over, until_small, in_a_branch, in_branches_of_a_branch]


APART = ("ENTRY", "%fused", "%wrapped", "%kernel")  # before the loops; and what stands in a line of theirs


def loss(function):
    weights = np.linspace(-1, 1, SIZE)
    return lambda a, x: jnp.sum(weights * function(a, x) ** 2)


def gradient_of(program):
    return jax.jit(jax.grad(loss(ag.autograph(program)), (0, 1)))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program):
    """Along some direction that of small differences; forward mode, and lanes, agree."""
    converted, directions, step = ag.autograph(program), RANDOM.normal(size=(2, SIZE, SIZE)), 1e-6
    given, moves = (jnp.asarray(MATRIX), jnp.asarray(VECTOR)), (jnp.asarray(directions[0]), jnp.asarray(directions[1, 0]))
    values = [jax.jit(loss(converted))(*(g + sign * step * m for g, m in zip(given, moves, strict=True))) for sign in (1, -1)]
    expected = (values[0] - values[1]) / (2 * step)
    gradient = gradient_of(program)(*given)
    found = sum(jnp.vdot(g, m) for g, m in zip(gradient, moves, strict=True))
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(jax.jit(lambda *t: jax.jvp(loss(converted), given, t)[1])(*moves), expected, rtol=1e-5)
    both = jax.jit(jax.vmap(jax.grad(loss(converted), (0, 1))))(*(jnp.stack([g, g * 1.1]) for g in given))
    jax.tree.map(lambda lanes, own: np.testing.assert_allclose(lanes[0], own, rtol=1e-9, atol=1e-9), both, gradient)


@needs_cpu
@pytest.mark.parametrize("program", [product, substituted, twice_over, until_small, in_a_branch], ids=lambda f: f.__name__)
def test_no_turn_takes_the_size_of_the_matrix(program):
    compiled = gradient_of(program).lower(jnp.asarray(MATRIX), jnp.asarray(VECTOR)).compile()
    computations = compiled.as_text().split("\n\n")
    lines = [line for one in computations if not one.startswith(APART) for line in one.splitlines()]
    whole = [line for line in lines if re.search(rf"= f64\[{SIZE},{SIZE}\]\S* (copy|add|broadcast|fusion)\(", line)]
    assert [line for line in whole if "update" not in line and "scatter" not in line] == []
    assert compiled.memory_analysis().temp_size_in_bytes < 8 * SIZE**2 * 8  # and not SIZE times that


@needs_cpu
@pytest.mark.parametrize("program", [filtered, spread_out], ids=lambda f: f.__name__)
def test_no_turn_takes_the_size_of_the_vector(program):
    lines = gradient_of(program).lower(jnp.asarray(MATRIX), jnp.asarray(VECTOR)).compile().as_text().splitlines()
    assert [line for line in lines if re.search(rf"= f64\[{SIZE}\]\S* copy\(", line) and "sunk" not in line][2:] == []


def transposed(is_sum):
    """The cotangent of a loop's array, added to another one as JAX does it in a transpose."""

    def run(start, xs):
        def turn(carry, x):
            return (carry.at[0].add(x) if is_sum else carry * x), None

        return [add_jaxvals(start, jax.lax.scan(turn, jnp.zeros(3), xs)[0])]

    return run


@pytest.mark.parametrize("is_sum", [True, False])
def test_only_sums_are_begun_elsewhere(is_sum):
    """A loop that does something else with what it has so far begins with zeros."""
    given = jnp.ones(3), jnp.arange(4.0)
    closed = traced(transposed(is_sum), list(map(jax.typeof, given)))
    found = accumulated(closed)
    assert (found is not closed) is is_sum
    np.testing.assert_allclose(jaxpr_as_fun(found)(*given)[0], transposed(is_sum)(*given)[0])


@pytest.mark.parametrize("start", [-1, 0, 2, 9])
def test_an_update_stays_where_it_was(start):
    """Also one out of bounds, which lax moves to the nearest place, and does not count from the end."""

    def run(array, update, start):
        zeros = jnp.zeros(4)
        return [add_jaxvals(array, jax.lax.dynamic_update_slice(zeros, update, (start,), allow_negative_indices=False))]

    given = jnp.arange(4.0), jnp.ones(1), jnp.int32(start)
    closed = traced(run, list(map(jax.typeof, given)))
    found = accumulated(closed)
    assert found is not closed
    np.testing.assert_array_equal(jaxpr_as_fun(found)(*given)[0], run(*given)[0])


def test_a_users_sum_keeps_its_order():
    def run(start, xs):
        return [start + jax.lax.scan(lambda carry, x: (carry.at[0].add(x), None), jnp.zeros(3), xs)[0]]

    closed = traced(run, list(map(jax.typeof, (jnp.ones(3), jnp.arange(4.0)))))
    assert accumulated(closed) is closed
