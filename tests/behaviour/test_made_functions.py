"""Functions that a branch or a loop's turn makes, and that hold what it has computed: they go on with what was computed."""

import functools

import jax.numpy as jnp

from .harness import Table, check

table = Table(__name__)
row = table.row


# ------------------------------------------------------------------ made by a branch
def captured_in_a_branch(x):
    if x > 0:
        y = x * 2
        f = lambda v: v * y
    else:
        f = lambda v: v - 1
    return f(3.0)


row(captured_in_a_branch, [1.5], [-0.5], staged="cond", batch=True)
row(captured_in_a_branch, [1.5], [-0.5], name="slope of captured_in_a_branch", grad=True)


def a_default_or_none(x):
    if x > 0:

        def f(v, w=x + 1, *, u=x * x):
            return v * w + u

    else:
        f = None
    return f(3.0) if f is not None else -x


row(a_default_or_none, [1.5], [-0.5], staged="cond", batch=True)


def solver_for(s):
    q = s * s + 1

    def solve(b):
        return b / q

    return solve


def of_another_function(x):
    if x > 0:
        solve = solver_for(x + 1)
    else:
        solve = solver_for(2.0)
    return solve(1.0) + solve(x)


row(of_another_function, [1.5], [-0.5], staged="cond", batch=True)
row(of_another_function, [1.5], [-0.5], name="slope of of_another_function", grad=True)


def of_two_kinds(x):
    def twice(v):
        return 2 * v

    f = twice
    if x > 2:
        f = solver_for(x)
    elif x > 1:
        y = x + 5
        f = lambda v: v + y
    return f(1.0), f(x)


row(of_two_kinds, [0.5], [1.5], [2.5], staged="cond", batch=True)


def one_in_another(x):
    if x > 0:
        y = x * 2
        p = lambda v: v * y
        q = lambda v: p(v) + y
    else:
        p = q = lambda v: v
    return p(1.0) + q(2.0)


row(one_in_another, [1.5], [-0.5], staged="cond", batch=True)


def assigned_after_it_was_made(x):
    if x > 0:
        y = x * 2
        f = lambda: y
        y = y + 1
    else:
        f = lambda: 0.0
    return f()


row(assigned_after_it_was_made, [1.5], [-0.5], staged="cond", batch=True)


def assigned_after_the_branch(x):
    y = 0.0
    if x > 0:
        y = x * 2
        f = lambda: y
    else:
        f = lambda: -1.0
    y = y + 100.0
    return f()


row(assigned_after_the_branch, [1.5], [-0.5], staged="cond", batch=True)


def a_partial(x):
    f = functools.partial(jnp.add, 1.0)
    if x > 0:
        f = functools.partial(jnp.multiply, x * 3)
    return f(2.0)


row(a_partial, [1.5], [-0.5], staged="cond", batch=True)


def a_partial_by_name(x):
    def g(a, b, c=1.0):
        return a * b - c

    if x > 0:
        f = functools.partial(g, x + 1, c=x * x)
    else:
        f = functools.partial(g, 2.0)
    return f(3.0)


row(a_partial_by_name, [1.5], [-0.5], staged="cond", batch=True)


class Model:
    def __init__(self, rate):
        self.rate, self.step = rate, None

    def choose(self, x):
        if x > self.rate:
            slope = x - self.rate
            self.step = lambda v: v - slope
        else:
            self.step = lambda v: v * 2
        return self


def kept_in_an_attribute(x):
    return Model(1.0).choose(x).step(x)


row(kept_in_an_attribute, [1.5], [-0.5], staged="cond", batch=True)


def in_a_list_and_a_dict(x):
    if x > 0:
        y = x + 1
        fs, named = [lambda: y, lambda: y * 2], {"a": lambda: y - 3}
    else:
        fs, named = [lambda: 1.0, lambda: 2.0], {"a": lambda: 0.0}
    return fs[0]() + fs[1]() + named["a"]()


row(in_a_list_and_a_dict, [1.5], [-0.5], staged="cond", batch=True)


# ------------------------------------------------------------------ made by a turn
def kept_from_a_turn(x):
    f = lambda v: v
    for i in range(4):
        if x > i:
            z = x * i
            f = lambda v: v + z
    return f(1.0)


row(kept_from_a_turn, [1.5], [-0.5], [3.5], staged="cond", batch=True)


def made_anew_by_each_turn(x):
    solve, n = solver_for(x), 0
    while n < 3:
        n += 1
        if solve(1.0) > 0.3:
            solve = solver_for(solve(x) + 1)
    return solve(2.0)


row(made_anew_by_each_turn, [1.5], [-0.5], [0.25], staged="cond", batch=True)


def the_one_of_the_turn_before(x):
    f, total = (lambda v: v), 0.0
    for v in jnp.stack([x, x + 1, x * 2]):
        total = total + f(v)
        w = v * v
        f = lambda u: u + w
    return total, f(1.0)


row(the_one_of_the_turn_before, [1.5], [-0.5], staged="loop", batch=True)


def which_differs_by_turn(x):
    total, f = 0.0, None
    for n in range(5):
        if f is not None:
            total = total + f(n)
        if x > n:
            y = x * n
            f = lambda v: v + y
        else:
            f = lambda v: -v
    return total


row(which_differs_by_turn, [1.5], [-0.5], [3.5], staged="cond", batch=True)


def shared_and_rebound(x):
    r, y = (lambda: 0.0), 0.0
    for n in range(3):
        if x > n:
            y = x * n
            r = lambda: y
    y = 100.0
    return r()


row(shared_and_rebound, [1.5], [-0.5], staged="cond", batch=True)


# ------------------------------------------------------------------ with a state of their own
def counter(start):
    n = start

    def count():
        nonlocal n
        n = n + 1
        return n

    return count


def counters(x):
    if x > 0:
        count = counter(x * 10)
    else:
        count = counter(0.0)
    count()
    other = count
    other()
    return count()


row(counters, [1.5], [-0.5], staged="cond", want="either")


def two_that_share(start):
    held = start

    def get():
        return held

    def put(v):
        nonlocal held
        held = v

    return get, put


def getter_and_setter(x):
    if x > 0:
        get, put = two_that_share(x * 2)
    else:
        get, put = two_that_share(1.0)
    put(get() + 5)
    return get()


row(getter_and_setter, [1.5], [-0.5], staged="cond", want="either")


def a_list_that_others_hold(x):
    if x > 0:
        m = [x, x * 2]
        k = lambda i: m[i]
    else:
        m = [1.0, 2.0]
        k = lambda i: m[0]
    m[0] = 7.0
    return k(0)


row(a_list_that_others_hold, [1.5], [-0.5], staged="cond", want="either")


def holder_of(m):
    return lambda: m[0]


def a_list_that_the_branch_has_made(x):
    if x > 0:
        m = [x * 2]
        f = holder_of(m)
    else:
        m = [1.0]
        f = lambda: 0.0
    m[0] = 7.0
    return f()


row(a_list_that_the_branch_has_made, [1.5], [-0.5], staged="cond", want="either")


class Box:
    def __init__(self, v):
        self.v = v


def value_of(box):
    return lambda: box.v


def an_object_that_the_branch_has_made(x):
    if x > 0:
        box = Box(x * 2)
        f, g = value_of(box), value_of(box)
    else:
        box = Box(1.0)
        f = g = lambda: 0.0
    box.v = 9.0
    return f() + g() + box.v


row(an_object_that_the_branch_has_made, [1.5], [-0.5], staged="cond", want="either")


def an_array_that_is_written_after(x):
    if x > 0:
        w = jnp.zeros(2) + x
        f = holder_of(w)
    else:
        w = jnp.ones(2)
        f = lambda: 0.0
    w[0] = 9.0
    return f()


row(an_array_that_is_written_after, [1.5], [-0.5], staged="cond", want="either")


def a_partial_of_a_list(x):
    m = [x]
    if x > 0:
        m = [x * 2]
        f = functools.partial(lambda q: q[0], m)
    else:
        f = lambda: 0.0
    m[0] = 9.0
    return f()


row(a_partial_of_a_list, [1.5], [-0.5], staged="cond", want="either")


def a_partial_of_a_method(x):
    if x > 0:
        f = functools.partial(Model(x * 2).choose, 1.0)
    else:
        f = functools.partial(Model(1.0).choose, 2.0)
    return f().step(3.0)


row(a_partial_of_a_method, [1.5], [-0.5], staged="cond", want="either")


def recursive(x):
    if x > 0:
        y = x * 2

        def power(n):
            return y if n == 0 else y * power(n - 1)

    else:

        def power(n):
            return 1.0

    return power(2)


row(recursive, [1.5], [-0.5], staged="cond", want="either")


def generator(x):
    if x > 0:
        y = x * 2

        def numbers():
            yield y
            yield y + 1

    else:

        def numbers():
            yield 0.0
            yield 1.0

    return sum(numbers())


row(generator, [1.5], [-0.5], staged="cond", want="either")


# ------------------------------------------------------------------ which function it is
def times(k):
    return lambda v: v * k


def is_the_one_before(x):
    h = times(1.0)
    f = h
    if x > 0:
        f = times(1.0)
    return 1.0 if f is h else 2.0


row(is_the_one_before, [1.5], [-0.5], staged="cond", want="either")


def is_a_key(x):
    h = times(1.0)
    f, table = h, {h: 1.0}
    if x > 0:
        f = times(1.0)
    return table.get(f, 3.0)


row(is_a_key, [1.5], [-0.5], staged="cond", want="either")


def stays_itself_through_a_branch(x):
    f = None
    for i in range(3):
        if x > i:
            f = times(x * i)
    h = f
    if x > 5:
        f = times(x)
    return 1.0 if f is h else 2.0


row(stays_itself_through_a_branch, [1.5], [6.5], staged="cond", want="either")


def keeps_its_attributes(x):
    if x > 0:
        f = times(x * 2)
    else:
        f = times(x - 1)
    f.offset = 3.0
    for i in range(3):
        if x + i > 100:
            f = times(x * i)
    return f(1.0) + getattr(f, "offset", 0.0)


row(keeps_its_attributes, [1.5], [-0.5], [99.5], staged="cond", want="either")


@table.each_way
def test_made_functions(row, way, record_property):
    check(row, way, record_property)
