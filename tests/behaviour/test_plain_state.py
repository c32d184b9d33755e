"""What is neither an array of JAX's nor a list: NumPy's arrays, bytes, text, iterators, written where traced data decides.

Each is written in a branch, in the other one, in a loop and by a helper: the result is Python's, or it is refused.
"""

import array
import collections
import contextvars
import dataclasses
import heapq
import io
import itertools
import operator
import random
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row
X = np.array([1.0, 2.0, 3.0])


def written(name, make, write, read):
    """The rows of one kind of state."""

    def in_a_branch(x):
        h = make()
        if x > 0:
            write(h)
        return read(h)

    def in_the_other_branch(x):
        h = make()
        if x > 0:
            x = x + 1
        else:
            write(h)
        return x, read(h)

    def in_a_loop(x):
        h, i = make(), 0
        while i < 1 and x > 0:
            write(h)
            i, x = i + 1, x - 5
        return x, read(h)

    def in_inner_function(x):
        h = make()

        def inner():
            write(h)

        if x > 0:
            inner()
        return read(h)

    for function in (in_a_branch, in_the_other_branch, in_a_loop, in_inner_function):
        row(function, [1.0], [-1.0], want="either", name=f"{name}_{function.__name__}")


def item(h):
    h[0] = 5.0


def item_of_a_row(h):
    h[0][0] = 5.0


def in_place(h):
    h += 5.0


def by_out(h):
    np.add(h, 5.0, out=h)


def by_at(h):
    np.add.at(h, 0, 5.0)


def by_flat(h):
    h.flat[0] = 5.0


zeros, square, first = lambda: np.zeros(2), lambda: np.zeros((2, 2)), lambda h: h[0] * 1.0
for name, make, write in [
    ("item", zeros, item),
    ("item_of_a_row", square, item_of_a_row),
    ("in_place", zeros, in_place),
    ("by_out", zeros, by_out),
    ("by_at", zeros, by_at),
    ("by_flat", zeros, by_flat),
    ("fill", zeros, lambda h: h.fill(5.0)),
    ("put", zeros, lambda h: np.put(h, 0, 5.0)),
    ("copyto", zeros, lambda h: np.copyto(h, 5.0)),
    ("fill_diagonal", square, lambda h: np.fill_diagonal(h, 5.0)),
    ("sort", lambda: np.array([2.0, 1.0]), lambda h: h.sort()),
    ("shuffle", lambda: np.arange(5.0), lambda h: np.random.default_rng(0).shuffle(h)),
    ("memory_of_an_array", zeros, lambda h: operator.setitem(memoryview(h), 0, 5.0)),
]:
    written(f"array_{name}", make, write, first)
written("array_resize", zeros, lambda h: h.resize(3, refcheck=False), len)
written("bytearray", lambda: bytearray(b"ab"), lambda h: h.append(3), len)
written("bytearray_item", lambda: bytearray(b"ab"), lambda h: operator.setitem(h, 0, 7), lambda h: h[0])
written("array_array", lambda: array.array("d", [1.0]), lambda h: h.append(2.0), len)
written("array_array_item", lambda: array.array("d", [1.0]), lambda h: operator.setitem(h, 0, 2.0), lambda h: h[0])
written("memoryview", lambda: memoryview(bytearray(4)), lambda h: operator.setitem(h, 0, 7), lambda h: h[0])
written("text", io.StringIO, lambda h: h.write("abc"), lambda h: len(h.getvalue()))
written("bytes", io.BytesIO, lambda h: h.write(b"abc"), lambda h: len(h.getvalue()))
written("context", lambda: contextvars.ContextVar("h", default=1.0), lambda h: h.set(2.0), lambda h: h.get())
pairs = lambda: {"a": 1.0, "b": 2.0}
written("order_of_a_dict", pairs, lambda h: h.update(a=h.pop("a")), lambda h: list(h.values()))
written("ordered_dict", lambda: collections.OrderedDict(pairs()), lambda h: h.move_to_end("a"), lambda h: list(h.values()))
written("counter", lambda: collections.Counter("a"), lambda h: h.update("ab"), lambda h: [h["a"], h["b"]])
written("default", lambda: collections.defaultdict(float), lambda h: h["a"], len)
written("deque", lambda: collections.deque([1.0, 2.0]), lambda h: h.rotate(1), list)
written("heap", lambda: [1.0, 3.0], lambda h: heapq.heappush(h, 0.5), len)
written("random_order", lambda: [1.0, 2.0, 3.0], lambda h: random.Random(3).shuffle(h), lambda h: h[0])
written("iterator", lambda: iter([1.0, 2.0]), next, next)
written("count", itertools.count, next, next)
written("set", lambda: {1.0}, lambda h: h.add(2.0), len)
written("attributes", lambda: types.SimpleNamespace(n=1.0), lambda h: vars(h).update(n=2.0), lambda h: h.n)


def a_variable(x):
    h = np.zeros(2)
    if x > 0:
        h[0] = 5.0
    return h


row(a_variable, [1.0], [-1.0])


def a_variable_and_its_other_name(x):
    h = np.zeros(2)
    k = h
    if x > 0:
        h[0] = 5.0
        h += 1.0
    return h + k


row(a_variable_and_its_other_name, [1.0], [-1.0])


def an_attribute_and_an_element(x):
    o, held = types.SimpleNamespace(h=np.zeros(2)), [np.zeros(2), np.ones(2)]
    if x > 0:
        o.h[0] = 5.0
        held[1][0] = 6.0
    return o.h, held


row(an_attribute_and_an_element, [1.0], [-1.0])


def what_the_branch_makes_for_itself(x):
    y = x
    if x > 0:
        h = np.zeros(2)
        h[0], h[1] = 2.0, 3.0
        h.fill(h.sum())
        y = x * h[0]
    return y


row(what_the_branch_makes_for_itself, [1.0], [-1.0])


def known_counts_in_a_staged_loop(x):
    h = np.zeros(3)
    for i in ag.stage(range(3)):
        h[1] += 2.0
        x = x + h[1] * i
    return x, h


row(known_counts_in_a_staged_loop, [1.0])


def a_row_of_it(x):
    h = np.zeros((2, 2))
    r = h[0]
    r[0] = x
    return h


row(a_row_of_it, [1.0], want="either")


def what_it_is_a_row_of(x):
    h = np.zeros((2, 2))
    r, flat = h.T, h.reshape(4)
    h[0] = x
    return r, flat


row(what_it_is_a_row_of, [1.0], want="either")


def each_row_of_it(x):
    h = np.zeros((2, 2))
    for r in h:
        r[0] = x
    return h


row(each_row_of_it, [1.0], want="either")


def beside_another_row(x):
    h = np.zeros((2, 3))
    left, right = h[:, 0], h[:, 2]
    del h
    left[0] = x
    right[1] = 2.0 * x
    return left, right


row(beside_another_row, [1.0])


def attributes_and_their_dict(x):
    o, p = types.SimpleNamespace(n=1.0, m=0.0), types.SimpleNamespace(n=3.0)
    if x > 0:
        o.n = 0.5
        vars(p)["n"] = x
    else:
        o.__dict__["n"] = 9.0
        o.m = vars(p)["n"]
    return o.n, o.m, p.n


row(attributes_and_their_dict, [1.0], [-1.0])


@dataclasses.dataclass
class Model:
    table: np.ndarray


def tables_stay_as_they_were(x):
    model = Model(X.copy())
    while x < 3:
        x = x + model.table[0]
    model.table[0] = 7.0
    return x, model.table


row(tables_stay_as_they_were, [1.0], [5.0])


# ------------------------------------------------------------------ NumPy's arrays of objects
def array_of_arrays(x):
    h = np.empty(2, object)
    h[0], h[1] = x, x * 2
    return h[0] + h[1], (h * 2).sum()


def array_of_arrays_written_in_a_branch(x):
    h = np.empty(2, object)
    h[0], h[1] = x, [x, x * 2]
    k = h
    if x[0] > 0:
        h[0] = x * 3
        h[1][0] = x * 7
    return h[0] + h[1][0] + k[0] + k[1][0]


def array_of_arrays_written_in_loops(x):
    h, i = np.empty(2, object), 0
    h[0], h[1] = x[0], x * 2
    for v in x:
        h[0] = h[0] + v
        h[1] = h[0] * x
    while i < 3 and x[i] > 0:
        h[0] = h[0] + x[i]
        i += 1
    return h[0] + h[1]


for function in (array_of_arrays, array_of_arrays_written_in_a_branch, array_of_arrays_written_in_loops):
    row(function, [X], [-X], grad=True)


@table.each_way
def test_plain_state(row, way, record_property):
    check(row, way, record_property)


def test_an_array_is_written_as_before_when_the_block_is_over():
    values, part = np.zeros(3), np.zeros(4)
    view, fixed = part[1:], np.zeros(2)
    fixed.flags.writeable = False

    @ag.jit
    def f(x):
        if x > 0:
            x = x + values[0] + view[0] + part[1] + fixed[0]
        return x

    f(1.0)
    values[0], view[0], part[0] = 1.0, 2.0, 3.0
    assert not fixed.flags.writeable
    assert values.tolist() == [1.0, 0.0, 0.0] and part.tolist() == [3.0, 2.0, 0.0, 0.0]


def test_the_refusal_names_the_line():
    values = np.zeros(3)

    @ag.jit
    def f(x):
        if x > 0:
            values.fill(1.0)
        return x

    with pytest.raises(ag.ImmutableError, match=r"an array of NumPy's is written in place[\s\S]*values.fill\(1.0\)"):
        f(1.0)
    assert not values.any() and values.flags.writeable


def test_arrays_of_other_libraries_are_left_as_they_are():
    """Memory that NumPy could not make writeable again."""
    values = np.asarray(jnp.ones(2))

    def f(x):
        if x > 0:
            x = x + values[0]
        return x

    assert jax.jit(ag.autograph(f))(1.0) == 2.0
    assert not values.flags.writeable
