"""Elements of several arrays by one mask, of which traced data says how many they are: each where it belongs.

Before:
    m = b < a
    a[m] = b[m] * 2

After:
    m = b < a
    a[m] = ag__.marked(b, m) * 2

So it is on the right of a write to `a[m]`, in a sum, product and the like. A mask is a variable that the function assigns a
comparison, what `~`, `&` and `|` make of one, or what functions give that ask each element: `jnp.isnan(a)`.
"""

from __future__ import annotations

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.converters.tables import Names, assigned, closure
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_MARKED = Template("ag__.marked(ARRAY, MASK)")
_ELEMENTWISE = (gast.BinOp, gast.UnaryOp, gast.Constant, gast.Name, gast.Attribute, gast.Subscript, gast.operator, gast.unaryop)


_ASKING = frozenset("isnan isinf isfinite isclose isin less less_equal greater greater_equal equal not_equal".split())
_ASKING |= {"logical_and", "logical_or", "logical_not", "logical_xor"}


def convert(tree: gast.AST) -> gast.AST:
    masks = closure(list(assigned(walk(tree))), _is_mask)
    return _Masks(masks).visit(tree) if masks else tree


def _is_mask(node: gast.AST, known: Names) -> bool:
    match node:
        case gast.Name(id=name):
            return name in known
        case gast.UnaryOp(op=gast.Invert(), operand=inner):
            return _is_mask(inner, known)
        case gast.BinOp(op=gast.BitAnd() | gast.BitOr() | gast.BitXor(), left=left, right=right):
            return _is_mask(left, known) or _is_mask(right, known)
        case gast.Call(func=gast.Attribute(attr=name)):
            return name in _ASKING
    return isinstance(node, gast.Compare)


class _Masks(Pass):
    def __init__(self, masks: Names) -> None:
        self._masks = masks

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        if len(node.targets) == 1:
            node.value = self._with_marked(node.value, node.targets[0])
        return node

    def visit_AugAssign(self, node: gast.AugAssign) -> gast.AST:
        node.value = self._with_marked(node.value, node.target)
        return node

    def _with_marked(self, value: gast.expr, target: gast.expr) -> gast.expr:
        if not isinstance(target, gast.Subscript) or not isinstance(target.slice, gast.Name):
            return value
        parts = [part for part in walk(value) if not isinstance(part, gast.expr_context)]
        is_elementwise = target.slice.id in self._masks and all(isinstance(part, _ELEMENTWISE) for part in parts)
        return _Marked(target.slice.id).visit(value) if is_elementwise else value


class _Marked(Pass):
    def __init__(self, mask: str) -> None:
        self._mask = mask

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        if not isinstance(node.slice, gast.Name) or node.slice.id != self._mask:
            return node
        return _MARKED.expression(at=node, ARRAY=node.value, MASK=node.slice)
