"""A part of an array replaced: in place where that is sure to be right, else all of the array is made anew.

XLA on the CPU does `y = np.cumsum(x); y[1:] = y[:-1]` in one loop, which reads what it has just written
(https://github.com/openxla/xla/issues/49176). So nothing is written in place whose new value is computed from what the array
itself was computed from, unless that has come into the program from outside: XLA copies arguments and what loops carry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

_MOST = 2000  # steps back; beyond them two values are taken to have a common origin


def replaced(array: jax.Array, index: Any, value: Any) -> jax.Array:
    """`array.at[index].set(value)`"""
    if _is_element(index, array) or not is_made_of(value, array):
        return array.at[index].set(value)
    here = jnp.zeros(array.shape, bool).at[index].set(True)
    return jnp.where(here, jnp.zeros_like(array).at[index].set(value), array)


def _is_element(index: Any, array: Any) -> bool:
    """Is it one element that is written, so that all that is read is read before?"""
    parts = index if isinstance(index, tuple) else (index,)
    return len(parts) == array.ndim and all(isinstance(part, int) or getattr(part, "ndim", None) == 0 for part in parts)


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
