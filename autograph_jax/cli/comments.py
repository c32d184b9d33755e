"""The comments of a function, and the lines of its converted text that they belong to."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator
from typing import NamedTuple

from autograph_jax.cli.originals import after_docstring, first_line

_Position = tuple[int, int]


class Comments(NamedTuple):
    """What stands above a line, and behind it."""

    above: list[str]
    behind: list[str]


def comments(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str], raw: str, tree: ast.AST) -> dict[int, Comments]:
    """The comments below the docstring of a function in a file with these lines, by lines of `raw`, the text of its `tree`.

    The comment of an `if` or a loop stands behind the call that it becomes, comments above it above the first of its blocks;
    what is said of an `else` goes above that part's first statement. A statement that is now a part of another loses its own.
    """
    statements = sorted((s for s in ast.walk(node) if isinstance(s, ast.stmt) and s is not node), key=_position)
    places = _places(raw, tree)
    found: dict[int, Comments] = {}
    for line, text, is_alone in _written(node, lines):
        owner = None if is_alone else next((s for s in reversed(statements) if first_line(s) <= line <= _ends(s)), None)
        is_behind = owner is not None and (hasattr(owner, "body") and line >= owner.lineno or line == owner.end_lineno)
        owner = owner or next((s for s in statements if first_line(s) > line), None)
        if owner is not None and (made := next((places[p] for p in _positions(owner) if p in places), None)) is not None:
            first, call = made
            there = found.setdefault(call if is_behind else first, Comments([], []))
            (there.behind if is_behind else there.above).append(text)
    return found


def _written(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> Iterator[tuple[int, str, bool]]:
    """Line and text of each comment in a function's body, and whether it has its line for itself."""
    own = "\n".join(lines[first_line(node) - 1 : node.end_lineno])
    for token in tokenize.generate_tokens(io.StringIO(own).readline):
        line = token.start[0] + first_line(node) - 1
        if token.type == tokenize.COMMENT and line > after_docstring(node):
            yield line, token.string, not token.line[: token.start[1]].strip()


def _places(raw: str, tree: ast.AST) -> dict[_Position, tuple[int, int]]:
    """By the place of a statement in the user's file: the first line of `raw` that is made of it, and that of the statement
    which holds its test, behind the blocks that are cut out of it.
    """
    converted = [n for n in ast.walk(tree) if isinstance(n, ast.stmt)]
    printed = [n for n in ast.walk(ast.parse(raw)) if isinstance(n, ast.stmt)]
    found: dict[_Position, tuple[int, int]] = {}
    held: dict[_Position, int] = {}
    for old, new in sorted(zip(converted, printed, strict=True), key=lambda pair: _position(pair[1])):
        found.setdefault(_position(old), (first_line(new), new.lineno))
        if not _is_of_block(new):
            held.setdefault(_position(old), new.lineno)
    return {position: (first, held.get(position, line)) for position, (first, line) in found.items()}


def _is_of_block(node: ast.stmt) -> bool:
    """`def then():`, `nonlocal x`, and `x: ...`, which declares a local"""
    return isinstance(node, ast.FunctionDef | ast.Nonlocal) or (isinstance(node, ast.AnnAssign) and node.value is None)


def _position(node: ast.stmt | ast.expr | ast.pattern) -> _Position:
    return node.lineno, node.col_offset


def _positions(node: ast.stmt) -> Iterator[_Position]:
    """Where what is made of a statement says that it stands: there, at the test of an `if`, or at what a loop goes over."""
    yield _position(node)
    for part in ("test", "iter", "subject"):
        if (header := getattr(node, part, None)) is not None:
            yield _position(header)
    if isinstance(node, ast.Match):
        yield _position(node.cases[0].pattern)


def _ends(node: ast.stmt) -> int:
    """The last line of a statement, or of what stands before the body of one that has a body."""
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if not body:
        return node.end_lineno or node.lineno
    first = body[0].pattern.lineno if isinstance(body[0], ast.match_case) else first_line(body[0])
    return max(node.lineno, first - 1)
