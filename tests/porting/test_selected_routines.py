"""Routines of BLAS and LAPACK of selections, stacks of selected matrices, and arrays as long as two selections differ."""

import numpy as np
import pytest
import scipy.linalg

from tests.porting.programs import Programs, check_compiled

program = Programs()


@program
def routines_that_read_selections(b):
    """As orthogonal matching pursuit extends its Cholesky factor."""
    m = np.outer(b, b) / 9 + 3 * np.eye(3)
    factor, k = np.linalg.cholesky(m), (b > 0).sum()
    nrm2, dot = scipy.linalg.get_blas_funcs(("nrm2", "dot"), (m,))
    (potrs,) = scipy.linalg.get_lapack_funcs(("potrs",), (m,))
    solved, _ = potrs(factor[:k, :k], b[:k], lower=True, overwrite_b=False)
    return nrm2(factor[2, :k]), dot(b[:k], m[0, :k]), np.sum(solved), m[:, :k] @ solved


@program
def values_and_vectors_of_selected_matrices(b):
    stack = b[:, None, None] * np.eye(2) + np.array([[2.0, 1.0], [0.0, 3.0]])
    is_large = b > 1
    u, s, v = np.linalg.svd(stack[is_large])
    stack[is_large] = u @ v
    return stack, s.sum()


@program
def as_long_as_the_difference(b):
    first, second = b[b > -5], b[b > 1]
    return np.concatenate([np.zeros(len(first) - len(second)), second]).sum()


@pytest.mark.parametrize("name", program)
@pytest.mark.usefixtures("x64")
def test_programs(name: str):
    check_compiled(program[name], [[1.0, 2.0, 3.0], [3.0, -2.0, 0.5], [-1.0, 4.0, 2.0]])
