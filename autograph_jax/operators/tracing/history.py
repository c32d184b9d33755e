"""Which arrays share memory in NumPy, by the history of traced values: `next(iter(x))`, `dict(zip("ab", x))`, what C hands out.

`views.py` remembers the views that converted code makes. What else makes them is seen here, in the program that is being made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax

from autograph_jax.porting.replacing import parent_of, staged

# What NumPy would give as a view of the first operand. A copy has an equation of its own, as what is picked by an array has.
_VIEWS = frozenset("slice squeeze dynamic_slice rev transpose reshape split unstack broadcast_in_dim".split())


def sharing(array: Any, apart: Iterable[Any]) -> Callable[[Any], bool] | None:
    """Does a value share this array's memory, one being a view of the other? None where nothing is known of the array.

    `apart` are values of which the caller knows already.
    """
    own = staged(array)
    if own is None or not own.ndim:
        return None
    known = {id(array), *map(id, apart)}
    bases = {id(base) for base in _bases(own)}

    def shares(value: Any) -> bool:
        if (
            not isinstance(value, jax.Array)
            or not value.ndim
            or id(value) in known
            or (other := staged(value)) is None
            or other is own
        ):
            return False
        return id(other) in bases or any(base is own for base in _bases(other))

    return shares


def is_picked(value: Any) -> bool:
    """Is this a copy of elements that an array of indices picks: `x[np.array([0, 1])]`?"""
    parent = parent_of(staged(value))
    return parent is not None and str(parent.primitive) == "gather"


def _bases(value: Any) -> Iterator[Any]:
    """What a traced value is a view of, and what that is one of."""
    while (parent := parent_of(value)) is not None and str(parent.primitive) in _VIEWS and parent.in_tracers:
        value = parent.in_tracers[0]
        yield value
