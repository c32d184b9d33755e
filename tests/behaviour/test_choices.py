"""What traced data chooses among Python's values: table lookups, functions, objects, comparisons of tuples, None."""

import collections
import contextlib
import copy
import dataclasses
import enum
import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row


# ------------------------------------------------------------------ dicts


def what_it_is(x):
    function, text, number = None, None, 1
    if x > 0:
        function, text, number = math.sin, "a", "one"
    return (1 if callable(function) else 0, 1 if type(text) is str else 0, 1 if type(number) == int else 0)  # noqa: E721


row(what_it_is, [0.5], [-3.0], batch=True)


class Up:
    step = 1.0


class Down:
    step = -2.0


def class_of_an_object(x):
    direction = Up() if x > 0 else Down()
    kind = direction.__class__
    return (1 if kind is Up else 0, kind.step * x, 1 if type(direction) == Down else 0)  # noqa: E721


row(class_of_an_object, [0.5], [-3.0], batch=True)


def rate_by_name(x):
    method = "slow" if x < 1 else "fast"
    return {"slow": 1.0, "fast": 2.5}[method] * x


row(rate_by_name, [0.5], [3.0], staged="cond", grad=True, batch=True)


RATES = {"slow": 0.1, "fast": 0.9}
STEPS = {"up": lambda v: v + 1, "down": lambda v: v * 0.5}


def rate_of_the_module(x):
    method = "slow"
    if x > 1:
        method = "fast"
    return x * RATES[method]


row(rate_of_the_module, [0.5], [3.0], staged="cond", grad=True, batch=True)


def function_of_the_module(x):
    way = "up" if x < 3 else "down"
    return STEPS[way](x)


row(function_of_the_module, [0.5], [8.0], staged="cond", grad=True, batch=True)


def method_changes_in_a_loop(x):
    method = "slow"
    n = 0
    while x < 10:
        x = x * (1 + RATES[method])
        if n > 3:
            method = "fast"
        n += 1
    return x, n


row(method_changes_in_a_loop, [1.0], [20.0], [8.0], staged="loop")


def missing_key(x):
    return {"a": 1.0, "b": 2.0}["c" if x > 0 else "a"]


row(missing_key, [-1.0], plain=[[1.0]])


def key_is_a_number(x, k):
    costs = {0: 1.0, 3: x, 7: -1.0}
    return costs[k]


row(key_is_a_number, [5.0, 3], [5.0, 0], [5.0, 7], plain=[[5.0, 1]], batch=True)


def rows_of_a_dict(x, v):
    kind = "rows" if x > 0 else "halves"
    return {"rows": v, "halves": v / 2}[kind]


row(rows_of_a_dict, [1.0, np.array([2.0, 4.0])], [-1.0, np.array([2.0, 4.0])], staged="cond", grad=True)


def pairs_of_a_dict(x):
    way = "left" if x > 0 else "right"
    dx, dy = {"left": (-1, x), "right": (1, 0.0)}[way]
    return dx * 10 + dy


row(pairs_of_a_dict, [2.0], [-2.0], staged="cond", batch=True)


def nested_dict(x, y):
    kind = "a" if x > 0 else "b"
    size = "big" if y > 0 else "small"
    costs = {"a": {"big": 1.0, "small": 2.0}, "b": {"big": 3.0, "small": 4.0}}
    return costs[kind][size]


row(nested_dict, [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], staged="cond", batch=True)


def key_in_a_dict(x):
    name = "slow" if x > 1 else "other"
    if name in RATES:
        return RATES[name]
    return -1.0


row(key_in_a_dict, [2.0], [0.5], staged="cond", batch=True)


def parts_of_keys(x, n):
    best = "a" if x > 1 else "b"
    table = {("a", 0): x, ("b", 0): 2 * x, ("a", 1): x + 5, ("b", 1): x * x}
    table[best, n] += 1.0
    found = 1.0 if (best, n) in table else 0.0
    return table[best, n] + table.get((best, 7), 0.5) + found, table["a", 0], table["b", 1]


row(parts_of_keys, [2.0, 0], [2.0, 1], [0.5, 1], batch=True)


def table_of_pairs(x):
    """Romberg's: Python runs the loops, since a staged one could add no key that depends on its counter."""
    table = {(0, 0): x}
    for i in range(1, 4):
        table[i, 0] = 0.5 * table[i - 1, 0]
        for j in range(1, i + 1):
            before = table[i, j - 1]
            table[i, j] = before + (before - table[i - 1, j - 1]) / (4**j - 1)
    return table[3, 3], len(table)


row(table_of_pairs, [2.0])


def pairs_found(x):
    table, total = {(1, 0): 1.0, (2, 0): x, (3, 0): 3.0}, 0.0
    for i in range(5):
        if (i, 0) in table:
            total = total + x * table[i, 0]
        total = total + table.get((i, 0), 0.5)
    return total


row(pairs_found, [2.0])


def new_key(x):
    table = {0: 1.0, 1: 2.0}
    table[int(x)] = x
    return table[0], table[1]


def new_pair(x):
    table = {(0, "a"): 1.0, (1, "a"): 2.0}
    table[int(x), "a"] = x
    return table[0, "a"], table[1, "a"]


row(new_key, [1.0], [0.0])
row(new_pair, [1.0], [0.0])


@pytest.mark.parametrize("write", [new_key, new_pair])
def test_a_key_that_may_be_new_is_refused_where_it_is(write):
    with pytest.raises(ag.StructureError, match=r"it may be a new one(.|\n)*dict\.fromkeys"):
        ag.jit(write)(2.0)


def missing_part_of_a_key(x):
    table = {("a", 0): x}
    return table["a" if x > 0 else "c", 0]


row(missing_part_of_a_key, [2.0])


def keys_of_two_kinds(x):
    table = {("a", 0): x, "b": 3.0}
    if x > 0:
        table["b"] = x
    return table["b"]


row(keys_of_two_kinds, [2.0], [-2.0])


def dict_get(x):
    name = "slow" if x > 1 else "fast"
    return name == "slow", name in ("fast", "none"), name not in {"slow": 1}


row(dict_get, [2.0], [0.5], batch=True)


# ------------------------------------------------------------------ lists and tuples


def element_at(x, k):
    parts = [x, x * 2, x * x]
    return parts[k]


row(element_at, [3.0, 0], [3.0, 2], [3.0, -1], [3.0, -3], plain=[[3.0, 3], [3.0, -4]], batch=True)


def array_at(v, k):
    layers = [v, v * 2, v[::-1]]
    return layers[k].sum() + layers[k - 1][0]


row(array_at, [np.array([1.0, 2.0]), 0], [np.array([1.0, 2.0]), 2])


def slope_of_the_element(x):
    parts = (x, x * 2, x * x)
    k = 2 if x > 1 else 1
    return parts[k] * 1.5


row(slope_of_the_element, [3.0], [0.5], staged="cond", grad=True, batch=True)


def function_at(x, k):
    return (jnp.sin, jnp.cos, lambda v: v * 2)[k](x)


row(function_at, [0.5, 0], [0.5, 1], [0.5, 2], [0.5, -1], staged="cond", batch=True)


def functions_given(x, k):
    def twice(v):
        return v * 2

    def more(v):
        if v > 1:
            return v - 1
        return v + 5

    steps = [twice, more]
    return steps[k](x)


row(functions_given, [0.5, 0], [0.5, 1], [4.0, 1], staged="cond", batch=True)


def letters_at(k):
    word = "abc"
    return word[k] == "b", ["x", "y"][k % 2] == "x"


row(letters_at, [0], [1], [2], batch=True)


def mixed_elements(x, k):
    values = [None, x, "text"]
    value = values[k]
    if value is None:
        return -1.0
    if value == "text":
        return -2.0
    return value


row(mixed_elements, [3.0, 0], [3.0, 1], [3.0, 2], staged="cond", batch=True)


def tuples_at(x, k):
    a, b = [(x, 1), (2.0, x), (x * 2, 5)][k]
    return a - b


row(tuples_at, [3.0, 0], [3.0, 1], [3.0, 2], batch=True)


def range_at(n, k):
    odd = range(1, 20, 2)
    return odd[k] + n


row(range_at, [1, 0], [1, 4], [1, -1], batch=True)


def element_in_a_loop(x, n):
    weights = [x, 0.5, x * x]
    total = 0.0
    i = 0
    while i < n:
        total = total + weights[i % 3]
        i += 1
    return total


row(element_in_a_loop, [2.0, 5], [2.0, 0], staged="loop")


def static_counter_of_a_staged_loop(n):
    letters = ["a", "b", "c"]
    i = 0
    while i < len(letters):
        if n < 0 and letters[i] == "b":
            break
        i += 1
    return i


row(static_counter_of_a_staged_loop, [1], [-1], batch=True)


def out_of_range_in_a_branch(x, k):
    values = [1.0, 2.0]
    if k < 2:
        return values[k] * x
    return -x


row(out_of_range_in_a_branch, [3.0, 0], [3.0, 1], [3.0, 5], staged="cond", batch=True)


def numeric_code_stays(a, b, i):
    return b[i] - a[i] * b[i - 1]


row(numeric_code_stays, [np.array([1.0, 2.0]), np.array([3.0, 4.0]), 1])


def empty_list(k):
    values = []
    return values[k]


row(empty_list, plain=[[0]])


def index_of_the_wrong_type(x):
    values = [1.0, 2.0]
    key = "a"
    return values[key]


row(index_of_the_wrong_type, plain=[[1.0]])


# ------------------------------------------------------------------ objects


class Model:
    def __init__(self, rate, name):
        self.rate, self.name = rate, name

    def step(self, x):
        if x > 2:
            return x - self.rate
        return x * self.rate


class Other:
    rate = 0.5
    name = "other"

    def step(self, x):
        return x * self.rate + 1


FIRST, SECOND, OTHER = Model(0.25, "first"), Model(0.75, "second"), Other()


def attributes_of_the_chosen(x):
    model = FIRST if x > 0 else OTHER
    return model.rate * x, getattr(model, "rate"), model.name == "other"  # noqa: B009


row(attributes_of_the_chosen, [2.0], [-2.0], staged="cond", batch=True)


def method_of_the_chosen(x):
    model = FIRST if x > 0 else OTHER
    return model.step(x)


row(method_of_the_chosen, [1.0], [3.0], [-2.0], staged="cond", grad=True, batch=True)


def object_of_a_list(x, k):
    models = [FIRST, SECOND, OTHER]
    return models[k].step(x) + models[k].rate


row(object_of_a_list, [1.0, 0], [3.0, 1], [2.0, 2], [3.0, -1], staged="cond", batch=True)


class Step(NamedTuple):
    size: object
    name: str


def named_tuple_of_a_dict(x):
    kind = "a" if x > 0 else "b"
    step = {"a": Step(x, "first"), "b": Step(-1.0, "second")}[kind]
    return step.size * (2 if step.name == "first" else 3)


row(named_tuple_of_a_dict, [2.0], [-2.0], staged="cond", batch=True)


# ------------------------------------------------------------------ None


def none_in_a_carried_tuple(v):
    s = (0, None)
    for x in v:
        s = (s[0] + 1, x if s[1] is None else s[1] + x)
    return s


row(none_in_a_carried_tuple, [np.array([1.0, 2.0, 4.0])], [np.array([3.0])])


def none_in_a_tuple(x):
    s = (0, None)
    if x > 0:
        s = (1, x)
    return s[0] if s[1] is None else s[0] + s[1]


row(none_in_a_tuple, [2.0], [-2.0], staged="cond", batch=True)


def none_in_a_list(x):
    best = [None, 1.0]
    if x > 0:
        best[0] = x
    if best[0] is not None and best[0] > 1:
        return best[0] * best[1]
    return -1.0


row(none_in_a_list, [2.0], [0.5], [-2.0], staged="cond", batch=True)


class Tracker:
    def __init__(self):
        self.best = None

    def see(self, x):
        if self.best is None or x > self.best:
            self.best = x


def none_in_an_attribute(v):
    tracker = Tracker()
    for x in v:
        if x > 0:
            tracker.see(x)
    return -1.0 if tracker.best is None else tracker.best


row(none_in_an_attribute, [np.array([1.0, 5.0, 3.0])], [np.array([-1.0, -2.0, -3.0])], staged="loop")


def two_that_may_be_none(x, y):
    a = x if x > 0 else None
    b = y if y > 0 else None
    if a is not None and b is not None and a > b:
        return a - b
    return a or b or -1.0


row(two_that_may_be_none, [3.0, 1.0], [1.0, 3.0], [-1.0, 2.0], [2.0, -1.0], [-1.0, -1.0], staged="cond", batch=True)


def or_takes_none_away(x):
    y = x if x > 1 else None
    z = y or 5.0
    return z + 1


row(or_takes_none_away, [3.0], [0.5], staged="cond", batch=True)


def word_of_branches(xs):
    word = ""
    for x in xs:
        if x < 3:
            word += "l"
        else:
            word += "r"
    return 1.0 if word == "lr" else 2.0


def word_that_grows(x):
    word = ""
    while x > 0:
        if x < 3:
            word += "l"
        else:
            word += "r"
        x = x - 2
    return 1.0 if word == "rrl" else 2.0


row(word_of_branches, [np.array([1.0, 5.0])], [np.array([5.0, 1.0])])
row(word_that_grows, [5.0], want="error")


def call_of_none(x):
    act = jnp.sin if x > 0 else None
    return act(x)


row(call_of_none, [1.0], [2.0], staged="cond", batch=True)


def text_in_arithmetic(x):
    value = x if x > 0 else "none"
    return value + 1


row(text_in_arithmetic, [1.0], want="error")


def runs_of_equal_numbers(x):
    runs, longest, now, last = 0, 0, 0, None
    for v in x:
        if v != last:
            if last is not None:
                runs += 1
            last, now = v, 1
        else:
            now += 1
        longest = max(longest, now)
    return runs, longest, last


row(runs_of_equal_numbers, [np.array([1, 1, 2, 2, 2])], [np.array([3, 1, 2, 1, 0])], staged="loop", batch=True)


def is_it_the_last_one(x, t):
    last = None
    for v in x:
        if v > t:
            last = v
    return x[0] == last, last != t, (last == x).any() if last is not None else False


row(is_it_the_last_one, [np.array([1.0, 2.0]), 1.5], [np.array([1.0, 2.0]), 5.0], [np.array([2.0, 1.0]), 1.0])


class Stopper:
    def __init__(self):
        self.best, self.weights = None, None

    def better(self, loss, weights):
        if self.best is None or loss < self.best:
            self.best, self.weights = loss, copy.deepcopy(weights)


def weights_of_the_best_turn(w, rate):
    weights, stopper = {"w": w, "steps": [0.0]}, Stopper()
    for _ in range(5):
        weights["w"] = weights["w"] - rate * 2 * (weights["w"] - 3.0)
        weights["steps"][0] += 1
        stopper.better((weights["w"] - 3.0) ** 2, weights)
    return stopper.best, stopper.weights["w"], stopper.weights["steps"][0]


row(weights_of_the_best_turn, [1.0, 0.25], [1.0, 1.1], staged="cond", batch=True)


def found_in_a_list_or_none(x, t):
    found = None
    for key, v in enumerate(x):
        if v > t:
            found = {"key": key, "value": v}
            break
    return found["value"] * found["key"]


row(found_in_a_list_or_none, [np.array([1.0, 2.0, 5.0]), 1.5], [np.array([1.0, 2.0]), 9.0], own_jit=True)


# ------------------------------------------------------------------ comparisons of containers


def equal_tuples(n):
    return (n, 2) == (3, 2), (n, 2) != (3, 2), (n, 2) == (n, 2, 0), (n,) == [3]


row(equal_tuples, [3], [1], batch=True)


def equal_lists(x, y):
    a, b = [x, [y, 1]], [y, [x, 1]]
    if a == b:
        return 1.0
    return 2.0


row(equal_lists, [1.0, 1.0], [1.0, 2.0], staged="cond", batch=True)


def ordered_tuples(a, b):
    return (a, b) < (2, 1), (a, b) <= (2, 1), (a, b) > (2,), [a] >= [2, b]


row(ordered_tuples, [1, 5], [2, 0], [2, 1], [2, 2], [3, 0], batch=True)


def equal_dicts(x):
    return {"a": x, "b": 1} == {"b": 1, "a": 2.0}, {"a": x} == {"b": x}


row(equal_dicts, [2.0], [3.0], batch=True)


def tuple_among_tuples(x, y):
    return (x, y) in [(1, 2), (2, 1)], x in range(0, 10, 3), [x] in ([1], [2])


row(tuple_among_tuples, [1, 2], [2, 1], [2, 2], [9, 1], batch=True)


def smallest_pair(a, b):
    best = (a, 1)
    if (b, 0) < best:
        best = (b, 0)
    return best


row(smallest_pair, [1.0, 2.0], [2.0, 2.0], [3.0, 2.0], staged="cond", batch=True)


def text_of_numbers(x):
    return math.floor(x) == 2, (x > 0, x < 5) == (True, True)


row(text_of_numbers, [2.5], [7.0], batch=True)


# ------------------------------------------------------------------ written where traced data picks
def key_chosen_and_written(n):
    d = {"a": 0, "b": 1}
    for i in range(n):
        k = "a" if i % 2 else "b"
        d[k] += i
    return d["a"], d["b"]


row(key_chosen_and_written, [5], [0])


def element_picked_and_written(n, v):
    xs = [1, 2, 3]
    xs[n] = v
    xs[-n - 1] += 10
    return xs


row(element_picked_and_written, [1, 9], [2, 9], [-1, 9])


def elements_picked_and_swapped(n):
    xs = [1.0, 2.0, 3.0]
    for i in range(3):
        j = (i * n) % 3
        xs[i], xs[j] = xs[j], xs[i]
    return xs


row(elements_picked_and_swapped, [2], [1], [5])


def number_among_the_keys_written(n):
    d = {0: 5, 1: 7}
    d[n] += 1
    return d[0], d[1]


row(number_among_the_keys_written, [0], [1])


def row_picked_and_written(i):
    rows = [[1, 2], [3, 4]]
    rows[i][0] = 9
    return rows


row(row_picked_and_written, [0], [1])


def array_picked_and_written(i):
    rows = [np.array([1, 2]), np.array([3, 4])]
    rows[i][0] = 9
    return rows


row(array_picked_and_written, [0], [1])


def array_picked_and_written_beside_its_name(i, x):
    rows = [x, x * 2]
    rows[i][0] = 9.0
    return rows, x


row(array_picked_and_written_beside_its_name, [0, np.array([1.0, 2.0])], [1, np.array([1.0, 2.0])], want="either")


def one_of_two_lists_written(c):
    x, y = [1, 2], [3, 4]
    z = x if c else y
    z[0] = 9
    return x, y, z[0]


row(one_of_two_lists_written, [True], [False])


def one_of_two_dicts_written_through_a_second_name(c):
    x, y = {"a": 1}, {"a": 2}
    z = x if c else y
    z["a"] += 1
    w = z
    w["a"] *= 2
    return x["a"], y["a"], z["a"]


row(one_of_two_dicts_written_through_a_second_name, [True], [False])


def list_or_none_written(c):
    x = [1, 2]
    z = x if c else None
    if z is not None:
        z[0] = 9
    return x


row(list_or_none_written, [True], [False])


def picked_by_a_bool(c):
    xs = [1, 2]
    xs[c] += 5
    return xs[c], xs


row(picked_by_a_bool, [True], [False])


@dataclasses.dataclass
class Settings:
    gain: float
    count: int = 2


def copy_of_one_of_two_written(c):
    x, y = Settings(1.0), Settings(2.0)
    z = x if c else y
    w = copy.copy(z)
    w.gain = 9.0
    return x.gain, y.gain, z.gain, w.gain


def deep_copy_of_one_of_two_written(c):
    x, y = [[1.0]], [[2.0]]
    z = copy.deepcopy(x if c else y)
    z[0][0] = 9.0
    return x[0][0], y[0][0], z[0][0]


def replaced_in_one_of_two(c):
    z = dataclasses.replace(Settings(1.0) if c else Settings(2.0, 3), gain=5.0)
    return z.gain, z.count, dataclasses.asdict(z)["count"], dataclasses.astuple(z)[1]


def attribute_by_its_name(c):
    name = "gain" if c else "count"
    return getattr(Settings(1.5), name), hasattr(Settings(1.5), name), hasattr(Settings(1.5), "gain" if c else "none")


def found_in_a_list(c):
    name = "b" if c else "a"
    return ["a", "b", "a"].count(name), ["a", "b", "a"].index(name), ord(name)


for function in (
    copy_of_one_of_two_written,
    deep_copy_of_one_of_two_written,
    replaced_in_one_of_two,
    attribute_by_its_name,
    found_in_a_list,
):
    row(function, [True], [False])


def found_by_value(x):
    values = [1.0, x, 3.0, x]
    return values.count(3.0), values.index(3.0), values.index(x, 2), (1.0, 2.0).count(x)


row(found_by_value, [3.0], [5.0], [2.0])


def not_found(x):
    return [1.0, 2.0].index(x)


row(not_found, [1.0], [5.0], own_jit=True)


# ------------------------------------------------------------------ is, of numbers that have names
class Level(enum.IntEnum):
    LOW = 1
    HIGH = 3


def is_the_member(x):
    level, n = Level.LOW, 0
    if x > 2:
        level = Level.HIGH
    while n < 3 and level is not Level.HIGH:
        level = Level.HIGH if x > n else Level.LOW
        n += 1
    return level is Level.HIGH, 1.0 if Level.LOW is level else 2.0, n, level is None


row(is_the_member, [3.0], [1.0], [-1.0], staged="cond")


class Parts(enum.Flag):
    NONE = 0
    A = 1
    B = 2
    C = 4


def flags(x):
    parts = Parts.A
    if x > 0:
        parts |= Parts.B
    parts = Parts.C | parts if x < 2 else parts & ~Parts.A
    return 1.0 if parts & Parts.B else 2.0, Parts.C in parts, parts == Parts.B, (~parts).value


row(flags, [3.0], [1.0], [-1.0])


def is_true(x):
    found = False
    for i in range(3):
        if found is False and x > i:
            found = True
    n = 1 if x > 0 else 0
    return found is True, found is not True, 5.0 if found is False else 6.0, n is True


row(is_true, [3.0], [-1.0], staged="cond")


def loops_over_a_chosen_dict(x):
    state, new = {"u": x, "v": 2 * x}, {"u": 2 * x, "v": x}
    if x > 0:
        state = new
    total = 0.0
    for key in state:
        total += state[key]
    doubled = {key: 2 * state[key] for key in state}
    return total, doubled, sorted(state), list(state), sum(state[key] for key in state)


row(loops_over_a_chosen_dict, [3.0], [-1.0], staged="cond", own_jit=True)


class Light(enum.Enum):
    RED = 1
    GREEN = 3

    @property
    def next(self):
        return Light(4 - self.value)


def member_of_a_traced_number(n, x):
    light = Light(n)
    for _ in range(3):
        if x > 0:
            light = light.next
    return light.value, light is Light.RED


row(member_of_a_traced_number, [1, 2.0], [3, 2.0], [3, -1.0], [2, 1.0], own_jit=True)


def two_bools_are_one(x, y):
    a, b = x > 0, y > 0
    return a is b, (x > 1) is not b


row(two_bools_are_one, [1.0, 1.0], [1.0, -1.0], [-1.0, -3.0], batch=True)


def default_of_a_missing_key(k, x):
    counts = collections.Counter({1: 5, 2: 6})
    return {1: abs, 2: math.exp}.get(k, lambda v: -v)(x), counts.get(k, 0)


row(default_of_a_missing_key, [1, -2.0], [2, 0.5], [7, 0.5], batch=True)


# ------------------------------------------------------------------ operators of a chosen object
class Weight:
    def __init__(self, x):
        self.x = x

    def __neg__(self):
        return Weight(-self.x)

    def __abs__(self):
        return Weight(abs(self.x))

    def __add__(self, other):
        return Weight(self.x + (other.x if isinstance(other, Weight) else other))

    def __radd__(self, other):
        return Weight(self.x + other + 100.0)

    def __iadd__(self, other):
        self.x = self.x + other
        return self

    def __matmul__(self, other):
        return NotImplemented

    def __lt__(self, other):
        return self.x < other.x

    def __gt__(self, other):
        return self.x > other.x


class Doubled(Weight):
    def __neg__(self):
        return Doubled(-2 * self.x)


def operators_of_a_chosen_object(a, b):
    v, w = max(Weight(a), Weight(b)), Weight(1.0)
    return (-v).x, abs(v).x, (v + w).x, (v + 2).x, (2 + v).x, (w + v).x, (v + v).x


row(operators_of_a_chosen_object, [1.0, -2.0], [-3.0, 2.0])


def operators_of_one_of_two_classes(a, b):
    v = Doubled(a) if a > b else Weight(b)
    return (-v).x, (v + v).x


row(operators_of_one_of_two_classes, [1.0, -2.0], [-3.0, 2.0], staged="cond")


def in_place_on_a_chosen_object(a, b):
    weights = [Weight(a), Weight(b)]
    chosen = weights[0 if a > b else 1]
    chosen += 5
    return weights[0].x, weights[1].x, chosen.x


row(in_place_on_a_chosen_object, [1.0, -2.0], [-3.0, 2.0])


def an_operator_that_no_path_has(a, b):
    v = max(Weight(a), Weight(b))
    try:
        return (v @ 2.0).x
    except TypeError:
        return -1.0


row(an_operator_that_no_path_has, [1.0, -2.0], want="either")


# ------------------------------------------------------------------ methods of a chosen object: those of the one taken run


class Meter:
    def __init__(self, level):
        self.level, self.reads = level, 0

    def read(self):
        print("read", self.level)
        self.reads += 1
        return self.level

    @property
    def value(self):
        return self.read()

    def __getitem__(self, k):
        return self.read() * k

    def __lt__(self, other):
        return self.read() < other

    def __eq__(self, other):
        return self.read() == other

    def __bool__(self):
        return bool(self.read() > 0)

    def __contains__(self, level):
        return self.read() == level

    def __getattr__(self, name):
        if name != "shown":
            raise AttributeError(name)
        return self.read()


class Gauge(Meter):
    @property
    def value(self):
        self.reads += 10
        return self.level


def used(name, use):
    """One of two objects that were there before, and one of two that are made here."""

    def older(x, k):
        first, second = Meter(x), Gauge(x * 2)
        taken = first if k > 0 else second
        return use(taken), first.reads, second.reads

    def made(x, k):
        taken = Gauge(x * 2) if k > 0 else Meter(x)
        return use(taken), taken.reads

    row(older, [2.0, 1], [2.0, -1], name=f"{name}_of_one_of_two_objects", prints=True)
    row(made, [2.0, 1], [-2.0, -1], name=f"{name}_of_an_object_that_a_branch_makes", prints=True)


used("property", lambda meter: meter.value)
used("item", lambda meter: meter[3])
used("order", lambda meter: 1.0 if meter < 3.0 else 2.0)
used("equality", lambda meter: meter == 2.0)
used("truth", lambda meter: 1.0 if not meter else 2.0)
used("membership", lambda meter: 4.0 in meter)
used("getattr_method", lambda meter: meter.shown)
used("hasattr", lambda meter: getattr(meter, "value") if hasattr(meter, "value") else 0.0)  # noqa: B009


class Square:
    def __init__(self, side):
        self.side = side

    @property
    def size(self):
        return self.side * self.side if self.side > 1 else 1.0


class Disc:
    def __init__(self, radius):
        self.radius = radius

    @property
    def size(self):
        return 3.0 * self.radius


def one_of_two_classes_is_called(x):
    return (Square if x > 0 else Disc)(x).size


row(one_of_two_classes_is_called, [2.0], [0.5], [-3.0], staged="cond", grad=True, batch=True)


def with_one_of_two_locks(x):
    with contextlib.nullcontext(x) if x > 0 else contextlib.nullcontext(-x) as y:
        return y


row(with_one_of_two_locks, [2.0], [-3.0], want="either")


# ------------------------------------------------------------------ a bool on one path, another number on the other one
def is_false_or_number(x):
    found = False
    if x > 1:
        found = x
    return 1.0 if found is False else 2.0


row(is_false_or_number, [3.0], [0.5], want="either")


def is_instance_of_bool(x):
    found = True
    while x > 1:
        found = 2
        x = x / 2
    return 1.0 if isinstance(found, int | bool) else 2.0, isinstance(found, bool)


row(is_instance_of_bool, [3.0], [0.5], want="either")


def has_class_bool_in_a_list(x):
    held = [0.0, False]
    if x > 1:
        held[1] = 3.0
    later = held[1]
    if x > 0.7:
        later = 4.0
    return 1.0 if type(later) is bool else 2.0


row(has_class_bool_in_a_list, [3.0], [0.5], want="either")


def counts_from_a_bool(x):
    found = False
    for i in range(3):
        if x > i:
            found = found + x
    return found + 1, found == 0, not found


row(counts_from_a_bool, [3.0], [-0.5], staged="cond", grad=True)


def none_or_traced_bool(x):
    found = None
    if x > 1:
        found = False
        if x > 2:
            found = True
    return found is None, found is False, found is True, found is not False


row(none_or_traced_bool, [3.0], [1.5], [0.5])


def test_a_key_that_is_none_of_them_is_an_error_at_run_time():
    with pytest.raises(KeyError, match="none of the keys"):
        ag.jit(missing_part_of_a_key)(-2.0)


def test_what_lists_the_attributes_or_tells_the_place_is_refused():
    for look in (vars, dir, lambda o: o.__dict__, id):

        @ag.jit
        def f(c, look=look):
            z = Settings(1.0) if c else Plain()
            return "gain" in look(z) if look is not id else id(z) == 1

        with pytest.raises(ag.ChoiceError):
            f(True)


class Plain:
    gain = 1.0


def chosen_function_assigns_a_variable_around(x):
    count, total = 0, 0.0

    def counts():
        nonlocal count
        count += 1

    def adds():
        nonlocal total
        total += x

    def nothing():
        pass

    (counts if x > 0 else nothing)()
    chosen = adds if x > 0 else nothing
    chosen()
    {"p": adds, "q": counts}["p" if x > 1 else "q"]()
    return count, total


row(chosen_function_assigns_a_variable_around, [2.0], [0.5], [-1.0], batch=True)


def chosen_functions_of_one_maker(x):
    def make():
        count = 0

        def add(by):
            nonlocal count
            count += by

        return add, lambda: count

    first, of_first = make()
    second, of_second = make()
    for i in range(3):
        (first if x > i else second)(i + 1.0)
    return of_first(), of_second()


row(chosen_functions_of_one_maker, [1.5], [-1.5], [5.0], batch=True)


counted = 0


def chosen_function_assigns_a_global(x):
    global counted
    counted = 0

    def counts():
        global counted
        counted += 1

    def nothing():
        pass

    k = 0.0
    while k < x + 3:
        (counts if k > x else nothing)()
        k += 1
    return counted


row(chosen_function_assigns_a_global, [1.5], [-1.5], [0.5])


# ------------------------------------------------------------------ methods of a string, handed one of several
def chosen_argument_of_a_string(x):
    mode = "fast" if x > 1 else "slow"
    count = 0
    for name in ("fast", "slow", "other"):
        if name.startswith(mode[:2]):
            count += len(name)
    letter = "b" if x > 0 else "z"
    return count, "abcb".find(letter), "abcb".replace(letter, "yy") == "ayycyy", len("abc".split(mode if x > 2 else letter))


row(chosen_argument_of_a_string, [1.5], [0.5], [-0.5], [2.5])


def two_chosen_arguments_of_a_string(x):
    old, new = "b" if x > 1 else "z", "q" if x > 0 else "c"
    parts = "a-b-c".split(sep="-" if x > 1 else "x", maxsplit=1)
    return len("abc".replace(old, new)), "abc".replace(old, new).endswith((new, "z")), len(parts)


row(two_chosen_arguments_of_a_string, [1.5], [0.5], [-0.5])


def test_a_chosen_argument_that_a_string_does_not_hold_is_an_error_at_run_time():
    run = ag.jit(lambda x: "abcb".index("b" if x > 1 else "z"))
    assert run(2.0) == 1
    with pytest.raises(ValueError, match="substring not found"):
        run(0.5)


def test_a_text_as_an_argument_of_a_string_is_refused():
    with pytest.raises(ag.StagingError, match="has its text at run time only, and is used before: `str.startswith`"):
        ag.jit(lambda x: "abc".startswith(f"{x}"))(2.0)


# ------------------------------------------------------------------ a loop over one of several sequences
FEW, MANY = [1.0, 0.5], (1.0, 0.7, 0.3, 0.1)


def loop_over_one_of_two(x):
    s = 0.0
    for v in FEW if x > 0 else MANY:
        if s < -1:
            break
        s = s + v * x
    else:
        s = s + 100
    return s


row(loop_over_one_of_two, [1.5], [-1.5], [-0.25])


def loop_over_one_of_two_with_a_return(x):
    for v in FEW if x > 0 else MANY:
        if v * x < 0.6 and x != 5:
            return v
    return -1.0


row(loop_over_one_of_two_with_a_return, [1.5], [-1.5], [5.0], [0.4])


def loop_over_one_of_two_in_a_loop(x):
    s, last = 0.0, -1.0
    for i in range(20):
        for v in FEW if i > 3 else MANY:
            last = v
            s = s + v * x
            if s > 9:
                break
    return s, last


row(loop_over_one_of_two_in_a_loop, [1.5], [-1.5])


def loop_over_a_tuple_or_a_range(x):
    s = 0
    for v in (1, 2) if x > 0 else range(5):
        s += v
    return s


row(loop_over_a_tuple_or_a_range, [1.5], [-1.5])


def loop_over_a_list_or_nothing(x):
    names = FEW if x > 0 else None
    s = 0.0
    if names is not None:
        for v in names:
            s += v * x
    return s


row(loop_over_a_list_or_nothing, [1.5], [-1.5])


@table.each_way
def test_choices(row, way, record_property):
    check(row, way, record_property)
