"""In-place writes of a branch are done after it, so that XLA keeps them in place; those of a loop's turn: `loops/writes.py`.

A branch that writes an array would hand the whole array out of lax.cond, and XLA copies it. It hands out the indices and the
values instead; a branch that does not write gives an index out of bounds, which is dropped.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.extend
import jax.numpy as jnp

from autograph_jax.loops.axes import axes_of_type, vary
from autograph_jax.loops.bodies import replaces


@dataclasses.dataclass(frozen=True)
class Slot:
    """A write after a branch: the equation of each of the two branches that do it, or None where one does not."""

    equations: tuple[Any | None, Any | None]

    @property
    def example(self) -> Any:
        return self.equations[0] or self.equations[1]

    def operands(self, branch: int, values: dict[int, Any]) -> list[Any]:
        """Where and what a branch writes, indices and updates, of values by the id of their atoms."""
        equation = self.equations[branch]
        if equation is not None:
            return [values[id(atom)] for atom in equation.invars[1:]]
        indices, updates = (atom.aval for atom in self.example.invars[1:])
        outside = jnp.full(indices.shape, jnp.iinfo(indices.dtype).max, indices.dtype)
        zeros = jnp.zeros(updates.shape, updates.dtype)
        return [vary(outside, axes_of_type(indices)), vary(zeros, axes_of_type(updates))]

    def write(self, array: jax.Array, operands: Sequence[Any]) -> jax.Array:
        return self.example.primitive.bind(array, *operands, **self.example.params)


def branch_writes(closed: Any, position: int | None, array: Any) -> list[Any] | None:
    """The writes by which a branch makes its output at `position` from an array outside; None if it does more than that."""
    if position is None:
        return []
    jaxpr = closed.jaxpr
    readers: dict[Any, int] = {}
    for atom in [a for equation in jaxpr.eqns for a in equation.invars] + list(jaxpr.outvars):
        if _is_variable(atom):
            readers[atom] = readers.get(atom, 0) + 1
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    constants = dict(zip(jaxpr.constvars, closed.consts, strict=True))
    variable, chain = jaxpr.outvars[position], []
    while _is_variable(variable) and variable not in constants:
        maker = makers.get(variable)
        if maker is None or not _can_be_dropped(maker) or readers[variable] > 1:
            return None
        chain.append(maker)
        variable = maker.invars[0]
    return chain[::-1] if _is_variable(variable) and constants[variable] is array else None


def _can_be_dropped(equation: Any) -> bool:
    """A write that an index out of bounds turns off. One of a whole array, `x[:] = v`, has no index."""
    mode = equation.params.get("mode")
    if not replaces(equation) or mode != jax.lax.GatherScatterMode.FILL_OR_DROP:
        return False
    return bool(equation.params["dimension_numbers"].scatter_dims_to_operand_dims)


def slots_of(first: list[Any], second: list[Any]) -> list[Slot]:
    """Pair the writes of two branches: the same write with other values is one, `D[i, j] = ...` in both."""
    paired = []
    for one, other in itertools.zip_longest(first, second):
        if one is not None and other is not None and _alike(one, other):
            paired.append(Slot((one, other)))
        else:
            paired += [Slot((one, None))] if one is not None else []
            paired += [Slot((None, other))] if other is not None else []
    return paired


def _alike(one: Any, other: Any) -> bool:
    avals = [[(a.aval.shape, a.aval.dtype, axes_of_type(a.aval)) for a in equation.invars] for equation in (one, other)]
    keys = ("dimension_numbers", "mode", "unique_indices", "indices_are_sorted")
    return avals[0] == avals[1] and all(one.params[key] == other.params[key] for key in keys)


def with_outputs(closed: Any, outputs: Sequence[Any]) -> Any:
    """A jaxpr that gives these values in it; what nobody needs is left out."""
    jaxpr = closed.jaxpr
    needed = {v for v in outputs if _is_variable(v)}
    equations = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(v in needed for v in equation.outvars):
            equations.append(equation)
            needed |= {v for v in equation.invars if _is_variable(v)}
    pairs = [pair for pair in zip(jaxpr.constvars, closed.consts, strict=True) if pair[0] in needed]
    new = jaxpr.replace(
        constvars=[variable for variable, _ in pairs],
        eqns=equations[::-1],
        outvars=list(outputs),
        debug_info=jaxpr.debug_info.with_unknown_names(),
    )
    return jax.extend.core.ClosedJaxpr(new, [const for _, const in pairs])


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")
