"""What a statement has got from a call, and holds while a later call in it writes an array in place."""

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
    """NumPy's result, or a named error."""
    row(function, *calls, want="either")


def itself(x):
    return x


def half(x):
    y = x[:2]
    return y


def energy(x):
    total = 0.0
    for value in x:
        total = total + value * value
    return total


def total_of(x):
    s = jnp.sum(x) if not isinstance(x, np.ndarray) else np.sum(x)
    return float(1) * s


def fill(x):
    x[0] = 7.0
    return 1.0


class Body:
    def __init__(self, x):
        self.x = x

    def position(self):
        return self.x

    def energy(self):
        return 0.5 * self.x[0] + self.x[1] * 2

    def move(self):
        self.x[0] += 5.0
        return 1.0


def an_argument(x):
    return itself(x) + fill(x)


either(an_argument, [X])


def a_row(m):
    return itself(m[0]) + fill(m)


either(a_row, [M])


def a_part(x):
    return half(x) * fill(x)


either(a_part, [X])


def in_a_list(m):
    return [itself(m[0]), fill(m)]


either(in_a_list, [M])


def what_a_closure_holds(x):
    def get():
        return x

    return get() - fill(x)


either(what_a_closure_holds, [X])


def what_an_object_holds(x):
    body = Body(x)
    return body.position() + body.move()


either(what_an_object_holds, [X])


def reshaped(x):
    return x.reshape(3, 1) + fill(x)


either(reshaped, [X])


def chosen(x):
    return (itself if x[0] > 0 else half)(x)[0] + fill(x)


either(chosen, [X])


def rows_of(m):
    return [m[0]] + [m[1]]


def both(a, b):
    return a + b


def an_element_of_a_result(m):
    return itself(m)[0] + fill(m)


either(an_element_of_a_result, [M])


def a_view_of_a_result(m):
    return itself(m).T + fill(m)


either(a_view_of_a_result, [M])


def an_element_of_a_list_that_a_call_gives(m):
    return rows_of(m)[0] + fill(m)


either(an_element_of_a_list_that_a_call_gives, [M])


def lists_that_a_call_adds(m):
    return both([m[0]], [m[1]])[0] + fill(m)


either(lists_that_a_call_adds, [M])


def an_element_of_one_of_two(m):
    return (m if m[0, 0] > 0 else m * 2)[0] + fill(m)


either(an_element_of_one_of_two, [M])


def an_element_of_a_display(m):
    return {"a": m[0]}["a"] + fill(m)


either(an_element_of_a_display, [M])


def the_shape_of_a_result(m):
    return itself(m).shape[0] + fill(m)


row(the_shape_of_a_result, [M])


def a_number_of_an_array(x):
    return energy(x) + fill(x)


row(a_number_of_an_array, [X])


def a_sum(x):
    return total_of(x) + fill(x)


row(a_sum, [X])


def a_number_of_an_object(x):
    body = Body(x)
    return body.energy() + body.move()


row(a_number_of_an_object, [X])


def a_method_of_an_array(x):
    return x.sum() + fill(x)


row(a_method_of_an_array, [X])


def rows_as_arguments(m):
    def first(a, b):
        a[0] = 9.0
        return b

    first(*m)
    return m


either(rows_as_arguments, [M])


def rows_in_a_list(m):
    rows = [*m, m[0]]
    rows[0][1] = 8.0
    return m


either(rows_in_a_list, [M])


def rows_only_read(m):
    def add(a, b):
        return a + b

    return add(*m), [*m], (*m, 1)


row(rows_only_read, [M])


def arguments_handed_on(x):
    def outer(*args):
        return inner(*args, *[1.0])

    def inner(a, b):
        return a * b

    return outer(x)


row(arguments_handed_on, [X])


@table.each_way
def test_waiting_results(row, way, record_property):
    check(row, way, record_property)


def test_the_way_out_is_a_statement_of_its_own():
    def roots(parent, a, b):
        def find(i):
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        return find(a) + 10 * find(b)

    def apart(parent, a, b):
        def find(i):
            while parent[i] != i:
                parent[i] = parent[parent[i]]
                i = parent[i]
            return i

        first = find(a)
        return first + 10 * find(b)

    parent = jnp.array([1, 2, 2, 4, 4])
    with pytest.raises(ag.AliasError, match=r"in a statement of its own: `y = find\(a\)`"):
        ag.jit(roots)(parent, 0, 3)
    assert ag.jit(apart)(parent, 0, 3) == roots(np.array([1, 2, 2, 4, 4]), 0, 3) == 42
