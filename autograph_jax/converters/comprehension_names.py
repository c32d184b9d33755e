"""A comprehension's variable that has the name of one of the functions' around gets a name of its own.

Before:
    for v in x:
        total += v
    return [v if v > 0 else 0 for v in y]

After:
    for v in x:
        total += v
    return [v_ if v_ > 0 else 0 for v_ in y]

From Python 3.12 on a comprehension stands in its function. Where blocks share the function's variable, and a lambda in the
comprehension captures the other one, as ours do, Python takes one for the other, and 3.13.0 crashes where a debugger would look
at them (python/cpython#128396).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.walk import children, walk

_COMPREHENSIONS = (gast.ListComp, gast.SetComp, gast.DictComp, gast.GeneratorExp)


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Renaming(names, frozenset(_mentioned(tree))).visit(tree)


def _mentioned(node: Any, own: frozenset[str] = frozenset()) -> Iterator[str]:
    """The names of variables in a tree, but for those that comprehensions around have as `own`."""
    if isinstance(node, gast.Name):
        yield from () if node.id in own else (node.id,)
    elif isinstance(node, _COMPREHENSIONS):
        first = node.generators[0]
        yield from _mentioned(first.iter, own)
        for part in _inside(node):
            yield from _mentioned(part, own | _targets(node))
    else:
        for part in children(node):
            yield from _mentioned(part, own)


def _inside(node: Any) -> list[Any]:
    """A comprehension but for what it goes through, which is evaluated outside."""
    first, *others = node.generators
    return [first.target, *first.ifs, *others, *(part for part in children(node) if part not in node.generators)]


class _Renaming(Pass):
    def __init__(self, names: Names, others: frozenset[str]) -> None:
        self._names = names
        self._others = others

    def visit_ListComp(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        new = {name: self._names.fresh(f"{name}_") for name in _targets(node) & self._others}
        for part in _inside(node) if new else ():
            _rename(part, new)
        return node

    visit_SetComp = visit_DictComp = visit_ListComp


def _targets(node: Any) -> frozenset[str]:
    names = (name for generator in node.generators for name in walk(generator.target) if isinstance(name, gast.Name))
    return frozenset(name.id for name in names if isinstance(name.ctx, gast.Store))


def _rename(node: Any, new: dict[str, str]) -> None:
    if isinstance(node, gast.Name):
        node.id = new.get(node.id, node.id)
    elif isinstance(node, _COMPREHENSIONS):
        _rename(node.generators[0].iter, new)
        left = {name: other for name, other in new.items() if name not in _targets(node)}
        for part in _inside(node):
            _rename(part, left)
    elif isinstance(node, gast.Lambda):
        bound = {name.id for name in walk(node.args) if isinstance(name, gast.Name) and not isinstance(name.ctx, gast.Load)}
        for default in (*node.args.defaults, *(one for one in node.args.kw_defaults if one is not None)):
            _rename(default, new)
        _rename(node.body, {name: other for name, other in new.items() if name not in bound})
    else:
        for part in children(node):
            _rename(part, new)
