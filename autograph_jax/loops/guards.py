"""What the test of a while loop says of its integers: in `while j >= 0 and x[j] > key: j -= 1` no turn has a negative j."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp

from autograph_jax.loops.ranges import Range, Ranges, is_whole, of_jaxpr, of_literal

_ROUNDS = 4
_FLIPPED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}
Guard = tuple[int, str, Range]  # `carry[0] < (0, 9)`: which of the carry, how it compares, and with what


def in_while(params: dict[str, Any], known: Ranges) -> tuple[Ranges, Ranges]:
    """Of what the test gets, and of what a turn gets, of the ranges of a while loop's operands."""
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    body = params["body_jaxpr"]
    avals = body.in_avals[params["body_nconsts"] :]
    guards = _guards(params["cond_jaxpr"], known[:first])
    start = carry = [one if one is not None else _any(aval) for one, aval in zip(known[second:], avals, strict=True)]
    for number in range(_ROUNDS):
        inside = _guarded(carry, guards)
        left = of_jaxpr(body, (*known[first:second], *inside))
        ends = [_joined(a, b) for a, b in zip(start, left, strict=True)]
        if all(_holds(a, b) for a, b in zip(carry, ends, strict=True)):
            return (*known[:first], *carry), (*known[first:second], *inside)
        moved = zip(carry, ends, avals, strict=True)
        carry = [_joined(a, b) if number == 0 else _widened(a, b, aval) for a, b, aval in moved]
    nothing = (None,) * len(start)
    return (*known[:first], *nothing), (*known[first:second], *nothing)


def _any(aval: Any) -> Range | None:
    if not jnp.issubdtype(aval.dtype, jnp.integer):
        return None
    limits = jnp.iinfo(aval.dtype)
    return int(limits.min), int(limits.max)


def _joined(a: Range | None, b: Range | None) -> Range | None:
    return None if a is None or b is None else (min(a[0], b[0]), max(a[1], b[1]))


def _holds(a: Range | None, b: Range | None) -> bool:
    return a is None or b is not None and a[0] <= b[0] and b[1] <= a[1]


def _widened(a: Range | None, b: Range | None, aval: Any) -> Range | None:
    """What still grows may come to be anything."""
    whole = _any(aval)
    if a is None or b is None or whole is None:
        return None
    return a[0] if a[0] <= b[0] else whole[0], a[1] if a[1] >= b[1] else whole[1]


def _guarded(carry: Sequence[Range | None], guards: Sequence[Guard]) -> list[Range | None]:
    found = list(carry)
    for position, name, other in guards:
        one = found[position]
        if one is not None:
            low, high = _LIMITS[name](other)
            one = one[0] if low is None else max(one[0], low), one[1] if high is None else min(one[1], high)
            found[position] = one if one[0] <= one[1] else None  # there is no such turn
    return found


_LIMITS: dict[str, Callable[[Range], tuple[int | None, int | None]]] = {
    "lt": lambda other: (None, other[1] - 1),
    "le": lambda other: (None, other[1]),
    "gt": lambda other: (other[0] + 1, None),
    "ge": lambda other: (other[0], None),
}


def _guards(cond: Any, consts: Ranges) -> list[Guard]:
    """The comparisons of integers with what is known that all hold where the test holds."""
    jaxpr = cond.jaxpr
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*map(of_literal, cond.consts), *consts], strict=False))
    carry = {v: number for number, v in enumerate(jaxpr.invars[len(consts) :])}
    found: list[Guard] = []

    def range_of(atom: Any) -> Range | None:
        return of_literal(atom.val) if hasattr(atom, "val") else known.get(atom)

    def walk(atom: Any) -> None:
        maker = None if hasattr(atom, "val") else makers.get(atom)
        if maker is None:
            return
        name = maker.primitive.name
        if name in ("reshape", "convert_element_type", "squeeze") and maker.invars[0].aval.dtype == bool:
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
            a = _before_conversion(a, makers)
            span = range_of(b)
            if a in carry and span is not None:
                found.append((carry[a], how, span))

    walk(jaxpr.outvars[0])
    return found


def _both(conditional: Any, makers: dict[Any, Any]) -> Any:
    """Of `a and b`, which is `b if a else a`, the first; None if it is anything else."""
    asked = makers.get(conditional.invars[0])
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
