"""The variables that decide whether a loop goes on: those its test reads, those they are computed from, and so on.

while err > tol:            err, tol, and what err is computed from: new, x, a
    new = 0.5 * (x + a / x)
    err = abs(new - x)
    steps.append(new)       not steps
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_jax.analysis.activity import reads, writes
from autograph_jax.syntax.walk import walk


def deciding_names(loop: gast.While) -> frozenset[str]:
    """Every variable that may decide how often a while loop turns, through its test or an exit from its body."""
    steps = list(_steps(loop.body, frozenset()))
    names = reads(loop.test) | {n for statement in _exits(loop.body) for n in statement}
    steps.append((writes(loop.test), reads(loop.test)))
    while True:
        more = frozenset(n for targets, sources in steps if targets & names for n in sources)
        if more <= names:
            return frozenset(names)
        names |= more


def _steps(statements: list[gast.stmt], control: frozenset[str]) -> Iterator[tuple[frozenset[str], frozenset[str]]]:
    """What each simple statement may change, and the variables that decide what it becomes."""
    for statement in statements:
        header = _header_reads(statement)
        inner = [child for suite in _suites(statement) for child in suite]
        if inner:
            yield writes(_header(statement)), header | control
            yield from _steps(inner, control | header)
        else:
            called = frozenset(n for call in _calls(statement) for n in reads(call))
            yield writes(statement) | called, reads(statement) | control


def _exits(statements: list[gast.stmt]) -> Iterator[frozenset[str]]:
    """The reads of every condition under which a `break` or `return` stands."""
    for statement in statements:
        inner = [child for suite in _suites(statement) for child in suite]
        if inner and any(isinstance(node, gast.Break | gast.Return) for child in inner for node in walk(child)):
            yield _header_reads(statement)
            yield from _exits(inner)


def _suites(statement: gast.stmt) -> list[list[gast.stmt]]:
    if isinstance(statement, gast.FunctionDef | gast.AsyncFunctionDef | gast.ClassDef):
        return []
    lists = [getattr(statement, name, None) or [] for name in ("body", "orelse", "finalbody")]
    lists += [handler.body for handler in getattr(statement, "handlers", [])]
    return lists + [case.body for case in getattr(statement, "cases", [])]


def _header(statement: gast.stmt) -> list[gast.AST]:
    """The parts of a compound statement that are evaluated before its suites."""
    parts = [getattr(statement, name, None) for name in ("test", "iter", "target", "subject")]
    return [part for part in parts if part is not None] + list(getattr(statement, "items", []))


def _header_reads(statement: gast.stmt) -> frozenset[str]:
    return reads(_header(statement)) if _suites(statement) else frozenset()


def _calls(statement: gast.stmt) -> list[gast.AST]:
    """Calls: a method may change its object and its arguments by what it is given."""
    return [node for node in walk(statement) if isinstance(node, gast.Call)]
