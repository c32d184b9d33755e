"""What it costs to look at captured values before each call: `ag.jit`, against the same with `captures="freeze"`.

python benchmarks/captures.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import measure
import numpy as np

import autograph_jax as ag

CALLS = 1000  # in a round: one call takes some microseconds
X = jnp.ones(3)
a, b, c, d = 1.0, 2.0, 3.0, 4.0
TABLE = np.ones(100)


class Settings:
    """Four attributes."""

    def __init__(self) -> None:
        self.a, self.b, self.c, self.d = 1.0, 2.0, 3.0, 4.0


settings = Settings()


def four_globals(x):
    return x * a * b * c * d


def four_attributes(x):
    return x * settings.a * settings.b * settings.c * settings.d


def four_in_a_callee(x):
    return four_globals(x)


def a_numpy_array(x):
    return x + TABLE.sum()


def no_capture(x):
    return x + 1


def four_variables():
    p, q, r, s = 1.0, 2.0, 3.0, 4.0

    def function(x):
        return x * p * q * r * s

    return function


CASES = {
    "none": no_capture,
    "four variables around": four_variables(),
    "four globals": four_globals,
    "four globals of a callee": four_in_a_callee,
    "an object and four attributes": four_attributes,
    "a NumPy array of 100": a_numpy_array,
}


def rows(calls: int, seconds: float) -> list[list[str]]:
    found = []
    for name, function in CASES.items():
        looking, frozen = _calls(ag.jit(function), calls), _calls(ag.jit(function, captures="freeze"), calls)
        jaxs = _calls(jax.jit(function), calls)
        own, without = measure.interleaved(looking, frozen, seconds=seconds, clock=time.thread_time)
        again, theirs = measure.interleaved(looking, jaxs, seconds=seconds, clock=time.thread_time)
        extra = (own - without) / calls * 1e6
        found.append([name, f"{extra:.2f}", measure.ratio(own, without), measure.ratio(again, theirs)])
    return found


def _calls(function: Callable[..., Any], count: int) -> Callable[[], Any]:
    return measure.repeated(lambda: function(X), count)


def main(arguments: list[str] | None = None) -> None:
    options = measure.call_options(__doc__.splitlines()[0], arguments, CALLS)
    print(measure.versions() + "\n")
    header = ["captured", "extra, us a call", "retrace / freeze", "ag.jit / jax.jit"]
    print(measure.table(header, rows(options.calls, options.seconds)))


if __name__ == "__main__":
    main()
