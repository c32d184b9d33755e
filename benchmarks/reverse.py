"""Reverse mode through loops: time and memory of the gradient, beside lax.scan and equinox's checkpointed loop.

    python benchmarks/reverse.py                     # everything: ten minutes or more
    python benchmarks/reverse.py --only turns --turns 2000 --dims 256

`turns`: each loop runs x = tanh(A @ x) N times (dim 256), or x = sin(a * x) (dim 1). lax.scan knows N beforehand and keeps
everything; the others find out when to stop. A tape in Python keeps what each turn's derivative needs. The gradient is that by
x. Times of the gradient are compared with those of lax.while_loop without one; memory is what XLA sets aside for temporary
values, or what is on the tape.

`exits`: `for ... break` over a known range, left after 1, 50 and 100 % of its turns: our loop, which ends there, and a scan
which goes on to the end and keeps what it has.

`arrays`: loops that write x[i] = v and read what they wrote, in double precision, against a scan written by hand.

On a machine with other work to do, CPU time of a single thread says more:

    XLA_FLAGS=--xla_cpu_multi_thread_eigen=false taskset -c 1 python benchmarks/reverse.py --cpu
"""

from __future__ import annotations

import argparse
import functools
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import measure
from jax import lax

import autograph_jax as ag

HEADER = ["turns", "dim", "loop", "forward, ms", "gradient, ms", "gradient / lax.while_loop", "temporary memory, KB"]
Loop = Callable[..., Any]
Timing = dict[str, Any]  # how measure.interleaved takes times


def step(a: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.tanh(a @ x) if a.ndim else jnp.sin(a * x)


def matrix(dim: int) -> tuple[jax.Array, jax.Array]:
    """A and the start of x."""
    if dim == 1:
        return jnp.float32(1.5), jnp.float32(0.5)
    return jax.random.normal(jax.random.key(0), (dim, dim), jnp.float32) / dim**0.5, jnp.ones(dim, jnp.float32)


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


def rows(turns: int, dim: int, checkpoints: list[int], timing: Timing) -> list[list[str]]:
    (a, x), limit = matrix(dim), jnp.int32(turns)
    reference = jax.jit(functools.partial(by_while, turns, loop=lax.while_loop))
    found = []
    for name, function in loops(turns, checkpoints).items():
        forward = jax.jit(functools.partial(function, turns))
        gradient = jax.jit(jax.grad(lambda a, x, limit, f=function: jnp.sum(f(turns, a, x, limit)), argnums=1))
        compiled = gradient.lower(a, x, limit).compile()
        run = [lambda f=f: jax.block_until_ready(f(a, x, limit)) for f in (reference, forward, compiled)]
        base, own, back = measure.interleaved(*run, **timing, rounds=5 if turns <= 10_000 else 3)
        found.append(row(turns, dim, name, base, own, back, compiled.memory_analysis().temp_size_in_bytes))
    if turns * a.nbytes > MOST_ON_TAPE:
        return found
    kept = tape(turns, a, x)[1]
    run = [lambda: reference(a, x, limit), lambda: in_python(turns, a, x), lambda: tape(turns, a, x)[0]]
    found.append(row(turns, dim, "tape in Python", *measure.interleaved(*run, **timing, rounds=3), kept))
    return found


def row(turns: int, dim: int, name: str, base: float, own: float, back: float, memory: int) -> list[str]:
    cells = [f"{turns:,}", str(dim), name, measure.milliseconds(own), measure.milliseconds(back), measure.ratio(back, base)]
    cells.append(f"{memory / 1024:,.0f}")
    print(" | ".join(cells), flush=True)
    return cells


# A tape: Python runs the turns, each of them compiled, and keeps what each derivative needs, whatever their number


MOST_ON_TAPE = 2 * 2**30  # bytes: it keeps the matrix for each turn, and the memory of the machine is not for that
compiled_step = jax.jit(step)
recorded = jax.jit(lambda a, x: jax.vjp(functools.partial(step, a), x))
pulled = jax.jit(lambda pull, cotangent: pull(cotangent)[0])


def in_python(turns: int, a: jax.Array, x: jax.Array) -> jax.Array:
    for _ in range(turns):
        x = compiled_step(a, x)
    return x


def tape(turns: int, a: jax.Array, x: jax.Array) -> tuple[jax.Array, int]:
    """The gradient of the sum of what the turns make of x, and the bytes that are kept for it."""
    pulls: list[Any] = []
    for _ in range(turns):
        x, pull = recorded(a, x)
        pulls.append(pull)
    buffers = {leaf.unsafe_buffer_pointer(): leaf.nbytes for pull in pulls for leaf in jax.tree.leaves(pull)}
    cotangent = jnp.ones_like(x)
    for pull in reversed(pulls):
        cotangent = pulled(pull, cotangent)
    return cotangent, sum(buffers.values())


# Loops that are left early

EXITS_HEADER = ["turns, of", "dim", "loop", "value, ms", "gradient, ms", "temporary memory, KB"]


def exits(most: int, turns: int, dim: int, timing: Timing) -> list[list[str]]:
    def left_early(a: jax.Array, x: jax.Array, limit: Any) -> jax.Array:
        for k in range(most):
            if k >= limit:
                break
            x = step(a, x)
        return x

    def masked(a: jax.Array, x: jax.Array, limit: Any) -> jax.Array:
        return lax.scan(lambda x, k: (jnp.where(k >= limit, x, step(a, x)), None), x, jnp.arange(most))[0]

    a, x = matrix(dim)
    found = []
    few = ag.autograph(checkpoints=64)(left_early)
    functions = {"for ... break": ag.autograph(left_early), "for ... break, 64 checkpoints": few, "masked lax.scan": masked}
    for name, function in functions.items():
        own, back, memory = measured(function, (a, x, jnp.int32(turns)), (1,), timing)
        found.append([f"{turns:,} of {most:,}", str(dim), name, own, back, memory])
        print(" | ".join(found[-1]), flush=True)
    return found


# Loops that write arrays

ARRAYS_HEADER = ["program", "n", "by hand, ms", "converted, ms", "gradient by hand, ms", "gradient, ms", "gradient / by hand"]


@ag.autograph
def table_of_costs(a: jax.Array, b: jax.Array, gap: Any) -> Any:
    """Edit distance of two sequences of numbers, over the whole table."""
    n, m = len(a), len(b)
    costs = jnp.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        costs[i, 0] = costs[i - 1, 0] + gap
    for j in range(1, m + 1):
        costs[0, j] = costs[0, j - 1] + gap
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            change = costs[i - 1, j - 1] + (a[i - 1] - b[j - 1]) ** 2
            costs[i, j] = min(costs[i - 1, j] + gap, costs[i, j - 1] + gap, change)
    return costs[n, m]


def row_by_row(a: jax.Array, b: jax.Array, gap: Any) -> Any:
    def row(before: jax.Array, given: Any) -> Any:
        own, start = given

        def cell(left: Any, around: Any) -> Any:
            other, up, corner = around
            value = jnp.minimum(jnp.minimum(up + gap, left + gap), corner + (own - other) ** 2)
            return value, value

        _, values = lax.scan(cell, start, (b, before[1:], before[:-1]))
        return jnp.concatenate([start[None], values]), None

    starts = gap * jnp.arange(1.0, len(a) + 1)
    return lax.scan(row, gap * jnp.arange(len(b) + 1.0), (a, starts))[0][-1]


def sequences(n: int) -> tuple[Any, ...]:
    first, second = (jax.random.uniform(jax.random.key(seed), (n,), jnp.float64) for seed in range(2))
    return first, second, jnp.float64(0.3)


@ag.autograph
def recurrence_until(x: jax.Array, a: jax.Array) -> Any:
    for i in range(1, len(x)):
        x[i] = jnp.sin(x[i - 1]) * a[i] + x[i]
        if x[i] > 100.0:
            break
    return jnp.sum(x**2)


def recurrence_by_hand(x: jax.Array, a: jax.Array) -> Any:
    def turn(before: Any, row: Any) -> Any:
        value = jnp.sin(before) * row[1] + row[0]
        return value, value

    return x[0] ** 2 + jnp.sum(lax.scan(turn, x[0], (x[1:], a[1:]))[1] ** 2)


@ag.autograph
def reflections(x: jax.Array) -> Any:
    """Levinson's recursion, in which the inner loops are as long as the outer one's number."""
    a, b = x * 1.0, x * 0.0
    for i in range(1, len(x)):
        total = x[i]
        for j in range(1, i):
            total = total + a[j] * x[i - j]
        k = jnp.tanh(-total)
        for j in range(1, i):
            b[j] = a[j] + k * a[i - j]
        for j in range(1, i):
            a[j] = b[j]
        a[i] = k
    return jnp.sum(a**2)


def reflections_by_hand(x: jax.Array) -> Any:
    """With arrays of full length, of which a part counts."""
    places = jnp.arange(len(x))

    def turn(a: jax.Array, i: Any) -> Any:
        inside = (places >= 1) & (places < i)
        k = jnp.tanh(-x[i] - jnp.sum(jnp.where(inside, a * x[i - places], 0.0)))
        return jnp.where(inside, a + k * a[i - places], a).at[i].set(k), None

    return jnp.sum(lax.scan(turn, x, places[1:])[0] ** 2)


@ag.autograph
def product_by_loops(a: jax.Array, x: jax.Array) -> Any:
    y = x * 0.0
    for i in range(len(x)):
        total = 0.0
        for j in range(len(x)):
            total = total + a[i, j] * x[j]
        y[i] = total
    return jnp.sum(y**2)


def product_by_hand(a: jax.Array, x: jax.Array) -> Any:
    return jnp.sum((a @ x) ** 2)


def matrix_and_vector(n: int) -> tuple[Any, ...]:
    return jax.random.uniform(jax.random.key(0), (n, n), jnp.float64), sequences(n)[0]


def programs() -> dict[str, tuple[Any, Any, Any, tuple[int, ...]]]:
    import stores

    solve, by_hand = [lambda *rows, f=f: jnp.sum(f(*rows) ** 2) for f in (stores.thomas, stores.thomas_lax)]
    return {
        "Thomas' solver": (solve, by_hand, stores.system, (1_000, 10_000)),
        "edit distance": (table_of_costs, row_by_row, sequences, (100, 300)),
        "recurrence with break": (recurrence_until, recurrence_by_hand, lambda n: sequences(n)[:2], (1_000, 10_000)),
        "Levinson's recursion": (reflections, reflections_by_hand, lambda n: (sequences(n)[0] / n,), (200, 800)),
        "matrix by vector": (product_by_loops, product_by_hand, matrix_and_vector, (100, 400)),
    }


def arrays(most: int, timing: Timing) -> list[list[str]]:
    found = []
    for name, (converted, by_hand, make, sizes) in programs().items():
        for n in sizes:
            if n > most:
                continue
            operands = make(n)
            argnums = tuple(range(len(operands)))
            expert, back_by_hand, _ = measured(by_hand, operands, argnums, timing)
            own, back, _ = measured(converted, operands, argnums, timing)
            ratio = f"{float(back) / float(back_by_hand):.3g}"
            found.append([name, f"{n:,}", expert, own, back_by_hand, back, ratio])
            print(" | ".join(found[-1]), flush=True)
    return found


def measured(function: Any, operands: Any, argnums: tuple[int, ...], timing: Timing) -> tuple[str, str, str]:
    """Milliseconds of the value and of the gradient, and KB that the gradient sets aside."""
    forward = jax.jit(function)
    gradient = jax.jit(jax.grad(lambda *xs: jnp.sum(function(*xs)), argnums)).lower(*operands).compile()
    own, back = measure.interleaved(*(lambda f=f: f(*operands) for f in (forward, gradient)), **timing)
    memory = gradient.memory_analysis().temp_size_in_bytes / 1024
    return measure.milliseconds(own), measure.milliseconds(back), f"{memory:,.0f}"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["turns", "exits", "arrays"], nargs="+", default=["turns", "exits", "arrays"])
    parser.add_argument("--turns", type=int, nargs="+", default=[100, 2_000, 100_000])
    parser.add_argument("--dims", type=int, nargs="+", default=[1, 256])
    parser.add_argument("--checkpoints", type=int, nargs="+", default=[8, 64])
    parser.add_argument("--seconds", type=float, default=1.0, help="for each row (default: 1)")
    parser.add_argument("--cpu", action="store_true", help="CPU time instead of the clock on the wall")
    options = parser.parse_args(arguments)
    timing: Timing = {"seconds": options.seconds, "clock": time.process_time if options.cpu else time.perf_counter}
    tables: list[tuple[list[str], list[list[str]]]] = []
    sizes = [(dim, turns) for dim in options.dims for turns in options.turns]
    if "turns" in options.only:
        found = [row for dim, turns in sizes for row in rows(turns, dim, options.checkpoints, timing)]
        tables.append((HEADER, found))
    if "exits" in options.only:
        parts = [(most, max(1, most * part // 100)) for most in options.turns if most <= 10_000 for part in (1, 50, 100)]
        found = [row for dim in options.dims for most, turns in parts for row in exits(most, turns, dim, timing)]
        tables.append((EXITS_HEADER, found))
    if "arrays" in options.only:
        with jax.enable_x64(True):
            tables.append((ARRAYS_HEADER, arrays(10 * max(options.turns), timing)))
    print(measure.versions())
    for header, found in tables:
        print(f"\n{measure.table(header, found)}")


if __name__ == "__main__":
    main()
