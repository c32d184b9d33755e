"""Which variables may hold the same object: x and y after `y = x`, wherever that stands.

Plain copies connect names: `y = x`, `a = b = zeros(3)`, `a, b = b, a`, `y = x if c else z`, `y = x or z`, `(y := x)`,
`for y in (a, b)`, `match x: case y`. What a call, an index or `+=` gives is taken to be an object of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import gast

from autograph_jax.analysis.scopes import Scope

Variable = tuple[Scope | None, str]  # the scope that holds it; None: outside of everything that we see
Copies = Iterator[tuple[str, str]]


def alias_groups(scope: Scope) -> dict[str, frozenset[str]]:
    """For each name of a scope that has aliases its group; copies made in inner functions through `nonlocal` count."""
    leaders: dict[Variable, Variable] = {}
    for inner, one, other in _copies_within(scope):
        _unite(leaders, inner.holder(one), inner.holder(other))
    groups: dict[Variable, set[str]] = {}
    for variable in leaders:
        if scope.holder(variable[1]) == variable:  # not a local of an inner function
            groups.setdefault(_leader(leaders, variable), set()).add(variable[1])
    return {name: group for group in map(frozenset, groups.values()) for name in group}


def _copies_within(scope: Scope) -> Iterator[tuple[Scope, str, str]]:
    pending = [scope]
    while pending:
        inner = pending.pop()
        for node in inner.assignments:
            yield from ((inner, one, other) for one, other in _COPIES[type(node)](node))
        pending += inner.nested


def _unite(leaders: dict[Variable, Variable], one: Variable, other: Variable) -> None:
    leaders.setdefault(one, one)
    leaders.setdefault(other, other)
    leaders[_leader(leaders, one)] = _leader(leaders, other)


def _leader(leaders: dict[Variable, Variable], variable: Variable) -> Variable:
    while leaders[variable] != variable:
        leaders[variable] = variable = leaders[leaders[variable]]
    return variable


def _assigned(node: gast.Assign) -> Copies:
    for target in node.targets:
        yield from _copied(target, node.value)
        if target is not node.targets[0]:
            yield from _copied(target, node.targets[0])  # a = b = zeros(3)


def _annotated(node: gast.AnnAssign) -> Copies:
    return iter(()) if node.value is None else _copied(node.target, node.value)


def _walrus(node: gast.NamedExpr) -> Copies:
    return _copied(node.target, node.value)


def _looped(node: gast.For | gast.comprehension) -> Copies:
    """`for y in (a, b)`"""
    if isinstance(node.iter, gast.Tuple | gast.List):
        for element in node.iter.elts:
            yield from _copied(node.target, element)


def _matched(node: gast.Match) -> Copies:
    for case in node.cases:
        yield from _captured(case.pattern, node.subject)


def _captured(pattern: gast.AST, subject: gast.expr) -> Copies:
    if isinstance(pattern, gast.MatchAs):
        if pattern.name is not None:
            yield from ((pattern.name, source) for source in _sources(subject))
        if pattern.pattern is not None:
            yield from _captured(pattern.pattern, subject)
    elif isinstance(pattern, gast.MatchOr):
        for alternative in pattern.patterns:
            yield from _captured(alternative, subject)
    elif isinstance(pattern, gast.MatchSequence) and isinstance(subject, gast.Tuple | gast.List):
        for part, element in _pairs(pattern.patterns, subject.elts):
            yield from _captured(part, element)


def _copied(target: gast.expr, value: gast.expr) -> Copies:
    """The names that an assignment of `value` to `target` connects."""
    if isinstance(target, gast.Name):
        yield from ((target.id, source) for source in _sources(value))
    elif isinstance(target, gast.Tuple | gast.List):
        for option in _options(value):
            if isinstance(option, gast.Tuple | gast.List):
                for part, element in _pairs(target.elts, option.elts):
                    yield from _copied(part, element)


def _sources(value: gast.expr) -> Iterator[str]:
    """The names whose object an expression may give as it is."""
    return (option.id for option in _options(value) if isinstance(option, gast.Name))


def _options(value: gast.expr) -> Iterator[gast.expr]:
    """`x` and `z` for `x if c else z`, for `x or z`; `y` and what it was given for `(y := ...)`."""
    if isinstance(value, gast.IfExp):
        parts = [value.body, value.orelse]
    elif isinstance(value, gast.BoolOp):
        parts = value.values
    elif isinstance(value, gast.NamedExpr):
        yield value.target
        parts = [value.value]
    else:
        yield value
        return
    for part in parts:
        yield from _options(part)


def _pairs(targets: list[Any], values: list[Any]) -> Iterable[tuple[Any, Any]]:
    """Targets and values that stand at the same place, counted from the left and from the right of a starred one."""
    if not any(map(_is_starred, [*targets, *values])):
        return zip(targets, values, strict=False)
    left, right = _plain_ends(targets, values), _plain_ends(targets[::-1], values[::-1])
    return [*left, *right]


def _plain_ends(targets: list[Any], values: list[Any]) -> Iterator[tuple[Any, Any]]:
    for target, value in zip(targets, values, strict=False):
        if _is_starred(target) or _is_starred(value):
            return
        yield target, value


def _is_starred(node: gast.AST) -> bool:
    return isinstance(node, gast.Starred | gast.MatchStar)


_COPIES: Mapping[type[gast.AST], Callable[[Any], Copies]] = {
    gast.Assign: _assigned,
    gast.AnnAssign: _annotated,
    gast.NamedExpr: _walrus,
    gast.For: _looped,
    gast.AsyncFor: _looped,
    gast.comprehension: _looped,
    gast.Match: _matched,
}
