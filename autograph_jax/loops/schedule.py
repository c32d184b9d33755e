"""Where checkpoints stand: how many there are, and where in a stretch of turns the next one belongs.

The second is Revolve's rule (Griewank and Walther 2000, ACM TOMS 26(1), 19-45).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from autograph_jax.loops.loop import Loop, size_in_bytes

_BUDGET = 8 * 2**20  # bytes for each of the buffers, where the user names no number of checkpoints
_FEWEST, _MOST = 8, 256
_MOST_STACKED = 32


class Plan(NamedTuple):
    """The sizes of the buffers of a reverse sweep."""

    slots: int  # states that the forward run keeps, evenly spaced; an even number
    stacked: int  # states between two of these, in the sweep
    unit: int  # turns whose residuals are kept at a time; the spacing that the forward run begins with


def plan(loop: Loop, residuals: Sequence[Any]) -> Plan:
    """Of K checkpoints a quarter stand along the whole run, half in the stretch at hand, and a quarter are residuals."""
    state, residual = size_in_bytes(loop.carry_avals), size_in_bytes(residuals)
    if loop.checkpoints is not None:
        count = loop.checkpoints
        unit = max(1, count // 4 * max(state, 1) // max(residual, state, 1))
        return Plan(_even(max(2, count // 4)), max(1, count // 2), unit)
    slots = min(_MOST, max(_FEWEST, _BUDGET // max(state, 1)))
    unit = min(_MOST, max(1, _BUDGET // max(residual, 1)))
    return Plan(_even(slots), min(_MOST_STACKED, slots), unit)


def _even(count: int) -> int:
    return count + count % 2


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

    reach, repeats = jax.lax.while_loop(more, once_more, (jnp.float32(1), jnp.float32(0)))
    before = reach * repeats / (slots + repeats)
    rest = before * slots / jnp.maximum(slots + repeats - 1, 1)
    stop = jnp.floor(jnp.minimum(before, wanted - rest)).astype(jnp.int32)
    return jnp.where(free > 0, jnp.clip(stop, 1, length - 1), length - 1)
