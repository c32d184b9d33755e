"""What a function closes over is followed through functions, objects and their attributes: keys, and the text of a check."""

from __future__ import annotations

import array
import collections
import enum
import functools
import gc
import operator
import sys
import types
from collections.abc import Container
from typing import Any

import jax
import jax.core
import numpy as np

from autograph_jax.operators.tracing import constants, reach
from autograph_jax.operators.tracing.places import Attribute, Cell, Global, Place
from autograph_jax.runtime import contents, members
from autograph_jax.runtime.captured_values import (
    EMPTY,
    LARGEST_ARRAY,
    VALUES,
    by_value,
    content,
    is_constant,
    is_library,
    is_of_user,
    may_be_argument,
    unwrapped,
)
from autograph_jax.runtime.contents import Contents
from autograph_jax.runtime.convert import is_converted
from autograph_jax.runtime.escapes import Escaped
from autograph_jax.runtime.frames import is_ours
from autograph_jax.runtime.libraries import is_left_alone
from autograph_jax.runtime.reads import SPECIAL_NAMES, Attributes, Reads, reads_of
from autograph_jax.runtime.snapshots import Capture, Identity, Snapshot

_MOST = 500  # values that are watched
_KEPT = ("_rules", "jvp", "fwd", "bwd", "registry")  # functions that wrappers of libraries call beside what they wrap
_RECORDS = (types.FunctionType, types.ModuleType, types.SimpleNamespace)  # beside objects of users' classes
_AROUND = {collections.ChainMap: "maps", collections.UserDict: "data", collections.UserList: "data"}
_NOT_CACHED = (type(EMPTY), Escaped)  # where the value of a cached property would be; a traced one is kept for no other call
Own = tuple[Any, str, str]  # an object, with its name and text
_MAKING = ("__init__", "__new__", "__post_init__")  # what runs where an object is made


class Collector:
    def __init__(self, lifts: bool, changed: Container[int] = ()) -> None:
        self._lifts, self._changed = lifts, changed
        self.lifted: dict[str, Place] = {}
        self.captures: list[Capture] = []
        self.keys: list[tuple[str, Any]] = []  # with names
        self.roots: list[Any] = []
        self.values: list[Any] = []
        self.conditions: list[str] = []
        self._contents: dict[int, Contents] = {}  # by id
        self._followed = 0  # of these, those in which has been looked
        self._objects: dict[int, tuple[Any, str, str]] = {}  # of users' classes, by id, with names and texts
        self._names, self._stored = (
            {"__call__", "__bool__", "__len__"},
            set[str](),
        )  # of attributes that the functions read, and assign
        self._looked_for = set[str]()  # of those that may not be there
        self._over: list[bool] = []  # of variables that are state
        self._supers = False
        self.traced, self.holds, self.shared, self.foreign = False, False, True, False
        self._known: dict[Any, int] = {}  # functions and objects that have been visited, by id
        self._numbers: dict[str, int] = {}  # of values, by their texts
        self._root_numbers: dict[int, int] = {}
        self._held: set[str] = set()  # conditions of which there is none twice
        self._hiding: dict[str, dict[str, None]] = {}  # by the text of an object, names that it must not have itself
        self._absences: dict[tuple[str, str], str] = {}  # conditions, by text and attribute, of what is not there

    def reads_like(self, other: Collector) -> None:
        other.read_objects()
        self._names, self._stored, self._supers = other._names, other._stored, other._supers
        self._looked_for = other._looked_for

    def finish(self, key: Any, function: Any) -> Snapshot:
        self.read_objects()
        while self._followed < len(self._contents):
            self._follow_contents()
            self.read_objects()
        for text, (first, *others) in self._hiding.items():
            self.conditions.append(
                f"{first!r} not in (own := {text}.__dict__)" if others else f"{first!r} not in {text}.__dict__"
            )
            self.conditions += [f"{attribute!r} not in own" for attribute in others]
        for (_, attribute), condition in self._absences.items():
            if attribute not in self._stored:
                self._holds(condition)
        self.captures = [capture._replace(compared=self._compared(capture.value)) for capture in self.captures]
        shared = self.shared and type(function) is types.FunctionType and unwrapped(function) is function
        parts = (self.captures, self.keys, self.roots, self.values, self.conditions)
        # In a function that stays as it is, nobody hands lax other bodies.
        foreign = self.foreign or type(function) is types.FunctionType and not is_converted(function)
        flags = (self.traced, self.holds, shared, foreign)
        watched = [each for each in self._contents.values() if each.key is not None]
        return Snapshot((key, tuple(self.lifted), tuple(self._over), *self.keys), *parts, *flags, self.lifted, watched)

    def read_objects(self) -> None:
        """What a function may read of an object that it is handed: `helper(model, x)` reads `model.rate`."""
        known = None
        while known != (known := (len(self._objects), len(self._names), len(self._looked_for), self._supers)):
            for value, name, text in list(self._objects.values()):
                known_of = dir(value) if isinstance(value, type) else [*reach.attributes(value), *dir(type(value))]
                names = self._names.intersection(known_of).union(self._looked_for) - self._stored
                self._attributes(value, {attribute: {} for attribute in sorted(names)}, name, text)

    def root(self, value: Any) -> str:
        number = self._root_numbers.setdefault(id(value), len(self.roots))
        self.roots += [value] if number == len(self.roots) else []
        return f"r{number}"

    # ---------------------------------------------------------------- values

    def read(self, value: Any, attributes: Attributes, name: str, text: str, place: Place) -> None:
        """A value that is found by this text, and what is read of it."""
        if len(self.values) >= _MOST:
            return
        attributes = {} if is_library(value) else attributes
        if self._lifts and may_be_argument(value) and self._lifted(value, name, text, place):
            return
        if text in self._numbers:
            if attributes:
                self.visit(value, attributes, name, f"e{self._numbers[text]}")
            return
        number = self._numbers[text] = len(self.values)
        self.values.append(value)
        self.conditions.append(f"(e{number} := {text}) is v{number}")
        position = len(self.keys)
        self.keys.append((name, None))
        self.captures.append(Capture(name, value, ""))  # how it is compared is known in the end
        self.keys[position] = name, self.visit(value, attributes, name, f"e{number}")

    def _holds(self, condition: str) -> None:
        """What has to be true as long as the values are these."""
        if condition not in self._held:
            self._held.add(condition)
            self.conditions.append(condition)

    def _lifted(self, value: Any, name: str, text: str, place: Place) -> bool:
        """Is this place an argument of the program? Not one of two that would have the same name."""
        if name not in self.lifted:
            if any(place.key == other.key for other in self.lifted.values()):
                return True
            self.lifted[name] = place
            self.holds = True
            self.conditions.append(f"type({text}) is v{len(self.values)}")
            self.values.append(type(value))
        return self.lifted[name].key == place.key

    def visit(self, value: Any, attributes: Attributes, name: str, text: str) -> Any:
        """The value's key. What it closes over itself, and what is read of its attributes, is read too."""
        kind = type(value)
        if kind in VALUES or isinstance(value, VALUES):
            if attributes and is_of_user(kind):  # of a number or an enum, which may have more
                self._attributes(value, attributes, name, text)
            return by_value(value)
        self.traced = self.traced or isinstance(value, jax.core.Tracer)
        self.holds = self.holds or isinstance(value, jax.Array | np.ndarray)
        if isinstance(value, np.ndarray):
            return self._array(value, text)
        if isinstance(value, bytearray | array.array):
            return self._bytes(value, text)
        if kind is types.MappingProxyType:
            (inner,) = gc.get_referents(value)
            return kind, self.visit(inner, attributes, name, self.root(inner))
        if isinstance(value, tuple):
            key = self._tuple(value, attributes, name, text)
            if is_of_user(kind):
                self._identified(value, attributes, name, text)
            return key
        if isinstance(value, contents.KINDS):
            key = self._container(value, attributes, name, text)
            return (key, self._identified(value, attributes, name, text)) if is_of_user(kind) else key
        if isinstance(value, jax.Array) or isinstance(value, type) and not is_of_user(value):
            return Identity(value)
        return self._identified(value, attributes, name, text)

    def _identified(self, value: Any, attributes: Attributes, name: str, text: str) -> Any:
        """The key of a function, class or object, which is followed once; what is read of it counts each time."""
        known = len(self._known)
        number = self._known.setdefault(id(value), known)
        if number == known and text.endswith("]") and is_of_user(type(value)):
            text = self._named(value, f"o{number}", text)
        self._attributes(value, attributes, name or "self", text)
        return self._first(value, name, text) if number == known else ("again", number)

    def _named(self, value: Any, name: str, text: str) -> str:
        """A name in the check for an object in a container, of which more than one attribute may be read."""
        root = self.root(type(value))
        self.conditions.append(f"type({name} := {text}) is {root}")
        self._held.add(f"type({name}) is {root}")
        return name

    def _first(self, value: Any, name: str, text: str) -> Any:
        """The key of a function, class or object that has not been visited before."""
        if isinstance(value, type):
            return self._class(value, name, text)
        function = unwrapped(value)
        if type(function) is types.FunctionType:
            key = self._function(function, name)
            if function is not value:
                self._attributes(value, {kept: {} for kept in _KEPT if kept in vars(value)}, name, text)
            self.foreign = self.foreign or function is not value and _is_kept_by_others(value)
            # A stand-in holds this closure itself, whose variables may change.
            return (Identity(value), key) if function is not value or function.__closure__ and name else key
        if type(value) is types.MethodType:
            return self._method(value, name, text)
        if isinstance(value, functools.partial):
            return self._partial(value, name, text)
        return self._object(value, name, text)

    def _array(self, value: np.ndarray, text: str) -> Any:
        constants.renew(value)
        if value.size > LARGEST_ARRAY:
            return Identity(value)
        if value.dtype == object:
            return self._objects_in(value, text)
        held = value.tobytes()
        self.conditions.append(f"{text}.tobytes() == v{len(self.values)}")
        self.values.append(held)
        return value.shape, value.dtype, held

    def _objects_in(self, value: np.ndarray, text: str) -> Any:
        number, parts = len(self.values), tuple(value.flat)
        self.values += [contents.comparison([]), parts]
        self.conditions.append(f"v{number}([*{text}.flat], v{number + 1})")
        return value.shape, *(self.visit(part, {}, text, f"{text}.flat[{n}]") for n, part in enumerate(parts))

    def _bytes(self, value: Any, text: str) -> Any:
        if len(value) > LARGEST_ARRAY:
            return Identity(value)
        self.conditions.append(f"bytes({text}) == v{len(self.values)}")
        self.values.append(bytes(value))
        return type(value), bytes(value)

    def _tuple(self, value: tuple[Any, ...], attributes: Attributes, name: str, text: str) -> Any:
        """Element by element; those of a named tuple are read by their names, too."""
        kind = type(value)
        fields = dict(enumerate(getattr(kind, "_fields", ())))
        found = f"tuple.__getitem__({text}, KEY)" if kind.__getitem__ is not tuple.__getitem__ else f"{text}[KEY]"
        keys = []
        for n, part in enumerate(tuple.__iter__(value)):
            read = contents.read_of_item(attributes, n, len(value))
            read = contents.merged(read, attributes.get(fields.get(n, ""), {}))
            keys.append(self.visit(part, read, f"{name}[{n}]", found.replace("KEY", str(n))))
        return kind, *keys

    def _container(self, value: Any, attributes: Attributes, name: str, text: str) -> Any:
        known = self._contents.get(id(value))
        found = known or self._contents.setdefault(id(value), Contents(value, name, text, len(self._contents)))
        found.read(attributes)
        self.holds = True
        return ("again", found.number) if known else found

    def _follow_contents(self) -> None:
        """What is in lists and dicts, once it is known which of them the functions change."""
        for found in list(self._contents.values())[self._followed :]:
            self._followed += 1
            if found.is_changed or id(found.value) in self._changed or not found.is_small or len(self.values) >= _MOST:
                continue
            number = len(self.values)
            found.held = contents.held(found.value)
            self.values += [contents.comparison(found.value), found.held]
            self.conditions.append(f"v{number}({found.text}, v{number + 1})")
            found.key = type(found.value), *map(self._item, [found] * len(found.value), contents.items(found))

    def _item(self, holder: Contents, item: contents.Item) -> Any:
        key = repr(item.key)
        if not isinstance(item.key, int | str):
            key = f"v{len(self.values)}"
            self.values.append(item.key)
        text = item.text.replace("KEY", key)
        return by_value(item.key), self.visit(item.value, item.attributes, f"{holder.name}[{item.key!r}]", text)

    def _partial(self, value: functools.partial[Any], name: str, text: str) -> Any:
        keys = [self.visit(value.func, {}, name, f"{text}.func")]
        keys += [self.visit(part, {}, name, f"{text}.args[{n}]") for n, part in enumerate(value.args)]
        return type(value), *keys, self.visit(value.keywords, {}, f"{name}.keywords", f"{text}.keywords")

    def _compared(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            return "by value" if value.size <= LARGEST_ARRAY else "by identity, contents not"
        if isinstance(value, (*VALUES, tuple)):
            return "by value"
        if isinstance(value, contents.KINDS):
            found = self._contents.get(id(value))
            return "by identity, contents not" if found is None or found.key is None else "by contents"
        return "by code" if type(unwrapped(value)) is types.FunctionType else "by identity"

    # ---------------------------------------------------------------- functions and objects

    def _function(self, function: types.FunctionType, name: str, own: Any = None, *, state: bool = True) -> Any:
        """The key of a function; for a method, `own` is its object, with its name and text.

        What it assigns is `state`, and not watched; not so what objects are assigned that the function makes.
        """
        if is_left_alone(function.__module__) or is_left_alone(function.__globals__.get("__name__")):
            return Identity(function)
        reads = reads_of(function.__code__)
        state = state and not (own is not None and isinstance(own[0], type))
        self._names |= reads.names if state else reads.names - reads.stored
        self._looked_for |= reads.looked_for
        self._stored |= reads.stored if state else set()
        self._supers = self._supers or "super" in reads.globals
        prefix = f"{name}." if name else ""
        if name:  # a callee
            self._code_stays(function)
        self._variables(function, reads, prefix)
        self._imports(function, reads, prefix)
        self.shared = self.shared and not reads.stores
        if own is not None:
            self._attributes(own[0], {a: reads.own[a] for a in reads.own if state or a not in reads.stored}, *own[1:])
        cells = tuple(Identity(cell) for cell in function.__closure__ or ()) if reads.stores else ()
        return Identity(function.__code__), Identity(function.__globals__), cells, self._defaults(function, prefix)

    def _code_stays(self, function: types.FunctionType) -> None:
        """A function may be given another code and other defaults, by tools that reload modules say."""
        root = self.root(function)
        self._holds(f"{root}.__code__ is {self.root(function.__code__)}")
        if function.__defaults__:
            self._holds(f"{root}.__defaults__ is {self.root(function.__defaults__)}")
        for name, value in (function.__kwdefaults__ or {}).items():
            self._holds(f"{root}.__kwdefaults__[{name!r}] is {self.root(value)}")

    def _defaults(self, function: types.FunctionType, prefix: str) -> Any:
        """Functions and objects among them are followed."""
        code, given = function.__code__, function.__defaults__ or ()
        names = code.co_varnames[code.co_argcount - len(given) : code.co_argcount]
        defaults = [(name, value, f"__defaults__[{n}]") for n, (name, value) in enumerate(zip(names, given, strict=True))]
        defaults += [(name, value, f"__kwdefaults__[{name!r}]") for name, value in (function.__kwdefaults__ or {}).items()]
        keys = []
        for name, value, text in defaults:
            keys.append(self.visit(value, {}, prefix + name, "" if is_constant(value) else f"{self.root(function)}.{text}"))
        return tuple(keys)

    def _variables(self, function: types.FunctionType, reads: Reads, prefix: str) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name in reads.free:
                text = f"{self.root(cell)}.cell_contents"
                self.read(content(cell), reads.free[name], prefix + name, text, Cell(cell, name))
            elif name in reads.state:
                self._state(content(cell), f"{self.root(cell)}.cell_contents")
        space = function.__globals__
        for name in sorted(reads.state.intersection(space).difference(function.__code__.co_freevars)):
            self._state(space[name], f"{self.root(space)}[{name!r}]")
        for name, attributes in reads.globals.items():
            text = self.root(space)
            if name in space:
                self.read(space[name], attributes, prefix + name, f"{text}[{name!r}]", Global(space, name))
            else:  # a builtin function, which a variable of this name would hide
                self._holds(f"{name!r} not in {text}")

    def _state(self, value: Any, text: str) -> None:
        """A variable that the function assigns is not compared. But a value of a trace that is over is none to go on with."""
        is_over = type(value) is Escaped
        self._over.append(is_over)
        self._holds(f"type({text}) is {'' if is_over else 'not '}{self.root(Escaped)}")

    def _imports(self, function: types.FunctionType, reads: Reads, prefix: str) -> None:
        """Modules that are imported in the function are read by the names of attributes, as objects are that it is handed."""
        package, loaded = function.__globals__.get("__package__"), self.root(sys.modules)
        for given in sorted(reads.imports):
            name = next((name for name in (given, f"{package}.{given}") if name in sys.modules), None)
            if name is None:
                self._holds(f"{given!r} not in {loaded}")
            elif not is_library(module := sys.modules[name]):
                text = f"{loaded}[{name!r}]"
                self.read(module, {}, prefix + given, text, Global(vars(sys)["modules"], name))
                self._objects.setdefault(id(module), (module, prefix + given, text))

    def _method(self, method: types.MethodType, name: str, text: str) -> Any:
        target = method.__self__
        function = unwrapped(method.__func__)
        key: Any = Identity(method.__func__)
        if type(function) is types.FunctionType:
            own = (target, name.rpartition(".")[0] or "self", f"{text}.__self__")
            key = self._function(function, name, own)
            if is_of_user(type(target)):
                self._objects.setdefault(id(target), own)
        return "method", key, Identity(target)

    def _object(self, value: Any, name: str, text: str) -> Any:
        name = name or "self"
        of_library = callable(value) and not is_of_user(type(value))
        self.holds = self.holds or not isinstance(value, types.ModuleType) and not of_library
        if is_of_user(type(value)) or type(value) is types.SimpleNamespace:
            self._objects.setdefault(id(value), (value, name, text))
        if type(value) is operator.attrgetter:
            self._names.update(*(path.split(".") for path in value.__reduce__()[1]))
        for kind, kept in _AROUND.items():
            if isinstance(value, kind):
                self._attributes(value, {kept: {}}, name, text)
        return (Identity(value), Identity(type(value))) if is_of_user(type(value)) else Identity(value)

    def _class(self, value: type, name: str, text: str) -> Any:
        """What is read of a class, and by objects that are made of it."""
        if not isinstance(value, enum.EnumMeta):  # whose members stay what they are
            self._attributes(value, dict.fromkeys(_MAKING, {}), name, text)
            self._objects.setdefault(id(value), (value, name, text))
            if "__match_args__" in self._names:
                self._names.update(getattr(value, "__match_args__", ()))
        return Identity(value)

    def _attributes(self, target: Any, attributes: Attributes, name: str, text: str) -> None:
        for attribute, inner in attributes.items():
            if attribute == "__dict__":
                value = own if isinstance(own := getattr(target, attribute, None), dict) else EMPTY
            else:
                value = EMPTY if isinstance(target, type) else reach.attribute(target, attribute, EMPTY)
            if value is not EMPTY and not (type(value) is Escaped and members.is_cached(type(target), attribute)):
                self.read(value, inner, f"{name}.{attribute}", f"{text}.{attribute}", Attribute(target, attribute))
                if f"{name}.{attribute}" in self.lifted and not reach.has_slot(target, attribute):
                    self._holds(f"{attribute!r} in {text}.__dict__")  # and not in its class
                continue
            kind = members.kind_with(target, attribute)
            if kind is None:
                self._absent(target, attribute, name, text)
            elif is_of_user(kind):
                for owner in members.owners_of(kind, attribute)[: None if self._supers else 1]:
                    self._member(members.Member(kind, owner, attribute), (target, name, text), inner)

    def _absent(self, target: Any, attribute: str, name: str, text: str) -> None:
        """What it does not have when it is looked for, `hasattr(model, "rate")`, it may have later."""
        if not (is_of_user(target if isinstance(target, type) else type(target)) or type(target) in _RECORDS):
            return
        if hasattr(type(target), "__getattr__"):
            self._attributes(target, {"__getattr__": {}}, name, text)
            self._absences[text, attribute] = f"{attribute!r} not in {text}.__dict__"
        elif not hasattr(target, attribute):
            self._absences[text, attribute] = f"not hasattr({text}, {attribute!r})"

    def _member(self, found: members.Member, own: Own, inner: Attributes) -> None:
        """What a class has under this name: a method, a property, a value."""
        (target, name, text), member = own, found.value
        full = f"{name}.{found.attribute}"
        if found.function is not None:
            self._stays(found, target, text)
            self._method_of_class(found, own)
            if found.is_cached and target is not found.kind:
                cached = f"{text}.__dict__.get({found.attribute!r}, {self.root(EMPTY)})"
                self._holds(f"type({cached}) in {self.root(_NOT_CACHED)}")
            self._attributes(member, inner, full, f"{text}.{found.attribute}")
        elif not hasattr(type(member), "__get__"):
            at = f"{text}.{found.attribute}" if found.is_first else f"{self.root(found.owner)}.{found.attribute}"
            self.read(member, inner, full, at, Attribute(found.owner, found.attribute))
            if full in self.lifted:
                self._is_not_hidden(found, target, text)
                for below in found.below:
                    self._holds(f"{found.attribute!r} not in {self.root(below)}.__dict__")
            elif self._supers:
                self._stays_in_classes(found)
        elif is_of_user(type(member)):
            self._stays(found, target, text)
            self.read(member, {"__get__": {}}, full, found.text(self.root), Attribute(found.owner, found.attribute))

    def _method_of_class(self, found: members.Member, own: Own) -> None:
        function, (target, name, text) = found.function, own
        number = len(self._known)
        if function is None or is_ours(function.__code__):
            return
        if self._known.setdefault((id(function), id(target)), number) < number:
            return
        of_class = own if isinstance(target, type) else (type(target), name, f"type({text})")
        at = of_class if found.is_of(classmethod) else None if found.is_of(staticmethod) else own
        special = found.attribute in SPECIAL_NAMES
        generated = special and function.__code__.co_filename == "<string>"  # a dataclass' `==` reads all of its fields
        full = name if found.attribute == "__call__" else f"{name}.{found.attribute}"
        position = len(self.keys)
        self.keys.append((full, None))
        key = Identity(function) if generated else self._function(function, full, at, state=not special)
        outer = found.wrapped
        self.keys[position] = full, key if outer is function else (Identity(outer), key)

    def _stays(self, found: members.Member, target: Any, text: str) -> None:
        """The class still has this member, the object is one of the class, and has nothing of this name itself."""
        self._is_not_hidden(found, target, text)
        self._stays_in_classes(found)

    def _is_not_hidden(self, found: members.Member, target: Any, text: str) -> None:
        if found.kind is not target:
            self._holds(f"type({text}) is {self.root(found.kind)}")
            if found.may_be_hidden and hasattr(target, "__dict__"):
                self._hiding.setdefault(text, {})[found.attribute] = None

    def _stays_in_classes(self, found: members.Member) -> None:
        for kind in found.kind.__mro__ if self._supers else (found.kind,):
            if is_of_user(kind) and (owners := members.owners_of(kind, found.attribute)):
                self._holds(members.Member(kind, owners[0], found.attribute).stays(self.root))


def _is_kept_by_others(value: Any) -> bool:
    """Is this a function that a library has wrapped, `jax.jit(f)`, which may keep what it was?"""
    return type(value) is not types.FunctionType or is_left_alone(value.__globals__.get("__name__"))
