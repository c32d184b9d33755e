"""NumPy's functions by their own Python code, converted: JAX has none that does the same, or an object stands for an array."""

from __future__ import annotations

import threading
import types
from collections.abc import Callable
from typing import Any

import jax

from autograph_jax.operators import hooks
from autograph_jax.porting.arrays import MutableArray
from autograph_jax.porting.selections import Selection
from autograph_jax.runtime.convert import convert_function

Function = Callable[..., Any]


class _UnderWay(threading.local):
    def __init__(self) -> None:
        self.functions: list[Function] = []


_under_way = _UnderWay()


def is_there(function: Function) -> bool:
    """Is this a function in Python, whose own code does not run already?"""
    return type(_implementation(function)) is types.FunctionType and function not in _under_way.functions


def run(function: Function, arguments: Any, keywords: dict[str, Any]) -> Any:
    _under_way.functions.append(function)
    try:
        return convert_function(_implementation(function))(*arguments, **keywords)
    finally:
        _under_way.functions.pop()


def _implementation(function: Function) -> Any:
    return getattr(function, "_implementation", function)


def stands_for_array(value: Any) -> bool:
    """Has this object an `__array__` in Python: `np.poly1d(c)`?"""
    is_array = isinstance(value, jax.Array | MutableArray | Selection)
    return not is_array and type(getattr(type(value), "__array__", None)) is types.FunctionType


def as_array(value: Any) -> Any:
    return hooks.call(type(value).__array__)(value) if stands_for_array(value) else value
