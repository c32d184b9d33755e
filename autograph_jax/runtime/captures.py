"""What a function closes over: how each value is compared from call to call, and which compiled program belongs to them.

    lr = 0.1
    @ag.jit
    def step(x): return x - lr * x      # a program for lr = 0.1; after lr = 0.01 another one

The values are followed through functions, objects and their attributes. `snapshots.py` generates the comparison.
"""

from __future__ import annotations

import builtins
import enum
import functools
import inspect
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.core
import numpy as np

from autograph_jax.operators.tracing import reach
from autograph_jax.runtime.libraries import is_left_alone, module_of
from autograph_jax.runtime.reads import Attributes, Reads, reads_of
from autograph_jax.runtime.snapshots import Capture, Identity, Snapshot
from autograph_jax.runtime.statics import Static

LARGEST_ARRAY = 1000  # elements of a NumPy array whose contents are compared on each call
_MOST = 500  # values that are watched


def snapshot(function: Any, *, lift: bool = False) -> Snapshot:
    """What a function, method, partial or callable object closes over now.

    With `lift`, arrays and floats that a plain function closes over itself are not part of the key.
    """
    collector = _Collector(function if lift else None)
    root = collector.root(function)
    key = collector.visit(function, {}, "", root)
    return collector.finish(key, function)


def may_change(function: Any) -> bool:
    """May another call find other values? Not where a plain function reads nothing but builtins and what libraries have."""
    if type(function) is not types.FunctionType or "__wrapped__" in function.__dict__:
        return True
    reads, globals_ = reads_of(function.__code__), function.__globals__
    values = [globals_.get(name, _EMPTY) for name in reads.globals if name in globals_ or not hasattr(builtins, name)]
    return bool(reads.free) or not all(map(_is_librarys, values))


def _is_librarys(value: Any) -> bool:
    if isinstance(value, types.ModuleType):
        return is_left_alone(value.__name__)
    return callable(value) and is_left_alone(getattr(value, "__module__", None) or "")


_VALUES = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, enum.Enum, frozenset, slice, range)
_EMPTY = object()


class _Collector:
    def __init__(self, lifting: Any) -> None:
        self._lifting = lifting
        self.lifted: dict[str, str] = {}
        self.captures: list[Capture] = []
        self.keys: list[Any] = []
        self.roots: list[Any] = []
        self.values: list[Any] = []
        self.conditions: list[str] = []
        self.traced, self.holds, self.shared = False, False, True
        self._known: dict[Any, int] = {}  # functions and objects that have been visited, by id
        self._numbers: dict[str, int] = {}  # of values, by their texts
        self._root_numbers: dict[int, int] = {}

    def finish(self, key: Any, function: Any) -> Snapshot:
        shared = self.shared and type(function) is types.FunctionType and _unwrapped(function) is function
        parts = (self.captures, self.keys, self.roots, self.values, self.conditions)
        return Snapshot((key, tuple(self.lifted), *self.keys), *parts, self.traced, self.holds, shared, self.lifted)

    def root(self, value: Any) -> str:
        number = self._root_numbers.setdefault(id(value), len(self.roots))
        self.roots += [value] if number == len(self.roots) else []
        return f"r{number}"

    # ---------------------------------------------------------------- values

    def read(self, value: Any, attributes: Attributes, name: str, text: str) -> None:
        """A value that is found by this text, and what is read of it."""
        if isinstance(value, types.ModuleType) and is_left_alone(value.__name__) or len(self.values) >= _MOST:
            return
        if text in self._numbers:
            if attributes:
                self.visit(value, attributes, name, f"e{self._numbers[text]}")
            return
        number = self._numbers[text] = len(self.values)
        self.values.append(value)
        self.conditions.append(f"(e{number} := {text}) is v{number}")
        position = len(self.keys)
        self.keys.append(None)
        self.captures.append(Capture(name, value, ""))
        self.keys[position] = self.visit(value, attributes, name, f"e{number}")
        self.captures[position] = Capture(name, value, self._compared(value))

    def visit(self, value: Any, attributes: Attributes, name: str, text: str) -> Any:
        """The value's key. What it closes over itself, and what is read of its attributes, is read too."""
        kind = type(value)
        if kind in _VALUES or isinstance(value, _VALUES):
            return _by_value(value)
        self.traced = self.traced or isinstance(value, jax.core.Tracer)
        self.holds = self.holds or isinstance(value, jax.Array | np.ndarray)
        if kind is tuple:
            return kind, *(self.visit(part, {}, f"{name}[{n}]", f"{text}[{n}]") for n, part in enumerate(value))
        if isinstance(value, np.ndarray):
            return self._array(value, text)
        if isinstance(value, jax.Array | type):
            return Identity(value)
        if id(value) in self._known and not attributes:
            return "again", self._known[id(value)]
        self._known.setdefault(id(value), len(self._known))
        function = _unwrapped(value)
        if type(function) is types.FunctionType:
            key = self._function(function, name)
            # A stand-in holds this closure itself, whose variables may change.
            return (Identity(value), key) if function is not value or function.__closure__ and name else key
        if kind is types.MethodType:
            return self._method(value, name, text)
        if isinstance(value, functools.partial):
            return self._partial(value, name, text)
        return self._object(value, attributes, name, text)

    def _array(self, value: np.ndarray, text: str) -> Any:
        if value.size > LARGEST_ARRAY or value.dtype == object:
            return Identity(value)
        contents = value.tobytes()
        self.conditions.append(f"{text}.tobytes() == v{len(self.values)}")
        self.values.append(contents)
        return value.shape, value.dtype, contents

    def _partial(self, value: functools.partial[Any], name: str, text: str) -> Any:
        keys = [self.visit(value.func, {}, name, f"{text}.func")]
        keys += [self.visit(part, {}, name, f"{text}.args[{n}]") for n, part in enumerate(value.args)]
        return type(value), *keys, *((k, self.visit(v, {}, k, f"{text}.keywords[{k!r}]")) for k, v in value.keywords.items())

    def _compared(self, value: Any) -> str:
        if isinstance(value, np.ndarray):
            small = value.size <= LARGEST_ARRAY and value.dtype != object
            return "by value" if small else "by identity, contents not"
        if isinstance(value, _VALUES) or type(value) is tuple:
            return "by value"
        return "by code" if type(_unwrapped(value)) is types.FunctionType else "by identity"

    # ---------------------------------------------------------------- functions and objects

    def _function(self, function: types.FunctionType, name: str, own: Any = None) -> Any:
        """The key of a function; for a method, `own` is its object, with its name and text."""
        if is_left_alone(function.__module__) or is_left_alone(function.__globals__.get("__name__")):
            return Identity(function)
        reads = reads_of(function.__code__)
        prefix = f"{name}." if name else ""
        self._variables(function, reads, prefix)
        self.shared = self.shared and not reads.stores
        if own is not None:
            self._attributes(own[0], reads.own, own[1], own[2])
        cells = tuple(Identity(cell) for cell in function.__closure__ or ()) if reads.stores else ()
        defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
        keys = tuple(Identity(value) if not isinstance(value, _VALUES) else _by_value(value) for value in defaults)
        return Identity(function.__code__), Identity(function.__globals__), cells, keys

    def _variables(self, function: types.FunctionType, reads: Reads, prefix: str) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name in reads.free:
                self._variable(function, name, _content(cell), reads.free[name], prefix, f"{self.root(cell)}.cell_contents")
        for name, attributes in reads.globals.items():
            if name in function.__globals__:
                text = f"{self.root(function.__globals__)}[{name!r}]"
                self._variable(function, name, function.__globals__[name], attributes, prefix, text)

    def _variable(self, function: Any, name: str, value: Any, attributes: Attributes, prefix: str, text: str) -> None:
        if function is self._lifting and not reads_of(function.__code__).stores_globals and _may_be_argument(value):
            self.lifted[name] = text
            self.holds = True
            self.conditions.append(f"type({text}) is v{len(self.values)}")
            self.values.append(type(value))
        else:
            self.read(value, attributes, prefix + name, text)

    def _method(self, method: types.MethodType, name: str, text: str) -> Any:
        target = method.__self__
        function = _unwrapped(method.__func__)
        key: Any = Identity(method.__func__)
        if type(function) is types.FunctionType:
            own = (target, name.rpartition(".")[0] or "self", f"{text}.__self__")
            key = self._function(function, name, own)
        return "method", key, Identity(target)

    def _object(self, value: Any, attributes: Attributes, name: str, text: str) -> Any:
        of_library = callable(value) and not _is_users(type(value))
        self.holds = self.holds or not isinstance(value, types.ModuleType) and not of_library
        self._attributes(value, attributes, name, text)
        if not _is_users(type(value)):
            return Identity(value)
        call = inspect.getattr_static(type(value), "__call__", None)
        if type(call) is types.FunctionType:
            self._function(call, name, (value, name, text))
        return Identity(value)

    def _attributes(self, target: Any, attributes: Attributes, name: str, text: str) -> None:
        for attribute, inner in attributes.items():
            value = reach.attribute(target, attribute, _EMPTY)
            if value is not _EMPTY:
                self.read(value, inner, f"{name}.{attribute}", f"{text}.{attribute}")
            if value is not _EMPTY or not _is_users(type(target)):
                continue
            member = inspect.getattr_static(type(target), attribute, _EMPTY)
            getter = _unwrapped(member.fget) if isinstance(member, property) else _unwrapped(member)
            if type(getter) is types.FunctionType:
                if (id(getter), id(target)) not in self._known:
                    self._known[id(getter), id(target)] = len(self._known)
                    self._function(getter, f"{name}.{attribute}", (target, name, text))
            elif member is not _EMPTY and not hasattr(type(member), "__get__"):
                self.read(member, inner, f"{name}.{attribute}", f"{text}.{attribute}")


def _is_users(kind: type) -> bool:
    module = module_of(kind)
    return isinstance(module, str) and not is_left_alone(module)


def _may_be_argument(value: Any) -> bool:
    """An array or a float; not an int, which may be a shape."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, jax.Array | float | complex)


def _by_value(value: Any) -> Any:
    try:
        return Static(value)
    except TypeError:
        return Identity(value)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _unwrapped(value: Any) -> Any:
    """The user's function inside jitted functions and wrappers of libraries."""
    while not isinstance(value, type) and (inner := getattr(value, "__dict__", {}).get("__wrapped__")) is not None:
        value = inner
    return value


def captures(function: Callable[..., Any], /) -> list[Capture]:
    """What a function closes over, with the values of now: see `Capture`.

    Functions that it calls count with what they close over in turn, as `name.of.it`; so do the attributes that it reads of
    objects, and what a method reads of `self`. Modules and functions of libraries are left out, and a variable that the
    function assigns itself.

        rate = 0.1
        ag.captures(lambda x: rate * x)   ->   [Capture(name='rate', value=0.1, compared='by value')]
    """
    return list(_listed(snapshot(_unwrapped(function)).captures))


def _listed(found: Sequence[Capture]) -> Iterator[Capture]:
    for capture in found:
        of_library = type(capture.value) is not types.FunctionType and callable(capture.value)
        if not of_library or _is_users(type(capture.value)):
            yield capture
