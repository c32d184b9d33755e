"""An element that one of the turns before has written is handed on, and not read again: `x[i] = a * x[i - 1] + b[i]`.

Memory gives back what was just written to it some cycles later, and XLA would copy an array that several turns in a row read
and write. Of one that is only written, several turns may stand one after the other (`kernels.turns_at_once`): Thomas' solver
takes 0.65 of the time. It is done where each read is surely of what the same write has left, at most four turns before, or of
what no turn has written yet: that is read in a copy.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from autograph_jax.loops.bodies import Body, is_write, window
from autograph_jax.loops.building import Atom, Builder, is_variable, with_programs_in_place
from autograph_jax.loops.caches import cached
from autograph_jax.loops.guards import parts_of_scan
from autograph_jax.loops.loop import split
from autograph_jax.loops.ranges import Ranges, is_whole

_MOST_TURNS_BEFORE = 4
_MOST_ELEMENTS = 16  # of a window
_MOST_EQUATIONS = 128  # of a turn
_MOST_COPIED = 8  # elements for each turn, where the array as it was is read too; of rows it takes longer than it saves

# An integer as a sum: by variable its factor, of None the number that is added. A variable is an input of the turn.
Sum = dict[Any, int]


@dataclasses.dataclass(frozen=True)
class Forwarded:
    """What a scan does with one array."""

    array: int  # which operand of the scan
    write: Any  # the equation
    reads: dict[int, int | None]  # by the id of the equation that reads, how many turns before it was written; None: not yet
    starts: tuple[Sum, ...]  # where the first turn writes
    steps: tuple[int, ...]  # how much farther the next one writes

    @property
    def turns(self) -> int:
        return max(turns or 0 for turns in self.reads.values())

    @property
    def is_read_as_it_was(self) -> bool:
        return None in self.reads.values()


@dataclasses.dataclass(frozen=True)
class Forwarding:
    """A scan that hands on what is written to some arrays."""

    arrays: Sequence[Forwarded]
    body: ClosedJaxpr  # of a turn which takes and gives that behind its carry
    inputs: dict[Any, int]  # of the scan's own body, by their variables: which operands they are


@cached(256)
def with_turns_in_place(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The body of a scan, of which the turn stands in it; the writes stay where they are."""
    return with_programs_in_place(
        closed, lambda equation: equation.params["jaxpr"] if equation.primitive.name == "turn" else None
    )


def of_scan(params: dict[str, Any], avals: Sequence[Any], inside: Ranges) -> Forwarding | None:
    """What a scan hands on, if nothing that it writes is then read any more; `inside` is known of its body's operands."""
    closed = params["jaxpr"]
    if len(closed.jaxpr.eqns) > _MOST_EQUATIONS or not any(map(is_write, closed.jaxpr.eqns)):
        return None
    first, last = parts_of_scan(params, avals)
    writing = _Writing(closed, first, last, params["length"], inside)
    try:
        found = [writing.of_array(number) for number in range(first, last)]
    except _UnknownError:
        return None
    arrays = [one for one in found if one is not None]
    if not arrays:
        return None
    inputs = {v: number for number, v in enumerate(closed.jaxpr.invars)}
    return Forwarding(arrays, _handing_on(closed, arrays, first, last), inputs)


def run(params: dict[str, Any], forwarding: Forwarding, unroll: int) -> Callable[..., Sequence[Any]]:
    """What runs the scan, of its operands."""

    def scan(*given: Any) -> Sequence[Any]:
        first, last = parts_of_scan(params, given)
        kept = [value for one in forwarding.arrays for value in _before(one, given, forwarding.inputs)]
        consts = [*given[:first], *(given[one.array] for one in forwarding.arrays if one.is_read_as_it_was)]
        turn = jaxpr_as_fun(forwarding.body)
        count = last - first + len(kept)

        def step(carry: Sequence[Any], row: Sequence[Any]) -> tuple[Any, Any]:
            out = turn(*consts, *carry, *row)
            return out[:count], out[count:]

        carry = [*given[first:last], *kept]
        rows = {"length": params["length"], "reverse": params["reverse"], "unroll": unroll}
        left, stacked = jax.lax.scan(step, carry, list(given[last:]), **rows)
        return [*left[: last - first], *stacked]

    return scan


def _handing_on(closed: ClosedJaxpr, arrays: Sequence[Forwarded], first: int, last: int) -> ClosedJaxpr:
    """The body, with the arrays as they were behind its constants, and what is handed on behind its carry."""
    avals = list(closed.in_avals)
    old = [avals[one.array] for one in arrays if one.is_read_as_it_was]
    kept = [one.write.invars[1].aval for one in arrays for _ in range(one.turns)]
    builder = Builder([*avals[:first], *old, *avals[first:last], *kept, *avals[last:]])
    consts, as_they_were, carry, behind, rows = split(builder.inputs, first, len(old), last - first, len(kept))
    places, left = iter(as_they_were), iter(behind)
    before = [[next(left) for _ in range(one.turns)] for one in arrays]
    was = [next(places) if one.is_read_as_it_was else None for one in arrays]
    reads = {key: (number, turns) for number, one in enumerate(arrays) for key, turns in one.reads.items()}
    numbers = {id(one.write): number for number, one in enumerate(arrays)}
    written: dict[int, Atom] = {}

    def each(equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        if id(equation) in reads:
            number, turns = reads[id(equation)]
            if turns is None:
                return builder.again(equation, [was[number], *operands[1:]])
            return [before[number][turns - 1] if turns else written[number]]
        if id(equation) in numbers:
            written[numbers[id(equation)]] = operands[1]
        return builder.again(equation, operands)

    outputs = builder.of_program(closed, [*consts, *carry, *rows], each)
    handed_on = [v for number, one in enumerate(arrays) if one.turns for v in (written[number], *before[number][:-1])]
    return builder.program(closed.jaxpr, [*outputs[: len(carry)], *handed_on, *outputs[len(carry) :]])


def _before(one: Forwarded, given: Sequence[Any], inputs: dict[Any, int]) -> list[Any]:
    """What is in the array where the turns before the first one would have written, the last of them first."""
    array, shape = given[one.array], one.write.invars[1].aval.shape
    starts = [_value(total, given, inputs) for total in one.starts]

    def at(turns: int) -> Any:
        moved = [jax.lax.sub(start, _of_32_bits(turns * step)) for start, step in zip(starts, one.steps, strict=True)]
        return jax.lax.dynamic_slice(array, moved, shape, allow_negative_indices=False)

    return [at(turns + 1) for turns in range(one.turns)]


def _value(total: Sum, given: Sequence[Any], inputs: dict[Any, int]) -> Any:
    """An index before the first turn. It may wrap around on the way, and is a number of 32 bits in the end."""
    value: Any = _of_32_bits(total.get(None, 0))
    for variable, factor in total.items():
        if variable is not None:
            number = jax.lax.convert_element_type(given[inputs[variable]], np.int32)
            value = jax.lax.add(value, jax.lax.mul(number, _of_32_bits(factor)))
    return value


def _of_32_bits(number: int) -> np.int32:
    return np.int32((number + 2**31) % 2**32 - 2**31)


class _UnknownError(Exception):
    """What a turn reads may be anything."""


def _require(holds: bool) -> None:
    if not holds:
        raise _UnknownError


class _Writing:
    """What the body of a scan writes, and where."""

    def __init__(self, closed: ClosedJaxpr, first: int, last: int, turns: int, inside: Ranges) -> None:
        self._body, self._first, self._turns = Body(closed, inside), first, turns
        jaxpr = self._body.jaxpr
        self._steps: dict[Any, int] = dict.fromkeys(jaxpr.invars[:first], 0)  # how much an input grows in a turn
        for before, after in zip(jaxpr.invars[first:last], jaxpr.outvars, strict=False):
            with contextlib.suppress(_UnknownError):
                self._steps[before] = self._counted(before, after)

    def _counted(self, before: Any, after: Any) -> int:
        grown = _added(self._sum(after, {before}), {before: -1})
        _require(grown.keys() <= {None})
        return grown.get(None, 0)

    def of_array(self, number: int) -> Forwarded | None:
        """What is handed on of an array; None of what is not written, or not read."""
        accesses = self._body.accesses(number, number - self._first)
        array = self._body.jaxpr.invars[number]
        if not accesses:
            used = [e for e in self._body.jaxpr.eqns if any(atom is array for atom in e.invars)]
            _require(not any(map(is_write, used)))
        writes = [equation for equation in accesses if is_write(equation)]
        if len(writes) in (0, len(accesses)):
            return None
        _, sizes = window(writes[0])
        _require(len(writes) == 1 and math.prod(sizes) <= _MOST_ELEMENTS)
        written = self._place(writes[0])
        steps = tuple(sum(factor * self._steps[v] for v, factor in total.items() if v is not None) for total in written)
        _require(any(steps) and not any(step and size > 1 for step, size in zip(steps, sizes, strict=True)))
        reads = [equation for equation in accesses if not is_write(equation)]
        turns = {id(read): self._turns_before(read, array, sizes, written, steps) for read in reads}
        found = Forwarded(number, writes[0], turns, written, steps)
        is_small = math.prod(sizes) == 1 and array.aval.size <= _MOST_COPIED * self._turns
        _require(is_small or not found.is_read_as_it_was)
        return found

    def _turns_before(
        self, read: Any, array: Any, sizes: Sequence[int], written: Sequence[Sum], steps: Sequence[int]
    ) -> int | None:
        """How many turns before the write was where this reads; None if there has been none."""
        _require(tuple(read.params["slice_sizes"]) == tuple(sizes))
        ahead = [_added(a, _times(b, -1)) for a, b in zip(self._place(read), written, strict=True)]
        _require(all(distance.keys() <= {None} for distance in ahead))
        distances = [distance.get(None, 0) for distance in ahead]
        _require(not any(distance and size > 1 for distance, size in zip(distances, sizes, strict=True)))
        moving = next(number for number, step in enumerate(steps) if step)
        turns, rest = divmod(-distances[moving], steps[moving])
        if rest or turns < 0 or any(distance != -turns * step for distance, step in zip(distances, steps, strict=True)):
            return None  # no turn has written there before
        _require(turns <= _MOST_TURNS_BEFORE)
        return turns if turns or read.invars[0] is not array else None  # at the same place, after the write or before it

    def _place(self, equation: Any) -> tuple[Sum, ...]:
        found = []
        for start, size, length in zip(*window(equation), equation.invars[0].aval.shape, strict=True):
            _require(self._body.is_in_bounds(start, size, length) and length <= np.iinfo(np.int32).max)
            found.append(self._sum(start, self._steps))
        return tuple(found)

    def _sum(self, atom: Atom, inputs: Any) -> Sum:
        """What is computed of these inputs and of numbers by sums alone, all of which are known to fit."""
        span = self._body.range_of(atom)
        if span is None or not is_whole(atom.aval) or atom.aval.shape:
            raise _UnknownError
        if not is_variable(atom):
            return _moved({}, span[0])
        if atom in inputs:
            return {atom: 1}
        maker = self._body.maker(atom)
        if maker is None or maker.primitive.name not in _SUMS:
            raise _UnknownError
        return _SUMS[maker.primitive.name](*(self._sum(part, inputs) for part in maker.invars))


def _moved(total: Sum, by: int) -> Sum:
    return _added(total, {None: by})


def _added(one: Sum, other: Sum) -> Sum:
    found = {variable: one.get(variable, 0) + other.get(variable, 0) for variable in one | other}
    return {variable: factor for variable, factor in found.items() if factor}


def _times(total: Sum, number: int) -> Sum:
    return {variable: factor * number for variable, factor in total.items() if factor * number}


def _product(one: Sum, other: Sum) -> Sum:
    if not other.keys() <= {None}:
        one, other = other, one
    _require(other.keys() <= {None})
    return _times(one, other.get(None, 0))


_SUMS: dict[str, Callable[..., Sum]] = {
    "convert_element_type": lambda one: one,
    "neg": lambda one: _times(one, -1),
    "add": _added,
    "sub": lambda one, other: _added(one, _times(other, -1)),
    "mul": _product,
}
