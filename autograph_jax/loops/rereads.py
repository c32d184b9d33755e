"""What a turn reads of an array that it has written already is what it wrote, if it is the same element, or was there before.

`t[i] = a`, then `if c: t[i] = t[i] + t[i - 2]`: of an array that is read between two writes XLA makes a copy in each turn. With
the reads on the array as the turn has found it, the writes may follow all arithmetic (`writes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Literal

from autograph_jax.loops.building import Atom, Builder, is_variable

_MOST_WRITES = 4  # of an array, with each of which a read is compared
_MOST_STEPS = 8  # back from an index, to see whether another one is computed in the same way
_WRITES = ("scatter", "dynamic_update_slice")


def reads_first(closed: ClosedJaxpr, *, all_of_them: bool = False) -> ClosedJaxpr:
    """The program with such reads on the arrays as they were; itself where there are none.

    If not `all_of_them`, those on which a later write depends, or of what is written again.
    """
    jaxpr = closed.jaxpr
    moved = {id(equation) for equation in _rereads(jaxpr, all_of_them)}
    if not moved:
        return closed
    makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
    builder = Builder(closed.in_avals)
    written: dict[Any, list[tuple[Any, list[Atom]]]] = {}  # by what it gives: a write, those before it, and their operands

    def each(equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        if id(equation) in moved:
            before = written[equation.invars[0]]
            read = builder.again(equation, [before[0][1][0], *operands[1:]])
            for write, given in before:
                if _are_at_one_place(write, equation, makers):
                    read = builder.of(lambda update: update.reshape(equation.outvars[0].aval.shape), [given[1]], equation)
                else:
                    read = builder.of(_either(write), [*read, *given[1:], *_starts(equation, operands)], equation)
            return read
        if _is_of_one_element(equation):
            written[equation.outvars[0]] = [*written.get(equation.invars[0], []), (equation, operands)]
        return builder.again(equation, operands)

    return builder.program(jaxpr, builder.of_program(closed, builder.inputs, each))


def _rereads(jaxpr: Any, all_of_them: bool) -> list[Any]:
    """The reads of single elements of what has been written by single elements."""
    writes: dict[Any, int] = {}
    for equation in filter(_is_of_one_element, jaxpr.eqns):
        writes[equation.outvars[0]] = writes.get(equation.invars[0], 0) + 1
    if not writes:
        return []
    needed: set[Any] = set()
    found = []
    for equation in reversed(jaxpr.eqns):
        given = [v for v in equation.invars if is_variable(v)]
        is_read = _reads_one_element(equation) and 0 < writes.get(given[0], 0) <= _MOST_WRITES
        if is_read and (all_of_them or not needed.isdisjoint([*equation.outvars, given[0]])):
            found.append(equation)
        if equation.primitive.name.startswith(_WRITES) or not needed.isdisjoint(equation.outvars):
            needed.update(given)
    return found


def _reads_one_element(equation: Any) -> bool:
    return equation.primitive.name in ("dynamic_slice", "slice") and equation.outvars[0].aval.size == 1


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
