"""Lists, dicts, sets and deques that a function closes over are compared by what is in them, unless the function changes it.

options = {"rate": 0.1}
ag.jit(lambda x: options["rate"] * x)       # a program for 0.1; after options["rate"] = 0.01 another one

A function that appends to a list is seen in its bytecode, or when it has been traced; such a list is state, as `nonlocal` is.
"""

from __future__ import annotations

import collections
import operator
import types
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from autograph_jax.runtime.origins import ANY_ITEM, CHANGED, Attributes, item_of

Container = list[Any] | dict[Any, Any] | set[Any] | collections.deque[Any]
KINDS = (list, dict, set, collections.deque)
LARGEST = 1000  # items that are compared on each call
_LISTS = "append extend insert pop remove clear sort reverse appendleft extendleft popleft rotate"
_OTHERS = "update setdefault popitem add discard difference_update intersection_update symmetric_difference_update"
_CHANGES = frozenset({CHANGED, *_LISTS.split(), *_OTHERS.split()})
_NOTHING: Attributes = {}


class Contents:
    """The key of a list or dict: itself and, once all is known that the function reads and changes, what is in it."""

    __slots__ = ("attributes", "held", "key", "name", "number", "text", "value")

    def __init__(self, value: Container, name: str, text: str, number: int) -> None:
        self.value, self.name, self.text, self.number = value, name, text, number
        self.attributes: Attributes = {}
        self.key: Any = None
        self.held: tuple[Any, ...] | None = None

    def __hash__(self) -> int:
        return hash((id(self.value), self.key))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Contents) and self.value is other.value and self.key == other.key

    @property
    def is_changed(self) -> bool:
        """Does the function change it?"""
        return not _CHANGES.isdisjoint(self.attributes)

    @property
    def has_changed(self) -> bool:
        """Are these no longer the objects in it?"""
        return self.held is not None and not comparison(self.value)(self.value, self.held)

    @property
    def is_small(self) -> bool:
        return len(self.value) <= LARGEST

    def read(self, attributes: Attributes) -> None:
        self.attributes = merged(self.attributes, attributes)


class Item(NamedTuple):
    """A value in a container: its key or index, and what is read of it. It is found by the text, with `KEY` for the key."""

    key: Any
    value: Any
    attributes: Attributes
    text: str


def items(contents: Contents) -> Iterator[Item]:
    value, text = contents.value, contents.text
    base = next(kind for kind in KINDS if isinstance(value, kind))
    own = base is not set and getattr(type(value), "__getitem__", None) is not getattr(base, "__getitem__", None)
    found = f"{base.__name__}.__getitem__({text}, KEY)" if own else f"[*{text}][KEY]" if base is set else f"{text}[KEY]"
    pairs = _kind(value).items(value) if isinstance(value, dict) else enumerate(value)
    for key, part in list(pairs):
        yield Item(key, part, read_of_item(contents.attributes, key, None if base is dict else len(value)), found)


def read_of_item(attributes: Attributes, key: Any, count: int | None) -> Attributes:
    """What is read of the item at a key, or at an index of `count`, among what is read of the container."""
    names = [item_of(key), ANY_ITEM] + ([] if count is None else [item_of(key - count)])
    found = _NOTHING
    for name in names:
        found = merged(found, attributes.get(name, _NOTHING))
    return found


def merged(first: Attributes, second: Attributes) -> Attributes:
    if not first or not second:
        return first or second
    return {name: merged(first.get(name, _NOTHING), second.get(name, _NOTHING)) for name in {**first, **second}}


# ------------------------------------------------------------------ from call to call


def held(value: Container) -> tuple[Any, ...]:
    """What is in it now; of a dict the keys too."""
    return _entries(value) if isinstance(value, dict) else (*value,)


def _entries(value: dict[Any, Any]) -> tuple[Any, ...]:
    kind = _kind(value)
    return *kind.keys(value), *kind.values(value)


def _kind(value: dict[Any, Any]) -> type[dict[Any, Any]]:
    """An OrderedDict has an order of its own."""
    return collections.OrderedDict if isinstance(value, collections.OrderedDict) else dict


def comparison(value: Container) -> Callable[[Any, tuple[Any, ...]], bool]:
    """A function that says whether the objects in it are still these."""
    if isinstance(value, collections.OrderedDict):
        return _has_ordered_entries
    return _has_entries if isinstance(value, dict) else _has_items


def _has_items(value: Any, items: tuple[Any, ...]) -> bool:
    return len(value) == len(items) and all(map(operator.is_, value, items))


def _has_entries(value: dict[Any, Any], entries: tuple[Any, ...]) -> bool:
    count = len(value)
    return 2 * count == len(entries) and all(map(operator.is_, (*dict.keys(value), *dict.values(value)), entries))


def _has_ordered_entries(value: dict[Any, Any], entries: tuple[Any, ...]) -> bool:
    return 2 * len(value) == len(entries) and all(map(operator.is_, _entries(value), entries))


# ------------------------------------------------------------------ what is learned from a trace

# Module state: by code, the containers that functions of it have been seen to change, by id. The last ones, which are kept.
_changed: weakref.WeakKeyDictionary[types.CodeType, dict[int, Container]] = weakref.WeakKeyDictionary()
_MOST_KEPT = 8


def changed_by(code: types.CodeType | None) -> Mapping[int, Container]:
    """The containers, by id, that functions of this code have changed while they were traced."""
    return _changed.get(code, {}) if code is not None else {}


def note_changed(code: types.CodeType, containers: list[Container]) -> None:
    kept = _changed.setdefault(code, {})
    kept.update((id(container), container) for container in containers)
    for key in list(kept)[: -max(_MOST_KEPT, len(containers))]:
        del kept[key]
