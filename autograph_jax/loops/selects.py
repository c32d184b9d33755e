"""A cheap `if` in a loop is compiled to a select: both branches are computed, and the predicate chooses.

A conditional keeps XLA from making one piece of machine code of a turn, and costs more than a few operations on numbers do.
The values are the same to the bit, since a branch has no effects and what it computes in vain is dropped, also NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.axes import axes_of_type
from autograph_jax.loops.building import is_variable
from autograph_jax.loops.evaluation import called, is_call

_MOST_WORK = 40  # operations on numbers; beyond that a branch that is not taken had better not run
_MOST_ELEMENTS = 64
_FREE = {"broadcast_in_dim", "convert_element_type", "reshape", "squeeze", "stop_gradient", "copy", "expand_dims", "within"}
_WORK = dict.fromkeys(
    "add and add_any abs ceil eq floor ge gt is_finite le lt max min mul ne neg not or select_n shift_left sign slice square"
    " sub xor shift_right_arithmetic shift_right_logical clamp round".split(),
    1,
)
_WORK |= dict.fromkeys("concatenate dynamic_slice gather stack unstack".split(), 2)
_WORK |= dict.fromkeys("div integer_pow rem sqrt".split(), 4)


def compared(equation: Any) -> bool | None:
    """Of a boolean as a number: is it 1, or is it 0? None if something else is asked: `mask == 0.5`."""
    if equation.primitive.name != "eq" or is_variable(equation.invars[1]) or np.ndim(equation.invars[1].val):
        return None
    number = equation.invars[1].val
    return bool(number) if number in (0, 1) else None


def is_pure(equation: Any) -> bool:
    """An operation on numbers that may run twice or in vain."""
    return equation.primitive.name in _FREE or equation.primitive.name in _WORK


def is_cheap(equation: Any, branches: Sequence[ClosedJaxpr]) -> bool:
    """A conditional of two branches that cost little, on few numbers."""
    if len(branches) != 2 or equation.effects:
        return False
    return _selectable(branches) and sum(_work(branch.jaxpr) for branch in branches) <= _MOST_WORK


def _selectable(branches: Sequence[ClosedJaxpr]) -> bool:
    no, yes = (branch.jaxpr for branch in branches)
    places = dict(zip(yes.invars, no.invars, strict=True))
    for first, second in zip(no.outvars, yes.outvars, strict=True):
        same = is_variable(second) and places.get(second) is first
        if not same and not _is_small(first.aval):
            return False
    return True


def _work(jaxpr: Any) -> float:
    return sum(map(_work_of, jaxpr.eqns))


def _work_of(equation: Any) -> float:
    name, outputs = equation.primitive.name, [v.aval for v in equation.outvars]
    if is_pure(equation):
        if not all(map(_is_small, outputs)) or name == "gather" and "PROMISE" in str(equation.params["mode"]):
            return float("inf")
        return _WORK.get(name, 0) * (1 + outputs[0].size // 8)
    if is_call(equation):
        return _work(called(equation).jaxpr)
    if name == "cond" and is_cheap(equation, equation.params["branches"]):
        return sum(_work(branch.jaxpr) for branch in equation.params["branches"])
    return float("inf")


def _is_small(aval: Any) -> bool:
    is_number = jnp.issubdtype(aval.dtype, jnp.number) or aval.dtype == bool
    return is_number and aval.size <= _MOST_ELEMENTS and not axes_of_type(aval)
