"""Static arguments as JAX's caches see them: equal if type and value are, all the way down."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections import OrderedDict
from collections.abc import Callable, Container, Iterable
from typing import Any, NoReturn

import jax
import numpy as np

from autograph_jax.errors import ArgumentError, user_location
from autograph_jax.runtime.arguments import Argument
from autograph_jax.runtime.forwarding import LeftOut
from autograph_jax.runtime.libraries import is_left_alone, module_of

_NO_MEMORY = "do not donate it: a static argument is part of the program and has no memory to give away"


class Static:
    """A static value as JAX's caches see it: equal to another one if type and value are, all the way down."""

    __slots__ = ("hash", "key", "value")

    def __init__(self, value: Any, state: Any = None) -> None:
        self.value, self.key = value, _key(value) if state is None else (_key(value), state)
        self.hash = hash(self.key)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and self.key == other.key

    def __repr__(self) -> str:
        return repr(self.value)


# Compared by JAX as they should be: by type, then by value.
_PLAIN = frozenset({int, bool, str, bytes, type(None), types.BuiltinFunctionType, LeftOut})
_LARGEST_ARRAY = 1000  # elements that are compared on each call
_MOST_KNOWN = 128


def _key(value: Any) -> Any:
    kind: Any = type(value)
    if kind in _PLAIN or isinstance(value, type):
        return kind, value
    if isinstance(value, float):
        return kind, float.hex(value)  # tells 0.0 from -0.0, and nan from nothing but nan
    if isinstance(value, complex):
        return kind, float.hex(value.real), float.hex(value.imag)
    if isinstance(value, np.generic):
        return kind, value.dtype, value.tobytes()
    if kind in (tuple, list) or isinstance(value, tuple) and hasattr(value, "_fields"):
        return kind, *map(_key, value)
    if isinstance(value, dict) and kind in (dict, OrderedDict):
        return kind, *((_key(name), _key(entry)) for name, entry in value.items())
    if kind in (set, frozenset):
        return kind, frozenset(map(_key, value))
    if isinstance(value, np.ndarray) and kind is np.ndarray and value.size <= _LARGEST_ARRAY and value.dtype != object:
        return kind, value.dtype, value.shape, value.tobytes()
    if isinstance(value, functools.partial):
        return kind, _key(value.func), _key(value.args), _key(value.keywords)
    if dataclasses.is_dataclass(kind) and kind.__hash__ is None:
        return kind, *(_key(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare)
    if dataclasses.is_dataclass(kind) and kind.__eq__ is not object.__eq__:
        return kind, value, _fields_key(value)
    if kind.__hash__ is None and (parts := _parts(value)) is not None:
        return kind, *parts
    return kind, value


def _parts(value: Any) -> tuple[Any, ...] | None:
    """The structure and the leaves of a registered pytree, by type; None for what JAX does not know."""
    leaves, structure = jax.tree.flatten(value)
    return None if jax.tree_util.treedef_is_leaf(structure) else (structure, *map(_key, leaves))


def _fields_key(value: Any) -> Any:
    """The fields of a dataclass by type; nothing where it has a hash of its own that leaves some of them out."""
    key = tuple(_key(getattr(value, field.name)) for field in dataclasses.fields(value) if field.compare)
    try:
        hash(key)
    except TypeError:
        return ()
    return key


def _is_fixed(value: Any) -> bool:
    """Can this value never change: a number, a tuple or frozen dataclass of such values?"""
    kind = type(value)
    if kind in _PLAIN or isinstance(value, float | complex | np.generic):
        return True
    if isinstance(value, type):
        return is_left_alone(module_of(value))
    if kind in (tuple, frozenset):
        return all(map(_is_fixed, value))
    parameters = getattr(kind, "__dataclass_params__", None)
    if parameters is None or not parameters.frozen or not parameters.eq or "__dict__" not in dir(value):
        return False
    return len(vars(value)) == len(dataclasses.fields(value)) and all(map(_is_fixed, vars(value).values()))


class Statics:
    """A function's static arguments, and how their values are handed to JAX."""

    def __init__(
        self, arguments: tuple[Argument, ...], function: str, state: Callable[[Any, str], Any] = lambda value, name: None
    ) -> None:
        self.arguments, self._function, self._state = arguments, function, state
        self._positions = {a.position: a.name for a in arguments if a.position is not None}
        self._names = frozenset(a.keyword for a in arguments if a.keyword is not None)
        self._known: dict[int, Static] = {}  # by id: of values that cannot change

    def one(self, value: Any, name: str, /) -> Any:
        if type(value) in _PLAIN:
            return value
        known = self._known.get(id(value))
        if known is not None and known.value is value:
            return known
        try:
            static = Static(value, self._state(value, name))
        except TypeError as error:
            self._refuse(value, name, error)
        if _is_fixed(value):
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            self._known[id(value)] = static
        return static

    def positional(self, values: tuple[Any, ...], first: int = 0, /) -> tuple[Any, ...]:
        names = self._positions
        return tuple(self.one(v, names[i]) if i in names else v for i, v in enumerate(values, first))

    def keywords(self, values: dict[str, Any], /) -> dict[str, Any]:
        return {name: self.one(v, name) if name in self._names else v for name, v in values.items()}

    def _refuse(self, value: Any, name: str, error: TypeError) -> NoReturn:
        raise ArgumentError(
            f"`{name}` of `{self._function}` is static, and a value of type {type(value).__name__} cannot be",
            location=user_location(),
            details=[f"It has to be compared with the values of earlier calls: {error}."],
            help="pass arrays as ordinary arguments; what may be static: numbers, strings, functions, tuples, lists, dicts, "
            f"NumPy arrays of up to {_LARGEST_ARRAY} elements",
        ) from error


def refuse_overlap(
    static: Iterable[Argument], others: Container[Argument], function: str, *, what: str = "donated", help: str = _NO_MEMORY
) -> None:
    """Refuse an argument that is static and, say, donated too."""
    for argument in static:
        if argument in others:
            both = f"`{argument.name}` of `{function}` is both static and {what}"
            raise ArgumentError(both, location=user_location(), help=help)
