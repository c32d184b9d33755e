"""In ported code a list beside a scalar or an array of NumPy's is an array: NumPy makes it one, and JAX refuses it.

Before:
    q = [a, b]
    q /= np.linalg.norm(q)
    inside = [a, b] < LIMITS

After:
    q = [a, b]
    q = ag__.beside_list("/", q, np.linalg.norm(q))
    inside = ag__.beside_list("<", [a, b], LIMITS)

It is so of lists that are written out, and of variables that get one.
"""

from __future__ import annotations

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_BESIDE = Template("ag__.beside_list(OPERATOR, LEFT, RIGHT)")
_STORED = Template("TARGET = ag__.beside_list(OPERATOR, LEFT, RIGHT)")
_OPERATORS: dict[type[gast.AST], str] = {
    **{gast.Add: "+", gast.Sub: "-", gast.Mult: "*", gast.Div: "/", gast.FloorDiv: "//", gast.Pow: "**"},
    **{gast.Lt: "<", gast.LtE: "<=", gast.Gt: ">", gast.GtE: ">="},
}
_OF_LISTS = (gast.Add, gast.Mult)  # in place, Python changes the list


def names_of_lists(tree: gast.AST) -> frozenset[str]:
    """The variables that get a list which is written out, in a tree as the user wrote it."""
    assigned = (
        node for node in walk(tree) if isinstance(node, gast.Assign) and isinstance(node.value, gast.List | gast.ListComp)
    )
    return frozenset(target.id for node in assigned for target in node.targets if isinstance(target, gast.Name))


def convert(tree: gast.AST, lists: frozenset[str]) -> gast.AST:
    return _ListOperands(lists).visit(tree)


class _ListOperands(Pass):
    def __init__(self, lists: frozenset[str]) -> None:
        self._lists = lists

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        return self._beside(node, node.op, node.left, node.right)

    def visit_Compare(self, node: gast.Compare) -> gast.AST:
        self.generic_visit(node)
        return self._beside(node, node.ops[0], node.left, node.comparators[0]) if len(node.ops) == 1 else node

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST | list[gast.stmt]:
        self.generic_visit(node)
        if not isinstance(node.target, gast.Name) or node.target.id not in self._lists:
            return node
        if isinstance(node.op, _OF_LISTS) or type(node.op) not in _OPERATORS:
            return node
        target, left = (template.name(node.target.id, at=node, store=store) for store in (True, False))
        return _STORED(at=node, TARGET=target, OPERATOR=self._text(node, node.op), LEFT=left, RIGHT=node.value)

    def _beside(self, node: gast.expr, operation: gast.AST, left: gast.expr, right: gast.expr) -> gast.AST:
        if type(operation) not in _OPERATORS or self._is_list(left) == self._is_list(right):
            return node
        return _BESIDE.expression(at=node, OPERATOR=self._text(node, operation), LEFT=left, RIGHT=right)

    def _is_list(self, node: gast.expr) -> bool:
        return isinstance(node, gast.List) or isinstance(node, gast.Name) and node.id in self._lists

    @staticmethod
    def _text(node: gast.AST, operation: gast.AST) -> gast.expr:
        return gast.copy_location(gast.Constant(_OPERATORS[type(operation)], None), node)
