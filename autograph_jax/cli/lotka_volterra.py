"""Hares and lynxes: a model and a least-squares fit in plain Python, staged by `@autograph`.

The subject of `autograph-jax demo`, with the solver of dormand_prince.py. Nothing in either knows about `lax`: loops,
branches, early returns and `x[i] = y` are Python's. Called with plain arrays the functions run eagerly; under `jax.jit`,
`jax.jacfwd` and `jax.vmap` they become one program.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax import autograph
from autograph_jax.cli.dormand_prince import Solution, solve

# Pelts delivered to the Hudson's Bay Company, in thousands, 1900 to 1920: hare, lynx.
# As printed in Carpenter, "Predator-Prey Population Dynamics", Stan case studies 5 (2018).
YEARS = np.arange(1900.0, 1921.0)
HARE = (
    30.0, 47.2, 70.2, 77.4, 36.3, 20.6, 18.1, 21.4, 22.0, 25.4, 27.1,
    40.3, 57.0, 76.6, 52.3, 19.5, 11.2, 7.6, 14.6, 16.2, 24.7,
)  # fmt: skip
LYNX = (
    4.0, 6.1, 9.8, 35.2, 59.4, 41.7, 19.0, 13.0, 8.3, 9.1, 7.4,
    8.0, 12.3, 19.5, 45.7, 51.1, 29.7, 15.8, 9.7, 10.1, 8.6,
)  # fmt: skip
PELTS = np.stack([HARE, LYNX], axis=1)

# Rates per year, or per year and thousand animals; populations in thousands.
PARAMETER_NAMES = ("alpha", "beta", "gamma", "delta", "hare 1900", "lynx 1900")
PARAMETER_UNITS = ("/yr", "/yr/k", "/yr", "/yr/k", "k", "k")

# A first guess by eye. Peaks are 10 years apart, and small orbits take 2 pi / sqrt(alpha gamma) years;
# they circle the equilibrium (gamma / delta, alpha / beta), which is near the means, 34 and 20.
GUESS = (0.63, 0.63 / 20.0, 0.63, 0.63 / 34.0, 30.0, 4.0)


def lotka_volterra(time: jax.Array, state: jax.Array, alpha: Any, beta: Any, gamma: Any, delta: Any) -> jax.Array:
    """Growth of prey and predators, shape (2,), in thousands per year.

    Args:
        time: years; not used, the model is autonomous.
        state: hares and lynxes, shape (2,), in thousands.
        alpha: birth rate of hares, 1 / year.
        beta: hares lost per hare and thousand lynxes, 1 / (year thousand).
        gamma: death rate of lynxes, 1 / year.
        delta: lynxes born per lynx and thousand hares, 1 / (year thousand).
    """
    hare, lynx = state
    return jnp.array([(alpha - beta * lynx) * hare, (delta * hare - gamma) * lynx])


class Fit(NamedTuple):
    """What `levenberg_marquardt` found: parameters (p,); half the sum of squares; did it settle; turns."""

    parameters: jax.Array
    cost: jax.Array
    converged: Any
    iterations: Any


@autograph
def levenberg_marquardt(
    residuals: Callable[[jax.Array], jax.Array],
    start: jax.Array,
    *,
    tolerance: float = 1e-6,
    max_iterations: int = 30,
) -> Fit:
    """Minimise half the sum of squares of residuals(parameters).

    Args:
        residuals: takes parameters, shape (p,), and gives residuals, shape (r,), dimensionless.
        start: first parameters, float, shape (p,).
        tolerance: settled when the largest component of the gradient, or the length of the last change
            relative to the parameters, is below this.
        max_iterations: give up after this many changes, rejected ones included.

    Source: Marquardt, SIAM J. Appl. Math. 11 (1963) 431, with his scaling by the diagonal.
    """
    parameters, damping = start, 1.0
    residual = residuals(parameters)
    cost = 0.5 * residual @ residual
    jacobian = jax.jacfwd(residuals)(parameters)
    converged, iterations = False, 0
    while not converged and iterations < max_iterations:
        gradient = jacobian.T @ residual
        curvature = jacobian.T @ jacobian
        damped = curvature + damping * jnp.diag(jnp.diag(curvature))
        change = -jnp.linalg.solve(damped, gradient)
        new_residual = residuals(parameters + change)
        new_cost = 0.5 * new_residual @ new_residual
        iterations += 1
        # Infinite or NaN where the model could not be solved: then this is false, and the change is rejected.
        if new_cost < cost:
            parameters, residual, cost = parameters + change, new_residual, new_cost
            jacobian = jax.jacfwd(residuals)(parameters)
            damping = damping / 10.0
        else:
            damping = damping * 10.0
        shift = jnp.linalg.norm(change) / jnp.linalg.norm(parameters)
        converged = jnp.max(jnp.abs(gradient)) < tolerance or shift < tolerance
    return Fit(parameters, cost, converged, iterations)


@autograph
def fit(
    start: jax.Array,
    times: jax.Array,
    pelts: jax.Array,
    *,
    rtol: float = 1e-8,
    tolerance: float = 1e-6,
    max_iterations: int = 30,
) -> Fit:
    """Fit the model to pelt counts: four rates and two first populations, by logarithms.

    Both unknowns and residuals are logarithms, as all are positive and errors of counts are relative
    (Carpenter 2018). The model is differentiated through the solver.

    Args:
        start: logarithms of `PARAMETER_NAMES` in `PARAMETER_UNITS`, shape (6,).
        times: years, increasing, shape (n,).
        pelts: hares and lynxes, thousands, shape (n, 2).
        rtol: tolerance of the solver; `tolerance` and `max_iterations` are those of the fit.
    """

    def residuals(parameters: jax.Array) -> jax.Array:
        # A start or change so wild that 500 steps are too few is not worth more (a good one takes 150).
        states = populations(parameters, times, rtol=rtol, max_steps=500).states
        return (jnp.log(states) - jnp.log(pelts)).ravel()

    return levenberg_marquardt(residuals, start, tolerance=tolerance, max_iterations=max_iterations)


def populations(parameters: jax.Array, times: jax.Array, *, rtol: float = 1e-8, max_steps: int = 10_000) -> Solution:
    """Hares and lynxes, thousands, shape (n, 2), at times (n,), years, for log parameters (6,)."""
    alpha, beta, gamma, delta, hare, lynx = jnp.exp(parameters)
    start = jnp.array([hare, lynx])
    rates = (alpha, beta, gamma, delta)
    return solve(lotka_volterra, times, start, rates, rtol=rtol, atol=rtol, max_steps=max_steps)
