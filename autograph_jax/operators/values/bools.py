"""Numbers that are bools on some path: `found = False; if x > 0: found = x`. An array of both does not tell which one it is."""

from __future__ import annotations

import weakref
from typing import Any

from autograph_jax.errors import ChoiceError, user_location

# By id, since arrays have no usable ==. Module state: an entry goes when its array goes.
_by_id: dict[int, weakref.ref[Any]] = {}


def tell(array: Any) -> Any:
    """Remember that this number may be a bool."""
    key = id(array)
    _by_id[key] = weakref.ref(array, lambda _, known=_by_id: known.pop(key, None))
    return array


def may_be(value: Any) -> bool:
    """Is this a number that is a bool on some path?"""
    known = _by_id.get(id(value)) if _by_id else None
    return known is not None and known() is value


def check_class(value: Any) -> None:
    """Refuse to say whether this is a bool, where one path gives a bool and another one a number."""
    if may_be(value):
        raise ChoiceError(
            "whether this is a bool or another number depends on traced data",
            location=user_location(),
            details=["one path gives True or False, another one a number, and what they have become is a number"],
            help="keep the bool in a variable of its own, or begin with None and ask `is None`",
        )
