"""What the comprehensions that run have collected: in `[s.step(k) for k in ks]` the list is not yet in any variable.

NumPy's list shows what `step` writes into an array that it has given before. A comprehension ends with the iterator that it
goes through, and one that runs inside another, or in what it calls, ends first. In Python 3.11 it has a frame of its own: an
exception that has left it may keep that, and so the iterator.
"""

from __future__ import annotations

import itertools
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import jax

from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.frame_variables import frame_variables

_HAS_FRAMES = sys.version_info < (3, 12)
_OWN = frozenset({"<listcomp>", "<dictcomp>", "<setcomp>"})
_ELEMENTS = ".0"  # the variable that has the iterator there


class Collecting(itertools.chain[Any]):
    """An iterator that lives as long as a comprehension, with what that has collected, and may have yet to take."""

    __slots__ = ("__weakref__", "arrays", "frame", "left", "others")
    arrays: dict[int, Any]  # by id, since there may be many of them
    others: list[Any]
    left: Iterator[Any] | None  # where there may be arrays in it
    frame: int | None  # the id of its own, once that is known


class _Begun(threading.local):
    def __init__(self) -> None:
        self.comprehensions: list[weakref.ref[Collecting]] = []  # innermost last; those that have ended may be among them


_begun = _Begun()


def begin(elements: Iterator[Any], left: Iterator[Any] | None) -> Collecting:
    """A comprehension begins, which goes through these elements."""
    _forget_ended()
    comprehension = Collecting(elements)
    comprehension.arrays, comprehension.others, comprehension.left, comprehension.frame = {}, [], left, None
    _begun.comprehensions.append(weakref.ref(comprehension))
    return comprehension


def collect(value: Any) -> Any:
    """An element of the innermost comprehension."""
    if type(value) in reach.ATOMS:
        return value
    innermost = _innermost(sys._getframe(1))
    if reach.is_plain(value) and isinstance(value, jax.Array):
        if value.ndim:  # an element of an array is a number in NumPy
            innermost.arrays[id(value)] = value
    else:
        innermost.others.append(value)
    return value


def _innermost(frame: types.FrameType) -> Collecting:
    """The comprehension that runs in this frame. It has been begun there, and all that were begun later have ended."""
    _forget_ended()
    innermost = _begun.comprehensions[-1]()
    if _HAS_FRAMES and (innermost is None or innermost.frame != id(frame)):
        innermost = frame_variables(frame)[_ELEMENTS]
        while _begun.comprehensions[-1]() is not innermost:
            _begun.comprehensions.pop()
        innermost.frame = id(frame)
    assert innermost is not None
    return innermost


def _forget_ended() -> None:
    while _begun.comprehensions and _begun.comprehensions[-1]() is None:
        _begun.comprehensions.pop()


def is_any() -> bool:
    _forget_ended()
    return bool(_begun.comprehensions)


def running() -> list[Collecting]:
    """The comprehensions that run, outermost first."""
    found = [one for begun in _begun.comprehensions if (one := begun()) is not None]
    if not _HAS_FRAMES or not found:
        return found
    own: set[int] = set()
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_name in _OWN:
            own.add(id(frame_variables(frame).get(_ELEMENTS)))
        frame = frame.f_back
    return [one for one in found if id(one) in own]


def has(array: Any, like: Callable[[Any], bool] | None, skip: reach.Skip) -> bool:
    """Has a comprehension that is running collected this array, or another one that is `like` it? Not at places to `skip`."""
    for one in running() if is_any() else ():
        if id(array) in one.arrays if like is None else any(map(like, one.arrays.values())):
            return True
        if one.others and reach.any_holds(one.others, like or (lambda part: part is array), skip=skip):
            return True
    return False
