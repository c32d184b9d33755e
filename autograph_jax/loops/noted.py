"""What is known of the integers of a program with loops: before any transform it is noted in the bodies of inner loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr

from autograph_jax.loops import guards, ranges
from autograph_jax.loops.ranges import Range, Ranges


def noted(closed: ClosedJaxpr, known: Ranges) -> ClosedJaxpr:
    """The same program, in which the bodies of inner loops know what is known of their operands; before any transform."""
    if not any(equation.primitive.name in ("scan", "turn") for equation in closed.jaxpr.eqns):
        return closed
    inputs = [*closed.jaxpr.constvars, *closed.jaxpr.invars]
    found = dict(zip(inputs, [*map(ranges.of_literal, closed.consts), *known], strict=True))
    equations = []
    for equation in closed.jaxpr.eqns:
        given = tuple(ranges.of_literal(v.val) if hasattr(v, "val") else found.get(v) for v in equation.invars)
        found.update(zip(equation.outvars, left_by(equation, given), strict=False))
        params = equation.params
        if equation.primitive.name == "scan":
            params = params | {"jaxpr": noted(params["jaxpr"], guards.in_scan(params, given)[1])}
        elif equation.primitive.name == "turn":
            inside = ranges.narrowed(given, params["known"])
            params = params | {"jaxpr": noted(params["jaxpr"], inside), "known": inside}
        equations.append(equation.replace(params=params))
    return ClosedJaxpr(closed.jaxpr.replace(eqns=equations), closed.consts)


def of_inputs(jaxpr: Any, known: Ranges) -> Ranges:
    """What is known of a body's inputs, with what its turns know of them."""
    found = {v: span for v, span in zip(jaxpr.invars, known, strict=True)}
    for equation in jaxpr.eqns:
        if equation.primitive.name == "turn":
            of_turn = zip(equation.invars, equation.params["known"] or (None,) * len(equation.invars), strict=True)
            inputs = {v: span for v, span in of_turn if not hasattr(v, "val") and v in found}
            found |= zip(inputs, ranges.narrowed(tuple(found[v] for v in inputs), tuple(inputs.values())), strict=True)
    return tuple(found[v] for v in jaxpr.invars)


def left_by(equation: Any, known: Ranges) -> Sequence[Range | None]:
    """What is known of what an equation gives."""
    if equation.primitive.name in _LEFT:
        return _LEFT[equation.primitive.name](equation, known)
    return [ranges.of_result(equation, known)] if len(equation.outvars) == 1 else []


def _left_by_while(equation: Any, known: Ranges) -> Ranges:
    return guards.in_while(equation.params, known)[0][equation.params["cond_nconsts"] :]


def _left_by_scan(equation: Any, known: Ranges) -> Ranges:
    return guards.in_scan(equation.params, known)[0]


_LEFT = {
    "cond": ranges.through,
    "jit": ranges.through,
    "pjit": ranges.through,
    "turn": ranges.through,
    "while": _left_by_while,
    "scan": _left_by_scan,
    "unstack": lambda equation, known: known * len(equation.outvars),
}
