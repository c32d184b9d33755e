"""A program in every way: as plain Python with NumPy, which is right, then converted, and what differs."""

from __future__ import annotations

import copy
import dataclasses
import functools
import itertools
import linecache
import random
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import autograph_jax as ag
from autograph_jax.errors import AutographError
from tests.fuzz.prelude import LOG, Box, Stop
from tests.fuzz.programs import PARAMETERS, PARTS, SMOOTH_PARAMETERS, Program

ROWS = 20
EAGER_ROWS = 2  # on concrete JAX arrays each operation is dispatched by itself, which is slow
STEP = 1e-6
SLOPE_TOLERANCE = 1e-5
_numbers = itertools.count()


@dataclasses.dataclass(frozen=True)
class Mismatch:
    """A way in which a converted program differs from plain Python."""

    mode: str
    kind: str  # "value", "arguments", or the class of the exception
    detail: str
    row: dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What became of a program: mismatches, and the error classes of ours that refused it."""

    mismatches: tuple[Mismatch, ...] = ()
    refusals: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()


class Unfit(Exception):
    """Not a program to compare: plain Python fails in a way that programs of the generator never do."""


@dataclasses.dataclass
class Outcome:
    """All that a caller can see of one call."""

    value: Any = None
    error: BaseException | None = None
    arguments: Any = None


Row = dict[str, Any]
Function = Callable[..., Any]


# ------------------------------------------------------------------ programs
def load(text: str) -> dict[str, Any]:
    """The globals of a program. Its source is where `inspect` and tracebacks look for it."""
    filename = f"<program {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(text, filename, "exec"), names)
    return names


def with_numpy(text: str) -> dict[str, Any]:
    names = load(text)
    names["jnp"] = np
    return names


def rows(program: Program, count: int = ROWS) -> list[Row]:
    """Arguments of `run`, the same for every run of a program."""
    draw = random.Random(f"rows of {program.seed}")
    parameters = SMOOTH_PARAMETERS if program.smooth else PARAMETERS + PARTS
    return [{name: VALUES[kind](draw) for name, kind in parameters} for _ in range(count)]


VALUES: dict[str, Callable[[random.Random], Any]] = {
    "int": lambda draw: draw.choice((draw.randrange(31), draw.randrange(6))),
    "float": lambda draw: draw.randrange(64) / 4,
    "bool": lambda draw: draw.random() < 0.5,
    "ints": lambda draw: np.array([draw.randrange(31) for _ in range(3)]),
    "floats": lambda draw: np.array([draw.randrange(64) / 4 for _ in range(3)]),
    "real": lambda draw: draw.uniform(0.1, 2.0),
    "reals": lambda draw: np.array([draw.uniform(0.1, 2.0) for _ in range(3)]),
}


def observe(function: Function, arguments: Sequence[Any]) -> Outcome:
    """Call, and look at what the caller sees: the value or the exception, the arguments afterwards, the log."""
    with np.errstate(all="ignore"):
        try:
            value = function(*arguments)
            jax.block_until_ready(value)
            jax.effects_barrier()
            return Outcome(value, None, [contents(argument) for argument in arguments] + [LOG.h])
        except Exception as error:
            return Outcome(None, error, [contents(argument) for argument in arguments] + [LOG.h])
        finally:
            LOG.h = 0


def contents(value: Any) -> Any:
    """A copy of what is in a value."""
    return copy.deepcopy(vars(value)) if isinstance(value, Box) else copy.deepcopy(value)


# ------------------------------------------------------------------ comparing
def difference(got: Any, want: Any, *, exact: bool) -> str | None:
    """How two values differ: `exact` also in type, else in structure, shape, kind of number and value."""
    if isinstance(want, tuple | list | dict):
        if type(got) is not type(want) or len(got) != len(want):
            return f"got {shown(got)}, want {shown(want)}"
        keys = want if isinstance(want, dict) else range(len(want))
        found = (difference(got[key], want[key], exact=exact) for key in keys)
        return next((text for text in found if text), None)
    if want is None or isinstance(want, str):
        return None if got is want or got == want else f"got {shown(got)}, want {shown(want)}"
    if exact and type(got) is not type(want):
        return f"got {shown(got)} of {type(got).__name__}, want {shown(want)} of {type(want).__name__}"
    first, second = np.asarray(got), np.asarray(want)
    close = np.array_equal(first, second) or not exact and smooth_equal(first, second)
    if first.dtype.kind != second.dtype.kind or first.shape != second.shape or not close:
        return f"got {shown(got)}, want {shown(want)}"
    return None


def smooth_equal(first: np.ndarray, second: np.ndarray) -> bool:
    """Floats that are multiples of 1/4 are equal or differ by far more; sines may differ in their last digits."""
    return first.dtype.kind == "f" and first.shape == second.shape and np.allclose(first, second, rtol=1e-9, atol=1e-9)


def shown(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(map(shown, value))})"
    return f"{np.asarray(value).tolist()}" if hasattr(value, "dtype") else repr(value)


def compare(mode: str, got: Outcome, want: Outcome, row: Row, *, exact: bool, contents: bool) -> Mismatch | None:
    where = "at " + ", ".join(f"{name}={shown(value)}" for name, value in row.items())
    if got.error is not None or want.error is not None:
        kind, text = error_difference(got.error, want.error, exact=exact)
    elif text := difference(got.value, want.value, exact=exact):
        kind = "value"
    else:
        kind, text = "arguments", difference(got.arguments, want.arguments, exact=exact) if contents else None
    return Mismatch(mode, kind, f"{text} {where}", row) if text else None


def error_difference(got: BaseException | None, want: BaseException | None, *, exact: bool) -> tuple[str, str | None]:
    if got is None or want is None or not isinstance(got, type(want)):
        first = "" if got is None else str(got).split("\n")[0][:300]
        return type(got).__name__ if got is not None else "none raised", f"{type(got).__name__}: {first}; want {want!r}"
    return "value", difference(got.args, want.args, exact=exact) if isinstance(want, Stop) else None


# ------------------------------------------------------------------ modes
class Comparison:
    """One program, its rows, and what plain Python does with them."""

    def __init__(self, program: Program, some: Sequence[Row] | None = None) -> None:
        self.program, self.rows = program, rows(program) if some is None else some
        self.names = load(program.text)
        plain = with_numpy(program.text)
        self.reference = plain["run"]
        self.body = plain["program"]
        self.want = [observe(self.reference, copy.deepcopy(list(row.values()))) for row in self.rows]
        unfit = [w.error for w in self.want if w.error is not None and not isinstance(w.error, EXPECTED)]
        if unfit:
            raise Unfit(repr(unfit[0])) from unfit[0]

    def plain(self) -> Iterator[Mismatch | None]:
        """Converted, on plain values: the same in every respect."""
        converted = ag.autograph(self.reference)
        for row, want in zip(self.rows, self.want, strict=True):
            got = observe(converted, copy.deepcopy(list(row.values())))
            yield compare("plain", got, want, row, exact=True, contents=True)

    def eager(self) -> Iterator[Mismatch | None]:
        """Converted, on JAX arrays: `program` itself, so that the contents of the object show too."""
        converted = ag.autograph(self.names["program"])
        for row in self.rows[:EAGER_ROWS]:
            want = observe(self.body, self.direct(row, copy.deepcopy))
            got = observe(converted, self.direct(row, jnp.asarray))
            want.arguments, got.arguments = want.arguments[-2:], got.arguments[-2:]  # a JAX array of the caller's cannot change
            yield compare("eager", got, want, row, exact=False, contents=got.error is None)

    def direct(self, row: Row, make: Callable[[Any], Any]) -> list[Any]:
        """Arguments of `program`."""
        values = {name: make(value) for name, value in row.items()}
        if self.program.smooth:
            return list(values.values())
        parts = [values.pop(name) for name, _ in PARTS]
        return [*values.values(), Box(*parts)]

    def jit(self) -> Iterator[Mismatch | None]:
        """Converted, compiled once for all rows."""
        compiled = ag.jit(self.names["run"])
        for row, want in zip(self.rows, self.want, strict=True):
            got = observe(compiled, [jnp.asarray(value) for value in row.values()])
            yield compare("jit", got, want, row, exact=False, contents=False)

    def vmap(self) -> Iterator[Mismatch | None]:
        """Converted, all rows at once. Those that raise are left out: an exception of one lane is one of all."""
        lanes = [(row, want) for row, want in zip(self.rows, self.want, strict=True) if want.error is None]
        if len(lanes) < 2:
            return
        columns = [jnp.stack([jnp.asarray(value) for value in column]) for column in zip(*(r.values() for r, _ in lanes), strict=True)]
        got = observe(jax.jit(jax.vmap(ag.autograph(self.names["run"]))), columns)
        for lane, (row, want) in enumerate(lanes):
            value = jax.tree.map(lambda leaf, lane=lane: leaf[lane], got.value)
            yield compare("vmap", Outcome(value, got.error), want, row, exact=False, contents=False)

    def grad(self) -> Iterator[Mismatch | None]:
        """Derivatives along a direction, forwards, and backwards where no loop has an unknown length, against differences."""
        run = ag.autograph(self.names["run"])
        floats = [position for position, (_, kind) in enumerate(SMOOTH_PARAMETERS) if kind.startswith("real")]

        def moved(values: Sequence[Any], step: Any, call: Function) -> Any:
            return call(*(v + step if n in floats else v for n, v in enumerate(values)))

        forward = jax.jit(jax.jacfwd(functools.partial(moved, call=run), argnums=1))
        backward = jax.jit(jax.grad(functools.partial(moved, call=run), argnums=1))
        ways = [("forward", forward), ("backward", backward)]
        for row in self.rows[:5]:
            values = list(row.values())
            slope = self.slope(lambda step, values=values: moved(copy.deepcopy(values), step, self.reference))
            if slope is None:
                continue
            for name, way in list(ways):
                got = observe(way, [[jnp.asarray(v) for v in values], 0.0])
                if is_refused_backwards(got.error):
                    ways.remove((name, way))
                    continue
                yield compare_slopes(name, got, slope, row)

    def slope(self, function: Callable[[float], Any]) -> float | None:
        """The central difference; None where two steps disagree, at a kink or a jump."""
        with np.errstate(all="ignore"):
            first = (function(STEP) - function(-STEP)) / (2 * STEP)
            second = (function(3 * STEP) - function(-2 * STEP)) / (5 * STEP)
        agree = np.isfinite(first) and abs(first - second) <= SLOPE_TOLERANCE * (1 + abs(first))
        return float(first) if agree else None


EXPECTED = (Stop, AssertionError, UnboundLocalError, NameError, KeyError)


def is_refused_backwards(error: BaseException | None) -> bool:
    """JAX itself has no reverse mode through a loop of unknown length."""
    return isinstance(error, ValueError) and "Reverse-mode differentiation does not work" in str(error)


def compare_slopes(name: str, got: Outcome, want: float, row: Row) -> Mismatch | None:
    if got.error is not None:
        return compare(name, got, Outcome(), row, exact=False, contents=False)
    if abs(float(got.value) - want) <= 10 * SLOPE_TOLERANCE * (1 + abs(want)):
        return None
    return Mismatch(name, "slope", f"got {float(got.value)}, central difference {want} at {shown(list(row.values()))}", row)


MODES = ("plain", "eager", "jit", "vmap", "grad")


def check(program: Program, modes: Iterable[str] = MODES, rows: Sequence[Row] | None = None) -> Verdict:
    """Run a program in several modes, on these arguments or on its own."""
    comparison = Comparison(program, rows)
    modes = tuple(mode for mode in modes if mode != "grad" or program.smooth)
    mismatches: list[Mismatch] = []
    refusals: list[str] = []
    for mode in modes:
        for found in getattr(comparison, mode)():
            if found is None:
                continue
            (refusals if found.kind in REFUSALS else mismatches).append(found.kind if found.kind in REFUSALS else found)
            break  # one of each mode is enough
    return Verdict(tuple(mismatches), tuple(refusals), modes)


REFUSALS = frozenset(kind.__name__ for kind in (AutographError, *AutographError.__subclasses__()))
