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

In ported code traced data may decide how many elements there are to go through, `x[x > 1]` say. Each comes with whether it is
there, a condition like others:

    a = [v * 2 for v in x]
    b = sum(v for v in x)

    a = ag__.kept_list([ag__.kept(there, lambda: v * 2) for there, v in ag__.each_there(x)])
    b = sum(ag__.kept_of(ag__.each_there(x), lambda each: (ag__.kept(there, lambda: v) for there, v in each)))
"""

from __future__ import annotations

from typing import Any

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_KEPT = Template("ag__.kept(TEST, ELEMENT)")
_KEPT_LIST = Template("ag__.kept_list(VALUES)")
_KEPT_ONES = Template("ag__.kept_ones(VALUES)")
_DECIDED = Template("ag__.decided(TEST)")
_EACH_THERE = Template("ag__.each_there(VALUES)")
_KEPT_OF = Template("ag__.kept_of(EACH, MAKE)")


def convert(tree: gast.AST, names: Names, *, ported: bool = False) -> gast.AST:
    return _Comprehensions(names, ported).visit(tree)


class _Comprehensions(Pass):
    def __init__(self, names: Names, ported: bool) -> None:
        self._names, self._ported = names, ported

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
        is_list, has_condition = isinstance(node, gast.ListComp), bool(last.ifs)
        is_one = is_list or has_condition or len(node.generators) == 1
        may_be_open = self._ported and is_one and not writes(last.ifs) and not _assigns_places(last.target)
        if not (has_condition or may_be_open) or writes([node.elt, *last.ifs[1:]]) or last.is_async:
            _decide(node.generators)  # a walrus in a lambda would bind the lambda's own variable
            return node
        _decide(node.generators[:-1])
        tests, last.ifs = last.ifs, []
        if may_be_open:
            tests.insert(0, self._is_there(last))
        test = tests[0] if len(tests) == 1 else gast.copy_location(gast.BoolOp(gast.And(), tests), tests[0])
        element = template.lambda_of(node.elt, at=node.elt)
        node.elt = _KEPT.expression(at=node.elt, TEST=test, ELEMENT=element)
        if is_list or has_condition:
            return operator.expression(at=node, VALUES=node)
        each, last.iter = last.iter, template.name(self._names.fresh("each"), at=last.iter)
        make: Any = template.lambda_of(node, at=node)
        make.args.args = [template.parameter(last.iter.id, at=node)]
        return _KEPT_OF.expression(at=node, EACH=each, MAKE=make)

    def _is_there(self, generator: gast.comprehension) -> gast.expr:
        """The condition that an element is there, which the generator takes from now on beside it."""
        name, at = self._names.fresh("there"), generator.target
        generator.target = template.tuple_of([template.name(name, at=at, store=True), at], at=at, store=True)
        generator.iter = _EACH_THERE.expression(at=generator.iter, VALUES=generator.iter)
        return template.name(name, at=at)


def _assigns_places(target: gast.expr) -> bool:
    """`for d[k] in x`: that of an element that is not there must not be written."""
    return any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(target))


def _decide(generators: list[gast.comprehension]) -> None:
    for generator in generators:
        generator.ifs = [_DECIDED.expression(at=test, TEST=test) for test in generator.ifs]
