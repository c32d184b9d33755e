"""Lists that grow in staged loops, lists of which only a bound is known, and explicit markers."""

import collections
import functools
import itertools
import operator
import types

import jax.numpy as jnp
import numpy as np

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])
MIXED = np.array([1.0, -2.0, 3.0, 0.5])

# ------------------------------------------------------------------ lists that grow by a fixed number of elements a turn


def inserted_before(v):
    out = [10.0]
    for e in v:
        out.insert(0, e * 2)
    return out


row(inserted_before, [VECTOR], [-VECTOR], staged="loop", batch=True)


def two_elements_a_turn(v):
    out = []
    for e in v:
        out.append(e)
        out.append(e * 10)
    return (jnp.stack(out), len(out))


row(two_elements_a_turn, [VECTOR], [-VECTOR], staged="loop", batch=True)


def extended_three_ways(v):
    out = []
    for e in v:
        out.extend([e, e * 3])
        out += [e]
    return out


row(extended_three_ways, [VECTOR], [-VECTOR], staged="loop", batch=True)


def a_tuple_grows(v):
    out = ()
    t = 0.0
    for e in v:
        t = t + e
        out = out + ((t, e),)
    return out


row(a_tuple_grows, [VECTOR], [-VECTOR], staged="loop", batch=True)


def a_list_concatenated_over_an_array(v):
    out = []
    for e in v:
        out = out + [e]
    return out


row(a_list_concatenated_over_an_array, [VECTOR], [-VECTOR], staged="loop", batch=True)


def reversed_in_each_turn(v):
    out = []
    for e in v:
        out.append(e)
        out.reverse()
    return out


row(reversed_in_each_turn, [VECTOR], [-VECTOR], batch=True)


def empty_at_first(v):
    out = []
    s = 0.0
    for e in v:
        if out:
            s = s + e
        out.append(e)
    return s


row(empty_at_first, [VECTOR], [-VECTOR], batch=True)


def its_length_read_in_the_loop(v):
    out = []
    s = 0.0
    for e in v:
        s = s + len(out) * e
        out.append(e)
    return s


row(its_length_read_in_the_loop, [VECTOR], [-VECTOR], batch=True)


def whether_it_is_empty_in_a_ternary(v):
    out = []
    s = 0.0
    for e in v:
        s = s + (1.0 if not out else e)
        out.append(e)
    return s


row(whether_it_is_empty_in_a_ternary, [VECTOR], [-VECTOR], batch=True)


def its_first_element_read_in_the_loop(v):
    out = [v[0]]
    for e in v:
        out.append(e + out[0])
    return out


row(its_first_element_read_in_the_loop, [VECTOR], [-VECTOR], batch=True)


def its_last_element_written_too(v):
    out = [v[0]]
    for e in v:
        out[-1] = out[-1] + e
        out.append(e)
    return out


row(its_last_element_written_too, [VECTOR], [-VECTOR], batch=True)


def copied_in_each_turn(v):
    out = []
    snap = None
    for e in v:
        out.append(e)
        snap = out.copy()
    return snap


row(copied_in_each_turn, [VECTOR], [-VECTOR], batch=True)


def read_from_the_end(v):
    out = [0.0, 1.0]
    k = 0.0
    for e in v:
        k = out[-2]
        out.append(e)
    return (k, out)


row(read_from_the_end, [VECTOR], [-VECTOR], staged="loop", batch=True)


# ------------------------------------------------------------------ what a turn finds out about the list that it makes longer


def counting(name, count):
    """A loop that asks each turn how many elements the list has by now, in a way of its own."""

    def f(v):
        out = []
        total = 0.0
        for e in v:
            total = total + e * count(out)
            out.append(total)
        return total

    f.__name__ = name
    row(f, [VECTOR], [-VECTOR])


def by_a_loop(out):
    n = 1
    for _ in out:
        n += 1
    return n


def by_numbers(out):
    n = 1
    for number, _ in enumerate(out):
        n += number
    return n


def of_the_last_two(out):
    n = 1
    for _ in zip(out[-2:], range(9), strict=False):
        n += 1
    return n


def whether_there_are_two(out):
    n = 1.0
    for _ in out:
        n += 1.0
    return 5.0 if n > 2 else 1.0


counting("counted_by_a_loop", by_a_loop)
counting("counted_by_enumerate", by_numbers)
counting("counted_in_a_slice", of_the_last_two)
counting("counted_up_to_two", whether_there_are_two)
counting("counted_by_a_generator", lambda out: sum(1 for _ in out))
counting("counted_by_a_comprehension", lambda out: [2 for _ in out] and 3 or 1)
counting("counted_backwards", lambda out: len(list(reversed(out))))
counting("counted_by_reduce", lambda out: functools.reduce(lambda n, _: n + 1, out, 1))
counting("counted_by_map", lambda out: sum(map(lambda _: 1, out)))
counting("counted_in_pairs", lambda out: len(list(itertools.pairwise(out))))
counting("counted_by_its_method", lambda out: out.__len__())
counting("counted_by_a_hint", lambda out: operator.length_hint(out))
counting("counted_in_a_deque", lambda out: len(collections.deque(out)))
counting("every_other_one", lambda out: 1.0 if sum(1 for _ in out) % 2 else 2.0)


def counted_in_a_tuple(v):
    out = ()
    for e in v:
        out = (*out, e * sum(1 for _ in out))
    return out


row(counted_in_a_tuple, [VECTOR])


def counted_in_a_dict(v):
    out = {"path": [], "other": []}
    for e in v:
        n = 1
        for _ in out["path"]:
            n += 1
        out["path"].append(e * n)
    return out


row(counted_in_a_dict, [VECTOR])


def asking(name, question):
    """A loop that asks what an element of the list is that an earlier turn has put there."""

    def f(v):
        out = [v[0], v[1], v[2], v[0], v[1], v[2]]
        first = out[0]
        total = 0.0
        for e in v:
            total = total + (1.0 if question(out, first, e) else 2.0) * e
            out.append(total)
        return total

    f.__name__ = name
    row(f, [VECTOR], [-VECTOR])


def matched(out, first, e):
    match out[0]:
        case jnp.ndarray() | np.generic():
            return True
        case _:
            return False


asking("is_it_the_first", lambda out, first, e: out[0] is first)
asking("is_it_not_the_first", lambda out, first, e: out[0] is not first)
asking("is_any_the_first", lambda out, first, e: any(q is first for q in out))
asking("is_any_the_first_by_map", lambda out, first, e: any(map(lambda q: q is first, out)))
asking("is_it_of_the_type_of_others", lambda out, first, e: type(out[0]) is type(e))
asking("is_it_of_the_class_of_others", lambda out, first, e: out[0].__class__ is type(e))
asking("is_it_callable", lambda out, first, e: callable(out[0]))
asking("has_it_its_id", lambda out, first, e: id(out[0]) == id(first))
asking("has_it_a_shape", lambda out, first, e: hasattr(out[0], "shape"))
asking("what_shape_has_it", lambda out, first, e: getattr(out[0], "shape", None) is None)
asking("is_it_an_array", lambda out, first, e: isinstance(out[0], jnp.ndarray | np.generic))
asking("does_it_match", matched)


# ------------------------------------------------------------------ elements that no array stands for


def making(name, make, change, read):
    """A loop that puts a new object into the list in each turn; afterwards one of them is changed, and all are read."""

    def f(v):
        out = []
        total = 0.0
        for e in v:
            total = total + e
            out.append(make(e))
        change(out[0])
        return (total, sum([read(one) for one in out]))

    f.__name__ = name
    row(f, [VECTOR], [-VECTOR])


class Empty:
    pass


class Layer:
    def __init__(self, weight):
        self.weight, self.tags = weight, set()


def counter():
    count = 0

    def step():
        nonlocal count
        count += 1
        return count

    return step


def set_mark(one):
    one.mark = 1


making("a_set_each", lambda e: set(), lambda one: one.add(1), len)
making("a_deque_each", lambda e: collections.deque(), lambda one: one.append(1), len)
making("a_namespace_each", lambda e: types.SimpleNamespace(), set_mark, lambda one: len(vars(one)))
making("an_empty_object_each", lambda e: Empty(), set_mark, lambda one: len(vars(one)))
making("a_counter_each", lambda e: counter(), lambda one: one(), lambda one: one())
making("a_bound_list_each", lambda e: functools.partial(len, []), lambda one: one.args[0].append(1), lambda one: one())
making("a_method_of_a_list_each", lambda e: [].append, lambda one: one(1), lambda one: len(one.__self__))
making("an_iterator_each", lambda e: iter([1, 2]), next, next)
making("a_generator_each", lambda e: (n for n in range(3)), next, next)
making("an_exception_each", lambda e: ValueError(), lambda one: one.add_note(""), lambda one: len(vars(one)))
making("a_random_generator_each", lambda e: np.random.default_rng(0), lambda one: one.random(), lambda one: one.random())
making("a_set_in_a_dict_each", lambda e: {"w": e, "tags": set()}, lambda one: one["tags"].add(1), lambda one: len(one["tags"]))
making("a_set_in_a_tuple_each", lambda e: (e, set()), lambda one: one[1].add(1), lambda one: len(one[1]))
making("a_set_in_a_list_each", lambda e: [set()], lambda one: one[0].add(1), lambda one: len(one[0]))
making("a_set_in_an_object_each", lambda e: Layer(e), lambda one: one.tags.add(1), lambda one: len(one.tags))


def one_object_for_all(v):
    tags = set()
    out = []
    for e in v:
        out.append((e, tags, abs, "name"))
    out[0][1].add(1)
    return [(e, len(each), f(e), name) for e, each, f, name in out]


row(one_object_for_all, [VECTOR], [-VECTOR], own_jit=True)


def grown_in_nested_loops(v):
    out = []
    for a in v:
        for b in v:
            out.append(a * b)
    return jnp.array(out)


row(grown_in_nested_loops, [VECTOR], [-VECTOR], staged="loop", batch=True)


def lists_in_a_list(v):
    out = []
    for a in v:
        r = []
        for b in v:
            r.append(a * b)
        out.append(r)
    return (jnp.array(out), out)


row(lists_in_a_list, [VECTOR], [-VECTOR], staged="loop", batch=True)


def lists_in_a_dict(v):
    h = {"a": [], "b": []}
    for e in v:
        h["a"].append(e)
        h["b"].append(e * e)
    return h


row(lists_in_a_dict, [VECTOR], [-VECTOR], staged="loop", batch=True)


def iterated_zipped_and_enumerated(v):
    d = []
    for e in v:
        d.append(e * 2)
    t = 0.0
    for e in d:
        t = t * 0.5 + e
    for i, e in enumerate(d):
        t = t * 0.5 + e * i
    for a, b in zip(d, v, strict=True):
        t = t * 0.5 + a * b
    return t


row(iterated_zipped_and_enumerated, [VECTOR], [-VECTOR], staged="loop", batch=True)


def popped_and_appended(v):
    st = [v[0], v[1]]
    for e in v:
        a = st.pop()
        st.append(a + e)
    return st


row(popped_and_appended, [VECTOR], [-VECTOR], staged="loop", batch=True)


def a_queue(v):
    q = [0.0, 0.0]
    for e in v:
        q.append(e)
        q.pop(0)
    return q


row(a_queue, [VECTOR], [-VECTOR], staged="loop", batch=True)


def popped_until_empty(v):
    q = [e for e in v]
    s = 0.0
    while q:
        s = s * 2 + q.pop()
    return s


row(popped_until_empty, [VECTOR], [-VECTOR], batch=True)


def fibonacci(v):
    f = [v[0], v[1]]
    for i in range(10):
        f.append(f[-1] + f[-2] * 0.5)
    return jnp.array(f)


row(fibonacci, [VECTOR], [-VECTOR], staged="loop", batch=True)


def under_two_names(v):
    a = []
    b = a
    for e in v:
        a.append(e)
        b.append(e * 2)
    return (a, b)


row(under_two_names, [VECTOR], [-VECTOR], staged="loop", batch=True)


def appended_in_both_branches(v):
    out = []
    for e in v:
        if e > 1.5:
            out.append(e)
        else:
            out.append(-e)
    return out


row(appended_in_both_branches, [VECTOR], [-VECTOR], staged="loop cond", batch=True)


def one_list_read_for_another(v):
    out = []
    o2 = []
    for e in v:
        out.append(e)
        o2.append(out[-1])
    return o2


row(one_list_read_for_another, [VECTOR], [-VECTOR], staged="loop", batch=True)


def an_array_is_put_in_and_written_again(v):
    out = []
    c = jnp.zeros(3)
    for i in range(3):
        c[i] = v[i]
        out.append(c)
    return out[0]


row(an_array_is_put_in_and_written_again, [VECTOR], want="either")


class History:
    def __init__(self):
        self.values = []

    def add(self, value):
        self.values.append(value * 2)


def in_an_object(v):
    history = History()
    for e in v:
        history.add(e)
    return jnp.stack(history.values)


row(in_an_object, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


# ------------------------------------------------------------------ what a comprehension keeps, traced data deciding


def sum_of_what_is_kept(v):
    return sum([e for e in v if e > 0.7])


row(sum_of_what_is_kept, [MIXED], [MIXED + 0.25])


def two_conditions(v):
    return sum(e * e for e in v if e > 0.7 if e < 2)


row(two_conditions, [MIXED], [MIXED + 0.25])


def any_and_all_of_what_is_kept(v):
    return (any(e > 2 for e in v if e < 3), all(e > 0 for e in v if e > -1), any(e > 2.5 for e in v if e > 0))


row(any_and_all_of_what_is_kept, [MIXED], [MIXED + 0.25])


def largest_and_smallest_kept(v):
    return (max(e for e in v if e < 2), min([e for e in v if e > 0]))


row(largest_and_smallest_kept, [MIXED], [MIXED + 0.25])


def how_many_are_kept(v):
    return len([e for e in v if e > 0.7])


row(how_many_are_kept, [MIXED], [MIXED + 0.25])


def first_of_what_is_kept(v):
    rest = (e for e in v if e < 0.7)
    return (next(e for e in v if e > 0.7), next((e * 2 for e in v if e > 2.9), -1.0), next(rest, 9.0))


row(first_of_what_is_kept, [MIXED], [MIXED + 0.25])


def loop_over_what_is_kept(v):
    t = 0.0
    for e in [e for e in v if e > 0]:
        t = t * 2 + e
    return t


row(loop_over_what_is_kept, [MIXED], [MIXED + 0.25])


def loop_over_a_generator_whose_condition_changes(v):
    t = 0.0
    m = 0.0
    for e in (e for e in v if e > m):
        t = t * 2 + e
        m = m + 1
    return t


row(loop_over_a_generator_whose_condition_changes, [MIXED], [MIXED + 0.25])


def indexed(v):
    return ([i for i in range(4) if v[i] > 0][-1], [e for e in v if e > 0][1])


row(indexed, [MIXED], [MIXED + 0.25])


def largest_kept_or_a_default(v):
    return max((e for e in v if e > 100), default=-1.0)


row(largest_kept_or_a_default, [MIXED], [MIXED + 0.25])


def guarded_by_the_condition(v):
    return (sum(1.0 / e for e in v if e != 0), sum(1 for e in v if e > 0))


row(guarded_by_the_condition, [MIXED], [MIXED + 0.25])


def sorted_and_filtered(v):
    return (sorted([e for e in v if e > 0])[0], sum(filter(lambda e: e > 0, v)), len(list(filter(lambda e: e > 0, v))))


row(sorted_and_filtered, [MIXED], [MIXED + 0.25])


def dict_with_a_condition(v):
    return {k: e for k, e in zip("abcd", v, strict=True) if k != "a"}


row(dict_with_a_condition, [MIXED], [MIXED + 0.25])


def in_what_is_kept(v):
    return (3.0 in [e for e in v if e > 0], 1.0 in [e for e in v if e > 2])


row(in_what_is_kept, [MIXED], [MIXED + 0.25])


def walrus_in_the_condition(v):
    return [y for e in v if (y := e) is not None]


row(walrus_in_the_condition, [MIXED], [MIXED + 0.25])


def kept_in_a_branch(v):
    r = 0.0
    if v[0] > 0:
        k = [e for e in v if e > 0]
        r = sum(k) + len(k)
    else:
        k = [e for e in v]
    return r


row(kept_in_a_branch, [MIXED], [MIXED + 0.25])


# ------------------------------------------------------------------ a bound


def looped_over_before_there_is_any(v):
    kept, total = ag.max_len([], 10), 0.0
    for e in v:
        for k in kept:
            total = total + 0.5 * k
        if e > 0:
            kept.append(e)
    return total, len(kept)


row(looped_over_before_there_is_any, [VECTOR], [MIXED], [-VECTOR], staged="loop", batch=True)


def appended_in_a_branch(v):
    kept = ag.max_len([], 10)
    for e in v:
        if e > 0.7:
            kept.append(e)
    return (len(kept), sum(kept), kept[0], kept[-1], kept.padded(-1.0))


row(appended_in_a_branch, [MIXED], [MIXED + 1.0])


def appended_in_a_while_loop(v):
    kept = ag.max_len([], 10)
    n = 0
    while sum(kept) < 5:
        kept.append(v[0] * n)
        n += 1
    return (len(kept), kept[2])


row(appended_in_a_while_loop, [MIXED], [MIXED + 1.0])


def appended_a_traced_number_of_times(x, n):
    out = ag.max_len([x], 10)
    for i in range(n):
        out.append(out[-1] * 0.5)
    return (out[-1], len(out), out.mask)


row(appended_a_traced_number_of_times, [3.0, 4], [3.0, 0])


def a_stack(v):
    st = ag.max_len([], 8)
    t = 0.0
    for e in v:
        if e > 0:
            st.append((e, 2 * e))
        else:
            a, b = st.pop()
            t = t + a + b
    return (t, len(st))


row(a_stack, [MIXED])


def more_than_the_bound(x, n):
    out = ag.max_len([x], 10)
    for i in range(n):
        out.append(out[-1] * 0.5)
    return out[-1]


row(more_than_the_bound, [3.0, 4], plain=[[3.0, 12]])


# ------------------------------------------------------------------ markers


def marked_scan(xs):
    total, ys = 0.0, []
    for x in ag.scan(xs):
        total = total + x
        ys.append((total, x))
    return total, ag.stack(ys)


row(marked_scan, [VECTOR], [-VECTOR], staged="loop", batch=True)


def marked_scan_of_a_dict(a, b):
    total = 0.0
    for x in ag.scan({"a": a, "b": b}):
        total = total * x["a"] + x["b"]
    return total


row(marked_scan_of_a_dict, [VECTOR, VECTOR + 1], [-VECTOR, VECTOR], staged="loop", grad=True, batch=True)


def marked_cond_and_while(x):
    if ag.cond(x > 0):
        x = x * 2
    while ag.while_(x < 10):
        x = x + 3
    return x


row(marked_cond_and_while, [2.0], [-2.0], staged="cond loop", batch=True)


def marked_stage_of_layers(x, a, b):
    for weight, bias in ag.stage([(a, b), (b, a), (a, a)]):
        x = weight * x + bias
    return x


row(marked_stage_of_layers, [2.0, 3.0, 4.0], [-2.0, 1.0, 0.5], staged="loop", grad=True, batch=True)


def marked_unroll(x):
    for k in ag.unroll(range(3)):
        x = x * k + 1.0
    return x


row(marked_unroll, [2.0], [-2.0], grad=True, batch=True)


def marked_scan_left_early(xs):
    total = 0.0
    for x in ag.scan(xs):
        if x > 1:
            break
        total = total + x
    return total


row(marked_scan_left_early, [VECTOR], want="either")


@table.each_way
def test_growing_lists(row, way, record_property):
    check(row, way, record_property)
