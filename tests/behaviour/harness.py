"""Run a user's function in plain Python with NumPy, then in every other way, and compare.

A test file holds a table of rows, each beside its function:

    table = Table(__name__)
    row = table.row


    def relu(x):
        if x < 0:
            x = 0.0
        return x


    row(relu, [-3.0], [3.0], staged="cond", grad=True, batch=True)


    @table.each_way
    def test_conditionals(row, way, record_property):
        check(row, way, record_property)
"""

from __future__ import annotations

import contextlib
import copy
import functools
import importlib
import importlib.util
import inspect
import io
import re
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax import autograph
from autograph_jax.errors import AutographError

Call = Sequence[Any]
Convert = Callable[[Callable[..., Any]], Callable[..., Any]]
Want = Literal["value", "error", "either"]

TOLERANCE = 1e-4  # float32 under jit against float64 in the reference
GRADIENT_TOLERANCE = 2e-2
STEP = 1e-6  # of the central differences, taken in float64


class WrongValue(AssertionError):
    """The answer differs from plain Python. No row may ever give this."""


class NotYet(Exception):
    """The answer is right, but it was not staged, or an effect (print, raise) did not happen."""


# ------------------------------------------------------------------ rows
@dataclass(frozen=True, eq=False)
class Row:
    """A user's function, arguments to try, and what must be true of it.

    calls: argument lists that every way tries (the other branch, zero trips, ...).
    plain: further argument lists for plain Python only, such as those for which it raises.
    staged: kinds of control flow that the jaxpr must contain, of {"cond", "loop"}.
    static: positions of arguments that stay Python values.
    grad, batch: also differentiate; also vmap over the calls stacked.
    want: "value" is Python's result, "error" a named error with the user's line, "either" one of both.
    later: the issue that makes this row work; until then it may raise, but never be wrong.
    prints: what is printed is part of the answer.
    own_jit: compiled by `ag.jit`, since it raises or gives what is no array.
    """

    table: Table
    index: int
    name: str
    function: Callable[..., Any]
    calls: tuple[Call, ...]
    plain: tuple[Call, ...] = ()
    staged: frozenset[str] = frozenset()
    static: tuple[int, ...] = ()
    grad: bool = False
    batch: bool = False
    want: Want = "value"
    later: str = ""
    prints: bool = False
    own_jit: bool = False

    @property
    def numpy_function(self) -> Callable[..., Any]:
        """The same function, where `jnp` is NumPy: the reference, never converted."""
        return self.table.with_numpy.rows[self.index].function

    @property
    def numpy_function_to_convert(self) -> Callable[..., Any]:
        """The same once more: converting it converts the file's classes in place."""
        return self.table.with_numpy_to_convert.rows[self.index].function


class Table:
    """The rows of one test file."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.rows: list[Row] = []
        self.is_tested = False

    def row(
        self,
        function: Callable[..., Any],
        *calls: Call,
        name: str = "",
        plain: Sequence[Call] = (),
        staged: str = "",
        static: Sequence[int] = (),
        grad: bool = False,
        batch: bool = False,
        want: Want = "value",
        later: str = "",
        prints: bool = False,
        own_jit: bool = False,
    ) -> None:
        """Add a row; the fields are those of Row."""
        assert not self.is_tested, f"{function.__name__} comes after the test, which would not run it"
        self.rows.append(
            Row(
                self,
                len(self.rows),
                name or function.__name__,
                function,
                calls,
                tuple(plain),
                frozenset(staged.split()),
                tuple(static),
                grad,
                batch,
                want,
                later,
                prints,
                own_jit,
            )
        )

    @property
    def with_numpy(self) -> Table:
        """The table of the file with NumPy: its rows are the reference."""
        return self.with_numpy_globals["table"]

    @property
    def with_numpy_to_convert(self) -> Table:
        return self._read_again_to_convert["table"]

    @functools.cached_property
    def with_numpy_globals(self) -> dict[str, Any]:
        """The same file read a second time, with NumPy in the place of jax.numpy.

        Helpers, classes and globals of the file are separate there as well, so that nothing leaks between the runs.
        """
        return self._read("with_numpy")

    @functools.cached_property
    def _read_again_to_convert(self) -> dict[str, Any]:
        return self._read("with_numpy_to_convert")

    def _read(self, name: str) -> dict[str, Any]:
        path = sys.modules[self.module].__file__
        spec = importlib.util.spec_from_file_location(f"{self.module}_{name}", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
        module.__dict__["jnp"] = np
        return module.__dict__

    def each_way(self, test: Callable[..., None]) -> Callable[..., None]:
        """Parametrize a test by the rows and the ways to run each."""
        self.is_tested = True
        cases = [pytest.param(row, way, id=f"{row.name}-{way.__name__}") for row in self.rows for way in ways(row)]
        return pytest.mark.parametrize(("row", "way"), cases)(test)


TABLES = (
    "test_conditionals",
    "test_returns",
    "test_loops",
    "test_exits",
    "test_carries",
    "test_subscripts",
    "test_functions",
    "test_classes",
    "test_builtins",
    "test_statements",
    "test_lists",
    "test_growing_lists",
    "test_aliases",
    "test_transforms",
    "test_found",
    "test_matches",
    "test_choices",
    "test_walrus",
)


def load(name: str) -> Table:
    """The table of one of the TABLES."""
    return importlib.import_module(f".{name}", __package__).table


def ways(row: Row) -> Iterator[Callable[[Row], None]]:
    """The ways in which a row is run."""
    yield plain
    if row.calls:
        yield from (eager, jit)
    if row.grad:
        yield from (forward, reverse)
    if row.batch:
        yield batch


def check(row: Row, way: Callable[[Row], None], record_property: Callable[[str, object], None]) -> None:
    """Run a row one way. What belongs to a later issue may raise, and is counted in the summary."""
    where = f"{row.table.module.rpartition('.')[2]}::{row.name}"
    if row.later:
        record_property("later", (where, row.later))
    try:
        way(row)
    except WrongValue:
        raise
    except Exception as error:
        if row.want != "value" and isinstance(error, AutographError):
            return shows_user_line(row, error)
        if not row.later:
            raise
        record_property("open", (where, row.later))


# ------------------------------------------------------------------ ways
def plain(row: Row, convert: Convert = autograph) -> None:
    """Converted, on plain Python and NumPy values: exactly what the function did before."""
    converted = convert(row.numpy_function_to_convert)
    for call in (*row.calls, *row.plain):
        want, got = observe(row.numpy_function, call), observe(converted, call)
        if got.error and not want.error:
            raise got.error
        if type(got.error) is not type(want.error):
            raise WrongValue(f"{call}: Python raises {want.error!r}, converted {got.error!r}")
        if (got_line := last_line(row, got)) != (want_line := last_line(row, want)):
            raise WrongValue(f"{call}: {want.error!r} on line {got_line}, in Python on line {want_line}")
        same(got.value, want.value, f"{call}")
        same(got.arguments, want.arguments, f"arguments after {call}")
        same(got.printed, want.printed, f"printed by {call}")


def eager(row: Row, convert: Convert = autograph) -> None:
    """Converted, on JAX arrays without jit."""
    for call in row.calls:
        compare(row, convert(row.function), call)


def jit(row: Row, convert: Convert = autograph) -> None:
    """Converted, under jit: one compiled function for all calls, with control flow in the jaxpr."""
    compiled: Any = (ag.jit if row.own_jit else jax.jit)(convert(row.function), static_argnums=row.static or None)
    accepted = [compare(row, compiled, call) for call in row.calls]
    if row.want == "error" and any(accepted):
        raise WrongValue(f"{row.name}: wanted an error, got a value")
    if not all(accepted):
        return
    compiled.trace(*copy.deepcopy(row.calls[0]))  # Python numbers are weakly typed, and must stage as well
    found = kinds(row, compiled)
    if not row.staged <= found:
        raise NotYet(f"the jaxpr has {sorted(found)}, wanted {sorted(row.staged)}")


def forward(row: Row, convert: Convert = autograph) -> None:
    """jax.jvp under jit against central differences of plain Python."""
    scalar = functools.partial(objective, convert(row.function))

    def slope(point: Point) -> jax.Array:
        return jax.jvp(lambda floats: scalar(point.moved(floats)), (point.floats,), (point.direction,))[1]

    compiled = jax.jit(slope)
    for call in row.calls:
        compare_slopes(call, compiled(Point.of(row, call)), difference(row, call))


def reverse(row: Row, convert: Convert = autograph) -> None:
    """jax.grad, eager and under jit, against central differences of plain Python."""
    scalar = functools.partial(objective, convert(row.function))

    def slope(point: Point) -> jax.Array:
        gradient = jax.grad(lambda floats: scalar(point.moved(floats)))(point.floats)
        return sum((jnp.sum(g * d) for g, d in zip(gradient, point.direction, strict=True)), start=jnp.zeros(()))

    compare_slopes(row.calls[0], slope(Point.of(row, row.calls[0])), difference(row, row.calls[0]))
    compiled = jax.jit(slope)
    for call in row.calls:
        compare_slopes(call, compiled(Point.of(row, call)), difference(row, call))


def batch(row: Row, convert: Convert = autograph) -> None:
    """jax.vmap over the calls stacked, against a loop over them."""
    calls = [call for call in row.calls if signature(row, call) == signature(row, row.calls[0])]
    assert len(calls) > 1, "a batch needs two calls with the same shapes and static arguments"
    lanes = [observe(row.numpy_function, call) for call in calls]
    want = jax.tree.map(lambda *values: np.stack(values), *[lane.value for lane in lanes])
    in_axes = [None if position in row.static else 0 for position in range(len(calls[0]))]
    mapped = jax.vmap(convert(row.function), in_axes=in_axes)
    stacked = [
        values[0] if axis is None else jax.tree.map(lambda *lane: jnp.stack([jnp.asarray(v) for v in lane]), *values)
        for axis, values in zip(in_axes, zip(*calls, strict=True), strict=True)
    ]
    close(jax.jit(mapped, static_argnums=row.static)(*stacked), want, f"batch of {calls}")


def unharmed(row: Row, convert: Convert = autograph) -> bool:
    """Whether plain jax.jit accepts the row; converted, it must then give the same arrays."""
    before = observe(jax.jit(row.function, static_argnums=row.static), as_arrays(row, row.calls[0]))
    if before.error or not agrees(before.value, observe(row.numpy_function, row.calls[0]).value):
        return False
    after = observe(jax.jit(convert(row.function), static_argnums=row.static), as_arrays(row, row.calls[0]))
    if after.error:
        raise after.error
    same(after.value, before.value, f"{row.name}: accepted by plain jax.jit")
    return True


# ------------------------------------------------------------------ running and comparing
@dataclass
class Outcome:
    """All that a caller can see of one call."""

    value: Any
    error: Exception | None
    printed: str
    arguments: Call


def observe(function: Callable[..., Any], call: Call) -> Outcome:
    """Call with a copy of the arguments."""
    arguments, value, error = copy.deepcopy(call), None, None
    with contextlib.redirect_stdout(io.StringIO()) as printed, np.errstate(all="ignore"):
        try:
            value = function(*arguments)
            jax.block_until_ready(value)
            jax.effects_barrier()
        except Exception as raised:
            error = raised
    return Outcome(value, error, printed.getvalue(), arguments)


def compare(row: Row, function: Callable[..., Any], call: Call) -> bool:
    """Compare a call on JAX values with plain Python; False if it was refused, and might be."""
    want = observe(row.numpy_function, call)
    got = observe(function, as_arrays(row, call))
    if isinstance(got.error, AutographError) and row.want != "value":
        shows_user_line(row, got.error)
        return False
    if got.error and not (want.error and isinstance(got.error, type(want.error))):
        raise got.error
    if want.error and not got.error:
        raise NotYet(f"{call}: Python raises {want.error!r}, got {got.value}")
    if not want.error:
        close(got.value, want.value, f"{call}")
    if row.prints and numbers(got.printed) != numbers(want.printed):
        raise NotYet(f"{call}: printed {got.printed!r}, Python prints {want.printed!r}")
    return True


def same(got: Any, want: Any, where: str) -> None:
    """Equal in type and value, NaN equal to NaN. Classes of the two readings of a file are equal by name."""
    if type(got).__qualname__ != type(want).__qualname__:
        raise WrongValue(f"{where}: got {got!r}, want {want!r}")
    if isinstance(want, dict):
        same(list(got), list(want), f"keys of {where}")
        got, want = list(got.values()), list(want.values())
    if isinstance(want, tuple | list):
        same(len(got), len(want), f"length of {where}")
        for position, (g, w) in enumerate(zip(got, want, strict=True)):
            same(g, w, f"{where}[{position}]")
    elif isinstance(want, np.ndarray | np.generic | jax.Array):
        if got.dtype != want.dtype or got.shape != want.shape or not np.array_equal(got, want, **nan_equal(want)):
            raise WrongValue(f"{where}: got {got!r}, want {want!r}")
    elif hasattr(want, "__dict__") and not callable(want):
        same(vars(got), vars(want), where)
    elif got != want and not (want != want and got != got):
        raise WrongValue(f"{where}: got {got!r}, want {want!r}")


def close(got: Any, want: Any, where: str) -> None:
    """The same structure, shapes and, within float32, values. An int may have become a float in a join."""
    if isinstance(want, tuple | list | dict):
        if type(got).__qualname__ != type(want).__qualname__ or len(got) != len(want):
            raise WrongValue(f"{where}: got {got!r}, want {want!r}")
        for key in want if isinstance(want, dict) else range(len(want)):
            close(got[key], want[key], f"{where}[{key!r}]")
    elif want is None or isinstance(want, str):
        if got is not want and got != want:
            raise WrongValue(f"{where}: got {got!r}, want {want!r}")
    elif np.asarray(got).dtype == object:
        raise NotYet(f"{where}: got {got!r}, which is no value of a user")
    else:
        close_arrays(np.asarray(got), np.asarray(want), where)


def close_arrays(got: np.ndarray, want: np.ndarray, where: str) -> None:
    message = f"{where}: got {got.dtype}{got.shape} {got}, want {want.dtype}{want.shape} {want}"
    if got.shape != want.shape or got.dtype.kind not in {"b": "b", "i": "iuf", "u": "iuf", "f": "f"}[want.dtype.kind]:
        raise WrongValue(message)
    if not np.allclose(got.astype(float), want.astype(float), rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True):
        raise WrongValue(message)


def agrees(got: Any, want: Any) -> bool:
    try:
        close(got, want, "")
    except WrongValue:
        return False
    return True


def nan_equal(array: Any) -> dict[str, bool]:
    return {"equal_nan": True} if array.dtype.kind == "f" else {}


def numbers(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"(?<![\w.])-?\d+(?:\.\d+)?(?!\w)", text)]


# ------------------------------------------------------------------ arguments
def as_arrays(row: Row, call: Call) -> list[Any]:
    """The arguments that are not static, as JAX arrays. They are strongly typed, as Python scalars are not."""

    def array(value: Any) -> jax.Array:
        return jnp.asarray(np.asarray(value))

    return [value if position in row.static else jax.tree.map(array, value) for position, value in enumerate(call)]


def traced(row: Row, call: Call) -> list[Any]:
    return [value for position, value in enumerate(call) if position not in row.static]


def signature(row: Row, call: Call) -> Any:
    """What decides whether two calls can be stacked."""
    leaves, structure = jax.tree.flatten(traced(row, call))
    static = repr([call[position] for position in row.static])
    return structure, static, [(np.shape(leaf), np.asarray(leaf).dtype.kind) for leaf in leaves]


# ------------------------------------------------------------------ jaxprs
KINDS = {"cond": "cond", "while": "loop", "scan": "loop"}


def primitives(jaxpr: Any) -> Iterator[str]:
    """Names of all primitives in a jaxpr and the jaxprs within it."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for parameter in jax.tree.leaves(list(equation.params.values()), is_leaf=lambda v: hasattr(v, "eqns")):
            inner = getattr(parameter, "jaxpr", parameter)
            if hasattr(inner, "eqns"):
                yield from primitives(inner)


def kinds(row: Row, compiled: Any) -> set[str]:
    jaxpr = compiled.trace(*as_arrays(row, copy.deepcopy(row.calls[0]))).jaxpr
    return {KINDS[name] for name in primitives(jaxpr) if name in KINDS}


# ------------------------------------------------------------------ derivatives
@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=["floats", "direction", "others"],
    meta_fields=["layout", "structure", "static"],
)
@dataclass
class Point:
    """A call split into the numbers to differentiate by, the other arrays, and what is static."""

    floats: list[Any]
    direction: list[Any]
    others: list[Any]
    layout: tuple[bool, ...] = field(default=())
    structure: Any = None
    static: tuple[tuple[int, Any], ...] = ()

    @staticmethod
    def of(row: Row, call: Call) -> Point:
        leaves, structure = jax.tree.flatten(copy.deepcopy(traced(row, call)))
        layout = tuple(np.asarray(leaf).dtype.kind == "f" for leaf in leaves)
        floats = [np.asarray(leaf) for leaf, is_float in zip(leaves, layout, strict=True) if is_float]
        others = [leaf for leaf, is_float in zip(leaves, layout, strict=True) if not is_float]
        direction = [1.0 + 0.3 * np.arange(value.size).reshape(value.shape) for value in floats]
        return Point(floats, direction, others, layout, structure, tuple((p, call[p]) for p in row.static))

    def moved(self, floats: Sequence[Any]) -> list[Any]:
        """The argument list, with other floats."""
        floating, other = iter(floats), iter(self.others)
        leaves = [next(floating) if is_float else next(other) for is_float in self.layout]
        arguments = jax.tree.unflatten(self.structure, leaves)
        for position, value in self.static:
            arguments.insert(position, value)
        return arguments


def objective(function: Callable[..., Any], arguments: Call) -> Any:
    """All numbers that a function returns, weighted and added."""
    leaves = jax.tree.leaves(function(*arguments))
    return sum((weight * (jnp.sum(leaf) * 1.0) for weight, leaf in enumerate(leaves, 1)), start=jnp.zeros(()))


def difference(row: Row, call: Call) -> float:
    """Central difference of the objective along the direction, in plain Python and float64."""

    def value(step: float) -> float:
        point = Point.of(row, call)
        moved = [v + step * d for v, d in zip(point.floats, point.direction, strict=True)]
        moved = [v if v.shape else float(v) for v in moved]
        leaves = jax.tree.leaves(row.numpy_function(*point.moved(moved)))
        return float(sum(weight * np.sum(np.asarray(leaf, float)) for weight, leaf in enumerate(leaves, 1)))

    slope, right = (value(STEP) - value(-STEP)) / (2 * STEP), (value(3 * STEP) - value(0.0)) / (3 * STEP)
    if not np.allclose(slope, right, rtol=GRADIENT_TOLERANCE, atol=GRADIENT_TOLERANCE):
        raise ValueError(f"{row.name}{call} lies on a kink: the slopes are {slope} and {right}. Move the point.")
    return slope


def compare_slopes(call: Call, got: Any, want: float) -> None:
    if not np.allclose(got, want, rtol=GRADIENT_TOLERANCE, atol=GRADIENT_TOLERANCE):
        raise WrongValue(f"{call}: slope {got}, central difference {want}")


# ------------------------------------------------------------------ errors
def last_line(row: Row, outcome: Outcome) -> int | None:
    """The line of the user's file on which an error was raised."""
    frames = traceback.extract_tb(outcome.error.__traceback__ if outcome.error else None)
    lines = [frame.lineno for frame in frames if frame.filename == sys.modules[row.table.module].__file__]
    return lines[-1] if lines else None


def shows_user_line(row: Row, error: Exception) -> None:
    """The message names the user's file, and a line of the function or of a helper that it names."""
    text = f"{error}\n" + "\n".join(getattr(error, "__notes__", []))
    module = sys.modules[row.table.module]
    named = {int(line) for line in re.findall(re.escape(str(module.__file__).rpartition("/")[2]) + r"\D{1,9}(\d+)", text)}
    user_code = [inspect.unwrap(row.function), *(vars(module).get(n) for n in row.function.__code__.co_names)]
    captured = (cell.cell_contents for cell in row.function.__closure__ or ())
    user_code += [part for part in captured if inspect.isfunction(part)]
    lines: set[int] = set()
    for part in user_code:
        if inspect.isfunction(part) or inspect.isclass(part):
            source, first = inspect.getsourcelines(part)
            lines |= set(range(first, first + len(source)))
    if not named & lines:
        raise WrongValue(f"the error shows no line of the user's code: {text}")
