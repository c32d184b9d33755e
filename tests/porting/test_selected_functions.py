"""NumPy's functions of `x[:k]`, where k is traced: NumPy's result for every k, or a refusal. Never what is behind k."""

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
X = np.array([3.0, -1.0, 2.0, 5.0])
BOUNDS = (1, 2, 3, 4)


def matrix(x):
    return np.outer(x, x) + np.eye(4)


def changed_at(ufunc, array, *rest):
    ufunc.at(array, *rest)
    return array


def tallied(x, k):
    """Of each value the sum of what stands where it is, and how often it is there."""
    values, inverse, counts = np.unique(np.abs(x) // 3 + k // 3, return_inverse=True, return_counts=True)
    return values, changed_at(np.add, np.zeros(len(counts)), inverse, x) / counts


def known_grouped(x, k):
    sums = np.zeros(4)
    np.subtract.at(sums, np.array([0, 2, 2, 3])[:k], x[:k])
    np.multiply.at(sums, np.arange(4)[x > k], 2)
    return sums


RIGHT = {
    "norm": lambda x, k: np.linalg.norm(x[:k]),
    "norm, 0": lambda x, k: np.linalg.norm(x[:k], 0),
    "norm, inf": lambda x, k: np.linalg.norm(x[:k], np.inf),
    "norm of a matrix, nuclear": lambda x, k: np.linalg.norm(matrix(x)[:k], "nuc"),
    "norm of a matrix, 2": lambda x, k: np.linalg.norm(matrix(x)[:, :k], 2),
    "sort with NaN": lambda x, k: np.sort(np.where(x > 2, np.nan, x)[:k]),
    "sort with NaN first": lambda x, k: np.sort(np.array([np.nan, 1.0, 2.0, 3.0])[:k]) * np.arange(4.0)[:k],
    "sort of complex numbers": lambda x, k: np.sort((x * 1j)[:k]),
    "sort of booleans": lambda x, k: np.sort((x > 0)[:k]),
    "argsort with NaN": lambda x, k: np.argsort(np.array([np.nan, 1.0, np.inf, 3.0])[:k]),
    "argsort of booleans": lambda x, k: np.argsort((x > 0)[:k], kind="stable"),
    "lexsort of one": lambda x, k: np.lexsort([np.abs(x[:k])]),
    "lexsort": lambda x, k: np.lexsort((x[:k], np.arange(4.0)[:k] // 2)),
    "lexsort of masked": lambda x, k: np.lexsort((x[x > k - 2], -x[x > k - 2])),
    "lexsort beside known ones": lambda x, k: np.lexsort((x[x > -2], np.array([1.0, 0.0, 1.0, 0.0]))),
    "lexsort as an index": lambda x, k: x[:k][np.lexsort((np.arange(4)[:k], x[:k] % 2))],
    "repeat": lambda x, k: np.repeat(x[:k], 2),
    "Python's sorted": lambda x, k: sorted(x[:k])[0],
    "median with NaN": lambda x, k: np.median(np.array([1.0, np.nan, 2.0, 3.0])[:k]),
    "median": lambda x, k: np.median(x[:k]),
    "quantile": lambda x, k: np.quantile(x[:k], 0.3),
    "quantiles": lambda x, k: np.quantile(x[:k], [0.3, 0.9]),
    "quantiles, one of them traced": lambda x, k: np.quantile(x[:k], (0.3, x[3] / 10), axis=0),
    **{
        f"quantile, {method}": lambda x, k, method=method: np.percentile(x[:k], [30, 50.0, 100], method=method)
        for method in ("hazen", "weibull", "nearest", "closest_observation", "averaged_inverted_cdf", "midpoint")
    },
    "quantile without NaN": lambda x, k: np.nanquantile(np.where(x > 2.5, np.nan, x)[1 : k + 1], q=[0.3, 0.5]),
    "percentile without NaN": lambda x, k: np.nanpercentile(np.where(x > 2.5, np.nan, x)[1 : k + 1], 30.0),
    "median along the axis": lambda x, k: np.median(x[:k], axis=0),
    "median without NaN": lambda x, k: np.nanmedian(np.where(x > 2.5, np.nan, x)[1 : k + 1]),
    "sums without NaN": lambda x, k: np.nansum(np.where(x > 2.5, np.nan, x)[:k]) + np.nanprod(np.where(x < 0, np.nan, x)[:k]),
    "moments without NaN": lambda x, k: np.nanmean(np.where(x < 0, np.nan, x)[:k]) + np.nanstd(x[:k], axis=0),
    "iterable": lambda x, k: np.iterable(x[:k]) + np.iterable(x) + np.iterable(x[0]) + k,
    "delete one": lambda x, k: np.delete(x[:k], k - 1),
    "delete the last": lambda x, k: np.delete(x[:k], -1),
    "delete a row": lambda x, k: np.delete(matrix(x)[:k], 0, axis=0).sum(axis=1),
    "delete a column": lambda x, k: np.delete(matrix(x)[:k], k - 1, axis=1).sum(axis=0),
    "delete several": lambda x, k: np.delete(x, [k - 1, 0]),
    "delete where": lambda x, k: np.delete(x, np.flatnonzero(x > k - 1)),
    "delete by a mask": lambda x, k: np.concatenate([np.delete(x, x > k), np.delete(x[:k], x[:k] > 2)]),
    "convolve": lambda x, k: np.convolve(x[:k], [1.0, 2.0, 4.0]) * 2,
    "convolve the other way": lambda x, k: np.convolve([1.0, 2.0], x[:k]),
    "convolve, same": lambda x, k: np.convolve(x[:k], [1.0, 2.0, 4.0], "same"),
    "convolve, valid": lambda x, k: np.convolve(x.astype(int)[:k], [1, 2, 4], mode="valid"),
    "convolve two": lambda x, k: np.convolve(x[:k], x[x > 0], "valid"),
    "unique": lambda x, k: np.unique(x[:k] % 3),
    "unique with NaN": lambda x, k: np.unique(np.where(x > 2.5, np.nan, x)[:k]),
    "unique, all of it": lambda x, k: sum(
        part.sum() * 10**n
        for n, part in enumerate(np.unique(x[:k] % 3, return_index=True, return_inverse=True, return_counts=True))
    ),
    "unique beside the greatest": lambda x, k: np.unique(np.array([5, np.iinfo(np.int64).max, 1, 1])[:k]),
    "elements of unique": lambda x, k: sum(one**2 for one in np.unique(x[:k])),
    "interp": lambda x, k: np.interp(x, np.arange(4.0)[:k], x[:k]),
    "interp at one": lambda x, k: np.interp(1.4, np.arange(4.0)[:k], x[:k]),
    "interp at a selection": lambda x, k: np.interp(x[:k], np.arange(4.0), x),
    "polyval": lambda x, k: np.polyval(x[:k], 2.0),
    "polyval at a selection": lambda x, k: np.polyval(x, x[:k]),
    "searchsorted": lambda x, k: np.searchsorted(np.arange(4.0)[:k], x),
    "searchsorted of one, right": lambda x, k: np.searchsorted(np.arange(4.0)[:k], 1.0, side="right"),
    "searchsorted of a selection": lambda x, k: np.searchsorted(np.arange(4.0)[:k], x[:k]),
    "searchsorted, other lengths": lambda x, k: np.searchsorted(np.arange(4.0)[:k], x[x > 0]),
    "digitize of a selection": lambda x, k: np.digitize(x[:k], np.arange(4.0)),
    "take": lambda x, k: np.take(x[:k], [0, 0]),
    "an element": lambda x, k: x[:k][-1],
    "trace": lambda x, k: np.trace(matrix(x)[:k]),
    "a triangle": lambda x, k: np.tril((k + matrix(x))[np.ix_(x > 0, x > 0)]).sum(axis=0),
    "a triangle beside the diagonal": lambda x, k: np.tril((k + matrix(x))[np.ix_(x > 0, x > 0)], -2).sum(axis=0),
    "another triangle": lambda x, k: np.triu((k + matrix(x))[np.ix_(x > 0, x > 0)], 2).sum(axis=1),
    "reshape": lambda x, k: np.concatenate([x[:k], x[:k]]).reshape(2, -1)[1],
    "two masks": lambda x, k: (x[:k].sum() + matrix(x))[x > 0, x > 0],
    "along two axes": lambda x, k: (matrix(x)[:k] * matrix(x)[0, :k, None]) @ np.ones(4),
    "cov": lambda x, k: np.cov(x[:k], ddof=0),
    "more dimensions": lambda x, k: np.array(x[:k], ndmin=2).sum(axis=1),
    "diagonal": lambda x, k: np.diagonal(matrix(x)[:k]),
    "diagonal of columns": lambda x, k: np.diagonal(matrix(x)[1:, :k]),
    "trace beside the middle": lambda x, k: np.trace(matrix(x)[:k, 1:], 1),
    "cumsum": lambda x, k: np.cumsum(x[:k]),
    "flip": lambda x, k: np.flip(x[:k]),
    "concatenate": lambda x, k: np.concatenate([x[k:], x[:k]]),
    "argmax along": lambda x, k: np.argmax(matrix(x)[:k], axis=0),
    "einsum": lambda x, k: np.einsum("ij,j->i", matrix(x)[:k], x),
    "Python's max and sum": lambda x, k: (max(x[:k]), sum(x[:k])),
    "add.at": tallied,
    "subtract.at, multiply.at of all": known_grouped,
    "add.at of a number": lambda x, k: changed_at(np.add, np.ones(4)[:k], [0, 0, -1], 0.5),
    "maximum.at": lambda x, k: changed_at(np.maximum, x[:k].copy(), np.arange(4)[:k] // 2, x[::-1][:k]),
    "add.at of rows": lambda x, k: changed_at(np.add, matrix(x)[:, :k], (np.arange(4)[:k], 0), x[:k]).sum(axis=1),
    "add.at of a slice": lambda x, k: changed_at(np.add, x[:k].copy(), slice(0, 2), 1.0),
    "add.at of all": lambda x, k: changed_at(np.add, x[:k].copy(), ..., 1.0),
    "add.at of a view": lambda x, k: (y := x.copy(), changed_at(np.add, y[1:][:k], 0, 1.0))[0],
    "in": lambda x, k: (2.0 in x[:k], 9.0 in x[:k], 3.0 not in x[x < k]),
    "from_dlpack": lambda x, k: (np.from_dlpack(x[:k], device="cpu"), np.from_dlpack(x)),
    "isin": lambda x, k: (np.isin(x, x[:k]), np.isin(x[1:][: k - 1], x[:k], invert=True), np.isin([2.0], x[x > k])),
    "setdiff1d": lambda x, k: np.setdiff1d(x, x[:k]),
    "intersect1d": lambda x, k: np.intersect1d(x[:k], [2.0, 3.0, 9.0]),
    "union1d": lambda x, k: np.union1d(x[:k], [2.0, 9.0]),
    "setxor1d": lambda x, k: np.setxor1d(x[:k], [2.0, 9.0]),
    "where of what is known": lambda x, k: np.where(np.arange(4) > 1)[0] + k,
}
REFUSED = {
    "norm, -inf": lambda x, k: np.linalg.norm(x[:k], -np.inf),
    "norm, -1": lambda x, k: np.linalg.norm(x[:k], -1),
    "norm of a matrix, -2": lambda x, k: np.linalg.norm(matrix(x)[:, :k], ord=-2),
    "max of complex numbers": lambda x, k: np.max((x * 1j - 9)[:k]),
    "argmax of complex numbers": lambda x, k: np.argmax((x * 1j - 9)[:k]),
    "digitize by a selection": lambda x, k: np.digitize(x[:k], np.arange(4.0)[:k]),
}


def arrays(found):
    if isinstance(found, tuple):
        return [part for one in found for part in arrays(one)]
    return [np.asarray(found.padded())[: int(found.length)] if hasattr(found, "padded") else np.asarray(found)]


@pytest.mark.parametrize("f", RIGHT.values(), ids=RIGHT.keys())
def test_what_numpy_gives(f):
    ported = ag.jit(ag.port(f, max_len=8))
    for k in BOUNDS:
        for got, want in zip(arrays(ported(jnp.asarray(X), jnp.asarray(k))), arrays(f(X, k)), strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("f", REFUSED.values(), ids=REFUSED.keys())
def test_what_is_refused(f):
    with pytest.raises(ag.PortingError):
        ag.jit(ag.port(f, max_len=8))(jnp.asarray(X), jnp.asarray(2))


def test_a_place_behind_the_bound():
    with pytest.raises(IndexError, match="out of bounds"):
        ag.jit(ag.port(lambda x, k: np.take(x[:k], [0, 2])))(jnp.asarray(X), jnp.asarray(2))
