"""range, enumerate, zip and reversed of traced values give what Python's own give."""

import builtins
import itertools
from typing import Any

import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph
from autograph_jax.errors import StagingError
from autograph_jax.operators.sequences import iterables

SIZE = 12


def elements(start, stop, step):
    """The elements of a range, one after the other, and how many they are."""
    found, count = np.zeros(SIZE, int), 0
    for i in range(start, stop, step):
        found[count] = i
        count += 1
    return found, count


def elements_reversed(start, stop, step):
    found, count = np.zeros(SIZE, int), 0
    for i in reversed(range(start, stop, step)):
        found[count] = i
        count += 1
    return found, count


def elements_numbered(start, stop, step):
    found, count = np.zeros(SIZE, int), 0
    for n, i in enumerate(range(start, stop, step), 3):
        found[count] = n * 100 + i
        count += 1
    return found, count


BOUNDS = [
    bounds for bounds in itertools.product([-3, 0, 2, 5], [-4, 0, 3, 6], [-3, -2, -1, 1, 2, 3]) if len(range(*bounds)) <= SIZE
]


def jit_with_static(function: Any, static: tuple[int, ...]) -> Any:
    """Of a function of its own: JAX takes `jit(f, static_argnums=0)(1, 2)` and `jit(f, static_argnums=1)(2, 1)` for one."""
    return jax.jit(lambda start, stop, step: autograph(function)(start, stop, step), static_argnums=static)


jitted = {
    (function, static): jit_with_static(function, static)
    for function in (elements, elements_reversed, elements_numbered)
    for static in ((), (2,), (0,), (0, 2), (1, 2))
}


@pytest.mark.parametrize("key", jitted, ids=lambda key: f"{key[0].__name__}-{key[1]}")
def test_range(key: Any):
    function, _ = key
    for bounds in BOUNDS[:: 1 if not key[1] else 7]:
        found, count = jitted[key](*bounds)
        expected, expected_count = function(*bounds)
        assert (found.tolist(), int(count)) == (expected.tolist(), expected_count), bounds


@hypothesis.given(st.integers(-8, 8), st.integers(-8, 8), st.integers(-4, 4).filter(bool))
def test_range_of_any_bounds(start: int, stop: int, step: int):
    hypothesis.assume(len(range(start, stop, step)) <= SIZE)
    found, count = jitted[elements, ()](start, stop, step)
    assert found.tolist()[: int(count)] == list(range(start, stop, step))


@pytest.mark.parametrize("static", [(2,), (), (0, 1, 2)], ids=str)
def test_a_step_of_zero_is_an_error(static: tuple[int, ...]):
    with pytest.raises(Exception, match="zero"):
        jax.block_until_ready(jit_with_static(elements, static)(0, 3, 0))


LENGTHS = {"one bound": (lambda n: range(n), 4), "two": (lambda n: range(1, n), 4), "none": (lambda n: range(n), -4)}


@pytest.mark.parametrize("name", LENGTHS)
def test_short_forms(name: str):
    make, n = LENGTHS[name]

    def last(n):
        total, seen = 0, -1
        for i in make(n):
            total, seen = total + i, i
        return total, seen

    assert [int(v) for v in jax.jit(autograph(last))(n)] == list(last(n))


def test_the_element_type_of_a_range_is_weak():
    """As a Python int: `x + i` keeps the type of x."""

    @autograph
    def f(x, n):
        for i in range(n):
            x = x + i
        return x

    assert jax.jit(f)(jnp.float16(1), 3).dtype == "float16"


# ------------------------------------------------------------------ zip, enumerate, reversed

x, y, m = np.arange(4.0), np.array([5, 6, 7]), np.arange(6.0).reshape(3, 2)
LOOPS = {
    "array": lambda x, y, m, n: [a for a in x],
    "rows": lambda x, y, m, n: [row.sum() for row in m],
    "enumerate": lambda x, y, m, n: [i * a for i, a in enumerate(x)],
    "enumerate from": lambda x, y, m, n: [i * a for i, a in enumerate(x, n)],
    "zip": lambda x, y, m, n: [a * b for a, b in zip(x, y, strict=False)],
    "zip of three": lambda x, y, m, n: [a * b + r[0] for a, b, r in zip(x, y, m, strict=False)],
    "zip of one": lambda x, y, m, n: [a for (a,) in zip(x, strict=False)],
    "zip with range": lambda x, y, m, n: [a * i for a, i in zip(x, range(2, 9), strict=False)],
    "zip with a list": lambda x, y, m, n: [a * i for a, i in zip(x, [1, 2], strict=False)],
    "reversed": lambda x, y, m, n: [a for a in reversed(x)],
    "enumerate of reversed": lambda x, y, m, n: [i * a for i, a in enumerate(reversed(x))],
    "enumerate of zip": lambda x, y, m, n: [i * a * b for i, (a, b) in enumerate(zip(x, y, strict=False), 1)],
    "zip of reversed": lambda x, y, m, n: [a * b for a, b in zip(reversed(y), x, strict=False)],
    "zip of zips": lambda x, y, m, n: [a + b * c for (a, b), c in zip(zip(x, y, strict=False), y, strict=False)],
    "strict zip": lambda x, y, m, n: [a * b for a, b in zip(y, y, strict=True)],
    "zip of nothing": lambda x, y, m, n: [1 for _ in zip()],
    "reversed range": lambda x, y, m, n: [i for i in reversed(range(4))],
    "dict items": lambda x, y, m, n: [v.sum() for k, v in {"x": x, "y": y}.items()],
    "an empty array": lambda x, y, m, n: [a for a in x[:0]],
}


@pytest.mark.parametrize("name", LOOPS)
def test_in_comprehensions(name: str):
    """Python iterates there, over the elements of the views."""
    expected = np.asarray(LOOPS[name](x, y, m, 3), float)
    found = jax.jit(autograph(LOOPS[name]))(x, y, m, 3)
    assert np.allclose(np.asarray(found, float), expected)


def total_of_zip(x, y, n):
    total, count = 0.0, 0
    for i, (a, b) in enumerate(zip(x, reversed(y))):  # noqa: B905
        total += a * b * (i + n)
        count += 1
    return total, count


def total_of_traced_range(x, y, n):
    total, count = 0.0, 0
    for i, (k, a) in enumerate(zip(range(n), x)):  # noqa: B905
        total += a * k + i
        count += 1
    return total, count


def total_of_two_ranges(x, y, n):
    total, count = 0, 0
    for i, k in zip(range(n), range(3, 0, -1)):  # noqa: B905
        total += i * k
        count += 1
    return total, count


def zip_of_traced_ranges(x, y, n):
    total, count = 0, 0
    for i, k in zip(range(n), range(2, n)):  # noqa: B905
        total += i * k
        count += 1
    return total, count


def enumerated_from_traced(x, y, n):
    total = 0.0
    for i, a in enumerate(x, n):
        total += a * i
    return total


def reversed_zip_of_traced_range(x, y, n):
    total = 0
    for i in reversed(range(n, 10, 2)):
        total = total * 10 + i
    return total


STAGED = [total_of_zip, total_of_traced_range, total_of_two_ranges, zip_of_traced_ranges, enumerated_from_traced]
STAGED += [reversed_zip_of_traced_range]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, -1])
@pytest.mark.parametrize("function", STAGED, ids=lambda f: f.__name__)
def test_staged(function: Any, n: int):
    expected = function(x, y, n)
    assert np.allclose(jax.jit(autograph(function))(x, y, n), expected)


# ------------------------------------------------------------------ as Python's own


def test_plain_arguments_give_pythons_own():
    assert iterables.range_(3) == range(3) and iterables.range_(np.int64(1), 5, 2) == range(1, 5, 2)
    assert type(iterables.enumerate_([1])) is enumerate and type(iterables.zip_([1], [2])) is zip
    assert list(iterables.reversed_([1, 2])) == [2, 1]
    assert type(iterables.zip_(jnp.arange(2), [1])) is zip, "outside of tracing Python loops as ever"
    assert list(iterables.enumerate_("ab", 1)) == [(1, "a"), (2, "b")]


REFUSED = [
    (lambda: range(1.5), TypeError),
    (lambda: range("a"), TypeError),
    (lambda: range(0, 3, 0), ValueError),
    (lambda: range(), TypeError),
    (lambda: range(1, 2, 3, 4), TypeError),
    (lambda: reversed(3), TypeError),
    (lambda: reversed({1}), TypeError),
    (lambda: enumerate(3), TypeError),
    (lambda: zip(3), TypeError),
    (lambda: list(zip([1], [], strict=True)), ValueError),
    (lambda: next(iter(range(0))), StopIteration),
]


@pytest.mark.parametrize(("function", "error"), REFUSED)
def test_errors_are_pythons(function: Any, error: type[Exception]):
    with pytest.raises(error) as expected:
        function()
    with pytest.raises(error) as caught:
        autograph(function)()
    assert str(caught.value) == str(expected.value)


@pytest.mark.parametrize("bound", [1.5, np.ones(2, int)], ids=["float", "array"])
def test_a_traced_bound_that_is_no_integer(bound: Any):
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        jax.jit(autograph(lambda n: [i for i in range(n)]))(bound)


def test_python_cannot_take_an_unknown_number_of_elements():
    for function in (lambda n: list(range(n)), lambda n: max(range(n)), lambda n: [i for i in range(n)]):
        with pytest.raises(StagingError, match="only known at run time"):
            jax.jit(autograph(function))(3)


def test_next_takes_one_element_after_the_other():
    @jax.jit
    @autograph
    def f(x):
        pairs = enumerate(x)
        first = next(pairs)
        return first, next(pairs), list(pairs)

    first, second, rest = f(x)
    assert [(int(i), float(a)) for i, a in [first, second, *rest]] == list(enumerate(x.tolist()))


def test_enumerate_and_zip_are_used_up_by_a_loop():
    def f(x):
        total, pairs = 0.0, enumerate(x)
        next(pairs)
        for i, a in pairs:
            total += i * a
        for i, a in pairs:
            total += 1000
        return total

    assert jax.jit(autograph(f))(x) == f(x)


def test_eager_gradient_gives_concrete_bounds():
    @autograph
    def f(x, n):
        for i in range(n):
            x = x * (i + 1)
        return x

    assert jax.grad(f)(2.0, jnp.int32(3)) == 6.0


def test_views_of_what_is_none():
    for value in ([1], "ab", {1: 2}, 3, np.float64(1), np.array("a"), iter([])):
        assert iterables.view(value) is None
    assert iterables.view(np.arange(3)).traced is False
    assert isinstance(iterables.view(builtins.range(3)), iterables.Range)
