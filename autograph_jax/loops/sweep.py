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

from autograph_jax.loops.axes import axes_of, axes_of_type, struct, vary
from autograph_jax.loops.linearized import Linearized, LinearizedLanes, linearized
from autograph_jax.loops.loop import Loop, Mask, chosen, is_inexact
from autograph_jax.loops.schedule import Plan, next_stop, plan
from autograph_jax.loops.sums import adding_in_place
from autograph_jax.loops.writes import writes_last

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
            return jnp.logical_and(carry[2] < plan.spread, going(carry))

        def stretch(carry: Any) -> Any:
            state, turns, slot, states = carry
            states = _put(states, state, slot)
            state, more = lax.while_loop(
                lambda inner: jnp.logical_and(inner[1] < spacing, going(inner)), turn, (state, jnp.int32(0))
            )
            return state, turns + more, slot + 1, states

        state, turns, slot, states = lax.while_loop(has_room, stretch, (state, turns, first, states))
        return state, turns, *lax.cond(slot == plan.spread, half, lambda *same: same, spacing, slot, states)

    def half(spacing: jax.Array, slot: jax.Array, states: Arrays) -> Any:
        return 2 * spacing, slot // 2, [lax.dynamic_update_slice_in_dim(s, s[: plan.spread : 2], 0, 0) for s in states]

    empty = [vary(jnp.empty((plan.rows, *jnp.shape(x)), x.dtype), axes_of(x) | loop.axes) for x in start]
    begin = (start, *(vary(jnp.int32(number), loop.axes) for number in (0, plan.unit, 0)), empty)
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
        mark, state = _at(marks, depth - 1), [_at(own, depth - 1) for own in stack]

        def is_far(carry: Any) -> jax.Array:
            return left - carry[1] > sizes.unit

        def approach(carry: Any) -> Any:
            """Run on, and leave a checkpoint unless this is where the sweep goes on."""
            state, mark, depth, marks, stack = carry
            units = (left - mark + sizes.unit - 1) // sizes.unit
            count = next_stop(units, sizes.slots - depth) * sizes.unit
            state, mark = advance(state, count), mark + count
            more = left - mark > sizes.unit  # what is put beyond the top of the stack counts for nothing
            return state, mark, depth + more, _put([marks], [mark], depth)[0], _put(stack, state, depth)

        state, mark, depth, marks, stack = lax.while_loop(is_far, approach, (state, mark, depth, marks, stack))

        def forward(number: jax.Array, carry: Any) -> Any:
            state, residuals = carry
            new, leaves = turn.forward(consts, state)
            if loop.rank:
                active = loop.active(cond_consts, state)
                new, leaves = loop.choose(active, new, state), [active, *_harmless(loop, active, leaves)]
            return new, _put(residuals, leaves, number)

        _, residuals = lax.fori_loop(0, left - mark, forward, (state, residuals))
        last = left - mark - 1
        back = lax.fori_loop(0, left - mark, lambda n, back: pull([_at(r, last - n) for r in residuals], back), back)
        return mark, depth - (_at(marks, depth - 1) == mark), marks, stack, residuals, back

    marks = jnp.arange(sizes.rows, dtype=jnp.int32) * saved.spacing
    depth = (saved.turns + saved.spacing - 1) // saved.spacing
    leaves = [*loop.cond.out_avals, *turn.residual_avals] if loop.rank else turn.residual_avals
    residuals = [vary(jnp.empty((sizes.unit, *leaf.shape), leaf.dtype), axes_of_type(leaf) | loop.axes) for leaf in leaves]
    begin = (saved.turns, depth, marks, saved.states, residuals, pull.start(cotangents))
    *_, back = lax.while_loop(lambda carry: carry[0] > 0, unit, begin)
    return back


def _put(arrays: Sequence[Any], values: Sequence[Any], index: Any) -> Arrays:
    return [lax.dynamic_update_index_in_dim(a, x, index, 0) for a, x in zip(arrays, values, strict=True)]


def _at(array: Any, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array, index, 0, keepdims=False)


def _harmless(loop: Loop, active: jax.Array, residuals: Arrays) -> Arrays:
    """In lanes that are over, a turn runs on values that nobody meant it for: its derivative may be infinite there."""
    ones = [lax.full_like(r, 1) if is_inexact(r) else r for r in residuals]
    return loop.choose(active, residuals, ones)


def _harmless_invariant(active: jax.Array, value: Any, lanes: tuple[bool, ...]) -> Any:
    """The same for what each turn needs, of which some lanes never make one: log(x) of a lane that ends at x = 0."""
    if not any(lanes) or not is_inexact(value):
        return value
    mine = active.any(axis=tuple(axis for axis, own in enumerate(lanes) if not own))
    spread = lax.broadcast_in_dim(mine, jnp.shape(value), tuple(range(mine.ndim)))
    return lax.select(spread, value, lax.full_like(value, 1))


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
        sums = [vary(jnp.zeros((*leading, *jnp.shape(c)), c.dtype), axes_of(c)) for c in self._consts]
        return sums, list(cotangents)

    def __call__(self, residuals: Arrays, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
        if not self._many and not self._loop.rank and not any(axes_of_type(jax.typeof(x)) for x in (*residuals, *back[1])):
            return self._in_place(residuals, back)
        sums, cotangents = back

        def one(cotangents: Arrays) -> tuple[Arrays, Arrays]:
            return self._pull(residuals, cotangents)

        for _ in range(self._many):
            one = jax.vmap(one)
        more, cotangents = one(cotangents)
        return [lax.add(s, m) for s, m in zip(sums, more, strict=True)], cotangents

    def _in_place(self, residuals: Arrays, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
        """Of a single loop: what is added to an element of an array costs no more than that."""

        def step(invariants: Arrays, residuals: Arrays, sums: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
            more, new = self._transposed(invariants, residuals, cotangents)
            return [lax.add(s, m) for s, m in zip(sums, more, strict=True)], new

        operands = self._invariants, residuals, *back
        leaves = jax.tree.leaves(operands)
        program = jax.make_jaxpr(step)(*operands)
        new = writes_last(jax.make_jaxpr(adding_in_place(program))(*leaves))(*leaves)
        return list(new[: len(self._consts)]), list(new[len(self._consts) :])

    def _pull(self, residuals: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
        if not self._loop.rank:
            return self._transposed(self._invariants, residuals, cotangents)
        active, *residuals = residuals
        zeros = [lax.full_like(c, 0) for c in cotangents]
        lanes = self._turn.invariant_lanes()
        invariants = [_harmless_invariant(active, v, own) for v, own in zip(self._invariants, lanes, strict=True)]
        sums, new = self._transposed(invariants, residuals, self._loop.choose(active, cotangents, zeros))
        return sums, self._loop.choose(active, new, cotangents)

    def _transposed(self, invariants: Arrays, residuals: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
        def push(tangents: Arrays, carry_tangents: Arrays) -> Arrays:
            return self._turn.push(invariants, residuals, tangents, carry_tangents)

        structs = [[struct(jax.typeof(c)) for c in self._consts], [struct(aval) for aval in self._carry]]
        return jax.linear_transpose(push, *structs)(list(cotangents))
