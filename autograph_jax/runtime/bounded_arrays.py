"""`np.array(values)`, `np.vstack(values)`, `np.hstack(values)` of a list of which only a bound is known: a selection."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.sequences.bounded import Bounded, refused
from autograph_jax.porting.arrays import wrap
from autograph_jax.porting.padded import Padded
from autograph_jax.porting.rows import Mask, Window
from autograph_jax.porting.selections import Selection


def with_arrays(function: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...] | Selection:
    """The arguments with arrays in place of such lists; or what the function makes of one, if it puts elements together."""
    if not any(isinstance(argument, Bounded) for argument in arguments):
        return arguments
    if function in (np.hstack, np.concatenate, np.vstack) and isinstance(arguments[0], Bounded):
        return _joined(function, arguments[0], *arguments[1:])
    return tuple(_stacked(argument) if isinstance(argument, Bounded) else argument for argument in arguments)


def _stacked(values: Bounded) -> Selection:
    """One element, a row."""
    column = _column(values)
    if isinstance(column, Padded):
        raise refused("holds arrays of which only a bound is known, and is made into one array")
    return Selection(wrap(column), {0: Window(0, values.length)})


def _joined(function: Callable[..., Any], values: Bounded, axis: int | None = None) -> Selection:
    """The elements one behind the other along an axis of theirs."""
    column = _column(values)
    array = column._values if isinstance(column, Padded) else column
    if function is np.vstack and array.ndim < 3 or array.ndim == 1:
        return _stacked(values) if array.ndim > 1 or function is np.hstack else _stacked(values)[:, None]
    if axis is None:
        axis = 1 if function is np.hstack and array.ndim > 2 else 0
    rows = jnp.broadcast_to(values.mask[:, None], (array.shape[0], array.shape[axis + 1]))
    if isinstance(column, Padded):
        if list(column.lengths) != [axis]:
            raise refused("holds arrays of which only a bound is known, and is joined along another axis")
        rows = rows & (jnp.arange(array.shape[axis + 1]) < column.length[:, None])
    joined = jnp.moveaxis(array, 0, axis)
    joined = joined.reshape(*joined.shape[:axis], -1, *joined.shape[axis + 2 :])
    mask = rows.reshape(-1)
    return Selection(wrap(joined), {axis: Mask(mask, (mask,))})


def _column(values: Bounded) -> jax.Array | Padded:
    known = values._known
    if known is None:
        return jnp.zeros((values.capacity,))
    if not isinstance(known, jax.Array | Padded):
        raise refused("holds no numbers or arrays, and is made into an array")
    return known
