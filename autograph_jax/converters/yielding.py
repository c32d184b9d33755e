"""An `if` of a generator both branches of which yield as often is cut at its yields, and can be staged then.

Before:
    if v > 0:
        n += 1
        yield v
    else:
        yield -v

After:
    if v > 0:
        n += 1
        value = v
    else:
        value = -v
    yield value

Where something follows the yields, the test is evaluated once: `chosen = not not v > 0`. `continue` at a branch's end makes
what follows the `if` the other branch. Where one branch yields more often than the other, only Python can decide.
"""

from __future__ import annotations

import copy
from typing import Any

import gast

from autograph_jax.converters import exits
from autograph_jax.converters.base import Pass
from autograph_jax.converters.unsupported import is_generator, yields
from autograph_jax.syntax.names import Names
from autograph_jax.syntax.template import Template

_ASSIGN = Template("NAME_ = VALUE")
_TRUTH = Template("NAME_ = not not TEST")
_YIELD = Template("yield NAME_")
_NONE = Template("None")
_PASS = Template("pass")
Suite = list[gast.stmt]
Steps = tuple[list[tuple[Suite, gast.Yield]], Suite]  # what comes before each yield, with that; and what comes after the last


def convert(tree: gast.AST, names: Names) -> gast.AST:
    return _Yielding(names).visit(tree)


class _Yielding(Pass):
    def __init__(self, names: Names) -> None:
        self._names = names
        self._value = names.fresh("value")  # given anew just before each yield
        self._kept = 0  # tests

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self.generic_visit(node)
        if is_generator(node):
            node.body = self._cut(node.body, in_loop=False)
        return node

    def _cut(self, suite: Suite, *, in_loop: bool) -> Suite:
        """A suite with the ifs in it cut, where they can be. `in_loop`: what follows it is the next turn of a loop."""
        if not any(map(yields, suite)):
            return suite
        first, *rest = suite
        if not isinstance(first, gast.If) or isinstance(first.test, gast.Constant):
            return [self._inside(first), *self._cut(rest, in_loop=in_loop)]
        if in_loop and first.orelse and _is_left(first.orelse) != _is_left(first.body):
            first, rest = _with_rest(first, rest), []
        following = self._cut(rest, in_loop=in_loop)
        if in_loop and not first.orelse and _is_left(first.body):
            cut = self._in_step(first, self._cut(first.body[:-1], in_loop=True), following)
            if len(cut) > 1:
                return cut
        is_last = in_loop and not rest
        branches = (self._cut(branch, in_loop=is_last) for branch in (first.body, first.orelse))
        return self._in_step(first, *branches) + following

    def _inside(self, statement: gast.stmt) -> gast.stmt:
        """Another statement, with the ifs in it cut."""
        is_loop = isinstance(statement, gast.For | gast.While)
        new = copy.copy(statement)
        for field in ("body", "orelse", "finalbody"):
            if isinstance(suite := getattr(statement, field, None), list) and not isinstance(statement, gast.FunctionDef):
                setattr(new, field, self._cut(suite, in_loop=is_loop and field == "body"))
        return new

    def _in_step(self, node: gast.If, body: Suite, orelse: Suite) -> Suite:
        """The statement as several; itself with these branches, where they don't yield as often."""
        ours, theirs = _steps(body), _steps(orelse)
        if ours is None or theirs is None or len(ours[0]) != len(theirs[0]) or not ours[0]:
            new = copy.copy(node)
            new.body, new.orelse = body, orelse
            return [new]
        statements: Suite = []
        test: Any = node.test
        if len(ours[0]) > 1 or ours[1] or theirs[1]:
            self._kept += 1
            chosen = self._names.fresh("chosen" if self._kept == 1 else f"chosen_{self._kept}")
            statements += _TRUTH(at=node, NAME_=chosen, TEST=node.test)
            test = gast.Name(chosen, gast.Load(), None, None)
        for (before, given), (others, other) in zip(ours[0], theirs[0], strict=True):
            branches = [*before, *self._assigned(given)], [*others, *self._assigned(other)]
            statements += _branching(node, test, *branches)
            statements += _YIELD(at=node.test, NAME_=self._value)  # of which branch it is, its line cannot tell
        if ours[1] or theirs[1]:
            statements += _branching(node, test, ours[1] or _PASS(at=node), theirs[1])
        return statements

    def _assigned(self, given: gast.Yield) -> Suite:
        if isinstance(given.value, gast.Name) and given.value.id == self._value:
            return []  # of an `if` inside
        value = given.value if given.value is not None else _NONE.expression(at=given)
        return _ASSIGN(at=given, NAME_=self._value, VALUE=value)


def _is_left(branch: Suite) -> bool:
    """Does a branch yield, and begin the next turn of the loop then?"""
    return bool(branch) and isinstance(branch[-1], gast.Continue) and any(map(yields, branch))


def _with_rest(node: gast.If, rest: Suite) -> gast.If:
    """`if a: yield x; continue`, with `else`: what follows stands in the branch that does not leave."""
    new = copy.copy(node)
    body, orelse = ([*branch[:-1]] if _is_left(branch) else [*branch, *rest] for branch in (node.body, node.orelse))
    new.body, new.orelse = body or _PASS(at=node), orelse
    return new


def _steps(suite: Suite) -> Steps | None:
    """A branch by its yields; None where one of them stands in another statement, or the branch may be left."""
    steps: list[tuple[Suite, gast.Yield]] = []
    before: Suite = []
    for statement in suite:
        value = statement.value if isinstance(statement, gast.Expr) else None
        if isinstance(value, gast.Yield) and not (value.value is not None and yields(value.value)):
            steps.append((before, value))
            before = []
        elif yields(statement) or exits.may_exit(statement):
            return None
        else:
            before.append(statement)
    return steps, before


def _branching(node: gast.If, test: gast.expr, body: Suite, orelse: Suite) -> Suite:
    new = copy.copy(node)
    new.test, new.body, new.orelse = copy.deepcopy(test), body, orelse
    return [new]
