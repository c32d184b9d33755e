"""The nodes of a tree and the rewriting of a tree, as `ast.walk` and `ast.NodeTransformer` have them, at a third of the time.

Conversion time is mostly spent here. Fields that never hold a part of the program are passed over: names, and the contexts and
operators, which are nodes by type alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import gast

_LEAVES = frozenset({"id", "attr", "arg", "ctx", "op", "ops", "asname", "module", "level", "kind", "type_comment", "is_async"})


_MIXED = frozenset({"keys", "kw_defaults", "names", "kwd_attrs"})  # lists with None or strings in them


class _Fields(dict[type, tuple[str, ...]]):
    """By class of node, the fields that may hold nodes."""

    def __missing__(self, kind: type[gast.AST]) -> tuple[str, ...]:
        self[kind] = fields = () if kind is gast.Constant else tuple(name for name in kind._fields if name not in _LEAVES)
        return fields


_FIELDS = _Fields()


def fields_below(kind: type[gast.AST]) -> tuple[str, ...]:
    """The fields of a class of nodes that may hold nodes, which are more than a context or an operator."""
    return _FIELDS[kind]


def children(node: gast.AST) -> list[Any]:
    """The nodes directly below, in the order of the source."""
    found: list[Any] = []
    for name in _FIELDS[type(node)]:
        value = getattr(node, name, None)
        if type(value) is list:
            found += [part for part in value if isinstance(part, gast.AST)] if name in _MIXED else value
        elif value is not None and isinstance(value, gast.AST):
            found.append(value)
    return found


def walk(node: gast.AST) -> list[Any]:
    """A node and all below it, level by level."""
    found: list[Any] = [node]
    for known in found:  # which grows meanwhile
        for name in _FIELDS[type(known)]:  # as `children` does: a call for each node would take a third of the time
            value = getattr(known, name, None)
            if type(value) is list:
                found += [part for part in value if isinstance(part, gast.AST)] if name in _MIXED else value
            elif value is not None and isinstance(value, gast.AST):
                found.append(value)
    return found


def walk_own(root: gast.AST) -> Iterator[gast.AST]:
    """A node and those in it, but for those of functions and classes."""
    pending = [root]
    while pending:
        yield (node := pending.pop())
        if not isinstance(node, gast.FunctionDef | gast.AsyncFunctionDef | gast.ClassDef | gast.Lambda):
            pending += children(node)


class Rewriter:
    """Gives each node to the method `visit_Kind` of a subclass, which answers with what stands there from now on.

    That is a node, for a statement also a list of them, or None to drop it. A node without a method is searched below.
    """

    _methods: ClassVar[dict[type, Callable[..., Any] | None]]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._methods = {}

    def visit(self, node: gast.AST) -> Any:
        kind = type(node)
        try:
            method = self._methods[kind]
        except KeyError:
            method = self._methods[kind] = getattr(type(self), f"visit_{kind.__name__}", None)
        return self.generic_visit(node) if method is None else method(self, node)

    def generic_visit(self, node: gast.AST) -> Any:
        for name in _FIELDS[type(node)]:
            value = getattr(node, name, None)
            if type(value) is list:
                if value:
                    value[:] = self._visited(value)
            elif isinstance(value, gast.AST):
                setattr(node, name, self.visit(value))
        return node

    def _visited(self, nodes: list[Any]) -> list[Any]:
        new: list[Any] = []
        for node in nodes:
            result = self.visit(node) if isinstance(node, gast.AST) else node
            if type(result) is list:
                new += result
            elif result is not None or node is None:  # `{**rest}` has None for a key
                new.append(result)
        return new
