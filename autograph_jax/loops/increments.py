"""What loops leave of the integers that their turns count: from 0 to 9 after nine turns of `if x[i] > 0: n += 1`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from autograph_jax.loops import guards, ranges
from autograph_jax.loops.evaluation import IDENTITIES, called
from autograph_jax.loops.noted import left_by as left_without_counting
from autograph_jax.loops.ranges import Range, Ranges

_SAME = IDENTITIES.union("copy reshape squeeze expand_dims broadcast_in_dim".split())


class _Loop(NamedTuple):
    """A loop's body, what is known of its inputs, which of them the carry begins with; what that enters with and leaves."""

    body: Any
    inside: Ranges
    first: int
    start: Ranges
    left: Ranges


def left_by(equation: Any, known: Ranges) -> Sequence[Range | None]:
    """What is known of what an equation gives."""
    if equation.primitive.name == "scan":
        return _counted(_scan(equation.params, known), equation.params["length"])
    if equation.primitive.name == "while":
        params = _of_one_lane(equation.params)
        loop = _while(params, known)
        return _counted(loop, _most_turns(loop, guards.of_test(params["cond_jaxpr"], known[: params["cond_nconsts"]])))
    return left_without_counting(equation, known)


def _of_one_lane(params: dict[str, Any]) -> dict[str, Any]:
    """A loop under jax.vmap, whose test is that of any lane, as it was before: what all lanes are in, one is in."""
    loop = params.get("loop")
    while loop is not None and loop.inner is not None:
        loop, params = loop.inner, loop.inner.params
    return params


def _scan(params: dict[str, Any], known: Ranges) -> _Loop:
    first, last = guards.parts_of_scan(params, known)
    left, inside = guards.in_scan(params, known)
    return _Loop(params["jaxpr"], inside, first, known[first:last], left)


def _while(params: dict[str, Any], known: Ranges) -> _Loop:
    first = params["body_nconsts"]
    left, inside = guards.in_while(params, known)
    start = known[params["cond_nconsts"] + first :]
    return _Loop(params["body_jaxpr"], inside, first, start, left[params["cond_nconsts"] :])


def _counted(loop: _Loop, turns: int | None) -> Ranges:
    """What it leaves, of what it carries."""
    if turns is None:
        return loop.left
    return ranges.narrowed(loop.left, tuple(_after(turns, loop, number) for number in range(len(loop.start))))


def _most_turns(loop: _Loop, tests: Sequence[guards.Guard]) -> int | None:
    """How often a while loop turns at most, by what it counts towards the bound of its test."""
    found = []
    for number, name, (least, largest) in tests:
        start, step = loop.start[number], _in_a_turn(loop, number)
        if start is None or step is None:
            continue
        if name in ("lt", "le") and step[0] > 0:
            found.append((largest - (name == "lt") - start[0]) // step[0] + 1)
        elif name in ("gt", "ge") and step[1] < 0:
            found.append((start[1] - least - (name == "gt")) // -step[1] + 1)
    return max(min(found), 0) if found else None


def _after(turns: int, loop: _Loop, number: int) -> Range | None:
    start, step = loop.start[number], _in_a_turn(loop, number)
    if start is None or step is None:
        return None
    found = start[0] + turns * min(step[0], 0), start[1] + turns * max(step[1], 0)
    return found if ranges.fits(found, loop.body.in_avals[loop.first + number].dtype) else None


def _in_a_turn(loop: _Loop, number: int) -> Range | None:
    """The least and the most that a turn adds to this part of the carry."""
    if not ranges.is_whole(loop.body.in_avals[loop.first + number]):
        return None
    added: list[Range | None] = [None] * len(loop.inside)
    added[loop.first + number] = 0, 0
    return _added(loop.body, loop.inside, added)[number]


def _added(closed: Any, known: Sequence[Range | None], added: Sequence[Range | None]) -> list[Range | None]:
    """How much more each result is than an integer, by how much more the inputs are; None of what is not computed from it."""
    jaxpr = closed.jaxpr
    constants = list(map(ranges.of_literal, closed.consts))
    spans = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *known], strict=True))
    more = dict(zip(jaxpr.invars, added, strict=True))

    def span(atom: Any) -> Range | None:
        return ranges.of_literal(atom.val) if hasattr(atom, "val") else spans.get(atom)

    def step(atom: Any) -> Range | None:
        return None if hasattr(atom, "val") else more.get(atom)

    for equation in jaxpr.eqns:
        given = tuple(map(span, equation.invars))
        more.update(zip(equation.outvars, _added_by(equation, given, tuple(map(step, equation.invars))), strict=False))
        spans.update(zip(equation.outvars, left_without_counting(equation, given), strict=False))
    return list(map(step, jaxpr.outvars))


def _added_by(equation: Any, known: Ranges, added: Ranges) -> Sequence[Range | None]:
    name = equation.primitive.name
    if all(one is None for one in added):
        return ()
    if name in ("jit", "pjit", "turn"):
        return _added(called(equation), known, added)
    if name == "cond":
        ends = [_added(branch, known[1:], added[1:]) for branch in equation.params["branches"]]
        return [ranges.union(parts) for parts in zip(*ends, strict=True)]
    if name == "select_n":
        return [ranges.union(added[1:])]
    if name in _SAME or name == "convert_element_type" and _has_room(equation):
        return added
    if name not in ("add", "sub") or (added[0] is None) == (added[1] is None):
        return ()
    return [_sum(added[0], known[1], name) if added[1] is None else _sum(added[1], known[0], name, is_second=True)]


def _has_room(conversion: Any) -> bool:
    before, after = conversion.invars[0].aval, conversion.outvars[0].aval
    return ranges.is_whole(after) and after.dtype.itemsize >= before.dtype.itemsize and after.dtype.kind == before.dtype.kind


def _sum(added: Range | None, other: Range | None, name: str, *, is_second: bool = False) -> Range | None:
    if added is None or other is None or name == "sub" and is_second:
        return None
    low, high = other if name == "add" else (-other[1], -other[0])
    return added[0] + low, added[1] + high
