"""Conditions in comprehensions become operators, since traced data may decide what is kept.

Before:
    a = [v * 2 for v in x if v > 1]
    b = sum(v for v in x if v > 1)
    c = {k: v for k, v in d.items() if k != 'a'}

After:
    a = ag__.kept_list([ag__.kept(v > 1, lambda: v * 2) for v in x])
    b = sum(ag__.kept_ones((ag__.kept(v > 1, lambda: v) for v in x)))
    c = {k: v for k, v in d.items() if ag__.decided(k != 'a')}

A condition of an outer `for`, and one in a set or dict, has to be a plain value.
"""

from __future__ import annotations

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template

_KEPT = Template("ag__.kept(TEST, ELEMENT)")
_KEPT_LIST = Template("ag__.kept_list(VALUES)")
_KEPT_ONES = Template("ag__.kept_ones(VALUES)")
_DECIDED = Template("ag__.decided(TEST)")


def convert(tree: gast.AST) -> gast.AST:
    return _Comprehensions().visit(tree)


class _Comprehensions(Pass):
    def visit_ListComp(self, node: gast.ListComp) -> gast.AST:
        return self._kept(node, _KEPT_LIST)

    def visit_GeneratorExp(self, node: gast.GeneratorExp) -> gast.AST:
        return self._kept(node, _KEPT_ONES)

    def visit_SetComp(self, node: gast.SetComp | gast.DictComp) -> gast.AST:
        self.generic_visit(node)
        _decide(node.generators)
        return node

    visit_DictComp = visit_SetComp

    def _kept(self, node: gast.ListComp | gast.GeneratorExp, operator: Template) -> gast.AST:
        self.generic_visit(node)
        last = node.generators[-1]
        if not last.ifs or writes([node.elt, *last.ifs[1:]]) or last.is_async:
            _decide(node.generators)  # a walrus in a lambda would bind the lambda's own variable
            return node
        _decide(node.generators[:-1])
        tests, last.ifs = last.ifs, []
        test = tests[0] if len(tests) == 1 else gast.copy_location(gast.BoolOp(gast.And(), tests), tests[0])
        element = template.lambda_of(node.elt, at=node.elt)
        node.elt = _KEPT.expression(at=node.elt, TEST=test, ELEMENT=element)
        return operator.expression(at=node, VALUES=node)


def _decide(generators: list[gast.comprehension]) -> None:
    for generator in generators:
        generator.ifs = [_DECIDED.expression(at=test, TEST=test) for test in generator.ifs]
