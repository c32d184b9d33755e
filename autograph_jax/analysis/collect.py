"""A walk over a piece of tree that notes, scope by scope, what it reads and binds.

The walk keeps its own stack, so that deep trees are no matter. The private functions say, for one kind of node each,
what it does to the scope that it stands in, and which of the nodes inside it belong to which scope.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import gast

from autograph_jax.analysis.scopes import Scope
from autograph_jax.syntax.walk import children

Work = Iterable[tuple[gast.AST, Scope]]
_HERE = frozenset({"piece", "comprehension", "generator", "class"})  # kinds of scopes that may bind names around them
FunctionNode = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda


def scopes_in(nodes: gast.AST | Iterable[gast.AST], *, functions: bool = True) -> Scope:
    """The scope that these nodes stand in, as far as they tell; scopes inside them are `nested`.

    Without `functions`, what stands in functions is left out: it binds nothing here.
    """
    roots = [nodes] if isinstance(nodes, gast.AST) else list(nodes)
    piece = Scope("piece")
    pending: list[tuple[Any, Scope]] = [(root, piece) for root in reversed(roots)]
    while pending:
        node, scope = pending.pop()
        if not functions and scope is not piece and scope.kind not in _HERE:
            continue
        kind = type(node)
        if kind is gast.Name:
            _name(node, scope)
        elif (enter := _ENTER.get(kind)) is not None:
            pending += reversed(list(enter(node, scope)))
        elif below := children(node):
            pending += [(child, scope) for child in reversed(below)]
    return piece


def bound_by(nodes: Iterable[gast.AST]) -> frozenset[str] | None:
    """What `scopes_in(nodes, functions=False)` says is written, told without scopes; None where it takes these."""
    pending: list[Any] = list(nodes)
    found: set[str] = set()
    for node in pending:  # which grows
        kind = type(node)
        if kind is gast.Name:
            if not isinstance(node.ctx, gast.Load):
                found.add(node.id)
        elif kind is gast.Lambda or kind is gast.FunctionDef and not getattr(node, "type_params", None):
            found.update((node.name,) if kind is gast.FunctionDef else ())
            pending += evaluated_at_definition(node)
        elif kind in _ENTER and kind not in _BIND_BY_NAMES:
            return None
        elif kind not in _BIND_NOTHING:
            pending += children(node)
    return frozenset(found)


def read_by(nodes: Iterable[gast.AST]) -> frozenset[str] | None:
    """What `scopes_in(nodes)` says is read, told without scopes; None where it takes these."""
    pending: list[Any] = list(nodes)
    found: set[str] = set()
    for node in pending:  # which grows
        kind = type(node)
        if kind is gast.Name:
            if isinstance(node.ctx, gast.Load):
                found.add(node.id)
        elif kind in _ENTER and kind not in _BIND_BY_NAMES:
            return None
        else:
            if kind is gast.AugAssign and isinstance(node.target, gast.Name):
                found.add(node.target.id)
            pending += children(node)
    return frozenset(found)


def scope_by_node(piece: Scope) -> Mapping[gast.AST, Scope]:
    """Each node that opens a scope, with that scope."""
    found: dict[gast.AST, Scope] = {}
    pending = [piece]
    while pending:
        scope = pending.pop()
        if scope.node is not None:
            found[scope.node] = scope
        pending += scope.nested
    return found


def evaluated_at_definition(node: FunctionNode) -> Iterator[gast.expr]:
    """What `def f(x: A = b) -> C` and `lambda x=b: ...` evaluate where they stand, in that order."""
    yield from getattr(node, "decorator_list", ())
    yield from node.args.defaults
    yield from (default for default in node.args.kw_defaults if default is not None)
    yield from _annotations(node)


def parameters(node: FunctionNode) -> Iterator[gast.Name]:
    """The parameters of a function or lambda, which gast has as Names."""
    arguments = node.args
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (rest for rest in (arguments.vararg, arguments.kwarg) if rest is not None)


def imported(node: gast.Import | gast.ImportFrom) -> Iterator[str]:
    """The names that an import binds: `import a.b` binds a, `import a.b as c` binds c."""
    for alias in node.names:
        if alias.name != "*":
            yield alias.asname or alias.name.partition(".")[0]


def _annotations(node: FunctionNode) -> Iterator[gast.expr]:
    candidates = [*(parameter.annotation for parameter in parameters(node)), getattr(node, "returns", None)]
    yield from (annotation for annotation in candidates if annotation is not None)


def _everything(node: gast.AST, scope: Scope) -> Work:
    return [(child, scope) for child in children(node)]


def _name(node: gast.Name, scope: Scope) -> None:
    if isinstance(node.ctx, gast.Load):
        scope.reads.add(node.id)
    else:
        scope.writes.add(node.id)
        if isinstance(node.ctx, gast.Del):
            scope.deletes.add(node.id)


def _assign(node: gast.Assign, scope: Scope) -> Work:
    scope.assignments.append(node)
    return _everything(node, scope)


def _augmented(node: gast.AugAssign, scope: Scope) -> Work:
    if isinstance(node.target, gast.Name):
        scope.reads.add(node.target.id)
    return _everything(node, scope)


def _annotated(node: gast.AnnAssign, scope: Scope) -> Work:
    scope.assignments.append(node)
    if isinstance(node.target, gast.Name):
        scope.annotated.add(node.target.id)
    if node.value is not None or not isinstance(node.target, gast.Name):
        yield node.target, scope
    if node.value is not None:
        yield node.value, scope
    if scope.kind == "class":  # in a function, annotations of variables are never evaluated
        yield node.annotation, scope


def _walrus(node: gast.NamedExpr, scope: Scope) -> Work:
    """In a comprehension, (y := ...) is as good as `nonlocal y`."""
    scope.assignments.append(node)
    yield node.value, scope
    holder = scope
    while holder.kind in ("comprehension", "generator") and holder.parent is not None:
        holder.declared_nonlocal.add(node.target.id)
        holder.writes.add(node.target.id)
        holder = holder.parent
    holder.writes.add(node.target.id)


def _function(node: gast.FunctionDef | gast.AsyncFunctionDef, scope: Scope) -> Work:
    scope.writes.add(node.name)
    around = _type_parameters(node, scope)
    yield from ((annotation, around) for annotation in _annotations(node))
    yield from ((part, scope) for part in (*node.decorator_list, *node.args.defaults, *node.args.kw_defaults) if part)
    yield from _inside(node, around.open("function", node), node.body)


def _lambda(node: gast.Lambda, scope: Scope) -> Work:
    yield from ((default, scope) for default in evaluated_at_definition(node))
    yield from _inside(node, scope.open("function", node), [node.body])


def _inside(node: FunctionNode, scope: Scope, body: Iterable[gast.AST]) -> Work:
    scope.parameters.update(parameter.id for parameter in parameters(node))
    return ((part, scope) for part in body)


def _class(node: gast.ClassDef, scope: Scope) -> Work:
    scope.writes.add(node.name)
    around = _type_parameters(node, scope)
    yield from ((part, around) for part in (*node.bases, *node.keywords))
    yield from ((decorator, scope) for decorator in node.decorator_list)
    inside = around.open("class", node)
    yield from ((statement, inside) for statement in node.body)


def _type_alias(node: gast.TypeAlias, scope: Scope) -> Work:
    scope.writes.add(node.name.id)
    late = scope.open("late", node)
    yield from ((part, late) for part in (*node.type_params, node.value))


def _type_parameters(node: gast.AST, scope: Scope) -> Scope:
    """The scope of T in `def f[T](x: T)`; the definition's own where there are no type parameters."""
    type_params: list[gast.AST] = getattr(node, "type_params", [])
    if not type_params:
        return scope
    late = scope.open("late")
    for parameter in type_params:
        _type_parameter(parameter, late)
    return late


def _type_parameter(node: Any, scope: Scope) -> Work:
    scope.parameters.add(node.name)
    scope.reads |= scopes_in(list(children(node))).free
    return ()


def _comprehension(node: Any, scope: Scope) -> Work:
    """The first iterable is evaluated outside, all the rest inside."""
    inside = scope.open("generator" if isinstance(node, gast.GeneratorExp) else "comprehension", node)
    first, *others = node.generators
    inside.assignments += node.generators
    yield first.iter, scope
    yield first.target, inside
    yield from ((condition, inside) for condition in first.ifs)
    yield from ((generator, inside) for generator in others)
    yield from ((child, inside) for child in children(node) if not isinstance(child, gast.comprehension))


def _import(node: gast.Import | gast.ImportFrom, scope: Scope) -> Work:
    scope.writes.update(imported(node))
    return ()


def _global(node: gast.Global, scope: Scope) -> Work:
    scope.declared_global.update(node.names)
    return ()


def _nonlocal(node: gast.Nonlocal, scope: Scope) -> Work:
    scope.declared_nonlocal.update(node.names)
    return ()


def _handler(node: gast.ExceptHandler, scope: Scope) -> Work:
    if node.name is not None:
        scope.deletes.add(node.name.id)  # `except E as e` unbinds e at its end
    return _everything(node, scope)


def _pattern(node: Any, scope: Scope) -> Work:
    name = node.rest if isinstance(node, gast.MatchMapping) else node.name
    if name is not None:
        scope.writes.add(name)
    return _everything(node, scope)


_BIND_NOTHING = frozenset({gast.Global, gast.Nonlocal})
_BIND_BY_NAMES = _BIND_NOTHING | {
    gast.Assign,
    gast.For,
    gast.AsyncFor,
    gast.Match,
    gast.AugAssign,
    gast.NamedExpr,
    gast.ExceptHandler,
}

_ENTER: Mapping[type[gast.AST], Callable[[Any, Scope], Work]] = {
    gast.Assign: _assign,
    gast.For: _assign,
    gast.AsyncFor: _assign,
    gast.Match: _assign,
    gast.AugAssign: _augmented,
    gast.AnnAssign: _annotated,
    gast.NamedExpr: _walrus,
    gast.FunctionDef: _function,
    gast.AsyncFunctionDef: _function,
    gast.Lambda: _lambda,
    gast.ClassDef: _class,
    gast.TypeAlias: _type_alias,
    gast.TypeVar: _type_parameter,
    gast.ParamSpec: _type_parameter,
    gast.TypeVarTuple: _type_parameter,
    gast.ListComp: _comprehension,
    gast.SetComp: _comprehension,
    gast.DictComp: _comprehension,
    gast.GeneratorExp: _comprehension,
    gast.Import: _import,
    gast.ImportFrom: _import,
    gast.Global: _global,
    gast.Nonlocal: _nonlocal,
    gast.ExceptHandler: _handler,
    gast.MatchAs: _pattern,
    gast.MatchStar: _pattern,
    gast.MatchMapping: _pattern,
}
