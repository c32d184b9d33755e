"""Trace time of converted functions as they grow deep (1 to 6 nested blocks) and long (1 to 64 blocks in a row).

    python benchmarks/nesting.py

Each function is written out as Python and as the lax that an expert would write for it, and traced by jax.make_jaxpr.
Linear is what is wanted: 6 blocks, nested or in a row, then take at most 6 times what one takes.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import measure

# "sum" is a while loop with a sum of its own, which starts as the int 0 and becomes a float: it is traced twice to find
# that out. In a loop around it this happens in both of the outer traces, and so on: 2, 4, 8 unless something remembers,
# 2, 5, 9 where each settles before the rest of the loop around is traced.
KINDS = {"if": ("if",), "while": ("while",), "while/if": ("while", "if"), "sum": ("sum",)}
HEADER = ["program", "blocks", "converted, ms", "to 1 block", "lax, ms", "to 1 block", "converted / lax"]
Functions = tuple[Callable[..., Any], Callable[..., Any]]  # converted, lax


def nested(kinds: Sequence[str], depth: int) -> str:
    """A module with `converted` and `expert`: blocks of these kinds in turn, each inside the one before."""
    own, lax = ["y = y + x"], ["y = y + x"]
    for level in reversed(range(depth)):
        own, lax = _around(kinds[level % len(kinds)], level, own, lax)
    return _module(own, lax)


def in_a_row(kinds: Sequence[str], length: int) -> str:
    """A module with `converted` and `expert`: blocks of these kinds one after the other."""
    own, lax = [], []
    for number in range(length):
        more, more_lax = _around(kinds[number % len(kinds)], number, ["y = y + x"], ["y = y + x"])
        own, lax = own + more, lax + more_lax
    return _module(own, lax)


def _around(kind: str, number: int, own: list[str], lax: list[str]) -> tuple[list[str], list[str]]:
    """Statements with a block of this kind around them, as Python and as lax."""
    if kind == "if":
        block, other = f"block_{number}", f"other_{number}"
        return (
            [f"if y > {number}:", *_indented(own), "else:", "    y = y - x"],
            [f"def {block}(y):", *_indented([*lax, "return y"]), f"def {other}(y):", "    return y - x",
             f"y = lax.cond(y > {number}, {block}, {other}, y)"],
        )  # fmt: skip
    k, s, test, block = f"k{number}", f"s{number}", f"test_{number}", f"block_{number}"
    if kind == "sum":
        carry = f"{k}, {s}, y"
        return (
            [f"{k} = 0", f"{s} = 0", f"while {k} < n:",
             *_indented([*own, f"{s} = {s} + y", f"{k} = {k} + 1"]), f"y = {s}"],
            [f"def {test}(carry):", f"    {carry} = carry", f"    return {k} < n",
             f"def {block}(carry):", f"    {carry} = carry", *_indented([*lax, f"return {k} + 1, {s} + y, y"]),
             f"{carry} = lax.while_loop({test}, {block}, (0, 0.0, y))", f"y = {s}"],
        )  # fmt: skip
    carry = f"{k}, y"
    return (
        [f"{k} = 0", f"while {k} < n:", *_indented(own), f"    {k} = {k} + 1"],
        [f"def {test}(carry):", f"    {carry} = carry", f"    return {k} < n",
         f"def {block}(carry):", f"    {carry} = carry", *_indented([*lax, f"return {k} + 1, y"]),
         f"{carry} = lax.while_loop({test}, {block}, (0, y))"],
    )  # fmt: skip


def _module(own: list[str], lax: list[str]) -> str:
    lines = ["from jax import lax", "from autograph_jax import autograph", "@autograph", "def converted(x, y, n):"]
    lines += _indented([*own, "return y"]) + ["def expert(x, y, n):"] + _indented([*lax, "return y"])
    return "\n".join(lines) + "\n"


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def load(source: str, folder: Path, name: str) -> Functions:
    """The two functions, from a real file: converting needs the source."""
    path = folder / f"{name}.py"
    path.write_text(source)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.converted, module.expert


def trace_time(functions: Functions, seconds: float) -> list[float]:
    """Median seconds to trace each, with nothing of an earlier trace left over."""

    def tracing(function: Callable[..., Any]) -> Callable[[], Any]:
        def run() -> None:
            jax.make_jaxpr(lambda *args: function(*args))(1.0, 2.0, 3)  # a new function: JAX caches by identity

        return run

    return measure.interleaved(*map(tracing, functions), seconds=seconds, clock=time.thread_time)


def rows(name: str, sources: dict[int, str], seconds: float) -> list[list[str]]:
    """One row for each number of blocks; the first is what the others are compared with."""
    found, first = [], []
    with tempfile.TemporaryDirectory() as folder:
        for count, source in sources.items():
            times = trace_time(load(source, Path(folder), f"blocks_{count}"), seconds)
            first = first or times
            own, lax = [[measure.milliseconds(t), measure.ratio(t, base)] for t, base in zip(times, first, strict=True)]
            found.append([name, str(count), *own, *lax, measure.ratio(*times)])
            print(" | ".join(found[-1]), flush=True)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--depths", type=int, nargs="+", default=[1, 2, 3, 4, 5, 6])
    parser.add_argument("--lengths", type=int, nargs="+", default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (default: 1)")
    options = parser.parse_args(arguments)
    found = []
    for kind, blocks in KINDS.items():
        found += rows(f"{kind}, nested", {d: nested(blocks, d) for d in options.depths}, options.seconds)
    for kind, blocks in KINDS.items():
        found += rows(f"{kind}, in a row", {n: in_a_row(blocks, n) for n in options.lengths}, options.seconds)
    print(f"{measure.versions()}\n")
    print(measure.table(HEADER, found))


if __name__ == "__main__":
    main()
