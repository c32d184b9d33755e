"""Indices in compiled loops: what is known to be in bounds is not checked, and all else means what it means in JAX."""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import guards, ranges
from tests.platforms import needs_cpu

pytestmark = pytest.mark.usefixtures("x64")
X = np.random.default_rng(0).normal(size=9)


def running_sum(x):
    for i in range(1, len(x)):
        x[i] = x[i] + x[i - 1]
    return x


def backwards(x):
    for i in range(len(x) - 2, -1, -1):
        x[i] = x[i] * x[i + 1]
    return x


def table(x):
    t = jnp.zeros((len(x), len(x)))
    for i in range(1, len(x)):
        for j in range(1, len(x)):
            t[i, j] = t[i - 1, j] + t[i, j - 1] * x[i]
    return t


def insertion(x):
    for i in range(1, len(x)):
        key = x[i]
        j = i - 1
        while j >= 0 and x[j] > key:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = key
    return x


def place_of_largest(x):
    place = 0
    for i in range(len(x)):
        if x[i] > x[place]:
            place = i
        x[place] = x[place] * 0.5
    return x


def neighbours(x):
    y = jnp.zeros(len(x))
    for i in range(len(x)):
        if i > 0:
            y[i] = x[i - 1]
        else:
            y[i] = 1.0
    return y


def wraps(x):
    for i in range(len(x)):
        x[i] = x[i] + x[i - 1]
    return x


def past_the_end(x):
    for i in range(len(x)):
        x[i + 1] = x[i] + x[i + 2]
    return x


def counts_down_past_zero(x):
    j = jnp.asarray(len(x) - 1)
    while j > -4:
        x[j] = x[j] + 1.0
        j -= 1
    return x


def jumps(x):
    i = jnp.asarray(0)
    while i < len(x):
        x[i] = 2.0 * x[i]
        i = i + jnp.where(x[i] > 0, 2, 1)
    return x


def few_bits(x):
    i = jnp.asarray(250, jnp.uint8)
    for _ in range(12):
        x[i] = x[i] + 1.0
        i = i + jnp.asarray(1, jnp.uint8)
    return x


def few_bits_again_and_again(x):
    y = jnp.concatenate([x] * 14)
    for _ in range(2):
        i = jnp.asarray(120, jnp.int8)
        for k in range(12):
            y[i] = y[i] + k
            i = i + jnp.asarray(1, jnp.int8)
    return y


def both_write_the_place_after(x):
    for i in range(len(x)):
        if i < len(x) - 1:
            x[i + 1] = x[i]
        else:
            x[i + 1] = 2.0 * x[i]
    return x


def both_write_the_place_before(x):
    for i in range(len(x)):
        if i > 0:
            x[i - 1] = x[i]
        else:
            x[i - 1] = 2.0 * x[i]
    return x


def rows_from_themselves(x):
    t = jnp.outer(x, x)
    for i in range(len(x)):
        t[i] = t[i][::-1] * 0.5 + t[i - 1]
    return t


def left_early(x):
    for i in range(len(x)):
        if x[i] < -0.5:
            break
        x[i] = 0.0
    x[i] = 7.0
    return x


def counts_by_a_boolean(x):
    """Which is no index as it is."""
    signed, unsigned = jnp.zeros(2), jnp.zeros(2)
    for i in range(len(x)):
        signed[(x[i] > 0).astype(jnp.int8)] += 1.0
        unsigned[(x[i] > 0).astype(jnp.uint8)] += x[i]
        x[i] = lax.dynamic_slice(x, ((x[i] > 0.5).astype(jnp.int8),), (1,))[0]
    return signed, unsigned, x


def one_of_three(x):
    for i in range(len(x)):
        x[i] = lax.select_n((x[i] > 0).astype(jnp.int32), x[i], 2 * x[i], 3 * x[i])
    return x


# A write that is checked compares the last place with its index, in 32 bits, and may put the old element back.
CHECKED = re.compile(r"%constant[.\d]* = s32\[\] constant\(8\)")
IN_BOUNDS = [running_sum, backwards, table, insertion, place_of_largest]
PROGRAMS = [*IN_BOUNDS, neighbours, wraps, past_the_end, counts_down_past_zero, jumps, few_bits, left_early]
PROGRAMS += [few_bits_again_and_again, both_write_the_place_before, both_write_the_place_after, rows_from_themselves]
PROGRAMS += [counts_by_a_boolean, one_of_three]


def uncompiled(function, *args):
    """What it gives where lax runs each turn by itself, and nothing is known of an index."""
    with jax.disable_jit():
        return function(*args)


def text(function, *args):
    return jax.jit(function).lower(*args).compile().as_text()


@pytest.mark.parametrize("program", PROGRAMS)
def test_results_are_the_same(program):
    function = ag.autograph(program)
    jax.tree.map(np.testing.assert_array_equal, jax.jit(function)(X), uncompiled(function, jnp.asarray(X)))


@pytest.mark.parametrize("program", PROGRAMS)
def test_lanes_are_the_same(program):
    function, lanes = ag.autograph(program), jnp.stack([X, -X, X[::-1]])
    expected = jax.tree.map(lambda *each: np.stack(each), *(uncompiled(function, lane) for lane in lanes))
    jax.tree.map(np.testing.assert_array_equal, jax.jit(jax.vmap(function))(lanes), expected)


@pytest.mark.parametrize("program", IN_BOUNDS[:4])
def test_what_is_known_is_not_checked(program):
    compiled = text(ag.autograph(program), X)
    assert not CHECKED.search(compiled)
    assert "dynamic-update-slice" in compiled


def in_its_first_column(x):
    t = jnp.zeros((len(x), len(x)))
    for i in range(len(x)):
        t[i, 0] = x[i] * i
    return t


@needs_cpu
@pytest.mark.parametrize("program", [*IN_BOUNDS[:4], in_its_first_column])
def test_an_index_in_bounds_is_not_converted(program):
    """JAX's indices have 32 bits, a loop's counter has 64: in each turn LLVM would convert it."""
    compiled = text(ag.autograph(program), X)
    assert not re.search(r"s32\[\](\{.*?\})? convert", compiled)


@needs_cpu
@pytest.mark.parametrize("program", [past_the_end, counts_down_past_zero, few_bits])
def test_what_is_not_known_is_checked(program):
    assert CHECKED.search(text(ag.autograph(program), X))


@pytest.mark.parametrize("seed", range(40))
def test_random_indices(seed):
    random = np.random.default_rng(seed)
    start, stop, step = random.integers(-3, 6), random.integers(-3, 14), random.choice([-3, -1, 1, 2])
    a, b, c, d = random.integers(-2, 3, size=4)
    least, most = random.integers(-4, 4), random.integers(0, 12)

    @ag.autograph
    def program(x, y):
        for i in range(start, stop, step):
            x[a * i + b] = y[c * i + d] + 1.0
            j = jnp.asarray(i)
            while j >= least and j < most and y[j] < 5.0:
                y[j + b] = x[j + d] * 0.5 + y[j]
                j = j + a
                if a == 0:
                    break
        return x, y

    given = jnp.asarray(X), jnp.asarray(X[::-1])
    for ours, expected in zip(jax.jit(program)(*given), uncompiled(program, *given), strict=True):
        np.testing.assert_array_equal(ours, expected)


def first_order(x):
    y = jnp.zeros(len(x)) + x[0] * 0
    for i in range(1, len(x)):
        y[i] = y[i - 1] * 0.5 + x[i]
    return y


def test_types_that_say_how_arrays_are_split():
    mesh = jax.make_mesh((1,), ("lanes",), axis_types=(jax.sharding.AxisType.Explicit,))
    lanes = jax.device_put(np.stack([X, 2 * X]), jax.NamedSharding(mesh, jax.P("lanes")))
    ours, theirs = (jax.jit(jax.vmap(ag.autograph(first_order, optimize=o)))(lanes) for o in (True, False))
    np.testing.assert_allclose(ours, theirs, rtol=1e-12)


def ranges_of(function, *known):
    """The ranges of what a function gives, of those of its arguments."""
    closed = jax.make_jaxpr(function)(*[jnp.int64(0)] * len(known))
    return ranges.of_jaxpr(closed, known)


ARITHMETIC = {
    "a sum": (lambda i, j: i + 2 * j, ((0, 9), (1, 4)), (2, 17)),
    "a difference": (lambda i, j: i - j, ((0, 9), (1, 4)), (-4, 8)),
    "a product": (lambda i, j: i * j, ((-2, 3), (-5, 4)), (-15, 12)),
    "a remainder": (lambda i: lax.rem(i, 4), ((-9, 9),), (-3, 3)),
    "a remainder of what is not negative": (lambda i: lax.rem(i, 4), ((0, 2),), (0, 2)),
    "the smaller": (lambda i, j: jnp.minimum(i, j), ((0, 9), (1, 4)), (0, 4)),
    "a negative index": (lambda i: jnp.where(i < 0, i + 10, i), ((0, 9),), (0, 9)),
    "a choice": (lambda i: jnp.where(i < 5, 1, 7), ((0, 9),), (1, 7)),
    "both hold": (lambda i: (i >= 0) & (i < 10), ((0, 9),), (1, 1)),
    "one does not": (lambda i: (i >= 0) & (i > 10), ((0, 9),), (0, 0)),
    "an overflow": (lambda i: i * i, ((0, 2**40),), None),
    "fewer bits": (lambda i: i.astype(jnp.int8), ((0, 200),), None),
    "something else": (lambda i: lax.population_count(i), ((0, 9),), None),
}


@pytest.mark.parametrize("name", ARITHMETIC)
def test_ranges(name):
    function, known, expected = ARITHMETIC[name]
    assert ranges_of(function, *known) == (expected,)


def guarded(cond, body, *known):
    closed = jax.make_jaxpr(lambda *carry: lax.while_loop(lambda c: cond(*c), lambda c: body(*c), carry))(
        *[jnp.int64(0)] * len(known)
    )
    (loop,) = [equation for equation in closed.jaxpr.eqns if equation.primitive.name == "while"]
    return guards.in_while(loop.params, known)


def test_a_loop_that_counts_down():
    left, inside = guarded(lambda j: j >= 0, lambda j: (j - 1,), (3, 8))
    assert (left, inside) == (((-1, 8),), ((0, 8),))


def test_a_loop_that_nothing_bounds():
    left, inside = guarded(lambda j: j % 7 != 3, lambda j: (j - 1,), (3, 8))
    assert (left, inside) == ((None,), (None,))  # it may even overflow


def test_what_is_carried_beside_a_counter():
    left, inside = guarded(lambda i, best: i < 9, lambda i, best: (i + 1, jnp.where(i % 2 == 0, i, best)), (0, 0), (0, 0))
    assert (left, inside) == (((0, 9), (0, 8)), ((0, 8), (0, 8)))
