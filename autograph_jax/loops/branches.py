"""What the derivative of a branch needs and the branch has only handed on: a matrix, say, that all turns of a loop multiply by.

JAX makes it a result of the lax.cond, with nothing in particular where the other branch runs: a copy in each turn, kept for the
way back. Here it is what it was before the branch.
"""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr

_NOTHING = object()  # nobody reads it


def seen_through(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with those of its outputs that branches hand on replaced by what these are handed."""
    jaxpr = closed.jaxpr
    found = [_behind(jaxpr, v) for v in jaxpr.outvars]
    outputs = [v if new is None or new is _NOTHING else new for v, new in zip(jaxpr.outvars, found, strict=True)]
    return ClosedJaxpr(jaxpr.replace(outvars=outputs, debug_info=jaxpr.debug_info.with_unknown_names()), closed.consts)


def _behind(jaxpr: Any, atom: Any) -> Any:
    """The variable that another one is for sure, where it matters; _NOTHING; or None."""
    maker = next((e for e in jaxpr.eqns if any(v is atom for v in e.outvars)), None)
    if maker is None:
        return None
    name = maker.primitive.name
    if name.startswith("empty"):
        return _NOTHING
    if name == "broadcast_in_dim":
        return _NOTHING if _behind(jaxpr, maker.invars[0]) is _NOTHING else None
    if name not in ("cond", "jit", "pjit"):
        return None
    position = next(n for n, v in enumerate(maker.outvars) if v is atom)
    branches = maker.params["branches"] if name == "cond" else [maker.params["jaxpr"]]
    operands = maker.invars[1:] if name == "cond" else maker.invars
    return _common([_handed_on(branch.jaxpr, position) for branch in branches], jaxpr, operands)


def _handed_on(branch: Any, position: int) -> Any:
    """Which of its operands a branch gives there; _NOTHING; or None."""
    output = branch.outvars[position]
    behind = _behind(branch, output)
    if behind is _NOTHING:
        return behind
    output = output if behind is None else behind
    return next((n for n, v in enumerate(branch.invars) if v is output), None)


def _common(found: list[Any], jaxpr: Any, operands: Any) -> Any:
    handed_on = {n for n in found if n is not _NOTHING}
    if not handed_on:
        return _NOTHING
    if len(handed_on) > 1 or None in handed_on:
        return None
    operand = operands[handed_on.pop()]
    behind = None if hasattr(operand, "val") else _behind(jaxpr, operand)
    return operand if behind is None else behind
