"""Functions as their file has them: lines, columns, and the text without the indentation of what it stands in."""

from __future__ import annotations

import ast

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def original(node: FunctionNode, lines: list[str]) -> str:
    """The text of a function as the file has it, without the indentation of what it stands in."""
    assert node.end_lineno is not None
    own = lines[first_line(node) - 1 : node.end_lineno]
    return "\n".join(dedented(own))


def first_line(node: ast.stmt | ast.Lambda) -> int:
    """The line of a statement's first decorator, or of the statement."""
    return min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))])


def after_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """The number of lines before the first statement that is not the docstring."""
    body = node.body
    if ast.get_docstring(node, clean=False) is not None:
        return body[0].end_lineno or body[0].lineno
    return first_line(body[0]) - 1


def dedented(lines: list[str]) -> list[str]:
    """Lines without the first one's indentation. One that is indented less keeps its text."""
    indent = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    return [line[min(indent, len(line) - len(line.lstrip(" \t"))) :] for line in lines]


def segment(node: ast.stmt | ast.expr, lines: list[str]) -> str:
    line = lines[node.lineno - 1].encode()
    return line[node.col_offset : node.end_col_offset].decode()


def characters(line: str, utf8_offset: int) -> int:
    """`ast` counts columns in UTF-8 bytes."""
    return len(line.encode()[:utf8_offset].decode(errors="replace"))
