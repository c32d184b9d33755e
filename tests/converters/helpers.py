"""Rows of the converters' tables: a program, what becomes of it, and calls that both answer alike.

A program is the text of a function. When it runs, it finds these names:

    say(x)          gives x, and notes that it was asked for it
    fail(x)         raises Failure
    Noted(...)      a container with attributes that notes each read, write and deletion
    ctx(x)          a context manager that notes its start and end; `ctx(x, Failure)` keeps that error to itself
"""

import ast
import contextlib
import copy
import itertools
import linecache
import re
import textwrap
import traceback
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import gast
import pytest

from autograph_jax.analysis import analyse, analyse_names
from autograph_jax.converters import (
    attempts,
    blocks,
    collecting,
    comprehension_names,
    comprehensions,
    convert_tree,
    debugged,
    expressions,
    generators,
    growing,
    list_operands,
    live_loops,
    masks,
    matches,
    open_lengths,
    plain,
    powers,
    products,
    raising,
    stores,
    truths,
    unpacking,
    views,
    yielding,
)
from autograph_jax.runtime.convert import convert_function
from autograph_jax.syntax import emit
from autograph_jax.syntax.names import Names

PASSES = tuple(
    """plain comprehension_names growing matches yielding attempts live_loops unpacking masks views stores generators blocks
    debugged open_lengths comprehensions collecting list_operands products powers truths raising expressions""".split()
)
_numbers = itertools.count()


class Row(NamedTuple):
    """A program, its converted text (None: any will do), and argument lists to call both with."""

    before: str
    after: str | None
    calls: Sequence[tuple[Any, ...]]


def parametrize(rows: dict[str, Row]):
    return pytest.mark.parametrize("row", rows.values(), ids=rows.keys())


def check_text(row: Row) -> None:
    """The converted text of a row's program is the expected one, as a tree."""
    text = converted_text(row.before)
    if row.after is not None:
        assert canonical(text) == canonical(row.after)


def converted_text(program: str, class_name: str | None = None) -> str:
    converted = convert_tree(gast.parse(textwrap.dedent(program)).body[-1], class_name)
    return emit.to_text(converted.tree)


def check_calls(row: Row) -> None:
    """Converted, a row's program does what it did: value, exception and its place, order of evaluation, arguments."""
    for arguments in row.calls:
        assert outcome(row.before, arguments, convert_function) == outcome(row.before, arguments, lambda f: f)


def canonical(text: str) -> str:
    return ast.unparse(ast.parse(textwrap.dedent(text)))


def through(last: str, text: str, class_name: str | None = None) -> gast.AST:
    """The last function of a text, after the passes up to a named one."""
    tree: gast.AST = gast.parse(textwrap.dedent(text)).body[-1]
    names = Names(tree)
    for name in PASSES[: PASSES.index(last) + 1]:
        match name:
            case "plain":
                tree = plain.convert(tree, class_name)
            case "comprehension_names" if name == last:  # from Python 3.12 on
                tree = comprehension_names.convert(tree, names)
            case "growing" | "products" if name == last:  # of ported code alone
                tree = (growing if name == "growing" else products).convert(tree)
            case "matches":
                tree = matches.convert(tree, names)
            case "yielding":
                tree = yielding.convert(tree, names)
            case "attempts":
                tree = attempts.convert(tree, names)
            case "live_loops":
                live_loops.convert(tree, analyse_names(tree))
            case "unpacking":
                tree = unpacking.convert(tree, analyse_names(tree), names)
            case "views":
                tree = views.convert(tree, analyse_names(tree))
            case "masks":
                tree = masks.convert(tree)
            case "stores":
                tree = stores.convert(tree, analyse_names(tree), names, ported=last in ("list_operands", "products"))
            case "generators":
                tree = generators.convert(tree, names)
            case "blocks":
                facts = analyse(tree)
                tree = blocks.convert(tree, facts, names, lambdas=last != "debugged")
            case "debugged" if name == last:
                tree = debugged.convert(tree, names)
            case "open_lengths":
                tree = open_lengths.convert(tree, names, ported=name == last)
            case "comprehensions":
                tree = comprehensions.convert(tree)
            case "collecting":
                tree = collecting.convert(tree, names)
            case "list_operands" if name == last:  # of ported code alone
                tree = list_operands.convert(tree, list_operands.names_of_lists(tree))
            case "powers":
                tree = powers.convert(tree)
            case "truths":
                tree = truths.convert(tree)
            case "raising":
                tree = raising.convert(tree, names)
            case "expressions":
                tree = expressions.convert(tree, facts, names)
    return tree


# ------------------------------------------------------------------ running programs


class Failure(Exception):
    """What programs raise, and catch."""


class Noted:
    """A container with attributes; it notes what is done with it."""

    def __init__(self, log: list[str], name: str, values: dict[Any, Any]) -> None:
        vars(self).update(_log=log, _name=name, _values=values)

    def __getitem__(self, key: Any) -> Any:
        self._log.append(f"{self._name}[{key!r}]")
        return self._values[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self._log.append(f"{self._name}[{key!r}] = {value!r}")
        self._values[key] = value

    def __delitem__(self, key: Any) -> None:
        self._log.append(f"del {self._name}[{key!r}]")
        del self._values[key]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._log.append(f"{self._name}.{name}")
        return self._values[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self._log.append(f"{self._name}.{name} = {value!r}")
        self._values[name] = value

    def __delattr__(self, name: str) -> None:
        self._log.append(f"del {self._name}.{name}")
        del self._values[name]

    def __repr__(self) -> str:
        return self._name


class Outcome(NamedTuple):
    """All that can be seen of a call."""

    result: str
    error: str
    line: int | None  # the last line of the program in the traceback
    arguments: str
    log: list[str]


def outcome(program: str, arguments: tuple[Any, ...], convert: Callable[..., Any]) -> Outcome:
    arguments, log = copy.deepcopy(arguments), []
    function = load(program, log)
    converted = convert(function)
    result, error, line = None, "", None
    try:
        result = converted(*arguments)
    except Exception as raised:
        error = "".join(traceback.format_exception_only(raised))
        filename = function.__code__.co_filename
        line = [f.lineno for f in traceback.extract_tb(raised.__traceback__) if f.filename == filename][-1]
    return Outcome(shown(result), error, line, shown(arguments), log)


def shown(value: Any) -> str:
    """The value's repr without addresses."""
    return re.sub(r" at 0x\w+", "", repr(value))


def load(program: str, log: list[str] | None = None) -> types.FunctionType:
    """The last function that a program defines, in a module of its own whose text can be found."""
    text = textwrap.dedent(program).lstrip("\n")
    filename = f"<row {next(_numbers)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"__name__": "program", **helpers(log if log is not None else [])}
    exec(compile(text, filename, "exec"), namespace)
    return [v for v in namespace.values() if isinstance(v, types.FunctionType) and v.__code__.co_filename == filename][-1]


def helpers(log: list[str]) -> dict[str, Any]:
    def say(value: Any) -> Any:
        log.append(shown(value))
        return value

    def fail(*_: Any) -> Any:
        raise Failure("asked to")

    @contextlib.contextmanager
    def ctx(value: Any = None, *kept: type[Exception]) -> Iterator[Any]:
        log.append(f"enter {value!r}")
        try:
            with contextlib.suppress(*kept):
                yield value
        finally:
            log.append(f"leave {value!r}")

    def noted(name: str = "o", **values: Any) -> Noted:
        return Noted(log, name, {**values, 0: 10, 1: 11, 2: 12})

    return dict(say=say, fail=fail, ctx=ctx, Noted=noted, Failure=Failure)
