"""Windows of a table that is not made: of zeros into which a column and a row were written, `table[:, 0] = ...`, any row.

A window is read of what the table comes from: what fills it, and what is written over that, as far as it is in the window.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.loops.bodies import Body, is_write, window
from autograph_jax.loops.building import Atom, is_variable

Values = dict[Atom, Any]  # of atoms of a program


@dataclasses.dataclass(frozen=True)
class Moving:
    """A traced number in this range, both ends included: where a window of size 1 begins."""

    number: Any
    least: int
    most: int


Start = int | Moving


@dataclasses.dataclass(frozen=True)
class Given:
    """A table that is there."""

    table: Atom

    @property
    def atoms(self) -> list[Atom]:
        return [self.table] if is_variable(self.table) else []

    def window(self, starts: Sequence[Start], sizes: Sequence[int], values: Values) -> Any:
        return _slice(values[self.table] if is_variable(self.table) else self.table.val, starts, sizes)


@dataclasses.dataclass(frozen=True)
class Filled:
    """`broadcast_in_dim` of an array into the dimensions of a table."""

    array: Table
    shape: tuple[int, ...]  # of the array
    dimensions: tuple[int, ...]

    @property
    def atoms(self) -> list[Atom]:
        return self.array.atoms

    def window(self, starts: Sequence[Start], sizes: Sequence[int], values: Values) -> Any:
        along = [*zip(self.dimensions, self.shape, strict=True)]
        at = [0 if length == 1 else starts[dimension] for dimension, length in along]
        array = self.array.window(at, [min(sizes[dimension], length) for dimension, length in along], values)
        return jax.lax.broadcast_in_dim(array, tuple(sizes), self.dimensions)


@dataclasses.dataclass(frozen=True)
class Written:
    """A table into which a block was written, at a known place."""

    before: Table
    block: Atom
    starts: tuple[int, ...]

    @property
    def atoms(self) -> list[Atom]:
        return [*self.before.atoms, *([self.block] if is_variable(self.block) else [])]

    def window(self, starts: Sequence[Start], sizes: Sequence[int], values: Values) -> Any:
        below = self.before.window(starts, sizes, values)
        block = values[self.block] if is_variable(self.block) else self.block.val
        parts = [_part(*one) for one in zip(starts, sizes, self.starts, np.shape(block), strict=True)]
        if not all(part.size for part in parts):
            return below
        piece = _slice(block, [part.of_block for part in parts], [part.size for part in parts])
        if tuple(np.shape(piece)) != tuple(sizes):
            piece = jax.lax.dynamic_update_slice(below, piece, [np.int32(part.of_window) for part in parts])
        for is_inside in (one for part in parts for one in part.held):
            piece = jax.lax.select(jax.lax.broadcast(is_inside, sizes), piece, below)
        return piece


@dataclasses.dataclass(frozen=True)
class Kept:
    """A table of which some rows were written: these, by their numbers; all others are as they were before."""

    before: Table
    dimension: int
    rows: dict[int, Atom]  # each a window of size 1 in that dimension

    @property
    def atoms(self) -> list[Atom]:
        return [*self.before.atoms, *self.rows.values()]

    def window(self, starts: Sequence[Start], sizes: Sequence[int], values: Values) -> Any:
        first = starts[self.dimension]
        assert isinstance(first, int)
        parts = [self._row(first + number, starts, sizes, values) for number in range(sizes[self.dimension])]
        return jax.lax.concatenate(parts, self.dimension) if len(parts) > 1 else parts[0]

    def _row(self, number: int, starts: Sequence[Start], sizes: Sequence[int], values: Values) -> Any:
        one = [1 if dimension == self.dimension else size for dimension, size in enumerate(sizes)]
        place = 0 if number in self.rows else number
        at = [place if dimension == self.dimension else start for dimension, start in enumerate(starts)]
        return _slice(values[self.rows[number]], at, one) if number in self.rows else self.before.window(at, one, values)


Table = Given | Filled | Written | Kept


@dataclasses.dataclass(frozen=True)
class _Part:
    """Along a dimension, how much of a block is in a window, and where; if all of `held` hold."""

    of_block: Start
    of_window: int
    size: int
    held: tuple[Any, ...] = ()


def _part(start: Start, size: int, begin: int, length: int) -> _Part:
    end = begin + length
    if isinstance(start, int):
        low, high = max(start, begin), min(start + size, end)
        return _Part(low - begin, low - start, max(high - low, 0))
    if start.most < begin or end <= start.least:
        return _Part(0, 0, 0)
    number, kind = start.number, start.number.dtype.type
    held = []
    if start.least < begin:
        held.append(jax.lax.ge(number, kind(begin)))
    if end <= start.most:
        held.append(jax.lax.lt(number, kind(end)))
    if length == 1:
        return _Part(0, 0, 1, tuple(held))
    if held:
        number = jax.lax.clamp(kind(begin), number, kind(end - 1))
    if begin:
        number = jax.lax.sub(number, kind(begin))
    return _Part(Moving(number, 0, length - 1), 0, 1, tuple(held))


def _slice(array: Any, starts: Sequence[Start], sizes: Sequence[int]) -> Any:
    if np.shape(array) == tuple(sizes):
        return array
    moving = [start for start in starts if isinstance(start, Moving)]
    if not moving:
        known = [start for start in starts if isinstance(start, int)]
        return jax.lax.slice(array, known, [start + size for start, size in zip(known, sizes, strict=True)])
    kind = moving[0].number.dtype.type
    numbers = [jax.lax.convert_element_type(s.number, kind) if isinstance(s, Moving) else kind(s) for s in starts]
    return jax.lax.dynamic_slice(array, numbers, sizes, allow_negative_indices=False)


class Tables:
    """What the tables of a program come from."""

    def __init__(self, body: Body) -> None:
        self._body = body

    def of(self, atom: Atom) -> Table:
        maker = self._body.maker(atom)
        if maker is not None and maker.primitive.name == "broadcast_in_dim" and len(maker.invars) == 1:
            array = maker.invars[0]
            return Filled(self.of(array), array.aval.shape, tuple(map(int, maker.params["broadcast_dimensions"])))
        if maker is None or not is_write(maker):
            return Given(atom)
        starts = self.starts(maker)
        known = tuple(start for start in starts if isinstance(start, int))
        return Given(atom) if len(known) < len(starts) else Written(self.of(maker.invars[0]), maker.invars[1], known)

    def behind(self, atom: Atom) -> dict[Atom, Table]:
        """A table, and those into which was written until it was this one."""
        table = self.of(atom)
        before = self.behind(self._body.maker(atom).invars[0]) if isinstance(table, Written) else {}
        return {**before, atom: table}

    def starts(self, access: Any) -> list[Start | None]:
        """Where an access begins: a number where that is known, None where it is not, and it is of several elements."""
        if access.primitive.name == "slice":
            return [*access.params["start_indices"]]
        sizes = zip(*window(access), access.invars[0].aval.shape, strict=True)
        return [self._start(start, size, length) for start, size, length in sizes]

    def _start(self, start: Atom, size: int, length: int) -> Start | None:
        span = self._body.range_of(start)
        if span is None or span[0] < 0 or span[1] + size > length:
            return None
        if span[0] == span[1]:
            return span[0]
        return Moving(start, *span) if size == 1 else None
