"""Reads in inner functions that may find a variable of the function around without a value.

if x > 0:
    k = 1.0

def g():
    return k
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import gast

from autograph_jax.analysis.collect import scopes_in
from autograph_jax.analysis.scopes import Scope
from autograph_jax.syntax.walk import children

_BLOCKS = (gast.If, gast.For, gast.AsyncFor, gast.While, gast.Try, gast.TryStar, gast.With, gast.AsyncWith, gast.Match)


def unbound_captures(
    scope: Scope, scopes: Mapping[gast.AST, Scope], unbound_before: Mapping[gast.stmt, frozenset[str]]
) -> Iterator[gast.Name]:
    """The Names in the functions, lambdas and generators of a function that read what has no value where these are made.

    Of its variables only those count that a block or a part of an expression assigns, for which traced data may decide.
    """
    names = scope.captured() & scope.bound
    if names and (names := names & _assigned_by_blocks(scope)):
        for statement in unbound_before:
            for inner in _scopes_of(statement, scopes):
                yield from _reads(inner, names & unbound_before[statement], scopes)


def _assigned_by_blocks(scope: Scope) -> frozenset[str]:
    body = [] if isinstance(scope.node, gast.Lambda) else getattr(scope.node, "body", [])
    blocks = [statement for statement in body if isinstance(statement, _BLOCKS)]
    by_walrus = {node.target.id for node in scope.assignments if isinstance(node, gast.NamedExpr)}
    return frozenset(scopes_in(blocks, functions=False).written() | by_walrus | scope.inner_writes())


def _scopes_of(statement: gast.stmt, scopes: Mapping[gast.AST, Scope]) -> Iterator[Scope]:
    """The scopes that a statement opens itself, not the statements in it."""
    pending: list[gast.AST] = [statement]
    while pending:
        node = pending.pop()
        if node in scopes:
            yield scopes[node]
        elif node is statement or not isinstance(node, gast.stmt):
            pending += children(node)


def _reads(scope: Scope, names: frozenset[str], scopes: Mapping[gast.AST, Scope]) -> Iterator[gast.Name]:
    names &= scope.free
    pending = list(children(scope.node)) if names and scope.node is not None else []
    while pending:
        node = pending.pop()
        if node in scopes:
            yield from _reads(scopes[node], names, scopes)
        elif isinstance(node, gast.Name):
            if node.id in names and isinstance(node.ctx, gast.Load):
                yield node
        else:
            pending += children(node)
