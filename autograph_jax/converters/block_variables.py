"""Which variables a block shares with the function around it, which are its own, and which it may leave without a value."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence

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
        self._occurrences = collections.Counter(occurrences(function.body))

    def sure_names(self, node: gast.stmt, rest: list[gast.stmt]) -> list[gast.expr]:
        """Variables that a statement may leave unbound where it leaves early, but never where the rest is reached."""
        facts = self._facts
        unsure = (facts.unbound_before[node] & self.written([node]) | _deleted([node])) - facts.unbound_before[rest[0]]
        unsure &= facts.live_before[rest[0]]
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
            unbound |= self._facts.unbound_before[at] | _deleted(nodes)
        return [template.constant(self._state_name(name, unbound), at=at) for name in sorted(names)]

    def _state_name(self, name: str, unbound: frozenset[str]) -> str:
        if name in self._facts.declared_global:
            return f"global {name}"
        return f"{name}?" if name in unbound else name

    def written(self, nodes: Sequence[gast.AST]) -> frozenset[str]:
        own = self._facts.bound | self._facts.declared_global | self._facts.declared_nonlocal
        return writes(nodes) & own

    def local(self, names: frozenset[str], statements: Sequence[gast.AST], live_in: frozenset[str]) -> frozenset[str]:
        """Of names that are written the temporaries of this block: those that occur nowhere else and start without a value."""
        facts = self._facts
        own = names - facts.escaping - facts.parameters - facts.declared_nonlocal - live_in
        if not own:
            return own
        here = collections.Counter(name for name in occurrences(statements) if name in own)
        return frozenset(name for name in own if here[name] == self._occurrences[name])

    def live_before(self, statements: list[gast.stmt], otherwise: frozenset[str]) -> frozenset[str]:
        return self._facts.live_before[statements[0]] if statements else otherwise


def _deleted(nodes: Sequence[gast.AST]) -> frozenset[str]:
    """The variables that these statements take away."""
    deletions = (node for root in nodes for node in walk(root) if isinstance(node, gast.Delete))
    return frozenset(target.id for node in deletions for target in node.targets if isinstance(target, gast.Name))


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
            pending.extend(children(node))
    return frozenset(names)


def _taken_by(node: gast.FunctionDef) -> frozenset[str]:
    own = {name for s in node.body if isinstance(s, gast.Nonlocal) for name in s.names}
    bound = {s.target.id for s in node.body if isinstance(s, gast.AnnAssign) and isinstance(s.target, gast.Name)}
    bound |= {parameter.id for parameter in parameters(node)}
    return frozenset(own) | (_from_around(node.body) - bound - (writes(node.body) - own))


def occurrences(nodes: Sequence[gast.AST]) -> Iterator[str]:
    """Each occurrence of a name, nested functions included."""
    for root in nodes:
        for node in walk(root):
            if isinstance(node, gast.Name):
                yield node.id
            elif isinstance(node, gast.FunctionDef | gast.ClassDef | gast.MatchAs | gast.MatchStar) and node.name:
                yield node.name
            elif isinstance(node, gast.alias):
                yield (node.asname or node.name).partition(".")[0]
