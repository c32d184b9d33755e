"""What an `assert` costs in a compiled loop: the same loop without it, and with `checkify.check` by hand.

python benchmarks/checks.py
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import measure
from jax import lax
from jax.experimental import checkify

from autograph_jax import autograph


@autograph
def plain(x, n):
    i = 0
    while i < n:
        x = 0.999 * x + 0.5
        i += 1
    return x


@autograph
def with_assert(x, n):
    i = 0
    while i < n:
        x = 0.999 * x + 0.5
        assert x > 0
        i += 1
    return x


@autograph
def with_values(x, n):
    i = 0
    while i < n:
        x = 0.999 * x + 0.5
        assert x > 0, f"x is {x} after {i} turns"
        i += 1
    return x


@autograph
def with_raise(x, n):
    i = 0
    while i < n:
        x = 0.999 * x + 0.5
        if x < 0:
            raise ValueError(f"x is {x}")
        i += 1
    return x


@autograph
def in_inner_loop(x, n):
    for _ in range(n // 100):
        for _ in range(100):
            x = 0.999 * x + 0.5
            assert x > 0
    return x


@autograph
def inner_loop(x, n):
    for _ in range(n // 100):
        for _ in range(100):
            x = 0.999 * x + 0.5
    return x


def while_by_hand(x, n):
    def turn(carry: Any) -> Any:
        x, i = carry
        x = 0.999 * x + 0.5
        checkify.check(x > 0, "")
        return x, i + 1

    return lax.while_loop(lambda carry: carry[1] < n, turn, (x, 0))[0]


def values_by_hand(x, n):
    def turn(carry: Any) -> Any:
        x, i = carry
        x = 0.999 * x + 0.5
        checkify.check(x > 0, "x is {} after {} turns", x, i)
        return x, i + 1

    return lax.while_loop(lambda carry: carry[1] < n, turn, (x, 0))[0]


def raise_by_hand(x, n):
    def turn(carry: Any) -> Any:
        x, i = carry
        x = 0.999 * x + 0.5
        checkify.check(x >= 0, "x is {}", x)
        return x, i + 1

    return lax.while_loop(lambda carry: carry[1] < n, turn, (x, 0))[0]


def inner_by_hand(x, n):
    def turn(_: Any, x: Any) -> Any:
        x = 0.999 * x + 0.5
        checkify.check(x > 0, "")
        return x

    return lax.fori_loop(0, n // 100, lambda _, x: lax.fori_loop(0, 100, turn, x), x)


# Name, with the check, without, the same by hand; is the number of turns static?
LOOPS: list[tuple[str, Callable[..., Any], Callable[..., Any], Callable[..., Any], bool]] = [
    ("while, assert", with_assert, plain, while_by_hand, False),
    ("while, assert and two values in its message", with_values, plain, values_by_hand, False),
    ("while, if and raise", with_raise, plain, raise_by_hand, False),
    ("static for in a for, assert", in_inner_loop, inner_loop, inner_by_hand, True),
]


def rows(turns: int, seconds: float) -> list[list[str]]:
    found = []
    for name, ours, bare, by_hand, static in LOOPS:
        bound = turns if static else jnp.int32(turns)
        runs = [_run(function, bound) for function in (bare, ours, checkify.checkify(by_hand))]
        without, with_, checked = measure.interleaved(*runs, seconds=seconds)
        times = [measure.milliseconds(seconds) for seconds in (without, with_)]
        found.append([name, *times, measure.ratio(with_, without), measure.ratio(checked, without)])
    return found


def _run(function: Callable[..., Any], bound: Any) -> Callable[[], Any]:
    jitted = jax.jit(function, static_argnums=1 if isinstance(bound, int) else ())
    x = jnp.float32(1.0)
    return lambda: jitted(x, bound)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=100_000, help="turns of each loop (default: 100,000)")
    parser.add_argument("--seconds", type=float, default=5.0, help="time for each row (default: 5)")
    options = parser.parse_args(arguments)
    print(measure.versions() + "\n")
    header = ["loop", "without, ms", "with, ms", "with / without", "checkify by hand / without"]
    print(measure.table(header, rows(options.turns, options.seconds)))


if __name__ == "__main__":
    main()
