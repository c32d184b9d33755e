"""dtypes as NumPy has them: of functions of small integers and floats, of integers' powers, beside Python numbers."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import autograph_jax as ag

VALUES: dict[str, list[float | complex]] = {
    "bool": [True, False, True],
    "int8": [-3, 2, 100],
    "uint8": [3, 0, 200],
    "int32": [-7, 2, 2**30],
    "int64": [-7, 2, 3],
    "float32": [-1.5, 2, 0.25],
    "float64": [-1.5, 2, 3],
    "complex64": [1j, 2, 0],
}

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "sum as int8": lambda a: np.sum(a, dtype=np.int8) if a.dtype.kind in "biu" else a,
    "Python's sum": sum,
    "element as a Python number": lambda a: a[1].item() + np.full(2, 7, np.int8),
    "elements as Python numbers": lambda a: a.tolist()[1] * np.full(2, 7, np.int8),
    "array of it and a Python number": lambda a: (np.array([a[0], 1]), np.array([a[0], 1.5])),
    "appended": lambda a: (np.append(a, 3), np.append(a, 2.5), np.hstack([a, 3])),
    "outer product with a Python number": lambda a: (np.multiply.outer(a, 3), np.outer(a, 2.5)),
    "sinc": np.sinc,
    "linspace": lambda a: np.linspace(a[0].real, a[1].real, 4),
    "gradient": lambda a: np.gradient(a) if a.dtype != bool else a,
    "cov": np.cov,
    "places": lambda a: (np.searchsorted(np.sort(a.real), 2), np.digitize(a.real, [0, 1, 2])),
    "histogram": lambda a: np.histogram(a.real, bins=3)[0] if a.dtype != bool else a,
    "angle": np.angle,
    "powers of it": lambda a: (a**2, a**3, a**0),
}


def same(got: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(got, expected, strict=True):
            same(one, other)
        return
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.dtype == expected.dtype
    tolerance = {"float32": 1e-5, "complex64": 1e-5, "float16": 5e-3}.get(expected.dtype.name, 1e-12)
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=1e-14 if tolerance < 1e-6 else 1e-6)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str, x64: None):
    """Of an array of each dtype, all in one program."""
    arrays = [np.array(values, dtype) for dtype, values in VALUES.items()]

    def every(*arrays):
        return [FUNCTIONS[name](array) for array in arrays]

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for got, expected in zip(ag.jit(ag.port(every))(*arrays), every(*arrays), strict=True):
            same(got, expected)


@pytest.mark.parametrize("base", ["int8", "uint8", "int32", "int64"])
def test_integer_powers(base: str, x64: None):
    """By all bits of the exponent: jax.numpy goes by the last six."""
    numbers, exponents = np.array([0, 2, 3, 1], base), np.array([64, 65, 200, 70])
    with np.errstate(all="ignore"):
        same(ag.jit(ag.port(lambda a, b: a**b))(numbers, exponents), numbers**exponents)


def test_negative_integer_powers(x64: None):
    power = ag.jit(ag.port(lambda a, b: a**b))
    assert power(np.array([2, 3]), np.array([1, 2])).tolist() == [2, 9]
    with pytest.raises(ValueError, match="negative integer powers"):
        power(np.array([2, 3]), np.array([1, -2]))


def raised_in_place(a, n):
    a **= n
    return a


@pytest.mark.parametrize("power", [lambda a, n: a**n, raised_in_place, lambda a, n: pow(a, n)])
def test_a_whole_number_to_a_negative_power_is_numpys_error(power):
    ported = ag.jit(ag.port(power))
    assert ported(np.int64(3), np.int64(4)) == 81
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        power(np.int64(3), np.int64(-1))
    with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
        ported(np.int64(3), np.int64(-1))
