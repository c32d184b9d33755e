"""Arrays put into lists that a staged loop makes longer, and written by a later turn or after the loop."""

from typing import Any

import jax
import numpy as np
import pytest

import autograph_jax as ag
from tests.behaviour.shared_arrays import VECTORS, WAYS, Holder, Table

GROWING, BOUNDED = Table(), Table()


# A fixed number in each turn


@GROWING.either
def written_by_the_next_turn(x):
    path, a = [], x * 1
    for i in range(3):
        path.append(a)
        if x[i] > 0:
            a = a * 2
        else:
            a[i] = 4
    return path, a


@GROWING.either
def an_attribute(x):
    o, path = Holder(), []
    o.a = x * 1
    for i in range(3):
        path.append(o.a)
        if x[i] > 0:
            o.a = o.a * 2
        else:
            o.a[i] = 4
    return path, o.a


@GROWING.either
def a_list_that_is_an_attribute(x):
    o = Holder()
    o.a, o.path = x * 1, []
    for i in range(3):
        o.path.append(o.a)
        if x[i] > 0:
            o.a = o.a * 2
        else:
            o.a[i] = 4
    return o.path, o.a


@GROWING.either
def an_item(x):
    d, path = {"a": x * 1}, []
    for i in range(3):
        path.append(d["a"])
        if x[i] > 0:
            d["a"] = d["a"] * 2
        else:
            d["a"][i] = 4
    return path, d


@GROWING.either
def in_a_tuple(x):
    path, a = [], x * 1
    for i in range(3):
        path.append((a, i))
        if x[i] > 0:
            a = a * 2
        else:
            a[i] = 4
    return [u for u, _ in path], a


@GROWING.either
def a_view(x):
    path, a = [], x * 1
    for i in range(3):
        path.append(a[1:])
        if x[i] > 0:
            a = a * 2
        else:
            a[i] = 4
    return path, a


@GROWING.either
def put_in_before_the_write(x):
    path, a = [], x * 1
    for i in range(3):
        if x[i] > 0:
            a = a * 2
        path.append(a)
        a[i] = a[i] + 1
    return path, a


@GROWING.either
def written_after_the_loop(x):
    path, a = [], x * 1
    for i in range(3):
        path.append(a)
        if x[i] > 0:
            a = a * 2
    a[0] = 70
    return path, a


@GROWING.right
def copies(x):
    path, a = [], x * 1
    for i in range(3):
        path.append(a.copy())
        if x[i] > 0:
            a = a * 2
        else:
            a[i] = 4
    return path, a


@GROWING.right
def copied_before_the_write(x):
    path, a = [], x * 1
    for i in range(3):
        path.append(a)
        a = a.copy()
        if x[i] > 0:
            a[i] = a[i] + 1
    return path, a


@GROWING.right
def another_array_is_written(x):
    path, a, b = [], x * 1, x * 2
    for i in range(3):
        path.append(b)
        b = b + x[i]
        if x[i] > 0:
            a[i] = a[i] + b[0]
    return path, a


@GROWING.right
def written_before_it_is_put_in(x):
    path, a = [], x * 1
    for i in range(3):
        t = a * 2
        if x[i] > 0:
            t[i] = 3
        path.append(t)
        a[i] = a[i] + t.sum()
    return path, a


# As many as traced data says, up to a bound


def multiples(x):
    path, i = ag.max_len([], 6), 0
    while i < 3 and x[i] < 2.5:
        path.append(x * (i + 1))
        i += 1
    return path


@BOUNDED.either
def taken_out_and_written(x):
    path = multiples(x)
    t = path[0]
    t[0] = 50
    return path[0]


@BOUNDED.either
def written_in_the_list(x):
    path = multiples(x)
    path[0][0] = 50
    return path[0]


@BOUNDED.either
def written_in_a_loop_over_it(x):
    path = multiples(x)
    for t in path:
        t[0] = 50
    return path[0]


@BOUNDED.either
def twice_in_it(x):
    path = multiples(x)
    path[1] = path[0]
    path[0][0] = 50
    return path[0], path[1]


@BOUNDED.either
def in_a_variable_too(x):
    path = multiples(x)
    t = path[0]
    path[0][0] = 50
    return path[0], t


@BOUNDED.either
def in_its_copy(x):
    path = multiples(x)
    other = path.copy()
    path[0][0] = 50
    return other[0], path[0]


@BOUNDED.either
def put_into_another_one(x):
    path, other, i = multiples(x), ag.max_len([], 6), 0
    while i < len(path):
        other.append(path[i])
        i += 1
    path[0][0] = 50
    return other[0], path[0]


@BOUNDED.either
def by_a_function(x):
    def write(v):
        v[0] = 9

    path = multiples(x)
    write(path[-1])
    return path[-1]


@BOUNDED.either
def a_view_of_an_element(x):
    path = multiples(x)
    v = path[-1][1:]
    v[0] = 9
    return path[-1]


@BOUNDED.either
def in_a_tuple_in_it(x):
    path, i = ag.max_len([], 6), 0
    while i < 3 and x[i] < 2.5:
        path.append((x * (i + 1), i))
        i += 1
    a, _ = path[0]
    a[0] = 8
    return path[0][0]


@BOUNDED.either
def the_same_in_each_turn(x):
    path, a, i = ag.max_len([], 6), x * 1, 0
    while i < 3 and x[i] < 2.5:
        a[i] = 4
        path.append(a)
        i += 1
    return path[0]


@BOUNDED.either
def the_last_one_again(x):
    path, i = ag.max_len([x * 1], 6), 0
    while i < 3 and x[i] < 2.5:
        if x[i] > 0:
            path.append(path[-1])
        else:
            path[-1][i] = 4
        i += 1
    return path[0], path[-1]


@BOUNDED.either
def taken_out_by_a_branch(x):
    path, t = multiples(x), x * 1
    if x[0] > 0:
        t = path[0]
    t[0] = 70
    return path[0], t


@BOUNDED.either
def taken_out_by_a_loop(x):
    path, t, i = multiples(x), x * 1, 0
    while i < 2 and x[i] > 0:
        t = path[0]
        i += 1
    t[0] = 70
    return path[0], t


@BOUNDED.either
def returned_by_a_branch(x):
    path, t = multiples(x), x * 1

    def chosen():
        if x[0] > 0:
            return path[0]
        return t

    u = chosen()
    u[0] = 70
    return path[0], t


@BOUNDED.either
def into_a_plain_list_or_object(x):
    path, o, r = multiples(x), Holder(), [x * 1, x * 2]
    o.t = x * 1
    if x[0] > 0:
        o.t = r[0] = path[0]
    o.t[0] = 70
    r[0][0] = 60
    return path[0], o.t, r


@BOUNDED.either
def the_best_one(x):
    path = multiples(x)
    best = path[0]
    for v in path:
        if v.sum() > best.sum():
            best = v
    best[0] = 70
    return path[0], best


@BOUNDED.right
def a_copy_of_the_best_one(x):
    path = multiples(x)
    best = path[0]
    for v in path:
        if v.sum() > best.sum():
            best = v
    best = best.copy()
    best[0] = 70
    return path[0], best


@BOUNDED.right
def computed_of_an_element(x):
    path = multiples(x)
    t = path[-1] * 2
    t[0] = 5
    path[0] = path[0] + t
    return t, path[-1], path[0]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", GROWING.names)
def test_growing(name: str, way: str, x64: None):
    GROWING.check(name, way)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BOUNDED.names)
def test_bounded(name: str, way: str, x64: None):
    BOUNDED.check(name, way)


def test_an_element_is_taken_out_and_copied(x64: None):
    def f(x: Any) -> Any:
        path, i = [], 0
        while i < 3 and x[i] < 2.5:
            path.append(x * (i + 1))
            i += 1
        t = path.pop().copy()
        t[0] = 50
        return path[0] if path else t, t

    for values in VECTORS:
        want = f(np.array(values))
        np.testing.assert_allclose(jax.jit(ag.port(f, max_len=6))(np.array(values)), want)
