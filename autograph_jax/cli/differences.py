"""Two texts, and what differs: one below the other, or side by side."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from autograph_jax.cli.colours import RESET

_ADDED, _REMOVED, _PLACE, _BOLD = "\x1b[32m", "\x1b[31m", "\x1b[36m", "\x1b[1m"
_DIFF_STYLES = (("+++", _BOLD), ("---", _BOLD), ("@@", _PLACE), ("+", _ADDED), ("-", _REMOVED))


def diff(old: str, new: str, old_name: str, new_name: str, *, colored: bool = False) -> str:
    """A unified diff of two texts, with the whole text as context: functions are short."""
    context = max(old.count("\n"), new.count("\n")) + 1
    lines = difflib.unified_diff(old.split("\n"), new.split("\n"), old_name, new_name, n=context, lineterm="")
    return "\n".join(_diff_line(line) if colored else line for line in lines)


def _diff_line(line: str) -> str:
    style = next((s for prefix, s in _DIFF_STYLES if line.startswith(prefix)), "")
    return f"{style}{line}{RESET}" if style else line


def side_by_side(old: str, new: str, width: int) -> str:
    """The old text on the left, the new one on the right, in so many columns; between them `|` where a line has changed,
    `<` where it is gone and `>` where it is new. Long lines go on in the next row.
    """
    half = (width - 3) // 2
    return "\n".join(
        row for left, mark, right in _rows(old.split("\n"), new.split("\n")) for row in _row(left, mark, right, half)
    )


def _rows(old: list[str], new: list[str]) -> Iterator[tuple[str, str, str]]:
    for what, start, end, new_start, new_end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        for number in range(max(end - start, new_end - new_start)):
            left = old[start + number] if start + number < end else None
            right = new[new_start + number] if new_start + number < new_end else None
            mark = " " if what == "equal" else "<" if right is None else ">" if left is None else "|"
            yield left or "", mark, right or ""


def _row(left: str, mark: str, right: str, half: int) -> Iterator[str]:
    lefts, rights = _cut(left, half), _cut(right, half)
    for number in range(max(len(lefts), len(rights))):
        one = lefts[number] if number < len(lefts) else ""
        other = rights[number] if number < len(rights) else ""
        yield f"{one:{half}} {mark} {other}".rstrip()


def _cut(line: str, width: int) -> list[str]:
    """A line in pieces of this width; those after the first are indented as it is, and a bit."""
    indent = min(len(line) - len(line.lstrip()) + 4, width // 2)
    pieces, rest = [line[:width]], line[width:]
    while rest:
        pieces.append(" " * indent + rest[: width - indent])
        rest = rest[width - indent :]
    return pieces
