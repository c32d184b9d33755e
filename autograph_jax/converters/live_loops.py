"""A loop over an array that its body writes: NumPy's iterator sees the writes, so each turn reads the array as it is by then.

Before:
    for k, v in enumerate(a):
        a[k + 1] = v

After:
    for k, v in enumerate(ag__.live(a, lambda: a)):
        a[k + 1] = v
"""

from __future__ import annotations

from collections.abc import Mapping

import gast

from autograph_jax.analysis import NameFacts, reads, writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_LIVE = Template("ag__.live(VALUE, READ)")
_OVER_SEVERAL = frozenset({"enumerate", "zip", "reversed"})


def convert(tree: gast.AST, facts: Mapping[gast.AST, NameFacts]) -> bool:
    """Mark these loops in a tree, in place. Gives whether there were any."""
    marker = _LiveLoops(facts)
    marker.visit(tree)
    return marker.found


class _LiveLoops(Pass):
    def __init__(self, facts: Mapping[gast.AST, NameFacts]) -> None:
        self._facts = facts
        self._scopes: list[NameFacts] = []
        self._inner: list[list[gast.Subscript]] = []  # for each function around: what the functions in it write
        self.found = False

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._scopes.append(self._facts[node])
        functions = [n for n in walk(node) if isinstance(n, gast.FunctionDef) and n is not node]
        self._inner.append([w for f in functions for w in _written(f.body) if _root(w) not in self._facts[f].bound])
        self.generic_visit(node)
        self._scopes.pop()
        self._inner.pop()
        return node

    def visit_For(self, node: gast.For) -> gast.AST:
        self.generic_visit(node)
        written = _written(node.body)
        if any(isinstance(inner, gast.Call) for statement in node.body for inner in walk(statement)):
            written += [subscript for inner in self._inner for subscript in inner]
        if written and self._scopes:
            node.iter = self._marked(node.iter, node, written)
        return node

    def _marked(self, iterable: gast.expr, loop: gast.For, written: list[gast.Subscript]) -> gast.expr:
        if isinstance(iterable, gast.Call) and isinstance(iterable.func, gast.Name) and iterable.func.id in _OVER_SEVERAL:
            iterable.args = [self._marked(argument, loop, written) for argument in iterable.args]
            return iterable
        if _is_choice(iterable):
            arrays = [array for node in walk(iterable) if isinstance(node, gast.expr) and (array := _array_of(node))]
        else:
            arrays = [array] if (array := _array_of(iterable)) is not None else []
        if not any(self._may_be_one(array, place.value) for place in written for array in arrays):
            return iterable
        self.found = True
        stable = not _is_choice(iterable) and not (reads(iterable) | writes(iterable)) & writes([loop.target, *loop.body])
        # Where one of several arrays is looped over, or the body gives the variable another, nobody can say which it is.
        read = template.lambda_of(iterable, at=iterable) if stable else template.constant(None, at=iterable)
        return _LIVE.expression(at=iterable, VALUE=iterable, READ=read)

    def _may_be_one(self, array: gast.expr, written: gast.expr) -> bool:
        written = _array_of(written) or written
        if isinstance(array, gast.Name) and isinstance(written, gast.Name):
            return written.id == array.id or written.id in self._scopes[-1].aliases.get(array.id, frozenset())
        return gast.dump(array) == gast.dump(written)


def _written(statements: list[gast.stmt]) -> list[gast.Subscript]:
    nodes = (node for statement in statements for node in walk(statement))
    return [node for node in nodes if isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store)]


def _root(subscript: gast.expr) -> str | None:
    """The variable whose array is written."""
    while isinstance(subscript, gast.Subscript | gast.Attribute):
        subscript = subscript.value
    return subscript.id if isinstance(subscript, gast.Name) else None


def _is_choice(expression: gast.expr) -> bool:
    """`a if c else b`, `a or b`, `(x := a)`: one of the arrays in it."""
    return isinstance(expression, gast.IfExp | gast.BoolOp | gast.NamedExpr)


def _array_of(expression: gast.expr) -> gast.expr | None:
    """The variable or attribute whose array is looped over: a of `a`, `a[1:]`, `self.a.T`."""
    while isinstance(expression, gast.Subscript) or isinstance(expression, gast.Attribute) and expression.attr == "T":
        expression = expression.value
    inner = expression
    while isinstance(inner, gast.Attribute):
        inner = inner.value
    return expression if isinstance(inner, gast.Name) else None
