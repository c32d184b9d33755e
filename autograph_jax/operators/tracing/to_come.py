"""What the loops that run have yet to take: in `for a in (x, x): a[0] += 1` the second turn sees what the first has written.

The tuple holds the array as it was, and nobody can put another one there, so that such a write is refused.
"""

from __future__ import annotations

import contextlib
import copy
import threading
from collections.abc import Callable, Iterator
from typing import Any

import jax

from autograph_jax.operators.tracing import reach

_OF_TUPLE, _OF_LIST = type(iter(())), type(iter([]))


class _Loops(threading.local):
    def __init__(self) -> None:
        self.elements: list[Any] = []  # the iterators of the loops around, as far as they tell what is left


_loops = _Loops()


@contextlib.contextmanager
def taking(elements: Iterator[Any]) -> Iterator[None]:
    """Meanwhile a loop takes these. It need not be asked if it begins with none that hold an array, as most do."""
    is_asked = isinstance(elements, _OF_TUPLE | _OF_LIST) and any(map(_holds_array, copy.copy(elements)))
    _loops.elements += [elements] if is_asked else []
    try:
        yield
    finally:
        del _loops.elements[len(_loops.elements) - is_asked :]


def _holds_array(element: Any) -> bool:
    return type(element) not in reach.ATOMS and any(isinstance(part, jax.Array) for part in reach.everything(element))


def holds(test: Callable[[Any], bool], written: Any = None) -> bool:
    """Is there such a value in what is yet to be taken? Not in the list that is `written` itself, which shows it."""
    left = (elements for elements in _loops.elements if written is None or _source(elements) is not written)
    return any(reach.holds(element, test) for elements in left for element in copy.copy(elements))


def _source(elements: Any) -> Any:
    return elements.__reduce__()[1][0]
