"""What the test of a while loop says of its integers: in `while j >= 0 and x[j] > key: j -= 1` no turn has a negative j."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from autograph_jax.loops.caches import cached
from autograph_jax.loops.ranges import Range, Ranges, fits, is_whole, limits, of_jaxpr, of_literal

_ROUNDS = 8
_DENIED = {"eq": "ne", "lt": "ge", "le": "gt", "gt": "le", "ge": "lt"}
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
Guard = tuple[int, str, Range]  # `carry[0] < (0, 9)`: which of the carry, how it compares, and with what


def in_while(params: dict[str, Any], known: Ranges) -> tuple[Ranges, Ranges]:
    """Of what the test gets, and of what a turn gets, of the ranges of a while loop's operands.

    What the test gets of the carry, the loop may leave.
    """
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    guards = tuple(of_test(params["cond_jaxpr"], known[:first]))
    carry, inside = _settled(params["body_jaxpr"], known[first:second], known[second:], guards)
    return (*known[:first], *carry), (*known[first:second], *inside)


def in_scan(params: dict[str, Any], known: Ranges) -> tuple[Ranges, Ranges]:
    """Of what a scan leaves of its carry, and of what a turn gets, of the ranges of its operands."""
    first, last = parts_of_scan(params, known)
    body, turns = params["jaxpr"], params["length"]
    counted = _counts(body.jaxpr, first, known[first:last], turns)
    guards = tuple(
        (number, name, (edge, edge)) for number, span in counted.items() for name, edge in zip(("ge", "le"), span, strict=True)
    )
    carry, inside = _settled(body, known[:first], known[first:last], guards, known[last:])
    return carry, (*known[:first], *inside, *known[last:])


def parts_of_scan(params: dict[str, Any], operands: Sequence[Any]) -> tuple[int, int]:
    """Where a scan's carry begins among its operands, and where it ends."""
    if "num_consts" in params:
        return params["num_consts"], params["num_consts"] + params["num_carry"]
    consts, carry, _ = params["ft_in"].update(list(operands)).unpack()  # from jax 0.12 on
    return len(list(consts)), len(list(consts)) + len(list(carry))


def _counts(jaxpr: Any, first: int, start: Ranges, turns: int) -> dict[int, Range]:
    """Which of a scan's carry only counts, and what it is in a turn."""
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    found = {}
    for number, (span, before, after) in enumerate(zip(start, jaxpr.invars[first:], jaxpr.outvars, strict=False)):
        maker = None if hasattr(after, "val") else makers.get(after)
        if span is None or maker is None or maker.primitive.name != "add" or not any(atom is before for atom in maker.invars):
            continue
        steps = [step for atom in maker.invars if hasattr(atom, "val") and (step := of_literal(atom.val)) is not None]
        if steps and steps[0][0] == steps[0][1]:
            last, end = steps[0][0] * max(turns - 1, 0), steps[0][0] * turns
            if fits((min(span[0], span[0] + end), max(span[1], span[1] + end)), before.aval.dtype):
                found[number] = min(span[0], span[0] + last), max(span[1], span[1] + last)
    return found


def _settled(body: Any, consts: Ranges, start: Ranges, guards: tuple[Guard, ...], rows: Ranges = ()) -> tuple[Ranges, Ranges]:
    """What a loop's carry may be at any time, and what it may be when a turn begins."""
    find = _find if body.consts else _find_once  # values of a trace are not kept
    return find(body, consts, start, guards, rows)


def _find(body: Any, consts: Ranges, start: Ranges, guards: tuple[Guard, ...], rows: Ranges) -> tuple[Ranges, Ranges]:
    avals = body.in_avals[len(consts) : len(consts) + len(start)]
    first = carry = [one if one is not None else _any(aval) for one, aval in zip(start, avals, strict=True)]
    marks = _marks(first, guards)
    for _ in range(_ROUNDS):
        inside = _guarded(carry, guards, avals)
        left = of_jaxpr(body, (*consts, *inside, *rows))[: len(start)]
        ends = [_joined(a, b) for a, b in zip(first, left, strict=True)]
        if all(_holds(a, b) for a, b in zip(carry, ends, strict=True)):
            return bounded(ends, start, avals), tuple(_guarded(ends, guards, avals))
        carry = [_widened(a, b, aval, marks) for a, b, aval in zip(carry, ends, avals, strict=True)]
    nothing = (None,) * len(start)
    return nothing, nothing


_find_once = cached(1024)(_find)


def bounded(spans: Sequence[Range | None], start: Sequence[Range | None], avals: Sequence[Any]) -> Ranges:
    """Without those of which nothing is known when they begin, and at most one end later: the other is its type's."""
    return tuple(
        None if span is not None and begin is None and not set(span).isdisjoint(limits(aval.dtype)) else span
        for span, begin, aval in zip(spans, start, avals, strict=True)
    )


def _marks(start: Sequence[Range | None], guards: Sequence[Guard]) -> list[int]:
    """Numbers beyond which something may not grow: bounds of the start and of the guards."""
    found = {bound for span in start if span is not None for bound in span}
    for _, name, other in guards:
        found |= {bound + more for bound in _LIMITS[name](other) if bound is not None for more in (-1, 0, 1)}
    return sorted(found)


def _any(aval: Any) -> Range | None:
    return limits(aval.dtype) if is_whole(aval) and aval.dtype != bool else None


def _joined(a: Range | None, b: Range | None) -> Range | None:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _holds(a: Range | None, b: Range | None) -> bool:
    return a is None or b is not None and a[0] <= b[0] and b[1] <= a[1]


def _widened(a: Range | None, b: Range | None, aval: Any, marks: Sequence[int]) -> Range | None:
    """What still grows may come to the next mark; beyond these, to anything."""
    whole = _any(aval)
    if a is None or b is None or whole is None:
        return None
    low = max((mark for mark in marks if mark <= b[0]), default=whole[0])
    high = min((mark for mark in marks if mark >= b[1]), default=whole[1])
    return a[0] if a[0] <= b[0] else low, a[1] if a[1] >= b[1] else high


def _guarded(carry: Sequence[Range | None], guards: Sequence[Guard], avals: Sequence[Any]) -> list[Range | None]:
    found = list(carry)
    for position, name, other in guards:
        found[position] = narrowed_by(name, found[position], other, avals[position])
    return found


_LIMITS: dict[str, Callable[[Range], tuple[int | None, int | None]]] = {
    "lt": lambda other: (None, other[1] - 1),
    "le": lambda other: (None, other[1]),
    "gt": lambda other: (other[0] + 1, None),
    "ge": lambda other: (other[0], None),
}


def of_test(cond: Any, consts: Ranges) -> list[Guard]:
    """What holds of the carry where the test holds."""
    jaxpr = cond.jaxpr
    inputs = [*map(of_literal, cond.consts), *consts]
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars[: len(consts)]], inputs, strict=True))
    carry = {v: number for number, v in enumerate(jaxpr.invars[len(consts) :])}
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    return [(carry[v], name, span) for v, name, span in said(jaxpr.outvars[0], makers, known.get) if v in carry]


def said(boolean: Any, makers: dict[Any, Any], range_of: Callable[[Any], Range | None]) -> list[tuple[Any, str, Range]]:
    """The comparisons of integers with what is known that all hold where this one boolean of a jaxpr holds."""
    found: list[tuple[Any, str, Range]] = []

    def walk(atom: Any) -> None:
        maker = None if hasattr(atom, "val") else makers.get(atom)
        if maker is None:
            return
        name = maker.primitive.name
        if name in ("reshape", "convert_element_type", "squeeze", "taken") and maker.invars[0].aval.dtype == bool:
            walk(maker.invars[0])
        elif name == "and" and maker.outvars[0].aval.dtype == bool:
            for part in maker.invars:
                walk(part)
        elif name == "cond" and (first := _both(maker, makers)) is not None:
            walk(first)
        elif name in _FLIPPED:
            compare(name, *maker.invars)

    def compare(name: str, one: Any, other: Any) -> None:
        for how, a, b in ((name, one, other), (_FLIPPED[name], other, one)):
            variable = _before_conversion(a, makers)
            span = of_literal(b.val) if hasattr(b, "val") else range_of(b)
            if variable is not None and span is not None and is_whole(a.aval):
                found.append((variable, how, span))

    walk(boolean)
    return found


def denied(boolean: Any, makers: dict[Any, Any], range_of: Callable[[Any], Range | None]) -> list[tuple[Any, str, Range]]:
    """The comparisons that all hold where this boolean does not: `i != 0` and `j != 0` of `i == 0 or j == 0`."""
    found: list[tuple[Any, str, Range]] = []

    def walk(atom: Any, makers: dict[Any, Any], around: dict[Any, Any]) -> None:
        maker = None if hasattr(atom, "val") else makers.get(atom)
        if maker is None:
            return
        name = maker.primitive.name
        if name in ("reshape", "convert_element_type", "squeeze") and maker.invars[0].aval.dtype == bool:
            walk(maker.invars[0], makers, around)
        elif name == "or" and atom.aval.dtype == bool:
            for part in maker.invars:
                walk(part, makers, around)
        elif name == "cond" and not around and (first := _either(maker, makers)) is not None:
            no = maker.params["branches"][0].jaxpr
            walk(first, makers, around)
            inside = {v: equation for equation in no.eqns for v in equation.outvars}
            walk(no.outvars[0], inside, dict(zip(no.invars, maker.invars[1:], strict=True)))
        elif name in _DENIED:
            one, other = maker.invars
            variable = _before_conversion(one, makers)
            if variable is not None and hasattr(other, "val") and is_whole(one.aval) and (span := of_literal(other.val)):
                found.append((around.get(variable, variable), _DENIED[name], span))

    walk(boolean, makers, {})
    return [one for one in found if not hasattr(one[0], "val")]


def _either(conditional: Any, makers: dict[Any, Any]) -> Any:
    """Of `a or b`, which is `a if a else b`, the first; None if it is anything else."""
    asked = None if hasattr(conditional.invars[0], "val") else makers.get(conditional.invars[0])
    if asked is None or asked.primitive.name != "convert_element_type" or len(conditional.params["branches"]) != 2:
        return None
    yes, first = conditional.params["branches"][1].jaxpr, asked.invars[0]
    left = yes.outvars[0]
    is_true = hasattr(left, "val") and bool(left.val)
    given = dict(zip(yes.invars, conditional.invars[1:], strict=True))
    return first if is_true or not hasattr(left, "val") and given.get(left) is first else None


def narrowed_by(name: str, one: Range | None, other: Range, aval: Any) -> Range | None:
    """A range of which such a comparison holds."""
    one = one or _any(aval)
    if one is None:
        return None
    if name == "ne":
        return _without(one, other)
    low, high = _LIMITS[name](other)
    one = one[0] if low is None else max(one[0], low), one[1] if high is None else min(one[1], high)
    return one if one[0] <= one[1] else None  # it never holds


def _without(one: Range, other: Range) -> Range | None:
    """Without one number, where that is an end."""
    if other[0] == other[1]:
        one = one[0] + (one[0] == other[0]), one[1] - (one[1] == other[0])
    return one if one[0] <= one[1] else None


def _both(conditional: Any, makers: dict[Any, Any]) -> Any:
    """Of `a and b`, which is `b if a else a`, the first; None if it is anything else."""
    index = conditional.invars[0]  # a literal, of `lax.cond(True, ...)`
    asked = None if hasattr(index, "val") else makers.get(index)
    no = conditional.params["branches"][0].jaxpr
    if asked is None or asked.primitive.name != "convert_element_type" or len(conditional.params["branches"]) != 2:
        return None
    makers_inside = {v: equation for equation in no.eqns for v in equation.outvars}
    left = _unshaped(no.outvars[0], makers_inside)
    given = dict(zip(no.invars, conditional.invars[1:], strict=True))
    is_false = hasattr(left, "val") and not left.val
    same = not hasattr(left, "val") and left in given
    first = asked.invars[0]
    return first if is_false or same and _unshaped(given[left], makers) is _unshaped(first, makers) else None


def _unshaped(atom: Any, makers: dict[Any, Any]) -> Any:
    """Where a boolean comes from, which is made a boolean once more."""
    while not hasattr(atom, "val") and (maker := makers.get(atom)) is not None:
        if maker.primitive.name not in ("reshape", "convert_element_type") or maker.invars[0].aval.dtype != bool:
            break
        atom = maker.invars[0]
    return atom


def _before_conversion(atom: Any, makers: dict[Any, Any]) -> Any:
    """An integer as it was before it was given more bits."""
    maker = None if hasattr(atom, "val") else makers.get(atom)
    if maker is None or maker.primitive.name != "convert_element_type":
        return None if hasattr(atom, "val") else atom
    before, after = maker.invars[0].aval, atom.aval
    if (
        not is_whole(before)
        or not is_whole(after)
        or hasattr(maker.invars[0], "val")
        or not jnp.can_cast(before.dtype, after.dtype)
    ):
        return atom
    return maker.invars[0]
