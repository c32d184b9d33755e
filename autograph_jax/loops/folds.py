"""A table of which the last rows are read after its loop: the loop carries the few rows that it uses, and no table.

    for i in range(1, n + 1):
        for j in range(1, m + 1):
            table[i, j] = table[i - 1, j] + table[i, j - 1]      # row i and the one before
    return table[n, m]

A turn reads and writes rows that are at fixed distances from the turn's own. The next one comes in as it was before the loop,
and is read of what the table comes from (`windows.py`), zeros with a column and a row written into them, say; the one that no
turn needs any more goes. `rows.py` has cut out before what an inner loop uses. Rows may be along any dimension.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, Var, jaxpr_as_fun

from autograph_jax.loops import guards, told
from autograph_jax.loops.axes import is_split
from autograph_jax.loops.bodies import Body, is_write, window
from autograph_jax.loops.building import Atom, Builder, is_variable, with_programs_in_place
from autograph_jax.loops.by_itself import is_by_itself
from autograph_jax.loops.evaluation import bound, called, evaluated
from autograph_jax.loops.kernel_calls import in_one_kernel, kernel_p
from autograph_jax.loops.optimizations import NONE, own_choice
from autograph_jax.loops.ranges import Ranges
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.windows import Kept, Moving, Table, Tables, Values
from autograph_jax.loops.writes import made_in_place

_FEWEST_ELEMENTS = 4096  # of a table: a smaller one is in the processor's cache
_MOST_ROWS = 4
_MOST_LOOPS = 16  # beside each other: all are compiled to see whether one folds, and what Python has unrolled may be hundreds
_LEAST_SHARE = 4  # how many times as many rows a table has


Place = tuple[int, int, int]  # an operand of a turn, 1 or -1, by which it is multiplied, and what is added then


@dataclasses.dataclass(frozen=True)
class Fold:
    """A scan's table, kept as rows along one dimension: where the counter is k, those at `sign * (k + distance)`.

    The distances are those from `least` on, and before `most`; the row at `most` comes in.
    """

    output: int  # which of the carry
    dimension: int
    counter: int  # which of the carry
    begin: int  # what that is first
    end: int  # and after the last turn
    sign: int
    least: int
    most: int
    written: int  # the least at which a turn writes
    distances: dict[int, int]  # by the id of an equation of the body that reads or writes

    @property
    def count(self) -> int:
        return self.most - self.least

    @property
    def left(self) -> list[int]:
        """The rows that are there after the last turn."""
        return [self.sign * (self.end + distance) for distance in range(self.least, self.most)]


def may_fold(jaxpr: Any) -> bool:
    """May there be a loop with a table of which windows are read afterwards, and nothing else?"""
    loops = [equation for equation in jaxpr.eqns if equation.primitive.name == "scan"]
    if len(loops) > _MOST_LOOPS:
        return False
    found = [loop for loop in loops if any(_may_be_table(v.aval) and _are_windows(_readers(v, jaxpr)) for v in loop.outvars)]
    return bool(found) and all("folds" in (own_choice(loop) or NONE) for loop in found)


def _may_be_table(aval: Any) -> bool:
    is_large = aval.ndim > 1 and aval.size >= _FEWEST_ELEMENTS
    return is_large and not is_split(aval) and not jax.numpy.issubdtype(aval.dtype, jax.dtypes.extended)


def _are_windows(readers: Sequence[Any]) -> bool:
    return bool(readers) and all(reader is not None and _is_read(reader) for reader in readers)


def _is_read(equation: Any) -> bool:
    name = equation.primitive.name
    return name == "dynamic_slice" or name == "slice" and set(equation.params["strides"] or (1,)) == {1}


def _readers(table: Any, jaxpr: Any) -> list[Any]:
    """The equations that read this, and None where the program gives it."""
    readers = [equation for equation in jaxpr.eqns if any(atom is table for atom in equation.invars)]
    return [*readers, None] if any(atom is table for atom in jaxpr.outvars) else readers


def with_folds(closed: ClosedJaxpr, known: Ranges) -> ClosedJaxpr:
    """The program with rows in place of tables; itself where there is no such table."""
    around = Body(closed, known)
    found = {}
    for equation in closed.jaxpr.eqns:
        scan = _scan(equation)
        if scan is not None and (read := _tables(scan, closed.jaxpr, around)):
            loop = _Loop(scan, around, is_kernel=scan is not equation)
            if several := loop.folds(read):
                found[id(equation)] = loop, several
    return _Folded(closed, around, found).program() if found else closed


def _scan(equation: Any) -> Any:
    """A scan, which may be compiled as a whole, with the operands and results that it has in the program."""
    if equation.primitive is not kernel_p:
        return equation if equation.primitive.name == "scan" else None
    jaxpr = equation.params["jaxpr"].jaxpr
    if len(jaxpr.eqns) != 1 or jaxpr.eqns[0].primitive.name != "scan" or jaxpr.outvars != jaxpr.eqns[0].outvars:
        return None
    given = dict(zip(jaxpr.invars, equation.invars, strict=True))
    operands = [given[atom] if is_variable(atom) else atom for atom in jaxpr.eqns[0].invars]
    return jaxpr.eqns[0].replace(invars=operands, outvars=equation.outvars)


def _tables(equation: Any, jaxpr: Any, around: Body) -> dict[int, list[Any]]:
    """Of a scan the tables that may be folded, by the number of the output, with the windows that are read of each."""
    if not equation.params["length"]:
        return {}
    first, last = guards.parts_of_scan(equation.params, equation.invars)
    readers = {n: _readers(v, jaxpr) for n, v in enumerate(equation.outvars[: last - first]) if _may_be_table(v.aval)}
    starts = Tables(around).starts
    return {
        n: [list(zip(starts(one), one.outvars[0].aval.shape, strict=True)) for one in several]
        for n, several in readers.items()
        if _are_windows(several)
    }


class _Loop:
    """A scan of a program, and its body with the calls written out that compute what is written."""

    def __init__(self, equation: Any, around: Body, is_kernel: bool) -> None:
        self.equation, self.params, self.is_kernel = equation, equation.params, is_kernel
        self.first, self.last = guards.parts_of_scan(self.params, equation.invars)
        self._given = tuple(map(around.range_of, equation.invars))
        self.closed = with_programs_in_place(self.params["jaxpr"], lambda e: called(e) if is_by_itself(e) else None)
        inside = guards.in_scan(self.params | {"jaxpr": self.closed}, self._given)[1]
        self._body = Body(self.closed, inside)
        self._numbers = {v: number for number, v in enumerate(self.closed.jaxpr.invars)}

    def folds(self, read: dict[int, list[Any]]) -> list[Fold]:
        """How its tables are folded, of which these windows are read afterwards."""
        return [fold for output, windows in read.items() if (fold := self._fold(output, windows)) is not None]

    def _fold(self, output: int, windows: Sequence[Any]) -> Fold | None:
        shape = self.equation.outvars[output].aval.shape
        accesses = self._body.accesses(self.first + output, output)
        for dimension, length in enumerate(shape) if accesses else ():
            rows = _rows_of([one[dimension] for one in windows])
            fold = self._along(output, dimension, accesses)
            fold = _keeping(fold, rows) if fold is not None and rows is not None else None
            if fold is not None and 0 < fold.count <= _MOST_ROWS and _LEAST_SHARE * (fold.count + 1) <= length:
                return fold
        return None

    def _along(self, output: int, dimension: int, accesses: Sequence[Any]) -> Fold | None:
        """Of rows in this dimension, if they move by one in a turn."""
        length = self.equation.outvars[output].aval.shape[dimension]
        places = {id(access): self._row(access, dimension, length) for access in accesses}
        known = {key: place for key, place in places.items() if place is not None}
        moves = {place[:2] for place in known.values()}
        if len(known) < len(places) or len(moves) > 1:
            return None
        ((operand, sign),) = moves
        begin = self._begin(operand)
        if begin is None:
            return None
        distances = {key: sign * more for key, (_, _, more) in known.items()}
        least, most, end = min(distances.values()), max(distances.values()), begin + self.params["length"]
        written = min(distances[id(access)] for access in accesses if is_write(access))
        return Fold(output, dimension, operand - self.first, begin, end, sign, least, most, written, distances)

    def _begin(self, operand: int) -> int | None:
        """From where this operand counts the turns; None if it does not."""
        span = self._given[operand]
        if not self.first <= operand < self.last or span is None or span[0] != span[1]:
            return None
        maker = self._body.maker(self.closed.jaxpr.outvars[operand - self.first])
        if maker is None or maker.primitive.name != "add":
            return None
        one, other = sorted(maker.invars, key=is_variable)
        return span[0] if not is_variable(one) and one.val == 1 and self._numbers.get(other) == operand else None

    def _row(self, access: Any, dimension: int, length: int) -> Place | None:
        """The one row of an access; None where it has several, or may be out of bounds."""
        start, size = (of_all[dimension] for of_all in window(access))
        return self._place(start) if size == 1 and self._body.is_in_bounds(start, 1, length) else None

    def _place(self, atom: Atom) -> Place | None:
        if not is_variable(atom) or self._body.range_of(atom) is None:
            return None
        if atom in self._numbers:
            return self._numbers[atom], 1, 0
        maker = self._body.maker(atom)
        if maker is None:
            return None
        name, operands = maker.primitive.name, maker.invars
        if name in ("convert_element_type", "within"):
            return self._place(operands[0])
        if name not in ("add", "sub", "mul") or all(map(is_variable, operands)):
            return None
        literal, variable = sorted(operands, key=is_variable)
        number, place = int(literal.val), self._place(variable)
        if name == "mul":
            return _times(place, number) if number in (1, -1) else None
        if name == "sub" and variable is operands[1]:
            place = _times(place, -1)
        elif name == "sub":
            number = -number
        return place if place is None else (*place[:2], place[2] + number)


def _times(place: Place | None, sign: int) -> Place | None:
    return place if place is None else (place[0], sign * place[1], sign * place[2])


def _rows_of(windows: Sequence[tuple[Any, int]]) -> set[int] | None:
    """All that are read along a dimension, where each window begins at a known number."""
    if not all(isinstance(start, int) for start, _ in windows):
        return None
    return {start + more for start, size in windows for more in range(size)}


def _keeping(fold: Fold, rows: set[int]) -> Fold:
    """So that those rows are there afterwards that it may have written and that are read."""
    places = (fold.sign * row for row in rows)
    distances = [place - fold.end for place in places if place >= fold.begin + fold.written]
    return dataclasses.replace(fold, least=min(fold.least, fold.most - 1, *distances))


class _Folded:
    """A program that is written once more, with rows in place of tables."""

    def __init__(self, closed: ClosedJaxpr, around: Body, found: dict[int, tuple[_Loop, list[Fold]]]) -> None:
        self._closed, self._found, self._tables = closed, found, Tables(around)
        self._builder = Builder(closed.in_avals)
        self._atoms: dict[Any, Atom] = dict(zip(closed.jaxpr.invars, self._builder.inputs, strict=True))
        for variable, value in zip(closed.jaxpr.constvars, closed.consts, strict=True):
            self._atoms[variable] = self._builder.const(variable, value)
        self._sources: dict[Any, Table] = {}  # of tables that are folded, before and after
        for loop, folds in found.values():
            for fold in folds:
                self._sources |= self._tables.behind(loop.equation.invars[loop.first + fold.output])

    def program(self) -> ClosedJaxpr:
        outputs = self._builder.of_program(self._closed, self._builder.inputs, self._each)
        return self._builder.program(self._closed.jaxpr, outputs)

    def _each(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        made = self._made(equation, operands)
        self._atoms.update(zip(equation.outvars, made, strict=True))
        return made

    def _made(self, equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        if id(equation) in self._found:
            return self._loop(*self._found[id(equation)])
        table = self._sources.get(equation.invars[0]) if _is_read(equation) and is_variable(equation.invars[0]) else None
        if table is None:
            return self._builder.again(equation, operands)
        starts, sizes, whole = self._tables.starts(equation), equation.outvars[0].aval.shape, equation.invars[0].aval.shape
        unknown = {d: equation.invars[1 + d] for d, start in enumerate(starts) if start is None}
        moving = [start.number for start in starts if isinstance(start, Moving)]

        def read(values: Values) -> Any:
            at = [dataclasses.replace(s, number=values[s.number]) if isinstance(s, Moving) else s or 0 for s in starts]
            found = table.window(at, [whole[d] if d in unknown else size for d, size in enumerate(sizes)], values)
            return _part_of(found, {d: _value(atom, values) for d, atom in unknown.items()}, sizes)

        return self._of(read, [*table.atoms, *moving, *unknown.values()], equation)

    def _of(self, function: Callable[[Values], Any], atoms: Sequence[Atom], instead: Any) -> list[Atom]:
        """What a function gives of the values of these atoms of the old program."""
        atoms = list(dict.fromkeys(filter(is_variable, atoms)))
        given = [self._atoms[atom] for atom in atoms]
        return self._builder.of(lambda *values: function(dict(zip(atoms, values, strict=True))), given, instead)

    def _loop(self, loop: _Loop, folds: list[Fold]) -> list[Atom]:
        """What the scan gives; for a table something that nobody reads: what is read of it is in the rows."""
        equation = loop.equation
        told.tell(equation, "folds", "of a table, only the rows that a turn needs are kept")
        sources = [self._tables.of(equation.invars[loop.first + fold.output]) for fold in folds]
        operands = [v for number, v in enumerate(equation.invars) if number - loop.first not in {f.output for f in folds}]
        atoms = [*operands, *(atom for source in sources for atom in source.atoms)]
        run = _Run(loop, folds, sources).of
        made = iter(self._of(_in_one_kernel(run) if loop.is_kernel else run, atoms, equation))
        rows = [[next(made) for _ in fold.left] for fold in folds]
        found = {fold.output: several[0] for fold, several in zip(folds, rows, strict=True)}
        for fold, source, several in zip(folds, sources, rows, strict=True):
            names = [Var(atom.aval) for atom in several]
            self._atoms.update(zip(names, several, strict=True))
            self._sources[equation.outvars[fold.output]] = Kept(
                source, fold.dimension, dict(zip(fold.left, names, strict=True))
            )
        return [found[number] if number in found else next(made) for number in range(len(equation.outvars))]


class _Run:
    """A loop as it runs with rows."""

    def __init__(self, loop: _Loop, folds: list[Fold], sources: Sequence[Table]) -> None:
        self._loop, self._tables = loop, [*zip(folds, sources, strict=True)]
        self._operands = {loop.first + fold.output: fold for fold in folds}
        self._folds = {key: fold for fold in folds for key in fold.distances}

    def of(self, values: Values) -> list[Any]:
        """The rows that it leaves of each table, and then what else it gives."""
        loop, invars = self._loop, self._loop.equation.invars
        given = [None if n in self._operands else _value(atom, values) for n, atom in enumerate(invars)]
        consts, carry, xs = given[: loop.first], given[loop.first : loop.last], given[loop.last :]
        first = [self._first_rows(fold, source, values) for fold, source in self._tables]
        turn = jaxpr_as_fun(made_in_place(self._turn()))

        def step(state: Any, row: Any) -> Any:
            kept, carry = state
            entering = [self._entering(fold, source, carry[fold.counter], values) for fold, source in self._tables]
            rows = [row for one, last in zip(kept, entering, strict=True) for row in (*one, last)]
            left = iter(turn(*rows, *(value for value in (*consts, *carry, *row) if value is not None)))
            kept = [[next(left) for _ in one] for one in kept]
            return (kept, [value if value is None else next(left) for value in carry]), list(left)

        options = {name: loop.params[name] for name in ("length", "reverse", "unroll")}
        (kept, carry), stacked = jax.lax.scan(step, (first, carry), xs, **options)
        return [*(row for one in kept for row in one), *(value for value in carry if value is not None), *stacked]

    def _first_rows(self, fold: Fold, source: Table, values: Values) -> list[Any]:
        last = self._aval(fold).shape[fold.dimension] - 1
        numbers = [fold.sign * (fold.begin + distance) for distance in range(fold.least, fold.most)]
        return [self._row(fold, source, min(max(number, 0), last), values) for number in numbers]

    def _entering(self, fold: Fold, source: Table, counter: Any, values: Values) -> Any:
        kind = counter.dtype.type
        number = jax.lax.mul(counter, kind(fold.sign)) if fold.sign < 0 else counter
        number = jax.lax.add(number, kind(fold.sign * fold.most)) if fold.most else number
        least, most = sorted(fold.sign * (count + fold.most) for count in (fold.begin, fold.end - 1))
        return self._row(fold, source, Moving(number, least, most), values)

    def _row(self, fold: Fold, source: Table, number: Any, values: Values) -> Any:
        shape = self._aval(fold).shape
        return source.window(_at(fold, [0] * len(shape), number), _at(fold, shape, 1), values)

    def _aval(self, fold: Fold) -> Any:
        return self._loop.equation.outvars[fold.output].aval

    def _turn(self) -> ClosedJaxpr:
        """A turn, of the rows and of its other operands; it gives the rows of the next turn but the one that comes in."""
        closed = self._loop.closed
        avals = [aval for number, aval in enumerate(closed.in_avals) if number not in self._operands]
        rows = [self._aval(fold).update(shape=tuple(_at(fold, self._aval(fold).shape, 1))) for fold, _ in self._tables]
        several = [row for (fold, _), row in zip(self._tables, rows, strict=True) for _ in range(fold.count + 1)]

        def run(*values: Any) -> list[Any]:
            left = iter(values)
            of_tables = [{fold.least + n: next(left) for n in range(fold.count + 1)} for fold, _ in self._tables]
            tables = dict(zip(self._operands, of_tables, strict=True))
            operands = [tables[n] if n in tables else next(left) for n in range(len(closed.in_avals))]
            out = evaluated(closed, operands, self._each)
            kept = [out[fold.output][fold.least + 1 + n] for fold, _ in self._tables for n in range(fold.count)]
            return [*kept, *(value for value in out if not isinstance(value, dict))]

        return traced(run, [*several, *avals])

    def _each(self, equation: Any, operands: list[Any]) -> Sequence[Any]:
        fold = self._folds.get(id(equation))
        if fold is None:
            return bound(equation, operands)
        rows, distance = operands[0], fold.distances[id(equation)]
        starts, sizes = window(equation)
        first = 2 if is_write(equation) else 1
        at = _at(fold, operands[first:], starts[fold.dimension].aval.dtype.type(0))
        if not is_write(equation):
            return [_read(rows[distance], at, sizes)]
        return [{**rows, distance: _written(rows[distance], operands[1], at)}]


def _in_one_kernel(run: Callable[[Values], Any]) -> Callable[[Values], Any]:
    def in_kernel(values: Values) -> Any:
        return in_one_kernel(lambda *given: run(dict(zip(values, given, strict=True))), list(values.values()))

    return in_kernel


def _at(fold: Fold, of_all: Sequence[Any], one: Any) -> list[Any]:
    """Something for each dimension, another one for that of the fold."""
    return [one if dimension == fold.dimension else given for dimension, given in enumerate(of_all)]


def _part_of(window: Any, starts: dict[int, Any], sizes: Sequence[int]) -> Any:
    """What begins at these places, or at the nearest that there are, in some dimensions of which the window has all."""
    for dimension, start in starts.items():
        window = jax.lax.dynamic_slice_in_dim(window, start, sizes[dimension], dimension, allow_negative_indices=False)
    return window


def _value(atom: Atom, values: Values) -> Any:
    return values[atom] if is_variable(atom) else atom.val


def _read(row: Any, starts: Sequence[Any], sizes: Sequence[int]) -> Any:
    return row if row.shape == tuple(sizes) else jax.lax.dynamic_slice(row, starts, sizes, allow_negative_indices=False)


def _written(row: Any, block: Any, starts: Sequence[Any]) -> Any:
    if row.shape == block.shape:
        return block
    return jax.lax.dynamic_update_slice(row, block, starts, allow_negative_indices=False)
