"""match becomes an if chain; what a pattern captures is a tuple, or None where it does not match.

Before:
    match p:
        case 0 | 1:
            r = x
        case Point(x=0, y=y):
            r = y
        case [a, *_, {'b': b}] if a > b:
            r = a - b
        case other:
            r = other

After:
    if p == 0 or p == 1:
        r = x
    else:
        captured = ag__.captures(p, ag__.instance(lambda: Point, x=0, y=ag__.name('y')))
        if captured:
            y, = captured
            r = y
        else:
            captured_2 = ag__.captures(p, ag__.sequence(ag__.name('a'), ag__.star(), ag__.mapping(('b', ag__.name('b')))))
            if captured_2 and [a := captured_2[0], b := captured_2[1]] and a > b:
                r = a - b
            else:
                other = p
                r = other

A guard is asked with the captures in place, and they stay where it fails, as in Python.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import gast

from autograph_jax.analysis import own_variables, writes
from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import children, walk

_EQUAL = Template("SUBJECT == VALUE")
_IS = Template("SUBJECT is VALUE")
_IF = Template("if TEST: BODY\nelse: OTHERWISE")
_MATCHES = Template("ag__.matches(SUBJECT, PATTERN)")
_CAPTURES = Template("ag__.captures(SUBJECT, PATTERN)")
_CAPTURED = Template("CAPTURED[POSITION]")
_BIND = Template("(NAME_ := VALUE)")
_BINDINGS = Template("[BINDINGS]")
_ANYTHING = Template("ag__.anything")
_PATTERN = Template("ag__.KIND(PARTS)")
_ITEM = Template("(KEY, PATTERN)")


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Matches(names).visit(tree)


class _Matches(Pass):
    def __init__(self, names: Names) -> None:
        self._names = names
        self._numbers = itertools.count(1)
        self._own: frozenset[str] = frozenset()  # variables that only this function itself writes

    def function(self, node: gast.FunctionDef) -> gast.AST:
        around, self._own = self._own, own_variables(node)
        self.generic_visit(node)
        self._own = around
        return node

    def visit_Match(self, node: gast.Match) -> list[gast.stmt]:
        self.generic_visit(node)
        tests = [part for case in node.cases for part in (case.pattern, case.guard) if part is not None]
        has_guard = any(case.guard for case in node.cases)  # which may call what rebinds the subject
        name = node.subject.id if isinstance(node.subject, gast.Name) else None
        if name and name not in writes(tests) and (name in self._own or not has_guard):
            return _asked_at(node.subject, name, self._chain(node.cases, name))
        subject = self._names.fresh("subject")
        target = template.name(subject, at=node.subject, store=True)
        return [template.assign([target], node.subject, at=node.subject), *self._chain(node.cases, subject)]

    def _chain(self, cases: list[gast.match_case], subject: str) -> list[gast.stmt]:
        """The cases as statements; built from the last, so that long matches don't recurse."""
        captured = [self._variable() if _captures_parts(case.pattern) else "" for case in cases]
        statements: list[gast.stmt] = []
        for case, variable in zip(reversed(cases), reversed(captured), strict=True):
            statements = _case(case, subject, variable, statements)
        return statements

    def _variable(self) -> str:
        number = next(self._numbers)
        return self._names.fresh("captured" if number == 1 else f"captured_{number}")


def _asked_at(subject: gast.expr, variable: str, statements: list[gast.stmt]) -> list[gast.stmt]:
    """The first test asks for the subject on the line of the `match`, where debuggers, coverage and a NameError expect it."""
    first = next((name for name in _in_order(statements[:1]) if name.id == variable), None)
    if first is None:  # match x: case _: ...
        return [gast.copy_location(gast.Expr(subject), subject), *statements]
    gast.copy_location(first, subject)
    return statements


def _in_order(nodes: Sequence[gast.AST]) -> Iterator[gast.Name]:
    """The names that these nodes load, as they are written."""
    for node in nodes:
        if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Load):
            yield node
        yield from _in_order([node.test] if isinstance(node, gast.If) else children(node))


def _case(case: gast.match_case, subject: str, variable: str, otherwise: list[gast.stmt]) -> list[gast.stmt]:
    """A case as an if; what is captured has its names before the guard is asked, or before the body."""
    pattern = case.pattern
    if isinstance(pattern, gast.MatchAs) and pattern.pattern is None:
        return _irrefutable(case, pattern.name, subject, otherwise)
    before, test = _test(pattern, subject, variable)
    bindings = list(_bindings(pattern, subject, variable))
    body = case.body
    if case.guard is not None:
        binds = [_BIND.expression(at=pattern, NAME_=name, VALUE=value) for name, value in bindings]
        parts = [test, *([_BINDINGS.expression(at=pattern, BINDINGS=binds)] if binds else []), case.guard]
        test = gast.copy_location(gast.BoolOp(gast.And(), parts), case.guard)
    elif variable:
        targets = template.tuple_of([name for name, _ in bindings], at=pattern, store=True)
        body = [template.assign([targets], template.name(variable, at=pattern), at=pattern), *body]
    else:
        body = [*(template.assign([name], value, at=pattern) for name, value in bindings), *body]
    return [*before, *_IF(at=test, TEST=test, BODY=body, OTHERWISE=otherwise)]


def _irrefutable(case: gast.match_case, name: str | None, subject: str, otherwise: list[gast.stmt]) -> list[gast.stmt]:
    """`case _` or `case name`, with a guard or without."""
    capture: list[gast.stmt] = []
    if name:
        target = template.name(name, at=case.pattern, store=True)
        capture = [template.assign([target], template.name(subject, at=case.pattern), at=case.pattern)]
    if case.guard is None:
        return capture + case.body
    return capture + _IF(at=case.guard, TEST=case.guard, BODY=case.body, OTHERWISE=otherwise)


def _test(pattern: gast.pattern, subject: str, variable: str) -> tuple[list[gast.stmt], gast.expr]:
    """What comes before the if, and its test."""
    if variable:
        value = _CAPTURES.expression(at=pattern, SUBJECT=template.name(subject, at=pattern), PATTERN=_pattern(pattern))
        target = template.name(variable, at=pattern, store=True)
        return [template.assign([target], value, at=pattern)], template.name(variable, at=pattern)
    return [], _value_test(pattern.pattern if isinstance(pattern, gast.MatchAs) else pattern, subject)


def _value_test(pattern: gast.pattern, subject: str) -> gast.expr:
    """A test without captures: of one value or of several by == and is, of structure by `ag__.matches`."""
    name = template.name(subject, at=pattern)
    if not _is_value(pattern):
        return _MATCHES.expression(at=pattern, SUBJECT=name, PATTERN=_pattern(pattern))
    if isinstance(pattern, gast.MatchOr):
        tests = [_value_test(alternative, subject) for alternative in pattern.patterns]
        return gast.copy_location(gast.BoolOp(gast.Or(), tests), pattern)
    if isinstance(pattern, gast.MatchSingleton):
        return _IS.expression(at=pattern, SUBJECT=name, VALUE=template.constant(None, at=pattern))
    assert isinstance(pattern, gast.MatchValue)  # `_is_value` lets nothing else through
    return _EQUAL.expression(at=pattern, SUBJECT=name, VALUE=pattern.value)


def _is_value(pattern: gast.AST) -> bool:
    """Is this tested by == or is? Not so `case True`: a traced comparison is no True, but stands for one."""
    if isinstance(pattern, gast.MatchOr):
        return all(_is_value(alternative) for alternative in pattern.patterns)
    return isinstance(pattern, gast.MatchValue) or isinstance(pattern, gast.MatchSingleton) and pattern.value is None


def _captures_parts(pattern: gast.AST) -> bool:
    """Does it capture something else than the subject itself?"""
    return bool(_names(pattern.pattern if isinstance(pattern, gast.MatchAs) else pattern))


def _bindings(pattern: gast.pattern, subject: str, variable: str) -> Iterator[tuple[gast.Name, gast.expr]]:
    """Each captured name with its value."""
    for position, name in enumerate(_names(pattern)):
        value = template.name(variable or subject, at=pattern)
        if variable:
            value = _CAPTURED.expression(at=pattern, CAPTURED=value, POSITION=template.constant(position, at=pattern))
        yield template.name(name, at=pattern, store=True), value


def _names(pattern: gast.AST | None) -> list[str]:
    """The names that a pattern captures, in the order in which they first occur in it."""
    if pattern is None:
        return []
    names = [name for part in children(pattern) for name in _names(part)]
    if isinstance(pattern, gast.MatchAs | gast.MatchStar):
        names += [pattern.name] if pattern.name else []
    elif isinstance(pattern, gast.MatchMapping):
        names += [pattern.rest] if pattern.rest else []
    return list(dict.fromkeys(names))


# Patterns as expressions


def _pattern(node: gast.AST) -> gast.expr:
    match node:
        case gast.MatchValue(value=value):
            return _constant(value)
        case gast.MatchSingleton(value=value):
            return template.constant(value, at=node)
        case gast.MatchAs(pattern=None, name=None):
            return _ANYTHING.expression(at=node)
        case gast.MatchAs(pattern=None, name=name):
            return _made("name", [template.constant(name, at=node)], node)
        case gast.MatchAs(pattern=pattern, name=name):
            return _made("named", [_pattern(pattern), template.constant(name, at=node)], node)
        case gast.MatchStar(name=name):
            return _made("star", [template.constant(name, at=node)] if name else [], node)
        case gast.MatchOr(patterns=patterns):
            return _made("either", list(map(_pattern, patterns)), node)
        case gast.MatchSequence(patterns=patterns):
            return _made("sequence", list(map(_pattern, patterns)), node)
        case gast.MatchMapping():
            return _mapping(node)
        case gast.MatchClass():
            return _instance(node)
    raise AssertionError(f"{node} is no pattern")


def _instance(node: gast.MatchClass) -> gast.expr:
    made = _made("instance", [template.lambda_of(node.cls, at=node.cls), *map(_pattern, node.patterns)], node)
    attributes = zip(node.kwd_attrs, node.kwd_patterns, strict=True)
    made.keywords = [template.keyword(name, _pattern(pattern), at=pattern) for name, pattern in attributes]
    return made


def _mapping(node: gast.MatchMapping) -> gast.expr:
    pairs = zip(node.keys, node.patterns, strict=True)
    items = [_ITEM.expression(at=pattern, KEY=_constant(key), PATTERN=_pattern(pattern)) for key, pattern in pairs]
    made = _made("mapping", items, node)
    if node.rest:
        made.keywords = [template.keyword("rest", template.constant(node.rest, at=node), at=node)]
    return made


def _made(kind: str, parts: list[gast.expr], node: gast.AST) -> gast.Call:
    made = _PATTERN.expression(at=node, KIND=kind, PARTS=parts)
    assert isinstance(made, gast.Call)
    return made


def _constant(value: gast.expr) -> gast.expr:
    """A literal as it is; a dotted name is looked up when the match comes to it."""
    dotted = any(isinstance(node, gast.Attribute) for node in walk(value))
    return template.lambda_of(value, at=value) if dotted else value
