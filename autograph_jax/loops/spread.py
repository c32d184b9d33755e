"""A number that a loop begins with, where its turns leave an array: it is carried as that array, of equal elements.

`s = 0.0`, `for row in m: s = s + row` does not tell the difference. `prev = 1.0`, `for row in m: t += jnp.sum(prev);
prev = row` does: the sum of a number is that number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from autograph_jax.loops import guards
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.kernels import BY_ELEMENT

_OF_EQUALS = frozenset("reduce_max reduce_min reduce_and reduce_or".split())


def tells(closed: Any, spread: Sequence[bool]) -> bool:
    """Does a program compute anything else of these inputs, arrays of equal elements, than of one number?"""
    return _walked(closed.jaxpr, spread) is None


def _walked(jaxpr: Any, spread: Sequence[bool]) -> list[bool] | None:
    """Which outputs are such arrays; None where something tells them from a number."""
    known = {variable for variable, one in zip(jaxpr.invars, spread, strict=True) if one}
    for equation in jaxpr.eqns:
        given = [not hasattr(atom, "val") and atom in known for atom in equation.invars]
        if not any(given):
            continue
        left = _left_by(equation, given)
        if left is None:
            return None
        known |= {variable for variable, one in zip(equation.outvars, left, strict=True) if one}
    return [not hasattr(atom, "val") and atom in known for atom in jaxpr.outvars]


def _left_by(equation: Any, given: list[bool]) -> list[bool] | None:
    name = equation.primitive.name
    if name == "cond":
        found = [_walked(branch.jaxpr, given[1:]) for branch in equation.params["branches"]]
        return None if given[0] or None in found else [any(column) for column in zip(*found, strict=True)]
    if name == "scan":
        return _left_by_scan(equation.params, given)
    inner = programs_of(equation.params)
    if len(inner) == 1 and len(inner[0].invars) == len(given) and len(inner[0].outvars) == len(equation.outvars):
        return _walked(inner[0], given)  # of a call, a custom rule, a checkpoint
    if name in _OF_EQUALS and equation.outvars[0].aval.shape == ():  # the largest of equal numbers is that number
        return [False]
    if name in BY_ELEMENT or name in ("select_n", "broadcast_in_dim"):
        others = (atom for atom, one in zip(equation.invars, given, strict=True) if not one)
        return [all(atom.aval.shape == () for atom in others)]
    return None


def _left_by_scan(params: dict[str, Any], given: list[bool]) -> list[bool] | None:
    first, last = guards.parts_of_scan(params, given)
    if any(given[last:]):  # its rows are taken
        return None
    carry = given[first:last]
    while (left := _walked(params["jaxpr"].jaxpr, [*given[:first], *carry, *given[last:]])) is not None:
        after = [one or other for one, other in zip(carry, left, strict=False)]
        if after == carry:
            return left
        carry = after
    return None
