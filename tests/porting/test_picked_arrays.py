"""Arrays that traced data picks, `tables[k]`: each is the one of the list that NumPy would give, read and written."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
ROWS = (np.array([[0.7, 0.4], [0.2, 0.1]]), np.array([[0.2, 0.3], [0.8, 0.6]]), np.array([[0.6, 0.9], [0.5, 0.95]]))


class Holder:
    def __init__(self, row: Any) -> None:
        self.row = row


def pair(a: Any) -> tuple[list[Any], Any]:
    return [a[0] * 1, a[1] * 1], np.argmax(a[0])


def item_written(a: Any) -> Any:
    rows, k = pair(a)
    rows[k][0] = 7
    return rows


def in_a_tuple(a: Any) -> Any:
    rows, k = (a[0] * 1, a[1] * 1), np.argmax(a[0])
    rows[k][0] += 7
    return rows


def by_a_variable(a: Any) -> Any:
    rows, k = pair(a)
    row = rows[k]
    row[0] = 7
    row += 1
    return rows, row


def written_behind_it(a: Any) -> Any:
    rows, k = pair(a)
    row = rows[k]
    later = lambda: row[0]  # noqa: E731
    rows[0][1] = 5
    rows[1][0] = 6
    return rows, row, later()


def by_a_key(a: Any) -> Any:
    rows = {"a": a[0] * 1, "b": a[1] * 1}
    name = "a" if a[0, 0] > 0.5 else "b"
    rows[name][0] += 2
    return rows


def a_view_of_it(a: Any) -> Any:
    rows, k = pair(a)
    back = rows[k][::-1]
    back[0] = 9
    rows[k][0] += 1
    return rows, back


def swapped(a: Any) -> Any:
    rows, k = pair(a)
    first, second = rows[k], rows[1 - k]
    first[:], second[:] = second * 1, first * 1
    first[0] = 100
    return rows, first, second


def by_methods_and_out(a: Any) -> Any:
    rows, k = pair(a)
    rows[k].fill(3)
    rows[1 - k].sort()
    np.add(rows[k], 1, out=rows[k])
    return rows


def in_turns(a: Any) -> Any:
    rows, k = pair(a)
    for _ in range(5):
        rows[k][0] += 1
        if rows[k][0] > 3:
            k = 1 - k
    return rows


def in_a_branch(a: Any) -> Any:
    rows, k = pair(a)
    row = rows[k]
    if a[0, 0] > 0.5:
        row[1] = 50
    return rows, row


def in_a_called_function(a: Any) -> Any:
    def add(row: Any, value: Any) -> Any:
        row += value
        return row

    rows, k = pair(a)
    for turn in range(3):
        row = add(rows[k], turn)
        k = 1 - k
    row[0] = 7
    return rows, row


def picked_of_what_is_picked(a: Any) -> Any:
    rows = [a[0] * 1, a[1] * 1, a[0] * 3]
    k = np.argmax(a[0])
    near = [rows[k], rows[k + 1]]
    near[np.argmin(a[1])][0] = 44
    return rows, near


def a_row_of_it(a: Any) -> Any:
    tables = [a.copy(), a * 2]
    k = np.argmax(a[0])
    row = tables[k][k]
    row[0] = 5
    if a[0, 0] > 0.5:
        row[1] = 3
    return tables, row


def in_picked_tuples(a: Any) -> Any:
    pairs = [(a[0] * 1, a[1] * 1), (a[0] * 2, a[1] * 2)]
    first, second = pairs[np.argmax(a[0])]
    first[0] = 1
    second[1] = 2
    return pairs, first, second


def of_a_picked_object(a: Any) -> Any:
    holders = [Holder(a[0] * 1), Holder(a[1] * 1)]
    holders[np.argmax(a[0])].row[0] += 1
    return holders[0].row, holders[1].row


def made_in_a_branch(a: Any) -> Any:
    total = np.zeros(2)
    if a[0, 0] > 0.4:
        rows, k = pair(a)
        rows[k][0] = 3
        total = total + rows[0] - rows[1]
    return total


def replaced_in_the_list(a: Any) -> Any:
    rows, k = pair(a)
    row = rows[k]
    rows[k] = a[0] * 10
    row[0] = 9
    return rows, row


def pivoting(a: Any) -> Any:
    """As in Lemke's and Howson's algorithm: which table comes first is known to data alone."""
    tables = (np.empty((2, 2)), np.empty((2, 2)))
    for turn in range(3):
        for table in tables:
            for i in range(2):
                table[i] = a[i]
        first = 0
        for value in a[0]:
            if value > 0.5:
                first = 1
                break
        steps = 0
        while True:
            for k in [first, 1 - first]:
                tables[k][steps % 2] *= 2
                steps += 1
                if tables[k][0, 0] > 2:
                    break
            else:
                continue
            break
        if steps > 4 + turn:
            return tables, steps
    return tables, steps


RIGHT: list[Callable[[Any], Any]] = [
    item_written, in_a_tuple, by_a_variable, written_behind_it, by_a_key, a_view_of_it, swapped, by_methods_and_out, in_turns,
    in_a_branch, in_a_called_function, picked_of_what_is_picked, a_row_of_it, in_picked_tuples, of_a_picked_object,
    made_in_a_branch, replaced_in_the_list, pivoting,
]  # fmt: skip


def check_like_numpy(function: Callable[[Any], Any], a: Any) -> None:
    found, expected = (jax.tree.leaves(f(a.copy())) for f in (jax.jit(ag.port(function)), function))
    for value, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-12)


@pytest.mark.parametrize("a", ROWS)
@pytest.mark.parametrize("function", RIGHT)
def test_as_in_numpy(function: Callable[[Any], Any], a: Any) -> None:
    check_like_numpy(function, a)


def of_two_dtypes(a: Any) -> Any:
    rows = [a[0] * 1, a[1].astype(int)]
    rows[np.argmax(a[0])][0] = 44
    return rows


def of_two_layouts(a: Any) -> Any:
    tables = [a, a.T]
    tables[np.argmax(a[0])][0, 1] = 44
    return tables


@pytest.mark.parametrize("function", [of_two_dtypes, of_two_layouts])
def test_what_has_no_one_layout_is_refused(function: Callable[[Any], Any]) -> None:
    with pytest.raises(ag.AliasError, match="depending on traced data"):
        jax.jit(ag.port(function))(ROWS[0])


def test_memory_may_be_shared() -> None:
    def shares(a: Any) -> Any:
        rows, k = pair(a)
        row = rows[k]
        return np.shares_memory(row, rows[0]), np.shares_memory(row, a), np.may_share_memory(row[:1], row)

    assert list(map(bool, jax.jit(ag.port(shares))(ROWS[0]))) == [True, False, True]


def test_under_vmap_and_grad() -> None:
    def loss(a: Any) -> Any:
        rows, k = pair(a)
        rows[k][0] *= 3
        return rows[0].sum() - rows[1][0] ** 2

    ported = ag.port(loss)
    np.testing.assert_allclose(jax.vmap(ported)(np.stack(ROWS)), [loss(a) for a in ROWS], rtol=1e-12)
    gradient, step = jax.grad(ported)(ROWS[1]), 1e-6
    shifted = [ROWS[1] + step * np.eye(4)[n].reshape(2, 2) for n in range(4)]
    np.testing.assert_allclose(gradient.ravel(), [(loss(a) - loss(ROWS[1])) / step for a in shifted], atol=1e-4)
