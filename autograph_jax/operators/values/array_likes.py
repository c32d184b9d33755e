"""Objects that stand for an array: their class has a `__jax_array__`. JAX takes them in some places, we do in all."""

from __future__ import annotations

from typing import Any

import jax
import jax.core

from autograph_jax.operators.values.choices import Choice, refusal


def is_array_like(value: Any) -> bool:
    """Does this object stand for an array? Arrays themselves don't, nor do our lists, whose `__jax_array__` refuses."""
    kind = type(value)
    is_array = issubclass(kind, jax.Array | jax.core.Tracer)  # not every tracer is a jax.Array by its class
    return hasattr(kind, "__jax_array__") and not is_array and not kind.__module__.startswith(_OURS)


def opened_index(index: Any) -> Any:
    """An index of arrays and lists, with the arrays in place of objects that stand for one.

    What is None on another path is a place where it is none: at run time an error, if it is the None.
    """
    if isinstance(index, tuple):
        return tuple(map(opened_index, index))
    if isinstance(index, slice):
        return slice(*map(_opened_bound, (index.start, index.stop, index.step)))
    if type(index) is Choice:
        return index._not_none()
    return index.__jax_array__() if is_array_like(index) else index


def _opened_bound(bound: Any) -> Any:
    """A slice may have no bound, and then takes another number of elements."""
    if type(bound) is Choice:
        raise refusal(bound, "as the bound of a slice")
    return opened_index(bound)


_OURS = "autograph_jax.operators."
