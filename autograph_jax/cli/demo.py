"""`autograph-jax demo`: fit hares and lynxes by plain Python, and show what became of it."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence

from autograph_jax.cli.demo_drawings import draw_fit, draw_png
from autograph_jax.cli.demo_fits import Problem, fit_many, fit_once, solve_once
from autograph_jax.cli.demo_report import report_fit, report_many, report_staged, report_times

# jax is imported in functions, so that `--help` does not wait for it


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of the demo."""
    parser.add_argument("--fits", type=_positive, default=1000, metavar="N", help="fits from perturbed starts (default 1000)")
    parser.add_argument("--quick", action="store_true", help="20 fits, and fewer repetitions")
    parser.add_argument("--png", metavar="FILE", help="also draw the fits into FILE (needs matplotlib)")
    parser.add_argument("--eager-fit", action="store_true", help="also time the fit without jit (a minute or more)")


def run(options: argparse.Namespace) -> int:
    """Run the demo; 0 if the solution and the fit agree with SciPy's, 1 if not, 2 if it cannot start."""
    if options.png and not _has_matplotlib():
        print("demo: --png needs matplotlib: pip install matplotlib", file=sys.stderr)
        return 2
    import jax

    with jax.enable_x64(True):
        return _run(options)


def _run(options: argparse.Namespace) -> int:
    import numpy as np

    problem = Problem.load()
    single = fit_once(problem, repetitions=1 if options.quick else 10, eager=options.eager_fit)
    solution = solve_once(problem, single.parameters, repetitions=10 if options.quick else 100)
    say(report_fit(single, solution))
    say(draw_fit(problem, single.parameters))
    say(report_staged(problem))
    count = 20 if options.quick else options.fits
    many = fit_many(problem, count, best=single)
    say(report_times([solution.timing, single.timing, many.timing]))
    say(report_many(many))
    if options.png:
        draw_png(options.png, problem, single.parameters, many)
        say([f"Drawn: {options.png}"])
    agree = solution.difference < 1e-6 and bool(np.max(np.abs(single.difference)) < 1e-4)
    return 0 if agree and single.converged else 1


def say(lines: Sequence[str]) -> None:
    """Print at once: the demo runs for a while, and its reader should see how far it is."""
    print("\n".join(lines), flush=True)


def _has_matplotlib() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def _positive(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} is not a positive number of fits")
    return count
