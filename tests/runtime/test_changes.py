"""What a compiled function reads may change in every way that Python has: the next call sees it, and nothing else costs a look.

A row makes a function and what changes something that it reads.
"""

import functools
import operator
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


def test_what_libraries_have_is_not_listed():
    assert ag.captures(lambda x: act(x) + tripled(x) + jnp.sin(x) + module.cos(x) + operation(x, 1)) == []
