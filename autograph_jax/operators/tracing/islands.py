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
from collections.abc import Callable, Iterable
from typing import Any

import jax

_MOST = 200  # objects that are looked at: others count as alive
_ENTERED = (types.FunctionType, types.CellType, types.MethodType, functools.partial, tuple, list, dict)
_HEAP_TYPE = 1 << 9
_NOT_ENTERED = (type, types.ModuleType, types.FrameType, types.CodeType, jax.Array)


def is_island(owner: Any, others: int, ours: Callable[[Any], int], also: Callable[[Any], Iterable[Any]]) -> bool:
    """Is an object held by a ring of objects alone that it is in?

    `others` are the references to it that are not ours; `ours` tells of another object how many are, and `also` what stands
    for values of its own that have been taken away from it for now.
    """
    nodes, links = _around(owner, also)
    inner = collections.Counter(number for numbers in links for number in numbers)
    if not inner[id(owner)]:
        return False
    counts = _counts(nodes)
    outer = [others, *(count - ours(node) for count, node in zip(counts[1:], nodes[1:], strict=True))]
    alive = [position for position, node in enumerate(nodes) if outer[position] > inner[id(node)]]
    places = {id(node): position for position, node in enumerate(nodes)}
    for position in alive:  # which grows meanwhile
        alive += {places[number] for number in links[position]}.difference(alive)
    return 0 not in alive


def _around(owner: Any, also: Callable[[Any], Iterable[Any]]) -> tuple[list[Any], list[list[int]]]:
    """An object with what it and these refer to, and of each the ids of those that it refers to."""
    nodes, known, links = [owner], {id(owner)}, list[list[int]]()
    for node in nodes:  # which grows meanwhile
        shared = (node.__globals__, node.__builtins__) if type(node) is types.FunctionType else ()
        parts = [*gc.get_referents(node), *also(node)]
        links.append(list(map(id, parts)))
        for part in parts:
            if id(part) not in known and len(nodes) < _MOST and _is_entered(part) and not any(part is one for one in shared):
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
