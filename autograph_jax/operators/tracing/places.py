"""Places that hold state: variables, attributes, and what lists and dicts hold."""

from __future__ import annotations

import array
import collections
import contextvars
import dataclasses
import functools
import inspect
import io
import sys
import types
import weakref
from collections.abc import Container, Hashable, Mapping
from typing import Any

import jax.core

from autograph_jax.errors import StructureError, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import islands, reach
from autograph_jax.operators.values.choices import UNBOUND, Choice


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    """A variable of a converted function, in its closure cell."""

    cell: types.CellType
    name: str
    found: bool = False  # noted because a callee assigns it, not because the block's functions mention it
    target = None

    @property
    def key(self) -> Hashable:
        return id(self.cell)

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNBOUND

    def write(self, value: Any) -> None:
        if value is UNBOUND:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value


@dataclasses.dataclass(frozen=True, eq=False)
class Global:
    """A global variable of the user's module."""

    namespace: dict[str, Any]
    name: str
    found = True
    target = None

    @property
    def key(self) -> Hashable:
        return id(self.namespace), self.name

    def read(self) -> Any:
        return self.namespace.get(self.name, UNBOUND)

    def write(self, value: Any) -> None:
        if value is UNBOUND:
            self.namespace.pop(self.name, None)
        else:
            self.namespace[self.name] = value


@dataclasses.dataclass(frozen=True, eq=False)
class Inherited:
    """What a class does not have itself where another path sets it: looked up in its bases when it is read.

    One for each class and name, as `inherited` gives: values that are no arrays are told apart by identity.
    """

    owner: type
    name: str

    def __get__(self, instance: Any, kind: type | None = None) -> Any:
        order = (kind or type(instance)).__mro__
        for base in order[order.index(self.owner) + 1 :]:
            if self.name in vars(base):
                value = vars(base)[self.name]
                return value.__get__(instance, kind) if hasattr(type(value), "__get__") else value
        raise AttributeError(self.name)


# Module state: those that are in use, by the id of their class, which they hold, and the name.
_inherited: weakref.WeakValueDictionary[tuple[int, str], Inherited] = weakref.WeakValueDictionary()


def inherited(owner: type, name: str) -> Inherited:
    made = Inherited(owner, name)
    return _inherited.setdefault((id(owner), name), made)


@dataclasses.dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of an object. Written past properties and `__setattr__`, which have had their turn."""

    target: Any
    attribute: str
    found = True

    @property
    def name(self) -> str:
        return f"{type(self.target).__name__}.{self.attribute}"

    @property
    def key(self) -> Hashable:
        return id(self.target), self.attribute

    def read(self) -> Any:
        return reach.attribute(self.target, self.attribute, UNBOUND)

    def of_class(self) -> Any:
        """What reading it gives where the object itself has no such attribute: a value or method of its class, or of a base."""
        if isinstance(self.target, type):
            has_base = any(self.attribute in vars(base) for base in self.target.__mro__[1:])
            return inherited(self.target, self.attribute) if has_base else UNBOUND
        value = inspect.getattr_static(type(self.target), self.attribute, UNBOUND)
        if isinstance(value, types.FunctionType | staticmethod | classmethod):
            value = value.__get__(self.target, type(self.target))
        elif hasattr(type(value), "__get__"):
            return UNBOUND
        return value

    def _is_found_by_code(self) -> bool:
        """Does code of the user's say what it is, where the object itself has no such attribute?"""
        kind = type(self.target)
        behind = reach.member(kind, self.attribute)
        if behind is None:
            return isinstance(reach.member(kind, "__getattr__"), types.FunctionType)
        if isinstance(behind, functools.cached_property):  # which gives the same each time
            return False
        return isinstance(reach.member(type(behind), "__get__"), types.FunctionType) and not hasattr(type(behind), "__set__")

    def write(self, value: Any) -> None:
        if type(value) is Choice and value._may_be_unbound() and self._is_found_by_code():
            raise StructureError(
                f"traced data decides whether `{self.name}` is set, and code says what it is where it is not",
                location=user_location(),
                details=["That code would have to run each time that it is read, on one path alone."],
                help=f"set `{self.attribute}` on every path, or keep it under a name that the class knows nothing of",
            )
        if isinstance(self.target, type | types.ModuleType):
            if value is not UNBOUND:
                setattr(self.target, self.attribute, value)
            elif self.attribute in vars(self.target):
                delattr(self.target, self.attribute)
        elif hasattr(self.target, "__dict__") and not reach.has_slot(self.target, self.attribute):
            self._write_dict(self.target.__dict__, value)
        elif value is not UNBOUND:
            object.__setattr__(self.target, self.attribute, value)
        elif self.read() is not UNBOUND:
            object.__delattr__(self.target, self.attribute)

    def _write_dict(self, attributes: dict[str, Any], value: Any) -> None:
        if value is UNBOUND:
            attributes.pop(self.attribute, None)
        else:
            attributes[self.attribute] = value


# Module state: by program that is being made, objects whose attribute has come from their class on one path.
_taken: weakref.WeakKeyDictionary[Any, list[tuple[Any, str]]] = weakref.WeakKeyDictionary()


def _note_taken(place: Attribute) -> None:
    if not isinstance(place.target, type) and (program := jax_private.outermost_program()) is not None:
        _taken.setdefault(program, []).append((place.target, place.attribute))


def names_taken(target: Any) -> list[str]:
    """The attributes that this object has on one path only, and from its class on another."""
    program = jax_private.outermost_program()
    known = _taken.get(program, ()) if program is not None else ()
    return [name for one, name in known if one is target and isinstance(reach.attribute(one, name, None), _CHOSEN)]


def check_class(target: type, name: str) -> None:
    """An attribute of a class is written: an object that has it from there on one path only would have to follow on that."""
    program = jax_private.outermost_program()
    objects = [one for one, other in _taken.get(program, ()) if other == name] if program is not None else []
    if any(_comes_from(target, one, name) and isinstance(reach.attribute(one, name, None), _CHOSEN) for one in objects):
        raise StructureError(
            f"`{target.__name__}.{name}` is written after traced data has decided whether an object has its own `{name}`",
            location=user_location(),
            details=["On the path on which it has none, it would have to show what is written."],
            help=f"give the object its own `{name}` first, on each path: `o.{name} = {target.__name__}.{name}`",
        )


def _comes_from(kind: type, target: Any, name: str) -> bool:
    """Is this the class whose attribute an object has that has none itself?"""
    order = type(target).__mro__
    return kind in order and not any(name in vars(base) for base in order[: order.index(kind)])


_CHOSEN = (jax.core.Tracer, Choice)


@dataclasses.dataclass(frozen=True, eq=False)
class Aside(Attribute):
    """State that is no variable of the user's program: how far a progress bar is. `start` is what it holds at first."""

    start: Any = None

    def read(self) -> Any:
        return self.target.__dict__.get(self.attribute, self.start)


@dataclasses.dataclass(frozen=True, eq=False)
class Inside:
    """What an object of Python's own holds."""

    target: Any
    found = True

    @property
    def name(self) -> str:
        return f"this {type(self.target).__name__}"

    @property
    def key(self) -> Hashable:
        return id(self.target)

    def read(self) -> Any:
        raise NotImplementedError

    def write(self, value: Any) -> None:
        raise NotImplementedError


class Content(Inside):
    """What a list, dict, set or deque holds; read as a shallow copy."""

    def read(self) -> Any:
        if isinstance(self.target, dict):
            return dict(self.target)
        return frozenset(self.target) if isinstance(self.target, set) else list(self.target)

    def write(self, value: Any) -> None:
        if type(value) is Choice:
            raise StructureError(
                f"what {self.name} holds depends on traced data",
                location=user_location(),
                details=["Two paths leave different elements in it."],
                help="keep an array of bools, one for each element that there may be",
            )
        if _has_same_places(self.target, value):
            _renew(self.target, value)
        else:
            _replace(self.target, value)


def _has_same_places(target: Any, value: Any) -> bool:
    """Are there as many elements as there should be, of a dict with the same keys in the same order, of a set the same ones?"""
    if isinstance(target, set):
        return {id(element) for element in target} == {id(element) for element in value}
    if len(target) != len(value):
        return False
    if isinstance(target, dict):
        return all(key is other for key, other in zip(plain_methods(target).__iter__(target), value, strict=True))
    return True


def _renew(target: Any, value: Any) -> None:
    """Put each element that is another one in its place, so that whoever iterates over the dict or the deque can go on.

    Emptied and filled again, an OrderedDict or a deque counts as changed, and in a dict that a key was deleted from the
    iterator would stand elsewhere: `for k in d: if d[k] > 1: d[k] = 1`
    """
    if isinstance(target, set):
        return
    methods = plain_methods(target)
    for place, element in value.items() if isinstance(target, dict) else enumerate(value):
        if methods.__getitem__(target, place) is not element:
            methods.__setitem__(target, place, element)


def _replace(target: Any, value: Any) -> None:
    methods = plain_methods(target)
    methods.clear(target)
    if isinstance(target, dict | set):
        methods.update(target, value)
    else:
        methods.extend(target, value)


def plain_methods(target: Any) -> Any:
    """The class whose methods put a content back as it was: `Counter.update` would add to it."""
    if isinstance(target, collections.OrderedDict):
        return collections.OrderedDict
    return next(kind for kind in (list, dict, set, collections.deque) if isinstance(target, kind))


# What holds bytes or text, and changes.
BUFFERS = (bytearray, array.array, memoryview)
RAW = (*BUFFERS, io.StringIO, io.BytesIO)


class Raw(Inside):
    """What a bytearray or a StringIO holds, as bytes or text: nothing that JAX could choose."""

    def read(self) -> Any:
        match self.target:
            case io.StringIO():
                return "" if self.target.closed else f"{self.target.tell()}:{self.target.getvalue()}"
            case io.BytesIO():
                return b"" if self.target.closed else b"%d:%s" % (self.target.tell(), self.target.getvalue())
        return bytes(self.target)

    def write(self, value: Any) -> None:
        if type(value) is Choice:
            raise StructureError(
                f"what {self.name} holds depends on traced data",
                location=user_location(),
                help="write it after the branch or the loop, or in a callback: `jax.debug.callback`",
            )
        if value == self.read():
            return
        match self.target:
            case io.StringIO() | io.BytesIO():
                position, _, content = value.partition(":" if isinstance(value, str) else b":")
                self.target.seek(0)
                self.target.truncate()
                self.target.write(content)
                self.target.seek(int(position))
            case memoryview():
                self.target.cast("B")[:] = value
            case array.array():
                self._write_array(self.target, value)
            case _:
                self.target[:] = value

    def _write_array(self, target: array.array[Any], value: bytes) -> None:
        new = array.array(target.typecode, value)
        if len(new) == len(target):
            memoryview(target)[:] = memoryview(new)  # in the same memory: arrays of NumPy's may show it
        else:
            target[:] = new


class Context(Inside):
    """What a `contextvars.ContextVar` holds."""

    def read(self) -> Any:
        try:
            return self.target.get()
        except LookupError:
            return UNBOUND

    def write(self, value: Any) -> None:
        if value is not self.read() and value is not UNBOUND:  # Python cannot take the value away
            self.target.set(value)


CHANGING = (list, dict, set, collections.deque, *RAW, contextvars.ContextVar)


def content_of(target: Any) -> Inside:
    """The place that one of these is."""
    if isinstance(target, contextvars.ContextVar):
        return Context(target)
    return Raw(target) if isinstance(target, RAW) else Content(target)


def attribute_of(target: Any, name: str) -> Attribute | Content:
    """The place of an attribute, which may be an item of the object itself."""
    return Content(target) if reach.is_its_own_dict(target) else Attribute(target, name)


Place = Cell | Global | Attribute | Inside
_NONE: Mapping[Any, Any] = types.MappingProxyType({})


def read_through(place: Place) -> Any:
    """What the user's program reads there: of an attribute that an object does not have itself, what its class has."""
    value = place.read()
    return place.of_class() if value is UNBOUND and isinstance(place, Attribute) else value


def held(place: Place) -> Any:
    """The same, as what the place holds itself on some path from here on."""
    value = place.read()
    return taken_from_class(place) if value is UNBOUND else value


def taken_from_class(place: Place) -> Any:
    """What a place that holds nothing itself gives: of an attribute, what the class has."""
    value = place.of_class() if isinstance(place, Attribute) else UNBOUND
    if isinstance(place, Attribute) and value is not UNBOUND:
        _note_taken(place)
    return value


def outliving(
    places: list[Place], ends: Mapping[Hashable, tuple[Place, Any]] = _NONE, older: Container[int] = ()
) -> list[Place]:
    """The places of objects that something outside the block holds too; what the block made for itself is no state.

    `for x in xs: pair = [x, 0]; pair[1] = x` writes a list that is gone after the turn. Whether an object is gone is told by
    its reference count, after the trace has been rolled back: only our places are left to hold it, and what it holds itself.
    `ends` hold for us, by key, what the block has left in the places. An object that is `older` than the block, by its id, is
    held again since the trace has been rolled back: whether by a ring of objects need not be asked. Nor of what is ours alone,
    the errors of a loop (`Aside`), which is in no ring.
    """
    held = collections.Counter(id(_owner(place)) for place in places)
    others = {id(_owner(place)): _count(place) - held[id(_owner(place))] for place in places if _owner(place) is not None}
    targets = {id(_owner(place)): _owner(place) for place in places}
    left = collections.defaultdict[int, list[Hashable]](list)  # by key, since who holds an end would count
    for key in ends:
        left[id(_owner(ends[key][0]))].append(key)
    are_ours = {id(form) for _, form in ends.values()}

    def ours(value: Any) -> int:
        return held[id(value)] + _kept[id(value)] + (id(value) in are_ours)

    def left_in(value: Any) -> list[Any]:
        return [ends[key][1] for key in left.get(id(value), ())]

    gone = {number for number, count in others.items() if count <= 0}
    unclear = {id(_owner(place)) for place in places if not isinstance(place, Aside)}.difference(gone)
    asked = [number for number in others if number in unclear and number not in older]
    owners = [targets[number] for number in asked]
    counts = [others[number] + reach.is_its_own_dict(targets[number]) for number in asked]  # its own dict is in no count yet
    gone |= islands.on_islands(owners, counts, ours, left_in) if asked else set()
    return [place for place in places if _owner(place) is None or id(_owner(place)) not in gone]


def _owner(place: Place) -> Any:
    """The object, or the variable of a function that has been called, that is gone when nobody holds it any more."""
    return place.cell if isinstance(place, Cell) and place.found else place.target


def _count(place: Place) -> int:
    """References to a place's object, apart from those that this call itself makes, and from those that are kept."""
    owner = _owner(place)
    return sys.getrefcount(owner) - _OWN - _kept[id(owner)] - reach.is_its_own_dict(owner)


# Module state: by id, how often we hold an object of the user's ourselves, beside its places.
_kept: collections.Counter[int] = collections.Counter()


def keep(value: Any) -> None:
    """Somebody of ours is about to hold an object of the user's: it is none the less gone when the user's code drops it."""
    _kept[id(value)] += 1


def drop(value: Any) -> None:
    """No longer so."""
    _kept[id(value)] -= 1
    if not _kept[id(value)]:
        del _kept[id(value)]


class _Probe:
    pass


_OWN = 0
_OWN = _count(Attribute(_Probe(), "x")) - 1  # differs between versions of CPython
