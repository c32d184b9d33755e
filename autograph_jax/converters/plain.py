"""What the compiler does for a function inside a class or with annotations is written out.

Before:
    def area(self):
        total: float = super().area()
        return total * self._C__scale

After:
    def area(self):
        total = super(__class__, self).area()
        return total * self._C__scale

Blocks become functions of their own later; there, `super()` would find no first argument, an annotated name could not be
`nonlocal`, and a private name (`self.__scale`) would be compiled outside its class.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters.unsupported import deletes_first
from autograph_jax.syntax import template
from autograph_jax.syntax.names import mangled
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import Rewriter

_SUPER = Template("super(__class__, FIRST)")


def convert(tree: gast.AST, class_name: str | None = None) -> gast.AST:
    return _Plain(class_name).visit(tree)


class _Plain(Rewriter):
    def __init__(self, class_name: str | None) -> None:
        self._class_name = class_name
        self._first_parameters: list[str | None] = []

    def visit_ClassDef(self, node: gast.ClassDef) -> gast.AST | list[gast.AST]:
        """A class inside a function is compiled as a class; its methods are converted when they are called."""
        private = self._mangled(node.name)
        if private == node.name:
            return node
        target = template.name(private, at=node, store=True)  # the variable is mangled, the class's name is not
        return [node, template.assign([target], template.name(node.name, at=node), at=node)]

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        node.name = self._mangled(node.name)
        return self._function(node)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return self._function(node)

    def _function(self, node):
        parameters = [*node.args.posonlyargs, *node.args.args]
        first = parameters[0] if parameters else node.args.vararg
        own_super = "super" in writes(node.body) | {p.id for p in parameters}  # `super = ...` hides Python's
        if own_super or deletes_first(node):
            first = None  # Python knows what `super()` is, or what its error is
        self._first_parameters.append(self._mangled(first.id) if first else None)
        self.generic_visit(node)
        self._first_parameters.pop()
        return node

    def visit_Name(self, node: gast.Name) -> gast.AST:
        node.id = self._mangled(node.id)
        return self.generic_visit(node)

    def visit_Attribute(self, node: gast.Attribute) -> gast.AST:
        node.attr = self._mangled(node.attr)
        return self.generic_visit(node)

    def visit_Nonlocal(self, node: gast.Nonlocal | gast.Global) -> gast.AST:
        node.names = [self._mangled(name) for name in node.names]
        return node

    visit_Global = visit_Nonlocal

    def visit_alias(self, node: gast.alias) -> gast.AST:
        if node.asname:
            node.asname = self._mangled(node.asname)
        elif "." not in node.name and self._mangled(node.name) != node.name:
            node.asname = self._mangled(node.name)
        return node

    def visit_MatchAs(self, node: gast.MatchAs) -> gast.AST:
        node.name = self._mangled(node.name) if node.name else None
        return self.generic_visit(node)

    visit_MatchStar = visit_MatchAs

    def visit_MatchMapping(self, node: gast.MatchMapping) -> gast.AST:
        node.rest = self._mangled(node.rest) if node.rest else None
        return self.generic_visit(node)

    def _mangled(self, name: str) -> str:
        return mangled(name, self._class_name)

    def visit_AnnAssign(self, node: gast.AnnAssign) -> gast.AST | list[gast.AST]:
        self.generic_visit(node)
        if node.value is not None:
            return template.assign([node.target], node.value, at=node)
        if isinstance(node.target, gast.Name) and node.simple:
            return node
        # `(x): int` declares nothing, and of `a[i].b: int` Python evaluates `a[i]`.
        parts: list[gast.AST] = [template.expression_statement(part, at=node) for part in _evaluated(node.target)]
        return parts or [gast.copy_location(gast.Pass(), node)]

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        first = self._first_parameters[-1] if self._first_parameters else None
        is_super = isinstance(node.func, gast.Name) and node.func.id == "super"
        if is_super and first and not node.args and not node.keywords:
            return _SUPER.expression(at=node, FIRST=template.name(first, at=node))
        return node


def _evaluated(place: gast.AST | None) -> list[Any]:
    """What is evaluated of an annotated place that gets no value."""
    match place:
        case gast.Attribute():
            return [place.value]
        case gast.Subscript():
            return [place.value, *_evaluated_index(place.slice)]
    return []


def _evaluated_index(index: gast.AST | None) -> list[Any]:
    match index:
        case None:
            return []
        case gast.Slice():
            return [part for part in (index.lower, index.upper, index.step) if part is not None]
        case gast.Tuple():
            return [part for element in index.elts for part in _evaluated_index(element)]
    return [index]
