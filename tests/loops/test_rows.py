"""A loop that stays in some rows of a table has copies of these: the same to the bit, and only where no row is another."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops import told
from autograph_jax.loops.optimizations import ON_CPU_ALONE
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]


def edit_distance(a, b):
    """By Wagner and Fischer."""
    rows, columns = len(a), len(b)
    table = jnp.zeros((rows + 1, columns + 1), dtype=int)
    table[:, 0] = jnp.arange(rows + 1)
    table[0, :] = jnp.arange(columns + 1)
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            change = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = jnp.minimum(table[i - 1, j - 1] + change, 1 + jnp.minimum(table[i - 1, j], table[i, j - 1]))
    return table


def longest_common(a, b):
    length = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                length[i + 1, j + 1] = length[i, j] + 1
            else:
                length[i + 1, j + 1] = jnp.maximum(length[i, j + 1], length[i + 1, j])
    return length


def smoothed(a, b):
    """Gauss and Seidel's sweep: three rows, of which the middle one is written."""
    u = a[:, None] * b * 100
    for _ in range(3):
        for i in range(1, len(a) - 1):
            for j in range(1, len(b) - 1):
                u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1]) // 4
    return u


def in_two_tables(a, b):
    cost, steps = jnp.zeros((len(a), len(b)), dtype=int), jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            cost[i, j] = jnp.minimum(cost[i - 1, j], cost[i, j - 1]) + (a[i] - b[j]) ** 2
            steps[i, j] = 1 + jnp.where(cost[i - 1, j] < cost[i, j - 1], steps[i - 1, j], steps[i, j - 1])
    return cost, steps


def old_and_new(a, b):
    """What was there is read after the write."""
    u = a[:, None] * b
    for i in range(1, len(a)):
        for j in range(len(b) - 1):
            before = u[i, j]
            u[i, j] = u[i - 1, j + 1]
            u[i, j + 1] = u[i, j + 1] + before
    return u


def of_a_cube(a, b):
    u = a[:4, None, None] * a[:, None] * b
    for k in range(1, 4):
        for i in range(1, len(a)):
            for j in range(1, len(b)):
                u[k, i, j] = (u[k, i - 1, j] + u[k - 1, i, j - 1] - u[k, i, j - 1]) % 101
    return u


def a_sum_in_an_element(a, b):
    u = a[:, None] * b
    for i in range(len(a)):
        for j in range(len(b)):
            u[i, 0] = u[i, 0] // 2 + u[i, j]  # a row that is read at every place, and written at one
    return u


IN_ROWS = [edit_distance, longest_common, smoothed, of_a_cube, a_sum_in_an_element]


def may_be_the_same_row(a, b):
    u = a[:, None] * b
    for i in range(len(a)):
        for j in range(len(b)):
            u[i, j] = u[i, j] + u[i // 2, b.shape[0] - 1 - j] // 2
    return u


def by_columns(a, b):
    u = b[:, None] * a
    for j in range(1, len(a)):
        for i in range(len(b)):
            u[i, j] = u[i, j] - u[i, j - 1] // 2
    return u


def of_floats(a, b):
    u = a[:, None] * b * 1.0
    for i in range(1, len(a)):
        for j in range(len(b)):
            u[i, j] = u[i, j] - u[i - 1, j] * 0.5
    return u


def wraps_around(a, b):
    """Row -1 is the last one, which is written in the end."""
    u = a[:, None] * b
    for i in range(len(a)):
        for j in range(len(b)):
            u[i, j] = u[i - 1, j] + u[i, j]
    return u


def beyond_the_end(a, b):
    """JAX reads the last row there."""
    u = a[:, None] * b
    for i in range(len(a)):
        for j in range(len(b)):
            u[i, j] = u[i + 1, j] + u[i, j]
    return u


def in_two_rows(a, b):
    u = a[:, None] * b
    for i in range(1, len(a)):
        for j in range(len(b)):
            u[i, j] = u[i, j] + u[i - 1, j]
            u[i - 1, j] = 0
    return u


def in_a_row_of_the_turn(a, b):
    u = a[:, None] * b
    for i in range(len(a)):
        for j in range(len(b)):
            u[(i + j) % 5, j] = u[i, j] // 2
    return u


def whole(a, b):
    u = a[:, None] * b
    for i in range(len(a)):
        for j in range(len(b)):
            u[i, j] = jnp.sum(u) // 100
    return u


def long_rows(a, b):
    u = a[:, None] * jnp.arange(4000)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            u[i, j] = u[i - 1, j] + u[i, j - 1]
    return u


def in_few_turns(a, b):
    return smoothed(b, a)


OF_THE_TABLE = [
    in_two_tables,  # whose arithmetic is a call of its own, before several writes
    old_and_new,
    by_columns,
    of_floats,
    in_few_turns,
    may_be_the_same_row,
    wraps_around,
    beyond_the_end,
    in_two_rows,
    in_a_row_of_the_turn,
    whole,
    long_rows,
]


def words():
    random = np.random.default_rng(3)
    return [jnp.asarray(random.integers(0, 4, n)) for n in (40, 140)]


def told_of(function, *arguments):
    with told.listening() as heard:
        jax.jit(ag.autograph(function)).lower(*arguments)
    return {one.name for one in heard if one.is_done}


@pytest.mark.parametrize("function", [*IN_ROWS, *OF_THE_TABLE])
def test_it_gives_the_same_to_the_bit(function):
    arguments = words()
    which = ["ranges", "rows", "kernel", "selects"]
    ours, theirs = (jax.jit(ag.autograph(function, optimize=o))(*arguments) for o in (which, False))
    jax.tree.map(np.testing.assert_array_equal, ours, theirs)


@pytest.mark.parametrize("function", IN_ROWS)
def test_its_rows_are_cut_out(function):
    assert "rows" in told_of(function, *words())


def test_rows_are_no_matter_of_the_device():
    assert "rows" not in ON_CPU_ALONE
    with told.listening() as heard:
        jax.jit(ag.autograph(edit_distance, optimize=["ranges", "selects", "rows"])).lower(*words())
    assert {one.name for one in heard if one.is_done} == {"selects", "rows"}


@pytest.mark.parametrize("function", OF_THE_TABLE)
def test_a_table_stays_where_rows_may_be_one_or_cost_more(function):
    assert "rows" not in told_of(function, *words())


def test_lanes():
    a, b = words()
    lanes = jnp.stack([a, a[::-1], 3 - a])
    ours, theirs = (
        jax.jit(jax.vmap(lambda a, o=o: ag.autograph(edit_distance, optimize=o)(a, b)))(lanes) for o in (True, False)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_only_calls_are_kept_from_being_inlined():
    """A mark on what is in them would keep XLA from optimising the loops there."""
    text = jax.jit(ag.autograph(in_two_tables)).lower(*words()).as_text()
    marked = [line for line in text.splitlines() if 'inlineable = "false"' in line]
    assert len(marked) > 1 and all("call @" in line for line in marked)
