"""SciPy's solvers of banded systems, ported, against SciPy's own."""

from __future__ import annotations

import jax
import numpy as np
import pytest
import scipy.linalg

import autograph_jax as ag

B = np.array([1.0, 2.0, -3.0, 4.0])
TRIDIAGONAL = np.array([[0.0, 1.0, 2.0, 1.0], [4.0, 5.0, 4.0, 3.0], [1.0, 1.0, 0.5, 0.0]])
WIDE = np.array([[0.0, 0.0, 0.3, 0.2], [0.0, 1.0, 2.0, 1.0], [4.0, 5.0, 4.0, 3.0], [1.0, 1.0, 0.5, 0.0]])
UPPER, LOWER = TRIDIAGONAL[:2], TRIDIAGONAL[1:]
WIDE_UPPER = WIDE[:3]
SOLVERS = {
    "tridiagonal": lambda a, b: scipy.linalg.solve_banded((1, 1), a * TRIDIAGONAL, b),
    "wide": lambda a, b: scipy.linalg.solve_banded((1, 2), a * WIDE, b),
    "definite, tridiagonal": lambda a, b: scipy.linalg.solveh_banded(a * UPPER, b),
    "definite, lower": lambda a, b: scipy.linalg.solveh_banded(a * LOWER, b, lower=True),
    "definite, wide": lambda a, b: scipy.linalg.solveh_banded(a * WIDE_UPPER, b),
}


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("right", [B, np.stack([B, B**2], 1)], ids=["vector", "columns"])
@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver(name, right):
    solve = SOLVERS[name]
    ported = jax.jit(ag.port(solve))
    np.testing.assert_allclose(ported(1.3, right), solve(1.3, right), rtol=1e-12)
    h = 1e-6
    slope = (solve(1.3 + h, right) - solve(1.3 - h, right)).sum() / (2 * h)
    np.testing.assert_allclose(jax.grad(lambda a: ported(a, right).sum())(1.3), slope, rtol=1e-6)


@pytest.mark.usefixtures("x64")
def test_a_singular_matrix():
    solve = ag.jit(ag.port(SOLVERS["tridiagonal"]))
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        solve(0.0, B)
