"""Options of NumPy's functions and methods in ported code: each means what it means in NumPy, or is refused."""

import jax
import numpy as np
import pytest
import scipy.interpolate
import scipy.linalg.lapack
import scipy.special

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")

V = np.array([0.3, -1.2, 2.5, 0.7, -0.1])
A = np.array([[0.5, -1.0, 2.0, 0.1], [1.5, 0.3, -0.7, 2.2], [-0.4, 0.9, 1.1, -2.0]])
I = np.array([[3, -1, 4, 1], [5, 9, -2, 6], [5, 3, 5, -8]])  # noqa: E741
SPECIAL = np.array([0.3, np.nan, -2.5, np.inf, -0.0, 0.0, -4.0])
TURN = np.array([[0, 1], [-1, 0.2]])


def compare(function, x):
    """NumPy's values, shapes, dtypes and signs of zeros, of what is traced and of what is known."""
    want = jax.tree.leaves(function(x.copy()))
    for run in (jax.jit(ag.port(function)), ag.port(function)):
        for expected, one in zip(want, jax.tree.leaves(run(x.copy())), strict=True):
            expected, found = np.asarray(expected), np.asarray(one)
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
            rtol = 100 * np.finfo(expected.dtype).eps if expected.dtype.kind in "fc" else 0
            np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol)
            if expected.dtype.kind == "f":
                np.testing.assert_array_equal(np.signbit(found[expected == 0]), np.signbit(expected[expected == 0]))


def sorted_in_place(x):
    y, z = x.copy(), x.copy()
    y.sort(-1, "stable")
    z.partition(1, 0, "introselect")
    return y, z[1], np.sort(x, 0, "stable")


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x.compress([True, False, True], 0),
        lambda x: x[0].compress(x[1] > 0).sum(),
        lambda x: x.compress(x[:, 0] > 0, axis=0).sum(0),
        lambda x: (x.clip(0), x.clip(max=0.5), x.clip(0.2, 1), x.clip(0, out=np.zeros((3, 4)))),
        lambda x: (x[0][x[0] > 0].clip(0.5).sum(), x[0][x[0] > 0].clip(max=0.5).sum()),
        sorted_in_place,
    ],
)
def test_methods_with_arguments_that_their_functions_have_elsewhere(function):
    compare(function, A)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: (len(np.sort(x, axis=None)), np.sort(x, axis=None)[1], np.sort(x.T, None)[5]),
        lambda x: np.partition(x, 5, axis=None)[5],
    ],
)
def test_an_array_in_order_as_a_whole_has_one_axis(function):
    compare(function, A)
    compare(function, I)


@pytest.mark.parametrize(
    "function",
    [
        lambda n: np.unwrap(n, period=5),
        lambda n: np.polyder(n[0]),
        lambda n: [np.quantile(n, 0.3, axis=0, method=method) for method in ("nearest", "lower", "linear")],
        lambda n: np.take(n[0, :1] * 0.5, n[0] * 0),
    ],
)
def test_results_of_integers_are_of_numpys_kind(function):
    compare(function, I)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.sort_complex(np.linalg.eigvals(a)),
        lambda a: np.sort_complex(np.linalg.eig(a)[0]),
        lambda a: np.poly(a * (1 + 1j)),
    ],
)
def test_complex_results_of_small_types_stay_complex(function):
    compare(function, TURN.astype(np.float32))


@pytest.mark.parametrize(
    "function",
    [np.modf, np.sign, lambda x: x % 2, lambda x: x // -2, lambda x: np.divmod(x, x[::-1]), lambda x: np.fmod(x, 2)],
)
def test_signs_of_zeros_and_parts_of_infinities(function):
    with np.errstate(all="ignore"):
        compare(function, SPECIAL)
        compare(function, SPECIAL.astype(np.float32))


def test_derivatives_at_zeros_with_signs():
    slopes = jax.grad(lambda x: ag.port(lambda x: (x % 2 + x // 2 + np.modf(x)[0] + np.sign(x)).sum())(x))
    np.testing.assert_array_equal(slopes(np.array([2.0, -2.0, 0.3, -0.0])), 2.0)
    np.testing.assert_array_equal(jax.grad(lambda x: ag.port(lambda x: (x % -2).sum())(x))(np.array([2.0, -2.0])), 1.0)


@pytest.mark.parametrize("ufunc", [np.exp2, np.expm1, np.log10, lambda n: np.hypot(n, 3), lambda n: np.logaddexp(n, n)])
def test_floats_of_16_bits_are_computed_in_32(ufunc):
    n = np.array([3, 1, 4, 2, 5], np.int8)
    np.testing.assert_array_equal(jax.jit(ag.port(ufunc))(n), ufunc(n))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.logical_and.reduce(x, initial=False),
        lambda x: np.logical_or.reduce(x, 1, initial=0),
        lambda x: np.logical_and.reduce(x, where=x > 0, initial=1),
        lambda x: np.amax(x, axis=0, out=np.zeros(4, int)),
        lambda x: np.amin([x[0], x[1]]),
    ],
)
def test_options_of_reductions(function):
    compare(function, A)


def filled(x):
    y, z, w, u = x.copy(), x.T.copy(), x.copy(), x.copy()
    np.fill_diagonal(y, x[0])
    np.fill_diagonal(z, x[0], wrap=True)
    np.fill_diagonal(w, x[0, :2])
    np.fill_diagonal(u, [x[0, 1], 2.0])
    return y, z, w, u


def test_diagonals_filled_with_more_or_fewer_numbers():
    compare(filled, A)
    compare(filled, I)


def test_residuals_of_systems_with_many_solutions():
    compare(lambda a: np.linalg.lstsq(a, a[:, 0], rcond=None), A)
    compare(lambda a: np.linalg.lstsq(a.T, a.T[:, :2] + 1, rcond=None), A)
    left = jax.jit(ag.port(lambda a: np.linalg.lstsq(a.T, a[0], 0.7)[1]))(A)
    assert np.isnan(left).all()  # NumPy's has no elements, as the rank says


@pytest.mark.filterwarnings("ignore:non-integer arg n")
def test_numbers_of_trials_are_whole():
    compare(lambda n: (scipy.special.bdtr(2, n, 0.3), scipy.special.bdtr(n, 3.5, 0.3)), np.array([2.5, 3.0, 4.7]))


def joined(x):
    out, some, others = np.zeros(8), x[x > 0], x[x <= 0]
    np.concatenate([some, others, x[:3]], out=out)
    single = np.concatenate([some, others], dtype=np.float32), np.hstack([some, 1.5], dtype=np.float32)
    return out, [part.sum() for part in single], np.concatenate([some], dtype=int, casting="unsafe").sum()


def made_like(x):
    some = x[x > 0]
    return np.ones_like(some, shape=7), np.full_like(some, x[0], shape=(2, 2)), np.ascontiguousarray(some, "f4").sum()


@pytest.mark.parametrize("function", [joined, made_like])
def test_options_beside_selections(function):
    compare(function, V)


def test_selections_are_not_joined_in_an_integer_type():
    with pytest.raises(TypeError, match="according to the rule"):
        jax.jit(ag.port(lambda x: np.concatenate([x[x > 0], x], dtype=int).sum()))(V)


def test_the_other_triangle_of_a_factor():
    def factors(a):
        low, up = (scipy.linalg.lapack.dpotrf(a, lower=lower, clean=0)[0] for lower in (1, 0))
        return low, up, scipy.linalg.lapack.dpotrf(a, 1)[0]

    compare(factors, A[:, :3] / 4 + 3 * np.eye(3))


def test_factors_of_banded_matrices_are_not_there():
    def factors(x):
        *some, _, _ = scipy.linalg.lapack.dptsv(x + 4, x[1:], x)
        *others, _, _ = scipy.linalg.lapack.dgtsv(x[1:], x + 4, x[1:], x)
        return some, others

    assert not jax.tree.leaves(jax.jit(ag.port(factors))(V))


@pytest.mark.parametrize("side", ["left", "right"])
def test_places_beside_an_edge_that_is_the_smallest_number(side):
    edges = np.nextafter(np.array([0.0, 0.5, 1.0]), -np.inf)
    compare(lambda x: np.searchsorted(edges, x, side), np.array([0.0, -0.0, 0.5, -0.1, 2.0, np.nan, -np.inf]))


@pytest.mark.parametrize("kind", ["next", "previous", "nearest", "zero"])
def test_steps_of_an_interpolation_that_begins_at_zero(kind):
    table = scipy.interpolate.interp1d([0.0, 0.5, 1.2, 2.0], [0.3, -1.2, 2.5, 0.7], kind=kind)
    compare(lambda x: table(x), np.array([0.0, 0.1, 0.5, 1.2, 1.9, 2.0]))
