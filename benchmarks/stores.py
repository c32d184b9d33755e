"""Programs that write `x[i] = v` in loops, against an expert's lax: run time, first call, and array-sized copies.

    python benchmarks/stores.py                       # everything: some minutes
    python benchmarks/stores.py --only thomas --sizes 100 1000

The Python is written as people write it, and kept so: what makes it slow is for the package to remove, not for the
program.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")  # before jax is imported; what was measured is double precision

import jax
import jax.numpy as jnp
import measure
import numpy as np
from jax import lax
from programs.edit_distance import edit_distance, edit_distance_lax, words
from programs.insertion_sort import insertion_sort, insertion_sort_lax, numbers
from programs.thomas import system, thomas, thomas_lax

from autograph_jax import autograph

thomas, edit_distance, insertion_sort = map(autograph, (thomas, edit_distance, insertion_sort))

# Bubble sort: a swap under an `if`, in two nested loops


@autograph
def bubble_sort(x):
    n = x.shape[0]
    for i in range(n - 1):
        for j in range(n - 1 - i):
            if x[j] > x[j + 1]:
                x[j], x[j + 1] = x[j + 1], x[j]
    return x


def bubble_sort_lax(x):
    def compare(j, x):
        pair = lax.dynamic_slice(x, (j,), (2,))
        return lax.dynamic_update_slice(x, jnp.stack([jnp.min(pair), jnp.max(pair)]), (j,))

    n = x.shape[0]
    return lax.fori_loop(0, n - 1, lambda i, x: lax.fori_loop(0, n - 1 - i, compare, x), x)


# Swap: a shuffle by given partners


@autograph
def shuffle(x, partners):
    for i in range(x.shape[0]):
        j = partners[i]
        x[i], x[j] = x[j], x[i]
    return x


def shuffle_lax(x, partners):
    def swap(i, x):
        j = partners[i]
        # The condition always holds, but XLA does not know: the reads stay before the writes, and nothing is copied.
        # Nor is it with x.at[[i, j]].set(x[[j, i]]), but that scatter of two elements costs 3 us a turn at n = 80,000.
        pair = lax.cond(i >= 0, lambda a, b: (b, a), lambda a, b: (a, b), x[i], x[j])
        return x.at[i].set(pair[0]).at[j].set(pair[1])

    return lax.fori_loop(0, x.shape[0], swap, x)


def deck(n):
    random = np.random.default_rng(3)
    return jnp.asarray(random.random(n)), jnp.asarray([random.integers(i, n) for i in range(n)])


# Recurrence: the value before is read back from the array


@autograph
def recurrence(start, a, b, steps):
    y = jnp.zeros(steps.shape[0])
    y[0] = start
    for i in range(1, y.shape[0]):
        y[i] = y[i - 1] * a + b
    return y


def recurrence_lax(start, a, b, steps):
    def step(before, _):
        return before * a + b, before

    return lax.scan(step, start, length=steps.shape[0])[1]


def coefficients(n):
    return jnp.asarray(0.3), jnp.asarray(0.99), jnp.asarray(0.05), jnp.zeros(n)


# Break: the loop writes, and leaves on what it has written


@autograph
def spend(prices, budget):
    left = jnp.zeros_like(prices)
    for i in range(prices.shape[0]):
        budget = budget - prices[i]
        if budget < 0:
            break
        left[i] = budget
    return left


def spend_lax(prices, budget):
    n = prices.shape[0]

    def going(carry):
        i, budget, _ = carry
        return (i < n) & (budget >= prices[jnp.minimum(i, n - 1)])

    def turn(carry):
        i, budget, left = carry
        budget = budget - prices[i]
        return i + 1, budget, left.at[i].set(budget)

    return lax.while_loop(going, turn, (0, budget, jnp.zeros_like(prices)))[2]


def purse(n):
    return jnp.asarray(np.random.default_rng(4).random(n)), jnp.asarray(0.49 * n)  # spent near the end


# Read again: what a turn has written is read in it once more, and written again


@autograph
def smooth_peaks(x):
    y = jnp.zeros_like(x)
    for i in range(2, x.shape[0]):
        y[i] = x[i] + 0.5 * y[i - 1]
        if y[i] > 1:
            y[i] = 0.5 * y[i] + 0.25 * y[i - 2]
    return y


def smooth_peaks_lax(x):
    def turn(i, y):
        new = x[i] + 0.5 * y[i - 1]
        return y.at[i].set(jnp.where(new > 1, 0.5 * new + 0.25 * y[i - 2], new))

    return lax.fori_loop(2, x.shape[0], turn, jnp.zeros_like(x))


# Gradients: of the sum of what comes out


def gradient(function: Callable[..., Any]) -> Callable[..., Any]:
    return jax.grad(lambda *args: jnp.sum(function(*args) ** 2))


@dataclasses.dataclass(frozen=True)
class Program:
    """The same program twice, the arguments for a size, and how many elements the arrays have that it writes."""

    name: str
    converted: Callable[..., Any]
    expert: Callable[..., Any]
    arguments: Callable[[int], tuple[Any, ...]]
    sizes: tuple[int, ...]
    written: Callable[[int], int] = lambda n: n
    growth: int = 2  # a run takes n ** growth where every turn copies what is written


LINEAR = (100, 1_000, 10_000, 80_000)
PROGRAMS = [
    Program("recurrence", recurrence, recurrence_lax, coefficients, LINEAR),
    Program("thomas", thomas, thomas_lax, system, LINEAR),
    Program("swap", shuffle, shuffle_lax, deck, LINEAR),
    Program("read again", smooth_peaks, smooth_peaks_lax, numbers, LINEAR),
    Program("break with writes", spend, spend_lax, purse, LINEAR),
    Program("insertion sort", insertion_sort, insertion_sort_lax, numbers, (100, 1_000), growth=3),
    Program("bubble sort", bubble_sort, bubble_sort_lax, numbers, (100, 1_000), growth=3),
    Program("edit distance", edit_distance, edit_distance_lax, words, (100, 1_000), lambda n: (n + 1) ** 2, growth=4),
    Program("gradient of recurrence", gradient(recurrence), gradient(recurrence_lax), coefficients, LINEAR),
    Program("gradient of swap", gradient(shuffle), gradient(shuffle_lax), deck, LINEAR),
    Program("gradient of read again", gradient(smooth_peaks), gradient(smooth_peaks_lax), numbers, (100, 1_000, 10_000)),
    Program("gradient of thomas", gradient(thomas), gradient(thomas_lax), system, LINEAR),
]
HEADER = [
    "program", "n", "expert, ms", "converted, ms", "converted / expert", "first call, ratio",
    "copies in loops", "expert's",
]  # fmt: skip


def compare(program: Program, n: int, seconds: float) -> tuple[list[str], float]:
    """One row of the table, and the seconds that a run of the converted program took."""
    args = tuple(map(jnp.asarray, program.arguments(n)))
    converted, expert = jax.jit(program.converted), jax.jit(program.expert)
    first_call = [measure.once(lambda f=f: f(*args)) for f in (converted, expert)]
    result = expert(*args)
    tolerance = 100 * float(jnp.finfo(jnp.result_type(float)).eps) * n
    largest = float(jnp.max(jnp.abs(result)))
    np.testing.assert_allclose(converted(*args), result, rtol=tolerance, atol=tolerance * largest)
    own, lax_own = measure.interleaved(lambda: converted(*args), lambda: expert(*args), seconds=seconds)
    copies = [str(measure.array_copies(f, *args, size=program.written(n))) for f in (converted, expert)]
    times = [measure.milliseconds(lax_own), measure.milliseconds(own), measure.ratio(own, lax_own)]
    row = [program.name, f"{n:,}", *times, measure.ratio(*first_call), *copies]
    return row, own


def rows(sizes: list[int] | None, only: str, seconds: float, longest: float) -> list[list[str]]:
    """The table. A size is left out if the one before took so long that this one would take longer than `longest`."""
    found = []
    for program in PROGRAMS:
        took, before = 0.0, 1
        for n in sizes or program.sizes:
            if only not in program.name:
                continue
            if took * (n / before) ** program.growth > longest:
                found.append([program.name, f"{n:,}", "", f"left out, over {longest:g} s", *[""] * 4])
                continue
            row, took = compare(program, n, seconds)
            before = n
            found.append(row)
            print(" | ".join(row), flush=True)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="+", help="instead of each program's own")
    parser.add_argument("--only", default="", metavar="TEXT", help="programs with this in their name")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (default: 1)")
    parser.add_argument("--longest", type=float, default=20.0, help="seconds that one run may take (default: 20)")
    options = parser.parse_args(arguments)
    found = rows(options.sizes, options.only, options.seconds, options.longest)
    print(f"{measure.versions()}, {jnp.result_type(float)}\n")
    print(measure.table(HEADER, found))


if __name__ == "__main__":
    main()
