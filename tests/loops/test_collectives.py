"""Lanes of a jax.vmap that read each other, and end each for itself: a lane that is over is still read by the others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag

X, TURNS, WEIGHTS = jnp.array([0.3, 0.5, 0.7]), jnp.array([1, 3, 2]), jnp.array([1.0, 2.0, -1.0])


def step(y):
    return jnp.sin(y) + 0.1 * lax.psum(y * y, "i")


def one(x, n):
    y, k = x, 0
    while k < n:
        y = step(y)
        k += 1
    return y


def in_a_scan(x, n):
    y = x
    for _ in range(3):
        y = one(y, n)
    return y


def in_a_while(x, n):
    y, k = x, 0
    while k < n:
        y = one(y, 4 - n)
        k += 1
    return y


def around_a_scan(x, n):
    y, k = x, 0
    while k < n:
        for _ in range(2):
            y = step(y)
        k += 1
    return y


def left_early(x, n):
    y = x
    for k in range(6):
        if k >= n:
            break
        y = step(y)
    return y


def in_a_branch_that_all_take(x, n):
    y, k = x, 0
    while k < n:
        if k % 2 == 0:
            y = step(y)
        k += 1
    return y


def of_its_constants(x, n):
    y, k = 0.5, 0
    while k < n:
        y = jnp.cos(y) * x + 0.1 * lax.psum(y * x, "i")
        k += 1
    return y


def gathered(x, n):
    y, k = x, 0
    while k < n:
        y = jnp.sin(y) + 0.1 * jnp.sum(lax.all_gather(y, "i") ** 2)
        k += 1
    return y


def handed_round(x, n):
    y, k = x, 0
    while k < n:
        y = jnp.sin(y) + 0.1 * lax.ppermute(y, "i", [(0, 1), (1, 2), (2, 0)])
        k += 1
    return y


def by_its_number(x, n):
    y, k = x, 0
    while k < n:
        y = jnp.sin(y) + 0.1 * lax.axis_index("i") * y
        k += 1
    return y


def of_an_array(x, n):
    y, k = jnp.zeros(4), 0
    while k < n:
        y[k + 1] = jnp.sin(y[k] + x) + 0.1 * lax.psum(y[k] * x, "i")
        k += 1
    return y.sum()


@jax.custom_vjp
def ruled(y):
    return jnp.sin(y)


ruled.defvjp(lambda y: (jnp.sin(y), y), lambda y, w: (w * jnp.cos(y),))


def with_a_rule(x, n):
    y, k = x, 0
    while k < n:
        y = ruled(y) + 0.1 * lax.psum(y * y, "i")
        k += 1
    return y


PROGRAMS = [
    one, in_a_scan, in_a_while, around_a_scan, left_early, in_a_branch_that_all_take, of_its_constants, gathered, handed_round,
    by_its_number, of_an_array,
]  # fmt: skip


def in_a_branch(x, n):
    y = x
    if n > 1:
        y = step(y)
    return y


def after_an_early_return(x, n):
    if n < 2:
        return x
    return step(x)


def in_a_branch_of_a_loop(x, n):
    y, k = x, 0
    while k < 4:
        y = step(y) if y > 0.6 else y * 1.3
        k += 1
    return y


FEW = [one, in_a_scan, left_early, gathered, by_its_number, of_an_array]
BRANCHES = [in_a_branch, after_an_early_return, in_a_branch_of_a_loop]


def over_lanes(function, turns=TURNS):
    """The weighted sum of what all lanes give."""
    mapped = jax.vmap(ag.autograph(function), axis_name="i")
    return lambda x: (mapped(x, turns) * WEIGHTS).sum()


def differences(function, x, step=1e-6):
    return np.array([(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(len(x))])


@pytest.mark.parametrize("function", [*PROGRAMS, *BRANCHES, with_a_rule])
def test_the_gradient(x64, function):
    whole = over_lanes(function)
    want = differences(whole, X)
    np.testing.assert_allclose(jax.grad(whole)(X), want, rtol=1e-6)
    np.testing.assert_allclose(jax.jit(jax.grad(whole))(X), want, rtol=1e-6)


@pytest.mark.parametrize("function", [*FEW, *BRANCHES])
def test_forward_mode_and_second_derivatives(x64, function):
    whole = over_lanes(function)
    np.testing.assert_allclose(jax.jacfwd(whole)(X), differences(whole, X), rtol=1e-6)
    want = differences(jax.grad(whole), X, 1e-5)
    for second in (jax.hessian, lambda f: jax.jacrev(jax.jacrev(f))):
        np.testing.assert_allclose(second(whole)(X), want, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("function", [*FEW, in_a_branch_that_all_take])
def test_the_gradient_of_each_lane(x64, function):
    """As JAX has it, of each lane the derivative of what all lanes give."""
    own = jax.vmap(jax.grad(ag.autograph(function)), axis_name="i")(X, TURNS)
    want = differences(lambda x: jax.vmap(ag.autograph(function), axis_name="i")(x, TURNS).sum(), X)
    np.testing.assert_allclose(own, want, rtol=1e-6)


@pytest.mark.parametrize("function", [one, left_early, of_an_array])
def test_lanes_of_lanes(x64, function):
    """Along two axes, of which one has a collective."""
    x, turns = jnp.stack([X, X[::-1] + 0.1]), jnp.stack([TURNS, TURNS[::-1]])
    mapped = jax.vmap(jax.vmap(ag.autograph(function), axis_name="i"))
    turned = jax.vmap(jax.vmap(ag.autograph(function)), in_axes=1, out_axes=1, axis_name="i")

    def whole(flat, mapped):
        return (mapped(flat.reshape(2, 3), turns) * WEIGHTS).sum()

    want = differences(lambda flat: whole(flat, mapped), x.ravel())
    np.testing.assert_allclose(jax.grad(whole)(x.ravel(), mapped), want, rtol=1e-6)
    np.testing.assert_allclose(jax.grad(whole)(x.ravel(), turned), want, rtol=1e-6)


def test_many_lanes(x64):
    """So many that lanes which do not read each other would run in blocks."""
    turns = jnp.arange(4096) % 5
    x = jnp.linspace(0.1, 0.9, 4096)

    def averaged(x, n):
        y, k = x, 0
        while k < n:
            y = jnp.sin(y) + 0.1 * lax.pmean(y * y, "i")
            k += 1
        return y

    def by_hand(x):
        y = x
        for k in range(4):
            y = jnp.where(k < turns, jnp.sin(y) + 0.1 * jnp.mean(y * y), y)
        return (y * x).sum()

    whole = lambda x: (jax.vmap(ag.autograph(averaged), axis_name="i")(x, turns) * x).sum()  # noqa: E731
    np.testing.assert_allclose(whole(x), by_hand(x), rtol=1e-12)
    np.testing.assert_allclose(jax.grad(whole)(x), jax.grad(by_hand)(x), rtol=1e-10)
