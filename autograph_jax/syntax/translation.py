"""Python's trees and gast's: a node of the one is copied to the class of the same name in the other.

gast's own translators give the same, as tests compare, and took a third of the time of a conversion. The kinds of nodes in
which the two trees differ are named here: in gast parameters and the names of caught exceptions are Names.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import gast

from autograph_jax.syntax.walk import fields_below

_POSITION = ("lineno", "col_offset", "end_lineno", "end_col_offset")


class _Class(NamedTuple):
    """What nodes of a class are copied to, and which fields hold nodes: those below, and the one of a context or operators.

    These are `symbol`: they are told apart by their classes alone, so that one of each stands everywhere.
    """

    other: Any  # a class of nodes
    fields: tuple[str, ...]
    symbol: str | None
    has_position: bool


class _Classes(dict[type, _Class]):
    """By class, as far as met, for the way to one of the two modules."""

    def __init__(self, to: types.ModuleType) -> None:
        super().__init__()
        self._to = to
        self._symbols: dict[type, ast.AST] = {}

    def __missing__(self, kind: type[ast.AST]) -> _Class:
        symbol = next((name for name in ("ctx", "op", "ops") if name in kind._fields), None)
        other = getattr(self._to, kind.__name__)
        self[kind] = found = _Class(other, fields_below(kind), symbol, "lineno" in other._attributes)
        return found

    def symbols(self, given: Any) -> Any:
        """A context, an operator, or the operators of a comparison."""
        if type(given) is list:
            return [self.symbols(one) for one in given]
        found = self._symbols.get(type(given))
        if found is None:
            found = self._symbols[type(given)] = getattr(self._to, type(given).__name__)()
        return found


_TO_GAST, _TO_AST = _Classes(gast), _Classes(ast)


def to_gast(node: ast.AST) -> Any:
    """A tree of Python's as one of gast's."""
    other_kind = _OF_PYTHON.get(type(node))
    return _copied_to_gast(node) if other_kind is None else other_kind(node)


def _copied_to_gast(node: ast.AST) -> Any:
    kind, fields, symbol, _ = _TO_GAST[type(node)]
    new = kind.__new__(kind)
    parts: dict[str, Any] = new.__dict__
    parts.update(node.__dict__)
    if symbol is not None:
        parts[symbol] = _TO_GAST.symbols(parts[symbol])
    for name in fields:
        value = parts.get(name)
        if type(value) is list:
            parts[name] = [to_gast(part) if isinstance(part, ast.AST) else part for part in value]
        elif value is not None and isinstance(value, ast.AST):
            parts[name] = to_gast(value)
    return new


def _name_to_gast(node: ast.Name) -> gast.Name:
    new = _copied_to_gast(node)
    new.annotation = new.type_comment = None
    return new


def _parameter_to_gast(node: ast.arg) -> gast.Name:
    annotation = to_gast(node.annotation) if node.annotation else None
    return ast.copy_location(gast.Name(node.arg, gast.Param(), annotation, node.type_comment), node)


def _handler_to_gast(node: ast.ExceptHandler) -> Any:
    new = _copied_to_gast(node)
    if node.name:
        new.name = gast.Name(node.name, gast.Store(), None, None)
    return new


def _with_field(name: str, empty: Callable[[], Any]) -> Callable[[ast.AST], Any]:
    """Of nodes that have this field since Python 3.12 or 3.13, and in gast always."""

    def with_field(node: ast.AST) -> Any:
        new = _copied_to_gast(node)
        new.__dict__.setdefault(name, empty())
        return new

    return with_field


_OF_PYTHON: dict[type, Callable[[Any], Any]] = {
    ast.Name: _name_to_gast,
    ast.arg: _parameter_to_gast,
    ast.ExceptHandler: _handler_to_gast,
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef), _with_field("type_params", list)),
}
if sys.version_info >= (3, 12):
    _OF_PYTHON |= dict.fromkeys((ast.TypeVar, ast.TypeVarTuple, ast.ParamSpec), _with_field("default_value", lambda: None))


def to_ast(tree: gast.AST, constants: Mapping[str, object] | None = None) -> Any:
    """A tree of gast's as one of Python's that can be compiled: where a node has no position, it has that of the one around.

    For a name in `constants` stands the constant.
    """
    return _ToAst(constants or {}).copy(tree, dict(zip(_POSITION, (1, 0, 1, 0), strict=True)))


class _ToAst:
    """`around` is the `__dict__` of the nearest node around that has a position."""

    def __init__(self, constants: Mapping[str, object]) -> None:
        self._constants = constants

    def copy(self, node: Any, around: dict[str, Any]) -> Any:
        given = type(node)
        if given is gast.arguments:
            return self._arguments(node, around)
        kind, fields, symbol, has_position = _TO_AST[given]
        new = kind.__new__(kind)
        parts: dict[str, Any] = new.__dict__
        parts.update(node.__dict__)
        if has_position:
            _settle_position(parts, around)
            around = parts
        if given is gast.Name and node.id in self._constants:
            constant: Any = self._constants[node.id]
            return ast.copy_location(ast.Constant(constant), new)
        if symbol is not None:
            parts[symbol] = _TO_AST.symbols(parts[symbol])
        if given is gast.ExceptHandler and node.name:
            parts["name"] = node.name.id
        for name in fields:
            value = parts.get(name)
            if type(value) is list:
                parts[name] = [self.copy(part, around) if isinstance(part, ast.AST) else part for part in value]
            elif value is not None and isinstance(value, ast.AST):
                parts[name] = self.copy(value, around)
        return new

    def _arguments(self, node: gast.arguments, around: dict[str, Any]) -> ast.arguments:
        new: Any = ast.arguments([], [], None, [], [], None, [])
        for name in ("posonlyargs", "args", "kwonlyargs"):
            setattr(new, name, [self._parameter(one, around) for one in getattr(node, name)])
        for name in ("vararg", "kwarg"):
            rest = getattr(node, name)
            setattr(new, name, None if rest is None else self._parameter(rest, around))
        new.defaults = [self.copy(one, around) for one in node.defaults]
        new.kw_defaults = [None if one is None else self.copy(one, around) for one in node.kw_defaults]
        return new

    def _parameter(self, node: gast.Name, around: dict[str, Any]) -> ast.arg:
        new = ast.copy_location(ast.arg(node.id, None, node.type_comment), node)
        _settle_position(new.__dict__, around)
        new.annotation = None if node.annotation is None else self.copy(node.annotation, new.__dict__)
        return new


def _settle_position(parts: dict[str, Any], around: dict[str, Any]) -> None:
    if "lineno" not in parts:
        parts.update({name: around[name] for name in _POSITION})
    elif parts.get("end_lineno") is None:
        parts["end_lineno"] = around["end_lineno"]
        if parts.get("end_col_offset") is None:
            parts["end_col_offset"] = around["end_col_offset"]
