"""Two names for one array: NumPy's result, or a named error with both lines. Never another result."""

import dataclasses
import types

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

X = np.array([1.0, 2.0, 3.0])
M = np.array([[1.0, 2.0], [3.0, 4.0]])


def either(function, *calls):
    """The two ways that are right; of each pattern a branch and a loop over traced data may stand around."""
    row(function, *calls, want="either")


# ------------------------------------------------------------------ variables
def two_names(x):
    y = x
    y[0] = 9.0
    return x, y


either(two_names, [X])


def three_names(x):
    z = y = x
    z[0] = 9.0
    y[1] = 8.0
    return x, y, z


either(three_names, [X])


def name_given_before_and_after(x):
    y = x
    x[0] = 9.0
    z = x
    z[1] = 8.0
    return x, y, z


either(name_given_before_and_after, [X])


def loop_that_may_not_run_writes_to_the_other_name(x, n):
    y = x
    while n > 0:
        n -= 1
        x = x / 2
    y[0] = 9.0
    return x, y


either(loop_that_may_not_run_writes_to_the_other_name, [X, 0], [X, 2])


def loop_that_may_not_run_writes_to_its_own_name(x, n):
    y = x
    for _ in range(n):
        x = x / 2
    x[0] = 9.0
    return x, y


either(loop_that_may_not_run_writes_to_its_own_name, [X, 0], [X, 2])


def loop_that_may_not_run_gives_a_list(x, n):
    y, parts = x, [x, 2 * x]
    while n > 0:
        n -= 1
        parts = [parts[1], parts[0] / 2]
    parts[0][0] = 9.0
    return y, parts


either(loop_that_may_not_run_gives_a_list, [X, 0], [X, 2])


def loop_that_may_not_run_writes_to_a_copy(x, n):
    y = x.copy()
    while n > 0:
        n -= 1
        x = x / 2
    y[0] = 9.0
    return x, y


row(loop_that_may_not_run_writes_to_a_copy, [X, 0], [X, 2])


def loop_that_may_not_run_and_nobody_looks(x, n):
    y = x
    while n > 0:
        n -= 1
        x = x / 2
    x[0] = 9.0
    return x


row(loop_that_may_not_run_and_nobody_looks, [X, 0], [X, 2])


def copy_is_another_array(x):
    y = x.copy()
    y[0] = 9.0
    return x, y


either(copy_is_another_array, [X])


def swapped_names(x):
    y = jnp.zeros(3)
    x, y = y, x
    y[0] = 9.0
    return x, y


either(swapped_names, [X])


def augmented_elements(x):
    y = x
    y[0] += 5.0
    y[1:] *= 2.0
    return x, y


either(augmented_elements, [X])


def name_bound_by_walrus(x):
    if (y := x)[0] > 0:
        y[0] = 9.0
    return x, y


either(name_bound_by_walrus, [X], [-X])


def name_bound_by_with_and_for(x):
    for y in (x,):
        y[0] = 9.0
    return x


either(name_bound_by_with_and_for, [X])


def name_bound_by_match(x):
    match x:
        case y:
            y[0] = 9.0
    return x


either(name_bound_by_match, [X])


# ------------------------------------------------------------------ views
def row_of_a_matrix(m):
    r = m[0]
    r[1] = 9.0
    return m, r


either(row_of_a_matrix, [M])


def matrix_written_under_a_row(m):
    r = m[0]
    m[0, 1] = 9.0
    return m, r


either(matrix_written_under_a_row, [M])


def column_slice(m):
    c = m[:, 1]
    c[0] = 9.0
    return m


either(column_slice, [M])


def slice_of_a_vector(x):
    y = x[1:]
    y[0] = 9.0
    return x


either(slice_of_a_vector, [X])


def slice_of_a_slice(x):
    y = x[1:]
    z = y[1:]
    z[0] = 9.0
    return x, y


either(slice_of_a_slice, [X])


def transposed(m):
    t = m.T
    t[0, 1] = 9.0
    return m


either(transposed, [M])


def reshaped(m):
    flat = m.reshape(-1)
    flat[0] = 9.0
    return m


either(reshaped, [M])


def two_rows_unpacked(m):
    a, b = m
    a[0], b[1] = 9.0, 8.0
    return m


either(two_rows_unpacked, [M])


def fancy_index_is_a_copy(x):
    y = x[jnp.array([0, 1])]
    y[0] = 9.0
    return x, y


either(fancy_index_is_a_copy, [X])


# ------------------------------------------------------------------ calls
def fill(a, value):
    a[0] = value


def filled(x):
    fill(x, 9.0)
    return x


either(filled, [X])


def first_of(a):
    return a


def returned_by_a_function(x):
    y = first_of(x)
    y[0] = 9.0
    return x, y


either(returned_by_a_function, [X])


def filled_row(m):
    fill(m[1], 9.0)
    return m


either(filled_row, [M])


def filled_by_a_closure(x):
    def put():
        x[0] = 9.0

    y = x
    put()
    return x, y


either(filled_by_a_closure, [X])


def filled_by_a_lambda(x):
    put = lambda a: fill(a, 9.0)
    put(x)
    return x


either(filled_by_a_lambda, [X])


def given_twice(a, b):
    a[0] = 9.0
    return a[0] + b[0]


def one_array_for_two_parameters(x):
    return given_twice(x, x)


either(one_array_for_two_parameters, [X])


def default_argument(x):
    def put(a=x):
        a[0] = 9.0
        return a

    put()
    return x


either(default_argument, [X])


# ------------------------------------------------------------------ containers and objects
def element_of_a_list(x):
    items = [x, x]
    items[0][0] = 9.0
    return items[1], x


either(element_of_a_list, [X])


def name_and_list(x):
    items = [x]
    x[0] = 9.0
    return items[0]


either(name_and_list, [X])


def value_of_a_dict(x):
    d = {"a": x}
    d["a"][0] = 9.0
    return x, d["a"]


either(value_of_a_dict, [X])


def tuple_and_name(x):
    pair = (x, 1.0)
    x[0] = 9.0
    return pair[0]


either(tuple_and_name, [X])


def one_list_under_two_names(x):
    a = [x, x * 2]
    b = a
    b[0] = b[1]
    return a[0]


either(one_list_under_two_names, [X])


@dataclasses.dataclass
class Pair:
    a: object
    b: object


def two_attributes(x):
    p = Pair(x, x)
    p.a[0] = 9.0
    return p.b, p.a is p.b


either(two_attributes, [X])


def attribute_and_name(x):
    p = Pair(x, 0.0)
    y = p.a
    y[0] = 9.0
    return p.a


either(attribute_and_name, [X])


def one_object_under_two_names(x):
    p = Pair(x, 0.0)
    q = p
    q.b = x[0]
    return p.b


either(one_object_under_two_names, [X])


class Grid:
    def __init__(self, values):
        self.values = values

    def put(self, value):
        self.values[0] = value


def method_writes_what_a_name_holds(x):
    g = Grid(x)
    g.put(9.0)
    return x, g.values


either(method_writes_what_a_name_holds, [X])


# ------------------------------------------------------------------ traced data decides
def one_array_on_one_path(x, t):
    y = jnp.zeros(3)
    if t > 0:
        y = x
    y[0] = 9.0
    return x, y


either(one_array_on_one_path, [X, 1.0], [X, -1.0])


def either_of_two(x, t):
    a, b = x, x * 2
    c = a if t > 0 else b
    c[0] = 9.0
    return a, b


either(either_of_two, [X, 1.0], [X, -1.0])


def written_in_a_branch(x, t):
    y = x
    if t > 0:
        y[0] = 9.0
    return x, y


either(written_in_a_branch, [X, 1.0], [X, -1.0])


def view_taken_in_a_branch(m, t):
    r = m[0]
    if t > 0:
        r = m[1]
    r[0] = 9.0
    return m


either(view_taken_in_a_branch, [M, 1.0], [M, -1.0])


def previous_and_current(x, n):
    previous = x
    for i in range(n):
        current = previous
        current[i] = 9.0
        previous = current
    return x, previous


either(previous_and_current, [X, 2], [X, 0])


def buffers_swapped_in_a_loop(x, n):
    a, b = x, jnp.zeros(3)
    for i in range(n):
        a[i] = b[i] + 1.0
        a, b = b, a
    return a, b, x


either(buffers_swapped_in_a_loop, [X, 3], [X, 0])


def history_of_one_buffer(x, n):
    buffer, last = x, x
    while n > 0:
        last = buffer
        buffer[n] = 9.0
        n = n - 1
    return last, buffer


either(history_of_one_buffer, [X, 2], [X, 0])


def put_into_a_list_in_a_loop(x):
    buffer, seen = jnp.zeros(3), []
    for i in range(3):
        buffer[i] = x[i]
        seen.append(buffer)
    return seen[0]


either(put_into_a_list_in_a_loop, [X])


def rows_in_a_loop(m):
    for r in m:
        r[0] = r[1]
    return m


either(rows_in_a_loop, [M])


def matrix_written_by_rows(m, n):
    for i in range(n):
        r = m[i]
        r[0] = 9.0
    return m


either(matrix_written_by_rows, [M, 2], [M, 0])


def row_written_in_a_loop(m, n):
    r = m[0]
    for i in range(n):
        r[i] = i + 5.0
    return m


either(row_written_in_a_loop, [M, 2], [M, 0])


def row_taken_in_a_loop_and_written_after(m, n):
    r = m[0]
    for i in range(n):
        r = m[i]
    r[0] = 9.0
    return m


either(row_taken_in_a_loop_and_written_after, [M, 2], [M, 0])


def row_written_in_the_turn_after(m, n):
    r = m[0]
    for i in range(n):
        r[0] = r[0] + 1
        r = m[i]
    return m


either(row_written_in_the_turn_after, [M, 2], [M, 0])


def row_read_after_its_matrix_is_written_in_a_loop(m, n):
    r = m[0]
    for i in range(n):
        m[0, 0] = i + 7.0
    return r


either(row_read_after_its_matrix_is_written_in_a_loop, [M, 2], [M, 0])


def row_read_while_its_matrix_is_written(m, n):
    r = m[0]
    for i in range(n):
        m[0, 0] = r[0] + i + 7.0
    return m


either(row_read_while_its_matrix_is_written, [M, 2], [M, 0])


def row_of_a_matrix_that_nobody_reads(m, n):
    r = m[0]
    while n > 0:
        r[0] = n
        n = n - 1
    return r


either(row_of_a_matrix_that_nobody_reads, [M, 2], [M, 0])


def slice_read_before_the_write(m, n):
    r = m[0] * 2
    for i in range(n):
        s = r[1:]
        r[0] = s[0] + 1
    return r


either(slice_read_before_the_write, [M, 2], [M, 0])


def row_that_became_another_array(m, n):
    for i in range(n):
        r = m[i]
        t = r[0]
        r = r * 2
        r[1] = 3.0
        m[i] = r
    return m


either(row_that_became_another_array, [M, 2], [M, 0])


def alias_through_a_call_beside_a_loop(m, n):
    x = m[0] * 1.0
    y = first_of(x)
    for i in range(n):
        x[i] = 9.0
    return y


either(alias_through_a_call_beside_a_loop, [M, 2], [M, 0])


def list_holds_what_a_loop_writes(m, n):
    x = m[0] * 1.0
    items = [x]
    for i in range(n):
        x[i] = 9.0
    return items[0]


either(list_holds_what_a_loop_writes, [M, 2], [M, 0])


def alias_through_a_call_beside_a_branch(m, n):
    x = m[0] * 1.0
    y = first_of(x)
    if n > 1:
        x[0] = 9.0
    return y


either(alias_through_a_call_beside_a_branch, [M, 2], [M, 0])


def alias_of_what_the_loop_replaces(m, n):
    x = m[0] * 1.0
    y = first_of(x)
    while n > 0:
        x = x * 2
        x[0] = 9.0
        n = n - 1
    return (x, y)


either(alias_of_what_the_loop_replaces, [M, 2], [M, 0])


def written_in_nested_loops(m, n):
    x = m[0] * 1.0
    for i in range(n):
        for j in range(2):
            x[j] = x[j] + i
    return x


either(written_in_nested_loops, [M, 2], [M, 0])


def row_read_in_nested_loops(m, n):
    r = m[1]
    for i in range(n):
        for j in range(2):
            m[j, j] = r[j] + 1
    return m


either(row_read_in_nested_loops, [M, 2], [M, 0])


# ------------------------------------------------------------------ one array or another, decided inside of blocks
def taken_in_one_branch(a, b):
    e = None
    if b:
        e = a
    a[0] = 9.0
    return e is None or e[0]


either(taken_in_one_branch, [X, True], [X, False])


def taken_or_none(a, b):
    e = a if b else None
    a[0] = 9.0
    return e


either(taken_or_none, [X, True], [X, False])


def unbound_or_taken(a, b):
    if b:
        e = a
    a[0] -= 9.0
    return e


either(unbound_or_taken, [X, True])


def taken_and_written_in_one_branch(a, n):
    if n > 0:
        d = a
        a[1] += n
    d[0] = 9.0
    return a


either(taken_and_written_in_one_branch, [X, 2])


def taken_two_branches_deep(a, b, n):
    e = a * 0
    if n > 3:
        if b:
            e = a
    a[0] = 9.0
    return e


either(taken_two_branches_deep, [X, True, 5], [X, True, 1], [X, False, 5])


def into_a_list_in_a_branch(m, b):
    rows = [m[0] * 0]
    if b:
        rows[0] = m[1]
    m[1, 0] = 9.0
    return rows[0]


either(into_a_list_in_a_branch, [M, True], [M, False])


def taken_in_a_loop(a, n):
    e = a * 0
    for i in range(n):
        e = a
    a[0] = 9.0
    return e


either(taken_in_a_loop, [X, 2], [X, 0])


def taken_in_a_loop_that_is_left(a, n):
    e = a * 0
    for i in range(n):
        if i > 1:
            e = a
            break
    a[0] = 9.0
    return e


either(taken_in_a_loop_that_is_left, [X, 4], [X, 1])


def taken_in_a_loop_in_a_branch(a, b, n):
    e = a * 0
    if b:
        for i in range(n):
            e = a
    a[0] = 9.0
    return e


either(taken_in_a_loop_in_a_branch, [X, True, 2], [X, True, 0], [X, False, 2])


def into_a_list_in_a_loop_in_a_branch(a, b, n):
    held = [a * 0]
    if b:
        for i in range(n):
            held[0] = a
    a[0] = 9.0
    return held[0]


either(into_a_list_in_a_loop_in_a_branch, [X, True, 2], [X, False, 2])


def view_or_own_array_in_a_loop(m, b, n):
    e = m * 0
    while n > 0:
        if b:
            e = m
        n -= 1
    row = e[0]
    row[0] = 9.0
    return m


either(view_or_own_array_in_a_loop, [M, True, 2], [M, False, 2])


def returned_from_a_loop_of_an_inner_function(a, n):
    e = a * 0

    def g():
        for i in range(3):
            if i > n:
                return a
        return e

    f = g()
    a[0] = 9.0
    return f


either(returned_from_a_loop_of_an_inner_function, [X, 1], [X, 5])


def buffers_that_rotate(a, n):
    e = a * 0
    f = e
    while n > 0:
        f[1] = n
        e, f = f, a
        n -= 1
    return a, e, f


either(buffers_that_rotate, [X, 3], [X, 1], [X, 0])


def last_state_may_be_the_first(a, n):
    c = a
    p = a * 0
    while n > 0:
        p, c = c, c + 1
        n -= 1
    p[0] = 9.0
    return a, p


either(last_state_may_be_the_first, [X, 1], [X, 3])


def either_of_two_where_one_is_written(m, n):
    e = m + 1
    f = e
    if n > 3:
        f = m
    e[0, 0] = 9.0
    return f


either(either_of_two_where_one_is_written, [M, 5], [M, 1])


# ------------------------------------------------------------------ functions that share a variable see its writes
def inner_function_writes_twice(a, n):
    def put(k):
        a[1] += k
        return 3.0

    put(n)
    put(n + 1)
    return a


row(inner_function_writes_twice, [X, 1])


def inner_function_writes_where_it_is_called_in_a_branch(a, n):
    def put(k):
        for j in range(2):
            a[j] += k
        return 3.0

    if n > 0:
        put(n)
        put(n + 1)
    return a


row(inner_function_writes_where_it_is_called_in_a_branch, [X, 1], [X, 0])


def inner_function_reads_what_is_written(a, n):
    def at(k):
        return a[k]

    s = 0.0
    for k in range(1, 3):
        a[n] += k
        s += at(k)
    return a, s


row(inner_function_reads_what_is_written, [X, 1])


def loop_over_what_an_inner_function_writes(a, n):
    def put(k):
        a[k], a[1] = a[1], a[k]
        return a[0]

    s = 0.0
    for v in a:
        s += v
        put(n)
    return s, a


either(loop_over_what_an_inner_function_writes, [X, 2], [X, 0])


class Holder:
    def __init__(self, c):
        self.c = c

    def put(self, k, v):
        self.c[k] = v


def loop_over_what_a_method_writes(a, n):
    o = Holder(a * 1.0)
    s = 0.0
    for v in o.c:
        s += v
        o.put(n, s)
    return s, o.c


either(loop_over_what_a_method_writes, [X, 2], [X, 0])


def inner_function_of_an_earlier_call(a):
    first = _reader(a)
    second = _reader(a)
    a[0] = 9.0
    return first() + second()


def _reader(a):
    def read():
        return a[0]

    return read


either(inner_function_of_an_earlier_call, [X])


def test_there_are_forty_patterns():
    assert len(table.rows) >= 40


# ------------------------------------------------------------------ what a statement has read before a call in it writes
class Held:
    def __init__(self, x):
        self.x = x


def same(x):
    return x


def operand_before_a_call(x):
    def fill():
        x[0] = 9.0
        return 1.0

    return x + fill()


either(operand_before_a_call, [X])


def element_before_a_call(x):
    def fill():
        x[0] = 9.0
        return 1.0

    return x[0] + fill(), x


row(element_before_a_call, [X])


def updated_variable_before_a_call(x):
    def fill():
        x[0] = 9.0
        return 1.0

    x -= fill()
    return x


either(updated_variable_before_a_call, [X])


def argument_before_a_call(x):
    def fill():
        x[0] = 9.0
        return 1.0

    return list((x, fill()))[0]


either(argument_before_a_call, [X])


def attribute_before_a_call(x):
    held = Held(x)

    def fill():
        held.x[0] = 9.0
        return 1.0

    return held.x + fill()


either(attribute_before_a_call, [X])


def element_of_a_list_before_a_call(x):
    rows = [x]

    def fill():
        rows[0][0] = 9.0
        return 1.0

    return rows[0] * fill()


either(element_of_a_list_before_a_call, [X])


def row_before_a_call(m):
    def fill():
        m[0, 1] = 9.0
        return 1.0

    return m[0] + fill()


either(row_before_a_call, [M])


def update_whose_right_side_writes(x):
    held = Held(x)

    def fill():
        held.x[0] = 9.0
        return 1.0

    held.x[1] += fill()
    return held.x


either(update_whose_right_side_writes, [X])


def update_of_all_whose_right_side_writes(x):
    def fill():
        x[0] = 9.0
        return 1.0

    x[:] -= fill()
    return x


either(update_of_all_whose_right_side_writes, [X])


def element_updated_by_what_writes(x):
    def fill():
        x[0] = 9.0
        return 1.0

    x[1] -= fill() + x[0]
    return x


either(element_updated_by_what_writes, [X])


def returned_before_finally(x):
    try:
        return x, x[0]
    finally:
        x[0] = 9.0


either(returned_before_finally, [X])


def attribute_returned_before_finally(x):
    held = Held(x)
    try:
        return held.x
    finally:
        held.x[0] = 9.0


either(attribute_returned_before_finally, [X])


def returned_before_a_loop_in_finally(x, n):
    try:
        return x, sum([v for v in x])
    finally:
        k = 0
        while k < n:
            x[0], x[1] = x[1], x[0]
            k += 1


either(returned_before_a_loop_in_finally, [X, 3])


def loop_over_what_a_call_gives(x):
    for v in same(x):
        x[:] = v + 1.0
    return x


either(loop_over_what_a_call_gives, [X])


# ------------------------------------------------------------------ what a statement reads after a call in it has written
def put_first(a, value):
    a[0] = value
    return a[1]


def element_after_a_call(x):
    y = x
    return put_first(x, 9.0) + y[0]


either(element_after_a_call, [X])


def slice_updated_in_a_try_by_what_writes(x):
    y = x + 0.0

    def fill():
        y[-1] = 9.0
        return 1.0

    try:
        y[1:] -= fill()
    except ValueError:
        pass
    return y


either(slice_updated_in_a_try_by_what_writes, [X])


def slice_updated_before_finally_by_what_swaps(x):
    y = x + 0.0
    first = 0

    def swap():
        y[first], y[-1] = y[-1], y[first]
        return 1.0

    try:
        y[1:] -= swap()
    finally:
        x = sum([2.0 for _ in range(2)])
    return x, y * 1.0


either(slice_updated_before_finally_by_what_swaps, [X])


def row_updated_in_a_try_by_what_writes(m):
    held = Held(m * 1.0)

    def fill():
        held.x[0, 0] = 9.0
        return held.x[1, 1]

    try:
        held.x[0] += fill()
    except ValueError:
        pass
    return held.x


either(row_updated_in_a_try_by_what_writes, [M])


def slice_updated_in_a_try_by_what_is_handed_it(x):
    y = x + 0.0
    try:
        y[:2] *= put_first(y, 9.0)
    finally:
        x = x * 2.0
    return x, y


either(slice_updated_in_a_try_by_what_is_handed_it, [X])


def element_updated_in_a_try_by_what_writes(x):
    y = x + 0.0

    def fill():
        y[0] = 9.0
        return 1.0

    try:
        y[0] -= fill()
        y[1:] += float(2)
    finally:
        x = x * 2.0
    return x, y


either(element_updated_in_a_try_by_what_writes, [X])


def updated_in_a_try_by_what_writes_nothing(x):
    y = x + 0.0
    z = y
    try:
        y[:2] += float(2)
    except ValueError:
        pass
    return y, z


row(updated_in_a_try_by_what_writes_nothing, [X])


def attributes_updated_in_a_try_by_what_writes_nothing(m):
    held = Held(m * 1.0)
    rows = [m * 2.0]
    try:
        held.x[0] += len([1, 2])
        rows[0][0, 1:] += float(2)
        held.x[0, 1:] -= rows[0][0, :1] * abs(-2.0)
    except ValueError:
        pass
    return held.x, rows[0]


row(attributes_updated_in_a_try_by_what_writes_nothing, [M])


def element_of_a_dict_after_a_call(x):
    held = {"x": x}
    return put_first(x, 9.0), held["x"][0]


either(element_of_a_dict_after_a_call, [X])


def comprehension_after_a_call(x):
    y = x
    return put_first(x, 9.0) + sum([v for v in y])


either(comprehension_after_a_call, [X])


def index_of_the_target_after_a_call(x, m):
    y = x
    m[int(y[0])] = put_first(x, 0.0)
    return m


either(index_of_the_target_after_a_call, [X - 1.0, M])


def branch_after_a_call(x):
    y = x
    return y[0] if put_first(x, 9.0) > 1.0 else y[2]


either(branch_after_a_call, [X])


def rest_of_a_condition_after_a_call(x):
    y = x
    return put_first(x, 9.0) > 0.0 and y[0]


either(rest_of_a_condition_after_a_call, [X])


def last_of_a_chain_after_a_call(x):
    y = x
    return 0.0 < put_first(x, 9.0) < y[0]


either(last_of_a_chain_after_a_call, [X])


def call_in_each_turn_of_a_comprehension(x):
    y = x
    return [y[0] + put_first(x, 9.0) for _ in range(3)]


either(call_in_each_turn_of_a_comprehension, [X])


def array_that_each_turn_of_a_comprehension_reads(x):
    return [put_swapped(x) for _ in range(3)]


def put_swapped(a):
    a[0], a[1] = a[1], a[0]
    return a[0] + 0.0


either(array_that_each_turn_of_a_comprehension_reads, [X])


class Count:
    def __init__(self, n):
        self.n = n


def counted(count):
    if count.n > 1.0:
        count.n = count.n + 1.0
    return count


def object_that_may_be_another_after_a_call(n, x):
    count = Count(n)
    other = count if x > 0 else Count(7.0)
    return counted(count).n, other.n


either(object_that_may_be_another_after_a_call, [3.0, 1.0], [3.0, -1.0])


def updated_list_that_may_be_another_in_one_statement(n, x):
    first = [n, 2.0]
    other = first if x > 0 else [n, 3.0]
    return first.append(5.0) or len(other)


either(updated_list_that_may_be_another_in_one_statement, [3.0, 1.0], [3.0, -1.0])


# ------------------------------------------------------------------ views of what may be another array
def view_of_what_a_condition_gives(x, z, c):
    e = x if c > 0 else z
    d = x[::-1]
    d[0] = 9.0
    return e


either(view_of_what_a_condition_gives, [X, X + 3, 1.0], [X, X + 3, -1.0])


def view_of_what_a_branch_gives_read(x, z, c):
    if c > 0:
        e = x
    else:
        e = z
    d = e[1:]
    x[1] = 9.0
    return d + 0.0


either(view_of_what_a_branch_gives_read, [X, X + 3, 1.0], [X, X + 3, -1.0])


def view_of_what_a_branch_gives_written(x, z, c):
    if c > 0:
        e = x
    else:
        e = z
    d = e[1:]
    d[0] = 9.0
    return x + 0.0


either(view_of_what_a_branch_gives_written, [X, X + 3, 1.0], [X, X + 3, -1.0])


def loop_over_what_a_condition_gives(x, z, c):
    e = x if c > 0 else z
    total = 0.0
    for v in e[:2]:
        put_first(x, v + 1.0)
        total += v
    return total


either(loop_over_what_a_condition_gives, [X, X + 3, 1.0], [X, X + 3, -1.0])


def written_when_a_loop_over_it_is_over(x):
    total = 0.0
    for v in x[1:] * 1.0:
        total += v
    else:
        x[0] = total
    for k, v in enumerate(x):
        total += v * k
    else:
        x[1] = total
    return x


row(written_when_a_loop_over_it_is_over, [X])


def written_when_a_loop_is_over_in_a_loop(x):
    for v in x:
        for w in x:
            v += w
        else:
            put_first(x, v)
    return x


either(written_when_a_loop_is_over_in_a_loop, [X])


# ------------------------------------------------------------------ writes to a view are followed
def view_written(x):
    d = x[::-1]
    d[0] = 9.0
    return x, d


row(view_written, [X], [-X], grad=True, batch=True)


def array_of_a_view_written(x, k):
    d = x[1:]
    x[2] = k
    x[1] += d[1]
    return x, d


row(array_of_a_view_written, [X, 5.0], [-X, 3.0], grad=True, batch=True)


def views_of_views(x, c):
    d = x[::-1]
    e = d[1:]
    f = x[:2]
    e[0] = 9.0
    x[2] = 7.0
    f[0] = c
    return x, d, e, f


row(views_of_views, [X, 2.0], [-X, 3.0], grad=True, batch=True)


def view_written_in_branches(x, c):
    d = x[::-1]
    if c > 0:
        d[0] = 9.0
    else:
        x[1] = 5.0
    return x, d


row(view_written_in_branches, [X, 1.0], [X, -1.0], staged="cond", batch=True)


def view_taken_in_branches(x, c):
    if c > 0:
        d = x[1:]
        d[0] = 9.0
    else:
        d = x[:2]
        d[0] = 4.0
    return x, d


row(view_taken_in_branches, [X, 1.0], [X, -1.0], staged="cond", batch=True)


def rows_written_in_a_loop(m, c):
    for k in range(2):
        r = m[k]
        r[0] = c + k
        r[1:] = r[0] * 2.0
    return m


row(rows_written_in_a_loop, [M, 5.0], [-M, 1.0], grad=True, batch=True)


def rows_written_in_a_while_loop(m, n):
    k = 0
    while k < n:
        r = m[k]
        r[0] += 0.5 * k
        m[k, 1] += r[0]
        k += 1
    return m, k


row(rows_written_in_a_while_loop, [M, 2], [M, 0], staged="loop", batch=True)


def index_changes_after_the_view(x):
    i = 1
    d = x[i:]
    i = 0
    d[i] = 9.0
    b = x
    b[1] += 1.0
    return x, d, b


row(index_changes_after_the_view, [X])


def traced_row_and_column(m, k):
    r = m[k]
    r[:] = r[::-1] + 1.0
    c = m[:, 0]
    c[1] = 8.0
    return m, r, c


row(traced_row_and_column, [M, 0], [M, 1], batch=True)


def two_rows_which_may_be_one(m, i, j):
    r, q = m[i], m[j]
    r[0] = 10.0
    q[1] = 20.0
    return m


either(two_rows_which_may_be_one, [M, 0, 1], [M, 1, 1])


def two_rows_which_may_be_one_in_two_statements(m, i, j):
    r = m[i]
    q = m[j]
    r[0] = 10.0
    q[1] = 20.0
    r[:] = r + q
    return m, r, q


row(two_rows_which_may_be_one_in_two_statements, [M, 0, 1], [M, 1, 1], batch=True)


def array_replaced_after_the_view(x):
    d = x[1:]
    b = x
    x = x * 2.0
    d[0] = 3.0
    return x, b, d


row(array_replaced_after_the_view, [X], grad=True)


def new_axes(x):
    d = x[None]
    e = x[..., None]
    d[0, 1] = 3.0
    e[2, 0] = 4.0
    return x, d, e


row(new_axes, [X])


def elements_at_indices_are_a_copy(x):
    k = jnp.array([0, 1])
    d = x[k]
    d[0] = 9.0
    x[1] = 8.0
    return x, d


row(elements_at_indices_are_a_copy, [X])


def view_written_in_a_loop_after_it_was_taken(x, n):
    d = x[1:]
    while n > 0:
        d[0] += n
        n -= 1
    return x, d


either(view_written_in_a_loop_after_it_was_taken, [X, 3], [X, 0])


def view_captured(x):
    d = x[1:]
    read = lambda: d[0] + x[1]
    d[0] = 3.0
    x[1] += 1.0
    return read(), d


row(view_captured, [X])


def view_that_a_list_holds_too(x):
    held = [x]
    d = x[::-1]
    d[0] = 3.0
    return held[0], d


either(view_that_a_list_holds_too, [X])


# ------------------------------------------------------------------ views that are handed on before anybody writes
def tail(v):
    return v[1:]


def tail_by_name(v):
    w = v[1:]
    return w


def view_of_a_callee_written(x):
    d = tail(x)
    d[0] = 9.0
    return x + 0.0


either(view_of_a_callee_written, [X])


def array_of_a_view_of_a_callee_written(x):
    d = tail_by_name(x)
    x[1] = 9.0
    return d + 0.0


either(array_of_a_view_of_a_callee_written, [X])


def view_of_a_view_of_a_callee(x):
    d = tail(x)[:1]
    d[0] = 9.0
    return x + 0.0


either(view_of_a_view_of_a_callee, [X])


def view_of_a_view_in_one_expression(x):
    d = x[1:][:1]
    d[0] = 9.0
    return x + 0.0


either(view_of_a_view_in_one_expression, [X])


def view_as_an_argument(x):
    y = put_first(x[1:], 9.0) + 1.0
    return x + y


either(view_as_an_argument, [X])


def view_as_a_keyword_argument(x):
    y = put_first(a=x[1:], value=9.0) + 1.0
    return x + y


either(view_as_a_keyword_argument, [X])


def view_in_a_dict(x):
    held = {"tail": x[1:]}
    held["tail"][0] = 9.0
    return x + 0.0


either(view_in_a_dict, [X])


def view_in_a_dict_read(x):
    held = {"tail": x[1:]}
    x[1] = 9.0
    return held["tail"] + 0.0


either(view_in_a_dict_read, [X])


def views_of_a_comprehension(x):
    parts = [x[k : k + 2] for k in range(2)]
    parts[0][0] = 9.0
    x[1] = 8.0
    return x, parts[1]


either(views_of_a_comprehension, [X])


def view_by_walrus(x):
    if (d := x[1:])[0] > 0:
        d[0] = 9.0
    return x, (e := x[:2])[0], d, e


either(view_by_walrus, [X])


def view_of_a_lambda(x):
    get = lambda: x[1:]
    d = get()
    d[0] = 9.0
    return x + 0.0


either(view_of_a_lambda, [X])


def loop_over_views(x):
    for d in (x[1:], x[:1]):
        d[0] = 9.0
    return x + 0.0


either(loop_over_views, [X])


# ------------------------------------------------------------------ `+=` of an array that the function writes by items too
def updated_whole_after_an_item(x):
    y = x
    y[0] = 1.0
    y += 1
    return x


either(updated_whole_after_an_item, [X])


def updated_whole_before_an_item(x):
    y = x
    y += 1
    y[0] = 5.0
    return x


either(updated_whole_before_an_item, [X])


def view_updated_whole(x):
    y = x[1:]
    y[0] = 1.0
    y *= 2
    return x, y


either(view_updated_whole, [X])


def column_updated_whole(m):
    c = m[:, 1]
    c[0] = -1.0
    c += 1
    return m


either(column_updated_whole, [M])


def argument_updated_whole(x):
    def change(v):
        v += 1
        v[0] = 7.0

    change(x)
    return x


either(argument_updated_whole, [X])


def element_of_a_list_updated_whole(x):
    arrays = [x, 1]
    arrays[0][1] = 2.0
    y = arrays[0]
    y *= 3
    return arrays[0]


either(element_of_a_list_updated_whole, [X])


def element_of_a_list_written(x):
    arrays = [x, 1]
    arrays[0][1] = 2.0
    y = arrays[0]
    y[2] = 7.0
    return arrays[0], y


either(element_of_a_list_written, [X])


def element_of_a_dict_written(x):
    arrays = {"a": x}
    y = arrays["a"]
    y[2] = 7.0
    arrays["b"] = 1
    return arrays["a"], y


either(element_of_a_dict_written, [X])


def view_of_a_view_updated_whole(x):
    a = x[1:]
    b = a[1:]
    b[0] = 7.0
    a += 1
    return x, a, b


either(view_of_a_view_updated_whole, [X])


def list_updated_whole(x):
    a = [x[0], 2.0]
    b = a
    a[1] = 3.0
    a += [x[1]]
    return b


row(list_updated_whole, [X])


def unshared_updated_whole(x):
    x[0] = 4.0
    x /= 2
    if x[1] > 0:
        x -= 1
    return x


row(unshared_updated_whole, [X], grad=True)


# An array that traced data has put into a variable that may have no value, or into a list, dict or object: what it shares with
# others goes with it through a loop and a branch.


def maybe_unbound_written_in_a_loop(x):
    if x[0] > 0:
        e = x
    for _ in x:
        e[:] += e
    return x


either(maybe_unbound_written_in_a_loop, [X])


def maybe_none_written_in_a_loop(x):
    e = None
    if x[0] > 0:
        e = x
    while x[0] < 9:
        if e is not None:
            e[:] = e + e
    return x


either(maybe_none_written_in_a_loop, [X])


def view_that_may_be_none_written(x):
    e = None
    if x[0] > 0:
        e = x[1:]
    if e is not None:
        e[:] = e + e
    return x


either(view_that_may_be_none_written, [X])


def view_that_may_be_unbound_written_in_a_loop(x):
    if x[0] > 0:
        e = x[1:]
    for _ in x:
        e[:] = e + e
    return x


either(view_that_may_be_unbound_written_in_a_loop, [X])


def view_put_into_a_dict_by_a_branch(x):
    d = {}
    if x[0] > 0:
        d["k"] = x[1:]
    else:
        d["k"] = x[:-1] + 0
    for v in x:
        d["k"][0] = v
    return x


either(view_put_into_a_dict_by_a_branch, [X])


def view_put_into_an_object_by_a_branch(x):
    o = types.SimpleNamespace(v=x[1:] + 1)
    if x[0] > 0:
        o.v = x[1:]
    o.v[0] = 7.0
    return x


either(view_put_into_an_object_by_a_branch, [X])


def view_returned_in_a_list_by_a_branch(x):
    def part(x):
        if x[0] > 0:
            return [x[1:]]
        return [x[1:] + 1]

    part(x)[0][0] = 7.0
    return x


either(view_returned_in_a_list_by_a_branch, [X])


def array_put_into_a_list_by_a_branch_and_written_in_a_loop(x):
    arrays = [x + 2, x + 1]
    if x[0] > 0:
        arrays[1] = x
    for v in x:
        x[:] = x + v
    return arrays[1]


either(array_put_into_a_list_by_a_branch_and_written_in_a_loop, [X])


# ------------------------------------------------------------------ the test of a loop reads an array that its body writes
def read_by_the_test(a):
    e = a
    n = 0
    while n < e[1] % 5:
        n += 1
        a[:] = (e - e) % 31
    return n, e, a


row(read_by_the_test, [np.array([2, 7, 27])], [np.array([2, 5, 27])], batch=True)


def written_as_read_by_the_test(a):
    e = a
    n = 0
    while a[1] < 12:
        e[1] += 1
        n += 1
    return n, e, a


row(written_as_read_by_the_test, [np.array([2, 7, 27])], [np.array([2, 15, 27])], batch=True)


def three_read_by_the_test(a):
    e, f = a, a
    n = 0
    while e[1] + f[1] < 24:
        a[1] += 1
        n += 1
    return n, e, f


row(three_read_by_the_test, [np.array([2, 7, 27])])


def read_by_a_function_of_the_test(a):
    e = a
    n = 0

    def goes_on():
        return e[1] < 12

    while goes_on():
        a[1] += 1
        n += 1
    return n, e


row(read_by_a_function_of_the_test, [np.array([2, 7, 27])])


# ------------------------------------------------------------------ arrays that a loop hands over from variable to variable
def two_buffers(a):
    x, y = a * 1.0, a * 0.0
    k = 0
    while x[0] < 100 and k < 6:
        for i in range(4):
            y[i] = x[i] + x[(i + 1) % 4]
        x, y = y, x
        k += 1
    return x, y, k


row(two_buffers, [np.array([2.0, 7.0, 1.0, 5.0])], [-np.array([2.0, 7.0, 1.0, 5.0])], batch=True)


def three_in_turn(a):
    x, y, z = a * 1, a * 2, a * 3
    k = 0
    while k < a[0] + 2:
        x, y, z = y, z, x
        x[k % 4] = 0.0
        k += 1
    return x, y, z


row(three_in_turn, [np.array([2.0, 7.0, 1.0, 5.0])], [-np.array([2.0, 7.0, 1.0, 5.0])], batch=True)


def swapped_in_a_loop_inside(a):
    x, y = a * 1, a * 2
    k = 0
    while k < 3:
        for i in range(4):
            x[i] = x[i] + y[(i + 1) % 4]
            x, y = y, x
        k += 1
    return x, y


row(swapped_in_a_loop_inside, [np.array([2.0, 7.0, 1.0, 5.0])], [-np.array([2.0, 7.0, 1.0, 5.0])], batch=True)


def swapped_and_written_in_a_branch(a):
    x, y = a * 1, a * 2
    k = 0
    while k < 4:
        for i in range(4):
            if x[i] > y[(i + 1) % 4]:
                y[i] = x[i] - 1
            else:
                y[i] = 0.0
        x, y = y, x
        k += 1
    x[0] = 9.0
    return x, y


row(
    swapped_and_written_in_a_branch,
    [np.array([2.0, 7.0, 1.0, 5.0])],
    [-np.array([2.0, 7.0, 1.0, 5.0])],
    batch=True,
    want="either",
)


def handed_down(a):
    x, y, z = a * 1, a * 2, a * 3
    k = 0
    while k < 5:
        z = y
        y = x
        x = x + 1
        if k < 4:
            z[k % 2] = -9.0
        k += 1
    return x, y, z


row(handed_down, [np.array([2.0, 7.0, 1.0, 5.0])], [-np.array([2.0, 7.0, 1.0, 5.0])], batch=True)


def handed_over_and_held(a):
    x, y = a * 1, a * 2
    e = x
    k = 0
    while k < 3:
        x, y = y, x
        x[k] = 0.0
        k += 1
    return x, y, e


row(handed_over_and_held, [np.array([2.0, 7.0, 1.0, 5.0])], want="either")


def given_by_one_loop_and_written_in_the_next(a):
    d = a
    for _ in d:
        d = a
    for k in range(3):
        a[k] = 9.0
    return a, d


either(given_by_one_loop_and_written_in_the_next, [np.array([2.0, 7.0, 1.0, 5.0])])


def given_by_one_loop_and_written_in_the_next_by_the_other_name(a, n):
    d = a * 2
    k = 0
    while k < n:
        d = a
        k += 1
    while k < 4:
        if a[k] > 1:
            d[k] = 9.0
        k += 1
    return a, d


either(
    given_by_one_loop_and_written_in_the_next_by_the_other_name,
    [np.array([2.0, 7.0, 1.0, 5.0]), 2],
    [np.array([2.0, 7.0, 1.0, 5.0]), 0],
)


def swapped_by_one_loop_and_written_in_the_next(a, n):
    x, y = a * 1, a * 2
    for _ in range(n):
        x, y = y, x
    for k in range(3):
        x[k] = 9.0
    for k in range(2):
        y[k] = 8.0
    return x, y


row(
    swapped_by_one_loop_and_written_in_the_next,
    [np.array([2.0, 7.0, 1.0, 5.0]), 3],
    [np.array([2.0, 7.0, 1.0, 5.0]), 0],
)


def swapped_by_two_loops_and_held(a, n):
    x, y = a * 1, a * 2
    e = x
    for _ in range(n):
        x, y = y, x
    for _ in range(n):
        x, y = y, x
    for k in range(3):
        x[k] = 9.0
    return x, y, e


row(swapped_by_two_loops_and_held, [np.array([2.0, 7.0, 1.0, 5.0]), 3], want="either")


def handed_over_and_viewed(a):
    x, y = a * 1, a * 2
    v = x[1:]
    k = 0
    while k < 3:
        x, y = y, x
        v[0] = v[0] + 1
        y[0] = -k
        k += 1
    return x, y, v


row(handed_over_and_viewed, [np.array([2.0, 7.0, 1.0, 5.0])], want="either")


def one_array_for_all_turns(a):
    m = a * 5
    y, z = a * 2, a * 3
    k = 0
    while k < 3:
        z = y
        y = m
        z[k] = -1.0
        k += 1
    return y, z, m


row(one_array_for_all_turns, [np.array([2.0, 7.0, 1.0, 5.0])], want="either")


def rows_handed_over(a):
    m = jnp.stack([a, a * 2])
    x, y = m[0], m[1]
    k = 0
    while k < 3:
        x, y = y, x
        x[k] = 0.0
        k += 1
    return x, y, m


row(rows_handed_over, [np.array([2.0, 7.0, 1.0, 5.0])], want="either")


def sorted_in_place(x):
    for r in x.reshape(2, 2):
        r.sort()
    return x


row(sorted_in_place, [np.array([3.0, 1.0, 4.0, 1.5])], want="error")


def sorted_copy(x):
    y = x.sort() if hasattr(x, "at") else np.sort(x)
    return y[0], x[0]


row(sorted_copy, [np.array([3.0, 1.0])], batch=False)


class Counter:
    def __init__(self):
        self.n = 0

    def count(self):
        self.n += 1


def row_of_an_array_that_a_function_may_write(x):
    counter, m = Counter(), x.reshape(2, 2) * 1

    def first():
        m[0] = m[1].copy()

    for r in m:
        counter.count()
    r[:] = 1.0
    if counter.n > 5:
        first()
    return m[1], counter.n


row(row_of_an_array_that_a_function_may_write, [np.array([2.0, 7.0, 1.0, 5.0])], want="either")


def row_of_reversed_that_a_function_may_write(x):
    counter, m = Counter(), x.reshape(2, 2) * 1

    def first():
        m[0] = m[1].copy()

    for _, r in enumerate(reversed(m)):
        counter.count()
    r[:] = 1.0
    if counter.n > 5:
        first()
    return m[0], counter.n


row(row_of_reversed_that_a_function_may_write, [np.array([2.0, 7.0, 1.0, 5.0])], want="either")


# ------------------------------------------------------------------ what a loop has yet to take
Y = np.array([7.0, 8.0, 9.0])


def array_that_comes_twice(x):
    for a in (x, x):
        a[0] += 1.0
    return x


row(array_that_comes_twice, [X], want="error")


def array_of_a_later_turn(x, y):
    for a in (x, y):
        y[0] += a[0]
    return y


row(array_of_a_later_turn, [X, Y], want="error")


def array_of_a_later_turn_where_the_loop_may_be_left(x, y):
    for a in [x, y]:
        if a[0] > 100.0:
            break
        y[0] += a[0]
    return x, y


row(array_of_a_later_turn_where_the_loop_may_be_left, [X, Y], want="error")


def array_of_a_later_turn_around(x, y):
    for a in (x, y):
        for b in (x, y):
            b[0] += a[1]
        a[1] += 1.0
    return x, y


row(array_of_a_later_turn_around, [X, Y], want="error")


def pairs_of_which_a_later_one_holds_what_is_written(x, y):
    for a, b in ((x, y), (y, y)):
        b[0] = a[1] + 1.0
        if a[0] > 0.0:
            a[1] = b[0] + 5.0
    return x, y


row(pairs_of_which_a_later_one_holds_what_is_written, [X, Y], want="error")


def list_that_holds_an_array_twice(x):
    rows, total = [x + 0.0] * 2, 0.0
    for a in rows:
        a[0] += 1.0
        total += a[0]
    return total


row(list_that_holds_an_array_twice, [X], want="error")


def view_of_what_comes_later(x, y):
    for a in (y[:2], y[1:]):
        a[1] += 1.0
    return y


either(view_of_what_comes_later, [X, Y])


def value_of_a_dict_that_comes_later(x, y):
    total = 0.0
    for a in {"p": x, "q": y}.values():
        y[0] += a[0]
        total += a[0]
    return total


row(value_of_a_dict_that_comes_later, [X, Y], want="error")


def item_of_a_dict_that_comes_later(x, y):
    total = 0.0
    for _, a in {"p": x, "q": y}.items():
        y[0] += a[0]
        total += a[0]
    return total


row(item_of_a_dict_that_comes_later, [X, Y], want="error")


def array_that_enumerate_comes_to(x, y):
    total = 0.0
    for k, a in enumerate([x, y]):
        y[0] += a[0] + k
        total += a[0]
    return total


row(array_that_enumerate_comes_to, [X, Y], want="error")


def array_that_zip_comes_to(x, y):
    total = 0.0
    for a, b in zip([x, y], (1.0, 2.0), strict=True):
        y[0] += a[0] * b
        total += a[0]
    return total


row(array_that_zip_comes_to, [X, Y], want="error")


def array_that_a_map_or_a_generator_comes_to(x, y):
    total = 0.0
    for a in map(same, (x, y)):
        y[0] += a[0]
        total += a[0]
    for a in (v for v in (x, y)):
        y[0] += a[0]
        total += a[0]
    return total


row(array_that_a_map_or_a_generator_comes_to, [X, Y], want="error")


def array_that_reversed_comes_to(x, y):
    total = 0.0
    for a in reversed((y, x)):
        y[0] += a[0]
        total += a[0]
    return total


row(array_that_reversed_comes_to, [X, Y], want="error")


def arrays_of_iterators_one_after_the_other(x, y):
    total, p, q = 0.0, x * 1.0, y * 1.0
    for k, a in enumerate([p, q]):
        a[0] += k
        total += a[0]
    for a, b in zip([x * 1.0, y * 1.0], [y * 1.0, x * 1.0], strict=True):
        a[0] += b[1]
        total += a[0]
    return total


row(arrays_of_iterators_one_after_the_other, [X, Y])


def dict_written_by_its_own_name(x, y):
    total, d = 0.0, {"p": x * 1.0, "q": y * 1.0}
    for k in d:
        d[k][0] += 1.0
        total += d[k][0]
    for v in d.values():
        d["q"][1] += v[0]
    return total, d["q"]


row(dict_written_by_its_own_name, [X, Y])


def generators_that_hold_each_other(x):
    def first():
        for v in (1.0, 2.0):
            yield v, two

    def second():
        for v in (1.0, 2.0):
            yield v, one

    one, two = first(), second()
    total = next(one)[0] + next(two)[0]
    for v, _ in one:
        x[0] += v
        total += x[0]
    return total


row(generators_that_hold_each_other, [X])


class Counted:
    def __init__(self, values):
        self.values, self.asked = values, 0

    def __len__(self):
        return len(self.values)

    def __getitem__(self, number):
        self.asked += 1
        return self.values[number]


def sequence_that_counts_what_it_gives(x):
    counted, total = Counted([1.0, 2.0, 3.0]), 0.0
    for v in reversed(counted):
        x[0] += v
        total += x[0]
    return total, counted.asked


row(sequence_that_counts_what_it_gives, [X])


def arrays_one_after_the_other(x, y):
    for a in (x, y):
        a[0] += 1.0
    return x, y


row(arrays_one_after_the_other, [X, Y])


def pairs_of_arrays_one_after_the_other(x, y, z, w):
    for a, b in ((x, y), (z, w)):
        a[0] = b[1]
    return x, y, z, w


row(pairs_of_arrays_one_after_the_other, [X, Y, X + 20.0, Y + 30.0])


def array_that_was_taken_before(x, y):
    for a in (x, y):
        x[1] += a[0]
    return x, y


row(array_that_was_taken_before, [X, Y])


def list_written_by_its_own_name(x, y):
    rows = [x + 0.0, y + 0.0]
    for k, r in enumerate(rows):
        rows[1][k] = r[0]
    for r in rows:
        rows[1][0] += r[0]
    return rows[0], rows[1]


row(list_written_by_its_own_name, [X, Y])


def element_of_a_staged_loop(x, y):
    for a in ag.stage([x, y]):
        a[0] += 1.0
    return x, y


row(element_of_a_staged_loop, [X, Y], want="error")


def array_of_a_later_turn_of_a_staged_loop(x, y):
    total = 0.0
    for a in ag.stage([x, y]):
        total += a[0]
        y[0] += a[1]
    return total


row(array_of_a_later_turn_of_a_staged_loop, [X, Y], want="error")


def array_that_a_staged_loop_runs_over(x):
    total = 0.0
    for v in ag.stage(x):
        x[2] = 5.0 * v
        total += v
    return total


row(array_that_a_staged_loop_runs_over, [X], want="error")


def arrays_that_a_staged_loop_runs_over(x, y):
    total = 0.0
    for v, w in ag.stage(zip(x, y, strict=False)):
        total += v * w
        y[2] = 1.0
    return total


row(arrays_that_a_staged_loop_runs_over, [X, Y], want="error")


def copies_in_a_staged_loop(x, y):
    total = 0.0
    for a in ag.stage([x * 1.0, y * 1.0]):
        a[0] += 1.0
        total += a.sum()
    return total


row(copies_in_a_staged_loop, [X, Y])


def array_that_a_staged_loop_has_run_over(x, y):
    total = 0.0
    for a in ag.stage([x, y]):
        total += a[0]
    for v in ag.stage(x):
        total += v
    else:
        x[1] = 5.0
    x[0] = 7.0
    return total, x


row(array_that_a_staged_loop_has_run_over, [X, Y])


@table.each_way
def test_aliases(row, way, record_property):
    check(row, way, record_property)


def test_a_dict_in_a_staged_loop_shows_its_write_or_is_refused():
    def f(x, y):
        first, second = {"v": x}, {"v": y}
        for d in ag.stage([first, second]):
            d["v"] = d["v"] + 1.0
        return first["v"], second["v"]

    np.testing.assert_array_equal(ag.autograph(f)(jnp.asarray(X), jnp.asarray(Y)), f(X, Y))
    with pytest.raises(ag.AliasError, match="a dict is written that `(first|second)` may hold too"):
        ag.jit(f)(jnp.asarray(X), jnp.asarray(Y))
