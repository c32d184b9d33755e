"""Known arrays that branches read: jax.vmap makes no copy of them for each lane, and they are as they were."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
TABLE = np.linspace(0.5, 1.5, 40)
COUNTS = np.arange(40)


def in_a_branch(x):
    y = x
    if x > 0.5:
        y = jnp.asarray(TABLE)[jnp.int32(x * 3)] * x
    return y


def in_a_loop_in_a_branch(x):
    y, i = x, 0
    if x > 0.5:
        while y < 10.0:
            y = y + jnp.asarray(TABLE)[i % len(TABLE)] * x
            i += jnp.asarray(COUNTS)[i % 40] + 1
    return y


def handed_out(x):
    table = TABLE * 2
    if x > 0.5:
        table = TABLE
    return (table * x).sum()


FUNCTIONS = [in_a_branch, in_a_loop_in_a_branch, handed_out]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_values_and_derivatives(function):
    x = np.linspace(0.0, 2.0, 600)
    want = np.array([function(v) for v in x])
    converted = ag.autograph(function)
    np.testing.assert_allclose(jax.jit(jax.vmap(converted))(x), want, rtol=1e-13)
    slopes = [jax.jit(jax.vmap(d(converted)))(x) for d in (jax.jacfwd, jax.grad if function is in_a_branch else jax.jacfwd)]
    np.testing.assert_allclose(*slopes, rtol=1e-13)
    near = np.array([(function(v + 1e-6) - function(v - 1e-6)) / 2e-6 for v in x])
    assert (abs(slopes[0] - near) < 1e-5).mean() > 0.98  # but where a branch begins


@pytest.mark.parametrize("function", FUNCTIONS[:2])
def test_lanes_have_no_copies(function):
    text = jax.jit(jax.vmap(ag.autograph(function))).lower(np.linspace(0.0, 2.0, 600)).as_text()
    assert "tensor<600xf64>" in text and "tensor<600x40x" not in text
