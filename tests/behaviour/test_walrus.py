"""`:=` in what Python may leave out: in and, or, `a if c else b`, chained comparisons, tests of loops, assert."""

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row


def in_and(x):
    if x > 1 and (y := x * 2) > 3:
        return y
    return x


row(in_and, [0.5], [3.0], [1.2], staged="cond", grad=True, batch=True)


def in_or(x):
    if x > 2 or (y := x * 2) > 3:
        return x
    return y


row(in_or, [0.5], [3.0], [1.6], staged="cond", grad=True, batch=True)


def rebinding_survives(x):
    y = 10.0
    positive = x > 0 and (y := x * 3) > 6
    return y, positive


row(rebinding_survives, [-1.0], [1.0], [4.0], staged="cond", batch=True)


def several(x):
    if x > 0 and (y := x * 2) > 1 and (z := y - x) < 5 and z > y / 4:
        return y + z
    return -x


row(several, [-1.0], [0.2], [3.0], [7.0], staged="cond", grad=True, batch=True)


def one_reads_another(x, n):
    if (a := x + 1) > 1 and (n > 2 or (a := a * 2) > 5):
        return a
    return a - 1


row(one_reads_another, [0.5, 1], [0.5, 3], [4.0, 1], [-1.0, 1], staged="cond")


def left_unbound(x):
    if x > 0 or (y := x + 5) > 3:
        return 1.0
    return y


row(left_unbound, [1.0], [-1.0], [-4.0], staged="cond")


def read_where_it_is_unbound(x):
    if x > 1 and (y := x * 2) > 3:
        x = y
    return y


row(read_where_it_is_unbound, [3.0], [1.2], plain=[[0.5]], staged="cond")


def negated(x):
    if not (x > 0 and (y := x * 2) > 3):
        return 0.0
    return y


row(negated, [3.0], [1.0], [-1.0], staged="cond", batch=True)


def in_a_ternary(x):
    y = 0.0
    r = (y := x * 2) if x > 1 else 5.0
    return r + y


row(in_a_ternary, [3.0], [0.5], staged="cond", grad=True, batch=True)


def in_both_branches(x):
    r = (y := x * 2) + 1 if x > 1 else (y := -x)
    return r * y


row(in_both_branches, [3.0], [0.5], staged="cond", grad=True, batch=True)


def in_a_chain(x):
    y = 0.0
    if 1 < x < (y := x * 3 - 5) < 100:
        return y
    return x - y


row(in_a_chain, [0.5], [2.0], [4.0], [50.0], staged="cond", batch=True)


def in_elif(x):
    if x < 0:
        r = -x
    elif x > 5 and (half := x / 2) > 3:
        r = half
    else:
        r = x
    return r


row(in_elif, [-2.0], [5.5], [8.0], [1.0], staged="cond", grad=True, batch=True)


def in_a_while_test(x):
    n = 0
    while x > 1 and (half := x / 2) > 0.3:
        x = half
        n += 1
    return x, n


row(in_a_while_test, [9.0], [1.0], [0.5], staged="loop")


def alone_in_a_while_test(a):
    x, n = a, 0
    while (step := (x - a / x) / 2) > 0.01 or step < -0.01:
        x = x - step
        n += 1
    return x, step


row(alone_in_a_while_test, [4.0], [1.0], [0.25], staged="loop")


def carried_from_test_to_test(x):
    n = 0
    while n < 6 and (last if n > 0 else 0.0) < (last := x - n * n):  # noqa: F821 - pyflakes does not see the turn before
        n = n + 1
        x = x * 2
    return x, n


row(carried_from_test_to_test, [1.0], [3.0], [-1.0], staged="loop")


def read_after_the_loop(x):
    last = 0.0
    while x < 10 and (last := x * 2) < 15:
        x = x + last
    return last


row(read_after_the_loop, [1.0], [20.0], [6.0], [9.0], staged="loop")


def in_a_loop_body(v):
    count, last = 0, 0.0
    for x in v:
        if x > 0 and (root := x**0.5) > 1.5:
            count += 1
            last = root
    return count, last


row(in_a_loop_body, [np.array([4.0, -1.0, 1.0, 9.0])], [np.array([-1.0])], staged="loop")


def in_an_assertion(x):
    assert x > 0 and (y := x * 2) > 1, "small"
    return y


row(in_an_assertion, [3.0], [4.0], plain=[[-1.0], [0.2]], batch=True)


def alone_in_an_assertion(x):
    assert (y := x * 2) > 1
    return y


row(alone_in_an_assertion, [3.0], plain=[[0.2]])


def in_a_call(x):
    def double(v):
        return v * 2

    return double((y := x + 1) if x > 0 else 0.0) + (y if x > 0 else 1.0)


row(in_a_call, [3.0], [-3.0], staged="cond", batch=True)


def in_a_method(x):
    class Counter:
        def __init__(self):
            self.total = 0.0

        def add(self, v):
            if v > 1 and (w := v * 2) > 5:
                self.total = self.total + w
            return self.total

    counter = Counter()
    counter.add(x)
    return counter.add(x + 2)


row(in_a_method, [0.5], [2.0], [4.0], staged="cond", batch=True)


def of_a_global_function(x):
    if x > 0 and (y := helper(x)) > 2:
        return y
    return jnp.abs(x)


def helper(v):
    return v + 1 if v > 1 else v


row(of_a_global_function, [3.0], [0.5], [-3.0], staged="cond", batch=True)


def array_of_a_walrus(v):
    if v[0] > 0 and (w := v * 2).sum() > 5:
        return w
    return v


row(array_of_a_walrus, [np.array([1.0, 2.0])], [np.array([1.0, 1.0])], [np.array([-1.0, 9.0])], staged="cond", batch=True)


def of_plain_values(v):
    if (n := v.shape[0]) > 1 and (m := n * 2) > 3:
        return v * m
    return v + n


row(of_plain_values, [np.array([1.0, 2.0])], [np.array([5.0])])


def in_a_comprehension(v):
    return sum([y for x in v if (y := x * 2) > 2])


row(in_a_comprehension, plain=[[[1.0, 2.0, 3.0]], [[]]])


def of_a_loop_in_its_else(x, v):
    i = 0
    while 0 < (i := 1) and x < 1:
        x = x + 1
    else:
        k, j = v[0], v[i]
    return k + 10 * j


row(of_a_loop_in_its_else, [8.5, np.array([7.0, 11.0])], [0.5, np.array([7.0, 11.0])], staged="loop", batch=True)


@table.each_way
def test_walrus(row, way, record_property):
    check(row, way, record_property)
