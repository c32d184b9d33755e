"""A while loop put together of the programs that its state has settled with, which are not traced once more, as lax would.

To trace an equation takes ten times as long as to put it elsewhere (`loops/building.py`). Where a turn is more than its
program, or not the test alone decides whether there is another one, lax traces it all: exits, errors, prints, lists that grow,
and what a mesh, a `try` or a branch around asks for.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Any

import jax
import jax.core
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal

from autograph_jax.loops import api, references
from autograph_jax.loops.building import Atom, Builder, is_variable, with_consts_given
from autograph_jax.operators.effects import ended
from autograph_jax.operators.loop_options import Options
from autograph_jax.operators.staging.blocks import Traced
from autograph_jax.operators.staging.settled import Settled
from autograph_jax.operators.tracing import state
from autograph_jax.operators.values.forms import Array, Form, Tree
from autograph_jax.operators.values.references import is_kind
from autograph_jax.operators.values.selected import is_selection


def while_loop(settled: Settled, condition: Traced, start: dict[str, Any], options: Options) -> dict[str, Any] | None:
    """Stage the loop, which starts with this carry, and give what it leaves of it; None where lax is to trace it."""
    if options.max_steps is not None or not _is_plain(settled, condition, start) or not _is_alone():
        return None
    carry, structure = jax.tree.flatten(start)
    leaves = settled.leaves(jax.tree.unflatten(structure, [*map(_Carried, range(len(carry)))]))
    cond, body, avals = condition.jaxpr, settled.traced.jaxpr, [*map(jax.typeof, carry)]
    left = settled.left_of_carry()
    if not all(_take(closed, leaves, avals) for closed in (cond, body)) or [body.out_avals[n] for n in left] != avals:
        return None  # numbers of Python's have become others since
    test, of_test = _program(cond, leaves, avals, [0])
    turn, of_turn = _program(settled.body.program(), [*settled.body.consts, *leaves], avals, left)
    how = {"checkpoints": options.checkpoints, "optimize": options.optimizations}
    return jax.tree.unflatten(structure, api.while_loop_of((test, turn), (of_test, of_turn, carry), **how))


@dataclasses.dataclass(frozen=True)
class _Carried:
    """A leaf of the state that is this one of the carry."""

    number: int


def _take(closed: ClosedJaxpr, leaves: Sequence[Any], avals: Sequence[Any]) -> bool:
    """Has each leaf that is carried the carry's type in a program of the state?"""
    pairs = zip(leaves, closed.in_avals, strict=False)  # behind the leaves: whether a turn counts
    return all(aval == avals[leaf.number] for leaf, aval in pairs if isinstance(leaf, _Carried))


def _is_alone() -> bool:
    """Does nothing around the loop ask for more than it does?"""
    is_compiled = not jax.config.jax_disable_jit  # pyright: ignore[reportAttributeAccessIssue]
    has_no_mesh = jax.sharding.get_abstract_mesh().empty
    return is_compiled and has_no_mesh and state.branch_taken() is None and not state.attempts() and ended.has_failed() is False


def _is_plain(settled: Settled, condition: Traced, start: dict[str, Any]) -> bool:
    """Is a turn what its program computes, and the test all that ends the loop?"""
    programs = settled.traced.jaxpr, condition.jaxpr
    if not start or any(program.effects for program in programs) or references.are_in(*programs):
        return False
    if (
        settled.has_exit
        or settled.growing
        or settled.axes
        or settled.uses_active
        or isinstance(settled.error(start), jax.Array)
    ):
        return False
    ends = settled.traced.ends
    is_asked = isinstance(condition.result, Array) and not condition.result.shape
    is_left_alike = all(ends[place.key][1] == form for place, form in settled.inputs if place.key in ends)
    return is_asked and is_left_alike and all(_is_of_arrays(form) for _, form in settled.inputs)


def _is_of_arrays(form: Form) -> bool:
    """Are its leaves arrays that are handed on as they are?"""
    if isinstance(form, Tree):
        return not is_kind(form.kind) and not is_selection(form) and all(map(_is_of_arrays, form.children))
    return not isinstance(form, Array) or not form.axes and not jax.numpy.issubdtype(form.dtype, jax.dtypes.extended)


def _program(
    closed: ClosedJaxpr, operands: Sequence[Any], carried: Sequence[Any], outputs: Sequence[int]
) -> tuple[ClosedJaxpr, list[Any]]:
    """A program of constants and of a carry of these types, which gives some of what `closed` gives; and those constants.

    `closed` is of these operands and, behind them, of whether a turn counts. Numbers that are known stand in the program.
    """
    closed, operands = with_consts_given(closed), [*closed.consts, *operands]
    types, read = closed.in_avals, _read(closed, outputs)
    given = {id(operand): n for n, operand in enumerate(operands) if n in read and not _is_known(operand)}
    builder = Builder([*(types[n] for n in given.values()), *carried])
    atoms: dict[Any, Atom] = dict(zip([*given, *map(_Carried, range(len(carried)))], builder.inputs, strict=True))
    counts = Literal(np.asarray(True), jax.core.ShapedArray((), np.dtype(bool)))

    def atom(number: int, operand: Any) -> Atom:
        if isinstance(operand, _Carried):
            return atoms[operand]
        if _is_known(operand):
            return Literal(np.asarray(operand, types[number].dtype), types[number])
        return atoms[id(operand)] if number in read else counts  # what is not read may be anything

    known = [*itertools.starmap(atom, enumerate(operands)), counts]
    assert len(types) in (len(operands), len(known)), (len(types), len(operands))
    made = builder.of_program(closed, known[: len(types)])
    return builder.program(closed.jaxpr, [made[n] for n in outputs]), [operands[n] for n in given.values()]


def _read(closed: ClosedJaxpr, outputs: Sequence[int]) -> set[int]:
    """Which inputs a program reads, or hands on as one of these outputs."""
    jaxpr = closed.jaxpr
    atoms = [atom for equation in jaxpr.eqns for atom in equation.invars] + [jaxpr.outvars[number] for number in outputs]
    read = {atom for atom in atoms if is_variable(atom)}
    return {number for number, variable in enumerate(jaxpr.invars) if variable in read}


def _is_known(operand: Any) -> bool:
    """Is it carried, or a number that is known?"""
    if isinstance(operand, _Carried | jax.Array):
        return isinstance(operand, _Carried)
    aval = jax.typeof(operand)
    return not aval.shape and isinstance(aval.dtype, np.dtype) and aval.dtype.kind in "biuf"
