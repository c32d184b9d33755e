"""The two runs of reverse mode: forward with checkpoints, and the sweep back over the turns.

The forward run keeps the state every so many turns; when all slots are full, every second is given up, and the spacing doubles.
So the number of turns need not be known (after Stumm and Walther 2010, SIAM J. Sci. Comput. 32(2), 836-854). The sweep runs the
stretch after each checkpoint again, with checkpoints of its own where the stretch is long, and keeps the residuals of a unit of
turns at a time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from autograph_jax.loops.linearized import Linearized, LinearizedLanes, linearized
from autograph_jax.loops.loop import Loop, Mask, chosen, is_inexact
from autograph_jax.loops.schedule import Plan, next_stop, plan

Arrays = list[Any]


class Saved(NamedTuple):
    """What a forward run leaves for the sweep: its number of turns, the spacing of its checkpoints, and these."""

    turns: jax.Array
    spacing: jax.Array
    states: Arrays


def plan_of(loop: Loop, const_mask: Mask, carry_mask: Mask) -> Plan:
    return plan(loop, linearized(loop, const_mask, carry_mask).residual_avals)


def run_and_save(loop: Loop, operands: Sequence[Any], plan: Plan) -> tuple[Arrays, Saved]:
    """The loop's result, and what its sweep needs."""
    cond_consts, consts, start = loop.split(operands)

    def going(carry: Any) -> jax.Array:
        return loop.going(cond_consts, carry[0])

    def turn(carry: Any) -> Any:
        state, count = carry
        return loop.turn(cond_consts, consts, state), count + 1

    def fill(carry: Any) -> Any:
        """Run until every slot is taken, then give up every second."""
        state, turns, spacing, first, states = carry

        def has_room(carry: Any) -> jax.Array:
            return jnp.logical_and(carry[2] < plan.slots, going(carry))

        def stretch(carry: Any) -> Any:
            state, turns, slot, states = carry
            states = [lax.dynamic_update_index_in_dim(s, x, slot, 0) for s, x in zip(states, state, strict=True)]
            state, more = lax.while_loop(
                lambda inner: jnp.logical_and(inner[1] < spacing, going(inner)), turn, (state, jnp.int32(0))
            )
            return state, turns + more, slot + 1, states

        state, turns, slot, states = lax.while_loop(has_room, stretch, (state, turns, first, states))
        full = slot == plan.slots
        kept = jnp.arange(plan.slots) * jnp.where(full, 2, 1) % plan.slots
        states = [jnp.take(s, kept, axis=0) for s in states]
        return state, turns, jnp.where(full, 2 * spacing, spacing), jnp.where(full, plan.slots // 2, slot), states

    empty = [jnp.empty((plan.slots, *jnp.shape(x)), x.dtype) for x in start]
    begin = (start, jnp.int32(0), jnp.int32(plan.unit), jnp.int32(0), empty)
    state, turns, spacing, _, states = lax.while_loop(going, fill, begin)
    return state, Saved(turns, spacing, states)


def sweep(
    loop: Loop,
    masks: tuple[Mask, Mask],
    operands: Sequence[Any],
    saved: Saved,
    cotangents: Sequence[Any],
    *,
    many: int = 0,
) -> tuple[Arrays, Arrays]:
    """The cotangents of the constants and of the carry before the loop, where the masks choose, of those after it.

    Cotangents may have `many` leading axes.
    """
    cond_consts, consts, _ = loop.split(operands)
    turn = linearized(loop, *masks)
    sizes = plan(loop, turn.residual_avals)
    pull = _Pull(loop, turn, masks, consts, many)

    def advance(state: Arrays, count: jax.Array) -> Arrays:
        return lax.fori_loop(0, count, lambda _, state: loop.turn(cond_consts, consts, state), state)

    def unit(carry: Any) -> Any:
        """Sweep back over the last unit of turns that is left."""
        left, depth, marks, stack, residuals, back = carry
        slot = (left - 1) // saved.spacing
        is_empty, top = depth == 0, jnp.maximum(depth - 1, 0)
        state = [lax.select(is_empty, _at(kept, slot), _at(own, top)) for kept, own in zip(saved.states, stack, strict=True)]
        mark = jnp.where(is_empty, slot * saved.spacing, _at(marks, top))
        depth, marks, stack = _push(top, mark, state, marks, stack)

        def is_far(carry: Any) -> jax.Array:
            return left - carry[1] > sizes.unit

        def approach(carry: Any) -> Any:
            state, mark, depth, marks, stack = carry
            units = (left - mark + sizes.unit - 1) // sizes.unit
            count = next_stop(units, sizes.stacked - depth) * sizes.unit
            state, mark = advance(state, count), mark + count
            return state, mark, *_push(depth, mark, state, marks, stack)

        state, mark, depth, marks, stack = lax.while_loop(is_far, approach, (state, mark, depth, marks, stack))

        def forward(number: jax.Array, carry: Any) -> Any:
            state, residuals = carry
            new, leaves = turn.forward(consts, state)
            if loop.rank:
                active = loop.active(cond_consts, state)
                new, leaves = loop.choose(active, new, state), [active, *_harmless(loop, active, leaves)]
            return new, [lax.dynamic_update_index_in_dim(r, x, number, 0) for r, x in zip(residuals, leaves, strict=True)]

        _, residuals = lax.fori_loop(0, left - mark, forward, (state, residuals))
        last = left - mark - 1
        back = lax.fori_loop(0, left - mark, lambda n, back: pull([_at(r, last - n) for r in residuals], back), back)
        return mark, depth - 1, marks, stack, residuals, back

    rows = sizes.stacked + 1  # the last one is for a state that is used once
    marks, stack = jnp.zeros(rows, jnp.int32), [jnp.empty((rows, *s.shape[1:]), s.dtype) for s in saved.states]
    leaves = [*loop.cond.out_avals, *turn.residual_avals] if loop.rank else turn.residual_avals
    residuals = [jnp.empty((sizes.unit, *leaf.shape), leaf.dtype) for leaf in leaves]
    begin = (saved.turns, jnp.int32(0), marks, stack, residuals, pull.start(cotangents))
    *_, back = lax.while_loop(lambda carry: carry[0] > 0, unit, begin)
    return back


def _push(depth: jax.Array, mark: jax.Array, state: Arrays, marks: jax.Array, stack: Arrays) -> tuple[Any, Any, Arrays]:
    new = [lax.dynamic_update_index_in_dim(own, x, depth, 0) for own, x in zip(stack, state, strict=True)]
    return depth + 1, marks.at[depth].set(mark), new


def _at(array: Any, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array, index, 0, keepdims=False)


def _harmless(loop: Loop, active: jax.Array, residuals: Arrays) -> Arrays:
    """In lanes that are over, a turn runs on values that nobody meant it for: its derivative may be infinite there."""
    ones = [lax.full_like(r, 1) if is_inexact(r) else r for r in residuals]
    return loop.choose(active, residuals, ones)


class _Pull:
    """A step of the sweep: the cotangents after a turn become those before it; those of the constants add up."""

    def __init__(
        self, loop: Loop, turn: Linearized | LinearizedLanes, masks: tuple[Mask, Mask], consts: Arrays, many: int
    ) -> None:
        self._loop, self._turn, self._many = loop, turn, many
        self._consts, self._carry = chosen(consts, masks[0]), chosen(loop.carry_avals, masks[1])
        self._invariants = turn.invariants(consts)

    def start(self, cotangents: Sequence[Any]) -> tuple[Arrays, Arrays]:
        leading = jnp.shape(cotangents[0])[: self._many]
        return [jnp.zeros((*leading, *jnp.shape(c)), c.dtype) for c in self._consts], list(cotangents)

    def __call__(self, residuals: Arrays, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
        sums, cotangents = back

        def one(cotangents: Arrays) -> tuple[Arrays, Arrays]:
            return self._pull(residuals, cotangents)

        for _ in range(self._many):
            one = jax.vmap(one)
        more, cotangents = one(cotangents)
        return [lax.add(s, m) for s, m in zip(sums, more, strict=True)], cotangents

    def _pull(self, residuals: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
        if not self._loop.rank:
            return self._transposed(residuals, cotangents)
        active, *residuals = residuals
        zeros = [lax.full_like(c, 0) for c in cotangents]
        sums, new = self._transposed(residuals, self._loop.choose(active, cotangents, zeros))
        return sums, self._loop.choose(active, new, cotangents)

    def _transposed(self, residuals: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
        def push(tangents: Arrays, carry_tangents: Arrays) -> Arrays:
            return self._turn.push(self._invariants, residuals, tangents, carry_tangents)

        structs = [[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in xs] for xs in (self._consts, self._carry)]
        return jax.linear_transpose(push, *structs)(list(cotangents))
