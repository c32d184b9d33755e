"""While a debugger looks on, a block sees each variable of the function that it is a piece of, not only those it mentions.

Before:
    def step(x, rate):
        if x > 0:
            x = 2 * x
        return x

After:
    def step(x, rate):
        def then():
            nonlocal rate, x
            x = 2 * x
        ag__.if_stmt(x > 0, then, None, 'x')
        return x

So `p rate` answers in the branch. `nonlocal` alone makes a variable one of the block's frame; no instruction reads it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import gast

from autograph_jax.analysis.collect import scope_by_node, scopes_in
from autograph_jax.analysis.scopes import Scope
from autograph_jax.converters.base import Pass
from autograph_jax.syntax.names import Names


def convert(tree: gast.AST, names: Names, free: Collection[str] = ()) -> gast.AST:
    """`free` are the names that the function takes from a function around it."""
    return _Debugged(scope_by_node(scopes_in(tree)), names, frozenset(free)).visit(tree)


class _Debugged(Pass):
    def __init__(self, scopes: Mapping[gast.AST, Scope], names: Names, free: frozenset[str]) -> None:
        self._scopes, self._names, self._visible = scopes, names, free

    def function(self, node: gast.FunctionDef) -> gast.AST:
        around, scope = self._visible, self._scopes[node]
        own = frozenset(filter(self._names.is_users, scope.bound))
        if node.name in self._names.blocks:
            shown = around - scope.bound - scope.declared_global - scope.declared_nonlocal
            self._visible = around | own
        else:
            shown = frozenset()
            self._visible = own | (around & scope.free)
        self.generic_visit(node)
        if shown:
            declared = [s for s in node.body[:2] if isinstance(s, gast.Nonlocal)]
            if not declared:
                declared = [gast.copy_location(gast.Nonlocal([]), node)]
                node.body[:0] = declared
            declared[0].names = sorted({*declared[0].names, *shown})
        self._visible = around
        return node
