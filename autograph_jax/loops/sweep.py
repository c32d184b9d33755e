"""The two runs of reverse mode: forward, and the sweep back over the turns.

Where there is room for the residuals of all turns that a loop can make, the forward run keeps them, and no turn is run again.
Otherwise it keeps those of the first turns, a unit of them, which may be all; and the state every so many turns. When all slots
are full, every second is given up, and the spacing doubles. So the number of turns need not be known (after Stumm and Walther
2010, SIAM J. Sci. Comput. 32(2), 836-854). The sweep runs the stretch after each checkpoint again, with checkpoints of its own
where the stretch is long, and keeps the residuals of a unit of turns at a time.

What is run again, and saved, is the part of the carry that the residuals come from.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import jaxpr_as_fun

from autograph_jax.loops.axes import axes_of, axes_of_type, vary
from autograph_jax.loops.by_lane import has_collective, meet
from autograph_jax.loops.linearized import Linearized, LinearizedLanes, linearized
from autograph_jax.loops.loop import Loop, Mask, chosen, is_inexact, split
from autograph_jax.loops.pull import Arrays, Pull
from autograph_jax.loops.quiet import quiet
from autograph_jax.loops.schedule import Plan, next_stop, plan

_FEW_ELEMENTS = 1024

Masks = tuple[Mask, Mask]
Turn = Linearized | LinearizedLanes


class Saved(NamedTuple):
    """What the sweep needs of a forward run: how many turns each lane has made; the spacing of the checkpoints, and these;
    and the residuals of the first turns, or of all. A loop that prints keeps no residuals.
    """

    turns: jax.Array
    spacing: jax.Array
    states: Arrays
    residuals: Arrays


def plan_of(loop: Loop, masks: Masks) -> Plan:
    return plan(loop, _states(loop, masks), linearized(loop, *masks).residual_avals)


def run_again(loop: Loop, masks: Masks) -> Mask:
    """Which part of the carry is run again in the sweep: what decides the residuals. How many turns there are is known by then.

    `for j in range(i): b[j] = a[j] * x` runs j again, and saves no b. It is the same for all that become of a loop until it is
    compiled, since what has been saved by one is swept by another.
    """
    loop = quiet(loop.origin or loop)
    return loop.derived(("run again", masks), linearized(loop, *masks).needed)


def _states(loop: Loop, masks: Masks) -> list[Any]:
    return chosen(loop.carry_avals, run_again(loop, masks))


def saves_turns_alone(loop: Loop, masks: Masks) -> bool:
    """Is the number of turns all that the forward run saves? All else would be kept for each turn of the loop around."""
    return loop.given.is_nested and not plan_of(loop, masks).kept


def saved_avals(loop: Loop, masks: Masks) -> list[Any]:
    """The types of what is saved, one after the other."""
    sizes = plan_of(loop, masks)
    predicate = loop.cond.out_avals[0]  # a number differs between devices where it does
    turns = predicate.update(dtype=jnp.dtype(jnp.int32))
    if saves_turns_alone(loop, masks):
        return [turns]
    residuals = linearized(loop, *masks).residual_avals
    arrays = [] if sizes.kept else [_stacked(a, sizes.rows) for a in _states(loop, masks)]
    return [turns, turns.update(shape=()), *arrays, *(_stacked(a, sizes.first) for a in residuals if sizes.first)]


def _stacked(aval: Any, rows: int) -> Any:
    return aval.update(shape=(rows, *aval.shape), weak_type=False)


class _Steps:
    """The turns of a loop: of its whole carry, as long as its condition holds; or of the part that is run again, where it is
    known how many `turns` there are. In lanes where that is not `wanted` it makes none.
    """

    def __init__(
        self, loop: Loop, masks: Masks, operands: Sequence[Any], *, turns: jax.Array | None = None, wanted: Any = True
    ) -> None:
        self.loop, self.turn, self._turns, self._wanted = loop, linearized(loop, *masks), turns, wanted
        self._part = run_again(loop, masks)
        self._cond_consts, self.consts, carry = loop.split(operands)
        self.start = carry if turns is None else chosen(carry, self._part)

    def kept(self, state: Arrays) -> Arrays:
        """What of a state is a checkpoint."""
        return chosen(state, self._part) if self._turns is None else state

    def going(self, state: Arrays, number: jax.Array) -> jax.Array:
        """Is there another turn, after so many, in some lane?"""
        active = self._active(state, number)
        return jnp.any(active) if self.loop.rank else active

    def __call__(self, state: Arrays, number: jax.Array) -> tuple[Any, Arrays]:
        """How many turns it is, of each lane, and the state after it."""
        if self._turns is None:
            new = jaxpr_as_fun(self.loop.body)(*self.consts, *state)
        else:
            new, _ = self.turn.again(self._part, self.consts, state, saving=False)
        return self._of_lanes(state, number, new, [])[:2]

    def saving(self, state: Arrays, number: jax.Array) -> tuple[Any, Arrays, Arrays]:
        """The same, and the residuals."""
        if self._turns is None:
            new, leaves = self.turn.forward(self.consts, state)
        else:
            new, leaves = self.turn.again(self._part, self.consts, state, saving=True)
        return self._of_lanes(state, number, new, leaves)

    def _active(self, state: Arrays, number: jax.Array) -> jax.Array:
        active = self.loop.active(self._cond_consts, state) if self._turns is None else number < self._turns
        return active if self._wanted is True else jnp.logical_and(active, self._wanted)

    def _of_lanes(self, state: Arrays, number: jax.Array, new: Arrays, residuals: Arrays) -> tuple[Any, Arrays, Arrays]:
        if not self.loop.rank:
            return 1, new, residuals
        active = self._active(state, number)
        choose = self.loop.choose
        return active.astype(jnp.int32), choose(active, new, state), _harmless(self.loop, active, residuals)


# Forward


def run_and_save(loop: Loop, operands: Sequence[Any], masks: Masks) -> tuple[Arrays, Arrays]:
    """The loop's result, and what it saves."""
    steps = _Steps(loop, masks, operands)
    if saves_turns_alone(loop, masks):
        state, turns, _ = _run_through(steps)
        return state, [turns]
    state, (turns, spacing, states, residuals) = _run(steps, plan_of(loop, masks))
    return state, [turns, spacing, *states, *residuals]


def _saved(loop: Loop, operands: Sequence[Any], masks: Masks, values: Sequence[Any], wanted: Callable[[], Any]) -> Saved:
    """What the sweep needs, of what was saved; the loop is run again where that is only its number of turns, or nothing."""
    sizes = plan_of(loop, masks)
    if not values:
        return _run(_Steps(loop, masks, operands, wanted=wanted()), sizes)[1]
    if len(values) == 1:
        return _run(_Steps(loop, masks, operands, turns=values[0], wanted=wanted()), sizes)[1]
    (turns, spacing), states, residuals = split(values, 2, 0 if sizes.kept else sum(run_again(loop, masks)))
    return Saved(turns, spacing, states, residuals)


def _run(steps: _Steps, plan: Plan) -> tuple[Arrays, Saved]:
    zeros = _no_turns(steps.loop)
    state, turns, number, residuals = _run_first(steps, plan, zeros) if plan.first else (steps.start, *zeros, [])
    if plan.kept:
        return state, Saved(turns, jnp.zeros_like(number), [], residuals)
    state, turns, spacing, states = _run_on(steps, plan, state, turns, number)
    return state, Saved(turns, spacing, states, residuals)


def _no_turns(loop: Loop) -> Arrays:
    """Of each lane, and of all."""
    return [vary(jnp.zeros(shape, jnp.int32), loop.axes) for shape in (loop.cond.out_avals[0].shape, ())]


def _run_through(steps: _Steps) -> Arrays:
    def going(carry: Any) -> jax.Array:
        return steps.going(carry[0], carry[2])

    return lax.while_loop(going, functools.partial(_one_more, steps), (steps.start, *_no_turns(steps.loop)))


def _one_more(steps: _Steps, carry: Any) -> Any:
    state, turns, number = carry
    more, state = steps(state, number)
    return state, turns + more, number + 1


def _run_first(steps: _Steps, plan: Plan, zeros: Arrays) -> tuple[Arrays, jax.Array, jax.Array, Arrays]:
    """The turns whose residuals are kept."""

    def going(carry: Any) -> jax.Array:
        state, _, number, _ = carry
        is_going = steps.going(state, number)
        return is_going if plan.kept else jnp.logical_and(number < plan.first, is_going)

    def forward(carry: Any) -> Any:
        state, turns, number, residuals = carry
        more, new, leaves = steps.saving(state, number)
        return new, turns + more, number + 1, _put(residuals, leaves, number)

    room = _room(steps.loop, plan.first, steps.turn.residual_avals)
    return lax.while_loop(going, forward, (steps.start, *zeros, room))


def _run_on(steps: _Steps, plan: Plan, state: Arrays, turns: jax.Array, number: jax.Array) -> tuple[Any, ...]:
    """The turns after these, with checkpoints."""

    def going(carry: Any) -> jax.Array:
        return steps.going(carry[0], carry[2])

    def fill(carry: Any) -> Any:
        """Run until every slot is taken, then give up every second."""
        state, turns, number, spacing, first, states = carry

        def has_room(carry: Any) -> jax.Array:
            return jnp.logical_and(carry[3] < plan.spread, going(carry))

        def stretch(carry: Any) -> Any:
            state, turns, number, slot, states = carry
            states = _put(states, steps.kept(state), slot)
            state, turns, number = lax.while_loop(
                lambda inner: jnp.logical_and(inner[2] - number < spacing, going(inner)),
                functools.partial(_one_more, steps),
                (state, turns, number),
            )
            return state, turns, number, slot + 1, states

        state, turns, number, slot, states = lax.while_loop(has_room, stretch, (state, turns, number, first, states))
        return state, turns, number, *lax.cond(slot == plan.spread, half, lambda *same: same, spacing, slot, states)

    def half(spacing: jax.Array, slot: jax.Array, states: Arrays) -> Any:
        return 2 * spacing, slot // 2, [lax.dynamic_update_slice_in_dim(s, s[: plan.spread : 2], 0, 0) for s in states]

    spacing = vary(jnp.int32(plan.unit), steps.loop.axes)
    start = steps.kept(steps.start)
    states = _put(_room(steps.loop, plan.rows, start), start, 0)
    begin = state, turns, number, spacing, (number > 0).astype(jnp.int32), states
    state, turns, _, spacing, _, states = lax.while_loop(going, fill, begin)
    return state, turns, spacing, states


# Back


def sweep(
    loop: Loop,
    masks: Masks,
    operands: Sequence[Any],
    kept: Sequence[Any],
    cotangents: Sequence[Any],
    *,
    many: int = 0,
    live: Mask | None = None,
    starts: Sequence[Any] | None = None,
) -> tuple[Arrays, Arrays]:
    """The cotangents of the constants and of the carry before the loop, where the masks choose, of those after it.

    `kept` is what the forward run has saved, or nothing. Cotangents may have `many` leading axes. Those of the constants are
    added to `starts`. Of the carry, those that are not `live` are zero, and remain so.
    """
    saved = _saved(loop, operands, masks, kept, functools.partial(_is_wanted, loop, cotangents, many))
    steps, sizes = _Steps(loop, masks, operands, turns=saved.turns), plan_of(loop, masks)
    pull = Pull(loop, steps.turn, masks, steps.consts, many, live)

    def pulled(number: jax.Array, residuals: Arrays, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
        """Of the turn of this number, from 1 on."""
        return pull([number <= saved.turns, *residuals] if loop.rank else residuals, back)

    back = pull.start(cotangents, starts)
    return _sweep_kept(pulled, saved, back) if sizes.kept else _sweep_again(steps, pulled, saved, sizes, back)


def _is_wanted(loop: Loop, cotangents: Sequence[Any], many: int) -> Any:
    """Is there anything to be taken back, in each lane? Elsewhere a loop makes no turn when it is run again: what it starts
    from may be no value of the user's (`_harmless`), and 0 times an infinite derivative is no zero. Without lanes it costs
    too much to ask that of large arrays: `for i ...: if c: while ...: x[j] = x[j - 1]` takes a few turns for each i.
    """
    if any(axes_of(w) for w in cotangents) or loop.axes or _is_of_several(loop):
        return True
    if not loop.rank and not all(_is_small(w) for w in cotangents):
        return True
    lanes = loop.cond.out_avals[0].shape
    found = [jnp.any(w != 0, axis=(*range(many), *range(many + len(lanes), w.ndim))) for w in cotangents]
    return functools.reduce(jnp.logical_or, found, jnp.zeros(lanes, bool))


def _is_small(array: Any) -> bool:
    return all(isinstance(length, int) for length in array.shape) and array.size <= _FEW_ELEMENTS


def _is_of_several(loop: Loop | None) -> bool:
    """Does what one lane or device takes back go into that of others, by a collective?"""
    programs = () if loop is None else (loop.cond.jaxpr, loop.body.jaxpr)
    return loop is not None and (any(map(has_collective, programs)) or bool(loop.effects) or _is_of_several(loop.inner))


def _sweep_kept(pulled: Any, saved: Saved, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
    def one(carry: Any) -> Any:
        left, back = carry
        return left - 1, pulled(left, [_at(own, left - 1) for own in saved.residuals], back)

    return lax.while_loop(lambda carry: carry[0] > 0, one, (jnp.max(saved.turns), back))[1]


def _sweep_again(steps: _Steps, pulled: Any, saved: Saved, sizes: Plan, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
    """With turns that are run again, from one checkpoint to the next."""
    turns = jnp.max(saved.turns)
    leaves = steps.turn.residual_avals
    room = saved.residuals or _room(steps.loop, sizes.unit, leaves)
    has_all = turns <= sizes.unit if saved.residuals else jnp.asarray(not leaves)

    def advance(state: Arrays, mark: jax.Array, count: jax.Array) -> Arrays:
        return lax.fori_loop(0, count, lambda number, state: steps(state, mark + number)[1], state)

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
            state, mark = advance(state, mark, count), mark + count
            more = left - mark > sizes.unit  # what is put beyond the top of the stack counts for nothing
            return state, mark, depth + more, _put([marks], [mark], depth)[0], _put(stack, state, depth)

        state, mark, depth, marks, stack = lax.while_loop(is_far, approach, (state, mark, depth, marks, stack))

        def forward(number: jax.Array, carry: Any) -> Any:
            state, residuals = carry
            _, new, leaves = steps.saving(state, mark + number)
            return new, _put(residuals, leaves, number)

        count = left - mark
        _, residuals = lax.fori_loop(0, jnp.where(has_all, 0, count), forward, (state, residuals))

        def one(number: jax.Array, back: tuple[Arrays, Arrays]) -> tuple[Arrays, Arrays]:
            return pulled(left - number, [_at(own, count - number - 1) for own in residuals], back)

        back = lax.fori_loop(0, count, one, back)
        return mark, depth - (_at(marks, depth - 1) == mark), marks, stack, residuals, back

    marks = jnp.arange(sizes.rows, dtype=jnp.int32) * saved.spacing
    # Zero where the loop is in a branch that was not taken. XLA, where it knows that, divides, and ends the process with
    # SIGFPE (openxla/stablehlo#2971).
    spacing = jnp.maximum(saved.spacing, 1)
    depth = (turns + spacing - 1) // spacing
    begin = (turns, depth, marks, saved.states, room, back)
    *_, back = lax.while_loop(lambda carry: carry[0] > 0, unit, begin)
    return back


def _room(loop: Loop, rows: int, avals: Sequence[Any]) -> Arrays:
    """Buffers for so many of each."""
    types = [jax.typeof(a) if isinstance(a, jax.Array) else a for a in avals]
    return [vary(jnp.empty((rows, *a.shape), a.dtype), axes_of_type(a) | loop.axes) for a in types]


def _put(arrays: Sequence[Any], values: Sequence[Any], index: Any) -> Arrays:
    return [lax.dynamic_update_index_in_dim(a, x, index, 0) for a, x in zip(arrays, values, strict=True)]


def _at(array: Any, index: Any) -> Any:
    return lax.dynamic_index_in_dim(array, index, 0, keepdims=False)


def _harmless(loop: Loop, active: jax.Array, residuals: Arrays) -> Arrays:
    """In lanes that are over, a turn runs on values that nobody meant it for: its derivative may be infinite there.

    Where lanes read each other, these are values that somebody reads.
    """
    if meet(loop):
        return residuals
    ones = [lax.full_like(r, 1) if is_inexact(r) else r for r in residuals]
    return loop.choose(active, residuals, ones)
