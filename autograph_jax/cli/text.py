"""Converted text as people read it: the user's own spelling where it can stand, comments, short lines."""

from __future__ import annotations

import ast
from collections.abc import Collection
from typing import NamedTuple

from autograph_jax.cli.comments import Comments, comments
from autograph_jax.cli.layout import broken, tokens
from autograph_jax.cli.originals import FunctionNode, after_docstring, dedented, segment


class Text(NamedTuple):
    """Converted text as it is compiled, with its tree, whose nodes have the places of what they are made of."""

    raw: str
    tree: ast.AST


def readable(
    converted: Text, node: FunctionNode, lines: list[str], name: str, *, drop: Collection[str] = ("autograph",)
) -> str:
    """Converted text with the signature, docstring, comments and unchanged statements as `lines` of the file spell them.

    Decorators named in `drop` are left out. The result is the same program, which a check makes sure of.
    """
    raw, spellings = converted.raw, _spellings(node, lines)
    if isinstance(node, ast.Lambda):
        return "\n".join(_line(f"{name.rpartition('.')[2]} = {raw}", {}, spellings))
    [function] = ast.parse(raw).body
    assert isinstance(function, ast.FunctionDef)
    raw_lines, start = raw.split("\n"), after_docstring(function)
    statements, strings = _statements(node, lines), _lines_of_strings(function)
    said = comments(node, lines, raw, converted.tree)
    body: list[str] = []
    for number, line in enumerate(raw_lines[start:], start + 1):
        shown = [line] if number in strings else _line(line, statements, spellings)
        body += _commented(shown, said[number]) if number in said and number not in strings else shown
    decorators = _decorators(node, lines, drop)
    for header in (_header(node, lines), raw_lines[function.lineno - 1 : start]):
        candidate = "\n".join([*decorators, *header, *body])
        if _same_function(candidate, function):
            return candidate
    return raw


def _commented(lines: list[str], said: Comments) -> list[str]:
    first, *rest = lines
    indent = first[: len(first) - len(first.lstrip())]
    return [*(indent + text for text in said.above), "  ".join([first, *said.behind]), *rest]


# The user's own spelling -----------------------------------------------------------------------------


def _header(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str]) -> list[str]:
    """From `def` to the end of the docstring; empty where the body begins on the same line."""
    return dedented(lines[node.lineno - 1 : after_docstring(node)])


def _decorators(node: ast.FunctionDef | ast.AsyncFunctionDef, lines: list[str], drop: Collection[str]) -> list[str]:
    kept = [d for d in node.decorator_list if _called(d).rpartition(".")[2] not in drop]
    return [line for d in kept for line in dedented(lines[d.lineno - 1 : d.end_lineno])]


def _called(decorator: ast.expr) -> str:
    """`@ag.autograph(strict=True)` -> ag.autograph"""
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)


def _lines_of_strings(node: ast.AST) -> set[int]:
    """Lines inside of docstrings, which nothing may change. ast.unparse breaks no other expression."""
    strings = [n for n in ast.walk(node) if isinstance(n, ast.expr) and n.end_lineno != n.lineno]
    return {line for string in strings for line in range(string.lineno, (string.end_lineno or string.lineno) + 1)}


def _statements(node: FunctionNode, lines: list[str]) -> dict[str, str]:
    """Statements on one line: as ast.unparse prints them, and as they are written."""
    return {
        ast.unparse(statement): segment(statement, lines)
        for statement in ast.walk(node)
        if isinstance(statement, ast.stmt) and not hasattr(statement, "body") and statement.lineno == statement.end_lineno
    }


class _Spellings(dict[str, str]):
    """Numbers and strings: as ast.unparse prints them, and as they are written: 1e-08 and 1e-8.

    Strings that are not of the function's own have the quotes of those that are.
    """

    def of(self, token: str) -> str:
        quotes = [spelling[0] for spelling in self.values() if spelling[0] in "\"'"]
        doubles = len(quotes) < 2 * quotes.count('"') and token[0] == "'" and "\\" not in token and '"' not in token
        return self.get(token) or (f'"{token[1:-1]}"' if doubles else token)


def _spellings(node: ast.AST, lines: list[str]) -> _Spellings:
    spellings = _Spellings()
    inside = {id(part) for f in ast.walk(node) if isinstance(f, ast.JoinedStr) for part in ast.walk(f)}
    for constant in ast.walk(node):
        if isinstance(constant, ast.Constant) and id(constant) not in inside and constant.lineno == constant.end_lineno:
            if isinstance(constant.value, int | float | complex | str | bytes):
                spellings.setdefault(ast.unparse(constant), segment(constant, lines))
    return spellings


def _same_function(candidate: str, function: ast.stmt) -> bool:
    """Is it the same function but for decorators, and the indentation of the docstring?"""
    try:
        [other] = ast.parse(candidate).body
    except SyntaxError:
        return False
    assert isinstance(function, ast.FunctionDef)
    return isinstance(other, ast.FunctionDef) and (
        _same(function.args, other.args)
        and [ast.dump(s) for s in _without_docstring(function)] == [ast.dump(s) for s in _without_docstring(other)]
        and ast.get_docstring(function) == ast.get_docstring(other)
    )


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _without_docstring(node: ast.FunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _line(line: str, statements: dict[str, str], spellings: _Spellings) -> list[str]:
    """A line of ast.unparse, which is a whole statement, as it is shown."""
    stripped = line.strip()
    indent = line[: len(line) - len(stripped)]
    if stripped in statements:
        return [indent + statements[stripped]]
    pieces, end = [], 0
    for token in tokens(stripped):
        pieces += [stripped[end : token.start[1]], spellings.of(token.string)]
        end = token.end[1]
    return broken(indent, "".join([*pieces, stripped[end:]]))
