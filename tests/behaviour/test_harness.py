"""The harness fails when it should: each planted bug is caught by the way meant for it."""

# ruff: noqa: B023  the planted bugs close over nothing that changes

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax.errors import AutographError

from . import harness
from .harness import NotYet, Row, Table, WrongValue

table = Table(__name__)
row = table.row

Function = Callable[..., Any]


def add_one(x):
    print("adding", x)
    return x + 1.0


row(add_one, [2.0], [3.0], grad=True, batch=True)


def write_first(v):
    v[0] = v[0] * 2
    return v[1]


row(write_first, [np.array([1.0, 2.0])])


def raise_always(x):
    raise KeyError(x)


row(raise_always, plain=[[1.0]])


def branch(x):
    if x > 0:
        x = x * 2
    return x


row(branch, [2.0], [-2.0], staged="cond")


def pick(x):
    return jnp.where(x > 0, x * 2, x)


row(pick, [2.0], [-2.0], staged="cond")


def pair(x):
    return (x, x)


row(pair, [2.0], [3.0], batch=True)


def refused(x):
    return x


row(refused, [2.0], want="error")

ROWS = {row.name: row for row in table.rows}


def identity(function: Function) -> Function:
    return function


def off_by_a_little(function: Function) -> Function:
    return lambda *args: jax.tree.map(lambda leaf: leaf * 1.01, function(*args))


def in_float32(function: Function) -> Function:
    return lambda *args: np.float32(function(*args))


def silent(function: Function) -> Function:
    return lambda x: x + 1.0


def copies_arguments(function: Function) -> Function:
    return lambda v: function(v.copy())


def other_error(function: Function) -> Function:
    def raises(*args: Any) -> None:
        raise IndexError(*args)

    return raises


def same_error_elsewhere(function: Function) -> Function:
    def raises(*args: Any) -> None:
        raise KeyError(*args)

    return raises


def as_a_list(function: Function) -> Function:
    return lambda *args: list(function(*args))


def one_branch_only(function: Function) -> Function:
    return lambda x: x * 2


def as_int(function: Function) -> Function:
    return lambda *args: jnp.asarray(function(*args)).astype(int)


def no_gradient(function: Function) -> Function:
    return lambda *args: jax.lax.stop_gradient(function(*args))


def refuses_without_a_line(function: Function) -> Function:
    def raises(*args: Any) -> None:
        raise AutographError("this is not possible")

    return raises


PLANTED: list[tuple[Function, str, Function, type[Exception]]] = [
    (harness.plain, "add_one", off_by_a_little, WrongValue),
    (harness.plain, "add_one", in_float32, WrongValue),
    (harness.plain, "add_one", silent, WrongValue),
    (harness.plain, "write_first", copies_arguments, WrongValue),
    (harness.plain, "raise_always", other_error, WrongValue),
    (harness.plain, "raise_always", same_error_elsewhere, WrongValue),
    (harness.plain, "raise_always", silent, WrongValue),
    (harness.plain, "pair", as_a_list, WrongValue),
    (harness.eager, "pair", off_by_a_little, WrongValue),
    (harness.jit, "pair", off_by_a_little, WrongValue),
    (harness.jit, "pair", as_a_list, WrongValue),
    (harness.jit, "add_one", as_int, WrongValue),
    (harness.jit, "branch", identity, jax.errors.TracerBoolConversionError),
    (harness.jit, "branch", one_branch_only, WrongValue),
    (harness.jit, "pick", identity, NotYet),
    (harness.jit, "refused", identity, WrongValue),
    (harness.jit, "refused", refuses_without_a_line, WrongValue),
    (harness.jit, "pair", refuses_without_a_line, AutographError),
    (harness.forward, "add_one", no_gradient, WrongValue),
    (harness.reverse, "add_one", no_gradient, WrongValue),
    (harness.batch, "pair", off_by_a_little, WrongValue),
    (harness.unharmed, "pick", off_by_a_little, WrongValue),
]


@pytest.mark.parametrize(
    ("way", "name", "bug", "error"),
    PLANTED,
    ids=[f"{way.__name__}-{name}-{bug.__name__}" for way, name, bug, _ in PLANTED],
)
def test_planted_bug_is_caught(way: Function, name: str, bug: Function, error: type[Exception]) -> None:
    with pytest.raises(error):
        way(ROWS[name], bug)


@pytest.mark.parametrize("way", [harness.plain, harness.eager, harness.jit, harness.forward, harness.reverse, harness.batch])
def test_no_bug_passes(way: Callable[[Row, Function], None]) -> None:
    way(ROWS["add_one"], identity)


@pytest.mark.parametrize("name", harness.TABLES)
def test_no_row_is_decided_by_rounding(name: str) -> None:
    """Plain Python takes the same turns in float32 as in float64, or a difference under jit would say nothing."""

    def in_float32(leaf: Any) -> Any:
        return np.float32(leaf) if np.asarray(leaf).dtype.kind == "f" else leaf

    for row in harness.load(name).rows:
        for call in row.calls:
            narrow = [v if p in row.static else jax.tree.map(in_float32, v) for p, v in enumerate(call)]
            got, want = (harness.observe(row.numpy_function, arguments) for arguments in (narrow, call))
            assert type(got.error) is type(want.error), row.name
            harness.close(got.value, want.value, f"{row.name}: {call}")


@pytest.mark.parametrize("name", harness.TABLES)
def test_no_slope_is_taken_on_a_kink(name: str) -> None:
    for row in harness.load(name).rows:
        for call in row.calls if row.grad else ():
            harness.difference(row, call)


def test_names_of_rows_are_unique() -> None:
    for name in harness.TABLES:
        names = [row.name for row in harness.load(name).rows]
        assert len(names) == len(set(names)), name


def test_an_open_row_may_raise_but_never_be_wrong() -> None:
    notes: list[tuple[str, object]] = []

    def note(key: str, value: object) -> None:
        notes.append((key, value))

    def lost(row: Row) -> None:
        raise NotYet("printed nothing")

    def wrong(row: Row) -> None:
        raise WrongValue("1.0 is not 2.0")

    later = Row(table, 0, "add_one", add_one, ([2.0],), later="B")
    harness.check(later, lost, note)
    assert notes == [("later", ("test_harness::add_one", "B")), ("open", ("test_harness::add_one", "B"))]
    with pytest.raises(WrongValue):
        harness.check(later, wrong, note)
    with pytest.raises(NotYet):
        harness.check(ROWS["add_one"], functools.partial(lost), note)
