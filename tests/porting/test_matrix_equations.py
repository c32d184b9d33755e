"""Equations of matrices and square roots, as SciPy's, with derivatives."""

from typing import Any

import jax
import numpy as np
import pytest
import scipy.linalg

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
RNG = np.random.default_rng(0)
A, B, Q = RNG.standard_normal((4, 4)), RNG.standard_normal((3, 3)) + 4 * np.eye(3), RNG.standard_normal((4, 3))
ROWS: dict[str, tuple[Any, ...]] = {
    "sylvester": (scipy.linalg.solve_sylvester, A, B, Q),
    "lyapunov": (scipy.linalg.solve_continuous_lyapunov, A, A @ A.T),
    "lyapunov of complex": (lambda a, q: scipy.linalg.solve_continuous_lyapunov(a + 1j * q, q).imag, A, A @ A.T),
    "root": (lambda a: scipy.linalg.sqrtm(a @ a.T + np.eye(4)).real, A),
    "root of eigenvalues of all kinds": (lambda a: scipy.linalg.sqrtm(a).imag, A),
    "root of complex": (lambda a: scipy.linalg.sqrtm(a + 1j * a.T).real, A),
    "roots": (lambda a: scipy.linalg.sqrtm(np.stack([a @ a.T, a @ a.T + np.eye(4)])).real, A),
}


@pytest.mark.parametrize("name", ROWS)
def test_it_is_scipys(name: str):
    function, *given = ROWS[name]
    ported = ag.port(function)
    np.testing.assert_allclose(jax.jit(ported)(*given), function(*given), rtol=1e-10, atol=1e-10)
    lanes = jax.jit(jax.vmap(ported))(*(np.stack([2 * one, one]) for one in given))
    np.testing.assert_allclose(lanes[1], function(*given), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("name", ROWS)
def test_its_derivatives(name: str):
    function, *given = ROWS[name]
    ported = ag.port(function)
    for place, one in enumerate(given):
        direction = np.cos(np.arange(one.size)).reshape(one.shape)

        def along(step: Any, f: Any, place: int = place, direction: Any = direction) -> Any:
            return f(*(part + step * direction if number == place else part for number, part in enumerate(given)))

        want = (along(1e-6, function) - along(-1e-6, function)) / 2e-6
        forward = jax.jit(jax.jacfwd(lambda step, along=along: along(step, ported)))(0.0)
        np.testing.assert_allclose(forward, want, rtol=1e-6, atol=1e-6)
        reverse = jax.jit(jax.grad(lambda step, along=along: along(step, ported).sum()))(0.0)
        np.testing.assert_allclose(reverse, want.sum(), rtol=1e-6, atol=1e-6)


def test_the_second_derivative():
    def total(step: Any) -> Any:
        return scipy.linalg.sqrtm(A @ A.T + (1 + step) * np.eye(4)).real.sum()

    first = jax.grad(ag.port(total))
    want = float(first(1e-5) - first(-1e-5)) / 2e-5
    assert jax.grad(jax.grad(ag.port(total)))(0.0) == pytest.approx(want, rel=1e-6)


def test_a_root_of_a_real_matrix_with_negative_eigenvalues():
    for matrix in (-np.eye(3), np.diag([1.0, -4.0, -9.0]), np.array([[0.0, 1.0], [0.0, 0.0]]) - np.eye(2), A - 3 * np.eye(4)):
        found = jax.jit(ag.port(scipy.linalg.sqrtm))(matrix)
        np.testing.assert_allclose(found, scipy.linalg.sqrtm(matrix), rtol=1e-10, atol=1e-10)
