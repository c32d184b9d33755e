"""What Python asks objects of users' classes: the same answers and the same errors, and arrays where there were errors."""

import jax
import jax.numpy as jnp
import pytest

from autograph_jax import autograph
from autograph_jax.operators.tracing import same_containers
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import Choice


class Answering:
    """An object whose special methods give what it has been told to."""

    def __init__(self, answer):
        self.answer = answer


def answering(method, answer):
    return type("Thing", (Answering,), {method: lambda self, *_: self.answer})(answer)


ASKED = {"__bool__": bool, "__len__": len, "__float__": float, "__int__": int}
PLAIN = [True, False, 0, 2, -1, 0.5, "text", None, [1]]


def outcome(ask, value):
    try:
        answer = ask(value)
    except (TypeError, ValueError, OverflowError) as error:
        return type(error), str(error)
    return type(answer), answer


@pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning")
@pytest.mark.parametrize("answer", PLAIN, ids=repr)
@pytest.mark.parametrize("method", ASKED)
def test_plain_answers_are_pythons(method, answer):
    ask, thing = ASKED[method], answering(method, answer)
    assert outcome(lambda v: objects.asked(v, method, ask), thing) == outcome(ask, thing)


@pytest.mark.parametrize("answer", PLAIN, ids=repr)
@pytest.mark.parametrize("method", ["__bool__", "__len__"])
def test_plain_truth_is_pythons(method, answer):
    thing = answering(method, answer)
    assert outcome(lambda v: bool(objects.condition(v)), thing) == outcome(bool, thing)


def _kind(value):
    return type(value).__name__


@pytest.mark.parametrize("value", [True, 0, "", [], (), {}, None, 1.5, object(), jnp.ones(()), len], ids=_kind)
def test_values_without_methods_of_their_own_decide_themselves(value):
    assert objects.condition(value) is value


def test_each_method_is_called_once():
    calls = []

    class Both:
        def __bool__(self):
            calls.append("bool")
            return True

        def __len__(self):
            raise AssertionError("`__bool__` comes first")

    assert objects.condition(Both()) is True and calls == ["bool"]


@pytest.mark.parametrize("method", ASKED)
def test_arrays_are_answers(method):
    array = jnp.array(2)
    assert objects.asked(answering(method, array), method, ASKED[method]) is array


def test_a_choice_of_objects_decides_by_what_they_say():
    @jax.jit
    def f(x):
        return objects.condition(Choice((x > 0).astype(int), (answering("__bool__", x < -5), None)))

    assert not f(1.0) and not f(-4.0) and f(-6.0)
    plain = Choice(jnp.int32(0), (None, 1.0))
    assert objects.condition(plain) is plain


class Inside:
    def __init__(self, *values):
        self.values = values

    def __contains__(self, value):
        return "yes" if value in self.values else ""


class Iterated:
    def __init__(self, *values):
        self.values = values

    def __iter__(self):
        return iter(self.values)


class Indexed:
    def __getitem__(self, position):
        return [1, 2][position]


@pytest.mark.parametrize("container", [Inside(1, 2), Iterated(1, 2), Indexed(), [1, 2], "12"], ids=lambda c: type(c).__name__)
def test_plain_membership_is_pythons(container):
    for value in (1, 2, 3, "1"):
        assert outcome(lambda v: objects.contains(container, v), value) == outcome(lambda v: v in container, value)


def test_traced_membership():
    f = jax.jit(autograph(lambda x: (x in Iterated(1.0, 2.0), x in Inside(1.0, 2.0))))
    assert f(2.0) == (True, True) and f(3.0) == (False, False)


def test_containers_that_may_each_be_the_other():
    """Each is met once, where what joins have made goes round in a circle."""

    class Box:
        def __init__(self, n):
            self.n = n

    first, second = Box(jnp.ones(())), Box(jnp.zeros(()))
    same_containers.doubt_container(first, second)
    same_containers.doubt_container(second, first)
    assert list(same_containers.older(first)) == [second]
    found, ways = same_containers.older_in([second, first])
    assert found == [first, second]
    assert ways == {id(first): {(0,)}, id(second): {(1,)}}
