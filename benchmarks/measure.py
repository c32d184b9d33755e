"""Times and ratios on a noisy machine: everything compared is run in turn, in one process, and medians are taken.

An absolute time says little here; a ratio of two medians that were taken turn by turn says a good deal more.
"""

from __future__ import annotations

import argparse
import dataclasses
import platform
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import jax
import jaxlib

Run = Callable[[], Any]
Clock = Callable[[], float]


# Time


def interleaved(
    *runs: Run, seconds: float = 1.0, rounds: int = 5, most_rounds: int = 300, clock: Clock = time.perf_counter
) -> list[float]:
    """Median seconds of each of these functions, called in turn until the time is up, `rounds` times at the least.

    Every other round goes backwards: what runs after a library with threads of its own (NumPy's BLAS) is slowed down by these.
    Results that are JAX arrays are waited for. The first call of each, which may compile, is not counted. For what runs
    in this thread alone (tracing, converting), time.thread_time as the clock leaves out what other programs took.
    """
    for run in runs:
        jax.block_until_ready(run())
    times: list[list[float]] = [[] for _ in runs]
    end = time.perf_counter() + seconds
    order = list(zip(runs, times, strict=True))
    while len(times[0]) < rounds or (time.perf_counter() < end and len(times[0]) < most_rounds):
        for run, own in order:
            own.append(once(run, clock))
        order.reverse()
    return [statistics.median(own) for own in times]


def repeated(run: Run, count: int) -> Run:
    """Many calls as one: a call that takes some microseconds is too short for a clock."""

    def calls() -> Any:
        for _ in range(count - 1):
            run()
        return run()

    return calls


def call_options(description: str, arguments: Sequence[str] | None, calls: int) -> argparse.Namespace:
    """The options of a benchmark of single calls: `calls` in a round, and `seconds` for each row."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--calls", type=int, default=calls, help=f"calls in a round (default: {calls})")
    parser.add_argument("--seconds", type=float, default=3.0, help="time for each row (default: 3)")
    return parser.parse_args(arguments)


def once(run: Run, clock: Clock = time.perf_counter) -> float:
    """Seconds of one call."""
    start = clock()
    jax.block_until_ready(run())
    return clock() - start


@dataclasses.dataclass(frozen=True)
class Kernels:
    """What a device did in one run: seconds in kernels, how many were launched, and what was copied to the host."""

    seconds: float
    launches: int
    copies_to_host: int


def kernels(run: Run) -> Kernels | None:
    """What the profiler saw of a run on an accelerator; None where it sees no device, as on CPU."""
    jax.block_until_ready(run())
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(run())
        files = list(Path(folder).rglob("*.xplane.pb"))
        planes = jax.profiler.ProfileData.from_file(str(files[0])).planes if files else []
        events = [event for plane in planes if plane.name.startswith("/device:") for event in _on_streams(plane)]
    copies = [name for name, _ in events if "Memcpy" in name]
    seconds = sum(nanoseconds for name, nanoseconds in events if "Mem" not in name) * 1e-9
    return (
        Kernels(seconds, sum("Mem" not in name for name, _ in events), sum("D2H" in name for name in copies))
        if events
        else None
    )


def _on_streams(plane: Any) -> list[tuple[str, float]]:
    """Names and nanoseconds of a device's own events; other lines of its plane repeat them by operation and module."""
    return [(event.name, event.duration_ns) for line in plane.lines if line.name.startswith("Stream") for event in line.events]


# What was compiled

_WAITS = re.compile(r" (?:while|conditional)\(")
_PLACE = re.compile(r"(?:while|for|if)\[[^\]]*\]")


def waits(text: str) -> list[str]:
    """The loops and branches of a compiled module at which a GPU waits for the host: `while[newton.py:13]`.

    A loop of a known number of turns does not; the others ask the host about each turn, and so does a branch about its test.
    """
    lines = [line for line in text.splitlines() if _WAITS.search(line) and '"known_trip_count"' not in line]
    return sorted({places[-1] if (places := _PLACE.findall(line)) else "one of JAX's" for line in lines})


_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = ", re.MULTILINE)
# `%copy.6 = f64[10000]{0} copy(%get-tuple-element.577), ...`; layouts may have braces of their own: {1,0:T(8,128)}
_COPY = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = \w+\[([\d,]*)\]\S* copy\(")
_HEADER = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_CALLED = re.compile(r"(?:body|condition|calls|to_apply|true_computation|false_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_LOOP = re.compile(r"\bwhile\(.*\bbody=%?([\w.\-]+)")  # lax.scan is compiled to a while, too


def instructions(text: str) -> int:
    """How many instructions a compiled module has, in all its computations."""
    return len(_INSTRUCTION.findall(text))


def array_copies(jitted: Any, *args: Any, size: int) -> int:
    """How many `copy` instructions of at least `size` elements stand in the loops of what XLA compiled.

    A copy that stands before or after a loop is paid once; in a loop's body (or in what the body calls: branches,
    fusions) it is paid in every turn, and makes a loop that writes one element as slow as the array is long.
    """
    return array_copies_in(jitted.lower(*args).compile().as_text(), size)


def array_copies_in(text: str, size: int) -> int:
    """`array_copies` of a compiled module's text."""
    computations = _computations(text)
    loops = {body for lines in computations.values() for line in lines for body in _LOOP.findall(line)}
    reached, waiting = set(), list(loops)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += [called for line in computations.get(name, ()) for called in _called(line)]
    lines = [line for name in reached for line in computations.get(name, ())]
    return sum(_elements(match[1]) >= size for line in lines if (match := _COPY.match(line)))


def _computations(text: str) -> dict[str, list[str]]:
    """The lines of each computation of a module, by its name."""
    computations: dict[str, list[str]] = {}
    current: list[str] = []
    for line in text.splitlines():
        if header := _HEADER.match(line):
            current = computations[header[1]] = []
        else:
            current.append(line)
    return computations


def _called(line: str) -> list[str]:
    branches = [name.strip(" %") for names in _BRANCHES.findall(line) for name in names.split(",")]
    return _CALLED.findall(line) + branches


def _elements(shape: str) -> int:
    count = 1
    for length in filter(None, shape.split(",")):
        count *= int(length)
    return count


# Tables


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g}"


def ratio(first: float, second: float) -> str:
    """`2.5`, or `1,700` where the digits after the point say nothing."""
    value = first / second
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def versions() -> str:
    """What the figures were measured with."""
    return (
        f"Python {platform.python_version()}, jax {jax.__version__}, jaxlib {jaxlib.__version__}, "
        f"{jax.default_backend().upper()}, {sys.platform}"
    )
