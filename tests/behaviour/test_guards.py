"""Gradients where a branch that is not taken has none: alone, under vmap, and in loops, against finite differences."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph

pytestmark = pytest.mark.usefixtures("x64")


def guard(test, inside, outside):
    @autograph
    def f(x):
        if test(x):
            y = inside(x)
        else:
            y = outside(x)
        return y * 2 + x

    return f


def in_a_loop(inside, outside):
    @autograph
    def f(x):
        y, k = 0.0 * x, 0
        while k < 3 and y < 2.05:
            y = y + 0.3 + (inside(x) if x > 0 else outside(x)) ** 2
            k = k + 1
        return y

    return f


POSITIVE = {
    "sqrt": (jnp.sqrt, lambda x: jnp.sqrt(-x)),
    "log": (jnp.log, jnp.sin),
    "log1p": (lambda x: jnp.log1p(x - 1), lambda x: x),
    "power": (lambda x: x**0.3, lambda x: (-x) ** 0.7),
    "reciprocal": (lambda x: 1 / x, lambda x: x * x),
    "rsqrt": (lambda x: x**-0.5, jnp.cos),
    "log of log": (lambda x: jnp.log(1 + jnp.log1p(x)), lambda x: jnp.exp(x)),
    "arccosh": (lambda x: jnp.arccosh(1 + x), lambda x: -x),
    "entropy": (lambda x: -x * jnp.log(x), lambda x: 0.0 * x),
    "norm": (lambda x: jnp.linalg.norm(jnp.stack([x, x])), lambda x: 3.0 * x),
    "cube root": (lambda x: x ** (1 / 3), lambda x: -((-x) ** (1 / 3))),
    "gammaln": (lambda x: jax.scipy.special.gammaln(x), lambda x: x),
    "log of exp": (lambda x: jnp.log(jnp.expm1(x)), lambda x: x),
    "sqrt of sqrt": (lambda x: jnp.sqrt(jnp.sqrt(x)), lambda x: jnp.sqrt(1 - x)),
    "zero over zero": (lambda x: jnp.sin(x) / jnp.maximum(x, 0), lambda x: 1 + x),
    "overflow": (lambda x: jnp.exp(-x), lambda x: jnp.exp(-jnp.exp(-200 * x)) * 0 + x),
}
OTHER = {
    "sinc": (lambda x: x != 0, lambda x: jnp.sin(x) / x, lambda x: 1 + 0 * x),
    "arcsin": (lambda x: abs(x) < 1, jnp.arcsin, lambda x: x),
    "arccos": (lambda x: abs(x) < 1, jnp.arccos, lambda x: x),
    "arctanh": (lambda x: abs(x) < 1, jnp.arctanh, lambda x: x),
    "semicircle": (lambda x: x * x < 1, lambda x: jnp.sqrt(1 - x * x), lambda x: jnp.sqrt(x * x - 1)),
    "pole": (lambda x: abs(x - 1.5) > 0.1, lambda x: 1 / (x - 1.5), lambda x: x),
    "bump": (lambda x: abs(x) < 1, lambda x: jnp.exp(-1 / (1 - x * x)), lambda x: 0 * x),
    "logit": (lambda x: (x > 0) & (x < 1), lambda x: jnp.log(x / (1 - x)), lambda x: x),
    "kepler": (lambda x: x < 1, lambda x: (1 - x) ** 1.5, lambda x: (x - 1) ** 1.5),
    "huber": (lambda x: abs(x) < 1, lambda x: x * x / 2, lambda x: abs(x) - 0.5),
    "relu": (lambda x: x > 0, lambda x: x, lambda x: 0 * x),
    "softplus": (lambda x: x < 20, lambda x: jnp.log1p(jnp.exp(x)), lambda x: x),
    "expm1 over x": (lambda x: abs(x) > 1e-8, lambda x: jnp.expm1(x) / x, lambda x: 1 + x / 2),
    "log of tan": (lambda x: (x > 0) & (x < 1.5), lambda x: jnp.log(jnp.tan(x)), lambda x: x),
}
FUNCTIONS = {name: guard(lambda x: x > 0, *branches) for name, branches in POSITIVE.items()}
FUNCTIONS |= {name: guard(*parts) for name, parts in OTHER.items()}
FUNCTIONS |= {f"{name}, in a loop": in_a_loop(*POSITIVE[name]) for name in ("sqrt", "log", "power", "reciprocal")}
POINTS = np.array([-1.7, -0.6, 0.45, 1.2, 2.3])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradient(name: str):
    f, step = FUNCTIONS[name], 1e-6
    value = jax.jit(jax.vmap(f))
    want = (value(POINTS + step) - value(POINTS - step)) / (2 * step)
    ways = {
        "vmap of grad": jax.vmap(jax.grad(f)),
        "grad of vmap": jax.grad(lambda points: jnp.sum(jax.vmap(f)(points))),
        "one by one": lambda points: jnp.stack([jax.grad(f)(x) for x in points]),
        "jacfwd": jax.vmap(jax.jacfwd(f)),
    }
    for way, gradient in ways.items():
        np.testing.assert_allclose(jax.jit(gradient)(POINTS), want, rtol=1e-5, atol=1e-5, err_msg=way)
