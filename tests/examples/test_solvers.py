"""Gradients through the demo's adaptive solver, against forward mode and differences; a network that is trained through it."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from jax.flatten_util import ravel_pytree

from autograph_jax.cli.dormand_prince import solve
from autograph_jax.cli.lotka_volterra import GUESS, PELTS, YEARS, populations
from tests.examples.test_custom_rules import example

pytestmark = pytest.mark.usefixtures("x64")


def cost(parameters):
    """What the demo's fit makes small: half the sum of squares of its residuals."""
    solution = populations(parameters, jnp.asarray(YEARS - YEARS[0]))
    return 0.5 * jnp.sum((jnp.log(solution.states) - jnp.log(jnp.asarray(PELTS))) ** 2)


def test_reverse_mode_is_forward_mode():
    guess = jnp.log(jnp.asarray(GUESS))
    forward, reverse = jax.jit(jax.jacfwd(cost))(guess), jax.jit(jax.grad(cost))(guess)
    assert np.linalg.norm(reverse - forward) <= 1e-9 * np.linalg.norm(forward)
    np.testing.assert_allclose(reverse, forward, rtol=1e-9)


def test_jacobians_agree():
    """All states by all parameters: reverse mode runs one sweep for each of the states."""
    times = jnp.asarray(YEARS - YEARS[0])[:6]
    states = lambda parameters: populations(parameters, times, rtol=1e-5).states
    guess = jnp.log(jnp.asarray(GUESS))
    np.testing.assert_allclose(jax.jit(jax.jacrev(states))(guess), jax.jit(jax.jacfwd(states))(guess), rtol=1e-9, atol=1e-9)


TIMES = jnp.linspace(0.0, 2.0, 9)


def spiral_states(module):
    return solve(module.spiral, TIMES, module.START, rtol=1e-6, atol=1e-6).states


def test_gradient_of_the_neural_ode():
    module = example("neural_ode")
    flat, apart = ravel_pytree(module.new_parameters(jax.random.key(0), width=8))
    states = spiral_states(module)
    loss = jax.jit(lambda flat: module.loss(apart(flat), TIMES, states))
    gradient = jax.jit(jax.grad(loss))(flat)
    for seed in range(3):
        direction = jax.random.normal(jax.random.key(seed), flat.shape)
        step = 1e-6 * direction
        difference = float(loss(flat + step) - loss(flat - step)) / 2e-6
        assert float(gradient @ direction) == pytest.approx(difference, rel=1e-5)


def test_the_neural_ode_learns():
    module = example("neural_ode")
    parameters, states = module.new_parameters(jax.random.key(0)), spiral_states(module)
    assert module.loss(parameters, TIMES, states) > 1
    _, error, steps = module.train(parameters, TIMES, states, optax.adam(0.01), target=0.2, most=200)
    assert error <= 0.2 and 0 < steps < 200
