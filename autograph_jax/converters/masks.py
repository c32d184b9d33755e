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
_BITWISE = (gast.BitAnd, gast.BitOr, gast.BitXor)
_ELEMENTWISE = (gast.Add, gast.Sub, gast.Mult, gast.Div, gast.FloorDiv, gast.Mod, gast.Pow, *_BITWISE)
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
        is_mask = target.slice.id in self._masks and _is_by_element(value, target.slice.id)
        return _Marked(target.slice.id).visit(value) if is_mask else value


def _is_by_element(node: gast.expr, mask: str) -> bool:
    """Is what a mask picks computed with element by element, and not summed, indexed or handed on?"""
    match node:
        case gast.BinOp(left=left, op=operation, right=right):
            return isinstance(operation, _ELEMENTWISE) and _is_by_element(left, mask) and _is_by_element(right, mask)
        case gast.UnaryOp(op=gast.USub() | gast.UAdd() | gast.Invert(), operand=inner):
            return _is_by_element(inner, mask)
        case gast.Subscript(value=whole, slice=gast.Name(id=name)) if name == mask:
            return not _picks(whole, mask)
    return not _picks(node, mask)


def _picks(node: gast.expr, mask: str) -> bool:
    subscripts = (part for part in walk(node) if isinstance(part, gast.Subscript))
    return any(isinstance(part.slice, gast.Name) and part.slice.id == mask for part in subscripts)


class _Marked(Pass):
    def __init__(self, mask: str) -> None:
        self._mask = mask

    def visit_Subscript(self, node: gast.Subscript) -> gast.AST:
        if not isinstance(node.slice, gast.Name) or node.slice.id != self._mask:
            return node
        return _MARKED.expression(at=node, ARRAY=node.value, MASK=node.slice)
