"""Tables that a loop fills: `table[i, j] = ...`, of dynamic programs, which often need the last rows only."""

from __future__ import annotations

import gast

from autograph_jax.syntax.walk import walk

_LOOPS = (gast.For, gast.While)


def fills_tables(tree: gast.AST) -> bool:
    """Is there a loop in it that writes where several indices say?"""
    loops = (node for node in walk(tree) if isinstance(node, _LOOPS))
    return any(_is_write(inner) for loop in loops for inner in walk(loop))


def _is_write(node: gast.AST) -> bool:
    match node:
        case gast.Subscript(value=gast.Subscript() | gast.Attribute(attr="at"), slice=gast.Tuple()):
            return True
        case gast.Subscript(value=gast.Subscript(), ctx=gast.Store()):
            return True
        case gast.Subscript(slice=gast.Tuple(), ctx=gast.Store()):
            return True
    return False
