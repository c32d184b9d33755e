"""Integers that a loop computes from its counter, and that its staged form has no room for: Python's have no bound.

`for i in range(100): s = s + x * ((i**5) % 101)` is exact where Python runs it; in 32 bits, `i**5` wraps.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

from autograph_jax.loops import guards, ranges
from autograph_jax.loops.evaluation import called, is_call, programs_of
from autograph_jax.loops.noted import left_by
from autograph_jax.loops.ranges import Range, Ranges

# Of a value: its range, if that is known, and the equation that has given too large a number for it, if one has.
Known = tuple[Range | None, Any]


def overflowing(closed: Any, known: Sequence[Range | None], *, in_branches: bool = True) -> Any:
    """An equation whose result, an integer of Python's, may have no room in its type, and is used; None if there is none.

    Without `in_branches`, none of those that stand in a branch, or are selected: not all turns take them.
    """
    if not _has_integers_of_python(closed.jaxpr):
        return None
    found = _found(closed, known)
    certain = [one for one in found if not isinstance(one, _InBranch)]
    equation = _first(found if in_branches else certain)
    return equation.equation if isinstance(equation, _InBranch) else equation


def _has_integers_of_python(jaxpr: Any) -> bool:
    return any(_is_of_python(e.outvars) or any(map(_has_integers_of_python, programs_of(e.params))) for e in jaxpr.eqns)


def _is_of_python(variables: Sequence[Any]) -> bool:
    return any(v.aval.weak_type and v.aval.dtype.kind in "iu" for v in variables if hasattr(v.aval, "weak_type"))


class _InBranch(NamedTuple):
    equation: Any


def _found(closed: Any, known: Sequence[Range | None]) -> list[Any]:
    return _origins(_through(closed, [(one, None) for one in known]))


def _through(closed: Any, inputs: Sequence[Known]) -> list[Known]:
    jaxpr = closed.jaxpr
    constants = [(ranges.of_literal(value), None) for value in closed.consts]
    found: dict[Any, Known] = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*constants, *inputs], strict=True))

    def read(atom: Any) -> Known:
        return (ranges.of_literal(atom.val), None) if hasattr(atom, "val") else found.get(atom, (None, None))

    for equation in jaxpr.eqns:
        found.update(zip(equation.outvars, _left_by(equation, list(map(read, equation.invars))), strict=True))
    return list(map(read, jaxpr.outvars))


def _left_by(equation: Any, given: list[Known]) -> list[Known]:
    name, known = equation.primitive.name, tuple(one for one, _ in given)
    if is_call(equation):
        return _through(called(equation), given)
    if name == "select_n":
        origin = _first(_origins(ranges.cases(given, known[0])))
        return [(ranges.of_result(equation, known), given[0][1] or _in_branch(origin))]
    origin = _first(_origins(given))
    if name not in _INNER and len(equation.outvars) == 1 and not ranges.is_whole(equation.outvars[0].aval):
        return [(None, origin)]
    if origin is None and name in _INNER:
        origin = _first(_INNER[name](equation.params, known))
    elif origin is None and ranges.overflows(equation, known) and equation.outvars[0].aval.weak_type:
        origin = equation
    spans = itertools.chain(left_by(equation, known), itertools.repeat(None))  # of a scan, only what it carries
    return [(span, origin) for _, span in zip(equation.outvars, spans, strict=False)]


def _in_while(params: dict[str, Any], known: Ranges) -> list[Any]:
    of_test, of_turn = guards.in_while(params, known)
    test, body, first = params["cond_jaxpr"], params["body_jaxpr"], params["cond_nconsts"]
    carry = known[first + params["body_nconsts"] :]
    return [
        *_found(test, guards.bounded(of_test, (*known[:first], *carry), test.in_avals)),
        *_found(body, guards.bounded(of_turn, known[first:], body.in_avals)),
    ]


def _in_scan(params: dict[str, Any], known: Ranges) -> list[Any]:
    body = params["jaxpr"]
    return _found(body, guards.bounded(guards.in_scan(params, known)[1], known, body.in_avals))


def _in_cond(params: dict[str, Any], known: Ranges) -> list[Any]:
    return [_in_branch(one) for branch in params["branches"] for one in _found(branch, known[1:])]


_INNER = {"while": _in_while, "scan": _in_scan, "cond": _in_cond}


def _in_branch(equation: Any) -> Any:
    return equation if equation is None or isinstance(equation, _InBranch) else _InBranch(equation)


def _origins(given: Sequence[Known]) -> list[Any]:
    return [equation for _, equation in given]


def _first(equations: Sequence[Any]) -> Any:
    return next((equation for equation in equations if equation is not None), None)
