"""Make a failing program small: constructs are switched off, statements dropped, expressions replaced by a part of them."""

from __future__ import annotations

import ast
import copy
import dataclasses
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from tests.fuzz.compare import Mismatch, Row
from tests.fuzz.grammar import POOLS
from tests.fuzz.programs import Program
from tests.fuzz.runner import Comparison, Unfit, arguments, check

Edit = Callable[[ast.Module], None]
MOST_TRIES = 600
MOST_LINES = 100_000  # that a shrunk program may run
LARGEST = 10**6
LITERALS = {"int": "1", "float": "1.5", "real": "0.5", "bool": "True", "ints": "jnp.arange(3)", "floats": "jnp.ones(3)"}
TYPES = {name: kind for kind, names in POOLS.items() for name in names if not kind.startswith("real")}


def shrink(text: str, fails: Callable[[str], bool], tell: Callable[[str], None] = lambda text: None) -> str:
    """The smallest program found that still fails in the same way; `tell` is told of each smaller one."""
    tries = 0
    for edits in (switches, smaller):
        changed = True
        while changed and tries < MOST_TRIES:
            changed, position = False, 0
            while tries < MOST_TRIES:
                candidate = edited(text, edits, position)
                if candidate is None:
                    break
                tries += 1
                if candidate != text and len(candidate) <= len(text) and fails(candidate):
                    text, changed = candidate, True
                    tell(text)
                else:
                    position += 1
    return text


def fails_alike(program: Program, mismatch: Mismatch) -> Callable[[str], bool]:
    """Does another text fail in the same mode with the same kind of difference, on the arguments that showed it?"""
    row = [mismatch.row, mismatch.row]  # a batch needs two
    rows = row if _fails(program, mismatch, row) else None
    return lambda text: _fails(dataclasses.replace(program, text=text), mismatch, rows)


def _fails(program: Program, mismatch: Mismatch, rows: list[Row] | None) -> bool:
    if not _is_tame(program, rows):
        return False
    try:
        verdict = check(program, [mismatch.mode], rows)
    except Unfit:
        return False
    return any((m.kind, m.instead_of) == (mismatch.kind, mismatch.instead_of) for m in verdict.mismatches)


def _is_tame(program: Program, rows: list[Row] | None) -> bool:
    """Does it end in plain Python, with numbers that are exact? (A counter may have been dropped, or a `% 31`.)"""
    remaining = MOST_LINES

    def count(*_: object) -> Any:
        nonlocal remaining
        remaining -= 1
        if remaining < 0:
            raise _OutOfFuel
        return count

    sys.settrace(count)
    try:
        outcomes = Comparison(program, rows or arguments(program)).want
    except (_OutOfFuel, Unfit, SyntaxError):  # `break` whose loop has gone
        return False
    finally:
        sys.settrace(None)
    leaves = [leaf for outcome in outcomes for leaf in jax.tree.leaves((outcome.value, outcome.arguments))]
    return all(np.all(np.abs(leaf) < LARGEST) for leaf in leaves if not isinstance(leaf, str))


class _OutOfFuel(BaseException):
    pass


def edited(text: str, edits: Callable[[ast.Module], Iterator[Edit]], position: int) -> str | None:
    """The text after the edit at this position; None where there are no more."""
    tree = ast.parse(text)
    for number, edit in enumerate(edits(tree)):
        if number == position:
            edit(tree)
            return ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    return None


# ------------------------------------------------------------------ constructs, everywhere at once
def switches(tree: ast.Module) -> Iterator[Edit]:
    for kind in (ast.Try, ast.With, ast.While, ast.For, ast.Match, ast.If, ast.Raise, ast.Assert, ast.Return, ast.Break):
        if any(isinstance(node, kind) for node in ast.walk(tree)):
            yield _everywhere(lambda node, kind=kind: _inside(node) if isinstance(node, kind) else None)
    for kind in (ast.IfExp, ast.BoolOp, ast.NamedExpr, ast.Call):
        yield _Replace(lambda node, kind=kind: _part(node) if isinstance(node, kind) else node).visit
    yield _without_else


def _everywhere(replace: Callable[[ast.stmt], list[ast.stmt] | None]) -> Edit:
    """Replace statements in `program` and its helpers by others."""

    def edit(tree: ast.Module) -> None:
        for node in ast.walk(tree):
            for suite in _suites(node):
                if not _is_run(node):
                    replaced = [(old, replace(old)) for old in suite]
                    new = [s for old, made in replaced for s in ([old] if made is None else made)]
                    suite[:] = new or [ast.Pass()]

    return edit


def _inside(statement: ast.stmt) -> list[ast.stmt]:
    if isinstance(statement, ast.Match):
        return statement.cases[0].body
    return [s for suite in _suites(statement)[:1] for s in suite]


def _without_else(tree: ast.Module) -> None:
    for node in ast.walk(tree):
        if isinstance(node, ast.While | ast.For | ast.If):
            node.orelse = []


class _Replace(ast.NodeTransformer):
    def __init__(self, replace: Callable[[ast.AST], ast.AST]) -> None:
        self._replace = replace

    def generic_visit(self, node: ast.AST) -> ast.AST:
        return self._replace(super().generic_visit(node))


def _part(node: ast.AST) -> ast.AST:
    """The part of an expression that has its type: `note(1, x)` is x."""
    match node:
        case ast.IfExp(body=value) | ast.NamedExpr(value=value) | ast.BoolOp(values=[value, *_]):
            return value
        case ast.Call(func=ast.Name("note"), args=[_, value]) if not _is_none(value):
            return value
        case ast.Call(func=ast.Name("min" | "max"), args=[value, _, *_]):
            return value
    return node


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


# ------------------------------------------------------------------ one place after the other
def smaller(tree: ast.Module) -> Iterator[Edit]:
    for number, node in enumerate(ast.walk(tree)):
        if _is_run(node):
            continue
        for place, suite in enumerate(_suites(node)):
            yield from _shorter_suites(number, place, suite, whole=isinstance(node, ast.Module))
    for number, node in enumerate(ast.walk(tree)):
        yield from _simpler_expressions(number, node)


def _shorter_suites(number: int, place: int, suite: list[ast.stmt], *, whole: bool) -> Iterator[Edit]:
    if len(suite) > 3 and not whole:
        for start in range(0, len(suite), 3):
            yield lambda tree, start=start: _cut(_suites(_nth(tree, number))[place], slice(start, start + 3), [])
    for position, statement in reversed(list(enumerate(suite))):
        if whole and getattr(statement, "name", "program") in ("program", "run"):
            continue  # and the imports
        one = slice(position, position + 1)
        if not isinstance(statement, ast.Pass):
            yield lambda tree, one=one: _cut(_suites(_nth(tree, number))[place], one, [])
        for inner in range(len(_suites(statement)) if not isinstance(statement, ast.FunctionDef) else 0):
            yield lambda tree, one=one, inner=inner: _hoist(_suites(_nth(tree, number))[place], one, inner)


def _cut(suite: list[ast.stmt], where: slice, new: list[ast.stmt]) -> None:
    suite[where] = new
    if not suite:
        suite.append(ast.Pass())


def _hoist(suite: list[ast.stmt], where: slice, inner: int) -> None:
    """A compound statement gives way to one of its suites."""
    _cut(suite, where, _suites(suite[where][0])[inner])


def _simpler_expressions(number: int, node: ast.AST) -> Iterator[Edit]:
    for field in _FIELDS.get(type(node), ()):
        value = getattr(node, field)
        if isinstance(value, ast.expr):
            for new in _simpler(value):
                yield lambda tree, field=field, new=new: setattr(_nth(tree, number), field, copy.deepcopy(new))
        elif isinstance(value, list):
            for position, element in enumerate(value):
                for new in _simpler(element) if isinstance(element, ast.expr) else ():
                    yield lambda tree, f=field, p=position, new=new: _set(_nth(tree, number), f, p, new)
    if isinstance(node, ast.While | ast.For | ast.If) and node.orelse:
        yield lambda tree: setattr(_nth(tree, number), "orelse", [])
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "mixed" and len(node.args) > 1:
        for position in range(len(node.args)):
            yield lambda tree, p=position: _nth(tree, number).args.pop(p)
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        literal = LITERALS.get(TYPES.get(node.targets[0].id, ""))
        if literal and not isinstance(node.value, ast.Constant):
            new = ast.parse(literal, mode="eval").body
            yield lambda tree: setattr(_nth(tree, number), "value", new)


_FIELDS = {
    ast.Assign: ("value",), ast.AugAssign: ("value",), ast.NamedExpr: ("value",), ast.Expr: ("value",), ast.Return: ("value",),
    ast.If: ("test",), ast.While: ("test",), ast.Assert: ("test",), ast.For: ("iter",), ast.Match: ("subject",),
    ast.match_case: ("guard",), ast.IfExp: ("test", "body", "orelse"), ast.BinOp: ("left", "right"), ast.BoolOp: ("values",),
    ast.Compare: ("left", "comparators"), ast.UnaryOp: ("operand",), ast.Call: ("args",), ast.Subscript: ("slice",),
    ast.Tuple: ("elts",), ast.List: ("elts",), ast.Lambda: ("body",), ast.ListComp: ("elt",), ast.GeneratorExp: ("elt",),
}  # fmt: skip


def _set(node: ast.AST, field: str, position: int, new: ast.expr) -> None:
    getattr(node, field)[position] = copy.deepcopy(new)


def _simpler(value: ast.expr) -> list[ast.expr]:
    """What may stand in place of an expression, of the same type."""
    match value:
        case ast.IfExp():
            return [value.body, value.orelse]
        case ast.BoolOp():
            return list(value.values)
        case ast.BinOp(op=ast.Mod()) if isinstance(value.right, ast.Constant):
            return [value.left]
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            return [value.left, value.right]
        case ast.Compare() | ast.UnaryOp(op=ast.Not()):
            return [ast.Constant(True), ast.Constant(False)]
        case ast.Call() | ast.NamedExpr() if (part := _part(value)) is not value:
            return [part]  # pyright: ignore[reportReturnType] - a part of an expression is one
        case ast.Constant(value=int() as number) if not isinstance(number, bool) and number > 1:
            return [ast.Constant(1), ast.Constant(0)]
    return []


# ------------------------------------------------------------------ trees
def _nth(tree: ast.Module, number: int) -> ast.AST:
    return list(ast.walk(tree))[number]


def _suites(node: ast.AST) -> list[list[ast.stmt]]:
    """The statement lists directly inside a node."""
    if isinstance(node, ast.Lambda | ast.IfExp):
        return []
    lists = [getattr(node, name, None) or [] for name in ("body", "orelse", "finalbody")]
    lists += [handler.body for handler in getattr(node, "handlers", [])]
    lists += [case.body for case in getattr(node, "cases", [])]
    return [suite for suite in lists if suite]


def _is_run(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name == "run"
