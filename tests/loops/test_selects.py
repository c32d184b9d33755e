"""Cheap branches in loops are compiled to selects: with the same values, derivatives and checks, and only where it is cheap."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import checkify

import autograph_jax as ag
from autograph_jax.loops.compiled import compiled as compiled_jaxpr

pytestmark = pytest.mark.usefixtures("x64")
ABOVE = np.random.default_rng(0).normal(size=20)


@ag.autograph
def smallest(x):
    best, place = jnp.inf, -1
    for i in range(len(x)):
        if x[i] < best:
            best, place = x[i], i
    return best * place


@ag.autograph
def collatz(n):
    turns = 0
    while n != 1 and turns < 500:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        turns += 1
    return turns


@ag.autograph
def roots(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += jnp.sqrt(v)
    return total


@ag.autograph
def until_before(x):
    j = jnp.asarray(len(x) - 1)
    while j >= 0 and x[j] > 0:
        j -= 1
    return j


@ag.autograph
def waves(x):
    total = 0.0
    for v in x:
        if v > 0:
            total += jnp.sum(jnp.sin(v * jnp.arange(1000.0)))
    return total


@ag.autograph
def matrices(x):
    big = jnp.ones((30, 30))
    for v in x:
        if v > 0:
            big = big * v
    return big.sum()


def compiled(function, *args):
    return jax.jit(function).lower(*args).compile().as_text()


def by_conditionals(function, *args):
    """What it gives with each lax.cond compiled as such."""
    with jax.disable_jit():
        return function(*args)


CHEAP = {
    "numbers": (smallest, (ABOVE,)),
    "a division, and a test of two parts": (collatz, (jnp.asarray(27),)),
    "a root of what may be negative": (roots, (ABOVE,)),
    "an element that is only there if the first test holds": (until_before, (abs(ABOVE),)),
}
COSTLY = {"a sum of a thousand sines": (waves, (ABOVE,)), "a matrix": (matrices, (ABOVE,))}


@pytest.mark.parametrize("name", CHEAP)
def test_cheap_branches_are_selects(name):
    function, args = CHEAP[name]
    assert " conditional(" not in compiled(function, *args)
    np.testing.assert_array_equal(jax.jit(function)(*args), by_conditionals(function, *args))


@pytest.mark.parametrize("name", COSTLY)
def test_others_stay_conditionals(name):
    function, args = COSTLY[name]
    assert " conditional(" in compiled(function, *args)
    np.testing.assert_allclose(jax.jit(function)(*args), by_conditionals(function, *args), rtol=1e-12)


def test_jaxprs_show_what_was_staged():
    assert "cond[" in str(jax.make_jaxpr(roots)(ABOVE))


def test_the_branch_that_is_not_taken_has_no_derivative():
    gradient = jax.jit(jax.grad(roots))(ABOVE)
    np.testing.assert_allclose(gradient, np.where(ABOVE > 0, 0.5 / np.sqrt(abs(ABOVE)), 0.0))


def test_the_branch_that_is_not_taken_is_not_checked():
    error, value = jax.jit(checkify.checkify(roots, errors=checkify.float_checks))(ABOVE)
    assert error.get() is None
    assert value == jax.jit(roots)(ABOVE)


def test_lanes_select_by_booleans():
    lanes = jnp.arange(1, 30)
    text = compiled(jax.vmap(collatz), lanes)
    assert "s32[29]{0} convert(" not in text
    np.testing.assert_array_equal(jax.jit(jax.vmap(collatz))(lanes), [by_conditionals(collatz, n) for n in lanes])


@pytest.mark.parametrize("number", [0.0, 1.0, 0.5, 1.5, -1.0, jnp.inf, jnp.nan])
def test_a_boolean_as_a_number_equals_zero_and_one_alone(number):
    @ag.autograph
    def count(x, n):
        s = 0.0
        for i in range(n):
            mask = jnp.astype(x > 0, float)
            if mask == number:
                s += 100.0
            else:
                s += jnp.where(mask + i == number, 10.0, 1.0)
        return s

    for x in jnp.array([-1.0, 1.0]):
        np.testing.assert_array_equal(jax.jit(count)(x, 3), by_conditionals(count, x, 3))


def test_a_program_without_conditionals_is_the_same_object():
    closed = jax.make_jaxpr(lambda x: x + 1)(1.0)
    assert compiled_jaxpr(closed) is closed


def test_what_says_that_an_index_is_in_bounds_is_not_read_in_vain():
    def read(x, i):
        return lax.cond(i[0] < 3, lambda: x.at[i].get(mode="promise_in_bounds"), lambda: jnp.zeros(2))

    closed = jax.make_jaxpr(read)(jnp.arange(3.0), jnp.array([5, 6]))
    assert "cond[" in str(compiled_jaxpr(closed))
