"""The two runs of reverse mode: forward, and the sweep back over the turns.

Where there is room for the residuals of all turns that a loop can make, the forward run keeps them, and no turn is run again.
Otherwise it keeps the state every so many turns; when all slots are full, every second is given up, and the spacing doubles.
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

from autograph_jax.loops.axes import axes_of_type, vary
from autograph_jax.loops.linearized import Linearized, LinearizedLanes, linearized
from autograph_jax.loops.loop import Loop, Mask, chosen, is_inexact
from autograph_jax.loops.pull import Arrays, Pull
from autograph_jax.loops.quiet import quiet
from autograph_jax.loops.schedule import Plan, next_stop, plan

Masks = tuple[Mask, Mask]
Turn = Linearized | LinearizedLanes


class Saved(NamedTuple):
    """What a forward run leaves for the sweep: its number of turns, the spacing of its checkpoints, and these.

    Or the residuals of all turns: then each lane has its own number of turns.
    """

    turns: jax.Array
    spacing: jax.Array
    arrays: Arrays


def plan_of(loop: Loop, masks: Masks) -> Plan:
    return plan(loop, _states(loop, masks), linearized(loop, *masks).residual_avals)


def run_again(loop: Loop, masks: Masks) -> Mask:
    """Which part of the carry is run again in the sweep: what decides the residuals, and how many turns there are.

    `for j in range(i): b[j] = a[j] * x` runs j again, and saves no b. It is the same for all that become of a loop until it is
    compiled, since what has been saved by one is swept by another.
    """
    loop = quiet(loop.origin or loop)
    return loop.derived(("run again", masks), lambda: linearized(loop, *masks).needed(loop.deciding))


def _states(loop: Loop, masks: Masks) -> list[Any]:
    return chosen(loop.carry_avals, run_again(loop, masks))


def saved_avals(loop: Loop, masks: Masks) -> list[Any]:
    """The types of what is saved, one after the other."""
    sizes = plan_of(loop, masks)
    predicate = loop.cond.out_avals[0]  # a number differs between devices where it does
    number = predicate.update(shape=(), dtype=jnp.dtype(jnp.int32))
    turns = predicate.update(dtype=number.dtype) if sizes.kept else number
    rows, avals = (sizes.kept, linearized(loop, *masks).residual_avals) if sizes.kept else (sizes.rows, _states(loop, masks))
    return [turns, number, *(a.update(shape=(rows, *a.shape), weak_type=False) for a in avals)]


def run_and_save(loop: Loop, operands: Sequence[Any], masks: Masks) -> tuple[Arrays, Saved]:
    """The loop's result, and what its sweep needs."""
    sizes = plan_of(loop, masks)
    if sizes.kept:
        return _run_and_keep_all(loop, linearized(loop, *masks), operands, sizes.kept)
    return _run_with_checkpoints(loop, operands, sizes, run_again(loop, masks))


def _run_and_keep_all(loop: Loop, turn: Turn, operands: Sequence[Any], most: int) -> tuple[Arrays, Saved]:
    cond_consts, consts, start = loop.split(operands)

    def forward(carry: Any) -> Any:
        state, number, turns, residuals = carry
        active, new, leaves = _forward(loop, turn, cond_consts, consts, state)
        more = active.astype(jnp.int32) if loop.rank else 1
        return new, number + 1, turns + more, _put(residuals, leaves, number)

    numbers = [vary(jnp.zeros(shape, jnp.int32), loop.axes) for shape in ((), loop.cond.out_avals[0].shape)]
    begin = start, *numbers, _room(loop, most, turn.residual_avals)
    state, number, turns, residuals = lax.while_loop(lambda carry: loop.going(cond_consts, carry[0]), forward, begin)
    return state, Saved(turns, jnp.zeros_like(number), residuals)


def _run_with_checkpoints(loop: Loop, operands: Sequence[Any], plan: Plan, part: Mask) -> tuple[Arrays, Saved]:
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
            states = _put(states, chosen(state, part), slot)
            state, more = lax.while_loop(
                lambda inner: jnp.logical_and(inner[1] < spacing, going(inner)), turn, (state, jnp.int32(0))
            )
            return state, turns + more, slot + 1, states

        state, turns, slot, states = lax.while_loop(has_room, stretch, (state, turns, first, states))
        return state, turns, *lax.cond(slot == plan.spread, half, lambda *same: same, spacing, slot, states)

    def half(spacing: jax.Array, slot: jax.Array, states: Arrays) -> Any:
        return 2 * spacing, slot // 2, [lax.dynamic_update_slice_in_dim(s, s[: plan.spread : 2], 0, 0) for s in states]

    empty = _room(loop, plan.rows, chosen(start, part))
    begin = (start, *(vary(jnp.int32(number), loop.axes) for number in (0, plan.unit, 0)), empty)
    state, turns, spacing, _, states = lax.while_loop(going, fill, begin)
    return state, Saved(turns, spacing, states)


def sweep(
    loop: Loop,
    masks: Masks,
    operands: Sequence[Any],
    saved: Saved,
    cotangents: Sequence[Any],
    *,
    many: int = 0,
) -> tuple[Arrays, Arrays]:
    """The cotangents of the constants and of the carry before the loop, where the masks choose, of those after it.

    Cotangents may have `many` leading axes.
    """
    turn = linearized(loop, *masks)
    sizes = plan_of(loop, masks)
    pull = Pull(loop, turn, masks, loop.split(operands)[1], many)
    back = pull.start(cotangents)
    if sizes.kept:
        return _sweep_kept(loop, pull, saved, back)
    return _sweep_again(loop, turn, run_again(loop, masks), operands, saved, sizes, pull, back)


def _sweep_kept(loop: Loop, pull: Pull, saved: Saved, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
    def one(carry: Any) -> Any:
        left, back = carry
        residuals = [_at(own, left - 1) for own in saved.arrays]
        return left - 1, pull([left <= saved.turns, *residuals] if loop.rank else residuals, back)

    return lax.while_loop(lambda carry: carry[0] > 0, one, (jnp.max(saved.turns), back))[1]


def _sweep_again(
    loop: Loop,
    turn: Turn,
    part: Mask,
    operands: Sequence[Any],
    saved: Saved,
    sizes: Plan,
    pull: Pull,
    back: tuple[Arrays, Arrays],
) -> tuple[Arrays, Arrays]:
    """With turns that are run again, from one checkpoint to the next: of the part of the carry that is needed."""
    cond_consts, consts, _ = loop.split(operands)

    def again(state: Arrays, *, saving: bool) -> tuple[Arrays, Arrays]:
        """The state after a turn; and its residuals, and before them which lanes take part in it."""
        new, leaves = turn.again(part, consts, state, saving=saving)
        if not loop.rank:
            return new, leaves
        active = loop.active(cond_consts, state, part)
        return loop.choose(active, new, state), [active, *_harmless(loop, active, leaves)]

    def advance(state: Arrays, count: jax.Array) -> Arrays:
        return lax.fori_loop(0, count, lambda _, state: again(state, saving=False)[0], state)

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
            new, leaves = again(state, saving=True)
            return new, _put(residuals, leaves, number)

        _, residuals = lax.fori_loop(0, left - mark, forward, (state, residuals))
        last = left - mark - 1
        back = lax.fori_loop(0, left - mark, lambda n, back: pull([_at(r, last - n) for r in residuals], back), back)
        return mark, depth - (_at(marks, depth - 1) == mark), marks, stack, residuals, back

    marks = jnp.arange(sizes.rows, dtype=jnp.int32) * saved.spacing
    # Zero where the loop is in a branch that was not taken. XLA, where it knows that, divides, and ends the process with
    # SIGFPE (openxla/stablehlo#2971).
    spacing = jnp.maximum(saved.spacing, 1)
    depth = (saved.turns + spacing - 1) // spacing
    leaves = [*loop.cond.out_avals, *turn.residual_avals] if loop.rank else turn.residual_avals
    begin = (saved.turns, depth, marks, saved.arrays, _room(loop, sizes.unit, leaves), back)
    *_, back = lax.while_loop(lambda carry: carry[0] > 0, unit, begin)
    return back


def _forward(loop: Loop, turn: Turn, cond_consts: Arrays, consts: Arrays, state: Arrays) -> tuple[Any, Arrays, Arrays]:
    """Which lanes take part in a turn, the state after it, and its residuals."""
    new, leaves = turn.forward(consts, state)
    if not loop.rank:
        return True, new, leaves
    active = loop.active(cond_consts, state)
    return active, loop.choose(active, new, state), _harmless(loop, active, leaves)


def _room(loop: Loop, rows: int, avals: Sequence[Any]) -> Arrays:
    """Buffers for so many of each."""
    types = [jax.typeof(a) if isinstance(a, jax.Array) else a for a in avals]
    return [vary(jnp.empty((rows, *a.shape), a.dtype), axes_of_type(a) | loop.axes) for a in types]


def _put(arrays: Sequence[Any], values: Sequence[Any], index: Any) -> Arrays:
    return [lax.dynamic_update_index_in_dim(a, x, index, 0) for a, x in zip(arrays, values, strict=True)]


def _at(array: Any, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array, index, 0, keepdims=False)


def _harmless(loop: Loop, active: jax.Array, residuals: Arrays) -> Arrays:
    """In lanes that are over, a turn runs on values that nobody meant it for: its derivative may be infinite there."""
    ones = [lax.full_like(r, 1) if is_inexact(r) else r for r in residuals]
    return loop.choose(active, residuals, ones)
