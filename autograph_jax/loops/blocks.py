"""A mapped while loop runs its lanes in blocks, each a loop of its own: a block whose lanes are over waits for no other.

Lanes in lock step cost as many turns as the longest of them. A block is as many lanes as one kernel takes; so this is for loops
that are one kernel then (`kernels.py`), whose lanes know nothing of each other, and for arrays that XLA would not share among
threads. Each lane computes what it computed before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph_jax.loops import kernels
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.loop import Loop, merged

_LANES = 128  # of a block
_FEWEST_BLOCKS = 4
_MOST_BYTES = 1 << 19  # of an array of all lanes


def may_be_in_blocks(loop: Loop) -> bool:
    """Is it worth a try? Whether a block is one kernel is seen when it is compiled."""
    if loop.inner is None or loop.axis is None or loop.body.effects or loop.cond.effects or loop.axes:
        return False
    arrays = loop.carry_avals
    is_alone = not isinstance(loop.axis.data.name, str)  # lanes on a named axis may exchange values
    is_small = all(aval.size * aval.dtype.itemsize <= _MOST_BYTES for aval in arrays)
    may_be_kernel = kernels.surely_not(programs_of(loop.inner.params), _LANES) is None
    return is_alone and is_small and loop.axis.size >= _FEWEST_BLOCKS * _LANES and may_be_kernel


def run_in_blocks(loop: Loop, primitive: Any, operands: Sequence[Any]) -> list[Any]:
    """What the loop gives; `primitive` is that of our loops."""
    inner = loop.inner
    assert inner is not None and loop.axis is not None
    dims = [*loop.axis.cond_dims, *loop.axis.const_dims, *(0 for _ in loop.carry_avals)]
    is_mapped = [dim is not None for dim in dims]
    shared = [x for x, mapped in zip(operands, is_mapped, strict=True) if not mapped]
    rows = [jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True) if d is not None]

    def block(rows: Sequence[Any]) -> list[Any]:
        given = merged(merged([None] * len(dims), shared, [not m for m in is_mapped]), rows, is_mapped)
        in_axes = [0 if mapped else None for mapped in is_mapped]
        return jax.vmap(lambda *one: primitive.bind(*one, loop=inner, **inner.params), in_axes=in_axes)(*given)

    whole = loop.axis.size // _LANES * _LANES
    stacked = [lax.reshape(row[:whole], (whole // _LANES, _LANES, *row.shape[1:])) for row in rows]
    _, out = lax.scan(lambda _, rows: (None, block(rows)), None, stacked)
    out = [lax.reshape(o, (whole, *o.shape[2:])) for o in out]
    if whole == loop.axis.size:
        return out
    rest = block([row[whole:] for row in rows])
    return [lax.concatenate([o, r], 0) for o, r in zip(out, rest, strict=True)]
