"""`np.linspace(a, b, 5)` and `np.histogram(x, bins=5)` to the last digit: an element on an edge belongs to one of two bins."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks
from .products import rounded

Function = Callable[..., Any]


def linspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None, axis: int = 0
) -> Any:
    """Each point is so many steps after the first one, as NumPy has it; jnp.linspace weighs the two ends."""
    num = operator.index(num)
    parts = num - 1 if endpoint else num
    if dtype is not None or axis != 0 or parts <= 0:
        return jnp.linspace(start, stop, num, endpoint, retstep, dtype, axis=axis)
    kind = jnp.result_type(start, stop, float)
    start, stop = jnp.broadcast_arrays(jnp.asarray(start, kind), jnp.asarray(stop, kind))
    parts = jax.lax.optimization_barrier(jnp.asarray(parts, kind))  # XLA would multiply by the inverse of a known number
    step, places = (stop - start) / parts, jnp.arange(num).astype(kind).reshape(-1, *(1,) * start.ndim)
    after = jnp.where(jnp.any(step == 0), places / parts * (stop - start), rounded(places * step))
    points = after + start
    points = points.at[-1].set(stop) if endpoint else points
    return (points, step) if retstep else points


def _edges(a: Any, bins: Any, range: Any) -> Any:
    """The edges of so many bins of one size; those that are given."""
    if isinstance(bins, str) or not _is_one(bins):
        return bins
    if range is None:
        first, last = (jnp.min(a), jnp.max(a)) if a.size else (0.0, 1.0)
    else:
        first, last = range
    is_finite = jnp.isfinite(first) & jnp.isfinite(last)
    hooks.raise_where(~is_finite, ValueError("the range of a histogram is not finite"))
    is_one = first == last
    kind = jnp.result_type(a, float)
    ends = (jnp.asarray(jnp.where(is_one, end + off, end), kind) for end, off in ((first, -0.5), (last, 0.5)))
    low, high = ends
    return linspace(low, high, bins + 1)


def _is_one(bins: Any) -> bool:
    return not isinstance(bins, list | tuple) and np.ndim(bins) == 0


def bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> jax.Array:
    """`np.histogram_bin_edges`."""
    return jnp.histogram_bin_edges(a, _edges(jnp.asarray(a), bins, range), range, weights)


def histogram(a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram`."""
    return jnp.histogram(a, _edges(jnp.asarray(a), bins, range), range, weights, density)


def histogram_2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogram2d`."""
    bins = [bins, bins] if _is_one(bins) or len(bins) > 2 else bins
    found, edges = histogram_dd((x, y), bins, range, density, weights)
    return found, *edges


def histogram_dd(sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """`np.histogramdd`."""
    columns = list(sample) if isinstance(sample, list | tuple) else list(jnp.atleast_2d(jnp.asarray(sample).T))
    columns = [jnp.asarray(column) for column in columns]
    of_each = [bins] * len(columns) if _is_one(bins) else list(bins)
    if len(of_each) != len(columns):
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    ranges = [None] * len(columns) if range is None else range
    edges = [_edges(*of_one) for of_one in zip(columns, of_each, ranges, strict=True)]
    found, edges = jnp.histogramdd(jnp.stack(columns, axis=1), edges, None, weights, density)
    return found, list(edges)


FUNCTIONS: dict[Function, Function] = {
    np.linspace: linspace, np.histogram_bin_edges: bin_edges, np.histogram: histogram, np.histogram2d: histogram_2d,
    np.histogramdd: histogram_dd,
}  # fmt: skip
