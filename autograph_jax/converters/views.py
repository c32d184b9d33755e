"""What shares memory with an array in NumPy, and is written or has its array written, is marked as a view of it.

Before:
    row = x[0]
    row[1] = v

After:
    row = ag__.view(x[0], x, 0)
    row[1] = v

With the index, what is written to one of the two is followed to the other. Slices are marked wherever they may be kept:
`return x[1:]` is `return ag__.view(x[1:], x)`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import gast

from autograph_jax.analysis import Facts
from autograph_jax.converters.base import Pass
from autograph_jax.converters.places import as_load, index_of, is_pure, is_pure_value, path_of
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_VIEW = Template("ag__.view(VALUE, BASE, INDEX)")
_VIEW_AT = Template("ag__.view_at(BASE, INDEX)")
_ROWS = Template("ag__.rows(BASE)")
_VIEWS = frozenset({"T", "mT", "real", "imag", "reshape", "ravel", "transpose", "swapaxes", "squeeze", "view", "diagonal"})


def convert(tree: gast.AST, facts: dict[gast.AST, Facts]) -> gast.AST:
    return _Kept().visit(_Views(facts).visit(tree))


class _Views(Pass):
    def __init__(self, facts: dict[gast.AST, Facts]) -> None:
        self._facts = facts
        self._item_written: list[frozenset[str]] = []  # per function: names of arrays that it writes by items

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._item_written.append(_item_written(node, self._facts[node].aliases))
        self.generic_visit(node)
        self._item_written.pop()
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        names = {name.id for target in node.targets for name in walk(target) if isinstance(name, gast.Name)}
        unpacks = any(isinstance(target, gast.Tuple | gast.List) for target in node.targets)
        if unpacks and isinstance(node.value, gast.Name) and {node.value.id, *names} & self._item_written[-1]:
            node.value = _ROWS.expression(at=node.value, BASE=node.value)  # `first, second = x`
        else:
            node.value = self._marked(node.value, names, followed=all(isinstance(t, gast.Name) for t in node.targets))
        return node

    def _marked(self, value: gast.expr, names: set[str], *, followed: bool = False) -> gast.expr:
        """An expression with the views in it marked: itself, or the elements of a tuple, list or `a if c else b`.

        Where a variable takes a view, its writes may be followed.
        """
        if isinstance(value, gast.Tuple | gast.List):
            value.elts = [self._marked(element, names) for element in value.elts]
        elif isinstance(value, gast.IfExp):
            value.body, value.orelse = self._marked(value.body, names), self._marked(value.orelse, names)
        elif (base := _view_base(value)) is not None and ({_root(base), *names} & self._item_written[-1]):
            index = _index(value, base) if followed else []
            return _VIEW.expression(at=value, VALUE=value, BASE=as_load(base), INDEX=index)
        return value

    def visit_Expr(self, node: gast.Expr) -> gast.AST:
        """`fill(x[1], 9.0)` writes a row of x."""
        if isinstance(node.value, gast.Call):
            node.value.args = [
                _VIEW.expression(at=a, VALUE=a, BASE=as_load(base), INDEX=[]) if (base := _view_base(a)) is not None else a
                for a in node.value.args
            ]
        return node


class _Kept(Pass):
    """Slices that may be kept are marked wherever they stand: returned, handed to a function, put into a container."""

    def visit_Return(self, node: gast.Return) -> gast.AST:
        self.generic_visit(node)
        node.value = self._marked(node.value)
        return node

    visit_Assign = visit_NamedExpr = visit_Return  # which have a value, too

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        self.generic_visit(node)
        node.body = self._marked(node.body)
        return node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        self.generic_visit(node)
        if not is_operator(node.func):
            node.args = list(map(self._marked, node.args))
            for keyword in node.keywords:
                keyword.value = self._marked(keyword.value)
        return node

    def visit_Tuple(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        node.elts = list(map(self._marked, node.elts)) if isinstance(node.ctx, gast.Load) else node.elts
        return node

    visit_List = visit_Tuple

    def visit_Dict(self, node: gast.Dict) -> gast.AST:
        self.generic_visit(node)
        node.values = list(map(self._marked, node.values))
        return node

    def visit_ListComp(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        node.elt = self._marked(node.elt)
        return node

    visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: gast.DictComp) -> gast.AST:
        self.generic_visit(node)
        node.value = self._marked(node.value)
        return node

    def visit_IfExp(self, node: gast.IfExp) -> gast.AST:
        self.generic_visit(node)
        node.body, node.orelse = self._marked(node.body), self._marked(node.orelse)
        return node

    def _marked(self, value: Any) -> Any:
        if not (isinstance(value, gast.Subscript) and _is_slice(value.slice)):
            return value
        if (base := _view_base(value)) is not None:
            return _VIEW.expression(at=value, VALUE=value, BASE=as_load(base), INDEX=[])
        if isinstance(value.value, gast.Call):
            return _VIEW_AT.expression(at=value, BASE=value.value, INDEX=index_of(value.slice))
        return value


def _is_slice(index: gast.AST) -> bool:
    return any(isinstance(part, gast.Slice) for part in (index.elts if isinstance(index, gast.Tuple) else [index]))


def _index(value: gast.expr, base: gast.expr) -> list[gast.expr]:
    """The index of a view of a variable's array, if evaluating it twice changes nothing."""
    if not (
        isinstance(value, gast.Subscript) and value.value is base and isinstance(base, gast.Name) and is_pure_value(value.slice)
    ):
        return []
    of_dict = isinstance(value.slice, gast.Constant) and isinstance(value.slice.value, str)
    return [] if of_dict else [index_of(copy.deepcopy(value.slice))]


def views_in(function: gast.FunctionDef) -> Iterator[tuple[str, str]]:
    """Of the views whose index is known: the variable that takes one, and that of the array."""
    for node in walk(function):
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call) and is_operator(node.value.func, "view"):
            _, base, *index = node.value.args
            if index and isinstance(base, gast.Name):
                yield from ((target.id, base.id) for target in node.targets if isinstance(target, gast.Name))


def _item_written(function: gast.AST, aliases: Mapping[str, frozenset[str]]) -> frozenset[str]:
    """The variables whose arrays are written by items, under this name or another, and those that these are views of."""
    subscripts = [n for n in walk(function) if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)]
    names = {root.id for n in subscripts if isinstance(root := path_of(n)[0], gast.Name)}
    assigned = [n for n in walk(function) if isinstance(n, gast.Assign)]
    views = [
        (target.id, _root(base))
        for node in assigned
        if (base := _view_base(node.value)) is not None
        for target in node.targets
        if isinstance(target, gast.Name)
    ]
    while more := ({base for name, base in views if name in names} | _aliases_of(names, aliases)) - names:
        names |= more
    return frozenset(names)


def _aliases_of(names: set[str], aliases: Mapping[str, frozenset[str]]) -> set[str]:
    return {alias for name in names for alias in aliases.get(name, ())}


def _view_base(value: gast.expr) -> gast.expr | None:
    """What an expression is a view of in NumPy: x of `x[0]`, `x.T[1:]`, `x.reshape(-1)`; None for what surely is none."""
    base = None
    if isinstance(value, gast.Subscript):
        base = value.value
    elif isinstance(value, gast.Attribute) and value.attr in _VIEWS:
        base = value.value
    elif isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in _VIEWS:
        base = value.func.value
    return base if base is None or is_pure(base) else _view_base(base)


def _root(base: gast.expr) -> str:
    return next(node.id for node in walk(base) if isinstance(node, gast.Name))
