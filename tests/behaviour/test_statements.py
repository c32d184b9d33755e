"""Assignments of all forms, try, with, del, raise, assert, print, around and inside staged blocks."""

import contextlib
import math
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from .harness import Table, check

table = Table(__name__)
row = table.row

VECTOR = np.array([1.0, 2.0, 3.0])
PAIRS = np.array([[1.0, 2.0], [3.0, 4.0]])


# ------------------------------------------------------------------ assignment
def annotated(x):
    y: float = 0.0
    if x > 0:
        y: float = x * 2
    return y


row(annotated, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def annotated_without_value(x):
    y: float
    if x > 0:
        y = x * 2
    else:
        y = 1.0
    return y


row(annotated_without_value, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def chained_assignment(x):
    a = b = 0.0
    if x > 0:
        a = b = x
    return a + 2 * b


row(chained_assignment, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def nested_unpacking(x, y):
    (a, b), c = (x, y), 1.0
    if x > y:
        (a, c), b = (b, a), c
    return a, b, c


row(nested_unpacking, [2.0, 1.0], [1.0, 2.0], staged="cond", grad=True, batch=True)


def index_changed_by_the_right_side(x):
    j, values = 0, [1.0, 2.0]

    def step():
        nonlocal j
        j = 1
        return x

    try:
        if x > 5:
            raise ValueError
        values[j] += step()
    except ValueError:
        values[0] = 7.0
    return values


row(index_changed_by_the_right_side, [2.0], [6.0], staged="cond", grad=True, batch=True)


class Holder:
    pass


def owner_replaced_by_the_right_side(x):
    o = Holder()
    o.v = 1.0
    p = o

    def step():
        nonlocal o
        o = Holder()
        o.v = 7.0
        return x

    o.v += step()
    return o.v, p.v


row(owner_replaced_by_the_right_side, [2.0], [3.0], grad=True, batch=True)


def list_replaced_by_the_right_side(x):
    values = [1.0, 2.0]

    def step():
        nonlocal values
        values = [5.0, 6.0]
        return x

    values[0] += step()
    return values


row(list_replaced_by_the_right_side, [2.0])


def array_of_an_object_replaced_by_the_right_side(x):
    o = Holder()
    o.c = jnp.array([1.0, 2.0])

    def step():
        o.c = jnp.array([3.0, 4.0])
        return x

    o.c[0] += step()
    return o.c


row(array_of_an_object_replaced_by_the_right_side, [2.0], want="either")


def array_replaced_by_the_right_side_in_a_try(x):
    values = jnp.array([1.0, 2.0])

    def step():
        nonlocal values
        values = jnp.array([5.0, 6.0])
        return x

    try:
        if x > 5:
            raise ValueError
        values[0] += step()
    except ValueError:
        x = 1.0
    return values


row(array_replaced_by_the_right_side_in_a_try, [2.0], [6.0], want="either")


def owner_called_for_once_in_a_try(x):
    o = Holder()
    o.n, o.c = 0, [1.0, 2.0]

    def owner():
        o.n += 1
        return o

    def step():
        return x * 1

    try:
        if x > 5:
            raise ValueError
        owner().c[0] += step()
        owner().c[o.n - 1] += step()
    except ValueError:
        o.n = 7
    return o.c, o.n


row(owner_called_for_once_in_a_try, [2.0], [6.0])


class Shown:
    """What a property gives is another list each time."""

    def __init__(self, x):
        self.kept = [x, x]

    @property
    def copied(self):
        return list(self.kept)


def property_updated_in_a_try(x):
    o = Shown(x)
    try:
        o.copied[0] += math.sqrt(x)
        o.kept[0] += math.sqrt(x)
    except ValueError:
        pass
    return o.kept


row(property_updated_in_a_try, [4.0])


def starred_unpacking(v):
    a, *b = v
    if a > 0:
        a = a + b[0]
    return a + sum(b)


row(starred_unpacking, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def starred_in_the_middle(v):
    first, *middle, last = [v[0], v[1], v[2], v[0] * 2]
    if first > 0:
        first, last = last, first
    return first + len(middle) * last


row(starred_in_the_middle, [VECTOR], [-VECTOR], staged="cond", grad=True, batch=True)


def augmented_of_every_kind(x, n):
    a, b, c, k = x, x, x, n
    for i in range(n):
        a += i
        b -= a
        c *= 1.5
        c /= 1.2
        k //= 2
        k %= 7
        k |= 1
    return a, b, c, k


row(augmented_of_every_kind, [2.0, 4], [2.0, 0], staged="loop", batch=True)


def power_assign(x):
    while x < 100:
        x **= 2
    return x


row(power_assign, [2.0], [3.0], [200.0], staged="loop", grad=True, batch=True)


def docstring_and_comments(x: float) -> float:
    """Doc with a "quote" and if x > 0: text."""
    # a comment
    if x > 0:  # trailing
        x = (
            x
            # inside parentheses
            * 2
        )
    return x


row(docstring_and_comments, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def one_line_bodies(x):
    # fmt: off
    if x > 0: x = x * 2; y = 1.0  # noqa: E701, E702
    else: y = 2.0  # noqa: E701
    while x > 3: x -= 1  # noqa: E701
    # fmt: on
    return x + y


row(one_line_bodies, [5.2], [-2.0], staged="cond loop", grad=True, batch=True)


def backslash_continuation(x, y):
    # fmt: off
    if x > 0 and \
            y > 0:
        return x + \
            y
    # fmt: on
    return 0.0


row(backslash_continuation, [2.0, 1.0], [2.0, -1.0], staged="cond", grad=True, batch=True)


def names_of_the_converter(x):
    ag__ = 1.0
    test = body = 2.0
    if x > 0:
        ag__ = x
        test = x
    for body in range(3):
        ag__ = ag__ + body
    return ag__ + test


row(names_of_the_converter, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def deleted_name(x):
    t = x * 2
    if x > 0:
        x = x + t
    del t
    return x


row(deleted_name, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def deleted_in_a_branch(x):
    t = x * 2
    if x > 0:
        x = x + t
        del t
    else:
        del t
    return x


row(deleted_in_a_branch, [2.0], [-2.0], staged="cond", batch=True)


def deleted_key(x, y):
    d = {"x": x, "y": y}
    del d["y"]
    total = 0.0
    for k in d:
        total = total + d[k]
    return total


row(deleted_key, [2.0, 1.0], grad=True)


def pass_everywhere(x, n):
    for _ in range(n):
        pass
    if x > 0:
        pass
    while x > 10:
        pass
    return x


row(pass_everywhere, [2.0, 3], [-2.0, 0], batch=True)


def import_inside(x):
    from operator import mul

    if x > 0:
        x = mul(x, 2)
    return x


row(import_inside, [2.0], [-2.0], staged="cond", grad=True, batch=True)


# ------------------------------------------------------------------ with, try
@contextlib.contextmanager
def constant():
    yield 3.0


def with_block(x):
    with constant() as k:
        if x > 0:
            x = x * k
    return x


row(with_block, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def with_two_managers(x):
    with constant() as k, contextlib.suppress(ValueError):
        while x > k:
            x = x - k
    return x


row(with_two_managers, [10.0], [-2.0], staged="loop", grad=True, batch=True)


def with_inside_a_branch(x):
    if x > 0:
        with constant() as k:
            x = x * k
    return x


row(with_inside_a_branch, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def try_finally(x):
    try:
        if x > 0:
            x = x * 2
    finally:
        x = x + 1
    return x


row(try_finally, [2.0], [-2.0], staged="cond", grad=True, batch=True)


def try_except_of_a_static_error(x):
    options = {"scale": 2.0}
    try:
        k = options["offset"]
    except KeyError:
        k = 1.0
    if x > k:
        x = x - k
    return x


row(try_except_of_a_static_error, [2.0], [0.5], staged="cond", grad=True, batch=True)


def try_else_finally(x):
    trace = []
    try:
        y = x * 2
    except TypeError:
        y = 0.0
    else:
        if y > 1:
            y = y - 1
    finally:
        trace.append("done")
    return y * len(trace)


row(try_else_finally, [2.0], [0.25], staged="cond", grad=True, batch=True)


def try_in_a_loop(v):
    total = 0.0
    for e in v:
        try:
            total = total + e
        finally:
            total = total * 2
    return total


row(try_in_a_loop, [VECTOR], [-VECTOR], staged="loop", grad=True, batch=True)


# ------------------------------------------------------------------ raise, assert, print
def static_raise(x, order):
    if order not in (1, 2):
        raise ValueError(f"order {order}")
    if x > 0:
        x = x**order
    return x


row(static_raise, [2.0, 2], [-2.0, 2], [2.0, 3], staged="cond", static=[1])


def raises_its_own_error(values, key):
    total = 0
    for name in key:
        total = total + values[name]
    return total / len(values)


row(
    raises_its_own_error,
    plain=[[{"a": 1}, "aa"], [{"a": 1}, "ab"], [{}, ""], [None, "a"], [{"a": "text"}, "a"]],
)


def static_assert(v):
    assert v.ndim == 1, "a vector is needed"
    if v[0] > 0:
        v = v * 2
    return v


row(static_assert, [VECTOR], [-VECTOR], plain=[[PAIRS]], staged="cond", grad=True, batch=True)


def raise_from(x, name):
    try:
        return {"double": x * 2}[name]
    except KeyError as error:
        raise ValueError(name) from error


row(raise_from, [2.0, "double"], [2.0, "triple"], static=[1])


def raise_in_a_loop(v):
    s = 0.0
    for e in v:
        if e < 0:
            raise ValueError("negative element")
        s = s + e
    return s


row(raise_in_a_loop, [VECTOR], [np.array([1.0, -2.0, 3.0])], staged="loop", own_jit=True)


def raise_in_a_branch(x):
    if x < 0:
        raise ValueError("negative")
    return jnp.sqrt(x)


row(raise_in_a_branch, [4.0], [-4.0], own_jit=True)


def raise_in_else(x):
    if x > 0:
        y = x * 2
    else:
        raise ArithmeticError(f"{x} is not positive")
    return y


row(raise_in_else, [4.0], [-4.0], own_jit=True)


def assert_on_a_value(x):
    assert x > 0, "positive only"
    return x * 2


row(assert_on_a_value, [4.0], [-4.0], own_jit=True)


def assert_in_a_loop(v):
    total = 0.0
    for e in v:
        assert e < 10
        total = total + e
    return total


row(assert_in_a_loop, [VECTOR], [VECTOR * 5], staged="loop", own_jit=True)


def print_in_a_loop(n):
    s = 0
    for i in range(n):
        s += i
        print("i", i, "s", s)
    return s


row(print_in_a_loop, [3], [0], staged="loop", prints=True)


def print_in_a_branch(x):
    if x > 0:
        print("positive", 1)
        x = x * 2
    else:
        print("negative", 2)
    print("end", x)
    return x


row(print_in_a_branch, [2.0], [-2.0], staged="cond", prints=True)


def print_an_f_string(x):
    print(f"x = {x} of {10}")
    return x


row(print_an_f_string, [2.0], [-2.0], prints=True)


def print_of_static_values(x, name):
    print("running", name, 3)
    if x > 0:
        x = x * 2
    return x


row(print_of_static_values, plain=[[2.0, "a"], [-2.0, "b"]])


# ------------------------------------------------------------------ order of evaluation, in plain Python
def order_of_evaluation(log):
    def note(value):
        log.append(value)
        return value

    table = {note("key"): note(1)}
    if note(0) or note(2) and note(0):
        note("then")
    elif 1 < note(3) < note(2) < note(9):
        note("elif")
    x = [note(4) if note(5) else note(6), *[note(7)]]
    x[note(0)] += note(8)
    table[note("a")], table[note("b")] = note("c"), note("d")
    while note(len(log) < 20):
        note("turn")
    return x, table


row(order_of_evaluation, plain=[[[]]])


def identity_is_kept(values):
    first = values
    if values:
        second = first
    else:
        second = None
    for item in values:
        third = item
    return first is values, second is first, third is values[-1]


row(identity_is_kept, plain=[[[[1], [2]]], [[]]])


def falsy_and_truthy_objects(values):
    out = []
    for v in values:
        out.append((v or "default", v and "both", not v, "yes" if v else "no"))
    return out


row(falsy_and_truthy_objects, plain=[[[0, 1, "", "a", [], [0], None, 0.0, {}, {"k": 1}, (), False, True]]])


def locals_of_a_loop(n):
    for i in range(n):
        square = i * i
    return i, square


row(locals_of_a_loop, plain=[[3], [0]])


def locals_as_a_dict(x, *rest, k=2, **more):
    if k > 1:
        z = 2 * x
    else:
        _never = 1
    for i in range(3):
        x = x + i
    return list(locals().items()), sorted(vars())


row(locals_as_a_dict, plain=[[1.5, 2], [0]])


def locals_of_branches(x, n):
    if x > 0:
        y = 2 * x
        found = dict(locals())
    else:
        y = -x
        found = dict(locals())
    for name in ("n", "missing"):
        value = locals().get(name)
        if value is not None:
            y = y + value
    return found["x"] + found["y"] + y + len(found)


row(locals_of_branches, [3.0, 2], [-1.0, 2], staged="cond", static=[1])


def what_a_known_operand_decides(x, policy):
    out = [x]
    if any([x > 0, x < -5]) and policy == "omit":
        out = out[1:]
    if x > 1 or policy != "omit":
        out.append(x + 1)
    first, second = x > 0 and False, x > 0 or True
    return out, [10 if first else 20, 30 if second else 40]


def an_array_of_one_element_and_a_known_operand(x):
    return (np.zeros(1) < x) and False


row(an_array_of_one_element_and_a_known_operand, plain=[[np.array([2.0])], [np.array([-2.0])]])


row(what_a_known_operand_decides, [2.0, "raise"], [-2.0, "raise"], static=[1], staged="")


def locals_of_functions(x):
    def inner(y):
        return {**locals()}, [x for _ in range(2)], x

    return inner(3), (lambda z: locals())(4)


row(locals_of_functions, plain=[[1.5]])


def numpy_truth_is_an_error(v):
    if v:
        return 1
    return 0


row(numpy_truth_is_an_error, plain=[[VECTOR], [np.array([1.0])], [np.array([0])]])


def generator_with_control_flow(n):
    def numbers():
        for i in range(n):
            if i % 2:
                continue
            if i > 6:
                return
            yield i

    return list(numbers())


row(generator_with_control_flow, plain=[[5], [20], [0]])


def iterates_once(values):
    stream = iter(values)
    head = []
    for v in stream:
        if v < 0:
            break
        head.append(v)
    return head, list(stream)


row(iterates_once, plain=[[[1, 2, -3, 4, 5]], [[]], [[-1]]])


def list_grows_while_iterated(values):
    for v in values:
        if len(values) < 6:
            values.append(v * 2)
    return values


row(list_grows_while_iterated, plain=[[[1, 2]], [[]]])


def unpacked_with_a_rest(x):
    values = [(x, 0), (2, 1), (3, 2)]
    (u, v), *rest = values
    rest.append(u)
    return rest, v, max(rest[:2], key=lambda pair: pair[1])


row(unpacked_with_a_rest, [2.0], [5.0], plain=[["a"]])


def unpacked_into_an_item(x):
    kept, two = [0], [1.0, 2.0]
    values = ((x, 0), two)
    (u, v), kept[0] = values
    kept[0].append(3.0)
    return two, u, v


row(unpacked_into_an_item, [2.0], [5.0], plain=[["a"]])


def unpacked_by_a_loop(x):
    found = []
    for (a, b), *rest in [[(x, 1), (2, 3)], [(x, 2)]]:
        found.append((a, b, rest))
    return found


row(unpacked_by_a_loop, [2.0], plain=[["a"]])


def too_many_to_unpack_where_nobody_comes(x):
    values, m = [x, 2.0, 3.0, 4.0], 0.0
    if x > 5:
        _, m, _ = values
    return m


row(too_many_to_unpack_where_nobody_comes, [2.0], [-1.0], staged="cond")


class Point(NamedTuple):
    x: float
    y: float


def compared_points(a, b):
    p, q = Point(a, b), Point(b, a)
    return Point(a, b) == Point(b, a), p == q, p != q, Point(a, b) < Point(b, a), Point(a, b) in [q, p], p in [q]


row(compared_points, [1.0, 2.0], [2.0, 2.0], [2.0, 1.0])


@table.each_way
def test_statements(row, way, record_property):
    check(row, way, record_property)
