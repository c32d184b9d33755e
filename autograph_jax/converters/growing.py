"""In ported code, a list that a loop makes longer by traced data is made where `max_len` can bound it.

Before:
    ts = [t0]
    while t < 1:
        t = t + h
        ts.append(t)

After:
    ts = ag__.growing([t0])
    while t < 1:
        t = t + h
        ts.append(t)
"""

from __future__ import annotations

from collections.abc import Iterator

import gast

from autograph_jax.converters.base import Pass
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import walk

_GROWING = Template("ag__.growing(VALUES)")
_METHODS = frozenset({"append", "extend", "insert"})


def convert(tree: gast.AST) -> gast.AST:
    return _Growing().visit(tree)


class _Growing(Pass):
    def __init__(self) -> None:
        self._growing: list[frozenset[str]] = []

    def function(self, node: gast.FunctionDef) -> gast.AST:
        self._growing.append(frozenset(_grown(node.body, open_ended=False)))
        self.generic_visit(node)
        self._growing.pop()
        return node

    def visit_Assign(self, node: gast.Assign) -> gast.AST:
        if self._growing and len(node.targets) == 1:
            node.value = self._marked(node.targets[0], node.value)
        return self.generic_visit(node)

    def _marked(self, target: gast.expr, value: gast.expr) -> gast.expr:
        if isinstance(target, gast.Tuple) and isinstance(value, gast.Tuple) and len(target.elts) == len(value.elts):
            value.elts = [self._marked(*pair) for pair in zip(target.elts, value.elts, strict=True)]
        if isinstance(target, gast.Name) and target.id in self._growing[-1] and isinstance(value, gast.List):
            return _GROWING.expression(at=value, VALUES=value)
        return value


def _grown(body: list[gast.stmt], *, open_ended: bool) -> Iterator[str]:
    """The variables whose lists a while loop makes longer, or a for loop in a branch or with an exit."""
    for statement in body:
        match statement:
            case gast.FunctionDef() | gast.ClassDef() | gast.AsyncFunctionDef():
                continue
            case gast.While():
                yield from _grown(statement.body, open_ended=True)
            case gast.For():
                leaves = any(isinstance(node, gast.Break | gast.Return) for node in walk(statement))
                yield from _grown(statement.body, open_ended=open_ended or leaves)
            case _ if open_ended:
                yield from _appended(statement)
            case _:
                blocks = [getattr(statement, name, []) for name in ("body", "orelse", "finalbody")]
                for block in [*blocks, *(handler.body for handler in getattr(statement, "handlers", []))]:
                    yield from _grown(block, open_ended=False)


def _appended(statement: gast.stmt) -> Iterator[str]:
    for node in walk(statement):
        if isinstance(node, gast.Call) and isinstance(node.func, gast.Attribute) and node.func.attr in _METHODS:
            if isinstance(node.func.value, gast.Name):
                yield node.func.value.id
