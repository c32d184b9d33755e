"""What the derivative of a branch needs and the branch has only handed on: a matrix, say, that all turns of a loop multiply by.

JAX makes it a result of the lax.cond, with nothing in particular where the other branch runs: a copy in each turn, kept for the
way back. Here it is what it was before the branch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr

_NOTHING = object()  # nobody reads it


def seen_through(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program where whoever reads what a branch hands on reads what the branch was handed."""
    jaxpr = closed.jaxpr
    calls = [equation for equation in jaxpr.eqns if equation.primitive.name in ("cond", "jit", "pjit")]
    found = {v: _behind(jaxpr, v) for equation in calls for v in equation.outvars}
    instead = {v: new for v, new in found.items() if new is not None and new is not _NOTHING}

    def read(atoms: Sequence[Any]) -> list[Any]:
        return [atom if hasattr(atom, "val") else instead.get(atom, atom) for atom in atoms]

    equations = [equation.replace(invars=read(equation.invars)) for equation in jaxpr.eqns]
    changed = {"eqns": equations, "outvars": read(jaxpr.outvars), "debug_info": jaxpr.debug_info.with_unknown_names()}
    return ClosedJaxpr(jaxpr.replace(**changed), closed.consts)


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
