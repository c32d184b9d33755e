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
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Literal

from autograph_jax.loops.building import Atom, Builder, is_variable

_MOST_WRITES = 4  # of an array, with each of which a read is compared
_MOST_STEPS = 8  # back from an index, to see whether another one is computed in the same way
_READS = ("dynamic_slice", "slice")
_WRITES = ("scatter", "dynamic_update_slice")


class _Written(NamedTuple):
    """A write, and its operands in the new program; of those after the first only what follows the array counts."""

    write: Any
    operands: list[Atom]


def reads_first(closed: ClosedJaxpr, *, all_of_them: bool = False) -> ClosedJaxpr:
    """The program with such reads on the arrays as they were; itself where there are none.

    If not `all_of_them`, those on which a later write depends, or of what is written again.
    """
    moved = {id(equation) for equation in _rereads(closed.jaxpr, all_of_them)}
    if not moved:
        return closed
    builder = Builder(closed.in_avals)
    outputs = builder.of_program(closed, builder.inputs, _Reading(builder, closed.jaxpr, moved, {}))
    return builder.program(closed.jaxpr, outputs)


class _Reading:
    """Each equation of a program, those that are `moved` on arrays as they were."""

    def __init__(self, builder: Builder, jaxpr: Any, moved: Container[int], written: dict[Any, list[_Written]]) -> None:
        self._builder, self._moved, self._written = builder, moved, written
        self._makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}

    def __call__(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        if id(equation) in self._moved:
            return self._read(equation, operands) if equation.primitive.name in _READS else self._branch(equation, operands)
        if _is_of_one_element(equation):
            before = self._written.get(equation.invars[0], [])
            self._written[equation.outvars[0]] = [*before, _Written(equation, operands)]
        return self._builder.again(equation, operands)

    def _read(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        before = self._written[equation.invars[0]]
        read = self._builder.again(equation, [before[0].operands[0], *operands[1:]])
        for write, given in before:
            if _are_at_one_place(write, equation, self._makers):
                read = self._builder.of(lambda update: update.reshape(equation.outvars[0].aval.shape), [given[1]], equation)
            else:
                read = self._builder.of(_either(write), [*read, *given[1:], *_starts(equation, operands)], equation)
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
    outputs = builder.of_program(closed, left, _Reading(builder, closed.jaxpr, moved, written))
    return builder.program(closed.jaxpr, outputs)


def _rereads(jaxpr: Any, all_of_them: bool) -> list[Any]:
    """The reads of single elements of what has been written by single elements, and the branches that do no more with that."""
    writes: dict[Any, int] = {}
    for equation in filter(_is_of_one_element, jaxpr.eqns):
        writes[equation.outvars[0]] = writes.get(equation.invars[0], 0) + 1
    if not writes:
        return []
    needed: set[Any] = set()
    found = []
    for equation in reversed(jaxpr.eqns):
        given = [v for v in equation.invars if is_variable(v)]
        written = [v for v in given if v in writes]
        is_waited_for = all_of_them or not needed.isdisjoint([*equation.outvars, *written])
        if written and is_waited_for and all(writes[v] <= _MOST_WRITES and _only_reads(equation, v) for v in written):
            found.append(equation)
        if equation.primitive.name.startswith(_WRITES) or not needed.isdisjoint(equation.outvars):
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
    return equation.primitive.name in _READS and equation.outvars[0].aval.size == 1


def _starts(read: Any, operands: Sequence[Atom]) -> Sequence[Atom]:
    """Where it is that is read, of its operands."""
    if read.primitive.name == "dynamic_slice":
        return operands[1:]
    return [Literal(np.int32(start), ShapedArray((), np.int32)) for start in read.params["start_indices"]]


def _is_of_one_element(equation: Any) -> bool:
    """Does it write one element of an array, and replace what is there?"""
    name = equation.primitive.name
    if name not in _WRITES or not is_variable(equation.invars[0]):
        return False
    array = equation.invars[0].aval
    if max(array.shape, default=0) > np.iinfo(np.int32).max:
        return False
    if name == "dynamic_update_slice":
        return equation.invars[1].aval.size == 1
    numbers, every = equation.params["dimension_numbers"], tuple(range(array.ndim))
    is_number = numbers.inserted_window_dims == numbers.scatter_dims_to_operand_dims == every
    is_dropped = equation.params["mode"] == jax.lax.GatherScatterMode.FILL_OR_DROP  # where it is out of bounds
    return is_number and is_dropped and equation.invars[1].aval.shape == (array.ndim,) and equation.invars[2].aval.size == 1


def _either(write: Any) -> Any:
    """What is read after a write: of what was there before, of what the write is given behind its array, and where is read."""
    shape = write.invars[0].aval.shape

    def run(before: Any, *given: Any) -> Any:
        if write.primitive.name == "scatter":
            (places, update), starts = given[:2], given[2:]
            at = [_at_least_of_32_bits(place) for place in places]
        else:
            update, at, starts = given[0], [*map(_in_bounds, given[1 : 1 + len(shape)], shape)], given[1 + len(shape) :]
        same = np.bool_(True)
        for one, start, length in zip(at, starts, shape, strict=True):
            same = same & (one == jax.lax.convert_element_type(_in_bounds(start, length), one.dtype))
        return jax.lax.select(jax.lax.broadcast(same, before.shape), update.reshape(before.shape), before)

    return run


def _in_bounds(start: Any, length: int) -> Any:
    """Where an element is that is read, or written by a `dynamic_update_slice`: they take the nearest there is."""
    start = _at_least_of_32_bits(start)
    return jax.lax.convert_element_type(jax.lax.clamp(start.dtype.type(0), start, start.dtype.type(length - 1)), np.int32)


def _at_least_of_32_bits(index: Any) -> Any:
    return jax.lax.convert_element_type(index, np.int32) if np.iinfo(index.dtype).bits < 32 else index


def _are_at_one_place(write: Any, read: Any, makers: dict[Any, Any]) -> bool:
    """Is it surely the same element, because the indices are computed in the same way?"""
    if write.primitive.name == "scatter":  # which writes nothing where it is out of bounds
        return False
    pairs = zip(write.invars[2:], _starts(read, read.invars), strict=True)
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
