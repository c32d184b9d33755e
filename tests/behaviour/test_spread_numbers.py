"""A number of Python's where another path, or another turn of a loop, has an array of several elements.

JAX has one shape for both. An array of equal elements does for a number as long as nobody takes its sum, counts it or the like:
a program that is right with it stays as it is, and every other one is refused.
"""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row
VECTOR = np.array([1.0, 2.0, 3.0])
LONG = np.linspace(0.5, 1.5, 180).reshape(60, 3)
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


row(constant_instead_of_one_element, *BOTH, want="error")


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


row(product_of_rows, [LONG], [LONG * 2], [ROWS], staged="loop", batch=True)


# Python runs the first turn of a loop of known length, and the others have an array to begin with.


def product_from_the_end(m):
    product, places = 1.0, 0
    for i, r in enumerate(reversed(m)):
        product = product * r + 0.01 * i
        places = places + i
    return jnp.sum(product), places


def product_beside(m):
    product, last = 1.0, -1
    pairs = zip(m, range(3, 100), strict=False)
    for r, i in pairs:
        product = product * r - 0.01 * i
        last = i
    return jnp.sum(product), last, next(pairs, 7)


def product_as_marked(m):
    product = 1.0
    for r in ag.stage(m):
        product = product * r
    return jnp.sum(product)


def shifted(m):
    before, now, total = 1.0, 2.0, 0.0
    for r in m:
        total = total + jnp.sum(before) * jnp.sum(now)
        before, now = now, r
    else:
        total = total - jnp.sum(now)
    return total


def product_of_written(m):
    m = m.copy()
    product = 1.0
    for i in range(len(m) - 1):
        m[i + 1] += 0.1
        product = product * m[i]
    return jnp.sum(product)


def products_of_products(m):
    total = 2.0
    for r in m:
        product = 1.0
        for s in m[:20]:
            product = product * (r - s)
        total = total + product
    return jnp.sum(total)


def sum_or_a_number(m):
    total, i = 1.0, 0
    for r in m:
        total = total + (r if r[0] > 0.7 else 1.0)
    return jnp.sum(total)


def product_until(m, limit):
    product = 1.0
    for r in m:
        product = product * r
        if product[0] > limit or product[0] < -limit:
            break
    else:
        product = product + 1
    return jnp.sum(product)


def product_of_the_first(m, limit):
    product, pairs = 1.0, enumerate(m)
    for i, r in pairs:
        product = product * (r + 0.2)
        if product[2] > limit:
            return jnp.sum(product), i
    return jnp.sum(product) * 2, -1


def product_of_some(m, limit):
    product, pairs = 1.0, enumerate(m)
    for _, r in pairs:
        product = product * (r + 0.2)
        if product[2] > limit:
            break
    return jnp.sum(product), next(pairs)


for program in (product_until, product_of_the_first):
    row(program, [LONG, 0.3], [LONG, 3.0], [LONG, 1e6], staged="loop", batch=True)
row(product_of_some, [LONG, 3.0], want="error")
for program in (product_from_the_end, product_beside, product_as_marked, shifted, product_of_written, products_of_products):
    row(program, [LONG], [LONG[::-1]], staged="loop", batch=True)
row(sum_or_a_number, [LONG], want="error")


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


# What stays a number in the loop is no array, in a turn either.


def counter_or_an_array(x, n):
    i, t = 0, 0.0
    while i < n:
        t = t + jnp.sum(i if i % 2 == 1 else x)
        i = i + 1
    return t


def doubled_or_an_array(x, n):
    k, y, i = 1.0, x, 0
    while i < n:
        if x[0] * i > 1:
            y = k
        k = k * 2
        i = i + 1
    return jnp.sum(y)


def flag_or_an_array(x, n):
    found, t, i = False, 0.0, 0
    while i < n:
        mask = x > 1 if i > 1 else found
        t = t + jnp.sum(jnp.where(mask, 1.0, 2.0))
        found = not found
        i = i + 1
    return t


def returned_by_a_callee(x, n):
    k, t, i = 1.0, 0.0, 0

    def pick(k, i):
        if x[0] * i > 1:
            return k
        return x

    while i < n:
        t = t + jnp.sum(pick(k, i))
        k = k * 2
        i = i + 1
    return t


for program in (counter_or_an_array, doubled_or_an_array, flag_or_an_array, returned_by_a_callee):
    row(program, [VECTOR, 4], want="error")


# Nobody reads of a program whether its shape was asked for, and how much of an array it is beside.


def ones_of_its_shape(m):
    before, total = 2.0, 0.0
    for r in m:
        total = total + jnp.sum(jnp.ones_like(before))
        before = r
    return total


def beside_a_smaller_array(m, n):
    before, total, i = 0.0, 0.0, 0
    while i < n:
        total = total + jnp.sum(jnp.cos(before) * m[i, :1])
        before = m[i]
        i = i + 1
    return total


def chosen_beside_a_number(m, n):
    before, total, i = 0.0, 0.0, 0
    while i < n:
        total = total + jnp.sum(jnp.where(i > 0, before, 1.0))
        before = m[i]
        i = i + 1
    return total


def in_a_dict(m, n):
    kept, total, i = {"a": 0.0}, 0.0, 0
    while i < n:
        total = total + jnp.sum(jnp.cos(kept["a"]))
        kept["a"] = m[i]
        i = i + 1
    return total


def in_an_attribute(m, n):
    kept, total, i = Kept(1.0), 0.0, 0
    while i < n:
        total = total + jnp.sum(kept.a)
        kept.a = m[i]
        i = i + 1
    return total


def in_a_list_that_holds_itself(m, n):
    kept, total, i = [0.0], 0.0, 0
    kept.append(kept)
    while i < n:
        total = total + jnp.sum(jnp.cos(kept[1][0]))
        kept[0] = m[i]
        i = i + 1
    return total


class Kept:
    def __init__(self, a):
        self.a = a


row(ones_of_its_shape, [LONG], [LONG * 2], staged="loop", batch=True)
for program in (beside_a_smaller_array, chosen_beside_a_number, in_a_dict, in_an_attribute, in_a_list_that_holds_itself):
    row(program, [LONG, 0], [LONG, 4], want="error")


# A number that is one of several things, or in one


def number_or_none(m):
    s, total = 1.0, 0.0
    for r in m:
        if s is not None:
            total = total + jnp.sum(s)
        s = None if r[0] > 1.2 else r
    return total


def number_or_none_while(m, n):
    s, total, i = 1.0, 0.0, 0
    while i < n:
        if s is not None:
            total = total + jnp.sum(s)
        s = None if m[i, 0] > 1.2 else m[i]
        i = i + 1
    return total


def none_or_a_number(m, n):
    s, total, i = 0.0, 0.0, 0
    if n < 2:
        s = None
    while i < n:
        if s is not None:
            total = total + jnp.sum(jnp.cos(s))
        s = m[i]
        i = i + 1
    return total


def in_one_of_two(m, n):
    s, total, i = (0.0, 0), 0.0, 0
    while i < n:
        if s is not None:
            total = total + jnp.sum(jnp.cos(s[0]))
        s = (m[i], 1) if m[i, 0] < 1.2 else None
        i = i + 1
    return total


def in_a_dataclass(m, n):
    s, total, i = Pair(0.0, 2.0), 0.0, 0
    while i < n:
        total = total + jnp.sum(jnp.cos(s.a))
        s = Pair(m[i], 2.0)
        i = i + 1
    return total


def to_the_power_of_0(m, n):
    s, total, i = 0.0, 0.0, 0
    while i < n:
        total = total + jnp.sum(s**0)
        s = m[i]
        i = i + 1
    return total


@dataclasses.dataclass
class Pair:
    a: Any
    b: Any


row(number_or_none, [LONG], [LONG * 2], staged="loop", batch=True)
for program in (number_or_none_while, none_or_a_number, in_one_of_two, in_a_dataclass, to_the_power_of_0):
    row(program, [LONG, 0], [LONG, 4], want="error")


# The shape of a 0


def counted_by_size(m):
    s, total = 0.0, 0.0
    for r in m:
        total = total + np.size(s)
        s = s + r
    return total + jnp.sum(s)


def with_ones_of_its_shape(m):
    s, total = 0.0, 0.0
    for r in m:
        total = total + jnp.sum(jnp.ones_like(s) * r[0])
        s = r * 2
    return total


def counted_by_its_rank(m):
    s, ranks = 0.0, 0
    for r in m:
        ranks = ranks + 3 * jnp.ndim(s)
        s = s + r
    return ranks + jnp.sum(s)


def counted_by_size_while(m, n):
    s, total, i = 0.0, 0.0, 0
    while i < n:
        total = total + np.size(s)
        s = s + m[i]
        i = i + 1
    return total


def of_another_variable(m):
    s, ones = 0.0, None
    for r in m:
        ones = jnp.ones_like(s)
        s = s + r
    return jnp.sum(ones) + jnp.sum(s)


def smoothed(m):
    s, kept = 0.0, 0.0
    for i, r in enumerate(m):
        kept = s
        s = 0.9 * s + jnp.where(r > i, r, 0.0) - jnp.where(r[0] > 1, s, 0.0) * jnp.maximum(r, 0.5)
    return jnp.sum(s) + jnp.sum(jnp.mean(kept))


def with_errors(m, n):
    s, i = 0.0, 0
    while i < n:
        assert m[i, 0] > -5
        if m[i, 1] > 100:
            raise ValueError("large")
        s = s + m[i]
        i = i + 1
    return jnp.sum(s)


row(with_errors, [LONG, 3], [LONG, 5], staged="loop", batch=True)
for program in (counted_by_size, with_ones_of_its_shape, counted_by_its_rank):
    row(program, [LONG], [LONG * 2], staged="loop", batch=True)
    row(program, [LONG[:1]])
row(counted_by_size_while, [LONG, 0], [LONG, 4], want="error")
row(of_another_variable, [LONG], [LONG[:1]])
row(smoothed, [LONG], [LONG * 2], staged="loop", batch=True)


# How many turns there are


def shifted_by_three(m):
    a, b, c, total = 1.0, 2.0, 3.0, 0.0
    for r in m:
        total = total + jnp.sum(a)
        a, b, c = b, c, r
    return total


def shifted_until(m, limit):
    a, b, total = 1.0, 2.0, 0.0
    for r in m:
        total = total + jnp.sum(a)
        a, b = b, r
        if total > limit:
            break
    return total


def rotated(x):
    a, b, c = 1.0, 2.0, x
    for _ in range(70):
        a, b, c = b, c, a
    return jnp.sum(a) + 2 * jnp.sum(b)


def the_last(m):
    last = 1.0
    for i in range(len(m)):
        if i == len(m) - 1:
            last = m[i]
    return jnp.sum(last)


for rows in (0, 1, 2, 3, 4, 7, 60):
    row(shifted_by_three, [LONG[:rows]], [LONG[:rows] * 2], batch=True)
    row(product_as_marked, [LONG[:rows]])
row(shifted_until, [LONG, 4.5], want="error")  # b is a number or an array where the loop is left after its first turn
row(rotated, [VECTOR])
row(the_last, [LONG])
row(the_last, [LONG[:1]])


@table.each_way
def test_spread_numbers(row, way, record_property):
    check(row, way, record_property)


def test_the_first_turn_prints_as_the_others_do(capfd):
    @ag.jit
    def product(m):
        result = 1.0
        for i, r in enumerate(m):
            print("turn", i)
            result = result * r
        return result

    for _ in range(2):
        product(LONG[:12])
        assert capfd.readouterr().out == "".join(f"turn {i}\n" for i in range(12))


def test_a_strict_function_stages_such_a_loop_of_few_turns():
    strict = ag.autograph(product_of_rows, strict=True)
    np.testing.assert_allclose(jax.jit(strict)(LONG[:5]), product_of_rows(LONG[:5]), rtol=1e-5)


def test_a_bar_over_such_a_loop():
    tqdm = pytest.importorskip("tqdm").tqdm

    @ag.jit
    def product(m):
        result = 1.0
        for r in tqdm(m, disable=True):
            result = result * r
        return jnp.sum(result)

    np.testing.assert_allclose(product(LONG[:12]), np.prod(LONG[:12], axis=0).sum(), rtol=1e-5)
