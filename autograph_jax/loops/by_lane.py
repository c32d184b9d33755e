"""Which outputs of a program differ from lane to lane, told by reading it: JAX's rule maps a loop's body again and again.

And whether lanes read each other, by a collective.
"""

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


def meet(loop: Any) -> bool:
    """Do lanes of this loop read other lanes, by a collective along one of their axes? Then also one that is over is read."""
    return loop.derived("meet", lambda: _meet(loop))


def _meet(loop: Any) -> bool:
    if loop.inner is None or loop.axis is None:
        return False
    programs = (loop.inner.cond.jaxpr, loop.inner.body.jaxpr)
    return any(has_collective(jaxpr, loop.axis.data.name) for jaxpr in programs) or meet(loop.inner)


def has_collective(jaxpr: Any, name: Any = None) -> bool:
    """Does a program read what others along an axis compute: along that of this name, or along any?"""
    return any(_is_collective(equation, name) for equation in jaxpr.eqns)


def has_joint_branch(jaxpr: Any, name: Any) -> bool:
    """Is there a conditional with a collective along this axis in a branch?"""
    inside = [(e.primitive.name == "cond", one) for e in jaxpr.eqns for one in programs_of(e.params)]
    return any(is_branch and has_collective(one, name) or has_joint_branch(one, name) for is_branch, one in inside)


def _is_collective(equation: Any, name: Any) -> bool:
    if inside := programs_of(equation.params):  # whose effects it has, also that of asking for one's own number
        return any(has_collective(jaxpr, name) for jaxpr in inside)
    names = _names_of(equation)
    return equation.primitive.name != "axis_index" and (name in names or name is None and bool(names))


def knows_lanes(jaxpr: Any, name: Any) -> bool:
    """May a program give each lane along an axis something else, whatever it is given? Its number, say."""
    return any(name in _names_of(e) or any(knows_lanes(one, name) for one in programs_of(e.params)) for e in jaxpr.eqns)


def _names_of(equation: Any) -> tuple[Any, ...]:
    """Of axes along which an equation looks. Most say it by an effect, `ppermute` does not."""
    said = equation.params.get("axis_name", ())
    effects = [effect.name for effect in equation.effects if is_of_axis(effect)]
    return (*effects, *(said if isinstance(said, tuple) else (said,)))


def is_of_axis(effect: Any) -> bool:
    """Is this what JAX notes of an equation that looks along an axis, which has no public name?"""
    return type(effect).__name__ == "NamedAxisEffect"


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
