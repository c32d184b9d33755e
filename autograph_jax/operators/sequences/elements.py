"""Elements of a list of bounded length: arrays, lists and dicts go in as values, and come out as ones of their own.

In Python the list holds them themselves, and would show what is written to them. So these are not written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import listed, same_containers
from autograph_jax.porting.arrays import MutableArray, wrap
from autograph_jax.porting.padded import Padded
from autograph_jax.porting.rows import Window
from autograph_jax.porting.selections import Selection


def taken(value: Any, keeper: Any) -> Any:
    """A value as the list, `keeper`, keeps it."""
    return all_taken((value,), keeper)[0]


def all_taken(values: Sequence[Any], keeper: Any) -> list[Any]:
    """Several values as the list keeps them."""
    for value in values:
        listed.note(value)
    same_containers.keep_in(keeper, values)
    return [_mapped(value, _take) for value in values] if hooks.is_porting() else list(values)


def given(value: Any, keeper: Any) -> Any:
    """What the list has kept, as the program put it in."""
    return same_containers.take_out(_as_put_in(value), keeper)


def popped(value: Any, keeper: Any) -> Any:
    """The same of an element that the list has no longer."""
    return same_containers.pop(_as_put_in(value), keeper)


def _as_put_in(value: Any) -> Any:
    return listed.note(_mapped(value, _give) if hooks.is_porting() else value)


def _mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    if type(value) is dict:
        return {key: _mapped(part, change) for key, part in value.items()}
    if type(value) in (list, tuple):
        return type(value)(_mapped(part, change) for part in value)
    return change(value)


def _take(value: Any) -> Any:
    if isinstance(value, MutableArray):
        return value.value
    if isinstance(value, Selection):
        rows = value.compact()
        return Padded(rows.values, {axis: rows.count(axis) for axis in rows.rows})
    return value


def _give(value: Any) -> Any:
    if isinstance(value, Padded):
        return Selection(wrap(value.padded()), {axis: Window(0, length) for axis, length in value.lengths.items()})
    return wrap(value) if isinstance(value, jax.Array) and value.ndim else value
