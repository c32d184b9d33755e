"""The functions that lines belong to, and what is known of the functions that they call."""

from __future__ import annotations

import ast
import builtins
import functools
import linecache
import sys
import types
from collections.abc import Iterator
from typing import Any, NamedTuple

from autograph_jax.runtime.convert import conversion_of, is_converted
from autograph_jax.runtime.frames import is_ours
from autograph_jax.runtime.libraries import is_left_alone
from autograph_jax.runtime.unconverted import is_marked

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


class Span(NamedTuple):
    """A function in a file, with its first and last line."""

    name: str
    file: str
    first: int
    last: int
    node: Any

    def lines(self) -> list[tuple[int, str]]:
        """Its lines, with their numbers, without the indentation of what it stands in."""
        texts = [linecache.getline(self.file, number).rstrip() for number in range(self.first, self.last + 1)]
        indent = min((len(text) - len(text.lstrip()) for text in texts if text), default=0)
        return [(number, text[indent:]) for number, text in enumerate(texts, self.first)]


def span_of(file: str, line: int) -> Span | None:
    """The outermost function around a line; None for a line of a module or of a file that cannot be read."""
    around = [span for span in spans(file) if span.first <= line <= span.last]
    named = [span for span in around if not isinstance(span.node, ast.Lambda)] or around
    return min(named, key=lambda span: span.first, default=None)


def span_at(file: str, line: int) -> Span | None:
    """The function that begins on a line, wherever it stands."""
    return next((span for span in spans(file) if span.first == line), None)


def spans(file: str) -> list[Span]:
    """All functions of a file, the outer ones first; none of a file that cannot be read."""
    return _spans(file, tuple(linecache.getlines(file)))


@functools.lru_cache(maxsize=16)
def _spans(file: str, lines: tuple[str, ...]) -> list[Span]:
    try:
        return list(_found(ast.parse("".join(lines)), file, ()))
    except SyntaxError:  # of a notebook's cell with magics
        return []


def _found(tree: ast.AST, file: str, classes: tuple[str, ...]) -> Iterator[Span]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, FunctionNode):
            name = "<lambda>" if isinstance(node, ast.Lambda) else node.name
            decorators = [] if isinstance(node, ast.Lambda) else node.decorator_list
            first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
            yield Span(".".join([*classes, name]), file, first, node.end_lineno or node.lineno, node)
        yield from _found(node, file, (*classes, node.name) if isinstance(node, ast.ClassDef) else classes)


# Calls -----------------------------------------------------------------------------------------------


def calls_of(span: Span, function: types.FunctionType | None) -> dict[int, list[str]]:
    """By line: what is known of the user's functions that are called by names of the module, or that `function` closes over."""
    known = _names(span.file, function)
    own = {node.id for node in ast.walk(span.node) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    own |= {node.arg for node in ast.walk(span.node) if isinstance(node, ast.arg)}
    found: dict[int, list[str]] = {}
    for node in ast.walk(span.node):
        if isinstance(node, ast.Call) and (told := _told(node.func, known, own)) and told not in found.get(node.lineno, []):
            found.setdefault(node.lineno, []).append(told)
    return found


def _names(file: str, function: types.FunctionType | None) -> dict[str, Any]:
    if function is None:
        modules = [module for module in list(sys.modules.values()) if getattr(module, "__file__", None) == file]
        return vars(modules[0]) if modules else {}
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    return function.__globals__ | {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}


def _is_filled(cell: types.CellType) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _told(called: ast.expr, known: dict[str, Any], own: set[str]) -> str | None:
    name = ast.unparse(called)
    first, *rest = name.split(".")
    if first in own or first not in known or hasattr(builtins, name):
        return None
    value = known[first]
    for attribute in rest:
        if not isinstance(value, types.ModuleType):
            return None
        value = getattr(value, attribute, None)
    return _standing(name, value) if isinstance(value, types.FunctionType) else None


def _standing(name: str, function: types.FunctionType) -> str | None:
    if is_left_alone(function.__module__):
        return None
    if is_ours(function.__code__):  # what one of our transforms has made of a function
        return f"calls `{name}`, converted"
    if is_marked(function):
        return f"`{name}` is called as it is: it is marked by `do_not_convert`"
    reason = None if is_converted(function) else conversion_of(function).reason
    return f"`{name}` is called as it is: {reason}" if reason else f"calls `{name}`, converted"
