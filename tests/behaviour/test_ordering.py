"""What Python orders by comparing, and what it filters, where what is compared is traced: tuples, objects, heaps, takewhile."""

import bisect
import dataclasses
import functools
import heapq
import itertools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import StagingError

from .harness import Table, check

table = Table(__name__)
row = table.row

CALLS = [np.array([3.0, 1.0, 2.0])], [np.array([1.0, 2.0, 2.0])], [np.array([2.0, 2.0, 1.0])]


def nearest_with_its_place(v):
    return (
        min((abs(e - 1.9), i) for i, e in enumerate(v)),
        max([(e, i) for i, e in enumerate(v)]),
        min(zip(v, range(3), strict=True)),
    )


row(nearest_with_its_place, *CALLS, batch=True)


def greatest_by_a_tuple(v):
    return max(v, key=lambda e: (e % 2, -e)), min(((a, b) for a in v for b in v), key=lambda pair: (pair[1], pair[0]))


row(greatest_by_a_tuple, *CALLS, batch=True)


def known_names_before_arrays(v):
    parameters = {"w": v, "bias": 2 * v, "a": [v[0], 1]}
    heap = []
    for place in (2, 1):
        heapq.heappush(heap, (place, v * place))
    pairs = [(2, v), (1, 2 * v)]
    pairs.sort()
    return (
        [len(name) for name, _ in sorted(parameters.items())], {k: u for k, u in sorted(dict(b=v[0], a=v[1]).items())},
        heapq.heappop(heap)[1], pairs[0][1], min(pairs)[1], max((2, v), (1, 2 * v))[1],
    )  # fmt: skip


row(known_names_before_arrays, *CALLS, batch=True)


def variance_of_those_kept(v):
    kept = [e for e in v if e > 1.5]
    mean = sum(kept) / len(kept)
    large = [e for e in kept if e > 2.5]
    return (
        sum((e - mean) ** 2 for e in kept) / len(kept), [2 * e for e in kept][0],
        any(e > 2 for e in kept), all(e > 2 for e in kept),
        sum(large), len(large), sum(e for _, e in enumerate(kept)), sum(a * b for a, b in zip(kept, v, strict=False)),
        sum(map(lambda e: e + 1, kept)), sum(2 * e for e in filter(lambda e: e < 3, kept)), max(e * e for e in reversed(kept)),
    )  # fmt: skip


row(variance_of_those_kept, *CALLS, batch=True)


def best_of_those_kept(v):
    pairs = [(i, v[i]) for i in range(3) if v[i] > 1]
    place, value = min(pairs, key=lambda pair: abs(pair[1] - 1.9))
    pairs.sort(key=lambda pair: -pair[1])
    return (
        place, value, min((i for i in range(3) if v[i] < 2.5), key=lambda i: (v[i] - 1.2) ** 2), pairs[0],
        sorted(pairs, key=lambda pair: pair[0], reverse=True)[0], max((e for e in v if e > 9), key=abs, default=-1.0),
        sorted((e for e in v if e > 1), key=lambda e: -e)[0],
    )  # fmt: skip


row(best_of_those_kept, *CALLS, batch=True)


def shortest_paths(v):
    distance, done = [0.0] + [100.0] * 3, [False] * 4
    for _ in range(4):
        near = min((i for i in range(4) if not done[i]), key=lambda i: distance[i])
        done[near] = True
        for i in range(4):
            way = distance[near] + v[near % 3] * (i + 1)
            if not done[i] and way < distance[i]:
                distance[i] = way
    return distance


row(shortest_paths, *CALLS, batch=True)


def compared(first, second):
    return 1 if first == second else 0


def tuples_in_variables(v):
    path = [(v[0], 0), (v[1], 1)]
    first, second = path
    smaller = 1 if first < second else 2
    if path[0] < path[1]:
        smaller += 10
    return (
        compared((v[0], 0), (3.0, 0)), path[0] == path[1], smaller,
        operator.eq((v[0], 1), (v[1], 1)), operator.lt(first, second),
        list(itertools.accumulate(v, max)), list(itertools.accumulate(v, func=min)),
    )  # fmt: skip


row(tuples_in_variables, *CALLS, batch=True)


def greatest_of_nested_tuples(v):
    return max((v[0], (v[1], 2.0)), (v[0], (v[2], 1.0))), max([[v[0], v[1]], [v[1], v[2]]])[0], max([(v[0], 1)], default=None)


row(greatest_of_nested_tuples, *CALLS, batch=True)


def best_so_far(v):
    best = (-1.0, 7)
    for i, e in enumerate(v):
        best = max(best, (e, i), key=lambda pair: pair[0])
    return best


row(best_so_far, *CALLS, batch=True)


def sorted_in_place(v):
    values, by_key = list(v), [3.0, 1.0, 2.0]
    same = by_key
    values.sort()
    by_key.sort(key=lambda e: -e * v[0])
    by_key.sort(key=lambda e: e > 1.5, reverse=True)
    return values, same


row(sorted_in_place, *CALLS, batch=True)


def sorted_beside_names(v):
    pairs = [(e, name) for e, name in zip(v, "abc", strict=True)]
    pairs.sort(reverse=True)
    return [e for e, _ in pairs], [{"a": 1.0, "b": 2.0, "c": 4.0}[name] for _, name in pairs]


row(sorted_beside_names, *CALLS, batch=True)


def by_a_comparison(a, b):
    return -1 if a % 2 < b % 2 else 1 if a % 2 > b % 2 else 0


def sorted_by_a_comparison(v):
    key = functools.cmp_to_key(by_a_comparison)
    return sorted(v, key=key), sorted(v, key=key, reverse=True), min(v, key=key), max(v, key=key)


row(sorted_by_a_comparison, *CALLS, batch=True)


@functools.total_ordering
class Version:
    def __init__(self, number, tag):
        self.number, self.tag = number, tag

    def __lt__(self, other):
        return self.number < other.number

    def __eq__(self, other):
        return self.number == other.number


def sorted_objects(v):
    versions = [Version(e, i) for i, e in enumerate(v)]
    return [(one.number, one.tag) for order in (False, True) for one in sorted(versions, reverse=order)]


row(sorted_objects, *CALLS, batch=True)


@dataclasses.dataclass(order=True)
class Candidate:
    cost: float
    place: float
    note: str = dataclasses.field(default="", compare=False)


def compared_dataclasses(v):
    first, second = Candidate(v[0], v[1], "a"), Candidate(v[2], v[1], "b")
    best = min(first, second, Candidate(v[1], v[2]))
    known = Candidate(3.0, 1.0) in (first, second)
    return first < second, first >= second, first == second, first != second, known, best.cost, 1.0 if first <= best else 2.0


row(compared_dataclasses, *CALLS, batch=True)


def upwards_or_downwards(v):
    down = bool(v[0] > v[1])
    numbers = [2 * v[2], v[0], v[1]]
    pairs = sorted([(1, v[0]), (1, v[1]), (0, v[2])], key=lambda pair: pair[0], reverse=down)
    versions = [Version(e, i) for i, e in enumerate(v)]
    found = [(one.number, one.tag) for one in sorted(versions, reverse=down)]
    numbers.sort(reverse=down)
    return numbers, pairs, found, sorted(v, key=lambda e: -e, reverse=down)


row(upwards_or_downwards, *CALLS, batch=True)


def test_a_key_is_asked_once_for_each_element(capfd):
    def told(x):
        def key(pair):
            print("key", pair[0])
            return pair[0]

        return sorted([(2, x), (1, 2 * x)], key=key, reverse=x > 0)

    assert jax.tree.map(float, ag.jit(told)(1.0)) == [(2, 1), (1, 2)]
    jax.effects_barrier()
    assert capfd.readouterr().out == "key 2\nkey 1\n"


@dataclasses.dataclass
class Pair:
    first: float
    second: object


def objects_in_containers(v):
    one, other = Version(v[0], 1), Version(v[1], 2)
    nested = Pair(v[0], Pair(v[1], 3.0)) == Pair(3.0, Pair(v[2], 3.0))
    listed = [Candidate(v[0], 1.0), 2] == [Candidate(3.0, 1.0), 2]
    named = {"a": (one, 1)} != {"a": (other, 1)}
    if (Candidate(v[0], v[1]),) == (Candidate(v[0], v[2]),):
        return nested, listed, named, 1.0
    return nested, listed, named, 2.0


row(objects_in_containers, *CALLS, batch=True)


def order_by_a_heap(v):
    heap = []
    for i, e in enumerate(v):
        heapq.heappush(heap, (e, i))
    popped = [heapq.heappop(heap) for _ in range(len(heap))]
    values = list(v)
    heapq.heapify(values)
    return popped, values[0], heapq.heapreplace(values, 7.0), heapq.heappushpop(values, 0.5), heapq.heappop(values)


row(order_by_a_heap, *CALLS, batch=True)


def some_greatest(v):
    return heapq.nlargest(2, v), heapq.nsmallest(2, list(v)), heapq.nsmallest(1, v, key=lambda e: -e)


row(some_greatest, *CALLS, batch=True)


def place_in_a_list(v):
    table = [1.0, 2.0, 3.0]
    return (
        bisect.bisect_left(table, v[0]),
        bisect.bisect(table, v[2], 1),
        bisect.bisect_right(sorted(v), 2.0),
        bisect.bisect_left(range(10), v[0] * 2, key=lambda k: k * 1.5),
    )


row(place_in_a_list, *CALLS, batch=True)


def kept_in_order(v):
    before, behind = [], []
    for i, e in enumerate(v):
        bisect.insort_left(before, (e, i), key=lambda pair: pair[0])
        bisect.insort(behind, (e, i), key=lambda pair: pair[0])
    return before, behind


row(kept_in_order, *CALLS, batch=True)


def shortest_ways(v):
    """Dijkstra's."""
    far = 1e9
    ways = [[0.0, v[0], 10.0], [v[0], 0.0, v[1]], [10.0, v[1], 0.0]]
    distance = [0.0, far, far]
    heap = ag.max_len([(0.0, 0)], 20)
    while heap:
        d, node = heapq.heappop(heap)
        if d > distance[node]:
            continue
        for other in range(3):
            new = d + ways[node][other]
            if new < distance[other]:
                distance[other] = new
                heapq.heappush(heap, (new, other))
    return distance


row(shortest_ways, *CALLS, staged="loop", batch=True)


def while_it_holds(v):
    taken, dropped = list(itertools.takewhile(lambda e: e > 1.5, v)), list(itertools.dropwhile(lambda e: e > 1.5, v))
    least = sum(itertools.takewhile(lambda k: k * v[0] < 4, range(10)))
    return len(taken), sum(taken), len(dropped), sum(dropped), least


row(while_it_holds, *CALLS, batch=True)


def those_that_pass(v):
    rest = list(itertools.filterfalse(lambda e: e > 1.5, v))
    chosen = list(itertools.compress(v, [e > 1.5 for e in v]))
    return len(rest), sum(rest), len(chosen), sum(chosen)


row(those_that_pass, *CALLS, batch=True)


def sorted_where_a_part_is_known(v):
    by_rank = [e for _, e, _ in sorted([(2, v[0], "a"), (1, v[1], "b"), (2, v[2], "c")])]
    pairs = [("q", v[0]), ("p", v[1]), ("q", v[2])]
    pairs.sort(key=lambda pair: (pair[0], -pair[1]))
    return by_rank, [e for _, e in pairs], heapq.nsmallest(1, [("q", v[0]), ("p", v[1])])[0][1], len(heapq.nsmallest(-1, v))


row(sorted_where_a_part_is_known, *CALLS, batch=True)


def sorted_arrays_of_one(v):
    return [e[0] for e in sorted([v[0:1], v[1:2], v[2:3]])]


row(sorted_arrays_of_one, *CALLS, batch=True)


def written_after_a_sort(v):
    a, b = [v[0], 0.0], [v[1], 0.0]
    rows = [a, b]
    rows.sort(key=lambda r: r[0])
    rows[0][1] = 7.0
    return a, b


row(written_after_a_sort, *CALLS, want="error")


def inserted_in_a_part(v):
    values, key = [0.0, 1.5, 9.0, 2.5], functools.cmp_to_key(by_a_comparison)
    bisect.insort(values, v[0], 0, 3)
    return values, key(v[0]) <= key(v[1]), key(v[0]) == key(v[2])


row(inserted_in_a_part, *CALLS, batch=True)


def count_of_what_takewhile_asks(v):
    count = 0

    def below(e):
        nonlocal count
        count += 1
        return e < 2.5

    taken = sum(itertools.takewhile(below, v)), len(list(itertools.dropwhile(below, v)))
    return taken, count


row(count_of_what_takewhile_asks, *CALLS, batch=True)


def lookup(table: list[float], i):
    return table[i]


def element_of_a_declared_list(v):
    return lookup([5.0, 6.0, 7.0], jnp.argmax(v))


row(element_of_a_declared_list, *CALLS, batch=True)


@table.each_way
def test_ordering(row, way, record_property):
    check(row, way, record_property)


@ag.autograph
def rest_of_an_iterator(v):
    elements = iter(v)
    taken = list(itertools.takewhile(lambda e: e > 2, elements))
    return len(taken), list(elements)


def test_the_best_of_none_by_a_key():
    with pytest.raises(ValueError, match="min\\(\\) arg is an empty sequence"):
        ag.jit(lambda v: min((e for e in v if e > 10), key=abs))(jnp.arange(3.0))


@ag.autograph
def without_an_end(v):
    return sum(itertools.takewhile(lambda k: k * v[0] < 10, itertools.count()))


@pytest.mark.parametrize(
    ("program", "part"), [(rest_of_an_iterator, "may have left it early"), (without_an_end, "of more than 10000 elements")]
)
def test_what_takewhile_leaves_is_refused(program, part):
    with pytest.raises(StagingError, match=part):
        jax.jit(program)(jnp.array([3.0, 1.0, 2.0]))


def test_an_undeclared_list_is_refused_with_a_way_out():
    def look(table, i):
        return table[i]

    with pytest.raises(jax.errors.TracerIntegerConversionError) as caught:
        ag.jit(lambda v: look([5.0, 6.0, 7.0], jnp.argmax(v)))(jnp.array([3.0, 1.0, 2.0]))
    assert any("def f(table: list, i)" in note for note in caught.value.__notes__)
