"""One array twice in a list, tuple, dict or object on one path: a write to one shows in the other, or is refused."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.behaviour.shared_arrays import VECTORS, WAYS, Holder, Table

TABLE = Table()
right, either = TABLE.right, TABLE.either


@either
def made_in_a_branch(x):
    if x[1] > 0:
        t = x * 3
        r = [t, t]
    else:
        r = [x * 1, x * 2]
    r[0][0] = 50
    return r


@either
def in_a_tuple_with_a_view(x):
    if x[1] > 0:
        t = x * 3
        r = (t, t[::-1])
    else:
        r = (x * 1, x * 2)
    r[0][0] = 50
    return r


@either
def put_at_two_places(x):
    r = [x * 1, x * 2]
    if x[1] > 0:
        t = x * 3
        r[0] = t
        r[1] = t
    r[0][0] = 50
    return r


@either
def of_an_older_list(x):
    r = [x * 1, x * 2]
    if x[1] > 0:
        r = [r[1], r[1]]
    r[1][1] = 100
    return r[0].sum(), r[1]


@either
def an_item_of_another_place(x):
    r = [x * 1, x * 2]
    if x[1] > 0:
        r[0] = r[1]
    r[1][1] = 100
    return r[0].sum(), r[1]


@either
def an_item_turned(x):
    r = [x * 1, x * 2]
    if x[1] > 0:
        r[0] = r[1][::-1]
    r[1][1] = 100
    return r[0].sum(), r[1]


@either
def a_variable_in_a_list(x):
    a, b = x * 1, x * 2
    r = [a, b]
    if x[1] > 0:
        r[0] = b
    b[1] = 100
    return r[0].sum(), r[1]


@either
def in_a_dict(x):
    r = {"a": x * 1, "b": x * 2}
    if x[1] > 0:
        r["a"] = r["b"]
    r["b"][1] = 100
    return r


@either
def in_an_attribute_s_list(x):
    o = Holder()
    o.r = [x * 1, x * 2]
    if x[1] > 0:
        o.r[0] = o.r[1]
    o.r[1][1] = 100
    return o.r


@either
def in_an_attribute_s_tuple(x):
    o = Holder()
    o.r = (x * 1, x * 2)
    if x[1] > 0:
        o.r = (o.r[1], o.r[1])
    o.r[1][1] = 100
    return o.r


@either
def in_lists_in_a_list(x):
    r = [[x * 1, x * 2], [x * 3, x * 4]]
    if x[1] > 0:
        r[0][0] = r[1][1]
    r[1][1][0] = 100
    return r


@either
def replaced_on_the_other_path(x):
    t = x * 1
    r = [t, t]
    if x[1] > 0:
        r = [x * 2, x * 3]
    r[0][0] = 7
    return r


@either
def in_each_turn(x):
    r = [x * 1]
    for i in range(3):
        r = [r[-1], r[-1]] if x[i] > 0 else [x * 1, x * 2]
    r[1][0] = 50
    return r


@either
def in_some_turn(x):
    r = (x * 1, x * 2)
    i = 0
    while i < 2 and x[i] > 0:
        t = x * i
        r = (t, t)
        i += 1
    r[0][0] = 50
    return r


@either
def a_view_in_some_turn(x):
    r = {"a": x * 1, "b": x * 2}
    i = 0
    while i < 2 and x[i] > 0:
        t = x * i
        r = {"a": t, "b": t[::-1]}
        i += 1
    r["a"][0] = 50
    return r


@either
def items_swapped(x):
    r = [x * 1, x * 2, x * 3]
    if x[1] > 0:
        r[0], r[1] = r[1], r[0]
    r[0][0] = 50
    return r


@either
def the_best_two_of_three(x):
    r = [x * 1, x * 2, x * 3]
    f = [v.sum() for v in r]
    for _ in range(3):
        if f[0] > f[1]:
            r[0], r[1] = r[1], r[0]
            f[0], f[1] = f[1], f[0]
        r[0] = r[0] * 0.5
        f[0] = r[0].sum()
    r[2][0] = 7
    return r


@right
def a_state_of_two(x):
    state = (x * 1, x * 2)
    for _ in range(3):
        a, b = state
        a = a + b
        a[0] += 1
        state = (b, a)
    return state


@right
def a_list_made_anew(x):
    r = [x * 1, x * 2, x * 3]
    for _ in range(5):
        r = [r[1], r[2], r[0] + r[1]]
        r[2][0] += 1
    return r


@right
def keys_swapped(x):
    d = {"a": x * 1, "b": x * 1}
    for i in range(3):
        if x[i] > 0:
            d["a"], d["b"] = d["b"], d["a"]
        d["a"][i] += 1
    return d


@right
def read_only(x):
    if x[1] > 0:
        t = x * 3
        r = [t, t]
    else:
        r = [x * 1, x * 2]
    return r[0] + r[1]


@either
def in_a_dataclass_like_object(x):
    o = Holder()
    if x[1] > 0:
        o.a = o.b = x * 3
    else:
        o.a, o.b = x * 1, x * 2
    o.a[0] = 50
    return o.a, o.b


@either
def a_tuple_turned_in_a_dict(x):
    a = x * 1
    r = {"p": (a, x * 2)}
    if x[0] > 0:
        r["p"] = (r["p"][1], r["p"][0])
    r["p"][0][0] = 50
    return a, r


@either
def written_on_one_path_and_replaced_on_the_other(x):
    d, r, t = {"a": x * 1}, [x * 1], (x * 1, 1)
    v = t[0]
    if x[0] > 0:
        d["a"][1] = 50
        r[0][1] = 60
        v[1] = 70
    else:
        d["a"] = d["a"] * 3
        r[0] = r[0] * 4
        t = (v * 5, 2)
    return d, r, t


@either
def replaced_in_a_loop_over_the_dict(x):
    d = {"a": x * 1, "b": x * 2}
    for k, v in d.items():
        if x[0] > 0:
            v[1] = 50
        else:
            d[k] = v * 3
    return d


@either
def one_of_them_put_where_traced_data_says(x):
    r = [x * 1, x * 2, x * 3]
    k = np.argmax(x)
    r[k] = r[k - 1]
    r[k][0] = 50
    return r


@either
def one_of_them_put_there_in_each_turn(x):
    r = [x * 1, x * 2, x * 3]
    k = np.argmax(x)
    for i in range(2):
        r[k] = r[(k + 1) % 3]
        r[k][i] = 50
    return r


@either
def swapped_where_traced_data_says(x):
    r = [x * 1, x * 2, x * 3]
    k = np.argmax(x)
    r[k], r[0] = r[0], r[k]
    r[k][0] = 50
    return r


@right
def another_one_put_where_traced_data_says(x):
    r = [x * 1, x * 2, x * 3]
    k = np.argmax(x)
    r[k] = x * 9
    r[k][0] = 50
    return r


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TABLE.names)
def test_as_in_numpy_or_refused(name: str, way: str, x64: None):
    TABLE.check(name, way)


@pytest.mark.parametrize("function", [items_swapped, the_best_two_of_three, swapped_where_traced_data_says])
def test_swapped_items_of_ported_code_are_written(function: Any, x64: None):
    """Each is one of two arrays, and no two are the same one."""
    for values in VECTORS:
        np.testing.assert_allclose(jax.jit(ag.port(function))(np.array(values)), function(np.array(values)))


def the_best_parts(parts, n):
    best, low = parts, np.inf
    for _ in range(n):
        parts = [part * 0.5 for part in parts]
        total = parts[0].sum()
        if total < low:
            best, low = parts, total
    return best, low


def test_parts_of_two_lengths():
    """What one trace of the body knew of its arrays is no news for the next one."""
    parts = [np.array([1.0, 3.0], np.float32), np.array([2.0], np.float32)]
    got, expected = ag.jit(the_best_parts)(list(map(jnp.asarray, parts)), 3), the_best_parts(parts, 3)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other)
