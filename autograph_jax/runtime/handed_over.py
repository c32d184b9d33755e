"""Arrays on the way into ported code, and out of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import numpy as np

from autograph_jax.errors import PortingError, user_location
from autograph_jax.operators.effects.checks import raise_where
from autograph_jax.operators.sequences.bounded import full
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.places import Attribute, Content
from autograph_jax.porting.arrays import MutableArray, wrap
from autograph_jax.porting.padded import Padded
from autograph_jax.porting.rows import padded
from autograph_jax.porting.selections import Selection
from autograph_jax.runtime.libraries import max_len


def entering(leaf: Any) -> Any:
    """An array argument as one that can be written; what has no dimensions is a number."""
    return wrap(leaf) if isinstance(leaf, jax.Array | np.ndarray) and leaf.ndim else leaf


def written_back(leaf: Any, entered: Any) -> None:
    """A NumPy array of the caller's shows what ported code has written into it, if that is known."""
    if not isinstance(leaf, np.ndarray) or not isinstance(entered, MutableArray) or entered.value is leaf:
        return
    if isinstance(entered.value, jax.core.Tracer):
        raise PortingError(
            "a traced value is written into an argument that is a NumPy array",
            location=user_location(),
            help="pass `jnp.asarray(x)`, and return what is written",
        )
    leaf[...] = entered.value


def left(value: Any) -> Any:
    """What a ported function gives: arrays are JAX's, or NumPy's where they are known, also inside containers and objects."""
    if isinstance(value, _ARRAYS):
        return _value(value)
    for part in list(reach.everything(value)):
        if isinstance(part, list | dict):
            _leave(Content(part))
        elif reach.is_record(part):
            for name in reach.attributes(part):
                _leave(Attribute(part, name))
    return _without(value)


def _leave(place: Any) -> None:
    old = place.read()
    new = _without(old)
    if new is not old:
        place.write(new)


_ARRAYS = MutableArray, Selection
_HOLDING = *_ARRAYS, tuple


def _without(value: Any) -> Any:
    """A value in which arrays are values; a list or dict, and what is in tuples, anew if anything in it is one."""
    if isinstance(value, _ARRAYS):
        return _value(value)
    if isinstance(value, dict) and any(isinstance(part, _HOLDING) for part in value.values()):
        return {key: _without(part) if isinstance(part, _HOLDING) else part for key, part in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(part, _HOLDING) for part in value):
        parts = [_without(part) if isinstance(part, _HOLDING) else part for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def _value(value: Any) -> Any:
    """An array of JAX's; of fixed size and with a length, where traced data says how long it is."""
    if isinstance(value, MutableArray):
        return value.value
    capacity = max_len()
    if capacity is None:
        raise PortingError(
            "how many elements a result has depends on traced data",
            location=user_location(),
            help="`ag.port(f, max_len=100)` gives up to so many, padded, with a length",
        )
    rows = value.compact()
    raise_where(rows.count > capacity, full(capacity))
    return Padded(padded(rows.filled(0), rows.axis, capacity), rows.count, rows.axis)
