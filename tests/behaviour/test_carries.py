"""What a loop or branch carries: types that change, tuples, dicts, lists, NamedTuples, dataclasses, objects."""

from collections import namedtuple
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])
PAIR = np.array([1.0, 2.0])


# ------------------------------------------------------------------ types that change
def int_becomes_float(x, n):
    s = 0
    for i in range(n):
        s += 0.5 * x
    return s


row(int_becomes_float, [3.0, 4], [-3.0, 1], [3.0, 0], staged="loop", grad=True, batch=True)


def int_becomes_float_in_while(x):
    s = 0
    while s < 3:
        s = s + x
    return s


row(int_becomes_float_in_while, [0.7], [4.0], staged="loop", grad=True, batch=True)


def int_becomes_float_after_an_if(v):
    best = 0
    for e in v:
        if e > best:
            best = e
    return best


row(int_becomes_float_after_an_if, [VECTOR], [-VECTOR], staged="loop cond", batch=True)


def int_becomes_float_two_turns_later(x, n):
    a, b, c = 0, 0, x
    for _ in range(n):
        a, b = b, c
    return a + b


row(int_becomes_float_two_turns_later, [2.5, 3], [2.5, 1], [2.5, 0], staged="loop", batch=True)


def int_divided(n):
    x = n
    trips = 0
    while x > 1:
        x = x / 2
        trips += 1
    return x, trips


row(int_divided, [10], [1], [3], staged="loop", batch=True)


def scalar_becomes_vector(v, n):
    s = 0.0
    for _ in range(n):
        s = s + v
    return jnp.sum(s)


row(scalar_becomes_vector, [VECTOR, 4], [VECTOR, 1], [VECTOR, 0], staged="loop", grad=True, batch=True)


def scalar_becomes_vector_over_rows(m):
    total = 0
    for r in m:
        total = total + r
    return total


row(scalar_becomes_vector_over_rows, [np.ones((3, 2))], [np.arange(6.0).reshape(3, 2)], staged="loop", batch=True)


def flag_becomes_traced(v):
    seen = False
    count = 0
    for e in v:
        if seen:
            count += 1
        if e > 1.5:
            seen = True
    return count, seen


row(flag_becomes_traced, [VECTOR], [-VECTOR], staged="loop cond", batch=True)


def none_before_the_first(v):
    best = None
    for e in v:
        if best is None or e > best:
            best = e
    return best


row(none_before_the_first, [-VECTOR], [VECTOR], [np.array([-3.0, -1.0, -2.0])], staged="loop", grad=True, batch=True)


def none_before_the_first_if(v):
    last = None
    rises = 0
    for e in v:
        if last is not None:
            if e > last:
                rises += 1
        last = e
    return rises


row(none_before_the_first_if, [VECTOR], [-VECTOR], [np.array([3.0, 1.0, 2.0])], staged="loop", batch=True)


def none_in_while(x):
    previous = None
    n = 0
    while x > 1:
        if previous is None:
            x = x / 2
        else:
            x = x - previous / 8
        previous = x
        n += 1
    return x, n


row(none_in_while, [9.0], [1.5], staged="loop", batch=True)


def shape_grows(v, n):
    y = v
    for _ in range(n):
        y = jnp.concatenate([y, v])
    return jnp.sum(y)


row(shape_grows, [PAIR, 3], [PAIR, 0], want="error")


def structure_grows(x, n):
    state = (x,)
    for _ in range(n):
        state = (x, state)
    return state[0]


row(structure_grows, [2.0, 3], [2.0, 0], want="error")


def structure_changes(x, n):
    state = x
    for _ in range(n):
        state = {"x": x}
    return n


row(structure_changes, [2.0, 3], [2.0, 0], want="either")


def shape_grows_in_a_static_loop(v):
    y = v
    for _ in range(3):
        y = jnp.concatenate([y, v])
    return y


row(shape_grows_in_a_static_loop, [PAIR], [-PAIR], grad=True, batch=True)


def rank_changes_in_a_static_loop(x):
    for _ in range(3):
        x = jnp.stack([x, x * 2])
    return x


row(rank_changes_in_a_static_loop, [1.0], [2.0], grad=True, batch=True)


def function_never_changes(x, n):
    step = jnp.tanh
    for _ in range(n):
        x = step(x) + 1.0
    return x


row(function_never_changes, [2.0, 3], [2.0, 0], staged="loop", grad=True, batch=True)


def settings_never_change(x, n):
    settings = {"name": "euler", "h": 0.1}
    for _ in range(n):
        if settings["name"] == "euler":
            x = x + settings["h"] * x
    return x


row(settings_never_change, [2.0, 3], [2.0, 0], staged="loop", grad=True, batch=True)


# ------------------------------------------------------------------ tuples and lists
def fibonacci_pair(n):
    state = (0, 1)
    for _ in range(n):
        state = (state[1], state[0] + state[1])
    return state


row(fibonacci_pair, [10], [0], staged="loop", batch=True)


def nested_tuples(x, n):
    state = (x, (0, 0.0))
    for i in range(n):
        y, (count, total) = state
        state = (y * 0.5, (count + 1, total + y))
    return state


row(nested_tuples, [4.0, 3], [4.0, 0], staged="loop", grad=True, batch=True)


def tuple_with_an_array(v, n):
    state = (v, 0)
    while state[1] < n:
        state = (state[0] * 0.5, state[1] + 1)
    return state[0]


row(tuple_with_an_array, [VECTOR, 3], [VECTOR, 0], staged="loop", grad=True, batch=True)


def list_of_fixed_length(v):
    totals = [0.0, 1.0]
    for e in v:
        totals[0] = totals[0] + e
        totals[1] = totals[1] * e
    return totals[0], totals[1]


row(list_of_fixed_length, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def list_rebuilt(v, n):
    params = [v, v * 2]
    for _ in range(n):
        params = [p * 0.5 for p in params]
    return params[0], params[1]


row(list_rebuilt, [PAIR, 3], [PAIR, 0], staged="loop", grad=True, batch=True)


def list_items_swapped(x, y, n):
    pair = [x, y]
    for _ in range(n):
        pair[0], pair[1] = pair[1], pair[0] + pair[1]
    return pair


row(list_items_swapped, [1.0, 2.0, 3], [1.0, 2.0, 0], staged="loop", grad=True, batch=True)


def list_item_in_a_branch(x):
    state = [1.0, 2.0]
    if x > 0:
        state[1] = x
    else:
        state[0] += x
    return state


row(list_item_in_a_branch, [3.0], [-3.0], staged="cond", grad=True, batch=True)


def list_of_lists(n):
    grid = [[0, 1], [2, 3]]
    for i in range(n):
        grid[0][1] += i
        grid[1][0] = grid[0][1] * 2
    return grid


row(list_of_lists, [4], [0], staged="loop", batch=True)


def list_seen_through_two_names(x, n):
    a = [x, 0.0]
    b = a
    for _ in range(n):
        a[1] = a[1] + a[0]
    return b[1]


row(list_seen_through_two_names, [2.0, 3], [2.0, 0], staged="loop", grad=True, batch=True)


# ------------------------------------------------------------------ dicts
def dict_items_written(v):
    d = {"s": 0.0, "m": 1.0}
    for e in v:
        d["s"] = d["s"] + e
        d["m"] = d["m"] * e
    return d["s"], d["m"]


row(dict_items_written, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def dict_augmented(x, n):
    stats = {"total": 0, "trips": 0}
    for i in range(n):
        stats["total"] += x * i
        stats["trips"] += 1
    return stats


row(dict_augmented, [1.5, 4], [1.5, 0], staged="loop", batch=True)


def dict_rebuilt(x, n):
    d = {"s": x, "m": x}
    for _ in range(n):
        d = {k: v * 2 for k, v in d.items()}
    return d["s"], d["m"]


row(dict_rebuilt, [1.5, 3], [1.5, 0], staged="loop", grad=True, batch=True)


def dict_looped_over(x, n):
    d = {"s": x, "m": x + 1}
    for _ in range(n):
        for k in d:
            d[k] = d[k] * 2
    return d["s"], d["m"]


row(dict_looped_over, [1.5, 3], [1.5, 0], staged="loop", grad=True, batch=True)


def dict_of_parameters(params, n):
    for _ in range(n):
        gradient = {"w": params["w"] * 2, "b": params["b"] - 1}
        params = {name: params[name] - 0.1 * gradient[name] for name in params}
    return params


row(
    dict_of_parameters,
    [{"w": VECTOR, "b": 3.0}, 3],
    [{"w": -VECTOR, "b": 1.0}, 0],
    staged="loop",
    grad=True,
    batch=True,
)


def dict_item_in_a_branch(x):
    d = {"lo": 0.0, "hi": 1.0}
    if x > 0.5:
        d["lo"] = x
    else:
        d["hi"] = x
    return d["hi"] - d["lo"]


row(dict_item_in_a_branch, [0.7], [0.2], staged="cond", grad=True, batch=True)


def dict_key_added_in_both_branches(x):
    d = {"x": x}
    if x > 0:
        d["y"] = x * 2
    else:
        d["y"] = 0.0
    return d["y"] + d["x"]


row(dict_key_added_in_both_branches, [0.7], [-0.2], staged="cond", grad=True, batch=True)


def dict_key_added_in_the_loop(x, n):
    d = {"x": x}
    for i in range(n):
        d["last"] = d["x"] * i
    return d["x"]


row(dict_key_added_in_the_loop, [2.0, 3], [2.0, 0], want="either")


def dict_in_a_dict(x, n):
    state = {"inner": {"value": x}, "count": 0}
    for _ in range(n):
        state["inner"]["value"] = state["inner"]["value"] * 0.5
        state["count"] += 1
    return state


row(dict_in_a_dict, [2.0, 3], [2.0, 0], staged="loop", batch=True)


# ------------------------------------------------------------------ NamedTuples and dataclasses
class Moments(NamedTuple):
    total: float
    product: float


Point = namedtuple("Point", ["x", "y"])


def named_tuple_rebuilt(v):
    m = Moments(0.0, 1.0)
    for e in v:
        m = Moments(m.total + e, m.product * e)
    return m.total, m.product


row(named_tuple_rebuilt, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def named_tuple_replaced(v):
    m = Moments(0.0, 1.0)
    for e in v:
        m = m._replace(total=m.total + e)
    return m


row(named_tuple_replaced, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def named_tuple_in_while(x):
    p = Point(x, 0)
    while p.x > 1:
        p = p._replace(x=p.x / 2, y=p.y + 1)
    return p


row(named_tuple_in_while, [37.0], [0.5], staged="loop", batch=True)


def named_tuple_in_branches(x, y):
    p = Point(x, y)
    if p.x > p.y:
        p = Point(p.y, p.x)
    return p


row(named_tuple_in_branches, [2.0, 1.0], [1.0, 2.0], staged="cond", grad=True, batch=True)


@dataclass
class Counter:
    total: float
    product: float
    label: str = "plain"


@dataclass(frozen=True)
class Interval:
    lo: float
    hi: float

    @property
    def width(self):
        return self.hi - self.lo


def dataclass_attributes(v):
    c = Counter(0.0, 1.0)
    for e in v:
        c.total = c.total + e
        c.product *= e
    return c.total, c.product


row(dataclass_attributes, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def dataclass_rebuilt(v):
    c = Counter(0.0, 1.0)
    for e in v:
        c = Counter(c.total + e, c.product * e)
    return c.total, c.product, c.label == "plain"


row(dataclass_rebuilt, [VECTOR], [-VECTOR], staged="loop", batch=True)


def dataclass_replaced(v):
    c = Counter(0, 1.0)
    for e in v:
        if e > 0:
            c = replace(c, total=c.total + e)
    return c.total


row(dataclass_replaced, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def frozen_dataclass_bisection(lo, hi):
    bracket = Interval(lo, hi)
    while bracket.width > 1e-2:
        mid = 0.5 * (bracket.lo + bracket.hi)
        if mid * mid > 2:
            bracket = Interval(bracket.lo, mid)
        else:
            bracket = Interval(mid, bracket.hi)
    return bracket.lo, bracket.hi


row(frozen_dataclass_bisection, [0.0, 2.0], [1.0, 1.0], staged="loop cond", batch=True)


def dataclass_attribute_in_a_branch(x):
    c = Counter(x, 0.0)
    if x > 0:
        c.product = x * 2
    return c.total + c.product


row(dataclass_attribute_in_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ objects
class Accumulator:
    def __init__(self):
        self.total = 0.0
        self.count = 0

    def add(self, value):
        self.total = self.total + value
        self.count += 1

    def mean(self):
        if self.count > 0:
            return self.total / self.count
        return 0.0


class Solver:
    """A stepper as SciPy users write them: the state lives in attributes."""

    def __init__(self, y, h):
        self.t = 0.0
        self.y = y
        self.h = h
        self.previous = None
        self.rejected = 0

    def step(self):
        new = self.y + self.h * (-self.y)
        if abs(new - self.y) > 0.5:
            self.h = self.h / 2
            self.rejected += 1
            return False
        self.previous = self.y
        self.y = new
        self.t += self.h
        return True


class Node:
    def __init__(self, value):
        self.value = value
        self.child = SimpleNamespace(weight=1.0)


def object_changed_by_a_method(v):
    a = Accumulator()
    for e in v:
        a.add(e)
    return a.total


row(object_changed_by_a_method, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def object_changed_in_a_branch(x):
    a = Accumulator()
    if x > 0:
        a.add(x)
    return a.total


row(object_changed_in_a_branch, [-2.0], [2.0], staged="cond", grad=True, batch=True)


def object_with_a_condition_inside(v):
    a = Accumulator()
    for e in v:
        if e > 1:
            a.add(e)
    return a.mean(), a.count


row(object_with_a_condition_inside, [VECTOR], [-VECTOR], staged="loop cond", batch=True)


def object_attribute_written_here(x, n):
    a = Accumulator()
    for i in range(n):
        a.total += x * i
    return a.total


row(object_attribute_written_here, [2.0, 4], [2.0, 0], staged="loop", grad=True, batch=True)


def object_attribute_two_deep(x, n):
    node = Node(x)
    for _ in range(n):
        node.child.weight = node.child.weight * 2
        node.value = node.value + node.child.weight
    return node.value


row(object_attribute_two_deep, [2.0, 3], [2.0, 0], staged="loop", grad=True, batch=True)


def object_seen_through_two_names(x):
    a = Accumulator()
    b = a
    if x > 0:
        b.total = x
    return a.total


row(object_seen_through_two_names, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def objects_of_a_list(v):
    bins = [Accumulator(), Accumulator()]
    for e in v:
        if e > 0:
            bins[0].add(e)
        else:
            bins[1].add(-e)
    return bins[0].total, bins[1].total


row(objects_of_a_list, [VECTOR], [np.array([1.0, -2.0, 3.0])], staged="loop cond", grad=True, batch=True)


def solver_object(y, h):
    s = Solver(y, h)
    while s.t < 1.0:
        s.step()
    return s.y, s.t, s.rejected


row(solver_object, [1.0, 0.3], [4.0, 0.44], staged="loop cond", batch=True)


def solver_object_uses_the_result(y, h):
    s = Solver(y, h)
    accepted = 0
    while s.t < 1.0:
        if s.step():
            accepted += 1
    return s.y, accepted


row(solver_object_uses_the_result, [1.0, 0.3], [4.0, 0.44], staged="loop cond", batch=True)


def object_made_in_the_loop(v):
    best = 0.0
    for e in v:
        a = Accumulator()
        a.add(e)
        a.add(2 * e)
        if a.total > best:
            best = a.total
    return best


row(object_made_in_the_loop, [VECTOR], [-VECTOR], staged="loop", batch=True)


def object_given_to_a_helper(v):
    a = Accumulator()
    feed(a, v)
    feed(a, v * 2)
    return a.mean()


def feed(accumulator, values):
    for e in values:
        accumulator.add(e)


row(object_given_to_a_helper, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


def namespace_attributes(x, n):
    state = SimpleNamespace(x=x, n=0)
    while state.n < n:
        state.x = state.x * 0.5
        state.n += 1
    return state.x


row(namespace_attributes, [2.0, 3], [2.0, 0], staged="loop", grad=True, batch=True)


def attribute_bound_in_a_branch(x):
    state = SimpleNamespace(x=x)
    if x > 0:
        state.scale = 2.0
    else:
        state.scale = 3
    return state.x * state.scale


row(attribute_bound_in_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def setattr_by_name(x):
    state = SimpleNamespace(a=0.0, b=0.0)
    for name in ("a", "b"):
        if x > 0:
            setattr(state, name, x)
    return state.a + state.b


row(setattr_by_name, [2.0], [-2.0], want="either")


class Matrix:
    def __init__(self, rows):
        self.rows = rows

    def __matmul__(self, other):
        columns = list(zip(*other.rows, strict=True))
        return Matrix([[sum(a * b for a, b in zip(row, column, strict=True)) for column in columns] for row in self.rows])

    def __pow__(self, n):
        power, square = Matrix([[1.0, 0.0], [0.0, 1.0]]), self
        while n > 0:
            if n % 2 == 1:
                power = power @ square
            square = square @ square
            n //= 2
        return power


def objects_with_lists_made_in_each_turn(x, n):
    return (Matrix([[x, 1.0], [1.0, 0.0]]) ** n).rows


row(objects_with_lists_made_in_each_turn, [1.0, 5], [0.5, 2], [2.0, 0], staged="loop", batch=True)


def constant_where_a_branch_may_have_set_one(v):
    if v[0] > 0:
        m = 1
    for _ in v:
        m = 0
    return m


row(constant_where_a_branch_may_have_set_one, [VECTOR], [-VECTOR], batch=True)


def constant_in_a_loop_in_a_loop(v):
    if v[0] > 0:
        m = 1.5
    for _ in v:
        for _ in range(2):
            m = 0
    return m


row(constant_in_a_loop_in_a_loop, [VECTOR], [-VECTOR], batch=True)


def constant_that_a_lambda_reads(v):
    if v[0] > 0:
        m = 1
    read = lambda: m  # noqa: E731 - as users write it
    for _ in v:
        for _ in range(2):
            m = 0
    return read()


row(constant_that_a_lambda_reads, [VECTOR], [-VECTOR], batch=True)


def parameters_that_a_tree_function_puts_in_order(x, n):
    params = {"w": x, "b": jnp.zeros_like(x)}
    for i in range(n):
        params = jax.tree.map(lambda p: p * 0.5 + i, params)
        if params["w"] > 3:
            break
    return params["w"], params["b"]


row(parameters_that_a_tree_function_puts_in_order, [1.0, 3], [9.0, 2], [1.0, 0], staged="loop cond", batch=True)


def nested_parameters_put_in_order_in_a_branch(x):
    state = {"params": {"w": x, "b": 2 * x}, "n": 0}
    if x > 1:
        state["params"] = jax.tree.map(lambda p: p - 1, state["params"])
        state["n"] += 1
    return state["params"]["w"], state["params"]["b"], state["n"]


row(nested_parameters_put_in_order_in_a_branch, [1.0], [3.0], staged="cond", grad=True, batch=True)


def key_that_a_branch_puts_at_the_end(x):
    recent = {"b": x, "a": 2 * x}
    if x > 1:
        recent["b"] = recent.pop("b")
    return next(iter(recent.values()))


row(key_that_a_branch_puts_at_the_end, [1.0], [3.0], want="either")


@table.each_way
def test_carries(row, way, record_property):
    check(row, way, record_property)
