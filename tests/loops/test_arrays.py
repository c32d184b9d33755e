"""Reverse mode through loops that read and write elements of arrays: right, in place, nothing stacked that does not vary."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import checkify

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
SIZE = 7


@ag.autograph
def recurrence(x, a):
    for i in range(1, len(x)):
        x[i] = jnp.sin(x[i - 1]) * a[i] + x[i]
    return x


def recurrence_by_hand(x, a):
    return lax.fori_loop(1, x.shape[0], lambda i, x: x.at[i].set(jnp.sin(x[i - 1]) * a[i] + x[i]), x)


@ag.autograph
def by_while(x, a):
    i = jnp.asarray(1)
    while i < len(x):
        x[i] = jnp.sin(x[i - 1]) * a[i] + x[i]
        i = i + 1
    return x


@ag.autograph
def until_large(x, a):
    for i in range(1, len(x)):
        x[i] = jnp.sin(x[i - 1]) * a[i] + x[i]
        if x[i] > 1e3:
            break
    return x


@ag.autograph
def two_arrays(x, a):
    for i in range(1, len(x)):
        w = a[i] / (2 + x[i - 1])
        a[i] = a[i] - w * a[i - 1]
        x[i] = x[i] * w + x[i - 1]
    return x * a


def two_arrays_by_hand(x, a):
    def turn(i, c):
        x, a = c
        w = a[i] / (2 + x[i - 1])
        a = a.at[i].set(a[i] - w * a[i - 1])
        return x.at[i].set(x[i] * w + x[i - 1]), a

    x, a = lax.fori_loop(1, x.shape[0], turn, (x, a))
    return x * a


@ag.autograph
def read_again(x, a):
    for i in range(1, len(x)):
        x[i] = x[i - 1] * a[i]
        x[i - 1] = jnp.sin(x[i]) + x[i - 1]
    return x


def read_again_by_hand(x, a):
    def turn(i, x):
        x = x.at[i].set(x[i - 1] * a[i])
        return x.at[i - 1].set(jnp.sin(x[i]) + x[i - 1])

    return lax.fori_loop(1, x.shape[0], turn, x)


@ag.autograph
def table(x, a):
    costs = jnp.zeros((len(x) + 1, len(a) + 1))
    for i in range(1, len(x) + 1):
        for j in range(1, len(a) + 1):
            costs[i, j] = min(costs[i - 1, j] + x[i - 1], costs[i, j - 1] + a[j - 1]) + jnp.sin(x[i - 1] * a[j - 1])
    return costs[1:, -1]


def table_by_hand(x, a):
    def cell(k, costs):
        i, j = k // SIZE + 1, k % SIZE + 1
        least = jnp.minimum(costs[i - 1, j] + x[i - 1], costs[i, j - 1] + a[j - 1])
        return costs.at[i, j].set(least + jnp.sin(x[i - 1] * a[j - 1]))

    return lax.fori_loop(0, SIZE * SIZE, cell, jnp.zeros((SIZE + 1, SIZE + 1)))[1:, -1]


@ag.autograph
def in_a_branch(x, a):
    for i in range(1, len(x)):
        if x[i - 1] > 0.5:
            x[i] = x[i - 1] * a[i]
        else:
            x[i] = jnp.exp(x[i]) - a[i - 1]
    return x


def in_a_branch_by_hand(x, a):
    def turn(i, x):
        return x.at[i].set(jnp.where(x[i - 1] > 0.5, x[i - 1] * a[i], jnp.exp(x[i]) - a[i - 1]))

    return lax.fori_loop(1, x.shape[0], turn, x)


@ag.autograph
def rows(x, a):
    """Whole rows, at places that the data decides."""
    m = jnp.outer(x, a)
    for i in range(1, len(x)):
        m[i] = jnp.cos(m[(3 * i) % len(x)]) * a + m[i - 1]
    return m.sum(0)


def rows_by_hand(x, a):
    def turn(i, m):
        return m.at[i].set(jnp.cos(m[(3 * i) % x.shape[0]]) * a + m[i - 1])

    return lax.fori_loop(1, x.shape[0], turn, jnp.outer(x, a)).sum(0)


PROGRAMS = [
    (recurrence, recurrence_by_hand),
    (by_while, recurrence_by_hand),
    (until_large, recurrence_by_hand),
    (two_arrays, two_arrays_by_hand),
    (read_again, read_again_by_hand),
    (table, table_by_hand),
    (in_a_branch, in_a_branch_by_hand),
    (rows, rows_by_hand),
]
POINTS = np.random.default_rng(0).uniform(0.2, 1.2, (3, 2, SIZE))
WEIGHTS = np.arange(1.0, SIZE + 1)


def weighted(f):
    return lambda x, a: jnp.sum(f(x, a) * WEIGHTS)


TRANSFORMS = {
    "grad": lambda f: jax.grad(weighted(f), (0, 1)),
    "grad by one": lambda f: jax.grad(weighted(f), 1),
    "jacrev": lambda f: jax.jacrev(f),
    "jacfwd": lambda f: jax.jacfwd(f, 1),
    "hessian": lambda f: jax.hessian(weighted(f), (0, 1)),
    "jacrev jacrev": lambda f: jax.jacrev(jax.jacrev(weighted(f), 1)),
    "remat": lambda f: jax.grad(jax.checkpoint(weighted(f)), (0, 1)),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("converted, by_hand", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(converted, by_hand, transform):
    ours, reference = [jax.jit(TRANSFORMS[transform](f))(*POINTS[0]) for f in (converted, by_hand)]
    jax.tree.map(lambda o, r: np.testing.assert_allclose(o, r, rtol=1e-9, atol=1e-9), ours, reference)


@pytest.mark.parametrize("converted, by_hand", PROGRAMS, ids=lambda f: f.__name__)
def test_lanes(converted, by_hand):
    for transform in (
        lambda f: jax.vmap(jax.grad(weighted(f), (0, 1))),
        lambda f: jax.grad(lambda x, a: jnp.sum(jax.vmap(weighted(f), (0, None))(x, a[0])), (0, 1)),
    ):
        ours, reference = [jax.jit(transform(f))(POINTS[:, 0], POINTS[:, 1]) for f in (converted, by_hand)]
        jax.tree.map(lambda o, r: np.testing.assert_allclose(o, r, rtol=1e-9, atol=1e-9), ours, reference)


def gradient_program(f, *operands):
    return jax.jit(jax.grad(lambda *xs: jnp.sum(f(*xs) ** 2), tuple(range(len(operands))))).lower(*operands).compile()


LITTLE = [recurrence, by_while, until_large, two_arrays, in_a_branch]


@pytest.mark.parametrize("converted", LITTLE, ids=lambda f: f.__name__)
def test_no_turn_costs_as_much_as_the_array(converted):
    """No copy, no sum and no array of zeros of that length in the loops that run a turn at a time."""
    size = 5003
    text = gradient_program(converted, *jnp.ones((2, size))).as_text()
    bodies = [block for block in text.split("\n\n") if "fused_computation" not in block.split("(")[0] and "ENTRY" not in block]
    turns = [
        block
        for block in bodies
        if "dynamic-update-slice" in block and not re.search(r" while\(|to_apply=%(while|kernel)", block)
    ]
    whole = re.compile(rf"= f64\[{size}\]\S* (copy|add|broadcast|fusion)\(")
    found = [line for block in turns for line in block.splitlines() if whole.search(line)]
    assert turns and all("dynamic-update-slice" in line for line in found)


def test_what_a_branch_hands_on_is_not_kept_for_each_turn():
    matrix = jnp.eye(200)

    @ag.autograph
    def f(matrix, x):
        for _ in range(50):
            if x[0] > 0:
                x = jnp.tanh(matrix @ x)
            else:
                x = jnp.sin(matrix @ x)
        return x

    @ag.autograph
    def left_early(matrix, x, limit):
        for k in range(50):
            if k >= limit:
                break
            x = jnp.tanh(matrix @ x)
        return x

    for program in (gradient_program(f, matrix, jnp.ones(200)), gradient_program(left_early, matrix, jnp.ones(200), 9.0)):
        assert program.memory_analysis().temp_size_in_bytes < 8 * matrix.nbytes


def test_an_array_that_is_only_read_is_not_copied_for_each_checkpoint():
    @ag.autograph
    def f(a, x):
        i = jnp.asarray(0)
        while i < len(a):
            x = jnp.sin(x) + a[i]
            i = i + 1
        return x

    a = jnp.ones(50_000)
    assert gradient_program(f, a, jnp.ones(())).memory_analysis().temp_size_in_bytes < 3 * a.nbytes


def test_checkify_sees_what_is_inside():
    """JAX's own checkify knows what an index out of bounds and a NaN are; a turn is no black box for it."""
    check = lambda f, *operands: jax.jit(checkify.checkify(f, errors=checkify.all_checks))(*operands)[0].get() or ""

    @ag.autograph
    def shifted(x, n):
        for i in range(1, len(x)):
            x[i] = x[i - 1] + x[i + n]
        return x

    @ag.autograph
    def logarithms(x):
        i = jnp.asarray(1)
        while i < len(x):
            x[i] = jnp.log(x[i - 1])
            i = i + 1
        return x

    assert "out-of-bounds" in check(shifted, jnp.ones(5), 3)
    assert "nan generated by primitive: log" in check(logarithms, -jnp.ones(5))


def test_a_number_added_to_zeros_has_their_shape():
    """JAX writes `zeros + 0.25` with the number as it is, and the sums in place of a turn meet both."""

    @ag.autograph
    def f(x, z):
        for _ in jnp.arange(3):
            for x in jnp.zeros(3) + 0.25:
                break
            else:
                z = z + 1
            z = 0.5 * z
        return x * z

    assert jax.jit(jax.grad(f, argnums=(0, 1)))(2.0, 3.0) == (0.0, 0.25 * 0.5**3)
