"""Fit hares and lynxes with a solver and a Levenberg-Marquardt written in plain Python.

    python examples/lotka_volterra.py

The fit and the solver are in autograph_jax/cli, lotka_volterra.py and dormand_prince.py: loops, branches, early returns and
`x[i] = y`, under `@autograph`. This script uses them as one would use any function made of `jnp`: with
`jax.jit`, `jax.jacfwd` and `jax.vmap`.
"""

import jax
import jax.numpy as jnp

from autograph_jax.cli.lotka_volterra import GUESS, PARAMETER_NAMES, PARAMETER_UNITS, PELTS, YEARS, fit, populations


def main() -> None:
    """Print the parameters with standard errors, and a forecast of hares with the spread of other fits."""
    jax.config.update("jax_enable_x64", True)
    times, pelts, guess = jnp.asarray(YEARS - YEARS[0]), jnp.asarray(PELTS), jnp.log(jnp.asarray(GUESS))

    found = jax.jit(fit)(guess, times, pelts)
    errors = standard_errors(found.parameters, times, pelts)
    print(f"cost {found.cost:.4f} after {found.iterations} turns")
    for name, unit, value, error in zip(PARAMETER_NAMES, PARAMETER_UNITS, jnp.exp(found.parameters), errors, strict=True):
        print(f"{name:10} {value:8.4f} {unit:6} +- {100 * error:.0f} %")

    # Fits to data with other errors (a parametric bootstrap): one vmap over the fit, solver and all.
    states = jax.jit(populations)(found.parameters, times).states
    noise = 0.2 * jax.random.normal(jax.random.key(0), (100, *pelts.shape))
    fitted = jax.jit(jax.vmap(fit, in_axes=(None, None, 0)))(found.parameters, times, states * jnp.exp(noise))
    later = jnp.linspace(0.0, 30.0, 31)
    states = jax.jit(jax.vmap(lambda parameters: populations(parameters, later).states))(fitted.parameters)
    low, high = jnp.percentile(states[:, :, 0], jnp.array([5.0, 95.0]), axis=0)
    for year in (1923, 1926, 1929):
        print(f"hares in {year}: {low[year - 1900]:.0f} to {high[year - 1900]:.0f} thousand")


def standard_errors(parameters: jax.Array, times: jax.Array, pelts: jax.Array) -> jax.Array:
    """Standard errors of log parameters, shape (6,): relative errors of the parameters."""

    @jax.jit
    def residuals(parameters: jax.Array) -> jax.Array:
        return (jnp.log(populations(parameters, times).states) - jnp.log(pelts)).ravel()

    jacobian, residual = jax.jacfwd(residuals)(parameters), residuals(parameters)
    variance = residual @ residual / (residual.size - parameters.size)
    return jnp.sqrt(variance * jnp.diag(jnp.linalg.inv(jacobian.T @ jacobian)))


if __name__ == "__main__":
    main()
