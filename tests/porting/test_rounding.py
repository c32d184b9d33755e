"""`round(x, digits)` of floats: Python's of Python's, and NumPy's of NumPy's, to the bit."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.porting import rounding

SPECIAL = [1.15, 2.3, 2.675, 0.35, 0.5, 1.5, 2.5, -0.04, 0.0, -0.0, 1e300, -1e22, 123456.5, 1e-300, 15, 25, -35, 1250, 1350]
random = np.random.default_rng(0)
LARGE = np.exp(random.uniform(0, 60, 3000)) * random.choice([-1, 1], 3000)
SMALL = [random.uniform(-10, 10, 500), random.uniform(-10, 10, 500).round(3), np.arange(-300, 300) / 40]
VALUES = np.concatenate([*SMALL, np.array(SPECIAL, float), LARGE])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("digits", [1, 2, 3, 5, 8, 11, 15, -1, -2, -3])
def test_doubles_are_rounded_as_python_and_as_numpy_do_it(digits):
    for lanes in (lambda f: f, jax.vmap):
        found = jax.jit(lanes(lambda x: rounding.to_digits(x, digits)))(VALUES)
        if digits <= 11:
            assert np.asarray(found).tobytes() == np.array([round(float(x), digits) for x in VALUES]).tobytes()
        found = jax.jit(lanes(lambda x: rounding.by_scaling(x, digits)))(VALUES)
        with np.errstate(over="ignore"):
            expected = np.round(VALUES, digits)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("digits", [1, 2, 3, 5, -1, -2])
def test_floats_of_32_bits(digits):
    values = VALUES[np.abs(VALUES) < 1e30].astype(np.float32)
    found = jax.jit(lambda x: rounding.to_digits(x, digits))(values)
    expected = np.array([round(float(x), digits) for x in values], np.float32)
    assert np.asarray(found).tobytes() == expected.tobytes()


@pytest.mark.usefixtures("x64")
def test_more_digits_than_there_are():
    for x in (np.float32(2.3), np.float64(-2.3), np.float64(0.0)):
        for digits in (39, 309, -39, -309):
            found = jax.jit(functools.partial(rounding.to_digits, digits=digits))(x)
            assert np.asarray(found).tobytes() == (x if digits > 0 else np.copysign(x.dtype.type(0), x)).tobytes()


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("digits", [12, 15, 40])
def test_what_has_no_such_digits_stays(digits):
    values = np.array([1e300, -1e22, 12345.678, -99999.1])
    assert np.asarray(jax.jit(lambda x: rounding.to_digits(x, digits))(values)).tobytes() == values.tobytes()


def test_what_is_no_number_stays():
    for digits in (1, 7, -2):
        found = jax.jit(lambda x: rounding.to_digits(x, digits))(np.array([np.inf, -np.inf, np.nan], np.float32))  # noqa: B023
        np.testing.assert_array_equal(found, np.array([np.inf, -np.inf, np.nan], np.float32))


@pytest.mark.usefixtures("x64")
def test_whose_number_it_is_decides():
    def rounded(x):
        return round(x, 1)

    assert ag.jit(rounded)(1.15) == round(1.15, 1) == 1.1  # 1.149999...
    assert ag.jit(rounded)(2.3) == ag.jit(lambda x: round(x, np.int64(1)))(2.3) == 2.3
    assert jax.jit(ag.port(rounded))(np.float64(1.15)) == round(np.float64(1.15), 1)
    assert jax.jit(ag.port(lambda x: np.round(x, 1)))(np.array([2.3])) == np.round(2.3, 1)
    assert ag.jit(rounded)(jnp.float64(2.5)) == round(jnp.float64(2.5), 1)
    assert jax.grad(ag.autograph(lambda x: round(x, 1) * x))(1.17) == 1.2
