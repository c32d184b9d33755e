"""Programs that guard a function against points where it has no derivative, differentiated in many ways at such points.

The branch that is not taken must not be felt: what is taken, written alone, has the same derivatives. Under vmap both
branches run, and a derivative of zero times infinity would be NaN.
"""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph

pytestmark = pytest.mark.usefixtures("x64")
ROWS: dict[str, tuple[Callable[..., Any], dict[float, Callable[..., Any]]]] = {}


def row(alone: dict[float, Callable[..., Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add a program; by point, what it computes there, alone."""

    def add(function: Callable[..., Any]) -> Callable[..., Any]:
        ROWS[function.__name__] = autograph(function), alone
        return function

    return add


def zero(x):
    return 0 * x


# ------------------------------------------------------------------ expressions
@row({2.0: jnp.sqrt, -2.0: lambda x: jnp.sqrt(-x), 0.0: lambda x: x})
def square_roots(x):
    return jnp.sqrt(x) if x > 0 else jnp.sqrt(-x) if x < 0 else x


@row({0.7: jnp.log, 0.0: zero, -1.0: zero})
def logarithm(x):
    return jnp.log(x) if x > 0 else 0.0


@row({0.5: lambda x: jnp.sin(x) / x, 0.0: lambda x: 1 - x**2 / 6})
def division(x):
    return jnp.sin(x) / x if x != 0 else 1 - x**2 / 6


@row({0.7: lambda x: jnp.arctan2(x, 2 * x * x), 0.0: lambda x: 3 * x})
def arctan2(x):
    return jnp.arctan2(x, 2 * x * x) if x != 0 else 3 * x


@row({0.7: lambda x: jnp.abs(x) * 5, 0.0: zero})
def norm(x):
    v = jnp.array([3 * x, 4 * x])
    return jnp.linalg.norm(v) if (v != 0).any() else 0.0


@row({0.7: lambda x: x**2.5, 0.0: lambda x: x * x, -1.0: lambda x: x * x})
def power(x):
    return x**2.5 if x > 0 else x * x


@row({0.5: lambda x: x**x, 0.0: lambda x: 1 + x})
def power_of_itself(x):
    return x**x if x > 0 else 1 + x


@row({0.5: jnp.arccos, 1.0: zero, -1.0: lambda x: jnp.pi + zero(x), 2.0: zero})
def arccos(x):
    if x >= 1:
        return 0.0
    if x <= -1:
        return jnp.pi
    return jnp.arccos(x)


@row({1.5: jnp.arccosh, 1.0: lambda x: x - 1})
def arccosh(x):
    return x - 1 if x <= 1 else jnp.arccosh(x)


@row({0.5: lambda x: jnp.exp(-1 / x), 0.0: zero, -1.0: zero})
def smooth_at_zero(x):
    return jnp.exp(-1 / x) if x > 0 else 0.0


@row({2.0: lambda x: jnp.log1p(jnp.exp(x)), 1000.0: lambda x: x})
def overflow(x):
    return jnp.log(1 + jnp.exp(x)) if x < 30 else x


@row({0.5: lambda x: x * jnp.log(x), 0.0: zero})
def entropy(x):
    return x * jnp.log(x) if x > 0 else 0.0


# ------------------------------------------------------------------ statements
@row({4.0: jnp.sqrt, 0.0: lambda x: -x, -1.0: lambda x: -x})
def early_return(x):
    if x <= 0:
        return -x
    root = jnp.sqrt(x)
    return root


@row({4.0: lambda x: jnp.log(jnp.sqrt(x)), 0.5: jnp.sqrt, 0.0: zero, -2.0: lambda x: 1 / x})
def nested(x):
    if x > 0:
        y = jnp.sqrt(x)
        if y > 1:
            y = jnp.log(y)
    elif x < 0:
        y = 1 / x
    else:
        y = 0.0
    return y


@row({4.0: jnp.sqrt, 0.25: lambda x: x, 0.0: lambda x: x, -1.0: lambda x: x})
def and_guard(x):
    if x > 0 and jnp.sqrt(x) > 1:
        return jnp.sqrt(x)
    return x


@row({4.0: lambda x: 1 / x, 0.0: zero, -1.0: zero})
def or_guard(x):
    if x <= 0 or jnp.log(x) < 0:
        return 0.0
    return 1 / x


@row({4.0: jnp.sqrt, 0.0: lambda x: x, -1.0: lambda x: x})
def and_value(x):
    return (x > 0 and jnp.sqrt(x)) or x


@row({4.0: jnp.sqrt, 0.0: zero, -3.0: lambda x: jnp.log(-x)})
def match_guard(x):
    match x:
        case v if v > 0:
            return jnp.sqrt(v)
        case v if v < 0:
            return jnp.log(-v)
        case _:
            return 0.0


@row({4.0: lambda x: 2 * jnp.sqrt(x), 0.0: lambda x: 1 + x, -3.0: lambda x: 1 + x})
def walrus(x):
    if (y := x) > 0:
        y = jnp.sqrt(y) * 2
    else:
        y = y + 1
    return y


@row({4.0: lambda x: jnp.sqrt(x) + 1 / x, 0.0: zero, -1.0: zero})
def variables(x):
    a = b = 0.0
    if x > 0:
        a, b = jnp.sqrt(x), 1 / x
    return a + b


def helper(x):
    return jnp.sqrt(x) / x


@row({4.0: helper, 0.0: lambda x: x})
def call(x):
    if x == 0:
        return x
    return helper(x)


@row({4.0: jnp.sqrt, 0.0: jnp.sin, -1.0: jnp.sin})
def chosen_function(x):
    f = jnp.sqrt if x > 0 else jnp.sin
    return f(x)


@row({4.0: lambda x: jnp.log(x) + x, 0.0: lambda x: x, -1.0: lambda x: x})
def maybe_none(x):
    y = jnp.log(x) if x > 0 else None
    return x if y is None else y + x


@row({4.0: lambda x: 3 * jnp.sqrt(x), 0.0: lambda x: 3 * x, -1.0: lambda x: 3 * x})
def closure(x):
    def inner():
        nonlocal y
        if x > 0:
            y = jnp.sqrt(x)

    y = x
    inner()
    return 3 * y


@row({4.0: lambda x: jnp.sqrt(jnp.sqrt(x)), 0.0: zero, -1.0: zero})
def try_finally(x):
    y = 0.0
    try:
        if x > 0:
            y = jnp.sqrt(x)
            return jnp.sqrt(y)
    finally:
        y = y * 2
    return y


# ------------------------------------------------------------------ containers
@row({4.0: lambda x: jnp.sqrt(x) + 1, 0.0: lambda x: 1 + x, -1.0: lambda x: 1 + x})
def item_write(x):
    v = jnp.array([1.0, 1.0]) * x
    if x > 0:
        v[0] = jnp.sqrt(x)
    v[1] = 1.0
    return v.sum()


@row({4.0: lambda x: 2 * x * jnp.sqrt(x), 0.0: lambda x: x * x, -1.0: lambda x: x * x})
def item_update(x):
    v = jnp.ones(3) * x
    if x > 0:
        v[1] *= 2 * jnp.sqrt(x)
    else:
        v[1] *= x
    return v[1]


class State:
    def __init__(self, x):
        self.x = x


@row({4.0: jnp.log, 0.0: lambda x: x, -1.0: lambda x: x})
def attribute(x):
    s = State(x)
    if s.x > 0:
        s.x = jnp.log(s.x)
    return s.x


@row({4.0: lambda x: jnp.log(x) + 1 / x, 0.0: lambda x: 1 + x, -1.0: lambda x: 1 + x})
def dict_and_list(x):
    d, xs = {"a": x}, [1.0, x]
    if x > 0:
        d["a"] = jnp.log(x)
        xs[0] = 1 / x
    return d["a"] + xs[0]


@row({4.0: lambda x: jnp.sqrt(x) + jnp.sqrt(x + 1), -0.5: lambda x: jnp.sqrt(x + 1), 0.0: lambda x: (x + 1) ** 0.5, -1.0: zero})
def comprehension(x):
    return sum([jnp.sqrt(v) if v > 0 else 0.0 for v in jnp.stack([x, x + 1])])


@row({4.0: lambda x: jnp.log(x) + jnp.log(x + 1), -0.5: lambda x: jnp.log(x + 1), 0.0: lambda x: jnp.log(x + 1), -1.0: zero})
def comprehension_condition(x):
    return sum([jnp.log(v) for v in jnp.stack([x, x + 1]) if v > 0], 0.0)


@row({4.0: lambda x: jnp.log(x) + jnp.log(x + 1), -0.5: lambda x: jnp.log(x + 1), 0.0: lambda x: jnp.log(x + 1), -1.0: zero})
def generator(x):
    return sum((jnp.log(v) for v in jnp.stack([x, x + 1]) if v > 0), 0.0)


@row({4.0: lambda x: 2 * jnp.sqrt(x), 0.0: lambda x: 2 * x, -1.0: lambda x: 2 * x})
def list_in_loop(x):
    ys = []
    for v in jnp.stack([x, x]):
        if v > 0:
            v = jnp.sqrt(v)
        ys.append(v)
    return ys[0] + ys[1]


# ------------------------------------------------------------------ loops
@row({4.0: lambda x: jnp.log(x) / 4, 0.0: zero, -1.0: zero})
def while_not_entered(x):
    y, k = 0.0, 0
    while k < 2 and x > 0:
        y = y / 2 + jnp.log(x) / 4 * (1 if k == 1 else 0)
        k = k + 1
    return y


@row({30.0: lambda x: jnp.sqrt(jnp.sqrt(x) - 1) - 1, 2.0: lambda x: jnp.sqrt(x) - 1, 0.0: lambda x: x, -1.0: lambda x: x})
def while_over(x):
    """One more turn would take the root of a number below 1."""
    while x >= 1.3:
        x = jnp.sqrt(x) - 1
    return x


@row({9.0: lambda x: jnp.maximum(jnp.sqrt(x) - 1, -9), 1.0: lambda x: jnp.sqrt(x) - 1, 0.0: lambda x: x, -1.0: lambda x: x})
def while_at_the_end(x):
    """A lane ends at 0, where the next turn has an infinite derivative."""
    n = 0
    while x > 0 and n < 1:
        x = jnp.sqrt(x) - 1
        n = n + 1
    return x


@row({3.0: lambda x: jnp.sqrt(x) + jnp.sqrt(x - 1) + jnp.sqrt(x - 2), 0.5: jnp.sqrt, 0.0: zero, -1.0: zero})
def for_break(x):
    y = 0.0
    for _ in range(3):
        if x <= 0:
            break
        y = y + jnp.sqrt(x)
        x = x - 1
    return y


@row({3.0: lambda x: jnp.sqrt(x) + jnp.sqrt(x - 1), 0.5: jnp.sqrt, 0.0: zero, -1.0: zero})
def for_continue(x):
    y = 0.0
    for k in range(2):
        if x - k <= 0:
            continue
        y = y + jnp.sqrt(x - k)
    return y


@row({3.0: lambda x: 1 / x, 0.3: lambda x: 2 * x, 0.0: lambda x: -x, -1.0: lambda x: -x})
def return_in_loop(x):
    y = x
    while True:
        if y <= 0:
            return -y
        if y > 0.4:
            return 1 / y if x > 0.4 else y
        y = y * 2


@row({3.0: lambda x: jnp.log(x) * 2, 0.0: lambda x: 2 * x, -1.0: lambda x: 2 * x})
def traced_range(x):
    n = 2 if x > 0 else 0
    y = 0.0
    for _ in range(n):
        y = y + jnp.log(x)
    return y if n > 0 else 2 * x


@row({3.0: lambda x: jnp.sqrt(x) / 1.5, 0.0: lambda x: x, -1.0: lambda x: x})
def nested_loops(x):
    y = x
    for k in range(2):
        while y > 2:
            y = jnp.sqrt(y)
            if k == 0:
                y = y / 1.5
    return y


@row({3.0: lambda x: jnp.sqrt(x) + jnp.sqrt(x), 0.0: lambda x: 2 + x, -1.0: lambda x: 2 + x})
def written_in_a_loop(x):
    v = jnp.ones(2)
    for k in range(2):
        if x > 0:
            v[k] = jnp.sqrt(x)
    return v.sum() if x > 0 else v.sum() + x


# ------------------------------------------------------------------ ways
def one_by_one(f: Callable[..., Any], points: jax.Array) -> dict[str, list[Any]]:
    compiled = jax.jit(lambda x: {"grad": (f(x), jax.grad(f)(x)), "hessian": (f(x), jax.jacfwd(f)(x), jax.hessian(f)(x))})
    rows = [compiled(x) for x in points]
    return {way: [jnp.stack(column) for column in zip(*(row[way] for row in rows), strict=True)] for way in rows[0]}


@functools.partial(jax.jit, static_argnums=0)
def together(f: Callable[..., Any], points: jax.Array) -> dict[str, list[Any]]:
    """By way: values, first and second derivatives at all points, in one batch."""

    def total(points: jax.Array) -> jax.Array:
        return jnp.sum(jax.vmap(f)(points))

    def of_slopes(points: jax.Array) -> jax.Array:
        return jnp.sum(jax.grad(total)(points))

    return {
        "vmap of grad": [jax.vmap(f)(points), jax.vmap(jax.grad(f))(points), jax.vmap(jax.grad(jax.grad(f)))(points)],
        "vmap of jacfwd": [jax.vmap(f)(points), jax.vmap(jax.jacfwd(f))(points), jax.vmap(jax.hessian(f))(points)],
        "grad of vmap": [jax.vmap(f)(points), jax.grad(total)(points), jnp.diag(jax.hessian(total)(points))],
        "jacfwd of vmap": [jax.vmap(f)(points), jax.jacfwd(total)(points), jax.grad(of_slopes)(points)],
    }


@pytest.mark.parametrize("name", ROWS)
def test_the_branch_that_is_not_taken_is_not_felt(name: str):
    f, alone = ROWS[name]
    points = jnp.array(list(alone))
    of_branch = [jax.jit(lambda x, g=g: [g(x), jax.grad(g)(x), jax.hessian(g)(x)])(x) for x, g in alone.items()]
    want = np.array(of_branch).T
    assert np.isfinite(want).all()
    for way, got in (one_by_one(f, points) | together(f, points)).items():
        for order, values in enumerate(got):
            np.testing.assert_allclose(values, want[order], rtol=1e-9, atol=1e-9, err_msg=f"{way}, order {order}")


@pytest.mark.parametrize("name", ROWS)
def test_differences(name: str):
    """Where the function is smooth around a point: a branch may hold for this one point alone."""
    f, alone = ROWS[name]
    value, slope = jax.jit(jax.vmap(f)), jax.jit(jax.vmap(jax.grad(f)))
    points, step = jnp.array([x for x in alone if x not in (0.0, 1.0, -1.0)]), 1e-6
    want = (value(points + step) - value(points - step)) / (2 * step)
    np.testing.assert_allclose(slope(points), want, rtol=1e-5, atol=1e-6)
