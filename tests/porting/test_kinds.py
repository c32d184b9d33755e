"""What ported code asks about the kind of a value that traced data has chosen; and numbers taken as truth values."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import Programs

PROGRAMS = program = Programs()


def array_or_none(x):
    return x * 2 if x[0] > 0 else None


def number_or_text(x):
    return x[0] * 2 if x[0] > 0 else "a"


def array_or_list(x):
    value = [1.0, 2.0]
    if x[0] > 0:
        value = x * 2
    return value


def array_or_text(x):
    return x * 2 if x[0] > 0 else "ab"


@program
def is_an_array(x):
    return 1 if isinstance(array_or_none(x), np.ndarray) else 0


@program
def is_an_array_then_used(x):
    value = array_or_none(x)
    return value[1] + 1 if isinstance(value, np.ndarray) else 0.0


@program
def is_no_array(x):
    return not isinstance(array_or_text(x), np.ndarray)


@program
def its_type(x):
    return 1 if type(array_or_none(x)) is np.ndarray else 0


@program
def its_class(x):
    return 1 if array_or_none(x).__class__ is np.ndarray else 0


@program
def class_of_an_array(x):
    return x.__class__ is np.ndarray, x[0].__class__ is np.float64


@program
def is_a_float(x):
    return 1 if isinstance(number_or_text(x), float) else 0


@program
def is_a_number_of_numpys(x):
    return isinstance(number_or_text(x), np.floating)


@program
def its_type_is_a_number_of_numpys(x):
    return 1 if type(number_or_text(x)) is np.float64 else 0


@program
def is_a_subclass(x):
    return 1 if issubclass(type(number_or_text(x)), np.floating) else 0


@program
def name_of_its_type(x):
    return type(array_or_text(x)).__name__ == "ndarray", array_or_none(x).__class__.__name__ == "ndarray"


@program
def has_a_length(x):
    return hasattr(array_or_none(x), "__len__"), hasattr(array_or_none(x), "shape")


@program
def attribute_with_a_default(x):
    return getattr(array_or_none(x), "ndim", 7)


@program
def is_a_scalar(x):
    return np.isscalar(number_or_text(x)), np.isscalar(array_or_text(x))


@program
def can_be_iterated(x):
    return 1 if np.iterable(array_or_list(x)) else 0


@program
def functions_of_an_array_or_a_list(x):
    value = array_or_list(x)
    return np.zeros_like(value), np.sum(value), np.asarray(value) + 1, np.size(value), np.shape(value)


@program
def truth_of_complex_numbers(x):
    z = x * 1j
    return np.any(z), np.all(z), z.any(), z.all(), z[1:].any(), np.logical_and.reduce(z)


@program
def complex_numbers_as_bools(x):
    z, into = x * 1j, np.zeros(2, bool)
    into[:] = z
    return z.astype(bool), np.array(z, dtype=bool), np.asarray(z, bool), into


@program
def cast_to_a_dtype_that_data_chooses(x):
    """As the roots of polynomials are in NumPy 2.5."""
    z = x.astype(complex)
    kind = float if np.all(z.imag == 0.0) and x[0] > 0 else complex
    wider = np.float64 if x[0] > 0 else np.complex128
    return (z.real.astype(kind), x.astype(dtype=wider, copy=False))


@program
def truth_of_selected_complex_numbers(x):
    z = (x * 1j)[x != 0]
    return np.any(z), np.all(z)


def same(got: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            same(one, other)
        return
    assert np.shape(got) == np.shape(expected)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(expected))


@pytest.mark.parametrize("first", [1.5, -1.5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, first: float, x64: None):
    function: Callable[[Any], Any] = PROGRAMS[name]
    x = np.array([first, 2.0])
    same(ag.jit(ag.port(function))(x.copy()), function(x.copy()))


def test_a_known_bool_picks_of_what_is_differentiated(x64: None):
    """jax.numpy takes no `np.bool_` as an index."""

    @ag.port
    def picked(x):
        x = np.asarray(x)
        return x[x > 0][0] * 2

    assert jax.grad(picked)(3.0) == 2.0
