"""Which rows share memory with an array in NumPy, by the history of traced values: `next(iter(x))`, `dict(zip("ab", x))`.

`views.py` remembers the views that converted code makes. Rows that Python or C code takes of an array are seen here, in the
program that is being made. Other views are not: JAX's own functions give new arrays, `lax.slice` say.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax
import numpy as np

from autograph_jax.porting.replacing import parent_of, staged


def sharing(array: Any, apart: Iterable[Any]) -> Callable[[Any], bool] | None:
    """Does a value share this array's memory, one being a row of the other? None where nothing is known of the array.

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


def steps(value: Any, base: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """What a row or a slice of an array takes of NumPy's array in its place; None where the history does not tell.

    Nor does it under vmap: the arrays of the program have one axis more, each somewhere else.
    """
    shape = base.shape
    value, base = staged(value), staged(base)
    if base is None or base.shape != shape:
        return None
    found: list[Callable[[np.ndarray], np.ndarray]] = []
    while value is not base:
        parent = parent_of(value)
        if parent is None or (step := _step(parent, value)) is None:
            return None
        found.append(step)
        value = parent.in_tracers[0]
    return lambda whole: functools.reduce(lambda array, step: step(array), found[::-1], whole)


def _step(parent: Any, value: Any) -> Callable[[np.ndarray], np.ndarray] | None:
    """What the equation of a value does, with NumPy's arrays."""
    name, parameters = str(parent.primitive), parent.params
    if name == "unstack":
        number = next(n for n, variable in enumerate(parent.outvars) if variable is value.val)
        return lambda array: np.moveaxis(array, parameters["axis"], 0)[number]
    known = _STEPS.get(name)
    return None if known is None else lambda array: known(array, parameters)


def _sliced(array: np.ndarray, parameters: dict[str, Any]) -> np.ndarray:
    strides = parameters["strides"] or (1,) * array.ndim
    return array[tuple(map(slice, parameters["start_indices"], parameters["limit_indices"], strides))]


# by the name of JAX's operation: the same of NumPy's arrays, as a view
_STEPS: dict[str, Callable[[np.ndarray, dict[str, Any]], np.ndarray]] = {
    "slice": _sliced,
    "squeeze": lambda array, parameters: array.squeeze(parameters["dimensions"]),
    "transpose": lambda array, parameters: array.transpose(parameters["permutation"]),
    "rev": lambda array, parameters: np.flip(array, parameters["dimensions"]),
}


def _bases(value: Any) -> Iterator[Any]:
    """What a traced value is a row of, and what that is one of."""
    while (base := _base(value)) is not None:
        value = base
        yield value


def _base(row: Any) -> Any:
    """`x` of `x[0]`, which is a slice without the dimension that it has but once, or a part of `x` unstacked."""
    parent = parent_of(row)
    if parent is not None and str(parent.primitive) == "squeeze":
        parent = parent_of(parent.in_tracers[0])
        return parent.in_tracers[0] if parent is not None and str(parent.primitive) == "slice" else None
    return parent.in_tracers[0] if parent is not None and str(parent.primitive) == "unstack" else None
