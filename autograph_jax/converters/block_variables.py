"""Which variables a block shares with the function around it, which are its own, and which it may leave without a value."""

from __future__ import annotations

import collections
import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import gast

from autograph_jax.analysis import Facts, reads, writes
from autograph_jax.analysis.collect import parameters
from autograph_jax.syntax import template
from autograph_jax.syntax.template import Template
from autograph_jax.syntax.walk import children, walk

_DECLARE = Template("NAME_: ...")


class Variables:
    """The variables of one function, whose statements are about to become blocks."""

    def __init__(self, function: gast.FunctionDef, facts: Facts, unsure: frozenset[str]) -> None:
        """`unsure` are variables of a function around that may have no value yet."""
        self._facts, self._unsure = facts, unsure
        self._effects = _Effects()
        self._occurrences = self._effects.names(function.body)

    def sure_names(self, node: gast.stmt, rest: list[gast.stmt]) -> list[gast.expr]:
        """Variables that a statement may leave unbound where it leaves early, but never where the rest is reached."""
        facts = self._facts
        unsure = facts.unbound_before[node] & self.written([node]) | self._effects.deleted([node])
        unsure = (unsure - facts.unbound_before[rest[0]]) & facts.live_before[rest[0]]
        read = unsure & reads(rest) if unsure else unsure  # `def g(y): ...` there has a y of its own
        return [template.constant(name, at=rest[0]) for name in sorted(read)]

    def declared(self, body: list[gast.stmt], known: frozenset[str | None]) -> list[gast.stmt]:
        """Make those names local here that only inner functions bind, so that their `nonlocal` compiles."""
        missing = (_from_around(body) & self._facts.bound) - known - writes(body)
        targets = [template.name(name, at=body[0], store=True) for name in sorted(missing)]
        declarations = [statement for target in targets for statement in _DECLARE(at=target, NAME_=target)]
        position = 1 if body and is_docstring(body[0]) else 0
        return body[:position] + declarations + body[position:]

    def state_names(
        self, nodes: Sequence[gast.AST], live_out: frozenset[str], at: gast.stmt, *, exiting: bool
    ) -> list[gast.expr]:
        """The variables that these statements write and that are read afterwards, as string constants.

        `'y?'` is one that some path leaves without a value.
        """
        names = self.written(nodes) & (live_out | self._facts.escaping)
        unbound = self._facts.unbound_after[at] | self._unsure
        if exiting:  # by a path that ends elsewhere
            unbound |= self._facts.unbound_before[at] | self._effects.deleted(nodes)
        return [template.constant(self._state_name(name, unbound), at=at) for name in sorted(names)]

    def _state_name(self, name: str, unbound: frozenset[str]) -> str:
        if name in self._facts.declared_global:
            return f"global {name}"
        return f"{name}?" if name in unbound else name

    def written(self, nodes: Sequence[gast.AST]) -> frozenset[str]:
        own = self._facts.bound | self._facts.declared_global | self._facts.declared_nonlocal
        return self._effects.written(nodes) & own

    def local(self, names: frozenset[str], statements: Sequence[gast.AST], live_in: frozenset[str]) -> frozenset[str]:
        """Of names that are written the temporaries of this block: those that occur nowhere else and start without a value."""
        facts = self._facts
        own = names - facts.escaping - facts.parameters - facts.declared_nonlocal - live_in
        if not own:
            return own
        here = self._effects.names(statements)
        return frozenset(name for name in own if here[name] == self._occurrences[name])

    def live_before(self, statements: list[gast.stmt], otherwise: frozenset[str]) -> frozenset[str]:
        return self._facts.live_before[statements[0]] if statements else otherwise


class _Effects:
    """What statements do. Each is looked at once, since all blocks around it ask.

    The first who asks wants to know of the whole function, so that it is looked at before anything in it is converted.
    """

    def __init__(self) -> None:
        self._known: dict[gast.AST, _Effect] = {}

    def written(self, nodes: Sequence[gast.AST]) -> frozenset[str]:
        return frozenset().union(*(self._of(node).written for node in nodes))

    def deleted(self, nodes: Sequence[gast.AST]) -> frozenset[str]:
        """The variables that these statements take away."""
        return frozenset().union(*(self._of(node).deleted for node in nodes))

    def names(self, nodes: Sequence[gast.AST]) -> collections.Counter[str]:
        """How often each name occurs, nested functions included."""
        return _sum(self._of(node).names for node in nodes)

    def _of(self, node: gast.AST) -> _Effect:
        if node not in self._known:
            parts = [] if isinstance(node, _DEFINITIONS) else children(node)
            inner = [part for part in parts if isinstance(part, _LOOKED_AT_APART)]
            self._known[node] = self._with_suites(parts, inner) if inner else _effect(node)
        return self._known[node]

    def _with_suites(self, parts: Sequence[gast.AST], inner: Sequence[gast.AST]) -> _Effect:
        header = [part for part in parts if not isinstance(part, _LOOKED_AT_APART)]
        names = _sum([_names(header), *(self._of(part).names for part in inner)])
        return _Effect(writes(header) | self.written(inner), self.deleted(inner), names)


class _Effect(NamedTuple):
    written: frozenset[str]
    deleted: frozenset[str]
    names: collections.Counter[str]


_LOOKED_AT_APART = (gast.stmt, gast.excepthandler, gast.match_case)
_DEFINITIONS = (gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef)


def _effect(node: gast.AST) -> _Effect:
    parts = walk(node) if isinstance(node, _DEFINITIONS) else [node]  # no other one has statements in it
    deletions = [inner for inner in parts if isinstance(inner, gast.Delete)]
    deleted = frozenset(target.id for inner in deletions for target in inner.targets if isinstance(target, gast.Name))
    return _Effect(writes([node]), deleted, _names([node]))


def _sum(counts: Iterable[collections.Counter[str]]) -> collections.Counter[str]:
    total = collections.Counter[str]()
    for one in counts:
        total.update(one)
    return total


def _names(nodes: Sequence[gast.AST]) -> collections.Counter[str]:
    found: list[str] = []
    for node in itertools.chain.from_iterable(map(walk, nodes)):
        kind = type(node)
        if kind is gast.Name:
            found.append(node.id)
        elif kind is gast.alias:
            found.append((node.asname or node.name).partition(".")[0])
        elif kind in _WITH_A_NAME and node.name:
            found.append(node.name)
    return collections.Counter(found)


_WITH_A_NAME = frozenset({gast.FunctionDef, gast.ClassDef, gast.MatchAs, gast.MatchStar})


def is_docstring(statement: gast.stmt) -> bool:
    return isinstance(statement, gast.Expr) and isinstance(statement.value, gast.Constant)


def _from_around(statements: Sequence[gast.AST]) -> frozenset[str]:
    """The names that functions inside these statements take from around them by `nonlocal`."""
    names: set[str] = set()
    pending = list(statements)
    while pending:
        node = pending.pop()
        if isinstance(node, gast.FunctionDef):
            if "from_around" not in node.__dict__:  # noted there: every block around it asks
                node.__dict__["from_around"] = _taken_by(node)
            names |= node.__dict__["from_around"]
        else:
            pending.extend(part for part in children(node) if isinstance(part, _LOOKED_AT_APART))
    return frozenset(names)


def _taken_by(node: gast.FunctionDef) -> frozenset[str]:
    own = {name for s in node.body if isinstance(s, gast.Nonlocal) for name in s.names}
    bound = {s.target.id for s in node.body if isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name)}
    bound |= {parameter.id for parameter in parameters(node)}
    return frozenset(own) | (_from_around(node.body) - bound - (writes(node.body) - own))
