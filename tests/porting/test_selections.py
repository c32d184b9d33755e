"""`x[mask]`, `x[:k]`, `x[indices]` where traced data says how many elements there are: NumPy programs against NumPy itself."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg
import scipy.stats

import autograph_jax as ag
from tests.porting.programs import VECTORS, Programs, check_compiled

PROGRAMS = program = Programs()


@program
def rows_and_columns(b):
    m = np.outer(b, b) + np.eye(3)
    k = b > 0
    return m[k, :].sum(axis=0), m[:, k].sum(axis=1), m[k, 0].sum(), (m[k] * b).max(initial=-9.0), m[:, k].mean(axis=0).size


@program
def written_by_masks(b):
    m = np.outer(b, b)
    k = b > 0
    m[k, :] = 5
    m[:, k] += 1
    m[k, 0] = b[k]
    m[m > 3] = -1
    return m


@program
def up_to_a_bound(b):
    k = (b > 0).sum()
    x = np.zeros(3)
    x[:k] = b[:k] * 2
    x[k:] -= b[k:]
    return x, np.dot(b[:k], b[:k]), np.linalg.norm(b[:k]), b[:k].sum(), b[k:].sum(), len(b[:k]), b[:k].shape[0], b[:-k].size


@program
def parts_of_a_matrix(b):
    k = (b > 0).sum()
    m = np.outer(b, b + 1)
    return (
        m[:, :k] @ b[:k],
        (m[:k] @ b).sum(),
        np.sum(m[:k, 1] ** 2),
        m[1, :k].sum(),
        (b[:k, None] * np.ones((1, 3))).sum(axis=0),
    )


@program
def a_slice_is_a_view(b):
    k = (b > 0).sum()
    x = np.zeros(3)
    y = x[:k]
    y[:] = 7
    y += 1
    z = x[k:]
    z[:] = b[k:]
    x[0] = 4
    return x, y.sum()


@program
def places(b):
    i = np.nonzero(b > 0)[0]
    x = np.zeros(3)
    x[i] = b[i] * 3
    j = np.flatnonzero(b <= 0)
    x[j] -= 1
    rows, columns = np.nonzero(np.outer(b, b) > 1)
    return x, i.sum(), len(j), rows.sum() - columns.sum()


@program
def one_behind_the_other(b):
    k = b > 0
    x = np.zeros(3)
    x[:] = np.concatenate([b[k], b[~k]])
    return x, np.hstack([b[k], b]).sum(), np.append(b[k], 5.0).sum()


@program
def in_order(b):
    s = np.sort(b[b > 0])
    x = np.zeros(3)
    x[: len(s)] = s
    return x, s[::-1].sum(), np.cumsum(s).sum(), b[b > 0][np.argsort(b[b > 0])].sum()


@program
def some_of_some(b):
    k = b > 0
    s = b[k]
    t = s[s > 1]
    x = b.copy()
    x[k] = np.where(s > 1, 0, s)
    return x, t.sum(), t.size


@program
def single_elements(b):
    s = b[b > -99]
    k = (b > 0).sum()
    return s[0], s[-1], s[k - 1], b[k - 3 :][0]


@program
def scalars_by_a_mask(b):
    x, total = b[0], b.sum()
    return x[x > 0].sum(), x[x > 0].size, total[total > 1].size


@program
def in_a_loop(b):
    total, x = 0.0, b.copy()
    for k in range(3):
        if b[k] < 0:
            break
        total = total + np.dot(x[: k + 1], b[: k + 1])
        x[: k + 1] /= 2
    return total, x


class Graph:
    def __init__(self):
        self.edges = [[1, 2], [0, 2], [0, 1]]


@program
def lists_at_a_traced_place(b):
    graph, node, path = Graph(), 0, np.zeros(4)
    while node < 2 and path.sum() < 5:
        node = graph.edges[node][1 if b[node] > 0 else 0]
        path[node] += 1
    return path, node


@program
def each_element_once(b):
    x = np.round(np.append(b, b[:2] + 2))
    once, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    return once.sum(), first.max(), inverse, np.dot(once, counts), once.size, np.union1d(x, b).sum()


@program
def in_their_order(b):
    x = np.append(b, 0.25)
    some = x[x > 0]
    y = x[x > -5].copy()
    y.sort()
    return np.median(some), np.percentile(some, 30.0), np.count_nonzero(some > 1), np.ptp(some), np.average(some), y[0]


@program
def taken_by_a_condition(b):
    x = np.outer(b, b) + 1
    return (
        np.compress(x[0] > 1, x, axis=1).sum(),
        np.extract(x > 2, x).sum(),
        np.argwhere(x > 1).sum(),
        np.trapezoid(b[b > -9]),
        np.isin(b[b > -9], [0.0, 2.0]).sum(),
        b[b == b.max()][:1].item(),
    )


@program
def elements_of_a_copy_are_written(b):
    x = np.append(b, [1.0, 5.0])
    some = x[x > -1.5]
    y = np.zeros_like(some)
    i = np.nonzero(some > 0.4)
    y[i] = some[i] * 2
    y[np.flatnonzero(some < 1)] -= 1
    y[-1] = 7
    z = np.zeros(5)
    z[x > -1.5] = y
    return z


@program
def least_squares_of_some_columns(b):
    a = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0], [2.0, 1.0, 1.0], [1.0, 1.0, 4.0]])
    free = b > -0.5
    right = np.append(b, 1.0)
    x = np.zeros(3)
    x[free] = np.linalg.lstsq(a[:, free], right, rcond=-1)[0]
    rows = right > -1.5
    y, left, rank, singular = np.linalg.lstsq(a[rows], right[rows])
    return x, y, left.sum(), rank, singular.sum(), scipy.linalg.lstsq(a, right)


@program
def orthogonal_to_some_columns(b):
    a = np.array([[1.0, 2.0, 0.5], [0.0, 1.0, 3.0], [2.0, 1.0, 1.0], [1.0, 1.0, 4.0]])
    q, r = scipy.linalg.qr(a[:, b > -0.5])
    rows, small = np.linalg.qr(a[np.append(b, [1.0]) > -1.5])
    return q, abs(r).sum(), rows.sum(), small


@program
def some_of_some_are_written(b):
    x, y = b[b > -2], (b * b)[b > -2]
    i = x < 2.5
    some = x[i]
    j = y[i] < 2
    some[j] = y[i][j] - 7
    x[i] = some
    some[:1] = 3
    m = np.outer(b, b)[b > -2]
    m[i, 1] = 9
    return x.sum(), (x * np.arange(3)[b > -2]).sum(), some.sum(), m.sum(axis=0), (some[j] * 2).sum()


@program
def as_long_as_a_loop_has_come(b):
    m = np.outer(b, b + 1)
    for k in range(3):
        if b[k] > 2.5:
            break
    y = np.zeros(k + 1)
    y[:] = b[: k + 1]
    for j in range(k, 0, -1):
        y[:j] -= m[j, :j]
    return y @ m[: k + 1, :], y.sum(), len(y)


@program
def places_along_two_axes(b):
    m, k = np.outer(b, b + 1), np.nonzero(b > 0)[0]
    n = np.stack([m, 2 * m])
    m[k, k] = b[k] - 9
    m[k, k - 1] += 1
    some, r = m[:, k] * 1.5, np.arange(k.shape[0])
    top = np.argmax(np.abs(some), axis=0)
    wide = np.stack([some, some + 1])[..., top, r].sum() if k.size else 0.0
    update = some[top, r] > n[0, k, k] / 3
    if np.any(update):
        (update,) = np.nonzero(update)
        n[1][:, k[update]] = some[:, update]
    place = int(np.nonzero(np.arange(3) == b.argmax())[0].squeeze())
    return m, (m[k, k[::-1]] * b[k]).sum(), n[:, k, k].sum(axis=1), n[0, k, k].sum(), place, wide


@program
def back_substitution_beside_a_longer_row(b):
    h = np.outer(b, np.arange(1.0, 6.0)) + 1
    n = (b > 0).sum()
    y = b.copy()
    for k in range(n, 0, -1):
        if k < 3:
            y[:k] -= y[k] * h[k, :k]
    return y


@program
def brought_to_one_shape(b):
    x, y = np.broadcast_arrays(b[b > 0], 2.0)
    z = b[b != 0]
    np.putmask(z, z < 0, 9.0)
    np.place(z, z > 8, 7.0)
    np.place(z, z > 2, z[z > 2] * 3)
    return (x * y).sum(), y.sum(), z.sum(), x.flags.writeable, scipy.stats.lognorm.pdf(b, 0.5)


def lowered(row, by=0.0):
    return np.sort(row)[::-1] - by


@program
def filled_with_what_is_traced(b):
    k = (b > 0).sum()
    return (
        np.full(k, b.max()).sum(),
        np.full((k, 2), b[0], dtype=int).sum(),
        np.apply_along_axis(lowered, 1, np.outer(b, b), by=2.0),
    )


@program
def ranks_with_ties(b):
    y = np.sort(np.append(b, [b[1], 0.0]))
    first = np.concatenate([[True], y[1:] != y[:-1]])
    counts = np.diff(np.arange(5)[first], append=5)
    ranks = np.arange(1.0, 6.0)[first] + (counts - 1) / 2
    return np.repeat(ranks, counts).reshape(5), ranks.repeat(counts).sum(), np.repeat(b[b > 0], 1 + (b[b > 0] < 0)).sum()


@program
def counted(b):
    m, k = np.outer(b, b - 1), b > 0
    return (
        np.count_nonzero(m[k] > 0, axis=0),
        np.count_nonzero(m[:, k], axis=0, keepdims=True).sum(),
        scipy.stats.mode(np.round(b)),
    )


@program
def loops_over_what_is_selected(b):
    x, m, total = b.copy(), np.outer(b, b), 0.0
    for i in np.nonzero(b > 0)[0]:
        while x[i] < 9:
            x[i] = 2 * x[i] + 1
    k = (b > 1).sum()
    for row in m[:k]:
        row += 1
        total = total + row[0]
    for row in m[b > 1]:
        row *= 0
    for place, value in enumerate(b[b > 0][::-1], 1):
        total = total + place * value
    for value, other in zip(x[:k], m[1, :k], strict=False):
        x[0] += 1
        total = total + value * other
        if total > 50:
            break
    for column in m[:, b > 0]:
        total = total + column.sum()
    some = np.empty_like(m[:, b > 0])
    for i, row in enumerate(m[:, b > 0].T):
        some[:, i] = row * i
    x = x + some.sum(axis=1)
    return x, m, total


@program
def arrays_of_lengths_that_have_a_bound(b):
    matrix = np.outer(b, b)
    return (
        np.ones(b[b > 0].size).sum(),
        np.ones(np.size(matrix[b > 0])).sum(),
        np.ones(matrix[matrix > 0].size).sum(),
        np.zeros(np.nonzero(b)[0].size).size,
        np.ones(np.count_nonzero(b > 0)).sum(),
        np.ones(np.argmin(b) + 1).sum(),
        np.arange(b.argmax() + 2).sum(),
        np.ones(np.searchsorted(np.sort(b), 0.7)).sum(),
        np.ones(np.argmax([b[0], b[1]]) + 1).sum(),
        np.argmin([[b[0], b[1]], [b[2], b[0]]]),
        np.count_nonzero((b[0], 0.0)),
        np.searchsorted([-9.0, b[0], b[0] + 4], 2.0),
    )


@program
def truth_of_one_element(b):
    large, total = b[b > 2], 0.0
    if large.size == 1 and large == 3.0:
        total = 1.0
    if large.size == 1:
        total += 10 if large > 2.5 else 20
    while large.size == 1 and large < 8:
        large = large * 2
        total += 100
    return total


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, x64: None):
    check_compiled(PROGRAMS[name], VECTORS)


ERRORS: dict[str, tuple[Callable[[Any], Any], type[Exception], str]] = {
    "lengths": (lambda b: (b[b > 0] + b[b < 9]).sum(), ValueError, "could not be broadcast"),
    "place": (lambda b: b[b > 0][2], IndexError, "out of bounds"),
    "known length": (lambda b: b[b > 0] + np.ones(3), ValueError, "could not be broadcast"),
    "truth": (lambda b: 1.0 if b[b > 0] > 1 else 2.0, ValueError, "truth value of an array"),
    "nothing": (lambda b: b[b > 9].max(), ValueError, "zero-size array"),
    "result": (lambda b: b[b > 0] * 2, ag.PortingError, r"max_len=100"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name: str, x64: None):
    function, kind, message = ERRORS[name]
    with pytest.raises(kind, match=message):
        jax.block_until_ready(ag.jit(ag.port(function))(jnp.array([3.0, -2.0, 0.5])))


def test_results_are_padded(x64: None):
    def positive(b: Any) -> Any:
        return {"values": b[b > 0] * 2, "places": np.nonzero(b > 0)[0], "rows": np.outer(b, b)[:, b > 0]}

    for values in VECTORS:
        want = positive(np.array(values))
        found = jax.jit(ag.port(positive, max_len=4))(jnp.array(values))
        for name, array in want.items():
            padded, count = found[name], array.shape[-1]
            assert padded.length == count and padded.padded(9).shape == (*array.shape[:-1], 4)
            np.testing.assert_array_equal(np.asarray(padded)[..., :count], array)
            assert (padded.padded(9)[..., count:] == 9).all() and padded.mask.tolist() == [i < count for i in range(4)]
            if count:
                np.testing.assert_array_equal(padded[..., -1], array[..., -1])


def test_a_result_longer_than_the_bound_raises(x64: None):
    with pytest.raises(IndexError, match="at most 1 elements"):
        jax.block_until_ready(ag.jit(ag.port(lambda b: b[b > 0], max_len=1))(jnp.array([1.0, 2.0])).padded())


def test_derivatives_and_batches(x64: None):
    def f(b: Any) -> Any:
        k = (b > 0).sum()
        s = np.sqrt(b[b > 0])
        return s.sum() + np.dot(b[:k], b[:k])

    ported, b = ag.port(f), jnp.array([[3.0, -2.0, 0.5], [-1.0, 4.0, 2.0]])
    for row in b:
        steps = 1e-6 * np.eye(3)
        want = [(f(np.array(row) + step) - f(np.array(row) - step)) / 2e-6 for step in steps]
        for derivative in (jax.grad, jax.jacfwd):
            np.testing.assert_allclose(derivative(ported)(row), want, rtol=1e-5)
    np.testing.assert_allclose(jax.vmap(ported)(b), [f(np.array(row)) for row in b])


def test_derivatives_of_least_squares(x64: None):
    def f(b: Any) -> Any:
        x = np.zeros(3)
        free = b > 0
        x[free] = np.linalg.lstsq(np.outer(b, b)[:, free] + np.eye(3)[:, free], b, rcond=-1)[0]
        return (x**2).sum() + scipy.linalg.lstsq(np.diag(b), b + 1)[0].sum()

    b = np.array([3.0, -2.0, 0.5])
    want = [(f(b + step) - f(b - step)) / 2e-6 for step in 1e-6 * np.eye(3)]
    for derivative in (jax.grad, jax.jacfwd):
        np.testing.assert_allclose(derivative(ag.port(f))(jnp.array(b)), want, rtol=1e-5)
