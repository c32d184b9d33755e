"""Two variables that are one array in NumPy: an in-place write shows through both, or is refused.

Plain copies of a variable are replaced with it (`follow`). Who else holds the array is looked up when it is written: the
variables of the converted functions that are running and are read later, and the lists, dicts and objects in them.

Where a branch or a loop makes it depend on traced data whether two variables hold the same array, the pair is remembered as
doubtful, and a write through one of them is an error.
"""

from __future__ import annotations

import collections
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import reach, standing, state
from autograph_jax.operators.tracing.cells import values_held
from autograph_jax.operators.tracing.frozen import share_memory
from autograph_jax.operators.tracing.places import Place
from autograph_jax.operators.tracing.views import CHOSEN, Renewed, bases, related_to, view
from autograph_jax.porting.arrays import Buffer, MutableArray, arrays_made
from autograph_jax.porting.rows import Mask, Window
from autograph_jax.porting.selections import Selection

_MEMORY = (jax.Array, Buffer)
Way = tuple[Any, ...] | None  # to a part of a value; None: it may be any part
ARRAYS = (jax.Array, MutableArray, Buffer)  # what of a loop's state may be shared: an array, or the memory of one
# Module state: for the id of an array, those that may be one with it, by their ids. An entry goes when one of the two goes.
_doubtful: dict[int, dict[int, weakref.ref[Any]]] = {}


def follow(alias: Any, old: Any, new: Any, renewed: Renewed) -> Any:
    """What another variable holds after `old` was written in place and became `new`."""
    if alias is old:
        return new
    if new is old:  # Python has written it; a JAX array that stands for it does not show that
        shown = standing.standing_for(old) if isinstance(old, np.ndarray) else ()
        if any(part is one for one in shown for part in reach.arrays(alias)):
            raise _shared_error()
        return alias
    if isinstance(alias, jax.Array) and (written := renewed(alias)) is not None:
        return written
    if any(part is other for other in may_share(old) for part in reach.arrays(alias)):
        raise doubtful_error()
    if any(part is other for other in related_to(old) for part in reach.arrays(alias)) or _shares_memory(alias, old):
        raise _shared_error()
    if not isinstance(alias, jax.Array) and any(part is old for part in reach.arrays(alias)):
        raise AliasError(
            f"an array is written in place that a {type(alias).__name__} holds too, which would have to show the write",
            location=user_location(),
            help="write it there, `a[0][i] = v`, or make a copy first: `y = a[0].copy()`",
        )
    return alias


def _shared_error() -> AliasError:
    return AliasError(
        "an array is written in place, and a variable that shares its memory in NumPy would have to show the write",
        location=user_location(),
        details=["One of them is a view of the other, as `y = x[1:]` or `y = x.T`."],
        help="make a copy first: `y = x[1:].copy()`",
    )


def _shares_memory(alias: Any, old: Any) -> bool:
    """Is an array in a value in the memory of NumPy's that this one has, or stands for?"""
    own = standing.arrays(old)
    return bool(own) and any(map(standing.shares(own), reach.everything(alias)))


def doubtful_error() -> AliasError:
    return AliasError(
        "an array is written in place that another variable may hold too, depending on traced data",
        location=user_location(),
        details=["In NumPy the other variable would show the write on one path, and not on the other."],
        help="make a copy where the variable gets the array: `y = x.copy()`",
    )


def doubt(first: Any, second: Any) -> None:
    """Remember that two arrays may be one."""
    if first is second or not isinstance(first, _MEMORY) or not isinstance(second, _MEMORY):
        return
    _note(first, second)
    _note(second, first)


def doubt_arrays(value: Any, others: Iterable[Any]) -> None:
    """Remember that arrays in a value may be any of those in others, of which traced data has chosen one."""
    if isinstance(value, jax.Array) and not value.ndim:
        return  # nobody writes into a number
    for other in others:
        for part, old in side_by_side(value, other):
            doubt(part, old)
            for base in bases(old):
                view(part, base, CHOSEN)


def _note(array: Any, other: Any) -> None:
    """Remember of one array that it may be another one."""
    key, gone = id(array), id(other)

    def forget(_: Any, known: Any = _doubtful) -> None:  # by name, it would be gone when the interpreter ends
        known.pop(gone, None)
        known.get(key, {}).pop(gone, None)

    _doubtful.setdefault(key, {})[gone] = weakref.ref(other, forget)


def doubtful_with(array: Any) -> list[jax.Array]:
    """The arrays that may be this one."""
    others = [reference() for reference in _doubtful.get(id(array), {}).copy().values()]
    return [other for other in others if other is not None and not jax_private.is_lost(other)]


def side_by_side(value: Any, old: Any) -> list[tuple[jax.Array, jax.Array]]:
    """The arrays in a value that is `old` made anew, each with the one in its place, or with all that it may be."""
    if isinstance(value, jax.Array) and isinstance(old, jax.Array):
        return [(value, old)]
    if isinstance(value, (jax.Array, *reach.ATOMS)) and isinstance(old, reach.ATOMS):
        return []
    new, before = ([part for part in reach.arrays(one) if part.ndim] for one in (value, old))
    alike = [(part.shape, part.dtype) for part in new] == [(part.shape, part.dtype) for part in before]
    if alike:
        return list(zip(new, before, strict=True))
    return [(part, one) for part in new for one in before if (part.shape, part.dtype) == (one.shape, one.dtype)]


def doubt_buffers(value: Any, other: Any, apart: Set[int] = frozenset()) -> None:
    """Remember that arrays of ported code in one value may share the memory of those in another, or what that may share.

    But not the memory `apart`, by id: in `old, new = new, old` each is one of two arrays, and never both the same.
    """
    if value is other or not arrays_made():  # nothing in it is new
        return
    pairs = _pairs(value, other)
    if pairs is not None:
        _doubt_each(pairs, apart)
        return
    olds = list(reach.buffers(other))
    news = [new for new in reach.buffers(value) if not any(new is old for old in olds)] if olds else []  # the others are known
    for new in news:
        for old in olds:
            for known in (old, *doubtful_with(old)):
                if id(known) not in apart:
                    doubt(new, known)


def memory_in(values: Iterable[Any]) -> set[int]:
    """The memory of the arrays of ported code in some values, by id."""
    return {id(buffer) for value in values for buffer in reach.buffers(value)}


def stand_ins(value: Any) -> list[Buffer]:
    """Memory that stands for what others hold, and that may be that of the arrays of ported code in a value."""
    found = []
    for buffer in reach.buffers(value):
        new = Buffer(buffer.value)
        for other in (buffer, *doubtful_with(buffer)):
            doubt(new, other)
        found.append(new)
    return found


def _pairs(value: Any, other: Any) -> list[tuple[Any, Any]] | None:
    """The elements of two containers that are alike, side by side."""
    if type(value) is not type(other) or not isinstance(value, dict | list | tuple) or len(value) != len(other):
        return None
    if not isinstance(value, dict):
        return list(zip(value, other, strict=True))
    return [(value[key], other[key]) for key in value] if value.keys() == other.keys() else None


def _doubt_each(pairs: list[tuple[Any, Any]], apart: Set[int]) -> None:
    """Each element may be what stood in its place; two of them may be one only where two of these may."""
    new = [value for value, _ in pairs]
    for value, other in pairs:
        doubt_buffers(value, other, apart | memory_in(one for one in new if one is not value))
    old = [(value, other, list(reach.buffers(other))) for value, other in pairs]
    for number, (value, first, buffers) in enumerate(old):
        near = {id(one) for buffer in buffers for one in (buffer, *doubtful_with(buffer))}
        for second, other, others in old[:number]:
            if near.intersection(map(id, others)) - in_parts(first, other):
                for one in reach.buffers(value):
                    for two in reach.buffers(second):
                        doubt(one, two)


def in_parts(one: Any, other: Any) -> set[int]:
    """The memory of two arrays of ported code, by its id, where they are different parts of it: `a, b = np.stack((x, y))`."""
    if not (isinstance(one, MutableArray) and isinstance(other, MutableArray)):
        return set()
    is_one = one._buffer is other._buffer and isinstance(one._buffer, Buffer)
    return {id(one._buffer)} if is_one and not share_memory(one.shadow, other.shadow) else set()


def check_buffers(target: Any, aliases: Iterable[Any]) -> None:
    """Refuse to write an array of ported code whose memory one of these values may hold, depending on traced data."""
    if isinstance(target, MutableArray | Selection):
        doubtful = [other for buffer in target.memory() for other in doubtful_with(buffer)]
        if doubtful and any(part is other for alias in aliases for part in reach.buffers(alias) for other in doubtful):
            raise doubtful_error()


def may_share(array: Any) -> list[jax.Array]:
    """The arrays that share this one's memory on some path: `e = a if x > 0 else b`, then a write to `a[::-1]`."""
    own = [array, *related_to(array)]
    doubted = [other for one in own for other in doubtful_with(one)]
    found = [part for other in doubted for part in (other, *related_to(other))]
    return [part for part in found if not any(part is one for one in own)]


def kin(value: Any) -> list[int]:
    """The ids of the arrays in a value, and of those that these may be or are views of."""
    return kin_of(memory(value))


def kin_of(memory: Iterable[Any]) -> list[int]:
    """The ids of arrays, and of those that these may be or are views of."""
    owners = (own for part in memory for own in (part, *bases(part)))
    return [id(other) for own in owners for other in (own, *doubtful_with(own))]


def memory(value: Any) -> Iterator[Any]:
    """What can be written in place in a value: JAX arrays, and the memory of arrays of ported code."""
    for part in reach.everything(value, skip=_is_content):
        if isinstance(part, Buffer) or isinstance(part, jax.Array) and part.ndim:
            yield part


def _is_content(holder: Any, _: Any) -> bool:
    """What memory holds is a value, which nobody writes; a mask of two selections makes them no views of one array."""
    return type(holder) in HAVING_CONTENT


HAVING_CONTENT = (Buffer, Mask, Window)


def doubted(own: Sequence[Buffer], value: Any) -> dict[int, set[Way]]:
    """The ids of the memory that arrays of ported code in a value may have, by theirs, and the ways to these.

    Each has one memory, and two may have the other each.
    """
    known = {id(one) for one in own}
    if not any(id(other) not in known for one in own for other in doubtful_with(one)):
        return {}
    found = collections.defaultdict[int, set[Way]](set)
    for way, one in reach.at_ways(value, Buffer):
        for other in doubtful_with(one):
            if id(other) not in known:
                found[id(other)].add(way)
    return dict(found)


def doubt_at_ways(value: Any, memory: Buffer, ways: set[Way]) -> None:
    """Remember that arrays of ported code at some ways in a value may have this memory; all, where there are none."""
    found = list(reach.at_ways(value, Buffer))
    near = [one for way, one in found if way is None or way in ways] if None not in ways else []
    for one in near or [one for _, one in found]:
        doubt(one, memory)


def identity(value: Any) -> int:
    """The id of a value; of an array of ported code, that of its memory."""
    return id(value._buffer) if isinstance(value, MutableArray) else id(value)


class Around(NamedTuple):
    """What is in memory around a block, by id."""

    arrays: dict[int, jax.Array]  # and those that these may be or are views of
    memory: dict[int, Buffer]  # of the arrays of ported code
    numpy: dict[int, np.ndarray]

    def with_those_in(self, places: Iterable[Place]) -> Around:
        """The same, with what these places hold too."""
        return self._with(around((), places))

    def with_arrays(self, arrays: Iterable[Any]) -> Around:
        """The same, with these."""
        return self._with(around((), (), arrays))

    def _with(self, more: Around) -> Around:
        return Around(self.arrays | more.arrays, self.memory | more.memory, self.numpy | more.numpy)


def around(functions: Sequence[Callable[..., Any] | None], places: Iterable[Place], more: Iterable[Any] = ()) -> Around:
    """What a block's variables and these places hold, also in lists and objects, and the arrays in `more`."""
    held = values_held(functions, places)
    parts = [*(part for value in held for part in reach.everything(value)), *more, *state.met()]
    arrays = [part for part in parts if isinstance(part, jax.Array)]
    related = (array for own in arrays for array in (own, *doubtful_with(own), *bases(own)))
    return Around(
        {id(array): array for array in related if not jax_private.is_lost(array)},  # of an earlier trace of the same block
        {id(part): part for part in parts if isinstance(part, Buffer)},
        {id(part): part for part in parts if isinstance(part, np.ndarray)},
    )
