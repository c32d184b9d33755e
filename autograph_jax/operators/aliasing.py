"""Two variables that are one array in NumPy: an in-place write shows through both, or is refused.

Plain copies of a variable are replaced with it (`follow`). Who else holds the array is looked up when it is written: the
variables of the converted functions that are running and are read later, and the lists, dicts and objects in them.

Where a branch or a loop makes it depend on traced data whether two variables hold the same array, the pair is remembered as
doubtful, and a write through one of them is an error.
"""

from __future__ import annotations

import collections
import types
import sys
import weakref
from collections.abc import Iterator
from typing import Any

import jax

from autograph_jax.errors import AliasError, frame_location, user_location
from autograph_jax.operators import hooks

# Module state: pairs of arrays, by their ids, that may be one array. An entry goes when one of the two goes.
_doubtful: dict[frozenset[int], tuple[weakref.ref[Any], weakref.ref[Any]]] = {}


def follow(alias: Any, old: Any, new: Any) -> Any:
    """What another variable holds after `old` was written in place and became `new`."""
    if alias is old:
        return new
    if new is not old and is_doubtful(alias, old):
        raise AliasError(
            "an array is written in place that another variable may hold too, depending on traced data",
            location=user_location(),
            details=["In NumPy the other variable would show the write on one path, and not on the other."],
            help="make a copy where the variable gets the array: `y = x.copy()`",
        )
    return alias


def doubt(first: Any, second: Any) -> None:
    """Remember that two arrays may be one."""
    if first is second or not isinstance(first, jax.Array) or not isinstance(second, jax.Array):
        return
    key = frozenset((id(first), id(second)))

    def forget(_: Any) -> None:
        _doubtful.pop(key, None)

    _doubtful[key] = (weakref.ref(first, forget), weakref.ref(second, forget))


def is_doubtful(first: Any, second: Any) -> bool:
    return bool(_doubtful) and frozenset((id(first), id(second))) in _doubtful


# Who else holds an array?

_MOST_PARTS = 500  # of the containers that are looked through
Holder = tuple[types.FrameType, str]


def check_write(array: Any, *, place: tuple[Any, Any] | None = None, aliases: tuple[Any, ...] = ()) -> None:
    """Refuse an in-place write that somebody else would have to see.

    `place` is the container and the key that the new array is put into, `aliases` are values that follow by themselves.
    """
    for base in (array, *_related(array)):
        holder = _holder(base, place if base is array else None)
        if holder is not None:
            raise _alias_error(holder, base is array)


def view(value: Any, base: Any) -> Any:
    """`row = x[0]`: in NumPy the row is a view, if it is no scalar."""
    if isinstance(value, jax.Array) and isinstance(base, jax.Array) and value is not base and value.ndim > 0:
        _views[id(value)] = (weakref.ref(value, lambda _, key=id(value): _views.pop(key, None)), weakref.ref(base))
    return value


# Module state: by id of the view, the view and its base. An entry goes when the view goes.
_views: dict[int, tuple[weakref.ref[Any], weakref.ref[Any]]] = {}


def _related(array: Any) -> Iterator[Any]:
    """The array that this one is a view of, and the views of this one."""
    entry = _views.get(id(array))
    if entry is not None and entry[0]() is array and (base := entry[1]()) is not None:
        yield base
    for own, base in list(_views.values()):
        if base() is array and (view_ := own()) is not None:
            yield view_


def _holder(array: Any, place: tuple[Any, Any] | None) -> Holder | None:
    """A variable, read later, that holds this array or something with this array in it."""
    for frame, names, roots in _converted_frames():
        variables = frame.f_locals
        for name in (names | roots) & variables.keys():
            value = variables[name]
            if name in names and value is array or value is not array and _holds(value, array, place):
                return frame, name
    return None


def _converted_frames() -> Iterator[tuple[types.FrameType, frozenset[str], frozenset[str]]]:
    """The converted functions that are running, innermost first, with the variables that are read later.

    Of one function, only the innermost block counts: the blocks around it share its variables.
    """
    frame: types.FrameType | None = sys._getframe(1)
    inside_block = False
    rebound: set[str] = set()
    while frame is not None:
        later = hooks.read_later(frame)
        if later is not None:
            if not inside_block:
                yield frame, later[0] - rebound, later[1] - rebound
                rebound = set(frame.f_code.co_freevars)  # variables of the function around are written through
            inside_block = hooks.is_block(frame.f_code)
        frame = frame.f_back


def _holds(value: Any, array: Any, place: tuple[Any, Any] | None) -> bool:
    pending, seen = collections.deque([value]), 0
    known: set[int] = set()
    while pending and seen < _MOST_PARTS:
        value = pending.popleft()
        seen += 1
        if value is array:
            return True
        if id(value) in known:
            continue
        known.add(id(value))
        pending.extend(part for key, part in _parts(value) if place is None or not (value is place[0] and key == place[1]))
    return False


def _parts(value: Any) -> Iterator[tuple[Any, Any]]:
    """What a container or object holds, with the key or attribute."""
    if isinstance(value, list | tuple):
        yield from enumerate(value)
    elif isinstance(value, dict):
        yield from value.items()
    elif hasattr(value, "__dict__") and not isinstance(value, type | types.ModuleType | types.FunctionType | jax.Array):
        yield from vars(value).items()


def _alias_error(holder: Holder, same: bool) -> AliasError:
    frame, name = holder
    place = frame_location(frame)
    what = "holds this array too" if same else "shares its memory with this array in NumPy"
    return AliasError(
        f"an array is written in place, and `{name}` would have to show the write",
        location=user_location(),
        details=[f"`{name}` ({place.filename}:{place.line}, in {place.function}) {what}, and is read later."],
        help="return the new array and use that, or make a copy first: `y = x.copy()`",
    )
