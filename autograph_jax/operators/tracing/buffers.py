"""The memory of ported code's arrays is state like an attribute: a write of it is noted in the running trace."""

from __future__ import annotations

from autograph_jax.operators.effects import attempts
from autograph_jax.operators.tracing import holders, state
from autograph_jax.operators.tracing.aliasing import doubtful_error, doubtful_with
from autograph_jax.operators.tracing.places import Attribute
from autograph_jax.porting import hooks
from autograph_jax.porting.arrays import Buffer


def note_write(buffer: Buffer) -> None:
    attempts.check_write(buffer)
    for other in doubtful_with(buffer):
        if holders.holder_of(other, None) is not None:
            raise doubtful_error()
    state.note(Attribute(buffer, "value"))


hooks.before_write = note_write
