"""NumPy's arrays in traced code, under two names or held by something outside: NumPy's result, or a named error.

Each pattern runs as plain Python on NumPy's arrays, and converted, eagerly and under jit, on NumPy's and on JAX's.
"""

import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag


class Box:
    pass


class Shared:
    table = None


MODULE = types.ModuleType("tables")
TABLES, TREE, BOX = [], {}, Box()
zeros = np.zeros


@functools.lru_cache
def cached():
    return zeros(3)


def first():
    return TABLES[0]


def begin(make):
    """What the patterns find outside, made anew."""
    global zeros, captured, partial
    zeros = make
    TABLES[:], TREE["a"], BOX.table, Shared.table, MODULE.table = [make(3)], {"b": make(3)}, make(3), make(3), make(3)
    cached.cache_clear()
    hidden = make(3)
    captured = lambda: hidden  # noqa: E731 - a closure from elsewhere
    partial = functools.partial(lambda table: table, make(3))


def fill(table):
    table[0] = 1.0


def fill_where(table, x):
    if x > 0:
        table[0] = 1.0


PATTERNS, RIGHT = [], []


def pattern(function):
    PATTERNS.append(function)
    return function


def right(function):
    """A pattern that is not refused on NumPy's arrays."""
    RIGHT.append(function)
    return function


# ------------------------------------------------------------------ held by something of the module
@pattern
def in_a_list(x):
    table = TABLES[0]
    if x > 0:
        table[0] = 1.0
    return TABLES[0][0] + x


@pattern
def in_dicts(x):
    table = TREE["a"]["b"]
    if x > 0:
        table[0] = 1.0
    return TREE["a"]["b"][0] + x


@pattern
def in_an_object(x):
    table = BOX.table
    if x > 0:
        table[0] = 1.0
    return BOX.table[0] + x


@pattern
def in_a_class(x):
    table = Shared.table
    if x > 0:
        table[0] = 1.0
    return Shared.table[0] + x


@pattern
def in_the_class_of_an_object(x):
    shared = Shared()
    table = shared.table
    if x > 0:
        table[0] = 1.0
    return shared.table[0] + x


@pattern
def in_a_module(x):
    table = MODULE.table
    if x > 0:
        table[0] = 1.0
    return MODULE.table[0] + x


@pattern
def given_by_a_function(x):
    table = first()
    if x > 0:
        table[0] = 1.0
    return first()[0] + x


@pattern
def given_by_a_closure(x):
    table = captured()
    if x > 0:
        table[0] = 1.0
    return captured()[0] + x


@pattern
def given_by_a_partial(x):
    table = partial()
    if x > 0:
        table[0] = 1.0
    return partial()[0] + x


@pattern
def given_by_a_cache(x):
    table = cached()
    table[0] = x
    return cached()[0] + x


@pattern
def written_in_a_loop(x):
    table = TABLES[0]
    for i in range(3):
        if x > i:
            table[0] = 1.0
    return TABLES[0][0] + x


@pattern
def written_in_a_while_loop(x):
    table = BOX.table
    while table[0] < x:
        table[0] += 1.0
    return BOX.table[0] + x


@pattern
def written_by_a_function(x):
    fill_where(TABLES[0], x)
    return TABLES[0][0] + x


@pattern
def view_of_one_in_an_object(x):
    table = BOX.table[:2]
    if x > 0:
        table[0] = 1.0
    return BOX.table[0] + x


@right
def written_where_it_is(x):
    if x > 0:
        TABLES[0][0] = 1.0
    return TABLES[0][0] + x


@right
def read_before_only(x):
    table = TABLES[0].copy()
    if x > 0:
        table[0] = 1.0
    return table[0] + TABLES[0][0] + x


# ------------------------------------------------------------------ under two names
@right
def two_names_in_a_loop(x):
    a = zeros(3)
    b = a
    for i in range(3):
        if x > i:
            b[0] = 1.0
    return a[0] + x


@right
def two_names_in_a_while_loop(x):
    a = zeros(3)
    b = a
    n = 0.0
    while n < x:
        b[0] = 1.0
        n += 1
    return a[0] + x


@right
def two_names_in_a_branch(x):
    a = zeros(3)
    b = a
    if x > 0:
        b[0] = 1.0
    return a[0] + x


@pattern
def row_in_a_loop(x):
    a = zeros((2, 3))
    b = a[0]
    for i in range(3):
        if x > i:
            b[0] = 1.0
    return a[0, 0] + x


@pattern
def matrix_of_a_row_in_a_loop(x):
    a = zeros((2, 3))
    b = a[0]
    for i in range(3):
        if x > i:
            a[0, 0] = 1.0
    return b[0] + x


@pattern
def element_of_a_list_in_a_loop(x):
    several = [zeros(3)]
    a = several[0]
    for i in range(3):
        if x > i:
            a[0] = 1.0
    return several[0][0] + x


@pattern
def element_of_a_list_in_a_branch(x):
    several = [zeros(3)]
    a = several[0]
    if x > 0:
        a[0] = 1.0
    return several[0][0] + x


@pattern
def written_in_the_list(x):
    several = [zeros(3)]
    a = several[0]
    for i in range(3):
        if x > i:
            several[0][0] = 1.0
    return a[0] + x


@pattern
def attribute_in_a_loop(x):
    box = Box()
    box.a = zeros(3)
    b = box.a
    for i in range(3):
        if x > i:
            b[0] = 1.0
    return box.a[0] + x


@pattern
def tuple_in_a_loop(x):
    a = zeros(3)
    pair = a, 1
    for i in range(3):
        if x > i:
            a[0] = 1.0
    return pair[0][0] + x


@right
def closure_after_a_loop(x):
    a = zeros(3)

    def read():
        return a[0]

    for i in range(3):
        if x > i:
            a[0] = 1.0
    return read() + x


@pattern
def transposed_in_a_loop(x):
    a = zeros((2, 3))
    b = a.T
    for i in range(3):
        if x > i:
            b[i, 0] = 1.0
    return a[0, 0] + x


@pattern
def asarray_in_a_loop(x):
    a = zeros(3)
    b = np.asarray(a)
    for i in range(3):
        if x > i:
            b[0] = 1.0
    return a[0] + x


# ------------------------------------------------------------------ one of two, as traced data says
@pattern
def chosen_in_a_branch(x):
    a, b = zeros(3), zeros(3)
    if x > 0:
        c = a
    else:
        c = b
    c[0] = 1.0
    return a[0] + x


@pattern
def chosen_by_an_expression(x):
    a, b = zeros(3), zeros(3)
    c = a if x > 0 else b
    c[0] = 1.0
    return a[0] + x


@pattern
def chosen_in_a_loop(x):
    a, c = zeros(3), zeros(3)
    for i in range(3):
        if x > i:
            c = a
    c[0] = 1.0
    return a[0] + x


@pattern
def taken_in_the_turn_before(x):
    a, c = zeros(3), zeros(3)
    for i in range(3):
        if x > i:
            c[0] = 1.0
        c = a
    return a[0] + x


@pattern
def swapped_in_a_loop(x):
    a, b = zeros(3), zeros(3)
    c = a
    for i in range(2):
        a, b = b, a
        if x > i:
            b[0] = 1.0
    return c[0] + x


@right
def copied_in_each_turn(x):
    a, s = zeros(3), 0.0
    for i in range(3):
        b = a.copy()
        b[0] = x
        s += b[0] + i
    return a[0] + s


@right
def made_in_each_turn(x):
    s = 0.0
    for i in range(3):
        a = np.zeros(3)
        b = a
        b[0] = x + i
        s += a[0]
    return s


@pytest.mark.parametrize("argument", [2.5, -2.5])
@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("make", [np.zeros, jnp.zeros], ids=["numpy", "jax"])
@pytest.mark.parametrize("function", PATTERNS + RIGHT, ids=lambda function: function.__name__)
def test_writes_are_seen_or_refused(function, make, jitted, argument):
    begin(np.zeros)
    expected = function(argument)
    begin(make)
    converted = ag.autograph(function)
    try:
        found = (ag.jit(converted) if jitted else converted)(jnp.asarray(argument))
    except (ag.AliasError, ag.EscapedTracerError) as error:
        assert function in PATTERNS or make is not np.zeros, error
        assert function.__name__ in str(error) or "fill" in str(error)
    else:
        np.testing.assert_allclose(float(found), float(expected), rtol=1e-6)


def test_the_error_names_the_global():
    begin(np.zeros)
    with pytest.raises(ag.AliasError, match=r"`TABLES` \(.*, in in_a_list\) holds this array too, and is read later"):
        ag.jit(ag.autograph(in_a_list))(jnp.float32(1.0))


def test_nothing_is_left_outside():
    begin(np.zeros)
    with pytest.raises(ag.AliasError):
        ag.jit(ag.autograph(written_in_a_loop))(jnp.float32(1.0))
    np.testing.assert_array_equal(TABLES[0], np.zeros(3))
    TABLES[0][0] = 2.0  # it may be written again


@jax.jit
@ag.autograph
def unaffected(x):
    table = TABLES[0]
    return table[0] + x


def test_reading_is_never_refused():
    begin(np.zeros)
    assert float(unaffected(jnp.float32(1.0))) == 1.0


# ------------------------------------------------------------------ read at traced places
NODES = np.linspace(-1.0, 1.0, 40)
GRID = np.arange(12.0).reshape(3, 4)


def table_of_the_module(x):
    s = 0.0
    for i in range(40):
        s += NODES[i] * x
    return s


def table_of_the_function(x):
    weights = np.linspace(0.0, 1.0, 40)
    s = 0.0
    for i in range(40):
        s = s * x + weights[i]
    return s


def table_with_two_indices(x):
    s = 0.0
    for i in range(3):
        for j in range(4):
            s += GRID[i, j] * x**j
    return s


def row_and_column(x):
    s = 0.0
    for i in range(3):
        row, column = GRID[i], GRID[:, i]
        s += row[0] * x + column[2]
    return s


def table_of_counts(x):
    counts = np.array([3, 1, 2])
    s = 0.0
    for i in range(3):
        for _ in range(counts[i]):
            s += x
    return s


def tables_that_methods_and_arithmetic_give(x):
    grid, scaled = np.arange(12.0).reshape(3, 4), 2 * np.linspace(0, 1, 5)[::-1] + 1
    columns = grid.T
    s = 0.0
    for i in range(3):
        s += grid[i, 1] * x + columns[i].sum() + scaled[i + 1] * columns[i + 1, 2]
    return s


def element_of_an_attribute(x):
    box = Walker()
    while box.table[box.place, 0] * x < 3:
        box.place += 1
        if box.place > 1:
            break
    return box.table[box.place, 1] * x + box.table[box.place].sum()


class Walker:
    def __init__(self):
        self.table, self.place = np.arange(6.0).reshape(3, 2), 0


def element_that_traced_data_finds(x):
    k = 0
    while k < 39 and NODES[k] < x:
        k += 1
    return NODES[k] * x


LOOKUPS = [
    table_of_the_module, table_of_the_function, table_with_two_indices, row_and_column, table_of_counts,
    tables_that_methods_and_arithmetic_give, element_of_an_attribute, element_that_traced_data_finds,
]  # fmt: skip


FINDING = (element_of_an_attribute, element_that_traced_data_finds)
KNOWN = [f for f in LOOKUPS if f not in FINDING]  # Python runs them, and looks up what it knows


@pytest.mark.parametrize("function", LOOKUPS, ids=lambda function: function.__name__)
def test_elements_at_traced_places(function, x64):
    converted = ag.autograph(function)
    for argument in (0.5, -0.25):
        expected = function(argument)
        np.testing.assert_allclose(ag.jit(converted)(argument), expected, rtol=1e-12)
        slope = (function(argument + 1e-6) - expected) / 1e-6
        np.testing.assert_allclose(jax.grad(converted)(argument), slope, rtol=1e-3, atol=1e-6)
    program = str(jax.make_jaxpr(converted)(0.5))
    assert ("slice[" in program or "gather[" in program) == (function not in KNOWN), program  # are elements looked up there?


def test_a_row_at_a_traced_place_is_a_view():
    @ag.jit
    def written(k):
        grid = np.zeros((2, 3))
        row = grid[k]
        row[0] = 1.0
        return grid[k, 0]

    with pytest.raises(ag.AliasError, match="shares its memory"):
        written(1)


def by_a_mask(n):
    a = np.zeros(3)
    a[a > n] += 5
    return a


def by_a_mask_and_a_number(n):
    a = np.arange(6.0).reshape(2, 3)[::-1].copy()
    b = a
    a[a > n] *= n + 0.5
    return a, b


def by_a_slice(n):
    a = np.arange(5)
    a[n + 2 : n + 4] += 7
    return a


def by_a_place(n):
    a = np.arange(5.0)
    a[n] -= 7
    a[[0, n]] *= 3
    return a


@pytest.mark.parametrize("function", [by_a_mask, by_a_mask_and_a_number, by_a_slice, by_a_place], ids=lambda f: f.__name__)
def test_augmented_at_traced_places(function, x64):
    for n in (-1, 0, 1):
        jax.tree.map(np.testing.assert_array_equal, ag.jit(function)(n), function(n))
        if function is not by_a_slice:  # NumPy takes no array as a bound
            jax.tree.map(np.testing.assert_array_equal, ag.autograph(function)(jnp.asarray(n)), function(n))


def test_a_view_does_not_miss_what_a_traced_mask_adds():
    @ag.jit
    def written(n):
        grid = np.zeros((2, 3))
        row = grid[0]
        grid[grid > n] += 1.0
        return row

    with pytest.raises(ag.AliasError, match="would have to show the write"):
        written(-1)


# ------------------------------------------------------------------ written where traced data decides whether
def attribute_of_a_module(x):
    if x > 0:
        MODULE.table += 1.0
    return MODULE.table[0] + x


def attribute_of_an_object(x):
    if x > 0:
        BOX.table += 1.0
    return BOX.table[0] + x


def array_of_a_list(x):
    for i in range(3):
        if x > i:
            TABLES[0][i] = 1.0
    return TABLES[0][2] + x


def array_of_a_closure(x):
    if x > 0:
        captured()[0] = 1.0
    return captured()[0] + x


def by_a_method(x):
    if x > 0:
        TABLES[0].fill(1.0)
    return TABLES[0][0] + x


def by_a_method_on_a_view(x):
    if x > 0:
        BOX.table[1:].fill(1.0)
    return BOX.table[1] + x


def its_shape(x):
    if x > 0:
        BOX.table.shape = 3, 1
    return BOX.table.ndim + x


IN_BRANCHES = [
    attribute_of_a_module, attribute_of_an_object, array_of_a_list, array_of_a_closure, by_a_method, by_a_method_on_a_view,
    its_shape,
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:Setting the shape:DeprecationWarning")  # NumPy 2.5; older programs do it
@pytest.mark.parametrize("argument", [2.5, -2.5])
@pytest.mark.parametrize("function", IN_BRANCHES, ids=lambda function: function.__name__)
def test_writes_in_branches(function, argument):
    begin(np.zeros)
    expected = function(argument)
    begin(np.zeros)
    try:
        found = ag.jit(ag.autograph(function))(jnp.asarray(argument))
    except (ag.AliasError, ag.ImmutableError) as error:
        assert function in (array_of_a_closure, by_a_method, by_a_method_on_a_view, its_shape), error
    else:
        assert float(found) == float(expected)


def live_elements(a):
    seen = []
    for _, n in enumerate(a):
        seen.append(int(n))
        a[-1] = jnp.sum(a)
    for n in a:
        seen.append(int(n))
        a[0] += jnp.max(a)
    return seen, type(a) is np.ndarray


def test_writes_of_jax_arrays_where_nothing_is_traced():
    """NumPy takes them, and a loop over the array sees them."""
    assert ag.autograph(live_elements)(np.array([2, 1, 0])) == live_elements(np.array([2, 1, 0])) == ([2, 1, 6, 2, 1, 9], True)


def itself(value):
    return value


def part_of_a_remainder(a, i):
    d = itself(np.arange(5)) % 3
    a[1] -= d[i % 5]
    return a


def part_of_a_negative(a, i):
    d, e = -np.arange(5), -itself(np.arange(5)) // 2
    return a[0] + d[i] - e[i]


@pytest.mark.parametrize("function", [part_of_a_remainder, part_of_a_negative])
def test_elements_of_what_operators_make_of_them(function):
    want = function(np.array([3, 4, 5]), 4)
    np.testing.assert_array_equal(ag.jit(function)(jnp.array([3, 4, 5]), 4), want)


def test_an_array_that_is_gone_through_beside_one_of_jax_is_written():
    def f(n):
        a, seen = np.zeros(3, int), []
        for k, x in zip(a, jnp.array([0.5, 2.0, 1.25]), strict=True):
            a[k % 3] = k
            a[1] -= n
            seen.append(k)
        return a, seen

    (a, seen), (b, others) = f(28), ag.autograph(f)(28)
    np.testing.assert_array_equal(a, b)
    assert seen == others and all(type(one) is np.int64 for one in others)
