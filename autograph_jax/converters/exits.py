"""Where return, break and continue leave from: questions about statements that the blocks converter asks.

A block is a function, and what ends it early is what it returns: `continue` returns nothing, `break` returns `ag__.break_`,
and `return v` inside a loop returns `ag__.Return(v)`. What follows an `if` that may leave is moved into the path that goes
on, so that no flag has to be carried.
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

_SCOPES = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Lambda)
NATIVE = (gast.With, gast.Try, gast.TryStar)
_LOOPS = (gast.For, gast.While)
_STRAIGHT_ON = (gast.Assign, gast.AugAssign, gast.Expr)  # as most statements do


def may_exit(node: gast.AST | Sequence[gast.AST]) -> bool:
    """Can this leave the block around it by return, break or continue?"""
    return _may_exit(node, in_loop=False)


def _may_exit(node: gast.AST | Sequence[gast.AST], *, in_loop: bool) -> bool:
    if not isinstance(node, gast.AST):
        return any(_may_exit(child, in_loop=in_loop) for child in node)
    if isinstance(node, _STRAIGHT_ON):
        return False
    if isinstance(node, _SCOPES):
        return False
    if isinstance(node, gast.Break | gast.Continue):
        return not in_loop
    if isinstance(node, gast.Return):
        return True
    if isinstance(node, _LOOPS):
        return _may_exit(node.body, in_loop=True) or _may_exit(node.orelse, in_loop=in_loop)
    if isinstance(node, gast.stmt):
        return any(_may_exit(child, in_loop=in_loop) for child in suites(node))
    return False


def suites(statement: gast.stmt) -> list[list[gast.stmt]]:
    """The statement lists directly inside a compound statement."""
    lists = [getattr(statement, name, None) or [] for name in ("body", "orelse", "finalbody")]
    return lists + [handler.body for handler in getattr(statement, "handlers", [])]


def exits_staged(statement: gast.stmt) -> bool:
    """Does a with or try hold an `if` or loop that may leave? (A bare `return` in it is left to Python.)"""
    final = getattr(statement, "finalbody", None) or []
    for inner in (s for suite in suites(statement) if suite is not final for s in suite):
        if isinstance(inner, gast.If | gast.While | gast.For):
            if may_exit(inner):
                return True
        elif isinstance(inner, NATIVE) and exits_staged(inner):
            return True
    return False


def always_exits(statements: Sequence[gast.stmt]) -> bool:
    """Does every path through these statements leave by return, break, continue or raise?"""
    for statement in statements:
        if isinstance(statement, gast.Return | gast.Break | gast.Continue | gast.Raise):
            return True
        if isinstance(statement, gast.If) and always_exits(statement.body) and always_exits(statement.orelse):
            return True
    return False
