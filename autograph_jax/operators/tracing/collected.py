"""What the comprehensions that run have collected: in `[s.step(k) for k in ks]` the list is not yet in any variable.

NumPy's list shows what `step` writes into an array that it has given before. A comprehension ends with the iterator that it
goes through, and one that runs inside another, or in what it calls, ends first.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax

from autograph_jax.operators.tracing import given, reach, views


class _Collecting(itertools.chain[Any]):
    """An iterator that lives as long as a comprehension, with what that has collected."""

    __slots__ = ("__weakref__", "arrays", "others")
    arrays: dict[int, Any]  # by id, since there may be many of them
    others: list[Any]


class _Running(threading.local):
    def __init__(self) -> None:
        self.comprehensions: list[weakref.ref[_Collecting]] = []  # innermost last; those that have ended may be among them


_running = _Running()


def collecting(iterable: Iterable[Any]) -> Iterator[Any]:
    """`[f(v) for v in iterable]`: what it goes through, until it ends."""
    _forget_ended()
    elements = _Collecting(views.each_row_of(iterable))
    elements.arrays, elements.others = {}, []
    _running.comprehensions.append(weakref.ref(elements))
    return elements


def giving(iterable: Iterable[Any]) -> Iterator[tuple[given.Given, Any]]:
    """`(f(v) for v in iterable)`: what it goes through, each with what the generator has given."""
    return zip(itertools.repeat(given.Given()), views.each_row_of(iterable))  # noqa: B905 - it ends with the second


def collect(value: Any) -> Any:
    """An element of the innermost comprehension."""
    if type(value) not in reach.ATOMS:
        _forget_ended()
        innermost = _running.comprehensions[-1]()
        assert innermost is not None
        if reach.is_plain(value) and isinstance(value, jax.Array):
            innermost.arrays[id(value)] = value
        else:
            innermost.others.append(value)
    return value


def _forget_ended() -> None:
    while _running.comprehensions and _running.comprehensions[-1]() is None:
        _running.comprehensions.pop()


def has(array: Any, like: Callable[[Any], bool] | None, skip: reach.Skip) -> bool:
    """Has a comprehension that is running collected this array, or another one that is `like` it? Not at places to `skip`."""
    for elements in (one() for one in _running.comprehensions):
        if elements is None:
            continue
        if id(array) in elements.arrays if like is None else any(map(like, elements.arrays.values())):
            return True
        if any(reach.holds(value, like or (lambda part: part is array), skip=skip) for value in elements.others):
            return True
    return False
