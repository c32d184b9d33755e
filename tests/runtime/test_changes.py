"""What a compiled function reads may change in every way that Python has: the next call sees it, and nothing else costs a look.

A row makes a function and what changes something that it reads.
"""

from collections.abc import Callable
from typing import Any

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
