"""with and try stay Python's statements; the blocks in them are converted."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable

import gast

from autograph_jax.converters import exits
from autograph_jax.converters.block_context import Context
from autograph_jax.converters.block_variables import Variables
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import Rewriter

_DECIDED, _EACH = Template("ag__.decided(TEST)"), Template("ag__.each(VALUES)")
Suite = Callable[[list[gast.stmt], Context], list[gast.stmt]]
Leave = Callable[[gast.Return | gast.Break | gast.Continue, Context], list[gast.stmt]]


class Natives:
    """`suite` and `leave` convert the statements inside, and those of them that leave; `functions` the functions."""

    def __init__(self, variables: Variables, suite: Suite, leave: Leave, functions: Rewriter) -> None:
        self._variables, self._suite, self._leave, self._functions = variables, suite, leave, functions

    def convert(self, statement: gast.stmt, context: Context) -> gast.stmt:
        """A copy of the statement with its suites converted; the statement itself still answers what it writes."""
        native, around = copy.copy(statement), context
        if isinstance(statement, gast.Try | gast.TryStar):
            next_suites = [statement.orelse, statement.finalbody]  # which also those paths reach that leave
            read = frozenset[str]().union(*(self._variables.live_before(suite, frozenset()) for suite in next_suites))
            context = dataclasses.replace(context, live_out=context.live_out | read)
        for field in ("body", "orelse", "finalbody"):
            suite = getattr(statement, field, None)
            if suite and field == "finalbody" and exits.may_exit(suite):
                setattr(native, field, [self._left_to_python(inner, around) for inner in suite])
            elif suite:
                setattr(native, field, self._suite_of(suite, context))
        if isinstance(native, gast.Try | gast.TryStar):
            native.handlers = [self._handler(handler, context) for handler in native.handlers]
        return native

    def _left_to_python(self, statement: gast.stmt, context: Context, *, in_loop: bool = False) -> gast.stmt:
        """A statement of a `finally` that leaves: it ends an exception and a return under way, as only Python can."""
        leaves = gast.Return if in_loop else gast.Return | gast.Break | gast.Continue
        if isinstance(statement, leaves):
            return self._leave(statement, context)[0]
        if isinstance(statement, gast.FunctionDef | gast.AsyncFunctionDef | gast.ClassDef):
            return self._functions.visit(statement)
        native = copy.copy(statement)
        if isinstance(native, gast.If | gast.While):
            native.test = _DECIDED.expression(at=native.test, TEST=native.test)
        if isinstance(native, gast.For):
            native.iter = _EACH.expression(at=native.iter, VALUES=native.iter)
        is_loop = isinstance(statement, gast.While | gast.For)
        for field in ("body", "orelse", "finalbody"):
            inside = in_loop or is_loop and field == "body"
            if suite := getattr(statement, field, None):
                setattr(native, field, [self._left_to_python(inner, context, in_loop=inside) for inner in suite])
        if isinstance(native, gast.Try | gast.TryStar):
            native.handlers = [self._left_handler(handler, context, in_loop) for handler in native.handlers]
        return native

    def _left_handler(self, handler: gast.ExceptHandler, context: Context, in_loop: bool) -> gast.ExceptHandler:
        native = copy.copy(handler)
        native.body = [self._left_to_python(inner, context, in_loop=in_loop) for inner in handler.body]
        return native

    def _handler(self, handler: gast.ExceptHandler, context: Context) -> gast.ExceptHandler:
        native = copy.copy(handler)
        native.body = self._suite_of(handler.body, context)
        return native

    def _suite_of(self, statements: list[gast.stmt], context: Context) -> list[gast.stmt]:
        return self._suite(statements, context) or [gast.copy_location(gast.Pass(), statements[0])]
