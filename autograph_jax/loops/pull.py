"""A step of the sweep back: the cotangents after a turn become those before it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph_jax.loops.axes import axes_of, axes_of_type, vary
from autograph_jax.loops.branches import seen_through
from autograph_jax.loops.by_lane import meet
from autograph_jax.loops.linearized import Linearized, LinearizedLanes, transposed
from autograph_jax.loops.loop import Loop, Mask, chosen, is_inexact
from autograph_jax.loops.sums import adding_in_place
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.writes import writes_last

Arrays = list[Any]


class Pull:
    """Of cotangents of the carry, and the sums of those of the constants."""

    def __init__(
        self,
        loop: Loop,
        turn: Linearized | LinearizedLanes,
        masks: tuple[Mask, Mask],
        consts: Arrays,
        many: int,
        live: Mask | None,
    ) -> None:
        self._loop, self._turn, self._many = loop, turn, many
        self._consts, self._carry = chosen(consts, masks[0]), chosen(loop.carry_avals, masks[1])
        self._live = live or tuple(True for _ in self._carry)
        self._invariants = turn.invariants(consts)

    def start(self, cotangents: Sequence[Any], starts: Sequence[Any] | None) -> tuple[Arrays, Arrays]:
        if starts is not None:
            return list(starts), list(cotangents)
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
        program = seen_through(jax.make_jaxpr(step)(*operands))
        new = writes_last(traced(adding_in_place(program), [*map(jax.typeof, leaves)]))(*leaves)
        return list(new[: len(self._consts)]), list(new[len(self._consts) :])

    def _pull(self, residuals: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
        if not self._loop.rank:
            return self._transposed(self._invariants, residuals, cotangents)
        active, *residuals = residuals
        zeros = [lax.full_like(c, 0) for c in cotangents]
        given = self._loop.choose(active, cotangents, zeros)
        if meet(self._loop):  # what others have read of a lane that is over comes back to it
            sums, new = self._transposed(self._invariants, residuals, given)
            return sums, self._loop.choose(active, new, [lax.add(c, n) for c, n in zip(cotangents, new, strict=True)])
        lanes = self._turn.invariant_lanes()
        invariants = [_harmless_invariant(active, v, own) for v, own in zip(self._invariants, lanes, strict=True)]
        if self._turn.has_rules:
            sums, new = self._turn.pull(self._live, active, invariants, residuals, given)
        else:
            sums, new = self._transposed(invariants, residuals, given)
        return sums, self._loop.choose(active, new, cotangents)

    def _transposed(self, invariants: Arrays, residuals: Arrays, cotangents: Arrays) -> tuple[Arrays, Arrays]:
        push = functools.partial(self._turn.push, invariants, residuals)
        return transposed(push, list(map(jax.typeof, self._consts)), self._carry, self._live)(list(cotangents))


def _harmless_invariant(active: jax.Array, value: Any, lanes: tuple[bool, ...]) -> Any:
    """The same for what each turn needs, of which some lanes never make one: log(x) of a lane that ends at x = 0."""
    if not any(lanes) or not is_inexact(value):
        return value
    mine = active.any(axis=tuple(axis for axis, own in enumerate(lanes) if not own))
    spread = lax.broadcast_in_dim(mine, jnp.shape(value), tuple(range(mine.ndim)))
    return lax.select(spread, value, lax.full_like(value, 1))
