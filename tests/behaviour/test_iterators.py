"""Rows that Python's own functions take from an array, and iterators over an array that is written meanwhile.

NumPy's rows are views, and its iterators see later writes. Both show here too, or the write is refused.
"""

import collections
import functools
import itertools
import operator

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)

M = np.arange(9.0).reshape(3, 3)
N = np.arange(6.0).reshape(2, 3)


def either(function):
    """The two ways that are right."""
    table.row(function, [N if function.__code__.co_varnames[0] == "n" else M], want="either")
    return function


# ------------------------------------------------------------------ rows that are written
@either
def rows_in_a_dict_of_zip(n):
    rows = dict(zip("ab", n, strict=True))
    rows["a"][0] = 9.0
    return n


@either
def array_written_after_a_dict_of_zip(n):
    rows = dict(zip("ab", n, strict=True))
    n[0, 0] = 9.0
    return rows["a"]


@either
def rows_of_chain(m):
    for r in itertools.chain(m):
        r[0] = 9.0
    return m


@either
def rows_of_chained_lists(m):
    rows = list(itertools.chain.from_iterable([m, m]))
    rows[4][0] = 9.0
    return m


@either
def rows_of_islice(m):
    for r in itertools.islice(m, 2):
        r[0] = 9.0
    return m


@either
def rows_in_a_deque(m):
    rows = collections.deque(m)
    rows[0][0] = 9.0
    return m


@either
def row_of_itemgetter(m):
    r = operator.itemgetter(0)(m)
    r[0] = 9.0
    return m


@either
def row_of_getitem(m):
    r = operator.getitem(m, 0)
    r[0] = 9.0
    return m


@either
def transpose_of_attrgetter(m):
    r = operator.attrgetter("T")(m)
    r[0, 1] = 9.0
    return m


@either
def rows_of_a_nested_unpacking(n):
    (a, b), c = n, 1
    a[0] = 9.0
    return n, b, c


@either
def unpacked_row_written_by_a_callee(n):
    def write(v):
        v[0] = 9.0

    a, b = n
    write(a)
    return n, b


@either
def rows_that_are_yielded(m):
    def rows():
        yield from m

    for r in rows():
        r[0] = 9.0
    return m


@either
def rows_put_into_a_slice_of_a_list(m):
    rows = []
    rows[:] = m
    rows[0][0] = 9.0
    return m


@either
def rows_of_zip_longest(m):
    for a, _ in itertools.zip_longest(m, m):
        a[1] = 9.0
    return m


@either
def rows_of_product(m):
    for a, _ in itertools.product(m, [1]):
        a[1] = 9.0
    return m


@either
def rows_of_pairwise(m):
    for a, _ in itertools.pairwise(m):
        a[1] = 9.0
    return m


@either
def rows_in_the_order_of_traced_data(m):
    rows = sorted(m, key=lambda r: -r[0])
    rows[0][0] = 9.0
    return m


@either
def sorted_list_of_arrays_written(m):
    a, b = m[0] + 1, m[1] * -1
    ordered = sorted([a, b], key=lambda r: r[0])
    ordered[0][0] = 77.0
    return a + 2 * b


@either
def sorted_lists_of_arrays_written(m):
    pairs = [[m[0] + 1, 1], [m[1] * -1, 2]]
    last = pairs[1]
    ordered = sorted(pairs, key=lambda pair: pair[0][0])
    ordered[0][0][0] = 77.0
    return last[0]


@either
def array_in_a_sorted_list_written(m):
    a = m[0] + 1
    ordered = sorted([a, a - 5], key=lambda r: r[0])
    a[0] = 77.0
    return ordered[1]


@either
def rows_that_a_loop_unpacks(n):
    both = jnp.stack([n, n + 1])
    for a, _ in both:
        a[0] = 9.0
    return both


@either
def rows_of_a_nested_target(n):
    for k, (_, b) in enumerate([n, n + 1]):
        b[k] = 9.0
    return n


@either
def conjugate_of_a_real_array_written(m):
    y = m.conj()
    y[0, 0] = 9.0
    return m


# ------------------------------------------------------------------ iterators over what is written
@either
def written_while_zip_runs(m):
    total = 0
    for _, r in zip("abc", m, strict=True):
        m[1] = 5.0
        total = total + r
    return total


@either
def written_while_chain_runs(m):
    total = 0
    for r in itertools.chain(m):
        m[1] = 5.0
        total = total + r
    return total


@either
def written_before_zip_runs(m):
    pairs = zip("abc", m, strict=True)
    m[1] = 5.0
    total = 0
    for _, r in pairs:
        total = total + r
    return total


@either
def written_between_two_rows_of_iter(m):
    rows = iter(m)
    next(rows)
    m[1] = 5.0
    return next(rows)


@either
def written_between_two_rows_of_a_generator(m):
    def each():
        for r in m:
            yield r + 0

    rows = each()
    next(rows)
    m[1] = 5.0
    return next(rows)


@either
def written_between_two_rows_that_are_yielded_from(m):
    def each(m):
        yield from m

    rows = each(m)
    next(rows)
    m[1] = 5.0
    return next(rows)


@either
def written_between_two_rows_of_an_expression(m):
    rows = (r for r in m)
    next(rows)
    m[1] = 5.0
    return next(rows)


@either
def written_between_two_rows_of_map(m):
    rows = map(lambda r: r + 0, m)
    next(rows)
    m[1] = 5.0
    return next(rows)


@either
def written_between_two_rows_of_enumerate(m):
    rows = enumerate(m)
    next(rows)
    m[1] = 5.0
    return next(rows)[1]


@either
def written_between_two_pairs(m):
    pairs = itertools.pairwise(m)
    next(pairs)
    m[2] = 5.0
    return next(pairs)[1]


@either
def written_before_the_numbers_of_a_slice(m):
    numbers = itertools.islice(m[:, 0], 1, None)
    m[1, 0] = 5.0
    return next(numbers)


# ------------------------------------------------------------------ iterators over arrays that are used twice, or in part
V = np.array([5.0, 6.0, 7.0, 8.0])
W = np.array([1.0, 2.0, 3.0])


def taken_in_turns(function):
    table.row(function, [V, W])
    return function


def not_after_a_break(function):
    """Traced data decides how many are left: refused, where that is asked."""
    table.row(function, [V, W], want="either")
    return function


@taken_in_turns
def pairs_of_neighbours(v, w):
    it, r, e = iter(v), reversed(v), enumerate(v)
    return list(zip(it, it)), list(zip(*[iter(v)] * 2)), list(zip(r, r)), list(zip(e, e))  # noqa: B905


@taken_in_turns
def twice_in_zips_of_zips(v, w):
    it = iter(v)
    return list(zip(zip(it, v), it))  # noqa: B905


@taken_in_turns
def neighbours_in_a_loop(v, w):
    it, s = iter(v), 0.0
    for a, b in zip(it, it):  # noqa: B905
        s = s * 10 + a * b
    return s


@taken_in_turns
def next_after_a_shorter_zip(v, w):
    it = iter(v)
    return list(zip(range(2), it)), next(it)  # noqa: B905


@taken_in_turns
def next_between_what_enumerate_takes(v, w):
    it = iter(v)
    numbered = enumerate(it, 3)
    return next(numbered), next(it), next(numbered)


@taken_in_turns
def left_by_loops_over_zip(v, w):
    it, other, s = iter(v), iter(v), 0.0
    for a, b in zip(it, w):  # noqa: B905
        s += a * b
    for a, b in zip(w, other):  # noqa: B905
        s = s * 10 + a * b
    return s, list(it), list(other)


@taken_in_turns
def left_by_loops_over_enumerate(v, w):
    it, other, s = iter(v), iter(v), 0.0
    for i, a in enumerate(it):
        s += a * i
    for i, (a, b) in enumerate(zip(other, w)):  # noqa: B905
        s += a * b * i
    return s, list(it), list(other)


@taken_in_turns
def left_by_a_loop_over_a_zip_of_zips(v, w):
    it, s = iter(v), 0.0
    pairs = zip(w, zip(it, w))  # noqa: B905
    for a, (b, c) in pairs:
        s += a * b * c
    return s, list(it), list(pairs)


@taken_in_turns
def two_zips_of_one_iterator(v, w):
    it, s = iter(v), 0.0
    first, second = zip(w[:2], it), zip(w[:2], it)  # noqa: B905
    for a, b in first:
        s = s * 10 + a * b
    for a, b in second:
        s = s * 10 + a * b
    return s, list(it)


@taken_in_turns
def next_before_a_loop_over_the_zip(v, w):
    it, s = iter(v), 0.0
    pairs = zip(it, w)  # noqa: B905
    next(it)
    for a, b in pairs:
        s = s * 10 + a * b
    return s, list(it)


@taken_in_turns
def next_before_a_strict_zip_is_read(v, w):
    it = iter(v)
    pairs = zip(it, v, strict=True)
    next(it)
    try:
        return list(pairs)
    except ValueError:
        return 17.0


@taken_in_turns
def so_many_at_a_time(v, w):
    it, s = iter(v), 0.0
    for _ in range(2):
        for i, a in zip(range(2), it):  # noqa: B905
            s = s * 10 + a * i
    return s, list(it)


@not_after_a_break
def left_by_a_break_in_a_loop_over_zip(v, w):
    it, s = iter(v), 0.0
    for a, b in zip(it, w):  # noqa: B905
        if a > 5.5:
            break
        s += a * b
    return s, list(it)


@not_after_a_break
def left_by_a_zip_with_a_traced_range(v, w):
    it, s = iter(v), 0.0
    for i, a in zip(range(int(w[1])), it):  # noqa: B905
        s += a * i
    return s, list(it)


@not_after_a_break
def zipped_in_a_branch(v, w):
    it, s = iter(v), 0.0
    if v[0] > w[0]:
        for a, b in zip(w, it):  # noqa: B905
            s += a * b
    return s, list(it)


@not_after_a_break
def zipped_in_a_loop_of_traced_turns(v, w):
    it, s = iter(v), 0.0
    while s < 20:
        for i, a in zip(range(2), it):  # noqa: B905
            s += a * i
        s += 1
    return s, list(it)


def zip_of_iterators_in_the_for(v, w):
    s = 0.0
    for i, (a, b) in enumerate(zip(iter(v), w)):  # noqa: B905
        s += a * b * i
    return s


table.row(zip_of_iterators_in_the_for, [V, W], staged="loop", grad=True)


def zip_of_a_named_iterator(v, w):
    it, s = iter(v), 0.0
    for a, b in zip(it, w):  # noqa: B905
        s += a * b
    return s, list(it)


table.row(zip_of_a_named_iterator, [V, W], staged="loop")


# ------------------------------------------------------------------ iterators that any or all has stopped in
@not_after_a_break
def rest_after_any(v, w):
    it = iter(v)
    return any(e > 5.5 for e in it), list(it)


@not_after_a_break
def rest_after_all_of_pairs(v, w):
    it = iter(v)
    found = all(a > 5.5 for a, _ in zip(it, w))  # noqa: B905
    return found, next(it)


@not_after_a_break
def rest_of_a_list_after_any(v, w):
    it = iter([v[0], v[1], v[2]])
    return any(e > 5.5 for e in it), list(it)


@not_after_a_break
def rest_of_a_map_after_any(v, w):
    doubled = map(lambda e: 2 * e, [v[0], v[1], v[2]])
    found = any(e > 11 for e in doubled)
    return found, sum(doubled)


@not_after_a_break
def sum_after_any_of_what_is_kept(v, w):
    kept = (e for e in v if e != 0)
    return any(kept), sum(kept)


@not_after_a_break
def sum_after_any_of_a_generator(v, w):
    tests = (e - 5 for e in v)
    return any(tests), sum(tests)


@not_after_a_break
def loop_after_any(v, w):
    it, s = iter(v), 0.0
    if any(e > 5.5 for e in it):
        for e in it:
            s += e
    return s


@taken_in_turns
def nothing_is_asked_for_after_any(v, w):
    it, tests, doubled = iter(v), (e > 5.5 for e in v), map(lambda e: 2 * e, [v[0], v[1]])
    return any(e > 5.5 for e in it), any(tests), all(doubled)


@taken_in_turns
def all_that_is_known(v, w):
    it = iter([1, 0, 2])
    return any(e == 1 for e in it), list(it), v[0]


# ------------------------------------------------------------------ iterators that a block takes elements of
def in_a_branch(function):
    """Traced data decides whether elements are taken: refused, where nobody can put them back."""
    table.row(function, [3.0, 1.0], [1.0, 2.0], want="error")
    return function


@in_a_branch
def unpacked_in_a_branch(x, y):
    it, b = iter([x, y, 1.0]), 0.0
    if x > y:
        a, b, c = it
    return b, list(it)


@in_a_branch
def given_to_a_call_in_a_branch(x, y):
    it, b = iter([x, y]), 0.0
    if x > y:
        b = max(*it)
    return b, list(it)


@in_a_branch
def searched_in_a_branch(x, y):
    it, b = iter((1, 2, 3)), 0.0
    if x > y:
        b = x if 2 in it else y
    return b, list(it)


@in_a_branch
def in_a_comprehension_of_a_branch(x, y):
    it, b = map(lambda v: v * y, [x, y, 1.0]), 0.0
    if x > y:
        b = sum([v * 2 for v in it])
    return b, list(it)


@in_a_branch
def some_of_them_in_a_branch(x, y):
    it, b = zip([x, y, 1.0], "abc", strict=True), [0.0]
    if x > y:
        b = [v for v, _ in itertools.islice(it, 1)]
    return b, [v for v, _ in it]


@in_a_branch
def another_name_in_a_branch(x, y):
    it, b = itertools.product([x, y], [1.0, 2.0]), x
    if x > y:
        other = iter(it)
        b = next(other)[0]
    return b, [v for v, _ in it]


@in_a_branch
def generator_sent_a_value_in_a_branch(x, y):
    def doubled():
        v = 1.0
        while True:
            v = yield v * 2

    numbers, b = doubled(), 0.0
    next(numbers)
    if x > y:
        b = numbers.send(x)
    return b


@in_a_branch
def of_an_object_in_a_branch(x, y):
    class Loader:
        def __init__(self, values):
            self.values = iter(values)

        def batch(self):
            return sum(itertools.islice(self.values, 2))

    loader, b = Loader([x, y, 1.0, 2.0]), 0.0
    if x > y:
        b = loader.batch()
    return b, loader.batch()


@in_a_branch
def traced_pairs_in_a_branch(x, y):
    v = jnp.array([x, y, 1.0])
    pairs, b = zip(v, v + 1, strict=True), 0.0
    if x > y:
        b = sum(p * q for p, q in pairs)
    return b, sum(p for p, _ in pairs)


def taken_in_a_loop_of_traced_turns(x, y):
    it = iter([x, y, 1.0])
    while sum(itertools.islice(it, 1)) > 0:
        y = y + x
    return y


table.row(taken_in_a_loop_of_traced_turns, [3.0, 1.0], want="error")


def batches_in_the_test_of_a_loop(x, y):
    batches, it = [], iter([x, y, 1.0, 2.0])
    while batch := list(itertools.islice(it, 2)):
        batches.append(max(batch))
    while (z := next(it, None)) is not None:
        batches.append(z)
    return batches


table.row(batches_in_the_test_of_a_loop, [3.0, 1.0], [1.0, 4.0])


def batches_until_there_are_none(x, y):
    batches, it = [], (v for v in (x, y, 1.0, 2.0))
    while True:
        batch = list(itertools.islice(it, 2))
        if not batch:
            break
        batches.append(max(batch))
    return batches


table.row(batches_until_there_are_none, [3.0, 1.0], [1.0, 4.0])


def batches_of_so_many_steps(x, y):
    it = map(lambda v: v * y, [x, y, 1.0, 2.0, 3.0, 4.0])
    for step in range(2):
        x += sum(v for _, v in zip(range(2), it, strict=False)) * step
    a, b = x, y
    for _ in range(1):
        a, b = it
    return x, a, b


table.row(batches_of_so_many_steps, [3.0, 1.0], [1.0, 4.0])


def made_in_a_branch(x, y):
    if x > y:
        pairs, doubled = zip([1.0, 2.0], [x, y], strict=True), (v * 2 for v in [x, y])
        a = sum(p * q for p, q in pairs) + sum(doubled)
    else:
        it = iter([x, y])
        a = next(it) + sum(it)
    return a


table.row(made_in_a_branch, [3.0, 1.0], [1.0, 2.0], staged="cond", grad=True)


# ------------------------------------------------------------------ iterators of the user's classes
class Multiples:
    def __init__(self, v, n):
        self.v, self.n, self.i = v, n, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.i >= self.n:
            raise StopIteration
        self.i += 1
        return self.v * self.i


class MultiplesAnew(Multiples):
    def __iter__(self):
        self.i = 0
        return self


class Halves:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return self

    def __next__(self):
        if self.v < 0.1:
            raise StopIteration
        self.v = self.v / 2
        return self.v


def left_by_traced_data(x, y):
    multiples, total = MultiplesAnew(x, 3), 0.0
    for v in multiples:
        if v > 5:
            break
        total += v
    else:
        total = -total
    return total, multiples.i


table.row(left_by_traced_data, [3.0, 1.0], [1.0, 2.0], [-1.0, -1.0], staged="cond")


def one_in_another(x, y):
    total = 0.0
    for v in Multiples(x, 3):
        if v > 5:
            return total, -1
        if v < y:
            continue
        for w in MultiplesAnew(y, 4):
            if w > v:
                break
            total += w
    return total, 0


table.row(one_in_another, [3.0, 1.0], [1.0, 2.0], [-1.0, -1.0], staged="cond")


def gone_on_with(x, y):
    multiples, total = Multiples(x, 3), 0.0
    for v in multiples:
        if v > 5:
            break
    for v in multiples:
        total += v
    return total


table.row(gone_on_with, [3.0, 1.0], [1.0, 2.0], want="either")


def over_by_traced_data(x, y):
    total = 0.0
    for v in Halves(x):
        total += v * y
    return total


table.row(over_by_traced_data, [3.0, 1.0], want="either")


# ------------------------------------------------------------------ what needs no care
def iterators_over_what_nobody_writes(m):
    total = sum(r for r in itertools.chain(m, m))
    for a, b in itertools.pairwise(m[:, 0]):
        total = total + a * b
    return total, list(itertools.accumulate(m[0], lambda a, b: a if a > b else b)), len(collections.deque(m, 2))


table.row(iterators_over_what_nobody_writes, [M])


def rows_unpacked_and_handed_on(n):
    a, b = n
    return jnp.dot(a, b) + functools.reduce(operator.add, n).sum()


table.row(rows_unpacked_and_handed_on, [N])


# ------------------------------------------------------------------ an iterator that a loop leaves where traced data says
FIVE = [1.0, 2.0, 3.0, 4.0, 5.0]


def rest_after_a_break(n):
    elements = iter(FIVE)
    for e in elements:
        if e > n:
            break
    return sum(elements)


table.row(rest_after_a_break, [0.0], [2.5], [9.0], want="error")


def rest_of_what_enumerate_runs_over(n):
    elements = iter(FIVE)
    for _, e in enumerate(elements):
        if e > n:
            break
    return sum(elements)


table.row(rest_of_what_enumerate_runs_over, [0.0], [2.5], want="error")


def found_twice(n):
    def find(elements):
        for e in elements:
            if e > n:
                return e
        return -1.0

    tokens = iter(FIVE)
    first = find(tokens)
    return first, find(tokens)


table.row(found_twice, [0.0], [2.5], want="error")


def rest_after_next(n):
    elements = iter(FIVE)
    first = next((e for e in elements if e > n), 0.0)
    return first, sum(elements)


table.row(rest_after_next, [0.0], [2.5], want="error")


def iterators_that_nobody_reads_again(n):
    total = 0.0
    for _ in range(2):
        for e in iter(FIVE):
            if e > n:
                break
            total += e
    table = {"a": 1.0, "b": 2.0}
    for _, e in table.items():
        if e > n:
            break
    return total + sum(table.values()) + next((e for e in iter(FIVE) if e > n), 0.0)


table.row(iterators_that_nobody_reads_again, [0.0], [2.5], [9.0], staged="cond")


def rest_after_a_return(n):
    elements = iter(FIVE)
    for e in elements:
        if e * n > 4:
            return e
    return sum(elements)


table.row(rest_after_a_return, [0.5], [2.5], [9.0], staged="cond")


# ------------------------------------------------------------------ generators that do something when they are left
class Counted:
    """Adds 1 to a list's element at the end of a `with`."""

    def __init__(self, counts):
        self.counts = counts

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.counts[0] += 1.0


def counted(v, counts):
    place = 0.0
    try:
        for x in v:
            place = x
            yield x
    finally:
        counts[0] += 1.0 + place


def counted_by_with(v, counts):
    with Counted(counts):
        yield from v


def counted_in_a_handler(v, counts):
    with Counted(counts):
        try:
            raise KeyError
        except KeyError:
            yield from v


def delegating(v, counts):
    yield -1.0
    yield from counted(v, counts)


def may_be_left(function):
    """Python runs the `finally` as soon as the generator is left."""
    table.row(function, [V, 6.5], [V, 9.0], [V, 0.0], want="either")
    return function


@may_be_left
def break_out_of_try(v, limit):
    counts = [0.0]
    for x in counted(list(v), counts):
        if x > limit:
            break
    return counts[0]


@may_be_left
def break_out_of_with(v, limit):
    counts = [0.0]
    for x in counted_by_with(list(v), counts):
        if x > limit:
            break
    return counts[0]


@may_be_left
def break_out_of_a_handler(v, limit):
    counts = [0.0]
    for x in counted_in_a_handler(list(v), counts):
        if x > limit:
            break
    return counts[0]


@may_be_left
def return_out_of_try(v, limit):
    counts = [0.0]
    for x in delegating(list(v), counts):
        if x > limit:
            return counts[0]
    return -counts[0]


@may_be_left
def any_of_try(v, limit):
    counts = [0.0]
    found = any(x > limit for x in counted(list(v), counts))
    return found, counts[0]


@may_be_left
def next_of_try(v, limit):
    counts = [0.0]
    found = next((x for x in delegating(list(v), counts) if x > limit), -5.0)
    return found, counts[0]


def taken_to_the_end(function):
    table.row(function, [V, 6.5], [V, 9.0])
    return function


@taken_to_the_end
def try_to_the_end(v, limit):
    counts, s = [0.0], 0.0
    for x in delegating(list(v), counts):
        if x > limit:
            s += x
    return counts[0], s


@taken_to_the_end
def a_plain_break_out_of_try(v, limit):
    counts = [0.0]
    for k, x in enumerate(counted(list(v), counts)):
        if k == 2:
            break
        limit += x
    return limit


@taken_to_the_end
def no_yield_in_the_try(v, limit):
    def numbers():
        for x in v:
            try:
                y = x + 1.0
            finally:
                y = x * 2.0
            yield y

    for y in numbers():
        if y > limit:
            return y
    return -1.0


@table.each_way
def test_iterators(row, way, record_property):
    check(row, way, record_property)
