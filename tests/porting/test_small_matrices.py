"""Pseudoinverses and singular values of small matrices, which are written out: NumPy's, of many kinds, with derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import autograph_jax as ag
from autograph_jax import errors
from autograph_jax.porting import small_matrices

pytestmark = pytest.mark.usefixtures("x64")
RNG = np.random.default_rng(0)
SHAPES = [(1, 1), (3, 1), (1, 4), (2, 2), (3, 2), (2, 5), (3, 3), (6, 3), (3, 6)]
COUNT = 500


def plain(m, n):
    return RNG.standard_normal((COUNT, m, n))


def graded(m, n):
    return plain(m, n) * 10 ** RNG.uniform(-5, 0, (COUNT, 1, n)) * 10 ** RNG.uniform(-2, 0, (COUNT, m, 1))


def deficient(m, n):
    return plain(m, n)[:, :, :1] @ plain(m, n)[:, :1, :]


def of_integers(m, n):
    return RNG.integers(-2, 3, (COUNT, m, n)).astype(float)


def with_equal_values(m, n):
    return np.eye(m, n) + 1e-9 * plain(m, n)


def huge(m, n):
    return plain(m, n) * 1e200


def tiny(m, n):
    return plain(m, n) * 1e-200


@pytest.mark.parametrize("kind", [plain, graded, deficient, of_integers, with_equal_values, huge, tiny])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_they_are_numpys(shape, kind):
    stack = kind(*shape)
    values = np.linalg.svd(stack, compute_uv=False)
    largest = np.where(values[:, :1] == 0, 1, values[:, :1])
    found = jax.jit(ag.port(lambda a: np.linalg.svd(a, compute_uv=False)))(stack)
    assert np.max(np.abs(found - values) / largest) < 1e-14
    wanted = np.linalg.pinv(stack)
    off = np.max(np.abs(jax.jit(ag.port(np.linalg.pinv))(stack) - wanted), (1, 2)) / np.max(np.abs(wanted) + 1e-300, (1, 2))
    condition = largest[:, 0] / np.where(values > 1e-15 * largest, values, np.inf).min(axis=1)
    assert np.max(off / np.maximum(condition, 1)) < 1e-13


@pytest.mark.parametrize(
    "function",
    [
        np.linalg.pinv,
        lambda a: np.linalg.pinv(a, 0.4),
        scipy.linalg.pinv,
        lambda a: scipy.linalg.pinv(a, return_rank=True)[0],
        scipy.linalg.svdvals,
        lambda a: scipy.linalg.svd(a, compute_uv=False),
        lambda a: np.linalg.svd(a, compute_uv=False),
        lambda a: np.linalg.lstsq(a, np.arange(3.0), rcond=None)[0],
        lambda a: np.sin(np.linalg.pinv(a.T)) @ np.linalg.pinv(a),
    ],
)
def test_their_derivatives(function):
    a = np.array([[1.0, 0.4], [-0.2, 1.3], [0.3, 0.5]])  # none of whose singular values is below 0.4 of another
    direction, step = np.cos(np.arange(6.0)).reshape(3, 2), 1e-6
    ported = ag.port(function)
    np.testing.assert_allclose(jax.jit(ported)(a), function(a), rtol=1e-12)
    _, along = jax.jvp(ported, (a,), (direction,))
    numeric = (function(a + step * direction) - function(a - step * direction)) / (2 * step)
    np.testing.assert_allclose(along, numeric, rtol=1e-6, atol=1e-8)
    _, pull = jax.vjp(ported, a)
    weights = np.cos(np.arange(np.size(along))).reshape(np.shape(along))
    np.testing.assert_allclose(np.sum(pull(weights)[0] * direction), np.sum(weights * along), rtol=1e-10)


def test_second_derivatives_are_jaxs():
    a = RNG.standard_normal((2, 3))
    ported = ag.port(lambda a: np.sum(np.sin(np.linalg.pinv(a))))
    wanted = jax.hessian(lambda a: jnp.sum(jnp.sin(jnp.linalg.pinv(a))))(a)
    np.testing.assert_allclose(jax.hessian(ported)(a), wanted, rtol=1e-9, atol=1e-10)


def test_a_derivative_where_values_are_left_out_is_jaxs():
    a = np.diag([2.0, 1.0, 0.1]) + 0.01
    found = jax.jacobian(ag.port(lambda a: np.linalg.pinv(a, 0.2)))(a)
    np.testing.assert_allclose(found, jax.jacobian(lambda a: jnp.linalg.pinv(a, rtol=0.2))(a), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("given", [np.nan, np.inf])
def test_what_is_not_finite_stays(given):
    a = np.array([[1.0, 2.0], [given, 3.0]])
    assert np.isnan(jax.jit(ag.port(np.linalg.pinv))(a)).all()
    assert np.isnan(jax.jit(ag.port(lambda a: np.linalg.svd(a, compute_uv=False)))(a)).all()


def test_floats_of_32_bits():
    a = RNG.standard_normal((COUNT, 3, 3)).astype(np.float32) * np.float32(1e18)
    found = jax.jit(ag.port(np.linalg.pinv))(a)
    assert found.dtype == np.float32
    product = np.asarray(a, float) @ np.asarray(found, float)
    condition = np.linalg.cond(np.asarray(a, float))
    assert np.max(np.abs(product - np.eye(3)).max(axis=(1, 2)) / condition) < 1e-5


@pytest.mark.parametrize("shape, is_written_out", [((2, 6), True), ((3, 3), True), ((4, 4), False), ((7, 2), False)])
def test_which_are_written_out(shape, is_written_out):
    program = str(jax.make_jaxpr(ag.port(np.linalg.pinv))(np.ones(shape)))
    assert ("svd" not in program) == is_written_out


def test_vectors_are_lapacks():
    a = RNG.standard_normal((3, 3))
    for svd in (np.linalg.svd, scipy.linalg.svd):
        result = jax.jit(ag.port(svd))(a)
        assert type(result).__name__ == type(svd(a)).__name__
        for found, wanted in zip(result, svd(a), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-10)


def test_complex_matrices_and_integers():
    a = RNG.standard_normal((2, 2)) + 1j * RNG.standard_normal((2, 2))
    np.testing.assert_allclose(jax.jit(ag.port(np.linalg.pinv))(a), np.linalg.pinv(a), rtol=1e-10)
    whole = np.array([[1, 2], [3, 4]])
    np.testing.assert_allclose(small_matrices.pinv(whole, 1e-15), np.linalg.pinv(whole), rtol=1e-10)
    np.testing.assert_allclose(small_matrices.singular_values(whole), np.linalg.svd(whole, compute_uv=False), rtol=1e-10)


@pytest.mark.parametrize("svd", [np.linalg.svd, scipy.linalg.svd])
def test_all_vectors_of_a_matrix_that_is_not_square_have_no_derivative(svd):
    a = RNG.standard_normal((3, 2))
    assert jax.jit(ag.port(svd))(a)[0].shape == (3, 3)
    with pytest.raises(errors.PortingError, match=r"(?s)not square.*test_small_matrices\.py.*full_matrices=False"):
        jax.jacobian(ag.port(lambda a: svd(a)[1]))(a)
    found = jax.jacobian(ag.port(lambda a: svd(a, full_matrices=False)[1]))(a)
    np.testing.assert_allclose(found, jax.jacobian(lambda a: jnp.linalg.svd(a, compute_uv=False))(a), rtol=1e-10)
