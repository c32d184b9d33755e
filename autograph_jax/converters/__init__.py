"""One construct, one file: a tree goes in, a tree comes out. `convert_tree` runs them in order. Never imports jax."""

from __future__ import annotations

import dataclasses
import functools
import sys
from collections.abc import Collection

import gast

from autograph_jax.analysis import Facts, analyse, analyse_names, deciding_names
from autograph_jax.analysis.tables import fills_tables
from autograph_jax.converters import (
    attempts,
    blocks,
    collecting,
    comprehension_names,
    comprehensions,
    debugged,
    expressions,
    generators,
    growing,
    list_operands,
    live_loops,
    local_variables,
    masks,
    matches,
    open_lengths,
    plain,
    powers,
    products,
    raising,
    stores,
    truths,
    unpacking,
    views,
    yielding,
)
from autograph_jax.converters.unsupported import LOCAL_VARIABLES
from autograph_jax.syntax.names import Names, hide_operators, restore_operators
from autograph_jax.syntax.walk import walk


@dataclasses.dataclass(frozen=True)
class Converted:
    """A converted tree, the names made for it, and what is known about the statements that it was made of."""

    tree: gast.AST
    names: Names
    facts: dict[gast.AST, Facts]
    deciding: dict[tuple[int, int], frozenset[str]]  # by position of its test: what decides about a while loop
    fills_tables: bool = False


def convert_tree(
    tree: gast.AST,
    class_name: str | None = None,
    *,
    free: Collection[str] = (),
    ported: bool = False,
    is_debugged: bool = False,
) -> Converted:
    """Convert the tree of a function or lambda. Changes the tree it is given. Of `ported` code all subscripts are converted.

    `free` are the names that the function takes from a function around it.

    The order: `plain` writes out what only works inside a class, `comprehension_names` tells variables apart that Python
    takes for one, `local_variables` writes out what looks at the frame; `growing` marks lists of ported code; `matches` makes
    if chains; `yielding` cuts ifs at their yields; `live_loops` marks loops over arrays that they write, before `attempts`
    moves these arrays; `unpacking` and `views` mark what shares memory with them; `stores` makes item writes into
    assignments, which the blocks then count as written variables; `generators` marks what stays Python's; `blocks` cuts
    statements into functions, and needs facts about the tree as the stores left it; `debugged` shows these all variables;
    `open_lengths`, also of ported code, `comprehensions`, `collecting`, `list_operands`, `products`, `powers`, `truths`,
    `raising` and `expressions` last, when tests stand where they will be evaluated.
    """
    names = Names(tree)
    has = _Kinds(tree)
    if has.arithmetic_alone and class_name is None and not ported and not is_debugged:
        return Converted(tree, names, analyse(tree), {})
    fills = has.any(gast.Subscript) and has.any(gast.For, gast.While) and fills_tables(tree)
    hide_operators(tree, names)
    if class_name is not None or has.any(gast.AnnAssign) or names.is_users("super"):  # the three that it writes out
        tree = plain.convert(tree, class_name)
    if sys.version_info >= (3, 12) and has.any(gast.ListComp, gast.SetComp, gast.DictComp):
        tree = comprehension_names.convert(tree, names)
    if any(map(names.is_users, LOCAL_VARIABLES)):
        tree = local_variables.convert(tree, free)
    lists = list_operands.names_of_lists(tree) if ported else frozenset[str]()
    if ported:
        tree = growing.convert(tree)
    if has.any(gast.Match):
        tree = matches.convert(tree, names)
    if has.any(gast.Yield):
        tree = yielding.convert(tree, names)
    name_facts = analyse_names(tree)
    is_other = has.any(gast.For) and has.writes_items and live_loops.convert(tree, name_facts)
    if has.any(gast.Try, gast.TryStar):
        tree, is_other = attempts.convert(tree, names, ported=ported), True
    if is_other:
        name_facts = analyse_names(tree)
    if has.any(gast.Tuple, gast.List):
        tree = unpacking.convert(tree, name_facts, names)
    if not ported and has.writes_items:
        tree = masks.convert(tree)
    tree = views.convert(tree, name_facts, writes_items=has.writes_items)
    tree = stores.convert(tree, name_facts, names, ported=ported)
    if has.any(gast.Yield, gast.YieldFrom):
        tree = generators.convert(tree, names)
    facts = analyse(tree)
    loops = [node for node in walk(tree) if isinstance(node, gast.While)] if has.any(gast.While) else []
    deciding = {_position(loop.test): deciding_names(loop) for loop in loops}
    tree = blocks.convert(tree, facts, names, lambdas=not is_debugged)
    if is_debugged:
        tree = debugged.convert(tree, names, free)
    if has.any(gast.ListComp, gast.GeneratorExp):
        tree = open_lengths.convert(tree, names, ported=ported)
    if has.any(gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp):
        tree = collecting.convert(comprehensions.convert(tree), names)
    if ported:
        tree = products.convert(list_operands.convert(tree, lists))
    if has.any(gast.Pow):
        tree = powers.convert(tree)
    if has.any(gast.BinOp, gast.UnaryOp, gast.AugAssign):
        tree = truths.convert(tree, free)
    if has.any(gast.Try, gast.TryStar, gast.With, gast.Raise, gast.Assert):
        tree = raising.convert(tree, names)
    tree = expressions.convert(tree, facts, names, ported=ported)
    restore_operators(tree, names)
    return Converted(tree, names, facts, deciding, fills)


class _Kinds:
    """The kinds of nodes in a tree: a pass that would find nothing is not run."""

    def __init__(self, tree: gast.AST) -> None:
        self._nodes = walk(tree)
        self._kinds = {type(node) for node in self._nodes}
        self._kinds |= {type(node.op) for node in self._nodes if isinstance(node, gast.BinOp | gast.UnaryOp | gast.AugAssign)}

    def any(self, *kinds: type) -> bool:
        return not self._kinds.isdisjoint(kinds)

    @functools.cached_property
    def writes_items(self) -> bool:
        return any(isinstance(node, gast.Subscript) and isinstance(node.ctx, gast.Store) for node in self._nodes)

    @property
    def arithmetic_alone(self) -> bool:
        """Is it a function of what no pass changes: numbers, variables, arithmetic with these, and tuples of it?"""
        if not self._kinds <= _ARITHMETIC:
            return False
        function, *nodes = self._nodes
        is_last = [node is function.body[-1] for node in nodes if isinstance(node, gast.Return)]
        others = (node for node in nodes if isinstance(node, gast.FunctionDef | gast.Lambda | gast.Tuple))
        return all(is_last) and all(isinstance(node, gast.Tuple) and isinstance(node.ctx, gast.Load) for node in others)


_ARITHMETIC = frozenset({
    gast.FunctionDef, gast.Lambda, gast.arguments, gast.Name, gast.Constant, gast.Tuple, gast.Assign, gast.Return, gast.Expr,
    gast.BinOp, gast.Add, gast.Sub, gast.Mult, gast.Div, gast.UnaryOp, gast.USub, gast.UAdd,
})  # fmt: skip


def _position(node: gast.expr) -> tuple[int, int]:
    return node.lineno, node.col_offset
