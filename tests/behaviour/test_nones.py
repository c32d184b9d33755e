"""What is None until something is found: used as a number, an index or a bound, with Python's error where it is still None."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row
MIXED, NEGATIVE = np.array([1.0, -2.0, 3.0]), np.array([-3.0, -1.0, -2.0])


# None is ruled out by a test, or by how a loop ends


def find(x):
    for i in range(5):
        if x * i > 4:
            return i
    return None


def raised_where_there_is_none(x):
    y = find(x)
    if y is None:
        raise ValueError("not found")
    return y * 10


def asserted(x):
    y = find(x)
    assert y is not None
    return y * 10 - y


def needed(value):
    if value is None:
        raise ValueError("nothing")
    return value


def asked_by_a_helper(x):
    return needed(find(x)) + 1


def found_at_the_break(x):
    r = None
    while True:
        x = x * 1.5
        if x > 20:
            r = x
            break
    return r * 2


def while_there_is_none(x):
    r = None
    while r is None:
        x = x * 1.5
        if x > 20:
            r = x
    return r * 2


def else_raises(x):
    r = None
    for _ in range(30):
        x = x * 1.5
        if x > 20:
            r = x
            break
    else:
        raise ValueError("too small")
    return r * 2


def pair_of_what_is_found(x):
    r = None
    for i in range(5):
        if x * i > 4:
            r = i, x * i
    if r is None:
        raise ValueError("not found")
    i, value = r
    return i + value


for program in (raised_where_there_is_none, asserted, asked_by_a_helper, else_raises, pair_of_what_is_found):
    row(program, [3.0], [1.5], staged="loop", batch=True)
for program in (found_at_the_break, while_there_is_none):
    row(program, [3.0], [1.5], staged="loop", batch=True, grad=True)


# An index


def index_of_the_best(xs):
    best = index = None
    for i, x in enumerate(xs):
        if best is None or x > best:
            best, index = x, i
    return xs[index] + index


def index_that_next_gives(xs):
    i = next((k for k, v in enumerate(xs) if v > -1.5), None)
    return xs[i] + i


def bound_of_a_range(xs):
    last = None
    for i, x in enumerate(xs):
        if x > -1.5:
            last = i
    total = 0.0
    for k in range(last):
        total += xs[k]
    return total


def index_of_a_list(xs):
    names, last = [10.0, 20.0, 30.0], None
    for i, x in enumerate(xs):
        if x > -1.5:
            last = i
    return names[last]


def index_written(xs):
    last = None
    for i, x in enumerate(xs):
        if x > -1.5:
            last = i
    ys = xs * 2
    ys[last] = 7.0
    ys[last] += last
    return ys


def index_of_a_row(xs):
    last = None
    for i, x in enumerate(xs):
        if x > -1.5:
            last = i
    m = jnp.outer(jnp.arange(3.0), xs)
    return m[last, 0] + m[0, last] + m[last].sum()


row(index_that_next_gives, [MIXED], [NEGATIVE], batch=True)
for program in (
    index_of_the_best,
    bound_of_a_range,
    index_of_a_list,
    index_written,
    index_of_a_row,
):
    row(program, [MIXED], [NEGATIVE], staged="loop", batch=True)


@table.each_way
def test_nones(row, way, record_property):
    check(row, way, record_property)


def only_where_positive(x):
    y = None
    if x > 0:
        y = x
    return y


USES = {
    "number": lambda x: only_where_positive(x) * 2,
    "right operand": lambda x: 1 - only_where_positive(x),
    "order": lambda x: only_where_positive(x) < 3,
    "rounded": lambda x: round(only_where_positive(x)),
    "divided": lambda x: divmod(only_where_positive(x), 2)[1] + divmod(5, only_where_positive(x))[0],
    "called": lambda x: (math.floor if only_where_positive(x) is not None else None)(x + 0.5),
    "length": lambda x: len((x, x) if only_where_positive(x) is not None else None),
    "unpacked": lambda x: sum(part for part in ((x, x) if only_where_positive(x) is not None else None)),
    "list": lambda x: [1.0, 2.0, 3.0][only_where_positive(x)],
}


@pytest.mark.parametrize("use", USES)
def test_none_is_pythons_error(use):
    f = ag.jit(USES[use])
    assert f(2) == USES[use](2)
    for function in (USES[use], f):
        with pytest.raises(TypeError):
            function(-2)
    with pytest.raises((TypeError, jax.errors.JaxRuntimeError)):
        jax.block_until_ready(jax.jit(ag.autograph(USES[use]))(-2))


def test_an_error_of_the_program_comes_before():
    for function, error in ((raised_where_there_is_none, ValueError), (asserted, AssertionError), (else_raises, ValueError)):
        with pytest.raises(error):
            ag.jit(function)(0.0)


def test_an_array_is_not_compared_with_one_of_both():
    with pytest.raises(ag.ChoiceError, match="which of an array is one too"):
        ag.jit(lambda x: jnp.arange(3) == only_where_positive(x))(1)


def test_a_bound_that_may_be_none_is_refused():
    @ag.jit
    def tail(v):
        first = None
        for i, x in enumerate(v):
            if x > 0:
                first = i
        return v[first:]

    with pytest.raises(ag.ChoiceError, match="as the bound of a slice"):
        tail(jnp.arange(3.0))
