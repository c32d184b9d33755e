"""A program of loops as it is compiled, with the optimisations that were chosen (`optimizations.py`).

This is done where a loop is lowered, after every transform: derivatives, checks and explanations see what was staged. The
values are the same to the bit, but for what docs/optimizations.md says of some of them, and for the order in which
derivatives are summed up (`accumulated.py`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Literal
from jax.interpreters import partial_eval

from autograph_jax.loops import (
    branch_loops,
    extremes,
    factors,
    folds,
    guards,
    halos,
    nests,
    ranges,
    selects,
    shifts,
    small_products,
    sorts,
    told,
    writes,
)
from autograph_jax.loops.accumulated import accumulated, with_sums_in_sight
from autograph_jax.loops.axes import axes_of_type, is_split
from autograph_jax.loops.bodies import replaces
from autograph_jax.loops.building import Atom, Builder, is_variable, with_programs_in_place
from autograph_jax.loops.by_itself import are_by_a_call, behind_a_barrier, is_for_another_platform
from autograph_jax.loops.caches import cached
from autograph_jax.loops.evaluation import IDENTITIES, called, is_written_out, programs_of
from autograph_jax.loops.kernel_calls import as_one_kernel
from autograph_jax.loops.loop import is_inexact, unread
from autograph_jax.loops.noted import left_by
from autograph_jax.loops.optimizations import ALL, ON_CPU_ALONE, TO_FOLD, Chosen, own_choice
from autograph_jax.loops.ranges import Range, Ranges
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.within import within

Part = tuple[Atom, Range | None]
When = bool | tuple[Atom, Any, Any]  # a test, and When it does not hold and does


def compiled(closed: ClosedJaxpr, known: Ranges = (), chosen: Chosen = ALL - ON_CPU_ALONE) -> ClosedJaxpr:
    """A program that gives the same, where these ranges are known of its inputs, and is compiled to less."""
    return (_compiled.__wrapped__ if told.is_heard() else _compiled)(closed, known, chosen, are_by_a_call())


def compiled_as_a_whole(closed: ClosedJaxpr, chosen: Chosen) -> ClosedJaxpr:
    """A program with what is chosen for loops together with what is around them; itself where there is none of it.

    Nothing else is done outside of its loops.
    """
    return (_as_a_whole.__wrapped__ if told.is_heard() else _as_a_whole)(closed, chosen, are_by_a_call())


@cached(256)
def _as_a_whole(closed: ClosedJaxpr, chosen: Chosen, by_a_call: bool) -> ClosedJaxpr:
    if "folds" not in chosen or _is_special(closed):
        return closed
    return _folded(_flat(closed, _OUTSIDE), (), chosen, _Outside) or closed


@cached(1024)
def _compiled(closed: ClosedJaxpr, known: Ranges, chosen: Chosen, by_a_call: bool) -> ClosedJaxpr:
    """`by_a_call` is what turns in it are traced with: it is there to tell programs for two platforms apart."""
    known = known or (None,) * len(closed.in_avals)
    if not _may_change(closed.jaxpr, chosen) or _is_special(closed):
        return closed

    marked = _flat(closed, chosen)
    sight = with_sums_in_sight(marked)
    flat = accumulated(sight)
    result = _folded(flat, known, chosen, _Run) or _written_once_more(flat, known, chosen, _Run)
    with_halos = halos.with_halos(result) if "halos" in chosen else result
    result = _needed(with_halos) if with_halos is not result else result
    run = result if sight is marked else writes.with_writes_last(result)
    return traced(run, result.in_avals) if callable(run) and run is not result else result


def _written_once_more(flat: ClosedJaxpr, known: Ranges, chosen: Chosen, run: type[_Run]) -> ClosedJaxpr:
    builder = Builder(flat.in_avals)
    outputs = run(flat, builder, chosen).run(builder.inputs, known)
    return _needed(builder.program(flat.jaxpr, outputs))


def _folded(flat: ClosedJaxpr, known: Ranges, chosen: Chosen, run: type[_Run]) -> ClosedJaxpr | None:
    """The same with rows in place of tables; None where there is no such table."""
    if "folds" not in chosen or not folds.may_fold(flat.jaxpr):
        return None
    known = known or (None,) * len(flat.in_avals)

    def tried() -> ClosedJaxpr | None:
        made = _written_once_more(flat, known, chosen | {TO_FOLD}, run)
        result = folds.with_folds(made, known)
        return None if result is made else result

    with told.trying():
        result = tried()
    if result is not None and told.is_heard():
        tried()
    return None if result is None else _needed(result)


def _needed(closed: ClosedJaxpr) -> ClosedJaxpr:
    """Without what nobody reads."""
    needed, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.out_avals), instantiate=True)
    return ClosedJaxpr(needed, closed.consts)


def _may_change(jaxpr: Any, chosen: Chosen) -> bool:
    return any(_changes(equation, chosen) for equation in jaxpr.eqns)


def _changes(equation: Any, chosen: Chosen) -> bool:
    name = equation.primitive.name
    if is_for_another_platform(equation):
        return True
    if is_written_out(equation):
        return _may_change(called(equation).jaxpr, chosen)
    if name in _MARKED:
        return _has_sweeps(called(equation).jaxpr)
    if name == "custom_linear_solve":
        return _may_change(equation.params["jaxprs"].solve.jaxpr, chosen)
    if "factors" in chosen and factors.is_small(equation) or "sorts" in chosen and sorts.is_small(equation):
        return True
    if "products" in chosen and small_products.is_small(equation) or "halos" in chosen and halos.is_part(equation):
        return True
    if "extremes" in chosen and extremes.is_search(equation):
        return True
    if name == "cond" and any(_may_change(branch.jaxpr, chosen) for branch in equation.params["branches"]):
        return True
    return name in _INSIDE or name in IDENTITIES or name in _SWEEPS or name in _CHANGED and bool(_CHANGED[name] & chosen)


def _has_sweeps(jaxpr: Any) -> bool:
    return any(e.primitive.name in _SWEEPS or any(map(_has_sweeps, programs_of(e.params))) for e in jaxpr.eqns)


def _flat(closed: ClosedJaxpr, chosen: Chosen) -> ClosedJaxpr:
    """With the calls written out in which anything may change."""

    def is_flattened(equation: Any) -> bool:
        is_call = is_written_out(equation) or equation.primitive.name == "custom_linear_solve"
        return is_call and _changes(equation, chosen)

    def program(equation: Any) -> ClosedJaxpr | None:
        if not is_flattened(equation):
            return None
        if is_written_out(equation):
            return called(equation)
        solve = functools.partial(equation.primitive.impl, **equation.params)
        return traced(solve, [atom.aval for atom in equation.invars])

    return with_programs_in_place(closed, program) if any(map(is_flattened, closed.jaxpr.eqns)) else closed


def _is_special(closed: ClosedJaxpr) -> bool:
    """Prints, errors and collectives, and arrays that differ between devices, stay as they are."""
    variables = [*closed.jaxpr.invars, *(v for equation in closed.jaxpr.eqns for v in equation.outvars)]
    return bool(closed.effects) or any(axes_of_type(v.aval) for v in variables)


class _Run:
    """A program written once more, equation by equation, with what is known of its integers."""

    def __init__(self, closed: ClosedJaxpr, builder: Builder, chosen: Chosen) -> None:
        self._jaxpr, self._consts, self._builder, self._chosen = closed.jaxpr, closed.consts, builder, chosen
        self._shifts = shifts.Shifts(self._maker, self._range)
        self._makers = {v: equation for equation in self._jaxpr.eqns for v in equation.outvars}
        self._atoms: dict[Any, Atom] = {}
        self._ranges: dict[Any, Range | None] = {}
        self._booleans: dict[Any, Atom] = {}  # of what was a boolean and is an integer: that boolean
        self._made: dict[Any, Sequence[Atom]] = {}
        self._parts: dict[Atom, list[Part]] = {}  # of a vector of indices, each as a number
        self._filled: dict[Atom, Any] = {}  # of a vector of one number, this
        self._is_inlined = False  # as a branch that is computed whether it is taken or not
        self._skipped: dict[Atom, _Skipped] = {}  # of a vector of indices of a write that a branch may leave out

    def run(self, operands: Sequence[Atom], known: Sequence[Range | None]) -> list[Atom]:
        consts, inputs = self._jaxpr.constvars, self._jaxpr.invars
        self._atoms = dict(zip(inputs, operands, strict=True))
        self._atoms.update((v, self._builder.const(v, const)) for v, const in zip(consts, self._consts, strict=True))
        self._ranges = dict(zip([*consts, *inputs], [*map(ranges.of_literal, self._consts), *known], strict=True))
        for equation in self._jaxpr.eqns:
            given, known = list(map(self._atom, equation.invars)), tuple(map(self._range, equation.invars))
            out = self._result(equation, given, known)
            self._atoms.update(zip(equation.outvars, out, strict=True))
            self._note(equation, known)
        return [self._atom(atom) for atom in self._jaxpr.outvars]

    def _atom(self, atom: Any) -> Atom:
        return atom if hasattr(atom, "val") else self._atoms[atom]

    def _range(self, atom: Any) -> Range | None:
        return ranges.of_literal(atom.val) if hasattr(atom, "val") else self._ranges.get(atom)

    def _result(self, equation: Any, given: list[Atom], known: Ranges) -> Sequence[Atom]:
        name = equation.primitive.name
        asked = self._asked(equation)
        if name == "cond":
            return self._conditional(equation, given, known, asked)
        if name == "select_n":
            return self._selected(equation, given, known, asked)
        if asked is not None and (is_it := selects.compared(equation)) is not None:
            return [asked] if is_it else self._builder.of(jax.lax.bitwise_not, [asked], equation)
        if TO_FOLD in self._chosen and _is_known_to_be_strong(equation):
            return given
        if TO_FOLD in self._chosen and name == "gather" and (parts := self._parts_of(given[1])):
            return self._read(equation, given, parts)
        if "ranges" in self._chosen and replaces(equation):
            return self._written(equation, given)
        if name in IDENTITIES:
            return given[:1]
        if is_for_another_platform(equation):
            return self._builder.of(functools.partial(behind_a_barrier, equation), given, equation)
        if name in _MARKED and _has_sweeps(called(equation).jaxpr):
            return self._builder.again(
                equation, given, equation.params | {"jaxpr": compiled(called(equation), known, self._chosen)}
            )
        if name in _SWEEPS:
            return self._builder.again(equation, self._needed(equation, given))
        if name in _INSIDE:
            return self._instead(_INSIDE[name](equation, known, self._chosen, compiled), given, equation)
        if (written_out := self._written_out(equation)) is not None:
            return self._builder.of(written_out, given, equation)
        if "products" in self._chosen and small_products.is_small(equation):
            shapes = " and ".join(str(atom.aval.shape) for atom in equation.invars)
            told.tell(equation, "products", f"products of {shapes} are written out")
            equation = equation.replace(params=small_products.marked(equation, self._chosen))
        if name in _FIRST_INDEX and "ranges" in self._chosen:
            given = self._unconverted(equation, given)
        if self._is_inlined and name == "dynamic_slice" and TO_FOLD in self._chosen:
            given = self._within(equation, given, known)
        if name in ("div", "rem") and "shifts" in self._chosen and (found := self._shifts.truncated(equation)) is not None:
            return self._by_bits(equation, found)
        if selects.is_pure(equation):
            return self._once(equation, given)
        return self._builder.again(equation, given)

    def _selected(self, equation: Any, given: list[Atom], known: Ranges, asked: Atom | None) -> Sequence[Atom]:
        which, *cases = given
        if "shifts" in self._chosen and (found := self._shifts.floored(equation)) is not None:
            return self._by_bits(equation, found)
        span = known[0] if "ranges" in self._chosen else None
        if span is not None and span[0] == span[1]:
            return [cases[span[0]]]
        if all(case is cases[0] for case in cases):  # as jax.vmap leaves it for the sake of gradients
            return cases[:1]
        is_boolean = asked is not None and len(cases) == 2
        return self._builder.again(equation, [asked if is_boolean else which, *cases])

    def _written(self, equation: Any, given: list[Atom]) -> Sequence[Atom]:
        """What a scatter gives."""
        if TO_FOLD in self._chosen and is_variable(given[1]) and given[1] in self._skipped:
            return self._written_where(equation, given, self._skipped[given[1]])
        parts = self._parts_of(given[1])
        window = writes.in_bounds_window(equation, [span for _, span in parts])
        if window is None or is_split(given[0].aval) or is_split(given[2].aval):
            return self._builder.again(equation, given)
        write = functools.partial(writes.in_bounds_write, equation, window)
        return self._builder.of(write, [given[0], given[2], *(number for number, _ in parts)], equation)

    def _read(self, equation: Any, given: list[Atom], parts: list[Part]) -> Sequence[Atom]:
        """What a gather gives; of one window, as jax.vmap makes it of one at the same place in all lanes, it is a slice."""
        read = writes.one_window(equation, len(parts))
        if read is None or is_split(given[0].aval):
            return self._builder.again(equation, given)
        return self._builder.of(read, [given[0], *(number for number, _ in parts)], equation)

    def _written_where(self, equation: Any, given: list[Atom], skipped: _Skipped) -> Sequence[Atom]:
        window = writes.in_bounds_window(equation, [span for _, span in skipped.parts])
        if window is None or equation.params["mode"] is not jax.lax.GatherScatterMode.FILL_OR_DROP:
            return self._builder.again(equation, given)
        tests = skipped.tests(skipped.when)

        def write(array: jax.Array, update: jax.Array, *values: jax.Array) -> jax.Array:
            is_written = _holds(skipped.when, dict(zip(tests, values, strict=False)))
            return writes.write_where(equation, window, array, update, is_written, values[len(tests) :])

        numbers = [number for number, _ in skipped.parts]
        return self._builder.of(write, [given[0], given[2], *tests, *numbers], equation)

    def _written_out(self, equation: Any) -> Callable[..., Any] | None:
        """What gives the same as a small factorisation or sort, or as a long search."""
        name = equation.primitive.name
        if "factors" in self._chosen and factors.is_small(equation):
            told.tell(equation, "factors", f"`{name}` of {equation.invars[0].aval.shape} is written out")
            return functools.partial(factors.WRITTEN_OUT[name], **equation.params)
        if "sorts" in self._chosen and sorts.is_small(equation):
            told.tell(equation, "sorts", f"a sort of {equation.invars[0].aval.shape} is written out")
            return functools.partial(sorts.by_counting, **equation.params)
        if "extremes" in self._chosen and extremes.is_faster_as_two(equation, self._jaxpr):
            told.tell(equation, "extremes", f"`{name}` looks for the value first, then for its place")
            return functools.partial(extremes.first_place, name, **equation.params)
        return None

    def _instead(self, other: Any, given: list[Atom], equation: Any) -> Sequence[Atom]:
        if isinstance(other, ClosedJaxpr):
            with self._builder.inside(equation):
                return self._builder.of_program(other, given)
        if isinstance(other, nests.Kernel):
            return as_one_kernel(other.equation, given, self._builder)
        return self._builder.of(other, given, equation) if callable(other) else self._builder.again(other, given)

    def _needed(self, equation: Any, given: list[Atom]) -> list[Atom]:
        """Of the operands of a sweep those that it reads: others would be kept for each turn of the loop around."""
        return [
            self._zeros(atom.aval, equation) if is_unread and is_inexact(atom.aval) else atom
            for atom, is_unread in zip(given, unread(equation), strict=True)
        ]

    def _zeros(self, aval: Any, instead: Any) -> Atom:
        return self._builder.of(functools.partial(jnp.zeros, aval.shape, aval.dtype), [], instead)[0]

    def _unconverted(self, equation: Any, given: list[Atom]) -> list[Atom]:
        """With indices as they were computed, where that is the same number: converting them would be a part of each turn."""
        first = _FIRST_INDEX[equation.primitive.name]
        indices = [self._as_computed(atom) for atom in equation.invars[first:]]
        kinds = {index.aval.dtype for index in indices if is_variable(index)}
        if len(kinds) != 1:
            return given
        kind = kinds.pop()
        return given[:first] + [i if is_variable(i) else _converted(i, kind) for i in indices]

    def _within(self, equation: Any, given: list[Atom], known: Ranges) -> list[Atom]:
        """With indices that are known to be in bounds in this branch."""

        def one(before: Any, index: Atom, span: Range | None, size: int, length: int) -> Atom:
            maker = self._maker(before)
            is_marked = maker is not None and maker.primitive.name == "within"
            if not is_variable(index) or is_marked or span is None or span[0] < 0 or span[1] + size > length:
                return index
            return self._builder.of(lambda index: within(index, *span), [index], equation)[0]

        sizes, shape = equation.params["slice_sizes"], equation.invars[0].aval.shape
        if len(shape) < 2:
            return given
        return [given[0], *(one(*e) for e in zip(equation.invars[1:], given[1:], known[1:], sizes, shape, strict=True))]

    def _as_computed(self, index: Any) -> Atom:
        """An index before it was given fewer bits, also where it is then asked in vain whether it is negative."""
        atom, maker = index, self._maker(index)
        while maker is not None and maker.primitive.name == "select_n" and (which := self._range(maker.invars[0])) is not None:
            if which[0] != which[1]:
                break
            atom = maker.invars[1 + which[0]]
            maker = self._maker(atom)
        if maker is not None and maker.primitive.name == "convert_element_type" and self._range(atom) is not None:
            before = maker.invars[0]
            is_index = before.aval.dtype != bool and before.aval.dtype.itemsize >= atom.aval.dtype.itemsize
            return self._atom(before if is_index else atom)
        return self._atom(index)

    def _maker(self, atom: Any) -> Any:
        return self._makers.get(atom) if is_variable(atom) else None

    def _by_bits(self, equation: Any, found: tuple[str, Any, int]) -> Sequence[Atom]:
        name, n, power = found
        told.tell(equation, "shifts", f"{'%' if name == 'rem' else '//'} {power} is a {'mask' if name == 'rem' else 'shift'}")
        return self._builder.of(functools.partial(shifts.by_bits, name, power), [self._atom(n)], equation)

    def _once(self, equation: Any, given: list[Atom]) -> Sequence[Atom]:
        """The same operation on the same operands, in both branches of an `if` as a rule, is one."""
        operands = tuple([atom if is_variable(atom) else (_bits(atom), atom.aval) for atom in given])
        params = sorted([(name, str(value) if isinstance(value, float) else value) for name, value in equation.params.items()])
        key = equation.primitive, *params, operands  # 0.0 is -0.0, but not by their texts and bits
        if key not in self._made:
            self._made[key] = self._builder.again(equation, given)
        return self._made[key]

    def _asked(self, equation: Any) -> Atom | None:
        if not self._booleans or not equation.invars:
            return None
        first = equation.invars[0]
        return self._booleans.get(first) if is_variable(first) else None

    def _conditional(self, equation: Any, given: Sequence[Atom], known: Ranges, asked: Atom | None) -> Sequence[Atom]:
        """What a conditional gives: of each output the one or the other, where that is cheap."""
        inside = [known[1:]] * len(equation.params["branches"])
        if len(inside) == 2:
            inside[1] = self._where_it_holds(equation, known)
        if len(inside) == 2 and TO_FOLD in self._chosen:
            inside[0] = self._where_it_holds(equation, known, guards.denied)
        compile_one = functools.partial(compiled, chosen=self._chosen)
        branches = tuple(map(compile_one, equation.params["branches"], inside))
        if "selects" not in self._chosen or not selects.is_cheap(equation, branches):
            as_loops = None if equation.effects else branch_loops.in_place(branches)
            if as_loops is not None:
                return self._builder.of(as_loops, given, equation)
            return self._builder.again(equation, given, equation.params | {"branches": branches})
        told.tell(equation, "selects", "both branches are computed, and one is chosen")
        with self._builder.inside(equation):
            cases = [self._inline(branch, known, given[1:]) for branch, known in zip(branches, inside, strict=True)]
        self._keep_parts([run for run, _ in cases])
        no, yes = (out for _, out in cases)
        differing = [number for number, (one, other) in enumerate(zip(no, yes, strict=True)) if one is not other]

        def choose(predicate: jax.Array, *values: jax.Array) -> list[jax.Array]:
            predicate = predicate > 0 if asked is None else predicate
            pairs = zip(values[: len(differing)], values[len(differing) :], strict=True)
            return [jax.lax.select_n(predicate, *pair) for pair in pairs]

        of_both = [out[number] for out in (no, yes) for number in differing]
        test = given[0] if asked is None else asked
        chosen = self._builder.of(choose, [test, *of_both], equation)
        found = dict(zip(differing, chosen, strict=True))
        for number, atom in found.items():
            self._note_skipped(atom, test, [(run, out[number]) for run, out in cases])
        return [found.get(number, atom) for number, atom in enumerate(no)]

    def _where_it_holds(self, equation: Any, known: Ranges, said: Callable[..., Any] = guards.said) -> Ranges:
        """Of the operands of a branch that is taken where a condition holds: `if i > 0: y = x[i - 1]`; or is `denied`."""
        maker = self._maker(equation.invars[0])
        if maker is None or maker.primitive.name != "convert_element_type":
            return known[1:]
        atoms, inside = equation.invars[1:], list(known[1:])
        for variable, name, other in said(maker.invars[0], self._makers, self._range):
            for number, atom in enumerate(atoms):
                if atom is variable:
                    inside[number] = guards.narrowed_by(name, inside[number], other, atom.aval)
        return tuple(inside)

    def _inline(self, closed: ClosedJaxpr, known: Ranges, given: Sequence[Atom]) -> tuple[_Run, list[Atom]]:
        inner = _Run(closed, self._builder, self._chosen)
        inner._is_inlined = True
        inner._made, inner._parts = self._made, dict(self._parts)
        return inner, inner.run(given, known)

    def _keep_parts(self, branches: Sequence[_Run]) -> None:
        """An index that both branches compute is one afterwards, and is all that it may be in either."""
        first, second = (branch._parts for branch in branches)
        for key in first.keys() & second.keys() - self._parts.keys():
            self._parts[key] = [(n, ranges.union([a, b])) for (n, a), (_, b) in zip(first[key], second[key], strict=True)]

    def _note_skipped(self, atom: Atom, test: Atom, cases: Sequence[tuple[_Run, Atom]]) -> None:
        """Of two branches, one may write where the other says a place that no array has, or may say it in its turn."""
        no, yes = (run._place(place) for run, place in cases)
        if no is None or yes is None or isinstance(no.when, bool) and no.when is yes.when or not is_variable(test):
            return
        parts = [[number for number, _ in place.parts] for place in (no, yes) if place.parts]
        if parts[0] == parts[-1]:
            spans = [[span for _, span in place.parts] for place in (no, yes) if place.parts]
            joint = [*zip(parts[0], map(ranges.union, zip(*spans, strict=True)), strict=True)]
            self._skipped[atom] = _Skipped(joint, (test, no.when, yes.when))

    def _place(self, place: Atom) -> _Skipped | None:
        """Where a branch writes, and when."""
        if not is_variable(place):
            return None
        if self._filled.get(place) == np.iinfo(np.int32).max:
            return _Skipped([], False)
        parts = self._parts_of(place)
        return self._skipped.get(place) or (_Skipped(parts, True) if parts else None)

    def _note(self, equation: Any, known: Ranges) -> None:
        """What is known of the results."""
        name = equation.primitive.name
        self._ranges.update(zip(equation.outvars, left_by(equation, known), strict=False))
        if not equation.outvars:
            return
        made = equation.outvars[0]
        if name == "convert_element_type" and equation.invars[0].aval.dtype == bool:
            self._booleans[made] = self._atom(equation.invars[0])
        elif name == "broadcast_in_dim" and made.aval.ndim == 1 and not is_variable(equation.invars[0]):
            self._filled[self._atom(made)] = equation.invars[0].val
        if name == "broadcast_in_dim" and made.aval.shape == (1,) and not equation.invars[0].aval.shape:
            self._is_of(made, [(self._as_computed(equation.invars[0]), known[0])])
        elif name == "select_n" and made.aval.ndim == 1 and len(equation.invars) == 3 and not equation.invars[0].aval.shape:
            which, no, yes = map(self._atom, equation.invars)
            self._note_skipped(self._atom(made), which, [(self, no), (self, yes)])
        elif name == "concatenate":
            parts = [self._parts_of(self._atom(atom)) for atom in equation.invars]
            if all(parts):
                self._is_of(made, [part for some in parts for part in some])

    def _is_of(self, variable: Any, parts: list[Part]) -> None:
        self._parts[self._atom(variable)] = parts

    def _parts_of(self, atom: Atom) -> list[Part]:
        return self._parts.get(atom, []) if is_variable(atom) else []


class _Outside(_Run):
    """A program of whose equations outside of loops only the indices are looked at; each loop is made by itself."""

    def _result(self, equation: Any, given: list[Atom], known: Ranges) -> Sequence[Atom]:
        name = equation.primitive.name
        if name in _INSIDE and own_choice(equation) is not None:
            return self._instead(_INSIDE[name](equation, known, self._chosen, compiled), given, equation)
        if name in IDENTITIES:
            return given[:1]
        if _is_known_to_be_strong(equation):
            return given
        if replaces(equation):
            return self._written(equation, given)
        return self._builder.again(equation, self._unconverted(equation, given) if name in _FIRST_INDEX else given)


@dataclasses.dataclass(frozen=True)
class _Skipped:
    """The indices of a write, and when it takes place: always, never, or by a test, the one or the other."""

    parts: list[Part]
    when: When

    def tests(self, when: When) -> list[Atom]:
        return [] if isinstance(when, bool) else [*dict.fromkeys([when[0], *self.tests(when[1]), *self.tests(when[2])])]


def _holds(when: When, values: dict[Atom, jax.Array]) -> jax.Array:
    if isinstance(when, bool):
        return jnp.asarray(when)
    test, no, yes = when
    return jax.lax.select(values[test] > 0, _holds(yes, values), _holds(no, values))


def _is_known_to_be_strong(equation: Any) -> bool:
    """Is it only said of an array that its type is no weak one?"""
    if equation.primitive.name != "convert_element_type":
        return False
    before, after = equation.invars[0].aval, equation.outvars[0].aval
    return before.ndim > 1 and before.dtype == after.dtype


def _bits(literal: Any) -> bytes:
    return np.asarray(literal.val, literal.aval.dtype).tobytes()


def _converted(literal: Any, kind: Any) -> Atom:
    return Literal(np.asarray(literal.val, kind), literal.aval.update(dtype=np.dtype(kind)))


_MARKED = ("jit", "pjit")  # those that are not written out
_OUTSIDE: Chosen = frozenset({"ranges"})
_SWEEPS = ("while_cotangent", "while_cotangent_into")
_FIRST_INDEX = {"dynamic_slice": 1, "dynamic_update_slice": 2}
_INSIDE = {"scan": nests.scan, "while": nests.while_, "turn": nests.turn}
_CHANGED = {
    "cond": frozenset({"selects"}),
    "div": frozenset({"shifts"}),
    "rem": frozenset({"shifts"}),
    "select_n": frozenset({"ranges", "shifts"}),
    "scatter": frozenset({"ranges"}),
}
