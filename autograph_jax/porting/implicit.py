"""The derivative of a root by the function that it is a root of: how a search comes there does not matter.

Where f(x, p) = 0, x changes with p by -(df/dp) / (df/dx): the implicit function theorem. The steps of a search have other
derivatives, those of a bisection none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from . import hooks
from .arrays import value_of


def root(x: Any, f: Callable[[Any], Any]) -> Any:
    """`x`, a root of `f` with one number as its argument, with the derivative of a root by all that `f` holds."""
    if not isinstance(x, jax.Array) and not hooks.holds_traced(f):
        return x
    at = jax.lax.stop_gradient(jnp.asarray(x))
    closed = hooks.traced_aside(lambda x: jnp.asarray(value_of(f(x)), at.dtype), at)
    held = closed.consts
    program = jax.make_jaxpr(lambda x, *held: jaxpr_as_fun(ClosedJaxpr(closed.jaxpr, held))(x))(at, *held)
    return _solution(program, at, *held)


def constant(x: Any) -> Any:
    """The same numbers without a derivative: what estimates errors has none."""
    return jax.lax.stop_gradient(value_of(x)) if hooks.holds_traced(x) else x


@functools.partial(jax.custom_jvp, nondiff_argnums=(0,))
def _solution(program: Any, x: jax.Array, *held: Any) -> jax.Array:
    """`x`, where a program gives 0, whose other arguments are these."""
    return x


@_solution.defjvp
def _moved(program: Any, primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    run, x, held = jaxpr_as_fun(program), _solution(program, *primals), primals[1:]
    _, by_held = jax.jvp(lambda *held: run(x, *held)[0], held, tangents[1:])
    _, by_x = jax.jvp(lambda x: run(x, *held)[0], (x,), (jnp.ones_like(x),))
    return x, -by_held / by_x
