"""Lists, dicts, sets and deques that a function closes over: what is in them counts, unless the function changes it."""

import collections
import copy
import functools
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import CaptureError

options = {"rate": 2.0}


class Layer:
    def __init__(self, scale):
        self.scale = scale


class Net:
    def __init__(self):
        self.layers = [Layer(2.0)]
        self.options = {"rate": 2.0}

    def step(self, x):
        for layer in self.layers:
            x = layer.scale * x
        return x

    def rated(self, x):
        return self.options["rate"] * x


class Kept(dict):
    """A dict of the user's."""


def of_a_global():
    options["rate"] = 2.0
    return lambda x: options["rate"] * x, lambda: options.update(rate=3.0)


def of_a_variable():
    rates = [1.0, 2.0]
    return lambda x: rates[1] * x, lambda: rates.__setitem__(1, 3.0)


def one_more():
    rates = [1.0, 1.0]
    return lambda x: sum(rates) * x, lambda: rates.append(1.0)


def of_a_dict_in_a_dict():
    found = {"model": {"rate": 2.0, "sizes": [1]}}
    return lambda x: found["model"]["rate"] * x, lambda: found["model"].update(rate=3.0)


def under_another_name():
    found = {"rate": 2.0}
    return lambda x: found.get("rate") * x, lambda: (found.clear(), found.update({"rate": 3.0}))


def an_object_in_a_list():
    layers = [Layer(2.0)]

    def apply(x):
        for layer in layers:
            x = x * layer.scale
        return x

    return apply, lambda: setattr(layers[0], "scale", 3.0)


def a_function_in_a_dict():
    rate = 2.0
    table = {"apply": lambda x: x * rate}

    def change():
        nonlocal rate
        rate = 3.0

    return lambda x: table["apply"](x), change


def another_function():
    table = {"apply": lambda x: x * 2.0}
    return lambda x: table["apply"](x), lambda: table.update(apply=lambda x: x * 3.0)


def an_array_in_a_list():
    arrays = [np.array([2.0])]
    return lambda x: arrays[0][0] * x, lambda: arrays[0].__setitem__(0, 3.0)


def a_list_in_a_tuple():
    pair = ("a", [2.0])
    return lambda x: pair[1][0] * x, lambda: pair[1].__setitem__(0, 3.0)


def a_set():
    found = {"twice"}
    return lambda x: x * (2.0 if "twice" in found else 3.0), lambda: found.clear()


def a_deque():
    found = collections.deque([2.0])
    return lambda x: found[0] * x, lambda: found.appendleft(3.0)


def a_default_dict():
    found = collections.defaultdict(float, rate=2.0)
    return lambda x: found["rate"] * x, lambda: found.update(rate=3.0)


def a_dict_of_the_users():
    found = Kept(rate=2.0)
    return lambda x: found["rate"] * x, lambda: found.update(rate=3.0)


def of_an_object():
    net = Net()
    return net.rated, lambda: net.options.update(rate=3.0)


def objects_of_an_object():
    net = Net()
    return net.step, lambda: setattr(net.layers[0], "scale", 3.0)


def another_object_of_an_object():
    net = Net()
    return net.step, lambda: net.layers.__setitem__(0, Layer(3.0))


def of_a_namespace():
    space = types.SimpleNamespace(rates={"a": 2.0})
    return lambda x: space.rates["a"] * x, lambda: space.rates.update(a=3.0)


def of_a_default():
    rates = [2.0]

    def step(x, rates=rates):
        return rates[0] * x

    return lambda x: step(x), lambda: rates.__setitem__(0, 3.0)


def handed_on():
    found = {"rate": 2.0}

    def helper(x, found):
        return x * found["rate"]

    return lambda x: helper(x, found), lambda: found.update(rate=3.0)


def in_a_scan():
    found = {"rate": 2.0}

    def turn(x, _):
        return x * found["rate"], None

    return lambda x: jax.lax.scan(turn, x, None, length=1)[0], lambda: found.update(rate=3.0)


def with_a_string():
    found = {"method": "twice"}
    return lambda x: x * (2.0 if found["method"] == "twice" else 3.0), lambda: found.update(method="thrice")


def of_a_wrapper():
    found = [2.0]

    def doubled(function):
        @functools.wraps(function)
        def wrapper(x):
            return found[0] * function(x)

        return wrapper

    @doubled
    def identity(x):
        return x

    return identity, lambda: found.__setitem__(0, 3.0)


CHANGES = [
    of_a_wrapper,
    of_a_global,
    of_a_variable,
    one_more,
    of_a_dict_in_a_dict,
    under_another_name,
    an_object_in_a_list,
    a_function_in_a_dict,
    another_function,
    an_array_in_a_list,
    a_list_in_a_tuple,
    a_set,
    a_deque,
    a_default_dict,
    a_dict_of_the_users,
    of_an_object,
    objects_of_an_object,
    another_object_of_an_object,
    of_a_namespace,
    of_a_default,
    handed_on,
    in_a_scan,
    with_a_string,
]


@pytest.mark.parametrize("make", CHANGES)
def test_a_changed_content_is_seen(make):
    function, change = make()
    traced = []

    def counted(x):
        traced.append(x.shape)
        return function(x)

    step = ag.jit(counted)
    assert [float(step(jnp.array(1.0))) for _ in range(2)] == [2.0, 2.0] and len(traced) == 1
    change()
    assert [float(step(jnp.array(1.0))) for _ in range(2)] == [3.0, 3.0] and len(traced) == 2


def test_equal_contents_in_place_have_a_program():
    rates, traced = [2.0], []

    @ag.jit
    def step(x):
        traced.append(1)
        return rates[0] * x

    for rate, count in [(2.0, 1), (3.0, 2), (2.0, 2), (3.0, 2)]:
        rates[0] = rate
        assert step(1.0) == rate and len(traced) == count


# ------------------------------------------------------------------ what a function changes itself is state


def appended(x, log):
    log.append(1)
    return x


def counted_in_a_dict(x, log):
    log["n"] = log.get("n", 0) + 1
    return x


def added_to_in_a_dict(x, log):
    log["n"] += 1
    return x


def remembered(x, log):
    if "key" not in log:
        log["key"] = object()
    return x


def by_another_name(x, log):
    inner = log
    inner.append(1)
    return x


def by_another_function(x, log):
    list.append(log, 1)
    return x


def of_an_item(x, log):
    log["all"].append(x.shape)
    return x


@pytest.mark.parametrize(
    "change, log",
    [
        (appended, []),
        (counted_in_a_dict, {}),
        (added_to_in_a_dict, {"n": 0}),
        (remembered, {}),
        (by_another_name, []),
        (by_another_function, []),
        (of_an_item, {"all": []}),
    ],
)
@pytest.mark.parametrize("captures", ["retrace", "error", "argument"])
def test_what_a_function_changes_is_state(change, log, captures):
    traced, log = 0, copy.deepcopy(log)

    def make():
        def step(x):
            nonlocal traced
            traced += 1
            return change(x, log)

        return step

    step = ag.jit(make(), captures=captures)
    for _ in range(4):
        assert step(jnp.array(1.0)) == 1.0
    assert traced == 1


@pytest.mark.parametrize("change", [appended, by_another_name, by_another_function])
def test_a_function_that_is_made_anew_and_changes_a_list_is_traced_once(change):
    log = []

    def make():
        def step(x):
            return change(x, log)

        return step

    assert [ag.jit(make())(jnp.array(1.0)) for _ in range(4)] == [1.0] * 4 and len(log) == 1


def test_state_that_another_shape_changes():
    log = []

    def step(x):
        if x.ndim == 1:
            list.append(log, x.shape)
        return 2 * x

    step = ag.jit(step)
    for value in [1.0, [1.0], [1.0], [1.0, 2.0], [1.0, 2.0], [1.0]]:
        assert step(jnp.array(value)).tolist() == (2 * np.array(value)).tolist()
    assert log == [(1,), (1,), (2,)]  # the first one twice: what a trace changes is known after it


def test_a_list_that_only_grows_outside_costs_programs_and_says_so():
    log = [1.0]
    step = ag.jit(lambda x: x * log[0], captures="warn")
    assert step(1.0) == 1.0
    log.append(2.0)
    with pytest.warns(RuntimeWarning, match="`log`"):
        assert step(1.0) == 1.0


def test_an_error_that_names_the_list():
    log = [1.0]
    step = ag.jit(lambda x: x * log[0], captures="error")
    step(1.0)
    log[0] = 2.0
    with pytest.raises(CaptureError, match="`log`"):
        step(1.0)


def test_beyond_a_thousand_items_nothing_is_compared():
    few, many = [1.0] * 1000, [1.0] * 1001
    listed = ag.captures(lambda x: few[0] * many[0])
    assert {c.name: c.compared for c in listed} == {"few": "by contents", "many": "by identity, contents not"}


def test_a_list_that_contains_itself():
    found = [2.0]
    found.append(found)
    step = ag.jit(lambda x: x * found[1][0])
    assert step(1.0) == 2.0
    found[0] = 3.0
    assert step(1.0) == 3.0


def test_lists_of_tracers_are_not_kept():
    @jax.jit
    def outer(a):
        parts = [a, 2 * a]
        return ag.jit(lambda x: x * parts[0] + parts[1])(1.0)

    with jax.checking_leaks():
        assert outer(1.0) == 3.0
