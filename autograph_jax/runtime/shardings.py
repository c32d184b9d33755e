"""`in_shardings={'x': s}`: which argument is sharded how, given by name, by number or in order."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.canonical import Callee, Canonical
from autograph_jax.runtime.statics import refuse_overlap


def by_argument(callee: Callee, shardings: Any, static: Sequence[Argument]) -> dict[Argument, Any] | None:
    """`in_shardings` for each argument; None for one that holds for all. In a tuple, static arguments have no place."""
    if isinstance(shardings, Mapping):
        entries = callee.entries("in_shardings", shardings)
        refuse_overlap(static, entries, callee.name, what="sharded", help="leave it out of `in_shardings`: it is no array")
        return entries
    if type(shardings) not in (tuple, list):
        return None
    arguments = (next(iter(callee.entries("in_shardings", {n: None}))) for n in itertools.count())
    dynamic = (argument for argument in arguments if argument not in static)
    return {next(dynamic): sharding for sharding in shardings}


def in_order(canonical: Canonical, shardings: dict[Argument, Any], static: Sequence[Argument]) -> tuple[Any, ...]:
    """The same in canonical order, without the static arguments, as `jax.jit` takes it."""
    ordered: list[Any] = [None] * len(canonical)
    for argument, sharding in shardings.items():
        ordered[canonical.position(argument)] = sharding
    left_out = canonical.positions(static)
    return tuple(sharding for position, sharding in enumerate(ordered) if position not in left_out)
