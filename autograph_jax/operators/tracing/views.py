"""Arrays that share memory in NumPy: `row = x[0]`, `y = x.T`. Remembered weakly."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import jax

from autograph_jax.operators.tracing import reach


def view(value: Any, base: Any) -> Any:
    """`row = x[0]`: in NumPy the row is a view, if it is no scalar."""
    if isinstance(value, jax.Array) and isinstance(base, jax.Array) and value is not base and value.ndim > 0:
        key, references = id(value), [weakref.ref(known) for known in (*bases(value), base)]
        _views[key] = (weakref.ref(value, lambda _, views=_views: views.pop(key, None)), references)
    return value


def view_parts(value: Any, base: Any) -> None:
    """A value may share memory with `base`, or something in it may: a list or a choice in which a turn has put that array."""
    for part in reach.arrays(value):
        if part is value or isinstance(base, jax.Array) and part.ndim <= base.ndim and part.dtype == base.dtype:
            view(part, base)


def bases(value: Any) -> list[jax.Array]:
    """The arrays that this one is a view of: several where traced data has chosen between views."""
    entry = _views.get(id(value))
    if entry is None or entry[0]() is not value:
        return []
    return [base for reference in entry[1] if (base := reference()) is not None]


def rows(base: Any) -> Any:
    """The rows of an array that is unpacked, as views; anything else as it is."""
    return [view(row, base) for row in base] if isinstance(base, jax.Array) and base.ndim > 1 else base


# Module state: by id of the view, the view and what it is a view of. An entry goes when the view goes.
_views: dict[int, tuple[weakref.ref[Any], list[weakref.ref[Any]]]] = {}


def related_to(array: Any) -> Iterator[Any]:
    """The array that this one is a view of, and the views of this one."""
    related: list[jax.Array] = []

    def add(values: Iterable[Any]) -> None:
        for value in values:
            if value is not None and value is not array and not any(value is known for known in related):
                related.append(value)

    add(bases(array))
    for base in related:
        add(bases(base))
    for base in [array, *related]:
        add(own() for own, its_bases in list(_views.values()) if any(its_base() is base for its_base in its_bases))
    for base in related:
        add(own() for own, its_bases in list(_views.values()) if any(its_base() is base for its_base in its_bases))
    yield from related
