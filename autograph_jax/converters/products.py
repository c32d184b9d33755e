"""In ported code a product is rounded before anything is added to it, and what divides may be larger than JAX's integers.

Before:
    y = a * b + x**2 / factorial(n)
    y *= c

After:
    y = ag__.rounded(a * b) + ag__.quotient(ag__.rounded(x**2), factorial(n))
    y *= c
    y = ag__.rounded(y)
"""

from __future__ import annotations

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template

_ROUNDED = Template("ag__.rounded(PRODUCT)")
_QUOTIENT = Template("ag__.quotient(ABOVE, BELOW)")
_STORED = Template("TARGET = ag__.rounded(PRODUCT)")


def convert(tree: gast.AST) -> gast.AST:
    return _Products().visit(tree)


class _Products(Pass):
    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        if isinstance(node.op, gast.Div) and isinstance(node.right, gast.Call):
            return _QUOTIENT.expression(at=node, ABOVE=node.left, BELOW=node.right)
        return _ROUNDED.expression(at=node, PRODUCT=node) if _is_product(node) else node

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST | list[gast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.op, gast.Mult) or not isinstance(node.target, gast.Name):
            return node
        target, value = (template.name(node.target.id, at=node, store=store) for store in (True, False))
        return [node, *_STORED(at=node, TARGET=target, PRODUCT=value)]


def _is_product(node: gast.BinOp) -> bool:
    """Not that of a list or a string, where it is written as one."""
    if any(isinstance(part, gast.Constant | gast.List) and not _is_number(part) for part in (node.left, node.right)):
        return False
    return isinstance(node.op, gast.Mult) or isinstance(node.op, gast.Pow) and isinstance(node.right, gast.Constant)


def _is_number(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) and isinstance(node.value, int | float)
