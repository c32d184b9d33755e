"""What a turn reads of an array that it has written already is what it wrote, if it is the same element, or was there before.

`t[i] = a`, then `if c: t[i] = t[i] + t[i - 2]`: of an array that is read between two writes XLA makes a copy in each turn. With
the reads on the array as the turn has found it, the writes may follow all arithmetic (`writes.py`).
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Sequence
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.axes import axes_of_type, is_split
from autograph_jax.loops.bodies import replaces
from autograph_jax.loops.building import Atom, Builder, is_variable
from autograph_jax.loops.evaluation import WRITES

_MOST_WRITES = 8  # of an array, with each of which a read is compared
_MOST_STEPS = 8  # back from an index, to see whether another one is computed in the same way
_READS = ("dynamic_slice", "slice", "gather")


class _Written(NamedTuple):
    """A write, and its operands in the new program; of those after the first only what follows the array counts."""

    write: Any
    operands: list[Atom]


def reads_first(closed: ClosedJaxpr, *, all_of_them: bool = False) -> ClosedJaxpr:
    """The program with reads of single elements on the arrays as it has found them; itself where there are none to move.

    Moved are those that a later write waits for: because it depends on them, or because it overwrites what they read. With
    `all_of_them`, so are the others.
    """
    moved = {id(equation) for equation in _rereads(closed.jaxpr, all_of_them)}
    if not moved:
        return closed
    builder = Builder(closed.in_avals)
    outputs = builder.of_program(closed, builder.inputs, _Reading(builder, closed.jaxpr, moved, {}))
    return builder.program(closed.jaxpr, outputs)


class _Reading:
    """Each equation of a program, those that are `moved` on arrays as they were.

    `written` is by what they give: the writes of an array so far. Those of a branch itself are not added: what else it does
    with its own arrays has not been looked at.
    """

    def __init__(
        self,
        builder: Builder,
        jaxpr: Any,
        moved: Container[int],
        written: dict[Any, list[_Written]],
        *,
        is_branch: bool = False,
    ) -> None:
        self._builder, self._moved, self._written, self._is_branch = builder, moved, written, is_branch
        self._makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}

    def __call__(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        if id(equation) in self._moved:
            return self._read(equation, operands) if equation.primitive.name in _READS else self._branch(equation, operands)
        if not self._is_branch and _is_of_one_element(equation):
            before = self._written.get(equation.invars[0], [])
            self._written[equation.outvars[0]] = [*before, _Written(equation, operands)]
        return self._builder.again(equation, operands)

    def _read(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        writes = self._written[equation.invars[0]]
        same = [number for number, one in enumerate(writes) if _are_at_one_place(one.write, equation, self._makers)]
        if same:
            update, shape = writes[same[-1]].operands[1], equation.outvars[0].aval.shape
            read = self._builder.of(lambda update: update.reshape(shape), [update], equation)
        else:
            read = self._builder.again(equation, [writes[0].operands[0], *operands[1:]])
        for write, given in writes[same[-1] + 1 if same else 0 :]:
            read = self._builder.of(_after(write, equation), [*read, *given[1:], *operands[1:]], equation)
        return read

    def _branch(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        """A branch that reads such an array gets it as it was, and what has been written to it."""
        known = [self._written.get(atom, []) if is_variable(atom) else [] for atom in equation.invars[1:]]
        given = [operands[0]]
        for atom, writes in zip(operands[1:], known, strict=True):
            given += [writes[0].operands[0], *(part for one in writes for part in one.operands[1:])] if writes else [atom]
        branches = tuple(_of_branch(branch, known) for branch in equation.params["branches"])
        return self._builder.again(equation, given, equation.params | {"branches": branches})


def _of_branch(closed: ClosedJaxpr, known: Sequence[list[_Written]]) -> ClosedJaxpr:
    """A branch that takes, behind each operand, what has been written to that: of an array that it only reads by elements."""
    avals = []
    for aval, writes in zip(closed.in_avals, known, strict=True):
        avals += [aval, *(part.aval for one in writes for part in one.write.invars[1:])]
    builder = Builder(avals)
    inputs, left, written = iter(builder.inputs), [], {}
    for variable, writes in zip(closed.jaxpr.invars, known, strict=True):
        left.append(next(inputs))
        if writes:
            written[variable] = [
                _Written(one.write, [left[-1], *itertools.islice(inputs, len(one.operands) - 1)]) for one in writes
            ]
    moved = {id(e) for e in closed.jaxpr.eqns if any(is_variable(atom) and atom in written for atom in e.invars)}
    outputs = builder.of_program(closed, left, _Reading(builder, closed.jaxpr, moved, written, is_branch=True))
    return builder.program(closed.jaxpr, outputs)


def _rereads(jaxpr: Any, all_of_them: bool) -> list[Any]:
    """What is to be moved: reads of single elements of what has been written by single elements, and branches that do nothing
    else with that."""
    writes: dict[Any, int] = {}
    for equation in filter(_is_of_one_element, jaxpr.eqns):
        writes[equation.outvars[0]] = writes.get(equation.invars[0], 0) + 1
    if not writes:
        return []
    changing = [equation for equation in jaxpr.eqns if equation.primitive.name in WRITES]
    again = {equation.invars[0] for equation in changing if is_variable(equation.invars[0])}
    needed: set[Any] = set()
    found = []
    for equation in reversed(jaxpr.eqns):
        given = [v for v in equation.invars if is_variable(v)]
        written = [v for v in given if v in writes]
        is_waited_for = all_of_them or not needed.isdisjoint(equation.outvars) or not again.isdisjoint(written)
        if written and is_waited_for and all(writes[v] <= _MOST_WRITES and _only_reads(equation, v) for v in written):
            found.append(equation)
        if equation.primitive.name in WRITES or not needed.isdisjoint(equation.outvars):
            needed.update(given)
    return found


def _only_reads(equation: Any, array: Any) -> bool:
    """Does it read single elements of an array, or do its branches, and nothing else?"""
    places = [number for number, atom in enumerate(equation.invars) if atom is array]
    if equation.primitive.name != "cond":
        return places == [0] and _reads_one_element(equation)
    inner = [(branch.jaxpr, branch.jaxpr.invars[n - 1]) for n in places if n for branch in equation.params["branches"]]
    return 0 not in places and all(_only_reads_inside(jaxpr, variable) for jaxpr, variable in inner)


def _only_reads_inside(jaxpr: Any, array: Any) -> bool:
    users = [equation for equation in jaxpr.eqns if any(atom is array for atom in equation.invars)]
    return all(atom is not array for atom in jaxpr.outvars) and all(_only_reads(user, array) for user in users)


def _reads_one_element(equation: Any) -> bool:
    if equation.primitive.name not in _READS or equation.outvars[0].aval.size != 1:
        return False
    return equation.primitive.name == "slice" or _is_known_place(equation, "start_index_map")


def _is_of_one_element(equation: Any) -> bool:
    """Does it write one element of an array, or add to it?"""
    name = equation.primitive.name
    if name not in WRITES or not is_variable(equation.invars[0]) or name == "scatter" and not replaces(equation):
        return False
    if any(axes_of_type(atom.aval) or is_split(atom.aval) for atom in equation.invars if is_variable(atom)):
        return False  # of an array of which each device of a mesh has its own, or a part
    update = equation.invars[1 if name == "dynamic_update_slice" else 2]
    return update.aval.size == 1 and _is_known_place(equation, "scatter_dims_to_operand_dims")


def _is_known_place(equation: Any, along: str) -> bool:
    """Is there an index for each dimension, one after the other, of a type that has room for all of them?"""
    array, kinds = equation.invars[0].aval, {atom.aval.dtype.str[1:] for atom in _indices(equation, equation.invars[1:])}
    if kinds - {"i4", "i8"} or max(array.shape, default=0) > np.iinfo(np.int32).max:
        return False
    numbers = equation.params.get("dimension_numbers")
    if numbers is None:
        return True
    every = tuple(range(array.ndim))
    return getattr(numbers, along) == every and equation.invars[1].aval.shape == (array.ndim,)


def _indices(equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """Where it reads or writes, among its operands behind the array: a number for each dimension, or an array of them."""
    name = equation.primitive.name
    if name == "slice":
        return [np.asarray(start, np.int32) for start in equation.params["start_indices"]]
    return operands[:1] if "dimension_numbers" in equation.params else operands[name == "dynamic_update_slice" :]


def _after(write: Any, read: Any) -> Any:
    """What is read after a write: of what was there before, and of what the two are given behind the array."""
    shape, count = write.invars[0].aval.shape, len(write.invars) - 1

    def run(before: Any, *given: Any) -> Any:
        update = given[0 if write.primitive.name == "dynamic_update_slice" else 1].reshape(before.shape)
        same = jax.lax.broadcast(_are_equal(_place(write, given[:count]), _place(read, given[count:]), shape), before.shape)
        if write.primitive.name in ("scatter", "dynamic_update_slice"):
            return jax.lax.select(same, update, before)
        nothing = jax.lax.neg(jax.lax.full_like(update, 0))  # -0.0, which leaves a 0.0 and a -0.0 as they are
        return before + jax.lax.select(same, update, nothing)

    return run


class _Place(NamedTuple):
    """The index of an element in each dimension; `nearest`: if it is out of bounds, the nearest one is meant, else none."""

    indices: Sequence[Any]
    nearest: bool


def _place(equation: Any, operands: Sequence[Any]) -> _Place:
    indices = _indices(equation, operands)
    if "dimension_numbers" in equation.params:
        return _Place(list(indices[0]), equation.params["mode"] == jax.lax.GatherScatterMode.CLIP)
    return _Place(indices, nearest=True)


def _are_equal(one: _Place, other: _Place, shape: Sequence[int]) -> Any:
    same = np.bool_(True)
    for a, b, length in zip(one.indices, other.indices, shape, strict=True):
        first, second = (_in_bounds(x, length) if place.nearest else x for x, place in ((a, one), (b, other)))
        kind = np.promote_types(first.dtype, second.dtype)
        same = same & (jax.lax.convert_element_type(first, kind) == jax.lax.convert_element_type(second, kind))
        if not (one.nearest or other.nearest):
            same = same & (first >= 0) & (first < length)
    return same


def _in_bounds(index: Any, length: int) -> Any:
    return jax.lax.clamp(index.dtype.type(0), index, index.dtype.type(length - 1))


def _are_at_one_place(write: Any, read: Any, makers: dict[Any, Any]) -> bool:
    """Is it surely the same element, because the indices are computed in the same way?"""
    if write.primitive.name != "dynamic_update_slice" or read.primitive.name != "dynamic_slice":
        return False
    pairs = zip(write.invars[2:], read.invars[1:], strict=True)
    return all(_are_same(one, other, makers, _MOST_STEPS) for one, other in pairs)


def _are_same(one: Atom, other: Atom, makers: dict[Any, Any], steps: int) -> bool:
    if not is_variable(one) or not is_variable(other):
        return not is_variable(one) and not is_variable(other) and bool(one.val == other.val)
    if one is other:
        return True
    made, also = makers.get(one), makers.get(other)
    if made is None or also is None or not steps or made.primitive is not also.primitive or one.aval.shape:
        return False
    alike = len(made.outvars) == 1 and len(made.invars) == len(also.invars) and made.params == also.params and not made.effects
    return alike and all(_are_same(a, b, makers, steps - 1) for a, b in zip(made.invars, also.invars, strict=True))
