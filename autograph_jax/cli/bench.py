"""`autograph-jax bench solver.py:step --args ...` times a call: as Python, converted, compiled, against another function."""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

from autograph_jax.cli import running
from autograph_jax.cli.targets import TargetError

DESCRIPTION = "Time a call of a function: as Python, converted, and compiled, with the compilation apart. The file is imported."
EXAMPLES = """\
examples:
  autograph-jax bench solver.py:fit --args "zeros(3), randn(64, 3)"
  autograph-jax bench solver.py:fit --args "zeros(3), randn(64, 3)" --against by_hand.py:fit --png fit.png
"""
_SECONDS = 0.02  # that a sample takes at least: of fast calls, several are timed together
_SAMPLES = 9


class Timing(NamedTuple):
    """One way to call a function: the median of a call in seconds, and how long it took to compile."""

    way: str
    seconds: float
    compile_seconds: float | None = None


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `bench`."""
    running.add_target(parser)
    parser.add_argument(
        "--against", metavar="TARGET", help="another function, called with the same arguments and compiled by jax.jit"
    )
    parser.add_argument("--samples", type=int, default=_SAMPLES, help=f"of each, whose median is shown; default: {_SAMPLES}")
    parser.add_argument("--json", action="store_true", help="print the times as JSON")
    parser.add_argument("--png", metavar="FILE", help="draw them, which needs matplotlib")


def run(options: argparse.Namespace) -> int:
    """Print the times. Raises TargetError, and what importing the files and the calls raise."""
    timings = _timings(options)
    if options.json:
        print(json.dumps([timing._asdict() for timing in timings], indent=2))
    else:
        print(f"{options.target}, medians of {options.samples}")
        print("\n".join(_table(timings)))
    if options.png:
        _draw(options.target, timings, options.png)
    return 0


def _timings(options: argparse.Namespace) -> list[Timing]:
    import jax

    from autograph_jax.explaining.explain import as_options, static_arguments
    from autograph_jax.runtime.decorator import autograph
    from autograph_jax.runtime.jit import jit

    function, args, kwargs = running.call(options)
    plain = _undecorated(function)
    static = as_options(static_arguments(plain, args, kwargs))
    ways = {"Python": plain, "converted": autograph(plain), "compiled": jit(plain, **static)}
    if options.against:
        ways[options.against] = jax.jit(_undecorated(running.load(options.against)[0]), **static)
    calls = {way: functools.partial(called, *args, **kwargs) for way, called in ways.items()}
    first = {way: _timed(call, 1) for way, call in calls.items()}
    medians = _medians(list(calls.values()), options.samples)
    compiled = list(calls)[2:]
    return [
        Timing(way, seconds, max(first[way] - seconds, 0.0) if way in compiled else None)
        for way, seconds in zip(calls, medians, strict=True)
    ]


def _undecorated(function: Any) -> Any:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function


def _medians(calls: list[Callable[[], Any]], samples: int) -> list[float]:
    """Of each, taken in turn, so that what else the machine does meanwhile meets all of them."""
    counts = [_count(call) for call in calls]
    rounds = [[_timed(call, count) / count for call, count in zip(calls, counts, strict=True)] for _ in range(samples)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def _count(call: Callable[[], Any]) -> int:
    """How many calls make a sample."""
    count = 1
    while _timed(call, count) < _SECONDS and count < 1 << 20:
        count *= 2
    return count


def _timed(call: Callable[[], Any], count: int) -> float:
    out = None
    began = time.perf_counter()
    for _ in range(count):
        out = call()
    _wait(out)
    return time.perf_counter() - began


def _wait(out: Any) -> None:
    import jax

    jax.block_until_ready(out)


def _table(timings: list[Timing]) -> list[str]:
    """A row for each, with its ratio to the compiled function."""
    unit = next(timing.seconds for timing in timings if timing.way == "compiled")
    width = max(len(timing.way) for timing in timings)
    rows = []
    for timing in timings:
        compiled = f"   after {_shown(timing.compile_seconds)} of compiling" if timing.compile_seconds is not None else ""
        rows.append(f"  {timing.way:{width}}  {_shown(timing.seconds):>9}  {timing.seconds / unit:9.3g} x{compiled}")
    return rows


def _shown(seconds: float) -> str:
    for unit, name in ((1.0, "s"), (1e-3, "ms"), (1e-6, "us")):
        if seconds >= unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds * 1e9:.3g} ns"


def _draw(title: str, timings: list[Timing], filename: str) -> None:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
        from matplotlib.ticker import NullFormatter
    except ImportError:
        raise TargetError("--png needs matplotlib: pip install 'autograph-jax[plot]'") from None
    figure = Figure(figsize=(7, 1.2 + 0.5 * len(timings)), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ways, seconds = [timing.way for timing in timings], [timing.seconds for timing in timings]
    axes.plot(seconds, ways, "o", markersize=9, color="#0969da")  # no bars: on a logarithmic axis their length says nothing
    for way, value in zip(ways, seconds, strict=True):
        axes.annotate(_shown(value), (value, way), xytext=(9, 0), textcoords="offset points", va="center")
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.margins(x=0.25, y=0.25)
    axes.grid(axis="y", color="#d0d7de")
    axes.invert_yaxis()
    axes.set_xlabel("seconds a call")
    axes.set_title(os.path.basename(title))
    figure.savefig(filename, dpi=150)
