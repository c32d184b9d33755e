"""The logistic function and its inverse, with branches, a loop and derivative rules of their own.

    python examples/logit.py

Differentiated through their code, `expit` loses digits far from zero and `logit` would be differentiated through its loop. The
rules are two lines each, and hold under jit, vmap and scan.
"""

import jax
import jax.numpy as jnp

import autograph_jax as ag


@ag.custom_jvp
def expit(x):
    """1 / (1 + exp(-x)) for a number x, without overflow."""
    if x >= 0:
        return 1 / (1 + jnp.exp(-x))
    small = jnp.exp(x)
    return small / (1 + small)


@expit.defjvp
def expit_jvp(primals, tangents):
    """expit' = expit (1 - expit), and 1 - expit(x) = expit(-x)."""
    (x,), (dx,) = primals, tangents
    return expit(x), expit(x) * expit(-x) * dx


@ag.custom_jvp
def logit(p, *, limit=100):
    """x with expit(x) = p, by Newton's method with steps of at most 1, for 0 < p < 1."""
    x, step, steps = 0.0 * p, jnp.inf, 0
    while abs(step) > 1e-6 * (1 + abs(x)) and steps < limit:
        step = (expit(x) - p) / (expit(x) * expit(-x))
        if abs(step) > 1:
            step = step / abs(step)
        x, steps = x - step, steps + 1
    return x


logit.defjvps(lambda dp, x, p, limit: dp / (p * (1 - p)), None)


def main() -> None:
    """Values and slopes."""
    for x in (-50.0, 0.0, 3.0):
        print(f"expit({x:5}) = {expit(x):.3e}, slope {jax.grad(expit)(x):.3e}")
    p = jnp.array([0.01, 0.5, 0.9])
    print("logit: ", jax.vmap(logit)(p), " slopes: ", jax.vmap(jax.grad(logit))(p))


if __name__ == "__main__":
    main()
