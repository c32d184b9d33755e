"""Single functions of NumPy, ported: what they take, what they give, and what is behind them."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.fft
import scipy.linalg
import scipy.linalg.blas
import scipy.ndimage
import scipy.signal
import scipy.stats

import autograph_jax as ag
from autograph_jax import errors


@pytest.mark.usefixtures("x64")
def test_what_is_behind_numpys_functions():
    """SciPy calls NumPy's gufuncs past `np.linalg`, with a signature: `filtfilt` does for its initial conditions."""

    def f(b, x):
        return scipy.signal.filtfilt(b, np.array([1.0, -0.4]), x)

    b, x = np.array([0.3, 0.2, 0.1]), np.sin(np.arange(20.0))
    np.testing.assert_allclose(jax.jit(ag.port(f))(b, x), f(b, x), rtol=1e-10)


@pytest.mark.parametrize("signature", ["dd->d", ("d", "d", "d")])
@pytest.mark.usefixtures("x64")
def test_signatures_of_ufuncs(signature):
    def f(x):
        return np.add(x, 1, signature=signature)

    assert jax.jit(ag.port(f))(np.arange(3)).dtype == float


def test_partition_tells_the_elements_of_both_sides():
    def f(x):
        y = x.copy()
        y.partition(2)
        return np.partition(x, 1)[:2].sum(), y[2], y[:2].max() <= y[2]

    x = jnp.array([3.0, 1.0, 2.0, 0.0])
    assert tuple(map(float, jax.jit(ag.port(f))(x))) == (1.0, 2.0, True)
    with pytest.raises(ValueError, match="out of bounds"):
        jax.jit(ag.port(lambda x: np.partition(x, 4)))(x)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("x", [(1.0, -1.0, 2.0, 3.0), (-1.0, -1.0, -2.0, 3.0), (-1.0, -1.0, -2.0, -3.0)])
def test_place_takes_what_a_mask_selects(x):
    def same_mask(x, y):
        out = np.zeros(4)
        np.place(out, x > 0, y[x > 0] * 2)
        return out

    def another_mask(x, y):
        out = np.zeros((2, 2))
        np.place(out, (x > 0).reshape(2, 2), y[y > 2])
        return out

    y = np.array([1.0, 2.0, 3.0, 4.0])
    for f in (same_mask, another_mask):
        np.testing.assert_array_equal(jax.jit(ag.port(f))(np.array(x), y), f(np.array(x), y))


def test_place_of_nothing_is_numpys_error():
    def f(x):
        out = np.zeros(4)
        np.place(out, x > 0, x[x > 9])
        return out

    assert ag.jit(ag.port(f))(-jnp.ones(4)).tolist() == [0.0] * 4
    assert ag.port(f)(-jnp.ones(4)).tolist() == [0.0] * 4
    assert jax.grad(lambda x: ag.port(f)(x).sum())(-jnp.ones(4)).tolist() == [0.0] * 4
    with pytest.raises(ValueError, match="Cannot insert from an empty array"):
        ag.jit(ag.port(f))(jnp.ones(4))


NESTED = [
    lambda x: scipy.linalg.block_diag([[x, 1.0], [2.0, x]], [[x]]),
    lambda x: np.linalg.solve([[x, 1.0], [2.0, x]], [1.0, x]),
    lambda x: np.dot([[x, 1.0], [2.0, x]], (1.0, x)),
    lambda x: np.block([[x, 1.0], [2.0, x]]),
    lambda x: np.kron([[x, 1.0], [2.0, x]], [[1.0, x]]),
    lambda x: np.einsum("ij,j", [[x, 1.0], [2.0, x]], [x, 2.0]),
    lambda x: np.concatenate([[x, 1.0], [2.0]]),
    lambda x: np.select([x > 1, x < 0], [x, 2.0], 3.0),
    lambda x: np.linalg.det([[[x, 1.0], [0.0, x]]]),
]


@pytest.mark.parametrize("function", NESTED)
def test_lists_of_lists_of_traced_numbers_are_arrays(function, x64):
    found, expected = jax.jit(ag.port(function))(3.0), function(3.0)
    assert np.shape(found) == np.shape(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def compare(function, *given):
    """NumPy's values and dtypes, also of what is compiled."""
    want = function(*(np.array(x) if isinstance(x, np.ndarray) else x for x in given))
    found = jax.jit(ag.port(function, max_len=32))(*given)
    for expected, one in zip(*map(jax.tree.leaves, (want, found)), strict=True):
        assert np.asarray(one).dtype == np.asarray(expected).dtype
        rtol = 1e-10 if np.asarray(expected).dtype.itemsize >= 8 else 1e-5
        np.testing.assert_allclose(np.asarray(one), expected, rtol=rtol, atol=1e-12)


A = np.array([[4.0, 1, 2], [1, 5, 3], [2, 3, 6]])
H = A + 1j * np.array([[0.0, 1, 2], [-1, 0, 3], [-2, -3, 0]])
B = np.arange(3.0)
M = np.arange(12.0).reshape(3, 4)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.linalg.cholesky(np.tril(a)),
        lambda a: np.linalg.cholesky(np.triu(a), upper=True),
        lambda a: np.linalg.eigvalsh(np.tril(a)),
        lambda a: np.linalg.eigvalsh(np.triu(a), "U"),
        lambda a: np.linalg.eigvalsh(np.triu(a), UPLO="u"),
        lambda a: np.linalg.eigh(np.triu(a), "U")[0],
        lambda a: abs(np.linalg.eigh(np.tril(a)).eigenvectors),
        lambda a: scipy.linalg.eigh(np.tril(a), eigvals_only=True),
        lambda a: scipy.linalg.eigh(np.triu(a), lower=False)[0],
        lambda a: [scipy.linalg.eigh(a, a @ a + np.triu(a), type=kind, subset_by_index=[0, 1])[0] for kind in (1, 2, 3)],
        lambda a: [abs(scipy.linalg.eigh(a, a @ a + np.tril(a), lower=False, type=kind)[1]) for kind in (1, 2, 3)],
        lambda a: scipy.linalg.eigvalsh(np.tril(a)),
        lambda a: scipy.linalg.eigvalsh(np.triu(a), lower=False),
        lambda a: scipy.linalg.solve(np.triu(a), B, assume_a="sym"),
        lambda a: scipy.linalg.solve(np.triu(a), B, assume_a="her"),
        lambda a: scipy.linalg.solve(np.tril(a), B, lower=True, assume_a="sym"),
        lambda a: scipy.linalg.solve(np.tril(a), B, lower=True, assume_a="pos"),
        lambda a: scipy.linalg.solve(a, B),
    ],
)
@pytest.mark.parametrize("a", [A, H], ids=["real", "complex"])
def test_one_triangle_is_read(function, a):
    compare(function, a)


def swapped(x):
    y = np.swapaxes(a=x, axis1=0, axis2=1)
    y[0, 1] = 99
    return x


def flipped(x):
    np.flip(m=x, axis=0)[0, 0] = 99
    return x


def split(x):
    np.split(ary=x, indices_or_sections=3)[1][...] = 99
    return x


def expanded(x):
    np.expand_dims(a=x, axis=0)[0, 1, 1] = 99
    np.moveaxis(a=x, source=0, destination=1)[2, 1] = 98
    return x


def raveled(x):
    np.ravel(a=x)[1] = 99
    np.transpose(a=x)[0, 2] = 97
    np.squeeze(a=x)[1, 0] = 96
    return x


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("function", [swapped, flipped, split, expanded, raveled])
def test_views_of_an_array_given_by_name(function):
    compare(function, M)


def along_columns(x):
    np.put_along_axis(x, np.array([[0]]), 9.0, axis=1)
    return x


def along_rows(x):
    np.put_along_axis(x, np.argmax(x, axis=0, keepdims=True), x[:1] + 1, axis=0)
    return x


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("function", [along_columns, along_rows])
def test_indices_are_broadcast_along_the_other_axes(function):
    compare(function, M)


X = np.array([3.0, -1.0, 2.0, 5.0, 2.0, 1.5])
SMALL = np.array([100, -100, 50, 7, 101, 90], np.int8)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: max(x[x < 3], default=-7.0),
        lambda x: max(x[x < -9], default=-7.0),
        lambda x: min(x[x < -9], default=-7.0),
        lambda x: max(np.where(x > 2, np.nan, x)[x > 1]),
        lambda x: max(np.where(x == 2, np.nan, x)[x > 1]),
        lambda x: min(np.where(x == 2, np.nan, x)[x > 1]),
        lambda x: sum(x[x < 3], start=10.0),
        lambda x: sum(x[x < 3], 10.0),
        lambda x: sum(x[x < 3], np.zeros(2)),
        lambda x: any(x[x > 3]) + 10 * all(x[x > 0]),
        lambda x: sum((x > 2)[x > 0]),
    ],
)
def test_pythons_builtins_of_what_a_mask_selects(function):
    compare(function, X)


@pytest.mark.usefixtures("x64")
def test_pythons_sum_of_selected_small_integers():
    compare(lambda x: (sum(x[x > 0]), sum(x[x > 0], 10)), np.array([60, -3, 20], np.int8))


@pytest.mark.parametrize("function", [lambda x: max(x[x < 3], key=abs), lambda x: min(x[x < 3], key=lambda v: -v)])
def test_a_key_for_what_a_mask_selects_is_refused(function):
    with pytest.raises(errors.PortingError, match="with it and more than a default"):
        jax.jit(ag.port(function))(X)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.max(x, 0, None, False, 10.0),
        lambda x: np.min(x, 0, None, True, -10.0),
        lambda x: np.max(x, 0, None, False, -10.0, x < 9),
        lambda x: np.sum(x, 0, None, None, False, 5.0),
        lambda x: np.sum(x, 0, None, None, True, 5.0, x > 3),
        lambda x: x.sum(1, None, None, True, 5.0),
        lambda x: x.max(1, None, True, 5.0),
        lambda x: x.min(1, None, True, 5.0),
        lambda x: np.std(x[x > 3], None, None, None, 1),
        lambda x: x[x > 3].var(None, None, None, 1),
        lambda x: np.sum(x[x[:, 0] > 1], 0, None, None, True),
        lambda x: np.max(x[x[:, 0] > 1], 0, None, True),
        lambda x: np.sum(x[x[:, 0] > 1], axis=0, keepdims=1),
        lambda x: np.mean(x[x[:, 0] > 1], axis=0, keepdims=True),
        lambda x: np.prod(x[x[:, 0] > 1], 0, None, None, 1),
    ],
)
def test_options_of_reductions_by_position(function):
    compare(function, M)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda i: np.arange(300.0)[i],
        lambda i: np.arange(300.0)[[i[0], i[1]]],
        lambda i: np.arange(300.0)[i[1]],
        lambda i: np.take(np.arange(300.0), i),
        lambda i: np.take(np.arange(300.0), indices=i),
        lambda i: np.take_along_axis(np.arange(300.0), i, 0),
        lambda i: np.add.at(x := np.zeros(300), i, 1.0) or x,
        lambda i: np.put(x := np.zeros(300), i, 1.0) or x,
    ],
)
def test_small_integers_count_from_the_end_of_long_arrays(function):
    compare(function, SMALL)


INFINITE = np.array([np.inf, 1.0, np.inf, -np.inf, 2.0])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.median(x[x > 0]),
        lambda x: np.median(x[x > 1]),
        lambda x: np.median(x[x != 2]),
        lambda x: np.quantile(x[x > 0], 0.3),
        lambda x: np.percentile(x[x < 90], 70),
        lambda x: np.mean(x[x > 0]),
        lambda x: np.std(x[x > 0]),
        lambda x: np.var(x[x > 0], ddof=1),
        lambda x: np.sum(x[x > 0], dtype=np.int32 if x.dtype.kind in "iu" else None),
        lambda x: np.mean((x > 1)[x > 0]),
    ],
)
@pytest.mark.parametrize("x", [INFINITE, SMALL, X.astype(np.float32)], ids=["infinite", "int8", "float32"])
def test_statistics_of_what_a_mask_selects(function, x):
    with np.errstate(invalid="ignore"):
        compare(function, x)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        np.nanstd,
        np.nanvar,
        np.nanmedian,
        lambda x: np.nanpercentile(x, 30),
        lambda x: np.nanquantile(x, 0.3),
    ],
)
@pytest.mark.parametrize("x", [SMALL, SMALL.astype(np.int32), X.astype(np.float32)], ids=["int8", "int32", "float32"])
def test_statistics_of_integers_are_doubles(function, x):
    compare(lambda x: function(x), x)


LARGE = np.array([2**60 + 1, 3, -5, 7, 11])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda n: np.convolve(n, [1, 1]),
        lambda n: [np.convolve(n, np.arange(k), "same") for k in (2, 3, 7, 8)],
        lambda n: [np.convolve(n, np.arange(k), mode="valid") for k in (2, 7)],
        lambda n: [np.correlate(n, np.arange(k), m) for k in (2, 3, 7, 8) for m in ("same", "valid", "full")],
        lambda n: np.correlate(n, [1, 2]),
        lambda n: np.polymul(n, [1, 2]),
        lambda n: np.linalg.matrix_power(n[:4].reshape(2, 2) // 2**20, 3),
        lambda n: np.linalg.matrix_power(np.diag(n[1:]), -1),
        lambda n: np.linalg.multi_dot([np.diag(n), np.eye(5, dtype=int), np.eye(5, dtype=int)]),
        lambda n: (np.linalg.outer(n, [1, 2]), np.linalg.trace(np.diag(n)), np.linalg.vecdot(n, np.eye(5, dtype=int)[0])),
        lambda n: np.convolve(n * 0.5, [1, 2]),
    ],
)
def test_products_of_integers_are_integers(function):
    def exact(n):
        found = function(n)
        parts = found if isinstance(found, tuple | list) else [found]
        return [(part, part % 1000) for part in parts]  # whose last digits show what floats lose

    compare(exact, LARGE)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda k: np.floor(np.log2(2.0**k)),
        lambda k: np.floor(np.log10(np.array([float(f"1e{n}") for n in range(300)]) + 0 * k[0])),
        lambda k: int(np.log2(k[1] * 8.0)) + int(math.log2(k[1] * 8.0)) + int(math.log10(k[1] * 1000)),
        lambda k: np.log2(np.array([0.0, 3.0, np.inf, np.nan, 0.3]) + 0 * k[0]),
        lambda k: np.log10(np.array([0.0, 3.0, np.inf, np.nan, 0.3]) + 0 * k[0]),
        lambda k: np.floor(np.log2((2.0 ** k[:100]).astype(np.float32))),
    ],
)
def test_logarithms_of_powers_are_integers(function):
    with np.errstate(divide="ignore"):
        compare(function, np.arange(900))


def test_logarithms_of_powers_have_derivatives(x64):
    for function, want in ((np.log2, 1 / 8 / np.log(2)), (np.log10, 1 / 8 / np.log(10))):
        np.testing.assert_allclose(jax.grad(ag.port(lambda x, function=function: function(x)))(8.0), want, rtol=1e-12)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: scipy.linalg.blas.ddot(x, x, n=2),
        lambda x: scipy.linalg.blas.ddot(x, x, incx=2, incy=2),
        lambda x: scipy.linalg.blas.ddot(x, x, 2),
        lambda x: scipy.linalg.blas.dnrm2(x, n=2),
        lambda x: scipy.linalg.blas.dasum(x, offx=1),
        lambda x: scipy.linalg.blas.dger(1.0, x, x, incx=2),
        lambda x: scipy.linalg.blas.dgemv(1.0, np.ones((2, 3)), x, incx=2),
    ],
)
def test_options_of_blas_that_are_not_ported_are_refused(function, x64):
    with pytest.raises(errors.PortingError, match="has not all the options"):
        jax.jit(ag.port(function))(X)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (scipy.linalg.blas.ddot(x, x, n=6, incx=1), scipy.linalg.blas.dnrm2(x, offx=0)),
        lambda x: np.put(y := x.copy(), [0, 10, -3], 7.0, mode="clip") or y,
        lambda x: np.put(y := x.copy(), [1, -1, 8], [7.0, 8.0, 9.0], mode="wrap") or y,
        lambda x: np.put(y := x.copy(), [0, 1, 2], [7.0, 8.0]) or y,
        lambda x: np.linalg.pinv(np.diag([1.0, 1e-14, 2.0]) + 0 * x[0]),
        lambda x: np.linalg.pinv(np.diag([1.0, 5e-4, 2.0]) + 0 * x[0], 1e-3),
        lambda x: np.linalg.matrix_rank(np.diag([100.0, 5.0, 2.0]) + 0 * x[0], 0.1),
        lambda x: np.linalg.matrix_rank(np.diag([100.0, 5.0, 2.0]) + 0 * x[0], tol=3),
        lambda x: np.linalg.matrix_rank(np.diag([100.0, 5.0, 2.0]) + 0 * x[0], rtol=0.03),
        lambda x: np.linalg.matrix_rank(np.ones((2, 3, 3)) * x[0], hermitian=True) + np.linalg.matrix_rank(x),
    ],
)
def test_options_that_numpy_and_jax_read_otherwise(function):
    compare(function, X)


TABLE = np.arange(6.0).reshape(2, 3) + 1


@pytest.mark.parametrize(
    "function",
    [
        lambda b: np.apply_along_axis(lambda row: row / b.sum(), 0, TABLE),
        lambda b: np.apply_along_axis(lambda row: np.convolve(b, row), 1, TABLE),
        lambda b: np.apply_along_axis(np.linalg.norm, 0, np.outer(b, b), ord=1),
        lambda b: np.apply_along_axis(np.sort, 1, np.outer(b, b)),
        lambda b: np.apply_along_axis(scipy.ndimage.gaussian_filter1d, 1, np.outer(b, b), sigma=1.0),
        lambda b: np.apply_along_axis(math.dist, 0, TABLE[:2, :2] * b[0], (1.0, 2.0)),
        lambda b: np.piecewise(TABLE[0], [TABLE[0] < 2, TABLE[0] >= 2], [lambda x: x * b[0], lambda x: x - b[1]]),
    ],
)  # fmt: skip
def test_functions_that_numpy_calls(function, x64):
    b = np.array([1.2, 0.8, 0.9])
    np.testing.assert_allclose(jax.jit(ag.port(function))(b), function(b), rtol=1e-12)


def chosen(x):
    if np.isnan(x).any():

        def h(v, *more):
            return np.nanmean(v)

    else:

        def h(v, *more):
            total = 0.0
            for element in v:
                if element > 1:
                    total += element
            return total

    return h


def chosen_by_element(x):
    return (lambda v: v * 2) if x[0, 0] > 1 else (lambda v: v + 1)


@pytest.mark.parametrize("corner", [0.5, 4.0, np.nan])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.apply_along_axis(chosen(x), 0, x) + np.apply_along_axis(func1d=chosen(x), axis=1, arr=x),
        lambda x: np.apply_along_axis(chosen(x), 1, x, 3.0),
        lambda x: np.apply_along_axis(np.mean if x[0, 0] > 1 else np.sum, 0, x),
        lambda x: np.apply_over_axes(np.sum if x[0, 0] > 1 else np.max, x, [0]),
        lambda x: np.vectorize(chosen_by_element(x))(x),
        lambda x: np.piecewise(x, [x < 2, x >= 2], [chosen_by_element(x), lambda v: -v]),
        lambda x: np.piecewise(x, [x < 2], [chosen_by_element(x), 7.0]),
        lambda x: np.fromfunction(lambda i, j: chosen_by_element(x)(i + j), (2, 2)),
    ],
)
def test_functions_that_traced_data_has_chosen(function, corner, x64):
    x = np.array([[corner, 1.0], [1.0, 3.0]])
    np.testing.assert_allclose(jax.jit(ag.port(function))(x), function(x), rtol=1e-12)


def test_functions_that_numpy_calls_without_jit(x64):
    total = ag.port(lambda b: np.apply_along_axis(lambda row: np.convolve(b, row), 1, TABLE).sum())
    np.testing.assert_allclose(jax.grad(total)(np.ones(3)), TABLE.sum() * np.ones(3))


V = np.array([1.0, 5.0, 7.0])


@pytest.mark.filterwarnings("ignore:divide by zero:RuntimeWarning", "ignore:invalid value:RuntimeWarning")
@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: (np.histogram2d(x, x, 3), np.histogram2d(x, x, (3, 2)), np.histogram2d(x, x + 1, np.array([0.0, 3, 4, 9]))),
        lambda x: (np.histogram2d(x, x, [x, x + 1]), np.histogram2d(x, x, [2, 3]), np.histogram2d(x, x, weights=x)),
        lambda x: np.histogram2d(x, x, 3, density=True),
        lambda x: np.histogramdd(np.stack([x, x + 1], 1), 3),
        lambda x: np.histogramdd((x, x, x + 1), [3, 2, 4], range=[(0, 5), (0, 6), None]),
        lambda x: (np.histogram(x, 3), np.histogram(x, 3, weights=x.astype(int)), np.histogram(x * 0, 3)),
        lambda x: (np.histogram(x, 3, (0, 6), density=True), np.histogram(x, [1.0, 2, 5, 9]), np.histogram_bin_edges(x, 3)),
        lambda x: (np.linspace(x[0], x[1], 7, retstep=True), np.linspace(x[0], x[0], 3), np.linspace(x, x[0], 4)),
        lambda x: (np.linspace(x[0], x[1], 7, endpoint=False), np.linspace(x[0], x[1], 1), np.linspace(x[0] * 1j, 3, 4)),
        lambda x: (np.reciprocal((x - 1).astype(int)), np.reciprocal((x - 1).astype(np.int8)), np.reciprocal(x)),
    ],
)
def test_bins_and_points_to_the_last_digit(function):
    compare(function, V)
    want, found = (jax.tree.leaves(run(V)) for run in (function, jax.jit(ag.port(function))))
    assert all(np.array_equal(one, other) for one, other in zip(want, found, strict=True))


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("function", [np.sqrt, np.arcsin, np.arccos, np.arccosh, np.arctanh])
def test_zeros_that_say_on_which_side_of_a_cut_a_number_is(function):
    z = np.array([-4 + 0j, 3 + 0j, 1 - 2j, 0 + 0j])
    z = np.concatenate([z, -z, np.conj(z), -np.conj(z)])
    np.testing.assert_allclose(jax.jit(ag.port(lambda z: function(z)))(z), function(z), rtol=1e-13, atol=1e-15)


@pytest.mark.usefixtures("x64")
def test_a_histogram_of_what_is_no_number():
    with pytest.raises(ValueError, match="not finite"):
        ag.jit(ag.port(lambda x: np.histogram(x, 3)))(V * np.nan)


S = np.array([[4.0, 2.0], [1.0, 3.0]])
STRUCTURES = ["general", "symmetric", "pos", "her", "upper triangular", "lower triangular"]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("kind", [None, *STRUCTURES, "tridiagonal", "diagonal"])
def test_structures_that_are_assumed(kind):
    def solved(a):
        stack = np.stack([a, 2 * a])
        options = {"assume_a": kind, "transposed": True}
        return scipy.linalg.solve(a, a[0], **options), scipy.linalg.solve(stack, a, **options)

    compare(solved, S)
    if kind in ("gen", "sym", "pos", "her", "upper triangular", "diagonal"):  # SciPy's names here
        compare(lambda a: scipy.linalg.inv(a, assume_a=kind), S)
        compare(lambda a: scipy.linalg.inv(np.stack([a, 2 * a]), assume_a=kind, lower=True), S)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        lambda a: (scipy.linalg.lu(a, p_indices=True), scipy.linalg.lu(a[::-1], p_indices=True)),
        lambda a: scipy.linalg.pinv(a, return_rank=True),
        lambda a: (scipy.linalg.pinv(a, atol=3.0, return_rank=True), scipy.linalg.pinv(a * 0, atol=1.0)),
        lambda a: scipy.linalg.eig(a, right=False),
        lambda a: (scipy.linalg.expm(a), scipy.linalg.expm(4 * a), scipy.linalg.expm(np.stack([a / 9, 2 * a]))),
    ],
)
def test_options_of_scipys_linear_algebra(function):
    compare(function, S)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function, name",
    [
        (lambda a: scipy.linalg.schur(a, sort="lhp"), "gees"),
        (lambda a: scipy.linalg.eigh(a, subset_by_value=[0, 3.0]), "how many elements"),
        (lambda a: scipy.linalg.lstsq(np.stack([a, a]), a), "a stack of matrices"),
        (lambda a: scipy.fft.dct(a, 2, orthogonalize=True), "`orthogonalize`"),
    ],
)
def test_options_without_a_counterpart_are_named(function, name):
    with pytest.raises(ag.PortingError, match=name):
        jax.jit(ag.port(function))(S)


@pytest.mark.parametrize("matrix", [S, S * [[1, 1], [-1, 1]]], ids=["real", "complex"])
def test_generalized_eigenvalues(x64, matrix):
    """SciPy 1.18 has one function in C for them, which is called; before, it is a routine of LAPACK that is named."""

    def function(a):
        return scipy.linalg.eigvals(a, np.eye(len(a)) + a.T / 9), scipy.linalg.eig(a, 2 * np.eye(len(a)))[0]

    if tuple(map(int, scipy.__version__.split(".")[:2])) >= (1, 18):
        return compare(function, matrix)
    with pytest.raises(ag.PortingError, match="ggev"):
        jax.jit(ag.port(function))(matrix)


def test_elements_put_by_the_method(x64):
    def written(x):
        y, z = x.copy(), np.zeros(4)
        y.put([1, 9], [5.0, 7.0], mode="clip")
        z.put(1, 5.0)
        z.put([2], x[1])
        z[2:].put(np.argmax(x) - 2, [6.0, 7.0])
        return y, z

    compare(written, V)


METHODS = """inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull linear
median_unbiased normal_unbiased lower higher nearest midpoint""".split()


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore:All-NaN slice:RuntimeWarning")
@pytest.mark.parametrize("x", [X, X[:5], np.where(X > 2.5, np.nan, X), np.outer(X, X[:4]), X[:1] * np.nan])
def test_quantiles(x):
    def by_methods(x):
        shares = (0.1, 0.5), 0.3, [[0.0, 1.0], [0.25, 0.75]]
        return [np.quantile(x, share, method=method) for method in METHODS for share in shares]

    def along_axes(x):
        return (
            np.percentile(x, (10.0, 50.0), axis=0), np.percentile(x, 30, keepdims=True), np.nanpercentile(x, (25.0, 75.0)),
            np.nanquantile(x, 0.25, axis=-1, method="hazen", keepdims=True), np.nanquantile(x, [0.25, 0.5], axis=0),
            np.nanmedian(x, axis=0), np.percentile(x, q=(10.0, 20.0), method="nearest"),
        )  # fmt: skip

    compare(by_methods, x)
    compare(along_axes, x)
    compare(lambda x: (np.percentile(x.astype(np.float32), 30.0), np.quantile(x.astype(np.float32), [0.3])), x)


@pytest.mark.usefixtures("x64")
def test_shares_out_of_range():
    for function in (lambda x: np.quantile(x, 1.5), lambda x: np.quantile(x, x[3] / 4)):
        with pytest.raises(ValueError, match="in the range"):
            ag.jit(ag.port(function))(X)


@pytest.mark.usefixtures("x64")
def test_results_that_are_asked_for_as_arrays():
    def written(x):
        y, z = np.add(x[0], 1.0, out=...), np.multiply(x, 2.0, out=..., dtype=type(x.dtype))
        y[...] += 1
        z[0] = y
        return y, z

    compare(written, X)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("kind", [int, np.int8, np.uint8, float, np.float32])
def test_rounding_to_tens(kind):
    x = np.arange(0, 120, 5).astype(kind)
    compare(lambda x: (np.round(x, -1), np.around(x, -1), np.round(x[1:])), x)
    compare(lambda x: np.round(x > 9), x)
    if kind in (int, np.int8):
        compare(lambda x: (np.round(-x, -1), (-x).round(-2), np.round(x[3], -1)), x)


@pytest.mark.usefixtures("x64")
def test_arrays_made_by_their_class():
    def made(x):
        y, z, w = np.ndarray(shape=(3,), dtype=float), np.ndarray((2, 2)), np.ndarray(len(x), int, order="F")
        y[:], z[...], w[:] = x, x[0], x.astype(int)
        return y, z, w, np.ndarray((2,), np.int16, b"abcd") * x[0]

    compare(made, V)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("corner", [1.0, 4.0])
def test_a_flag_beside_other_indices(corner):
    def written(x):
        flag, y, z = x[0, 0] > 2, x.copy(), x[0].copy()
        y[flag, -1] = x[flag, 1] * 2
        y[flag, -1, 0] = 7
        z[flag, 0] = 5
        return y, z, z[flag].sum(), z[flag, 1].sum()

    compare(written, np.array([[corner, 5.0], [7.0, 2.0]]))


def test_a_row_is_an_array_on_one_path_and_a_tuple_on_the_other(x64):
    def moments(row):
        return np.full(2, np.nan) if np.isnan(row).any() else (row.mean(), row.max())

    def of_columns(x):
        return np.apply_along_axis(moments, 0, x), scipy.stats.skew(x), scipy.stats.trim_mean(x, 0.1, axis=1)

    for x in (np.arange(12.0).reshape(4, 3) ** 2, np.where(np.eye(4, 3) > 0, np.nan, 2.0)):
        for found, want in zip(jax.jit(ag.port(of_columns))(x), of_columns(x), strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-12)


def ranked_in_a_branch(x):
    if x[0, 0] > 1:
        x = np.apply_along_axis(scipy.stats.rankdata, 0, x)
    return x


def collected_in_a_branch(x):
    def row(v):
        parts = []
        parts.append(v[v > 1].sum())
        parts.append(v[0])
        return parts[0] + parts[1]

    return np.apply_along_axis(row, 1, x) if x[0, 0] > 1 else x[:, 0]


@pytest.mark.parametrize("corner", [0.5, 4.0])
@pytest.mark.parametrize("function", [ranked_in_a_branch, collected_in_a_branch])
def test_functions_along_an_axis_keep_what_they_like_in_a_branch(function, corner):
    x = np.array([[corner, 1.5, 0.5], [3.0, 3.0, 2.5]])
    np.testing.assert_allclose(jax.jit(ag.port(function))(x), function(x))
