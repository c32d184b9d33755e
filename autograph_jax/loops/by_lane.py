"""Which outputs of a program differ from lane to lane, told by reading it: JAX's rule maps a loop's body again and again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograph_jax.loops import guards
from autograph_jax.loops.evaluation import programs_of

_CALLS = frozenset({"jit", "pjit", "closed_call", "turn"})


def differing(jaxpr: Any, inputs: Sequence[bool]) -> list[bool]:
    """The outputs that depend on these inputs. Of branches, loops and calls each output is asked for by itself."""
    reached = {v for v, mask in zip(jaxpr.invars, inputs, strict=True) if mask}
    for equation in jaxpr.eqns:
        given = [not hasattr(v, "val") and v in reached for v in equation.invars]
        if any(given):
            reached.update(v for v, out in zip(equation.outvars, _left_by(equation, given), strict=True) if out)
    return [not hasattr(v, "val") and v in reached for v in jaxpr.outvars]


def decides(loop: Any, operands: Sequence[bool]) -> bool:
    """Does the test of a Loop differ, where these operands of the loop do?"""
    return _of_while(loop.cond.jaxpr, loop.body.jaxpr, loop.counts, operands)[0]


def _left_by(equation: Any, given: list[bool]) -> list[bool]:
    name, params = equation.primitive.name, equation.params
    every = [True] * len(equation.outvars)
    if name == "cond":
        branches = [differing(branch.jaxpr, given[1:]) for branch in params["branches"]]
        return every if given[0] else [any(column) for column in zip(*branches, strict=True)]
    if name == "scan":
        first, last = guards.parts_of_scan(params, given)
        step = params["jaxpr"].jaxpr
        _, out = _settled(lambda carry: differing(step, [*given[:first], *carry, *given[last:]]), given[first:last])
        return out
    if name == "while" and (loop := params.get("loop")) is not None:
        return _of_while(loop.cond.jaxpr, loop.body.jaxpr, loop.counts, given)[1]
    if name == "while":
        counts = params["cond_nconsts"], params["body_nconsts"]
        return _of_while(params["cond_jaxpr"].jaxpr, params["body_jaxpr"].jaxpr, counts, given)[1]
    inner = programs_of(params)
    if name in _CALLS and len(inner) == 1 and len(inner[0].invars) == len(given):
        return differing(inner[0], given)
    return every


def _of_while(cond: Any, body: Any, counts: tuple[int, int], operands: Sequence[bool]) -> tuple[bool, list[bool]]:
    """Of its test, and of what it leaves."""
    first, last = counts[0], sum(counts)
    carry, _ = _settled(lambda carry: differing(body, [*operands[first:last], *carry]), operands[last:])
    (test,) = differing(cond, [*operands[:first], *carry])
    return test, [test or differs for differs in carry]


def _settled(turn: Callable[[list[bool]], list[bool]], carry: Sequence[bool]) -> tuple[list[bool], list[bool]]:
    """The carry when a further turn changes nothing, and what such a turn leaves."""
    carry = list(carry)
    while True:
        out = turn(carry)
        joined = [one or other for one, other in zip(carry, out, strict=False)]
        if joined == carry:
            return carry, out
        carry = joined
