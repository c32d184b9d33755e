"""`locals()` and `vars()` in a function become a dict of its variables, since a block is a frame of its own.

x = a + 1                           x = a + 1
return locals()             ->      return ag__.local_variables(a=a, x=x)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import gast

from autograph_jax.analysis.collect import parameters, scope_by_node, scopes_in
from autograph_jax.analysis.scopes import Scope
from autograph_jax.converters.base import Pass
from autograph_jax.converters.unsupported import LOCAL_VARIABLES, looks_at_variables
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_LOCAL_VARIABLES = Template("ag__.local_variables()")


def convert(tree: gast.AST, free: Collection[str] = ()) -> gast.AST:
    """`free` are the names that the function takes from a function around it."""
    scopes = scope_by_node(scopes_in(tree))
    if any(scope.reads & LOCAL_VARIABLES for scope in scopes.values()):
        return _LocalVariables(scopes, frozenset(free)).visit(tree)
    return tree


class _LocalVariables(Pass):
    def __init__(self, scopes: Mapping[gast.AST, Scope], free: frozenset[str]) -> None:
        self._scopes, self._around, self._names = scopes, free, list[str]()

    def function(self, node: gast.FunctionDef) -> gast.AST:
        names, around, scope = self._names, self._around, self._scopes[node]
        self._names = [*_in_order(node, scope), *sorted(scope.free & around - scope.bound)]
        self._around = around | scope.bound
        self.generic_visit(node)
        self._names, self._around = names, around
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node  # one that asks for its variables is left as it is

    def visit_Call(self, node: gast.Call) -> gast.AST:
        if not looks_at_variables(node) or LOCAL_VARIABLES & self._around:
            return self.generic_visit(node)
        call = _LOCAL_VARIABLES.expression(at=node)
        assert isinstance(call, gast.Call)
        call.keywords = [template.keyword(name, template.name(name, at=node), at=node) for name in self._names]
        return call


def _in_order(node: gast.FunctionDef, scope: Scope) -> list[str]:
    """A function's own variables: its parameters, then the others as they come."""
    first = [parameter.id for parameter in parameters(node)]
    names = [inner for inner in walk(node) if isinstance(inner, gast.Name) and inner.id in scope.bound]
    names.sort(key=lambda name: (getattr(name, "lineno", 0), getattr(name, "col_offset", 0)))
    return list(dict.fromkeys([*first, *(name.id for name in names), *sorted(scope.bound)]))
