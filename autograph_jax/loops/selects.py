"""A cheap `if` in a loop is compiled to a select: both branches are computed, and the predicate chooses.

A conditional keeps XLA from making one piece of machine code of a turn, and costs more than a few operations on numbers do.
This is done where a loop is lowered, after every transform: derivatives, checks and explanations see lax.cond as it was staged.
The values are the same to the bit, since a branch has no effects and what it computes in vain is dropped, also NaN.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.axes import axes_of_type
from autograph_jax.loops.evaluation import bound, called, is_call

_MOST_WORK = 40  # operations on numbers; beyond that a branch that is not taken had better not run
_MOST_ELEMENTS = 64
_FREE = {"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "stop_gradient", "copy", "expand_dims"}
_WORK = dict.fromkeys(
    "add and add_any abs ceil eq floor ge gt is_finite le lt max min mul ne neg not or select_n shift_left sign square sub xor"
    " shift_right_arithmetic shift_right_logical clamp round".split(),
    1,
) | {"div": 4, "rem": 4, "sqrt": 4, "integer_pow": 4, "dynamic_slice": 2, "gather": 2, "concatenate": 2, "slice": 1}


@functools.lru_cache(maxsize=1024)
def with_selects(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A program whose cheap conditionals are selects, and whose selects ask a boolean."""
    if not any(_is_cheap(equation) or _asks_integer(equation) for equation in closed.jaxpr.eqns):
        return closed

    def run(*operands: Any) -> list[Any]:
        return _run(closed.jaxpr, closed.consts, operands)

    return jax.make_jaxpr(run)(*closed.in_avals)


def params_with_selects(params: dict[str, Any]) -> dict[str, Any]:
    """Those of lax.while_loop's primitive, as the loop is compiled."""
    return params | {name: with_selects(params[name]) for name in ("cond_jaxpr", "body_jaxpr")}


def _run(jaxpr: Any, consts: Sequence[Any], operands: Sequence[Any]) -> list[Any]:
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *operands], strict=True))
    booleans: dict[Any, Any] = {}  # of what was a boolean and is an integer: that boolean

    def read(atom: Any) -> Any:
        return values[atom] if _is_variable(atom) else atom.val

    for equation in jaxpr.eqns:
        given = [read(atom) for atom in equation.invars]
        first = next(iter(equation.invars), None)
        asked = booleans.get(first) if _is_variable(first) else None
        with _place(equation):
            if equation.primitive.name == "convert_element_type" and first.aval.dtype == bool:
                booleans[equation.outvars[0]] = given[0]
            elif equation.primitive.name == "select_n" and asked is not None:
                given[0] = asked
            if _is_cheap(equation):
                out = _chosen(equation, given, asked)
            elif asked is not None and (compared := _compared(equation, asked)) is not None:
                out = [compared]
            else:
                out = bound(equation, given)
        values.update(zip(equation.outvars, out, strict=True))
    return [read(atom) for atom in jaxpr.outvars]


def _place(equation: Any) -> Any:
    """The equation's place in the user's code and in named scopes."""
    info = equation.source_info
    stack = source_info_util.current_name_stack() + info.name_stack
    return source_info_util.user_context(info.traceback, name_stack=stack)


def _chosen(equation: Any, given: Sequence[Any], predicate: Any) -> list[Any]:
    """What a conditional gives: of each output the one or the other."""
    predicate = given[0] > 0 if predicate is None else predicate
    cases = [_run(branch.jaxpr, branch.consts, given[1:]) for branch in equation.params["branches"]]
    return [no if no is yes else jax.lax.select_n(predicate, no, yes) for no, yes in zip(*cases, strict=True)]


def _compared(equation: Any, boolean: Any) -> Any:
    """Of a boolean as an integer: is it 0, or is it 1? None if something else is asked."""
    if equation.primitive.name != "eq" or _is_variable(equation.invars[1]) or jnp.ndim(equation.invars[1].val):
        return None
    return {0: jnp.logical_not, 1: lambda x: x}.get(int(equation.invars[1].val), lambda _: None)(boolean)


def _asks_integer(equation: Any) -> bool:
    return equation.primitive.name == "select_n" and equation.invars[0].aval.dtype != bool


def _is_cheap(equation: Any) -> bool:
    """A conditional of two branches that cost little, on few numbers."""
    if equation.primitive.name != "cond" or len(equation.params["branches"]) != 2 or equation.effects:
        return False
    branches = equation.params["branches"]
    return _selectable(branches) and sum(_work(branch.jaxpr) for branch in branches) <= _MOST_WORK


def _selectable(branches: Sequence[ClosedJaxpr]) -> bool:
    no, yes = (branch.jaxpr for branch in branches)
    places = dict(zip(yes.invars, no.invars, strict=True))
    for first, second in zip(no.outvars, yes.outvars, strict=True):
        same = _is_variable(second) and places.get(second) is first
        if not same and not _is_small(first.aval):
            return False
    return True


def _work(jaxpr: Any) -> float:
    return sum(map(_work_of, jaxpr.eqns))


def _work_of(equation: Any) -> float:
    name, outputs = equation.primitive.name, [v.aval for v in equation.outvars]
    if name in _FREE or name in _WORK:
        if not all(map(_is_small, outputs)) or name == "gather" and "PROMISE" in str(equation.params["mode"]):
            return float("inf")
        return _WORK.get(name, 0) * (1 + outputs[0].size // 8)
    if is_call(equation):
        return _work(called(equation).jaxpr)
    return _work_of_branches(equation) if name == "cond" else float("inf")


def _work_of_branches(equation: Any) -> float:
    return sum(_work(branch.jaxpr) for branch in equation.params["branches"]) if _is_cheap(equation) else float("inf")


def _is_small(aval: Any) -> bool:
    is_number = jnp.issubdtype(aval.dtype, jnp.number) or aval.dtype == bool
    return is_number and aval.size <= _MOST_ELEMENTS and not axes_of_type(aval)


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")
