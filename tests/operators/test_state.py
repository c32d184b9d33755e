"""What a block writes while it is traced is found, and put back: attributes, items, lists, dicts, globals; no tracer stays."""

import collections
import copy
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax import autograph, do_not_convert
from autograph_jax.operators.tracing import outside, state
from autograph_jax.operators.tracing.cells import bind
from autograph_jax.operators.tracing.places import Attribute, Cell, Content, Global, outliving
from autograph_jax.operators.tracing.state import Trace, running, write
from autograph_jax.operators.values.choices import UNBOUND, Choice


class Ball:
    height = 1.0

    def __init__(self) -> None:
        self.speed = 0.0
        self.log = [1]
        self.table = {"a": 1}


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self) -> None:
        self.x = 1


class Guarded:
    def __init__(self) -> None:
        object.__setattr__(self, "x", 1)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError("frozen")


def cell(value: Any) -> Any:
    return (lambda: value).__closure__[0]


namespace = {"x": 1}
ball, slotted, guarded = Ball(), Slotted(), Guarded()
xs, table, kinds, queue = [1, 2], {"a": 1, "b": 2}, {1, 2}, collections.deque([1, 2])

PLACES = {  # a place, a value to write, and how to look at what is there
    "attribute": (Attribute(ball, "speed"), 2.0, lambda: vars(ball)),
    "new attribute": (Attribute(ball, "mass"), 2.0, lambda: vars(ball)),
    "attribute of the class": (Attribute(ball, "height"), 2.0, lambda: vars(ball)),
    "attribute on a class": (Attribute(Ball, "height"), 2.0, lambda: Ball.height),
    "slot": (Attribute(slotted, "x"), 2, lambda: slotted.x),
    "empty slot": (Attribute(slotted, "y"), 2, lambda: hasattr(slotted, "y")),
    "frozen": (Attribute(guarded, "x"), 2, lambda: guarded.x),
    "list": (Content(xs), [3], lambda: xs),
    "dict": (Content(table), {"b": 3}, lambda: list(table.items())),
    "set": (Content(kinds), {3}, lambda: kinds),
    "deque": (Content(queue), [3], lambda: queue),
    "global": (Global(namespace, "x"), 2, lambda: namespace),
    "new global": (Global(namespace, "y"), 2, lambda: namespace),
    "variable": (Cell(known := cell(1), "x"), 2, lambda: known.cell_contents),
}


@pytest.mark.parametrize("name", PLACES)
def test_written_and_rolled_back(name: str):
    place, value, look = PLACES[name]
    before = copy.copy(look())
    with running(Trace()) as trace:
        write(place, value)
        assert look() != before
        write(place, copy.copy(value))
    trace.roll_back()
    assert look() == before


@pytest.mark.parametrize("name", PLACES)
def test_nested_traces_are_rolled_back_each_to_its_start(name: str):
    place, value, look = PLACES[name]
    before = copy.copy(look())
    with running(Trace()) as outer:
        write(place, value)
        between = copy.copy(look())
        with running(Trace()) as inner:
            write(place, place.read() if isinstance(place, Content) else 99)
        inner.roll_back()
        assert look() == between
    outer.roll_back()
    assert look() == before


def test_an_empty_variable_is_emptied_again():
    def outer():
        def inner():
            return x

        if ball is None:
            x = 1
        return inner

    [empty] = outer().__closure__
    place = Cell(empty, "x")
    assert place.read() is UNBOUND
    with running(Trace()) as trace:
        write(place, 1)
    trace.roll_back()
    with pytest.raises(ValueError):
        _ = empty.cell_contents


def test_nothing_is_noted_outside_a_trace():
    assert state.traces() == []
    state.note(Attribute(ball, "speed"))
    assert state.traces() == []


def test_an_attempt_that_is_given_up():
    b = Ball()
    with running(Trace()) as outer:
        with state.attempt() as attempt:
            write(Attribute(b, "speed"), 5.0)
            attempt.give_up()
        assert b.speed == 0.0 and not outer.log
        with state.attempt():
            write(Attribute(b, "speed"), 5.0)
        assert b.speed == 5.0 and outer.log
        with pytest.raises(KeyError), state.attempt():
            write(Attribute(b, "speed"), 6.0)
            raise KeyError
        assert b.speed == 5.0
    outer.roll_back()
    assert b.speed == 0.0


# ------------------------------------------------------------------ programs that fail half-way


class Failure(Exception):
    pass


@do_not_convert
def fail():
    raise Failure


class Solver:
    def __init__(self) -> None:
        self.t, self.y, self.steps, self.table = 0.0, jnp.zeros(2), [], {"n": 0}


def step(s, x):
    s.t = s.t + x
    s.y[0] = x
    s.steps.append(x)
    s.table["n"] += 1
    s.table["last"] = x
    s.new = x
    fail()


def in_branch(s, x):
    if x > 0:
        step(s, x)
    return x


def in_else(s, x):
    if x > 0:
        s.t = s.t + 1
    else:
        step(s, x)
    return x


def in_while(s, x):
    while x > 0:
        x = x - 1
        step(s, x)
    return x


def in_nested_blocks(s, x):
    while x > 0:
        s.t = s.t + 1
        for i in range(5):
            s.table["i"] = i * x
            if x > i:
                s.steps.append(i)
                step(s, x)
        x = x - 1
    return x


def in_test(s, x):
    while step(s, x):
        x = x - 1
    return x


def in_operand(s, x):
    return x > 0 and step(s, x)


def in_expression(s, x):
    return step(s, x) if x > 0 else x


FAILING = [in_branch, in_else, in_while, in_nested_blocks, in_operand, in_expression]


@pytest.mark.parametrize("function", FAILING, ids=lambda f: f.__name__)
def test_an_error_while_tracing_puts_everything_back(function: Any):
    s = Solver()
    y = s.y
    with jax.checking_leaks(), pytest.raises(Failure):
        jax.jit(lambda x: autograph(function)(s, x))(1.0)
    assert (s.t, s.steps, s.table) == (0.0, [], {"n": 0})
    assert s.y is y and not hasattr(s, "new")
    assert state.traces() == []


def test_the_next_call_works_after_an_error():
    failing = True

    @jax.jit
    @autograph
    def f(x):
        while x > 0:
            if failing:
                fail()
            x = x - 1
        return x

    with pytest.raises(Failure):
        f(3.0)
    failing = False
    assert f(3.0) == 0


def settled_state(x):
    s = Solver()
    while x > 0:
        s.t = s.t + x
        s.y[0] = s.t
        s.table["n"] += 1
        s.best = x
        x = x - 1
    return s.t, s.y, s.table, s.best


def closures(x):
    total, n = 0, 0

    def add(v):
        nonlocal total, n
        total += v
        n += 1

    for i in range(5):
        if x > i:
            add(x * i)
    return total, n


def containers(x):
    rows = {"a": [0, 0], "b": (x, None)}
    for i in range(3):
        if x > i:
            rows["a"][0] += x
            rows["b"] = (x * i, x)
    return rows


STATEFUL = [settled_state, closures, containers]


@pytest.mark.parametrize("function", STATEFUL, ids=lambda f: f.__name__)
def test_no_tracer_is_left(function: Any):
    with jax.checking_leaks():
        jax.jit(autograph(function))(3.0)


@pytest.mark.parametrize("function", STATEFUL, ids=lambda f: f.__name__)
def test_state_is_staged(function: Any):
    staged, plain = jax.jit(autograph(function))(3.0), autograph(function)(3.0)
    values = (jax.tree.leaves(result, is_leaf=lambda v: v is None) for result in (decided(staged), plain))
    for got, expected in zip(*values, strict=True):
        assert np.allclose(got, expected) if expected is not None else got is None


def decided(result: Any) -> Any:
    is_choice = lambda v: isinstance(v, Choice)  # noqa: E731
    return jax.tree.map(lambda v: v.value if is_choice(v) else v, result, is_leaf=is_choice)


# ------------------------------------------------------------------ what outlives a block


def test_what_a_turn_makes_for_itself_is_no_state():
    @jax.jit
    @autograph
    def f(xs):
        total = 0.0
        for x in xs:
            pair = [x, 0]
            pair[1] = pair[0] * 2
            ball = Ball()
            ball.speed = pair[1]
            total += ball.speed
        return total

    assert f(jnp.arange(4.0)) == 12


def test_outliving():
    def places():
        kept, gone = Ball(), Ball()
        found = [Attribute(kept, "x"), Attribute(gone, "x"), Attribute(gone, "y"), Global({}, "z")]
        return kept, found

    kept, found = places()
    assert [place.name for place in outliving(found)] == ["Ball.x", "z"]


def ring(*more: object) -> Ball:
    """One of three objects that hold each other."""
    first, second, third = Ball(), Ball(), Ball()
    first.next, second.next, third.next, third.more = second, third, first, more
    return first


def test_rings_outlive_nothing():
    """Of several rings those that nobody else holds are gone, whichever others are asked for with them."""
    kept = ring()
    found = [Attribute(ring(), "a"), Attribute(kept, "b"), Attribute(ring(kept), "c"), Attribute(kept.next.next, "d")]
    assert [place.attribute for place in outliving(found)] == ["b", "d"]


def test_what_is_older_than_a_block_is_held():
    found = [Attribute(ring(), "a"), Attribute(ring(), "b")]
    older = {id(found[1].target)}
    assert [place.attribute for place in outliving(found, older=older)] == ["b"]


def test_bind_drops_the_option_without_a_value():
    def outer():
        y = Choice(jnp.int32(1), (UNBOUND, 5))

        def block():
            return y

        bind((block,), ("y?",))
        still = y
        bind((block,), ("y",))
        return still, y

    still, bound = outer()
    assert isinstance(still, Choice) and bound == 5


def test_a_program_that_prints_keeps_no_tracer(capsys: Any):
    @ag.autograph
    def f(x: Any) -> Any:
        if x > 0:
            print("x is", x, None)
        return x

    with jax.checking_leaks():
        compiled = jax.jit(f)
        compiled(1.0), compiled(2.0)
        jax.effects_barrier()
    assert capsys.readouterr().out == "x is 1.0 None\nx is 2.0 None\n"


class Node:
    def __init__(self, others):
        self.others, self.row = others, np.ones(2)


def test_what_attributes_of_a_class_share_is_looked_at_once_for_each_block():
    """A registry that every class refers to: thousands of objects, and some attributes by which each is reached."""
    nodes = [Node([]) for _ in range(50)]
    for node in nodes:
        node.others = nodes
    kind = type("Registered", (), {f"of_{number}": node for number, node in enumerate(nodes)})
    parts = list(outside.contents_of(kind))
    assert sum(isinstance(part, np.ndarray) for part in parts) == 50
    assert len({id(part) for part in parts}) == len(parts)


def test_a_trace_that_an_error_ends_is_gone():
    """The loop over two numbers is staged first, which a dict does not go through; its constants would keep it."""

    def two_keys(x):
        table = {}
        for i in range(2):
            if x > i:
                y = x + i
                table[i] = y
            else:
                table[i] = -1.0
        return table[0] + table[1]

    with jax.checking_leaks():
        assert jax.jit(autograph(two_keys))(1.5) == two_keys(1.5)
