"""break, continue and the else of a loop."""

# ruff: noqa: B905  users write zip without strict

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 5.0, 3.0])
MIXED = np.array([1.0, -2.0, 5.0, 9.0, 3.0])
MATRIX = np.array([[1.0, -2.0, 3.0], [4.0, 5.0, -6.0]])


# ------------------------------------------------------------------ break
def sum_until_above(x, n):
    s = 0.0
    for i in range(n):
        if s > x:
            break
        s = s + i
    return s


row(sum_until_above, [4.5, 100], [4.5, 2], [4.5, 0], [-1.0, 5], staged="loop", batch=True)


def sum_a_hundred_until_above(x):
    s = 0.0
    for i in range(100):
        if s > x:
            break
        s = s + i
    return s


row(sum_a_hundred_until_above, [4.5], [-4.5], [1e6], staged="loop", batch=True)


def sum_before_the_first_large(v, t):
    s = 0.0
    for e in v:
        if e > t:
            break
        s = s + e
    return s


row(sum_before_the_first_large, [VECTOR, 4.0], [VECTOR, 99.0], [VECTOR, 0.0], staged="loop", grad=True, batch=True)


def index_where_it_stopped(v, t):
    for i in range(len(v)):
        if v[i] > t:
            break
    return i


row(index_where_it_stopped, [VECTOR, 4.0], [VECTOR, 99.0], [VECTOR, 0.0], staged="loop", batch=True)


def element_where_it_stopped(v, t):
    for e in v:
        if e > t:
            break
    return e


row(element_where_it_stopped, [VECTOR, 4.0], [VECTOR, 99.0], staged="loop", grad=True, batch=True)


def pair_where_it_stopped(v, w):
    for i, (a, b) in enumerate(zip(v, w)):
        if a > b:
            break
    return i, a - b


row(pair_where_it_stopped, [VECTOR, VECTOR[::-1] + 0.5], [VECTOR, VECTOR + 1], staged="loop", batch=True)


def halve_four_times_at_most(x):
    i = 0
    while x > 0.001:
        x = x / 2
        i += 1
        if i >= 4:
            break
    return x


row(halve_four_times_at_most, [37.0], [0.0025], [0.0], staged="loop", grad=True, batch=True)


def while_true_with_break(x):
    n = 0
    while True:
        x = x / 2
        n += 1
        if x < 1:
            break
    return x, n


row(while_true_with_break, [37.0], [0.5], staged="loop", grad=True, batch=True)


def while_true_two_breaks(x, limit):
    n = 0
    while True:
        if x < 1:
            break
        x = x * 0.7
        n += 1
        if n == limit:
            break
    return x, n


row(while_true_two_breaks, [37.0, 3], [37.0, 99], [0.5, 3], staged="loop", grad=True, batch=True)


def while_one_with_break_in_else(x):
    while 1:
        if x > 2:
            x = x - 1
        else:
            break
    return x


row(while_one_with_break_in_else, [5.5], [1.0], staged="loop", grad=True, batch=True)


def break_first(x, n):
    for i in range(n):
        break
    return x + n


row(break_first, [2.0, 3], [2.0, 0], batch=True)


def break_under_two_ifs(v):
    total = 0.0
    for e in v:
        if e > 0:
            if total > 3.5:
                break
            total = total + e
        else:
            total = total - e
    return total


row(break_under_two_ifs, [MIXED], [-MIXED], [MIXED * 0.1], staged="loop", grad=True, batch=True)


def break_in_either_branch(v):
    n = 0
    s = 0.0
    for e in v:
        n += 1
        if e > 4:
            s = s + 100
            break
        elif e < -1.5:
            s = s - 100
            break
        else:
            s = s + e
    return s, n


row(break_in_either_branch, [VECTOR], [MIXED[:4]], [VECTOR * 0.1], staged="loop", batch=True)


def assigned_before_break(v, t):
    found = -1
    value = 0.0
    for i, e in enumerate(v):
        if e > t:
            found = i
            value = e * 10
            break
    return found, value


row(assigned_before_break, [VECTOR, 1.5], [VECTOR, 99.0], staged="loop", batch=True)


def first_bound_before_break(v, t):
    for e in v:
        if e > t:
            hit = e
            break
    else:
        hit = -1.0
    return hit


row(first_bound_before_break, [VECTOR, 1.5], [VECTOR, 99.0], staged="loop", grad=True, batch=True)


def static_break(x, n):
    for i in range(10):
        if i == n:
            break
        x = x * 2
    return x, i


row(static_break, [1.5, 3], [1.5, 0], static=[1], grad=True)


def break_of_the_inner_loop(m):
    total = 0.0
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] < 0:
                break
            total = total + m[i, j]
    return total


row(break_of_the_inner_loop, [MATRIX], [-MATRIX], [abs(MATRIX)], staged="loop", grad=True, batch=True)


def break_of_both_loops(m, t):
    found = False
    for r in m:
        for e in r:
            if e > t:
                found = True
                break
        if found:
            break
    return e, found


row(break_of_both_loops, [MATRIX, 2.5], [MATRIX, 4.5], [MATRIX, 99.0], staged="loop", batch=True)


def break_out_of_while_in_for(x):
    trips = 0
    for k in range(1, 6):
        while x > k:
            x = x * 0.8
            trips += 1
            if trips > 6:
                break
    return x, trips


row(break_out_of_while_in_for, [3.0], [0.5], [30.0], staged="loop", batch=True)


def converges(x):
    previous = x
    for n in range(60):
        x = 0.5 * (x + 2.0 / x)
        if abs(x - previous) < 1e-3:
            break
        previous = x
    return x, n


row(converges, [5.0], [1.5], staged="loop", batch=True)


# ------------------------------------------------------------------ continue
def skip_multiples_of_three(n):
    s = 0
    for i in range(n):
        if i % 3 == 0:
            continue
        s += i
    return s


row(skip_multiples_of_three, [10], [1], [0], staged="loop cond", batch=True)


def skip_negative(v):
    s = 0.0
    for e in v:
        if e < 0:
            continue
        s = s + e
    return s


row(skip_negative, [MIXED], [-MIXED], staged="loop cond", grad=True, batch=True)


def continue_in_while(n):
    i = 0
    odd = 0
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        odd += i
    return odd


row(continue_in_while, [9], [0], [1], staged="loop cond", batch=True)


def two_continues(v):
    s = 0.0
    for e in v:
        if e < 0:
            continue
        s = s + 1
        if e > 4:
            continue
        s = s + e
    return s


row(two_continues, [MIXED], [-MIXED], staged="loop cond", grad=True, batch=True)


def continue_in_else(v):
    s = 0.0
    for e in v:
        if e > 1.5:
            t = e * 2
        else:
            continue
        s = s + t
    return s


row(continue_in_else, [MIXED], [-MIXED], staged="loop cond", grad=True, batch=True)


def continue_under_two_ifs(v):
    s = 0.0
    for i, e in enumerate(v):
        if i > 0:
            if e < 0:
                continue
            s = s + 1
        s = s * 2 + e
    return s


row(continue_under_two_ifs, [MIXED], [-MIXED], staged="loop cond", grad=True, batch=True)


def continue_skips_an_update(x):
    n = 0
    while x > 1:
        x = x / 2
        if x > 10:
            continue
        n += 1
    return n


row(continue_skips_an_update, [100.0], [5.0], [0.5], staged="loop cond", batch=True)


def continue_in_the_outer_loop(m):
    s = 0.0
    for r in m:
        if r.sum() < 2.5:
            continue
        for e in r:
            if e < 0:
                continue
            s = s + e
    return s


row(continue_in_the_outer_loop, [MATRIX], [-MATRIX], staged="loop cond", grad=True, batch=True)


def static_continue(v):
    s = 0.0
    for i in range(5):
        if i == 2:
            continue
        s = s * 2 + v[i]
    return s


row(static_continue, [MIXED], [-MIXED], grad=True, batch=True)


def continue_last(n):
    s = 0
    for i in range(n):
        s += i
        continue
    return s


row(continue_last, [4], [0], staged="loop", batch=True)


def only_continue(n):
    for i in range(n):
        if i > 2:
            continue
    return n


row(only_continue, [4], [0], batch=True)


# ------------------------------------------------------------------ both
def skip_then_stop(v):
    s = 0.0
    for e in v:
        if e < 0:
            continue
        if e > 8:
            break
        s = s + e
    return s


row(skip_then_stop, [MIXED], [-MIXED], [MIXED * 0.5], staged="loop", grad=True, batch=True)


def stop_then_skip(v):
    n = 0
    for e in v:
        if e > 8:
            break
        n += 1
        if e < 0:
            continue
        n += 10
    return n


row(stop_then_skip, [MIXED], [-MIXED], staged="loop", batch=True)


def while_true_skip_and_stop(n):
    i = 0
    s = 0
    while True:
        i += 1
        if i % 2:
            continue
        if i > n:
            break
        s += i
    return s, i


row(while_true_skip_and_stop, [7], [0], staged="loop", batch=True)


def skip_and_stop_in_one_chain(v):
    s = 0.0
    for e in v:
        if e < 0:
            s = s - 1
            continue
        elif e > 8:
            break
        elif e > 4:
            s = s + 0.5
        s = s + e
    return s


row(skip_and_stop_in_one_chain, [MIXED], [-MIXED], [MIXED * 0.5], staged="loop", grad=True, batch=True)


def collect_first_positives(v, wanted):
    taken = 0
    total = 0.0
    for e in v:
        if e <= 0:
            continue
        total = total + e
        taken += 1
        if taken == wanted:
            break
    return total, taken


row(collect_first_positives, [MIXED, 2], [MIXED, 99], [-MIXED, 1], staged="loop", batch=True)


# ------------------------------------------------------------------ else
def while_else(x):
    while x > 1:
        x = x / 2
        if x == 3:
            break
    else:
        x = x + 100
    return x


row(while_else, [12.0], [13.0], [0.5], staged="loop", batch=True)


def for_else(v, t):
    for e in v:
        if e == t:
            r = 1.0
            break
    else:
        r = -1.0
    return r


row(for_else, [VECTOR, 5.0], [VECTOR, 4.0], [np.zeros(0), 4.0], staged="loop")


def for_else_keeps_the_index(v, t):
    where = -1
    for i in range(len(v)):
        if v[i] == t:
            where = i
            break
    else:
        where = len(v)
    return where


row(for_else_keeps_the_index, [VECTOR, 5.0], [VECTOR, 4.0], staged="loop", batch=True)


def else_without_break(v):
    s = 0.0
    for e in v:
        s = s + e
    else:
        s = s * 10
    return s


row(else_without_break, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def else_of_zero_trips(n):
    s = 1
    for i in range(n):
        s = s * 2
        if s > 100:
            break
    else:
        s = -s
    return s


row(else_of_zero_trips, [0], [3], [50], staged="loop", batch=True)


def else_with_continue(v):
    s = 0.0
    for e in v:
        if e < 0:
            continue
        if e > 8:
            break
        s = s + e
    else:
        s = s + 1000
    return s


row(else_with_continue, [MIXED], [-MIXED], [MIXED * 0.5], staged="loop", grad=True, batch=True)


def largest_prime_below(n):
    best = 0
    for k in range(2, n):
        d = 2
        while d * d <= k:
            if k % d == 0:
                break
            d += 1
        else:
            best = k
    return best


row(largest_prime_below, [30], [3], [2], staged="loop", batch=True)


def else_breaks_the_outer_loop(m):
    rows = 0
    for r in m:
        for e in r:
            if e < 0:
                break
        else:
            break
        rows += 1
    return rows


row(
    else_breaks_the_outer_loop,
    [MATRIX],
    [abs(MATRIX)],
    [np.abs(MATRIX) * np.array([[-1.0], [1.0]])],
    staged="loop",
    batch=True,
)


def else_continues_the_outer_loop(m, t):
    count = 0
    for r in m:
        for e in r:
            if e > t:
                break
        else:
            continue
        count += 1
    return count


row(else_continues_the_outer_loop, [MATRIX, 3.5], [MATRIX, 2.5], [MATRIX, 99.0], staged="loop", batch=True)


def retry_until_accepted(x):
    h = 1.0
    steps = 0
    t = 0.0
    while t < 2.0:
        for attempt in range(8):
            error = h * h * x
            if error < 0.1:
                break
            h = h * 0.5
        else:
            steps = -1
            break
        t = t + h
        steps += 1
    return steps, h


row(retry_until_accepted, [1.0], [0.01], [1e9], staged="loop", batch=True)


def else_after_while_true(x):
    while True:
        x = x / 2
        if x < 1:
            break
    else:
        x = jnp.nan
    return x


row(else_after_while_true, [37.0], [0.5], staged="loop", grad=True, batch=True)


def counted_without_an_end(x, y):
    for i in itertools.count():
        if i * y * y > x:
            break
        if i > 10:
            return -1
    return i


row(counted_without_an_end, [3.0, 1.0], [3.0, 0.1], [-1.0, 2.0], staged="cond")


def deleted_before_a_break(x):
    kept = 7.0
    for i in range(3):
        if x > i:
            del kept
            break
    return kept


row(deleted_before_a_break, [-1.0])


def deleted_and_assigned_before_a_break(x):
    t = 3.0
    for i in range(3):
        if x > i:
            del t
            t = i + x
            break
    return t


row(deleted_and_assigned_before_a_break, [1.5], [-1.0], batch=True)


def deleted_at_the_end_of_a_turn(x):
    for i in range(3):
        t = x * i
        if t > 1:
            break
        del t
    return t  # noqa: F821 - where a turn has broken off


row(deleted_at_the_end_of_a_turn, [1.5])


def deleted_by_what_returns(x):
    def inner():
        t = 3.0
        if x > 0:
            del t
            return 1.0
        return t

    return inner()


row(deleted_by_what_returns, [1.5], [-1.0], batch=True)


def exception_of_a_handler_that_breaks(x):
    e = 5.0
    while True:
        try:
            if x > 0:
                raise ValueError
            break
        except ValueError as e:  # noqa: F811
            break
    return e


row(exception_of_a_handler_that_breaks, [-1.0])


def exception_of_a_handler_that_goes_on(x):
    e = 5.0
    for i in range(3):
        try:
            if x > i:
                raise ValueError
        except ValueError as e:  # noqa: F811
            continue
        e = i + x
    return e


row(exception_of_a_handler_that_goes_on, [1.5], [-1.0], batch=True)


@pytest.mark.parametrize(
    "program, x",
    [(deleted_before_a_break, 1.5), (deleted_at_the_end_of_a_turn, -1.5), (exception_of_a_handler_that_breaks, 1.5)],
)
def test_a_path_that_leaves_has_taken_the_variable_away(program, x):
    with pytest.raises(UnboundLocalError):
        program(x)
    with pytest.raises(ag.UnboundError):
        ag.jit(program)(x)


@table.each_way
def test_exits(row, way, record_property):
    check(row, way, record_property)
