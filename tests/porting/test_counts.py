"""Arrays of a length that traced data decides, `np.ones(k)`, whose bound is that of what k is computed from."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.porting import counts
from tests.porting.programs import Programs

pytestmark = pytest.mark.usefixtures("x64")
ROWS = ([1.2, -0.3, 0.9, 0.2], [-0.2, -0.1, 1.6, 3.0], [0.3, 2.0, 0.0, -1.0], [2.3, 1.0, 0.2, 0.4], [-2.3, -1.0, 0.2, 0.4])
PROGRAMS = program = Programs()


@program
def of_a_selection_in_a_branch(x: Any) -> Any:
    places = np.flatnonzero(x > 0)
    count, found = places.size, np.zeros(4)
    if count > 1:
        found[places] = np.arange(count) + 1.0
    return found


@program
def of_a_mask_that_a_loop_leaves(x: Any) -> Any:
    for _ in range(5):
        mask = x > 0
        x = x - 0.5
        if mask.sum() < 2:
            break
    places = np.flatnonzero(mask)
    return np.ones(places.size).sum(), np.ones(max(len(x[mask]), 1)).sum(), np.ones(2 * len(x[mask])).sum()


@program
def counted_in_a_loop(x: Any) -> Any:
    count = 0
    for i in range(4):
        if x[i] > 0:
            count += 1
    return np.ones(4 - count).sum(), np.ones(count + 1).sum()


@program
def counted_down_in_a_loop_that_is_left(x: Any) -> Any:
    rest = 6
    for i in range(4):
        if x[i] > 2:
            break
        rest -= 1 if x[i] > 0 else 0
    return np.ones(rest).sum()


@program
def of_the_test_of_a_loop(x: Any) -> Any:
    k = 0
    while k < 4 and x[k] > 0:
        k += 1
    return np.ones(k).sum(), np.arange(k).sum()


@program
def of_a_loop_with_another_counter(x: Any) -> Any:
    i, k = 0, 1
    while i < 7:
        if x[i % 4] > 0:
            k += 2
        i += 2
    return np.ones(k).sum()


@program
def of_the_cases(x: Any) -> Any:
    if x[0] > 0:
        order = 2
    elif x[1] > 0:
        order = 3
    else:
        order = 4
    return np.arange(1, order + 1).sum(), np.ones(order // 2).sum()


@program
def of_an_attribute(x: Any) -> Any:
    class Work:
        n = 1

    work = Work()
    for i in range(4):
        if x[i] > 0 and work.n < 3:
            work.n += 1
    return np.ones(work.n).sum()


@program
def of_a_rank(x: Any) -> Any:
    rank = np.sum(np.abs(x) > 0.5)
    count = int(rank) if rank > 1 else 1
    return np.ones(count).sum(), np.eye(count).sum(), np.ones(int(x[0] * 10) % 4).sum()


@pytest.mark.parametrize("function", PROGRAMS.values(), ids=list(PROGRAMS))
@pytest.mark.parametrize("way", ["jit", "vmap", "both"])
def test_it_is_what_numpy_gives(function: Any, way: str):
    ported = ag.port(function)
    if way != "jit":
        ported = jax.vmap(ported)
    if way != "vmap":
        ported = jax.jit(ported)
    found = [ported(np.array(row)) for row in ROWS] if way == "jit" else ported(np.array(ROWS))
    for number, row in enumerate(ROWS):
        one = found[number] if way == "jit" else jax.tree.map(lambda part, number=number: part[number], found)
        jax.tree.map(np.testing.assert_allclose, one, function(np.array(row)))


def test_what_may_be_any_number_has_no_bound():
    def solve(x: Any) -> Any:
        k = 0
        while x < 100:
            x, k = 2 * x, k + 1
        return np.ones(k).sum()

    with pytest.raises(ag.PortingError, match="an array of that length is made"):
        jax.jit(ag.port(solve))(3.0)
    assert jax.jit(ag.port(solve, max_len=20))(3.0) == 6


def test_what_is_known_of_numbers():
    found: list[Any] = []

    def note(x: Any, k: Any) -> Any:
        mask = x > 0
        count = jnp.sum(mask)
        numbers = [count, count * 3 + 1, jnp.where(mask[0], count, -2), k, k % 5, jnp.argmax(x), x.astype(int)[0]]
        found.append([counts.most_of(number) for number in numbers])
        jax.lax.cond(mask[1], lambda: found.append(counts.most_of(count + 1)), lambda: None)
        return count

    ported = ag.port(note)
    jax.jit(ported)(np.ones(4), 3)
    assert found[0] == [4, 13, 4, None, 9, 3, None]
    assert found[1] == 5


def test_of_a_length_that_is_known_without_jit():
    """As skfuzzy.trapmf does, under jax.grad alone."""

    def solve(a: Any) -> Any:
        x, y = np.linspace(0, 1, 7), np.ones(7)
        places = np.nonzero(x <= a)[0]
        part = np.zeros(len(places))
        part[1:] = x[places][1:] * a
        y[places] = part
        return y.sum()

    assert jax.grad(ag.port(solve))(0.6) == jax.grad(jax.jit(ag.port(solve)))(0.6) == pytest.approx(1.0)
