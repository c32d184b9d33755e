"""What the demo says about its fits: figures, times, what was staged where."""

from __future__ import annotations

import linecache
import math
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from autograph_jax.cli.demo_fits import PERTURBATION, Fitted, FittedMany, Problem, Solved, Timing

if TYPE_CHECKING:  # jax is imported in functions, so that `--help` does not wait for it
    pass

STAGED_PRIMITIVES = ("while", "scan", "cond")
PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+)(:\d+)? \(")  # file:line:column (function)


def report_fit(fit: Fitted, solution: Solved) -> list[str]:
    """The answer: parameters, and how far they are from SciPy's."""
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    values = np.exp(np.asarray(fit.parameters))
    cells = [
        f"{name} {value:.4g} {unit}"
        for name, value, unit in zip(model.PARAMETER_NAMES, values, model.PARAMETER_UNITS, strict=True)
    ]
    state = "fitted" if fit.converged else "NOT fitted"
    worst = float(np.max(np.abs(fit.difference)))
    return [
        f"Lotka-Volterra {state} to the pelts of 1900-1920: {fit.iterations} turns, {duration(fit.timing.jitted)}",
        *("  " + "".join(f"{cell:25}" for cell in cells[row::2]).rstrip() for row in range(2)),
        f"  SciPy: least_squares agrees within {worst:.0e} (relative), solve_ivp within {solution.difference:.0e} k",
        f"  Both are within {solution.difference_exact:.1e} k of DOP853 at rtol 1e-13  (k: thousand pelts)",
    ]


def report_staged(problem: Problem) -> list[str]:
    """Which lines of Python became which primitives of lax in the jitted fit."""
    import jax

    from autograph_jax.cli import dormand_prince
    from autograph_jax.cli import lotka_volterra as model

    jaxpr = jax.make_jaxpr(model.fit)(*problem)
    staged = staged_lines(jaxpr.jaxpr)
    total = Counter[str]()
    for counts in staged.values():
        total.update(counts)
    lines: list[str] = []
    for source in (model.__file__, dormand_prince.__file__):
        name = os.path.basename(source)
        lines.append(f"  {name}" if lines else f"Staged as one program: {primitive_counts(total)}; in {name}")
        for (file, line), counts in sorted(staged.items()):
            if os.path.basename(file) == name:
                text = linecache.getline(source, line).strip()
                lines.append(f"  {line:4} {text[:50]:50} {primitive_counts(counts)}")
    return lines


def staged_lines(jaxpr: Any) -> dict[tuple[str, int], Counter[str]]:
    """Count the control flow primitives of a jaxpr by the (file, line) of the Python they came from."""
    from jax.extend import source_info_util

    counts: dict[tuple[str, int], Counter[str]] = {}
    for equation in equations(jaxpr):
        if equation.primitive.name in STAGED_PRIMITIVES:
            place = PLACE.match(source_info_util.summarize(equation.source_info))
            line = (place["file"], int(place["line"])) if place else ("", 0)
            counts.setdefault(line, Counter())[equation.primitive.name] += 1
    return counts


def equations(jaxpr: Any) -> Iterator[Any]:
    """Every equation of a jaxpr and of the jaxprs inside its equations."""
    for equation in jaxpr.eqns:
        yield equation
        for parameter in equation.params.values():
            for value in parameter if isinstance(parameter, tuple | list) else (parameter,):
                inner = getattr(value, "jaxpr", value)
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def primitive_counts(counts: Counter[str]) -> str:
    """`4 while, 2 cond`, in a fixed order."""
    return ", ".join(f"{counts[name]} {name}" for name in STAGED_PRIMITIVES if counts[name])


def report_times(timings: Sequence[Timing]) -> list[str]:
    """A table: tasks down, and across how they were run."""
    lines = [f"{'Time':22}{'compile':>9}{'jitted':>10}{'eager':>10}{'SciPy':>10}"]
    for timing in timings:
        eager = "-" if timing.eager is None else duration(timing.eager)
        lines.append(
            f"  {timing.task:20}{duration(timing.compiling):>9}{duration(timing.jitted):>10}"
            f"{eager:>10}{duration(timing.scipy):>10}  {timing.remark}"
        )
    return lines


def report_many(many: FittedMany) -> list[str]:
    """How many of the perturbed starts arrived."""
    reached, count = int(many.reached.sum()), len(many.reached)
    spread = f"exp({PERTURBATION} N(0, 1))"
    return [f"{reached:,} of {count:,} fits, started at guess x {spread}, reach the best optimum"]


def duration(seconds: float) -> str:
    """Seconds in a unit in which the number has one to three digits before the point."""
    unit, size = next(((unit, size) for unit, size in (("s", 1.0), ("ms", 1e-3)) if seconds >= size), ("us", 1e-6))
    digits = max(0, 2 - math.floor(math.log10(seconds / size)))
    return f"{seconds / size:.{digits}f} {unit}"
