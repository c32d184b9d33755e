"""Stencils: windows of one copy, where an array is rolled or continued and read several times.

What is read is the same to the bit. A product may be rounded together with the sum that it goes into, as XLA likes.
"""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops import halos
from autograph_jax.loops.optimizations import ALL
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]


def heat(u):
    for _ in range(6):
        u = u + 0.1 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))
    return u


def laplacian(u):
    for _ in range(6):
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)
    return u


def eight_neighbours(u):
    for _ in range(4):
        around = sum(jnp.roll(u, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        u = jnp.where(around > 4.0, u * 0.5, u + 0.01 * around)
    return u


def far_and_negative_shifts(u):
    for _ in range(3):
        u = 0.25 * (jnp.roll(u, 2, 0) + jnp.roll(u, -3, 0) + jnp.roll(u, 41, 0) + jnp.roll(u, u.shape[0] // 2, 0))
    return u


def rolls_of_rolls(u):
    for _ in range(3):
        first, again = jnp.roll(u, 1, 0), jnp.roll(u, 1, 0)
        u = jnp.sin(jnp.roll(first, 1, 1) + jnp.roll(again, -1, 1) + jnp.roll(again, 2, 1) + first)
    return u


def by_hand(u):
    for _ in range(3):
        ahead, behind = jnp.concatenate([u[1:], u[:1]]), jnp.concatenate([u[-1:], u[:-1]])
        u = 0.3 * (ahead + u + behind)
    return u


def continued(u):
    for _ in range(4):
        w = jnp.pad(u, 1, mode="edge")
        u = 0.2 * (w[2:, 1:-1] + w[:-2, 1:-1] + w[1:-1, 2:] + w[1:-1, :-2] + u)
    return u


def differences(u):
    for _ in range(4):
        w = jnp.concatenate([u[:1], u, u[-1:]])
        u = u + 0.1 * jnp.diff(w, n=2, axis=0)
    return u


def in_a_branch(u):
    for _ in range(4):
        if u.sum() > 3.0:
            u = u + 0.1 * (jnp.roll(u, 1, 0) - jnp.roll(u, -1, 0))
        else:
            u = u * 2.0
    return u


def until_it_is_smooth(u):
    turns = 0
    while jnp.abs(jnp.roll(u, 1, 0) - u).max() > 0.3 and turns < 50:
        u = 0.5 * u + 0.25 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0))
        turns += 1
    return u, turns


PROGRAMS = [
    heat, laplacian, eight_neighbours, far_and_negative_shifts, rolls_of_rolls, by_hand, continued, differences, in_a_branch,
    until_it_is_smooth,
]  # fmt: skip


def lowest_around(u):
    for _ in range(3):
        lowest = jnp.minimum(jnp.roll(u, 1, 0), jnp.roll(u, -2, 0))
        u = jnp.where(lowest < u, -lowest, jnp.pad(u, ((1, 1), (0, 0)), mode="reflect")[2:])
    return u


def game_of_life(u):
    board = jnp.where(u > 0.0, 1, 0)
    for _ in range(6):
        rows = jnp.roll(board, 1, 0) + board + jnp.roll(board, -1, 0)
        count = jnp.roll(rows, 1, 1) + rows + jnp.roll(rows, -1, 1) - board
        board = jnp.where((count == 3) | ((count == 2) & (board == 1)), 1, 0)
    return board


def values(shape, kind):
    u = np.random.default_rng(3).normal(size=shape).astype(kind)
    u.flat[:4] = [-0.0, np.inf, np.nan, 0.0]
    return u


def to_bytes(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


ARRAYS = [values((130, 140), np.float64)[:, ::-1], values((1000,), np.float32)[:, None] + np.zeros((1, 18), np.float32)]


@pytest.mark.parametrize("program", [lowest_around, game_of_life])
def test_what_is_read_is_the_same_to_the_bit(program):
    for u in ARRAYS:
        ours, theirs = (ag.jit(program, optimize=o)(u) for o in (True, ALL - {"halos"}))
        assert to_bytes(ours) == to_bytes(theirs)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_result_is_the_same_but_for_products_in_sums(program):
    for u in ARRAYS:
        ours, theirs = (jax.tree.leaves(ag.jit(program, optimize=o)(u)) for o in (True, ALL - {"halos"}))
        for one, other in zip(ours, theirs, strict=True):
            some_units = 32 * float(jnp.finfo(u.dtype).eps)
            np.testing.assert_allclose(one, other, rtol=some_units, atol=some_units)


@pytest.mark.parametrize("program", [*PROGRAMS, lowest_around, game_of_life])
def test_each_makes_such_copies(program):
    with_copies, without = [
        ag.jit(program, optimize=o).lower(jnp.ones((128, 128))).as_text().count("optimization_barrier")
        for o in (True, ALL - {"halos"})
    ]
    assert with_copies > without


@pytest.mark.parametrize("program", [heat, laplacian, eight_neighbours, continued, in_a_branch])
def test_derivatives_and_lanes(program):
    u = jnp.asarray(np.random.default_rng(4).normal(size=(130, 128)))
    transforms = {
        "grad": jax.grad(lambda f, u: (f(u) ** 2).sum(), argnums=1),
        "jvp": lambda f, u: jax.jvp(f, (u,), (jnp.cos(u),)),
        "vmap": lambda f, u: jax.vmap(f)(jnp.stack([u, 2 * u, -u])),
        "lanes last": lambda f, u: jax.vmap(f, in_axes=-1)(jnp.stack([u, 2 * u, -u], -1)),
    }
    for name, transform in transforms.items():
        functions = (ag.autograph(program, optimize=o) for o in (True, ALL - {"halos"}))
        ours, theirs = (jax.jit(functools.partial(transform, function))(u) for function in functions)
        for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-13, atol=1e-13, err_msg=name)


def one_roll(u):
    for _ in range(4):
        u = u - 0.1 * (u - jnp.roll(u, 1))
    return u


def one_window(u):
    for _ in range(4):
        u = u - 0.1 * (u - jnp.pad(u, 1, mode="wrap")[2:, 1:-1])
    return u


@pytest.mark.parametrize("program", [one_roll, one_window])
def test_what_is_read_once_stays_as_it_is(program):
    u = jnp.ones((64, 64))
    texts = [ag.jit(program, optimize=o).lower(u).as_text() for o in (True, ALL - {"halos"})]
    assert [text.count("optimization_barrier") for text in texts] == [0, 0]


def test_small_arrays_stay_in_their_kernel():
    u = jnp.ones((20, 20))
    assert "optimization_barrier" not in ag.jit(laplacian).lower(u).as_text()


def joined(u, v):
    for _ in range(3):
        t = jnp.concatenate([v[1:], u[:1]])  # of two arrays: no roll
        w = jnp.concatenate([u[2:], u[:1]])  # one element is missing
        u = u + 0.1 * t + 0.1 * jnp.concatenate([w, w[:1]])
    return u


def short_rows(u):
    for _ in range(4):
        u = 0.5 * jnp.roll(u, 1, 1) + 0.3 * jnp.roll(u, 2, 1) - 0.1 * u
    return u


def ends(u):
    for _ in range(4):
        u = u + 1e-3 * (jnp.roll(u, 1)[:3].sum() + jnp.roll(u, -1)[:3].sum())
    return u


def few_rolls(u):
    for _ in range(4):
        u = u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)
    return u


@pytest.mark.parametrize(("program", "shape"), [(short_rows, (2000, 5)), (ends, (5000,)), (few_rolls, (100, 100))])
def test_what_would_take_longer_stays_as_it_is(program, shape):
    assert "optimization_barrier" not in ag.jit(program).lower(jnp.ones(shape)).as_text()


def test_what_only_looks_like_a_roll_is_none():
    u, v = jnp.arange(2000.0), jnp.arange(2000.0) ** 0.5
    np.testing.assert_array_equal(*(ag.jit(joined, optimize=o)(u, v) for o in (True, False)))


def test_a_program_without_joins_is_itself():
    closed = jax.make_jaxpr(lambda u: jnp.sin(u)[1:])(jnp.ones(2000))
    assert halos.with_halos(closed) is closed


def test_explain_says_so():
    rolled, padded = (" ".join(str(ag.explain(f, jnp.ones((128, 128)))).split()) for f in (laplacian, continued))
    assert "halos: rolls of one array are windows of one copy" in rolled
    assert "halos: what several windows are read of is made once" in padded
