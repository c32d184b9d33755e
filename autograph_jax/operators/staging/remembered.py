"""What a loop in the body of another one settled to, for when that body is traced once more: it begins there.

Without it a loop inside d others would settle 2^d times. The objects and variables of a body are others in each trace of it, so
what is remembered is by the way to it: from a variable of the loop's by attributes, keys and positions.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import types
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from typing import Any

from autograph_jax.operators.effects.failures import Failures
from autograph_jax.operators.staging.blocks import RESULT, Aliases, Shares
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.aliasing import ARRAYS
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Attribute, Cell, Global, Inside, Place
from autograph_jax.operators.tracing.twins import NO_TWINS, Twins
from autograph_jax.operators.values import references
from autograph_jax.operators.values.containers import is_mutable
from autograph_jax.operators.values.forms import Form, Mismatch, Options, Static, Tree
from autograph_jax.operators.values.joins import join
from autograph_jax.porting.arrays import MutableArray

Block = Callable[..., Any]
Way = tuple[Hashable, ...]
_MOST_WAYS = 2000
_ERRORS = ("the errors of the loop",)


@dataclasses.dataclass(frozen=True)
class _Label:
    """A place by the way to its object or variable, and what kind of place of what kind of object it is."""

    way: Way
    place: type[Any]
    name: str
    more: tuple[Any, ...] = dataclasses.field(default=(), compare=False)  # an attribute, and what else makes such a place

    def found(self, ways: _Ways) -> Place | None:
        """The place that this is now; None where there is none."""
        owner = ways.at(self.way)
        if owner is None:
            return None
        place = self.place(owner, *self.more)
        return place if place.name == self.name else None


def _found(label: _Label | Global, ways: _Ways) -> Place | None:
    return label if isinstance(label, Global) else label.found(ways)


class Remembered:
    """The Forms of a loop's state, which places share arrays, and which arrays in a place are one."""

    def __init__(
        self,
        functions: Sequence[Block | None],
        places: Sequence[Place],
        forms: Sequence[Form],
        aliases: Aliases,
        failures: Failures | None,
        without: Container[Any],
    ) -> None:
        ways = _Ways(functions, failures)
        labels: dict[Any, Any] = {
            place.key: label for place in places if place.key not in without and (label := ways.label(place))
        }
        known = ((labels[place.key], form) for place, form in zip(places, forms, strict=True) if place.key in labels)
        self._forms = {label: form for label, form in known if not _holds_object(form)}
        self._doubtful = {(labels[a], labels[b]) for a, b in aliases.doubtful if a in labels and b in labels}
        labels[RESULT] = RESULT
        self._together = [
            [(labels[key], way, kind) for key, way, kind in pair]
            for pair in aliases.together
            if all(key in labels for key, _, _ in pair)
        ]
        self._twins = [
            (labels[key], own) for key, pairs in aliases.twins.items() if key in labels and (own := _by_names(pairs))
        ]
        self._views = [
            (labels[key], base, whole)
            for key, shared, whole in aliases.views
            if key in labels
            for base in (ways.all_to(shared) if isinstance(shared, ARRAYS) else [labels.get(shared)])
            if base
        ]

    def begin(
        self,
        functions: Sequence[Block | None],
        places: list[Place],
        forms: list[Form],
        aliases: Aliases,
        failures: Failures | None,
        start: Callable[[Place], Form],
    ) -> None:
        """Let a loop begin with this: Forms have only grown since, and more is shared."""
        ways = _Ways(functions, failures)
        keys: dict[Any, Any] = {RESULT: RESULT}
        numbers = {place.key: number for number, place in enumerate(places)}
        for label, form in self._forms.items():
            place = _found(label, ways)
            if place is None:
                continue
            keys[label] = place.key
            if place.key not in numbers:
                numbers[place.key] = len(places)
                places.append(place)
                forms.append(start(place))
            with contextlib.suppress(Mismatch):
                forms[numbers[place.key]] = join(forms[numbers[place.key]], form)
        aliases.doubtful |= {(keys[a], keys[b]) for a, b in self._doubtful if a in keys and b in keys}
        for pair in self._together:
            if all(label in keys for label, _, _ in pair):
                aliases.together.add(frozenset((keys[label], way, kind) for label, way, kind in pair))
        for label, pairs in self._twins:
            if label in keys:
                aliases.twins[keys[label]] = aliases.twins.get(keys[label], NO_TWINS) | pairs
        known: set[tuple[Any, int, bool]] = set()
        for label, shared, whole in self._views:
            base = ways.at(shared) if isinstance(shared, tuple) else keys.get(shared)
            if label in keys and base is not None and (one := (keys[label], id(base), whole)) not in known:
                known.add(one)
                aliases.views.append(Shares(keys[label], base, whole))


class _Ways:
    """The ways from the variables of some functions to objects, arrays, and variables of other functions."""

    def __init__(self, functions: Sequence[Block | None], failures: Failures | None) -> None:
        self._ways: dict[int, list[Way]] = {}
        self._owners: dict[Way, Any] = {}
        if failures is not None:
            self._add(failures, _ERRORS)
        for number, attempt in enumerate(state.attempts()):
            self._add(attempt.errors, ("the errors of a try", number))
        pending: collections.deque[tuple[Way, Any]] = collections.deque()
        for name, place in cells_of(tuple(functions)).items():
            self._add(place.cell, (name,))
            pending.append(((name, "value"), place.read()))
        while pending and len(self._ways) < _MOST_WAYS:
            way, value = pending.popleft()
            if isinstance(value, reach.ATOMS) or reach.is_no_content(value):
                continue
            if not self._add(value, way) and not isinstance(value, MutableArray):  # whose memory has as many ways to it
                continue
            for key, part in _parts(value):
                pending.append(((*way, key), part))
            if isinstance(value, types.FunctionType):
                for name, cell in zip(value.__code__.co_freevars, value.__closure__ or (), strict=True):
                    self._add(cell, (*way, "variable", name))

    def _add(self, owner: Any, way: Way) -> bool:
        """Is it seen for the first time?"""
        ways = self._ways.setdefault(id(owner), [])
        ways.append(way)
        self._owners[way] = owner
        return len(ways) == 1

    def to(self, owner: Any) -> Way | None:
        """The shortest way to an object."""
        return next(iter(self.all_to(owner)), None)

    def all_to(self, owner: Any) -> Sequence[Way]:
        """Two variables that hold one array in this round may hold two in the next one: a loop begins with either."""
        return self._ways.get(id(owner), ())

    def at(self, way: Way) -> Any:
        return self._owners.get(way)

    def label(self, place: Place) -> _Label | Global | None:
        match place:
            case Cell():
                owner, more = place.cell, (place.name, place.found)
            case Global():
                return place
            case Inside():
                owner, more = place.target, ()
            case Attribute():
                owner, more = place.target, tuple(getattr(place, field.name) for field in dataclasses.fields(place)[1:])
        way = self.to(owner)
        return _Label(way, type(place), place.name, more) if way is not None else None


def _parts(value: Any) -> Iterator[tuple[Hashable, Any]]:
    """What a value holds, where the key is no object of the user's."""
    return ((key, part) for key, part in reach.parts(value) if isinstance(key, str | int))


def _by_names(pairs: Twins) -> Twins:
    """Those of two arrays to which names and positions lead; a key of a dict may be an object of the user's."""
    return frozenset(pair for pair in pairs if all(isinstance(part, str | int) for way in pair for part in way))


def _holds_object(form: Form) -> bool:
    """Is there an object in it that would be kept alive? Whether a block's own objects are gone tells what is state."""
    match form:
        case Static(value):
            return is_mutable(value) or bool(getattr(value, "__closure__", None)) or hasattr(value, "__self__")
        case Tree(references.View(), _):
            return True  # an array of this round
        case Tree(_, children) | Options(children):
            return any(map(_holds_object, children))
    return False
