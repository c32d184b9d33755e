"""Containers that may be one object, depending on traced data: `b = a; if x > 0: b = [3, 4]` leaves open whether b is a.

What a join makes anew may be an older object on some path (`Joining.doubt`), and two that it makes may be one object on a path
on which they were one: `if x > 0: b = a = Box(1)` (`Joining.doubt_together`). What is known here is a graph of such pairs.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import threading
import types
import weakref
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import aliasing, reach, state
from autograph_jax.operators.tracing.holders import Uncounted, holder_of
from autograph_jax.operators.tracing.places import Content, Place, drop, keep
from autograph_jax.operators.values import branches
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.forms import Form, of_turns, statics

# Of a container in what a join makes: the key of a place, the way from there, its class.
Position = tuple[Any, tuple[Any, ...], type]
Pair = frozenset[Position]
_numbers = itertools.count(1)
_MOST_POSITIONS = 500
_DEEPEST = 8


class _Mark:
    """What tells that an object is still the one that a join has made, and not another one with its id.

    The object itself, where it can be referred to weakly. Else one of its arrays, also where a join has changed what it holds
    (`renew`). What has none, `[3, 4]`, is told by the ids of its parts, while the tracing goes on.
    """

    def __init__(self, own: Any, forget: Callable[[Any], None]) -> None:
        self._itself: weakref.ref[Any] | None = None
        self._leaves: list[weakref.ref[Any]] = []
        self._parts: list[tuple[int, ...]] = []
        self._forget = forget
        try:
            self._itself = weakref.ref(own, forget)
            self._trace = jax_private.reference_to_trace()
        except TypeError:
            self._trace = jax_private.reference_to_trace(forget)
            self.renew(own)

    def renew(self, own: Any) -> None:
        """It is this object, whatever it holds by now."""
        if self._itself is None:
            self._parts.append(_ids_of_parts(own))
            leaf = next(reach.arrays(own), None)
            self._leaves += [weakref.ref(leaf, self._is_gone)] if leaf is not None else []

    def _is_gone(self, leaf: Any) -> None:
        if all(known() is None for known in self._leaves):
            self._forget(leaf)

    @property
    def is_over(self) -> bool:
        """Has the tracing ended in which the object was made?"""
        return jax_private.is_over(self._trace())

    @property
    def is_by_parts(self) -> bool:
        """Is it told by what it holds at present only, and kept here for as long as the tracing goes on?"""
        return not self._leaves and self._itself is None and self._trace() is jax_private.current_trace()

    def is_on(self, own: Any) -> bool:
        if self._itself is not None:
            return self._itself() is own
        leaves = {id(leaf) for known in self._leaves if (leaf := known()) is not None}
        return _ids_of_parts(own) in self._parts or bool(leaves) and reach.holds(own, lambda part: id(part) in leaves)


def _ids_of_parts(value: Any) -> tuple[int, ...]:
    return tuple(id(part) for _, part in reach.parts(value))


@dataclasses.dataclass(frozen=True)
class _Known:
    """That an object `new` may be another one: an older one, which is kept, or one that the same join has made."""

    number: int  # of the join
    new: _Mark
    old: Uncounted  # the older object alone; nothing where it is another new one
    other: _Mark | None
    is_about_elements: bool = False  # not these themselves may be one: one holds the other, or both hold a third one

    @property
    def is_over(self) -> bool:
        return self.new.is_over

    def is_of(self, new: Any) -> bool:
        return self.new.is_on(new)


class _Graph:
    """What is known of containers that may be one: by the id of one that a join has made, and that of another one.

    An entry goes when the container goes, or one of its arrays, which may be at any time, in any thread; the tracing that made
    it has ended by then.
    """

    def __init__(self) -> None:
        self._of: dict[int, dict[int, _Known]] = {}
        self._newer: dict[int, dict[int, _Known]] = {}
        self._lock = threading.RLock()

    def get(self, new: int, old: int) -> _Known | None:
        return self._of.get(new, {}).get(old)

    def add(self, new: int, old: int, entry: _Known) -> None:
        with self._lock:  # a table that becomes empty meanwhile is not taken away
            self._of.setdefault(new, {})[old] = entry
            if entry.old:
                self._newer.setdefault(old, {})[new] = entry

    def pop(self, new: int, old: int) -> _Known | None:
        self._newer.get(old, {}).pop(new, None)
        return self._of.get(new, {}).pop(old, None)

    def entries(self) -> list[tuple[int, int, _Known]]:
        return [(new, old, entry) for new, others in list(self._of.items()) for old, entry in list(others.items())]

    def is_empty(self) -> bool:
        return not self._of

    def drop_empty(self) -> None:
        with self._lock:
            for table in (self._of, self._newer):
                for own in [own for own, others in list(table.items()) if not others]:
                    del table[own]

    def is_made(self, own: int) -> bool:
        """Has a join made this container, by its id?"""
        return bool(self._of.get(own))

    def knows(self, value: Any) -> bool:
        return bool(_present(self._of, id(value)) or _present(self._newer, id(value)))

    def has_newer(self, old: Any) -> bool:
        """Is there something that may be this object?"""
        return bool(_present(self._newer, id(old)))

    def older(self, target: Any, *, with_elements: bool = True) -> Iterator[tuple[Any, int]]:
        """What a container is on some path, and what that is, if a join has made it too; each with the number of the join."""
        pending, known = [target], {id(target)}
        for own in pending:
            for other, entry in _present(self._of, id(own)):
                if entry.old and entry.is_of(own) and (with_elements or not entry.is_about_elements):
                    yield entry.old[0], entry.number
                    if other not in known:
                        known.add(other)
                        pending.append(entry.old[0])

    def around(self, target: Any) -> dict[int, _Mark | None]:
        """The ids of all that a container may be, with what tells whether an object is that one still.

        What the join has made of an older one that has made this one of it is another one, but where that join says so.
        A list of open length is not what it keeps; what it keeps may be in another one.
        """
        found: dict[int, _Mark | None] = {}
        pending: list[tuple[int, int]] = [(id(target), 0)]
        with_elements = type(target) in (list, dict)
        for own, number in [(target, 0), *self.older(target, with_elements=with_elements)]:
            pending.append((id(own), number))
            found.setdefault(id(own), None)
            for other, entry in _present(self._of, id(own)):
                if not entry.old and entry.is_of(own):
                    found.setdefault(other, entry.other)
                    pending.append((other, number))
        known = set(pending)
        for own, number in pending:
            for new, entry in _present(self._newer, own):
                if entry.number != number and (new, 0) not in known and (with_elements or not entry.is_about_elements):
                    known.add((new, 0))
                    found.setdefault(new, entry.new)
                    pending.append((new, 0))
        found.pop(id(target), None)
        return found


def _present(table: dict[int, dict[int, _Known]], own: int) -> list[tuple[int, _Known]]:
    """The entries of a container whose tracing goes on."""
    return [(other, entry) for other, entry in list(table.get(own, {}).items()) if not entry.is_over]


_graph = _Graph()  # module state


class Joining:
    """One join, of two branches or of a loop's turns. `kept` are the ids of objects that stay themselves in what it makes."""

    def __init__(self, kept: Container[int] = frozenset()) -> None:
        self._kept, self._number = kept, next(_numbers)
        for new, old, entry in _graph.entries():
            if entry.is_over:
                _forget((new, old))
        _graph.drop_empty()

    @classmethod
    def of(cls, forms: Iterable[Form]) -> Joining:
        """The join that makes values of these Forms."""
        return cls(frozenset(id(value) for form in forms for value in statics(form)))

    def doubt(self, new: Any, old: Any, *, anyway: bool = False) -> None:
        """Remember that what the join has made may be, on some path, the object `old`; and so what it holds, part by part.

        Where that is one of several options it is this one, and the others are not it; unless they may be it `anyway`: on
        the path that makes them.
        """
        if type(old) is Choice:
            for option in old._options:
                self.doubt(new, option, anyway=anyway)
        elif type(new) is Choice:
            for option in () if not anyway and any(option is old for option in new._options) else new._options:
                self.doubt(option, old, anyway=anyway)
        elif new is not old and type(new) is type(old) and id(new) not in self._kept:
            if isinstance(new, tuple) or is_container(new) and self._remember(new, old):
                self.doubt_contents(new, old)

    def doubt_contents(self, new: Any, old: Any) -> None:
        """Remember that what a container holds may be what it held before, or what an older one holds."""
        before = dict(reach.parts(old))
        for key, part in reach.parts(new):
            if key in before:
                self.doubt(part, before[key])

    def doubt_parts(self, value: Any, older: Any, *, anyway: bool = False, ways: Ways = None) -> None:
        """Remember of all containers in a value that they may be an older one; not of options beside it.

        With `ways`, of those that one of these leads to.
        """
        others: set[int] = set()
        near = _at(value, ways)
        for part in reach.everything(value, skip=lambda holder, _: id(holder) in self._kept):
            if type(part) is Choice and not anyway and any(option is older for option in part._options):
                others.update(map(id, part._options))
            if id(part) not in others and (near is None or id(part) in near):
                self.doubt(part, older, anyway=anyway)

    def doubt_together(self, values: Mapping[Any, Any], pairs: Iterable[Pair], lists: Container[Any] = ()) -> None:
        """Remember of the containers at two positions in what the join has made that they may be one; see `in_lists`."""
        pairs = list(pairs)
        if not pairs:
            return
        made: dict[Position, list[Any]] = {}
        for key, value in values.items():
            for position, part in positions(key, value, without=self._kept):
                made.setdefault(_anywhere(position) if key in lists else position, []).append(part)
        for first, second in map(tuple, pairs):
            for one, other in itertools.product(made.get(first, ()), made.get(second, ())):
                if one is not other:
                    self._remember_together(one, other)

    def stand_in(self, values: Mapping[Any, Any], older: Iterable[Any], positions_: Iterable[Position]) -> _StandIn:
        """Stands for what is not known, and may be one of these older objects, or what the join has made at these positions."""
        new = _StandIn()
        for old in older:
            self._remember(new, old)
        wanted = set(positions_)
        for key in {key for key, _, _ in wanted}:
            for position, part in positions(key, values.get(key), without=self._kept):
                if position in wanted:
                    self._remember_together(new, part)
        return new

    def _remember(self, new: Any, old: Any, *, is_about_elements: bool = False) -> bool:
        """Is this pair known only now?"""
        key = id(new), id(old)
        if not _is_news(key, new):
            return False
        keep(old)
        _graph.add(*key, _Known(self._number, _Mark(new, _forgetting(key)), Uncounted([old]), None, is_about_elements))
        return True

    def remember_of_elements(self, new: Any, old: Any) -> None:
        """Remember of one that it holds the other, or that both hold a third one."""
        self._remember(new, old, is_about_elements=True)

    def _remember_together(self, one: Any, other: Any) -> None:
        for key, new, old in (((id(one), id(other)), one, other), ((id(other), id(one)), other, one)):
            if _is_news(key, new):
                forget = _forgetting(key)
                _graph.add(*key, _Known(self._number, _Mark(new, forget), Uncounted(), _Mark(old, forget)))


def _is_news(key: tuple[int, int], new: Any) -> bool:
    entry = _graph.get(*key)
    if entry is not None and not entry.is_of(new):
        _forget(key)
        return True
    return entry is None


def _forgetting(key: tuple[int, int]) -> Callable[[Any], None]:
    return lambda reference, forget=_forget: forget(key)


def _forget(key: tuple[int, int], graph: Any = _graph, drop: Any = drop) -> None:  # globals go before arrays do
    entry = graph.pop(*key)
    for old in entry.old if entry is not None else ():
        drop(old)


def keep_in(keeper: Any, values: Iterable[Any]) -> None:
    """Remember that a list keeps the containers in some values as copies: in Python it holds these themselves."""
    if parts := [part for value in values for part in _containers_in(value)]:
        joining = Joining()
        for part in parts:
            joining.remember_of_elements(keeper, part)


def take_out(value: Any, keeper: Any) -> Any:
    """Remember that the containers in a value have been taken out of such a list, which would show a write; gives the value."""
    return _taken_out(value, lambda: [keeper])


def pop(value: Any, keeper: Any) -> Any:
    """The same of a value that the list no longer has: what it was before, and what is in others, would show a write."""
    return _taken_out(value, lambda: [*older(keeper), *([keeper] if _graph.has_newer(keeper) else [])])  # or was taken before


def _taken_out(value: Any, holders: Callable[[], list[Any]]) -> Any:
    if parts := _containers_in(value):
        joining = Joining()
        for part, old in itertools.product(parts, holders()):
            joining.remember_of_elements(part, old)
    return value


def keep_the_same(keeper: Any, other: Any) -> None:
    """Remember that two lists keep the same containers, or some that are."""
    joining = Joining()
    joining.remember_of_elements(keeper, other)
    joining.remember_of_elements(other, keeper)


def _containers_in(value: Any) -> list[Any]:
    if type(value) not in (list, dict, tuple):
        return []
    return [part for part in reach.everything(value) if type(part) in (list, dict)]


def doubt_container(new: Any, old: Any) -> None:
    """Remember that what a join has made anew may be, on some path, the object `old`."""
    Joining().doubt(new, old)


def doubt_all(new: Any, elements: Sequence[Any]) -> None:
    """Remember that a value is one of these elements, made anew: which of them, traced data decides."""
    aliasing.doubt_arrays(new, elements)
    for one in elements:
        doubt_container(new, one)


def positions(key: Any, value: Any, *, without: Container[int] = frozenset()) -> Iterator[tuple[Position, Any]]:
    """The containers in what a place holds, each with the way to it; the options of a choice have one way.

    Not the objects whose ids are left out, nor what is in these.
    """
    pending = collections.deque[tuple[tuple[Any, ...], Any]]([((), value)])
    for _ in range(_MOST_POSITIONS):
        if not pending:
            return
        way, part = pending.popleft()
        if id(part) in without:
            continue
        if type(part) is Choice:
            pending.extend((way, option) for option in part._options)
            continue
        if is_container(part):
            yield (key, way, type(part)), part
        if len(way) < _DEEPEST and not isinstance(part, _CODE):
            pending.extend(((*way, name), child) for name, child in reach.parts(part) if not isinstance(child, reach.ATOMS))


_CODE = (types.FunctionType, types.MethodType, types.GeneratorType)


def in_lists(pairs: Iterable[Pair], keys: Container[Any]) -> set[Pair]:
    """The same where any element of these lists may be meant: which turn of a loop has put one in does not matter."""
    return {frozenset(_anywhere(one) if one[0] in keys else one for one in pair) for pair in pairs}


def _anywhere(position: Position) -> Position:
    key, way, kind = position
    return key, (ANYWHERE, *way[1:]), kind


ANYWHERE = "any element"  # in place of a position in a list


def write(place: Place, value: Any) -> None:
    """Write what a join has made into a place. A list or dict whose contents it is stays the one that it was."""
    marks: list[_Mark] = []
    if isinstance(place, Content):
        for new, old, entry in _graph.entries():
            marks += [entry.new] if new == id(place.target) and entry.new.is_on(place.target) else []
            marks += [entry.other] if old == id(place.target) and entry.other and entry.other.is_on(place.target) else []
    state.write(place, value)
    for mark in marks:
        mark.renew(place.target)


def related(values: Iterable[Any]) -> dict[int, frozenset[int]]:
    """What each of these containers may be as well, by their ids; nothing of those that are surely none else."""
    found = {id(value): frozenset(_graph.around(value)) for value in values if _graph.knows(value)}
    return {own: others for own, others in found.items() if others}


def pairs(found: Iterable[tuple[Position, int]], others: Mapping[int, Iterable[int]]) -> set[Pair]:
    """The positions that hold one container, by its id, or two that may be one."""
    by_id: dict[int, list[Position]] = {}
    for position, own in found:
        by_id.setdefault(own, []).append(position)
    same = {frozenset(two) for held in by_id.values() for two in itertools.combinations(held, 2)}
    for own, held in by_id.items():
        for other in others.get(own, ()):
            same |= {frozenset(two) for two in itertools.product(held, by_id.get(other, ()))}
    return {two for two in same if len(two) == 2}


class _StandIn:
    """In a list of which not all elements are known."""


def older(target: Any) -> Iterator[Any]:
    """What a container is on some path, and what that is, if a join has made it too."""
    found = {id(other): other for other, _ in _graph.older(target) if other is not target}
    yield from found.values()


def older_in(value: Any, *, without: Container[int] = frozenset()) -> tuple[list[Any], dict[int, Ways]]:
    """What the containers in a value are on some path, and by the ids of these the ways to what may be one; some left out."""
    found, ways = list[Any](), dict[int, Ways]()
    if _graph.is_empty():
        return found, ways
    made = [part for part in reach.everything(value) if _graph.is_made(id(part)) and id(part) not in without]
    there = collections.defaultdict[int, set[tuple[Any, ...]]](set)
    for (_, way, _), part in positions(None, value) if made else ():
        there[id(part)].add(way)
    for part in made:
        for one in older(part):
            found.append(one)
            known = ways.setdefault(id(one), set())
            ways[id(one)] = known | there[id(part)] if known is not None and id(part) in there else None
    return found, ways


Ways = set[tuple[Any, ...]] | None  # to containers in a value; None: to any


def _at(value: Any, ways: Ways) -> set[int] | None:
    """The ids of the containers in a value that these ways lead to; None, any, where one leads nowhere that is looked at."""
    if ways is None:
        return None
    found = [(way, id(part)) for (_, way, _), part in positions(None, value)]
    return {own for way, own in found if way in ways} if ways <= {way for way, _ in found} else None


def check_container(target: Any, aliases: tuple[Any, ...] = ()) -> None:
    """Refuse to write a container where it is open whether another variable holds it too."""
    if type(target) is Choice:
        for option in target._options:
            check_container(option, aliases)
    if not _graph.knows(target):
        return
    others = _graph.around(target)

    def may_be_target(part: Any) -> bool:
        return id(part) in others and ((mark := others[id(part)]) is None or mark.is_on(part))

    with branches.only_possible():
        holder = holder_of(target, None, like=may_be_target)
        is_held = holder is not None or any(reach.holds(alias, may_be_target) for alias in aliases)
    if is_held:
        name = f"`{holder[1]}`" if holder is not None else "another variable"
        raise AliasError(
            f"a {type(target).__name__} is written that {name} may hold too, depending on traced data",
            location=user_location(),
            details=["In Python the other variable would show the write on one path, and not on the other."],
            help=f"make a copy where the variable gets it: `b = {'list' if isinstance(target, list) else 'copy.copy'}(a)`",
        )
    for new, old, entry in _graph.entries():
        if id(target) in (new, old) and entry.new.is_by_parts:  # which holds what is written now
            _forget((new, old))


def is_doubtful(value: Any) -> bool:
    """Is there something that this may be as well?"""
    return _graph.knows(value)


def check_identity(first: Any, second: Any) -> None:
    """Refuse to say whether two containers are one where that depends on traced data; or functions of a loop's turns."""
    if first is second:
        mark = None if type(first) is types.FunctionType and first in of_turns else _NOTHING
    else:
        mark = _graph.around(first).get(id(second), _NOTHING)
    if mark is None or isinstance(mark, _Mark) and mark.is_on(second):
        raise AliasError(
            f"whether this is the same {type(first).__name__} depends on traced data",
            location=user_location(),
            help="compare what they hold, or keep a flag beside them",
        )


_NOTHING = object()


def is_container(value: Any) -> bool:
    return isinstance(value, list | dict) or reach.is_record(value) or reach.is_changing_pytree(value)
