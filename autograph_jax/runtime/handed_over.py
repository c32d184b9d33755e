"""Arrays on the way into ported code, and out of it."""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import numpy as np

from autograph_jax.errors import PortingError, user_location
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.places import Attribute, Content
from autograph_jax.porting.arrays import MutableArray, wrap


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
    if isinstance(value, MutableArray):
        return value.value
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


def _without(value: Any) -> Any:
    """A value in which arrays are values; a list or dict, and what is in tuples, anew if anything in it is one."""
    if isinstance(value, MutableArray):
        return value.value
    if isinstance(value, dict) and any(isinstance(part, MutableArray | tuple) for part in value.values()):
        return {key: _without(part) if isinstance(part, MutableArray | tuple) else part for key, part in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(part, MutableArray | tuple) for part in value):
        parts = [_without(part) if isinstance(part, MutableArray | tuple) else part for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
