"""A fixed point found by a plain Python loop, and differentiated by the implicit function theorem, not through the loop.

    python examples/fixed_point.py

x = f(x) gives dx = df + (df/dx) dx. So the backward rule solves u = v + u (df/dx) for the cotangent v, by a loop of the same
kind, and hands u to f. `f` may close over what it likes: its gradient comes back to where the variables are.
"""

import jax
import jax.numpy as jnp

import autograph_jax as ag


@ag.custom_vjp(nondiff_argnames=["tolerance", "limit"])
def fixed_point(f, guess, *, tolerance=1e-6, limit=1000):
    """x with x = f(x), from an array `guess` of the same shape. Its derivative by the guess is zero."""
    x, change, steps = guess, jnp.inf, 0
    while change > tolerance and steps < limit:
        new = f(x)
        x, change, steps = new, jnp.max(jnp.abs(new - x)), steps + 1
    return x


def forward(f, guess, *, tolerance, limit):
    """The fixed point, and what the backward rule needs of it."""
    x = fixed_point(f, guess, tolerance=tolerance, limit=limit)
    return x, (f, x)


def backward(tolerance, limit, residuals, cotangent):
    """The cotangents of `f` (of what it closes over) and of the guess."""
    f, x = residuals
    _, pull = jax.vjp(lambda f, x: f(x), f, x)
    u = fixed_point(lambda u: cotangent + pull(u)[1], cotangent, tolerance=tolerance, limit=limit)
    return pull(u)[0], None


fixed_point.defvjp(forward, backward)


def kepler(mean_anomaly, eccentricity):
    """The eccentric anomaly E of Kepler's equation, E = M + e sin E."""
    return fixed_point(lambda anomaly: mean_anomaly + eccentricity * jnp.sin(anomaly), mean_anomaly)


def main() -> None:
    """An anomaly, its gradient, and the same for three planets at once."""
    slopes = jax.jit(jax.grad(kepler, argnums=(0, 1)))
    print(f"E = {kepler(1.0, 0.3):.6f}, dE/dM = {slopes(1.0, 0.3)[0]:.6f}, dE/de = {slopes(1.0, 0.3)[1]:.6f}")
    anomaly = kepler(1.0, 0.3)
    print(f"by hand:      dE/dM = {1 / (1 - 0.3 * jnp.cos(anomaly)):.6f}")
    eccentricities = jnp.array([0.0, 0.2, 0.6])
    print("three planets:", jax.vmap(jax.grad(kepler), (None, 0))(1.0, eccentricities))


if __name__ == "__main__":
    main()
