"""`np.arange` of traced integers in ported code: as many numbers as traced data says, up to a bound."""

import jax
import numpy as np
import pytest

import autograph_jax as ag


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
