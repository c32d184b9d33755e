"""A number that a loop begins with, where its turns leave an array: it is carried as that array, of equal elements.

`s = 0.0`, `for row in m: s = s + row` does not tell the difference. `prev = 0.0`, `for row in m: t += jnp.sum(jnp.cos(prev));
prev = row` does: the sum of a number is that number. Of zeros it is 0, too.
"""

from __future__ import annotations

import collections
import enum
from collections.abc import Hashable, Sequence
from typing import Any

from autograph_jax.loops import guards
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.kernels import BY_ELEMENT


class Spread(enum.IntEnum):
    """Does an array stand for one number, in each of its elements? A join of two paths is the larger of both."""

    NO = 0
    ZERO = 1
    ANY = 2

    @staticmethod
    def of(number: Any) -> Spread:
        return Spread.ZERO if number == 0 else Spread.ANY


_OF_EQUALS = frozenset("reduce_max reduce_min reduce_and reduce_or".split())
# What is 0 of a 0 in the first input, whatever the others are; the others are 0 wherever all of their inputs are.
_ZERO_OF_FIRST = frozenset("mul div neg abs sign sqrt sin tan tanh asin atan sinh asinh atanh expm1 log1p integer_pow".split())
_ZERO_OF_ZEROS = frozenset("add add_any sub max min select_n convert_element_type broadcast_in_dim copy stop_gradient".split())

_SHAPING = frozenset("broadcast_in_dim convert_element_type copy reshape squeeze".split())


def left(closed: Any, spread: Sequence[Spread]) -> list[Spread] | None:
    """Which outputs of a program may be such arrays still, if these inputs are; None where it tells them from a number."""
    return _walked(closed.jaxpr, spread)


def _walked(jaxpr: Any, spread: Sequence[Spread]) -> list[Spread] | None:
    known = dict(zip(jaxpr.invars, spread, strict=True))
    widened = {v for equation in jaxpr.eqns if _is_widening(equation) for v in equation.outvars}
    for equation in jaxpr.eqns:
        given = [_of_atom(atom, known) for atom in equation.invars]
        if any(given):
            after = _left_by(equation, given, widened)
            if after is None:
                return None
            known.update(zip(equation.outvars, after, strict=True))
    return [_of_atom(atom, known) for atom in jaxpr.outvars]


def _of_atom(atom: Any, known: dict[Any, Spread]) -> Spread:
    return Spread.NO if hasattr(atom, "val") else known.get(atom, Spread.NO)


def _left_by(equation: Any, given: list[Spread], widened: set[Any]) -> list[Spread] | None:
    name = equation.primitive.name
    if name == "cond":
        found = [_walked(branch.jaxpr, given[1:]) for branch in equation.params["branches"]]
        return None if given[0] or None in found else [max(column) for column in zip(*found, strict=True)]
    if name == "scan":
        return _left_by_scan(equation.params, given)
    inner = programs_of(equation.params)
    if len(inner) == 1 and len(inner[0].invars) == len(given) and len(inner[0].outvars) == len(equation.outvars):
        return _walked(inner[0], given)  # of a call, a custom rule, a checkpoint
    if name in _OF_EQUALS and equation.outvars[0].aval.shape == ():  # the largest of equal numbers is that number
        return [Spread.NO]
    if name == "reduce_sum" and equation.outvars[0].aval.shape == () and Spread.ANY not in given:
        return [Spread.NO]
    if name in BY_ELEMENT or name in ("select_n", "broadcast_in_dim"):
        others = [atom for atom, one in zip(equation.invars, given, strict=True) if not one]
        shape = equation.outvars[0].aval.shape
        is_number = all(atom.aval.shape != shape or not hasattr(atom, "val") and atom in widened for atom in others)
        return [_of_elements(equation, given) if is_number else Spread.NO]
    return None


def _is_widening(equation: Any) -> bool:
    """Does it repeat something smaller, which beside a number would be no larger?"""
    return equation.primitive.name == "broadcast_in_dim" and equation.outvars[0].aval.size > equation.invars[0].aval.size


def _of_elements(equation: Any, given: list[Spread]) -> Spread:
    name = equation.primitive.name
    zeros = [one == Spread.ZERO or _is_zero(atom) for atom, one in zip(equation.invars, given, strict=True)]
    if name == "mul":
        return Spread.ZERO if any(zeros) else Spread.ANY
    if name in _ZERO_OF_FIRST and equation.params.get("y", 1) > 0:  # the power
        return Spread.ZERO if zeros[0] else Spread.ANY
    if name == "select_n":
        zeros = zeros[1:]
    return Spread.ZERO if name in _ZERO_OF_ZEROS and all(zeros) else Spread.ANY


def _is_zero(atom: Any) -> bool:
    return hasattr(atom, "val") and getattr(atom.val, "ndim", 0) == 0 and bool(atom.val == 0)


def _left_by_scan(params: dict[str, Any], given: list[Spread]) -> list[Spread] | None:
    first, last = guards.parts_of_scan(params, given)
    if any(given[last:]):  # its rows are taken
        return None
    carry = given[first:last]
    while (after := _walked(params["jaxpr"].jaxpr, [*given[:first], *carry, *given[last:]])) is not None:
        joined = [max(one, other) for one, other in zip(carry, after, strict=False)]
        if joined == carry:
            return after
        carry = joined
    return None


def told_by_shape(of_arrays: Any, of_numbers: Any, begun: Sequence[bool]) -> bool:
    """Does a turn that is given numbers compute what it does not compute of arrays: `total += jnp.size(s)`?

    These are programs of one body; `begun` says which of its inputs are numbers in the second. What depends on these is of
    another shape there, so that only the literals beside it are compared.
    """
    return _computed(of_arrays, begun) != _computed(of_numbers, begun)


def _computed(closed: Any, begun: Sequence[bool]) -> collections.Counter[Hashable]:
    found = collections.Counter[Hashable]()
    _note(closed.jaxpr, [*begun, *[False] * (len(closed.jaxpr.invars) - len(begun))], found)
    return found


def _note(jaxpr: Any, begun: Sequence[bool], found: collections.Counter[Hashable]) -> None:
    known: dict[Any, bool] = dict(zip(jaxpr.invars, begun, strict=True))
    literals: dict[Any, Hashable] = {}  # of variables that are one, of another shape
    for equation in jaxpr.eqns:
        given = [not hasattr(atom, "val") and known.get(atom, False) for atom in equation.invars]
        own = tuple(_literal(atom, literals) for atom in equation.invars)
        depends = any(given)
        for program in programs_of(equation.params):
            inputs = given[1:] if equation.primitive.name == "cond" else given
            is_call = len(program.invars) == len(inputs) and equation.primitive.name != "scan"
            _note(program, inputs if is_call else [depends] * len(program.invars), found)
        known.update((v, depends) for v in equation.outvars)
        if equation.primitive.name in _SHAPING:
            literals[equation.outvars[0]] = own[0]
        elif not depends:
            found[equation.primitive.name, own, *(atom.aval.shape for atom in (*equation.invars, *equation.outvars))] += 1
        elif any(literal is not None for literal in own):
            found[equation.primitive.name, own] += 1


def _literal(atom: Any, known: dict[Any, Hashable]) -> Hashable:
    if not hasattr(atom, "val"):
        return known.get(atom)
    return atom.val.item() if getattr(atom.val, "size", 0) == 1 else atom.val if isinstance(atom.val, Hashable) else None
