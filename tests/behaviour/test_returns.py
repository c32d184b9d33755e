"""return: from branches, from nested blocks, from loops, and falling off the end."""

import contextlib

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 5.0, 3.0])
MATRIX = np.array([[1.0, 7.0, 3.0], [4.0, 5.0, 6.0]])


# ------------------------------------------------------------------ from branches
def in_both_branches(x):
    if x > 0:
        return x * 2
    else:
        return -x


row(in_both_branches, [-3.0], [3.0], staged="cond", grad=True, batch=True)


def guard_clause(x):
    if x < 0:
        return 0.0
    return jnp.sqrt(x)


row(guard_clause, [-4.0], [4.0], staged="cond", grad=True, batch=True)


def several_guards(x, lo, hi):
    if x < lo:
        return lo
    if x > hi:
        return hi
    return x


row(several_guards, [0.5, 1.0, 2.0], [1.5, 1.0, 2.0], [2.5, 1.0, 2.0], staged="cond", grad=True, batch=True)


def guard_in_the_middle(x):
    y = x * 3
    if y > 10:
        return y
    y = y + 1
    if y > 5:
        y = y * 2
        return y - 1
    z = y + x
    return z


row(guard_in_the_middle, [4.0], [2.0], [1.0], staged="cond", grad=True, batch=True)


def falls_through_a_nested_if(x, y):
    if x > 0:
        if y > 0:
            return x + y
        x = x + 10
    return x - y


row(falls_through_a_nested_if, [2.0, -1.0], [2.0, 1.0], [-2.0, 1.0], staged="cond", grad=True, batch=True)


def falls_through_three_levels(a, b, c):
    if a > 0:
        a = a * 2
        if b > 0:
            b = b + 1
            if c > 0:
                return a + b + c
            c = -c
        else:
            return a
        b = b * c
    return a * b


row(
    falls_through_three_levels,
    [1.0, 2.0, 3.0],
    [1.0, 2.0, -3.0],
    [1.0, -2.0, 3.0],
    [-1.0, 2.0, 3.0],
    staged="cond",
    grad=True,
    batch=True,
)


def elif_chain(score):
    if score >= 90:
        return 4
    elif score >= 80:
        return 3
    elif score >= 70:
        return 2
    else:
        return 0


row(elif_chain, [95.0], [85.0], [75.0], [10.0], staged="cond", batch=True)


def elif_some_return(x):
    if x > 10:
        return x
    elif x > 5:
        x = x + 100
    elif x > 0:
        return -x
    return x * 2


row(elif_some_return, [12.0], [7.0], [3.0], [-4.0], staged="cond", grad=True, batch=True)


def else_returns(x):
    if x > 0:
        y = x + 1
    else:
        return x
    return y * y


row(else_returns, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def int_here_float_there(x):
    if x > 0:
        return x / 2
    return 0


row(int_here_float_there, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def a_tuple(x, y):
    if x > y:
        return y, x
    return x, y


row(a_tuple, [2.0, 1.0], [1.0, 2.0], staged="cond", grad=True, batch=True)


def a_tuple_with_a_flag(x):
    if x < 1e-6:
        return 0.0, False
    root = jnp.sqrt(x)
    return root, True


row(a_tuple_with_a_flag, [4.0], [-4.0], staged="cond", batch=True)


def a_dict(x):
    if x > 0:
        return {"value": x, "sign": 1}
    return {"value": -x, "sign": -1}


row(a_dict, [2.0], [-2.0], staged="cond", batch=True)


def a_nested_structure(x):
    if x > 1:
        return [x, (x, {"n": 1})]
    return [0.0, (x * x, {"n": 2})]


row(a_nested_structure, [2.0], [-2.0], staged="cond", batch=True)


def an_array(v):
    if v.sum() > 20:
        return v / v.sum()
    return v


row(an_array, [VECTOR], [VECTOR * 10], staged="cond", grad=True, batch=True)


def arrays_of_two_shapes(v):
    if v[0] > 0:
        return v
    return v[:2]


row(arrays_of_two_shapes, [VECTOR], [-VECTOR], want="error")


def value_or_nothing(x):
    if x > 0:
        return x


row(value_or_nothing, [2.0], [-2.0], own_jit=True)


def value_or_none(x):
    if x > 0:
        return x
    return None


row(value_or_none, [2.0], [-2.0], own_jit=True)


def nothing_at_all(x):
    if x > 0:
        x = x + 1


row(nothing_at_all, [2.0], [-2.0])


def bare_return(x, log):
    log["calls"] = log["calls"] + 1
    if x > 0:
        return
    log["negative"] = log["negative"] + 1


def counts_negative(x):
    log = {"calls": 0, "negative": 0}
    bare_return(x, log)
    bare_return(x + 10, log)
    return log["calls"], log["negative"]


row(counts_negative, [2.0], [-2.0], [-20.0], staged="cond", batch=True)


def code_after_return(x):
    return x * 2
    x = x + 1
    return x


row(code_after_return, [2.0], grad=True)


def static_condition(x, mode):
    if mode == "half":
        return x / 2
    if x > 1:
        return x
    return 1.0


row(static_condition, [2.0, "half"], [2.0, "clip"], [0.0, "clip"], static=[1], grad=True)


def of_a_ternary(x):
    if x > 0:
        return 1.0 if x > 1 else x
    return x if x > -1 else -1.0


row(of_a_ternary, [2.0], [0.5], [-0.5], [-2.0], staged="cond", grad=True, batch=True)


def of_a_condition(x):
    if x > 3:
        return False
    return x > 1


row(of_a_condition, [4.0], [2.0], [0.0], staged="cond", batch=True)


def inside_with(x):
    with contextlib.nullcontext(3.0) as k:
        if x > 0:
            return x * k
        x = x - 1
    return x


row(inside_with, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def inside_try_finally(x):
    count = [0]
    try:
        if x > 0:
            return x * 2
        x = x - 1
    finally:
        count[0] += 1
    return x


row(inside_try_finally, [2.0], [-2.0], staged="cond", batch=True)


# ------------------------------------------------------------------ from loops
def index_of_first_above(v, t):
    for i in range(len(v)):
        if v[i] > t:
            return i
    return -1


row(index_of_first_above, [VECTOR, 2.5], [VECTOR, 99.0], [VECTOR, 0.0], staged="loop", batch=True)


def first_above(v, t):
    for e in v:
        if e > t:
            return e
    return -1.0


row(first_above, [VECTOR, 2.5], [VECTOR, 99.0], [VECTOR, 0.0], staged="loop", grad=True, batch=True)


def first_above_or_none_yet(v, t):
    for i, e in enumerate(v):
        if e > t:
            return i, e
    return -1, 0.0


row(first_above_or_none_yet, [VECTOR, 2.5], [VECTOR, 99.0], staged="loop", batch=True)


def halve_until_below_one(x):
    i = 0
    while i < 100:
        x = x / 2
        if x < 1:
            return x
        i = i + 1
    return -1.0


row(halve_until_below_one, [37.0], [0.5], staged="loop", grad=True, batch=True)


def while_true(x):
    n = 0
    while True:
        if x < 1:
            return x, n
        x = x / 3
        n += 1


row(while_true, [37.0], [0.5], staged="loop", grad=True, batch=True)


def newton_with_early_return(a, tol):
    x = a
    for i in range(50):
        residual = x * x - a
        if abs(residual) < tol:
            return x, i
        x = x - residual / (2 * x)
    return x, 50


row(newton_with_early_return, [2.0, 1e-3], [9.0, 1e-3], staged="loop", batch=True)


def value_computed_in_the_loop(v, limit):
    total = 0.0
    for e in v:
        total = total + e
        if total > limit:
            overshoot = total - limit
            return overshoot
    return total


row(value_computed_in_the_loop, [VECTOR, 4.0], [VECTOR, 99.0], staged="loop", grad=True, batch=True)


def two_returns_in_a_loop(v):
    for e in v:
        if e < 0:
            return -1.0
        if e > 4:
            return e
    return 0.0


row(two_returns_in_a_loop, [VECTOR], [-VECTOR], [VECTOR * 0.5], staged="loop", grad=True, batch=True)


def return_and_break(v):
    total = 0.0
    for e in v:
        if e > 6:
            break
        if e < 0:
            return -1.0
        total = total + e
    return total


row(return_and_break, [VECTOR], [-VECTOR], [VECTOR * 2], staged="loop", grad=True, batch=True)


def return_and_continue(v):
    seen = 0
    for e in v:
        if e < 1.8:
            continue
        seen += 1
        if e > 4:
            return e * seen
    return -1.0 * seen


row(return_and_continue, [VECTOR], [VECTOR * 0.5], [-VECTOR], staged="loop", grad=True, batch=True)


def find_in_a_matrix(m, t):
    for i in range(m.shape[0]):
        for j in range(m.shape[1]):
            if m[i, j] == t:
                return i, j
    return -1, -1


row(find_in_a_matrix, [MATRIX, 5.0], [MATRIX, 7.0], [MATRIX, 99.0], staged="loop", batch=True)


def from_the_inner_while(x):
    for i in range(10):
        y = x + i
        while y > 1:
            y = y / 2
            if y > 2 and y < 2.5:
                return y
    return -1.0


row(from_the_inner_while, [3.2], [4.6], [0.0], staged="loop", batch=True)


def first_row_with_positive_sum(m):
    for r in m:
        if r.sum() > 12:
            return r
    return jnp.zeros(3)


row(first_row_with_positive_sum, [MATRIX], [-MATRIX], staged="loop", grad=True, batch=True)


def traced_trip_count(x, n):
    for i in range(n):
        x = x * 2
        if x > 20:
            return x + i
    return -x


row(traced_trip_count, [1.5, 10], [1.5, 2], [1.5, 0], staged="loop", grad=True, batch=True)


def return_in_for_else(v, t):
    for i in range(len(v)):
        if v[i] == t:
            break
    else:
        return -1
    return i * 10


row(return_in_for_else, [VECTOR, 5.0], [VECTOR, 9.0], staged="loop", batch=True)


def return_first_thing(v):
    for e in v:
        return e
    return 0.0


row(return_first_thing, [VECTOR], [np.zeros(0)], grad=False)


def is_prime(n):
    if n < 2:
        return False
    d = 2
    while d * d <= n:
        if n % d == 0:
            return False
        d += 1
    return True


row(is_prime, [97], [91], [2], [1], [0], staged="loop cond", batch=True)


def helper_that_returns_early(x):
    while x > 1:
        x = x / 2
        if x < 1.5:
            return x
    return x


def uses_an_early_return(x):
    a = helper_that_returns_early(x)
    b = helper_that_returns_early(x * 3)
    if a > b:
        return a - b
    return b - a


row(uses_an_early_return, [7.0], [0.5], staged="loop cond", grad=True, batch=True)


def mandelbrot_steps(cr, ci):
    zr = 0.0
    zi = 0.0
    for k in range(30):
        if zr * zr + zi * zi > 4:
            return k
        zr, zi = zr * zr - zi * zi + cr, 2 * zr * zi + ci
    return 30


row(mandelbrot_steps, [0.3, 0.5], [1.0, 1.0], [-0.5, 0.1], staged="loop", batch=True)


@table.each_way
def test_returns(row, way, record_property):
    check(row, way, record_property)
