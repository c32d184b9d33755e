"""What Python takes the elements of an array from, one by one: its rows are known as views, and who takes them holds the array.

NumPy's rows are views, and an iterator sees what is written meanwhile: `pairs = zip("ab", m)`, `m[1] = v`. The writer
finds the array in the iterator (`reach`), and refuses.
"""

from __future__ import annotations

import collections
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import given, to_come, views

# What keeps elements itself, as `accumulate` does the sum so far, which may be the first one.
_REMEMBERING = frozenset({itertools.accumulate, itertools.cycle, itertools.groupby, itertools.pairwise})
_FUNCTIONS = (types.FunctionType, types.MethodType, types.BuiltinFunctionType)


def taken(iterable: Any) -> Any:
    """What a function of Python's takes the elements from, of an array its rows."""
    return given.by_users(rows_of(iterable))


def rows_of(iterable: Any) -> Any:
    """What Python takes the elements of an array from; anything else as it is."""
    return views.each_row(iterable) if isinstance(iterable, jax.Array) and iterable.ndim > 0 else iterable


def _taking(function: Callable[..., Any]) -> Callable[..., Any]:
    """One of Python's own that runs over its arguments; functions among them are converted."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if not any(type(value) in _FUNCTIONS for value in (*arguments, *keywords.values())):
            if function in _REMEMBERING and "initial" not in keywords:
                given.keep(*arguments)
            named = {name: value if name in _NOT_TAKEN else taken(value) for name, value in keywords.items()}
            return function(*map(taken, arguments), **named)
        values = list(map(_begun, arguments))
        named = {name: value if name in _NOT_TAKEN else _begun(value) for name, value in keywords.items()}
        sources = [value for value in (*values, *named.values()) if hasattr(type(value), "__next__")]
        if function in _REMEMBERING and "initial" not in keywords:
            given.keep(*sources)
        return function(*(_called(v, sources) for v in values), **{name: _called(v, sources) for name, v in named.items()})

    return apply


_NOT_TAKEN = ("initial", "fillvalue")  # arguments that are values


def _begun(value: Any) -> Any:
    """An iterator over what is taken, of which is known how far it is."""
    value = taken(value)
    return iter(value) if hasattr(type(value), "__iter__") else value


def _called(value: Any, sources: Sequence[Any]) -> Any:
    return to_come.meanwhile(hooks.call(value), *sources) if type(value) in _FUNCTIONS else value


def _from_iterable(iterables: Any) -> Any:
    return itertools.chain.from_iterable(map(taken, taken(iterables)))


_KINDS = {kind for kind in vars(itertools).values() if isinstance(kind, type)} - {itertools.count, itertools.repeat}
TAKING: dict[Any, Callable[..., Any]] = {function: _taking(function) for function in (*_KINDS, collections.deque)}
TAKING[itertools.chain.from_iterable] = _from_iterable
