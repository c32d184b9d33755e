"""Dicts whose items are their attributes: `self.__dict__ = self`, as configurations and results of many libraries are."""

import jax.numpy as jnp
import numpy as np

import autograph_jax as ag

from .harness import Table, check

table = Table(__name__)
row = table.row


class Bunch(dict):
    def __init__(self, **items):
        super().__init__(**items)
        self.__dict__ = self


class Early(dict):
    def __init__(self, **items):
        self.__dict__ = self
        self.update(items)


def made_in_both_branches(x):
    found = Bunch(a=x) if x > 0 else Early(a=1.0)
    if x > 1:
        made = Bunch(a=found.a)
    else:
        made = Bunch(a=-x * 2)
    return made.a + made["a"]


def made_in_one(x):
    made = Bunch(a=1.0, b=2)
    if x > 0:
        made = Bunch(a=x, b=3)
    return made.a + made.b


def made_in_each_turn(x):
    made = Early(a=x, n=0)
    while made.a > 1:
        made = Early(a=made.a / 2, n=made.n + 1)
    return made["a"], made.n


def made_until(x):
    made = Bunch(a=x, n=0)
    for _ in range(20):
        if made.a < 1:
            break
        made = Bunch(a=made.a / 2, n=made.n + 1)
    return made["a"], made.n


def written_by_both_names(x):
    made = Bunch(a=x, n=0)
    while made.a > 1:
        made.a = made.a / 2
        made["a"] = made["a"] - 0.25
        made.n += 1
    return made["a"], made.n, made.a


def written_as_an_attribute_or_an_item(x):
    made = Bunch(a=x, n=0)
    if x > 1:
        made["a"] = made["a"] - 0.25
        made.a = made.a / 2
    else:
        made.update(a=1.0)
    return made["a"], made.n, made.a


def new_as_an_attribute_or_an_item(x):
    made = Bunch(a=x)
    if x > 1:
        made.b = made.a / 2
        made["c"] = 2.0
    else:
        made["b"] = 2.0
        made.c = made.b
    made.update(d=x)
    del made.d
    return made["b"], made.c, len(made), hasattr(made, "d")


def gone_through(x):
    made, total = Bunch(a=x), 0.0
    for k in range(4):
        if k * x > 2:
            made.a = made.a + k
        for value in made.values():
            total = total + value
    return total, "a" in made, getattr(made, "a", 0.0)


def one_in_another(x):
    outer = Bunch(inner=Bunch(a=x), rest=[x])
    while outer.inner.a > 1:
        outer.inner.a = outer.inner.a / 2
        outer.rest[0] = outer.rest[0] + 1
    return outer["inner"]["a"], outer.inner.a, outer.rest[0]


def one_of_two(x):
    first, second = Bunch(a=x), Bunch(a=x + 1)
    either = first if x > 0 else second
    either.a = 7.0 * x
    return first.a, second["a"], either.a


for program in (
    made_in_both_branches, made_in_one, made_in_each_turn, made_until, written_by_both_names,
    written_as_an_attribute_or_an_item, new_as_an_attribute_or_an_item, gone_through, one_in_another, one_of_two,
):  # fmt: skip
    row(program, [5.0], [-3.0], [1.5], batch=True)


@table.each_way
def test_attribute_dicts(row, way, record_property):
    check(row, way, record_property)


def test_one_that_is_returned():
    @ag.jit
    def halved(x):
        if x > 1:
            return Bunch(a=x / 2, rows=jnp.ones(2) * x)
        return Bunch(a=x, rows=jnp.zeros(2))

    result = halved(3.0)
    assert type(result) is Bunch and result.__dict__ is result
    assert result.a == 1.5 and np.array_equal(result["rows"], [3.0, 3.0])
