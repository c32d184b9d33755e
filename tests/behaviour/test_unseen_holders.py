"""Arrays that no variable holds: iterators, generators, managers, classes and lists have them, while one is written."""

import collections
import contextlib
import contextvars
import functools
import itertools
import types

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax import AliasError

from .harness import Table, check

table = Table(__name__)
row = table.row

X = np.array([1.0, 2.5, 4.25])
Y = np.array([10.5, 20.25, 31.0])
Z = np.array([-3.0, 7.75, 100.5])
M = np.array([[1.5, 2.0, 3.25], [4.0, 5.5, 7.0], [8.0, 9.25, 11.0]])


def refused(function, *calls):
    row(function, *calls, want="error")


def raised(v):
    v[0] += 1.0
    return v[0]


def written(v):
    v[0] += 1.0
    return v


# ------------------------------------------------------------------ functions that Python calls for each element
def mapped_over_one_twice(x):
    return sum(map(raised, (x, x)))


def mapped_into_a_list(x):
    return list(map(written, [x, x]))


def mapped_over_numbers_that_it_writes(x):
    def step(v):
        x[2] += v
        return v

    return sum(map(step, x))


def starred_pairs(x, y):
    def pair(a, b):
        a[0] += 1.0
        return a[0] + b[0]

    return list(itertools.starmap(pair, [(x, y), (y, x)]))


def keys_that_write(x, y):
    first, second = sorted([y, x], key=raised)
    return first, second


def greatest_by_a_key_that_writes(x, y):
    return max([x, y, x], key=raised)


def reduced_over_what_it_writes(x, y):
    def step(total, v):
        y[1] = 5.0
        return total + v[1]

    return functools.reduce(step, [x, y], 0.0)


def filtered_by_what_writes(x):
    total = 0.0
    for v in filter(lambda v: v > 0.5, x):
        x[2] += v
        total += v
    return total


for function in (mapped_over_one_twice, mapped_into_a_list, mapped_over_numbers_that_it_writes, filtered_by_what_writes):
    refused(function, [X])
row(starred_pairs, [X, Y], want="either")
for function in (keys_that_write, greatest_by_a_key_that_writes, reduced_over_what_it_writes):
    refused(function, [X, Y])


def mapped_over_several(x, y):
    return tuple(map(raised, (x, y)))


def accumulated(x, y):
    return list(itertools.accumulate([x, y], lambda a, b: written(b)))[1]


row(mapped_over_several, [X, Y])
row(accumulated, [X, Y])


# ------------------------------------------------------------------ iterators
class Counting:
    def __init__(self, values):
        self.values, self.taken = values, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.taken == len(self.values):
            raise StopIteration
        self.taken += 1
        return self.values[self.taken - 1]


class Indexed:
    def __init__(self, *values):
        self.values = values

    def __getitem__(self, number):
        return self.values[number]


class Yielding:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        yield from self.values


class Looping:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        for v in self.values:
            yield v * 1.0 if v is None else v


ITERATORS = {
    "chain": lambda x, y: itertools.chain((x,), [y]),
    "chain_from_iterable": lambda x, y: itertools.chain.from_iterable([(x,), (y,)]),
    "islice": lambda x, y: itertools.islice([x, x, y], 1, None),
    "compress": lambda x, y: itertools.compress((x, y), (1, 1)),
    "cycle": lambda x, y: itertools.islice(itertools.cycle([x, y]), 3),
    "takewhile": lambda x, y: itertools.takewhile(lambda v: v.ndim == 1, (x, y)),
    "deque": lambda x, y: collections.deque([x, y]),
    "ordered_dict": lambda x, y: collections.OrderedDict(p=x, q=y).values(),
    "iterator_of_a_user": lambda x, y: Counting([x, y]),
    "sequence_of_a_user": lambda x, y: Indexed(x, y),
    "generator_method": lambda x, y: Yielding([x, y]),
    "generator_method_with_a_loop": lambda x, y: Looping([x, y]),
    "generator": lambda x, y: (v for v in [x, y]),
}


def written_before_it_is_taken(make):
    def f(x, y):
        total = 0.0
        for a in make(x, y):
            y[0] += a[0]
            total += a[0]
        return total

    return f


for name, make in ITERATORS.items():
    row(written_before_it_is_taken(make), [X, Y], name=name, want="either")


def pairs_of_neighbours(m):
    total = 0.0
    for a, b in itertools.pairwise(m):
        b[0] += a[0]
        total += b[0]
    return total


def counted_pairs(x, y):
    total = 0.0
    for k, a in zip(itertools.count(), [x * 1.0, y * 1.0]):  # noqa: B905
        a[0] = k
        total += a.sum()
    return total


def iterator_of_a_user_whose_elements_are_given_anew(x, y):
    total = 0.0
    for a in Counting([x, y]):
        a = a * 2.0
        a[0] += 1.0
        total += a[0]
    return total, x, y


def another_array_is_written(x, y, z):
    total = 0.0
    for a in Counting([x, y]):
        z[0] += a[1]
        total += a[0]
    return total, z


class Reading:
    def __init__(self, values):
        self.values = values

    def __iter__(self):
        for k in range(3):
            yield self.values[k]


def generator_method_that_reads_what_is_written(x):
    total = 0.0
    for v in Reading(x):
        x[2] += 5.0
        total += v
    return total


row(generator_method_that_reads_what_is_written, [X], want="either")
row(pairs_of_neighbours, [M], want="either")
row(counted_pairs, [X, Y])
row(iterator_of_a_user_whose_elements_are_given_anew, [X, Y])
row(another_array_is_written, [X, Y, Z])


# ------------------------------------------------------------------ what a generator has given
def filled(x):
    b = x + 0.0
    for _ in range(3):
        b[0] += 9.0
        yield b


def given_to_a_list(x):
    return list(filled(x))


def given_to_a_display(x):
    return [*filled(x)][0]


def given_to_arguments(x):
    def first(*values):
        return values[0]

    return first(*filled(x))


def given_to_variables(x):
    a, b, c = filled(x)
    return a, b, c


def given_to_a_dict(x):
    return dict(enumerate(filled(x)))


def given_to_a_comprehension(x):
    return [v for v in filled(x)]  # noqa: C416


def given_to_pairs(x):
    return [pair for pair in zip(filled(x), filled(x), strict=True)]  # noqa: C416


def given_by_a_delegate(x):
    def two():
        b = x + 0.0
        yield b
        b[0] += 9.0
        yield b

    def all_of():
        yield from two()

    return list(all_of())


def rows_of_what_is_given(x):
    def tables():
        b = jnp.stack([x, x])
        for _ in range(2):
            b[0, 0] += 9.0
            yield b

    return [table[0] for table in tables()]


for function in (
    given_to_a_list, given_to_a_display, given_to_arguments, given_to_variables, given_to_a_dict, given_to_a_comprehension,
    given_to_pairs, rows_of_what_is_given,
):  # fmt: skip
    refused(function, [X])


row(given_by_a_delegate, [X], want="either")


def given_to_a_loop(x):
    total = 0.0
    for a in filled(x):
        total += a[0]
    return total


def given_to_a_loop_by_a_delegate(x):
    def all_of():
        yield from filled(x)

    total = 0.0
    for a in all_of():
        total += a[0]
    return total


def given_to_the_loop_of_another_generator(x):
    def halves():
        for v in filled(x):
            yield v * 0.5

    def numbered():
        for k, v in enumerate(filled(x)):
            yield k + 1, v

    total = 0.0
    for a in halves():
        total += a[0]
    for k, a in numbered():
        total += k * a[0]
    return total


def numbers_of_what_is_given(x):
    numbers = [v[0] for v in filled(x)]
    return numbers, sum(w[0] for w in filled(x))


def copies_given(x):
    def copies():
        b = x + 0.0
        for _ in range(3):
            b[0] += 9.0
            yield b.copy()

    return list(copies())


def given_anew_each_time(x):
    def anew():
        b = x + 0.0
        for _ in range(3):
            b = b + 1.0
            b[0] += 9.0
            yield b

    return list(anew())


row(given_to_the_loop_of_another_generator, [X])
for function in (given_to_a_loop, given_to_a_loop_by_a_delegate, numbers_of_what_is_given, copies_given, given_anew_each_time):
    row(function, [X])


def generator_in_a_variable(x):
    steps = filled(x)
    next(steps)
    total = 0.0
    for v in steps:
        total += v[0]
    return total


row(generator_in_a_variable, [X])


def sums_of_what_is_given(x):
    total = sum(map(lambda v: v[0] * 2.0, filled(x)))
    return total, sum(filled(x)), list(map(lambda v: v * 2.0, filled(x)))


def results_of_what_is_given(x):
    def norm(v):
        return (v * v).sum()

    norms = [norm(v) for v in filled(x)], list(norm(v) for v in filled(x))  # noqa: C400
    return norms, {k: v * 2.0 for k, v in enumerate(filled(x))}


def copies_of_what_is_given(x):
    return [v.copy() for v in filled(x)], tuple(v + 1.0 for v in filled(x))


for function in (sums_of_what_is_given, results_of_what_is_given, copies_of_what_is_given):
    row(function, [X])


def same_of_what_is_given(x):
    def same(v):
        return v

    return [same(v) for v in filled(x)]


def first_that_is_joined(x):
    return functools.reduce(lambda a, b: a + b, filled(x))


def mapped_to_one_array(x):
    w = x.copy()

    def step(k):
        w[0] += k
        return w

    return [v for v in map(step, (1.0, 2.0))]  # noqa: C416


for function in (same_of_what_is_given, first_that_is_joined, mapped_to_one_array):
    row(function, [X], want="either")


def one_that_passes_twice(x):
    total = 0.0
    for a in filter(lambda v: v[0] > 0.0, [x, x]):
        a[0] += 1.0
        total += a
    return total


def one_that_a_generator_gives_twice(x):
    total = 0.0
    for a in (v for v in [x, x] if v[0] > 0.0):
        a[0] += 1.0
        total += a
    return total


def several_that_pass(x):
    total = 0.0
    for a in filter(lambda v: v[0] > 1.5, [x * 1.0, x * 2.0]):
        a[0] += 1.0
        total += a
    for a in (v for v in [x * 1.0, x * 2.0] if v[0] > 1.5):
        a[0] += 1.0
        total += a
    return total


refused(one_that_passes_twice, [X])
refused(one_that_a_generator_gives_twice, [X])
row(several_that_pass, [X])


# ------------------------------------------------------------------ what a comprehension or `map` has collected
class Stepping:
    """Writes one array again and again, and gives it."""

    def __init__(self, x):
        self.x, self.y = x + 0.0, x * 2.0

    def step(self, k):
        self.x[0] += k
        return self.x

    set = step

    def step_below(self, most, k):
        if k >= most:
            raise KeyError
        return self.step(k)

    def stepped(self, k):
        self.x[0] += k
        return self


class Steps:
    def __init__(self, x):
        self.x, self.left = x + 0.0, 3

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.left -= 1
        self.x[0] += 1.0
        return self.x


class Loader:
    def __init__(self, x):
        self.x = x

    def __iter__(self):
        return Steps(self.x)


COLLECTING = {
    "list": lambda s: [s.step(k) for k in range(3)],
    "pairs": lambda s: [(k, s.step(k)) for k in range(3)],
    "dict": lambda s: {k: s.step(k) for k in range(3)},
    "two_loops": lambda s: [s.step(j + k) for j in range(2) for k in range(2)],
    "lists": lambda s: [[s.step(j + k) for j in range(2)] for k in range(2)],
    "condition": lambda s: [s.step(k) for k in range(3) if k > 0],
    "test_that_writes": lambda s: [s.x for k in range(3) if s.step(k)[0] > 0.0],
    "loop_over_map": lambda s: [v for v in map(s.step, range(3))],  # noqa: C416
    "loop_over_pairs": lambda s: [(k, v) for k, v in enumerate(map(s.step, range(3)))],  # noqa: C416
    "sum_of_list": lambda s: sum([s.step(k) for k in range(3)]),
    "extended": lambda s: [0.0] + [s.step(k) for k in range(3)],
    "stacked": lambda s: np.stack([s.step(k) for k in range(3)]),
    "generator": lambda s: list(s.step(k) for k in range(3)),  # noqa: C400
    "generator_with_condition": lambda s: list(s.step(k) for k in range(3) if k > 0),  # noqa: C400
    "display": lambda s: [*(s.step(k) for k in range(3))],
    "dict_of_generator": lambda s: dict((k, s.step(k)) for k in range(3)),  # noqa: C402
    "mapped": lambda s: list(map(s.step, range(3))),
    "mapped_twice": lambda s: list(map(lambda v: v, map(s.step, range(3)))),
    "filtered": lambda s: list(filter(lambda v: True, map(s.step, range(3)))),
    "largest": lambda s: max((s.step(k) for k in range(3)), key=lambda v: v[1]),
    "accumulated": lambda s: list(itertools.accumulate(s.step(k) for k in range(3))),
    "users_iterator": lambda s: list(Steps(s.x)),
    "loop_over_users_iterator": lambda s: [v for v in Steps(s.x)],  # noqa: C416
    "users_iterable": lambda s: list(Loader(s.x)),
    "pairs_of_users_iterator": lambda s: list(zip(range(3), Steps(s.x), strict=True)),
    "map_over_users_iterator": lambda s: list(map(lambda v: v, Steps(s.x))),
    "method_with_a_name_of_pythons": lambda s: [s.set(k) for k in range(3)],
    "traced_condition_in_the_element": lambda s: [s.step(k) if s.y[0] > 0.0 else s.y for k in range(3)],
    "traced_condition": lambda s: [s.step(k) for k in range(3) if s.y[k] > 0.0],
}


@pytest.mark.parametrize("collect", COLLECTING.values(), ids=COLLECTING.keys())
@pytest.mark.parametrize("how", [ag.autograph, ag.jit], ids=["eager", "jit"])
def test_collected(collect, how):
    def run(x):
        return collect(Stepping(x))

    with pytest.raises(AliasError, match="AG0301"):
        how(run)(jnp.asarray(X))


def collected_copies(x):
    s = Stepping(x)
    a = [s.step(k).copy() for k in range(3)]
    b = {k: s.step(k) * 2.0 for k in range(3)}
    sums = list(itertools.accumulate(map(s.step, range(3)), lambda total, v: total + v, initial=0.0))
    return a, b, sums, list(s.step(k) + 0.0 for k in range(3)), list(map(lambda k: s.step(k)[0], range(3)))  # noqa: C400


def collected_objects(x):
    """Each element is the object, which shows what is written."""
    s = Stepping(x)
    return [one.x[0] for one in [s.stepped(k) for k in range(3)]]


def collected_of_several(x):
    several = [Stepping(x) for _ in range(3)]
    a = [s.step(1.0) for s in several]
    return [v[0] + 1.0 for v in a]


def taken_in_turn(x):
    """What a loop takes is not kept."""
    s, total = Stepping(x), 0.0
    for v in (s.step(k) for k in range(3)):
        total += v
    for k, v in enumerate(map(s.step, range(3))):
        total += k * v
    for v in (s.step(k) for k in range(3) if k > 0):
        total += v
    for v in Steps(x):
        total += v
    total += sum(s.step(k) for k in range(3))
    total += functools.reduce(lambda a, b: a + b, map(s.step, range(3)), 0.0)
    return total, [v[0] + 1.0 for v in (s.step(k) for k in range(3))]


def failed_in_the_middle(x):
    s = Stepping(x)
    try:
        a = [s.step_below(2, k)[1] for k in range(3)]
    except KeyError:
        a = [s.step(1.0)[1]]
    return a, s.step(1.0) * 1.0


def collected_inside(x):
    """The inner ones have ended when the outer one goes on."""
    s = Stepping(x)

    def total(n):
        return sum([v[0] for v in [s.step(1.0) * 1.0 for _ in range(n)]])

    return [total(n) for n in (1, 2)], [[v * 1.0 for v in [s.step(n)]] for n in range(3)]


class Child:
    """Writes an array of its parent's, which all of them show."""

    def __init__(self, parent, k):
        self.parent, self.k = parent, k

    def push(self):
        self.parent.x[self.k] += 1.0
        return self


def collected_children(x):
    parent = Stepping(x)
    children = [Child(parent, k) for k in range(3)]
    a, b, c = [one.push() for one in children], list(one.push() for one in children), list(map(Child.push, children))  # noqa: C400
    return a[0].parent.x * 1.0, b[1].parent.x * 1.0, c[2].parent.x * 1.0


def taken_of_a_pipeline(x):
    def through(values):
        for v in values:  # noqa: UP028
            yield v

    s = Stepping(x)
    total = sum(map(lambda v: v * 2.0, map(s.step, range(3)))) + sum(through(s.step(k) for k in range(3)))
    return [v.copy() for v in through(filled(x))], total


def caught_in_a_handler(x):
    s, kept = Stepping(x), []
    try:
        return [s.step_below(1, k) for k in range(3)]
    except KeyError as error:
        kept.append(error)
        s.x[0] = -1.0
    return [s.step(k)[1] for k in range(2)], s.x * 1.0


def written_while_it_goes_through(x):
    p, q = x + 0.0, x + 1.0

    def f(v):
        q[0] += 9.0
        return v.sum()

    return p, [f(v) for v in (p, q)]


def written_while_a_generator_goes_through(x):
    p, q = x + 0.0, x + 1.0

    def f(v):
        q[0] += 9.0
        return v.sum()

    return sum(f(v) for v in (p, q))


def written_array_that_is_gone_through(x):
    y = x + 0.0

    def f(v):
        y[2] += 1.0
        return v

    return [f(v) + 0.0 for v in y]


def written_by_the_loop_of_a_generator(x):
    y, total = x + 0.0, 0.0
    for v in (abs(v) for v in y):
        y[2] += 7.0
        total += v
    return total


for function in (
    collected_copies, collected_objects, collected_of_several, taken_in_turn, failed_in_the_middle, collected_inside,
    collected_children, taken_of_a_pipeline, caught_in_a_handler,
):  # fmt: skip
    row(function, [X])

for function in (
    written_while_it_goes_through, written_while_a_generator_goes_through, written_array_that_is_gone_through,
):  # fmt: skip
    refused(function, [X])

row(written_by_the_loop_of_a_generator, [X], want="either")


def rings_that_are_given(x):
    """Lists and dicts that hold themselves, and an iterator that is its own, of a class of Python's."""

    class Own(map):
        def __iter__(self):
            return self

    ring, node = [x * 1.0], {"x": x * 2.0}
    ring.append(ring)
    node["next"] = node

    def each():
        yield ring
        yield node

    a, b = list(each())
    c = tuple(one for one in (ring, node) if len(one))
    return a[0] + b["x"] + c[0][0], list(map(lambda v: v * 2.0, Own(lambda v: v + 1.0, [x])))


def compressed_from_one_iterator(x):
    """The data is taken before the selector."""
    it = iter([5, 1, 0, 2])
    return x, list(itertools.compress(it, it))


row(rings_that_are_given, [X])
row(compressed_from_one_iterator, [X])


# ------------------------------------------------------------------ what a branch leaves in an attribute, and gives
def given_and_left(x):
    s = Stepping(x)
    a = s.step(1.0) if x[0] > 0.0 else x * 2.0
    s.step(2.0)
    return a, s.x


def returned_and_left(x):
    s = Stepping(x)

    def first():
        if x[0] > 0.0:
            s.x[0] = 9.0
            return s.x
        return x * 2.0

    a = first()
    s.x[0] = 7.0
    return a, s.x


def given_and_left_and_read_no_more(x):
    s = Stepping(x)
    a = s.step(1.0) if x[0] > 0.0 else x * 2.0
    total = a.sum()
    s.step(2.0)
    return total, s.x * 1.0


refused(given_and_left, [X])
refused(returned_and_left, [X])
row(given_and_left_and_read_no_more, [X], [-X])


# ------------------------------------------------------------------ names of comprehensions' variables
def variable_of_a_comprehension(x):
    def written(q):
        q[0] = 5.0

    v = x + 0.0
    t = [v if v > 0 else 0.0 for v in range(2)]
    written(v)
    return v, t


def variable_of_a_comprehension_in_a_branch(x):
    v = x + 0.0
    if x[0] > 0.0:
        t = sum([v if v > 0 else 0.0 for v in range(3)])
        v = v + t
    for i in range(3):
        u = [v for v in range(3) if v > 1]
        v = v * 2.0 + u[0] + i
    return v, {i: i for i in range(2) if i}


row(variable_of_a_comprehension, [X], want="either")
row(variable_of_a_comprehension_in_a_branch, [X], [-X])


def accumulated_from_a_pair(x):
    steps = itertools.accumulate([1.0, 2.0], lambda s, v: (s[0] + v, s[1] * v), initial=(x[0], x[1]))
    return list(steps)


row(accumulated_from_a_pair, [X])


# ------------------------------------------------------------------ what a `with` is given
class Added:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v

    def __exit__(self, *_):
        self.v[1] += 1.0


def manager_that_writes(x):
    b = x + 0.0
    with Added(b):
        b[2] = 9.0
    return b


def manager_of_a_variable_with_a_builtins_name(x):
    input = x + 0.0
    with Added(input):
        input[2] = 9.0
    return input


refused(manager_of_a_variable_with_a_builtins_name, [X])


def manager_that_gives_what_it_writes(x):
    with Added(x + 0.0) as a:
        a[2] = 9.0
    return a


def manager_around_a_branch(x):
    b = x + 0.0
    with Added(b):
        if b[0] > 0.0:
            b[2] = 9.0
    return b


def manager_on_a_stack(x):
    b, log = x + 0.0, []
    with contextlib.ExitStack() as stack:
        stack.callback(log.append, b)
        b[0] = 9.0
    return log


def generator_that_writes_behind_its_yield(x):
    @contextlib.contextmanager
    def lent():
        b = x + 0.0
        yield b
        b[1] += 9.0

    with lent() as a:
        a[0] = 3.0
    return a


for function in (
    manager_that_writes, manager_that_gives_what_it_writes, manager_around_a_branch, manager_on_a_stack,
    generator_that_writes_behind_its_yield,
):  # fmt: skip
    refused(function, [X])


def generator_that_has_done_with_it(x):
    @contextlib.contextmanager
    def lent():
        b = x + 0.0
        yield b

    with lent() as a:
        a[0] = 3.0
    return a


def generator_that_begins_with_its_yield(x):
    @contextlib.contextmanager
    def doubled(v):
        yield v * 2.0

    b = x + 0.0
    with doubled(b) as a:
        b[0] = 1.0
        a[1] = 5.0
    return a, b


class Lending:
    def __init__(self, v):
        self.v = v

    def __enter__(self):
        return self.v

    def __exit__(self, *_):
        pass


def manager_that_looks_at_nothing(x):
    with Lending(x + 0.0) as a, contextlib.nullcontext(x * 2.0) as b:
        a[2] = 9.0
        b[1] = a[2]
    return a, b


row(generator_that_begins_with_its_yield, [X])
row(manager_that_looks_at_nothing, [X])


def written_when_the_with_is_left(x):
    b = x + 0.0
    with Added(b * 2.0):
        b[0] = 9.0
    with contextlib.suppress(ValueError):
        b[1] = 7.0
    return b


row(generator_that_has_done_with_it, [X])
row(written_when_the_with_is_left, [X])


# ------------------------------------------------------------------ classes, functions, modules, globals
class Shared:
    buffer = None


KEPT = []
NAMED = {}
CONTEXT = contextvars.ContextVar("context")


def attribute_of_a_class(x):
    Shared.buffer = x
    x[0] = 9.0
    found, Shared.buffer = Shared.buffer, None
    return found


def attribute_of_a_function(x):
    def g():
        return g.b[0]

    g.b = x
    x[0] = 9.0
    return g()


def attribute_of_a_module(x):
    module = types.ModuleType("module")
    module.x = x
    x[0] = 9.0
    return module.x


def attribute_of_a_list(x):
    class Rows(list):
        pass

    rows = Rows([x * 2.0])
    rows.extra = x
    x[0] = 9.0
    return rows.extra


def global_list(x):
    KEPT.append(x)
    x[0] = 9.0
    return KEPT.pop()


def global_dict(x):
    NAMED["x"] = x
    x[0] = 9.0
    return NAMED.pop("x")


def bound_builtin(x, y):
    get = [x, y].__getitem__
    x[0] = 9.0
    return get(0)


def argument_of_an_exception(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        x[0] = 9.0
        return error.args[0]


def context_variable(x):
    CONTEXT.set(x)
    x[0] = 9.0
    found = CONTEXT.get()
    CONTEXT.set(None)
    return found


for function in (attribute_of_a_class, attribute_of_a_function, attribute_of_a_module, attribute_of_a_list, global_list,
                 global_dict, argument_of_an_exception, context_variable):  # fmt: skip
    row(function, [X], want="either")
row(bound_builtin, [X, Y], want="either")


# ------------------------------------------------------------------ views of what is no name
def view_of_one_of_two(x, y, c):
    a = (x if c > 0.0 else y)[1:]
    a[0] = 9.0
    return x, y


def view_of_an_or(x):
    a = (None or x)[1:]
    a[0] = 9.0
    return x


def view_of_a_walrus(x):
    a = (b := x)[1:]
    a[0] = 9.0
    return x, b


def rows_of_one_of_two(m, c):
    a, _, _ = m if c > 0.0 else m * 2.0
    a[0] = 9.0
    return m


row(view_of_one_of_two, [X, Y, 1.5], [X, Y, -1.5], want="either")
row(view_of_an_or, [X], want="either")
row(view_of_a_walrus, [X], want="either")
row(rows_of_one_of_two, [M, 1.5], [M, -1.5], want="either")


# ------------------------------------------------------------------ what a test writes that its branches read
def writing_test(x):
    def is_written(v):
        v[0] += 5.0
        return True

    return x[0] if is_written(x) else 0.0


def writing_test_of_lists(x):
    def is_written(v):
        v[0] += 5.0
        return v[1] > 0.0

    return [x] if is_written(x) else [x * 2.0]


row(writing_test, [X], want="either")
row(writing_test_of_lists, [X], want="either")


# ------------------------------------------------------------------ lists that staged loops and comprehensions make
def last_of_a_staged_loop(x, y):
    last = x * 1.0
    for v in ag.stage([x, y]):
        last = v
    y[0] = 9.0
    return last


def last_of_a_staged_loop_is_written(x, y):
    last = x * 1.0
    for v in ag.scan([x, y]):
        last = v
    last[0] = 9.0
    return y


def part_of_the_last_one(x, y):
    last = x[1:] * 1.0
    for v in ag.stage([x, y]):
        last = v[1:]
    y[1] = 99.0
    return last


def best_of_a_staged_loop(x, y):
    best = x * 1.0
    for v in ag.stage([x, y]):
        if v[0] > best[0]:
            best = v
    y[0] = 99.0
    return best


def list_of_those_that_are_positive(x, y):
    rows = [v for v in (x, y) if v[0] > 0.0]
    x[0] = 9.0
    return rows[0]


def one_of_those_that_are_positive(x, y):
    rows = [a for v in (x, y) if (a := v)[0] > 0.0]
    a[0] = 9.0
    return rows[1]


for function in (
    last_of_a_staged_loop, last_of_a_staged_loop_is_written, part_of_the_last_one, best_of_a_staged_loop,
    list_of_those_that_are_positive, one_of_those_that_are_positive,
):  # fmt: skip
    row(function, [X, Y], want="either")


@table.each_way
def test_unseen_holders(row, way, record_property):
    check(row, way, record_property)
