"""Branches with loops over arrays, and turns with loops and reads of one array: as in Python, and no turn copies an array."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export

import autograph_jax as ag
from autograph_jax.loops.optimizations import ALL, ON_CPU_ALONE
from tests.copies import array_copies
from tests.platforms import needs_cpu

pytestmark = pytest.mark.usefixtures("x64")
SIZE = 211
RANDOM = np.random.default_rng(0)
DATA = RANDOM.random(SIZE), RANDOM.random(SIZE)
WAYS = [True, sorted(ALL - ON_CPU_ALONE), False]


def one(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
    return x, y


def the_other(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            y[i] = x[i]
        else:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
    return x, y


def an_array_each(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        else:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
    return x, y


def the_same_array(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * y[i - m]
        else:
            for m in range(i - 1, 0, -1):
                x[m] = 0.3 * x[m] + 0.5
    return x, y


def each_of_the_other(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * y[i - m]
        else:
            for m in range(1, i):
                y[m] += 0.01 * x[i - m]
        x[0] = x[i + 1] * y[i]
    return x, y


def both_arrays(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * y[i - m]
                y[m] = 0.5 * x[m - 1]
        else:
            for m in range(1, i):
                y[m] += 0.01 * x[i - m]
    return x, y


def numbers_too(x, y):
    total, count, last = 0.0, 0, 0.0
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
                total += x[m]
            last = x[i - 1]
        else:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
            count += i
    y[0] = total + count + last
    return x, y


def of_three(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.7:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        elif x[i] > 0.3:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
        else:
            for m in range(1, i):
                x[m] = 0.5 * x[m] + 0.2
    return x, y


def one_after_the_other(x, y):
    for i in range(2, len(x) - 2):
        is_large = x[i] > 0.5
        if is_large:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        if not is_large:
            for m in range(1, i):
                y[m] += 0.01 * y[i - m]
    return x, y


def by_while(x, y):
    for i in range(2, len(x) - 2):
        m = i
        if x[i] > 0.5:
            while m > 0 and x[m - 1] > x[m]:
                x[m - 1], x[m] = x[m], x[m - 1]
                m = m - 1
        else:
            while m > 0 and y[m - 1] < y[m]:
                y[m - 1], y[m] = y[m], y[m - 1]
                m = m - 1
    return x, y


def read_before_and_used_after(x, y):
    for i in range(2, len(x) - 2):
        twice = 2 * x[i]
        other = 3 * x[i]
        for m in range(1, i):
            x[m] += 0.001 * twice
        y[i] = other
    return x, y


def read_for_two_loops(x, y):
    for i in range(2, len(x) - 2):
        first, second = 0.1 * x[i], 0.01 * x[i]
        for m in range(1, i):
            x[m] += 0.01 * first
        for m in range(1, i):
            y[m] += second * x[i - m]
    return x, y


def read_for_a_branch(x, y):
    total = 0.0
    for i in range(2, len(x) - 2):
        first, second = 0.2 * x[i], 0.3 * x[i]
        for m in range(1, i):
            x[m] += 0.01 * first
        if second > 0.1:
            for m in range(1, i):
                x[m] += 0.01 * second * x[i - m]
        total += second
        x[i] = x[i] / (1 + abs(second))
    x[0] = total
    return x, y


def a_loop_or_a_write(x, y):
    for i in range(2, len(x) - 2):
        is_large = x[i] > 0.5
        if is_large:
            for m in range(1, i):
                x[m] += 0.01
        else:
            x[i] = 0.3
        if is_large and y[i] > 0.3:
            for m in range(1, i):
                y[m] += 0.01 * x[i - m]
        x[i - 1] = y[i]
    return x, y


def beside_what_is_no_kernel(x, y):
    for i in range(2, len(x) - 2):
        if x[i] > 0.5:
            for m in range(1, i):
                x[m] += 0.01 * x[i - m]
        y[3] = np.sort(y[:2000])[5]
    return x, y


PROGRAMS = [
    one, the_other, an_array_each, the_same_array, each_of_the_other, both_arrays, numbers_too, of_three,
    one_after_the_other, by_while, read_before_and_used_after, read_for_two_loops, read_for_a_branch, a_loop_or_a_write,
]  # fmt: skip
# What two branches save for their derivatives, where it differs, is carried out of them; what is read between loops, too.
COPIED_IN_REVERSE = [the_same_array, read_for_a_branch, a_loop_or_a_write]


copies = functools.partial(array_copies, size=SIZE)


@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_numpy(program, optimize):
    converted = ag.jit(ag.autograph(program, optimize=optimize))
    expected = program(*(array.copy() for array in DATA))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), converted(*map(jnp.asarray, DATA)), expected)


@needs_cpu
@pytest.mark.parametrize("optimize", WAYS, ids=["all", "everywhere", "none"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_no_turn_copies_an_array(program, optimize):
    assert copies(ag.jit(ag.autograph(program, optimize=optimize)), *map(jnp.asarray, DATA)) == []


@needs_cpu
def test_a_kernel_in_a_branch():
    """Of a loop that is not one itself."""
    array = jnp.asarray(np.random.default_rng(1).random(2 * SIZE + 2000))
    program = ag.jit(beside_what_is_no_kernel)
    assert copies(program, array, array, size=array.size) == []
    expected = beside_what_is_no_kernel(np.array(array), np.array(array))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), program(array, array), expected)


def loss(function):
    weights = np.linspace(-1, 1, SIZE)
    return lambda x, y: sum(jnp.sum(weights * out**2) for out in function(x, y))


@needs_cpu
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_derivatives(program):
    """The derivative along some direction is that of small differences; no copy in reverse, either."""
    gradient = jax.jit(jax.grad(loss(ag.autograph(program)), (0, 1)))
    assert program in COPIED_IN_REVERSE or copies(gradient, *map(jnp.asarray, DATA)) == []
    directions, step = np.random.default_rng(1).normal(size=(2, SIZE)), 1e-7

    def value(sign):
        return float(loss(program)(*(a + sign * step * d for a, d in zip(DATA, directions, strict=True))))

    found = sum(float(jnp.sum(g * d)) for g, d in zip(gradient(*map(jnp.asarray, DATA)), directions, strict=True))
    np.testing.assert_allclose(found, (value(1) - value(-1)) / (2 * step), rtol=1e-4, atol=1e-5)


@needs_cpu
def test_nothing_is_kept_of_an_array_that_the_derivative_does_not_read():
    """The loop in the branch is linear in its array: for each turn of the outer one its number of turns is kept."""
    gradient = jax.jit(jax.grad(loss(ag.autograph(the_other)), (0, 1)))
    size = gradient.lower(*map(jnp.asarray, DATA)).compile().memory_analysis().temp_size_in_bytes
    assert size < SIZE * SIZE * 8 / 2


def test_what_is_seen_elsewhere_keeps_its_order(capfd):
    """A reference is read after it has been written, and what is printed between loops is, too."""

    def kept(x, y):
        seen, total = jax.new_ref(jnp.zeros(())), 0.0
        for i in range(2, 5):
            k = x[i]
            for j in range(i):
                x[j] += 0.1
            seen[...] = x[0]
            total += seen[...]
            y[i] = k
        return total

    def told(x, y):
        for i in range(2, 4):
            k = x[i]
            for j in range(i):
                x[j] += 0.1 * k
            print("first", x[0])
            print("second", i)
            y[i] = k
        return x

    np.testing.assert_allclose(ag.jit(kept)(jnp.zeros(7), jnp.zeros(7)), 0.6, rtol=1e-12)
    jax.block_until_ready(ag.jit(told)(jnp.ones(7), jnp.ones(7)))
    assert [line.split()[0] for line in capfd.readouterr().out.splitlines()] == ["first", "second"] * 2


@pytest.mark.parametrize("transform", [lambda f: f, jax.vmap], ids=["alone", "lanes"])
def test_nothing_comes_of_a_path_that_is_not_taken(transform):
    """A loop whose result is not used there has an infinite derivative."""

    def total(x):
        total = 0.0
        for i in range(3):
            r = x[i]
            for _ in range(i + 1):
                r = jnp.sqrt(r)
            if x[i] > 0:
                total += r
        return total

    found = jax.jit(transform(jax.grad(ag.autograph(total))))(jnp.zeros((3,) if transform is not jax.vmap else (2, 3)))
    np.testing.assert_array_equal(found, np.zeros(found.shape))


def test_lengths_that_are_symbols():
    def run(x, y, m):
        for i in range(m):
            k = x[i]
            for j in range(i):
                x[j] = x[j] * x[i - j]
            y[i] = k
        return x, y

    (n,) = export.symbolic_shape("n", constraints=("n<=1000",))
    given = [jax.ShapeDtypeStruct(shape, dtype) for shape, dtype in (((n,), float), ((n,), float), ((), int))]
    exported = export.export(jax.jit(ag.autograph(run)))(*given)
    values = np.linspace(0.5, 1.5, 9)
    expected = run(values.copy(), values.copy(), 9)
    found = exported.call(jnp.asarray(values), jnp.asarray(values), 9)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12), tuple(found), expected)


def test_lengths_that_are_symbols_in_a_comprehension():
    """What it has yet to take is compared with views of what is written."""

    def run(x, y):
        def first(v):
            v[:2][0] += 1.0
            row = v[1:]
            row[0] = v[0]
            return row.sum()

        return [first(v * 1.0) for v in (x, y)]

    (n,) = export.symbolic_shape("n")
    exported = export.export(jax.jit(ag.autograph(run)))(*[jax.ShapeDtypeStruct((n,), float)] * 2)
    values = np.linspace(0.5, 1.5, 9)
    found = exported.call(jnp.asarray(values), jnp.asarray(2.0 * values))
    np.testing.assert_allclose(found, run(values.copy(), 2.0 * values), rtol=1e-12)


def test_a_constant_that_a_loop_begins_with():
    constant = jnp.arange(7.0)

    def run(x):
        for i in range(2, 7):
            z = constant
            k = z[i] + x[i]
            for j in range(i):
                z = z.at[j].add(x[j])
            x[i] = k + z[0]
        return x

    expected = ag.jit(run)(jnp.ones(7))
    flag = "jax_use_simplified_jaxpr_constants"
    before = jax.config.values[flag]
    try:
        jax.config.update(flag, True)
        np.testing.assert_allclose(ag.jit(lambda x: run(x))(jnp.ones(7)), expected)
    finally:
        jax.config.update(flag, before)
