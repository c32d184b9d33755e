"""A program in every way: as plain Python with NumPy, which is right, then converted, and what differs."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import linecache
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag
from autograph_jax import errors
from tests.fuzz import gradients
from tests.fuzz.compare import Function, Mismatch, Outcome, Row, compare, observe, smooth_equal
from tests.fuzz.prelude import Box, Stop
from tests.fuzz.programs import PARAMETERS, PARTS, SMOOTH_PARAMETERS, Program, program

ROWS = 20
EAGER_ROWS = 2  # on concrete JAX arrays each operation is dispatched by itself, which is slow
SLOPE_ROWS = 4
ROUNDING = 4e-15  # a change of about as much as the roundings of a program make
VMAP_EVERY, SMOOTH_EVERY = 3, 8  # seeds; a batch takes as long to compile as all other ways together
MODES = ("plain", "eager", "jit", "vmap", "grad")
REFUSALS = frozenset(errors.NAMES) - {"EscapedTracerError"}  # no program of the generator lets a tracer escape
EXPECTED = (Stop, AssertionError, UnboundLocalError, NameError)  # what plain Python may raise
_numbers = itertools.count()


class Unfit(Exception):
    """Not a program to compare: plain Python fails in a way that programs of the generator never do."""


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a program: how it differs, and the error classes of ours that refused it, in the modes it ran in."""

    mismatches: tuple[Mismatch, ...]
    refusals: tuple[str, ...]
    modes: tuple[str, ...]


def of_seed(seed: int, without: frozenset[str] = frozenset(), *, smooth: bool = False) -> Program:
    """The program of a seed; every eighth, or each one if asked for, is one to differentiate."""
    return program(seed, without, smooth=smooth or seed % SMOOTH_EVERY == SMOOTH_EVERY - 1)


def modes_of(tested: Program, modes: Iterable[str] = MODES) -> tuple[str, ...]:
    """Those of the modes that are the turn of a program."""
    skipped = {"grad"} if not tested.smooth else set()
    skipped |= {"vmap"} if tested.seed % VMAP_EVERY else set()
    return tuple(mode for mode in modes if mode not in skipped)


def check(tested: Program, modes: Iterable[str], rows: Sequence[Row] | None = None) -> Verdict:
    """Run a program in these modes, on these arguments or on its own. The first mode in which it differs is the last."""
    comparison = Comparison(tested, arguments(tested) if rows is None else rows)
    refusals, done = [], []
    for mode in modes:
        done.append(mode)
        found = next(filter(None, getattr(comparison, mode)()), None)
        if found is not None and found.kind not in REFUSALS:
            return Verdict((found,), tuple(refusals), tuple(done))
        refusals += [found.kind] if found is not None else []
    return Verdict((), tuple(refusals), tuple(done))


# ------------------------------------------------------------------ arguments
def arguments(tested: Program) -> list[Row]:
    """Arguments of `run`, the same in every run of a program."""
    draw = random.Random(f"rows of {tested.seed}")
    parameters = SMOOTH_PARAMETERS if tested.smooth else PARAMETERS + PARTS
    return [{name: VALUES[kind](draw) for name, kind in parameters} for _ in range(ROWS)]


VALUES: dict[str, Callable[[random.Random], Any]] = {
    "int": lambda draw: draw.choice((draw.randrange(31), draw.randrange(6))),
    "float": lambda draw: draw.randrange(64) / 4,
    "bool": lambda draw: draw.random() < 0.5,
    "ints": lambda draw: np.array([draw.randrange(31) for _ in range(3)]),
    "floats": lambda draw: np.array([draw.randrange(64) / 4 for _ in range(3)]),
    "real": lambda draw: draw.uniform(0.1, 2.0),
    "reals": lambda draw: np.array([draw.uniform(0.1, 2.0) for _ in range(3)]),
}


def arrays(row: Row) -> list[Any]:
    return [jnp.asarray(value) for value in row.values()]


def copied(row: Row) -> list[Any]:
    return copy.deepcopy(list(row.values()))


# ------------------------------------------------------------------ modes
def load(text: str) -> dict[str, Any]:
    """The globals of a program. Its source is where `inspect` and tracebacks look for it."""
    filename = f"<program {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, filename, "exec"), names)
    return names


class Comparison:
    """One program, and what plain Python does with its arguments. Each mode gives a Mismatch or None for each row."""

    def __init__(self, tested: Program, rows: Sequence[Row]) -> None:
        self.program = tested
        self.names = load(tested.text)
        self.rows = [row for row in rows if not tested.smooth or self.is_well_conditioned(row)]
        self.want = [self.reference(copied(row)) for row in self.rows]
        unfit = [want.error for want in self.want if want.error is not None and not isinstance(want.error, EXPECTED)]
        if unfit:
            raise Unfit(repr(unfit[0])) from unfit[0]

    def reference(self, values: Sequence[Any], function: str = "run") -> Outcome:
        return self.with_numpy(self.names[function], values)

    def with_numpy(self, function: Function, values: Sequence[Any]) -> Outcome:
        """Call it where `jnp` is NumPy."""
        self.names["jnp"] = np
        outcome = observe(function, values)
        self.names["jnp"] = jnp
        return outcome

    def is_well_conditioned(self, row: Row) -> bool:
        """Does plain Python's value survive a change in the last digits? If not, no order of roundings is right.

        Nor is there one where a power is beyond the floats, or its cosine asked for: an error for Python's floats only.
        """
        error = self.reference(copied(row)).error
        if isinstance(error, OverflowError) or str(error) == "math domain error":
            return False
        value, changed = (self.value_along(row, step) for step in (0.0, ROUNDING))
        return not np.isfinite(value) or smooth_equal(np.asarray(changed), np.asarray(value))

    def plain(self) -> Iterator[Mismatch | None]:
        """Converted, on plain values: the same in every respect."""
        converted = ag.autograph(self.names["run"])
        for row, want in zip(self.rows, self.want, strict=True):
            yield compare("plain", self.with_numpy(converted, copied(row)), want, row, exact=True, contents=True)

    def eager(self) -> Iterator[Mismatch | None]:
        """Converted, on JAX arrays: `program` itself, so that the caller's object shows too."""
        converted = ag.autograph(self.names["program"])
        for row in self.rows[:EAGER_ROWS]:
            want = self.reference(self.direct(copied(row)), "program")
            got = observe(converted, self.direct(arrays(row)))
            # The object and the log. A JAX array of the caller's cannot change; converted callers are told (AliasError).
            want.arguments, got.arguments = want.arguments[-2:], got.arguments[-2:]
            yield compare("eager", got, want, row, exact=False, contents=not self.program.smooth)

    def direct(self, values: list[Any]) -> list[Any]:
        """Arguments of `program`."""
        count = len(PARAMETERS)
        return values if self.program.smooth else [*values[:count], Box(*values[count:])]

    def jit(self) -> Iterator[Mismatch | None]:
        """Converted, compiled once for all rows."""
        compiled = ag.jit(self.names["run"])
        for row, want in zip(self.rows, self.want, strict=True):
            got = observe(compiled, arrays(row))
            yield compare("jit", got, want, row)

    def port(self) -> Iterator[Mismatch | None]:
        """As NumPy code, ported and compiled once for all rows."""
        compiled = ag.jit(ag.port(self.names["run"]))
        for row, want in zip(self.rows, self.want, strict=True):
            got = self.with_numpy(compiled, arrays(row))
            yield compare("port", got, want, row)

    def vmap(self) -> Iterator[Mismatch | None]:
        """Converted, all rows at once. Those that raise are left out: an exception of one lane is one of all."""
        lanes = [(row, want) for row, want in zip(self.rows, self.want, strict=True) if want.error is None]
        if len(lanes) < 2:
            return
        columns = [jnp.stack(column) for column in zip(*(arrays(row) for row, _ in lanes), strict=True)]
        got = observe(jax.jit(jax.vmap(ag.autograph(self.names["run"]))), columns)
        for lane, (row, want) in enumerate(lanes):
            value = jax.tree.map(lambda leaf, lane=lane: leaf[lane], got.value)
            yield compare("vmap", Outcome(value, got.error), want, row)

    def grad(self) -> Iterator[Mismatch | None]:
        """Converted, differentiated in every mode."""
        run = self.names["run"]
        compiled = gradients.derivatives(run, self.program.seed)
        for number, row in enumerate(self.rows[:SLOPE_ROWS]):
            along = functools.partial(self.value_along, row)
            yield gradients.check(observe(compiled, [arrays(row)]), along, row)
            if number == 0:
                yield gradients.check(observe(gradients.eager, [run, arrays(row)]), along, row)

    def value_along(self, row: Row, step: float) -> Any:
        """Plain Python's value, with the floats changed by a step in the direction; NaN where it raises or overflows."""
        changed = functools.partial(gradients.moved, gradients.finite(self.names["run"]))
        outcome = self.with_numpy(changed, [copied(row), step * gradients.DIRECTION])
        return np.nan if outcome.error is not None else outcome.value
