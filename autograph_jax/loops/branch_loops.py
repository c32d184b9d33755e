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

from autograph_jax.loops.building import is_variable
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.guards import parts_of_scan

_CALLS = ("jit", "pjit", "closed_call", "kernel")
_WRITES = ("dynamic_update_slice", "scatter", "scatter-add", "scatter_add")
Run = Callable[..., Sequence[Any]]


def with_loops_last(branches: Sequence[ClosedJaxpr]) -> Run | None:
    """What gives the same as the conditional of an index and operands; None where that may stay as it is."""
    if len(branches) != 2 or not _has_loops(branches[0].jaxpr):
        return None
    if not _has_loops(branches[1].jaxpr):
        return _turned_round(branches)
    return _one_after_the_other(branches)


def _has_loops(jaxpr: Any) -> bool:
    """Is an array carried by a loop in it?"""
    return any(_is_loop_over_arrays(equation) or any(map(_has_loops, programs_of(equation.params))) for equation in jaxpr.eqns)


def _is_loop_over_arrays(equation: Any) -> bool:
    return equation.primitive.name in ("while", "scan") and any(v.aval.size > 1 for v in _carry(equation))


def _carry(equation: Any) -> Sequence[Any]:
    """What a loop gives of what it is given first."""
    if equation.primitive.name == "while":
        return equation.outvars
    first, last = parts_of_scan(equation.params, equation.invars)
    return equation.outvars[: last - first]


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
        either = [_place(branch.jaxpr, branch.jaxpr.outvars[number]) for branch in branches]
        place = next((place for place in either if place is not None and place not in found), None)
        found.append(place)
    return found


def _place(jaxpr: Any, atom: Any) -> int | None:
    """The operand that this is, written again and again."""
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    while is_variable(atom) and atom in makers:
        atom = _before(makers[atom], atom)
    return next((number for number, v in enumerate(jaxpr.invars) if v is atom), None)


def _before(equation: Any, atom: Any) -> Any:
    """What an array was before the equation that left it so; None if it has made another one."""
    name, number = equation.primitive.name, next(n for n, v in enumerate(equation.outvars) if v is atom)
    if name in _WRITES:
        return equation.invars[0]
    if name in ("while", "scan"):
        carry = _carry(equation)
        first = len(equation.invars) - len(carry) if name == "while" else parts_of_scan(equation.params, equation.invars)[0]
        return equation.invars[first + number] if number < len(carry) else None
    if name == "cond":
        inside = {_place(branch.jaxpr, branch.jaxpr.outvars[number]) for branch in equation.params["branches"]}
        place = inside.pop()
        return None if inside or place is None else equation.invars[1 + place]
    if name in _CALLS:
        called = equation.params["jaxpr"].jaxpr
        place = _place(called, called.outvars[number])
        return None if place is None else equation.invars[place]
    return None
