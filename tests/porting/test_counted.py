"""`np.arange` of traced integers in ported code: as many numbers as traced data says, up to a bound."""

import jax
import numpy as np
import pytest

import autograph_jax as ag

from .programs import VECTORS, Programs, check_compiled


def to_a_stop(k, x):
    return (x / np.arange(1, k + 1)).sum()


def from_a_start(k, x):
    return (x / (np.arange(k, 6) + 1)).sum()


def by_steps(k, x):
    return (x * np.arange(1, k, 2)).sum() + np.arange(k, 0, -3).sum() + np.arange(k, -2, -1).min()


def powers_in_a_loop(k, x):
    s = 0.0
    for i in range(1, k):
        s += (x ** np.arange(i, 6)).sum() + np.arange(1, i + 1).sum() + np.arange(0, i, 2).sum() + np.arange(i, 0, -1).prod()
    return s


@pytest.mark.parametrize("program", [to_a_stop, from_a_start, by_steps, powers_in_a_loop], ids=lambda f: f.__name__)
@pytest.mark.usefixtures("x64")
def test_integers_up_to_a_bound(program):
    run = jax.jit(ag.port(program, max_len=12))
    for k in (0, 1, 5, 9):
        np.testing.assert_allclose(run(k, 0.5), program(k, 0.5), rtol=1e-12)


@pytest.mark.usefixtures("x64")
def test_a_window_has_its_length():
    """`np.arange(i, i + 3)` is three numbers: an index like any other."""

    @ag.port
    def window(x, i):
        return x[np.arange(i, i + 3)], np.arange(i - 2, i).shape[0], x[np.arange(i, i)].size

    found = jax.jit(window)(np.arange(10.0), 4)
    np.testing.assert_array_equal(found[0], [4.0, 5.0, 6.0])
    assert (int(found[1]), int(found[2])) == (2, 0)


def test_without_a_bound_it_is_refused():
    with pytest.raises(ag.PortingError, match="an array of that length is made"):
        jax.jit(ag.port(to_a_stop))(3, 1.0)


# ------------------------------------------------------------------ one element, at a traced place
MATRIX = np.arange(12.0).reshape(3, 4)


def an_element_less(i, x):
    return np.delete(x, i), np.delete(x, i, axis=1), np.delete(x[0], i), np.delete(x, obj=i, axis=1)


def turned(i, x):
    both = np.roll(x, (i, 1), axis=(0, 1)), np.roll(x, shift=(1, i), axis=(1, 1))
    return np.roll(x, i), np.roll(x, i, axis=1), np.roll(x[1], -i), np.roll(x, shift=i, axis=0), *both


@pytest.mark.parametrize("program", [an_element_less, turned], ids=lambda f: f.__name__)
@pytest.mark.usefixtures("x64")
def test_at_a_traced_place(program):
    for i in (0, 2, -1, 3):
        for found, wanted in zip(jax.jit(ag.port(program))(i, MATRIX), program(i, MATRIX), strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_no_element_there():
    with pytest.raises(IndexError, match="index is out of bounds for axis 0 with size 4"):
        ag.jit(ag.port(lambda i, x: np.delete(x[0], i)))(4, MATRIX)


# ------------------------------------------------------------------ as many as some test holds for
counted_programs = Programs()


@counted_programs
def python_integers_of_counts(x):
    first, second, third = int((x > 1).sum()), int(np.count_nonzero(x)), int(np.sum(x < 0))
    return np.ones(first).sum(), np.arange(second).sum(), np.full(third + 1, 2.0).sum()


@counted_programs
def sum_of_tests_by_python(x):
    return np.ones(sum(x > 1)).sum() + np.zeros(sum(v > 0 for v in x)).size


@counted_programs
def evenly_spaced(x):
    n = int(np.sum(x > 0))
    grid = np.linspace(x[0], 2.0, n)
    open_grid = np.linspace(0, 1, n + 1, endpoint=False)
    return grid.sum(), grid.size, (grid**2).sum(), open_grid.sum(), np.linspace(0.0, 1.0, num=n + 2)[-1]


@counted_programs
def evenly_spaced_with_the_step(x):
    n = int(np.sum(x > 0))
    grid, step = np.linspace(1.0, 3.0, n + 2, retstep=True)
    return grid.sum(), step, grid[1] - grid[0]


@counted_programs
def evenly_spaced_in_a_loop(x):
    total = 0.0
    for k in range(1, 5):
        total += (x[0] * np.linspace(0.0, 1.0, k) ** 2).sum()
    return total


@counted_programs
def one_number_repeated(x):
    n = int(np.sum(x > 0))
    return np.repeat(x[0], n).sum(), np.repeat(x, n).sum(), np.repeat(x, n).size, (np.repeat(x, n) ** 2).sum()


@counted_programs
def rows_repeated(x):
    n = int(np.sum(x > 0))
    m = np.stack([x, x + 1])
    return np.repeat(m, n, axis=0).sum(axis=0), np.repeat(m, n, axis=1).sum(), x.repeat(n).sum()


@counted_programs
def what_is_selected_repeated(x):
    return np.repeat(x[x > 0], 2).sum(), np.repeat(x[x > 0], 3).size, np.repeat(x[x > 0], int((x > 1).sum())).sum()


@pytest.mark.parametrize("name", counted_programs)
@pytest.mark.usefixtures("x64")
def test_as_many_as_a_test_holds_for(name):
    check_compiled(counted_programs[name], VECTORS)


@pytest.mark.usefixtures("x64")
def test_a_negative_number_of_points():
    with pytest.raises(ValueError, match="Number of samples must be non-negative"):
        ag.jit(ag.port(lambda x: np.linspace(0.0, 1.0, int((x > 0).sum()) - 2).sum()))(np.array([-1.0, -2.0]))


def test_none_are_counted_down_from_0():
    empty = ag.port(lambda x: np.arange(int((x > 1).sum()) - 3).size)
    assert [int(jax.jit(empty)(np.array(values))) for values in ([1.0, 2.0], [2.0, 2.0, 2.0, 2.0])] == [0, 1]


def test_an_axis_that_is_not_there():
    with pytest.raises(ValueError, match="axis 1 is out of bounds for array of dimension 1"):
        jax.jit(ag.port(lambda x: np.repeat(x, int((x > 1).sum()), axis=1)))(np.array([1.0, 2.0]))


def test_bounds_by_name():
    @ag.port
    def powers(x):
        n = int((x > 1).sum())
        return (
            np.arange(0, stop=n + 1).sum(),
            np.arange(start=1, stop=n + 3, step=2, dtype=float).sum(),
            np.arange(n, step=1).size,
        )

    for values, n in (([1.0, 2.0, 3.0], 2), ([0.0, 1.0, 1.0], 0), ([5.0, 2.0, 3.0], 3)):
        wanted = np.arange(n + 1).sum(), np.arange(1, n + 3, 2).sum(), n
        assert tuple(map(float, jax.jit(powers)(np.array(values)))) == wanted
