"""What the loops that run have yet to take: in `for a in (x, x): a[0] += 1` the second turn sees what the first has written.

The tuple holds the array as it was, and nobody can put another one there, so that such a write is refused. Of Python's own
iterators it is known what is left; what `itertools` makes tells nobody.
"""

from __future__ import annotations

import contextlib
import copy
import gc
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax

from autograph_jax.operators.tracing import reach

_OF_CONTAINERS = tuple(
    map(type, (iter(()), iter([]), reversed(()), reversed([]), iter({}), iter({}.values()), iter({}.items())))
)
_OF_ITERATORS = (enumerate, zip, map, filter)


class _Loops(threading.local):
    def __init__(self) -> None:
        self.elements: list[Any] = []  # the iterators of the loops around, as far as they tell what is left


_loops = _Loops()


@contextlib.contextmanager
def taking(elements: Iterator[Any]) -> Iterator[None]:
    """Meanwhile a loop takes these. It need not be asked if it begins with none that hold an array, as most do."""
    is_asked = any(map(_holds_array, _left(elements, None)))
    _loops.elements += [elements] if is_asked else []
    try:
        yield
    finally:
        del _loops.elements[len(_loops.elements) - is_asked :]


def holds(test: Callable[[Any], bool], written: Any = None) -> bool:
    """Is there such a value in what is yet to be taken? Not in the list or dict that is `written` itself, which shows it."""
    return any(reach.holds(element, test) for elements in _loops.elements for element in _left(elements, written))


def _holds_array(element: Any) -> bool:
    return type(element) not in reach.ATOMS and any(is_array(part) for part in reach.everything(element))


def is_array(part: Any) -> bool:
    """Is it an array? An object of a user's is not asked, which `isinstance` would."""
    return reach.is_plain(part) and isinstance(part, jax.Array)


def _left(elements: Any, written: Any, around: tuple[Any, ...] = ()) -> Iterator[Any]:
    """What iterators have yet to give, or to take themselves: of `map(f, xs)`, what is left of xs.

    `around` are those that have led here: generators may hold each other.
    """
    if type(elements) in _OF_CONTAINERS:
        containers = gc.get_referents(elements)
        is_users = type(elements) is reversed and any(type(one) is not tuple for one in containers)  # which would be asked
        if not is_users and all(one is not written for one in containers):
            with contextlib.suppress(RuntimeError):  # a dict that has another size by now: its loop is about to say so
                yield from list(copy.copy(elements))
        return
    if type(elements) in _OF_ITERATORS:
        sources = elements.__reduce__()[1]
    elif type(elements) is types.GeneratorType and elements.gi_frame is not None:
        sources = tuple(elements.gi_frame.f_locals.values())
    else:
        return
    for source in sources:
        if all(source is not one for one in (elements, *around)):
            yield from _left(source, written, (elements, *around))
