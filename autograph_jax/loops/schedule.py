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

# Bytes of the buffers, where the user names no number of checkpoints. Those of a loop in a loop are made for each of its runs.
_STATES, _RESIDUALS, _UNIT = 2 * 2**20, 8 * 2**20, 2**16
_STATES_OF_NESTED, _RESIDUALS_OF_NESTED, _UNIT_OF_NESTED = 2**16, 2**18, 2**14
_FEWEST, _MOST = 8, 256
_LEAST_UNIT = 128  # bytes: so small a buffer of residuals costs nothing beside the loop's own overhead


class Plan(NamedTuple):
    """The sizes of the buffers of a reverse sweep. Where residuals of all turns are kept, there are no others."""

    kept: int  # turns whose residuals the forward run keeps: as many as the loop can make, or none; 1 where a turn leaves none
    slots: int  # states that are kept
    spread: int  # so many of them at most does the forward run leave, evenly spaced; the sweep uses the others in between
    unit: int  # turns whose residuals are kept at a time; the spacing that the forward run begins with
    first: int  # turns whose residuals the forward run keeps: all, the first unit, or none where that is much

    @property
    def rows(self) -> int:
        """Of the buffer of states: one more, for a state that is used at once."""
        return self.slots + 1


def plan(loop: Loop, states: Sequence[Any], residuals: Sequence[Any]) -> Plan:
    """Of K checkpoints all are states of these types; residuals take half as much memory, or that of one turn.

    Where that holds the residuals of all turns, these are kept and no states; nothing at all where turns leave none.
    """
    state, residual = max(1, size_in_bytes(states)), max(1, size_in_bytes(residuals))
    checkpoints, bound = loop.given.checkpoints, loop.given.bound
    if checkpoints is not None:
        slots = max(2, checkpoints)
        room = unit = max(1, max(slots // 2 * state, _LEAST_UNIT) // residual)
    else:
        of_states, of_residuals, of_unit = _STATES, _RESIDUALS, _UNIT
        if loop.given.is_nested:
            of_states, of_residuals, of_unit = _STATES_OF_NESTED, _RESIDUALS_OF_NESTED, _UNIT_OF_NESTED
        slots, room = min(_MOST, max(_FEWEST, of_states // state)), of_residuals // residual
        unit = max(1, min(room, max(_MOST, state // residual, of_unit // residual)))
    silent = not (loop.cond.effects or loop.body.effects)  # else the sweep is that of the quiet loop
    kept = bound if silent and bound is not None and 0 < bound <= room else int(silent and not residuals)
    is_little = silent and unit * residual <= _STATES
    return Plan(kept, slots, slots // 4 * 2 or 2, unit, kept or (unit if is_little else 0))


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
