"""`np.repeat(ranks, counts)`, `np.delete(x, i)`, `np.roll(x, k)` where traced data says how often, which, or how far."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks
from .arrays import value_of, wrap
from .computing import together
from .creating import asarray
from .numbers import bound_of
from .rows import Window, refusal, taken
from .selections import Selection, selected


def deleted(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete` of one element or row at a traced place, or of those at several, or where a mask holds."""
    whole = arr if isinstance(arr, Selection) else asarray(arr)
    whole, axis = (np.ravel(whole), 0) if axis is None else (whole, int(axis) % whole.ndim)
    obj = obj if isinstance(obj, slice | Selection) else asarray(obj)
    if not isinstance(obj, slice) and obj.ndim == 0:
        return _without_one(whole, value_of(obj), axis)
    if not isinstance(obj, slice) and obj.dtype == bool:
        kept = np.logical_not(obj)
    elif isinstance(whole, Selection):
        raise refusal("`np.delete` takes several of its elements away")
    else:
        kept = wrap(np.ones(whole.shape[axis], bool))
        kept[obj] = False
    return whole[(slice(None),) * axis + (kept,)]


def _without_one(whole: Any, place: Any, axis: int) -> Any:
    compact = whole.compact((axis,)) if isinstance(whole, Selection) else whole
    count = compact.shape[axis]
    size = f" with size {count}" if isinstance(count, int) else ""
    error = IndexError(f"index is out of bounds for axis {axis}{size}")
    hooks.raise_where(jnp.asarray((place < -count) | (place >= count)), error)
    values = compact.values if isinstance(compact, Selection) else jnp.asarray(compact.value)
    left = jnp.arange(max(values.shape[axis] - 1, 0))
    found = taken(values, left + (left >= jnp.where(place < 0, place + count, place)), axis)
    if not isinstance(compact, Selection):
        return wrap(found)
    return compact.with_rows(found, axis, Window(0, jnp.maximum(count - 1, 0)) if axis in compact.rows else None)


def rolled(a: Any, shift: Any, axis: Any = None) -> Any:
    """`np.roll` by as many places as traced data says."""
    places = tuple(map(value_of, shift)) if isinstance(shift, tuple) else value_of(shift)
    return wrap(jnp.roll(jnp.asarray(asarray(a).value), places, axis))


def repeated(a: Any, repeats: Any, axis: Any = None) -> Any:
    """`np.repeat`, of `max_len` elements at most; of selected rows as many as these may be. More are an error at run time."""
    a, counts = (x if isinstance(x, Selection) else asarray(x) for x in (a, repeats))
    if axis is None:
        a, axis = a.ravel() if a.ndim != 1 else a, 0
    if not -a.ndim <= axis < a.ndim:
        raise np.exceptions.AxisError(int(axis), a.ndim)
    axis = int(axis) % a.ndim
    if counts.ndim == 0:
        return _each_repeated(a, value_of(counts), axis)
    of_rows = isinstance(a, Selection) or isinstance(counts, Selection)
    if counts.ndim != 1 or isinstance(a, Selection) and a.rows.keys() != {axis}:
        raise refusal("`np.repeat` is called with it")
    values, often = _beside(a, counts, axis)
    hooks.raise_where(jnp.any(often < 0), ValueError("repeats may not contain negative values."))
    ends = jnp.cumsum(often)
    total = ends[-1] if often.size else jnp.zeros((), int)
    places = jnp.searchsorted(ends, jnp.arange(_most(total, often.size if of_rows else None)), side="right")
    return selected(wrap(taken(values, places, axis)), {axis: Window(0, total)})


def _each_repeated(a: Any, times: Any, axis: int) -> Selection:
    """Each row as often, which traced data decides about, or of rows about which it does."""
    hooks.raise_where(jnp.asarray(times < 0), ValueError("repeats may not contain negative values."))
    if isinstance(a, Selection) and a.rows.keys() != {axis}:
        raise refusal("`np.repeat` is called with it")
    times, most = jnp.maximum(times, 0), bound_of(times) if isinstance(times, jax.Array) else int(times)
    whole = a.compact() if isinstance(a, Selection) else a
    values, count = jnp.asarray(whole.values if isinstance(whole, Selection) else value_of(whole)), whole.shape[axis]
    total = times * count
    most = _most(total, None if most is None else max(most, 0) * values.shape[axis])
    places = jnp.arange(most) // jnp.maximum(times, 1)
    return selected(wrap(taken(values, places, axis)), {axis: Window(0, total)})


def _beside(a: Any, counts: Any, axis: int) -> tuple[jax.Array, jax.Array]:
    """The rows, and how often each is there: those that do not count are never."""
    if isinstance(a, Selection) and isinstance(counts, Selection):
        _, (a, counts) = together((a, counts), [(0, axis), (1, 0)])
        return a.values, counts.filled(0)
    if isinstance(a, Selection):
        a = a.exactly(counts.shape[0], axis)
    elif isinstance(counts, Selection):
        counts = counts.exactly(a.shape[axis], 0)
    return jnp.asarray(value_of(a)), jnp.broadcast_to(jnp.asarray(value_of(counts)), a.shape[axis])


def _most(total: jax.Array, rows: int | None) -> int:
    bounds = (bound_of(total), hooks.max_len(), rows)
    most = next((bound for bound in bounds if bound is not None), None)
    if most is None:
        raise refusal("`np.repeat` makes an array of that length")
    error = IndexError(f"np.repeat makes more than {most} elements: `ag.port(f, max_len=...)` says how many there may be")
    hooks.raise_where(total > most, error)
    return most
