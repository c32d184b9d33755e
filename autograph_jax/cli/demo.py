"""`autograph-jax demo`: fit hares and lynxes by plain Python, and show what became of it."""

from __future__ import annotations

import argparse
import importlib.util
import linecache
import math
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:  # jax is imported in functions, so that `--help` does not wait for it
    import jax
    import numpy as np

STAGED_PRIMITIVES = ("while", "scan", "cond")
PERTURBATION = 0.3  # standard deviation of the logarithm of a perturbed start
REACHED = 1e-4  # a fit has reached the best optimum if its cost is within this fraction
SCIPY_SAMPLE = 10  # so many of the perturbed fits are timed in SciPy
RTOL = 1e-8
PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+)(:\d+)? \(")  # file:line:column (function)


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


class Problem(NamedTuple):
    """What `fit` takes: log guess (6,); times (n,), years since 1900; pelts (n, 2), thousands."""

    guess: jax.Array
    times: jax.Array
    pelts: jax.Array

    @classmethod
    def load(cls) -> Problem:
        import jax.numpy as jnp

        from autograph_jax.cli import lotka_volterra as model

        times = jnp.asarray(model.YEARS - model.YEARS[0])
        return cls(jnp.log(jnp.asarray(model.GUESS)), times, jnp.asarray(model.PELTS))


class Timing(NamedTuple):
    """Seconds that one task took: to compile, then each run; None where it was not run."""

    task: str
    compiling: float
    jitted: float
    eager: float | None
    scipy: float
    remark: str


# Solve -----------------------------------------------------------------------------------------------


class Solved(NamedTuple):
    """The model solved at the best parameters; differences are the largest ones, in thousands."""

    timing: Timing
    difference: float
    difference_exact: float
    steps: int


def solve_once(problem: Problem, parameters: jax.Array, *, repetitions: int) -> Solved:
    """Solve the model jitted, eagerly and by SciPy."""
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    arguments = parameters, problem.times
    compiled, compiling = timed(compile_for, model.populations, arguments)
    solution, jitted = timed(compiled, *arguments, repetitions=repetitions)
    _, eager = timed(model.populations, *arguments)
    scipy_states, scipy = timed(scipy_populations, *arguments, repetitions=min(repetitions, 10))
    exact = scipy_populations(*arguments, method="DOP853", rtol=1e-13)
    return Solved(
        Timing("solve once", compiling, jitted, eager, scipy, "RK45"),
        float(np.max(np.abs(solution.states - scipy_states))),
        float(np.max(np.abs(solution.states - exact))),
        int(solution.steps),
    )


def scipy_populations(parameters: Any, times: Any, *, method: str = "RK45", rtol: float = RTOL) -> np.ndarray:
    """What a SciPy user writes: hares and lynxes, thousands, shape (n, 2), zero where it failed."""
    import numpy as np
    from scipy.integrate import solve_ivp

    alpha, beta, gamma, delta, hare, lynx = np.exp(np.asarray(parameters)).tolist()

    def derivative(_: float, state: np.ndarray) -> tuple[float, float]:
        hare, lynx = state
        return (alpha - beta * lynx) * hare, (delta * hare - gamma) * lynx

    times = np.asarray(times)
    span = times[0], times[-1]
    found = solve_ivp(derivative, span, (hare, lynx), method=method, t_eval=times, rtol=rtol, atol=rtol)
    states = np.zeros((len(times), 2))
    states[: len(found.t)] = found.y.T
    return states


# Fit -------------------------------------------------------------------------------------------------


class Fitted(NamedTuple):
    """One fit: log parameters (6,) and half the sum of squares, as found by us; difference from SciPy's."""

    timing: Timing
    parameters: jax.Array
    cost: float
    converged: bool
    iterations: int
    difference: np.ndarray


def fit_once(problem: Problem, *, repetitions: int, eager: bool) -> Fitted:
    """Fit from the guess, jitted and by SciPy, and eagerly on request."""
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    compiled, compiling = timed(compile_for, model.fit, problem)
    found, jitted = timed(compiled, *problem, repetitions=repetitions)
    eager_time = timed(model.fit, *problem)[1] if eager else None
    expected, scipy = timed(scipy_fit, *problem, repetitions=min(repetitions, 3))
    return Fitted(
        Timing("fit", compiling, jitted, eager_time, scipy, "least_squares"),
        found.parameters,
        float(found.cost),
        bool(found.converged),
        int(found.iterations),
        np.asarray(found.parameters) - expected,
    )


def scipy_fit(start: Any, times: Any, pelts: Any) -> np.ndarray:
    """The same fit by SciPy's Levenberg-Marquardt, differentiated by differences: log parameters (6,)."""
    import numpy as np
    from scipy.optimize import least_squares

    logarithms = np.log(np.asarray(pelts))

    def residuals(parameters: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):  # a wild trial step may leave the domain of the model
            states = np.log(scipy_populations(parameters, times))
        return np.nan_to_num(states - logarithms, nan=1e3, posinf=1e3, neginf=-1e3).ravel()

    return least_squares(residuals, np.asarray(start), method="lm").x


class FittedMany(NamedTuple):
    """Fits from many starts: parameters (fits, 6), costs (fits,); `reached` is true at the best optimum."""

    timing: Timing
    starts: jax.Array
    parameters: jax.Array
    costs: np.ndarray
    reached: np.ndarray


def fit_many(problem: Problem, count: int, *, best: Fitted) -> FittedMany:
    """Fit from `count` perturbed guesses under one vmap, and a few of them by SciPy."""
    import jax
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    noise = jax.random.normal(jax.random.key(1900), (count, len(problem.guess)))
    starts = problem.guess + PERTURBATION * noise
    batched = jax.vmap(model.fit, in_axes=(0, None, None))
    arguments = starts, problem.times, problem.pelts
    compiled, compiling = timed(compile_for, batched, arguments)
    found, jitted = timed(compiled, *arguments)
    sample = starts[:SCIPY_SAMPLE]
    _, scipy = timed(lambda: [scipy_fit(start, problem.times, problem.pelts) for start in sample])
    costs = np.asarray(found.cost)
    remark = f"{len(sample)} run, x {count / len(sample):g}"
    return FittedMany(
        Timing(f"{count:,} fits, vmap", compiling, jitted, None, scipy * count / len(sample), remark),
        starts,
        found.parameters,
        costs,
        costs < best.cost * (1 + REACHED),
    )


# Reports ---------------------------------------------------------------------------------------------


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

    from autograph_jax.cli import lotka_volterra as model

    jaxpr = jax.make_jaxpr(model.fit)(*problem)
    staged = staged_lines(jaxpr.jaxpr)
    total = Counter[str]()
    for counts in staged.values():
        total.update(counts)
    name = os.path.basename(model.__file__)
    lines = [f"Staged from {name} as one program: {primitive_counts(total)}"]
    for (file, line), counts in sorted(staged.items()):
        if os.path.basename(file) != name:
            continue
        text = linecache.getline(model.__file__, line).strip()
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


def timed(function: Callable[..., Any], *arguments: Any, repetitions: int = 1) -> tuple[Any, float]:
    """The value of function(*arguments), and the seconds of the fastest of some runs."""
    import jax

    fastest = math.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        value = jax.block_until_ready(function(*arguments))
        fastest = min(fastest, time.perf_counter() - start)
    return value, fastest


def compile_for(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Callable[..., Any]:
    """What jit makes of a function for such arguments: traced, lowered and compiled now."""
    import jax

    return jax.jit(function).lower(*arguments).compile()


def say(lines: Sequence[str]) -> None:
    """Print at once: the demo runs for a while, and its reader should see how far it is."""
    print("\n".join(lines), flush=True)


# Drawings --------------------------------------------------------------------------------------------


class Series(NamedTuple):
    """One animal: a smooth curve, and points that were observed, as (time, value) pairs."""

    name: str
    mark: str
    color: int  # of ANSI terminals
    dashed: bool
    curve: Sequence[tuple[float, float]]
    points: Sequence[tuple[float, float]]


def draw_fit(problem: Problem, parameters: jax.Array) -> list[str]:
    """The fit and the data as text, 80 columns wide."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    times = np.linspace(0.0, 20.0, 281)
    states = np.asarray(jax.jit(model.populations)(parameters, jnp.asarray(times)).states)
    years = times + model.YEARS[0]
    animals = [
        Series(
            *style,
            list(zip(years.tolist(), states[:, column].tolist(), strict=True)),
            list(zip(model.YEARS.tolist(), model.PELTS[:, column].tolist(), strict=True)),
        )
        for column, style in enumerate((("hare", "●", 33, False), ("lynx", "○", 36, True)))
    ]
    color = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    lines = terminal_plot(animals, columns=71, rows=13, step=(2.0, 20.0), color=color)
    legend = "  ".join(f"{paint(animal.mark, animal.color, color)} {animal.name}" for animal in animals)
    lines.append(f"      {legend}, thousand pelts; lines: the fit (lynx dashed)")
    encoding = sys.stdout.encoding or "ascii"
    return lines if encodes("●⠿", encoding) else [plain(line) for line in lines]


def terminal_plot(
    series: Sequence[Series], *, columns: int, rows: int, step: tuple[float, float], color: bool = False
) -> list[str]:
    """Draw curves in Braille dots (two across and four down per character) and points as marks.

    Args:
        series: what to draw, in order; the later is on top, and points are on top of curves.
        columns, rows: size of the field inside the axes, in characters.
        step: distance between labels on the axes of time and value, in their units.
    """
    canvas = Canvas(columns, rows, series, step)
    for one in series:
        canvas.curve(one)
    for one in series:
        for point in one.points:
            canvas.point(point, one)
    return canvas.lines(color)


class Canvas:
    """A field of characters with axes for time (across) and value (up, from zero)."""

    def __init__(self, columns: int, rows: int, series: Sequence[Series], step: tuple[float, float]) -> None:
        self.columns, self.rows, self.step = columns, rows, step
        pairs = [pair for one in series for pair in (*one.curve, *one.points)]
        self.start, self.end = min(pair[0] for pair in pairs), max(pair[0] for pair in pairs)
        self.top = step[1] * math.ceil(max(pair[1] for pair in pairs) / step[1])
        self.dots: dict[tuple[int, int], int] = {}  # (row, column) -> bits of a Braille character
        self.marks: dict[tuple[int, int], str] = {}
        self.colors: dict[tuple[int, int], int] = {}

    def dot_at(self, pair: tuple[float, float]) -> tuple[int, int]:
        """(row, column) of the dot nearest to a (time, value)."""
        right, down = (pair[0] - self.start) / (self.end - self.start), 1.0 - pair[1] / self.top
        return round(down * (4 * self.rows - 1)), round(right * (2 * self.columns - 1))

    def cell_at(self, pair: tuple[float, float]) -> tuple[int, int]:
        """(row, column) of the character that holds that dot."""
        row, column = self.dot_at(pair)
        return row // 4, column // 2

    def curve(self, series: Series) -> None:
        """Connect the pairs of a curve; a dashed one has gaps of two dots after every four."""
        drawn, before = 0, self.dot_at(series.curve[0])[0]
        for pair in series.curve:
            row, column = self.dot_at(pair)
            for filled in span(before, row):
                if not (series.dashed and drawn % 6 > 3):
                    self.dot(filled, column, series.color)
                drawn += 1
            before = row

    def dot(self, row: int, column: int, color: int) -> None:
        cell = row // 4, column // 2
        self.dots[cell] = self.dots.get(cell, 0) | BRAILLE_BITS[row % 4][column % 2]
        self.colors[cell] = color

    def point(self, pair: tuple[float, float], series: Series) -> None:
        cell = self.cell_at(pair)
        self.marks[cell] = series.mark
        self.colors[cell] = series.color

    def lines(self, color: bool) -> list[str]:
        """The drawing, axes included, from the top line down."""
        labels = {self.cell_at((self.start, value))[0]: f"{value:.0f}" for value in ticks(0.0, self.top, self.step[1])}
        body = [
            f"{labels.get(row, ''):>5}{'┤' if row in labels else '│'}"
            + "".join(self.character(row, column, color) for column in range(self.columns)).rstrip()
            for row in range(self.rows)
        ]
        return [*body, *self.time_axis()]

    def character(self, row: int, column: int, color: bool) -> str:
        cell = row, column
        text = self.marks.get(cell) or (chr(0x2800 + self.dots[cell]) if cell in self.dots else " ")
        return paint(text, self.colors[cell], color) if cell in self.colors else text

    def time_axis(self) -> list[str]:
        ruler, text = ["─"] * self.columns, [" "] * (self.columns + 8)
        for value in ticks(self.start, self.end, self.step[0]):
            column, label = self.cell_at((value, 0.0))[1], f"{value:.0f}"
            ruler[column] = "┬"
            begin = column + 6 - len(label) // 2
            text[begin : begin + len(label)] = label
        return ["     └" + "".join(ruler), "".join(text).rstrip()]


BRAILLE_BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


def span(before: int, after: int) -> range:
    """The rows from just past `before` to `after`, at least `after` itself."""
    if after > before:
        return range(before + 1, after + 1)
    return range(before - 1, after - 1, -1) if after < before else range(after, after + 1)


def ticks(start: float, end: float, step: float) -> list[float]:
    return [start + step * count for count in range(int((end - start) / step + 1e-9) + 1)]


def paint(text: str, color: int, wanted: bool) -> str:
    return f"\033[{color}m{text}\033[0m" if wanted else text


def plain(text: str) -> str:
    """The same drawing in ASCII, for terminals that cannot show more."""
    table = {ord(old): new for old, new in zip("●○┤│└─┬", "ox||+-+", strict=True)}
    return "".join("." if 0x2800 < ord(letter) <= 0x28FF else letter for letter in text.translate(table))


def encodes(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError):
        return False
    return True


def draw_png(path: str, problem: Problem, best: jax.Array, many: FittedMany) -> None:
    """Data, best fit, and the spread of all starts and fits, as a figure of 1600 x 880 pixels."""
    import matplotlib

    matplotlib.use("Agg")
    import numpy as np
    from matplotlib import pyplot

    times = np.linspace(float(problem.times[0]), float(problem.times[-1]), 401)
    curves = [fine_curves(parameters, times) for parameters in (best[None], many.starts, many.parameters)]
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 5.5), layout="constrained")
    for column, (animal, color) in enumerate((("Hare", "#b35806"), ("Lynx", "#2166ac"))):
        draw_panel(axes[column], times, [curve[:, :, column] for curve in curves], many.reached, color)
        draw_pelts(axes[column], column, animal, color)
    figure.suptitle("Lotka-Volterra model fitted to the pelts of the Hudson's Bay Company")
    figure.savefig(path, dpi=160)
    pyplot.close(figure)


def draw_panel(axis: Any, times: np.ndarray, curves: Sequence[np.ndarray], reached: np.ndarray, color: str) -> None:
    """One animal's curves, thousands, each (curves, times): the best fit, those of the starts and of the fits."""
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    years, (best, starts, fits) = times + model.YEARS[0], curves
    low, high = np.nanpercentile(starts, (25, 75), axis=0)
    axis.fill_between(years, low, high, color="0.9", label=f"middle half of {len(starts):,} starts")
    elsewhere = axis.plot(years, fits[~reached].T, color="0.45", linewidth=0.6, alpha=0.5)
    for line in elsewhere[:1]:
        line.set_label(f"{len(elsewhere):,} fits that ended elsewhere")
    axis.plot(years, best[0], color=color, linewidth=2.2, label=f"best fit, reached by {reached.sum():,}")


def draw_pelts(axis: Any, column: int, animal: str, color: str) -> None:
    """The data of one animal on its panel, with axes and legend."""
    from autograph_jax.cli import lotka_volterra as model

    axis.plot(model.YEARS, model.PELTS[:, column], "o", color=color, mec="white", ms=7, label="pelts delivered")
    axis.set(title=animal, xlabel="Year", ylabel="Pelts (thousands)", xlim=(1899.5, 1920.5), ylim=(0, 100))
    axis.set_xticks(range(1900, 1921, 4))
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, fontsize=9)


def fine_curves(parameters: jax.Array, times: np.ndarray) -> np.ndarray:
    """Hares and lynxes, thousands, shape (fits, times, 2); NaN where the model could not be solved."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from autograph_jax.cli import lotka_volterra as model

    wanted = jnp.asarray(times)

    def states(one: jax.Array) -> model.Solution:
        return model.populations(one, wanted, rtol=1e-6, max_steps=2000)

    found = jax.jit(jax.vmap(states))(parameters)
    return np.where(np.asarray(found.success)[:, None, None], np.asarray(found.states), np.nan)


def _has_matplotlib() -> bool:
    return importlib.util.find_spec("matplotlib") is not None


def _positive(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{count} is not a positive number of fits")
    return count
