"""Checks in the body of a `try`: after each statement that may fail, and before it writes what it computes.

y = f(x); z = g(y)   ->   value = f(x)
                          if ag__.failed(attempt): return ag__.failure
                          y = value
                          z = g(y)
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Collection, Sequence
from typing import Any

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters.places import as_load, augmented, check_kept, index_of, old_value, path_of
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names, is_operator
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk, walk_own

_CHECK = Template("""
    if ag__.failed(ATTEMPT):
        return ag__.failure
""")
_CHECK_ELEMENT = Template("""
    if ag__.has_just_failed(ATTEMPT):
        return ag__.failure
""")
_UNCHECKED = Template("ag__.unchecked(ATTEMPT)")
_NOTED = Template("""
    if ag__.noted(ATTEMPT, ERROR):
        return ag__.failure
""")
_VIEW = Template("ag__.view(VALUE, BASE)")
_BEGIN_UNGUARDED = Template("ag__.unguarded(ATTEMPT, True)")
_END_UNGUARDED = Template("ag__.unguarded(ATTEMPT, False)")
_MAY_FAIL = (gast.Call, gast.Raise, gast.Assert)
_CALLS = (gast.Attribute, gast.Subscript, gast.BinOp, gast.UnaryOp, gast.Compare)  # what may be a user's method
_OWN = ("attempt", "final", "failed", "handled", "fails", "error_of", "has_just_failed", "unchecked")
Suite = list[gast.stmt]


class Guard:
    """Puts a check after each statement of a body that may fail, and before it writes what it computes."""

    def __init__(self, attempt: str, fresh: Callable[[], str], names: Names, rebound: Collection[str], *, ported: bool) -> None:
        """`rebound`: the variables that functions inside or outside of this one share and assign. See `may_fail`."""
        self._attempt, self._fresh, self._names, self._rebound = attempt, fresh, names, rebound
        self._may_fail = functools.partial(may_fail, ported=ported)

    def suite(self, statements: Suite, *, goes_on: bool = False) -> Suite:
        """`goes_on`: more of the body follows these statements."""
        guarded: Suite = []
        for statement in statements:
            follows = goes_on or statement is not statements[-1]
            guarded += self._statement(statement, follows) if self._may_fail([statement]) else self._unchecked(statement)
        return guarded

    def _unchecked(self, node: gast.stmt) -> Suite:
        """A statement in which Python may call properties and operators: where these fail, it has written what it must not."""
        after: Suite = _UNCHECKED(at=beginning(node), ATTEMPT=template.name(self._attempt, at=node)) if _calls(node) else []
        match node:
            case gast.Return(value=gast.expr()) if after:
                computed, node.value = self._kept(node.value, node.value)
                return [computed, *after, node]
            case gast.If() | gast.While() | gast.For():
                node.body = [*copy.deepcopy(after), *self.suite(node.body)]
                node.orelse = [*copy.deepcopy(after), *self.suite(node.orelse)] if node.orelse else []
            case gast.With():
                node.body = self.suite(node.body)
            case gast.FunctionDef() | gast.ClassDef():
                return [node]
        return [node, *after]

    def _statement(self, node: gast.stmt, follows: bool) -> Suite:
        check = self._check(node) if follows else []
        if any(isinstance(inner, gast.NamedExpr) for part in _own_parts(node) for inner in walk(part)):
            return [*self._unguarded([node], node), *check]
        match node:
            case gast.Raise(exc=gast.expr()) if not writes(node.exc):
                return self._raise(node)
            case gast.Return(value=gast.expr()):
                return [*self._first(node, "value"), node]
            case gast.AugAssign() if self._may_move(node.target):
                return [*self._unguarded([node], node), *check]
            case gast.AugAssign():
                return [*self._augment(node), *self._after(check, node)] if self._may_fail([node.value]) else [node, *check]
            case gast.Assign() if self._may_fail(_written_one_by_one(node)):
                return [*self._unguarded([node], node), *check]
            case gast.Expr(value=gast.Call() as call) if self._may_fail([*call.args, *call.keywords]):
                return [*self._arguments(call), node, *check]
            case gast.Assign():
                first = self._first(node, "value") if self._may_fail([node.value]) else []
                return [*first, node, *(self._after(check, *node.targets) if first else check)]
            case gast.If():
                before = self._first(node, "test") if self._may_fail([node.test]) else []
                node.body, node.orelse = self.suite(node.body, goes_on=follows), self.suite(node.orelse, goes_on=follows)
                return [*before, node, *check]
            case gast.For():
                first = self._check(node, _CHECK_ELEMENT)
                before = self._first(node, "iter") if self._may_fail([node.iter]) else []
                node.body = [*first, *self.suite(node.body, goes_on=True)]
                node.orelse = self.suite(node.orelse, goes_on=follows)
                return [*before, node, *check]
            case gast.While():
                first = self._check(node) if self._may_fail([node.test]) else []
                node.body = [*first, *self.suite(node.body, goes_on=True)]
                node.orelse = [*first, *self.suite(node.orelse, goes_on=follows)] if node.orelse else []
                return [node, *check]
            case gast.Try() | gast.TryStar():
                own = self._names.attempt_of(node.body[0]) is not None  # whose checks are about the attempts around, too
                for suite in (*(() if own else (node,)), *node.handlers):
                    suite.body = self.suite(suite.body, goes_on=True)
                node.orelse = self.suite(node.orelse, goes_on=True)
                if self._may_fail(node.finalbody):  # which runs to its end also where the body has failed
                    node.finalbody = self._unguarded(node.finalbody, node.finalbody[0])
                return [node, *check]
            case gast.With() if any(item.optional_vars is not None for item in node.items) and self._may_fail(node.items):
                return [*self._unguarded([node], node), *check]
            case gast.With():
                node.body = [*self._check(node), *self.suite(node.body, goes_on=follows)]
                return [node, *check]
        return [node, *check]

    def _after(self, check: Suite, *targets: gast.AST) -> Suite:
        """The check after a statement that writes to these places: is there an element at each?"""
        return check if self._may_fail(targets) else []

    def _may_move(self, target: gast.expr) -> bool:
        """Is the owner of a place called for, `get().c[0] += f()`, or a variable that f may assign?"""
        root, steps = path_of(target)
        return bool(steps) and (not isinstance(root, gast.Name) or root.id in self._rebound)

    def _unguarded(self, statements: Suite, at: gast.AST) -> Suite:
        """Statements that write before a check could be made: nothing in them may fail by traced data."""
        name = lambda: template.name(self._attempt, at=at)  # noqa: E731
        return [*_BEGIN_UNGUARDED(at=at, ATTEMPT=name()), *statements, *_END_UNGUARDED(at=at, ATTEMPT=name())]

    def _first(self, node: Any, field: str) -> Suite:
        """Compute a value before the statement that takes it, which is left out where that fails."""
        value = getattr(node, field)
        computed, name = self._kept(value, value)
        setattr(node, field, name)
        return [computed, *self._check(node)]

    def _arguments(self, call: gast.Call) -> Suite:
        """Compute what a call is given before the call, `found.append(f(x))`: it is left out where that fails."""
        before: Suite = []
        method = call.func
        if isinstance(method, gast.Attribute) and not self._stays(method.value):
            kept, name = self._kept(method.value, method.value)
            before += [kept, *self._check_after(method.value)]
            method.value = name
        for holder, field, value in _given(call):
            if not self._stays(value):
                kept, name = self._kept(value, value)
                before += [kept, *self._check_after(value)]
                if isinstance(field, int):
                    holder[field] = name
                else:
                    setattr(holder, field, name)
        return before

    def _stays(self, value: gast.expr) -> bool:
        """Does it give the same, whenever it is evaluated in a statement?"""
        return isinstance(value, gast.Constant) or isinstance(value, gast.Name) and value.id not in self._rebound

    def _check_after(self, value: gast.expr) -> Suite:
        return self._check(value) if self._may_fail([value]) else []

    def _augment(self, node: gast.AugAssign) -> Suite:
        """Python reads the target first, then the value is computed, then the target is written."""
        target = node.target
        if isinstance(target, gast.Name):
            before, old = self._kept(template.name(target.id, at=target), node.value)
            again = template.assign([template.name(target.id, at=target, store=True)], old, at=node.value)
            return [before, *self._first(node, "value"), again, node]
        indices = []
        steps = path_of(target)[1]
        for step in steps:
            if isinstance(step, gast.Subscript) and not isinstance(step.slice, gast.Constant) and not writes(step.slice):
                index, step.slice = self._kept(index_of(step.slice), node)
                indices.append(index)
        holder, check, base = [], [], as_load(target.value)
        if len(steps) > 1:
            kept, base = self._kept(base, node.value)
            holder, check = [kept], [check_kept(base, target.value, node.value)]
        # What is read of an array is a view of it, in which NumPy shows what the value writes there.
        before, old = self._kept(_VIEW.expression(at=target, VALUE=old_value(target), BASE=base), node.value)
        value, *failed = self._first(node, "value")
        again = template.assign([target], augmented(old, node, node.value), at=node)
        return [*indices, *holder, before, value, *check, *failed, again]

    def _kept(self, value: gast.expr, place: gast.AST) -> tuple[gast.stmt, gast.Name]:
        """A variable for a value, and what gives it that: part of a statement, at a place in that."""
        name = self._fresh()
        kept = template.assign([template.name(name, at=value, store=True)], value, at=place)
        return kept, template.name(name, at=value)

    def _raise(self, node: gast.Raise) -> Suite:
        """Where traced data decides, the body is left; else Python raises."""
        error = template.lambda_of(copy.deepcopy(node.exc), at=node.exc)
        return [*_NOTED(at=node, ATTEMPT=template.name(self._attempt, at=node), ERROR=error), node]

    def _check(self, node: gast.stmt | gast.expr, how: Template = _CHECK) -> Suite:
        at = beginning(node)
        return how(at=at, ATTEMPT=template.name(self._attempt, at=at))


def _given(call: gast.Call) -> list[tuple[Any, Any, gast.expr]]:
    """The arguments of a call in their order, and where each stands: its holder, and the place or attribute there."""
    found: list[tuple[Any, Any, gast.expr]] = []
    for place, argument in enumerate(call.args):
        found.append(
            (argument, "value", argument.value) if isinstance(argument, gast.Starred) else (call.args, place, argument)
        )
    return [*found, *((keyword, "value", keyword.value) for keyword in call.keywords)]


def _written_one_by_one(node: gast.Assign) -> list[gast.expr]:
    """Where an assignment has several targets, these: of which some are written before one fails."""
    return node.targets if len(node.targets) > 1 or isinstance(node.targets[0], gast.Tuple | gast.List) else []


def beginning(node: Any) -> gast.AST:
    """Where a statement begins: a check is no part of it, after which what it keeps is read later."""
    start: Any = gast.copy_location(gast.Pass(), node)
    start.end_lineno, start.end_col_offset = node.lineno, node.col_offset
    return start


def _own_parts(node: gast.stmt) -> list[gast.AST]:
    """What a statement evaluates itself, without the statements in it."""
    suites = ("body", "orelse", "finalbody", "handlers") if isinstance(getattr(node, "body", None), list) else ()
    parts = [value for field, value in gast.iter_fields(node) if field not in suites]
    return [part for value in parts for part in (value if isinstance(value, list) else [value]) if isinstance(part, gast.AST)]


def _calls(node: gast.stmt) -> bool:
    """Does a statement do by itself what Python may call a method for?"""
    if isinstance(node, gast.Assign) and _is_of_attempt(node.value):
        return False
    inner = (part for root in _own_parts(node) for part in walk_own(root))
    return isinstance(node, gast.For) or any(isinstance(part, _CALLS) for part in inner)


def may_fail(nodes: Sequence[gast.AST], *, ported: bool = False) -> bool:
    """Is anything called, raised or looked up by a key in these, but for the functions in them?"""
    own = (node for root in nodes for node in walk_own(root))
    return any(isinstance(node, _MAY_FAIL) and not _is_of_attempt(node) or is_lookup(node, ported=ported) for node in own)


def is_lookup(node: gast.AST, *, ported: bool = False) -> bool:
    """`table[key]`, whose key traced data may decide. In ported code an array may be shorter than any number, and is checked
    where it is written, too."""
    if not isinstance(node, gast.Subscript) or not ported and not isinstance(node.ctx, gast.Load):
        return False
    return not isinstance(node.slice, gast.Slice if ported else gast.Constant | gast.Slice | gast.UnaryOp)


def _is_of_attempt(node: gast.AST) -> bool:
    """Is it what a `try` inside has become, which asks about its own attempt?"""
    return isinstance(node, gast.Call) and is_operator(node.func, *_OWN)
