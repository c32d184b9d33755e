"""`any(a) + any(b)` is a number in Python, whose bools are numbers; JAX's are not, and `+` of two is `or`.

Before:
    count = (not a) + (k in keys)

After:
    count = ag__.number(not a) + ag__.number(k in keys)

So it is with `any`, `all` and `bool`, and with variables that are assigned nothing else. What compares arrays,
`(a > 0) + (b > 0)`, is JAX's.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import gast

from autograph_jax.analysis import writes
from autograph_jax.analysis.collect import parameters
from autograph_jax.converters.base import Pass
from autograph_jax.converters.tables import assigned
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_NUMBER = Template("ag__.number(VALUE)")
_GIVING_BOOLS = frozenset({"any", "all", "bool"})
_ARITHMETIC = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.LShift, gast.RShift)
_FIRST = frozenset({gast.Call, gast.UnaryOp, gast.Compare})  # where there is a bool, one of these is one
Names = frozenset[str]


def convert(tree: gast.AST, free: Collection[str] = ()) -> gast.AST:
    """`free` are the names that the function takes from a function around it."""
    nodes = walk(tree)
    if not any(_is_bool(node, frozenset()) for node in nodes if type(node) in _FIRST):
        return tree
    functions = [node for node in nodes if isinstance(node, gast.FunctionDef | gast.Lambda)]
    given = {parameter.id for function in functions for parameter in parameters(function)}
    if _GIVING_BOOLS & given.union(free, *(writes(function.body) for function in functions)):
        return tree
    return _Truths(_bools(nodes, given)).visit(tree)


def _bools(nodes: Sequence[gast.AST], given: Collection[str]) -> Names:
    """The variables that are assigned nothing but bools."""
    pairs = [(name, value) for name, value in assigned(nodes) if not _is_augmented(value)]
    known = frozenset(name for name, _ in pairs if name not in given)
    while others := {name for name, value in pairs if name in known and not _is_bool(value, known)}:
        known -= others
    return known


class _Truths(Pass):
    def __init__(self, bools: Names) -> None:
        self._bools = bools

    def visit_BinOp(self, node: gast.BinOp) -> gast.AST:
        self.generic_visit(node)
        if isinstance(node.op, _ARITHMETIC):
            node.left, node.right = self._number(node.left), self._number(node.right)
        return node

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST:
        self.generic_visit(node)
        target = node.target
        if not isinstance(node.op, _ARITHMETIC) or not isinstance(target, gast.Name) or target.id not in self._bools:
            return node
        before = self._number(gast.copy_location(gast.Name(target.id, gast.Load(), None, None), target))
        total = gast.copy_location(gast.BinOp(before, node.op, self._number(node.value)), node)
        return gast.copy_location(gast.Assign([target], total, None), node)

    def visit_Call(self, node: gast.Call) -> gast.AST:
        """`ag__.augment_name(n, '+=', v)`, which the writes have made of `n += v`."""
        self.generic_visit(node)
        if _is_augmented(node) and _is_bool(node.args[0], self._bools):
            node.args = [self._number(node.args[0]), node.args[1], self._number(node.args[2])]
        return node

    def visit_UnaryOp(self, node: gast.UnaryOp) -> gast.AST:
        self.generic_visit(node)
        if isinstance(node.op, gast.USub | gast.UAdd):
            node.operand = self._number(node.operand)
        return node

    def _number(self, node: gast.expr) -> gast.expr:
        return _NUMBER.expression(at=node, VALUE=node) if _is_bool(node, self._bools) else node


def _is_augmented(node: gast.AST) -> bool:
    return isinstance(node, gast.Call) and is_operator(node.func, "augment_name")


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
            return _is_bool(first, known) and _is_bool(second, known)
        case gast.NamedExpr(value=value):
            return _is_bool(value, known)
    return False
