"""JAX arrays that have come into the place of an array of NumPy's, or show a part of one: `y = np.zeros(3)` enters a loop.

Whoever holds that array, or one that shares its memory, would have to show what is written to the JAX array.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import jax
import numpy as np

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.frozen import share_memory

_GONE = np.empty(0)  # for an array that nothing holds any more
Kept = Callable[[], np.ndarray | None]


class Shown(NamedTuple):
    """An array of NumPy's, of which a value has all or a part."""

    shape: tuple[int, ...]  # of what the value has
    array: np.ndarray


# Module state: by id, a JAX array and the arrays of NumPy's that it stands for. An entry goes when the JAX array goes.
_known: dict[int, tuple[weakref.ref[Any], tuple[Kept, ...]]] = {}


def note(value: Any, *older: Any) -> Any:
    """Remember that a JAX array stands for one of NumPy's, or for what that one stands for, or for one of several; gives it."""
    found = tuple(of_all(older))
    if found and isinstance(value, jax.Array) and value.ndim:
        key, before = id(value), arrays(value)
        gone = weakref.ref(value, lambda _, key=key, known=_known: known.pop(key, None))
        new = {id(one): one for one in (*before, *found)}
        _known[key] = gone, tuple(map(_kept, new.values()))
    return value


def note_all(value: Any, older: Iterable[Shown]) -> None:
    """The same of the arrays in a value that has been made anew of `older`, or may be one of these."""
    older = list(older)
    for part in reach.everything(value) if older else ():
        if isinstance(part, jax.Array) and part.ndim:
            note(part, *(one.array for one in older if one.shape == part.shape))


def shown(values: Iterable[Any]) -> tuple[Shown, ...]:
    """What the arrays among these values are, stand for, or show a part of. Arrays of ported code know their memory."""
    parts = (value for value in values if isinstance(value, jax.Array | np.ndarray)) if not hooks.is_porting() else ()
    return tuple(Shown(part.shape, one) for part in parts for one in arrays(part))


def arrays(value: Any) -> tuple[np.ndarray, ...]:
    """The arrays of NumPy's that a JAX array stands for; of one of NumPy's, itself."""
    if isinstance(value, np.ndarray):
        return (value,)
    reference, found = _known.get(id(value), (None, ()))
    if reference is None or reference() is not value:
        return ()
    return tuple(one if (one := kept()) is not None else _GONE for kept in found)


def standing_for(array: np.ndarray) -> list[jax.Array]:
    """The JAX arrays that stand for an array of NumPy's, or for one that shares its memory."""
    living = [value for reference, _ in list(_known.values()) if (value := reference()) is not None]
    return [value for value in living if any(share_memory(one, array) for one in arrays(value))]


def _kept(array: np.ndarray) -> Kept:
    """An array that has memory of its own need not live: who shares that holds it. A view has to."""
    return weakref.ref(array) if array.base is None else lambda: array


def shares(own: Iterable[np.ndarray], apart: Iterable[Any] = ()) -> Callable[[Any], bool]:
    """Does a value share the memory of one of these arrays? `apart` are those that show a write by themselves."""
    own, apart = tuple(own), tuple(apart)

    def is_one(part: Any) -> bool:
        if any(part is one for one in apart):
            return False
        return any(share_memory(one, other) for one in arrays(part) for other in own)

    return is_one


def of_all(values: Iterable[Any]) -> Iterator[np.ndarray]:
    return (one for value in values for one in arrays(value))
