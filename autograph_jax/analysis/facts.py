"""What the converters know about a function: its variables, which of them may be read later, which may have no value.

    facts = analyse(tree)[function]
    facts.live_after[loop] & writes(loop.body)

are the variables that a loop computes for what comes after it.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar, cast

import gast

from autograph_jax.analysis.aliases import alias_groups
from autograph_jax.analysis.blocks import Block
from autograph_jax.analysis.captured import unbound_captures
from autograph_jax.analysis.collect import FunctionNode, scope_by_node, scopes_in
from autograph_jax.analysis.definitions import unbound_at, unbound_reads
from autograph_jax.analysis.flow import flow_of
from autograph_jax.analysis.liveness import live_at
from autograph_jax.analysis.scopes import Scope

Key = TypeVar("Key")
Raw = TypeVar("Raw")
Names = frozenset[str]


@dataclasses.dataclass(frozen=True)
class NameFacts:
    """Facts about the variables of one `def`, `async def` or `lambda`, as far as they are told without following its paths.

    bound: the local variables: parameters, everything bound here, and what is only annotated (`y: float`); not what is
        declared global or nonlocal
    parameters: as they stand in the source
    declared_global, declared_nonlocal: those of the function, and of the classes in it: `class C: nonlocal n`
    escaping: variables that nested functions, lambdas, classes or generator expressions capture, which may be read at
        any time later, and global or nonlocal names written here. Other comprehensions run at once and do not count
    nonlocal_writes: variables that inner functions bind or delete through `nonlocal`, generator expressions by walrus
    aliases: for each variable the others that may hold the same object, wherever in the function. Names from outside
        are among them: after `y = TABLE`, what is written into y is seen there
    """

    bound: Names
    parameters: Names
    declared_global: Names
    declared_nonlocal: Names
    escaping: Names
    nonlocal_writes: Names
    aliases: Mapping[str, Names]


@dataclasses.dataclass(frozen=True)
class Facts(NameFacts):
    """Facts about one `def`, `async def` or `lambda`, not about the functions inside it.

    live_before, live_after, live_head: the variables that may be read before they are next assigned, on some path from:
        where the statement starts; where it ends normally (return, raise, break, continue: where it goes); where a
        `while` asks its test, or a `for` takes its next item. They follow the paths alone: a name in `escaping` is
        there only if it is read or captured on the way. In dead code they may hold too much
    unbound_before, unbound_after: the variables that some path leaves without a value there
    maybe_unbound: the Names that read a variable, in this function or its comprehensions, which some path reaches
        before the variable is bound or after it was deleted
    maybe_unbound_targets: the same for the targets of `x += 1` and `del x`, whose Names are no loads
    unbound_captures: the Names that read one of its variables in functions inside it, lambdas and generators, which may
        find it without a value since a block did not assign it
    """

    live_before: Mapping[gast.stmt, Names]
    live_after: Mapping[gast.stmt, Names]
    live_head: Mapping[gast.stmt, Names]
    unbound_before: Mapping[gast.stmt, Names]
    unbound_after: Mapping[gast.stmt, Names]
    maybe_unbound: frozenset[gast.Name]
    maybe_unbound_targets: frozenset[gast.Name]
    unbound_captures: frozenset[gast.Name]


def analyse(tree: gast.AST) -> dict[gast.AST, Facts]:
    """The facts of every function and lambda in the tree, itself included."""
    scopes = scope_by_node(scopes_in(tree))
    return {node: _facts(scope, scopes) for node, scope in scopes.items() if scope.kind == "function"}


def analyse_names(tree: gast.AST) -> dict[gast.AST, NameFacts]:
    """The same without what takes following all paths, in a third of the time."""
    scopes = scope_by_node(scopes_in(tree))
    return {node: NameFacts(**_name_facts(scope)) for node, scope in scopes.items() if scope.kind == "function"}


def _name_facts(scope: Scope) -> dict[str, Any]:
    declared_global, declared_nonlocal = scope.declared("global"), scope.declared("nonlocal")
    return {
        "bound": scope.bound,
        "parameters": frozenset(scope.parameters),
        "declared_global": declared_global,
        "declared_nonlocal": declared_nonlocal,
        "escaping": scope.captured() & scope.bound | (declared_global | declared_nonlocal) & scope.written(),
        "nonlocal_writes": scope.inner_writes() & scope.bound,
        "aliases": _aliases(scope),
    }


def _facts(scope: Scope, scopes: Mapping[gast.AST, Scope]) -> Facts:
    own = _name_facts(scope)
    flow = flow_of(cast(FunctionNode, scope.node), scopes)
    names = sorted(scope.bound | own["declared_global"] | own["declared_nonlocal"])
    bits = _bits(names)
    at_statements = functools.partial(_at_statements, reachable=frozenset(flow.reachable()), decode=_Decoder(names))
    before, after, head = at_statements(live_at(flow, bits), [flow.before, flow.after, flow.head])
    fickle = sum(bits[name] for name in scope.inner_deletes() & scope.bound)
    at_start = sum(bits[name] for name in scope.bound - scope.parameters)
    unbound_blocks = unbound_at(flow, bits, at_start=at_start, fickle=fickle)
    unbound_before, unbound_after = at_statements(unbound_blocks, [flow.before, flow.after])
    unbound = unbound_reads(unbound_blocks, bits, fickle=fickle)
    reads = frozenset(name for name in unbound if isinstance(name.ctx, gast.Load))
    return Facts(
        **own,
        live_before=before,
        live_after=after,
        live_head=head,
        unbound_before=unbound_before,
        unbound_after=unbound_after,
        maybe_unbound=reads,
        maybe_unbound_targets=unbound - reads,
        unbound_captures=frozenset(unbound_captures(scope, scopes, unbound_before)),
    )


def _at_statements(
    sets: Mapping[Block, int], places: list[dict[gast.stmt, list[Block]]], *, reachable: frozenset[Block], decode: _Decoder
) -> list[Mapping[gast.stmt, Names]]:
    """Sets known for blocks, as mappings from statements."""

    def at(blocks_of: dict[gast.stmt, list[Block]]) -> Mapping[gast.stmt, Names]:
        return _Lazy({node: _anywhere(blocks, sets, reachable) for node, blocks in blocks_of.items()}, decode)

    return [at(place) for place in places]


def _anywhere(blocks: list[Block], sets: Mapping[Block, int], reachable: frozenset[Block]) -> int:
    """What holds at any of the places that a statement stands in; places that control never gets to do not count."""
    result = 0
    for block in [block for block in blocks if block in reachable] or blocks:
        result |= sets.get(block, 0)
    return result


def _aliases(scope: Scope) -> Mapping[str, Names]:
    groups = {name: frozenset({name}) for name in scope.bound} | alias_groups(scope)
    return _Lazy({name: (name, group) for name, group in groups.items()}, lambda pair: pair[1] - {pair[0]})


def _bits(names: list[str]) -> dict[str, int]:
    """Sets of variables as sums of powers of two: unions over long functions stay cheap."""
    return {name: 1 << place for place, name in enumerate(names)}


class _Decoder:
    """The set of names that a sum of bits stands for; the same sum gives the same set."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._known: dict[int, Names] = {}

    def __call__(self, bits: int) -> Names:
        if bits not in self._known:
            digits = reversed(f"{bits:b}")
            self._known[bits] = frozenset(n for n, d in zip(self._names, digits, strict=False) if d == "1")
        return self._known[bits]


class _Lazy(Mapping[Key, Names]):
    """A mapping whose sets are made when they are asked for: most statements of a long function never are."""

    def __init__(self, raw: dict[Key, Raw], decode: Callable[[Raw], Names]) -> None:
        self._raw, self._decode = raw, decode

    def __getitem__(self, key: Key) -> Names:
        return self._decode(self._raw[key])

    def __iter__(self) -> Iterator[Key]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def __repr__(self) -> str:
        return repr(dict(self))
