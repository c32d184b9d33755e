"""`A[k + 1 :, k + 1 :]`, `A[np.ix_(m, m)]`, `A[:k, :k] @ B[:k, m]`: selected along several axes, against NumPy itself."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

import autograph_jax as ag
from tests.porting.programs import VECTORS, Programs, check_compiled

PROGRAMS = program = Programs()
VALUES = (*VECTORS, [-1.0, -2.0, -0.5])  # the last one selects nothing


def matrix(b):
    return np.outer(b, b + 1) + np.array([[4.0, 1.0, 0.5], [0.0, 5.0, 1.0], [2.0, 0.0, 6.0]])


@program
def a_block_is_written(b):
    k, a = (b > 0).sum(), matrix(b)
    a[k:, :k] += 1
    a[:k, :k] = a[:k, :k].T * 2
    a[k:, k:] -= np.outer(b[k:], b[k:])
    view = a[:k, k:]
    view[...] = 7
    view += b[k:]
    view.T[...] -= 1
    return a, a[:k, :k].sum(), a[k:, :k].sum(axis=0).sum(), a[k:, k:].sum(axis=1).sum()


@program
def rows_and_columns_by_masks(b):
    m, a = b > 0, matrix(b)
    square = a[np.ix_(m, m)]
    a[np.ix_(m, ~m)] = 9
    a[np.ix_(~m, m)] += a[~m][:, m]
    return a, square.sum(), a[m][:, m].sum(), (a[m][:, m] == a[np.ix_(m, m)]).all(), a[m][:, ~m].sum(axis=0).sum(), square.shape


@program
def a_mask_and_a_slice(b):
    m, k, a = b > 0, (b > 1).sum(), matrix(b)
    a[m, :k] *= 2
    a[k:, m] = 3
    a[m, k] = b[m] if k < 3 else 0
    return a, a[m, :k].sum(), a[:k, m].sum(axis=1).sum(), a[m][:, k:].sum()


@program
def elimination(b):
    a, n = matrix(b), 3
    k = 0
    while k < n - 1:
        a[k + 1 : n, k] /= a[k, k]
        a[k + 1 : n, k + 1 : n] -= a[k + 1 : n, k : k + 1] @ a[k : k + 1, k + 1 : n]
        k += 1
    x = b.copy()
    for k in range(3):
        if b[k] < -1.5:
            break
        x[k] = x[k] - x[:k] @ a[k, :k]
    return a, x


@program
def products_of_blocks(b):
    k, j, a = (b > 0).sum(), (b > 1).sum(), matrix(b)
    left, right = a[:k, :j], a[:j, k:]
    return (
        (left @ right).sum(),
        np.dot(left, right).shape,
        np.outer(b[:k], b[:j]).sum(axis=1).sum(),
        (b[:k] @ left @ b[:j]),
        np.einsum("ij,jk->ki", left, right).sum(axis=0).sum(),
        np.dot(left.T, left).trace(),
        (a[:, :k] @ np.ones((k, 2))).sum(axis=0),
        np.linalg.norm(left),
        np.linalg.norm(left, axis=0).sum(),
        np.linalg.norm(a[:k, :k] - a[:k, :k].T, np.inf) if k > 0 else 0.0,
    )


@program
def element_by_element(b):
    k, a = (b > 0).sum(), matrix(b)
    s, m = a[:k, k:], b > 0
    one = s * b[:k, None] - b[None, k:] + 1
    return (
        one.sum(),
        (one > 0).any(),
        one.mean() if one.size else 0.0,
        (a[:k] * b).sum(),
        (a[:k, :1] + a[:k, k:]).sum(),
        (a[m][:, m] * b[m]).sum() + (b[m][:, None] / (1 + b[m] ** 2)).sum(),
        np.where(s > 0, s, -s).sum(axis=0).sum(),
        np.maximum(s, b[:k, np.newaxis]).max(initial=-5.0),
        np.sqrt(np.abs(s)).T.sum(axis=1).sum(),
        np.asarray(s).copy().shape,
    )


@program
def other_shapes(b):
    k, a = (b > 0).sum(), matrix(b)
    s = a[:k, :k]
    t = np.stack([a, 2 * a])[:, :k, k:]
    return (
        s.ravel().sum(),
        np.sort(s.ravel())[::-1].cumsum().sum(),
        s.reshape(-1).size,
        t.transpose(1, 2, 0).sum(axis=0).sum(axis=0),
        np.moveaxis(t, 0, -1)[..., 1].sum(),
        t[1].sum(),
        t[:, None].sum(axis=(2, 3))[:, 0],
        np.atleast_2d(b[:k]).sum(axis=0).sum(),
        s[::-1, ::-1].cumsum(axis=0).sum(),
        np.tril(s).sum() - np.triu(s, 1).sum(),
        np.diag(s).sum() + np.diag(b[:k]).sum() + np.trace(s),
        a[:k].reshape(k, 3, 1).sum(axis=1).sum(),
        np.argmax(s, axis=0).sum() if k > 0 else -1,
        np.argmin(s) if k > 0 else -1,
        s[s > 1].sum(),
        np.reshape(s.ravel(), (k, k)).sum(axis=0).sum(),
        a.reshape(-1)[: 3 * k].reshape(3, k).sum(axis=1),
        np.kron(s, b[None, :k]).sum(axis=0).sum(),
        np.linalg.svd(a[:k], compute_uv=False).sum(),
    )


@program
def parts_of_parts(b):
    k, j, a = (b > 0).sum(), (b > 1).sum(), matrix(b)
    s = a[:k, j:]
    s[1:, :1] = -3
    s[::-1][:1] += 1
    rows = a[b > 0]
    rows[:, :j] = 2
    rows[:j, j:] *= b[:j, None]
    last = a[-1, :j][::-1]
    last[:1] = 11
    return a, s[1:, 1:].sum(), rows.sum(), rows[:j].sum(axis=1).sum(), a[:k][:, k:].sum(), a[j : k + 1, k:].sum()


@program
def indices_along_two_axes(b):
    a, i, j = matrix(b), np.nonzero(b > 0)[0], np.nonzero(b > 1)[0]
    k = (b > 0).sum()
    a[i[:, None], j] += 5
    a[i[:, None], j[None, :]] *= 2
    s = a[:k, :k]
    p = np.arange(k)
    swapped = a[[k - 1, 0], : k + 1]
    a[[0, k - 1], : k + 1] = swapped
    return a, a[i[:, None], j].sum(), s[p, p[::-1]].sum(), np.take(s, p, axis=1).sum(), a[i][:, i].sum(), swapped.sum()


@program
def square_blocks(b):
    k, a = (b > 0).sum(), matrix(b)
    m, s = b > 0, a[:k, :k]
    positive = a[:k] @ a[:k].T + np.eye(k)
    factor = np.linalg.cholesky(positive)
    x = np.zeros(3)
    x[:k] = np.linalg.solve(s, b[:k])
    return (
        x,
        np.linalg.solve(s, a[:k]).sum(axis=0),
        np.linalg.inv(s).sum(),
        np.linalg.det(a[k:, k:]),
        np.linalg.det(a[np.ix_(m, m)]),
        np.linalg.inv(a[m][:, m]).sum(axis=1).sum(),
        factor.sum(),
        scipy.linalg.solve_triangular(factor, b[:k], lower=True).sum() if k > 0 else 0.0,
        scipy.linalg.solve(s, b[:k]).sum() if k > 0 else 0.0,
        np.linalg.lstsq(a[:k, :k], b[:k], rcond=None)[0].sum() if k > 0 else 0.0,
    )


@program
def put_together(b):
    k, j, a = (b > 0).sum(), (b > 1).sum(), matrix(b)
    block = np.block([[a[:k, :k], a[:k, :j]], [a[:j, :k], np.eye(j)]])
    tall = np.vstack([a[:k, :j], a[:, :j]])
    return (
        block.sum(axis=0).sum(),
        (block @ block).sum(),
        tall.sum(axis=1).sum(),
        np.concatenate([a[:k, k:], a[:k]], axis=1).sum(),
        np.hstack([a[:, :k], b[:, None]]).sum(axis=1),
        np.zeros((k, j)).shape,
        (np.zeros((k, 3)) + b).sum(),
        np.column_stack([b[:k], b[:k] * 2]).sum(axis=0),
    )


@program
def carried_by_loops_and_branches(b):
    a, s, total = matrix(b), matrix(b)[:1, :1], 0.0
    for k in range(1, 4):
        if b[k - 1] > -1.5:
            s = a[:k, :k]
        else:
            s = a[k - 1 :, : k - 1]
        total = total + s.sum()
        if total > 40:
            break
    i = 0
    block = a[:1, :2]
    while i < 2 and b[i] > 0:
        i += 1
        block = a[:i, i:]
    return total, s.sum(axis=0).sum(), block.sum(), block.shape


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, x64: None):
    check_compiled(PROGRAMS[name], VALUES, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("name", ["a block is written", "products of blocks", "element by element", "square blocks"])
def test_batches(name: str, x64: None):
    def numbers(b: Any) -> Any:
        return [1.0 * part.sum() for part in jax.tree.leaves(PROGRAMS[name](b)) if not isinstance(part, tuple)]

    def batched(b: Any) -> Any:
        return [jnp.sum(jnp.asarray(part)) for part in jax.tree.leaves(ag.port(PROGRAMS[name])(b))]

    found = jax.jit(jax.vmap(batched))(jnp.array(VALUES))
    for number, values in enumerate(VALUES):
        want = jax.tree.leaves(PROGRAMS[name](np.array(values)))
        for one, other in zip(want, found, strict=True):
            np.testing.assert_allclose(other[number], np.sum(one), rtol=1e-11, atol=1e-13)


def smooth(b):
    k, a, m = (b > 0).sum(), matrix(b), b > 0
    s = a[:k, k:]
    a[k:, k:] *= np.outer(b[k:], b[k:])
    a[m, :k] = np.log(a[m, :k] ** 2 + 1)
    return (
        (1 / (b[:k, None] * np.sqrt(b[:k] ** 2 + 1))).sum()
        + np.linalg.solve(a[:k, :k] + 9 * np.eye(k), b[:k]).sum()
        + np.linalg.norm(a[m] + 9, axis=1).sum()
        + np.linalg.det(a[np.ix_(m, m)])
        + np.log(np.linalg.inv(a[k:, k:] + 9 * np.eye(3 - k)).sum() ** 2 + 1)
        + (s @ s.T).sum()
        + np.prod(a[:k, :k])
        + np.sqrt(b[m][:, None] / b[m]).sum()
    )


@pytest.mark.parametrize("values", [[3.0, -2.0, 0.5], [-1.0, 4.0, 2.0], [1.0, 2.0, 3.0], [-1.0, -2.0, -0.5]])
def test_derivatives(values: list[float], x64: None):
    b = np.array(values)
    want = [(smooth(b + step) - smooth(b - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    for derivative in (jax.grad, jax.jacfwd):
        np.testing.assert_allclose(derivative(ag.port(smooth))(jnp.array(b)), want, rtol=1e-5, atol=1e-7)


def test_results_are_padded_along_each_axis(x64: None):
    def block(b: Any) -> Any:
        return np.outer(b, b + 1)[:2][:, b > 0][: (b > 1).sum()]

    found = jax.jit(ag.port(block, max_len=4))
    for values in VALUES:
        want, padded = block(np.array(values)), found(jnp.array(values))
        assert tuple(map(int, padded.length)) == want.shape and padded.axis == (0, 1)
        rows, columns = want.shape
        assert padded.padded(9).shape == padded.mask.shape == (4, 4)
        np.testing.assert_array_equal(padded.padded(9)[:rows, :columns], want)
        assert padded.mask.sum() == want.size and (padded.padded(9)[~padded.mask] == 9).all()
        if want.size:
            assert padded[-1, -1] == want[-1, -1]


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "eigenvalues": (lambda b: np.linalg.eigvalsh(np.outer(b, b)[: (b > 0).sum(), : (b > 0).sum()]).sum(), "eigvalsh"),
    "singular values": (lambda b: np.linalg.svd(np.outer(b, b)[:, b > 0])[1].sum(), "svd"),
    "the least": (lambda b: np.linalg.norm(b[b > 0], -np.inf), "of order -inf"),
    "the other order": (lambda b: np.outer(b, b)[:, b > 0].ravel("K").sum(), "order of memory"),
    "a diagonal beside": (lambda b: np.diagonal(np.outer(b, b)[: (b > 0).sum()], 1).sum(), "beside the middle"),
    "other elements": (lambda b: reshaped_and_written(b), "share its memory"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str, x64: None):
    function, message = REFUSED[name]
    with pytest.raises(ag.PortingError, match=message):
        jax.jit(ag.port(function))(jnp.array([3.0, -2.0, 0.5]))


def reshaped_and_written(b):
    a = np.outer(b, b)
    row = a[: (b > 0).sum()].reshape(-1)
    row[:] = 0
    return a


ERRORS: dict[str, tuple[Callable[[Any], Any], Any, str]] = {
    "sizes of a product": (lambda b: (np.outer(b, b)[:, b > 0] @ b[b < 0]).sum(), ValueError, "could not be broadcast"),
    "sizes of what is written": (lambda b: written_with(b), ValueError, "could not broadcast"),
    "no square": (lambda b: np.linalg.det(np.outer(b, b)[b > 0][:, b < 0]), ValueError, "could not be broadcast"),
    "singular": (lambda b: np.linalg.solve(np.outer(b, b)[b > 0][:, b > 0], b[b > 0]).sum(), np.linalg.LinAlgError, "Singular"),
    "a place outside": (lambda b: np.outer(b, b)[: (b > 0).sum(), : (b > 0).sum()][0, 2], IndexError, "out of bounds"),
}


def written_with(b):
    a = np.outer(b, b)
    a[: (b > 0).sum(), b > 0] = a[: (b > -9).sum(), b > 0]
    return a


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, x64: None):
    function, kind, message = ERRORS[name]
    with pytest.raises((ValueError, IndexError, np.linalg.LinAlgError)):
        function(np.array([3.0, -2.0, 3.0]))
    with pytest.raises(kind, match=message):
        jax.block_until_ready(ag.jit(ag.port(function))(jnp.array([3.0, -2.0, 3.0])))
