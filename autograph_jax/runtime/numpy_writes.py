"""Arrays of NumPy's that functions in C write: `x.fill(v)`, `np.add(a, b, out=x)`, `rng.shuffle(x)`, `operator.iadd(x, v)`."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from autograph_jax.operators.tracing import holders, state

_METHODS = frozenset({"fill", "itemset", "partition", "put", "resize", "setfield", "sort"})
_WITH_OUT = frozenset(
    """all any argmax argmin choose clip compress cumprod cumsum dot max mean min prod ptp round std sum take trace
    var""".split()
)
_IN_PLACE = "iadd iand iconcat ifloordiv ilshift imatmul imod imul ior ipow irshift isub itruediv ixor".split()
_OPERATORS = tuple(getattr(operator, name) for name in _IN_PLACE)
_OF_FIRST = frozenset({np.copyto, np.fill_diagonal, np.place, np.put, np.putmask, operator.setitem, *_OPERATORS})
_SLOTS = frozenset({"__setitem__", "__delitem__", *(f"__{name}__" for name in _IN_PLACE)})
_RANDOM = (np.random.Generator, np.random.RandomState)
_WRITING_FIRST = (np.ufunc, *_RANDOM)


def may_write(function: types.BuiltinMethodType | types.MethodType) -> bool:
    """May this method, or function of `operator`, write an array of NumPy's that it is called with?"""
    owner, name = function.__self__, function.__name__
    if isinstance(owner, np.ndarray):
        return name in _METHODS or name in _WITH_OUT
    return isinstance(owner, _RANDOM) or isinstance(owner, np.ufunc) and name == "at" or function in _OF_FIRST


def guarded(function: types.BuiltinMethodType | types.MethodType) -> Callable[..., Any]:
    """By `x.resize(n)` and `np.add.at(x, i, v)` NumPy writes into an array that is read-only, too."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        for array in _written(function, arguments, keywords):
            if state.is_frozen(array):
                raise ValueError("assignment destination is read-only")
        check(function, arguments, keywords)
        return function(*arguments, **keywords)

    return apply


def check(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    """What JAX has of an array that the function is about to write stays what it is, or would have to show that."""
    for array in _written(function, arguments, keywords):
        holders.check_numpy_write(array)


def check_slot(function: Any, target: Any) -> None:
    """`x.__setitem__(i, v)`, `x.__iadd__(v)`"""
    if function.__name__ in _SLOTS and issubclass(type(target), np.ndarray):
        holders.check_numpy_write(target)


def _written(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Iterator[np.ndarray]:
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    out = keywords.get("out")
    found = [*out] if isinstance(out, tuple) else [out]
    if isinstance(function, np.ufunc):
        found += arguments[function.nin :]
    elif isinstance(owner, np.ndarray) and name in _METHODS:
        found.append(owner)
    elif function in _OF_FIRST or isinstance(owner, _WRITING_FIRST) and name in ("at", "shuffle"):
        found += arguments[:1]
    return (array for array in found if isinstance(array, np.ndarray))
