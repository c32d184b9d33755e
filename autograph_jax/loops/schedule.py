"""Where checkpoints stand: how many there are, and where in a stretch of turns the next one belongs.

The second is Revolve's rule (Griewank and Walther 2000, ACM TOMS 26(1), 19-45).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from autograph_jax.loops.axes import axes_of, vary
from autograph_jax.loops.loop import Loop, size_in_bytes

_STATES, _RESIDUALS = 2 * 2**20, 8 * 2**20  # bytes of the buffers, where the user names no number of checkpoints
_FEWEST, _MOST = 8, 256
_LEAST_UNIT = 128  # bytes: so small a buffer of residuals costs nothing beside the loop's own overhead


class Plan(NamedTuple):
    """The sizes of the buffers of a reverse sweep. Where residuals of all turns are kept, there are no others."""

    kept: int  # turns whose residuals the forward run keeps: as many as the loop can make, or none
    slots: int  # states that are kept
    spread: int  # so many of them at most does the forward run leave, evenly spaced; the sweep uses the others in between
    unit: int  # turns whose residuals are kept at a time; the spacing that the forward run begins with

    @property
    def rows(self) -> int:
        """Of the buffer of states: one more, for a state that is used at once."""
        return self.slots + 1


def plan(loop: Loop, states: Sequence[Any], residuals: Sequence[Any]) -> Plan:
    """Of K checkpoints all are states of these types; residuals take half as much memory, or that of one turn.

    Where that holds the residuals of all turns, these are kept and no states.
    """
    state, residual = max(1, size_in_bytes(states)), max(1, size_in_bytes(residuals))
    if loop.checkpoints is not None:
        slots = max(2, loop.checkpoints)
        room = unit = max(1, max(slots // 2 * state, _LEAST_UNIT) // residual)
    else:
        slots, room = min(_MOST, max(_FEWEST, _STATES // state)), _RESIDUALS // residual
        unit = max(1, min(room, max(_MOST, state // residual)))
    silent = not (loop.cond.effects or loop.body.effects)  # else the sweep is that of the quiet loop
    kept = loop.bound if silent and loop.bound is not None and 0 < loop.bound <= room else 0
    return Plan(kept, slots, slots // 4 * 2 or 2, unit)


def next_stop(length: jax.Array, free: jax.Array) -> jax.Array:
    """How many units to run on before the next checkpoint, in a stretch of this length with so many free slots.

    With s slots, no unit is run more than r times where the length is at most C(s + r, s).
    """
    slots = (free + 1).astype(jnp.float32)  # the one where the stretch begins counts
    wanted = length.astype(jnp.float32)

    def more(state: tuple[jax.Array, jax.Array]) -> jax.Array:
        return state[0] < wanted

    def once_more(state: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        reach, repeats = state
        return reach * (slots + repeats + 1) / (repeats + 1), repeats + 1

    start = vary(jnp.float32(1), axes_of(slots)), vary(jnp.float32(0), axes_of(slots))
    reach, repeats = jax.lax.while_loop(more, once_more, start)
    before = reach * repeats / (slots + repeats)
    rest = before * slots / jnp.maximum(slots + repeats - 1, 1)
    stop = jnp.floor(jnp.minimum(before, wanted - rest)).astype(jnp.int32)
    return jnp.where(free > 0, jnp.clip(stop, 1, length - 1), length - 1)
