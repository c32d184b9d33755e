"""`overwrite_b=True`: SciPy computes into the memory of an argument, where its order allows it, and code relies on that."""

from typing import Any

import jax
import numpy as np
import pytest
from scipy import linalg

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")


def a_row(a: Any, b: Any) -> Any:
    matrix = np.zeros((3, 3))
    matrix[1] = b
    x = linalg.solve_triangular(np.tril(a), matrix[1], lower=True, overwrite_b=True)
    x[0] += 1
    return matrix, x


def a_column_of_rows(a: Any, b: Any) -> Any:
    matrix = np.zeros((3, 3))
    matrix[:, 1] = b
    return linalg.solve_triangular(np.tril(a), matrix[:, 1], lower=True, overwrite_b=True), matrix


def a_column_of_columns(a: Any, b: Any) -> Any:
    matrix = np.zeros((3, 3), order="F")
    matrix[:, 1] = b
    return linalg.solve_triangular(np.tril(a), matrix[:, 1], 0, True, False, True), matrix


def factors(a: Any, b: Any) -> Any:
    own = np.asfortranarray(a)
    lu, places = linalg.lu_factor(own, overwrite_a=True)
    return own, lu, places


def in_two_steps(a: Any, b: Any) -> Any:
    own, right = np.asfortranarray(a @ a.T), b.copy()
    factor = linalg.cho_factor(own, overwrite_a=True)
    linalg.cho_solve(factor, right, overwrite_b=True)
    return right


def a_part_that_traced_data_ends(a: Any, b: Any) -> Any:
    matrix, k = np.zeros((3, 3)), 0
    matrix[1] = b
    while k < 2 and b[k] > 0:
        k += 1
    linalg.solve_triangular(np.tril(a)[:k, :k], matrix[1, :k], lower=True, overwrite_b=True)
    return matrix


def by_a_routine_of_blas(a: Any, b: Any) -> Any:
    (gemv,) = linalg.get_blas_funcs(("gemv",), (a,))
    y = b.copy()
    found = gemv(1.0, a, b, beta=1.0, y=y, overwrite_y=1)
    return y, found


def copied_by_blas(a: Any, b: Any) -> Any:
    (copy,) = linalg.get_blas_funcs(("copy",), (a,))
    y = np.zeros(3)
    found = copy(b, y)
    found[0] += 1
    return y, found


def an_outer_product_is_added(a: Any, b: Any) -> Any:
    (ger,) = linalg.get_blas_funcs(("ger",), (a,))
    own = a.copy(order="F")
    found = ger(0.5, b, b[::-1].copy(), a=own, overwrite_a=True)
    return found, own, ger(2.0, b, b, a=a), a


def not_asked_for(a: Any, b: Any) -> Any:
    own = b.copy()
    return linalg.solve_triangular(np.tril(a), own, lower=True), own


@pytest.mark.parametrize(
    "function",
    [
        a_row, a_column_of_rows, a_column_of_columns, factors, in_two_steps, a_part_that_traced_data_ends, by_a_routine_of_blas,
        copied_by_blas, an_outer_product_is_added, not_asked_for,
    ],
)  # fmt: skip
@pytest.mark.parametrize("b", [[0.5, 1.0, -2.0], [0.5, -1.0, 2.0]], ids=str)
def test_as_scipy_does(function: Any, b: list[float]):
    a = np.random.default_rng(0).uniform(0, 1, (3, 3)) + 3 * np.eye(3)
    want = function(a.copy(), np.array(b))
    found = jax.jit(ag.port(function))(a, np.array(b))
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-12), found, want)


def test_numbers_are_swapped_by_blas():
    """As in sklearn.linear_model.lars_path."""

    def f(a: Any) -> Any:
        (swap,) = linalg.get_blas_funcs(("swap",), (a,))
        a[2], a[0] = swap(a[2], a[0])
        return a

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(jax.jit(ag.port(f))(x), f(x.copy()))


OUTSIDE = np.ones(3)


def test_an_array_of_numpys_own_is_not_overwritten_by_what_is_traced():
    def f(a: Any) -> Any:
        linalg.solve_triangular(np.tril(a), OUTSIDE, lower=True, overwrite_b=True)
        return OUTSIDE * 1

    with pytest.raises(ag.PortingError, match="array of NumPy's that it has not made"):
        jax.jit(ag.port(f))(np.eye(3) * 2)
