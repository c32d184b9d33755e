"""Arrays that share memory in NumPy: `row = x[0]`, `y = x.T`. Remembered while the view lives."""

from __future__ import annotations

import dataclasses
import itertools
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from autograph_jax.operators.tracing import given, history, reach
from autograph_jax.operators.tracing.frozen import share_memory
from autograph_jax.porting.replacing import replaced

_UNKNOWN = object()
CHOSEN = object()  # the index of a row that traced data has chosen, where NumPy would give one of the rows
_NO_ARRAYS = frozenset({list, tuple, str, bytes, int, float})  # looked at first: to ask for a jax.Array takes longer


Turn = int  # of a loop, or what a join or a loop makes of its variables: the arrays that are handed over at one time
_turns = itertools.count(1)
_NOTHING: Mapping[int, Turn] = types.MappingProxyType({})


def new_turn() -> Turn:
    return next(_turns)


@dataclasses.dataclass(frozen=True)
class _View:
    """What a view is a view of, several where traced data has chosen; where that is one for sure, the index, if it is known."""

    value: weakref.ref[Any]
    bases: list[Any]  # kept as long as the view, as NumPy keeps them: another view may be of the same
    index: Any
    handed: Mapping[int, Turn]  # of the bases that are handed over from turn to turn, by id: see `hand_over`


def view(value: Any, base: Any, index: Any = _UNKNOWN) -> Any:
    """`row = x[0]`: in NumPy the row is a view, if it is no scalar. The index is there to follow what is written."""
    if type(value) in _NO_ARRAYS:
        return value
    shares = isinstance(value, jax.Array) and isinstance(base, jax.Array) and value is not base and value.ndim > 0
    if shares and not (history.is_picked(value) if index is _UNKNOWN else copies(index)):
        key, entry = id(value), _entry(value)
        gone = weakref.ref(value, lambda _, views=_views: views.pop(key, None))
        around = [*(one for one in entry.bases if one is not base), base] if entry is not None else [base]
        handed = {key: turn for key, turn in entry.handed.items() if key != id(base)} if entry is not None else _NOTHING
        _views[key] = _View(gone, around, index if len(around) == 1 and _is_basic(index) else _UNKNOWN, handed)
    return value


def hand_over(value: Any, base: Any, turn: Turn) -> None:
    """In some `turn` of a loop a variable's array is this one from before it; no two of its variables hold that in one turn.

    `a, b = b, a` hands each over to the other: what is written into one would show where its first array is held around the
    loop, and not in the other variable.
    """
    if isinstance(value, jax.Array) and isinstance(base, jax.Array) and not any(one is base for one in bases(value)):
        view(value, base)
        if (entry := _entry(value)) is not None:
            _views[id(value)] = dataclasses.replace(entry, handed={**entry.handed, id(base): turn})


def turn_of(value: Any, base: Any, turn: Turn) -> Turn:
    """The turn in which an array has been handed over to what a variable holds; if it has not, this one."""
    pending, seen = [value], {id(value)}
    for one in pending:  # which grows
        if (entry := _entry(one)) is None:
            continue
        if id(base) in entry.handed:
            return entry.handed[id(base)]
        pending += [other for other in entry.bases if id(other) not in seen]
        seen.update(map(id, entry.bases))
    return turn


def handed_over(value: Any) -> frozenset[int]:
    """The ids of the arrays that loops hand over to this one, and in no other way are its bases."""
    entry = _entry(value)
    if entry is None or not entry.handed:
        return frozenset()
    handed: dict[int, Any] = {}
    others: set[int] = set()
    pending = [value]
    for one in pending:  # which grows; loops in loops may hand two arrays over to each other
        if (entry := _entry(one)) is None:
            continue
        for base in entry.bases:
            if id(base) not in entry.handed:
                others.update(map(id, (base, *bases(base))))
            elif id(base) not in handed:
                handed[id(base)] = base
                pending.append(base)
    return frozenset(handed) - others


def copies(index: Any) -> bool:
    """Does NumPy make a copy for this index, as it does for lists, arrays and bools?"""
    return any(isinstance(part, list | tuple | bool) or _is_mask_or_array(part) for part in _parts(index))


def _is_mask_or_array(part: Any) -> bool:
    return (ndim := getattr(part, "ndim", None)) is not None and (ndim > 0 or part.dtype == bool)


def _is_basic(index: Any) -> bool:
    """Is it one of integers and slices?"""
    return all(part is None or part is ... or isinstance(part, slice) or _is_integer(part) for part in _parts(index))


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _is_integer(part: Any) -> bool:
    if isinstance(part, int):
        return not isinstance(part, bool)
    return getattr(part, "ndim", None) == 0 and jnp.issubdtype(part.dtype, jnp.integer)


class Renewed:
    """What arrays that share memory become when one of them is written: `d = x[::-1]`, `d[0] = v` gives another x as well."""

    def __init__(self, old: Any, new: Any) -> None:
        self._new = {id(old): new}
        self._ways: dict[int, Any] = {}  # by the id of an array: the view through which it is written
        while (taken := _taken_from(old)) is not None:
            self._ways[id(taken[0])] = old
            old = taken[0]

    def __call__(self, array: Any) -> Any:
        """The new array in place of this one; None where the two share no memory, or it is not known how."""
        if not self.knows(array):
            return None
        if id(array) not in self._new:
            self._new[id(array)] = self._written(array) if id(array) in self._ways else self._taken_anew(array)
        return self._new[id(array)]

    def knows(self, array: Any) -> bool:
        """Is there a new array in place of this one?"""
        if id(array) in self._new or id(array) in self._ways:
            return True
        return (taken := _taken_from(array)) is not None and self.knows(taken[0])

    def _written(self, base: Any) -> Any:
        """An array through a view of which it was written."""
        way = self._ways[id(base)]
        _, index = cast(Any, _taken_from(way))
        part = self(way)
        new = replaced(base, index, part)
        view(part, new, index)
        return new

    def _taken_anew(self, array: Any) -> Any:
        """A view of one that was written."""
        base, index = cast(Any, _taken_from(array))
        new = self(base)
        return view(new[index], new, index)


def whole_of(array: Any) -> Any:
    """The array that this one is a view of, by an index that is known; None where it is none."""
    taken = _taken_from(array)
    return taken[0] if taken is not None else None


def _taken_from(value: Any) -> tuple[Any, Any] | None:
    """The array that this one is a view of, and the index there, if that is known."""
    entry = _entry(value)
    return (entry.bases[-1], entry.index) if entry is not None and entry.index is not _UNKNOWN else None


def _entry(value: Any) -> _View | None:
    entry = _views.get(id(value))
    return entry if entry is not None and entry.value() is value else None


def view_parts(value: Any, base: Any, *, whole_in: Turn | None) -> None:
    """A value may share memory with `base`, or something in it may: a list or a choice in which a turn has put that array.

    With `whole_in`, it is that array in some turn.
    """
    for part in reach.arrays(value):
        if part is value or isinstance(base, jax.Array) and part.ndim <= base.ndim and part.dtype == base.dtype:
            relate(part, base, whole_in=whole_in if part is value else None)


def relate(value: Any, base: Any, *, whole_in: Turn | None) -> None:
    if whole_in is None:
        view(value, base)
    else:
        hand_over(value, base, whole_in)


def has_views(array: Any) -> bool:
    """Is there a view of this array, one that is alive?"""
    return any(one is array for view in list(_views.values()) for one in view.bases if view.value() is not None)


def bases(value: Any) -> list[jax.Array]:
    """The arrays that this one is a view of, and those that these are views of."""
    found: dict[int, jax.Array] = {}
    pending = [value]
    for array in pending:  # which grows
        entry = _entry(array)
        new = {id(base): base for base in entry.bases if id(base) not in found} if entry is not None else {}
        found |= new
        pending += new.values()
    return list(found.values())


class _Part(NamedTuple):
    """What a view may show of an array around it: all of that, or what `take` takes."""

    array: Any
    take: Callable[[np.ndarray], np.ndarray]  # of an array of NumPy's in its place, as a view
    handed: dict[int, tuple[int, Turn]]  # by the id of what is handed over on the way, the id of what takes it, and when


def may_overlap(one: jax.Array, other: jax.Array) -> bool:
    """May two arrays show one element in NumPy? Where it is not known what a view shows, that is all of its base."""
    if _entry(one) is None and _entry(other) is None:  # neither is a view
        return one is other
    parts, others = _parts_of(one), _parts_of(other)
    return any(_share_an_element(part, others[key]) for key, part in parts.items() if key in others)


def _share_an_element(one: _Part, other: _Part) -> bool:
    """Do two parts of one array? Not where that is handed over to two variables, of which in each turn one has it."""
    if any(_are_two_takers(one.handed.get(given), taken) for given, taken in other.handed.items()):
        return False
    if not all(isinstance(length, int) for length in one.array.shape):  # of a program for `jax.export`
        return True
    array = np.empty(one.array.shape, np.bool_)
    return share_memory(one.take(array), other.take(array))


def _are_two_takers(one: tuple[int, Turn] | None, other: tuple[int, Turn]) -> bool:
    return one is not None and one[0] != other[0] and one[1] == other[1]


def _parts_of(array: Any) -> dict[int, _Part]:
    """What an array may show: itself, part of its base or, where traced data has chosen, all of each of its bases, and so on.

    By the id of the array around. Of one that is reached in two ways, that is all of it, and handed over in both.
    """
    found = {id(array): (part := _Part(array, _whole, {}))}
    pending = [part]
    for part in pending:  # which grows
        if (entry := _entry(part.array)) is None:
            continue
        for base in entry.bases:
            step = _step(part.array, base, entry)
            take = _whole if step is None else _composed(step, part.take)
            turn = entry.handed.get(id(base))
            handed = part.handed if turn is None else {**part.handed, id(base): (id(part.array), turn)}
            new, old = _Part(base, take, handed), found.get(id(base))
            if old is not None:
                new = _Part(base, _whole, dict(handed.items() & old.handed.items()))
            if old is None or old.take is not _whole or old.handed != new.handed:
                found[id(base)] = new
                pending.append(new)
    return found


def _whole(array: np.ndarray) -> np.ndarray:
    return array


def _composed(first: Callable[[Any], Any], then: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: then(first(value))


def _step(array: Any, base: Any, entry: _View) -> Callable[[np.ndarray], np.ndarray] | None:
    """What a view takes of a base; None where that is not known."""
    index = entry.index
    if len(entry.bases) > 1 or entry.handed:  # that array as it is, or turned round
        return None
    if index is _UNKNOWN:
        return history.steps(array, base)
    return None if any(isinstance(part, Tracer) for part in _parts(index)) else lambda whole: whole[index]


class Base(NamedTuple):
    """The array, by its id, of which there is a view of this shape; `whole`: that a loop hands over."""

    array: int
    shape: tuple[int, ...]
    whole: bool


def bases_in(arrays: Iterable[jax.Array]) -> list[Base]:
    """The arrays of which there are views among some arrays."""
    parts = [(part, handed_over(part)) for part in arrays] if _views else []
    return [Base(id(base), part.shape, id(base) in handed) for part, handed in parts for base in bases(part)]


Targets = tuple[Any, ...]  # of each part that an assignment takes: its own parts, None, or ... for `*rest`


def rows(base: Any, targets: Targets = ()) -> Any:
    """What is unpacked, with the rows of an array as views, and of parts that `targets` take apart; anything else as it is."""
    base = given.by_users(base)
    if hasattr(type(base), "__next__"):
        given.keep(base)
    taken = [view(row, base) for row in base] if isinstance(base, jax.Array) and base.ndim > 1 else base
    if not any(targets) or type(taken) not in (list, tuple):
        return taken
    parts = list(taken)
    rest = targets.index(...) if ... in targets else len(targets)
    for number, inner in enumerate(targets):
        place = number if number < rest else number - len(targets)
        if type(inner) is tuple and -len(parts) <= place < len(parts):
            parts[place] = rows(parts[place], inner)
    return parts


def each_row(array: jax.Array) -> Iterator[Any]:
    """The rows one by one: the generator holds the array, in which NumPy sees what is written meanwhile."""
    for row in array:
        yield view(row, array)


# Module state: by id, the views. An entry goes when the view goes.
_views: dict[int, _View] = {}


def related_to(array: Any) -> Iterator[Any]:
    """The array that this one is a view of, and the views of this one; but not what is another variable's in each turn."""
    found: dict[int, set[Turn | None]] = {}  # by id, the turns in which it is handed over on the way; None: in no turn
    pending: list[tuple[Any, Turn | None]] = [(array, None)]
    for one, turn in pending:  # which grows
        entry = _entry(one)
        new = [(base, entry.handed.get(id(base))) for base in entry.bases] if entry is not None else []
        for own in list(_views.values()):
            if any(base is one for base in own.bases) and (turn is None or own.handed.get(id(one)) != turn):
                new.append((own.value(), None))
        for other, handed in new:
            if other is not None and other is not array and handed not in found.get(id(other), ()):
                found.setdefault(id(other), set()).add(handed)
                pending.append((other, handed))
    yield from {id(other): other for other, _ in pending[1:]}.values()
