"""The programs of suite.py on an accelerator: by the clock, in time of its kernels, and which loops wait for the host.

    python benchmarks/devices.py
    python benchmarks/devices.py --only thomas life --longest 2

Converted code and an expert's lax, which have to agree first. The time of kernels, their launches and the copies to the host
are the profiler's, of one run. A loop whose number of turns XLA does not know asks the host before each turn, and so does a
branch: these are named by the lines of the program's text. On a device without a profile the columns stay empty.
"""

from __future__ import annotations

import argparse
import os
import statistics
from collections.abc import Sequence

os.environ.setdefault("JAX_ENABLE_X64", "1")  # before jax is imported: double precision

import jax
import measure
import suite
from programs.program import Program

HEADER = [
    "program", "n", "expert, ms", "converted / expert", "optimize=False / expert", "kernels, ms", "kernels / expert's",
    "launches", "launches / expert's", "to the host", "waits for the host",
]  # fmt: skip
RATIOS = ("converted / expert", "optimize=False / expert", "kernels / expert's", "launches / expert's")


def size_for(program: Program, longest: float) -> int:
    """The program's own size, or as much of it as an expert's lax does in `longest` seconds."""
    n = program.size
    given = suite.on_device(program, program.arguments(n))
    by_hand = suite.expert(program)
    jax.block_until_ready(by_hand(*given))
    taken = measure.once(lambda: by_hand(*given))
    return n if taken <= longest else max(10, int(n * (longest / taken) ** 0.5) // 10 * 10)  # some are quadratic


def compare(name: str, size: int | None, seconds: float, longest: float) -> list[str]:
    """One row of the table."""
    program = suite.load(name)
    n = size or size_for(program, longest)
    arguments = program.arguments(n)
    given = suite.on_device(program, arguments)
    makes = {
        "own": suite.converted(program),
        "expert": suite.expert(program),
        "plain": suite.converted(program, optimize=False),
    }
    found = {key: (lambda make=make: make(*given)) for key, make in makes.items()}
    suite.check(program, found)
    own_time, expert_time = measure.interleaved(found["own"], found["expert"], seconds=seconds)
    plain_time, expert_again = measure.interleaved(found["plain"], found["expert"], seconds=seconds / 3, rounds=3)
    own, by_hand = measure.kernels(found["own"]), measure.kernels(found["expert"])
    waits = measure.waits(makes["own"].lower(*given).compile().as_text())
    profile = ["", "", "", "", ""]
    if own is not None and by_hand is not None:
        profile = [
            measure.milliseconds(own.seconds), measure.ratio(own.seconds, by_hand.seconds), f"{own.launches:,}",
            measure.ratio(own.launches, by_hand.launches), f"{own.copies_to_host:,}",
        ]  # fmt: skip
    return [
        program.name, f"{n:,}", measure.milliseconds(expert_time), measure.ratio(own_time, expert_time),
        measure.ratio(plain_time, expert_again), *profile, " ".join(waits),
    ]  # fmt: skip


def means(rows: Sequence[Sequence[str]]) -> list[list[str]]:
    """The geometric mean of each column of ratios, and the worst."""
    columns = [[float(row[n].replace(",", "")) for row in rows if row[n]] if t in RATIOS else [] for n, t in enumerate(HEADER)]
    mean = [f"{statistics.geometric_mean(column):.3g}" if column else "" for column in columns]
    worst = [f"{max(column):.3g}" if column else "" for column in columns]
    return [["geometric mean", *mean[1:]], ["worst", *worst[1:]]]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", choices=suite.FILES, default=suite.FILES, metavar="FILE", help="files of programs/"
    )
    parser.add_argument("--size", type=int, help="instead of what each program's own, and --longest, give")
    parser.add_argument("--seconds", type=float, default=2.0, help="for each row (default: 2)")
    parser.add_argument("--longest", type=float, default=0.3, help="seconds that one run may take (default: 0.3)")
    options = parser.parse_args(arguments)
    found = []
    for name in options.only:
        found.append(compare(name, options.size, options.seconds, options.longest))
        print(" | ".join(found[-1]), flush=True)
    print(f"{measure.versions()}, {jax.devices()[0].device_kind}\n")
    print(measure.table(HEADER, [*found, *means(found)]))


if __name__ == "__main__":
    main()
