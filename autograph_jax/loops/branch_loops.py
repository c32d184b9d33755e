"""Conditionals whose branches hold loops over arrays, put so that XLA leaves the arrays in place.

XLA takes the first branch to run before the second, and copies an array for a loop in the first, since the second reads it. So
the branch with a loop comes last; and where both have loops, each gets a conditional of its own, whose first branch hands
everything on. The first of the two says whether the second is taken: a predicate that is computed again would read the arrays
after the loop has written them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from autograph_jax.loops.inner_loops import has_loops, has_writes, place_of

Run = Callable[..., Sequence[Any]]


def with_loops_last(branches: Sequence[ClosedJaxpr]) -> Run | None:
    """What gives the same as the conditional of an index and operands; None where that may stay as it is."""
    if len(branches) != 2 or not any(has_loops(branch.jaxpr) for branch in branches) or not has_writes(branches[0].jaxpr):
        return None
    return _one_after_the_other(branches) if has_writes(branches[1].jaxpr) else _turned_round(branches)


def _turned_round(branches: Sequence[ClosedJaxpr]) -> Run:
    no, yes = map(jaxpr_as_fun, branches)
    return lambda index, *operands: jax.lax.cond(index == 0, no, yes, *operands)


def _one_after_the_other(branches: Sequence[ClosedJaxpr]) -> Run:
    """Such that of each result both give what stands in the place of the same operand, where there is one."""
    no, yes = map(jaxpr_as_fun, branches)
    places = _places(branches)
    by_place = {place: number for number, place in enumerate(places) if place is not None}

    def of_first(*operands: Any) -> tuple[Sequence[Any], Any]:
        return yes(*operands), False

    def of_neither(*operands: Any) -> tuple[Sequence[Any], Any]:
        return [_nothing(aval) if place is None else operands[place] for aval, place in results], True

    def run(index: Any, *operands: Any) -> Sequence[Any]:
        so_far, is_second = jax.lax.cond(index != 0, of_first, of_neither, *operands)

        def of_second(so_far: Sequence[Any], *operands: Any) -> Sequence[Any]:
            return no(*(so_far[by_place[n]] if n in by_place else operand for n, operand in enumerate(operands)))

        return jax.lax.cond(is_second, of_second, lambda so_far, *_: so_far, so_far, *operands)

    results = list(zip(branches[0].out_avals, places, strict=True))
    return run


def _nothing(aval: Any) -> jax.Array:
    return jnp.zeros(aval.shape, aval.dtype)


def _places(branches: Sequence[ClosedJaxpr]) -> list[int | None]:
    """Of each result the operand in whose place it is, if there is one that no other result has."""
    found: list[int | None] = []
    for number in range(len(branches[0].out_avals)):
        either = [place_of(branch.jaxpr, branch.jaxpr.outvars[number]) for branch in branches]
        place = next((place for place in either if place is not None and place not in found), None)
        found.append(place)
    return found
