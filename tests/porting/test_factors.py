"""LAPACK's `potrf` of a matrix that is not positive definite: the first leading block that is not, and the factor before."""

import jax
import numpy as np
import pytest
import scipy.linalg.lapack

import autograph_jax as ag

SYMMETRIC = np.array([[2.0, 1.0, -0.5], [1.0, 3.0, 2.5], [-0.5, 2.5, 1.0]])


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("lower", [0, 1])
def test_how_far_a_matrix_is_positive(lower):
    def factor(a):
        return scipy.linalg.lapack.dpotrf(a, lower=lower, clean=1)

    ported, seen = jax.jit(ag.port(factor)), set()
    for shift in (-4.0, -1.8, 0.0, 5.0):
        a = SYMMETRIC + shift * np.eye(3)
        (want, info), (found, told) = factor(a), ported(a)
        assert told == info
        seen.add(int(info))
        before = info - 1 if info else 3
        np.testing.assert_allclose(found[:before, :before], want[:before, :before], rtol=1e-12)
        if info > 1:
            beside = (before, slice(before)) if lower else (slice(before), before)
            np.testing.assert_allclose(found[beside], want[beside], rtol=1e-12)
    assert seen == {0, 1, 2, 3}
