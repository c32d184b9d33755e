"""What goes by the order of elements, where traced data says how many there are: `np.unique`, `np.median`, `np.argmax`."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from . import hooks
from .arrays import wrap
from .creating import asarray
from .rows import Mask, greatest, least, refusal
from .selections import Selection


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """`np.unique`: of the elements in order, each that is not the same as the one before."""
    array = asarray(ar)
    if axis is not None and (array.ndim != 1 or axis not in (0, -1)):
        raise refusal("`np.unique` is called along an axis")
    flat = jnp.asarray(array.value).reshape(-1)
    order = jnp.argsort(flat, stable=True)
    ordered = flat[order]
    same = ordered[1:] == ordered[:-1]
    if equal_nan and flat.dtype.kind in "fc":
        same = same | jnp.isnan(ordered[1:]) & jnp.isnan(ordered[:-1])
    first = jnp.concatenate([jnp.ones(min(1, flat.size), bool), ~same])
    number = jnp.cumsum(first) - 1  # of the element that stands here, among those that are not the same
    rows = Mask(first, (first,))
    parts: list[Any] = [Selection(wrap(ordered), 0, rows)]
    if return_index:
        parts.append(Selection(wrap(order), 0, rows))
    if return_inverse:
        parts.append(wrap(jnp.zeros_like(order).at[order].set(number).reshape(array.shape)))
    if return_counts:
        parts.append(Selection(wrap(jnp.zeros_like(order).at[number].add(1)[number]), 0, rows))
    return tuple(parts) if len(parts) > 1 else parts[0]


def quantile(selection: Selection, share: Any) -> Any:
    """Between the two elements around this share of the others, linearly."""
    ordered, last = selection.compact(), selection.count - 1
    hooks.raise_where(last < 0, IndexError("a quantile of no elements"))
    ordered = jnp.sort(ordered.filled(greatest(selection.dtype)))
    place = share * last
    below = jnp.clip(jnp.floor(place).astype(int), 0, last)
    low, high = ordered[below], ordered[jnp.minimum(below + 1, last)]
    return low + (high - low) * (place - below)


def extreme(selection: Selection, name: str, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    fill = least(selection.dtype) if name == "argmax" else greatest(selection.dtype)
    compact = selection.compact()
    if axis is None and selection.ndim > 1:
        raise refusal(f"`np.{name}` is called with it")
    axis = 0 if axis is None else axis % selection.ndim
    if axis != selection.axis:
        return selection.like(getattr(jnp, name)(selection.values, axis=axis), selection.axis - (axis < selection.axis))
    hooks.raise_where(selection.count == 0, ValueError(f"attempt to get {name} of an empty sequence"))
    found = getattr(jnp, name)(compact.filled(fill), axis=axis)
    return wrap(found) if found.ndim else found


def in_order(function: Any, selection: Selection, axis: Any = -1, kind: Any = None, **options: Any) -> Selection:
    if (axis if axis is not None else 0) % selection.ndim != selection.axis:
        raise refusal(f"`np.{function.__name__}` is called along another axis")
    compact = selection.compact()
    found = function(wrap(compact.filled(greatest(selection.dtype))), axis=selection.axis, kind="stable")
    return compact.like(found)
