"""Distances between points: what SciPy's `cdist`, `pdist` and `squareform`, and `vq` and `kmeans2`, call in C.

Source: scipy.spatial's `src/distance_metrics.h` and `distance_impl.h`, scipy.cluster's `_vq.pyx`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .arrays import value_of
from .products import rounded

Function = Callable[..., Any]
Weights = Any  # of the coordinates, or None
_FEW = 8  # coordinates


def jax_function(function: Function) -> Function | None:
    """What gives the distances by one metric, `cdist_euclidean(x, y, w=None)`, on JAX's arrays; None where it is not known."""
    name = getattr(function, "__name__", "")
    if getattr(function, "__module__", None) in ("scipy.cluster._vq", "scipy.cluster.vq._vq"):  # before SciPy 1.18, and since
        return _OF_CLUSTERS.get(name)
    kind, _, metric = name.partition("_")
    if getattr(function, "__module__", None) != "scipy.spatial._distance_pybind" or metric not in _METRICS:
        return None
    return functools.partial(_within if kind == "pdist" else _between, _METRICS[metric])


def routine(function: Function) -> Function | None:
    """What a function of `scipy.spatial._distance_wrap` writes into one of its arguments; None where it is not known."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", "")
    return _ROUTINES.get(name) if module == "scipy.spatial._distance_wrap" else None


# A metric takes x and y (..., n), the weights of the n coordinates, and its own options.


def _summed(terms: jax.Array, w: Weights) -> jax.Array:
    return _added(terms if w is None else rounded(w * terms))


def _added(terms: jax.Array) -> jax.Array:
    """One after the other, as C adds them; a few are part of what XLA computes them in."""
    few = 0 < terms.shape[-1] <= _FEW
    return functools.reduce(jnp.add, [terms[..., i] for i in range(terms.shape[-1])]) if few else jnp.sum(terms, -1)


def _sqeuclidean(x: jax.Array, y: jax.Array, w: Weights) -> jax.Array:
    return _summed(rounded(jnp.square(x - y)), w)


def _euclidean(x: jax.Array, y: jax.Array, w: Weights) -> jax.Array:
    return jnp.sqrt(_sqeuclidean(x, y, w))


def _minkowski(x: jax.Array, y: jax.Array, w: Weights, p: Any = 2.0) -> jax.Array:
    return _summed(jnp.abs(x - y) ** p, w) ** (1 / p)


def _chebyshev(x: jax.Array, y: jax.Array, w: Weights) -> jax.Array:
    distances = jnp.abs(x - y)
    return jnp.max(distances if w is None else jnp.where(w > 0, distances, 0), -1)


def _canberra(x: jax.Array, y: jax.Array, w: Weights) -> jax.Array:
    size = jnp.abs(x) + jnp.abs(y)
    return _summed(jnp.abs(x - y) / jnp.where(size == 0, 1, size), w)


def _braycurtis(x: jax.Array, y: jax.Array, w: Weights) -> jax.Array:
    return _summed(jnp.abs(x - y), w) / _summed(jnp.abs(x + y), w)


def _hamming(x: jax.Array, y: jax.Array, w: Weights) -> jax.Array:
    return _summed((x != y).astype(x.dtype), w) / (x.shape[-1] if w is None else jnp.sum(w))


def _cosine(x: jax.Array, y: jax.Array, _: Weights) -> jax.Array:
    found = _product(x, y) / (jnp.sqrt(_product(x, x)) * jnp.sqrt(_product(y, y)))
    return 1 - jnp.where(jnp.abs(found) > 1, jnp.sign(found), found)


def _product(x: jax.Array, y: jax.Array) -> jax.Array:
    return _added(rounded(x * y))


def _seuclidean(x: jax.Array, y: jax.Array, _: Weights, V: Any) -> jax.Array:  # noqa: N803 - SciPy's name
    return jnp.sqrt(_added(rounded(jnp.square(x - y)) / V))


def _mahalanobis(x: jax.Array, y: jax.Array, _: Weights, VI: Any) -> jax.Array:  # noqa: N803 - SciPy's name
    difference = x - y
    return jnp.sqrt(jnp.sum(difference * jnp.einsum("ij,...j->...i", VI, difference), -1))


_METRICS: dict[str, Function] = {
    "euclidean": _euclidean, "sqeuclidean": _sqeuclidean, "minkowski": _minkowski,
    "cityblock": lambda x, y, w: _summed(jnp.abs(x - y), w), "chebyshev": _chebyshev, "canberra": _canberra,
    "braycurtis": _braycurtis, "hamming": _hamming,
}  # fmt: skip


def _between(metric: Function, first: Any, second: Any, w: Weights = None, out: Any = None, **options: Any) -> jax.Array:
    """Of each row of the one from each row of the other: (m, n) and (k, n) give (m, k)."""
    return metric(jnp.asarray(first)[:, None], jnp.asarray(second)[None], w, **options)


def _within(metric: Function, points: Any, w: Weights = None, out: Any = None, **options: Any) -> jax.Array:
    """Of each pair of rows (m, n), those of the first row first: (m (m - 1) / 2)."""
    rows, columns = np.triu_indices(len(points), 1)
    points = jnp.asarray(points)
    return metric(points[rows], points[columns], w, **options)


def _nearest(points: Any, codes: Any) -> tuple[jax.Array, jax.Array]:
    """Which row of `codes` (k, n) is nearest to each row of `points` (m, n), and how far it is: (m,) each. Or (k,) and (m,)."""
    points, codes = (jnp.asarray(rows) if jnp.ndim(rows) > 1 else jnp.asarray(rows)[:, None] for rows in (points, codes))
    squares = _between(_sqeuclidean, points, codes)
    return jnp.argmin(squares, 1).astype(np.int32), jnp.sqrt(jnp.min(squares, 1))


def _means_of_clusters(points: Any, labels: Any, count: int) -> tuple[jax.Array, jax.Array]:
    """The mean of the rows of each label, zeros (k, n) of none, and which labels have rows (k,)."""
    points, labels = jnp.asarray(points), jnp.asarray(labels)
    members = jnp.zeros(count, points.dtype).at[labels].add(1)
    sums = jnp.zeros((count, *points.shape[1:]), points.dtype).at[labels].add(points)
    weights = members.reshape(count, *(1 for _ in points.shape[1:]))
    return jnp.where(weights > 0, sums / jnp.where(weights > 0, weights, 1), 0), members > 0


_OF_CLUSTERS: dict[str, Function] = {"vq": _nearest, "update_cluster_means": _means_of_clusters}


def _put_between(metric: Function, first: Any, second: Any, out: Any, **options: Any) -> None:
    out.put(_between(metric, value_of(first), value_of(second), **_values(options)))


def _put_within(metric: Function, points: Any, out: Any, **options: Any) -> None:
    out.put(_within(metric, value_of(points), **_values(options)))


def _values(options: dict[str, Any]) -> dict[str, Any]:
    return {name: jnp.asarray(value_of(value)) for name, value in options.items()}


def _put_as_square(out: Any, distances: Any) -> None:
    """Of the distances of pairs a symmetric matrix, whose diagonal stays."""
    before, found = jnp.asarray(value_of(out)), jnp.asarray(value_of(distances))
    n = len(before)
    place = np.zeros((n, n), int)
    place[np.triu_indices(n, 1)] = np.arange(len(found))
    out.put(jnp.where(np.eye(n, dtype=bool), before, found[place + place.T]) if len(found) else before)


def _put_as_pairs(square: Any, out: Any) -> None:
    """Of a symmetric matrix what is above its diagonal."""
    found = jnp.asarray(value_of(square))
    out.put(found[np.triu_indices(len(found), 1)])


_ROUTINES: dict[str, Function] = {
    "to_squareform_from_vector_wrap": _put_as_square,
    "to_vector_from_squareform_wrap": _put_as_pairs,
}
for _name, _metric in {"cosine": _cosine, "seuclidean": _seuclidean, "mahalanobis": _mahalanobis}.items():
    _ROUTINES[f"cdist_{_name}_double_wrap"] = functools.partial(_put_between, _metric)
    _ROUTINES[f"pdist_{_name}_double_wrap"] = functools.partial(_put_within, _metric)
