"""What is known in the branch of one option: that it is the one, and which values chosen by the same data can be there.

items = self.a if x > 0 else self.b
items.append(1)     in the branch that writes self.a, `items` is not self.b, so that nobody else holds what is written
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator, Sequence
from typing import Any

# By the id of an index: it itself, the one that it was made of, and the table of it. Module state: an entry goes with it.
_made: dict[int, tuple[weakref.ref[Any], weakref.ref[Any], tuple[int, ...]]] = {}


class _Known(threading.local):
    def __init__(self) -> None:
        self.branches: list[tuple[Any, int]] = []  # an index, and the number that it has where this thread traces
        self.is_asked = False


_known = _Known()


def note(new: Any, index: Any, table: Sequence[int]) -> Any:
    """Remember that the index `new` is `table[index]`."""
    with contextlib.suppress(TypeError):  # a number has no references that are weak
        key = id(new)
        gone = weakref.ref(new, lambda _, known=_made: known.pop(key, None))
        _made[key] = gone, weakref.ref(index), tuple(table)
    return new


@contextlib.contextmanager
def taken(index: Any, position: int) -> Iterator[None]:
    """In the branch of the option with this number."""
    _known.branches.append((index, position))
    try:
        yield
    finally:
        _known.branches.pop()


@contextlib.contextmanager
def only_possible() -> Iterator[None]:
    """Whoever looks through a Choice meanwhile finds the options that it can have in this branch, by `options`."""
    before, _known.is_asked = _known.is_asked, True
    try:
        yield
    finally:
        _known.is_asked = before


def options(choice: Any) -> Iterator[tuple[int, Any]]:
    """The options of a Choice with their numbers."""
    numbers = _possible(choice._index, len(choice._options)) if _known.is_asked and _known.branches else None
    return ((n, option) for n, option in enumerate(choice._options) if numbers is None or n in numbers)


def _possible(index: Any, count: int) -> set[int]:
    """The numbers that an index of so many can be here."""
    found, table = set(range(count)), list(range(count))
    known: dict[int, set[int]] = {}
    for own, position in _known.branches:
        for older, numbers in _older(own, {position}):
            known[id(older)] = known.get(id(older), numbers) & numbers
    while index is not None:
        if id(index) in known:
            found &= {table[number] for number in known[id(index)] if number < len(table)}
        index, own = _origin(index)
        table = [table[number] if number < len(table) else -1 for number in own]
    return found


def _older(index: Any, numbers: set[int]) -> Iterator[tuple[Any, set[int]]]:
    """An index and those that it was made of, with the numbers that they can be where it is one of these."""
    while index is not None:
        yield index, numbers
        index, table = _origin(index)
        numbers = {number for number, own in enumerate(table) if own in numbers}


def _origin(index: Any) -> tuple[Any, tuple[int, ...]]:
    entry = _made.get(id(index))
    return (entry[1](), entry[2]) if entry is not None and entry[0]() is index else (None, ())
