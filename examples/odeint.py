"""An adaptive solver of differential equations in plain Python, with the adjoint method as its derivative rule.

    python examples/odeint.py

The steps are those of Bogacki and Shampine (Appl. Math. Lett. 2, 1989, p. 321). The backward rule integrates the state, its
adjoint and the gradient by what `flow` closes over back in time (Chen et al., Neural ODEs, 2018, appendix B), in memory that
does not depend on the number of steps.
"""

import jax
import jax.numpy as jnp
from jax.flatten_util import ravel_pytree

import autograph_jax as ag


@ag.custom_vjp(nondiff_argnames="tolerance")
def odeint(flow, y, start, stop, *, tolerance=1e-6):
    """The state at `stop` of dy/dt = flow(t, y), from the state `y` of shape (n,) at `start`; `stop` may be before it."""
    return integrated(flow, y, start, stop, tolerance)


def integrated(flow, y, start, stop, tolerance):
    """One adaptive step after the other, until `stop`."""
    t, sign = start, jnp.sign(stop - start)
    step = 0.01 * (stop - start)
    slope = flow(t, y)
    while sign * (stop - t) > 0:
        if sign * (t + step - stop) > 0:
            step = stop - t
        middle = flow(t + step / 2, y + step / 2 * slope)
        late = flow(t + 3 / 4 * step, y + 3 / 4 * step * middle)
        new = y + step * (2 / 9 * slope + 1 / 3 * middle + 4 / 9 * late)
        end = flow(t + step, new)
        difference = step * (-5 / 72 * slope + 1 / 12 * middle + 1 / 9 * late - 1 / 8 * end)
        error = jnp.max(jnp.abs(difference) / (tolerance * (1 + jnp.abs(y))))
        if error <= 1:
            last = step == stop - t
            t, y, slope = stop if last else t + step, new, end
        step = step * jnp.clip(0.9 * error ** (-1 / 3), 0.2, 5.0) if error > 0 else 5 * step
    return y


def forward(flow, y, start, stop, *, tolerance):
    """The state at the end, and what the backward rule needs."""
    end = odeint(flow, y, start, stop, tolerance=tolerance)
    return end, (flow, end, start, stop)


def backward(tolerance, residuals, cotangent):
    """The cotangents of the flow, the state and the two times."""
    flow, end, start, stop = residuals

    def adjoint(t, together):
        y, a, _ = apart(together)
        slope, pull = jax.vjp(lambda flow, y: flow(t, y), flow, y)
        by_flow, by_state = pull(a)
        return ravel_pytree((slope, -by_state, jax.tree.map(jnp.negative, by_flow)))[0]

    together, apart = ravel_pytree((end, cotangent, jax.tree.map(jnp.zeros_like, flow)))
    y, a, by_flow = apart(integrated(adjoint, together, stop, start, tolerance))
    return by_flow, a, -jnp.vdot(a, flow(start, y)), jnp.vdot(cotangent, flow(stop, end))


odeint.defvjp(forward, backward)


def pendulum(angle, length, time):
    """Where a pendulum of this length (m) is after this time (s): its angle, from a start at rest."""

    def flow(t, y):
        return jnp.array([y[1], -9.81 / length * jnp.sin(y[0])])

    return odeint(flow, jnp.array([angle, 0.0]), 0.0, time, tolerance=1e-5)[0]


def main() -> None:
    """An angle and its derivatives, which agree with differences."""
    slopes = jax.jit(jax.grad(pendulum, argnums=(0, 1, 2)))(0.5, 1.0, 2.0)
    print(f"after 2 s: {pendulum(0.5, 1.0, 2.0):.4f}")
    for name, slope in zip(("angle", "length", "time"), slopes, strict=True):
        print(f"by {name:6} {slope:8.4f}")


if __name__ == "__main__":
    main()
