"""A table of which the last rows are read is not kept whole: the same to the bit, in the memory of a few rows."""

import builtins
import types
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.loops.compiled import compiled_as_a_whole
from autograph_jax.loops.optimizations import ALL, ON_CPU_ALONE
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


def with_borders_in_the_loop(a, b):
    """What row 0 would read of the row before, nobody sees."""
    table = jnp.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0:
                table[i, j] = j
            elif j == 0:
                table[i, j] = i
            elif a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1]
            else:
                table[i, j] = 1 + jnp.minimum(jnp.minimum(table[i - 1, j], table[i, j - 1]), table[i - 1, j - 1])
    return table[len(a), len(b)]


def with_one_border_in_the_loop(a, b):
    table = jnp.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i == 0 or j == 0:
                table[i, j] = 0
            elif a[i - 1] == b[j - 1]:
                table[i, j] = table[i - 1, j - 1] + 1
            else:
                table[i, j] = jnp.maximum(table[i - 1, j], table[i, j - 1])
    return table[len(a), len(b)]


def where_there_is_a_row_before(a, b):
    table = jnp.ones((len(a) + 1, len(b) + 1), int)
    for i in range(len(a)):
        for j in range(len(b)):
            if i > 0:
                if b[j] > 1:
                    table[i, j] = table[i - 1, j] + 1
                elif b[j] < 1:
                    table[i, j] = table[i, j] * 2
    return table[len(a), 0] + table[len(a) - 1, 3]


def falling_path(a, b):
    table = jnp.zeros((len(a), len(b)), int)
    for j in range(len(b)):
        table[0, j] = b[j]
    for i in range(1, len(a)):
        for j in range(len(b)):
            best = table[i - 1, j]
            if j > 0:
                best = jnp.minimum(best, table[i - 1, j - 1])
            if j < len(b) - 1:
                best = jnp.minimum(best, table[i - 1, j + 1])
            table[i, j] = best + (a[i] * b[j]) % 3
    return table[len(a) - 1].min()


def by_two_subscripts(a, b):
    table = jnp.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = jnp.maximum(table[i - 1][j], table[i][j - 1]) + a[i - 1]
    return table[-1][-1]


def of_short_rows(a, b):
    """One kernel."""
    table = jnp.zeros((len(a) + 1, 41), int)
    for i in range(1, len(a) + 1):
        for j in range(1, 41):
            table[i, j] = jnp.maximum(table[i - 1, j], table[i, j - 1] + (a[i - 1] == b[j - 1]))
    return table[-1, -1]


def row_by_row(a, b):
    """One kernel as well."""
    u = jnp.zeros((len(a), len(b)), int)
    u[0] = b * 100
    for k in range(len(a) - 1):
        u[k + 1, 1:-1] = u[k, 1:-1] + (u[k, 2:] - 2 * u[k, 1:-1] + u[k, :-2]) // 4
    return u[-1]


def subset_sum(a, b):
    is_sum = jnp.zeros((len(a) + 1, len(b) + 1), bool)
    for i in range(len(a) + 1):
        is_sum[i, 0] = True
    for i in range(1, len(a) + 1):
        for s in range(1, len(b) + 1):
            if a[i - 1] <= s:
                is_sum[i, s] = is_sum[i - 1, s] | is_sum[i - 1, s - a[i - 1]]
            else:
                is_sum[i, s] = is_sum[i - 1, s]
    return is_sum[len(a), len(b)]


def of_a_cube(a, b):
    """Floyd and Warshall's, with a matrix for each step."""
    n = 40
    steps = jnp.zeros((n, n, n), int)
    steps[0] = a[:n, None] * b[:n] + 1
    for k in range(1, n):
        for i in range(n):
            for j in range(n):
                steps[k, i, j] = jnp.minimum(steps[k - 1, i, j], steps[k - 1, i, k] + steps[k - 1, k, j])
    return steps[-1]


def of_enumerated_letters(a, b):
    table = jnp.zeros((len(a) + 1, len(b) + 1), int)
    for i, x in enumerate(a, 1):
        for j, y in enumerate(b, 1):
            table[i, j] = table[i - 1, j - 1] + 1 if x == y else jnp.maximum(table[i, j - 1], table[i - 1, j])
    return table[-1, -1]


def written_here_and_there(a, b):
    """Before the loop: blocks, rows and columns, over each other, and rows that no turn comes to."""
    table = jnp.full((len(a) + 7, len(b)), 5)
    table[:, 3] = jnp.arange(len(a) + 7)
    table[2:40, 10:20] = b[:10]
    table[30] = b
    table[7, 2] = 1
    table[len(a) : len(a) + 5, :9] = a[:5, None]
    table[:, -1] = 9
    table[1] = b * 2
    first = table[30, 4:8].sum()
    for i in range(3, len(a)):
        for j in range(len(b) - 1):
            table[i, j] = (table[i, j] + 3 * table[i - 1, j + 1] + table[i - 3, j]) % 1009
    return table[len(a) - 2 :], table[1], table[0, 2:5], first


def called(a, b):
    return edit_distance(a, b) + longest_common(a, b)


def read_in_columns_that_are_not_known(a, b):
    table, column = grid(a, b), a.sum() - 270
    rows = jnp.stack([table[-1, column], table[-2, column], table[-1, jnp.clip(column, 3, 40)]])
    return rows, table[-2:, column], table[-2, -3]


def grid(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = (table[i - 1, j] + 2 * table[i, j - 1] + a[i] * b[j]) % 97
    return table


def read_where_no_row_is_kept(a, b):
    table, total = jnp.zeros((len(a) + 2, len(b)), dtype=int), 0
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = table[i, j - 1] + a[i] * b[j]
            total = total + table[i, j]
    return total, table[0, 0], table[0], table[-1, 5]


FOLDED = [
    edit_distance, with_borders_by_slices, longest_common, longest_common_backwards, longest_common_substring, knapsack,
    unbounded_knapsack, coins, grid_paths, least_path, needleman_wunsch, smith_waterman, with_swaps, of_a_table_of_numpys,
    by_columns, by_at, two_tables, two_last_rows, within_a_loop, with_borders_in_the_loop, with_one_border_in_the_loop,
    where_there_is_a_row_before, falling_path, by_two_subscripts, of_short_rows, row_by_row, subset_sum, of_a_cube,
    of_enumerated_letters, written_here_and_there, called, read_in_columns_that_are_not_known, read_where_no_row_is_kept,
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


def memory(program, *arguments, optimize: Any = True):
    return memory_of(ag.jit(program, optimize=optimize), *arguments)


def memory_of(jitted: Any, *arguments):
    return jitted.lower(*arguments).compile().memory_analysis().temp_size_in_bytes


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
    table = memory(program, *given, optimize=ALL - {"folds"})
    assert len(given[0]) * len(given[1]) < table and 5 * memory(program, *given) < table


def read_elsewhere(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i], table[i, j - 1] + b[j])
    return table[-1, -1], table.sum()


def returned(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i], table[i, j - 1] + b[j])
    return table


def read_at_a_traced_row(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i], table[i, j - 1] + b[j])
    return table[a[0], -1]


def read_in_the_middle(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(1, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i], table[i, j - 1] + b[j])
    return table[-1, -1] + table[50, 3]


def far_back(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(9, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 9, j] - a[i], table[i, j - 1] + b[j])
    return table[-1, -1]


def a_traced_distance_back(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(4, len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1 - a[i], j] - a[i], table[i, j - 1] + b[j])
    return table[-1, -1]


def every_second_row(a, b):
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(2, len(a), 2):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 2, j] - a[i], table[i, j - 1] + b[j])
    return table[-2, -1]


def clamped(a, b):
    """Row 0 reads itself, while it is written."""
    table = jnp.ones((len(a), len(b)), dtype=int)
    for i in range(len(a)):
        for j in range(1, len(b)):
            table[i, j] = table[jnp.maximum(i - 1, 0), j - 1] + a[i] * b[j]
    return table[-1, -1]


def clamped_in_a_branch(a, b):
    table = jnp.ones((len(a), len(b)), dtype=int)
    for i in range(len(a)):
        for j in range(1, len(b)):
            if a[i] < 3:
                table[i, j] = table[jnp.maximum(i - 1, 0), j - 1] + a[i] * b[j]
    return table[-1, -1]


def in_an_earlier_or_a_later_row(a, b):
    table = jnp.ones((len(a), len(b)), dtype=int)
    for i in range(len(a)):
        for j in range(1, len(b)):
            k = i - 1 if i > 4 else i + 20
            table[i, j] = table[k, j - 1] + a[i] * b[j]
    return table[-1, -1]


def of_few_elements(a, b):
    return grid_paths(a[:30], b[:30])


def wraps_around(a, b):
    """Row -1 is the last one, which is written in the end."""
    table = jnp.zeros((len(a), len(b)), dtype=int)
    for i in range(len(a)):
        for j in range(1, len(b)):
            table[i, j] = jnp.maximum(table[i - 1, j] - a[i], table[i, j - 1] + b[j])
    return table[-1, -1]


def unfolded(a, b):
    return grid(a, b)[-1, -1]


def test_a_callee_without_folds_keeps_its_table():
    inner = ag.autograph(unfolded, optimize=False)
    outer = ag.jit(lambda a, b: (inner(a, b), written_here_and_there(a, b)))
    assert memory_of(outer, *words()) >= 180 * 150 * 4
    assert to_bytes(outer(*words())) == to_bytes((unfolded_by_lax(*words()), written_here_and_there_by_lax(*words())))


def unfolded_by_lax(a, b):
    return ag.jit(unfolded, optimize=False)(a, b)


def written_here_and_there_by_lax(a, b):
    return ag.jit(written_here_and_there, optimize=False)(a, b)


NOT_FOLDED = [
    read_elsewhere, returned, read_at_a_traced_row, read_in_the_middle, far_back, a_traced_distance_back, every_second_row,
    of_few_elements, wraps_around, clamped, clamped_in_a_branch, in_an_earlier_or_a_later_row,
]  # fmt: skip


@pytest.mark.parametrize("program", NOT_FOLDED)
def test_other_tables_stay(program):
    given = words()
    assert "folds:" not in " ".join(str(ag.explain(program, *given, compile=False)).split())
    ours, theirs = (ag.jit(program, optimize=o)(*given) for o in (True, False))
    assert to_bytes(ours) == to_bytes(theirs)


@pytest.mark.parametrize("program", [*FOLDED, *OF_FLOATS])
def test_explain_says_so(program):
    text = " ".join(str(ag.explain(program, *arguments(program), compile=False)).split())
    assert "folds: of a table, only the rows that a turn needs are kept" in text


def in_numpy(program):
    """The same function with NumPy's arrays, which it writes in place."""
    functions = {name: value for name, value in globals().items() if isinstance(value, types.FunctionType)}
    names = {
        name: types.FunctionType(value.__code__, {**functions, "jnp": np, "np": np, "__builtins__": builtins})
        for name, value in functions.items()
    }
    for function in names.values():
        function.__globals__.update(names)
    return names[program.__name__]


@pytest.mark.parametrize("program", [one for one in FOLDED if one is not by_at and one is not by_two_subscripts] + OF_FLOATS)
def test_it_agrees_with_plain_python(program):
    given = arguments(program)
    for one, other in zip(
        jax.tree.leaves(ag.jit(program)(*given)), in_order(in_numpy(program)(*map(np.asarray, given))), strict=True
    ):
        np.testing.assert_array_equal(one, other)


def in_order(out):
    return out if isinstance(out, tuple) else [out]


TRANSFORMS = {
    "grad": lambda f, x, y: jax.grad(f, argnums=(0, 1))(x, y),
    "jacfwd": lambda f, x, y: jax.jacfwd(f)(x, y),
    "jvp": lambda f, x, y: jax.jvp(f, (x, y), (jnp.cos(x), y)),
    "vjp": lambda f, x, y: jax.vjp(f, x, y)[1](2.0),
    "linearize": lambda f, x, y: jax.linearize(f, x, y)[1](x, y),
    "checkpoint": lambda f, x, y: jax.grad(jax.checkpoint(f))(x, y),
    "grad of lanes": lambda f, x, y: jax.vmap(jax.grad(f), in_axes=(0, None))(jnp.stack([x, -x]), y),
    "hessian": lambda f, x, y: jax.hessian(lambda shift: f(x + shift * y[0], y * shift))(1.5),
    "of itself": lambda f, x, y: f(x + f(x, y), y),
    "by lax.scan": lambda f, x, y: jax.lax.scan(lambda c, _: (f(x + c, y) / 100, c), 0.0, length=2),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("program", OF_FLOATS)
def test_transforms(program, transform):
    x, y = numbers(66, 64)
    ours, theirs = (
        jax.jit(lambda x, y, o=o: TRANSFORMS[transform](ag.jit(program, optimize=o), x, y))(x, y) for o in (True, False)
    )
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-12)


IN_ALL_LANES_ALIKE = [with_swaps, two_last_rows, least_path, grid_paths]  # no `if` writes them


@pytest.mark.parametrize("program", [edit_distance, knapsack, longest_common_backwards, *IN_ALL_LANES_ALIKE])
def test_lanes(program):
    a, b = words()
    lanes = jnp.stack([a, a[::-1], 3 - a])
    ours, theirs = (
        jax.jit(lambda lanes, b, o=o: jax.vmap(ag.jit(program, optimize=o), in_axes=(0, None))(lanes, b)) for o in (True, False)
    )
    assert to_bytes(ours(lanes, b)) == to_bytes(theirs(lanes, b))
    table = 3 * 8 * len(a) * len(b)
    is_folded = memory_of(ours, lanes, b) < table / 5
    assert is_folded == (program in IN_ALL_LANES_ALIKE)


def scores(a, b, *, gap: int, verbose: str = "no", options=None):
    table = jnp.zeros((len(a) + 1, len(b) + 1), dtype=int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = jnp.maximum(table[i - 1, j - 1] + (a[i - 1] == b[j - 1]), table[i - 1, j] - gap)
    return {"score": table[-1, -1], "gap": gap, "verbose": verbose, "options": options}


def test_arguments_and_results_of_any_kind():
    a, b = words()
    jitted = ag.jit(scores, static_argnames=("gap", "verbose"), donate_argnames="b")
    for gap in (1, 2):
        found = jitted(a, b + 0, gap=gap, verbose="yes", options=[a, {"b": b}])
        assert found["verbose"] == "yes" and found["gap"] == gap and found["options"][1]["b"].shape == b.shape
        np.testing.assert_array_equal(found["score"], scores_plainly(np.asarray(a), np.asarray(b), gap))


def scores_plainly(a, b, gap):
    table = np.zeros((len(a) + 1, len(b) + 1), int)
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i, j] = max(table[i - 1, j - 1] + (a[i - 1] == b[j - 1]), table[i - 1, j] - gap)
    return table[-1, -1]


def with_an_assert(a, b):
    assert a[0] >= 0, "a letter is negative"
    return grid_paths(a, b) + a[0]


def with_a_print(a, b):
    jax.debug.print("{}", a[0])
    return grid_paths(a, b)


def refused(a, b):
    grid_paths(a, b)
    raise KeyError("no such letter")


def test_errors_and_prints_are_those_of_other_functions(capfd):
    a, b = words()
    with pytest.raises(AssertionError, match="a letter is negative"):
        ag.jit(with_an_assert)(a - 5, b)
    assert ag.jit(with_an_assert)(a, b) == grid_paths_plainly(a, b) + a[0]
    with pytest.raises(KeyError, match="no such letter"):
        ag.jit(refused)(a, b)
    assert ag.jit(with_a_print)(a, b) == grid_paths_plainly(a, b)
    jax.effects_barrier()
    assert capfd.readouterr().out == f"{a[0]}\n"


def grid_paths_plainly(a, b):
    return in_numpy(grid_paths)(np.asarray(a), np.asarray(b))


def names_of_calls(function, *given):
    return [e.params["name"] for e in function.trace(*given).jaxpr.eqns if e.primitive.name in ("jit", "pjit")]


def thomas(x):
    c = jnp.zeros(len(x))
    for i in range(1, len(x)):
        c[i] = x[i] - c[i - 1]
    return c


def test_only_functions_that_fill_tables_are_compiled_as_a_whole(monkeypatch):
    given = words()
    assert names_of_calls(ag.jit(edit_distance), *given) == ["edit_distance"]
    assert names_of_calls(ag.jit(called), *given) == ["called"]
    assert "edit_distance" not in names_of_calls(ag.jit(edit_distance, optimize=["ranges", "rows"]), *given)
    assert names_of_calls(ag.jit(thomas), *numbers()[:1]) == []
    monkeypatch.setenv("AUTOGRAPH_JAX_OPTIMIZE", "0")
    assert "edit_distance" not in names_of_calls(ag.jit(edit_distance), *given)


def test_a_program_without_such_a_table_is_itself():
    closed = jax.make_jaxpr(lambda x: jnp.sin(x)[1:])(jnp.ones((80, 80)))
    assert compiled_as_a_whole(closed, ALL) is closed


def test_they_are_no_matter_of_the_device():
    assert "folds" not in ON_CPU_ALONE
