"""What Python asks an object of a user's class, and wants a plain answer to: `if obj`, `len(obj)`, `x in obj`, `float(obj)`.

The class's own method is asked directly, since its answer may be an array. A plain answer goes through Python, which has its
own words for a wrong one.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.core

from autograph_jax.operators import comparisons, jax_private
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced, truth
from autograph_jax.porting.arrays import MutableArray

_ARRAYS = (jax.Array, jax.core.Tracer)
_PLAIN = frozenset({bool, int, float, str, list, tuple, dict, type(None)})


def condition(value: Any) -> Any:
    """What decides in `if value`: the value itself, or what its `__bool__` or `__len__` gives."""
    kind = type(value)  # `isinstance` may ask the object for its `__class__`
    if kind is MutableArray:
        return value.value
    if kind in _PLAIN or issubclass(kind, _ARRAYS):
        return value
    if kind is Choice:
        if _chosen_objects().has_method(value._options, "__bool__", "__len__"):
            return _chosen_objects().of_taken(value, _plain_condition)
        conditions = tuple(map(condition, value._options))
        return value if all(map(operator.is_, conditions, value._options)) else Choice(value._index, conditions)
    if hasattr(kind, "as_condition"):  # a list of which only a bound is known
        return value.as_condition
    method = "__bool__" if has_own(value, "__bool__") else "__len__"
    return asked(value, method, bool) if has_own(value, method) else value


def _plain_condition(value: Any) -> Any:
    """The same as a bool, or a traced one."""
    decisive = condition(value)
    return truth(decisive) if is_traced(decisive) else bool(decisive)


def _chosen_objects() -> Any:
    from autograph_jax.operators import chosen_objects  # which builds on this file

    return chosen_objects


def asked(value: Any, method: str, ask: Callable[[Any], Any]) -> Any:
    """`ask(value)`, which calls a special method; where what that gives is an array, this."""
    if issubclass(type(value), _ARRAYS) or not has_own(value, method):
        return ask(value)
    answer = getattr(type(value), method)(value)
    return answer if isinstance(answer, jax.Array | Choice) else ask(_answering(method, type(value).__name__)(answer))


def contains(container: Any, value: Any) -> Any:
    """`value in container`, by the container's own `__contains__` or `__iter__`."""
    if has_own(container, "__contains__"):
        answer = condition(type(container).__contains__(container, value))
        return truth(answer) if is_traced(answer) else bool(answer)
    if has_own(container, "__iter__") and jax_private.tracing() and not hasattr(type(container), "__contains__"):
        return comparisons.contains(container, value)
    return value in container


def has_own(value: Any, method: str) -> bool:
    """Does a value's class define a special method in Python?"""
    return isinstance(getattr(type(value), method, None), types.FunctionType)


@functools.lru_cache(maxsize=64)
def _answering(method: str, name: str) -> Any:
    """A class whose objects have been given their answer, for Python to check."""

    def keep(self: Any, answer: Any) -> None:
        self.answer = answer

    return type(name, (), {"__init__": keep, method: lambda self: self.answer})
