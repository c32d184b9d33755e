"""One construct, one file: a tree goes in, a tree comes out. `convert_tree` runs them in order. Never imports jax."""

from __future__ import annotations

import gast

from autograph_jax.analysis import Facts, analyse
from autograph_jax.converters import blocks, expressions, matches, plain, stores
from autograph_jax.syntax.names import Names, hide_operators, restore_operators


def convert_tree(tree: gast.AST, class_name: str | None = None) -> tuple[gast.AST, Names, dict[gast.AST, Facts]]:
    """The converted tree of a function or lambda, the names that were made for it, and facts about its statements.

    Changes the tree it is given.

    The order: `plain` writes out what only works inside a class; `matches` makes if chains; `stores` makes item writes
    into assignments, which the blocks then count as written variables; `blocks` cuts statements into functions, and
    needs facts about the tree as the stores left it; `expressions` last, when tests stand where they will be evaluated.
    """
    names = Names(tree)
    hide_operators(tree, names)
    tree = plain.convert(tree, class_name)
    tree = matches.convert(tree, names)
    tree = stores.convert(tree, analyse(tree), names)
    facts = analyse(tree)
    tree = blocks.convert(tree, facts, names)
    tree = expressions.convert(tree, facts)
    restore_operators(tree, names)
    return tree, names, facts
