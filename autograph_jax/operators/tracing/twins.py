"""Arrays in one list, tuple, dict or object that are one array, or views of one: `r = [t, t[::-1]]` in a branch or loop.

What a join makes of them are arrays of their own, and a write to one would have to show in the other one.
"""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Iterator, Sequence
from typing import Any

import jax

from autograph_jax.operators.tracing import aliasing, reach, views
from autograph_jax.operators.values.choices import Choice
from autograph_jax.porting.arrays import MutableArray
from autograph_jax.porting.selections import Selection

Way = tuple[Any, ...]  # from a value to what is in it
Twins = frozenset[frozenset[Way]]
NO_TWINS: Twins = frozenset()
_MOST_PARTS = 500
_DEEPEST = 8
_LEAVES = (jax.Array, MutableArray, Selection)
_CODE = (types.FunctionType, types.MethodType, types.GeneratorType)
_NO_CONTENT = (*_LEAVES, *_CODE, *reach.ATOMS)


def twins(value: Any) -> Twins:
    """The ways to two arrays in a value that have, or may have, one memory."""
    found = [(way, array, *_kin(array)) for way, array in _arrays(value)]
    return frozenset(
        frozenset((way, other_way))
        for (way, one, kin, apart), (other_way, other, others, others_apart) in itertools.combinations(found, 2)
        if way != other_way and (kin & others) - (apart & others_apart) - aliasing.in_parts(one, other)
    )


def doubt(value: Any, known: Twins) -> None:
    """Remember of the arrays in what a join has made that those at two ways may have one memory."""
    made: dict[Way, list[Any]] = {}
    for way, array in _arrays(value) if known else ():
        made.setdefault(way, []).append(array)
    for first, second in map(tuple, known):
        for one, other in itertools.product(made.get(first, ()), made.get(second, ())):
            _doubt_arrays(one, other)


def _doubt_arrays(one: Any, other: Any) -> None:
    if isinstance(one, jax.Array) and isinstance(other, jax.Array) and one.shape != other.shape:
        views.view(*(one, other) if one.size <= other.size else (other, one))
    for first, second in itertools.product(_own(one), _own(other)):
        aliasing.doubt(first, second)


def _arrays(value: Any) -> Iterator[tuple[Way, Any]]:
    """The arrays in a value, with the way to each; the options of a choice have one way."""
    if isinstance(value, _NO_CONTENT):
        return
    pending = collections.deque[tuple[Way, Any]]([((), value)])
    for _ in range(_MOST_PARTS):
        if not pending:
            return
        way, part = pending.popleft()
        if isinstance(part, _LEAVES):
            if part.ndim:
                yield way, part
        elif len(way) < _DEEPEST and not isinstance(part, _CODE) and not reach.is_no_content(part):
            is_choice = type(part) is Choice
            pending.extend(
                (way if is_choice else (*way, key), child) for key, child in reach.parts(part) if _has_content(child)
            )


def _has_content(part: Any) -> bool:
    return isinstance(part, _LEAVES) or not isinstance(part, _NO_CONTENT)


def _own(array: Any) -> Sequence[Any]:
    return [array] if isinstance(array, jax.Array) else list(array.memory())


def _kin(array: Any) -> tuple[set[int], set[int]]:
    """The ids of what an array may have as its memory; and of those among them of which two arrays have one each.

    As after `old, new = new, old`.
    """
    own = _own(array)
    one_of = {id(other) for part in own for other in aliasing.doubtful_with(part)} - set(map(id, own))
    based = {id(base) for part in own for base in views.bases(part)}
    return {*map(id, own), *one_of, *based}, one_of | views.handed_over(array)
