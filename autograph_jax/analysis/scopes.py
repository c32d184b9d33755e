"""Which names each function, lambda, class and comprehension of a tree reads, binds, and takes from around it.

A scope in the sense of the language reference, "Naming and binding": `def`, `lambda`, `class`, a comprehension, a
generator expression, and what Python 3.12 evaluates late (`type X = ...`, type parameters). collect.py fills them.
"""

from __future__ import annotations

import dataclasses
import functools
from typing import Literal

import gast

Kind = Literal["piece", "function", "class", "comprehension", "generator", "late"]


@dataclasses.dataclass(eq=False)
class Scope:
    """One scope's own names. `piece` stands for the statements that the walk started from, `late` for type aliases."""

    kind: Kind
    node: gast.AST | None = None
    parent: Scope | None = None
    parameters: set[str] = dataclasses.field(default_factory=set)
    reads: set[str] = dataclasses.field(default_factory=set)
    writes: set[str] = dataclasses.field(default_factory=set)
    deletes: set[str] = dataclasses.field(default_factory=set)
    annotated: set[str] = dataclasses.field(default_factory=set)  # `y: float` alone makes y local
    declared_global: set[str] = dataclasses.field(default_factory=set)
    declared_nonlocal: set[str] = dataclasses.field(default_factory=set)
    assignments: list[gast.AST] = dataclasses.field(default_factory=list)
    nested: list[Scope] = dataclasses.field(default_factory=list)

    def open(self, kind: Kind, node: gast.AST | None = None) -> Scope:
        """A new scope inside this one."""
        scope = Scope(kind, node, self)
        self.nested.append(scope)
        return scope

    @functools.cached_property
    def bound(self) -> frozenset[str]:
        """The names that are this scope's own."""
        own = self.parameters | self.writes | self.annotated
        return frozenset(own - self.declared_global - self.declared_nonlocal)

    @functools.cached_property
    def free(self) -> frozenset[str]:
        """The names that this scope, or one inside it, takes from outside; globals and builtins are among them."""
        own = self.reads | self.declared_nonlocal
        return self._outside(own, frozenset().union(*(scope.free for scope in self.nested)))

    @functools.cached_property
    def read_outside(self) -> frozenset[str]:
        """Those of the free names that are read; `def g(): nonlocal x; x = 1` does not read x."""
        return self._outside(self.reads, frozenset().union(*(scope.read_outside for scope in self.nested)))

    def _outside(self, own: set[str], inner: frozenset[str]) -> frozenset[str]:
        hidden = self.bound | self.declared_global
        # Methods do not see the names of their class: class A: k = 1; def f(self): return k
        return frozenset(own) - hidden | (inner - {"__class__"} if self.kind == "class" else inner - hidden)

    def holder(self, name: str) -> tuple[Scope | None, str]:
        """The scope whose variable a name means here, with the name; None for what comes from outside."""
        if name in self.bound:
            return self, name
        scope = self._around(name)
        while scope is not None and (scope.kind == "class" or name not in scope.bound):
            scope = scope._around(name)
        return scope, name

    def _around(self, name: str) -> Scope | None:
        """Where to look for a name that is not this scope's own; what the walk started from is outside."""
        outermost = self.parent is None or self.parent.kind == "piece"
        return None if outermost or name in self.declared_global else self.parent

    def captured(self) -> frozenset[str]:
        """The names of here that may be read later: by functions, lambdas, classes, generators, not comprehensions."""
        late = (s.captured() - s.bound if s.kind == "comprehension" else s.free for s in self.nested)
        return frozenset().union(*late)

    def written(self) -> frozenset[str]:
        """The names that are bound where this scope runs, and in the classes in it: `class C: nonlocal x; x = 1`."""
        classes = (scope for scope in self.nested if scope.kind == "class")
        by_classes = (scope.written() & (scope.declared("nonlocal") | scope.declared("global")) for scope in classes)
        return frozenset(self.writes).union(*by_classes)

    def declared(self, what: Literal["nonlocal", "global"]) -> frozenset[str]:
        """The names that are declared nonlocal or global here and in the classes in here, as far as none is of here."""
        own = frozenset(self.declared_nonlocal if what == "nonlocal" else self.declared_global)
        inner = frozenset().union(*(scope.declared(what) for scope in self.nested if scope.kind == "class"))
        return own | inner if self.kind == "class" else own | frozenset(name for name in inner if self._is_from(name, what))

    def _is_from(self, name: str, what: Literal["nonlocal", "global"]) -> bool:
        """Does a name mean here what it means where it is declared so?"""
        if name in self.bound:
            return False
        return what == "nonlocal" or self.holder(name)[0] is None

    def inner_writes(self) -> frozenset[str]:
        """The names of here that inner scopes bind or delete: `nonlocal x`, or any((x := y) > 1 for y in ys)."""
        return frozenset().union(*(scope._outward("writes") for scope in self.nested))

    def inner_deletes(self) -> frozenset[str]:
        """The names of here that inner scopes delete: `nonlocal x; del x`."""
        return frozenset().union(*(scope._outward("deletes") for scope in self.nested))

    def _outward(self, what: Literal["writes", "deletes"]) -> frozenset[str]:
        inner = frozenset().union(*(scope._outward(what) for scope in self.nested))
        own = getattr(self, what) & self.declared_nonlocal if self.kind != "comprehension" else ()
        return frozenset(own) | (inner if self.kind == "class" else inner - self.bound)
