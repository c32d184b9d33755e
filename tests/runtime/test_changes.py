"""What a compiled function reads may change in every way that Python has: the next call sees it, and nothing else costs a look.

A row makes a function and what changes something that it reads.
"""

import array
import collections
import dataclasses
import enum
import functools
import operator
import sys
import types
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.runtime import recaptured

X = jnp.float32(2.0)
Row = Callable[[], tuple[Callable[[Any], Any], Callable[[], Any]]]
ROWS: dict[str, Row] = {}


def row(make: Row) -> Row:
    ROWS[make.__name__.strip("_").replace("_", " ")] = make
    return make


class Thing:
    """An object with the attributes that it is given."""

    def __init__(self, **attributes):
        vars(self).update(attributes)


# ------------------------------------------------------------------ attributes of functions


@row
def an_attribute_of_a_function_that_it_reads_itself():
    def helper(x):
        return x * helper.scale

    helper.scale = 1.0
    return lambda x: helper(x), lambda: setattr(helper, "scale", 5.0)


@row
def attributes_of_functions_that_read_each_other():
    def first(x):
        return x * second.scale

    def second(x):
        return first(x) * first.scale

    first.scale = second.scale = 1.0
    return lambda x: second(x), lambda: setattr(first, "scale", 5.0)


@row
def an_attribute_of_an_object_that_its_call_reads():
    class Caller:
        rate = 1.0

        def __call__(self, x):
            return x * caller.rate

    caller = Caller()
    return lambda x: caller(x) + caller.rate, lambda: setattr(caller, "rate", 5.0)


# ------------------------------------------------------------------ variables that hold what libraries have

act, kind, operation, module, tripled = jnp.sin, jnp.float32, operator.add, jnp, functools.partial(operator.mul, 3.0)
names = {"act": jnp.cos, "kind": jnp.int32, "operation": operator.mul, "module": types.SimpleNamespace(sin=jnp.cos)}
names |= {"tripled": functools.partial(operator.mul, 5.0)}


def rebound(name: str) -> Callable[[], Any]:
    return lambda: globals().update({name: names[name]})


@pytest.fixture(autouse=True)
def _globals_are_left_as_found():
    before = {name: globals()[name] for name in names}
    yield
    globals().update(before)
    globals().pop("abs", None)
    sys.modules.pop("settings_of_test_changes", None)


@row
def a_function_of_jax():
    return lambda x: act(x), rebound("act")


@row
def a_function_of_jax_in_a_body_of_scan():
    return lambda x: jax.lax.scan(lambda c, _: (act(c), None), x, length=3)[0], rebound("act")


@row
def a_function_of_operator():
    return lambda x: operation(x, 3.0), rebound("operation")


@row
def a_type_of_jax():
    return lambda x: (x * 1.3).astype(kind) / 3, rebound("kind")


@row
def a_module():
    return lambda x: module.sin(x), rebound("module")


@row
def a_partial():
    return lambda x: tripled(x), rebound("tripled")


def with_first(values, x):
    return x * values[0]


first_of = functools.partial(with_first, [1.0])
second_of = functools.partial(with_first, values=[1.0])


@row
def a_list_in_a_partial():
    return lambda x: first_of(x), lambda: first_of.args[0].__setitem__(0, first_of.args[0][0] + 4.0)


@row
def a_list_in_the_keywords_of_a_partial():
    return lambda x: second_of(x=x), lambda: second_of.keywords["values"].append(second_of.keywords["values"].pop() + 4.0)


@row
def a_builtin_that_a_variable_hides():
    return lambda x: abs(-1.0) * x, lambda: globals().update(abs=lambda x: 5.0)


# ------------------------------------------------------------------ tuples


class Pair(NamedTuple):
    first: Any
    second: Any

    def total(self):
        return self.first[0] + self.second


class Doubled(tuple):
    """Its elements are twice what they are."""

    def __getitem__(self, n):
        return 2 * super().__getitem__(n)[0]


def pairs(read):
    pair = Pair([1.0], 2.0)
    return lambda x: x * read(pair), lambda: pair.first.append(pair.first.pop() + 4.0)


@row
def a_list_in_a_field():
    return pairs(lambda pair: pair.first[0])


@row
def a_list_in_an_element():
    return pairs(lambda pair: pair[0][0])


@row
def a_list_in_an_unpacked_element():
    def unpacked(pair):
        first, second = pair
        return first[0] + second

    return pairs(unpacked)


@row
def a_list_that_a_method_of_a_tuple_reads():
    return pairs(lambda pair: pair.total())


@row
def objects_that_a_loop_over_a_named_tuple_reads():
    pair = Pair(Thing(rate=1.0), Thing(rate=2.0))
    return lambda x: x * sum(thing.rate for thing in pair), lambda: setattr(pair.second, "rate", 5.0)


@row
def an_attribute_of_an_object_in_a_field():
    pair = Pair(Thing(rate=1.0), types.SimpleNamespace(rate=1.0))
    return lambda x: x * pair.second.rate, lambda: setattr(pair.second, "rate", 5.0)


@row
def a_tuple_with_items_of_its_own():
    doubled = Doubled([[1.0]])
    return lambda x: x * doubled[0], lambda: next(iter(doubled)).insert(0, 5.0)


# ------------------------------------------------------------------ members of classes


def made():
    """A class, and one below it."""

    class Above:
        rate = 1.0

        def step(self, x):
            return x

        @property
        def gain(self):
            return 1.0

        @staticmethod
        def alone(x):
            return x

        @classmethod
        def of_class(cls, x):
            return x * cls.rate

        def __mul__(self, x):
            return x

        def __call__(self, x):
            return x

        def calls(self, x):
            return self.step(x)

    class Below(Above):
        def calls(self, x):
            return super().calls(x)

    return Above, Below


def more(self, x):
    return x * 5.0


# By name: what is read of an object of the class below; what is set then, by name, and where.
MEMBERS: dict[str, tuple[Callable[[Any, Any], Any], str, Any]] = {
    "a method": (lambda o, x: o.step(x), "step", more),
    "a method that a method calls": (lambda o, x: o.calls(x), "step", more),
    "a method of the class above": (lambda o, x: o.calls(x), "calls", more),
    "a property": (lambda o, x: o.gain * x, "gain", property(lambda self: 5.0)),
    "a static method": (lambda o, x: o.alone(x), "alone", staticmethod(lambda x: 5.0 * x)),
    "a class method": (lambda o, x: o.of_class(x), "of_class", classmethod(more)),
    "an operator": (lambda o, x: o * x, "__mul__", more),
    "the call": (lambda o, x: o(x), "__call__", more),
    "a method of what is made": (lambda o, x: type(o)().step(x), "step", more),
    "a static method of the class": (lambda o, x: type(o).alone(x), "alone", staticmethod(lambda x: 5.0 * x)),
    "a value": (lambda o, x: o.rate * x, "rate", 5.0),
}
for described, (of_member, name, new) in MEMBERS.items():

    def replaced(of_member=of_member, name=name, new=new):
        above, below = made()
        one = below()
        return lambda x: of_member(one, x), lambda: setattr(above, name, new)

    def overridden(of_member=of_member, name=name, new=new):
        _, below = made()
        one = below()
        return lambda x: of_member(one, x), lambda: setattr(below, name, new)

    def of_another_class(of_member=of_member, name=name, new=new):
        _, below = made()
        one = below()
        other = type("Other", (below,), {name: new})
        return lambda x: of_member(one, x), lambda: setattr(one, "__class__", other)

    ROWS[f"{described} that is replaced"] = replaced
    ROWS[f"{described} that is overridden"] = overridden
    ROWS[f"{described} of another class"] = of_another_class


def hidden(name, read):
    _, below = made()
    one, other = below(), Thing(rate=5.0)
    new = {"step": functools.partial(more, other), "rate": 5.0, "alone": functools.partial(more, other)}
    return lambda x: read(one, x), lambda: setattr(one, name, new[name])


@row
def a_method_that_the_object_hides():
    return hidden("step", lambda o, x: o.step(x))


@row
def a_method_called_by_a_method_that_the_object_hides():
    return hidden("step", lambda o, x: o.calls(x))


@row
def a_static_method_that_the_object_hides():
    return hidden("alone", lambda o, x: o.alone(x))


@row
def a_method_between_two_classes():
    class First:
        def step(self, x):
            return x

    class Second(First):
        pass

    class Third(Second):
        def step(self, x):
            return super().step(x)

    third = Third()
    return lambda x: third.step(x), lambda: setattr(Second, "step", more)


@row
def a_value_between_two_classes():
    class First:
        rate = 1.0

    class Second(First):
        pass

    class Third(Second):
        rate = 3.0

        def step(self, x):
            return super().rate * x

    third = Third()
    return lambda x: third.step(x), lambda: setattr(Second, "rate", 5.0)


@row
def the_code_of_a_callee():
    def helper(x):
        return x

    return lambda x: helper(x), lambda: setattr(helper, "__code__", (lambda x: x * 5).__code__)


@row
def the_defaults_of_a_callee():
    def helper(x, rate=1.0):
        return x * rate

    return lambda x: helper(x), lambda: setattr(helper, "__defaults__", (5.0,))


@row
def a_keyword_only_default_of_a_callee():
    def helper(x, *, rate=1.0):
        return x * rate

    defaults: Any = helper.__kwdefaults__
    return lambda x: helper(x), lambda: defaults.update(rate=5.0)


# ------------------------------------------------------------------ what is not there yet


def sought(read, kind: Callable[[], Any] = Thing):
    one = kind()
    return lambda x: x * read(one), lambda: setattr(one, "rate", 5.0)


def tried(one):
    try:
        return one.rate
    except AttributeError:
        return 1.0


LOOKS = {
    "hasattr": lambda one: one.rate if hasattr(one, "rate") else 1.0,
    "getattr with a default": lambda one: getattr(one, "rate", 1.0),
    "an attribute error": tried,
}
for described, look in LOOKS.items():
    ROWS[f"{described} in a callee"] = lambda look=look: sought(look)
    ROWS[f"{described} of a namespace"] = lambda look=look: sought(look, types.SimpleNamespace)
    ROWS[f"{described} of a class"] = lambda look=look: sought(look, lambda: type("Made", (), {}))
    ROWS[f"{described} of the class of an object"] = lambda look=look: (
        lambda one: (lambda x: x * look(one), lambda: setattr(type(one), "rate", 5.0))
    )(type("Made", (), {})())


@row
def hasattr_of_a_variable():
    one: Any = Thing()
    return lambda x: x * (one.rate if hasattr(one, "rate") else 1.0), lambda: setattr(one, "rate", 5.0)


@row
def hasattr_of_a_module():
    one = types.ModuleType("made")
    return lambda x: x * (one.rate if hasattr(one, "rate") else 1.0), lambda: setattr(one, "rate", 5.0)


@row
def getattr_of_a_variable():
    one = Thing(rate=1.0)
    return lambda x: x * getattr(one, "rate", 2.0), lambda: setattr(one, "rate", 5.0)


@row
def getattr_of_an_attribute():
    one: Any = Thing(part=types.SimpleNamespace(rate=1.0))
    return lambda x: x * getattr(one, "part", one).rate, lambda: setattr(one.part, "rate", 5.0)


@row
def an_attribute_that_a_method_finds():
    class Finds:
        def __init__(self):
            self._kept = {"rate": 1.0}

        def __getattr__(self, name):
            if name.startswith("_"):
                raise AttributeError(name)
            return self._kept[name]

    finds = Finds()
    return lambda x: x * finds.rate, lambda: finds._kept.update(rate=5.0)


@row
def an_attribute_of_a_metaclass():
    class Meta(type):
        rate = 1.0

    class Made(metaclass=Meta):
        pass

    return lambda x: x * Made.rate, lambda: setattr(Meta, "rate", 5.0)


@row
def a_property_of_a_metaclass():
    class Meta(type):
        kept: float

        @property
        def rate(cls):
            return cls.kept

    class Made(metaclass=Meta):
        kept = 1.0

    return lambda x: x * Made.rate, lambda: setattr(Made, "kept", 5.0)


@row
def the_state_of_a_descriptor():
    class Descriptor:
        def __init__(self):
            self.kept = 1.0

        def __get__(self, target, kind=None):
            return self.kept

    class Made:
        rate = Descriptor()

    one = Made()
    return lambda x: x * one.rate, lambda: setattr(vars(Made)["rate"], "kept", 5.0)


def cached():
    class Cached:
        def __init__(self):
            self.base = 1.0

        def twice(self):
            return self.base * 2

        @functools.cached_property
        def value(self):
            return self.twice()

    return Cached()


def forget(one):
    one.base = 5.0
    vars(one).pop("value", None)


@row
def what_a_cached_property_reads():
    one = cached()
    return lambda x: x * one.value, lambda: forget(one)


@row
def a_cached_value():
    one = cached()
    return lambda x: x * one.value, lambda: setattr(one, "value", 5.0)


# ------------------------------------------------------------------ containers


@row
def the_order_of_an_ordered_dict():
    rates = collections.OrderedDict(first=1.0, second=5.0)
    return lambda x: x * next(iter(rates.values())), lambda: rates.move_to_end("first")


@row
def a_view_of_a_dict():
    rates = {"first": 1.0}
    view = types.MappingProxyType(rates)
    return lambda x: x * view["first"], lambda: rates.update(first=5.0)


@row
def a_chain_of_dicts():
    rates = collections.ChainMap({"first": 1.0}, {})
    return lambda x: x * rates["first"], lambda: rates.maps[0].update(first=5.0)


@row
def a_user_dict():
    rates = collections.UserDict(first=1.0)
    return lambda x: x * rates["first"], lambda: rates.update(first=5.0)


@row
def a_bytearray():
    rates = bytearray(b"a")
    return lambda x: x * rates[0], lambda: rates.append(rates.pop() + 4)


@row
def an_array_of_the_standard_library():
    rates = array.array("d", [1.0])
    return lambda x: x * rates[0], lambda: rates.append(rates.pop() + 4)


@row
def an_array_of_objects():
    rates = np.array([1.0, None], dtype=object)
    return lambda x: x * rates[0], lambda: rates.__setitem__(0, 5.0)


@row
def what_a_dict_does_not_have():
    class Missing(dict[str, Any]):
        rate = 1.0

        def __missing__(self, key):
            return self.rate

    missing = Missing()
    return lambda x: x * missing["first"], lambda: setattr(missing, "rate", 5.0)


# ------------------------------------------------------------------ what Python calls


class Equal:
    __match_args__ = ("rate",)

    def __init__(self, rate):
        self.rate = rate

    def __eq__(self, other):
        return self.rate == other.rate

    __hash__ = object.__hash__

    def __iter__(self):
        return iter([self.rate, self.rate])


@row
def an_object_that_is_looked_for():
    one, other = Equal(1.0), Equal(2.0)
    return lambda x: x * (1.0 if one in [other] else 2.0), lambda: setattr(other, "rate", 1.0)


@row
def an_object_that_is_unpacked():
    one = Equal(1.0)

    def f(x):
        first, second = one
        return x * first * second

    return f, lambda: setattr(one, "rate", 5.0)


@row
def an_object_that_is_matched_by_name():
    one = Equal(1.0)

    def f(x):
        match one:
            case Equal(rate=1.0):
                return x
        return x * 2

    return f, lambda: setattr(one, "rate", 5.0)


@row
def an_object_that_is_matched_by_position():
    one = Equal(1.0)

    def f(x):
        match one:
            case Equal(1.0):
                return x
        return x * 2

    return f, lambda: setattr(one, "rate", 5.0)


@row
def an_attribute_of_a_number():
    class Number(float):
        rate: float

    number = Number(1.0)
    number.rate = 1.0
    return lambda x: x * number.rate, lambda: setattr(number, "rate", 5.0)


@row
def an_attribute_of_an_enum():
    class Order(enum.Enum):
        FIRST = 1

    first: Any = Order.FIRST
    first.rate = 1.0
    return lambda x: x * first.rate, lambda: setattr(first, "rate", 5.0)


@row
def an_implementation_for_a_type():
    @functools.singledispatch
    def scaled(rate, x):
        return x

    return lambda x: scaled(1, x), lambda: scaled.register(int, lambda rate, x: x * 5.0)


@row
def a_rule():
    rates = [1.0]

    @ag.custom_jvp
    def f(x):
        return 2.0 * x

    f.defjvp(lambda primals, tangents: (f(*primals), tangents[0] * rates[0]))
    return lambda x: jax.grad(f)(x), lambda: rates.__setitem__(0, 5.0)


@row
def a_rule_of_jax():
    rates = [1.0]

    @jax.custom_vjp
    def f(x):
        return 2.0 * x

    f.defvjp(lambda x: (f(x), None), lambda kept, cotangent: (cotangent * rates[0],))
    return lambda x: jax.grad(f)(x), lambda: rates.__setitem__(0, 5.0)


# ------------------------------------------------------------------ attributes by other ways


@row
def an_attribute_in_the_dict_of_an_object():
    one = Thing(rate=1.0)
    return lambda x: x * one.__dict__["rate"], lambda: setattr(one, "rate", 5.0)


@row
def an_attribute_in_vars_of_an_object():
    one = Thing(rate=1.0)
    return lambda x: x * vars(one)["rate"], lambda: setattr(one, "rate", 5.0)


@row
def an_attribute_that_an_attrgetter_gets():
    one, get = Thing(rate=1.0), operator.attrgetter("rate")
    return lambda x: x * get(one), lambda: setattr(one, "rate", 5.0)


@row
def attributes_that_an_attrgetter_gets():
    things: list[Any] = [Thing(rate=1.0), Thing(rate=2.0)]
    return lambda x: x * sum(map(operator.attrgetter("rate"), things)), lambda: setattr(things[1], "rate", 5.0)


def imported(statement, read):
    module: Any = types.ModuleType("settings_of_test_changes")
    module.rate = 1.0
    sys.modules[module.__name__] = module
    space: dict[str, Any] = {"__name__": __name__}
    exec(f"def f(x):\n    {statement}\n    return x * {read}\n", space)
    return space["f"], lambda: setattr(module, "rate", 5.0)


@row
def a_module_that_is_imported_in_the_function():
    return imported("import settings_of_test_changes as settings", "settings.rate")


@row
def a_name_that_is_imported_in_the_function():
    return imported("from settings_of_test_changes import rate", "rate")


# ------------------------------------------------------------------ static arguments


class Rated:
    rate = 1.0

    def step(self, x):
        return x * self.rate

    @classmethod
    @ag.jit(static_argnums=0)
    def of_class(cls, x):
        return x * cls.rate


@dataclasses.dataclass
class Around:
    part: Any


@dataclasses.dataclass(frozen=True)
class Fixed:
    part: Any

    def read(self):
        return self.part.rate * self.factor

    factor = 1.0


class Named(NamedTuple):
    part: Any


def once(kept):
    """Of what is static in a container: the rate of what is in it."""
    return next(iter(kept)).rate if isinstance(kept, tuple | set | frozenset) else kept.part.rate


# By name: what is static, made of an object; and what reads it.
STATIC: dict[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {
    "a class": (type, lambda kind, x: x * kind.rate),
    "a class in a tuple": (lambda one: (type(one), 1), lambda kinds, x: x * kinds[0].rate),
    "a method of a class": (type, lambda kind, x: kind().step(x)),
    "a dataclass": (Around, lambda around, x: x * once(around)),
    "a dataclass that is frozen": (Fixed, lambda around, x: x * once(around)),
    "a method of a dataclass": (Fixed, lambda around, x: x * around.read()),
    "a list in a dataclass": (lambda one: Around([one]), lambda around, x: x * around.part[0].rate),
    "a named tuple": (Named, lambda named, x: x * once(named)),
    "a set": (lambda one: frozenset([one]), lambda kept, x: x * once(kept)),
}


@pytest.mark.parametrize("make, read", STATIC.values(), ids=STATIC.keys())
def test_what_static_values_hold(make, read):
    kind = type("Kind", (Rated,), {"__module__": __name__})
    one = kind()
    step, given = ag.jit(read, static_argnums=0), make(one)
    for value in (1.0, 2.0, 3.0, 2.0):
        one.rate = kind.rate = value
        assert step(given, X) == 2.0 * value
        assert step(given, X) == 2.0 * value


def test_class_methods_that_are_compiled():
    class Below(Rated):
        pass

    assert [Rated.of_class(X), Below.of_class(X)] == [2.0, 2.0]
    Below.rate = 5.0
    assert [Rated.of_class(X), Below.of_class(X)] == [2.0, 10.0]


def test_equal_static_dataclasses_have_a_program():
    traced: list[Any] = []
    step = ag.jit(lambda around, x: (traced.append(x), x * around.part)[1], static_argnums=0)
    assert [step(Around(2.0), X), step(Around(2.0), X), step(Around(3.0), X)] == [4.0, 4.0, 6.0] and len(traced) == 2
    assert step(Fixed(2.0), X) == step(Fixed(2.0), X) == 4.0 and len(traced) == 3


# ------------------------------------------------------------------ captures="argument"


def test_what_a_class_has_and_then_the_class_below_and_the_object():
    class Above:
        rate = 1.0

    class Below(Above):
        pass

    one = Below()
    step = ag.jit(lambda x: x * one.rate, captures="argument")
    assert step(X) == 2.0
    for target, value in [(Above, 2.0), (Below, 3.0), (one, 4.0), (one, 5.0)]:
        target.rate = value
        assert step(X) == 2.0 * value
    del one.rate
    assert step(X) == 6.0


# ------------------------------------------------------------------ state


def made_with(log, change):
    def step(x):
        change(log)
        return x * log[0]

    return step


def test_what_one_closure_changes_is_watched_in_another_one():
    first, second = [1.0], [1.0]
    changes, leaves = ag.jit(made_with(first, lambda log: list.append(log, 2.0))), ag.jit(made_with(second, len))
    assert [changes(X), changes(X), leaves(X), len(first)] == [2.0, 2.0, 2.0, 2]
    second[0] = 5.0
    assert leaves(X) == 10.0


# ------------------------------------------------------------------ all of them


def looks(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """A list that grows whenever somebody looks through all that a function closes over."""
    seen: list[Any] = []
    found = recaptured.snapshot
    monkeypatch.setattr(recaptured, "snapshot", lambda *given, **more: (seen.append(given), found(*given, **more))[1])
    return seen


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
def test_a_change_is_seen(make, monkeypatch):
    f, change = make()
    step = ag.jit(f)
    before = f(X)
    for _ in range(2):
        assert np.allclose(step(X), before)
    seen = looks(monkeypatch)
    assert np.allclose(step(X), before) and not seen
    change()
    assert not np.allclose(f(X), before)
    assert np.allclose(step(X), f(X))


def turned(c, _):
    return act(c), None


def test_a_body_of_the_module_that_jax_has_traced():
    step = ag.jit(lambda x: jax.lax.scan(turned, x, length=1)[0])
    assert step(X) == jnp.sin(X)
    rebound("act")()
    assert step(X) == jnp.cos(X)


@pytest.mark.parametrize("transform", [ag.checkpoint, lambda f: ag.jit(f, captures="warn")])
def test_other_transforms_see_it(transform, recwarn):
    step = transform(lambda x: act(x))
    assert step(X) == jnp.sin(X)
    rebound("act")()
    assert step(X) == jnp.cos(X)


def test_equal_named_tuples_have_a_program(monkeypatch):
    pair = Pair(Pair(1.0, "a"), (2.0,))
    step = ag.jit(lambda x: (traced.append(x), x * pair.first.first)[1])
    traced: list[Any] = []
    assert step(X) == 2.0
    pair = Pair(Pair(1.0, "a"), (2.0,))
    assert step(X) == 2.0 and len(traced) == 1


def test_classes_that_are_converted_meanwhile_have_not_changed():
    """The class is met while the function is traced."""

    @dataclasses.dataclass
    class Layer:
        rate: float

        def __call__(self, x):
            return x * self.rate if x > 0 else x

        @property
        def doubled(self):
            return 2 * self.rate if self.rate > 0 else 0.0

    def hidden():
        return [Layer]

    traced: list[Any] = []

    @ag.jit
    def step(x):
        traced.append(x)
        layer = hidden()[0](2.0)
        return layer(x) * layer.doubled + (layer == Layer(2.0)) + (1.0 if layer != Layer(2.0) else 0.0)

    assert [step(X), step(X), step(X)] == [17.0] * 3 and len(traced) == 1


def test_a_cached_property_of_a_traced_value_costs_no_program():
    class Cached:
        weights = jnp.ones(3)

        @functools.cached_property
        def norm(self):
            return jnp.sum(self.weights)

    one, traced = Cached(), []
    step = ag.jit(lambda x: (traced.append(x), x * one.norm)[1])
    assert [step(X), step(X), step(X)] == [6.0] * 3 and len(traced) == 1


def test_an_attribute_that_held_a_traced_value():
    one: Any = Thing(last=0.0)

    @ag.jit
    def step(x):
        if x.ndim == 0:
            one.last = x * 2
            return x
        return x * one.last

    step(X)
    for value in (3.0, 4.0):
        one.last = value
        assert step(jnp.ones(1)) == value


def test_what_libraries_have_is_not_listed():
    assert ag.captures(lambda x: act(x) + tripled(x) + jnp.sin(x) + module.cos(x) + operation(x, 1)) == []
