"""Transforms of JAX's inside branches and loops, of functions that keep what they compute in lists, dicts and objects."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

X = np.array([0.5, 1.5, 2.5, -1.0], np.float32)


class Point:
    def __init__(self, x: Any) -> None:
        self.x = x
        self.seen: list[Any] = []

    def grow(self, by: Any) -> None:
        self.x = self.x + by


def in_a_list(v: Any) -> Any:
    parts = []
    parts.append(v)
    parts.append(v + 1)
    return parts[0] * parts[1]


def in_a_list_by_turns(v: Any) -> Any:
    parts = []
    for k in range(3):
        parts.append(v * k)
    return sum(parts)


def in_a_dict(v: Any) -> Any:
    table = {"a": v}
    table["b"] = table["a"] + 1
    return table["b"] * v


def in_an_object(v: Any) -> Any:
    point = Point(v)
    point.x = point.x + 1
    point.seen.append(point.x)
    return point.seen[0] + v


def in_an_array(v: Any) -> Any:
    table = jnp.zeros(3)
    table[1] = v
    table[2] = table[1] * v
    return table.sum()


def in_a_branch(v: Any) -> Any:
    parts = []
    point = Point(v)
    if v > 1:
        parts.append(v * v)
        point.x = v + 1
    else:
        parts.append(v)
    return parts[0] + point.x


def in_a_loop(v: Any) -> Any:
    point, parts = Point(v), [v]
    while point.x < 4:
        point.x = point.x + 1
        parts[0] = parts[0] * 2
    return parts[0] + point.x


def in_a_variable_around(v: Any) -> Any:
    total = v

    def add(w: Any) -> None:
        nonlocal total
        total = total + w

    add(v)
    add(1.0)
    return total


def in_objects_that_hold_each_other(v: Any) -> Any:
    point, other = Point(v), Point(v)
    point.seen, other.seen = [other.grow], [point]
    point.seen[0](v)
    return other.x * v


def that_may_raise(v: Any) -> Any:
    if v > 1e6:
        raise ValueError(v)
    assert v == v, v
    return v * 2


FUNCTIONS = [
    that_may_raise, in_objects_that_hold_each_other,
    in_a_list, in_a_list_by_turns, in_a_dict, in_an_object, in_an_array, in_a_branch, in_a_loop, in_a_variable_around,
]  # fmt: skip


def inside_a_branch(of: Any, x: Any, n: Any) -> Any:
    y = x
    if n > 1:
        y = of(x)
    return y


def inside_both_branches(of: Any, x: Any, n: Any) -> Any:
    if n > 1:
        y = of(x) + 1
    elif n > 0:
        y = of(x + 1)
    else:
        y = x
    return y


def inside_turns(of: Any, x: Any, n: Any) -> Any:
    for i in range(n):
        if i != 1:
            x = jnp.sin(of(x))
    return x


def inside_a_while(of: Any, x: Any, n: Any) -> Any:
    k = 0
    while k < n:
        x = jnp.sin(of(x))
        k = k + 1
    return x


PLACES = [inside_a_branch, inside_both_branches, inside_turns, inside_a_while]


def tangents(f: Any) -> Any:
    return lambda x: jax.jvp(jax.vmap(f), (x,), (2 * x,))[1]


def by_value_and_slope(f: Any) -> Any:
    def run(x: Any) -> Any:
        value, slope = jax.value_and_grad(lambda x: jax.vmap(f)(x).sum())(x)
        return slope + value

    return run


TRANSFORMS = {
    "vmap": jax.vmap,
    "vmap of grad": lambda f: jax.vmap(jax.grad(f)),
    "grad of vmap": lambda f: jax.grad(lambda x: jax.vmap(f)(x).sum()),
    "value_and_grad": by_value_and_slope,
    "jvp": tangents,
    "jacfwd": lambda f: lambda x: jax.jacfwd(jax.vmap(f))(x).sum(0),
    "hessian": lambda f: lambda x: jax.hessian(lambda x: jax.vmap(f)(x).sum())(x).sum(0) + x,
    "linearize": lambda f: lambda x: jax.linearize(jax.vmap(f), x)[1](x),
    "checkpoint": lambda f: jax.vmap(jax.checkpoint(f)),
    "scan": lambda f: lambda x: jax.lax.scan(lambda c, v: (c + 1, f(v)), 0, x)[1],
    "jit": lambda f: jax.jit(jax.vmap(f)),
    "jacfwd of ag.jit": lambda f: lambda x: jax.jacfwd(jax.vmap(ag.jit(f)))(x).sum(0),
    "checkpoint of jit": lambda f: jax.vmap(jax.checkpoint(jax.jit(f))),
}


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_it_is_what_it_is_outside(transform: str, place: Callable[..., Any]):
    for function in FUNCTIONS:
        of = TRANSFORMS[transform](ag.autograph(function))
        compiled = jax.jit(lambda x, n, of=of: ag.autograph(place)(of, x, n))
        for n in (0, 3):
            np.testing.assert_allclose(compiled(X, n), place(of, X, n), rtol=1e-5, err_msg=function.__name__)
