"""Two variables that are one array in NumPy: an in-place write shows through both, or is refused.

Where a branch or a loop makes it depend on traced data whether two variables hold the same array, the pair is remembered as
doubtful, and a write through one of them is an error.
"""

from __future__ import annotations

import weakref
from typing import Any

import jax

from autograph_jax.errors import AliasError, user_location

# Module state: pairs of arrays, by their ids, that may be one array. An entry goes when one of the two goes.
_doubtful: dict[frozenset[int], tuple[weakref.ref[Any], weakref.ref[Any]]] = {}


def follow(alias: Any, old: Any, new: Any) -> Any:
    """What another variable holds after `old` was written in place and became `new`."""
    if alias is old:
        return new
    if new is not old and is_doubtful(alias, old):
        raise AliasError(
            "an array is written in place that another variable may hold too, depending on traced data",
            location=user_location(),
            details=["In NumPy the other variable would show the write on one path, and not on the other."],
            help="make a copy where the variable gets the array: `y = x.copy()`",
        )
    return alias


def doubt(first: Any, second: Any) -> None:
    """Remember that two arrays may be one."""
    if first is second or not isinstance(first, jax.Array) or not isinstance(second, jax.Array):
        return
    key = frozenset((id(first), id(second)))

    def forget(_: Any) -> None:
        _doubtful.pop(key, None)

    _doubtful[key] = (weakref.ref(first, forget), weakref.ref(second, forget))


def is_doubtful(first: Any, second: Any) -> bool:
    return bool(_doubtful) and frozenset((id(first), id(second))) in _doubtful
