"""What shares memory with an array in NumPy, and is no variable's own: returned, handed on, kept in an object, iterated over.

A write that would have to show is refused, or shows. Never another result.
"""

import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

M = np.array([[1.0, 2.0], [3.0, 4.0]])
X = np.array([1.0, 2.0, 3.0])


def either(function, *calls):
    """The two ways that are right."""
    row(function, *calls, want="either")


def first(m):
    return m[0]


def itself(m):
    return m


def write(m, k=0):
    m[k] = 9.0
    return 1.0


def put(r):
    r[0] = 5.0
    return r


class Kept:
    def __init__(self, part):
        self.part = part


# ------------------------------------------------------------------ rows that a function gives or gets
def row_of_a_callee_read(m):
    r = first(m)
    m[0] = 7.0
    return r + 0.0


either(row_of_a_callee_read, [M])


def row_of_a_callee_written(m):
    r = first(m)
    r[0] = 3.0
    return m + 0.0


either(row_of_a_callee_written, [M])


def transpose_of_a_row_of_a_list_written(m):
    rows = [m, m + 1]
    t = rows[1].T
    t[0] = 7.0
    return rows[1] + 0.0


either(transpose_of_a_row_of_a_list_written, [M])


def transpose_of_an_element_added_to(m):
    rows = [m, np.ones((2, 2))]
    if m[0, 0] > 0:
        rows[1] = np.zeros((2, 2))
    for _ in range(2):
        t = rows[1].T
        t += 1.0
    return rows[1] + m


either(transpose_of_an_element_added_to, [M], [-M])


def flat_view_of_what_a_callee_gives(m):
    flat = itself(m).reshape(-1)
    flat[0] = 7.0
    return m + 0.0


either(flat_view_of_what_a_callee_gives, [M])


def flat_view_of_an_element_that_is_written(m):
    rows = [m, m + 1]
    flat = rows[0].reshape((4,), order="C")
    rows[0][0, 0] = 7.0
    return flat + 0.0


either(flat_view_of_an_element_that_is_written, [M])


def row_of_a_callee_written_by_another(m):
    r = first(m)
    write(m)
    return r + 0.0


either(row_of_a_callee_written_by_another, [M])


def row_as_an_argument_in_an_expression(m):
    return jnp.sum(put(m[0])) + m.sum()


either(row_as_an_argument_in_an_expression, [M])


def row_of_the_row_of_a_callee(m):
    r = itself(m)[0]
    m[0] = 7.0
    return r + 0.0


either(row_of_the_row_of_a_callee, [M])


def part_of_a_row(m):
    r = m[0][1:]
    m[0] = 7.0
    return r + 0.0


either(part_of_a_row, [M])


def row_of_a_method_with_a_traced_index(m, k):
    rows = {"a": [m[0], m[1]]}
    r = rows["a"][k]
    m[1] = 7.0
    return r + 0.0


either(row_of_a_method_with_a_traced_index, [M, 0], [M, 1])


def row_of_a_generator(m):
    def rows():
        yield m[0]
        yield m[1]

    held = list(rows())
    m[0] = 7.0
    return held[0] + 0.0


either(row_of_a_generator, [M])


def row_as_a_default(m):
    def get(r=m[0]):
        return r

    m[0] = 7.0
    return get() + 0.0


either(row_as_a_default, [M])


def row_in_a_partial(m):
    get = functools.partial(itself, m[0])
    m[0] = 7.0
    return get() + 0.0


either(row_in_a_partial, [M])


def row_that_an_early_return_gives(m):
    def last():
        for k in range(2):
            if m[k, 0] > 2.0:
                return m[k]
        return m[0]

    r = last()
    m[1] = 7.0
    return r + 0.0


either(row_that_an_early_return_gives, [M], [-M])


# ------------------------------------------------------------------ rows that something holds
def row_in_a_dict(m):
    held = {"row": m[0]}
    write(m)
    return held["row"] + 0.0


either(row_in_a_dict, [M])


def row_in_a_dict_written(m):
    held = {"row": m[0]}
    held["row"][0] = 4.0
    return m + 0.0


either(row_in_a_dict_written, [M])


def row_in_an_attribute(m):
    kept = Kept(None)
    kept.part = m[0]
    write(m)
    return kept.part + 0.0


either(row_in_an_attribute, [M])


def row_in_an_object(m):
    kept = Kept(m[0])
    m[0] = 4.0
    return kept.part + 0.0


either(row_in_an_object, [M])


def row_in_an_object_written(m):
    kept = Kept(m[0])
    kept.part[0] = 4.0
    return m + 0.0


either(row_in_an_object_written, [M])


def row_by_a_condition(m):
    r = m[0] if m[0, 0] > 0 else m[1]
    write(m)
    return r + 0.0


either(row_by_a_condition, [M], [-M])


def row_by_or(m):
    r = None or m[0]
    write(m)
    return r + 0.0


either(row_by_or, [M])


def row_by_walrus(m):
    total = (r := m[0]).sum()
    m[0] = 1.0
    return r + total


either(row_by_walrus, [M])


def flat_array_in_a_list(m):
    held = [m.ravel()]
    write(m)
    return held[0] + 0.0


either(flat_array_in_a_list, [M])


def views_by_functions(m):
    held = [*jnp.split(m, 2), jnp.diag(m), jnp.broadcast_to(m[0], (2, 2)), jnp.atleast_2d(m), jnp.flip(m)]
    write(m)
    return [part + 0.0 for part in held]


either(views_by_functions, [M])


def views_by_functions_of_some_arguments(m):
    parts = jnp.unstack(m)
    held = [jnp.einsum("ii->i", m), jnp.einsum("ij->ji", m), jnp.ix_(m[0], m[1])[0], getattr(m, "T"), parts[0]]  # noqa: B009
    write(m)
    return [part + 0.0 for part in held]


either(views_by_functions_of_some_arguments, [M])


def written_sums(m):
    rows, pairs = jnp.einsum("ij->i", m), jnp.einsum("ij,ij->ij", m, m)
    rows[0], pairs[0] = 5.0, 6.0
    return m + 0.0, rows, pairs


row(written_sums, [M])


def rows_of_a_row_in_branches(m, c):
    t = jnp.stack([m, m])
    r = m[0]
    if c > 0:
        a = t[1]
        r = a[0]
    t[1] = 3.0
    return r + 0.0


either(rows_of_a_row_in_branches, [M, 1.0], [M, -1.0])


# ------------------------------------------------------------------ rows that are iterated over
def rows_of_a_comprehension(m):
    rows = [m[k] for k in range(2)]
    m[0] = 4.0
    return rows[0] + 0.0


either(rows_of_a_comprehension, [M])


def rows_put_into_a_list(m):
    rows = []
    for r in m:
        rows.append(r)
    m[0] = 4.0
    return rows[0] + 0.0


either(rows_put_into_a_list, [M])


def rows_put_into_a_list_by_index(m):
    rows = []
    for k in range(2):
        rows.append(m[k])
    rows[0][0] = 4.0
    return m + 0.0


either(rows_put_into_a_list_by_index, [M])


def last_row_of_a_loop(m):
    for r in m:  # noqa: B007 - read after the loop
        pass
    m[1] = 3.0
    return r + 0.0


either(last_row_of_a_loop, [M])


def row_that_a_turn_takes(m):
    r = None
    for k, one in enumerate(m):
        if k == 0:
            r = one
    m[0] = 3.0
    return r + 0.0


either(row_that_a_turn_takes, [M])


def rows_of_zip(m):
    rows = [r for r, _ in zip(m, m, strict=True)]
    m[0] = 3.0
    return rows[0] + 0.0


either(rows_of_zip, [M])


def rows_by_builtins(m):
    held = [list(m)[0], tuple(m)[0], next(reversed(m[::-1])), min(m, key=lambda r: r[0]), *map(itself, m)]
    m[0] = 3.0
    return [r + 0.0 for r in held]


either(rows_by_builtins, [M])


def rows_of_rows(m):
    t, rows, last = jnp.stack([m, m]), [], m[0]
    for a in t:
        rows.append(a[1])
        for r in a:
            last = r
    t[1] = 3.0
    return rows[1] + 0.0, last + 0.0


either(rows_of_rows, [M])


def rows_that_a_list_is_extended_by(m):
    rows = []
    rows.extend(m)
    m[0] = 3.0
    return rows[0] + 0.0


either(rows_that_a_list_is_extended_by, [M])


def row_of_reduce(m):
    r = functools.reduce(lambda held, _: held, m)
    m[0] = 3.0
    return r + 0.0


either(row_of_reduce, [M])


def zip_over_an_array_that_is_written(m):
    x, total = m[:, 0].copy(), 0.0
    for v, w in zip(x, x[::-1].copy(), strict=True):
        d = x[::-1]
        d[0] = 7.0
        total += v * w
    return total


either(zip_over_an_array_that_is_written, [M])


def enumerate_over_an_array_that_is_written(m):
    x, total = m[:, 0].copy(), 0.0
    for k, v in enumerate(x):
        if k < 1:
            x[k + 1] = 7.0
        total += v
    return total


either(enumerate_over_an_array_that_is_written, [M])


def iterator_over_an_array_that_is_written(m):
    x = m[:, 0].copy()
    rows, elements = iter(m), iter(x)
    r, v = next(rows), next(elements)
    m[1], x[1] = 7.0, 7.0
    return r + next(rows), v + next(elements)


either(iterator_over_an_array_that_is_written, [M])


def iterator_over_an_array(m):
    rows = iter(m)
    total = next(rows) + 0.0
    for r in rows:
        total = total * r
    return total, next(rows, None) is None


row(iterator_over_an_array, [M], own_jit=True)


# A view that is carried from turn to turn, and chosen by traced data: the loop still settles.
def slopes_of_a_solver(x, n):
    time, state, slope, step = 0.0, x, -x, 0.5
    old, slopes, steps, rejected = state, jnp.zeros((3, 2)), 0, False
    for k in range(1, 3):
        while time < k * n:
            if steps == 100:
                return old, state, slope, slopes, time
            steps += 1
            new_slopes = jnp.stack([slope, -state, -0.5 * state])
            error = jnp.abs(step * new_slopes[0]).max()
            if error < 1.0:
                growth = 1.0 if rejected else 1.5
                old, slopes = state, new_slopes
                time, state, slope = time + step, state + step * slope, new_slopes[2]
                rejected = False
            else:
                growth, rejected = 0.5, True
            step = growth * step
    return old, state, slope, slopes, time


row(slopes_of_a_solver, [M[0], 2.0], [4 * M[0], 1.0])


def row_of_a_comprehension(m):
    row = [v for v in m][1]
    row[0] = 5.0
    return m[1]


either(row_of_a_comprehension, [M])


def rows_in_a_dict_comprehension(m):
    rows = {k: v for k, v in zip("ab", m, strict=True)}
    parts = {len(v): v for v in m}
    rows["a"][1] = 7.0
    parts[2][0] = 3.0
    return m


either(rows_in_a_dict_comprehension, [M])


def rows_written_in_a_comprehension(m):
    def write(v):
        v[0] = 9.0
        return v

    kept = [write(v) for v in m]
    return kept[0], m


either(rows_written_in_a_comprehension, [M])


def rows_only_computed_with(m):
    return [v * 2 for v in m], [v[0] + 1 for v in m], [len(v) for v in m], [[a for a in v] for v in m]


row(rows_only_computed_with, [M])


def views_by_functions_of_numpy(x):
    a = np.ravel(x)
    a[0] = 9.0
    b = np.split(x, 3)[1]
    b[0] = 8.0
    c = np.atleast_1d(np.squeeze(x))
    c[2] = 7.0
    return x


either(views_by_functions_of_numpy, [X])


def view_by_split_alone(x):
    first, second = np.split(x, [1])
    second[0] = 8.0
    return x, first


either(view_by_split_alone, [X])


def picked_of_an_array_and_its_transposed(m):
    rows = [m, m.T]
    rows[jnp.argmax(m[0])][0] = 4.0
    return rows


either(picked_of_an_array_and_its_transposed, [M])


def picked_of_one_array_twice(m):
    rows = [m, m * 1, m]
    rows[jnp.argmax(m[0])] = m + 1
    rows[jnp.argmax(m[0]) - 1][0] = 4.0
    return rows


either(picked_of_one_array_twice, [M])


def picked_of_a_row_and_a_column(m):
    rows = [m[0], m[:, 0]]
    rows[jnp.argmax(m[0])][0] = 4.0
    return rows


either(picked_of_a_row_and_a_column, [M], [-M])


def picked_of_parts_of_parts(m):
    lower = m[1:]
    rows = {0: lower[0], 1: m[1]}
    rows[jnp.argmax(m[0])][0] = 4.0
    return rows[0], rows[1]


either(picked_of_parts_of_parts, [M], [-M])


def picked_of_a_row_and_one_that_traced_data_chooses(m):
    k = jnp.argmax(m[0])
    rows = [m[0], m[k]]
    rows[k][0] = 4.0
    return rows


either(picked_of_a_row_and_one_that_traced_data_chooses, [M], [-M])


def picked_of_a_matrix_and_its_row(m):
    both = [m, m[1] * 1, m[1]]
    both[1 + jnp.argmax(m[0])][0] = 4.0
    return both[0].sum(), both[1], both[2]


either(picked_of_a_matrix_and_its_row, [M], [-M])


def picked_twice(m):
    rows, k = [m[0] * 1, m[1] * 1], jnp.argmax(m[0])
    pair = [rows[k], rows[1 - k], rows[0]]
    pair[k][0] = 4.0
    return pair


either(picked_twice, [M], [-M])


def put_twice(m):
    rows, k, t = [m[0] * 1, m[1] * 1, m[1] * 2], jnp.argmax(m[0]), m[0] * 3
    rows[k] = t
    rows[k + 1] = t
    rows[k][1] = 7.0
    return rows


either(put_twice, [M], [-M])


def put_and_held(m):
    rows, k, t = [m[0] * 1, m[1] * 1], jnp.argmax(m[0]), m[0] * 3
    rows[k] = t
    rows[1 - k][1] = 7.0
    return rows, t


either(put_and_held, [M], [-M])


def part_of_a_part_that_is_not_known(m):
    k = jnp.argmax(m[0])
    row = m[k]
    parts = [row[:1], m[1, :1]]
    parts[0][0] = 4.0
    return parts


either(part_of_a_part_that_is_not_known, [M], [-M])


def part_of_one_of_several_shapes(m):
    flat = m.reshape(4)
    part = flat[2:][:1]
    rows = [part, m[0], m[1]]
    part[0] = 4.0
    return rows


either(part_of_one_of_several_shapes, [M], [-M])


def parts_that_overlap(m):
    parts = [m[0, :1], m[0, ::-1], m.T[0, 1:]]
    parts[0][0] = 4.0
    return parts


either(parts_that_overlap, [M])


def the_rows_in_a_list(m):
    rows = list(m)
    rows[0][1] = rows[1][0] = 4.0
    return rows


either(the_rows_in_a_list, [M])


def every_other_element(m):
    parts = [m[0, ::2], m[0, 1::2], m.T[0, 1:]]
    parts[0][0], parts[1][0], parts[2][0] = 7.0, 8.0, 9.0
    return parts


either(every_other_element, [M])


def a_row_and_then_the_array(m):
    a, rest = m[0], [m[1]]
    a[0] = 4.0
    m[1, 0] = 5.0
    return m, a, rest


either(a_row_and_then_the_array, [M])


def two_rows_one_after_the_other(m):
    a, rest = m[0], [m[1]]
    a[0] = 4.0
    rest[0][0] = 5.0
    return m


either(two_rows_one_after_the_other, [M])


def rows_unpacked_and_the_array(m):
    a, b = m
    c = m[0]
    c[1] = 4.0
    m[1, 1] = 9.0
    return a, b, c, m


either(rows_unpacked_and_the_array, [M])


def in_an_attribute_and_the_array(m):
    o = types.SimpleNamespace(b=m[1])
    a = m[0]
    a[0] = 4.0
    m[1] += 5.0
    return m, o.b


either(in_an_attribute_and_the_array, [M])


def turned_round_in_a_loop(m):
    r, i = m * 2, 0
    while i < m[0, 0]:
        r = m[::-1]
        i += 1
    a, b = r[0], m[1]
    a[0] = 9.0
    return a, b


either(turned_round_in_a_loop, [M], [-M])


def transposed_in_a_loop(m):
    r = m * 2
    for i in range(3):
        if m[0, 0] > i:
            r = m.T
    parts = [r[0], m[1:, 0]]
    parts[0][1] = 9.0
    return parts


either(transposed_in_a_loop, [M], [-M])


def turned_and_handed_over(m):
    a, b, i = m, m * 2, 0
    while i < m[0, 0]:
        a, b = b, a[::-1]
        i += 1
    p, q = b[0], m[1]
    p[0] = 9.0
    return p, q


either(turned_and_handed_over, [M], [-M])


def turned_on_each_path_and_picked(x):
    z = x * 2
    if x.sum() > 0:
        r = x[::-1]
    else:
        r = z[::-1]
    parts = [r[:1], x[-1:]]
    parts[jnp.argmin(x)][0] = 9.0
    return parts


either(turned_on_each_path_and_picked, [X])


def a_view_in_a_bounded_list(x):
    a, kept = x * 1, ag.max_len([], 4)
    if x[0] > 0:
        kept.append(a[:2])
    a[0] = 9.0
    return sum(kept).sum()


either(a_view_in_a_bounded_list, [X])


@table.each_way
def test_views(row, way, record_property):
    check(row, way, record_property)


# ------------------------------------------------------------------ views that share no element
def two_rows_of_which_one_is_picked(m):
    rows, k = [m[0], m[1]], jnp.argmax(m[0])
    rows[k][0] = 4.0
    rows[1 - k][1] += 3.0
    return rows


def two_columns_of_which_one_is_picked(m):
    columns, k = [m[:, 0], m[:, 1]], jnp.argmax(m[0])
    columns[k][0] = 4.0
    return columns[0], columns[1]


def rows_unpacked(m):
    k = jnp.argmax(m[0])
    first, second = m
    rows = [first, second]
    rows[k][0] = 4.0
    return rows


@pytest.mark.parametrize("function", [two_rows_of_which_one_is_picked, two_columns_of_which_one_is_picked, rows_unpacked])
@pytest.mark.parametrize("m", [M, -M], ids=["M", "-M"])
def test_one_of_several_views_that_share_no_element_is_written(function, m):
    for got, wanted in zip(ag.jit(function)(jnp.asarray(m)), function(m.copy()), strict=True):
        np.testing.assert_array_equal(got, wanted)


def test_views_that_share_no_element_are_differentiated():
    def total(m):
        rows = rows_unpacked(m)
        return rows[0].sum() + 2 * rows[1].sum()

    np.testing.assert_array_equal(jax.grad(ag.jit(total))(jnp.asarray(M)), [[1, 1], [0, 2]])


def test_which_elements_views_show_is_not_known_under_vmap():
    with pytest.raises(ag.AliasError):
        jax.vmap(ag.autograph(two_rows_of_which_one_is_picked))(jnp.array([M, -M]))
