"""A table of which the last rows are read is not kept whole: the same to the bit, in the memory of a few rows."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops.optimizations import ALL
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]


def edit_distance(a, b):
    rows, columns = a.shape[0], b.shape[0]
    table = jnp.zeros((rows + 1, columns + 1), dtype=int)
    for i in range(rows + 1):
        table[i, 0] = i
    for j in range(columns + 1):
        table[0, j] = j
    for i in range(1, rows + 1):
        for j in range(1, columns + 1):
            if a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + jnp.minimum(jnp.minimum(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])
    return table[rows, columns]


def with_borders_by_slices(a, b):
    table = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0] = jnp.arange(len(a) + 1)
    table[0, :] = jnp.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            change = 0 if a[i - 1] == b[j - 1] else 1
            table[i, j] = jnp.minimum(table[i - 1, j - 1] + change, 1 + jnp.minimum(table[i - 1, j], table[i, j - 1]))
    return table[-1, -1]


def longest_common(a, b):
    length = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a)):
        for j in range(len(b)):
            if a[i] == b[j]:
                length[i + 1, j + 1] = length[i, j] + 1
            else:
                length[i + 1, j + 1] = jnp.maximum(length[i, j + 1], length[i + 1, j])
    return length[len(a), len(b)]


def longest_common_backwards(a, b):
    length = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a) - 1, -1, -1):
        for j in range(len(b) - 1, -1, -1):
            if a[i] == b[j]:
                length[i, j] = length[i + 1, j + 1] + 1
            else:
                length[i, j] = jnp.maximum(length[i, j + 1], length[i + 1, j])
    return length[0, 0]


def longest_common_substring(a, b):
    length = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    longest = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            if a[i - 1] == b[j - 1]:
                length[i, j] = length[i - 1, j - 1] + 1
                longest = jnp.maximum(longest, length[i, j])
    return longest, length[-1]


def knapsack(a, b):
    """Of items with weights a and values that come from b."""
    best = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(1, len(a) + 1):
        weight, value = a[i - 1] + 1, 3 * a[i - 1] + i % 5
        for room in range(len(b) + 1):
            best[i, room] = best[i - 1, room]
            if weight <= room:
                best[i, room] = jnp.maximum(best[i, room], best[i - 1, room - weight] + value)
    return best[len(a), len(b)]


def unbounded_knapsack(a, b):
    best = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(1, len(a) + 1):
        weight, value = a[i - 1] + 1, 2 * a[i - 1] + i % 5
        for room in range(len(b) + 1):
            if weight <= room:
                best[i, room] = jnp.maximum(best[i - 1, room], best[i, room - weight] + value)
            else:
                best[i, room] = best[i - 1, room]
    return best[-1]


def coins(a, b):
    ways = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    ways[0, 0] = 1
    for i in range(1, len(a) + 1):
        coin = a[i - 1] + 1
        for amount in range(len(b) + 1):
            ways[i, amount] = ways[i - 1, amount]
            if amount >= coin:
                ways[i, amount] += ways[i, amount - coin] % 10007
    return ways[len(a), len(b)]


def grid_paths(a, b):
    paths = jnp.ones((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            paths[i, j] = (paths[i - 1, j] + paths[i, j - 1]) % 10007
    return paths[-1, -1]


def least_path(a, b):
    cost = jnp.zeros((len(a), len(b)), dtype=int)
    cost[0, 0] = a[0] * b[0]
    for j in range(1, len(b)):
        cost[0, j] = cost[0, j - 1] + a[0] * b[j]
    for i in range(1, len(a)):
        cost[i, 0] = cost[i - 1, 0] + a[i] * b[0]
        for j in range(1, len(b)):
            cost[i, j] = jnp.minimum(cost[i - 1, j], cost[i, j - 1]) + a[i] * b[j]
    return cost[len(a) - 1, len(b) - 1]


def needleman_wunsch(a, b):
    score = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(len(a) + 1):
        score[i, 0] = -2 * i
    for j in range(len(b) + 1):
        score[0, j] = -2 * j
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = score[i - 1, j - 1] + (1 if a[i - 1] == b[j - 1] else -1)
            score[i, j] = jnp.maximum(match, jnp.maximum(score[i - 1, j] - 2, score[i, j - 1] - 2))
    return score[-1, -1], score[-1].max()


def smith_waterman(a, b):
    score = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    best = 0
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            match = score[i - 1, j - 1] + (3 if a[i - 1] == b[j - 1] else -3)
            score[i, j] = max(0, match, score[i - 1, j] - 2, score[i, j - 1] - 2)
            best = max(best, score[i, j])
    return best, score[len(a), len(b)]


def with_swaps(a, b):
    """By Damerau: two rows back."""
    table = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table[:, 0] = jnp.arange(len(a) + 1)
    table[0] = jnp.arange(len(b) + 1)
    for j in range(1, len(b) + 1):
        table[1, j] = jnp.minimum(table[0, j - 1], 1 + jnp.minimum(table[0, j], table[1, j - 1]))
    for i in range(2, len(a) + 1):
        for j in range(2, len(b) + 1):
            best = jnp.minimum(table[i - 1, j - 1] + (a[i - 1] != b[j - 1]), 1 + jnp.minimum(table[i - 1, j], table[i, j - 1]))
            if (a[i - 1] == b[j - 2]) & (a[i - 2] == b[j - 1]):
                best = jnp.minimum(best, table[i - 2, j - 2] + 1)
            table[i, j] = best
    return table[-1, -1]


def time_warping(x, y):
    cost = jnp.full((len(x) + 1, len(y) + 1), jnp.inf)
    cost[0, 0] = 0.0
    for i in range(1, len(x) + 1):
        for j in range(1, len(y) + 1):
            least = jnp.minimum(jnp.minimum(cost[i - 1, j], cost[i, j - 1]), cost[i - 1, j - 1])
            cost[i, j] = abs(x[i - 1] - y[j - 1]) + least
    return cost[len(x), len(y)]


def least_float_path(x, y):
    cost = jnp.zeros((len(x), len(y)))
    for i in range(1, len(x)):
        for j in range(1, len(y)):
            cost[i, j] = jnp.minimum(cost[i - 1, j], cost[i, j - 1]) + jnp.maximum(x[i], y[j])
    return cost[-1, -1]


def of_a_table_of_numpys(a, b):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    table[0] = np.arange(len(b) + 1)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i - 1], table[i, j - 1] + b[j - 1])
    return table[len(a), len(b)]


def by_columns(a, b):
    table = jnp.zeros((len(b) + 1, len(a) + 1), dtype=int)
    table[0, :] = jnp.arange(len(a) + 1)
    for j in range(1, len(a) + 1):
        for i in range(1, len(b) + 1):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[j - 1], table[i, j - 1] + b[i - 1])
    return table[len(b), len(a)]


def by_at(a, b):
    table = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    table = table.at[0].set(jnp.arange(len(b) + 1))
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table = table.at[i, j].set(jnp.maximum(table[i - 1, j] - a[i - 1], table[i, j - 1] + b[j - 1]))
    return table[len(a), len(b)]


def two_tables(a, b):
    open_, closed = jnp.zeros((len(a), len(b)), dtype=int), jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            open_[i, j] = jnp.maximum(open_[i - 1, j] - 1, closed[i - 1, j] - 3)
            closed[i, j] = jnp.maximum(closed[i - 1, j - 1], open_[i - 1, j - 1]) + (a[i] == b[j])
    return open_[-1, -1], closed[-1, -1]


def two_last_rows(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i], table[i, j - 1] + b[j])
    return table[-2:], table[0], table[-3, 4]


def within_a_loop(a, b):
    total = 0
    for k in range(3):
        table = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
        for i in range(1, len(a) + 1):
            for j in range(1, len(b) + 1):
                table[i, j] = jnp.maximum(table[i - 1, j], table[i, j - 1]) + (a[i - 1] == b[j - 1]) * k
        total += table[-1, -1]
    return total


def called(a, b):
    return edit_distance(a, b) + longest_common(a, b)


FOLDED = [
    edit_distance, with_borders_by_slices, longest_common, longest_common_backwards, longest_common_substring, knapsack,
    unbounded_knapsack, coins, grid_paths, least_path, needleman_wunsch, smith_waterman, with_swaps, of_a_table_of_numpys,
    by_columns, by_at, two_tables, two_last_rows, within_a_loop, called,
]  # fmt: skip
OF_FLOATS = [time_warping, least_float_path]


def words(m=180, n=150):
    random = np.random.default_rng(3)
    return [jnp.asarray(random.integers(0, 4, length)) for length in (m, n)]


def numbers(m=180, n=150):
    random = np.random.default_rng(4)
    return [jnp.asarray(random.normal(size=length)) for length in (m, n)]


def arguments(program):
    return numbers() if program in OF_FLOATS else words()


def memory(program, *arguments, optimize=True):
    return ag.jit(program, optimize=optimize).lower(*arguments).compile().memory_analysis().temp_size_in_bytes


def to_bytes(tree):
    return [np.asarray(leaf).tobytes() for leaf in jax.tree.leaves(tree)]


@pytest.mark.parametrize("program", [*FOLDED, *OF_FLOATS])
def test_the_result_is_the_same_to_the_bit(program):
    given = arguments(program)
    ours, theirs = (ag.jit(program, optimize=o)(*given) for o in (True, False))
    assert to_bytes(ours) == to_bytes(theirs)


@pytest.mark.parametrize("program", [*FOLDED, *OF_FLOATS])
def test_there_is_no_table(program):
    given = arguments(program)
    table = 8 * len(given[0]) * len(given[1])
    assert memory(program, *given) < table / 5 < table <= memory(program, *given, optimize=ALL - {"folds"})
