"""`CachedProperty` is functools' own, whose cache is state of a block that is traced."""

import copy
import functools
import pickle

import jax
import pytest

from autograph_jax import autograph
from autograph_jax.operators.tracing.cached import CachedProperty


def doubled(self):
    """Twice the value."""
    self.calls += 1
    return self.value * 2


class Plain:
    def __init__(self, value):
        self.value, self.calls = value, 0

    doubled = functools.cached_property(doubled)


class Ours(Plain):
    doubled = CachedProperty.of(vars(Plain)["doubled"], doubled)


BOTH = pytest.mark.parametrize("kind", [Plain, Ours])


@BOTH
def test_read_once(kind):
    thing = kind(3)
    assert (thing.doubled, thing.doubled, thing.calls) == (6, 6, 1)
    assert vars(thing) == {"value": 3, "calls": 1, "doubled": 6}


@BOTH
def test_emptied_and_set(kind):
    thing = kind(3)
    with pytest.raises(AttributeError):
        del thing.doubled
    assert thing.doubled == 6
    del thing.doubled
    thing.value = 4
    assert thing.doubled == 8
    thing.doubled = 1
    assert (thing.doubled, thing.calls) == (1, 2)


@BOTH
def test_of_the_class(kind):
    assert isinstance(kind.doubled, functools.cached_property) and kind.doubled is vars(kind)["doubled"]
    assert kind.doubled.__doc__ == "Twice the value." and kind.doubled.attrname == "doubled"


@BOTH
def test_copies_keep_what_is_cached(kind):
    thing = kind(3)
    assert thing.doubled == 6
    for other in (copy.copy(thing), copy.deepcopy(thing), pickle.loads(pickle.dumps(thing))):
        assert (other.doubled, other.calls) == (6, 1)


@BOTH
def test_without_a_name(kind):
    lonely = type(vars(kind)["doubled"])(doubled)
    with pytest.raises(TypeError, match="Cannot use cached_property instance without calling __set_name__ on it"):
        lonely.__get__(kind(1))


@BOTH
def test_without_a_place_to_keep_it(kind):
    class Slotted:
        __slots__ = ("calls", "value")
        doubled = type(vars(kind)["doubled"])(doubled)

    thing = Slotted()
    thing.value, thing.calls = 3, 0
    with pytest.raises(TypeError, match="dict"):
        _ = thing.doubled


def test_filled_in_a_branch():
    @jax.jit
    @autograph
    def f(x):
        thing = Ours(x)
        first = thing.doubled if x > 0 else 0.0
        return first, thing.doubled, thing.doubled, thing.calls

    assert f(2.0) == (4, 4, 4, 1) and f(-2.0) == (0, -4, -4, 1)


def test_emptied_in_a_branch():
    @jax.jit
    @autograph
    def f(x):
        thing = Ours(x)
        first = thing.doubled
        if x > 0:
            del thing.doubled
            thing.value = x + 1
        return first, thing.doubled, thing.calls

    assert f(2.0) == (4, 6, 2) and f(-2.0) == (-4, -4, 1)
