"""What Python takes the elements of an array from, one by one: its rows are known as views, and who takes them holds the array.

NumPy's rows are views, and an iterator sees what is written meanwhile: `pairs = zip("ab", m)`, `m[1] = v`. The writer
finds the array in the iterator (`reach`), and refuses.
"""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable, Iterator
from typing import Any

import jax

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import views

_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def taken(iterable: Any) -> Any:
    """What Python takes the elements of an array from; anything else as it is."""
    return _rows(iterable) if isinstance(iterable, jax.Array) and iterable.ndim > 0 else iterable


def _rows(array: jax.Array) -> Iterator[Any]:
    for row in array:
        yield views.view(row, array)


def _taking(function: Callable[..., Any]) -> Callable[..., Any]:
    """One of Python's own that runs over its arguments; functions among them are converted."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        named = {name: _given(value) for name, value in keywords.items()}
        return function(*map(_given, arguments), **named)

    return apply


def _given(value: Any) -> Any:
    return hooks.call(value) if type(value) in _FUNCTIONS else taken(value)


def _from_iterable(iterables: Any) -> Any:
    return itertools.chain.from_iterable(map(taken, taken(iterables)))


_KINDS = {kind for kind in vars(itertools).values() if isinstance(kind, type)} - {itertools.count, itertools.repeat}
TAKING: dict[Any, Callable[..., Any]] = {function: _taking(function) for function in (*_KINDS, collections.deque)}
TAKING[itertools.chain.from_iterable] = _from_iterable
