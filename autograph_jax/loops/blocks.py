"""A mapped while loop runs its lanes in blocks, each a loop of its own: a block whose lanes are over waits for no other.

Lanes in lock step cost as many turns as the longest of them, and in each both branches of every condition. A block is as many
lanes as one kernel takes; so this is for loops that are one kernel then (`kernels.py`), whose lanes know nothing of each other,
and for arrays that XLA would not share among threads. Where a kernel takes no 64 lanes, and much of it is in branches, and
where it multiplies matrices, which XLA does lane by lane anyway, the lanes run one after the other: of 32 in lock step XLA
computes much again for each of their results (SciPy's `fminbound` took 1.6 ms for 1,000 lanes, and 0.95 one by one; `newton`,
of which 64 fit, 0.11 and 0.19). Each lane computes what it computed before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from autograph_jax.loops import kernels
from autograph_jax.loops.evaluation import is_call, programs_of
from autograph_jax.loops.loop import Loop, merged

SIZES = (128, 64, 1, 32)  # how many lanes a block may have, the best first
_FEWEST_LANES = 512
_MOST_BYTES = 1 << 19  # of an array of all lanes


def may_be_in_blocks(loop: Loop, size: int) -> bool:
    """Is it worth a try? Whether a block is one kernel is seen when it is compiled."""
    if loop.inner is None or loop.axis is None or loop.effects or loop.axes or loop.axis.size < _FEWEST_LANES:
        return False
    arrays = loop.carry_avals
    is_alone = not isinstance(loop.axis.data.name, str)  # lanes on a named axis may exchange values
    is_small = all(aval.size * aval.dtype.itemsize <= _MOST_BYTES for aval in arrays)
    may_be_kernel = kernels.surely_not(programs_of(loop.inner.params), size) is None
    body = loop.inner.body.jaxpr
    is_size = not _multiplies(body) if size > 1 else _parts_lanes(body) or _multiplies(body)
    return is_alone and is_small and is_size and may_be_kernel


def _parts_lanes(jaxpr: Any) -> bool:
    """Is a good part of a body in branches and in loops, which lanes in lock step all run?"""
    inside, beside = 0, 0
    pending = [(jaxpr, False)]
    for jaxpr, is_inside in pending:  # which grows
        for equation in jaxpr.eqns:
            inside += is_inside
            beside += not is_inside
            pending += [(inner, is_inside or not is_call(equation)) for inner in programs_of(equation.params)]
    return inside > beside / 2


def _multiplies(jaxpr: Any) -> bool:
    """Does a body multiply arrays, of which each lane has its own?"""
    return any(e.primitive.name == "dot_general" or any(map(_multiplies, programs_of(e.params))) for e in jaxpr.eqns)


def run_in_blocks(loop: Loop, primitive: Any, size: int, operands: Sequence[Any]) -> list[Any]:
    """What the loop gives, in blocks of so many lanes; `primitive` is that of our loops."""
    inner = loop.inner
    assert inner is not None and loop.axis is not None
    dims = [*loop.axis.cond_dims, *loop.axis.const_dims, *(0 for _ in loop.carry_avals)]
    is_mapped = [dim is not None for dim in dims]
    shared = [x for x, mapped in zip(operands, is_mapped, strict=True) if not mapped]
    rows = [jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True) if d is not None]

    def lane(*one: Any) -> list[Any]:
        return primitive.bind(*one, loop=inner, **inner.params)

    def block(rows: Sequence[Any]) -> list[Any]:
        given = merged(merged([None] * len(dims), shared, [not m for m in is_mapped]), rows, is_mapped)
        return jax.vmap(lane, in_axes=[0 if mapped else None for mapped in is_mapped])(*given)

    def single(rows: Sequence[Any]) -> list[Any]:
        return lane(*merged(merged([None] * len(dims), shared, [not m for m in is_mapped]), rows, is_mapped))

    if size == 1:
        return lax.scan(lambda _, rows: (None, single(rows)), None, rows)[1]
    count = loop.axis.size

    def turn(state: tuple[Any, Sequence[Any]], _: None) -> tuple[Any, None]:
        first, out = state
        starts = [[first, *[np.int32(0)] * (row.ndim - 1)] for row in rows]
        sizes = [(size, *row.shape[1:]) for row in rows]
        cut = [lax.dynamic_slice(*each, allow_negative_indices=False) for each in zip(rows, starts, sizes, strict=True)]
        given = zip(out, block(cut), starts[-len(out) :], strict=True)  # the carry comes last
        left = [lax.dynamic_update_slice(*each, allow_negative_indices=False) for each in given]
        # The last block begins among the lanes of the one before.
        return (lax.min(lax.add(first, np.int32(size)), np.int32(count - size)), left), None

    carry = operands[-len(loop.carry_avals) :]  # which is as large as what the loop gives
    return lax.scan(turn, (np.int32(0), [*carry]), None, -(-count // size))[0][1]
