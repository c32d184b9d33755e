"""jit, vmap, jvp, grad, jacfwd, hessian and their compositions, of converted functions and inside them."""

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph

from .harness import GRADIENT_TOLERANCE, TOLERANCE, Table, WrongValue, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])


# ------------------------------------------------------------------ differentiated and batched
def square_or_negate(x):
    if x > 0:
        y = x * x
    else:
        y = -x
    return y


row(square_or_negate, [3.0], [-1.0], [2.0], staged="cond", grad=True, batch=True)


def fixed_power(x):
    s = 1.0
    for _ in range(4):
        s = s * x
    return s


row(fixed_power, [1.5], [-0.5], grad=True, batch=True)


def polynomial(x, coefficients):
    s = 0.0
    for c in coefficients:
        s = s * x + c
    return s


row(polynomial, [1.5, VECTOR], [-0.5, -VECTOR], staged="loop", grad=True, batch=True)


def power_of_a_static_degree(x, n):
    s = 1.0
    for _ in range(n):
        s = s * x
    return s


row(power_of_a_static_degree, [1.5, 4], [2.0, 4], [1.5, 0], static=[1], grad=True, batch=True)


def power_of_a_traced_degree(x, n):
    s = 1.0
    for _ in range(n):
        s = s * x
    return s


row(power_of_a_traced_degree, [1.5, 4], [2.0, 1], [1.5, 0], staged="loop", grad=True, batch=True)


def square_until_ten(x):
    while x < 10:
        x = x * x
    return x


row(square_until_ten, [1.5], [2.0], [20.0], staged="loop", grad=True, batch=True)


def powers_into_an_array(x):
    y = jnp.zeros(4)
    y[0] = x
    for i in range(1, 4):
        y[i] = y[i - 1] * x
    return jnp.sum(y)


row(powers_into_an_array, [1.5], [-0.5], grad=True, batch=True)


def doublings(x):
    n = 0
    while x < 100:
        x = x * 2
        n += 1
    return n


row(doublings, [1.0], [20.0], [3.0], [500.0], staged="loop", batch=True)


def repeated_sum(x, n):
    s = 0.0
    for _ in range(n):
        s = s + x
    return s


row(repeated_sum, [1.0, 1], [20.0, 2], [3.0, 3], [3.0, 0], staged="loop", grad=True, batch=True)


def break_differs_by_lane(x):
    s = 0.0
    for k in range(1, 40):
        s = s + x / k
        if s > 3:
            break
    return s, k


row(break_differs_by_lane, [1.0], [2.0], [0.01], staged="loop", batch=True)


def writes_differ_by_lane(v, n):
    for i in range(n):
        if v[i] > 1.5:
            v[i] = v[i] * v[i]
    return v


row(writes_differ_by_lane, [VECTOR, 2], [VECTOR * 2, 3], [VECTOR, 0], staged="loop cond", grad=True, batch=True)


def damped_newton(a):
    x = a + 1.0
    for _ in range(20):
        step = (x * x - a) / (2 * x)
        while abs(step) > 1.0:
            step = step / 2
        x = x - step
    return x


row(damped_newton, [2.0], [30.0], staged="loop", grad=True, batch=True)


# ------------------------------------------------------------------ transforms inside user code
# JAX runs these without jit in plain Python, in float32: the reference of their values, not of their slopes.
def gradient_inside(x):
    def loss(w):
        if w > 0:
            return w * w * w
        return -w

    return jax.grad(loss)(x)


row(gradient_inside, [2.0], [-2.0], staged="cond", batch=True)


def gradient_descent(x, n):
    def slope(w):
        return jax.grad(lambda u: (u - 3.0) ** 2)(w)

    for _ in range(n):
        g = slope(x)
        if abs(g) < 1e-2:
            break
        x = x - 0.25 * g
    return x


row(gradient_descent, [10.0, 3], [3.0, 9], [10.0, 0], staged="loop", batch=True)


@jax.jit
def jitted_helper(x):
    return x * 2.0


def jit_inside(x, n):
    for _ in range(n):
        if x > 8:
            break
        x = jitted_helper(x)
    return x


row(jit_inside, [1.0, 2], [1.0, 50], [1.0, 0], staged="loop", batch=True)


def lax_inside(v):
    total = 0.0
    if v[0] > 0:
        total, _ = jax.lax.scan(lambda s, e: (s + e, None), 0.0, v)
    return total


row(lax_inside, [VECTOR], [-VECTOR], staged="cond loop", batch=True)


@table.each_way
def test_transforms(row, way, record_property):
    check(row, way, record_property)


def relu_of_each(v):
    def relu(e):
        if e > 0:
            return e
        return 0.0

    return jax.vmap(relu)(v)


def test_vmap_inside() -> None:
    np.testing.assert_array_equal(jax.jit(autograph(relu_of_each))(np.array([1.0, -2.0, 3.0])), [1.0, 0.0, 3.0])


# ------------------------------------------------------------------ compositions
def smooth_branches(x):
    """Cubic for x > 1, sine below, in a loop of three turns."""
    y = x
    for _ in range(3):
        if y > 1:
            y = 0.1 * y * y * y
        else:
            y = jnp.sin(y) + 0.5
    return y


def early_return(x):
    if x > 2:
        return x * x
    if x > 1:
        return jnp.exp(x)
    return x * x * x


def over_an_array(x):
    s = 1.0
    for c in jnp.array([0.5, -1.0, 2.0]):
        if s > 0:
            s = s * x + c
        else:
            s = s - c * x * x
    return s


def into_a_buffer(x):
    y = jnp.zeros(3)
    y[0] = x
    for i in range(1, 3):
        if y[i - 1] > 0.5:
            y[i] = y[i - 1] * x
        else:
            y[i] = x + 1.0
    return y[0] + y[1] * y[2]


POINTS = np.array([-0.7, 0.3, 1.4, 2.6])
FUNCTIONS = [smooth_branches, early_return, over_an_array, into_a_buffer]

Scalar = Callable[..., jax.Array]


def first(function: Scalar, x: float) -> float:
    h = 1e-4
    return (float(function(x + h)) - float(function(x - h))) / (2 * h)


def second(function: Scalar, x: float) -> float:
    h = 1e-3
    return (float(function(x + h)) - 2 * float(function(x)) + float(function(x - h))) / h**2


def forward_slope(function: Scalar) -> Scalar:
    return lambda x: jax.jvp(function, (x,), (jnp.ones_like(x),))[1]


# Each takes a function of a number and gives a function of all points.
COMPOSITIONS = {
    "vmap": (jax.vmap, 0),
    "vmap(jit)": (lambda f: jax.vmap(jax.jit(f)), 0),
    "jit(vmap)": (lambda f: jax.jit(jax.vmap(f)), 0),
    "map": (lambda f: lambda points: jax.lax.map(f, points), 0),
    "jit, point by point": (lambda f: point_by_point(jax.jit(f)), 0),
    "jvp, point by point": (lambda f: point_by_point(forward_slope(f)), 1),
    "grad, point by point": (lambda f: point_by_point(jax.grad(f)), 1),
    "jit(grad), point by point": (lambda f: point_by_point(jax.jit(jax.grad(f))), 1),
    "grad(jit), point by point": (lambda f: point_by_point(jax.grad(jax.jit(f))), 1),
    "vmap(grad)": (lambda f: jax.vmap(jax.grad(f)), 1),
    "vmap(jvp)": (lambda f: jax.vmap(forward_slope(f)), 1),
    "jit(vmap(grad))": (lambda f: jax.jit(jax.vmap(jax.grad(f))), 1),
    "grad(sum(vmap))": (lambda f: jax.grad(lambda points: jnp.sum(jax.vmap(f)(points))), 1),
    "value_and_grad": (lambda f: jax.vmap(lambda x: jax.value_and_grad(f)(x)[1]), 1),
    "jacfwd(vmap)": (lambda f: lambda points: jnp.diagonal(jax.jacfwd(jax.vmap(f))(points)), 1),
    "jacrev(vmap)": (lambda f: lambda points: jnp.diagonal(jax.jacrev(jax.vmap(f))(points)), 1),
    "checkpoint": (lambda f: jax.vmap(jax.grad(jax.checkpoint(f))), 1),
    "linearize": (lambda f: jax.vmap(lambda x: jax.linearize(f, x)[1](jnp.ones_like(x))), 1),
    "jvp(grad)": (lambda f: jax.vmap(forward_slope(jax.grad(f))), 2),
    "grad(jvp)": (lambda f: jax.vmap(jax.grad(forward_slope(f))), 2),
    "grad(grad)": (lambda f: jax.vmap(jax.grad(jax.grad(f))), 2),
    "jit(hessian)": (lambda f: jax.jit(jax.vmap(jax.hessian(f))), 2),
}


def point_by_point(function: Scalar) -> Scalar:
    return lambda points: jnp.stack([function(x) for x in points])


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("composition", COMPOSITIONS)
def test_composition(composition: str, function: Scalar) -> None:
    compose, order = COMPOSITIONS[composition]
    reference = table.with_numpy_globals[function.__name__]
    derivative = [reference, functools.partial(first, reference), functools.partial(second, reference)][order]
    want = np.array([float(derivative(x)) for x in POINTS])
    got = compose(autograph(function))(jnp.asarray(POINTS))
    tolerance = [TOLERANCE, GRADIENT_TOLERANCE, GRADIENT_TOLERANCE][order]
    if not np.allclose(got, want, rtol=tolerance, atol=tolerance):
        raise WrongValue(f"{composition} of {function.__name__}: got {got}, want {want}")
