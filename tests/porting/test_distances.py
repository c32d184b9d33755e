"""SciPy's distances between points, ported: as SciPy's own, differentiated, and without a call of C at run time."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy.cluster.vq import kmeans2, vq
from scipy.spatial.distance import cdist, pdist, squareform

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
FIRST, SECOND = (np.random.default_rng(seed).normal(size=(rows, 3)) for seed, rows in ((0, 4), (1, 5)))
FIRST[1, 2] = SECOND[0, 2] = 0.0
WEIGHTS = np.array([0.5, 0.0, 2.0])
SPREAD = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.5]])
METRICS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis", "hamming")},
    **{name: {} for name in ("cosine", "correlation", "minkowski")},
    "seuclidean": {"V": np.array([1.0, 2.0, 0.5])},
    "mahalanobis": {"VI": SPREAD},
}
WEIGHTED = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "canberra", "braycurtis", "hamming", "minkowski")
ROWS = [*METRICS.items(), *((name, {"w": WEIGHTS}) for name in WEIGHTED), ("minkowski", {"p": 3.0, "w": WEIGHTS})]


def distances(x: Any, y: Any, metric: Any, options: Any) -> Any:
    return cdist(x, y, metric, **options), pdist(x, metric, **options)


@pytest.mark.parametrize(("metric", "options"), ROWS)
def test_distances(metric: str, options: dict[str, Any]):
    found = jax.jit(lambda x, y: ag.port(distances)(x, y, metric, options))
    assert "pure_callback" not in str(jax.make_jaxpr(found)(FIRST, SECOND))
    for ours, theirs in zip(found(FIRST, SECOND), distances(FIRST, SECOND, metric, options), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=1e-15)


def square(pairs: Any) -> Any:
    matrix = squareform(pairs)
    return matrix, squareform(matrix * 2)


@pytest.mark.parametrize("count", [1, 3, 6, 45])
def test_squareform(count: int):
    pairs = np.random.default_rng(count).normal(size=count)
    found = jax.jit(ag.port(square))
    assert "pure_callback" not in str(jax.make_jaxpr(found)(pairs))
    for ours, theirs in zip(found(pairs), square(pairs), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    slope = jax.jit(jax.grad(lambda pairs: (ag.port(square)(pairs)[0] ** 2).sum()))(pairs)
    np.testing.assert_allclose(slope, 4 * pairs, rtol=1e-14)


def test_an_array_that_is_given_for_the_result():
    def f(x: Any, y: Any) -> Any:
        out = np.zeros((4, 5))
        found = cdist(x, y, "cosine", out=out)
        return out, found

    ours, same = jax.jit(ag.port(f))(FIRST, SECOND)
    np.testing.assert_allclose(ours, f(FIRST, SECOND)[0], rtol=1e-14)
    np.testing.assert_array_equal(ours, same)


def clusters(points: Any, centres: Any) -> Any:
    found, labels = kmeans2(points, centres, iter=5, minit="matrix", missing="warn")
    return found, labels, *vq(points * 2, found)


@pytest.mark.parametrize("columns", [None, 2, 6])
def test_clusters(columns: int | None):
    """Also one that no point belongs to, which stays where it is; SciPy multiplies matrices from five columns on."""
    shape = () if columns is None else (columns,)
    points = np.random.default_rng(0).normal(size=(30, *shape))
    centres = np.concatenate([points[:3], np.full((1, *shape), 50.0)])
    found = jax.jit(ag.port(clusters))
    with pytest.warns(UserWarning, match="One of the clusters is empty"):
        theirs = clusters(points, centres)
    ours = found(points, centres)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    assert ours[1].dtype == ours[2].dtype == np.int32
