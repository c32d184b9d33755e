"""Loops inside loops begin where they settled before: how often their bodies are traced."""

import linecache
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


# ------------------------------------------------------------------ loops that wait for the round of the loop around


def sums_in_sums(depth: int) -> Any:
    """Loops in one another, each with a sum that begins as an int and becomes a float."""
    lines, indent = [], ""
    for level in range(depth):
        lines += [f"{indent}s{level} = 0", f"{indent}k{level} = 0", f"{indent}while k{level} < n:"]
        indent += "    "
    lines += [f"{indent}tick('turn')"]
    for level in reversed(range(depth)):
        lines += [f"{indent}s{level} = s{level} + {f's{level + 1}' if level + 1 < depth else 'x'}", f"{indent}k{level} += 1"]
        indent = indent[4:]
        lines += [f"{indent}tick('turn')"] if level else []
    text = "def program(x, n):\n" + "".join(f"    {line}\n" for line in [*lines, "return s0"])
    return _program(text)


def _program(text: str) -> Any:
    space: dict[str, Any] = {"tick": tick, "jax": jax, "ag": ag}
    name = f"<{hash(text)}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    exec(compile(text, name, "exec"), space)
    return space["program"]


@pytest.mark.parametrize("depth", range(1, 7))
def test_loops_in_one_another_that_change_types_are_traced_twice(depth: int):
    program = sums_in_sums(depth)
    traced.clear()
    converted = jax.jit(ag.autograph(program))
    assert converted(0.5, 2) == 0.5 * 2**depth
    assert len(traced) == (2 if depth == 1 else 2 * depth + 1)
    assert converted(0.5, 0) == 0


class Counted:
    def __init__(self) -> None:
        self.total = 0


@ag.jit
def of_two_sums(x: Any, n: Any) -> Any:
    total, k = 0, 0
    while k < n:
        part = 0
        for _ in range(3):
            part = part + x
        total = total + part
        k += 1
    return total


def in_what_jax_keeps(x: Any, n: Any) -> Any:
    total, k = 0, 0
    while k < n:
        total = total + of_two_sums(x, n) + k
        k += 1
    return total, of_two_sums(x, n)


def in_a_rematerialised_function(x: Any, n: Any) -> Any:
    kept = jax.checkpoint(ag.autograph(lambda x: of_two_sums.__wrapped__(x, n)))
    total, k = 0, 0
    while k < n:
        total = total + kept(x)
        k += 1
    return total, kept(x)


def in_branches(x: Any, n: Any) -> Any:
    total, last, k = 0, 0, 0
    while k < n:
        j = 0
        while j < n:
            if j > k:
                inner = 0
                for _ in range(2):
                    inner = inner + x
                last = last + inner
            else:
                last = 1
            total = total + last
            j += 1
        k += 1
    return total, last


def in_attributes(x: Any, n: Any) -> Any:
    state, k = Counted(), 0
    while k < n:
        other, j = Counted(), 0
        while j < n:
            i = 0
            while i < 2:
                other.total += x
                i += 1
            state.total = state.total + other.total
            j += 1
        k += 1
    return state.total


def an_array_that_two_share(x: Any, n: Any) -> Any:
    rows = jax.numpy.arange(3)
    old, k = rows, 0
    while k < n:
        j = 0
        while j < n:
            i = 0
            while i < n:
                rows = rows * x
                i += 1
            j += 1
        rows = rows / 2
        rows[0] = k
        k += 1
    return rows, old


def left_early(x: Any, n: Any) -> Any:
    total = 0
    for k in range(n):
        part = 0
        for j in range(n):
            i = 0
            while i < 3:
                part = part + x * i
                i += 1
            if part > 4:
                break
        total = total + part
        if total > 40:
            return total, k
    return total, -1


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize(
    "program",
    [
        in_what_jax_keeps,
        in_a_rematerialised_function,
        in_branches,
        in_attributes,
        an_array_that_two_share,
        left_early,
    ],
)
def test_what_waits_is_traced_once_more(program: Callable[..., Any], n: int, x64: None):
    converted = ag.autograph(program)
    for one, other in zip(jax.tree.leaves(converted(1.25, n)), jax.tree.leaves(jax.jit(converted)(1.25, n)), strict=True):
        np.testing.assert_allclose(one, other)


def what_asks_for_a_type(x: Any, n: Any) -> Any:
    """The types of the first round are too narrow for it: y is an integer there."""
    total = 0.0
    for k in range(n):
        half, last, count = 0, 0, 0
        for _ in range(n):
            for _ in range(n):
                count = count + 1
            last = half
            half = half * 0.5 + x
        total = total + count + jax.grad(lambda v: v * v)(last)
        total = total + jax.lax.cond(k > 1, lambda v: v, lambda v: 2.0 * v, last)
    return total


def test_a_round_that_raises_while_a_loop_waits_is_made_once_more(x64: None):
    converted = ag.autograph(what_asks_for_a_type)
    assert jax.jit(converted)(1.0, 4) == converted(1.0, 4) != 0
