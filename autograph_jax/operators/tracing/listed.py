"""Arrays that lists of bounded length hold. Such a list keeps their values, and would have to show what is written to them."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import Any

import jax

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators.tracing import aliasing, views

# Module state: by id, the arrays and the memory that such a list holds, or may hold. An entry goes when the array goes.
_listed: dict[int, weakref.ref[Any]] = {}


def note(value: Any) -> Any:
    """Remember that a list may hold the arrays in a value, and so shows parts of what they may be or are views of.

    Gives the value.
    """
    for part in aliasing.memory(value):
        for own in (part, *views.bases(part), *aliasing.doubtful_with(part)):
            key = id(own)
            _listed[key] = weakref.ref(own, lambda _, key=key, known=_listed: known.pop(key, None))
    return value


def holds(value: Any) -> bool:
    """Is there an array in a value that a list may hold?"""
    return bool(_listed) and are_held(aliasing.memory(value))


def are_held(memory: Iterable[Any]) -> bool:
    """Is there one among these arrays that a list may hold?"""
    return bool(_listed) and any(map(_is_listed, memory))


def check_write(array: Any) -> None:
    """Refuse to write what a list may hold."""
    if _listed and _is_listed(array):
        raise AliasError(
            "an array is written in place that is an element of a list of bounded length",
            location=user_location(),
            details=["The list would have to show the write."],
            help="put a copy into the list, `path.append(x.copy())`, or take one out: `x = path[i].copy()`",
        )


def _is_listed(array: Any) -> bool:
    others = views.bases(array) if isinstance(array, jax.Array) else ()
    return any((known := _listed.get(id(own))) is not None and known() is own for own in (array, *others))
