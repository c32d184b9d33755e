"""Loops inside loops begin where they settled before: how often their bodies are traced."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import autograph_jax as ag

traced: list[str] = []


@ag.do_not_convert
def tick(name: str) -> None:
    traced.append(name)


def written_in_place(a: Any) -> Any:
    x, y = np.ones(3), np.zeros(3)
    for _ in range(3):
        tick("outer")
        y[0] = a
        for _ in range(4):
            tick("inner")
            x[1] = x[0] * a + y[0]
            x[0] = x[1] / 2
    return x


def numbers_that_enter_as_one(a: Any) -> Any:
    new = old = np.exp(a)
    best, n = old, 0
    while n < 2 * a:
        tick("outer")
        k = 0
        while new > old / 8 + k:
            tick("inner")
            old, new = new, new * a / 2
            k += 1
        best = min(best, new)
        new = new + 3
        n += 1
    return new, old, best


def tried_in_a_loop(a: Any) -> Any:
    total, n, seen = 0.0, 0, None
    while n < 2 * a:
        tick("outer")
        if seen is not None:
            total += seen
        try:
            k = 0
            while k < 4:
                tick("inner")
                if a + k > 5:
                    raise ValueError("too large")
                total += a
                k += 1
        except ValueError:
            total += 100
        n += 1
        seen = total
    return total


class Kept:
    def __init__(self, x: Any) -> None:
        self.x, self.last = x, [x]


def two_ways_to_one_array(a: Any) -> Any:
    n, kept = 0, Kept(np.arange(3.0))
    while n < 2 * a:
        tick("outer")
        k = 0
        while k < 4 * a:
            tick("inner")
            if k > n:
                kept.last[0] = kept.x
            if np.sum(kept.x) < 5 + k:
                kept.x = kept.x * a
            k += 1
        kept.x = kept.x / 2
        n += 1
    return kept.x, kept.last[0]


class Trial:
    def __init__(self, x: Any) -> None:
        self.x, self.steps = x, 0

    def step(self, a: Any) -> Any:
        tick("inner")
        self.steps += 1
        return Trial(self.x * a + 1)


def an_object_that_turns_replace(a: Any) -> Any:
    trial, n = Trial(np.ones(2)), 0
    while n < 3 * a:
        tick("outer")
        new = trial.step(a)
        if np.sum(new.x) < 6:
            trial = new
        n += 1
    return trial.x, trial.steps


def an_object_that_turns_replace_and_another_variable_holds(a: Any) -> Any:
    trial = first = Trial(np.ones(2))
    n = 0
    while n < 3 * a:
        tick("outer")
        new = trial.step(a)
        if np.sum(new.x) < 6:
            trial = new
        n += 1
    return trial.x, trial.steps, first.x, first.steps


# how often the bodies of the outer and of the inner loop are traced, or the method that the loop calls
ROWS: dict[str, tuple[Callable[..., Any], int, int]] = {
    "written in place": (written_in_place, 2, 3),
    "numbers that enter as one": (numbers_that_enter_as_one, 1, 1),
    "tried in a loop": (tried_in_a_loop, 2, 3),
    "two ways to one array": (two_ways_to_one_array, 2, 4),
    "an object that turns replace": (an_object_that_turns_replace, 3, 3),
    "an object that is held": (an_object_that_turns_replace_and_another_variable_holds, 3, 5),
}


@pytest.mark.parametrize("name", ROWS)
def test_bodies_are_traced_no_more_often(name: str, x64: None):
    program, outer, inner = ROWS[name]
    wanted = program(1.5)
    traced.clear()
    found = jax.jit(ag.port(program))(1.5)
    counts = traced.count("outer"), traced.count("inner")
    for one, other in zip(jax.tree.leaves(wanted), jax.tree.leaves(found), strict=True):
        np.testing.assert_allclose(one, other)
    assert counts == (outer, inner)
