"""match statements over values become if chains.

Before:
    match k:
        case 0:
            r = x
        case 1 | 2:
            r = x * 2
        case other:
            r = -other

After:
    if k == 0:
        r = x
    elif k == 1 or k == 2:
        r = x * 2
    else:
        other = k
        r = -other

A match whose patterns look into sequences, mappings or classes stays as it is.
"""

from __future__ import annotations

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template

_EQUAL = Template("SUBJECT == VALUE")
_IS = Template("SUBJECT is VALUE")
_IF = Template("if TEST: BODY\nelse: OTHERWISE")


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Matches(names).visit(tree)


class _Matches(Pass):
    def __init__(self, names: Names) -> None:
        self._names = names

    def visit_Match(self, node: gast.Match) -> gast.AST | list[gast.stmt]:
        self.generic_visit(node)
        if not all(_is_value_case(case) for case in node.cases):
            return node
        if isinstance(node.subject, gast.Name) and node.subject.id not in _captured(node):
            return _chain(node.cases, node.subject.id)
        subject = self._names.fresh("subject")
        target = template.name(subject, at=node.subject, store=True)
        return [template.assign([target], node.subject, at=node.subject), *_chain(node.cases, subject)]


def _is_value_case(case: gast.match_case) -> bool:
    pattern = case.pattern
    if isinstance(pattern, gast.MatchAs) and pattern.pattern is None:
        return True  # `case _` or `case name`, with a guard or without
    if isinstance(pattern, gast.MatchAs):
        # With a guard the capture is bound and the next case tried: `case 0 as n if n > m`.
        return case.guard is None and _is_value(pattern.pattern)
    return _is_value(pattern)


def _is_value(pattern: gast.AST) -> bool:
    if isinstance(pattern, gast.MatchOr):
        return all(_is_value(alternative) for alternative in pattern.patterns)
    return isinstance(pattern, gast.MatchValue | gast.MatchSingleton)


def _captured(node: gast.Match) -> set[str]:
    return {inner.name for case in node.cases for inner in gast.walk(case.pattern) if isinstance(inner, gast.MatchAs)}


def _chain(cases: list[gast.match_case], subject: str) -> list[gast.stmt]:
    """The cases from the first on as statements; built from the last, so that long matches don't recurse."""
    statements: list[gast.stmt] = []
    for case in reversed(cases):
        statements = _case(case, subject, statements)
    return statements


def _case(case: gast.match_case, subject: str, otherwise: list[gast.stmt]) -> list[gast.stmt]:
    pattern, body = case.pattern, case.body
    capture: list[gast.stmt] = []
    if isinstance(pattern, gast.MatchAs):
        if pattern.name:
            target = template.name(pattern.name, at=pattern, store=True)
            capture = [template.assign([target], template.name(subject, at=pattern), at=pattern)]
        if pattern.pattern is None:
            if case.guard is None:
                return capture + body
            return capture + _IF(at=case.guard, TEST=case.guard, BODY=body, OTHERWISE=otherwise)
        pattern, body = pattern.pattern, capture + body
    test = _test(pattern, subject)
    if case.guard is not None:
        test = gast.copy_location(gast.BoolOp(gast.And(), [test, case.guard]), case.guard)
    return _IF(at=test, TEST=test, BODY=body, OTHERWISE=otherwise)


def _test(pattern: gast.pattern, subject: str) -> gast.expr:
    name = template.name(subject, at=pattern)
    if isinstance(pattern, gast.MatchOr):
        tests = [_test(alternative, subject) for alternative in pattern.patterns]
        return gast.copy_location(gast.BoolOp(gast.Or(), tests), pattern)
    if isinstance(pattern, gast.MatchSingleton):
        return _IS.expression(at=pattern, SUBJECT=name, VALUE=template.constant(pattern.value, at=pattern))
    assert isinstance(pattern, gast.MatchValue)  # `_is_value` lets nothing else through
    return _EQUAL.expression(at=pattern, SUBJECT=name, VALUE=pattern.value)
