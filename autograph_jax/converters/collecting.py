"""What a comprehension has collected so far is remembered until it ends, since what it calls next may write that.

Before:
    a = [s.step(k) for k in ks]
    b = list(s.step(k) for k in ks)

After:
    a = [ag__.collect(s.step(k)) for k in ag__.collecting(ks)]
    b = list((ag__.give(given, s.step(k)) for (given, k) in ag__.giving(ks)))

Where `step` writes an array and gives it, all elements of NumPy's lists are that array. What is new, `f(k) + 1`, need not be
remembered; but what `f` writes may be among what the comprehension has yet to take. One that calls nothing stays as it is.
"""

from __future__ import annotations

from typing import Any

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.converters.views import KEEP_NOTHING, REDUCING
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import children

_COLLECT = Template("ag__.collect(VALUE)")
_COLLECTING = Template("ag__.collecting(VALUES)")
_GIVE = Template("ag__.give(NAME_, VALUE)")
_GIVING = Template("ag__.giving(VALUES)")
# Python's functions that call none of the user's, and methods of dicts.
_CALL_NOTHING = KEEP_NOTHING | frozenset("dict enumerate isinstance list reversed set tuple zip".split())
_METHODS = frozenset({"items", "keys", "values"})
_NEW = (gast.BinOp, gast.Compare, gast.Constant, gast.JoinedStr, gast.Lambda, gast.UnaryOp)  # no array that was there before


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Collecting(names).visit(tree)


class _Collecting(Pass):
    def __init__(self, names: Names) -> None:
        self._given = names.fresh("given")
        self._reduced: set[gast.expr] = set()  # generators of which nothing is kept: `sum(f(v) for v in x)`

    def visit_Call(self, node: gast.Call) -> gast.Call:
        if isinstance(node.func, gast.Name) and node.func.id in REDUCING:
            self._reduced |= {argument for argument in node.args if isinstance(argument, gast.GeneratorExp)}
        self.generic_visit(node)
        return node

    def visit_ListComp(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        node.elt = self._collected(node, node.elt)
        return node

    visit_SetComp = visit_ListComp

    def visit_DictComp(self, node: gast.DictComp) -> gast.AST:
        self.generic_visit(node)
        node.value = self._collected(node, node.value)
        return node

    def _collected(self, node: Any, element: gast.expr) -> gast.expr:
        if not _may_write(node):
            return element
        _go_through(node, _COLLECTING)
        return _COLLECT.expression(at=element, VALUE=element) if _may_be_there(element) else element

    def visit_GeneratorExp(self, node: gast.GeneratorExp) -> gast.AST:
        self.generic_visit(node)
        if _may_write(node):
            if node not in self._reduced and _may_be_there(node.elt):
                node.elt = _GIVE.expression(at=node.elt, NAME_=self._given, VALUE=node.elt)
            _go_through(node, _GIVING)
            first: Any = node.generators[0]
            given = gast.Name(self._given, gast.Store(), None, None)
            first.target = gast.copy_location(gast.Tuple([given, first.target], gast.Store()), first.target)
        return node


def _go_through(node: Any, operator: Template) -> None:
    first = node.generators[0]
    if is_operator(getattr(first.iter, "func", first.iter), "rows"):
        (first.iter,) = first.iter.args
    first.iter = operator.expression(at=first.iter, VALUES=first.iter)


def _may_write(node: Any) -> bool:
    """May a comprehension write an array, by what it calls?"""
    return not any(one.is_async for one in node.generators) and any(map(_calls, children(node)))


def _may_be_there(element: Any) -> bool:
    """May this be, or hold, an array that is somewhere else as well?"""
    match element:
        case gast.Call(func=gast.Name(id=name)):
            return name not in KEEP_NOTHING
        case gast.Call(func=function, args=[_, gast.Lambda(body=body)]) if is_operator(function, "kept"):
            return _may_be_there(body)
        case gast.IfExp(body=body, orelse=orelse):
            return _may_be_there(body) or _may_be_there(orelse)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            return any(map(_may_be_there, elements))
    return not isinstance(element, _NEW)


def _calls(node: Any) -> bool:
    """May this call a function of the user's?"""
    if isinstance(node, gast.Call) and not is_operator(node.func):
        name = node.func.attr if isinstance(node.func, gast.Attribute) else getattr(node.func, "id", None)
        if name not in (_METHODS if isinstance(node.func, gast.Attribute) else _CALL_NOTHING):
            return True
    return any(map(_calls, children(node)))
