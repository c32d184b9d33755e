"""What a captured value is: a constant, an array, a class of the user's; how its key is made where it is compared by value."""

from __future__ import annotations

import enum
import types
from typing import Any

import jax
import numpy as np

from autograph_jax.runtime.frames import is_ours
from autograph_jax.runtime.libraries import is_left_alone, module_of
from autograph_jax.runtime.snapshots import Identity
from autograph_jax.runtime.statics import Static
from autograph_jax.runtime.wrappers import is_librarys

LARGEST_ARRAY = 1000  # elements of a NumPy array whose contents are compared on each call
VALUES = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, enum.Enum, frozenset, slice, range)


class Empty:
    """No value, in a cell or under a name."""


EMPTY = Empty()


def is_constant(value: Any) -> bool:
    """A value in which nothing can change."""
    return isinstance(value, (*VALUES, jax.Array)) or isinstance(value, type) and not is_of_user(value)


def is_library(value: Any) -> bool:
    """Is this a module of a library? What it has stays as it is; a variable may hold another module."""
    return isinstance(value, types.ModuleType) and is_left_alone(value.__name__)


def is_of_user(kind: type) -> bool:
    module = module_of(kind)
    return isinstance(module, str) and not is_left_alone(module)


def may_be_argument(value: Any) -> bool:
    """An array or a float; not an int, which may be a shape."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return isinstance(value, jax.Array | float | complex)


def by_value(value: Any) -> Any:
    try:
        return Static(value)
    except TypeError:
        return Identity(value)


def content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return EMPTY


def unwrapped(value: Any) -> Any:
    """The user's function inside jitted functions and wrappers of libraries. A wrapper of the user's is one, too."""
    while not isinstance(value, type) and isinstance(own := getattr(value, "__dict__", None), dict):
        if _is_users(value) or (inner := own.get("__wrapped__")) is None:
            break
        value = inner
    return value


def _is_users(value: Any) -> bool:
    function = value.__func__ if type(value) is types.MethodType else value  # a method has its function's `__wrapped__`
    if type(function) is not types.FunctionType:
        return is_of_user(type(value))  # an object that `functools.update_wrapper` has given a name
    return not (is_librarys(function) or is_ours(function.__code__))
