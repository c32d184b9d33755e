"""Python's math raises where jax.numpy gives nan or inf: a handler for it runs, in JAX code and in ported code."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")


def root(x):
    try:
        return math.sqrt(x)
    except ValueError:
        return -1.0


def exponential(x):
    try:
        y = math.exp(x)
    except OverflowError:
        y = 7.0
    return y


def logarithm_of_a_callee(x):
    def log(x):
        return math.log(x - 1.0)

    try:
        return log(x)
    except (ValueError, OverflowError) as error:
        assert str(error)
        return -3.0


def in_a_loop(x):
    total = 0.0
    for i in range(4):
        try:
            total += math.log2(x - i)
        except ValueError:
            total -= 1.0
    return total


def angle(x):
    try:
        y = math.acos(x)
    except Exception:
        y = 0.0
    return y


def with_a_cleanup(x):
    vs = [x]
    try:
        try:
            vs[0] = math.sqrt(x)
        finally:
            vs[0] = vs[0] + 1.0
    except ValueError:
        vs[0] = vs[0] * 2.0
    return vs[0]


def nothing_to_handle(x):
    return math.atan2(x, 0.0) + math.floor(x)


FUNCTIONS = [root, exponential, logarithm_of_a_callee, in_a_loop, angle, with_a_cleanup, nothing_to_handle]
VALUES = [-1.0, 0.0, 0.5, 1.0, 2.5, 1000.0]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("transform", [ag.jit, lambda f: jax.jit(ag.autograph(f)), lambda f: jax.jit(ag.port(f))])
def test_the_handler_runs_where_python_would_run_it(function, transform):
    compiled = transform(function)
    for value in VALUES:
        assert compiled(value) == pytest.approx(function(value), rel=1e-12), value


def test_lanes_of_their_own_and_their_slopes():
    xs = jnp.asarray(VALUES)
    np.testing.assert_allclose(jax.vmap(ag.autograph(root))(xs), [root(x) for x in VALUES], rtol=1e-12)
    slopes = jax.vmap(jax.grad(ag.autograph(root)))(jnp.array([-1.0, 4.0]))
    np.testing.assert_allclose(slopes, [0.0, 0.25])


def only_a_cleanup(x):
    vs = [x]
    try:
        y = math.sqrt(x)
    finally:
        vs[0] = vs[0] + 1.0
    return y, vs


def test_without_a_handler_it_is_nan_or_inf():
    assert math.isnan(ag.jit(only_a_cleanup)(-1.0)[0]) and ag.jit(only_a_cleanup)(4.0) == (2.0, [5.0])
    assert math.isnan(ag.jit(lambda x: math.sqrt(x))(-1.0)) and math.isinf(ag.jit(lambda x: math.exp(x))(1000.0))
    assert "callback" not in str(jax.make_jaxpr(ag.autograph(lambda x: math.sqrt(x)))(2.0))
