"""NumPy's arrays that JAX's stand for, that closures hold, that loops run over: NumPy's result, or an AliasError.

Each program is made anew for Python and for `ag.jit`: what it closes over is written.
"""

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


@pytest.mark.parametrize("argument", [1.5, -1.5])
@pytest.mark.parametrize("make", RIGHT + EITHER, ids=lambda make: make.__name__)
def test_as_in_numpy(make, argument):
    expected = make()(argument)
    try:
        found = ag.jit(make())(jnp.float32(argument))
    except (ag.AliasError, ag.ImmutableError) as error:
        assert make in EITHER, error
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-5)
