"""Recursion that traced data decides about is refused at once; recursion that plain values end goes on."""

import itertools
import sys

import jax.numpy as jnp
import pytest

import autograph_jax as ag
from autograph_jax.errors import StagingError
from autograph_jax.operators.tracing import recursion


def factorial(n):
    if n <= 1:
        return 1
    return n * factorial(n - 1)


def divisor(a, b):
    return a if b == 0 else divisor(b, a % b)


def even(n):
    if n == 0:
        return True
    return odd(n - 1)


def odd(n):
    if n == 0:
        return False
    return even(n - 1)


def collatz(n, seen):
    if n == 1:
        return len(seen)
    return collatz(n // 2 if n % 2 == 0 else 3 * n + 1, seen)


def twice(n):
    if n > 1:
        return twice(n // 2) + twice(n - 1)
    return n


class Tree:
    def size(self, n):
        if n > 0:
            return self.size(n - 1) + 1
        return 0


ENDLESS = {
    "factorial": (factorial, (5,)),
    "greatest common divisor": (divisor, (12, 18)),
    "two functions": (even, (4,)),
    "a list that stays": (lambda n: collatz(n, [1]), (6,)),
    "two calls": (twice, (4,)),
    "a method": (lambda n: Tree().size(n), (3,)),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_refused_when_it_comes_again(name: str, monkeypatch: pytest.MonkeyPatch):
    function, arguments = ENDLESS[name]
    depths = []
    check = recursion.check
    monkeypatch.setattr(recursion, "check", lambda block: depths.append(len(recursion.state.traces())) or check(block))
    with pytest.raises(StagingError, match="calls itself where traced data decides"):
        ag.jit(function)(*map(jnp.int32, arguments))
    assert max(depths) <= 4


def until_enough(y, numbers):
    for v in numbers:
        if y * v > 10:
            break
    return v


@pytest.mark.parametrize("numbers", [itertools.count, lambda: itertools.cycle([1.0, 2.0])])
def test_turns_without_end_are_refused(numbers, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(recursion, "_MOST_TURNS", 12)
    with pytest.raises(StagingError, match="may be left by traced data, and goes on after 12 turns"):
        ag.jit(lambda y: until_enough(y, numbers()))(jnp.float32(2.0))


def power(x, n):
    if n == 0:
        return 1.0
    if x > 0:
        return x * power(x, n - 1)
    return -x * power(x + 1, n - 1)


class Node:
    def __init__(self, value, rest=None):
        self.value, self.rest = value, rest

    def search(self, x):
        if x > self.value:
            return x if self.rest is None else self.rest.search(x * 2)
        return -x


class Counted:
    def __init__(self):
        self.depth = 0

    def halve(self, x):
        self.depth += 1
        if self.depth > 4:
            return x
        return self.halve(x / 2) if x > 0.5 else x


def counted(x):
    return Counted().halve(x)


def emptied(x, todo):
    if not todo:
        return x
    step, *rest = todo
    return emptied(x - step, rest) if x > step else x


def shrinking(v):
    if v.shape[0] == 1:
        return v[0]
    if v[0] > v[1]:
        return shrinking(v[1:])
    return v[0] + shrinking(v[:-1])


def chained(x, functions):
    if functions and x > 0:
        return chained(functions[0](x), functions[1:])
    return x


ENDING = {
    "a static count": (lambda x: power(x, 5), (1.5,)),
    "a chain of objects": (Node(1, Node(2, Node(3))).search, (1.5,)),
    "an attribute": (counted, (5.0,)),
    "a shorter list": (lambda x: emptied(x, [1.0, 2.0, 3.0]), (9.0,)),
    "a shape": (shrinking, (jnp.array([3.0, 1.0, 2.0]),)),
    "a tuple of functions": (lambda x: chained(x, (lambda v: v + 1, lambda v: v * 2)), (1.0,)),
}


@pytest.mark.parametrize("name", ENDING)
def test_goes_on_where_plain_values_end_it(name: str):
    function, arguments = ENDING[name]
    assert ag.jit(function)(*arguments) == pytest.approx(function(*arguments))


def test_without_end_by_plain_values_either():
    def grows(x, n):
        return grows(x, n + 1) if x > 0 else n

    limit = sys.getrecursionlimit()
    with pytest.raises(StagingError, match="calls itself"):
        ag.jit(lambda x: grows(x, 0))(1.0)
    assert sys.getrecursionlimit() == limit
