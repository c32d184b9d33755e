"""A number of Python's where another path, or another turn of a loop, has an array of several elements.

JAX has one shape for both. An array of equal elements does for a number as long as nobody takes its sum, counts it or the like:
a program that is right with it stays as it is, and every other one is refused.
"""

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row
VECTOR = np.array([1.0, 2.0, 3.0])
ROWS = np.arange(1.0, 7.0).reshape(2, 3)
BOTH = [VECTOR, True], [VECTOR, False]


# Branches


def constant_on_one_path(x, flag):
    y = 1.0
    if flag:
        y = x * 2
    return jnp.sum(y)


row(constant_on_one_path, *BOTH, want="error")


def zero_on_one_path(x, flag):
    y = 0.0
    if flag:
        y = x * 2
    return jnp.sum(y)


row(zero_on_one_path, *BOTH, staged="cond", batch=True)


def zero_instead_of_an_array(x, flag):
    y = x
    if flag:
        y = 0.0
    return jnp.sum(y)


row(zero_instead_of_an_array, *BOTH, staged="cond", batch=True)


def zero_where_the_other_path_writes(x, w, flag):
    y, z = x, w
    if flag:
        y = 0.0
        z = x
    else:
        y = y.at[0].set(5.0) if hasattr(y, "at") else np.array([5.0, *y[1:]])
    return jnp.sum(y) + jnp.sum(z)


row(zero_where_the_other_path_writes, [VECTOR, VECTOR + 1, True], [VECTOR, VECTOR + 1, False], staged="cond", batch=True)


def constant_instead_of_one_element(x, flag):
    y = x[:1]
    if flag:
        y = 2.0
    return jnp.sum(y)


row(constant_instead_of_one_element, *BOTH, staged="cond", batch=True)


def constant_of_an_expression(x, flag):
    return jnp.sum(2.0 if flag else x)


row(constant_of_an_expression, *BOTH, want="error")


def constant_returned(x, flag):
    if flag:
        return 1.0
    return x


row(constant_returned, *BOTH, want="error")


def constant_picked(x, k):
    return jnp.sum([1.0, x][k])


row(constant_picked, [VECTOR, 0], [VECTOR, 1], want="error")


def constant_of_a_handler(x, flag):
    try:
        y = x
        if flag:
            raise ValueError
    except ValueError:
        y = 1.0
    return jnp.sum(y)


row(constant_of_a_handler, *BOTH, want="error")


def argument_or_an_array(x, t):
    return jnp.sum(t if t > 0 else x)


row(argument_or_an_array, [VECTOR, 2.0], [VECTOR, -2.0], want="error")


# Loops


def summed_before_it_is_an_array(x, n):
    before, total, i = 1.0, 0.0, 0
    while i < n:
        total = total + jnp.sum(before)
        before = x * i
        i = i + 1
    return total


row(summed_before_it_is_an_array, [VECTOR, 0], [VECTOR, 3], want="error")


def zero_summed_before_it_is_an_array(x, n):
    before, total, i = 0.0, 0.0, 0
    while i < n:
        total = total + jnp.sum(abs(before))
        before = x * i
        i = i + 1
    return total


row(zero_summed_before_it_is_an_array, [VECTOR, 0], [VECTOR, 3], staged="loop", batch=True)


def sum_of_a_function_of_zero(x, n):
    before, total, i = 0.0, 0.0, 0
    while i < n:
        total = total + jnp.sum(jnp.cos(before))
        before = x * i
        i = i + 1
    return total


row(sum_of_a_function_of_zero, [VECTOR, 0], [VECTOR, 3], want="error")


def asked_of_the_test(x, limit):
    s = 0.0
    while jnp.sum(s + 1) < limit:
        s = s + x
    return jnp.sum(s)


row(asked_of_the_test, [VECTOR, 20.0], want="error")


def asked_of_a_sum(x, limit):
    s = 0.0
    while jnp.sum(s) < limit:
        s = s + x
    return s


row(asked_of_a_sum, [VECTOR, 20.0], staged="loop")


def product_of_no_turn(x, n):
    product = 1.0
    for _ in range(n):
        product = product * x
    return jnp.sum(product)


row(product_of_no_turn, [VECTOR, 0], [VECTOR, 3], want="error")


def product_of_rows(m):
    product = 1.0
    for r in m:
        product = product * r
    return jnp.sum(product)


row(product_of_rows, [ROWS], [ROWS * 2], staged="loop", batch=True)


def best_of_rows_or_none(m, limit):
    best, least = -1.0, limit
    for r in m:
        if jnp.sum(r) < least:
            best, least = r, jnp.sum(r)
    return jnp.sum(best)


row(best_of_rows_or_none, [ROWS, 9.0], [ROWS, 2.0], want="error")


def best_of_rows_or_zero(m, limit):
    best, least = 0.0, limit
    for r in m:
        if jnp.sum(r) < least:
            best, least = r, jnp.sum(r)
    return jnp.sum(best)


row(best_of_rows_or_zero, [ROWS, 9.0], [ROWS, 2.0], staged="loop", batch=True)


def left_before_the_first_product(x, n):
    product = 1.0
    for i in range(5):
        if i > n:
            break
        product = product * x
    return jnp.sum(product)


row(left_before_the_first_product, [VECTOR, -1], [VECTOR, 2], want="error")


def kept_by_another_variable(m):
    before, last = 0.0, 1.0
    for r in m:
        before, last = last, r
    return jnp.sum(before)


row(kept_by_another_variable, [ROWS], [ROWS[:1]], want="either")


def of_a_pair(m, n):
    pair, i = (1.0, 0), 0
    while i < n:
        pair = (pair[0] * m[0], pair[1] + 1)
        i = i + 1
    return jnp.sum(pair[0])


row(of_a_pair, [ROWS, 0], [ROWS, 2], want="error")


@table.each_way
def test_spread_numbers(row, way, record_property):
    check(row, way, record_property)
