"""Branches that hold loops over arrays are compiled to loops of one turn or none, so that XLA leaves the arrays in place.

Of a conditional XLA copies the arrays that a loop in one branch writes and the other branch reads, or hands on, as soon as it
comes upon the branches in the wrong order. What a while loop carries stays where it is. Which branch is taken is carried, too:
a predicate that is computed again, for the second of two branches, would read the arrays after the first has written them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from autograph_jax.loops.inner_loops import Places, has_loops, reads_before_loops

Run = Callable[..., Sequence[Any]]


def in_place(branches: Sequence[ClosedJaxpr]) -> Run | None:
    """What gives the same as the conditional of an index and operands; None where that may stay as it is."""
    if not any(has_loops(branch.jaxpr) for branch in branches):
        return None
    places = _places(branches)
    numbers = [number for number, branch in enumerate(branches) if not _hands_on(branch.jaxpr, places)]
    functions = [reads_before_loops(branch) or jaxpr_as_fun(branch) for branch in branches]
    by_place = {place: number for number, place in enumerate(places) if place is not None}

    def run(index: Any, *operands: Any) -> Sequence[Any]:
        so_far = [
            jnp.zeros(aval.shape, aval.dtype) if place is None else operands[place]
            for aval, place in zip(branches[0].out_avals, places, strict=True)
        ]
        for number in numbers:

            def taken(state: Any, number: int = number) -> tuple[Any, Sequence[Any]]:
                given = [state[1][by_place[n]] if n in by_place else operand for n, operand in enumerate(operands)]
                return jnp.full_like(state[0], len(branches)), functions[number](*given)

            if has_loops(branches[number].jaxpr):
                index, so_far = jax.lax.while_loop(lambda state, number=number: state[0] == number, taken, (index, so_far))
            else:
                index, so_far = jax.lax.cond(index == number, taken, lambda state: state, (index, so_far))
        return so_far

    return run


def _hands_on(jaxpr: Any, places: Sequence[int | None]) -> bool:
    """Does a branch give just what its results are if no branch is taken?"""
    pairs = zip(jaxpr.outvars, places, strict=True)
    return not jaxpr.eqns and all(place is not None and v is jaxpr.invars[place] for v, place in pairs)


def _places(branches: Sequence[ClosedJaxpr]) -> list[int | None]:
    """Of each result the operand in whose place it is, if there is one that no other result has."""
    found: list[int | None] = []
    places = Places()
    for number in range(len(branches[0].out_avals)):
        either = [places.of(branch.jaxpr, number) for branch in branches]
        place = next((place for place in either if place is not None and place not in found), None)
        found.append(place)
    return found
