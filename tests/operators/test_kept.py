"""What JAX keeps of a function that was traced in a block: used elsewhere, it must not ask for that block."""

import contextlib
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.operators.tracing import kept


@pytest.fixture(autouse=True)
def nothing_has_happened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "_asking", weakref.WeakSet())


def grown(v: Any) -> Any:
    while v < 4:
        v = v + 1
    return v


def asserted(v: Any) -> Any:
    assert v > -9, v
    return v + 1


def printed(v: Any) -> Any:
    print(v)
    return v + 1


def in_a_branch(function: Any, x: Any) -> Any:
    if x > 1:
        x = function(x)
    return x


def in_another_branch(function: Any, x: Any) -> Any:
    y = x * 2
    if x < 1:
        y = y - 1
    else:
        y = function(x) + y
    return y


def in_turns(function: Any, x: Any) -> Any:
    for i in range(jnp.int32(x)):
        if i != 1:
            x = function(x)
    return x


def outside(function: Any, x: Any) -> Any:
    return function(x) + 1


def twice_in_a_branch(function: Any, x: Any) -> Any:
    if x > 1:
        if x > 2:
            x = function(x)
        x = function(x)
    return x


def beside_a_handler(function: Any, x: Any) -> Any:
    if x > 1:
        try:
            x = function(x)
        except BaseException:
            x = x * 100
        with contextlib.suppress(BaseException):
            x = function(x)
    return x


PLACES = [in_a_branch, in_another_branch, in_turns, outside, twice_in_a_branch]


@pytest.mark.parametrize("wrapped", [jax.jit, jax.checkpoint, lambda f: jax.jit(lambda v: f(v) + 0), ag.jit])
@pytest.mark.parametrize("function", [grown, asserted, printed])
@pytest.mark.parametrize("first", range(len(PLACES)))
def test_a_function_serves_all_blocks(first: int, function: Callable[..., Any], wrapped: Any):
    compiled = wrapped(autograph(function))
    for place in PLACES[first:] + PLACES[:first]:
        wanted = place(autograph(function), jnp.float32(2.5))
        assert ag.jit(lambda x, place=place: autograph(place)(compiled, x))(2.5) == wanted
    assert wrapped(compiled)(2.5) == autograph(function)(jnp.float32(2.5))


@pytest.mark.parametrize("function", [grown, printed])
def test_handlers_of_the_users_are_not_told(function: Callable[..., Any]):
    assert ag.jit(lambda x: autograph(beside_a_handler)(jax.jit(autograph(function)), x))(2.5) == function(function(2.5))


@pytest.mark.parametrize("function", [grown, asserted, printed])
def test_functions_in_functions(function: Callable[..., Any]):
    inner = jax.jit(autograph(function))
    around = jax.jit(lambda v: autograph(in_a_branch)(inner, v))
    wanted = function(2.5)
    for _ in range(2):
        assert ag.jit(lambda x: autograph(in_another_branch)(around, x))(2.5) == wanted + 5
        assert around(2.5) == wanted
        assert inner(2.5) == wanted
