"""A library's wrapper around a user's function: the wrapper stays what it is, and the function inside is converted."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import pytest

from autograph_jax import autograph, do_not_convert
from autograph_jax.runtime.wrappers import wrapped_in_library


def size(x):
    """Only converted code can do this under jit."""
    if x > 0:
        return x
    return -x


def kept_in_a_closure(function: Callable[..., Any]) -> Any:
    return jax.named_scope("size")(function)


def kept_in_inner_functions(function: Callable[..., Any]) -> Any:
    jaxtyping = pytest.importorskip("jaxtyping")
    return jaxtyping.jaxtyped(typechecker=pytest.importorskip("beartype").beartype)(function)


def kept_in_a_default(function: Callable[..., Any]) -> Any:
    number = pytest.importorskip("jaxtyping").Float[jax.Array, ""]
    function.__annotations__ = {"x": number, "return": number}
    return pytest.importorskip("beartype").beartype(function)


def two_wrappers(function: Callable[..., Any]) -> Any:
    return jax.checkpoint(jax.named_scope("size")(function))


WRAPPERS = [kept_in_a_closure, kept_in_inner_functions, kept_in_a_default, jax.checkpoint, two_wrappers]


def fresh() -> Any:
    """A function of its own, since its twin is kept with it."""
    return type(size)(size.__code__, globals(), "size")


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_decorated(wrap: Callable[..., Any]) -> None:
    wrapped = wrap(fresh())
    converted = autograph(wrapped)
    assert jax.jit(converted)(jnp.float32(-2)) == 2 and converted(jnp.float32(-2)) == 2
    assert autograph(wrapped) is converted and autograph(converted) is converted
    assert converted.__name__ == "size" and converted.__doc__ == wrapped.__doc__


@pytest.mark.parametrize("wrap", WRAPPERS)
def test_called(wrap: Callable[..., Any]) -> None:
    wrapped = wrap(fresh())

    @autograph
    def twice(x):
        return wrapped(wrapped(x) - 3)

    assert jax.jit(twice)(jnp.float32(-2)) == 1


def test_what_it_got_stays_as_it_was():
    wrapped = jax.named_scope("size")(fresh())
    autograph(wrapped)
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(wrapped)(jnp.float32(-2))


def test_a_transformation_is_kept():
    mapped, slope = jax.vmap(fresh()), jax.grad(fresh())

    @autograph
    def use(x):
        return mapped(x), slope(x[0])

    values, derivative = jax.jit(use)(jnp.array([-1.0, 2.0]))
    assert values.tolist() == [1, 2] and derivative == -1


def test_a_variable_that_the_function_writes_is_state():
    @autograph
    def count(x):
        calls = 0

        @jax.named_scope("step")
        def step(x):
            nonlocal calls
            calls += 1
            return x / 2 if x > 0 else x

        while x > 1:
            x = step(x)
        return calls

    assert jax.jit(count)(9.0) == count(9.0) == 4


def test_a_method():
    class Model(eqx.Module):
        scale: float

        @autograph
        @jax.named_scope("model")
        def __call__(self, x):
            return self.scale * x if x > 0 else x

    assert jax.jit(Model(3.0))(2.0) == 6


def test_a_marked_function_is_left():
    wrapped = jax.named_scope("size")(do_not_convert(fresh()))

    @autograph
    def use(x):
        return wrapped(x)

    with pytest.raises(jax.errors.TracerBoolConversionError):
        jax.jit(use)(jnp.float32(-2))


def test_a_context_manager_of_a_generator():
    @contextlib.contextmanager
    def scaled(by):
        yield 2 * by if by > 0 else by

    @autograph
    def use(x):
        with scaled(x) as y:
            return y

    assert jax.jit(use)(3.0) == 6 and jax.jit(use)(-3.0) == -3


@pytest.mark.parametrize(
    "function", [size, functools.wraps(size)(lambda x: size(x)), contextlib.contextmanager, eqx.filter_jit]
)
def test_what_is_no_wrapper_of_a_users_function(function: Any) -> None:
    assert wrapped_in_library(function) is None
