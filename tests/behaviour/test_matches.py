"""match: values, sequences, mappings and classes whose parts are traced; captures, guards, and exits from cases."""

import dataclasses
import enum
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax import autograph

from .harness import Table, check

table = Table(__name__)
row = table.row


@dataclasses.dataclass
class Point:
    x: object
    y: object


class Circle:
    __match_args__ = ("centre", "radius")

    def __init__(self, centre, radius):
        self.centre, self.radius = centre, radius


class Pair(NamedTuple):
    first: object
    second: object


class Kind(enum.Enum):
    LINE = 1
    CURVE = 2


class Limits:
    low = 0.0
    high = 10.0
    pair = (0.0, 1.0)


# ------------------------------------------------------------------ sequences


def values_in_a_tuple(a, b):
    match (a, b):
        case (0, 0):
            return 0.0
        case (0, y):
            return y
        case (x, 0):
            return x * 2
        case (x, y):
            return x - y


row(values_in_a_tuple, [0.0, 0.0], [0.0, 2.0], [3.0, 0.0], [3.0, 2.0], staged="cond", batch=True)


def slopes_through_a_tuple(a, b):
    match (a, b):
        case (x, y) if x > y:
            r = x * y
        case (x, y):
            r = x + y * 3
    return r


row(slopes_through_a_tuple, [3.0, 2.0], [1.0, 2.0], staged="cond", grad=True, batch=True)


def truths_in_a_tuple(x, y):
    match (bool(x > 0), bool(y > 0)):
        case (True, True):
            return 1
        case (True, False):
            return 2
        case (False, True):
            return 3
        case _:
            return 4


row(truths_in_a_tuple, [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], staged="cond", batch=True)


def comparisons_in_a_tuple(x, y):
    match (x > 0, y > 0):
        case (True, True):
            return 1
        case (True, _):
            return 2
    return 3


row(comparisons_in_a_tuple, [1, 1], [1, -1], [-1, 1], staged="cond", batch=True)


def truth_of_a_comparison(x):
    match bool(x > 0):
        case True:
            r = x
        case False:
            r = -x
    return r


row(truth_of_a_comparison, [2.0], [-3.0], staged="cond", grad=True, batch=True)


def star_in_the_middle(a, b, c, d):
    match [a, b, c, d]:
        case [0, *_, last]:
            return last
        case [first, *middle, 0]:
            return first + sum(middle)
        case [*all_]:
            return sum(all_) * len(all_)


row(star_in_the_middle, [0.0, 1.0, 2.0, 3.0], [1.0, 2.0, 3.0, 0.0], [1.0, 2.0, 3.0, 4.0], staged="cond")


def length_is_static(x, n):
    match [x] * n:
        case []:
            return 0.0
        case [a]:
            return a
        case [a, 0, *_] | [a, _, 0, *_]:
            return a * 2
        case [a, *rest]:
            return a + len(rest)


row(length_is_static, [2.0, 0], [2.0, 1], [0.0, 2], [2.0, 3], static=[1])


def or_of_sequences_binds_either(a, b):
    match (a, b):
        case (0, r) | (r, 0):
            return r * 10
        case _:
            return -1.0


row(or_of_sequences_binds_either, [0.0, 2.0], [3.0, 0.0], [0.0, 0.0], [1.0, 2.0], staged="cond", batch=True)


def nested_sequences(a, b, c):
    match (a, (b, [c])):
        case (0, (0, [r])):
            return r
        case (0, (q, [0])):
            return q * 2
        case (p, (q, _) as inner):
            return p + q + len(inner)


row(nested_sequences, [0.0, 0.0, 5.0], [0.0, 4.0, 0.0], [1.0, 2.0, 3.0], [0.0, 2.0, 3.0], staged="cond")


def an_array_is_no_sequence(v):
    match v:
        case [a, b]:
            return a + b
        case _:
            return v * 10


# No row: since version 2.4 a NumPy array is a sequence for `match`, and a JAX array is none.
def test_an_array_of_jax_is_no_sequence():
    v = jnp.array([1.0, 2.0])
    for converted in (autograph(an_array_is_no_sequence), jax.jit(autograph(an_array_is_no_sequence))):
        np.testing.assert_array_equal(converted(v), an_array_is_no_sequence(v))


def array_among_others(x, v):
    match (x, v):
        case (0, w):
            return w
        case (n, w):
            return w * n


row(array_among_others, [0.0, np.array([1.0, 2.0])], [2.0, np.array([1.0, 2.0])], staged="cond")


def dotted_values(x):
    match (x, 1):
        case (Limits.low, _):
            return 1.0
        case (Limits.high, n):
            return n * 2.0
        case Limits.pair:
            return 3.0
    return x


row(dotted_values, [0.0], [10.0], [4.0], staged="cond")


def named_tuples(a, b):
    match Pair(a, b):
        case Pair(0, second):
            return second
        case (first, 1):
            return first * 5
        case Pair(second=s):
            return -s


row(named_tuples, [0.0, 2.0], [3.0, 1.0], [3.0, 4.0], staged="cond", batch=True)


# ------------------------------------------------------------------ mappings


def values_of_a_dict(v):
    match {"kind": "a", "v": v}:
        case {"kind": "b"}:
            return 0.0
        case {"kind": "a", "v": 1}:
            return 10.0
        case {"kind": "a", "v": (2 | 3) as w, **rest}:
            return w * 2 + len(rest)
        case {"v": w}:
            return -w


row(values_of_a_dict, [1.0], [2.0], [3.0], [4.0], staged="cond", batch=True)


def nested_dicts(x, y):
    match {"at": {"x": x, "y": y}, "name": "p"}:
        case {"at": {"x": 0, "y": y}}:
            return y
        case {"at": {"x": x}, "name": str(name)} if x > 1:
            return x * len(name)
        case {"at": at, **rest}:
            return at["y"] - len(rest)


row(nested_dicts, [0.0, 2.0], [3.0, 2.0], [0.5, 2.0], staged="cond")


def missing_keys(x):
    match {"a": x}:
        case {"b": b}:
            return b
        case {}:
            return x + 1


row(missing_keys, [1.0])


# ------------------------------------------------------------------ classes


def attributes(a, b):
    match Point(a, b):
        case Point(x=0, y=y):
            return y
        case Point(x=x, y=0):
            return x * 2
        case Point(x, y) if x > y:
            return x - y
        case Point():
            return -1.0


row(attributes, [0.0, 2.0], [3.0, 0.0], [3.0, 2.0], [1.0, 2.0], staged="cond", batch=True)


def positional_attributes(a, b, r):
    match Circle(Point(a, b), r):
        case Circle(Point(0, 0), radius=radius):
            return radius
        case Circle(Point(x, y), 1):
            return x * y
        case Circle(centre, radius):
            return centre.x + radius


row(positional_attributes, [0.0, 0.0, 5.0], [3.0, 2.0, 1.0], [3.0, 2.0, 4.0], staged="cond")


def kinds_of_values(x, given):
    match given:
        case bool():
            r = x
        case int(n) | float(n):
            r = x * n
        case str() as text:
            r = x + len(text)
        case None:
            r = -x
        case [*_]:
            r = x * 100
    return r


row(kinds_of_values, [2.0, True], [2.0, 3], [2.0, 0.5], [2.0, "abc"], [2.0, None], [2.0, (1,)], static=[1])


def enums(x, name):
    match Kind[name]:
        case Kind.LINE:
            return x
        case Kind.CURVE:
            return x * x


row(enums, [3.0, "LINE"], [3.0, "CURVE"], static=[1])


def chosen_enum(x):
    kind = Kind.LINE if x > 0 else Kind.CURVE
    match kind:
        case Kind.LINE:
            return x
        case Kind.CURVE:
            return x * x


row(chosen_enum, [3.0], [-3.0], staged="cond", grad=True)


def missing_attribute(x):
    match Point(x, 1):
        case Point(z=0):
            return 0.0
        case Point(y=1, x=0):
            return 1.0
        case _:
            return x


row(missing_attribute, [0.0], [2.0], staged="cond")


def too_many_positional(x):
    match Point(x, 1):
        case Point(a, b, c):
            return a + b + c


row(too_many_positional, plain=[[1.0]])


def no_class(x):
    match x:
        case jnp():
            return 1


row(no_class, plain=[[1.0]])


# ------------------------------------------------------------------ guards and captures


def guard_on_captures(a, b):
    match (a, b):
        case (x, y) if x > y:
            r = x
        case (x, _) if x > 0:
            r = -x
        case _:
            r = x * 100
    return r


row(guard_on_captures, [3.0, 2.0], [1.0, 2.0], [-1.0, 2.0], staged="cond", grad=True, batch=True)


def captures_stay_where_the_guard_fails(a, b):
    x = 0.0
    match (a, b):
        case (0, x) if x > 5:
            r = 1.0
        case (0, _):
            r = 2.0
        case _:
            r = 3.0
    return r, x


row(captures_stay_where_the_guard_fails, [0.0, 7.0], [0.0, 2.0], [1.0, 7.0], staged="cond", batch=True)


def value_with_a_name_and_a_guard(k, m):
    match k:
        case (0 | 1) as n if n >= m:
            return n * 10
        case n:
            return n + 100


row(value_with_a_name_and_a_guard, [1, 0], [0, 1], [5, 0], staged="cond")


def guard_without_captures(x, y):
    match (x, 1):
        case (0, 1) if y > 0:
            return 1.0
        case (0, _):
            return 2.0
    return 3.0


row(guard_without_captures, [0.0, 1.0], [0.0, -1.0], [1.0, 1.0], staged="cond")


def unbound_where_nothing_matches(x):
    match (x, 2.0):
        case (0, y):
            pass
    return y


row(unbound_where_nothing_matches, [0.0], plain=[[1.0]])


def guard_with_a_walrus(a, b):
    match (a, b):
        case (x, y) if (z := x * y) > 2:
            return z
        case (x, y):
            return x + z


row(guard_with_a_walrus, [3.0, 2.0], [1.0, 1.0], staged="cond")


# ------------------------------------------------------------------ values that may be None, or one of several


def none_or_a_pair(x):
    s = None
    if x > 0:
        s = (x, 2.0)
    match s:
        case None:
            return 0.0
        case (a, b):
            return a * b


row(none_or_a_pair, [3.0], [-1.0], staged="cond", grad=True, batch=True)


def a_pair_or_none(x):
    s = None
    if x > 0:
        s = (x, 2.0)
    match s:
        case (a, 2) if a > 1:
            r = a
        case (a, b):
            r = a * b
        case other:
            r = 5.0 if other is None else -1.0
    return r


row(a_pair_or_none, [3.0], [0.5], [-1.0], staged="cond", batch=True)


def none_inside_a_tuple(x):
    best = None
    if x > 0:
        best = x
    match (best, x):
        case (None, v):
            return -v
        case (b, v):
            return b + v


row(none_inside_a_tuple, [3.0], [-2.0], staged="cond", batch=True)


def strings_chosen_by_data(x, y):
    match ("up" if x > 0 else "down", "left" if y > 0 else "right"):
        case ("up", "left"):
            return 1
        case ("up", _):
            return 2
        case ("down", way):
            return 3 if way == "left" else 4


row(strings_chosen_by_data, [1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0], staged="cond", batch=True)


# ------------------------------------------------------------------ exits and loops


def exits_from_cases(x, n):
    total = 0.0
    for i in range(n):
        match (i, x):
            case (0, _):
                continue
            case (2, 0):
                break
            case (_, v) if v > 10:
                return v
            case (k, v):
                total = total + k * v
        x = x + 1
    return total


row(exits_from_cases, [0.0, 5], [-1.0, 5], [9.0, 5], [1.0, 0], staged="loop")


def state_machine_of_tuples(n):
    state = (0, 1)
    steps = 0
    while steps < n:
        match state:
            case (0, b):
                state = (1, b * 2)
            case (1, b) if b > 4:
                state = (2, b - 4)
            case (a, b):
                state = (0, a + b)
        steps += 1
    return state


row(state_machine_of_tuples, [1], [2], [6], [9], [0], staged="loop")


def match_in_a_scan(v):
    up, down = 0, 0
    last = v[0]
    for x in v:
        match (int(x > last), x):
            case (1, _):
                up += 1
            case (0, 0):
                pass
            case _:
                down += 1
        last = x
    return up, down


row(match_in_a_scan, [np.array([1.0, 2.0, 0.0, 5.0, 4.0])], [np.array([0.0, 0.0, 0.0, 1.0, 2.0])], staged="loop")


@table.each_way
def test_matches(row, way, record_property):
    check(row, way, record_property)
