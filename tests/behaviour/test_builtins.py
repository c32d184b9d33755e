"""Builtins, functools, math and np on traced values."""

import cmath
import functools
import itertools
import math
import operator
import types
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([2.0, 1.0, 5.0])
MATRIX = np.array([[1.0, 4.0], [0.0, 1.0]])


# ------------------------------------------------------------------ these need no conversion
def length_and_absolute(v):
    return abs(v[1] - v[2]) / len(v)


row(length_and_absolute, [VECTOR], [-VECTOR], grad=True, batch=True)


def power_and_divmod(x, y):
    q, r = divmod(x, y)
    return pow(x, y), q, r


row(power_and_divmod, [7.0, 2.0], [9.5, 2.0], batch=True)


def sum_of_a_list(x, y):
    return sum([x, y, 1.0]) + sum((x, y), 10.0)


row(sum_of_a_list, [7.0, 2.0], [-7.0, 2.0], grad=True, batch=True)


def key_from_an_f_string(x):
    name = f"v{3}"
    d = {name: x}
    return d["v3"]


row(key_from_an_f_string, [-7.0], grad=True)


def method_of_an_array(m):
    s = 0.0
    for i in range(m.shape[0]):
        if m[i].sum() > 3:
            s = s + m[i].mean()
    return s


row(method_of_an_array, [MATRIX], [-MATRIX], staged="cond", grad=True, batch=True)


def attributes_of_an_array(m):
    if m.ndim == 2 and m.shape[0] == m.shape[1]:
        return m.T @ m * m.size
    return m


row(attributes_of_an_array, [MATRIX], [-MATRIX], grad=True, batch=True)


def isinstance_of_static(x, spec):
    if isinstance(spec, dict):
        return x * spec["scale"]
    if isinstance(spec, str):
        return x
    return x * spec


row(isinstance_of_static, [2.0, "none"], [2.0, 4.0], plain=[[2.0, {"scale": 3.0}]], static=[1], grad=True)


def sorted_keys(params):
    total = 0.0
    for weight, name in enumerate(sorted(params), 1):
        total = total + weight * params[name]
    return total


row(sorted_keys, [{"b": 2.0, "a": 3.0}], [{"b": -2.0, "a": 1.0}], grad=True, batch=True)


def min_of_static_numbers(v):
    n = min(len(v), 2)
    return jnp.sum(v[:n]) * max(1, n)


row(min_of_static_numbers, [VECTOR], [-VECTOR], grad=True, batch=True)


def getattr_and_hasattr(v):
    name = "mean" if hasattr(v, "mean") else "nothing"
    return getattr(v, name)()


row(getattr_and_hasattr, [VECTOR], [-VECTOR], grad=True, batch=True)


def zip_of_lists(x, y):
    total = 0.0
    for a, b in zip([x, y], [y, x], strict=True):
        if a > b:
            total = total + a
    return total


row(zip_of_lists, [7.0, 2.0], [1.0, 2.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ these decide on traced values
def smallest_and_largest(x, y):
    return min(x, y), max(x, y, 3.0)


row(smallest_and_largest, [2.0, 1.0], [5.0, 7.0], grad=True, batch=True)


def smallest_of_an_array(v):
    return min(v), max(v)


row(smallest_of_an_array, [VECTOR], [-VECTOR], grad=True, batch=True)


def largest_by_key(x, y):
    return max([x, y], key=lambda v: -v)


row(largest_by_key, [2.0, 1.0], [-5.0, 7.0], grad=True, batch=True)


def largest_with_a_default(v):
    return max(v, default=0.0) + max([], default=4.0)


row(largest_with_a_default, [VECTOR], [-VECTOR], batch=True)


def clamp_by_min_and_max(x, lo, hi):
    return max(lo, min(x, hi))


row(clamp_by_min_and_max, [0.5, 1.0, 2.0], [1.5, 1.0, 2.0], [9.0, 1.0, 2.0], grad=True, batch=True)


def step_size_by_min(v):
    h = 1.0
    for e in v:
        h = min(h, 1.0 / e)
    return h


row(step_size_by_min, [VECTOR], [VECTOR / 10], grad=True, batch=True)


def any_and_all(v):
    return any(v > 2), all(v > 2)


row(any_and_all, [VECTOR], [VECTOR * 3], [-VECTOR], batch=True)


def any_of_conditions(x, y):
    if any([x > 1, y > 1]):
        return x + y
    return 0.0


row(any_of_conditions, [2.0, 0.0], [0.0, 2.0], [0.0, 0.0], batch=True)


def all_of_a_generator(v):
    return all(e > 0 for e in v)


row(all_of_a_generator, [VECTOR], [-VECTOR], batch=True)


def conversions(x):
    return int(x), float(x) * 2, bool(x)


row(conversions, [2.7], [-2.7], [0.0], batch=True)


def bin_of_a_value(x):
    counts = jnp.zeros(5)
    counts[int(x)] += 1
    return counts


row(bin_of_a_value, [2.7], [0.1], batch=True)


def rounded_to_tens(x):
    n = int(x * 10)
    return round(n, -1), round(-n * 10, -2), round(n, 1), round(n)


row(rounded_to_tens, [2.5], [3.5], [-1.5], [4.49], batch=True)


def rounded(x):
    return round(x), round(x, 1)


row(rounded, [2.74], [-2.74], batch=True)


def sum_of_an_array(v):
    return sum(v)


row(sum_of_an_array, [VECTOR], [-VECTOR], grad=True, batch=True)


def sum_of_mapped(v):
    return sum(map(lambda e: e * 2 if e > 1 else e, v))


row(sum_of_mapped, [VECTOR * 1.1], [-VECTOR], staged="cond", grad=True, batch=True)


def reduced(v):
    return functools.reduce(lambda a, b: a if a > b else b, v)


row(reduced, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def filtered(v):
    return sum(filter(lambda e: e > 1, v))


row(filtered, [VECTOR], [-VECTOR], batch=True)


def sorted_array(v):
    low, *_, high = sorted(v)
    return low, high


row(sorted_array, [VECTOR], [-VECTOR], grad=True, batch=True)


def sorted_pair(x, y):
    a, b = sorted([x, y])
    return b - a


row(sorted_pair, [2.0, 1.0], [1.0, 2.0], grad=True, batch=True)


def sorted_by_key(v):
    return sorted(v, key=lambda e: -e)[0]


row(sorted_by_key, [VECTOR], [-VECTOR], batch=True)


def sorted_pairs(v):
    pairs = [(v[0], [v[1], 2.0]), (v[1], [v[0], 1.0]), (v[0], [v[0], v[0]])]
    return sorted(pairs), sorted(pairs, reverse=True), [pair for _, pair in sorted(zip(v, pairs, strict=True))]


row(sorted_pairs, [VECTOR], [-VECTOR], batch=True)


def isinstance_of_a_traced_value(x):
    if isinstance(x, float):
        return x * 2
    return x


row(isinstance_of_a_traced_value, [2], plain=[[2.0]])


def range_of_int(x):
    total = 0
    for i in range(int(x)):
        total += i
    return total


row(range_of_int, [4.7], [0.3], batch=True)


def enumerated_list_of_traced(x, y):
    best, where = x, 0
    for i, e in enumerate([x, y]):
        if e > best:
            best, where = e, i
    return where


row(enumerated_list_of_traced, [2.0, 1.0], [1.0, 2.0], staged="cond", batch=True)


def numpy_functions(v):
    return np.sqrt(v) + np.sum(v)


row(numpy_functions, [VECTOR], [VECTOR * 2], grad=True, batch=True)


def numpy_in_a_loop(v):
    total = np.zeros(3)
    for e in v:
        total = total + np.exp(-e) * np.ones(3)
    return total


row(numpy_in_a_loop, [VECTOR], [VECTOR / 2], batch=True)


def math_functions(x):
    if math.isnan(x):
        return 0.0
    return math.sqrt(x) * math.pi + math.exp(-x)


row(math_functions, [2.0], [0.5], grad=True, batch=True)


def math_of_integers(i, j):
    return math.pow(i, 2), math.pow(2, j), math.fmod(i, j), math.fabs(i), math.dist([i, 1], [j, 2.5])


row(math_of_integers, [3, 2], [-7, 2], [7, -3])


def remainders(x, y):
    return math.remainder(x, y), math.fmod(x, y), x % y


row(remainders, [2.5, 1.5], [5.0, 2.0], [7.0, 2.0], [-7.0, 2.0], [3.5, -2.0], [0.5, 4.0], batch=True)


def truth_by_functions(x, i):
    return (1 if operator.truth(x) else 2), (3 if operator.not_(i) else 4), operator.not_(x > 1)


row(truth_by_functions, [2.0, 0], [0.0, 3], batch=True)


def math_constants(x):
    if x > math.pi:
        return x - math.tau
    return x


row(math_constants, [4.0], [1.0], staged="cond", grad=True, batch=True)


def math_in_a_while_test(x):
    n = 0
    while not math.isclose(x, 1.0, abs_tol=0.1):
        x = math.sqrt(x)
        n += 1
    return n


row(math_in_a_while_test, [37.0], [1.05], batch=True)


# ------------------------------------------------------------------ any, all and next stop at the element that decides
def walrus_of_the_deciding_element(v):
    t = 0.0
    any((t := e) > 1.5 for e in v)
    return t


row(walrus_of_the_deciding_element, [VECTOR], [-VECTOR], [VECTOR[::-1]], batch=True)


def count_of_what_was_asked(v):
    count, log = 0, [0, 0]

    def test(e):
        nonlocal count
        count += 1
        log[0] += 1
        return e > 1.5

    first, every = any(test(e) for e in v), all(map(test, v))
    found = next((e for e in v if test(e)), -1.0), next(filter(test, v), 7.0)
    return count, log[0], first, every, found


row(count_of_what_was_asked, [VECTOR], [-VECTOR], [VECTOR[::-1]], [VECTOR + 1], batch=True)


def prints_of_what_was_asked(v):
    def test(e):
        print("asked")
        return e > 1.5

    return any(test(e) for e in v)


row(prints_of_what_was_asked, [VECTOR], [-VECTOR], [VECTOR[::-1]], prints=True)


def error_of_what_was_asked(v):
    def test(i):
        if i >= 2:
            raise ValueError("beyond")
        return v[i] > 1.5

    return any(test(i) for i in range(4))


row(error_of_what_was_asked, [VECTOR], [VECTOR[::-1]], [np.array([1.0, 3.0, 1.0])], plain=[[-VECTOR]], own_jit=True)


def error_behind_what_decides(v):
    def test(e):
        if e > 4.0:
            raise ValueError("too large")
        return e > 1.5

    return any(test(e) for e in v)


row(error_behind_what_decides, [VECTOR], [-VECTOR], plain=[[VECTOR[::-1]]], own_jit=True)


def sums_of_bools(v):
    some, first = any(e > 1.5 for e in v), not v[0] > 3
    if v[1] > 1:
        some = all(e > 0 for e in v)
    found = (v[0] in (2.0, 1.0)) + (v[1] in (2.0, 1.0)) + bool(v[2])
    return some + first, some - first, (some + first) / 2, found, -some, any(e > 1.5 for e in v) + any(e < 0 for e in v)


row(sums_of_bools, [VECTOR], [-VECTOR], [VECTOR[::-1]], batch=True)


# ------------------------------------------------------------------ ranges
def elements_of_a_range(n, k):
    r = range(n)
    return r[1], r[-1], r[k - 1], range(1, n + 5, 2)[1], range(n, 0, -1)[0], r[1:][0], len(r[::2]), len(r[-2:])


row(elements_of_a_range, [3, 2], [5, 4])


def what_a_range_says(n, k):
    r = range(n)
    found = [k in r, 7 not in r, 2.0 in r, 4 in range(1, n + 5, 2), bool(r), not r, r == range(3), r != range(3), r == range(n)]
    return found, (r.start, r.stop, r.step), r.count(k), isinstance(r, range), type(r) is range, 1 if r else 2


row(what_a_range_says, [3, 2], [5, 4], [0, 0], [2, 7])


def place_in_a_range(n, k):
    return range(1, n).index(k)


row(place_in_a_range, [5, 3], [5, 1])


def sum_over_a_slice_of_a_range(n, k):
    total = 0
    for i in range(n)[1:]:
        total = total + i * k
    for i in range(n)[::-2]:
        total = total * k + i
    return total


row(sum_over_a_slice_of_a_range, [5, 3], [2, 1], [0, 1], staged="loop")


def kept_elements_are_a_list(x):
    kept = [v for v in x if v > 2]
    return isinstance(kept, list), type(kept) is list, kept.__class__ is list, len(kept)


row(kept_elements_are_a_list, [np.array([1.0, 3.0, 4.0])], [np.array([1.0, 0.0, 2.0])])


# ------------------------------------------------------------------ whole numbers
def powers_in_a_modulus(n, k):
    return pow(n, 2, 5), pow(n, k * k, 1000), pow(3, k, -7), pow(n, 0, 1), pow(n, 12345, 997)


row(powers_in_a_modulus, [7, 3], [-3, 12], [0, 0], [12345, 1])


def power_of_a_large_modulus(n):
    return pow(n, 12345, 99991)


row(power_of_a_large_modulus, [7], [-123456], want="either")


def power_of_a_traced_modulus(n):
    return pow(3, n, n + 4)


row(power_of_a_traced_modulus, [7], want="either")


def power_of_a_negative_exponent(n):
    return pow(n, -1, 5)


row(power_of_a_negative_exponent, [7], want="either")


def factorials_and_roots(n, k):
    return math.factorial(n), math.isqrt(k), math.isqrt(k + 1), math.isqrt(n)


row(factorials_and_roots, [5, 24], [0, 2147395599], [12, 2147483646], [1, 99])


def combinations(n):
    return math.comb(n, 2), math.perm(6, n)


row(combinations, [5], [3], want="either")


# ------------------------------------------------------------------ iterators
def in_an_iterator(x, v):
    return (
        v in (k for k in x),
        v in map(lambda k: k * 2, x),
        v in iter(x),
        v not in (k + 1 for k in x if k > 1.5),
        v in reversed(x),
    )


row(in_an_iterator, [np.array([1.0, 2.0, 3.0]), 2.0], [np.array([1.0, 2.0, 3.0]), 5.0], [np.array([1.0, 2.0, 3.0]), 4.0])


def in_an_iterator_that_is_used_later(x, v):
    elements = (k for k in x)
    return v in elements, sum(elements)


row(in_an_iterator_that_is_used_later, [np.array([1.0, 2.0, 3.0]), 2.0], want="either")


def groups_of_traced_keys(x):
    total = 0.0
    for above, group in itertools.groupby(x, lambda v: v > 1.5):
        total = total * 2 + sum(group)
    return total


row(groups_of_traced_keys, [np.array([1.0, 2.0, 3.0])], want="either")


def groups_of_known_keys(x):
    return [sum(x[i] for i in group) for _, group in itertools.groupby(range(3), lambda i: i // 2)]


row(groups_of_known_keys, [np.array([1.0, 2.0, 3.0])], grad=True)


def one_of_two_iterators(x, y):
    chosen = iter(x) if x[0] > 0 else iter(y)
    return next(chosen)


row(
    one_of_two_iterators,
    [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
    [np.array([-1.0, 2.0]), np.array([3.0, 4.0])],
    want="either",
)


def one_of_two_slices(x, n):
    if x[0] > 0:
        part = slice(0, n)
    else:
        part = slice(0, n + 1)
    return sum([x[0], x[1], x[2]][part])


row(one_of_two_slices, [np.array([1.0, 2.0, 3.0]), 1], [np.array([-1.0, 2.0, 3.0]), 1], want="either")


def bools_and_arrays_of_one_name(v):
    positive = not v[0] <= 0
    total = positive + positive
    marked = v[:1] > 0
    marked = marked if v[1] > 0 else v[1:2] > 0
    both = any(e > 1.5 for e in v)
    both += any(e < 0 for e in v)
    return marked + marked, total, both


def bools_of_a_list_that_are_counted(v):
    flag, flags = any(e > 1.5 for e in v), []
    flags.append(flag)
    flag += any(e < 0 for e in v)
    return flag, flags[0]


row(bools_of_a_list_that_are_counted, [VECTOR], [-VECTOR], batch=True)
row(bools_and_arrays_of_one_name, [VECTOR], [-VECTOR], batch=True)


def of_whole_numbers(n, k):
    return max(3, n), min([n, 2, k]), max(n, k, 7), min(n, k)


row(of_whole_numbers, [3, 1], [-2, 9], batch=True)


def class_of_a_counter(x):
    for i in range(3):
        x = x + (1.0 if isinstance(i, int) else 100.0) + (type(i * 0.5) is float)
        match i:
            case int(n):
                x = x + n
    return x


row(class_of_a_counter, [2.0])


def new_keys_of_a_while(x):
    """Python knows when it ends; that a key may be missing is no reason to stage it."""
    table, pairs, i = {0: x}, {(0, "a"): x}, 0
    while i < 3:
        table[i + 1] = table[i] * 1.5
        pairs[i + 1, "a"] = pairs[i, "a"] * 2
        i += 1
    return table[3], pairs[3, "a"], len(table)


row(new_keys_of_a_while, [2.0])


@table.each_way
def test_builtins(row, way, record_property):
    check(row, way, record_property)


# ------------------------------------------------------------------ small types stay small, as where one is added to the next
def sums_in_own_type(v):
    return sum(v), sum([x for x in v if x > 5]), sum(v, v[0]), sum((2 * x for x in v), 1), sum(v, 0.5), sum(x > 5 for x in v)


def products_in_own_type(v):
    return math.prod(v), math.prod(v, start=v[1]), math.prod([v[0], v[1]], start=2)


@pytest.mark.parametrize("function", [sums_in_own_type, products_in_own_type])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "float16", "bfloat16", "float32"])
def test_of_small_types(function, dtype):
    v = jnp.array([200, 100, 7, 3]).astype(dtype)
    if dtype == "bfloat16":
        v = v / 32  # a sum within its digits
    wanted = function(v)
    for way in (ag.autograph(function), jax.jit(ag.autograph(function))):
        for one, other in zip(way(v), wanted, strict=True):
            assert jnp.asarray(one).dtype == jnp.asarray(other).dtype
            np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=1e-2)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32", "float32"])
def test_of_small_types_of_numpy(dtype):
    v = np.array([200, 100, 7, 3]).astype(dtype)
    with np.errstate(over="ignore"), warnings.catch_warnings(action="ignore"):
        wanted = sums_in_own_type(v)
    for one, other in zip(jax.jit(ag.port(sums_in_own_type))(v), wanted, strict=True):
        assert one.dtype == jnp.asarray(other).dtype
        np.testing.assert_allclose(one, other)


def sums_from_an_array(v):
    return sum(v, np.zeros(3)), sum(v > 5, np.zeros(2, np.int8)), math.prod(v, start=np.ones(2, np.float32)), math.fsum(v)


@pytest.mark.parametrize("dtype", ["int8", "float16"])
def test_sums_that_start_at_an_array(dtype):
    v = jnp.array([100, 100, 7]).astype(dtype)
    for got, wanted in zip(ag.jit(sums_from_an_array)(v), sums_from_an_array(np.asarray(v)), strict=True):
        np.testing.assert_allclose(got, wanted)


# ------------------------------------------------------------------ integers of Python, which have no size
def compared_with_a_number_beyond(v):
    best = -1
    for e in v:
        if e > 250:
            best = e
    return best, max(-1, v[0]), min(v[1], 300)


def one_path_gives_a_large_number(v):
    y = v[0]
    if v[1] > 1:
        y = 300
    values = [y, 1000]
    values[v[0] - v[0]] = 400
    return y, values[0], values[v[1] - v[1] + 1], v[0] if v[1] > 5 else -7


def counted_beyond_the_type(v):
    n = 0
    for e in v:
        if e > 0:
            n += 100
    return n if v[0] > 0 else v[1]


def powers_of_counts(v):
    n, total = 0, 0.0
    for e in v:
        if e > 1:
            n += 1
    for k in range(n + 2):
        total += 2**-k
    return 10**-n, total, 2**n, 3 ** (n + 1)


@pytest.mark.parametrize(
    "function", [compared_with_a_number_beyond, one_path_gives_a_large_number, counted_beyond_the_type, powers_of_counts]
)
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
@pytest.mark.parametrize("values", [[1, 2, 3], [3, 1, 0]])
def test_integers_of_python(function, dtype, values):
    v = jnp.array(values).astype(dtype)
    for got, wanted in zip(jax.tree.leaves(ag.jit(function)(v)), jax.tree.leaves(function(v)), strict=True):
        np.testing.assert_allclose(float(got), float(wanted), rtol=1e-6)


def power_of_a_variable(n):
    b = 2
    b **= n
    return b


def power_of_an_attribute(n):
    o = types.SimpleNamespace(v=2)
    o.v **= n
    return o.v


def power_of_an_element(n):
    values = [2]
    values[0] **= n
    return values[0]


NEGATIVE_POWERS = {
    "operator": lambda n: 2**n,
    "computed": lambda n: 2 ** (n + 1 - 1),
    "variable": power_of_a_variable,
    "attribute": power_of_an_attribute,
    "element": power_of_an_element,
    "pow": lambda n: pow(2, n),
    "module operator": lambda n: operator.pow(2, n),
    "map": lambda n: sum(map(pow, [2, 3], [n, n])) - 3**n,
}


@pytest.mark.parametrize("spelling", NEGATIVE_POWERS)
def test_an_integer_to_a_negative_power_that_is_not_written_so_is_refused_at_run_time(spelling):
    f = ag.jit(NEGATIVE_POWERS[spelling])
    assert f(3) == 8 and jnp.issubdtype(f(3).dtype, jnp.integer)
    with pytest.raises(ag.StagingError, match="negative power"):
        f(-1)


def in_lists_by_small_indices(i):
    table = [0] * 300
    table[i] = 1
    return table[43], table[200], table[299], list(range(300))[i]


def by_small_keys(i):
    return {1: 5.0, 200: 7.0, -1: 3.0, 100: 2.0}.get(int(i), 0.0)


@pytest.mark.parametrize("function", [in_lists_by_small_indices, by_small_keys])
@pytest.mark.parametrize("index", [jnp.int8(-1), jnp.uint8(200), jnp.int8(100), jnp.int16(-100), jnp.uint8(1)])
def test_indices_of_small_types(function, index):
    got, wanted = ag.jit(function)(index), function(int(index))
    assert [float(x) for x in jax.tree.leaves(got)] == [float(x) for x in jax.tree.leaves(wanted)]


def turns(a, b):
    n = total = 0
    for k in range(a, b, 16):
        n += 1
        total += k * k
    for k, x in enumerate([1, 2], start=a):
        total += k * x
    for k in reversed(range(a, b)):
        total -= k
    return n, total, len(range(b, a, -3))


@pytest.mark.parametrize(
    "bounds", [(jnp.uint8(5), jnp.uint8(3)), (jnp.int8(-100), jnp.int8(100)), (-100, jnp.int8(127)), (0, jnp.uint8(255))]
)
def test_ranges_of_small_types(bounds):
    assert [int(x) for x in ag.jit(turns)(*bounds)] == list(turns(*map(int, bounds)))


# ------------------------------------------------------------------ math's numbers are Python's: floats, integers without bound
def compare(function, *arguments, rtol=1e-5):
    """Converted under jit as in plain Python on the same values: values, signs of zeros, and what they adapt to."""
    wanted = jax.tree.leaves(function(*arguments))
    found = jax.tree.leaves(jax.jit(ag.autograph(function))(*arguments))
    assert len(found) == len(wanted)
    for got, want in zip(found, map(jnp.asarray, wanted), strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape
        for part in (np.real, np.imag):
            one, other = part(np.asarray(got, complex)), part(np.asarray(want, complex))
            np.testing.assert_allclose(one, other, rtol=rtol, atol=1e-6)
            np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def computed_in_a_small_type(v):
    total, difference, mixed, large = 0, 0, 5, 300
    for e in v:
        total = total + e
        difference = difference - e
        mixed = mixed * 33 + e
        if e > 50:
            large = e
    i, sought = 0, 0
    while i < len(v) and v[i] != 7:
        sought = sought + v[i]
        i += 1
    return total, difference, mixed, large + 0.5, sought


def of_what_is_left(v):
    kept = sum((e for e in v if e > 120), 1000), min((e for e in v if e > 120), default=1000)
    return [one + 0.5 for one in kept]


@pytest.mark.parametrize("function", [computed_in_a_small_type, of_what_is_left])
@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32"])
def test_a_number_of_pythons_takes_the_type_of_what_is_added(function, dtype):
    v = jnp.array([100, 100, 100, 3], dtype)
    for got, wanted in zip(jax.tree.leaves(ag.jit(function)(v)), jax.tree.leaves(function(v)), strict=True):
        assert float(got) == float(wanted)


INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("x", "y", "dtype"),
    [
        (50000, 1, "int32"), (12, 5, "int8"), (3, 4, "uint8"), (1e25, 1e25, "float32"), (1e-30, 1e-30, "float32"),
        (INF, NAN, "float32"), (NAN, -INF, "float32"), (NAN, 1, "float32"), (0, 0, "float32"), (300, 400, "float16"),
        (3e38, 1, "float32"), (INF, INF, "float32"),
    ],
)  # fmt: skip
def test_lengths(x, y, dtype):
    def lengths(x, y):
        return math.hypot(x, y), math.hypot(x), math.hypot(x, y, 2), math.dist([x, 0], [0, y])

    compare(lengths, *jnp.array([x, y], dtype), rtol=1e-3 if dtype == "float16" else 1e-6)


def test_derivatives_of_a_length():
    f = ag.autograph(lambda x, y: math.hypot(x, y) + math.dist([x, 1], [y, 2]))
    slope = 3 / 5 - 1 / math.sqrt(2)
    np.testing.assert_allclose(jax.grad(f)(3.0, 4.0), slope, rtol=1e-6)


@pytest.mark.parametrize(("x", "y"), [(-128, -128), (100, 99), (-12, 18), (0, 0), (0, -5), (127, -1)])
@pytest.mark.parametrize("dtype", ["int8", "int32"])
def test_divisors_and_multiples(x, y, dtype):
    def divided(x, y):
        return math.gcd(x, y), math.lcm(x, y), math.gcd(x), math.lcm(x), math.gcd(x, y, 4), math.lcm(x, 3, y), math.gcd(x, x)

    compare(divided, *jnp.array([x, y], dtype))


def test_the_smallest_integer_has_divisors():
    smallest = jnp.array(-(2**31), jnp.int32)
    assert int(jax.jit(ag.autograph(lambda x: math.gcd(x, 6)))(smallest)) == 2
    assert abs(int(jax.jit(ag.autograph(lambda x: math.gcd(x, x)))(smallest))) == 2**31


@pytest.mark.parametrize(
    ("x", "y", "dtype"),
    [
        (-128, 127, "int8"), (0, 1, "uint8"), (1, 0, "uint8"), (7, 7, "uint8"), (2**24, 2**24 + 1, "int32"),
        (-(2**31), 2**31 - 1, "int32"), (INF, INF, "float32"), (INF, 1, "float32"), (1, 1.0005, "float16"),
    ],
)  # fmt: skip
def test_closeness(x, y, dtype):
    def close(x, y):
        return math.isclose(x, y), math.isclose(x, y, abs_tol=0.5), math.isclose(x, y, rel_tol=0.9), cmath.isclose(x, y)

    compare(close, *jnp.array([x, y], dtype))


@pytest.mark.parametrize("name", "acos acosh asin asinh atan atanh cos exp sin sinh sqrt tan tanh log".split())
@pytest.mark.parametrize("z", [complex(-2, -0.0), complex(-2, 0.0), complex(0.5, -0.0), complex(2, -0.0), 1 + 2j, 1 - 2j])
def test_of_complex_numbers(name, z):
    function = getattr(cmath, name)
    wanted = function(z)
    np.testing.assert_allclose(ag.jit(lambda z: function(z))(jnp.asarray(np.complex64(z))), wanted, rtol=1e-5, atol=1e-6)


def test_complex_numbers_of_infinite_parts():
    compare(lambda x, y: (complex(x, y), complex(y, x), complex(x)), jnp.float32(0), jnp.float32(INF))
    compare(lambda z, y: complex(z, y), jnp.complex64(1 + 2j), jnp.float32(3))
    compare(lambda r, phi: cmath.rect(r, phi), jnp.float32(INF), jnp.float32(0))
    compare(lambda r, phi: cmath.rect(r, phi), jnp.float32(-2), jnp.float32(-0.0))
    compare(lambda x: (cmath.sqrt(x), cmath.acos(x) * jnp.float16(2)), jnp.int8(-1))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_math_computes_in_floats_of_python(dtype):
    def computed(x, k):
        floats = math.exp(x), math.gamma(x), math.sqrt(x) * k, math.sqrt(x) * x, math.frexp(x)[0] * x, math.copysign(x, -1)
        return *floats, math.floor(x), math.floor(x) + k, math.ceil(x) * x, math.trunc(float(x)) - k, math.isnan(x)

    compare(computed, jnp.array(7.5, dtype), jnp.uint8(250))


def test_exact_parts_of_floats():
    for x in (8192.0, 2.0**-20, 2.0**100, 3.0, 0.7):
        compare(lambda x: (math.log2(x), math.modf(x)), jnp.float32(x))
    for x in (INF, -INF, -2.0, -2.5, 0.0, -0.0, NAN):
        compare(lambda x: math.modf(x), jnp.float32(x))
    assert ag.jit(lambda x: int(math.log2(x)))(8192.0) == 13
    np.testing.assert_allclose(jax.grad(ag.autograph(lambda x: math.log2(x) + math.modf(x)[0]))(8.0), 1 / (8 * math.log(2)) + 1)


def test_exact_sums_of_what_is_made_one_by_one():
    def summed(v):
        return math.fsum(x * 2 for x in v), math.fsum([x for x in v if x > 1]), math.fsum(x for x in v if x > 1) * v[0]

    for dtype in ("float16", "uint8", "float32"):
        compare(summed, jnp.array([3, 1, 2], dtype))


def test_members_of_a_range():
    def found(x):
        return x in range(-100, 127, 7), x in range(1000), x in range(-1000, 1000, 500), x in range(96, -200, -8)

    for x in (jnp.int8(96), jnp.int8(-128), jnp.int8(-100), jnp.uint8(250), jnp.int32(500), jnp.float32(2.5), jnp.float32(96)):
        assert list(map(bool, ag.jit(found)(x))) == list(found(x.item()))  # an int8 is equal to 256 more
    ends = -(2**31), 2**31 - 1
    assert bool(ag.jit(lambda x: x in range(*ends, 7))(ends[1] - 3)) == (ends[1] - 3 in range(*ends, 7))


def test_what_is_iterated_and_what_is_not():
    def by_key(m):
        return max(m[0], m[1], key=lambda row: row[0]), min(m, key=lambda row: row[0])

    def reduced(m):
        return functools.reduce(lambda a, b: a + b, m, m), functools.reduce(lambda a, b: a + b, m)

    for function in (by_key, reduced):
        compare(function, jnp.array([[1.0, 2.0], [4.0, 3.0]]))
    cube = jnp.arange(8.0).reshape(2, 2, 2)
    compare(lambda c: max(c[0], c[1], key=lambda one: one.sum()), cube)


# ------------------------------------------------------------------ tables of NumPy's
TABLE, GRID = np.array([1.0, 2.0, 5.0]), np.arange(12.0).reshape(3, 4)
OF_TABLES = {
    "in": lambda i: i + 0.5 in TABLE or i in TABLE,
    "not in": lambda i: i not in np.array([1, 2]),
    "in a grid": lambda i: i * 6 in GRID,
    "list": lambda i: TABLE[[0, i]],
    "lists": lambda i: GRID[[0, i], [i, 1]] + GRID[[i]][0, 0],
    "list of lists": lambda i: TABLE[[[i, 0], [1, i]]],
}


@pytest.mark.parametrize("name", OF_TABLES)
def test_tables_of_numpys_and_traced_numbers(name):
    for i in range(3):
        np.testing.assert_array_equal(ag.jit(OF_TABLES[name])(i), OF_TABLES[name](i))


@pytest.mark.parametrize(
    "find", [lambda v: [3, 1, 2].index(v), lambda v: (3, 1, 2).index(v), lambda v: [u for u in [3, 1, v - 8] if u > 0].index(v)]
)
def test_what_is_said_of_a_value_that_is_not_there(find):
    assert ag.jit(find)(1) == 1
    with pytest.raises(ValueError) as expected:
        find(7)
    with pytest.raises(ValueError) as found:
        ag.jit(find)(7)
    assert str(found.value) == str(expected.value)
