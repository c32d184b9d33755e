"""What the demo draws: the fit in the terminal, and all fits in a PNG."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from autograph_jax.cli.demo_fits import FittedMany, Problem

if TYPE_CHECKING:  # jax is imported in functions, so that `--help` does not wait for it
    import jax
    import numpy as np


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
