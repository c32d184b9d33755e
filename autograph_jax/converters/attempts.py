"""A `try` whose body may fail by traced data handles that too: the body is left where it fails, the handler is staged after it.

Before:
    try:
        y = f(x)
        z = g(y)
    except ValueError as error:
        z = x

After:
    attempt = ag__.attempt(lambda: ValueError)
    try:
        with attempt:
            value = f(x)
            if ag__.failed(attempt):
                return ag__.failure
            y = value
            value_2 = g(y)
            if ag__.failed(attempt):
                return ag__.failure
            z = value_2
    except ValueError as error:
        z = x
    if ag__.handled(attempt, 0):
        error = ag__.error_of(attempt, 0)
        z = x
        error = None
        del error

An exception that Python raises is Python's: it ends the body, and the first of the two copies of the handler runs. One that
is raised where traced data decides is noted by the attempt.
"""

from __future__ import annotations

import copy
import functools
import itertools
from collections.abc import Callable
from typing import Any

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters import exits
from autograph_jax.converters.base import Pass
from autograph_jax.converters.guarding import Guard, Suite, beginning, is_lookup, may_fail
from autograph_jax.converters.places import writes_places
from autograph_jax.converters.unsupported import is_generator
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import Rewriter, walk

_BEGIN = Template("NAME_ = ag__.attempt(HANDLERS)")
_BEGIN_FINAL = Template("NAME_ = ag__.final()")
_BODY = Template("""
    with ATTEMPT:
        BODY
""")
_UNLESS = Template("""
    if not ag__.failed(ATTEMPT):
        BODY
""")
_HANDLED = Template("""
    if ag__.handled(ATTEMPT, NUMBER):
        BODY
""")
_AGAIN = Template("""
    if ag__.fails(ATTEMPT):
        raise ag__.error_of(ATTEMPT, 0)
""")
_ERROR = Template("ag__.error_of(ATTEMPT, NUMBER)")
_PYTHONS_OWN = frozenset({
    "AttributeError", "EOFError", "FileNotFoundError", "GeneratorExit", "ImportError", "IndexError", "KeyError",
    "KeyboardInterrupt", "LookupError", "ModuleNotFoundError", "NameError", "NotImplementedError", "OSError",
    "RecursionError", "StopIteration", "SystemExit", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError",
})  # fmt: skip
_NEVER_BY_DATA = frozenset({
    "GeneratorExit", "ImportError", "KeyboardInterrupt", "ModuleNotFoundError", "RecursionError", "SystemExit",
})  # fmt: skip


def convert(tree: gast.AST, names: Names, *, ported: bool = False) -> gast.AST:
    return _Attempts(names, ported).visit(tree)


class _Attempts(Pass):
    def __init__(self, names: Names, ported: bool) -> None:
        self._names, self._ported = names, ported
        self._attempts, self._values = itertools.count(1), itertools.count(1)
        self._rebound = frozenset[str]()  # variables that functions share and assign
        self._is_guarded = False  # is this in the body of another attempt, whose checks stage what is in it?

    def function(self, node: gast.FunctionDef) -> gast.AST:
        if is_generator(node):
            return node
        around, self._is_guarded = (self._is_guarded, self._rebound), False
        declared = (inner.names for inner in walk(node) if isinstance(inner, gast.Nonlocal | gast.Global))
        self._rebound |= {name for names in declared for name in names}
        self.generic_visit(node)
        self._is_guarded, self._rebound = around
        return node

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def visit_Try(self, node: gast.Try) -> gast.AST | list[gast.stmt]:
        fails = functools.partial(may_fail, ported=self._ported)
        is_seen = fails(node.finalbody) or self._writes(node.finalbody)
        if is_seen and not exits.may_exit(node.finalbody) and fails([*node.body, *node.handlers]):
            return self._with_final(node)
        is_noted = fails(node.body) and _may_be_noted(node, self._ported)
        is_noted = is_noted or self._is_guarded and not _caught(node) <= _NEVER_BY_DATA
        if exits.may_exit(node.finalbody) or not is_noted:
            return self.generic_visit(node)
        staged = [copy.deepcopy(handler) for handler in node.handlers]
        self._visit_guarded(node)
        attempt = self._names.attempt(next(self._attempts))
        kinds = [_kind(handler, at=node) for handler in node.handlers]
        begin = _BEGIN(at=node, NAME_=template.name(attempt, at=node, store=True), HANDLERS=kinds)
        body = Guard(attempt, self._fresh, self._names, self._rebound, ported=self._ported).suite(node.body)
        [guarded] = _BODY(at=body[0], ATTEMPT=template.name(attempt, at=body[0]), BODY=body)
        inner = gast.copy_location(gast.Try([_standing_for(guarded, body)], node.handlers, [], []), node)
        if node.orelse:
            at = beginning(node.orelse[0])  # the first statement itself is in the body
            inner.orelse = _UNLESS(at=at, ATTEMPT=template.name(attempt, at=at), BODY=node.orelse)
        after: Suite = []
        for number, handler in reversed(list(enumerate(staged))):
            after = self._staged(attempt, number, handler, after)
        if not node.finalbody:
            return [*begin, inner, *after]
        node.body, node.handlers, node.orelse = [inner, *after], [], []
        return [*begin, node]

    def _writes(self, statements: Suite) -> bool:
        """Is anything written that somebody else sees? Where the body has failed, too, though not what comes after that."""
        inner = [node for statement in statements for node in walk(statement)]
        return any(map(writes_places, inner)) or any(not self._rebound.isdisjoint(writes(node)) for node in statements)

    def _with_final(self, node: gast.Try) -> list[gast.stmt]:
        """A `finally` that raises ends the error with which the body has failed: so that one is raised after it."""
        if node.handlers:
            inner = gast.copy_location(gast.Try(node.body, node.handlers, node.orelse, []), node)
            node.body, node.handlers, node.orelse = [_standing_for(inner, node.body)], [], []
        self._visit_guarded(node)
        attempt = self._names.attempt(next(self._attempts))
        name = lambda store=False: template.name(attempt, at=node, store=store)  # noqa: E731
        body = Guard(attempt, self._fresh, self._names, self._rebound, ported=self._ported).suite(node.body)
        node.body = _BODY(at=body[0], ATTEMPT=name(), BODY=body)
        _standing_for(node.body[0], body)
        return [*_BEGIN_FINAL(at=node, NAME_=name(True)), node, *_AGAIN(at=_after(node.finalbody[-1]), ATTEMPT=name())]

    def _visit_guarded(self, node: gast.Try) -> None:
        """The body is guarded; the other parts are as before."""
        around, self._is_guarded = self._is_guarded, True
        node.body = self._visited(node.body)
        self._is_guarded = around
        for part in (node.handlers, node.orelse, node.finalbody):
            part[:] = self._visited(part)

    def _staged(self, attempt: str, number: int, handler: gast.ExceptHandler, others: Suite) -> Suite:
        """The handler as a block of its own, and the others as its `else`."""
        position = template.constant(number, at=handler)
        error = lambda at: _ERROR.expression(at=at, ATTEMPT=template.name(attempt, at=at), NUMBER=position)  # noqa: E731
        body = [_raising(self.visit(statement), error) for statement in handler.body]
        if handler.name is not None:
            name = handler.name.id if isinstance(handler.name, gast.Name) else handler.name
            body.insert(0, template.assign([template.name(name, at=handler, store=True)], error(handler), at=handler))
        flat = [s for part in body for s in (part if isinstance(part, list) else [part])]
        if handler.name is not None:
            _delete_where_left(flat, name)
            flat += [] if exits.always_exits(handler.body) else _deletion(name, handler)
        [handled] = _HANDLED(at=handler, ATTEMPT=template.name(attempt, at=handler), NUMBER=position, BODY=flat)
        assert isinstance(handled, gast.If)
        handled.orelse = others
        return [handled]

    def _fresh(self) -> str:
        number = next(self._values)
        return self._names.fresh("value" if number == 1 else f"value_{number}")


def _deletion(name: str, node: gast.AST) -> Suite:
    """As Python takes the exception away: `error = None; del error`, also where the handler has done it."""
    target = gast.copy_location(gast.Name(name, gast.Del(), None, None), node)
    kept = template.assign([template.name(name, at=node, store=True)], template.constant(None, at=node), at=node)
    return [kept, gast.copy_location(gast.Delete([target]), node)]


def _delete_where_left(statements: Suite, name: str) -> None:
    """Python takes the exception away where the handler is left, be it by a `break`."""
    for position in reversed(range(len(statements))):
        statement = statements[position]
        if isinstance(statement, gast.Break | gast.Continue):
            statements[position:position] = _deletion(name, statement)
        elif isinstance(statement, gast.For | gast.While):
            _delete_where_left(statement.orelse, name)
        elif not isinstance(statement, gast.FunctionDef | gast.ClassDef):
            for inner in exits.suites(statement):
                _delete_where_left(inner, name)


def _standing_for(node: gast.stmt, statements: Suite) -> gast.stmt:
    """The node, placed where these statements stand."""
    gast.copy_location(node, statements[0])
    last: Any = statements[-1]
    node.end_lineno, node.end_col_offset = last.end_lineno, last.end_col_offset
    return node


def _after(node: gast.stmt) -> gast.stmt:
    """The place where a statement ends."""
    place: Any = gast.copy_location(gast.Pass(), node)
    place.lineno, place.col_offset = place.end_lineno, place.end_col_offset
    return place


def _may_be_noted(node: gast.Try, ported: bool) -> bool:
    """Not so where only what Python's own protocols raise is handled, and not raised in the body itself."""
    raised = {name for statement in node.body for inner in walk(statement) for name in _raised(inner, ported)}
    return any(name not in _PYTHONS_OWN or name in raised for name in _caught(node))


def _caught(node: gast.Try) -> frozenset[str | None]:
    """The classes that its handlers name; None for everything, and for what is no name."""
    kinds = [kind for h in node.handlers for kind in (h.type.elts if isinstance(h.type, gast.Tuple) else [h.type])]
    return frozenset(kind.id if isinstance(kind, gast.Name) else None for kind in kinds)


def _raised(node: gast.AST, ported: bool) -> list[str]:
    """The class that a `raise` names: `raise KeyError(k)`, `raise KeyError`; what `next` may raise, where what it takes is
    filtered, or another function; `table[key]`, where the key is no constant, and any element of an array of ported code."""
    if is_lookup(node, ported=ported):
        return ["KeyError", "LookupError", *(["IndexError"] if ported else [])]
    if isinstance(node, gast.Call) and (not _is_call(node, "next") or any(_is_filtering(inner) for inner in walk(node))):
        return ["StopIteration", *(["IndexError", "LookupError"] if ported else [])]
    error = node.exc if isinstance(node, gast.Raise) else None
    error = error.func if isinstance(error, gast.Call) else error
    return [error.id] if isinstance(error, gast.Name) else []


def _is_call(node: gast.AST, name: str) -> bool:
    return isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == name


def _is_filtering(node: gast.AST) -> bool:
    return isinstance(node, gast.comprehension) and bool(node.ifs) or _is_call(node, "filter")


def _kind(handler: gast.ExceptHandler, at: gast.AST) -> gast.expr:
    if handler.type is None:
        return template.constant(None, at=handler)
    return template.lambda_of(copy.deepcopy(handler.type), at=handler.type)


def _raising(node: Any, error: Callable[[gast.AST], gast.expr]) -> Any:
    """`raise` by itself raises again what is handled."""
    if isinstance(node, list):
        return [_raising(part, error) for part in node]
    return _Again(error).visit(node)


class _Again(Rewriter):
    def __init__(self, error: Callable[[gast.AST], gast.expr]) -> None:
        self._error = error

    def visit_Raise(self, node: gast.Raise) -> gast.Raise:
        if node.exc is None:
            node.exc = self._error(node)
        return node

    def visit_FunctionDef(self, node: gast.FunctionDef) -> gast.AST:
        return node

    visit_Lambda = visit_ExceptHandler = visit_FunctionDef
