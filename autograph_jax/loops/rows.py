"""A loop that stays in a few rows of a table: `table[i, j] = max(table[i - 1, j], table[i, j - 1])` for all j.

The row that it writes is cut out before the loop and put back after it, and those that it only reads are cut out too: a turn
finds its elements by one index, in short arrays that have no memory in common. It is done where the indices are known to be in
bounds (`ranges.py`), and no row that is only read can be the one that is written; and for integers, where reading and writing
is what takes time: edit distances and knapsacks take 0.5 to 0.8 of it. Floats wait for arithmetic, and gain nothing.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.loops.bodies import Body, is_write, window
from autograph_jax.loops.evaluation import bound, evaluated
from autograph_jax.loops.guards import parts_of_scan
from autograph_jax.loops.ranges import Ranges, fits

_LEAST_TURNS = 128  # the copies are operations of their own, which XLA starts one by one
_MOST_PER_TURN = 8  # elements that are cut out and put back, for each turn of the loop: to copy one is much less than a turn

Run = Callable[[Callable[..., Any], Sequence[Any]], Sequence[Any]]
Index = tuple[int | None, int]  # an operand that no turn changes, or None; and what is added to it
Place = tuple[Index, ...]  # an index for each of the first dimensions, in which no turn moves


@dataclasses.dataclass(frozen=True)
class Rows:
    """What a scan does with one table: where it writes, and where else it reads."""

    table: int  # which operand of the scan
    written: Place
    read: tuple[Place, ...]
    places: dict[int, Place]  # by the id of the equation that reads or writes

    @property
    def fixed(self) -> tuple[int, ...]:
        return tuple(range(len(self.written)))


def of_scan(params: dict[str, Any], avals: Sequence[Any], inside: Ranges) -> list[Rows]:
    """The tables of which a scan of such operands needs some rows only; `inside` is what is known of those of its body."""
    first, last = parts_of_scan(params, avals)
    if params["length"] < _LEAST_TURNS:
        return []
    body = _Tables(params["jaxpr"], first, inside)
    found = [body.rows(number, number - first) for number in range(first, last)]
    return [rows for rows in found if rows is not None and _pays(rows, avals[rows.table].shape, params["length"])]


def _pays(rows: Rows, shape: Sequence[int], turns: int) -> bool:
    return math.prod(shape[len(rows.written) :]) * (2 + len(rows.read)) <= _MOST_PER_TURN * turns


def in_rows(params: dict[str, Any], given: Sequence[Any], found: Sequence[Rows], run: Run) -> list[Any]:
    """What the scan gives; `run` is given the loop, a function, and its operands."""
    first, last = parts_of_scan(params, given)
    operands, others = list(given), []
    for rows in found:
        table = given[rows.table]
        operands[rows.table] = _cut(table, rows.written, given)
        others.append([_cut(table, place, given) for place in rows.read])
    count = sum(map(len, others))

    def loop(*values: Any) -> list[Any]:
        cut, values = values[:count], values[count:]
        each = _Reader(found, others, cut).each

        def turn(carry: Any, row: Any) -> tuple[Any, Any]:
            out = evaluated(params["jaxpr"], [*values[:first], *carry, *row], each)
            return out[: last - first], out[last - first :]

        carry, stacked = jax.lax.scan(turn, list(values[first:last]), list(values[last:]), params["length"], params["reverse"])
        return [*carry, *stacked]

    out = list(run(loop, [*(row for rows in others for row in rows), *operands]))
    for rows in found:
        number, table = rows.table - first, given[rows.table]
        row = jax.lax.expand_dims(out[number], rows.fixed)
        out[number] = jax.lax.dynamic_update_slice(
            table, row, _starts(table, rows.written, given), allow_negative_indices=False
        )
    return out


class _Reader:
    """The equations of the body, of which those of a table take a row of it."""

    def __init__(self, found: Sequence[Rows], others: Sequence[Sequence[Any]], cut: Sequence[Any]) -> None:
        left = iter(cut)
        self._tables = [(rows, dict(zip(rows.read, left, strict=False))) for rows in found]

    def each(self, equation: Any, operands: list[Any]) -> Sequence[Any]:
        for rows, others in self._tables:
            if id(equation) in rows.places:
                return [self._one(equation, operands, rows, others)]
        return bound(equation, operands)

    def _one(self, equation: Any, operands: list[Any], rows: Rows, others: dict[Place, Any]) -> Any:
        starts = operands[2 if is_write(equation) else 1 :][len(rows.fixed) :]
        if is_write(equation):
            window = jax.lax.squeeze(operands[1], rows.fixed)
            return jax.lax.dynamic_update_slice(operands[0], window, starts, allow_negative_indices=False)
        sizes = equation.params["slice_sizes"][len(rows.fixed) :]
        row = others.get(rows.places[id(equation)], operands[0])
        return jax.lax.expand_dims(jax.lax.dynamic_slice(row, starts, sizes, allow_negative_indices=False), rows.fixed)


def _cut(table: Any, place: Place, given: Sequence[Any]) -> Any:
    sizes = [*[1] * len(place), *table.shape[len(place) :]]
    window = jax.lax.dynamic_slice(table, _starts(table, place, given), sizes, allow_negative_indices=False)
    return jax.lax.squeeze(window, range(len(place)))


def _starts(table: Any, place: Place, given: Sequence[Any]) -> list[Any]:
    starts = [_start(0 if base is None else given[base], offset) for base, offset in place]
    return [*starts, *[np.int32(0)] * (table.ndim - len(place))]


def _start(base: Any, offset: int) -> Any:
    start = jax.lax.convert_element_type(base, np.int32)
    return jax.lax.add(start, np.int32(offset)) if offset else start


class _Tables:
    """A body of which tables are asked."""

    def __init__(self, closed: Any, consts: int, inside: Ranges) -> None:
        self._body, self._consts = Body(closed, inside), {v: number for number, v in enumerate(closed.jaxpr.invars[:consts])}

    def rows(self, number: int, output: int) -> Rows | None:
        """What it does with the table that is this operand; None where it wants all of it, or writes nothing."""
        aval = self._body.jaxpr.invars[number].aval
        used = self._body.accesses(number, output)
        writes = [id(equation) for equation in used if is_write(equation)]
        if not writes or not jnp.issubdtype(aval.dtype, jnp.integer):
            return None
        places = {id(equation): self._place(equation) for equation in used}
        fixed = min(map(len, places.values()))
        places = {key: place[:fixed] for key, place in places.items()}
        written, *more = {places[key] for key in writes}
        read = tuple(dict.fromkeys(place for place in places.values() if place != written))
        if fixed in (0, aval.ndim) or more or not all(_are_apart(place, written) for place in read):
            return None
        return Rows(number, written, read, places)

    def _place(self, equation: Any) -> Place:
        """For its first dimensions, as long as it is in bounds there, at one index, which no turn changes: these indices."""
        place: list[Index] = []
        for start, size, most in zip(*window(equation), equation.invars[0].aval.shape, strict=True):
            index = self._index(start)
            if size != 1 or index is None or not self._body.is_in_bounds(start, size, most):
                break
            place.append(index)
        return tuple(place)

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
        if name == "convert_element_type":
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
