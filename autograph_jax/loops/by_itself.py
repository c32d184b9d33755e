"""Arithmetic that XLA is to do by itself, before what follows: a call on CPUs, a barrier on other devices.

Of what stands in a call XLA computes nothing a second time where its results are used, as it else does with a read that several
operations use: the array would have to be there, as it was, until the last of them. On other devices than CPUs the arithmetic
stays where it is, behind a barrier, and XLA makes few kernels of it: of a call it made three times as many on an H200, which
took 1.6 times as long as behind a barrier; without one it took 1.7 times as long.
"""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.experimental.xla_metadata import set_xla_metadata
from jax.extend.core import jaxpr_as_fun

from autograph_jax.loops.evaluation import called, is_call

_by_a_call = contextvars.ContextVar("_by_a_call", default=True)


def are_by_a_call() -> bool:
    """Has what is traced now the arithmetic of a turn in a call of its own? So it is where the device is not known yet."""
    return _by_a_call.get()


def is_for_another_platform(equation: Any) -> bool:
    """Is this such a call, of a derivative that was made before its platform was known, where now none is to be?"""
    return is_by_itself(equation) and not are_by_a_call()


def is_by_itself(equation: Any) -> bool:
    """Is this such a call?"""
    if not is_call(equation):
        return False
    metadata = getattr(equation.ctx, "xla_metadata", None) or {}
    return metadata.get("inlineable") == "false"


def behind_a_barrier(equation: Any, *operands: Any) -> Sequence[Any]:
    """What such a call gives."""
    return jax.lax.optimization_barrier(jaxpr_as_fun(called(equation))(*operands))


def by_itself(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, of arrays, so that it is done by itself."""

    @jax.jit
    def call(*operands: Any) -> Any:
        with set_xla_metadata(inlineable="true"):  # or the mark would be handed on to the loops in it, where they are lowered
            return function(*operands)

    def done(*operands: Any) -> Any:
        if not are_by_a_call():
            return jax.lax.optimization_barrier(function(*operands))
        with set_xla_metadata(inlineable="false"):
            return call(*operands)

    return done


def for_its_platform(rule: Callable[..., Any]) -> Callable[..., Any]:
    """A lowering rule that traces turns as it is good for the platforms that it lowers for."""

    def with_platform(lowering: Any, *operands: Any, **params: Any) -> Any:
        token = _by_a_call.set("cpu" in (lowering.platforms or lowering.module_context.platforms))
        try:
            return rule(lowering, *operands, **params)
        finally:
            _by_a_call.reset(token)

    return with_platform
