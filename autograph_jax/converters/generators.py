"""In a generator, a statement that yields or leaves stays Python's own, and its test has to be a plain value.

Before:
    def gaps(x, n):
        for v in x:
            if n > 0:
                gap = v if v > 0 else -v
                yield gap

After:
    def gaps(x, n):
        given = ag__.Given()
        for v in ag__.each(x):
            if ag__.decided(n > 0):
                gap = v if v > 0 else -v
                yield ag__.give(given, gap)

A block that is a function of its own could not yield for the generator. All other statements are converted as anywhere.
What it has given is remembered, since it may write that when it goes on.
"""

from __future__ import annotations

import copy
from collections.abc import Callable

import gast

from autograph_jax.converters import exits
from autograph_jax.converters.base import Pass
from autograph_jax.converters.block_variables import is_docstring
from autograph_jax.converters.unsupported import is_generator, yields
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template

_DECIDED = Template("ag__.decided(TEST)")
_EACH = Template("ag__.each(VALUES)")
_BEGINNING = Template("NAME_ = ag__.Given()")
_GIVEN = Template("ag__.give(NAME_, VALUE)")
Suite = list[gast.stmt]


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Generators(names).visit(tree)


class _Generators(Pass):
    def __init__(self, names: Names) -> None:
        self._given = names.fresh("given")
        self._gives = False  # does the function yield what may be an array?

    def function(self, node: gast.FunctionDef) -> gast.AST:
        around, self._gives = self._gives, False
        self.generic_visit(node)
        if is_generator(node):
            _mark(node.body)
        if self._gives:
            first = 1 if is_docstring(node.body[0]) and len(node.body) > 1 else 0
            node.body[first:first] = _BEGINNING(at=node, NAME_=self._given)
        self._gives = around
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.Lambda:
        return node

    def visit_Yield(self, node: gast.Yield) -> gast.Yield:
        self.generic_visit(node)
        if node.value is not None and not isinstance(node.value, gast.Constant):
            node.value = _GIVEN.expression(at=node.value, NAME_=self._given, VALUE=node.value)
            self._gives = True
        return node

    def visit_YieldFrom(self, node: gast.YieldFrom) -> gast.YieldFrom:
        self.generic_visit(node)
        node.value = _EACH.expression(at=node.value, VALUES=node.value)
        return node


def _mark(statements: Suite) -> None:
    for statement in filter(stays, statements):
        _take_plainly(statement)
        for suite in exits.suites(statement):
            _mark(suite)


def stays(statement: gast.stmt) -> bool:
    """Does a statement of a generator stay Python's?"""
    return exits.may_exit(statement) or yields(statement)


def _take_plainly(statement: gast.stmt) -> None:
    if isinstance(statement, gast.If | gast.While) and not isinstance(statement.test, gast.Constant):
        statement.test = _DECIDED.expression(at=statement.test, TEST=statement.test)
    elif isinstance(statement, gast.For):
        statement.iter = _EACH.expression(at=statement.iter, VALUES=statement.iter)


def with_suites(statement: gast.stmt, convert_suite: Callable[[Suite], Suite]) -> gast.stmt:
    """A copy of a statement with its suites converted; the statement itself still answers what it writes."""
    copied = copy.copy(statement)
    for field in ("body", "orelse", "finalbody"):
        suite = getattr(statement, field, None)
        if isinstance(suite, list) and suite:
            setattr(copied, field, convert_suite(suite))
    if isinstance(copied, gast.Try | gast.TryStar):
        copied.handlers = [_with_body(handler, convert_suite) for handler in copied.handlers]
    return copied


def _with_body(handler: gast.ExceptHandler, convert_suite: Callable[[Suite], Suite]) -> gast.ExceptHandler:
    copied = copy.copy(handler)
    copied.body = convert_suite(handler.body)
    return copied
