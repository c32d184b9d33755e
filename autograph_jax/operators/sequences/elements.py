"""Elements of a list of bounded length in ported code: arrays go in as values, and come out as arrays that can be written."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import jax

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import hooks
from autograph_jax.porting.arrays import Buffer, MutableArray, wrap
from autograph_jax.porting.padded import Padded
from autograph_jax.porting.rows import Window
from autograph_jax.porting.selections import Selection

_taken: weakref.WeakSet[Buffer] = weakref.WeakSet()  # memory whose value such a list has. Module state: it only grows.


def taken(value: Any) -> Any:
    """A value as the list keeps it."""
    return _mapped(value, _take) if hooks.is_porting() else value


def given(value: Any) -> Any:
    """What the list has kept, as the program put it in."""
    return _mapped(value, _give) if hooks.is_porting() else value


def check_write(buffer: Buffer) -> None:
    """In NumPy the list holds the array itself, and would show the write."""
    if buffer in _taken:
        raise AliasError(
            "an array is written in place that is an element of a list of bounded length",
            location=user_location(),
            help="put a copy into the list: `path.append(x.copy())`",
        )


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) is dict:
        return {key: _mapped(part, change) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mapped(part, change) for part in value)
    return change(value)


def _take(value: Any) -> Any:
    if isinstance(value, MutableArray):
        _taken.update(value.memory())
        return value.value
    if isinstance(value, Selection):
        rows = value.compact()
        return Padded(rows.values, {axis: rows.count(axis) for axis in rows.rows})
    return value


def _give(value: Any) -> Any:
    if isinstance(value, Padded):
        return Selection(wrap(value.padded()), {axis: Window(0, length) for axis, length in value.lengths.items()})
    return wrap(value) if isinstance(value, jax.Array) and value.ndim else value
