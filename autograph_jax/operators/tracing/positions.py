"""Where an iterator of Python's own stands: what tells whether somebody has taken elements of it.

None of them says so in the same words. A list's knows how many elements are left, a generator has variables, and `zip` holds
further iterators, which are found and asked by themselves.
"""

from __future__ import annotations

import dis
import gc
import itertools
import operator
import types
from collections.abc import Iterable, Iterator
from typing import Any

from autograph_jax.operators.tracing import reach

_MODULES = ("builtins", "itertools", "collections", "_collections")


class _Same:
    """Objects, compared by which they are. They are kept, so that none leaves its id to another one."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._objects = list(objects)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and list(map(id, self._objects)) == list(map(id, other._objects))


Position = tuple[Any, _Same]


def is_unfinished(value: Any) -> bool:
    """Is this an iterator that may have elements to give, and is changed by giving them?"""
    if not isinstance(value, Iterator) or reach.is_record(value):
        return False
    if isinstance(value, types.GeneratorType):
        return value.gi_frame is not None and not value.gi_running
    return type(value).__module__ in _MODULES or getattr(value, "one_shot", False)


def acts_when_closed(iterator: Any) -> bool:
    """Is this a generator that stands in a `try` or a `with`? Python runs what follows from that where a loop leaves it."""
    if not isinstance(iterator, types.GeneratorType) or iterator.gi_frame is None:
        return False
    return _stands_in_try(iterator.gi_code, iterator.gi_frame.f_lasti) or acts_when_closed(iterator.gi_yieldfrom)


def _stands_in_try(code: types.CodeType, offset: int) -> bool:
    """Python itself handles what a generator raises, too, but pushes no exception then.

    An `except` and, since Python 3.12, a `yield from` have such a handler, which stands in the `try` around in their place.
    """
    entries = dis.Bytecode(code).exception_entries  # pyright: ignore[reportAttributeAccessIssue] - since Python 3.11
    reached, waiting = set[int](), [offset]
    while waiting:
        place = waiting.pop()
        new = {entry.target for entry in entries if entry.start <= place < entry.end} - reached
        if any(code.co_code[target] == dis.opmap["PUSH_EXC_INFO"] for target in new):
            return True
        reached |= new
        waiting += new
    return False


def position(iterator: Any) -> Position:
    if isinstance(iterator, types.GeneratorType):
        frame = iterator.gi_frame
        return (frame.f_lasti if frame is not None else None), _Same(gc.get_referents(iterator))
    if isinstance(iterator, itertools.count):
        return repr(iterator), _Same(())
    if type(iterator).__module__ not in _MODULES:
        return None, _Same(part for _, part in reach.parts(iterator))
    held = gc.get_referents(iterator)
    inside = (part for one in held if type(one) is tuple for part in one)  # `product` writes its next element into the last one
    return operator.length_hint(iterator, -1), _Same((*held, *inside))
