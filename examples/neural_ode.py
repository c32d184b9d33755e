"""A neural ODE: a network with two layers is the right-hand side, and is trained through an adaptive solver in plain Python.

    python examples/neural_ode.py

The solver is that of the demo, with step sizes, rejected steps and early returns. `jax.grad` runs it in reverse: the
gradient is that of the steps which were taken, to rounding (`odeint.py` integrates an adjoint instead). The training is a
`while` too, and all of it one program. The data is the spiral of Chen et al. (Neural Ordinary Differential Equations, 2018).
"""

import jax
import jax.numpy as jnp
import optax

import autograph_jax as ag
from autograph_jax.cli.dormand_prince import solve

TIMES = jnp.linspace(0.0, 6.0, 25)
START = jnp.array([2.0, 0.0])
TARGET = 1e-3  # mean squared error; the states are between -2 and 2


def spiral(time, state):
    """The flow that made the data: y' = A y^3."""
    return jnp.array([[-0.1, 2.0], [-2.0, -0.1]]) @ state**3


def network(time, state, parameters):
    """The flow that is learned: two layers, tanh between them, on the cubes of the state as in the paper."""
    (weights, bias), (weights_out, bias_out) = parameters
    return weights_out @ jnp.tanh(weights @ state**3 + bias) + bias_out


def new_parameters(key, width=32):
    """Weights and biases of the two layers, with weights so small that the first trajectory stays where it starts."""
    first, second = jax.random.split(key)
    weights, weights_out = 0.3 * jax.random.normal(first, (width, 2)), 0.03 * jax.random.normal(second, (2, width))
    return (weights, jnp.zeros(width)), (weights_out, jnp.zeros(2))


def loss(parameters, times, states, *, length=5, tolerance=1e-4):
    """Mean squared error of trajectories from each state to the next `length - 1`; states (n, 2) at evenly spaced times (n,).

    A whole trajectory at once is hard to learn: it stays at a mean of the data.
    """

    def error(first):
        wanted = jax.lax.dynamic_slice_in_dim(states, first, length)
        found = solve(network, times[:length], wanted[0], (parameters,), rtol=tolerance, atol=tolerance)
        return jnp.mean((found.states - wanted) ** 2)

    return jnp.mean(jax.vmap(error)(jnp.arange(len(times) - length + 1)))


@ag.jit(static_argnames=["optimizer", "most"])
def train(parameters, times, states, optimizer, *, target=TARGET, most=2000):
    """Parameters with a loss of at most `target`, that loss, and the number of steps; or the last ones after `most` steps."""
    state, steps = optimizer.init(parameters), 0
    error, gradient = ag.value_and_grad(loss)(parameters, times, states)
    while error > target and steps < most:
        updates, state = optimizer.update(gradient, state)
        parameters = optax.apply_updates(parameters, updates)
        error, gradient = ag.value_and_grad(loss)(parameters, times, states)
        steps += 1
    return parameters, error, steps


def main() -> None:
    """Train, and compare the trajectories."""
    states = solve(spiral, TIMES, START, rtol=1e-6, atol=1e-6).states
    parameters = new_parameters(jax.random.key(0))
    print(f"loss {loss(parameters, TIMES, states):.3f}")
    parameters, error, steps = train(parameters, TIMES, states, optax.adam(0.01))
    print(f"loss {error:.6f} after {steps} steps (wanted: {TARGET})")
    found = solve(network, TIMES, START, (parameters,), rtol=1e-4, atol=1e-4).states
    for time, here, there in zip(TIMES[::6], states[::6], found[::6], strict=True):
        print(f"t = {time:3.1f}: ({here[0]:6.3f}, {here[1]:6.3f}), learned ({there[0]:6.3f}, {there[1]:6.3f})")


if __name__ == "__main__":
    main()
