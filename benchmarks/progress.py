"""What a live progress bar costs in a compiled loop: the same loop with and without `tqdm`.

python benchmarks/progress.py
"""

from __future__ import annotations

import argparse
import io
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import measure
from tqdm import tqdm

from autograph_jax import autograph

OUT = io.StringIO()


@autograph
def plain(x, n):
    for _ in range(n):
        x = x + 0.001 * jnp.sin(x)
    return x


@autograph
def with_bar(x, n):
    for _ in tqdm(range(n), file=OUT):
        x = x + 0.001 * jnp.sin(x)
    return x


@autograph
def with_postfix(x, n):
    bar = tqdm(range(n), file=OUT)
    for _ in bar:
        x = x + 0.001 * jnp.sin(x)
        bar.set_postfix(x=x.sum())
    return x


@autograph
def by_hand(x, n):
    i = 0
    with tqdm(total=n, file=OUT) as bar:
        while i < n:
            x = x + 0.001 * jnp.sin(x)
            bar.update(1)
            i += 1
    return x


@autograph
def summed(x, n):
    """What `with_postfix` computes, without a bar."""
    total = x.sum()
    for _ in range(n):
        x = x + 0.001 * jnp.sin(x)
        total = x.sum()
    return x, total


# Name, static bounds too?, with a bar, without.
LOOPS: list[tuple[str, bool, Callable[..., Any], Callable[..., Any]]] = [
    ("tqdm(range(n))", True, with_bar, plain),
    ("and set_postfix(x=x.sum())", True, with_postfix, summed),
    ("while, and bar.update(1)", False, by_hand, plain),
]


def rows(sizes: list[int], turns: int, seconds: float) -> list[list[str]]:
    found = []
    for size in sizes:
        for name, static, ours, theirs in LOOPS:
            for way, bound in [("traced", jnp.int32(turns))] + [("static", turns)] * static:
                runs = [_run(function, size, bound) for function in (ours, theirs)]
                # Differences of a few per cent: CPU time leaves out what other programs took.
                shown, alone = measure.interleaved(*runs, seconds=seconds, clock=time.process_time)
                each = [f"{seconds / turns * 1e6:.3g}" for seconds in (alone, shown)]
                found.append([name, way, f"{size:,}", *each, measure.ratio(shown, alone)])
    return found


def _run(function: Callable[..., Any], size: int, bound: Any) -> Callable[[], Any]:
    jitted = jax.jit(function, static_argnums=1 if isinstance(bound, int) else ())
    x = jnp.ones(size)

    def run() -> Any:
        OUT.seek(0)
        OUT.truncate()
        return jitted(x, bound)

    return run


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 1000], help="lengths of x (default: 1 1000)")
    parser.add_argument("--turns", type=int, default=200_000, help="turns of each loop (default: 200,000)")
    parser.add_argument("--seconds", type=float, default=10.0, help="time for each row (default: 10)")
    options = parser.parse_args(arguments)
    print(measure.versions() + "\n")
    header = ["loop", "bound", "length of x", "without, CPU us a turn", "with a bar", "with / without"]
    print(measure.table(header, rows(options.sizes, options.turns, options.seconds)))


if __name__ == "__main__":
    main()
