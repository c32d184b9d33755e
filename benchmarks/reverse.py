"""Reverse mode through loops: time and memory of the gradient, beside lax.scan and equinox's checkpointed loop.

    python benchmarks/reverse.py

Each loop runs x = tanh(A @ x) N times (dim 256), or x = sin(a * x) (dim 1). lax.scan knows N beforehand and keeps everything;
the others find out when to stop. The gradient is that by x. Times of the gradient are compared with those of lax.while_loop
without one; memory is what XLA sets aside for temporary values.
"""

from __future__ import annotations

import argparse
import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import measure
from jax import lax

import autograph_jax as ag

HEADER = ["turns", "dim", "loop", "forward, ms", "gradient, ms", "gradient / lax.while_loop", "temporary memory, KB"]
Loop = Callable[..., Any]


def step(a: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(a @ x) if a.ndim else jnp.sin(a * x)


def by_scan(turns: int, a: jax.Array, x: jax.Array, limit: Any) -> jax.Array:
    return lax.scan(lambda x, _: (step(a, x), None), x, None, length=turns)[0]


def by_while(turns: int, a: jax.Array, x: jax.Array, limit: Any, *, loop: Loop) -> jax.Array:
    return loop(lambda c: c[1] < limit, lambda c: (step(a, c[0]), c[1] + 1), (x, jnp.int32(0)))[0]


def loops(turns: int, checkpoints: list[int]) -> dict[str, Callable[..., jax.Array]]:
    """By name: functions of the number of turns, A, x, and the same number as a traced value."""
    found: dict[str, Callable[..., jax.Array]] = {"lax.scan": by_scan}
    for count in (None, *checkpoints):
        loop = functools.partial(ag.while_loop, checkpoints=count)
        found["ag.while_loop" + (f", {count} checkpoints" if count else "")] = functools.partial(by_while, loop=loop)
    try:
        import equinox.internal as eqxi
    except ImportError:
        return found
    for count in (*checkpoints, *([turns] if turns <= 10_000 else [])):  # all states: until that takes too long
        loop = functools.partial(eqxi.while_loop, kind="checkpointed", checkpoints=count)
        found[f"equinox, {count} checkpoints"] = functools.partial(by_while, loop=loop)
    return found


def rows(turns: int, dim: int, checkpoints: list[int], seconds: float) -> list[list[str]]:
    a = jax.random.normal(jax.random.key(0), (dim, dim)) / dim**0.5 if dim > 1 else jnp.float32(1.5)
    x, limit = (jnp.ones(dim) if dim > 1 else jnp.float32(0.5)), jnp.int32(turns)
    reference = jax.jit(functools.partial(by_while, turns, loop=lax.while_loop))
    found = []
    for name, function in loops(turns, checkpoints).items():
        forward = jax.jit(functools.partial(function, turns))
        gradient = jax.jit(jax.grad(lambda a, x, limit, f=function: jnp.sum(f(turns, a, x, limit)), argnums=1))
        compiled = gradient.lower(a, x, limit).compile()
        run = [lambda f=f: jax.block_until_ready(f(a, x, limit)) for f in (reference, forward, compiled)]
        base, own, back = measure.interleaved(*run, seconds=seconds)
        memory = compiled.memory_analysis().temp_size_in_bytes / 1024
        found.append(
            [f"{turns:,}", str(dim), name, measure.milliseconds(own), measure.milliseconds(back)]
            + [measure.ratio(back, base), f"{memory:,.0f}"]
        )
        print(" | ".join(found[-1]), flush=True)
    return found


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, nargs="+", default=[100, 2_000, 100_000])
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 256])
    parser.add_argument("--checkpoints", type=int, nargs="+", default=[8, 64])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (default: 1)")
    options = parser.parse_args(arguments)
    found = []
    for dim in options.dims:
        for turns in options.turns:
            found += rows(turns, dim, options.checkpoints, options.seconds)
    print(f"{measure.versions()}\n")
    print(measure.table(HEADER, found))


if __name__ == "__main__":
    main()
