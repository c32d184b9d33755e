"""Gradients through item writes, lists, dicts, objects, choices and numbers that have none, in every mode of JAX's."""

import dataclasses
import functools
import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.behaviour.harness import Point, Table, check, objective
from tests.fuzz.gradients import curvature, slope

table = Table(__name__)
row = functools.partial(table.row, batch=True)
V, W = np.array([0.9, -0.4, 1.33]), np.array([-0.7, 0.65, 0.24])


# ------------------------------------------------------------------ item writes
def recurrence(v):
    for i in range(1, 3):
        v[i] = jnp.sin(v[i - 1]) * v[i]
    return v


row(recurrence, [V], [W])


def overwritten(v, x):
    """What is overwritten has no influence any more."""
    v[0] = x * x
    v[1] += x
    v[0] *= v[2]
    return v


row(overwritten, [V, 0.5], [W, -0.3])


def at_a_traced_place(v, k, x):
    v[k] = v[k] * x
    v[k - 1] += jnp.exp(v[k])
    return v


row(at_a_traced_place, [V, 1, 0.5], [W, 2, 0.7])


def slices(v, x):
    v[1:] = v[:-1] * x
    v[::2] += 2 * x
    return v


row(slices, [V, 0.5], [W, 0.7])


def mask(v):
    v[v > 0] *= v[0]
    v[v < 0] = 0.25
    return v


row(mask, [V], [W])


def swapped(v, x):
    if x > 0:
        v[0], v[2] = v[2], v[0] * x
    return v * jnp.array([1.0, 2.0, 3.0])


row(swapped, [V, 0.5], [W, -0.7])


def written_until(v, tolerance):
    k = 0
    while k < 3 and abs(v[k]) > tolerance:
        v[k] = v[k] / 2 + v[0] * tolerance
        k += 1
    return v


row(written_until, [V, 0.1], [W, 0.6])


def table_of_distances(a, b):
    """A dynamic program: each cell is made of three others."""
    d = jnp.zeros((4, 4))
    for i in range(3):
        for j in range(3):
            cost = (a[i] - b[j]) ** 2
            best = d[i, j]
            if d[i, j + 1] < best:
                best = d[i, j + 1]
            d[i + 1, j + 1] = cost + best + 0.1 * d[i + 1, j]
    return d[3, 3]


row(table_of_distances, [V, W], [W, 2 * V])


def written_by_a_callee(v, x):
    def put(k):
        v[k] = v[k] * x

    for k in range(2):
        if v[k] > 0:
            put(k)
    return v


row(written_by_a_callee, [V, 0.5], [W, 0.7])


# ------------------------------------------------------------------ lists, tuples, dicts
def appended(v):
    out = []
    y = 1.0
    for x in v:
        if x > 0:
            y = y * x
        out.append(y + x * x)
    return out[0] * out[2] + out[-2]


row(appended, [V], [W])


def stacked(v):
    out = []
    for x in v:
        out.append(jnp.sin(x))
    return jnp.stack(out) * jnp.array([1.0, 2.0, 3.0])


row(stacked, [V], [W])


def kept(v):
    return sum([x * x for x in v if x > 0], 0.0) + sum((math.exp(x) for x in v if x < 0), 0.0)


row(kept, [V], [W])


def element_of_a_list(v, k):
    xs = [v[0], v[1] * v[0], 2.0]
    xs[k] = xs[k] * v[2]
    return xs[k] + xs[0]


row(element_of_a_list, [V, 1], [W, 0])


def dict_state(v):
    d = {"sum": 0.0, "product": 1.0}
    for x in v:
        d["sum"] += x
        if x > 0:
            d["product"] *= x * d["sum"]
    return d["product"] + d["sum"] ** 2


row(dict_state, [V], [W])


def dict_of_lists(v, key):
    d = {0: [v[0], v[1]], 1: [v[2], v[2] * v[0]]}
    d[0][1] = d[0][1] * v[2]
    return d[key][1] if key > 0 else d[key][0] + d[0][1]


row(dict_of_lists, [V, 0], [W, 1])


def tuple_carry(x):
    pair = (x, 1.0)
    n = 0
    while n < 3:
        pair = pair[1] + x, pair[0] * pair[1]
        n += 1
    return pair[0] * pair[1]


row(tuple_carry, [0.7], [-0.4])


# ------------------------------------------------------------------ objects
class Account:
    def __init__(self, balance):
        self.balance = balance
        self.history = []

    def grow(self, rate):
        if self.balance > 1.0:
            self.balance = self.balance * (1 + rate)
        else:
            self.balance += rate**2
        return self


def object_state(balance, rate):
    account = Account(balance)
    for _ in range(3):
        account.grow(rate)
    return account.balance


row(object_state, [0.9, 0.5], [2.0, 0.1])


def object_until(balance, rate):
    account, years = Account(balance), 0
    while account.balance < 3.0 and years < 20:
        account.grow(rate)
        years += 1
    return account.balance


row(object_until, [0.9, 0.5], [2.0, 0.1])


@dataclasses.dataclass
class Point2:
    x: float
    y: float

    def __add__(self, other):
        return Point2(self.x + other.x, self.y + other.y)


def chosen_object(x, y):
    p = Point2(x, y) if x > y else Point2(y * y, x)
    q = p + p
    if q.x > 1.0:
        q = Point2(q.y, q.x * q.y)
    return q.x - 3 * q.y


row(chosen_object, [0.9, 0.5], [0.2, 0.4], [-0.2, 1.4])


class State(NamedTuple):
    position: float
    speed: float


def named_tuple(x, v):
    state = State(x, v)
    for _ in range(4):
        state = state._replace(position=state.position + 0.1 * state.speed)
        if state.position > 1.0:
            state = state._replace(speed=-state.speed * x)
    return state.position * state.speed


row(named_tuple, [0.9, 0.52], [0.2, 0.4])


# ------------------------------------------------------------------ choices
def name_of_a_method(x):
    method = "cube" if x > 0 else "square"
    if method == "cube":
        return x**3
    return x**2


row(name_of_a_method, [0.7], [-0.4])


def function_of_two(x):
    f = math.sin if x > 0 else math.exp
    return f(x) * f(2 * x)


row(function_of_two, [0.7], [-0.4])


def none_or_number(x):
    best = None
    for k in range(3):
        y = math.sin(x + k)
        if best is None or y > best:
            best = y
    return best * x


row(none_or_number, [0.7], [-0.4])


def dict_made_in_a_loop(v, limit):
    """The loop ends with the dict of an older turn, or with a new one."""
    for x in v:
        if x < limit:
            continue
        u = {"a": x * limit, "b": x}
    return u["a"] + u["b"]


row(dict_made_in_a_loop, [V, 0.5], [V, -2.0], [W, 0.3])


def list_made_in_a_loop(v):
    k = 0
    while k < 3:
        if v[k] > 0:
            xs = [v[k], v[0]]
        k += 1
    return xs[0] * xs[1]


row(list_made_in_a_loop, [V], [W])


# ------------------------------------------------------------------ numbers that have no derivative
def counted(v):
    """How many, which one, whole numbers: constants where they are smooth."""
    n = 0
    for x in v:
        if x > 0:
            n += 1
    return n * v[0] + int(v[2] * 10) * v[1] + (v[1] // 0.3)


row(counted, [V], [W])


def largest(v):
    best, place = v[0], 0
    for k, x in enumerate(v):
        if x > best:
            best, place = x, k
    return best * v[place] + place


row(largest, [V], [W])


def sorted_and_extreme(v):
    xs = sorted([v[0], v[1], v[2]])
    return xs[0] * max(v) + xs[1] ** 2 * min(v[0], 0.3) + abs(v[1])


row(sorted_and_extreme, [V], [W])


def flags(x):
    positive, n, y = True, 0, x
    while n < 4:
        if positive:
            y = y * x
        else:
            y = math.sin(y)
        positive = not positive
        n += 1
    return y + round(10 * x) / 10


row(flags, [0.73], [-0.41])


def truth_as_a_number(x):
    return (x > 0) * x + x * int(x > 1) + float(x < 0) * x**3


row(truth_as_a_number, [0.7], [-0.4], [1.7])


# ------------------------------------------------------------------ exits and scopes
def returned_from_a_loop(v, limit):
    total = 0.0
    for x in v:
        total = total + x * x
        if total > limit:
            return total * limit
    return total / limit


row(returned_from_a_loop, [V, 0.8], [W, 2.0])


def loop_else(v, limit):
    for x in v:
        if x > limit:
            y = x * x
            break
    else:
        y = limit**3
    return y


row(loop_else, [V, 0.5], [W, 0.8])


def nonlocal_state(v):
    total = 1.0

    def add(x):
        nonlocal total
        if x > 0:
            total = total * (1 + x)

    for x in v:
        add(x)
    return total


row(nonlocal_state, [V], [W])


def finally_state(x):
    y = x
    try:
        if x > 0:
            y = y * y
            return y + x
    finally:
        y = y * 3
    return y * x


row(finally_state, [0.7], [-0.4])


@table.each_way
def test_rows(row, way, record_property):
    check(row, way, record_property)


@pytest.mark.parametrize("row", table.rows, ids=lambda row: row.name)
def test_every_mode(row, x64):
    """First and second derivatives along a direction, under jit and vmap, against differences of plain Python."""
    converted = ag.autograph(row.function)

    def along(point, step):
        floats = [jnp.asarray(v, float) + step * d for v, d in zip(point.floats, point.direction, strict=True)]
        return objective(converted, point.moved(floats))

    def first(derivative):
        return lambda point: derivative(lambda step: along(point, step))(0.0)

    first_ways = {"grad": first(jax.grad), "jacfwd": first(jax.jacfwd), "jacrev": first(jax.jacrev)}
    second_ways = {"hessian": first(jax.hessian), "grad of grad": first(lambda f: jax.grad(jax.grad(f)))}
    compiled = jax.jit(lambda point: [[way(point) for way in ways.values()] for ways in (first_ways, second_ways)])
    points = [Point.of(row, call) for call in row.calls]
    lines = [functools.partial(plain_along, row, call) for call in row.calls]
    wanted = [(slope(value), curvature(value)) for value in lines]
    for point, want in zip(points, wanted, strict=True):
        for got, value, names in zip(compiled(point), want, (first_ways, second_ways), strict=True):
            assert value is not None, "the row lies on a kink"
            np.testing.assert_allclose(got, value, rtol=1e-4, atol=1e-4, err_msg=str(list(names)))
    lanes = jax.tree.map(lambda *parts: jnp.stack([jnp.asarray(p) for p in parts]), *points)
    for order, got in enumerate(jax.jit(jax.vmap(compiled))(lanes)):
        for values in got:
            np.testing.assert_allclose(values, [want[order] for want in wanted], rtol=1e-4, atol=1e-4)


def plain_along(row, call, step):
    point = Point.of(row, call)
    moved = [v + step * d for v, d in zip(point.floats, point.direction, strict=True)]
    leaves = jax.tree.leaves(row.numpy_function(*point.moved([v if v.shape else float(v) for v in moved])))
    return float(sum(weight * np.sum(np.asarray(leaf, float)) for weight, leaf in enumerate(leaves, 1)))
