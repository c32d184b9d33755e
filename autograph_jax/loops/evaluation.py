"""Running a jaxpr equation by equation, with the calls in it written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

_CALLS_OF_COMPILED = ("jit", "pjit", "closed_call")
_CALLS = (*_CALLS_OF_COMPILED, "turn")
WRITES = ("dynamic_update_slice", "scatter", "scatter-add", "scatter_add")  # of their first operand, in place
PLAIN = frozenset({bool, int, float, str, type(None)})  # parameters that are no programs
WITH_RULES = ("custom_jvp_call", "custom_vjp_call")
# They give their first operand, and tell derivatives, vmap or converted code something about it.
IDENTITIES = frozenset({"index_of_element", "lent", "stop_gradient", "taken"})
Equation = Callable[[Any, list[Any]], Sequence[Any]]


def inlined(closed: ClosedJaxpr, arguments: Sequence[Any], each: Equation | None = None) -> list[Any]:
    """What a jaxpr gives for these arguments, without calls of compiled functions. `each` says what an equation gives."""

    def one(equation: Any, operands: list[Any]) -> Sequence[Any]:
        return inlined(called(equation), operands, each) if is_call(equation) else (each or bound)(equation, operands)

    return evaluated(closed, arguments, one)


def evaluated(closed: ClosedJaxpr, arguments: Sequence[Any], each: Equation) -> list[Any]:
    """What a jaxpr gives for these arguments, where `each` says what an equation gives."""
    jaxpr = closed.jaxpr
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *arguments], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        out = each(equation, [read(v) for v in equation.invars])
        values.update(zip(equation.outvars, out, strict=True))
    return [read(v) for v in jaxpr.outvars]


def as_function(closed: ClosedJaxpr) -> Callable[..., Any]:
    """What runs the program, and has a name: of what `jaxpr_as_fun` gives, JAX would print the program to have one."""

    def run(*operands: Any) -> Any:
        return jaxpr_as_fun(closed)(*operands)

    return run


def is_plain_call(equation: Any) -> bool:
    """A call of a compiled function, of which nobody has said how it is to be compiled."""
    if equation.primitive.name not in _CALLS_OF_COMPILED or equation.effects:
        return False
    context = equation.ctx
    return not getattr(context, "xla_metadata", None) and getattr(context, "compute_type", None) is None


def is_written_out(equation: Any) -> bool:
    """May the called program stand in place of the call, where every transform has been done?"""
    return is_plain_call(equation) or equation.primitive.name in WITH_RULES and not equation.effects


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


def programs_of(params: dict[str, Any]) -> list[Any]:
    """The jaxprs among an equation's parameters, open ones."""
    if not params:  # as of most
        return []
    values = [value for value in params.values() if type(value) not in PLAIN]
    flat = [part for value in values for part in (value if isinstance(value, tuple | list) else (value,))]
    return [jaxpr for part in flat if type(part) not in PLAIN and hasattr(jaxpr := getattr(part, "jaxpr", part), "eqns")]
