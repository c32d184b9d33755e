"""`once`: a call at run time, made once for all lanes, that no derivative sees."""

from typing import Any

import jax
import jax.numpy as jnp
import pytest

from autograph_jax.operators.effects.once import once

calls: list[tuple[Any, ...]] = []


@pytest.fixture(autouse=True)
def _no_calls() -> None:
    calls.clear()


def next_of(count: Any, value: Any) -> int:
    calls.append((count.tolist(), value.tolist()))
    return int(count) + 10


def loop(x: Any, n: Any) -> Any:
    def turn(i: Any, carry: Any) -> Any:
        x, due = carry
        return x * 2.0, once(next_of, due=i >= due, otherwise=due, counts=[i], values=[x])

    x, due = jax.lax.fori_loop(0, n, turn, (x, 0))
    jax.debug.callback(lambda _: None, due)
    return x


def test_it_is_called_when_it_is_due():
    assert jax.jit(loop)(1.0, 12) == 2.0**12
    jax.effects_barrier()
    assert calls == [(0, 1.0), (10, 1024.0)]


def test_lanes():
    """The largest count of all lanes, due where any is, and the values of all."""
    assert jax.vmap(loop)(jnp.array([1.0, 3.0]), jnp.array([11, 2])).tolist() == [2.0**11, 12.0]
    jax.effects_barrier()
    assert calls == [(0, [1.0, 3.0]), (10, [1024.0, 12.0])]


def test_lanes_of_lanes():
    jax.vmap(jax.vmap(loop, in_axes=(0, None)), in_axes=(0, None))(jnp.ones((2, 3)), 1)
    jax.effects_barrier()
    assert calls == [(0, [[1.0] * 3] * 2)]


DERIVATIVES = {
    "grad": jax.grad,
    "jacfwd": jax.jacfwd,
    "hessian": jax.hessian,
    "grad of checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
    "vmap of grad": lambda f: lambda x: jax.vmap(jax.grad(f))(jnp.stack([x, x])),
}


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives(name: str) -> None:
    derivative = DERIVATIVES[name]
    found = jax.jit(derivative(lambda x: loop(x, 12) ** 2))(3.0)
    assert jnp.allclose(found, derivative(lambda x: (x * 2.0**12) ** 2)(3.0))
    jax.effects_barrier()
    assert {count for count, _ in calls} == {0, 10}


def test_outside_of_jit():
    assert once(next_of, due=True, otherwise=5, counts=[1], values=[jnp.ones(2)]) == 11
    assert once(next_of, due=False, otherwise=5, counts=[1], values=[jnp.ones(2)]) == 5
    assert calls == [(1, [1.0, 1.0])]
