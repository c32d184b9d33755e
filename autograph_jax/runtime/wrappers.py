"""`@beartype`, `@jax.checkpoint`, `@jaxtyped(...)` around a user's function: the same wrapper around its converted twin.

A wrapper that a library has made keeps the function in its closure, or in the closures of functions of its own, or in a
default. It is made anew with the twin in these places; its code stays the library's. What `@singledispatch` picks by the class
of an argument is called as anything else in converted code is.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.errors import ChoiceError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.values.choices import Choice
from autograph_jax.runtime.libraries import is_left_alone
from autograph_jax.runtime.unconverted import is_marked

Convert = Callable[[types.FunctionType], types.FunctionType]


def wrapped_in_library(function: types.FunctionType) -> types.FunctionType | None:
    """The user's function inside wrappers of libraries; None where there is no such wrapper."""
    inner: Any = function
    while isinstance(inner, types.FunctionType) and not is_marked(inner):
        # As `is_librarys`. Asked here, since a call near Python's limit has few frames left.
        if not inner.__code__.co_filename.startswith("<@") and not is_left_alone(inner.__globals__.get("__name__")):
            return inner if inner is not function else None
        inner = getattr(inner, "__wrapped__", None)
        if isinstance(inner, classmethod | staticmethod):
            inner = inner.__func__
    return None


def is_librarys(value: Any) -> bool:
    """Is it a function whose code a library has written, whatever `functools.wraps` says?"""
    if not isinstance(value, types.FunctionType):
        return False
    return value.__code__.co_filename.startswith("<@") or is_left_alone(value.__globals__.get("__name__"))


def around_twin(wrapper: types.FunctionType, inner: types.FunctionType, twin: types.FunctionType) -> types.FunctionType:
    """The wrapper with the twin in the place of the function inside; itself where it does not keep the function."""
    new = _with(wrapper, {id(inner): twin} | _dispatchers(wrapper))
    if new is not wrapper:
        new.__dict__["__autograph_jax_original__"] = wrapper  # some wrappers look themselves up by a weak reference
    return new


_DISPATCH = functools.singledispatch(lambda value: value).dispatch.__code__


def _dispatchers(wrapper: types.FunctionType) -> dict[int, Any]:
    """By id, what picks an implementation by a class, and what gives it converted."""
    held = list(inspect.getclosurevars(wrapper).nonlocals.values()) if wrapper.__closure__ else []
    functions = [part for part in held if getattr(part, "__code__", None) is _DISPATCH]
    found: dict[int, Any] = {id(dispatch): _converting(dispatch) for dispatch in functions}
    for part in held:
        if isinstance(part, functools.singledispatchmethod):
            dispatcher = types.SimpleNamespace(dispatch=_converting(part.dispatcher.dispatch))
            found[id(part)] = types.SimpleNamespace(dispatcher=dispatcher)
    return found


def _converting(dispatch: Callable[[type], Any]) -> Callable[[type], Any]:
    def picked(kind: type) -> Any:
        if kind is Choice:
            raise ChoiceError(
                "the class of an argument decides which function is called, and traced data decides about the class",
                location=user_location(),
                help="call the function on each path",
            )
        function = dispatch(kind)
        if isinstance(function, classmethod | staticmethod):
            return type(function)(hooks.call(function.__func__))
        return hooks.call(function)

    return picked


def _with(value: Any, new: dict[int, Any]) -> Any:
    """A value in which functions are replaced, by id of the old one."""
    if id(value) in new:
        return new[id(value)]
    if isinstance(value, functools.partial):
        function = _with(value.func, new)
        return value if function is value.func else functools.partial(function, *value.args, **value.keywords)
    if not is_librarys(value):
        return value
    new[id(value)] = value  # a function that holds itself
    cells = [_with_cell(cell, new) for cell in value.__closure__ or ()]
    keywords = {name: _with(default, new) for name, default in (value.__kwdefaults__ or {}).items()}
    if all(a is b for a, b in zip(cells, value.__closure__ or (), strict=True)) and not _differ(
        keywords, value.__kwdefaults__ or {}
    ):
        return value
    new[id(value)] = made = _remade(value, tuple(cells), keywords)
    if hasattr(value, "__wrapped__"):
        made.__wrapped__ = _with(value.__wrapped__, new)
    return made


def _with_cell(cell: types.CellType, new: dict[int, Any]) -> types.CellType:
    try:
        content = cell.cell_contents
    except ValueError:
        return cell
    replaced = _with(content, new)
    return cell if replaced is content else types.CellType(replaced)


def _differ(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return any(first[name] is not second[name] for name in first)


def _remade(function: types.FunctionType, closure: tuple[types.CellType, ...], keywords: dict[str, Any]) -> types.FunctionType:
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, closure)
    made.__kwdefaults__ = keywords or None
    made.__annotations__, made.__doc__ = function.__annotations__, function.__doc__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    made.__dict__.update(function.__dict__)
    return made
