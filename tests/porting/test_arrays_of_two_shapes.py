"""Arrays of ported code that have one shape on one path and another on the other: the rows that count are known at run time."""

from typing import Any

import jax
import numpy as np
import pytest
import scipy.stats

import autograph_jax as ag
from tests.porting.programs import VECTORS, Programs, check_compiled

PROGRAMS = program = Programs()
SHARED: dict[str, Any] = {}


class Holder:
    pass


def shared(function: Any) -> Any:
    """A program that writes an array which another variable may hold: refused, if it is not right."""
    SHARED[function.__name__.replace("_", " ")] = function
    return function


@program
def cut_in_a_branch(x):
    y = x * 1
    if x[0] > 0:
        y = y[:2]
    return y.sum() * 2 + y[0], y.size, y.mean(), y.max()


@program
def longer_in_a_branch(x):
    y = x * 1
    if x[0] > 0:
        y = np.append(y, 3.0)
    return y.sum() * 2 + y[0], y.shape[0], y[-1]


@program
def one_row_or_all(x):
    y = x * 1
    if x[0] > 0:
        y = y[:1]
    z = x + y
    y += 1
    return z, y.sum(), x * y, np.maximum(y, x)


@program
def one_row_of_another(x):
    y, z = x[x > -9][:1], x[x > x.min() - 1]
    return (y * z).sum(), (z * y).size, np.where(z > 1, z, y).sum()


@program
def one_row_written_everywhere(x):
    y, m = np.zeros(3), np.zeros((3, 3))
    if x[0] > 0:
        part = np.ones(1) * x[1]
    else:
        part = x * 2
    y[:] = part
    m[:, 1] = part
    m[2] += part
    return y, m


@program
def of_two_axes(x):
    m = np.outer(x, x)
    if x[0] > 0:
        m = m[:2]
    elif x[1] > 0:
        m = m[:, 1:]
    return m.sum(), m.shape[0] * 10 + m.shape[1], m.T.sum(axis=0).sum(), (m @ m.T).sum()


@program
def shorter_in_each_turn(x):
    y = x * 1
    while y.size > 1 and y[-1] > 0:
        y = y[:-1]
    y[0] = 9
    return y.sum(), y.shape[0], len(y)


@program
def filled_by_a_loop(x):
    y = np.array([])
    for i in range(3):
        if x[i] > 0:
            y = np.append(y, x[i])
    return y.sum(), y.size, y[0] if y.size else 0.0


@program
def empty_or_not(x):
    y = np.array([]) if x[0] > 0 else x * 1
    return y.sum(), y.size == 0, np.concatenate([y, x]).sum()


@program
def in_an_attribute(x):
    o = Holder()
    o.y = x * 1
    if x[1] > 0:
        o.y = o.y[1:]
    o.y[0] = 5
    return o.y.sum()


@program
def densities(x):
    return (
        scipy.stats.norm.pdf(x, 0.5, 2.0),
        scipy.stats.gamma.pdf(x, 2.0),
        scipy.stats.expon.logpdf(x),
        scipy.stats.norm.ppf(0.5 + x / 9),
        scipy.stats.poisson.pmf(np.round(x), 3.0),
    )


@shared
def a_view_is_written(x):
    y = x * 1 if x[0] > 0 else x[:2]
    y[0] = 7
    return x, y.sum()


@shared
def the_array_or_a_view(x):
    y = x
    if x[0] > 0:
        y = x[1:]
    y[0] = 7
    return x, y.sum()


@shared
def up_to_a_traced_bound(x):
    y, k = x, (x > 0).sum()
    if x[0] > 0:
        y = x[:k]
    y[:1] = 7
    return x, y.sum()


@shared
def the_other_one_is_written(x):
    y, k = x * 1, (x > 0).sum()
    z = y
    if x[0] > 0:
        y = y[:k]
    z[0] = 9
    return z, y.sum()


@shared
def in_place_in_a_list(x):
    r, k = [x * 1, x * 2], (x > 0).sum()
    if x[1] > 0:
        r[0] = r[1][:k]
    r[1][1] = 100
    return r[0].sum(), r[1]


@shared
def by_a_method(x):
    a, b, k = x * 1, x * 2, (x > 0).sum()
    if x[1] > 0:
        a = b[:k]
    a.fill(100)
    return a.sum(), b


@shared
def after_a_loop(x):
    b = x * 2
    a = b
    while a.size > 1 and a[0] < 5:
        a = a[1:]
    a[0] = 10
    return a.sum(), b


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name: str, x64: None):
    check_compiled(PROGRAMS[name], VECTORS)


@pytest.mark.parametrize("name", SHARED)
def test_memory_that_others_may_have(name: str, x64: None):
    run = jax.jit(ag.port(SHARED[name]))
    for values in VECTORS:
        want = jax.tree.leaves(SHARED[name](np.array(values)))
        try:
            found = jax.tree.leaves(run(np.array(values)))
        except ag.AliasError:
            continue
        for one, other in zip(found, want, strict=True):
            np.testing.assert_allclose(one, other)


def test_other_numbers_of_rows_raise(x64: None):
    def f(x: Any) -> Any:
        y = x[:2] if x[0] > 0 else x
        return x * y

    run = ag.jit(ag.port(f))
    np.testing.assert_allclose(run(np.array([-1.0, 2.0, 3.0])), [1.0, 4.0, 9.0])
    with pytest.raises(ValueError, match="could not be broadcast"):
        jax.block_until_ready(run(np.array([1.0, 2.0, 3.0])))


def test_an_array_that_grows_in_a_staged_loop_is_refused(x64: None):
    def f(x: Any) -> Any:
        y = x * 1
        while y.sum() < 10:
            y = np.append(y, 1.0)
        return y.sum()

    with pytest.raises(ag.ShapeError, match="`y` gets longer in each turn"):
        jax.jit(ag.port(f))(np.array([1.0, 2.0]))


def test_an_array_that_is_longer_after_the_first_turn(x64: None):
    def f(x: Any) -> Any:
        y = np.zeros(1)
        while y.sum() < 5:
            y = y[0] + x + 1
        return y.sum(), y.size

    run = jax.jit(ag.port(f))
    for values in VECTORS:
        np.testing.assert_allclose(run(np.array(values)), f(np.array(values)))


def test_selections_of_arrays_of_two_shapes(x64: None):
    """The rows that count, of two columns or of three."""

    def f(x: Any) -> Any:
        y = np.stack([x, 2 * x], axis=1)[x > 0.5]
        z = np.stack([x, 2 * x, x + 1], axis=1)[x > 0.5]
        chosen = y if x.sum() > 3 else z
        return chosen.sum(), chosen.size, (chosen * 2).max(axis=0, initial=0.0).sum()

    run = jax.jit(ag.port(f))
    for values in VECTORS:
        np.testing.assert_allclose(run(np.array(values)), f(np.array(values)))
