"""Small matrices are factorised and solved without LAPACK: with its pivots, and its numbers up to rounding."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import factors
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]
SIZES = [1, 2, 3]


def matrices(n, kind):
    found = np.random.default_rng(n).normal(size=(400, n, n)).astype(kind)
    found[0], found[1], found[2, 0] = 0, 1, 0
    return found


@pytest.mark.parametrize("kind", [np.float64, np.float32], ids=lambda k: k.__name__)
@pytest.mark.parametrize("n", SIZES)
class TestAgainstLapack:
    def test_lu(self, n, kind):
        a = matrices(n, kind)
        theirs, ours = lax.linalg.lu(a), factors.WRITTEN_OUT["lu"](a)
        np.testing.assert_allclose(ours[0], theirs[0], rtol=0, atol=100 * np.finfo(kind).eps)
        np.testing.assert_array_equal(ours[1], theirs[1], strict=True)
        np.testing.assert_array_equal(ours[2], theirs[2], strict=True)
        (order,) = factors.WRITTEN_OUT["lu_pivots_to_permutation"](theirs[1])
        np.testing.assert_array_equal(order, lax.linalg.lu_pivots_to_permutation(theirs[1], n), strict=True)

    def test_cholesky(self, n, kind):
        a = matrices(n, kind)
        a = np.einsum("bij,bkj->bik", a, a) + np.eye(n, dtype=kind) / 10
        a[0] = -1  # no factor: NaN
        (ours,) = factors.WRITTEN_OUT["cholesky"](a)
        theirs = jnp.tril(lax.linalg.cholesky(a, symmetrize_input=False))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=100 * np.finfo(kind).eps)

    @pytest.mark.parametrize("lower", [True, False])
    @pytest.mark.parametrize("transpose_a", [True, False])
    def test_triangles(self, n, kind, lower, transpose_a):
        a = matrices(n, kind) + 4 * np.eye(n, dtype=kind)
        b = np.random.default_rng(7).normal(size=(400, n, 2)).astype(kind)
        for left_side, right in ((True, b), (False, b.swapaxes(1, 2))):
            for unit_diagonal in (True, False):
                how = {"left_side": left_side, "lower": lower, "transpose_a": transpose_a, "unit_diagonal": unit_diagonal}
                (ours,) = factors.WRITTEN_OUT["triangular_solve"](a, right, **how)
                theirs = lax.linalg.triangular_solve(a, right, **how)
                np.testing.assert_allclose(ours, theirs, rtol=100 * np.finfo(kind).eps, atol=100 * np.finfo(kind).eps)


def solves(a):
    total = jnp.zeros(len(a))
    for i in range(5):
        total = total * 0.5 + jnp.linalg.solve(a + i * jnp.eye(len(a)), total + 1)
    return total


def inverses(a):
    for _ in range(3):
        a = jnp.linalg.inv(a @ a.T + jnp.eye(len(a)))
    return a


def definite(a):
    s = jnp.eye(len(a))
    for _ in range(3):
        s = jnp.linalg.cholesky(a @ s @ a.T + jnp.eye(len(a))) + jax.scipy.linalg.cho_solve((s, True), a) * 0.1
    return s


PROGRAMS = [solves, inverses, definite]


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_programs(function, n):
    a = np.random.default_rng(3).normal(size=(n, n))
    ours, theirs = [jax.jit(ag.autograph(function, optimize=o)) for o in (True, False)]
    assert "lapack" not in ours.lower(a).as_text() and "lapack" in theirs.lower(a).as_text()
    np.testing.assert_allclose(ours(a), theirs(a), rtol=1e-12, atol=1e-13)
    lanes = np.stack([a, a + 1, a - 2])
    np.testing.assert_allclose(jax.vmap(ours)(lanes), jax.vmap(theirs)(lanes), rtol=1e-11, atol=1e-12)
    for transform in (jax.jacfwd, jax.jacrev):
        np.testing.assert_allclose(jax.jit(transform(ours))(a), jax.jit(transform(theirs))(a), rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("a", [np.eye(4), np.eye(2) * (1 + 2j)], ids=["4x4", "complex"])
def test_others_are_left_to_lapack(a):
    assert "lapack" in jax.jit(ag.autograph(inverses)).lower(a).as_text()


def test_explain_names_it():
    lines = ag.explain(inverses, np.eye(2), compile=False).functions[0].lines
    assert any("factors: `lu` of (2, 2) is written out" in line.details for line in lines)
