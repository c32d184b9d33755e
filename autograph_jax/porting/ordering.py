"""What goes by the order of elements, where traced data says how many there are: `np.unique`, `np.median`, `np.argmax`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks, quantiles
from .arrays import result, value_of, wrap
from .computing import aligned, together
from .creating import asarray
from .rows import Mask, greatest, last, least, refusal
from .selections import Selection, selected


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
    array = ar.compact() if isinstance(ar, Selection) else asarray(ar)
    is_vector = array.ndim == 1
    if not is_vector and (axis is not None or isinstance(ar, Selection)) or axis not in (None, 0, -1):
        raise refusal("`np.unique` is called along an axis, or of several")
    # What does not count stands behind what does, also behind what is as great.
    flat = array.filled(last(array.dtype)) if isinstance(array, Selection) else jnp.asarray(array.value).reshape(-1)
    order = hooks.marked(jnp.argsort, flat, stable=True)
    ordered = flat[order]
    same = ordered[1:] == ordered[:-1]
    if equal_nan and flat.dtype.kind in "fc":
        same = same | jnp.isnan(ordered[1:]) & jnp.isnan(ordered[:-1])
    first = jnp.concatenate([jnp.ones(min(1, flat.size), bool), ~same])
    if isinstance(array, Selection):
        first = first & (jnp.arange(flat.size) < array.count(0))
    number = jnp.cumsum(first) - 1  # of the element that stands here, among those that are not the same
    rows = {0: Mask(first, (first,))}
    parts: list[Any] = [Selection(wrap(ordered), rows)]
    if return_index:
        parts.append(Selection(wrap(order), rows))
    if return_inverse:
        inverse = jnp.zeros_like(order).at[order].set(number)
        parts.append(array.like(inverse) if isinstance(array, Selection) else wrap(inverse.reshape(array.shape)))
    if return_counts:
        there = array.mask(0)[order] if isinstance(array, Selection) else jnp.ones_like(first)
        parts.append(Selection(wrap(jnp.zeros_like(order).at[number].add(there)[number]), rows))
    return tuple(parts) if len(parts) > 1 else parts[0]


def of_shares(function: Any, selection: Selection, q: Any, axis: Any = None, method: str = "linear", **options: Any) -> Any:
    """`np.quantile`, `np.percentile` and their twins without NaN, of a vector."""
    if axis not in (None, 0, -1) or options:
        raise refusal(f"`np.{function.__name__}` is called with it, along an axis or with more options")
    share, (ordered, count) = quantiles.share_of(function, q, selection.dtype), _ordered(selection)
    found = quantiles.of_ordered(ordered, _counted(function, ordered, count), share, method)
    return result(_unless_none_or_nan(function, found, ordered, count))


def median(function: Any, selection: Selection) -> Any:
    """The mean of the two in the middle, also of infinite ones, or the one in the middle: `np.median`, `np.nanmedian`."""
    ordered, count = _ordered(selection)
    end = _counted(function, ordered, count) - 1
    low, high = ordered[jnp.maximum(end, 0) // 2], ordered[(jnp.maximum(end, 0) + 1) // 2]
    return _unless_none_or_nan(function, jnp.where(end % 2 == 0, low, (low + high) / 2), ordered, count)


def _counted(function: Any, ordered: jax.Array, count: jax.Array) -> jax.Array:
    return jnp.sum(~jnp.isnan(ordered)) if quantiles.is_without_nan(function) else count


def _unless_none_or_nan(function: Any, found: jax.Array, ordered: jax.Array, count: jax.Array) -> jax.Array:
    """NumPy's NaN, where there is one, or nothing but such; its error, where there is nothing."""
    if quantiles.is_without_nan(function):
        return jnp.where(_counted(function, ordered, count) > 0, found, jnp.nan)
    if function is not np.median:
        hooks.raise_where(count == 0, IndexError("a quantile of no elements"))
    greatest_one = ordered[jnp.maximum(count - 1, 0)]  # NaN, where there is one
    return jnp.where((count == 0) | jnp.isnan(greatest_one), jnp.nan, found)


def _ordered(selection: Selection) -> tuple[jax.Array, jax.Array]:
    """The elements in order, as floats, and how many there are."""
    if selection.dtype.kind != "f":
        selection = selection.astype(float)
    return hooks.marked(jnp.sort, selection.compact().filled(last(selection.dtype))), selection.count(0)


def extreme(selection: Selection, name: str, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
    """`np.argmax`, `np.argmin`."""
    if out is not None or keepdims:
        raise refusal(f"`np.{name}` is called with it and `out` or `keepdims`")
    if axis is None:
        selection, axis = np.ravel(selection) if selection.ndim > 1 else selection, 0  # pyright: ignore
    axis = axis % selection.ndim
    rows = {one - (axis < one): own for one, own in selection.own().items() if one != axis}
    if axis not in selection.rows:
        return selected(getattr(jnp, name)(selection.values, axis=axis), rows)
    compact = selection.compact((axis,))
    hooks.raise_where(compact.count(axis) == 0, ValueError(f"attempt to get {name} of an empty sequence"))
    fill = least(selection.dtype) if name == "argmax" else greatest(selection.dtype)
    return selected(getattr(jnp, name)(compact.filled(fill, (axis,)), axis=axis), rows)


def in_order(function: Any, selection: Selection, axis: Any = -1, kind: Any = None, **options: Any) -> Selection:
    """`np.sort`, `np.argsort`."""
    if axis is None:
        selection, axis = np.ravel(selection) if selection.ndim > 1 else selection, 0  # pyright: ignore
    axis = axis % selection.ndim
    compact = selection.compact((axis,))
    value = compact.filled(last(selection.dtype), (axis,)) if axis in compact.rows else compact.values
    return selected(function(wrap(value), axis=axis, kind="stable"), compact.own())


def in_order_of_several(keys: Any, axis: Any = -1) -> Selection:
    """`np.lexsort` of keys of which some are selections."""
    if not isinstance(keys, list | tuple) or any(np.ndim(key) != 1 for key in keys):
        raise refusal("`np.lexsort` is called with it")
    rows, arrays = aligned([key.compact() if isinstance(key, Selection) else asarray(key) for key in keys])
    values = [jnp.asarray(array.value) for array in arrays]
    count = rows.get(-1)  # none beside an array of known length
    behind = () if count is None else (jnp.logical_not(count.of(len(values[0]))),)
    return selected(wrap(jnp.lexsort((*values, *behind))), {} if count is None else {0: count.own()})


def searched(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """`np.searchsorted(a, v)`, either of them a selection."""
    if sorter is not None or np.ndim(a) != 1:
        raise refusal("`np.searchsorted` is called with it")
    is_selection = isinstance(a, Selection)
    wanted = v.values if isinstance(v, Selection) else jnp.asarray(value_of(v))
    among = a.compact().filled(last(a.dtype)) if is_selection else jnp.asarray(value_of(a))
    places = jnp.searchsorted(among, wanted, side=side)
    places = jnp.minimum(places, a.count(0)) if is_selection else places
    return v.like(places) if isinstance(v, Selection) else wrap(places) if places.ndim else places


def interpolated(x: Any, xp: Any, fp: Any, *rest: Any, **options: Any) -> Any:
    """`np.interp(x, xp, fp)`, of any of which a part is a selection. Behind the last point stands the last point."""
    if isinstance(xp, Selection) or isinstance(fp, Selection):
        if not (isinstance(xp, Selection) and isinstance(fp, Selection)):
            known = len(fp if isinstance(xp, Selection) else xp)
            xp, fp = (one.exactly(known, 0) if isinstance(one, Selection) else one for one in (xp, fp))
        else:
            rows, points = together([xp.compact(), fp.compact()], [(0, 0), (1, 0)])
            hooks.raise_where(rows.count == 0, ValueError("array of sample points is empty"))
            places = jnp.clip(jnp.arange(points[0].capacity(0)), 0, rows.count - 1)
            xp, fp = (wrap(one.values[places]) for one in points)
    if not isinstance(x, Selection):
        return np.interp(x, xp, fp, *rest, **options)
    return x.like(np.interp(wrap(x.values), xp, fp, *rest, **options))


def polynomial(p: Any, x: Any) -> Any:
    """`np.polyval(p, x)`, either of them a selection: the coefficients stand at the end, behind zeros."""
    if isinstance(p, Selection):
        p = wrap(jnp.roll(p.compact().filled(0), p.capacity(0) - p.count(0)))
    return x.like(np.polyval(p, wrap(x.values))) if isinstance(x, Selection) else np.polyval(p, x)
