"""A loop that stays in a few rows of a table: `table[i, j] = max(table[i - 1, j], table[i, j - 1])` for all j.

The row that it writes is cut out before the loop and put back after it, and those that it only reads are cut out too: a turn
finds its elements by one index, in short arrays that have no memory in common, and XLA reads those that nobody writes where it
computes. It is done where the indices are known to be in bounds (`ranges.py`), no row that is only read can be the one that is
written, and the write then stays in place by itself (`writes.py`); and for integers, where reading and writing is what takes
time: edit distances and knapsacks take 0.6 to 0.8 of it. Floats wait for arithmetic, and gain nothing. Where a table may be
folded (`folds.py`), floats are cut out as well, and so are columns, `table[i, 0] = i`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from autograph_jax.loops.axes import axes_of_type, is_split
from autograph_jax.loops.bodies import Body, is_write, window
from autograph_jax.loops.evaluation import bound, evaluated
from autograph_jax.loops.guards import parts_of_scan
from autograph_jax.loops.ranges import Ranges, fits
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.within import within

_LEAST_TURNS = 128  # the copies are operations of their own, which XLA starts one by one
_LEAST_TURNS_TO_FOLD = 8
_MOST_PER_TURN = 8  # elements that are cut out and put back, for each turn of the loop: to copy one is much less than a turn

Index = tuple[int | None, int]  # an operand that no turn changes, or None; and what is added to it
Place = tuple[Index, ...]  # an index for each of the dimensions in which no turn moves


@dataclasses.dataclass(frozen=True)
class Rows:
    """What a scan does with one table: where it writes, and where else it reads."""

    table: int  # which operand of the scan
    fixed: tuple[int, ...]  # the dimensions in which no turn moves
    written: Place
    read: tuple[Place, ...]
    places: dict[int, Place]  # by the id of the equation that reads or writes
    at_once: int  # how many elements are written by one of these
    is_to_fold: bool

    def others(self, of_all: Sequence[Any]) -> list[Any]:
        """Of what there is for each dimension of the table, that of the dimensions of a row."""
        return [one for dimension, one in enumerate(of_all) if dimension not in self.fixed]


def may_have_tables(params: dict[str, Any], avals: Sequence[Any], *, to_fold: bool = False) -> bool:
    """May a scan of such operands need some rows of a table only? Not of one that the devices of a mesh have a part of each."""
    carried = avals[slice(*parts_of_scan(params, avals))]
    is_whole = not any(axes_of_type(aval) or is_split(aval) for aval in avals)
    least = _LEAST_TURNS_TO_FOLD if to_fold else _LEAST_TURNS
    return params["length"] >= least and is_whole and any(_may_be_table(aval, to_fold) for aval in carried)


def _may_be_table(aval: Any, to_fold: bool) -> bool:
    kinds = (jnp.number, jnp.bool_) if to_fold else (jnp.integer,)
    return aval.ndim > 1 and any(jnp.issubdtype(aval.dtype, kind) for kind in kinds)


def of_scan(params: dict[str, Any], avals: Sequence[Any], inside: Ranges, *, to_fold: bool = False) -> list[Rows]:
    """The tables of which a scan of such operands needs some rows only; `inside` is what is known of those of its body."""
    first, last = parts_of_scan(params, avals)
    body = _Tables(params["jaxpr"], first, inside, to_fold)
    found = [body.rows(number, number - first) for number in range(first, last)]
    return [rows for rows in found if rows is not None and _pays(rows, avals[rows.table].shape, params["length"])]


def _pays(rows: Rows, shape: Sequence[int], turns: int) -> bool:
    return math.prod(rows.others(shape)) * (2 + len(rows.read)) <= _MOST_PER_TURN * turns * rows.at_once


def turn_in_rows(params: dict[str, Any], avals: Sequence[Any], found: Sequence[Rows]) -> ClosedJaxpr:
    """A turn, of the rows that are only read, and of the operands of the body, with a row in place of each table."""
    first, last = parts_of_scan(params, avals)
    inside = [*avals[:last], *(aval.update(shape=aval.shape[1:]) for aval in avals[last:])]
    beside = []
    for rows in found:
        table = avals[rows.table]
        inside[rows.table] = row = table.update(shape=tuple(rows.others(table.shape)))
        beside += [row] * len(rows.read)
    reader = _Reader(found, len(beside))
    return traced(lambda *values: reader.evaluated(params["jaxpr"], values), [*beside, *inside])


def in_rows(params: dict[str, Any], given: Sequence[Any], found: Sequence[Rows], turn: ClosedJaxpr) -> list[Any]:
    """What the scan gives."""
    first, last = parts_of_scan(params, given)
    operands, beside = list(given), []
    for rows in found:
        table = given[rows.table]
        operands[rows.table] = _cut(table, rows, rows.written, given)
        beside += [_cut(table, rows, place, given) for place in rows.read]
    run = jaxpr_as_fun(turn)

    def step(carry: Any, row: Any) -> tuple[Any, Any]:
        left = run(*beside, *operands[:first], *carry, *row)
        return left[: last - first], left[last - first :]

    carry, stacked = jax.lax.scan(step, operands[first:last], operands[last:], params["length"], params["reverse"])
    out = [*carry, *stacked]
    for rows in found:
        number, table = rows.table - first, given[rows.table]
        row = jax.lax.expand_dims(out[number], rows.fixed)
        starts = _starts(table, rows, rows.written, given)
        out[number] = jax.lax.dynamic_update_slice(table, row, starts, allow_negative_indices=False)
    return out


class _Reader:
    """The equations of the body, of which those of a table take a row of it; before its operands come those only read."""

    def __init__(self, found: Sequence[Rows], count: int) -> None:
        self._found, self._count = found, count
        self._tables: list[tuple[Rows, dict[Place, Any]]] = []

    def evaluated(self, body: ClosedJaxpr, values: Sequence[Any]) -> list[Any]:
        """What the body gives, of these rows and of its operands."""
        beside = iter(values[: self._count])
        self._tables = [(rows, dict(zip(rows.read, beside, strict=False))) for rows in self._found]
        return evaluated(body, values[self._count :], self.each)

    def each(self, equation: Any, operands: list[Any]) -> Sequence[Any]:
        for rows, others in self._tables:
            if id(equation) in rows.places:
                return [self._one(equation, operands, rows, others)]
        return bound(equation, operands)

    def _one(self, equation: Any, operands: list[Any], rows: Rows, others: dict[Place, Any]) -> Any:
        starts = rows.others(operands[2 if is_write(equation) else 1 :])
        if is_write(equation):
            window = jax.lax.squeeze(operands[1], rows.fixed)
            return jax.lax.dynamic_update_slice(operands[0], window, starts, allow_negative_indices=False)
        sizes = rows.others(equation.params["slice_sizes"])
        row = others.get(rows.places[id(equation)], operands[0])
        return jax.lax.expand_dims(jax.lax.dynamic_slice(row, starts, sizes, allow_negative_indices=False), rows.fixed)


def _cut(table: Any, rows: Rows, place: Place, given: Sequence[Any]) -> Any:
    sizes = [1 if dimension in rows.fixed else size for dimension, size in enumerate(table.shape)]
    window = jax.lax.dynamic_slice(table, _starts(table, rows, place, given), sizes, allow_negative_indices=False)
    return jax.lax.squeeze(window, rows.fixed)


def _starts(table: Any, rows: Rows, place: Place, given: Sequence[Any]) -> list[Any]:
    starts = [np.int32(0)] * table.ndim
    for dimension, (base, offset) in zip(rows.fixed, place, strict=True):
        start = _start(0 if base is None else given[base], offset)
        is_marked = rows.is_to_fold and base is not None
        starts[dimension] = within(start, 0, table.shape[dimension] - 1) if is_marked else start
    return starts


def _start(base: Any, offset: int) -> Any:
    start = jax.lax.convert_element_type(base, np.int32)
    return jax.lax.add(start, np.int32(offset)) if offset else start


class _Tables:
    """A body of which tables are asked."""

    def __init__(self, closed: Any, consts: int, inside: Ranges, to_fold: bool) -> None:
        self._to_fold = to_fold
        self._body, self._consts = Body(closed, inside), {v: number for number, v in enumerate(closed.jaxpr.invars[:consts])}

    def rows(self, number: int, output: int) -> Rows | None:
        """What it does with the table that is this operand; None where it wants all of it, or writes nothing."""
        aval = self._body.jaxpr.invars[number].aval
        used = self._body.accesses(number, output)
        writes = [id(equation) for equation in used if is_write(equation)]
        if not writes or not _may_be_table(aval, self._to_fold):
            return None
        found = {id(equation): self._place(equation) for equation in used}
        fixed = tuple(dimension for dimension in range(aval.ndim) if all(place[dimension] for place in found.values()))
        if not self._to_fold:
            fixed = fixed[: sum(number == dimension for number, dimension in enumerate(fixed))]
        places = {key: tuple(place[dimension] for dimension in fixed) for key, place in found.items()}
        written, *more = {places[key] for key in writes}
        read = tuple(dict.fromkeys(place for place in places.values() if place != written))
        if len(fixed) in (0, aval.ndim) or more or not all(_are_apart(place, written) for place in read):
            return None
        at_once = min(equation.invars[1].aval.size for equation in used if is_write(equation)) if self._to_fold else 1
        return Rows(number, fixed, written, read, places, at_once, self._to_fold)

    def _place(self, equation: Any) -> list[Any]:
        """For each dimension where it is in bounds at one index, which no turn changes, this index; None for others."""
        place: list[Index | None] = []
        for start, size, most in zip(*window(equation), equation.invars[0].aval.shape, strict=True):
            is_one = size == 1 and self._body.is_in_bounds(start, size, most)
            place.append(self._index(start) if is_one else None)
        return place

    def _index(self, atom: Any) -> Index | None:
        if hasattr(atom, "val"):
            return None, int(atom.val)
        span, maker = self._body.range_of(atom), self._body.maker(atom)
        if span is None or not fits(span, jnp.int32):
            return None
        if atom in self._consts:
            return self._consts[atom], 0
        if maker is None:
            return None
        name, operands = maker.primitive.name, maker.invars
        if name in ("convert_element_type", "within"):
            return self._index(operands[0])
        if name == "add" and hasattr(operands[0], "val"):
            operands = operands[::-1]
        if name not in ("add", "sub") or not hasattr(operands[1], "val"):
            return None
        before = self._index(operands[0])
        step = int(operands[1].val) * (1 if name == "add" else -1)
        return before if before is None else (before[0], before[1] + step)


def _are_apart(one: Place, other: Place) -> bool:
    """Are these surely two rows?"""
    return any(a[0] == b[0] and a[1] != b[1] for a, b in zip(one, other, strict=True))
