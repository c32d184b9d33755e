"""NumPy's arrays that JAX's stand for, that closures hold, that loops run over: NumPy's result, or an AliasError.

Each program is made anew for Python and for `ag.jit`: what it closes over is written.
"""

import array
import collections
import functools
import gc
import operator
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

RIGHT, EITHER = [], []


def right(make):
    RIGHT.append(make)
    return make


def right_or_refused(make):
    EITHER.append(make)
    return make


# ------------------------------------------------------------------ tables in loops whose turns Python knows


@right
def integers_of_64_bits():
    table = np.arange(1, 41)

    def f(x):
        s = x * 0
        for i in range(40):
            s = s + (table[i] ** 7 % 11) * x
        return s

    return f


@right
def differences_of_large_numbers():
    table = np.linspace(1e6, 1e6 + 1, 50)

    def f(x):
        s = x * 0
        for i in range(49):
            s = s + (table[i + 1] - table[i]) ** 2 * x
        return s

    return f


@right
def class_of_an_element():
    table = np.linspace(0, 1, 50)

    def f(x):
        s = x * 0
        for i in range(40):
            s = s + (x if isinstance(table[i], float) else -x)
        return s

    return f


@right
def row_written_for_good():
    table = np.eye(50)

    def f(x):
        s = x * 0
        for i in range(50):
            row = table[i]
            row[0] += 1
            s = s + row[0] * x
        return s + table.sum()

    return f


def test_an_index_beyond_the_table_is_pythons_error():
    table = np.arange(50.0)

    def f(x):
        for i in range(60):
            x = x + table[i]
        return x

    with pytest.raises(IndexError):
        ag.jit(f)(1.0)


def test_tables_of_long_loops_are_looked_up_at_run_time():
    table = np.linspace(0, 1, 5000)

    def f(x):
        s = 0.0
        for i in range(5000):
            s = s + table[i] * x
        return s

    np.testing.assert_allclose(ag.jit(f)(2.0), f(2.0), rtol=1e-4)


class FromOne(np.ndarray):
    def __getitem__(self, index):
        return np.ndarray.__getitem__(self, index - 1)


@right
def class_that_indexes_otherwise():
    table = np.arange(50.0).view(FromOne)

    def f(x):
        s = x * 0
        for i in range(1, 41):
            s = s + table[i] * x
        return s

    return f


# ------------------------------------------------------------------ what closures and containers of the module hold

TREE = {"t": np.arange(12.0).reshape(4, 3)}


@right_or_refused
def captured_twice():
    tree = {"a": np.zeros(3)}
    other = tree["a"]

    def f(x):
        tree["a"][:] = x
        return x + other[0]

    return f


@right_or_refused
def captured_object_with_one_array_twice():
    class Box:
        pass

    box = Box()
    box.a = box.b = np.zeros(3)

    def f(x):
        box.a[1] = x
        return box.b[1] + x

    return f


@right
def captured_variable_that_is_written_itself():
    tree, buffer = {"a": np.zeros(3)}, np.zeros(3)

    def f(x):
        nonlocal buffer
        buffer[0] = x
        buffer[1] += x
        tree["a"][2] = x
        return buffer.sum() + tree["a"].sum()

    return f


@right_or_refused
def row_of_a_captured_table():
    table = np.zeros((4, 3))

    def f(x):
        k = (x > 0) * 1
        row = table[k]
        row[0] = x
        return table.sum() + x

    return f


def test_a_row_of_a_table_that_outlives_the_call():
    @ag.jit
    def f(k, x):
        row = TREE["t"][k]
        row[0] = x
        return row

    with pytest.raises(ag.AliasError, match="`TREE`"):
        f(2, 1.5)


# ------------------------------------------------------------------ Python's writes


def shown_by(write):
    def make():
        def f(x):
            a = np.zeros(3)
            b = a[:]
            if x > 0:
                a = a + x
            write(b)
            return a.sum() + x

        return f

    make.__name__ = write.__name__
    return make


def item(b):
    b[0] = 5


def filled(b):
    b.fill(5)


def copied(b):
    np.copyto(b, 5)


def added(b):
    np.add(b, 5, out=b)


for write in (item, filled, copied, added):
    right_or_refused(shown_by(write))


@right_or_refused
def work_array_that_was_best():
    def f(x):
        work, best = np.zeros(3), np.zeros(3)
        for i in range(3):
            work[0] = i
            if x > i:
                best = work
        work[1] = 9
        return best.sum() + x

    return f


@right
def written_by_python_alone():
    def f(x):
        a, b = np.zeros(3), np.zeros(3)
        if x > 0:
            a = a + x
        b.fill(5)
        b[0] = 1
        np.add(b, 1, out=b)
        return a.sum() + b.sum()

    return f


@right_or_refused
def element_that_a_variable_holds():
    def f(x):
        one = np.zeros(2)
        several = [one]
        if x > 0:
            several[0] += 1
        return one.sum() + x

    return f


@right_or_refused
def picked_of_a_list():
    def f(x):
        a, b = np.zeros(3), np.zeros(3)
        rows = [a, b]
        rows[(x > 0) * 1][0] = x
        return a.sum() + 2 * b.sum()

    return f


@right_or_refused
def picked_of_a_list_that_has_it_twice():
    def f(x):
        rows = [np.zeros(3)] * 2
        rows[(x > 0) * 1][0] = x
        return rows[0].sum() + 2 * rows[1].sum()

    return f


# ------------------------------------------------------------------ loops over an array that they write


@right
def read_anew_in_each_turn():
    def f(x):
        buffer, s, i = np.zeros(4), 0.0, 0
        for element in buffer:
            if i < 3:
                buffer[i + 1] = x
            s += element
            i += 1
        return s

    return f


@right
def enumerated_and_written():
    def f(x):
        buffer, s = np.arange(40.0), x
        for i, element in enumerate(buffer):
            if i < 39:
                buffer[i + 1] = 2.0
            s += element
        return s + buffer.sum()

    return f


@right
def written_before_a_break():
    def f(x):
        buffer, s = np.arange(4.0), x
        for element in buffer:
            if element > x:
                buffer[3] = s
                break
            s += element * x
        return s + buffer.sum()

    return f


# ------------------------------------------------------------------ constants of a program that Python writes later


def read_before_and_after(write, dtype=float):
    def make():
        def f(x):
            a = np.zeros(3, dtype)
            before, view = x + a, a[:2]
            seen = x * view
            write(a)
            after, of_view = x * a, x - view
            a[2] = 9
            return before.sum() + 10 * after.sum() + 100 * seen.sum() + 1000 * of_view.sum() + (x * a[2]) + 7 * (a * x).sum()

        return f

    return make


def item(a):
    a[0] = 1


def rows_of_it(a):
    a[:2][0] += 2


def filled(a):
    a.fill(4)


def out(a):
    np.add(a, 3, out=a)


def added(a):
    a += 5


def by_position(a):
    np.multiply(2.0, 3.0, a, casting="unsafe")


def by_flat(a):
    a.flat[1] = 8


def by_a_memoryview(a):
    memoryview(a)[0] = a.dtype.type(2)


def clipped(a):
    a.clip(2, 5, out=a)


def by_operator(a):
    operator.setitem(a, 0, 5)
    operator.iadd(a, 2)


def by_slots(a):
    a.__setitem__(0, 5)
    a.__iadd__(5)


def shuffled(a):
    a[1] = 7
    np.random.default_rng(0).shuffle(a)


def at(a):
    np.add.at(a, [0, 0], 3)


WRITES = (
    item, rows_of_it, filled, out, added, by_position, by_flat, by_a_memoryview, clipped, by_operator, by_slots, shuffled, at,
)  # fmt: skip
for _write in WRITES:
    for _dtype in (np.float64, np.float32, np.int32):
        _make = read_before_and_after(_write, _dtype)
        _make.__name__ = f"constant_{_write.__name__}_{_dtype.__name__}"
        right(_make)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
@pytest.mark.parametrize("copy", [jnp.asarray, jnp.array, jax.device_put], ids=["asarray", "array", "device_put"])
def test_a_copy_that_is_read_after_the_write(copy, dtype):
    def f(x):
        a = np.zeros(3, dtype)
        y = copy(a)
        a[0] = 5
        return y + x

    np.testing.assert_array_equal(ag.jit(f)(1.0), [1, 1, 1])


@right
def a_view_read_before_and_after():
    def f(x):
        a = np.zeros(4)
        view = a[1:3]
        before = view + x
        a[1] = 5
        after = (view + x).sum() if x > 0 else (view - x).sum()
        a[2] = 6
        again = (view + x).sum() if x > 0 else (view - x).sum()
        return before.sum() + 10 * after + 100 * again

    return f


@right
def a_view_that_a_function_holds():
    a = np.zeros(4)
    view = a[1:3]

    def g(y):
        return view * y + y

    def f(x):
        before = g(x)
        a[1] = 4
        return before.sum() + 10 * g(x).sum()

    return f


@right
def written_between_loops():
    def f(x):
        a, s, n = np.zeros(3), np.zeros(3), x * 2
        a[0] = 1
        while n > 0:
            s = s + x * a
            n -= 1
        a[0] = 2
        n = n + 2
        while n > 0:
            s = s + x * a
            n -= 1
        a[0] = 3
        return s.sum()

    return f


@right
def written_between_branches():
    def f(x):
        a = np.zeros(3)
        y = z = x
        for i in range(3):
            a[i] = i + 1
            if x > 0:
                y = y + (x * a).sum()
            else:
                z = z + (a - x).sum()
        return y + z

    return f


@right
def constant_of_a_function_inside():
    def f(x):
        a = np.zeros(3)

        def g(y):
            return (y * a).sum()

        u = (jax.jit(g) if isinstance(x, jax.Array) else g)(x)
        a[0] = 1
        v = (jax.jit(lambda y: g(y)) if isinstance(x, jax.Array) else g)(x)
        a[0] = 2
        return u + 10 * v

    return f


@right
def constant_of_a_linear_part():
    def f(x):
        a = np.ones(3, np.float32)

        def g(y):
            z = y * a
            a[0] += 4
            return (z * a).sum()

        if isinstance(x, jax.Array):
            return jax.grad(g)(x)
        return 2 * x * 0 + 1 * 5 + 2

    return f


# ------------------------------------------------------------------ two arrays that a loop exchanges


def exchanged(turn, before=None, keep=None):
    """A traced loop with two work arrays; `before` it something else may hold one of them, which `keep` looks at."""

    def make():
        def f(x):
            a, b, c = np.zeros(4), np.ones(4), np.full(4, 2.0)
            kept = before(a, b) if before else None
            n = abs(x) * 2
            while n > 0:
                a, b, c = turn(a, b, c, x, n)
                n = n - 1
            a[0] = 7.0
            b[0] += a[0]
            return a.sum() + 10 * b.sum() + 100 * c.sum() + (keep(kept) if keep else 0.0)

        return f

    return make


def swaps(a, b, c, x, n):
    b[1:] = a[:-1] * x + 1
    a, b = b, a
    return a, b, c


def rotates(a, b, c, x, n):
    c[1:] = a[:-1] + b[1:] * x
    a, b, c = c, a, b
    return a, b, c


def may_swap(a, b, c, x, n):
    b[0] = x + n
    if x > n - 1.2:
        a, b = b, a
    a[1] += 1
    return a, b, c


def copies_one(a, b, c, x, n):
    b[0] = x + n
    a, b, c = b, a, b
    a[1] = n
    return a, b, c


def swaps_and_gives_away(a, b, c, x, n):
    b[0] = x + n
    a, b = b, a
    c = a
    return a, b, c


TURNS = (swaps, rotates, may_swap, copies_one, swaps_and_gives_away)
HOLD = {
    "nobody": {},
    "held_by_a_variable": {"before": lambda a, b: a, "keep": lambda kept: 1000 * kept.sum()},
    "held_by_a_list": {"before": lambda a, b: [b], "keep": lambda kept: 1000 * kept[0].sum()},
    "seen_by_a_view": {"before": lambda a, b: b[1:3], "keep": lambda kept: 1000 * kept.sum()},
    "held_by_a_function": {"before": lambda a, b: lambda: a, "keep": lambda kept: 1000 * kept().sum()},
}
for _turn in TURNS:
    for _name, _how in HOLD.items():
        _make = exchanged(_turn, **_how)
        _make.__name__ = f"{_turn.__name__}_{_name}"
        (right if _turn in (swaps, rotates) and _name == "nobody" else right_or_refused)(_make)


@right
def two_buffers_of_a_stencil():
    def f(x):
        a, b, n = np.zeros(8), np.zeros(8), abs(x) * 3
        a[3] = 1
        while n > 0:
            b[1:-1] = a[1:-1] + 0.1 * x * (a[2:] - 2 * a[1:-1] + a[:-2])
            t = a
            a = b
            b = t
            n = n - 1
        return a.sum() + 10 * b[2]

    return f


def buffers_of_an_object(keep):
    def make():
        def f(x):
            box, n = types.SimpleNamespace(a=np.zeros(3), b=np.ones(3)), abs(x) * 2
            kept = keep(box)
            while n > 0:
                box.a[0] = box.b[1] + x
                box.a, box.b = box.b, box.a
                n = n - 1
            return box.a.sum() + 10 * box.b.sum() + 100 * kept().sum()

        return f

    return make


KEEPS = {
    "nobody": lambda box: lambda: np.ones(1),
    "variable": lambda box: lambda one=box.a: one,
    "view": lambda box: lambda part=box.b[1:]: part,
    "object": lambda box: lambda: box.a,
}
for _name, _keep in KEEPS.items():
    _make = buffers_of_an_object(_keep)
    _make.__name__ = f"buffers_of_an_object, {_name}"
    (right if _name == "nobody" else right_or_refused)(_make)


# ------------------------------------------------------------------ arrays deep in large containers


def deep(make_container, key, use):
    def make():
        container = make_container()

        def f(x):
            return use(container, key, x)

        return f

    return make


def of_list():
    return [np.zeros(3) for _ in range(5000)]


def of_dict():
    return {n: np.zeros(3) for n in range(5000)}


def of_nested():
    return {"rows": [[np.zeros(3)] for _ in range(1000)], "last": np.zeros(3)}


def fills_in_a_branch(container, key, x):
    if x > 0:
        container[key].fill(1.0)
    return x + container[key][0]


def writes_one_of_it(container, key, x):
    one = container[key]
    one[0] = x
    return container[key].sum()


for _container, _key in [(of_list, 4000), (of_dict, 4000), (of_nested, "last")]:
    for _use in (fills_in_a_branch, writes_one_of_it):
        _make = deep(_container, _key, _use)
        _make.__name__ = f"{_use.__name__}_{_container.__name__}"
        right_or_refused(_make)


@right_or_refused
def fills_one_of_a_large_table_of_the_module():
    TABLE[:] = [np.zeros(3) for _ in range(5000)]

    def f(x):
        if x > 0:
            TABLE[4500].fill(1.0)
        return x + TABLE[4500][0]

    return f


TABLE = []


# ------------------------------------------------------------------ what shows the memory of an array


def shown(look, read, write):
    def make():
        def f(x):
            array = np.zeros(3)
            seen = look(array)
            write(array, seen, x)
            return read(seen) + 10 * array.sum()

        return f

    return make


def writes_the_array(array, seen, x):
    array[0] = x


def writes_what_shows_it(array, seen, x):
    seen[0] = 5.0


def writes_in_a_branch(array, seen, x):
    if x > 0:
        seen[0] = 5.0


def writes_a_traced_value(array, seen, x):
    seen[0] = x


LOOKS = {"flat": lambda a: a.flat, "memoryview": memoryview, "data": lambda a: a.data}
for _name, _look in LOOKS.items():
    for _write in (writes_the_array, writes_what_shows_it, writes_in_a_branch, writes_a_traced_value):
        _make = shown(_look, lambda seen: seen[0], _write)
        _make.__name__ = f"{_name}_{_write.__name__}"
        right_or_refused(_make)


@right_or_refused
def seen_by_nditer():
    def f(x):
        array = np.zeros(3)
        elements = np.nditer(array)
        array[1] = x
        return sum(float(one) for one in elements) + array.sum()

    return f


def taken_one_by_one(iterator):
    def make():
        def f(x):
            buffer = np.zeros(3)
            elements = iterator(buffer)
            buffer[1] = x
            return sum(elements)

        return f

    return make


ITERATORS = {
    "generator": lambda b: (e for e in b),
    "iterator": iter,
    "map": lambda b: map(lambda e: e + 1, b),
    "zip": lambda b: (p * q for p, q in zip(b, b, strict=True)),
    "enumerate": lambda b: (i * e for i, e in enumerate(b)),
    "reversed": reversed,
    "filter": lambda b: filter(None, b),
}
for _name, _iterator in ITERATORS.items():
    _make = taken_one_by_one(_iterator)
    _make.__name__ = f"elements_by_{_name}"
    right_or_refused(_make)


# ------------------------------------------------------------------ arrays in the memory of a bytearray


def in_a_buffer(make_buffer, write):
    def make():
        buffer = make_buffer()
        array = np.frombuffer(buffer, np.float64)

        def f(x):
            y = x
            if x > 0:
                y = x + jnp.asarray(array)[0]
            write(buffer, x)
            for i in range(2):
                if x > i:
                    y = y + jnp.asarray(array)[i]
            return y + array[0]

        return f

    return make


def sets_an_item(buffer, x):
    buffer[-1] = buffer[7] = 64


def sets_a_slice(buffer, x):
    buffer[:8] = buffer[8:]


def writes_in_a_branch_of_it(buffer, x):
    if x > 0:
        buffer[7] = 64


def sets_a_number(buffer, x):
    buffer[0] = 3


def reverses(buffer, x):
    buffer[0] = 5
    buffer.reverse()


def of_numbers():
    return array.array("d", [1.0, 2.0])


def of_bytes():
    return bytearray(b"\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x40")


for _buffer, _write in [
    (of_bytes, sets_an_item),
    (of_bytes, sets_a_slice),
    (of_bytes, writes_in_a_branch_of_it),
    (of_bytes, reverses),
    (of_numbers, sets_a_number),
    (of_numbers, reverses),
    (of_numbers, lambda buffer, x: sets_a_number(buffer, x) if x > 0 else None),
]:
    _make = in_a_buffer(_buffer, _write)
    _make.__name__ = f"{_buffer.__name__}_{_write.__name__.strip('<>')}"
    right_or_refused(_make)


# ------------------------------------------------------------------ `y += v` of variables that are written no other way


@right_or_refused
def added_with_a_copy_of_the_variable():
    def f(x):
        y = np.zeros(3)
        z = y
        y += x
        return z.sum() + 2 * y.sum()

    return f


@right_or_refused
def added_with_an_array_that_stands_for_it():
    def f(x):
        b = np.zeros(3)
        a = b
        if x > 0:
            a = a + x
        b += 5
        return a.sum() + 2 * b.sum()

    return f


@right_or_refused
def added_in_a_function():
    def add(y, v):
        y += v

    def f(x):
        buffer = np.zeros(3)
        add(buffer, x)
        return buffer.sum()

    return f


@right_or_refused
def added_in_a_loop():
    def f(x):
        y = np.zeros(3)
        z, n = y, x
        while n < 5:
            y += x * x
            n = n + 1
        return z.sum() + 2 * y.sum()

    return f


@right_or_refused
def added_after_it_was_appended():
    def f(x):
        y, kept = np.zeros(3), []
        for _ in range(3):
            kept.append(y)
            y += x
        return sum(one.sum() for one in kept)

    return f


@right_or_refused
def added_to_a_row():
    def f(x):
        table = np.zeros((2, 3))
        row = table[0]
        row += x
        return table.sum()

    return f


@right_or_refused
def added_to_each_row():
    def f(x):
        table = np.zeros((2, 3))
        for row in table:
            row += x
        return table.sum()

    return f


@right_or_refused
def added_to_an_item_of_a_list():
    def f(x):
        o = np.zeros(2)
        rows = [o]
        rows[0] += x
        return o.sum()

    return f


@right_or_refused
def added_to_an_attribute():
    class Box:
        pass

    def f(x):
        o, box = np.zeros(2), Box()
        box.a = o
        box.a += x
        return o.sum()

    return f


HELD = {
    "getattr": lambda y: types.SimpleNamespace(a=y).a,
    "next": lambda y: next(iter([y])),
    "asarray": np.asarray,
    "transpose": np.transpose,
    "split": lambda y: np.split(y, 1)[0],
    "element of a tuple": lambda y: (y, 1)[0],
    "tuple, twice": lambda y: ((y,) * 2)[1],
    "comprehension": lambda y: [y for _ in range(2)][0],
    "default": lambda y: (lambda q=y: q)(),
    "partial": lambda y: functools.partial(lambda q: q, y)(),
    "get": lambda y: {"k": y}.get("k"),
    "deque": lambda y: collections.deque((y,))[0],
}


def added_to_what(hold):
    def make():
        def f(x):
            y = np.zeros(3)
            held = hold(y)
            y += x
            return y.sum() + 10 * held.sum()

        return f

    return make


def added_to_what_is_given(hold):
    def make():
        def f(x):
            held = np.zeros(3)
            y = hold(held)
            y += x
            return y.sum() + 10 * held.sum()

        return f

    return make


for _name, _hold in HELD.items():
    for _added in (added_to_what, added_to_what_is_given):
        _make = _added(_hold)
        _make.__name__ = f"{_added.__name__}, {_name}"
        right_or_refused(_make)


@right_or_refused
def added_in_a_loop_over_its_element():
    def f(x):
        o = [np.zeros(1)]
        y = o[0]
        while y < 1:
            y += abs(x)
        return o[0].sum()

    return f


@right_or_refused
def added_to_what_traced_data_picks():
    def f(x):
        rows = [np.zeros(3), np.ones(3)]
        y = rows[int(x > 0)]
        y += x
        return y.sum() + 10 * rows[0].sum() + 100 * rows[1].sum()

    return f


@right_or_refused
def written_that_traced_data_picks_by_an_expression():
    def f(x):
        rows = [np.zeros(3), np.ones(3)]
        y = rows[(x > 0) * 1]
        y[0] = x
        return y.sum() + 10 * rows[0].sum() + 100 * rows[1].sum()

    return f


@right_or_refused
def added_to_an_element_that_a_variable_takes_too():
    def f(x):
        rows = [np.zeros(3)]
        c = rows[0]
        rows[0] += x
        last = rows[-1]
        for i in range(1):
            rows[i] -= 3 * x
        return rows[0].sum() + 10 * c.sum() + 100 * last.sum()

    return f


@right
def added_where_nothing_else_has_it():
    def step(y, v):
        y += v
        return y

    def f(x):
        y = np.zeros(3)
        y = step(y, x)
        z = y * 2
        z += y
        n = x
        while n < 5:
            y += x * x
            n = n + 1
        return z.sum() + 2 * y.sum()

    return f


@pytest.mark.parametrize("argument", [1.5, -1.5])
@pytest.mark.parametrize("make", RIGHT + EITHER, ids=lambda make: make.__name__)
def test_as_in_numpy(make, argument):
    expected = make()(argument)
    try:
        found = ag.jit(make())(jnp.float32(argument))
    except ag.AutographError as error:
        assert make in EITHER, error
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_python_is_searched_for_constants_once(monkeypatch):
    """Each search is of all objects of the process: one in each turn took ten times as long as everything else."""
    searches = []
    look = gc.get_referrers
    monkeypatch.setattr(gc, "get_referrers", lambda *values: searches.append(len(values)) or look(*values))
    assert ag.jit(row_written_for_good())(1.5) == 176.5
    assert len(searches) < 5
