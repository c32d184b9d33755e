"""Classes of a library that derive from NumPy's array: `class Quaternion(np.ndarray)`.

NumPy makes their objects in C, around memory. In ported code each is an object that holds an array, of a class with the same
name and methods; what the class does not define the array does, and what is computed element by element or cut out of such
an object is one again, as in NumPy.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..errors import PortingError, user_location
from . import hooks
from .arrays import MutableArray, wrap
from .creating import asarray

_ITEMWISE = "add sub mul matmul truediv floordiv mod pow and or xor lshift rshift".split()
_COMPARISONS = "lt le gt ge eq ne".split()
_OF_ONE = "neg pos abs invert".split()
_NUMBERS = {"__bool__": bool, "__int__": int, "__float__": float, "__index__": operator.index}
_NOT_TAKEN = frozenset("__new__ __dict__ __weakref__ __doc__ __slots__ __array_ufunc__ __array_priority__".split())


class ArrayObject:
    """An object of such a class."""

    __array_ufunc__ = None  # arrays leave their operators to this
    __hash__: Any = None
    original: type  # the class of the library
    _array: MutableArray

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return asarray(self._array, dtype)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or "_array" not in vars(self):
            raise AttributeError(name)
        found = getattr(self._array, name)
        if not isinstance(found, types.MethodType):
            return like(self, found)
        return lambda *arguments, **options: like(self, found(*map(data_of, arguments), **options))

    def __getitem__(self, key: Any) -> Any:
        return like(self, self._array[data_of(key)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._array[data_of(key)] = data_of(value)

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Iterator[Any]:
        return (like(self, part) for part in self._array)


def _binary(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: like(self, function(self._array, data_of(other)))


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: like(self, function(data_of(other), self._array))


def _in_place(function: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def update(self: ArrayObject, other: Any) -> ArrayObject:
        self._array[...] = function(self._array, data_of(other))
        return self

    return update


def _unary(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: like(self, function(self._array))


def _number(kind: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda self: kind(self._array)


for _name in (*_ITEMWISE, *_COMPARISONS):
    setattr(ArrayObject, f"__{_name}__", _binary(getattr(operator, f"__{_name}__")))
for _name in _ITEMWISE:
    setattr(ArrayObject, f"__r{_name}__", _reflected(getattr(operator, f"__{_name}__")))
    setattr(ArrayObject, f"__i{_name}__", _in_place(getattr(operator, f"__{_name}__")))
for _name in _OF_ONE:
    setattr(ArrayObject, f"__{_name}__", _unary(getattr(operator, f"__{_name}__")))
for _name, _kind in _NUMBERS.items():
    setattr(ArrayObject, _name, _number(_kind))


def is_for(kind: Any) -> bool:
    """Is this a library's class that derives from NumPy's array?"""
    return isinstance(kind, type) and issubclass(kind, np.ndarray) and not kind.__module__.partition(".")[0] == "numpy"


def of_library(kind: Any) -> type | None:
    """Such a class, also where code has asked an object for it: `self.__class__(q)`."""
    if isinstance(kind, type) and issubclass(kind, ArrayObject):
        return kind.original
    return kind if is_for(kind) else None


@functools.cache
def ours(kind: type) -> type:
    """The class whose objects stand for those of `kind` in ported code."""
    members: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if is_for(base):
            members |= {name: member for name, member in vars(base).items() if name not in _NOT_TAKEN}
    return type(kind.__name__, (ArrayObject,), members | {"original": kind})


def made(kind: type, array: MutableArray, source: Any = None) -> ArrayObject:
    """An object of a class, around an array; `source` is the one that it is a part of, or computed from."""
    new: Any = hooks.made(object.__new__(ours(kind)))
    new._array = array
    if (finalize := getattr(type(new), "__array_finalize__", None)) is not None:
        finalize(new, source)
    return new


def new_array(
    kind: type, shape: Any, dtype: Any = float, buffer: Any = None, offset: int = 0, strides: Any = None, order: Any = None
) -> Any:
    """`np.ndarray.__new__`."""
    if buffer is None:
        array = wrap(np.zeros(shape, dtype, order or "C"))
    else:
        array = asarray(buffer)
        if array.dtype != np.dtype(dtype) or array.size != np.prod(shape, dtype=int) or offset or strides is not None:
            raise PortingError("an array is made of a part of another one's bytes", location=user_location(), help="slice it")
        array = array.reshape(shape)
    return made(kind, array) if is_for(kind) else array


def making(kind: type) -> Callable[..., Any]:
    """The class, as it is called."""

    def make(*arguments: Any, **keywords: Any) -> Any:
        new = kind.__new__ if isinstance(kind.__new__, types.FunctionType) else new_array
        found = new(kind, *arguments, **keywords)
        if isinstance(found, ArrayObject) and isinstance(kind.__init__, types.FunctionType):
            type(found).__init__(found, *arguments, **keywords)
        return found

    return make


def data_of(value: Any) -> Any:
    """The array that such an object holds."""
    return value._array if isinstance(value, ArrayObject) else value


def like(source: ArrayObject, value: Any) -> Any:
    """An array as an object of the class of another one."""
    return made(source.original, value, source) if isinstance(value, MutableArray) else value


def shown(value: ArrayObject) -> np.ndarray:
    """What the library would have instead, for who asks for its class."""
    return np.ndarray.__new__(value.original, ())
