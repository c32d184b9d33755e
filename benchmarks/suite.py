"""Seventeen programs as people write them: converted, by an expert's lax, by numba, by NumPy, unrolled.

    python benchmarks/suite.py
    python benchmarks/suite.py --only thomas life --seconds 3 --plot suite.png

*Converted* is with all that is optimised on one CPU, *everywhere* with what is also done on several devices and on others, to
the same bits; and there is `optimize=False`. All forms have to agree before anything is measured. Instructions and temporary
memory are XLA's, of the compiled program. A first call is conversion, tracing, compiling and one run, of a module that is
imported anew, with JAX's caches empty.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

os.environ.setdefault("JAX_ENABLE_X64", "1")  # before jax is imported: double precision

import jax
import measure
import numpy as np
from programs.program import Program

import autograph_jax as ag
from autograph_jax.loops.optimizations import ALL, ON_CPU_ALONE

FOLDER = Path(__file__).parent / "programs"
FILES = sorted(path.stem for path in FOLDER.glob("*.py") if path.stem not in ("__init__", "program"))
HEADER = [
    "program", "n", "expert, ms", "converted / expert", "instructions", "temporary bytes", "first call",
    "converted / numba", "converted / NumPy", "unrolled / expert", "optimize=False / expert",
    "everywhere / expert", "everywhere: instructions", "everywhere: temporary bytes", "everywhere: first call",
]  # fmt: skip
RATIOS = (
    "converted / expert", "instructions", "temporary bytes", "first call", "converted / numba", "converted / NumPy",
    "optimize=False / expert", *HEADER[-4:],
)  # fmt: skip
EVERYWHERE = sorted(ALL - ON_CPU_ALONE)
Form = Callable[[], Any]


def load(name: str) -> Program:
    """The program of a file, as a module of its own each time: what is cached by function or code does not know it."""
    spec = importlib.util.spec_from_file_location(f"programs.{name}", FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.PROGRAM


def converted(program: Program, optimize: bool | Sequence[str] = True) -> Any:
    """The user's Python, jitted."""
    function = ag.autograph(program.python, optimize=optimize)
    return ag.jit(jax.vmap(function) if program.mapped else function, static_argnums=program.static or None)


def everywhere(program: Program) -> Any:
    """The same, with what is optimised on all devices alone."""
    return converted(program, EVERYWHERE)


def expert(program: Program) -> Any:
    return jax.jit(jax.vmap(program.expert) if program.mapped else program.expert, static_argnums=program.static or None)


def unrolled(program: Program) -> Any:
    return jax.jit(program.python, static_argnums=program.static or None)


def on_device(program: Program, arguments: Sequence[Any]) -> list[Any]:
    return [a if n in program.static else jax.device_put(a) for n, a in enumerate(arguments)]


def forms(program: Program, arguments: Sequence[Any]) -> dict[str, Form]:
    """Each form of a program as a call without arguments; numba's only where it is installed."""
    given = on_device(program, arguments)
    own, by_hand, numpy = converted(program), expert(program), program.numpy or program.literal
    plain_loops, on_all = converted(program, optimize=False), everywhere(program)
    found: dict[str, Form] = {
        "converted": lambda: own(*given),
        "expert": lambda: by_hand(*given),
        "not optimised": lambda: plain_loops(*given),
        "everywhere": lambda: on_all(*given),
    }
    if (compiled := _by_numba(program)) is not None:
        found["numba"] = lambda: compiled(*arguments)
    if program.unrolls:
        plain = unrolled(program)
        found["unrolled"] = lambda: plain(*given)
    return found | {"NumPy": lambda: numpy(*arguments)}


def _by_numba(program: Program) -> Any:
    try:
        import numba  # pyright: ignore[reportMissingImports] - the bench extra has it
    except ImportError:
        return None
    return numba.njit(program.literal)


def check(program: Program, found: dict[str, Form]) -> None:
    """All forms give the same: integers exactly, floats to the program's tolerance."""
    right = np.asarray(found["expert"]())
    exact = np.issubdtype(right.dtype, np.integer)
    atol = 0 if exact else program.tolerance * float(np.max(np.abs(right)))
    for name, form in found.items():
        note = f"{program.name}: {name} and expert differ"
        np.testing.assert_allclose(np.asarray(form()), right, rtol=0, atol=atol, err_msg=note)


def compiled_sizes(jitted: Any, arguments: Sequence[Any]) -> tuple[int, int]:
    """Instructions of what XLA has compiled, in all its computations, and the bytes that it takes beside input and output."""
    compiled = jitted.lower(*arguments).compile()
    return measure.instructions(compiled.as_text()), compiled.memory_analysis().temp_size_in_bytes


def first_calls(name: str, size: int, rounds: int) -> list[float]:
    """Median seconds of the first call: converted, everywhere, expert."""
    times: list[list[float]] = [[], [], []]
    for _ in range(rounds):
        for make, own in zip((converted, everywhere, expert), times, strict=True):
            program = load(name)
            given = on_device(program, program.arguments(size))
            jax.clear_caches()
            gc.collect()
            own.append(measure.once(lambda make=make, program=program, given=given: make(program)(*given)))
    return [statistics.median(own) for own in times]


def compare(name: str, size: int | None, seconds: float, rounds: int, clock: measure.Clock = time.perf_counter) -> list[str]:
    """One row of the table."""
    program = load(name)
    n = size or program.size
    arguments = program.arguments(n)
    found = forms(program, arguments)
    check(program, found)
    own_time, expert_time = measure.interleaved(found["converted"], found["expert"], seconds=seconds, clock=clock)
    others = {"numba": "converted", "NumPy": "converted"}
    others |= dict.fromkeys(("unrolled", "not optimised", "everywhere"), "expert")
    times = {
        other: measure.interleaved(found[other], found[to], seconds=seconds / 3, rounds=3, clock=clock)
        for other, to in others.items()
        if other in found
    }
    given = on_device(program, arguments)
    own, on_all, by_hand = (compiled_sizes(make(program), given) for make in (converted, everywhere, expert))
    first = first_calls(name, n, rounds) if rounds else None
    return [
        program.name, f"{n:,}", measure.milliseconds(expert_time),
        measure.ratio(own_time, expert_time), measure.ratio(own[0], by_hand[0]), _of_bytes(own[1], by_hand[1]),
        measure.ratio(first[0], first[2]) if first else "",
        measure.ratio(*times["numba"][::-1]) if "numba" in times else "",
        measure.ratio(*times["NumPy"][::-1]),
        measure.ratio(*times["unrolled"]) if "unrolled" in times else "",
        measure.ratio(*times["not optimised"]),
        measure.ratio(*times["everywhere"]), measure.ratio(on_all[0], by_hand[0]), _of_bytes(on_all[1], by_hand[1]),
        measure.ratio(first[1], first[2]) if first else "",
    ]  # fmt: skip


def _of_bytes(own: int, by_hand: int) -> str:
    return measure.ratio(own, by_hand) if by_hand else f"{own} of 0"


def means(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The geometric mean of each column of ratios, and the worst."""
    columns = [_numbers(row[number] for row in rows) if title in RATIOS else [] for number, title in enumerate(HEADER)]
    mean = [f"{statistics.geometric_mean(column):.3g}" if column else "" for column in columns]
    worst = [f"{max(column):.3g}" if column else "" for column in columns]
    return [["geometric mean", *mean[1:]], ["worst", *worst[1:]]]


def _numbers(cells: Any) -> list[float]:
    return [float(cell.replace(",", "")) for cell in cells if cell and "of" not in cell]


def plot(rows: Sequence[Sequence[str]], path: str) -> None:
    """Bars: converted and numba against the expert's lax, on a logarithmic axis."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    rows = rows[::-1]
    own = np.array([float(row[3]) for row in rows])
    numba = np.array([float(row[3]) / float(row[7].replace(",", "")) if row[7] else np.nan for row in rows])
    figure, axes = plt.subplots(figsize=(7, 0.32 * len(rows) + 1), layout="constrained")
    places = np.arange(len(rows))
    axes.barh(places + 0.2, own - 1, 0.38, left=1, label="converted", color="tab:blue")
    axes.barh(places - 0.2, numba - 1, 0.38, left=1, label="numba", color="tab:gray")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(places, [row[0] for row in rows])
    axes.set_xlabel("run time, to that of an expert's lax")
    axes.legend()
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=FILES, default=FILES, metavar="FILE", help="files of programs/")
    parser.add_argument("--size", type=int, help="instead of each program's own")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row (default: 2)")
    parser.add_argument("--first-calls", type=int, default=3, metavar="N", help="first calls of each; 0 for none (default: 3)")
    parser.add_argument("--cpu-time", action="store_true", help="of the process, on a machine with much else to do")
    parser.add_argument("--plot", metavar="FILE", help="draw the run times")
    options = parser.parse_args(arguments)
    warnings.filterwarnings("ignore", message=".*@.*contiguous", category=Warning)  # numba's, of what it would rather have
    found = []
    for name in options.only:
        clock = time.process_time if options.cpu_time else time.perf_counter
        found.append(compare(name, options.size, options.seconds, options.first_calls, clock))
        print(" | ".join(found[-1]), flush=True)
    print(f"{measure.versions()}\n")
    print(measure.table(HEADER, [*found, *means(found)]))
    if options.plot:
        plot(found, options.plot)


if __name__ == "__main__":
    main()
