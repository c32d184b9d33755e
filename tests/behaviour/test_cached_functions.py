"""Functions with a cache of Python's, called where traced data decides."""

import functools

import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row
X = np.array([1.0, 2.0, 3.0])


def that_counts_its_calls(x):
    calls = [0]

    @functools.lru_cache
    def same(k):
        calls[0] += 1
        return k

    if x[0] > 10:
        same(1)
    same(1)
    return calls[0]


row(that_counts_its_calls, [X], [X * 11], want="either")


def that_counts_in_a_staged_loop(x):
    calls, i = 0, 0

    @functools.cache
    def same(k):
        nonlocal calls
        calls += 1
        return k

    while x[i] < 3:
        i += same(1)
    return i, calls


row(that_counts_in_a_staged_loop, [X], want="either")


def of_a_traced_element(x):
    @functools.cache
    def element(k):
        return x[k]

    total = 0.0
    for v in x:
        total = total + v * element(0)
    return total + element(0) + element(1)


row(of_a_traced_element, [X], grad=True)


def that_keeps_its_first_value(x):
    @functools.cache
    def first():
        return total

    total, kept = 0.0, 0.0
    for v in x:
        total = total + v
        kept = kept + first()
    return kept


row(that_keeps_its_first_value, [X], grad=True)


def recursive_and_pure(x):
    @functools.cache
    def fibonacci(k):
        return k if k < 2 else fibonacci(k - 1) + fibonacci(k - 2)

    if x[0] > 10:
        return fibonacci(60) / 1e9
    return fibonacci(20) + x[0]


row(recursive_and_pure, [X], [X * 11], staged="cond")


def one_list_for_all_calls(x):
    @functools.lru_cache(maxsize=4, typed=True)
    def scaled(k, *, by=1):
        out = []
        out.append(k * by)
        return out

    scaled(1, by=2)[0] = 7.0
    total = 0.0
    for v in x:
        if v > 1:
            total = total + scaled(1, by=2)[0] + scaled(1)[0] + scaled(1.0)[0]
    return total


row(one_list_for_all_calls, [X])


def list_changed_in_a_branch(x):
    @functools.cache
    def table():
        return [0.0, 0.0]

    if x[0] > 0:
        table()[0] = 5.0
    return table()[0] + x[0]


row(list_changed_in_a_branch, [X], [-X], want="either")


def part_changed_by_a_helper(x):
    @functools.cache
    def settings():
        return {"seen": []}

    def remember(v):
        settings()["seen"].append(v)

    for v in x:
        if v > 1:
            remember(v)
    return sum(settings()["seen"], 0.0)


row(part_changed_by_a_helper, [X], want="either")


def numpy_array_changed_in_a_branch(x):
    @functools.cache
    def table():
        return np.zeros(2)

    y = 0.0
    if x[0] > 0:
        t = table()
        t[0] = 5.0
        y = table()[0]
    return y


row(numpy_array_changed_in_a_branch, [X], [-X], want="either")


def list_made_before_and_changed_in_a_branch(x):
    @functools.cache
    def table():
        return [0.0, 0.0]

    table()
    if x[0] > 0:
        table()[0] = 5.0
    return table()[0] + x[0]


row(list_made_before_and_changed_in_a_branch, [X], [-X])


class Counting:
    def __init__(self):
        self.calls = 0

    @functools.lru_cache  # noqa: B019 - as users do
    def doubled(self, k):
        self.calls += 1
        return k * 2


def method_with_a_cache(x):
    counting, total = Counting(), 0.0
    for v in x:
        total = total + v * counting.doubled(3)
    return total, counting.calls


row(method_with_a_cache, [X])


def called_with_a_traced_number(x):
    @functools.cache
    def doubled(k):
        return k * 2

    i = 0
    while x[i] < 3:
        i = i + 1
        doubled(i)
    return i


row(called_with_a_traced_number, [X], want="either")


@table.each_way
def test_cached_functions(row, way, record_property):
    check(row, way, record_property)
