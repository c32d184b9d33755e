"""The rows of an array that is unpacked are views of it, where one of them or the array may be written or kept.

Before:
    for k, (first, second) in pairs:
        first[k] = 0.0
    a, b = x
    b[0] = v

After:
    for element in pairs:
        k, (first, second) = ag__.rows(element, (None, (None, None)))
        first[k] = 0.0
    a, b = ag__.rows(x)
    b[0] = v
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from autograph_jax.analysis import NameFacts
from autograph_jax.converters.base import Pass
from autograph_jax.converters.views import item_written, may_keep
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_ROWS = Template("ag__.rows(BASE, TARGETS)")
_TAKE = Template("TARGET = VALUE")
_SEQUENCES = (gast.Tuple, gast.List)


def convert(tree: gast.AST, facts: Mapping[gast.AST, NameFacts], names: Names) -> gast.AST:
    return _Unpacking(facts, names).visit(tree)


class _Unpacking(Pass):
    def __init__(self, facts: Mapping[gast.AST, NameFacts], names: Names) -> None:
        self._facts, self._names = facts, names
        self._functions: list[tuple[list[gast.stmt], frozenset[str]]] = []  # each with the names that it writes by items
        self._elements = 0  # variables made for what loops take

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._functions.append((node.body, item_written(node, self._facts[node].aliases)))
        self.generic_visit(node)
        self._functions.pop()
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        for target in node.targets:
            node.value = self._unpacked(target, node.value)
        return node

    def visit_For(self, node: gast.For) -> gast.AST:
        self.generic_visit(node)
        if _gives_tuples(node.iter) and not _is_nested(node.target):
            return node
        element = template.name("element", at=node.target)
        taken = self._unpacked(node.target, element)
        if taken is not element:
            self._elements += 1
            element.id = self._names.fresh("element" if self._elements == 1 else f"element_{self._elements}")
            take = _TAKE(at=node.target, TARGET=node.target, VALUE=taken)
            node.target, node.body = template.name(element.id, at=node.target, store=True), [*take, *node.body]
        return node

    def _unpacked(self, target: gast.expr, value: gast.expr) -> gast.expr:
        """The value that a target takes apart: itself, or its rows."""
        if not isinstance(target, _SEQUENCES):
            return value
        if isinstance(value, _SEQUENCES):
            if len(value.elts) == len(target.elts) and not any(isinstance(one, gast.Starred) for one in target.elts):
                value.elts = list(map(self._unpacked, target.elts, value.elts))
            return value
        if not isinstance(value, gast.Name | gast.Attribute | gast.Subscript | gast.IfExp | gast.BoolOp | gast.NamedExpr):
            return value
        body, written = self._functions[-1]
        names, of = _names_in(target), _names_in(value)
        if of & _captured(body) or not (names | of) & written and not any(may_keep(statement, names) for statement in body):
            return value
        return _ROWS.expression(at=value, BASE=value, TARGETS=[_parts(target, value)] if _is_nested(target) else [])


def _names_in(node: gast.AST) -> frozenset[str]:
    return frozenset(name.id for name in walk(node) if isinstance(name, gast.Name))


def _parts(target: gast.expr, at: gast.expr) -> gast.expr:
    """What a target takes apart, as `views.rows` is told."""
    if not isinstance(target, _SEQUENCES):
        return template.constant(... if isinstance(target, gast.Starred) else None, at=at)
    return template.tuple_of([_parts(one, at) for one in target.elts], at=at)


def _is_nested(target: gast.expr) -> bool:
    return any(isinstance(one, _SEQUENCES) for one in getattr(target, "elts", ()))


def _gives_tuples(iterable: gast.expr) -> bool:
    """`enumerate(x)`, `zip(x, y)`, `d.items()`"""
    match iterable:
        case gast.Call(func=gast.Name(id="enumerate" | "zip")) | gast.Call(func=gast.Attribute(attr="items")):
            return True
    return False


def _captured(statements: list[gast.stmt]) -> set[str]:
    """The variables that have what a pattern of `match` has captured, a tuple."""
    assigned = (node for statement in statements for node in walk(statement) if isinstance(node, gast.Assign))
    made = (node for node in assigned if isinstance(node.value, gast.Call) and is_operator(node.value.func, "captures"))
    return {target.id for node in made for target in node.targets if isinstance(target, gast.Name)}
