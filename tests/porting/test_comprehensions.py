"""Comprehensions of ported code, over what traced data decides the length of: selections, lists with a bound, ranges, `zip`."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
VALUES = np.array([0.5, 2.0, 3.0, 1.5, -1.0])
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def sum_of_a_generator(x):
    return sum(v * (v - 1) for v in x[x > 1])


@program
def list_in_an_array(x):
    return np.sum([v * (v - 1) for v in x[x > 1]]) + np.mean([v for v in x[x > 1]])


@program
def largest(x):
    return max([abs(v) for v in x[x > 1]]) + min(v for v in x[x > 1])


@program
def any_and_all(x):
    return any(v > 2.5 for v in x[x > 1]), all(v > 2.5 for v in x[x > 1]), any(v > 9 for v in x[x > 1])


@program
def beside_others(x):
    numbered = sum(i * v for i, v in enumerate(x[x > 1], 1))
    weighted = sum(v * w for v, w in zip(x[x > 1], np.arange(5.0), strict=False))
    return numbered + weighted + sum(abs(v - w) for v, w in zip(x[x > 1], x[x < 1], strict=False))


@program
def over_a_list_with_a_bound(x):
    large = [v for v in x if v > 1]
    return sum(v for v in large) + np.prod([v * 2 for v in large]) + len([v for v in large if v < 3])


@program
def over_a_generator_with_a_bound(x):
    large = (v for v in x if v > 1)
    return sum(v * 2 for v in large)


@program
def over_a_range(x):
    return sum(x[i] * i for i in range(np.count_nonzero(x > 1))) + sum([x[i] for i in range(1, len(x[x > 1]), 2)])


@program
def with_a_condition(x):
    return len([v for v in x[x > 1] if v < 3]), sum(1 for v in x[x > 1] if v < 3 if v > 1.75)


@program
def inside_each_other(x):
    return sum(sum(v * w for v in x[x > 1]) for w in x), sum([v * w for w in [1.0, 2.0] for v in x[x > 1]])


@program
def functions_of_the_elements(x):
    return np.prod([math.exp(-v) for v in x[x > 0]]), sorted(v for v in x[x > 1])[0], next(v for v in x[x > 1])


@program
def rows_of_a_matrix(x):
    rows = np.stack([x, x + 1])
    return sum(row.sum() for row in rows[rows[:, 0] > 1])


@program
def goes_through_what_it_made(x):
    total = 0.0
    for v in [w * 2 for w in x[x > 1]]:
        total += v
    return total


@program
def of_known_lengths(x):
    text = ", ".join(str(k) for k in [1, 2, 3])
    return [v + 1 for v in x], tuple(v * 2 for v in x), dict((k, v) for k, v in zip("ab", x, strict=False)), len(text)


@program
def statements_beside_others(x):
    total = 0.0
    for v, w, u in zip(x[x > 1], [1.0, 2.0, 3.0, 4.0], (x * 2)[1:], strict=False):
        total += v * w + u
    return total


def assert_same(got, want):
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_as_in_numpy(function):
    ported = ag.port(function)
    for values in (VALUES, VALUES[::-1].copy(), VALUES + 1):
        assert_same(jax.jit(ported)(values), function(values))
        assert_same(ported(values), function(values))
    many = np.stack([VALUES, VALUES[::-1], VALUES * 2])
    assert_same(jax.vmap(ported)(jnp.asarray(many)), jax.tree.map(lambda *rows: np.stack(rows), *map(function, many)))


@pytest.mark.parametrize("function", [sum_of_a_generator, list_in_an_array, beside_others], ids=lambda f: f.__name__)
def test_derivatives(function):
    steps = 1e-6 * np.eye(len(VALUES))
    want = [(function(VALUES + step) - function(VALUES - step)) / 2e-6 for step in steps]
    for derivative in (jax.grad, jax.jacfwd):
        np.testing.assert_allclose(jax.jit(derivative(ag.port(function)))(VALUES), want, rtol=1e-7, atol=1e-7)


def test_a_generator_that_knows_its_length_is_pythons():
    @ag.port
    def kind(x):
        return type(v for v in x).__name__, type(v for v in x[x > 1]).__name__

    assert kind(VALUES) == ("generator", "generator")


def test_an_error_of_an_element_that_is_not_there_is_none():
    @ag.port
    def inverse(v):
        if v < 1:
            raise ValueError("too small")
        return 1 / v

    def run(x):
        return sum(inverse(v) for v in x[x > 1])

    assert ag.jit(ag.port(run))(VALUES) == 1 / 2.0 + 1 / 3.0 + 1 / 1.5


def taken_twice(x):
    pairs = zip(x[x > 1], np.arange(5.0), strict=False)
    return sum(v * w for v, w in pairs), sum(v + w for v, w in pairs)


def counted_twice(x):
    pairs = enumerate(x[x > 1])
    return len([v for _, v in pairs]), len([v for _, v in pairs])


def taken_in_a_loop(x):
    backwards, total = reversed(x[x > 1]), 0.0
    for _ in range(2):
        total += sum(v for v in backwards)
    return total


def taken_in_part(x):
    pairs = enumerate(x[x > 1])
    return any(v > 2.5 for _, v in pairs), sum(v for _, v in pairs)


def taken_by_another(x):
    pairs = enumerate(x[x > 1])
    return sum(v * w for (_, v), w in zip(pairs, [1.0, 2.0, 3.0], strict=False)), sum(v for _, v in pairs)


def popped_meanwhile(x):
    large = [v for v in x if v > 1]
    return len([large.pop() for v in large]), len(large)


def written_before(x):
    large = [v for v in x if v > 1]
    ones = (v for v in large)
    large[0] = 100.0
    return sum(ones)


def longer_before(x):
    weights = [1.0, 2.0]
    ones = (v * w for v, w in zip(x[x > 1], weights, strict=False))
    weights.append(3.0)
    return sum(ones)


def replaced_in_a_list_of_a_few_lengths(x):
    found = [None]
    if x[0] > 0.2:
        found[:] = [x[1], x, x[0]]
    ones = (np.sum(v) for v in found)
    found[0] = 50.0
    return sum(ones)


def target_at_a_place(x):
    last = {"k": 0.0}
    return sum([1 for last["k"] in x[x > 1]]), last["k"]


def window_with_a_start(x):
    k = np.count_nonzero(x > 1)
    return sum(v for v in x[1:k]), len([v for v in x[1:k]])


EITHER = [
    taken_twice, counted_twice, taken_in_a_loop, taken_in_part, taken_by_another, popped_meanwhile, written_before,
    longer_before, replaced_in_a_list_of_a_few_lengths, target_at_a_place, window_with_a_start,
]  # fmt: skip


@pytest.mark.parametrize("function", EITHER, ids=lambda f: f.__name__)
def test_right_or_refused(function):
    want = function(VALUES)
    try:
        got = jax.jit(ag.port(function))(VALUES)
    except ag.AutographError:
        return
    assert_same(got, want)


def test_a_window_with_a_start_is_right(x64):
    assert_same(jax.jit(ag.port(window_with_a_start))(VALUES), window_with_a_start(VALUES))


def test_a_list_that_changes_while_zip_goes_through_it_is_refused():
    @ag.port
    def run(x):
        weights, total = [1.0, 2.0], 0.0
        for v, w in zip(x[x > 1], weights, strict=False):
            weights.append(w)
            total += v * w
        return total

    with pytest.raises(ag.AutographError):
        jax.jit(run)(VALUES)
