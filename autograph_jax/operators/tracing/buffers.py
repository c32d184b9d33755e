"""The memory of ported code's arrays is state like an attribute: a write of it is noted in the running trace."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from autograph_jax.errors import PortingError, user_location
from autograph_jax.operators.effects import attempts, checks
from autograph_jax.operators.tracing import holders, listed, state
from autograph_jax.operators.tracing.aliasing import doubtful_error, doubtful_with
from autograph_jax.operators.tracing.places import Attribute
from autograph_jax.porting import hooks
from autograph_jax.porting.arrays import Buffer


def note_write(buffer: Buffer, value: Any) -> Any:
    """The value to be written: where a `try` around has failed, so that Python does not come here, what was there."""
    if attempts.is_written_late(buffer):
        value = jnp.where(attempts.unless_failed(jnp.asarray(True)), value, buffer.value)
    listed.check_write(buffer)
    for other in doubtful_with(buffer):
        if holders.holder_of(other, None) is not None:
            raise doubtful_error()
    state.note(Attribute(buffer, "value"))
    return value


def check_reshape(buffer: Buffer) -> None:
    """In a staged block an array that is older keeps its shape: whether the block is run, traced data decides."""
    if state.traces() and buffer.serial < state.traces()[-1].serial:
        raise PortingError(
            "the shape of an array is written in a block that traced data decides about",
            location=user_location(),
            help="`y = x.reshape(shape)` makes another array",
        )


hooks.before_write = note_write
hooks.before_reshape = check_reshape
hooks.raise_where = checks.raise_where
