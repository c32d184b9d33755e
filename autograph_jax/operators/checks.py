"""Errors that traced data decides about: they reach the caller at run time, and are never dropped."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators import state


def raise_where(condition: Any, error: BaseException) -> None:
    """Raise an error at run time where a traced condition holds, and the code that asks is really reached.

    Under vmap both branches of a `cond` run for every lane, so the conditions of all blocks around count too.
    """
    for trace in state.traces():
        if trace.active is not None:
            condition = jnp.logical_and(trace.active, condition)

    def report(failed: Any) -> None:
        if failed.any():
            raise error

    jax.lax.cond(condition, lambda c: jax.debug.callback(report, c), lambda c: None, jnp.asarray(condition))
