"""A range with traced bounds answers as Python's does."""

import itertools

import jax
import pytest

import autograph_jax as ag
from autograph_jax.operators.sequences.iterables import Range

RANGES = [(0, 0, 1), (0, 1, 1), (0, 5, 1), (2, 9, 3), (5, 0, -1), (7, -4, -2), (3, 3, -1)]
BOUNDS = [None, 0, 1, 3, 9, -1, -2, -9]


@pytest.mark.parametrize("bounds", RANGES)
def test_slices(bounds):
    ours, python = Range(*bounds), range(*bounds)
    for start, stop, step in itertools.product(BOUNDS, BOUNDS, (None, 1, 2, -1, -3)):
        assert list(ours[start:stop:step]) == list(python[start:stop:step])


@pytest.mark.parametrize("bounds", RANGES)
def test_elements(bounds):
    python = range(*bounds)
    for value in (*range(-6, 11), 2.0, 2.5, True, "a"):
        assert bool(Range(*bounds).contains(value)) == (value in python)
        if value in python:
            assert Range(*bounds).index(value) == python.index(value)
            assert Range(*bounds).count(value) == 1
    for index in range(-len(python), len(python)):
        assert Range(*bounds)[index] == python[index]


@pytest.mark.parametrize("bounds", RANGES)
def test_sums(bounds):
    sums = ag.jit(lambda start, stop: (sum(range(start, stop, bounds[2])), sum(range(start, stop, bounds[2]), start=7)))
    python = range(*bounds)
    assert sums(*bounds[:2]) == (sum(python), 7 + sum(python))


@pytest.mark.parametrize("first, second", list(itertools.product(RANGES, RANGES)))
def test_equality(first, second):
    assert bool(Range(*first).equals(Range(*second))) == (range(*first) == range(*second))
    assert bool(Range(*first).equals(range(*second))) == (range(*first) == range(*second))


def test_what_needs_the_number_of_elements_is_refused():
    for use in (lambda r: [*r], lambda r: r[:: r[1]], lambda r: r.count(jax.numpy.ones(2))):
        with pytest.raises(ag.StagingError):
            ag.jit(lambda n, use=use: use(range(n)))(3)
    assert "only known at run time" in ag.jit(lambda n: repr(range(n)))(3)
    assert repr(Range(0, 3, 1)) == "range(0, 3)"
