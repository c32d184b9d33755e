"""Functions that ported code computes with NumPy's rounding: `np.exp`."""

import decimal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.porting.exact import exp


@pytest.fixture(autouse=True)
def double():
    with jax.enable_x64(True):
        yield


@pytest.mark.parametrize("size", [1e-5, 1.0, 20.0, 700.0])
def test_exp_is_rounded_correctly(size):
    x = np.random.default_rng(0).uniform(-size, size, 1000)
    exact = np.array([float(decimal.Decimal(v).exp()) for v in x])
    found = np.asarray(jax.jit(exp)(x))
    assert (found == exact).mean() > 0.98
    assert np.abs(found.view(np.int64) - exact.view(np.int64)).max() <= 1


def test_exp_at_the_ends():
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 709.78, 709.79, 1e300, -700.0, -760.0, -1e300])
    with np.errstate(over="ignore", under="ignore"):
        np.testing.assert_allclose(exp(jnp.asarray(x)), np.exp(x), rtol=3e-16)
    assert jax.grad(jax.grad(exp))(1.0) == exp(jnp.array(1.0))


def test_a_search_takes_as_many_turns_as_with_numpy():
    def turns(a):
        x, count = 0.3, 0
        while True:
            count += 1
            new = x - (np.exp(x) - a) / np.exp(x)
            if abs(new - x) < 1e-13 or count == 40:
                return count
            x = new

    for a in np.random.default_rng(0).uniform(1.2, 4.0, 8):
        assert jax.jit(ag.port(turns))(a) == turns(a)


def products(x, y):
    total = x * y - x
    total *= y
    return total + x**2 - 3 * y


def test_products_are_rounded_before_a_sum():
    x, y = np.random.default_rng(0).uniform(0, 1, (2, 1000))
    want = products(x, y)
    np.testing.assert_array_equal(jax.jit(ag.port(products))(x, y), want)
    np.testing.assert_array_equal(jax.jit(jax.vmap(ag.port(products)))(x, y), want)
    ported = ag.port(products)
    np.testing.assert_allclose(jax.grad(ported)(0.3, 0.7), 0.7 * 0.7 - 0.7 + 0.6, rtol=1e-12)
    np.testing.assert_allclose(jax.jacfwd(jax.grad(ported))(0.3, 0.7), 2.0, rtol=1e-12)
