"""Branches that hold loops over arrays are compiled to loops of one turn or none, so that XLA leaves the arrays in place.

Of a conditional XLA copies the arrays that a loop in one branch writes and the other branch reads, or hands on, as soon as it
comes upon the branches in the wrong order. What a while loop carries stays where it is. Which branch is taken is carried, too:
a predicate that is computed again, for the second of two branches, would read the arrays after the first has written them.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.in_place import Places, has_loops
from autograph_jax.loops.writes import writes_last

Run = Callable[..., Sequence[Any]]


def in_place(branches: Sequence[ClosedJaxpr]) -> Run | None:
    """What gives the same as the conditional of an index and operands; None where that may stay as it is."""
    if not any(has_loops(branch.jaxpr) for branch in branches):
        return None
    places = _places(branches)
    numbers = [number for number, branch in enumerate(branches) if not _hands_on(branch.jaxpr, places)]
    steps = [(number, _step(branches[number], places), has_loops(branches[number].jaxpr)) for number in numbers]

    def run(index: Any, *operands: Any) -> Sequence[Any]:
        results = [
            jnp.zeros(aval.shape, aval.dtype) if place is None else operands[place]
            for aval, place in zip(branches[0].out_avals, places, strict=True)
        ]
        state = index, results
        for number, step, is_loop in steps:
            taken = functools.partial(step, operands)
            if is_loop:
                state = jax.lax.while_loop(functools.partial(_is_next, number), taken, state)
            else:
                state = jax.lax.cond(_is_next(number, state), taken, lambda state: state, state)
        return state[1]

    return run


def _is_next(number: int, state: tuple[Any, Any]) -> Any:
    return state[0] == number


def _step(branch: ClosedJaxpr, places: Sequence[int | None]) -> Callable[..., tuple[Any, Sequence[Any]]]:
    """What a branch makes of the index and the results so far. After it no other one is taken: -1 is no branch's index.

    It reads what is in the place of an operand, which no other branch has written where this one is taken.
    """
    function = writes_last(branch)

    def step(operands: Sequence[Any], state: tuple[Any, Sequence[Any]]) -> tuple[Any, Sequence[Any]]:
        index, results = state
        given = list(operands)
        for place, result in zip(places, results, strict=True):
            if place is not None:
                given[place] = result
        return jnp.full_like(index, -1), function(*given)

    return step


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
