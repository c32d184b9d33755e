"""`do_not_convert`: a function, or everything called inside a `with`, is called as it is."""

from __future__ import annotations

import threading
import types
import weakref
from typing import Any, TypeVar, overload

F = TypeVar("F")


class _Switch(threading.local):
    depth = 0


_switch = _Switch()
_marked: weakref.WeakSet[Any] = weakref.WeakSet()  # functions that their author has marked


class DoNotConvert:
    """Use as `@do_not_convert`, `@do_not_convert()`, or `with do_not_convert():`.

    As a decorator it marks a function, or a class with its methods, that converted code shall call as it is. As a context
    manager it switches conversion of callees off, in this thread, while it is open; what Python calls by itself in classes that
    were in use before (operators, properties) stays converted.
    """

    @overload
    def __call__(self, function: F, /) -> F: ...
    @overload
    def __call__(self, /) -> DoNotConvert: ...
    def __call__(self, function: Any = None, /) -> Any:
        if function is None:
            return self
        _marked.add(getattr(function, "__func__", function))
        for member in vars(function).values() if isinstance(function, type) else ():
            method = getattr(member, "__func__", member)
            if isinstance(method, types.FunctionType):
                _marked.add(method)
        return function

    def __enter__(self) -> None:
        _switch.depth += 1

    def __exit__(self, *_: object) -> None:
        _switch.depth -= 1


do_not_convert = DoNotConvert()


def switched_off() -> bool:
    return _switch.depth > 0


def is_marked(function: types.FunctionType) -> bool:
    return function in _marked


def is_marked_class(kind: type) -> bool:
    return any(marked is kind for marked in _marked)  # a metaclass may leave its classes without a hash
