"""Objects that hold each other in a ring, made in each turn of a loop: nobody else holds them, so that they are no state."""

import jax
import jax.numpy as jnp
import pytest

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")


class Node:
    def __init__(self):
        self.n = 0
        self.me = self


class Solver:
    def __init__(self, f):
        self.calls = 0
        self.f = lambda x: self.counted(f, x)

    def counted(self, f, x):
        self.calls += 1
        return f(x)


def counting(f):
    def counted(x):
        counted.calls += 1
        return f(x)

    counted.calls = 0
    return counted


def an_object_in_itself(x):
    node, a = Node(), 0.0
    while a < x:
        a = a + 1
        node.n += 1
    return a + node.n


def a_function_in_its_own_closure(x):
    f, a = counting(lambda y: y + x), 0.0
    while a < x:
        a = a + 1 + f(a)
    return a + f.calls


def a_method_in_an_attribute(x):
    solver, a = Solver(lambda y: y * x), 0.0
    while a < x:
        a = a + 1 + solver.f(a)
    return a + solver.calls


def a_pair(x):
    one, other = Node(), Node()
    one.me, other.me, a = other, one, 0.0
    while a < x:
        a = a + 1
        one.me.n += 1
        other.me.n += 2
    return a + one.n - other.n


def a_dict_that_holds_its_reader(x):
    state = {"n": 0}
    state["more"] = lambda: state["n"] + x
    a = 0.0
    while a < x:
        a = a + state["more"]()
        state["n"] += 1
    return a + state["n"]


FUNCTIONS = [
    an_object_in_itself,
    a_function_in_its_own_closure,
    a_method_in_an_attribute,
    a_pair,
    a_dict_that_holds_its_reader,
]


def in_turns(function):
    def run(a):
        total = 0.0
        for i in range(12):
            total = total + function(a + total / 100)
        return total

    return run


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_a_ring_of_each_turn(function):
    run = in_turns(function)
    program = str(jax.make_jaxpr(ag.autograph(run))(1.2))
    assert program.count("while[") == 1, "the loop around is not staged"
    for a in (1.2, 5.5, -1.0):
        assert ag.jit(run)(a) == pytest.approx(run(a))


def kept_by_a_list(a):
    kept = []
    for i in range(3):
        node = Node()
        if a > i:
            node.n = a
        kept.append(node)
    return sum(node.me.n for node in kept)


def kept_in_a_variable(a):
    node = last = Node()
    for i in range(12):
        node = Node()
        node.n = a * i
        if i == 7:
            last = node
    return node.n + last.me.n


@pytest.mark.parametrize("function", [kept_by_a_list, kept_in_a_variable])
def test_one_that_somebody_keeps(function):
    for a in (1.5, -1.0):
        try:
            found = ag.jit(function)(jnp.asarray(a))
        except ag.StagingError as error:
            assert "test_rings.py" in str(error)
        else:
            assert found == pytest.approx(function(a))
