"""The texts of Python's own containers, and of the library functions that make texts: those that plain Python gives."""

# ruff: noqa: UP030, UP031, UP032 - the older ways to write a string are what is tested

import argparse
import collections
import contextlib
import csv
import dataclasses
import functools
import io
import logging
import pprint
import reprlib
import string
import types
import warnings
from types import SimpleNamespace

import equinox
import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax import autograph, jit
from autograph_jax.errors import StagingError

Pair = collections.namedtuple("Pair", "first second")


class Point:
    def __init__(self, x):
        self.x = x

    def __repr__(self):
        return f"Point({self.x})"


@dataclasses.dataclass
class Held:
    value: object


class OwnList(collections.UserList):
    pass


class OwnDict(dict):
    def __repr__(self):
        return f"own {super().__repr__()}"


class OwnDeque(collections.deque):
    pass


class OwnNamespace(SimpleNamespace):
    pass


CONTAINERS = {
    "items": lambda x: {"a": x}.items(),
    "values": lambda x: {"b": x, "a": 1}.values(),
    "keys": lambda x: {"b": x, "a": 1}.keys(),
    "items of an OrderedDict": lambda x: collections.OrderedDict(b=x, a=1).items(),
    "deque": lambda x: collections.deque([x, 1]),
    "deque with a maxlen": lambda x: collections.deque([x], maxlen=3),
    "a class of deques": lambda x: OwnDeque([x]),
    "namespace": lambda x: SimpleNamespace(b=x, a="s"),
    "a class of namespaces": lambda x: OwnNamespace(a=x),
    "Counter": lambda x: collections.Counter(a=x, b=2),
    "empty Counter": lambda x: (collections.Counter(), x),
    "ChainMap": lambda x: collections.ChainMap({"a": x}, {"b": 1}),
    "mapping proxy": lambda x: types.MappingProxyType({"b": x, "a": 1}),
    "UserList": lambda x: collections.UserList([x]),
    "a class of UserLists": lambda x: OwnList([x]),
    "UserDict": lambda x: collections.UserDict(b=x, a=1),
    "a class of dicts": lambda x: OwnDict(b=x, a=1),
    "slice": lambda x: slice(0, x),
    "named tuple": lambda x: [Pair(x, Point(x))],
    "OrderedDict": lambda x: collections.OrderedDict(b=Point(x), a=1),
    "defaultdict": lambda x: collections.defaultdict(None, b=[Point(x)], a=1),
    "set": lambda x: {Point(x)},
    "frozenset": lambda x: frozenset([Point(x)]),
    "partial": lambda x: functools.partial(max, x, key=None),
    "objects in a deque": lambda x: collections.deque([Point(x), Held(x)]),
    "in each other": lambda x: [collections.deque([SimpleNamespace(a={"b": x}.items())]), Held(collections.deque([x]))],
}


def printed(function, *arguments):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        function(*arguments)
        jax.effects_barrier()
    return out.getvalue()


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers(container):
    make = CONTAINERS[container]

    def texts(x):
        value = make(x)
        return (
            f"{value}", f"{value!r}", f"{value!a}", f"{value!s:>60}", str(value), repr(value), ascii(value), format(value),
            "%s %r" % (value, value), "{} {!r}".format(value, value), f"{[value]}", f"{ {1: value} }", f"{(value,)}",
        )  # fmt: skip

    compiled = jit(texts)
    for x in (1.5, 3.5):
        assert compiled(x) == texts(x) == autograph(texts)(x)


@pytest.mark.parametrize("container", [name for name in CONTAINERS if name != "keys"])  # which hold nothing traced
def test_containers_are_printed_by_each_run(container):
    make = CONTAINERS[container]

    def shown(x):
        print(make(x), [make(x)])
        if x > 2:
            print("large", make(x))

    compiled = jit(shown)
    for x in (1.5, 3.5):
        assert printed(compiled, x) == printed(shown, x)


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_under_an_eager_derivative(container):
    make = CONTAINERS[container]

    def shown(x):
        print(make(x))
        return x * x

    assert printed(ag.grad(shown), 2.5) == printed(shown, 2.5)


def in_a_loop(x):
    for i in range(3):
        print(SimpleNamespace(a=x, i=i), {"a": x}.values())
        x = x + 1
    return x


def as_it_is_then(x):
    counts = collections.Counter(a=1, b=0)
    if x > 2:
        counts["a"] += 1
        print(counts, counts.items())
        counts["b"] += 2
        print(counts, counts.items())
    return x


def by_pprint(x):
    pprint.pprint({"b": [x], "a": Held(x)})
    pprint.pp({"b": x, "a": 1})
    pprint.PrettyPrinter(width=20).pprint(["long" * 5, x])
    if x > 2:
        pprint.pprint({"known": 1})


@pytest.mark.parametrize("program", [in_a_loop, as_it_is_then, by_pprint])
def test_prints(program):
    compiled = jit(program)
    for x in (1.5, 3.5):
        assert printed(compiled, x) == printed(program, x)


def by_library(x):
    return (
        pprint.pformat([x, {"b": x, "a": (1, x)}]), pprint.pformat({"b": x, "a": 1}, sort_dicts=False),
        pprint.pformat([1]), string.Template("$a, $b").substitute(a=x, b="c"),
        string.Template("$a $c").safe_substitute({"a": x}),
        reprlib.repr([x, 1]), string.Formatter().format("{:.2f} {a}", x, a=x),
    )  # fmt: skip


def by_special_methods(x):
    return (
        x.__repr__(), x.__str__(), x.__format__(".2f"), [x].__repr__(), Point(x).__str__(), Point(x).__repr__(),
        "%s".__mod__(x), list.__repr__([x]), "{a}".format_map({"a": x}), collections.UserList([x]).__repr__(),
        object.__str__(Point(x)),
    )  # fmt: skip


def by_functions(x):
    return ", ".join(map(str, [x, collections.deque([x])])), ascii(x), ascii(["ä", x])


def by_a_variable(x):
    form, other = "%.1f %s", "<%d>"
    held = {"form": "%s"}
    other %= x
    held["form"] %= x
    return form % (x, [x]), other, held["form"]


class Formatted:
    def __init__(self, x):
        self.x = x

    def __format__(self, spec):
        return ("large" if self.x > 2 else "small") + f" {self.x:{spec}}"


def by_own_format(x):
    value = Formatted(x)
    return f"{value:.2f}", f"{value}", format(value, ".1f"), "{:.3f}".format(value)


PROGRAMS = (by_library, by_special_methods, by_functions, by_a_variable, by_own_format)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("x", [1.5, 3.5])
def test_result(program, x):
    assert jit(program)(x) == program(x) == autograph(program)(x)


def by_digits(n):
    digits = hex(n) if n > 0 else oct(-n)
    return digits, bin(n), bin(n > 0), f"<{hex(abs(n))}>", list(map(hex, [n, 17])), "".join(chr(97 + n + i) for i in range(3))


@pytest.mark.parametrize("n", [3, -2, 0])
def test_of_integers(n):
    assert jit(by_digits)(n) == by_digits(n) == autograph(by_digits)(n)
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        jit(lambda x: hex(x / 2))(n)


def a_container(x):
    raise ValueError(collections.deque([x]), [x])


def a_container_in_a_loop(x):
    for i in range(3):
        if x > i + 0.5:
            raise ValueError(collections.deque([x + i]))
    return x


def an_object(x):
    if x > 1:
        raise ValueError(Point(x))
    return x


def an_object_always(x):
    raise ValueError(Point([x]))


def a_text(x):
    raise ValueError(f"state {SimpleNamespace(v=x)}")


def a_text_in_a_branch(x):
    if x > 1:
        raise KeyError(f"state {collections.Counter(a=x)}")
    return x


class WithState(Exception):
    def __init__(self, state):
        super().__init__("with state")
        self.state = state


def an_attribute(x):
    raise WithState(collections.deque([x]))


@pytest.mark.parametrize(
    "program", [a_container, a_container_in_a_loop, an_object, an_object_always, a_text, a_text_in_a_branch, an_attribute]
)
def test_errors(program):
    def raised(function, x):
        with pytest.raises((ValueError, KeyError, WithState)) as caught:
            function(x)
        return type(caught.value), str(caught.value), repr(caught.value), repr(vars(caught.value))

    compiled = jit(program)
    for x in (1.5, 3.5):
        assert raised(compiled, x) == raised(program, x)


def test_an_error_outside_of_a_compiled_program():
    with pytest.raises(StagingError, match="this ValueError holds a traced value, and is raised while JAX traces"):
        ag.vmap(a_text)(jnp.ones(2))


class FromLibrary(argparse.Namespace):
    pass


def in_a_table(x):
    csv.writer(io.StringIO()).writerow([x])


def in_a_table_of_dicts(x):
    csv.DictWriter(io.StringIO(), ["a"]).writerow({"a": x})


def array_of_objects(x):
    array = np.empty(1, object)
    array[0] = x
    return f"{array}"


REFUSED = {
    "a method": lambda x: f"{Point(x).__repr__}",
    "a library's class": lambda x: str(argparse.Namespace(a=x)),
    "a class of a library's": lambda x: print(FromLibrary(a=[x])),
    "in a container": lambda x: print([{"a": argparse.Namespace(a=x)}]),
    "an array of objects": array_of_objects,
    "a table": in_a_table,
    "a table of dicts": in_a_table_of_dicts,
    "a Counter of lists": lambda x: f"{collections.Counter(a=[x], b=[1])}",
    "a library's function": lambda x: collections.UserString(f"{x}"),
}


@pytest.mark.parametrize("use", REFUSED)
def test_what_would_show_a_tracer_is_refused(use):
    with pytest.raises(StagingError, match="at run time only"):
        jit(REFUSED[use])(1.5)


def test_message():
    def shown(x):
        return str(argparse.Namespace(a=x))

    with pytest.raises(StagingError) as caught:
        jit(shown)(1.5)
    text = str(caught.value)
    assert "shows a traced value, which has its text at run time only" in text
    assert "return str(argparse.Namespace(a=x))" in text
    assert "help: show the value itself, `print(x)`; or show it at run time, by a callback: `jax.debug.callback`" in text


def test_what_shows_no_tracer_is_printed_as_it_is():
    class Plain:
        def __init__(self, x):
            self.x = x

    def shown(x):
        def inner():
            return x

        print(inner, [inner], Plain, pprint)
        return str(Plain(x)).startswith("<"), f"{inner}"[:9], len(repr({"a": inner}.keys()))

    assert "inner at 0x" in printed(jit(shown), 1.5)


def test_a_library_shows_its_modules_in_its_own_way():
    def shown(x):
        print(equinox.nn.Linear(1, 1, key=jax.random.key(0)))
        return x

    assert "Linear" in printed(jit(shown), 1.5)


def test_messages_of_a_logger(caplog):
    def logged(x):
        logging.getLogger("texts").warning("%s %r %.1f", SimpleNamespace(a=x), Point(x), x)

    logged(1.5)
    jit(logged)(1.5)
    jax.effects_barrier()
    wanted, got = caplog.messages
    assert got == wanted


def test_warnings():
    def warned(x):
        warnings.warn(UserWarning(SimpleNamespace(a=x)), stacklevel=1)

    with pytest.warns(UserWarning, match=r"^namespace\(a=1\.5\)$"):
        jit(warned)(1.5)
        jax.effects_barrier()
