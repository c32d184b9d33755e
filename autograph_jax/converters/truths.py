"""`any(a) + any(b)` is a number in Python, whose bools are numbers; JAX's are not, and `+` of two is `or`.

Before:
    count = (not a) + (k in keys)

After:
    count = ag__.number(not a) + ag__.number(k in keys)

So it is with `any`, `all` and `bool`, and with variables that are assigned such a thing. What compares arrays,
`(a > 0) + (b > 0)`, is JAX's.
"""

from __future__ import annotations

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.converters.tables import assigned, closure
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_NUMBER = Template("ag__.number(VALUE)")
_GIVING_BOOLS = frozenset({"any", "all", "bool"})
_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.LShift, gast.RShift)
Names = frozenset[str]


def convert(tree: gast.AST) -> gast.AST:
    bound = {name.id for name in walk(tree) if isinstance(name, gast.Name) and not isinstance(name.ctx, gast.Load)}
    if bound & _GIVING_BOOLS or not any(_is_bool(node, frozenset()) for node in walk(tree)):
        return tree
    return _Truths(closure(list(assigned(tree)), _is_bool)).visit(tree)


class _Truths(Pass):
    def __init__(self, bools: Names) -> None:
        self._bools = bools

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        if isinstance(node.op, _ARITHMETIC):
            node.left, node.right = self._number(node.left), self._number(node.right)
        return node

    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        self.generic_visit(node)
        if isinstance(node.op, gast.USub | gast.UAdd):
            node.operand = self._number(node.operand)
        return node

    def _number(self, node: gast.expr) -> gast.expr:
        return _NUMBER.expression(at=node, VALUE=node) if _is_bool(node, self._bools) else node


def _is_bool(node: gast.AST, known: Names) -> bool:
    match node:
        case gast.Name(id=name):
            return name in known
        case gast.Call(func=gast.Name(id=name)):
            return name in _GIVING_BOOLS
        case gast.UnaryOp(op=gast.Not()):
            return True
        case gast.Compare(ops=operators):
            return all(isinstance(operator, gast.In | gast.NotIn | gast.Is | gast.IsNot) for operator in operators)
        case gast.BoolOp(values=values):
            return all(_is_bool(value, known) for value in values)
        case gast.IfExp(body=first, orelse=second):
            return _is_bool(first, known) or _is_bool(second, known)
        case gast.NamedExpr(value=value):
            return _is_bool(value, known)
    return False
