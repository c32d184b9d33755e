"""Loops that read and write references, `jax.new_ref`: JAX makes values of these before a program is compiled."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.skipif(not hasattr(jax, "new_ref"), reason="this JAX has no references")


def a_while(x, n):
    r, i = jax.new_ref(x), 0
    while i < n:
        r[...] = r[...] * 2.0
        i += 1
    return r[...]


def a_range(x, n):
    r = jax.new_ref(x)
    for _ in range(n):
        r[...] = r[...] * 2.0
    return r[...]


def two_whiles(x, n):
    r, i = jax.new_ref(x), 0
    while i < n:
        j = 0
        while j < i:
            r[...] = r[...] * 2.0
            j += 1
        i += 1
    return r[...]


def a_while_in_a_scan(x, n):
    r = jax.new_ref(x)
    for _ in range(2):
        i = 0
        while i < n:
            r[...] = r[...] + 1.0
            i += 1
    return r[...]


def a_scan_in_a_while(x, n):
    r, i = jax.new_ref(x), 0
    while i < n:
        for k in range(3):
            r[...] = r[...] + k
        i += 1
    return r[...]


def in_its_test(x, n):
    r, total = jax.new_ref(x), 0.0
    while r[...] < 10 + n:
        r[...] = r[...] * 2.0
        total += r[...]
    return total


def made_in_a_turn(x, n):
    y, i = x, 0
    while i < n:
        r = jax.new_ref(y)
        r[...] = r[...] * 2.0
        y = r[...]
        i += 1
    return y


def of_elements(x, n):
    r, i = jax.new_ref(x * jnp.ones(4)), 0
    while i < n:
        r[i] = r[i - 1] + 1.0
        i += 1
    return r[...].sum()


def in_a_branch(x, n):
    r, i = jax.new_ref(x), 0
    while i < n:
        if i % 2 == 0:
            r[...] = r[...] * 3.0
        i += 1
    return r[...]


def by_lax(x, n):
    r = jax.new_ref(x)

    def turn(i):
        r[...] = r[...] * 2.0
        return i + 1

    jax.lax.while_loop(lambda i: i < n, turn, 0)
    return r[...]


MAPPED = [a_while, a_range, two_whiles, a_while_in_a_scan, a_scan_in_a_while, in_its_test, made_in_a_turn, of_elements, by_lax]


def branch(x, n):
    r = jax.new_ref(x)
    if x > 2:
        r[...] = r[...] * 3.0
    return r[...] + n


def branches_that_read(x, n):
    r = jax.new_ref(x)
    return r[...] * 2 if x > 2 else r[...] * n


def a_loop_in_a_branch(x, n):
    r, i = jax.new_ref(x), 0
    if x > 2:
        while i < n:
            r[...] = r[...] * 2.0
            i += 1
    return r[...]


def a_branch_that_makes_one(x, n):
    y = x
    if x > 2:
        r = jax.new_ref(x)
        r[...] += n
        y = r[...]
    return y


def two_of_them(x, n):
    r, s, i = jax.new_ref(x), jax.new_ref(x * 2), 0
    while i < n:
        if s[...] > 5:
            r[...] += s[...]
        else:
            s[...] *= 2.0
        i += 1
    return r[...] + s[...]


BRANCHES = [branch, branches_that_read, a_loop_in_a_branch, a_branch_that_makes_one, two_of_them]


@pytest.mark.parametrize("function", [*MAPPED, in_a_branch, *BRANCHES])
def test_references(function):
    """As plain Python has it, with JAX's own turns."""
    x, n = jnp.float32(1.5), 3
    want = function(x, n) if function is not by_lax else x * 8
    np.testing.assert_array_equal(jax.jit(ag.autograph(function))(x, n), want)
    np.testing.assert_array_equal(ag.jit(function)(x, n), want)
    np.testing.assert_array_equal(ag.autograph(function)(x, jnp.int32(n)), want)


@pytest.mark.parametrize("function", [*MAPPED, in_a_branch, *BRANCHES])
def test_references_of_lanes(function):
    xs = jnp.array([1.5, 3.0])
    one = jax.jit(ag.autograph(function))
    want = [one(x, 3) for x in xs]
    np.testing.assert_array_equal(jax.jit(jax.vmap(ag.autograph(function), (0, None)))(xs, 3), want)
    np.testing.assert_array_equal(jax.vmap(ag.autograph(function), (0, None))(xs, 3), want)


@pytest.mark.parametrize("function", [*MAPPED[:-1], in_a_branch, *BRANCHES])
def test_their_derivatives(x64, function):
    one = ag.autograph(function)
    for x in (1.5, 3.0):
        want = (one(x + 1e-6, 3) - one(x - 1e-6, 3)) / 2e-6
        np.testing.assert_allclose(jax.jit(jax.grad(one))(x, 3), want, rtol=1e-6)
        np.testing.assert_allclose(jax.jit(lambda x: jax.jvp(lambda x: one(x, 3), (x,), (1.0,)))(x)[1], want, rtol=1e-6)
    np.testing.assert_allclose(jax.vmap(jax.grad(one), (0, None))(jnp.array([1.5, 3.0]), 3)[1], want, rtol=1e-6)


def test_lanes_may_read_one_of_all():
    """What is written to it would be one value for all lanes."""

    def lanes(x, ns):
        r = jax.new_ref(x)

        def one(n):
            y, i = 0.0, 0
            while i < n:
                y += r[...] if n > 1 else 2 * r[...]
                i += 1
            return y

        return jax.vmap(ag.autograph(one))(ns) * r[...]

    np.testing.assert_array_equal(jax.jit(lanes)(1.5, jnp.array([0, 1, 3])), [0.0, 4.5, 6.75])
    np.testing.assert_array_equal(jax.jit(jax.jacrev(lanes))(1.5, jnp.array([0, 1, 3])), [0.0, 6.0, 9.0])
