"""raise and assert become operators, which raise at run time; exceptions of staged blocks are told apart from them.

Before:
    assert x < 9, f'x is {x}'
    try:
        f(x)
    except KeyError:
        x = 0
    with suppress(KeyError):
        f(x)
    with saved(x):
        f(x)
    raise ValueError('negative')

After:
    assert ag__.checked(x < 9, lambda: f'x is {x}'), f'x is {x}'
    try:
        f(x)
    except KeyError:
        ag__.caught()
        x = 0
    with suppress(KeyError), ag__.Told():
        f(x)
    ag__.ended()
    with (manager := saved(x)), ag__.Told():
        f(x)
    ag__.ended()
    raise ag__.raised(ValueError('negative'))
"""

from __future__ import annotations

import builtins
import copy
import re

import gast

from autograph_jax.analysis import writes
from autograph_jax.converters import exits
from autograph_jax.converters.base import Pass
from autograph_jax.converters.guarding import may_fail
from autograph_jax.syntax import template
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_WITH_TOLD = Template("""
    with ag__.Told():
        BODY
""")
_RAISED = Template("ag__.raised(ERROR, CAUGHT)")
_RAISED_HERE = Template("ag__.raised_here(ERROR)")
_CAUSE = Template("ag__.cause(ERROR)")
_RAISED_ANEW = Template("ag__.raised_anew(CAUGHT)")
_CAUGHT = Template("ag__.caught(OF_JAX)")
_ENDED = Template("ag__.ended()")
_HELD = Template("(NAME_ := VALUE)")
_TOLD = Template("ag__.Told()")
_OF_JAX = re.compile(r"Tracer|Concretization|JAX|jax")  # what a handler catches that knows of traced values
_CHECKED = Template("ag__.checked(TEST, MESSAGE)")
_ASSERTIONS = ("AssertionError", "Exception", "BaseException")


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Raising(names).visit(tree)


def _names_errors_of_jax(handler: gast.ExceptHandler) -> bool:
    parts = walk(handler.type) if handler.type is not None else ()
    return any(_OF_JAX.search(str(getattr(part, "id", getattr(part, "attr", "")))) for part in parts)


def _is_no_array(value: gast.expr) -> bool:
    """Is it a constant, or an exception of Python's that `suppress` ends?"""
    known = getattr(builtins, value.id, None) if isinstance(value, gast.Name) else None
    return isinstance(value, gast.Constant) or isinstance(known, type) and issubclass(known, BaseException)


class _Raising(Pass):
    def __init__(self, names: Names) -> None:
        self._names = names
        # For each `try` around that may end an exception, innermost last: does a block begin between it and here?
        self._tries: list[bool] = []
        self._asserting: list[bool] = []  # the same for those that may end an AssertionError
        self._managers = 0  # that stand in variables

    def visit_Lambda(self, node: gast.Lambda) -> gast.AST:
        return node

    def function(self, node: gast.FunctionDef) -> gast.AST:
        around = self._tries, self._asserting
        is_block = node.name in self._names.blocks
        self._tries = [True] * len(self._tries) if is_block else []
        self._asserting = [True] * len(self._asserting) if is_block else []
        node.body = self._suite(node.body)
        self._tries, self._asserting = around
        return node

    def _suite(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        found = [self.visit(statement) for statement in statements]
        return [one for new in found for one in (new if isinstance(new, list) else [new])]

    def visit_Try(self, node: gast.Try) -> gast.AST:
        leaves = exits.may_exit(node.finalbody)  # which ends an exception too
        around = self._tries, self._asserting
        self._tries = [*self._tries, False] if node.handlers or leaves else self._tries
        if leaves or any(map(_may_catch_assertion, node.handlers)):
            self._asserting = [*self._asserting, False]
        node.body = self._suite(node.body)
        self._tries, self._asserting = around
        if may_fail(node.finalbody) and self._names.attempt_of(node.body[0]) is None:
            node.body = _WITH_TOLD(at=node.body[0], BODY=node.body)
        for handler in node.handlers:
            # An exception of a staged block, or one of ours, must not be taken for one that the program raised.
            first = handler.body[0]
            of_jax = [template.constant(True, at=first)] if _names_errors_of_jax(handler) else []
            handler.body = [*_CAUGHT(at=first, OF_JAX=of_jax), *self._suite(handler.body)]
        node.orelse, node.finalbody = self._suite(node.orelse), self._suite(node.finalbody)
        if leaves:
            node.finalbody = [*_CAUGHT(at=node.finalbody[0], OF_JAX=[]), *node.finalbody]
        return node

    visit_TryStar = visit_Try

    def visit_With(self, node: gast.With) -> gast.AST | list[gast.AST]:
        """`with suppress(KeyError)` ends an exception too."""
        node.body = self._suite(node.body)
        if self._names.attempt_of(node) is not None:
            return node
        for item in node.items:
            item.context_expr = self._held(item.context_expr)
        told = _TOLD.expression(at=node.items[-1].context_expr)
        node.items = [*node.items, gast.withitem(context_expr=told, optional_vars=None)]
        return [node, *_ENDED(at=node)]

    def _held(self, manager: gast.expr) -> gast.expr:
        """A manager that may have been given an array stands in a variable: its `__exit__` may read or write that."""
        given = [*manager.args, *(keyword.value for keyword in manager.keywords)] if isinstance(manager, gast.Call) else []
        if all(map(_is_no_array, given)):
            return manager
        self._managers += 1
        wish = "manager" if self._managers == 1 else f"manager_{self._managers}"
        return _HELD.expression(at=manager, NAME_=self._names.fresh(wish), VALUE=manager)

    def visit_Raise(self, node: gast.Raise) -> gast.AST | list[gast.AST]:
        """What is raised and caught inside one block is Python's; what leaves a block is raised at run time."""
        is_here = bool(self._tries) and not self._tries[-1]
        caught = [template.constant(True, at=node)] if self._tries else []
        if node.exc is None:
            return node if is_here else [*_RAISED_ANEW(at=node, CAUGHT=caught), node]
        if node.cause is not None and not isinstance(node.cause, gast.Constant):
            node.cause = _CAUSE.expression(at=node.cause, ERROR=node.cause)
        if is_here:
            node.exc = _RAISED_HERE.expression(at=node.exc, ERROR=node.exc)
        else:
            node.exc = _RAISED.expression(at=node.exc, ERROR=node.exc, CAUGHT=caught)
        return node

    def visit_Assert(self, node: gast.Assert) -> gast.AST | list[gast.AST]:
        if isinstance(node.test, gast.BoolOp) and isinstance(node.test.op, gast.And) and writes(node.test.values[1:]):
            # `assert a and (y := b)` is `assert a` and `assert (y := b)`: after it, y surely has a value.
            parts = [gast.copy_location(gast.Assert(part, copy.deepcopy(node.msg)), node) for part in node.test.values]
            return [self._assertion(part) for part in parts]
        return self._assertion(node)

    def _assertion(self, node: gast.Assert) -> gast.AST:
        if not (node.msg and writes(node.msg)):
            message = [template.lambda_of(copy.deepcopy(node.msg), at=node.msg)] if node.msg else []
            if self._asserting:  # what fails may be caught: in this block by Python, outside of it by nobody
                caught = template.constant("outside" if self._asserting[-1] else "here", at=node)
                message = [*(message or [template.constant(None, at=node)]), caught]
            node.test = _CHECKED.expression(at=node.test, TEST=node.test, MESSAGE=message)
        return node


def _may_catch_assertion(handler: gast.ExceptHandler) -> bool:
    """Not so where all that it names are other classes of Python's own, or look like the user's: `except ValueError`."""
    kinds = handler.type.elts if isinstance(handler.type, gast.Tuple) else [handler.type]
    return any(not isinstance(kind, gast.Name) or kind.id in _ASSERTIONS for kind in kinds)
