"""Loops in branches under jax.vmap: lanes that do not take the branch make no turn, also where their loop would never end."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag


def down(x):
    """For a fraction the loop would never end."""
    if x == jnp.floor(x):
        while x != 0:
            x = x - 1
    else:
        x = x * 2
    return x


def down_in_a_scan(x):
    if x == jnp.floor(x):
        for k in range(2):
            while x != k:
                x = x - 1
            x = x + 3 * (k + 1)
    else:
        x = x * 2
    return x


def down_in_branches(x):
    if x > 0:
        x = x * 2
        if x == jnp.floor(x):
            x = x * 1
            for _ in range(jnp.int32(x)):
                while x != 0:
                    x = x - 1
    return x


def to_a_root(x):
    """Newton's iteration, on a lane that it does not converge for."""
    y = x
    if x > 1:
        while abs(y * y - x) > 1e-4:
            y = 0.5 * (y + x / y)
    elif x < -1:
        while y < 0:
            y = y + 1.5
    return y


LANES = [0.5, 3.0, 2.5, 1.0, -2.0]


@pytest.mark.parametrize("function", [down, down_in_a_scan, down_in_branches, to_a_root], ids=lambda f: f.__name__)
def test_lanes_that_take_no_branch_make_no_turn(function):
    lanes = [x for x in LANES if x >= 0 or function is not down and function is not down_in_a_scan]
    got = jax.jit(jax.vmap(ag.autograph(function)))(jnp.asarray(lanes))
    np.testing.assert_allclose(got, [function(x) for x in lanes], rtol=1e-3)


def test_twice_mapped():
    xs, ys = jnp.asarray(LANES[:4]), jnp.asarray([0.0, 1.0])
    got = jax.jit(jax.vmap(jax.vmap(ag.autograph(lambda x, y: down(x + y)), (0, None)), (None, 0)))(xs, ys)
    np.testing.assert_allclose(got, [[down(float(x) + float(y)) for x in xs] for y in ys])


@pytest.mark.parametrize("transform", [jax.grad, jax.jacfwd], ids=["reverse", "forward"])
def test_derivatives(transform):
    def power(x):
        if x == jnp.floor(x):
            y = x
            while x != 1:
                y, x = y * y, x - 1
            return y
        return x * 3

    lanes = jnp.asarray([3.0, 0.5, 1.0, 2.0])
    got = jax.jit(jax.vmap(transform(ag.autograph(power))))(lanes)
    np.testing.assert_allclose(got, [4.0 * 3.0**3, 3.0, 1.0, 2.0 * 2.0])


def test_without_vmap_it_costs_nothing():
    def alone(x):
        while x != 0:
            x = x - 1
        return x

    def in_a_branch(x):
        return alone(x) if x == jnp.floor(x) else x * 2

    def conditions(function):
        text = jax.jit(ag.autograph(function)).lower(3.0).as_text()
        begin = text.index("stablehlo.while")
        return text[text.index("cond", begin) : text.index("} do", begin)].count("stablehlo.")

    assert conditions(in_a_branch) == conditions(alone)
