"""Arrays of ported code that traced data has made one of two: a write to one shows in the other, or is refused."""

from typing import Any

import numpy as np
import pytest

import autograph_jax as ag

ROWS = ((2.0, 3.0, False), (2.0, 2.0, False), (3.0, 2.0, True), (2.0, 5.0, True))


class Holder:
    pass


def in_a_nested_branch(x: Any, y: Any, b: Any) -> Any:
    own, kept = np.zeros(2) + x, np.ones(2)
    if not b:
        kept = own if y != x else np.ones(2) * x
    own[0] += 5
    return kept[0]


def or_none(x: Any, y: Any, b: Any) -> Any:
    own, kept = np.zeros(2) + x, None
    if not b:
        kept = own if y != x else np.ones(2) * x
    own[0] += 5
    return kept[0] if kept is not None else 0.0


def in_lists_of_branches(x: Any, y: Any, b: Any) -> Any:
    own = np.zeros(2) + x
    if b:
        kept = [np.ones(2)]
    else:
        kept = [own] if y != x else [np.ones(2) * x]
    own[0] += 5
    return kept[0][0]


def view_in_a_nested_branch(x: Any, y: Any, b: Any) -> Any:
    own = np.zeros(2) + x
    if b:
        kept = np.ones(1)
    else:
        kept = own[:1] if y != x else np.ones(1) * x
    own[0] += 5
    return kept[0]


def in_each_turn(x: Any, y: Any, b: Any) -> Any:
    own, kept = np.zeros(2) + x, np.ones(2)
    for _ in range(3):
        kept = own if y != x else np.ones(2) * x
        y = y - 1
    own[0] += 5
    return kept[0]


def in_a_branch_of_a_turn(x: Any, y: Any, b: Any) -> Any:
    own, kept = np.zeros(2) + x, np.ones(2)
    while y > 0:
        if b:
            kept = own if y != x else np.ones(2) * x
        else:
            kept = np.ones(2) * y
        y = y - 1
    own[0] += 5
    return kept[0]


def in_an_attribute(x: Any, y: Any, b: Any) -> Any:
    holder = Holder()
    holder.own, holder.kept = np.zeros(2) + x, np.ones(2)
    if b:
        holder.kept = holder.own if y != x else np.ones(2) * x
    holder.own[0] += 5
    return holder.kept[0]


def picked_and_the_original_written(x: Any, y: Any, b: Any) -> Any:
    own, other = np.zeros(2) + x, np.ones(2)
    kept = [own, other][(y > x) * 1]
    own[0] += 5
    return kept[0]


def picked_and_written(x: Any, y: Any, b: Any) -> Any:
    arrays = [np.zeros(2) + x, np.ones(2)]
    picked = arrays[(y > x) * 1]
    picked[0] += 5
    return arrays[0][0] + 10 * arrays[1][0]


def written_where_it_is_picked(x: Any, y: Any, b: Any) -> Any:
    arrays = [np.zeros(2) + x, np.ones(2)]
    arrays[(y > x) * 1][0] += 5
    return arrays[0][0] + 10 * arrays[1][0]


def picked_by_a_chosen_name(x: Any, y: Any, b: Any) -> Any:
    own, other = np.zeros(2) + x, np.ones(2)
    kept = {"a": own, "b": other}["a" if y > x else "b"]
    kept[0] += 5
    return own[0] + 10 * other[0]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "function",
    [
        in_a_nested_branch, or_none, in_lists_of_branches, view_in_a_nested_branch, in_each_turn, in_a_branch_of_a_turn,
        in_an_attribute, picked_and_the_original_written, picked_and_written, written_where_it_is_picked,
        picked_by_a_chosen_name,
    ],
)  # fmt: skip
def test_as_in_numpy_or_refused(function: Any):
    ported = ag.jit(ag.port(function))
    for arguments in ROWS:
        try:
            found = ported(*arguments)
        except ag.AliasError:
            continue
        np.testing.assert_allclose(found, function(*arguments), err_msg=str(arguments))


def test_what_stays_apart_is_written():
    def f(x: Any, y: Any) -> Any:
        old, new = np.zeros(2) + x, np.ones(2)
        if y > x:
            if y > 2 * x:
                old, new = new, old
        old[0] += 5
        return old[0] + 10 * new[0]

    for arguments in ((2.0, 3.0), (1.0, 3.0), (3.0, 2.0)):
        np.testing.assert_allclose(ag.jit(ag.port(f))(*arguments), f(*arguments))


def test_an_array_that_begins_as_none_is_written_in_place(x64: None):
    """As in scipy.sparse.linalg.cg."""

    def f(x: Any) -> Any:
        p = None
        for turn in range(4):
            if turn > 0:
                p *= x
                p += 1
            else:
                p = np.ones(2) * x
            if p.sum() > 40:
                break
        return p

    for x in (1.5, 3.0):
        np.testing.assert_allclose(ag.jit(ag.port(f))(x), f(x))


def test_variables_that_a_path_does_not_set_share_nothing(x64: None):
    """Where the loop is left at once, `new` and `cost` have no value: that makes them no one array."""

    def total(x: Any, most: Any) -> Any:
        found = x * 1
        for _ in range(4):
            if found.sum() > most:
                break
            tries = 0
            while tries < 2 and found[0] < most:
                new = found + 1
                cost = new * 2
                tries += 1
            found = new
            found[0] -= 0.5
            found[1] += cost[0]
        return found

    ported, x = ag.jit(ag.port(total)), np.array([1.0, 2.0])
    for most in (3.0, 50.0, 9.0):
        np.testing.assert_allclose(ported(x, most), total(x, most), rtol=1e-12)


def _parts_of_one_array(x: Any, least: Any, cut: Any) -> Any:
    """As SciPy's minimiser of Chandrupatla's: three arrays that are parts of one, until a branch compresses them."""
    all_ = np.stack((x, x + 1, x + 2)).ravel()
    work = {"a": all_[cut[0]], "b": all_[cut[1]], "c": all_[cut[2]], "turns": 0}
    total = 0.0
    while work["turns"] < 4:
        near = work["a"] < work["b"] - 0.5
        a, b = work["a"][near], work["b"][near]
        a[b > 1] = b[b > 1] * 0.5
        work["a"][near], work["c"][near] = a, b + 1
        work["turns"] += 1
        stop = work["c"] > least
        total = total + work["a"].sum() + 10 * work["b"].sum() + 100 * work["c"].sum()
        if stop.any():
            for key, value in work.items():
                work[key] = value[~stop] if key != "turns" else value
        if work["a"].size == 0:
            break
    return total


APART = (slice(0, 4), slice(4, 8), slice(8, 12))
INTERLEAVED = (slice(0, 12, 3), slice(1, 12, 3), slice(2, 12, 3))
OVERLAPPING = (slice(0, 4), slice(3, 7), slice(6, 10))


@pytest.mark.parametrize("cut", [APART, INTERLEAVED, OVERLAPPING])
def test_parts_of_one_array_are_written(cut: Any, x64: None):
    ported = ag.jit(ag.port(lambda x, least: _parts_of_one_array(x, least, cut)))
    x = np.array([0.5, 2.0, -1.0, 0.7])
    try:
        for least in (1.5, 2.5, 3.1, 9.0):
            np.testing.assert_allclose(ported(x, least), _parts_of_one_array(x, least, cut), rtol=1e-12)
    except ag.AliasError:
        assert cut is OVERLAPPING


def test_arrays_of_objects(x64: None):
    def solve(x: Any) -> Any:
        hessian = np.atleast_2d(np.asarray(None))
        if x > 1:
            hessian = np.atleast_2d(np.asarray(None))
            x = x + 1
        return x if hessian[0, 0] is None else x - 1

    for x in (0.5, 2.0):
        assert ag.jit(ag.port(solve))(x) == solve(x)


def _one_of_two_each(x: Any, p: Any, q: Any) -> Any:
    """Two arrays: the first one is p or a new one, the second q or a new one."""
    if x[0] > 1:
        if x[1] > 1:
            return p, q
        return p + 1, q + 1
    return p + 2, q * 3


def the_second_is_made_anew(x: Any) -> Any:
    a, b = np.zeros(3), np.ones(3)
    c, d = _one_of_two_each(x, a, b)
    d = d * 2
    b[0] = 5.0  # which c is not, on any path
    return c, d, b


def the_second_is_made_anew_in_a_loop(x: Any) -> Any:
    a, b = np.zeros(3), np.ones(3)
    while a.sum() < 20:
        a, d = _one_of_two_each(x, a + 1, b)
        d = d * 2
        b[0] = d[1]
    return a, d, b


def the_first_is_made_anew(x: Any) -> Any:
    a, b = np.zeros(3), np.ones(3)
    c, d = _one_of_two_each(x, a, b)
    c = c * 2
    b[0] = 5.0  # which d may be
    return c, d, b


@pytest.mark.parametrize("solve", [the_second_is_made_anew, the_second_is_made_anew_in_a_loop])
def test_of_two_results_the_one_that_may_be_it(solve: Any, x64: None):
    ported = ag.jit(ag.port(solve))
    for x in ([0.5, 0.5], [2.0, 0.5], [2.0, 2.0]):
        for got, want in zip(ported(np.array(x)), solve(np.array(x)), strict=True):
            np.testing.assert_allclose(got, want)


def test_the_one_that_may_be_it_is_refused(x64: None):
    with pytest.raises(ag.AliasError):
        ag.jit(ag.port(the_first_is_made_anew))(np.array([2.0, 2.0]))
