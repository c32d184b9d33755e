"""In-place writes are done last, after a branch and after the arithmetic of a loop's turn, so that XLA keeps them in place.

A turn that reads an array, computes, and writes it back makes XLA copy the whole array each time as soon as two arrays are
involved, or a read and two writes. The copies go if everything but the writes is a call of its own: it gives what is to be
written and where, and the writes follow. Thomas' algorithm on 8,000 unknowns: 10 ms before, 0.13 ms after.

A branch that writes an array would hand the whole array out of lax.cond, and XLA copies it. It hands out the indices and the
values instead; a branch that does not write gives an index out of bounds, which is dropped.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.extend
import jax.numpy as jnp
from jax.experimental.xla_metadata import set_xla_metadata

_WRITES = ("scatter", "dynamic_update_slice")


@dataclasses.dataclass(frozen=True)
class _Plan:
    """A jaxpr cut in two: everything but the writes, which gives further `given`, and the writes."""

    compute: Any
    outputs: int
    given: list[Any]
    writes: list[Any]


def writes_last(closed: Any) -> Callable[..., Sequence[Any]]:
    """A function that computes what a closed jaxpr computes, with the writes of its array inputs at the end."""
    plan = _plan(closed)
    if plan is None:
        return jax.extend.core.jaxpr_as_fun(closed)
    compute = jax.jit(jax.extend.core.jaxpr_as_fun(plan.compute))

    def run(*arguments: Any) -> list[Any]:
        with set_xla_metadata(inlineable="false"):
            results = compute(*arguments)
        known = dict(zip(closed.jaxpr.invars, arguments, strict=True))
        known |= dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
        known |= dict(zip(plan.given, results[plan.outputs :], strict=True))
        for equation in plan.writes:
            operands = [_value(atom, known) for atom in equation.invars]
            known[equation.outvars[0]] = equation.primitive.bind(*operands, **equation.params)
        rest = iter(results[: plan.outputs])
        written = {equation.outvars[0] for equation in plan.writes}
        return [known[v] if _is_variable(v) and v in written else next(rest) for v in closed.jaxpr.outvars]

    return run


def _plan(closed: Any) -> _Plan | None:
    """Cut a jaxpr; None where there is nothing to write, or a written array is read again in the same turn."""
    jaxpr = closed.jaxpr
    writes = _final_writes(jaxpr)
    if not writes:
        return None
    written = {equation.outvars[0] for equation in writes}
    compute = [equation for equation in jaxpr.eqns if equation not in writes]
    outputs = [v for v in jaxpr.outvars if not (_is_variable(v) and v in written)]
    made = {v for equation in compute for v in equation.outvars}
    given = _unique([v for e in writes for v in e.invars[1:] if _is_variable(v) and v in made])
    new = jaxpr.replace(eqns=compute, outvars=[*outputs, *given], debug_info=jaxpr.debug_info.with_unknown_names())
    return _Plan(jax.extend.core.ClosedJaxpr(new, closed.consts), len(outputs), given, writes)


def _final_writes(jaxpr: Any) -> list[Any]:
    """The writes that lead from an input to an output and are seen by nothing else."""
    readers: dict[Any, list[Any]] = {}
    for equation in jaxpr.eqns:
        for atom in equation.invars:
            if _is_variable(atom):
                readers.setdefault(atom, []).append(equation)
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    inputs = set(jaxpr.invars)
    found = []
    for output in jaxpr.outvars:
        chain = _chain(output, makers, readers, inputs, list(jaxpr.outvars).count(output))
        found += chain
    return [equation for equation in jaxpr.eqns if equation in found]


def _chain(output: Any, makers: dict[Any, Any], readers: dict[Any, list[Any]], inputs: set[Any], uses: int) -> list[Any]:
    chain: list[Any] = []
    variable, allowed = output, 0
    while _is_variable(variable) and variable not in inputs:
        maker = makers.get(variable)
        if maker is None or maker.primitive.name not in _WRITES or len(readers.get(variable, ())) > allowed or uses > 1:
            return []
        chain.append(maker)
        variable, allowed = maker.invars[0], 1
    return chain if _is_variable(variable) else []


# Writes in branches


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
        return [outside, jnp.zeros(updates.shape, updates.dtype)]

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
    if equation.primitive.name != "scatter" or mode != jax.lax.GatherScatterMode.FILL_OR_DROP:
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
    avals = [[(a.aval.shape, a.aval.dtype) for a in equation.invars] for equation in (one, other)]
    keys = ("dimension_numbers", "mode", "unique_indices", "indices_are_sorted")
    return avals[0] == avals[1] and all(one.params[key] == other.params[key] for key in keys)


def with_outputs(closed: Any, keep: Sequence[int], more: Sequence[Any]) -> Any:
    """A jaxpr that gives only some of its outputs, and further values computed in it; what nobody needs is left out."""
    jaxpr = closed.jaxpr
    outputs = [jaxpr.outvars[position] for position in keep] + list(more)
    needed = {v for v in outputs if _is_variable(v)}
    equations = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(v in needed for v in equation.outvars):
            equations.append(equation)
            needed |= {v for v in equation.invars if _is_variable(v)}
    new = jaxpr.replace(eqns=equations[::-1], outvars=outputs, debug_info=jaxpr.debug_info.with_unknown_names())
    return jax.extend.core.ClosedJaxpr(new, closed.consts)


def _unique(variables: list[Any]) -> list[Any]:
    return list(dict.fromkeys(variables))


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")


def _value(atom: Any, known: dict[Any, Any]) -> Any:
    return known[atom] if _is_variable(atom) else atom.val
