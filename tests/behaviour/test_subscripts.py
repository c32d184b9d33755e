"""Writes to items of arrays: y[i] = v, slices, masks, chains, swaps, augmented, and aliases."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])
LONGER = np.array([3.0, 1.0, 2.0, 0.0])
MATRIX = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


# ------------------------------------------------------------------ one item
def constant_index(x):
    y = jnp.zeros(4)
    y[2] = x
    return y


row(constant_index, [2.0], [-2.0], grad=True, batch=True)


def negative_index(x):
    y = jnp.ones(4)
    y[-1] = x
    return y


row(negative_index, [2.0], [-2.0], grad=True, batch=True)


def traced_index(x, i):
    y = jnp.zeros(4)
    y[i] = x
    return y


row(traced_index, [2.0, 1], [3.0, 3], [3.0, -1], grad=True, batch=True)


def computed_index(x, i):
    y = jnp.zeros(6)
    y[2 * i + 1] = x
    y[i - 1] = x + 1
    return y


row(computed_index, [2.0, 1], [3.0, 2], grad=True, batch=True)


def argument_written(v):
    v[0] = 100.0
    return v


row(argument_written, [VECTOR], [-VECTOR], grad=True, batch=True)


def two_dimensional(x, i, j):
    y = jnp.zeros((2, 3))
    y[i, j] = x
    return y


row(two_dimensional, [2.0, 1, 2], [3.0, 0, 0], grad=True, batch=True)


def three_dimensional(x, i):
    y = jnp.zeros((2, 2, 2))
    y[i, 1, i] = x
    return y


row(three_dimensional, [2.0, 1], [3.0, 0], grad=True, batch=True)


def tuple_as_index(m, x):
    where = (1, 2)
    m[where] = x
    return m


row(tuple_as_index, [MATRIX, 9.0], grad=True)


def read_after_write(v):
    v[0] = v[1] * 2
    v[1] = v[0] + v[2]
    return v[1] - v[0]


row(read_after_write, [VECTOR], [-VECTOR], grad=True, batch=True)


def float_into_an_int_array(x):
    y = jnp.zeros(3, dtype=int)
    y[1] = x
    return y


row(float_into_an_int_array, [2.7], want="either")


def int_into_a_float_array(n):
    y = jnp.zeros(3)
    y[0] = n
    y[1] = 7
    return y


row(int_into_a_float_array, [2], [0], batch=True)


def host_array_of_static_values(x):
    offsets = np.zeros(3)
    offsets[1] = 2.0
    offsets[2:] += 1.0
    return x * offsets


row(host_array_of_static_values, [2.0], [-2.0], grad=True, batch=True)


def list_and_dict_items(x):
    items = [x, x]
    items[0] *= 3
    names = {"a": x}
    names["b"] = items[0]
    items[1:] = [names["b"], 1.0]
    return sum(items) + names["b"]


row(list_and_dict_items, [2.0], [-2.0], grad=True, batch=True)


def bool_array(x):
    seen = jnp.zeros(3, dtype=bool)
    seen[1] = x > 0
    seen[2] = True
    return seen


row(bool_array, [2.0], [-2.0], batch=True)


# ------------------------------------------------------------------ slices, rows, masks
def whole_row(v):
    y = jnp.zeros((2, 3))
    y[1] = v
    y[:, 0] = 5.0
    return y


row(whole_row, [VECTOR], [-VECTOR], grad=True, batch=True)


def slice_of_a_vector(x):
    y = jnp.zeros(5)
    y[1:3] = x
    return y


row(slice_of_a_vector, [2.0], [-2.0], grad=True, batch=True)


def slice_takes_an_array(v):
    y = jnp.ones(6)
    y[2:5] = v
    y[-1:] = v[0]
    return y


row(slice_takes_an_array, [VECTOR], [-VECTOR], grad=True, batch=True)


def everything(v):
    v[:] = 7.0
    v[...] = v * 2
    return v


row(everything, [VECTOR], batch=False)


def everything_in_each_turn(v, k):
    while k < v[2] % 5:
        k += 1.0
        v[:] = sum(v) % 31
    return k, v


row(everything_in_each_turn, [np.array([9.0, 5.0, 14.0]), 1.0], staged="loop")


def only_element_in_each_turn(v, k):
    while k < v[0] % 5:
        k += 1.0
        v[0] = v[0] * 3 % 31
    return k, v


row(only_element_in_each_turn, [np.array([9.0]), 1.0], staged="loop")


def strided(x):
    y = jnp.ones(6)
    y[::2] += x
    y[1::2] *= 3
    return y


row(strided, [2.0], [-2.0], grad=True, batch=True)


def backwards(v):
    y = jnp.zeros(3)
    y[::-1] = v
    return y


row(backwards, [VECTOR], [-VECTOR], grad=True, batch=True)


def block_of_a_matrix(m, x):
    m[0, 1:] = x
    m[:, 0] = m[:, 2]
    return m


row(block_of_a_matrix, [MATRIX, 9.0], [-MATRIX, 1.0], grad=True, batch=True)


def row_and_column(m, i):
    m[i] = m[i] / 2
    m[:, i] = -1.0
    return m


row(row_and_column, [MATRIX, 1], [MATRIX, 0], grad=True, batch=True)


def ellipsis_and_newaxis(m):
    m[..., -1] = 0.0
    m[None, 0] = 8.0
    return m


row(ellipsis_and_newaxis, [MATRIX], grad=True)


def boolean_mask(v, x):
    v[v > 1.5] = x
    return v


row(boolean_mask, [VECTOR, 9.0], [-VECTOR, 9.0], grad=True, batch=True)


def mask_of_a_matrix(m):
    m[m > 3] = 0.0
    m[m == 2] += 10
    return m


row(mask_of_a_matrix, [MATRIX], [-MATRIX], batch=True)


def mask_beside_other_indices(m):
    m[0, m[0] > 0.5] = 7.0
    m[:, m[1] < 0] = m[0, 0]
    m[m[:, 0] > 1, -1] = 2.5
    return m


row(mask_beside_other_indices, [MATRIX], [-MATRIX], grad=True, batch=True)


class Box:
    def __init__(self, v):
        self.v = v


def roots_of_a_mask(v):
    v = v * 1.0
    v[v > 0] **= 0.5
    v[v < 0] /= 2.0
    return v


row(roots_of_a_mask, [VECTOR], [np.array([1.0, -2.0, 4.0])], grad=True, batch=True)


def head_and_tail_set(v, n, x):
    w = v * 1.0
    w[:n] = x
    w[n + 1 :] = 0.0
    w[-2:n] = w[0] + 1
    return w


row(head_and_tail_set, [VECTOR, 1, 9.0], [VECTOR, 0, 9.0], [VECTOR, -1, 2.0], [VECTOR, 7, 2.0], grad=True, batch=True)


def tail_augmented(v, i):
    v = v * 1.0
    v[i:] += 1.0
    v[:i] *= v[0]
    v[i : i + 2] -= v.sum()
    v[i::2] /= 4.0
    return v


row(tail_augmented, [VECTOR, 1], [VECTOR, 0], [VECTOR, 3], [-VECTOR, -2], grad=True, batch=True)


def roots_of_a_tail(v, i):
    v = v * 1.0
    v[i:] **= 0.5
    return v


row(roots_of_a_tail, [np.array([-1.0, 4.0, 9.0]), 1], [np.array([-1.0, -4.0, 9.0]), 2], grad=True)


def window_set(v, i):
    v = v * 1.0
    v[i : i + 2] = v[:2] * 10
    return v


row(window_set, [VECTOR, 0], [VECTOR, 1], grad=True, batch=True)


def window_augmented(v, i):
    v = v * 1.0
    v[i : i + 2] += jnp.array([1.0, 2.0])
    return v


row(window_augmented, [VECTOR, 0], [VECTOR, 1], grad=True, batch=True)


def window_over_the_end(v, i):
    v = v * 1.0
    v[i : i + 2] = v[:2]
    return v


row(window_over_the_end, [VECTOR, 1], [VECTOR, 2], [VECTOR, -3], own_jit=True)


def parts_of_a_matrix_set(m, i, j):
    m = m * 1.0
    m[i:, j] = 5.0
    m[i, :j] -= 1.0
    m[:i, :j] = 7.0
    m[..., j:] += m[:, :1]
    m[i:] = m[0]
    return m


row(parts_of_a_matrix_set, [MATRIX, 1, 1], [MATRIX, 0, 0], [MATRIX, 1, 0], [-MATRIX, -1, -1], grad=True, batch=True)


def upper_triangle_in_a_loop(m, n):
    i = 0
    while i < n:
        m[i, i + 1 :] = 0.0
        m[i + 1 :, i] += i + 1
        i += 1
    return m


row(upper_triangle_in_a_loop, [np.eye(3), 3], [np.arange(9.0).reshape(3, 3), 0], staged="loop", grad=True, batch=True)


def tail_of_an_attribute(v, i):
    box = Box(v * 1.0)
    box.v[i:] = 0.0
    box.v[:i] += 1
    return box.v


row(tail_of_an_attribute, [VECTOR, 1], [VECTOR, 0])


def integers_in_a_slice(n):
    counts = jnp.zeros(4, int)
    counts[:n] += 2
    counts[n:] = 7.9
    return counts


row(integers_in_a_slice, [1], [9])


def alias_of_an_array_whose_tail_is_set(v, i):
    v = v * 1.0
    w = v
    first = v[:2]
    w[i:] = 0.0
    return v, first


row(alias_of_an_array_whose_tail_is_set, [VECTOR, 1], [VECTOR, 0])


def copied_by_a_mask(v, w):
    smaller = w < v
    v[smaller] = w[smaller]
    return v


def computed_by_a_mask(v, w):
    m = w < v
    v[m] = 2 * w[m] + v[m] / w[m] - 1
    v[m] += w[m] ** 2
    v[m] = -v[m] * (w[0] - 0.5)
    return v


def rows_by_a_mask(m, w):
    rows = m[:, 0] > 0
    n = m * 3
    n[rows] = m[rows] * w - 1
    return n


def inverse_by_a_mask(v, w):
    m = w > 0
    v[m] = 1 / w[m]
    return v


OTHER = np.array([0.5, 1.5, 7.0])
for program in (copied_by_a_mask, computed_by_a_mask):
    row(program, [VECTOR, OTHER], [-VECTOR, OTHER], grad=True, batch=True)
row(rows_by_a_mask, [MATRIX, MATRIX[0]], [-MATRIX, MATRIX[0]], batch=True)
row(inverse_by_a_mask, [VECTOR, OTHER], [VECTOR, np.array([2.0, -1.0, -4.0])], grad=True, batch=True)


def mask_augmented(v):
    negative = v < 0
    v[negative] *= -1
    return v


row(mask_augmented, [VECTOR], [np.array([1.0, -2.0, -3.0])], grad=True, batch=True)


def list_of_indices(v, x):
    y = v * 0
    y[[0, 2]] = x
    return y


row(list_of_indices, [VECTOR, 9.0], [VECTOR, -1.0], want="either", grad=True, batch=True)


def array_of_indices(v, where):
    y = jnp.zeros(4)
    y[where] = v
    return y


row(array_of_indices, [VECTOR, np.array([3, 0, 1])], [VECTOR, np.array([0, 1, 2])], grad=True, batch=True)


# ------------------------------------------------------------------ augmented
def plus_and_times(v, x):
    v[0] += x
    v[1] -= x
    v[2] *= x
    return v


row(plus_and_times, [VECTOR, 3.0], [-VECTOR, 0.5], grad=True, batch=True)


def divide_and_power(v, x):
    v[0] /= x
    v[1] **= 2
    v[2] -= x
    return v


row(divide_and_power, [VECTOR, 3.0], [-VECTOR, 0.5], grad=True, batch=True)


def floor_and_modulo(v, x):
    v[0] //= x
    v[1] %= x
    return v


row(floor_and_modulo, [VECTOR * 7, 3.0], [VECTOR * -5, 2.0], batch=True)


def bits(k):
    y = jnp.array([12, 10, 7])
    y[0] &= k
    y[1] |= k
    y[2] ^= k
    y[0] <<= 1
    y[1] >>= 1
    return y


row(bits, [5], [2], batch=True)


def mask_of_what_the_value_changes(v):
    def grow():
        v[1:] += v[:-1].copy()
        return 2.0

    v[v > 1] += grow()
    return v


row(mask_of_what_the_value_changes, [VECTOR], want="either")


def two_dimensional_augmented(x, i, j):
    y = jnp.ones((2, 3))
    y[i, j] += x
    y[0, j] *= 4
    return y


row(two_dimensional_augmented, [2.0, 1, 2], [3.0, 0, 0], grad=True, batch=True)


def rows_augmented(m, i):
    m[i] += m[0]
    m[:, 1] -= 1
    m[0] /= 2
    return m


row(rows_augmented, [MATRIX, 1], [MATRIX, 0], grad=True, batch=True)


def matrix_augmented_by_product(m):
    m[0] @= jnp.eye(3)
    return m


row(matrix_augmented_by_product, [MATRIX], plain=[[-MATRIX]], want="either")


def index_evaluated_once(v):
    calls = []

    def where():
        calls.append(1)
        return 1

    v[where()] += 5.0
    return v, len(calls)


row(index_evaluated_once, [VECTOR], [-VECTOR], batch=True)


# ------------------------------------------------------------------ swaps, chains, several targets
def swap(v, i, j):
    v[i], v[j] = v[j], v[i]
    return v


row(swap, [VECTOR, 0, 2], [VECTOR, 1, 1], grad=True, batch=True)


def rotate(v):
    v[0], v[1], v[2] = v[2], v[0], v[1]
    return v


row(rotate, [VECTOR], [-VECTOR], grad=True, batch=True)


def two_targets(x):
    y = jnp.zeros(3)
    z = jnp.ones(3)
    y[0] = z[2] = x
    return y, z


row(two_targets, [2.0], [-2.0], grad=True, batch=True)


def item_and_name(x):
    y = jnp.zeros(3)
    y[1], total = x, x * 2
    return y, total


row(item_and_name, [2.0], [-2.0], grad=True, batch=True)


def chained(x):
    y = jnp.zeros((2, 3))
    y[1][2] = x
    return y


row(chained, [2.0], [-2.0], grad=True, batch=True)


def chained_traced(m, i, j):
    m[i][j] = 0.0
    m[i][0] += 5.0
    return m


row(chained_traced, [MATRIX, 1, 2], [MATRIX, 0, 1], grad=True, batch=True)


def chained_through_a_slice(v):
    v[1:][0] = 50.0
    return v


row(chained_through_a_slice, [VECTOR], [-VECTOR], grad=True, want="either")


def array_in_a_dict(x):
    d = {"a": jnp.zeros(3)}
    d["a"][1] = x
    return d["a"]


row(array_in_a_dict, [2.0], [-2.0], grad=True, batch=True)


def array_in_a_dict_in_a_loop(x, n):
    d = {"a": jnp.zeros(5), "count": 0}
    for i in range(n):
        d["a"][i] = x * i
        d["count"] += 1
    return d


row(array_in_a_dict_in_a_loop, [2.0, 4], [2.0, 0], staged="loop", batch=True)


def array_in_a_list(v):
    arrays = [v, v * 2]
    arrays[1][0] = 9.0
    arrays[0] = arrays[0] + 1
    return arrays[0], arrays[1]


row(array_in_a_list, [VECTOR], [-VECTOR], grad=True, batch=True)


def array_in_a_tuple(x):
    state = (jnp.zeros(3), jnp.ones(3))
    state[0][1] = x
    state[1][2] *= x
    return state


row(array_in_a_tuple, [2.0], [-2.0], want="either", grad=True)


class Recorder:
    def __init__(self, n):
        self.buffer = jnp.zeros(n)
        self.used = 0

    def record(self, value):
        self.buffer[self.used] = value
        self.used += 1


def array_in_an_object(x):
    r = Recorder(3)
    r.buffer[1] = x
    r.buffer[2] += x * 2
    return r.buffer


row(array_in_an_object, [2.0], [-2.0], grad=True, batch=True)


def array_in_an_object_filled_by_a_method(x, n):
    r = Recorder(6)
    for i in range(n):
        r.record(x * i)
        if i % 2 == 0:
            r.record(-1.0)
    return r.buffer, r.used


row(array_in_an_object_filled_by_a_method, [2.0, 3], [2.0, 0], staged="loop cond", batch=True)


# ------------------------------------------------------------------ in loops and branches
def fill(x, n):
    y = jnp.zeros(5)
    for i in range(n):
        y[i] = x * i
    return y


row(fill, [2.0, 4], [2.0, 0], staged="loop", grad=True, batch=True)


def recurrence(x):
    y = jnp.zeros(6)
    y[0] = x
    for i in range(1, 6):
        y[i] = y[i - 1] * 0.5 + i
    return y


row(recurrence, [2.0], [-2.0], grad=True, batch=True)


def in_a_branch(v, c):
    if c > 0:
        v[0] = 100.0
    return v


row(in_a_branch, [VECTOR, -1.0], [VECTOR, 1.0], staged="cond", grad=True, batch=True)


def in_either_branch(v, c):
    if c > 0:
        v[0] = c
    else:
        v[2] -= c
        v[1] = 0.0
    return v


row(in_either_branch, [VECTOR, -1.0], [VECTOR, 1.0], staged="cond", grad=True, batch=True)


def cumulative_sum(v):
    for i in range(1, len(v)):
        v[i] += v[i - 1]
    return v


row(cumulative_sum, [VECTOR], [LONGER], grad=True)


def while_fills(x):
    y = jnp.zeros(8)
    n = 0
    while x > 1 and n < 8:
        y[n] = x
        x = x / 2
        n += 1
    return y, n


row(while_fills, [37.0], [0.5], staged="loop", grad=True, batch=True)


def histogram(v):
    counts = jnp.zeros(4, dtype=int)
    for k in v:
        counts[k] += 1
    return counts


row(histogram, [np.array([0, 2, 2, 3, 0])], [np.array([1, 1, 1, 1, 1])], staged="loop", batch=True)


def clip_in_place(v, hi):
    for i in range(len(v)):
        if v[i] > hi:
            v[i] = hi
    return v


row(clip_in_place, [LONGER, 1.5], [LONGER, 9.0], staged="cond", grad=True, batch=True)


def keep_positive(v):
    out = jnp.zeros(4)
    n = 0
    for e in v:
        if e > 0.5:
            out[n] = e
            n += 1
    return out, n


row(keep_positive, [LONGER], [-LONGER], staged="loop cond", grad=True, batch=True)


def bubble_sort(v):
    n = len(v)
    for i in range(n):
        for j in range(n - 1 - i):
            if v[j] > v[j + 1]:
                v[j], v[j + 1] = v[j + 1], v[j]
    return v


row(bubble_sort, [LONGER], [-LONGER], [np.arange(4.0)], staged="cond", grad=False, batch=True)


def insertion_sort(v):
    for i in range(1, len(v)):
        key = v[i]
        j = i - 1
        while j >= 0 and v[j] > key:
            v[j + 1] = v[j]
            j -= 1
        v[j + 1] = key
    return v


row(insertion_sort, [LONGER], [-LONGER], staged="loop", batch=True)


def selection_sort(v):
    n = v.shape[0]
    for i in range(n - 1):
        smallest = i
        for j in range(i + 1, n):
            if v[j] < v[smallest]:
                smallest = j
        if smallest != i:
            v[i], v[smallest] = v[smallest], v[i]
    return v


row(selection_sort, [LONGER], [-LONGER], staged="cond", batch=True)


def sieve(x):
    p = jnp.ones(20)
    p[0] = 0
    p[1] = 0
    i = 2
    while i * i < 20:
        if p[i] > 0:
            j = i * i
            while j < 20:
                p[j] = 0
                j += i
        i += 1
    return jnp.sum(p * x)


row(sieve, [1.0], [-2.0], staged="cond", grad=True, batch=True)


def binary_search(v, t):
    lo = 0
    hi = len(v)
    while lo < hi:
        mid = (lo + hi) // 2
        if v[mid] < t:
            lo = mid + 1
        else:
            hi = mid
    return lo


row(
    binary_search,
    [np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 6.0],
    [np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 0.0],
    [np.array([1.0, 3.0, 5.0, 7.0, 9.0]), 99.0],
    staged="loop",
    batch=True,
)


def thomas(a, b, c, d):
    n = len(d)
    for i in range(1, n):
        w = a[i] / b[i - 1]
        b[i] = b[i] - w * c[i - 1]
        d[i] = d[i] - w * d[i - 1]
    x = jnp.zeros(n)
    x[n - 1] = d[n - 1] / b[n - 1]
    for i in range(n - 2, -1, -1):
        x[i] = (d[i] - c[i] * x[i + 1]) / b[i]
    return x


row(
    thomas,
    [np.array([0.0, 1.0, 1.0, 1.0]), np.full(4, 4.0), np.array([1.0, 1.0, 1.0, 0.0]), LONGER],
    [np.array([0.0, 0.5, 1.0, -1.0]), np.full(4, 3.0), np.array([1.0, -1.0, 1.0, 0.0]), -LONGER],
    grad=True,
    batch=True,
)


def edit_distance(a, b):
    n, m = len(a), len(b)
    d = jnp.zeros((n + 1, m + 1), dtype=int)
    for i in range(n + 1):
        d[i, 0] = i
    for j in range(m + 1):
        d[0, j] = j
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            best = d[i - 1, j - 1] + cost
            if d[i - 1, j] + 1 < best:
                best = d[i - 1, j] + 1
            if d[i, j - 1] + 1 < best:
                best = d[i, j - 1] + 1
            d[i, j] = best
    return d[n, m]


row(
    edit_distance,
    [np.array([1, 2, 3, 4]), np.array([1, 3, 4])],
    [np.array([1, 2, 3, 4]), np.array([9, 9, 9])],
    staged="cond",
    batch=True,
)


def pascal(n):
    line = jnp.zeros(8, dtype=int)
    line[0] = 1
    for i in range(n):
        for j in range(i + 1, 0, -1):
            line[j] += line[j - 1]
    return line


row(pascal, [5], [0], staged="loop", batch=True)


def matrix_product(a, b):
    c = jnp.zeros((2, 2))
    for i in range(2):
        for j in range(2):
            for k in range(3):
                c[i, j] += a[i, k] * b[k, j]
    return c


row(matrix_product, [MATRIX, MATRIX.T], [-MATRIX, MATRIX.T], grad=True, batch=True)


def matrix_rows_in_a_loop(m, n):
    for i in range(n):
        m[i] = m[i] * (i + 1)
        m[i, 0] = -1.0
    return m


row(matrix_rows_in_a_loop, [MATRIX, 2], [MATRIX, 0], staged="loop", grad=True, batch=True)


def write_then_break(v, t):
    y = jnp.zeros(4)
    for i in range(4):
        y[i] = v[i] * 2
        if y[i] > t:
            break
    return y, i


row(write_then_break, [LONGER, 5.0], [LONGER, 99.0], staged="loop", batch=True)


def heat_equation(u, steps):
    for _ in range(steps):
        new = u.copy()
        for i in range(1, 4):
            new[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1])
        u = new
    return u


row(
    heat_equation,
    [np.array([0.0, 1.0, 4.0, 1.0, 0.0]), 3],
    [np.array([1.0, 0.0, 0.0, 0.0, 1.0]), 0],
    staged="loop",
    grad=True,
    batch=True,
)


def slices_in_a_loop(v):
    u = jnp.zeros((3, 3))
    for i in range(3):
        u[i, :] = v * i
        u[:, i] += 1.0
    return u


row(slices_in_a_loop, [VECTOR], [-VECTOR], grad=True, batch=True)


def a_whole_written_array_is_written_into_another(x, y, n):
    i = 0
    while i < n:
        x[i] += 1.0
        y[:3] = x
        i += 1
    return (x, y)


row(a_whole_written_array_is_written_into_another, [VECTOR, LONGER, 3], [VECTOR, LONGER, 0], staged="loop")


def a_constant_is_written_and_then_all_of_it(x, y, n):
    total = 0.0
    for _ in range(n):
        total += y[2]
        x[0] = 7.0
        y[1:] = x
    return (x, y, total)


row(a_constant_is_written_and_then_all_of_it, [VECTOR, LONGER, 3], [VECTOR, LONGER, 0], staged="loop")


# ------------------------------------------------------------------ other names of the same array
def fill_first(a, value):
    a[0] = value


def fill_and_return(a, value):
    a[0] = value
    return a


def alias(v):
    y = v
    y[0] = 100.0
    return v


row(alias, [VECTOR], [-VECTOR], want="either")


def alias_written_through_the_first_name(v):
    y = v
    v[0] = 100.0
    return y


row(alias_written_through_the_first_name, [VECTOR], [-VECTOR], want="either")


def alias_of_an_alias(x):
    a = jnp.zeros(3)
    b = a
    c = b
    c[1] = x
    return a + b


row(alias_of_an_alias, [2.0], want="either")


def alias_in_a_branch(v, c):
    y = v
    if c > 0:
        y[0] = 100.0
    return v


row(alias_in_a_branch, [VECTOR, 1.0], [VECTOR, -1.0], want="either")


def alias_in_a_loop(v, n):
    y = v
    for i in range(n):
        y[i] = 0.0
    return v


row(alias_in_a_loop, [VECTOR, 2], [VECTOR, 0], want="either")


def alias_made_in_a_branch(v, w, c):
    if c > 0:
        y = v
    else:
        y = w
    y[0] = 100.0
    return v, w


row(alias_made_in_a_branch, [VECTOR, LONGER[:3], 1.0], [VECTOR, LONGER[:3], -1.0], want="either")


def alias_augmented(v):
    y = v
    y[1] += 5.0
    return v.sum() - y.sum()


row(alias_augmented, [VECTOR], want="either")


def alias_in_a_list(v):
    both = [v, v]
    both[0][0] = 9.0
    return both[1]


row(alias_in_a_list, [VECTOR], want="either")


def alias_by_argument(v):
    fill_first(v, 100.0)
    return v


row(alias_by_argument, [VECTOR], [-VECTOR], want="either")


def filled_by_a_helper(x):
    y = jnp.zeros(3)
    fill_first(y, x)
    return y


row(filled_by_a_helper, [2.0], [-2.0], want="either")


def filled_by_a_helper_that_returns(x):
    y = jnp.zeros(3)
    z = fill_and_return(y, x)
    return y + z


row(filled_by_a_helper_that_returns, [2.0], [-2.0], want="either")


def helper_result_rebinds(x):
    y = jnp.zeros(3)
    y = fill_and_return(y, x)
    return y


row(helper_result_rebinds, [2.0], [-2.0], want="either", grad=True)


def view_of_a_row(m):
    r = m[0]
    r[1] = 100.0
    return m


row(view_of_a_row, [MATRIX], want="either")


def view_of_a_slice(v):
    tail = v[1:]
    tail[0] = 100.0
    return v


row(view_of_a_slice, [VECTOR], want="either")


def base_written_under_a_view(m):
    r = m[0]
    m[0, 1] = 100.0
    return r


row(base_written_under_a_view, [MATRIX], want="either")


def rows_written_while_iterating(m):
    for r in m:
        r[0] = 0.0
    return m


row(rows_written_while_iterating, [MATRIX], want="either")


def transposed_view(m):
    t = m.T
    t[0, 1] = 100.0
    return m


row(transposed_view, [MATRIX], want="either")


def copy_is_not_an_alias(v):
    y = v.copy()
    y[0] = 100.0
    return v, y


row(copy_is_not_an_alias, [VECTOR], [-VECTOR], grad=True, batch=True)


def arithmetic_is_not_an_alias(v):
    y = v + 0
    y[0] = 100.0
    return v, y


row(arithmetic_is_not_an_alias, [VECTOR], [-VECTOR], grad=True, batch=True)


def rebound_is_not_an_alias(v):
    y = v
    v = v * 2
    v[0] = 100.0
    return v, y


row(rebound_is_not_an_alias, [VECTOR], [-VECTOR], grad=True, batch=True)


def array_of_an_object_under_two_names(x):
    r = Recorder(3)
    buffer = r.buffer
    buffer[0] = x
    return r.buffer


row(array_of_an_object_under_two_names, [2.0], want="either")


def same_array_in_two_objects(x):
    a, b = Recorder(3), Recorder(3)
    b.buffer = a.buffer
    b.buffer[0] = x
    return a.buffer


row(same_array_in_two_objects, [2.0], want="either")


def out_of_bounds(x):
    y = jnp.zeros(3)
    y[7] = x
    return y


row(out_of_bounds, plain=[[2.0]])


def rows_swapped_by_a_list(m, i):
    m[[0, i]] = m[[i, 0]]
    return m


row(rows_swapped_by_a_list, [MATRIX, 1], [MATRIX, 0])


def read_by_a_list(m):
    columns = [k for k in range(2)]
    return m[:, [1, 0]], m[[k for k in range(2)]], m[columns], m[[0, 1], [1, 0]]


row(read_by_a_list, [MATRIX])


@table.each_way
def test_subscripts(row, way, record_property):
    check(row, way, record_property)


def test_elements_of_a_known_mask_are_added_where_they_belong():
    def added(v, w):
        v[v > 2] += w[v > 2]
        return v

    def multiplied(m, w):
        m[m > 1] *= w[:3]
        return m

    def rows(m, n):
        m[np.array([True, False])] -= n[1:]
        return m

    matrix = np.array([[1.0, 2.0], [3.0, 4.0]])
    for function, arguments in [
        (added, (np.array([1.0, 3.0, 5.0, 2.0]), np.array([10.0, 20.0, 30.0, 40.0]))),
        (multiplied, (matrix, np.array([10.0, 20.0, 30.0, 40.0]))),
        (rows, (matrix, 10 * matrix)),
    ]:
        want = function(arguments[0].copy(), arguments[1])
        np.testing.assert_allclose(ag.autograph(function)(*map(jnp.asarray, arguments)), want)


def test_what_a_mask_does_not_pick_has_no_part_in_the_derivative():
    def loss(w):
        return jnp.sum(ag.autograph(inverse_by_a_mask)(jnp.ones(3), w))

    np.testing.assert_allclose(jax.grad(loss)(jnp.array([1.0, 0.0, -2.0])), [-1.0, 0.0, 0.0])


def test_elements_of_a_mask_meet_no_others():
    def of_an_array(v, w):
        m = v > 0
        v[m] = w[m] * w
        return v

    def of_two_masks(v, w):
        m = v > 0
        n = m
        m = w > 0
        v[m] = w[m] + 0
        w[n] = v[n]
        v[m] = w[m] + w[n]
        return v

    for function, text in ((of_an_array, "are computed with an array"), (of_two_masks, "must be concrete")):
        with pytest.raises((ag.StagingError, IndexError), match=text):
            ag.jit(function)(jnp.arange(3.0), jnp.ones(3))
