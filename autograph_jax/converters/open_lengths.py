"""Each element of a comprehension comes with whether it is there, where traced data may decide about their number.

Before:
    a = [v * 2 for v in x]
    b = sum(v for v in x if v > 1)
    c = sum(v for v in x)

After:
    a = [v * 2 for (there, v) in ag__.each_there(x) if there]
    b = sum(v for (there, v) in ag__.each_there(x) if there and v > 1)
    c = sum(ag__.ones_there(ag__.each_there(x), lambda each: (v for (there, v) in each if there)))

A generator without a condition stays Python's own where all its elements are there.
So `x[x > 1]` is gone through, and a condition is a condition (`comprehensions`). Sets and dicts have to know their elements.

In ported code that may be anything. Else it is what a comprehension with a condition, `filter` or `max_len` has given.
"""

from __future__ import annotations

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters import tables
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_PASSING_ON = frozenset({"sorted", "list", "reversed", "enumerate", "zip", "map"})
_EACH_THERE = Template("ag__.each_there(VALUES)")
_ONES_THERE = Template("ag__.ones_there(EACH, lambda EACH_NAME: ONES)")


def convert(tree: gast.AST, names: Names, *, ported: bool) -> gast.AST:
    return _OpenLengths(names, None if ported else tables.closure(list(tables.assigned(walk(tree))), _is_open)).visit(tree)


def _is_open(node: gast.AST, known: frozenset[str]) -> bool:
    """Is this a list of open length, or a variable that may hold one, or is made of one?"""
    match node:
        case gast.ListComp(generators=generators) | gast.GeneratorExp(generators=generators):
            return bool(generators[-1].ifs) or _is_open(generators[-1].iter, known)
        case gast.Call(func=gast.Name(id="filter" | "max_len")) | gast.Call(func=gast.Attribute(attr="max_len")):
            return True
        case gast.Call(func=function, args=[values, *_]) if is_operator(function, "rows", "view", "view_at"):
            return _is_open(values, known)
        case gast.Call(func=gast.Name(id=name), args=values) if name in _PASSING_ON:
            return any(_is_open(value, known) for value in values)
        case gast.Subscript(value=values, slice=gast.Slice()):
            return _is_open(values, known)
        case gast.BinOp(left=left, right=right):
            return _is_open(left, known) or _is_open(right, known)
    return isinstance(node, gast.Name) and node.id in known


class _OpenLengths(Pass):
    def __init__(self, names: Names, variables: frozenset[str] | None) -> None:
        """`variables` may hold lists of open length; None where anything may be one."""
        self._names, self._variables = names, variables

    def visit_ListComp(self, node: gast.ListComp) -> gast.AST:
        self.generic_visit(node)
        self._open(node)
        return node

    def visit_GeneratorExp(self, node: gast.GeneratorExp) -> gast.AST:
        self.generic_visit(node)
        is_bare = len(node.generators) == 1 and not node.generators[0].ifs
        if not self._open(node) or not is_bare:
            return node
        [generator], name = node.generators, self._names.fresh("each")
        each, generator.iter = generator.iter, template.name(name, at=generator.iter)
        return _ONES_THERE.expression(at=node, EACH=each, EACH_NAME=template.parameter(name, at=node), ONES=node)

    def _open(self, node: gast.ListComp | gast.GeneratorExp) -> bool:
        """Make the elements of the last `for` conditional, if what is done with them may be left out."""
        last, name = node.generators[-1], self._names.fresh("there")
        if last.is_async or writes([node.elt, *last.ifs]) or _assigns_places(last.target):
            return False
        if self._variables is not None and not _is_open(last.iter, self._variables):
            return False
        target, is_there = last.target, template.name(name, at=last.target)
        last.target = template.tuple_of([template.name(name, at=target, store=True), target], at=target, store=True)
        last.iter = _EACH_THERE.expression(at=last.iter, VALUES=last.iter)
        tests = [is_there, *last.ifs]
        last.ifs = [gast.copy_location(gast.BoolOp(gast.And(), tests), target)] if last.ifs else tests
        return True


def _assigns_places(target: gast.expr) -> bool:
    """`for d[k] in x`: what is not there must not be written."""
    return any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(target))
