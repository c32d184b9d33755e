"""What shares memory with an array in NumPy, and may be written or have its array written, is marked as a view of it.

Before:
    row = x[0]
    row[1] = v

After:
    row = ag__.view(x[0], x, 0)
    row[1] = v

With the index, what is written to one of the two is followed to the other. Views are marked wherever they may be kept:
`return x[0]` is `return ag__.view(x[0], x)`, and `return o.x[0]` is `return ag__.view_at(o.x, 0)`. If they are scalars, or
parts of a list, this does nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import gast

from autograph_jax.analysis import NameFacts
from autograph_jax.converters.base import Pass
from autograph_jax.converters.places import as_load, index_of, is_pure, is_pure_value, path_of
from autograph_jax.syntax.names import is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import children, walk

_VIEW = Template("ag__.view(VALUE, BASE, INDEX)")
_VIEW_AT = Template("ag__.view_at(BASE, INDEX)")
_VIEW_OF = Template("ag__.get_attr(BASE, NAME)")
_VIEW_BY = Template("ag__.view_by(BASE, NAME, ARGUMENTS)")
_ROWS = Template("ag__.rows(BASE)")
_EACH = Template("ag__.each(VALUES)")
# Python's functions that give no array of what they get.
KEEP_NOTHING = frozenset({"abs", "bool", "complex", "float", "int", "len", "print", "range", "repr", "round", "str"})
REDUCING = frozenset({"all", "any", "sum"})
_EVALUATED = (gast.Attribute, gast.Call, gast.IfExp, gast.BoolOp, gast.NamedExpr)  # each gives an array that somebody may hold
_LOAD = gast.Load()
VIEWS = frozenset("T mT real imag conj conjugate reshape ravel transpose swapaxes squeeze view diagonal".split())


def convert(tree: gast.AST, facts: Mapping[gast.AST, NameFacts], *, writes_items: bool = True) -> gast.AST:
    return _Kept().visit(_Views(facts).visit(tree) if writes_items else tree)


class _Views(Pass):
    def __init__(self, facts: Mapping[gast.AST, NameFacts]) -> None:
        self._facts = facts
        self._item_written: list[frozenset[str]] = []  # per function: names of arrays that it writes by items

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._item_written.append(item_written(node, self._facts[node].aliases))
        self.generic_visit(node)
        self._item_written.pop()
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        names = {name.id for target in node.targets for name in walk(target) if isinstance(name, gast.Name)}
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
        elif isinstance(base := _base(value), gast.Name) and ({base.id, *names} & self._item_written[-1]):
            index = _index(value, base) if followed else []
            return _VIEW.expression(at=value, VALUE=value, BASE=as_load(base), INDEX=index)
        return value


class _Kept(Pass):
    """Views are marked wherever they may be kept: returned, handed to a function, put into a container."""

    def __init__(self) -> None:
        self._rest: frozenset[str] = frozenset()  # of the functions around
        self._reduced: set[gast.expr] = set()  # generators of which nothing is kept: `sum(v for v in x)`

    def function(self, node: Any) -> gast.AST:
        before = self._rest
        self._rest |= {node.args.vararg.id} if node.args.vararg is not None else set()
        self.generic_visit(node)
        self._rest = before
        node.args.defaults = list(map(self._marked, node.args.defaults))
        node.args.kw_defaults = list(map(self._marked, node.args.kw_defaults))
        return node

    def visit_Return(self, node: gast.Return) -> gast.AST:
        self.generic_visit(node)
        node.value = self._returned(node.value)
        return node

    def _returned(self, value: Any) -> Any:
        """`return self.x[1:]`: with the index, for who writes what a method or property gives."""
        if not isinstance(value, gast.Subscript) or not isinstance(value.value, gast.Attribute) or _is_known(value):
            return self._marked(value)
        return _VIEW_AT.expression(at=value, BASE=self._marked(value.value), INDEX=index_of(value.slice))

    def visit_Assign(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        node.value = self._marked(node.value)
        _take_later(node.value)
        return node

    visit_NamedExpr = visit_Yield = visit_YieldFrom = visit_Assign

    def visit_Starred(self, node: Any) -> gast.AST:
        """`f(*x)`: the rows of an array."""
        self.generic_visit(node)
        literal = isinstance(node.value, gast.Tuple | gast.List | gast.Constant)
        if isinstance(node.ctx, gast.Load) and not literal and not self._is_rest(node.value):
            node.value = _ROWS.expression(at=node.value, BASE=self._marked(node.value))
        return node

    def _is_rest(self, value: gast.expr) -> bool:
        """Is it the variable that has the function's further arguments, a tuple?"""
        return isinstance(value, gast.Name) and value.id in self._rest

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        self.function(node)
        node.body = self._marked(node.body)
        return node

    def visit_Call(self, node: gast.Call) -> gast.AST:
        if isinstance(node.func, gast.Name) and node.func.id in REDUCING:
            self._reduced |= set(node.args)
        self.generic_visit(node)
        if is_operator(node.func, "rows"):
            node.args[0] = self._marked(node.args[0])
        if not (is_operator(node.func) or isinstance(node.func, gast.Name) and node.func.id in KEEP_NOTHING):
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
        if node not in self._reduced:
            self._mark_rows(node.generators, [node.elt])
        node.elt = self._marked(node.elt)
        return node

    visit_GeneratorExp = visit_ListComp

    def visit_DictComp(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        self._mark_rows(node.generators, [node.value])
        node.value = self._marked(node.value)
        return node

    def _mark_rows(self, generators: list[Any], elements: list[gast.expr]) -> None:
        """`[row for row in x]`: the loop is Python's, whose rows of JAX's arrays are no views."""
        for number, generator in enumerate(generators):
            names = frozenset(name.id for name in walk(generator.target) if isinstance(name, gast.Name))
            used = [*elements, *(later.iter for later in generators[number + 1 :])]
            is_place = isinstance(generator.iter, gast.Name | gast.Attribute | gast.Subscript)
            is_place |= isinstance(generator.iter, gast.Call) and is_operator(generator.iter.func)
            kept = any(may_keep(element, names) for element in used)
            if is_place and (kept or any(may_keep(test, names, bare=False) for test in generator.ifs)):
                generator.iter = _ROWS.expression(at=generator.iter, BASE=generator.iter)

    def visit_For(self, node: gast.For) -> gast.AST:
        self.visit_comprehension(node)
        _take_later(node.iter)
        return node

    def visit_comprehension(self, node: Any) -> gast.AST:
        self.generic_visit(node)
        node.iter = self._marked(node.iter)
        return node

    def visit_IfExp(self, node: gast.IfExp) -> gast.AST:
        self.generic_visit(node)
        node.body, node.orelse = self._marked(node.body), self._marked(node.orelse)
        return node

    def _marked(self, value: Any) -> Any:
        if isinstance(value, gast.BoolOp):
            value.values = list(map(self._marked, value.values))
            return value
        base = _base(value)
        if base is None or not isinstance(getattr(value, "ctx", _LOAD), gast.Load):
            return value
        if _is_known(value):
            return value
        if isinstance(base, gast.Name):
            return _VIEW.expression(at=value, VALUE=value, BASE=as_load(base), INDEX=[])
        if isinstance(value, gast.Subscript) and (isinstance(base, _EVALUATED) or _base(base) is not None):
            return _VIEW_AT.expression(at=value, BASE=self._marked(base), INDEX=index_of(value.slice))
        return self._of_part(value, base)

    def _of_part(self, value: Any, base: gast.expr) -> gast.expr:
        """`rows[1].T`, `f(x).reshape(-1)`: a view of what is evaluated only once."""
        if isinstance(value, gast.Attribute):
            return _VIEW_OF.expression(at=value, BASE=self._marked(base), NAME=gast.Constant(value.attr, None))
        if isinstance(value, gast.Call):
            function: Any = value.func
            name = gast.Constant(function.attr, None)
            call: Any = _VIEW_BY.expression(at=value, BASE=self._marked(base), NAME=name, ARGUMENTS=value.args)
            call.keywords = value.keywords
            return call
        return value


def _take_later(value: gast.AST | None) -> None:
    """`for v in (2 * w for w in x)`: the generator takes each element when its turn comes, and the loop may write x."""
    if isinstance(value, gast.GeneratorExp) and isinstance(
        value.generators[0].iter, gast.Name | gast.Attribute | gast.Subscript
    ):
        iterable = value.generators[0].iter
        value.generators[0].iter = _EACH.expression(at=iterable, VALUES=iterable)


def may_keep(node: Any, names: frozenset[str], *, bare: bool = True) -> bool:
    """May something keep the value of one of these variables, or a part of it? `bare`: also where it stands alone."""
    match node:
        case gast.Name():
            return bare and node.id in names and isinstance(node.ctx, gast.Load)
        case gast.BoolOp() | gast.IfExp() | gast.NamedExpr():
            return any(may_keep(part, names, bare=bare) for part in children(node))
        case gast.BinOp() | gast.UnaryOp() | gast.Compare():
            return any(may_keep(part, names, bare=False) for part in children(node))
        case gast.Subscript():
            return may_keep(node.value, names, bare=bare) or may_keep(node.slice, names, bare=False)
        case gast.Call():
            function = node.func.value if isinstance(node.func, gast.Attribute) else node.func
            gives_view = isinstance(node.func, gast.Attribute) and node.func.attr in VIEWS
            keeps = not (isinstance(function, gast.Name) and function.id in KEEP_NOTHING)
            given = any(may_keep(part, names, bare=keeps) for part in (*node.args, *node.keywords))
            return given or may_keep(function, names, bare=gives_view and bare)
    return any(may_keep(part, names) for part in children(node))


def _is_known(value: gast.expr) -> bool:
    """Is it an element of a shape or of a dict?"""
    if not isinstance(value, gast.Subscript):
        return False
    of_shape = isinstance(value.value, gast.Attribute) and value.value.attr == "shape"
    return of_shape or isinstance(value.slice, gast.Constant) and isinstance(value.slice.value, str)


def _index(value: gast.expr, base: gast.expr) -> list[gast.expr]:
    """The index of a view of a variable's array, if evaluating it twice changes nothing."""
    if not (
        isinstance(value, gast.Subscript) and value.value is base and isinstance(base, gast.Name) and is_pure_value(value.slice)
    ):
        return []
    of_dict = isinstance(value.slice, gast.Constant) and isinstance(value.slice.value, str)
    return [] if of_dict else [index_of(copy.deepcopy(value.slice))]


def views_in(function: gast.AST) -> Iterator[tuple[str, str]]:
    """Of the views whose index is known: the variable that takes one, and that of the array."""
    for node in walk(function):
        if isinstance(node, gast.Assign) and isinstance(node.value, gast.Call) and is_operator(node.value.func, "view"):
            _, base, *index = node.value.args
            if index and isinstance(base, gast.Name):
                yield from ((target.id, base.id) for target in node.targets if isinstance(target, gast.Name))


def item_written(function: gast.AST, aliases: Mapping[str, frozenset[str]], *, views_too: bool = False) -> frozenset[str]:
    """The variables whose arrays are written by items, under this name or another, and those that these are views of.

    `views_too`: and those that are views of these.
    """
    nodes = walk(function)
    subscripts = [n for n in nodes if isinstance(n, gast.Subscript) and isinstance(n.ctx, gast.Store)]
    names = {root.id for n in subscripts if isinstance(root := path_of(n)[0], gast.Name)}
    if not names:
        return frozenset()
    assigned = [n for n in nodes if isinstance(n, gast.Assign)]
    views = [
        (target.id, _root(base))
        for node in assigned
        if (base := _view_base(node.value)) is not None
        for target in node.targets
        if isinstance(target, gast.Name)
    ]
    related = views + [(base, name) for name, base in views if views_too]
    while more := ({base for name, base in related if name in names} | _aliases_of(names, aliases)) - names:
        names |= more
    return frozenset(names)


def _aliases_of(names: set[str], aliases: Mapping[str, frozenset[str]]) -> set[str]:
    return {alias for name in names for alias in aliases.get(name, ())}


def _view_base(value: gast.expr) -> gast.expr | None:
    """What an expression is a view of in NumPy: x of `x[0]`, `x.T[1:]`, `x.reshape(-1)`; None for what surely is none."""
    if isinstance(value, gast.Call) and is_operator(value.func, "view"):
        value = value.args[0]
    base = _base(value)
    return base if base is None or is_pure(base) else _view_base(base)


def _base(value: Any) -> gast.expr | None:
    """The part of an expression that it is a view of: f(x) of `f(x)[0]`."""
    if isinstance(value, gast.Subscript):
        return value.value
    if isinstance(value, gast.Attribute) and value.attr in VIEWS:
        return value.value
    if isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and not is_operator(value.func):
        return value.func.value if value.func.attr in VIEWS else None
    return None


def _root(base: gast.expr) -> str:
    return next(node.id for node in walk(base) if isinstance(node, gast.Name))
