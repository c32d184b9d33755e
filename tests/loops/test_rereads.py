"""What a turn reads of an array that it has written: the same numbers, and no copy of the array, forward and in reverse."""

import functools
import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.experimental import checkify
from jax.extend.core import jaxpr_as_fun

import autograph_jax as ag
from autograph_jax.loops.optimizations import ALL, ON_CPU_ALONE
from autograph_jax.loops.rereads import reads_first
from tests.copies import array_copies
from tests.platforms import needs_cpu

pytestmark = pytest.mark.usefixtures("x64")
SIZE = 503
RANDOM = np.random.default_rng(0)
DATA = RANDOM.random(SIZE), RANDOM.random(SIZE), RANDOM.integers(0, SIZE, SIZE)


def written_again_in_a_branch(x, y, places):
    for i in range(len(x)):
        y[i] = x[i]
        if x[i] > 0.5:
            y[i] = y[i] + y[i - 2]
    return x, y


def swapped(x, y, places):
    for i in range(2, len(x)):
        x[i], x[i - 1] = x[i - 1], x[i]
    return x, y


def shuffled(x, y, places):
    for i in range(len(x)):
        j = places[i]
        x[i], x[j] = x[j], x[i]
    return x, y


def written_twice(x, y, places):
    for i in range(len(x) - 3, 1, -1):
        x[i] = y[i]
        x[i] = 0.5 * y[i - 1] + x[len(x) - 1 - i]
    return x, y


def at_a_known_place(x, y, places):
    for i in range(2, len(x)):
        x[i] = 0.5 * x[3] + x[i - 1] * 0.25
        x[3] = y[i] - x[i]
        y[i] = x[3]
    return x, y


def into_another_array(x, y, places):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[places[i]] + 0.1
        y[i] = x[i] + x[i - 1] + y[i - 1] * 0.5
    return x, y


def in_branches_of_a_branch(x, y, places):
    for i in range(2, len(x) - 2):
        if y[i + 1] > 0.5:
            x[i - 2] = 0.5 * x[len(x) - 1 - i] + y[i - 1]
            if y[i] > x[i - 2]:
                x[i] = x[i - 2]
                y[i - 1] = x[i]
        else:
            y[3] = 0.25 - x[3]
    return x, y


def in_a_large_branch(x, y, places):
    for i in range(1, len(x)):
        x[i] = 0.5 * x[i] + 0.25 * x[i - 1]
        if x[i] > x[places[i]]:
            total = x[i - 1]
            for _ in range(3):
                total = 0.5 * total + x[i]
            y[i] = total
        else:
            y[i] = x[i]
    return x, y


def counted_by_while(x, y, places):
    i = jnp.asarray(2)
    while i < len(x):
        y[i] = x[i - 1] * 0.5
        x[i] = y[i] + y[places[i]]
        y[i - 1] = x[i] - y[i - 2]
        i = i + 1
    return x, y


def counted_by_while_in_numpy(x, y, places):
    for i in range(2, len(x)):
        y[i] = x[i - 1] * 0.5
        x[i] = y[i] + y[places[i]]
        y[i - 1] = x[i] - y[i - 2]
    return x, y


PROGRAMS = [
    written_again_in_a_branch, swapped, shuffled, written_twice, at_a_known_place, into_another_array,
    in_branches_of_a_branch, in_a_large_branch, counted_by_while,
]  # fmt: skip
IN_NUMPY = {counted_by_while: counted_by_while_in_numpy}
WAYS = [True, sorted(ALL - ON_CPU_ALONE), False]


copies = functools.partial(array_copies, size=SIZE)


@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_numpy(program, optimize):
    given = [jnp.asarray(array) for array in DATA]
    converted = ag.jit(ag.autograph(program, optimize=optimize))
    expected = IN_NUMPY.get(program, program)(*(array.copy() for array in DATA))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), converted(*given), expected)


@needs_cpu
@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_no_turn_copies_an_array(program, optimize):
    assert copies(ag.jit(ag.autograph(program, optimize=optimize)), *map(jnp.asarray, DATA)) == []


def loss(function):
    weights = np.linspace(-1, 1, SIZE)
    return lambda x, y, places: sum(jnp.sum(weights * out**2) for out in function(x, y, places))


@needs_cpu
@pytest.mark.parametrize("program", [program for program in PROGRAMS if program not in IN_NUMPY], ids=lambda f: f.__name__)
def test_derivatives(program):
    """No copy in reverse either, and the derivative along some direction is that of small differences."""
    converted = ag.autograph(program)
    gradient = jax.jit(jax.grad(loss(converted), (0, 1)))
    assert copies(gradient, *map(jnp.asarray, DATA)) == []
    directions, step = np.random.default_rng(1).normal(size=(2, SIZE)), 1e-7

    def value(sign):
        moved = [array + sign * step * direction for array, direction in zip(DATA, directions, strict=False)]
        return float(loss(program)(*moved, DATA[2].copy()))

    found = sum(float(jnp.sum(g * d)) for g, d in zip(gradient(*map(jnp.asarray, DATA)), directions, strict=True))
    np.testing.assert_allclose(found, (value(1) - value(-1)) / (2 * step), rtol=1e-4, atol=1e-5)


def a_branch_that_writes_another_array(x, z, c):
    for i in range(4):
        x[i] = x[i] + 1.0
        if c > 0:
            z[0] = z[0] + 1.0
            if c > 1:
                x[0] = x[i] + z.sum()
    return x, z


def a_branch_that_hands_out_what_it_writes(x, z, c):
    for i in range(4):
        x[i] = x[i] + 1.0
        if c > 0:
            z[i] = x[i] * 2
            if z[i] > x[0]:
                z[0] = x[i] + z[1]
                z = z + x[i]
    return x, z


def apply_and_write(x, z, c):
    for i in range(4):
        x = x.at[i].apply(jnp.sin)
        if c > 0:
            x[i] = x[i] + z[i]
    return x, z


def apply_or_write(x, z, c):
    for i in range(4):
        if c > 1:
            x = x.at[i].apply(jnp.cos)
        else:
            x[i] = 3.0 + z[i]
    return x, z


@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("c", [0.0, 1.0, 2.0])
@pytest.mark.parametrize(
    "program",
    [a_branch_that_writes_another_array, a_branch_that_hands_out_what_it_writes, apply_and_write, apply_or_write],
    ids=lambda f: f.__name__,
)
def test_what_is_no_read_or_write_of_an_element(program, c, optimize):
    given = jnp.arange(5.0) / 3, jnp.ones(5)
    expected = ag.autograph(program)(*given, c)  # where Python knows which branch is taken
    found = ag.jit(ag.autograph(program, optimize=optimize))(*given, c)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-15), found, expected)


def test_no_error_of_a_sum_that_nobody_reads():
    def program(x, v, c, k):
        if c:
            x = x.at[0].add(v)
            x[1] = x[k] + 0.0
        return x

    checked = checkify.checkify(ag.jit(program), errors=checkify.float_checks)
    error, found = checked(jnp.arange(8.0).at[3].set(jnp.inf), -jnp.inf, True, 3)
    assert error.get() is None
    assert found[1] == jnp.inf


@pytest.mark.parametrize("kind", [np.uint8, np.float16, np.complex64])
def test_sums_of_all_types(kind):
    @ag.autograph
    def program(x, v, c, k):
        if c:
            x = x.at[0].add(v)
            x[1] = x[k] + x[0]
        return x

    x, v = np.array([0, 1, 1], kind), kind(1)
    for k in range(3):
        np.testing.assert_array_equal(ag.jit(program)(jnp.asarray(x), v, True, k), program(jnp.asarray(x), v, True, k))


# Programs of reads and writes that may be out of bounds, in all ways that JAX has


def set_at(mode):
    return lambda x, place, value: x.at[place].set(value, mode=mode)


def add_at(mode):
    return lambda x, place, value: x.at[place].add(value, mode=mode)


def by_a_window(x, place, value):
    return lax.dynamic_update_slice(x, value[None], (place,), allow_negative_indices=False)


WRITES = {
    "set": set_at("drop"), "set nearest": set_at("clip"), "add": add_at("drop"), "add nearest": add_at("clip"),
    "window": by_a_window,
}  # fmt: skip
READS = {
    "window": lambda x, place: lax.dynamic_slice(x, (place,), (1,), allow_negative_indices=False)[0],
    "fill": lambda x, place: x.at[place].get(mode="fill", fill_value=7.0),
    "nearest": lambda x, place: x.at[place].get(mode="clip"),
    "known": lambda x, place: lax.slice(x, (2,), (3,))[0],
}


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("first", "second"), list(itertools.product(WRITES, WRITES)))
def test_a_read_after_two_writes(first, second, read):
    def program(x, i, j, k, a, b):
        x = WRITES[second](WRITES[first](x, i, a), j, b)
        return READS[read](x, k), x

    x = jnp.arange(5.0) + 10
    closed = jax.make_jaxpr(program)(x, 0, 0, 0, 1.0, 2.0)
    moved = reads_first(closed, all_of_them=True)
    assert moved is not closed
    written = [equation.outvars[0] for equation in moved.jaxpr.eqns if equation.outvars[0].aval.shape == (5,)]
    assert all(written[0] not in equation.invars or equation.outvars[0] in written for equation in moved.jaxpr.eqns)
    run, expected = jax.jit(jaxpr_as_fun(moved)), jax.jit(jaxpr_as_fun(closed))
    for i, j, k in itertools.product((-9, 0, 2, 4, 5), repeat=3):
        given = x, i, j, k, 1.0, 2.0
        jax.tree.map(np.testing.assert_array_equal, run(*given), expected(*given))


def test_what_is_not_one_element_stays():
    def program(x, i):
        x = x.at[i].set(1.0)
        y = lax.dynamic_slice(x, (i,), (2,))
        return x.at[i].set(y[0]), x.sum()

    closed = jax.make_jaxpr(program)(jnp.zeros(5), 1)
    assert reads_first(closed) is closed


@pytest.mark.parametrize(("kind", "is_moved"), [(np.uint8, False), (np.int8, False), (np.int32, True), (np.int64, True)])
def test_indices_of_few_bits_stay(kind, is_moved):
    """XLA takes them to be in bounds, where these have no room in their type."""

    def program(x, i, k):
        x = by_a_window(x, i, jnp.asarray(1.0))
        return x.at[0].set(READS["window"](x, k))

    closed = jax.make_jaxpr(program)(jnp.zeros(500), kind(3), kind(3))
    assert (reads_first(closed) is not closed) == is_moved
