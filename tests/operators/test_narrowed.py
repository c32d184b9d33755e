"""Where a choice is used, an error is raised for the options that are of no use there: once on each way to it."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import UnboundError

POINTS = [(1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0), (-1.0, 3.0), (2.0, 3.0)]


def in_a_branch_and_after_it(x, y):
    if x > 0:
        r = x
    s = 0.0
    if y > 0:
        s = r
    return s + r


def in_a_branch_only(x, y):
    if x > 0:
        r = x
    s = 0.0
    if y > 0:
        s = r + 1
        s = s * r
    return s


def twice(x, y):
    if x > 0:
        r = x
    s = r + y
    return s + r


def in_a_loop(x, y):
    if x > 0:
        r = x
    s = 0.0
    while s < y:
        s = s + r
    return s


def in_what_jax_maps(x, y):
    if x > 0:
        r = x
    s = 0.0
    if y > 0:
        if y > 1:
            s = jnp.sum(jax.vmap(lambda v: v + r)(jnp.arange(3.0)))
        s = s + r
    return s + 1.0


def in_a_condition_of_jax(x, y):
    if x > 0:
        r = x
    s = jax.lax.cond(y > 1, lambda: r * 1.0, lambda: x * 1.0)
    if y > 0:
        s = s + r
    return s


def where_any_may_not_come(x, y):
    if x > 0:
        r = x
    if any(v > 0 and r > v for v in [y, y - 1]):
        return r + 1.0
    return 2.0


def in_a_try_that_may_have_failed(x, y):
    if x > 0:
        r = x
    try:
        if y > 1:
            raise ValueError(y)
        s = r * 2
    except ValueError:
        s = 0.0
    return s + r


def in_the_turns_of_a_try(x, y):
    if x > 0:
        r = x
    s = 0.0
    for i in range(3):
        try:
            if y > i:
                raise ValueError(y)
            s = s + r * 2
        except ValueError:
            s = s - 1.0
    return s


def halved(v):
    if v > 2:
        raise ValueError(v)
    return v / 2


def after_a_call_that_fails(x, y):
    if x > 0:
        r = x
    try:
        s = halved(y)
        s = s + r
    except ValueError:
        s = 0.0
    return s + r


@pytest.mark.parametrize(
    "program",
    [
        in_a_branch_and_after_it, in_a_branch_only, twice, in_a_loop, in_what_jax_maps,
        where_any_may_not_come, in_a_try_that_may_have_failed, in_the_turns_of_a_try, after_a_call_that_fails,
    ],
)  # fmt: skip
@pytest.mark.parametrize("point", POINTS)
def test_a_variable_without_a_value(program: Callable[..., Any], point: tuple[float, float]):
    run = ag.jit(program)
    try:
        expected = program(*point)
    except NameError:
        with pytest.raises(UnboundError, match="`r` has no value"):
            run(*map(jnp.float32, point))
    else:
        np.testing.assert_allclose(run(*map(jnp.float32, point)), expected)


@pytest.mark.parametrize("y", [1.0, 3.0])
def test_a_branch_of_jax_that_may_not_be_taken(y: float):
    run = ag.jit(in_a_condition_of_jax)
    assert run(-1.0, -1.0) == -1 and run(2.0, 1.0) == 4 and run(2.0, 3.0) == 4
    with pytest.raises(UnboundError, match="`r` has no value"):
        run(-1.0, y)


def maybe_none(x, y):
    a = None if x < 0 else x
    s = 0.0
    if y > 0:
        s = a + 1
        s = s * a
    if y < 2:
        s = s - a
    return s


@pytest.mark.parametrize("point", POINTS)
def test_none_in_ported_code(point: tuple[float, float]):
    run = ag.jit(ag.port(maybe_none))
    try:
        expected = maybe_none(*point)
    except TypeError:
        with pytest.raises(TypeError, match="None"):
            run(*map(jnp.float32, point))
    else:
        np.testing.assert_allclose(run(*map(jnp.float32, point)), expected)


def many_uses(x, y):
    if x > 0:
        r = x
    return ((r + y) * r - r) / r + r


def test_asked_once():
    """Each use would be one more condition that the program computes, and one more error that a loop carries."""

    def loop(x, y):
        for _ in range(3):
            y = many_uses(x, y)
        return y

    text = str(jax.make_jaxpr(ag.autograph(loop))(1.0, 2.0))
    assert text.count("and ") <= 1, text
