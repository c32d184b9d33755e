"""A part of an array replaced: in place where that is sure to be right, else all of the array is made anew.

XLA on the CPU does `y = np.cumsum(x); y[1:] = y[:-1]` in one loop, which reads what it has just written
(https://github.com/openxla/xla/issues/49176). So nothing is written in place whose new value is computed from what the array
itself was computed from, unless that has come into the program from outside: XLA copies arguments and what loops carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

_MOST_IN_32_BITS = 2**31 - 1
_MOST = 2000  # steps back; beyond them two values are taken to have a common origin


def replaced(array: jax.Array, index: Any, value: Any) -> jax.Array:
    """`array.at[index].set(value)`"""
    is_element = _is_element(index, array)
    if is_element and _is_plain_write(array, index, value):
        return _with_element(array, index if isinstance(index, tuple) else (index,), value)
    if is_element or not is_made_of(value, array):
        return array.at[index].set(value)
    here = jnp.zeros(array.shape, bool).at[index].set(True)
    return jnp.where(here, jnp.zeros_like(array).at[index].set(value), array)


def _is_element(index: Any, array: Any) -> bool:
    """Is it one element that is written, so that all that is read is read before?"""
    parts = index if isinstance(index, tuple) else (index,)
    return len(parts) == array.ndim and all(isinstance(part, int) or getattr(part, "ndim", None) == 0 for part in parts)


def _is_plain_write(array: Any, index: Any, value: Any) -> bool:
    """Is all of it traced, or an index known, and nothing converted on the way?"""
    parts = index if isinstance(index, tuple) else (index,)
    return (
        _is_strong(array)
        and array.ndim > 0
        and _is_strong(value)
        and value.shape == ()
        and value.dtype == array.dtype
        and all(type(part) is int or isinstance(part, jax.core.Tracer) and part.dtype.kind == "i" for part in parts)
        and all(type(size) is int and 0 < size <= _MOST_IN_32_BITS for size in array.shape)
        and not _is_split(jax.typeof(array))
    )


def _is_strong(value: Any) -> bool:
    return isinstance(value, jax.core.Tracer) and not value.weak_type


def _is_split(aval: Any) -> bool:
    """As `loops.axes.is_split`, in a room that this one knows nothing of."""
    return bool(getattr(getattr(getattr(aval, "sharding", None), "mesh", None), "explicit_axes", ()))


def _with_element(array: jax.Array, index: Sequence[Any], value: jax.Array) -> jax.Array:
    """The equations of `array.at[index].set(value)`, in a third of the time: JAX tells all kinds of indices apart first."""
    counted = [_from_the_beginning(part, size) for part, size in zip(index, array.shape, strict=True)]
    places = [jax.lax.convert_element_type(place, np.int32) for place in counted]
    if len(places) == 1:
        where = jax.lax.expand_dims(places[0], (0,))
    else:
        where = jax.lax.concatenate([jax.lax.broadcast_in_dim(place, (1,), ()) for place in places], 0)
    axes = tuple(range(len(places)))
    numbers = jax.lax.ScatterDimensionNumbers((), inserted_window_dims=axes, scatter_dims_to_operand_dims=axes)
    return jax.lax.scatter(array, where, value, numbers, indices_are_sorted=True, unique_indices=True)


def _from_the_beginning(part: Any, size: int) -> Any:
    """An index, which may be negative."""
    if isinstance(part, int):
        return part + size if part < 0 else part
    more = size if part.weak_type else np.asarray(size, part.dtype)
    return jax.lax.select(jax.lax.lt(part, np.zeros((), part.dtype)), jax.lax.add(part, more), part)


def is_made_of(value: Any, array: Any) -> bool:
    """May a traced value be computed from an array that the program being traced computes, or from what that is made of?

    Elementwise functions and reshapes are looked through, since XLA may see that they change nothing: `y * 1.0`.
    """
    value, array = staged(value), staged(array)
    if value is None or array is None:
        return False
    origins = {
        id(one) for one in _back(array, lambda given, made: jnp.size(given) == jnp.size(made)) if parent_of(one) is not None
    }
    if not origins:
        return False
    steps = list(_back(value, lambda given, made: True))
    return len(steps) >= _MOST or any(id(one) in origins for one in steps)


def staged(value: Any) -> Any:
    """The value of the program that is being made which stands behind a tracer of vmap or of a derivative."""
    while isinstance(value, jax.core.Tracer) and not hasattr(value, "parent"):
        value = getattr(value, "val", getattr(value, "primal", None))
    return value if isinstance(value, jax.core.Tracer) else None


def parent_of(value: Any) -> Any:
    """The equation that gives a traced value; None of what has come into the program from outside.

    The attributes are JAX's own, tests/porting/test_replacing.py notices moves.
    """
    return getattr(value, "parent", None)


def outside(value: Any) -> Any:
    """What a block has taken from around, as it is there; None of what is not, or comes as an argument."""
    frame: Any = getattr(getattr(value, "_trace", None), "frame", None)
    return None if frame is None or hasattr(value.val, "val") else frame.constvar_to_val.get(value.val)


def literal(value: Any) -> int | None:
    """The integer that a traced value is, where the program has it as a constant."""
    known: Any = getattr(getattr(value, "val", None), "val", None)
    is_integer = isinstance(known, int | np.integer | np.ndarray) and not np.ndim(known) and np.asarray(known).dtype.kind == "i"
    return int(known) if isinstance(value, jax.core.Tracer) and is_integer else None


def _back(value: Any, follows: Callable[[Any, Any], bool]) -> Iterator[Any]:
    """A value, what it was computed from, and so on back."""
    pending, known = [value], {id(value)}
    for one in pending:
        yield one
        parent = parent_of(one)
        for given in parent.in_tracers if parent is not None and len(pending) < _MOST else ():
            if id(given) not in known and follows(given, one):
                known.add(id(given))
                pending.append(given)
