"""Objects that hold each other in a ring, and that nobody else holds: Python's collector takes them away, later.

`self.f = lambda x: self.n * x`, or a function that counts its calls, `g.calls += 1`, whose variable `g` is in its own closure.
As the collector does it: of a few objects, those are alive that something outside of these refers to, and what they refer to
(CPython's "Garbage collector design").
"""

from __future__ import annotations

import collections
import functools
import gc
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import jax

_MOST = 200  # objects that are looked at, times as many as are asked for together: others count as alive
_ENTERED = (types.FunctionType, types.CellType, types.MethodType, functools.partial, tuple, list, dict)
_HEAP_TYPE = 1 << 9
_NOT_ENTERED = (type, types.ModuleType, types.FrameType, types.CodeType, jax.Array)


def on_islands(
    owners: Sequence[Any], others: Sequence[int], ours: Callable[[Any], int], also: Callable[[Any], Iterable[Any]]
) -> set[int]:
    """The ids of those of some objects that are held by rings of objects alone.

    `others` are the references to each that are not ours; `ours` tells of another object how many are, and `also` what stands
    for values of its own that have been taken away from it for now.
    """
    nodes, links = _around(owners, also)
    inner = collections.Counter(number for numbers in links for number in numbers)
    if not any(inner[id(owner)] for owner in owners):
        return set()
    counts, first = _counts(nodes), len(owners)
    outer = [*others, *(count - ours(node) for count, node in zip(counts[first:], nodes[first:], strict=True))]
    alive = {id(node) for node, count in zip(nodes, outer, strict=True) if count > inner[id(node)]}
    places, pending = {id(node): position for position, node in enumerate(nodes)}, list(alive)
    for number in pending:  # which grows meanwhile
        more = set(links[places[number]]).difference(alive)
        alive |= more
        pending += more
    return {id(owner) for owner in owners}.difference(alive)


def _around(owners: Sequence[Any], also: Callable[[Any], Iterable[Any]]) -> tuple[list[Any], list[list[int]]]:
    """Objects with what they and these refer to, and of each the ids of those that it refers to."""
    nodes, known, links, most = [*owners], {id(owner) for owner in owners}, list[list[int]](), _MOST * len(owners)
    for node in nodes:  # which grows meanwhile
        shared = (node.__globals__, node.__builtins__) if type(node) is types.FunctionType else ()
        parts = [*gc.get_referents(node), *also(node)]
        links.append(list(map(id, parts)))
        for part in parts:
            if id(part) not in known and len(nodes) < most and _is_entered(part) and not any(part is one for one in shared):
                known.add(id(part))
                nodes.append(part)
    return nodes, [[number for number in numbers if number in known] for numbers in links]


def _is_entered(part: Any) -> bool:
    kind = type(part)
    return kind in _ENTERED or bool(kind.__flags__ & _HEAP_TYPE) and not isinstance(part, _NOT_ENTERED)


def _counts(nodes: list[Any]) -> list[int]:
    """How often each is referred to, but for this list."""
    return [sys.getrefcount(node) - _OWN for node in nodes]


class _Probe:
    pass


_OWN = 0
_OWN = _counts([_Probe()])[0]  # differs between versions of CPython
