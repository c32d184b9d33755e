"""Each element of a comprehension in ported code comes with whether it is there: traced data may decide about their number.

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
"""

from __future__ import annotations

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_EACH_THERE = Template("ag__.each_there(VALUES)")
_ONES_THERE = Template("ag__.ones_there(EACH, lambda EACH_NAME: ONES)")


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _OpenLengths(names).visit(tree)


class _OpenLengths(Pass):
    def __init__(self, names: Names) -> None:
        self._names = names

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
        target, is_there = last.target, template.name(name, at=last.target)
        last.target = template.tuple_of([template.name(name, at=target, store=True), target], at=target, store=True)
        last.iter = _EACH_THERE.expression(at=last.iter, VALUES=last.iter)
        tests = [is_there, *last.ifs]
        last.ifs = [gast.copy_location(gast.BoolOp(gast.And(), tests), target)] if last.ifs else tests
        return True


def _assigns_places(target: gast.expr) -> bool:
    """`for d[k] in x`: what is not there must not be written."""
    return any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(target))
