"""Programs that were once wrong: found by trying to break the package, not by its rows."""

import collections
import contextlib
import heapq

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row


def break_in_a_loop_over_a_list(n):
    s = 0.0
    for v in [0.0, 1.0, 2.0, 3.0]:
        if n < 0:
            break
        s = s + v
    return s


row(break_in_a_loop_over_a_list, [3], [-1], staged="cond")


def return_in_a_loop_over_items(x):
    rates = {"a": 1.0, "b": 2.0}
    for name, rate in rates.items():
        if x < rate:
            return x * 10
        x = x - rate
    return x


row(return_in_a_loop_over_items, [0.5], [2.0], [5.0], staged="cond")


def write_under_with_after_break(x):
    for i in range(3):
        with contextlib.nullcontext():
            if x > 1:
                break
            x = x + 1
    return x


row(write_under_with_after_break, [0.0], [3.0], staged="loop")


def state_machine_of_strings(n):
    state = "start"
    steps = 0
    while state != "done":
        if n > 3:
            state = "shrink"
        else:
            state = "done"
        if state == "shrink":
            n = n - 2
        steps += 1
    return n, steps


row(state_machine_of_strings, [9], [1], staged="loop cond")


def call_of_a_chosen_function(x):
    def double(v):
        return v * 2

    def negate(v):
        return -v

    act = double if x > 0 else negate
    return act(x)


row(call_of_a_chosen_function, [2.0], [-3.0], staged="cond", grad=True)


def iterator_beside_a_static_loop(x):
    rates = iter([1.0, 2.0, 3.0])
    for _ in range(3):
        x = x + next(rates)
    return x


row(iterator_beside_a_static_loop, [1.0], [-1.0])


def factorials_stay_exact(x):
    total, factorial = 0.0, 1
    for k in range(1, 16):
        factorial *= k
        total = total + x**k / float(factorial)
    return total


row(factorials_stay_exact, [1.0], [0.5])


def list_that_may_be_another(n):
    a = [1, 2]
    b = a
    if n > 0:
        b = [3, 4]
    b[0] = 9
    return a[0], b[0]


row(list_that_may_be_another, [1], [-1], want="either")


def object_chosen_then_written(x):
    class Point:
        def __init__(self, v):
            self.v = v

    a, b = Point(1.0), Point(2.0)
    m = a if x > 0 else b
    m.v = m.v + 10
    return a.v, b.v


row(object_chosen_then_written, [1.0], [-1.0], want="either")


def array_chosen_then_written(x):
    a, b = jnp.zeros(2), jnp.ones(2)
    m = a if x > 0 else b
    m[0] = 10.0
    return a, b


row(array_chosen_then_written, [1.0], [-1.0], want="either")


def view_of_a_view(x):
    y = x + 0
    tail = y[1:]
    last = tail[1:]
    last[0] = 9.0
    return y


row(view_of_a_view, [np.arange(4.0)], want="either")


def caught_outside_of_the_branch(x):
    try:
        r = 1.0
        if x > 0:
            raise ValueError("positive")
    except ValueError:
        r = 2.0
    return r


row(caught_outside_of_the_branch, [1.0], [-1.0], want="either")


def caught_inside_of_the_branch(x):
    r = 1.0
    if x > 0:
        try:
            raise ValueError("positive")
        except ValueError:
            r = 2.0
    return r


row(caught_inside_of_the_branch, [1.0], [-1.0], staged="cond")


def index_of_a_path_is_a_call(x):
    buffers = {"a": jnp.zeros(3)}
    buffers["a"][len(x) - 1] = 7.0
    return buffers["a"]


row(index_of_a_path_is_a_call, [np.arange(3.0)])


def order_of_several_targets(x):
    i = 0
    x[i], i = 5.0, 1
    return x, i


row(order_of_several_targets, [np.arange(3.0)])


def heap_and_counter_beside_a_loop(x):
    heap, seen = [], collections.Counter()
    for i in range(4):
        heapq.heappush(heap, -i)
        seen.update(["a"])
        x = x + i
    return x, len(heap), seen["a"]


row(heap_and_counter_beside_a_loop, [1.0], [-1.0])


@table.each_way
def test_found(row, way, record_property):
    check(row, way, record_property)
