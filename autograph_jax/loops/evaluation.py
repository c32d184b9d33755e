"""Running a jaxpr equation by equation, with the calls in it written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr

_CALLS = ("jit", "pjit", "closed_call", "turn")
Equation = Callable[[Any, list[Any]], Sequence[Any]]


def inlined(closed: ClosedJaxpr, arguments: Sequence[Any], each: Equation | None = None) -> list[Any]:
    """What a jaxpr gives for these arguments, without calls of compiled functions. `each` says what an equation gives."""
    each = each or bound
    jaxpr = closed.jaxpr
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *arguments], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        operands = [read(v) for v in equation.invars]
        out = inlined(called(equation), operands, each) if is_call(equation) else each(equation, operands)
        values.update(zip(equation.outvars, out, strict=True))
    return [read(v) for v in jaxpr.outvars]


def is_call(equation: Any) -> bool:
    return equation.primitive.name in _CALLS


def called(equation: Any) -> ClosedJaxpr:
    return equation.params["jaxpr"] if "jaxpr" in equation.params else equation.params["call_jaxpr"]


def bound(equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """What an equation computes, at its place in the user's code."""
    params = equation.primitive.get_bind_params(equation.params)  # of custom rules, the functions
    with equation.ctx.manager, source_info_util.user_context(equation.source_info.traceback):
        out = equation.primitive.bind(*operands, **params)
    return out if equation.primitive.multiple_results else [out]
