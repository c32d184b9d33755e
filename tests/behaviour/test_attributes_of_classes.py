"""An attribute that an object has on one path only, where its class says what it is on the other."""

import dataclasses
import functools
import weakref
from typing import Any

from .harness import Table, check

table = Table(__name__)
row = table.row


class Model:
    rate = 0.5

    def __init__(self, x=0.0):
        self.x = x

    def step(self):
        return self.x + 1


@dataclasses.dataclass
class Defaults:
    a: Any = 1.0


def deleted_on_one_path(x):
    model = Model()
    model.rate = 2.0
    if x > 0:
        del model.rate
    return hasattr(model, "rate"), getattr(model, "rate", -1.0), model.rate * x


def deleted_in_a_loop(x):
    model = Model()
    model.rate = 2.0
    for i in range(5):
        if i == 4 and i * x > 3:
            del model.rate
    return model.rate * x


def deleted_field(x):
    made = Defaults(4.0)
    if x > 0:
        del made.a
    return made.a


def deleted_method(x):
    model = Model(x)
    model.step = lambda: 100.0
    if x > 2:
        del model.step
    return model.step()


class Cached:
    def __init__(self, x):
        self.x = x

    @functools.cached_property
    def square(self):
        return self.x * self.x


def cached_on_one_path(x):
    made = Cached(x)
    if x > 0:
        made.square  # noqa: B018
    return hasattr(made, "square"), getattr(made, "square", -1.0)


class Kept:
    def __init__(self):
        self.values = weakref.WeakKeyDictionary()

    def __get__(self, owner, kind=None):
        return self.values.get(owner, 0.0)

    def __set__(self, owner, value):
        self.values[owner] = value


class Described:
    a = Kept()


def written_by_a_descriptor(x):
    made = Described()
    made.a = x
    return made.a + 1


class Truth:
    def __init__(self, v):
        self.v = v

    def __bool__(self):
        return bool(self.v > 0)


def truths(x):
    values = [Truth(x), Truth(x + 1), Truth(2.0)]
    return all(values), any(values), all(value for value in values), any([Truth(x), Truth(-1.0)])


for program in (
    deleted_on_one_path, deleted_in_a_loop, deleted_field, deleted_method, cached_on_one_path, written_by_a_descriptor, truths,
):  # fmt: skip
    row(program, [5.0], [-3.0], [1.5])


# What code says where the object has none is said each time anew.


class Fallback:
    def __init__(self, x):
        self.x = x

    def __getattr__(self, name):
        if name == "y":
            return 7.0
        raise AttributeError(name)


def found_by_code(x):
    made = Fallback(x)
    if x > 0:
        made.y = x
    return hasattr(made, "y"), getattr(made, "y", -1.0)


class Wrapper:
    def __init__(self, inner):
        self._inner = inner

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.__dict__["_inner"], name)


def wrapped(x, n):
    wrapper, i = Wrapper(Defaults(x)), 0
    while i < n:
        if wrapper.a > 3:
            wrapper.a = 1.0
        else:
            wrapper._inner.a = wrapper._inner.a + 1
        i += 1
    return wrapper.a, wrapper._inner.a


row(found_by_code, [5.0], [-3.0], want="error")
row(wrapped, [5.0, 3], [-3.0, 3], want="error")


# Which attributes are its own


def listed(x):
    model = Model(x)
    if x > 0:
        model.rate = 4.0
    return sum(value for value in vars(model).values())


def counted(x):
    model = Model(x)
    if x > 0:
        model.rate = 4.0
    return "rate" in model.__dict__, len(model.__dict__)


def dict_replaced(x):
    model = Model(x)
    if x > 0:
        model.__dict__ = {"x": 5.0, "rate": x}
    else:
        model.__dict__ |= {"rate": 2.0}
    return model.x, model.rate


def dict_shared(x):
    first, second = Model(x), Model(2 * x)
    if x > 0:
        second.__dict__ = first.__dict__
    first.x = first.x + 10
    return first.x, second.x


for program in (listed, counted, dict_replaced, dict_shared):
    row(program, [5.0], [-3.0], want="error")


class Bag:
    def __init__(self, **items):
        self.__dict__ = dict(items)


def dict_of_a_new_one(x):
    if x > 0:
        bag = Bag(u=x, v=2.0)
    else:
        bag = Bag(u=-x, v=3.0)
    return bag.u * bag.v


row(dict_of_a_new_one, [5.0], [-3.0])


@table.each_way
def test_attributes_of_classes(row, way, record_property):
    check(row, way, record_property)
