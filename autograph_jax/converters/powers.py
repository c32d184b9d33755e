"""`2 ** n` is a float in Python where n is negative; a power of two integers of JAX's is an integer, and then wrong.

Before:
    h = 2 ** -n

After:
    h = ag__.inverse_power(2, n)

And `2 ** n` is `ag__.power(2, n)`, `b **= n` is `b = ag__.power_in_place(b, n)`.
"""

from __future__ import annotations

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template

_POWER = Template("ag__.power(BASE, EXPONENT)")
_IN_PLACE = Template("ag__.power_in_place(BASE, EXPONENT)")
_INVERSE = Template("ag__.inverse_power(BASE, EXPONENT)")


def convert(tree: gast.AST) -> gast.AST:
    return _Powers().visit(tree)


class _Powers(Pass):
    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, gast.Pow) or _is_number(node.right):
            return node
        if isinstance(node.right, gast.UnaryOp) and isinstance(node.right.op, gast.USub):
            return _INVERSE.expression(at=node, BASE=node.left, EXPONENT=node.right.operand)
        return _POWER.expression(at=node, BASE=node.left, EXPONENT=node.right)

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.stmt:
        self.generic_visit(node)
        if not isinstance(node.op, gast.Pow) or not isinstance(node.target, gast.Name) or _is_number(node.value):
            return node
        base = template.name(node.target.id, at=node)
        return template.assign([node.target], _IN_PLACE.expression(at=node, BASE=base, EXPONENT=node.value), at=node)


def _is_number(node: gast.expr) -> bool:
    return isinstance(node, gast.Constant) or isinstance(node, gast.UnaryOp) and _is_number(node.operand)
