"""An explanation as text: the answer first, then the lines, on one screen."""

from __future__ import annotations

import os
import shutil
import textwrap
from collections.abc import Iterator

from autograph_jax.explaining.explanation import Explanation, Function, Line

_MOST_LINES = 40  # of a function; of a longer one, only those of which there is something to say
_SLOW = 0.2  # of tracing or compiling the whole: a line that takes more of it says how long


def screen(explanation: Explanation) -> str:
    """The whole of it, no wider than the terminal."""
    width = min(shutil.get_terminal_size((120, 40)).columns, 160)
    parts = [*explanation.answer]
    for label in ("static", "captures"):
        if values := getattr(explanation, label):
            parts += textwrap.wrap(f"{label}: {', '.join(values)}", width, subsequent_indent="  ")
    slow = _SLOW * explanation.trace_seconds, _SLOW * (explanation.compile_seconds or 0.0)
    for function in explanation.functions:
        parts += [
            "",
            f"{function.name} ({os.path.basename(function.file)})",
            *_lines(function, width, slow),
        ]
    return "\n".join(parts)


def _lines(function: Function, width: int, slow: tuple[float, float]) -> Iterator[str]:
    is_short = len(function.lines) <= _MOST_LINES
    shown = [line for line in function.lines if is_short or line.kind]
    code = min(max(36, width * 2 // 5), max((len(line.text) for line in shown), default=0))
    for line in shown:
        yield from _line(line, code, width, slow)


def _line(line: Line, code: int, width: int, slow: tuple[float, float]) -> Iterator[str]:
    text = line.text if len(line.text) <= code else f"{line.text[: code - 3]}..."
    took = [("traced", line.seconds, slow[0]), ("compiled apart", line.compile_seconds, slow[1])]
    what = ", ".join([line.what, *(f"{done} in {seconds:.2g} s" for done, seconds, least in took if seconds > least)])
    said = "; ".join([what, *line.details] if what else line.details)
    head = f"{line.number:5} {text:{code}}  "
    wrapped = textwrap.wrap(said, max(width - len(head), 30), subsequent_indent="  ") or [""]
    yield (head + wrapped[0]).rstrip()
    for rest in wrapped[1:]:
        yield " " * len(head) + rest
