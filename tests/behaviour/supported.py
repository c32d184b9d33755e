"""docs/supported.md, a table of what the programs of this folder show. `make docs` writes it by this file."""

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.behaviour.harness import TABLES, Row, load

PAGE = Path(__file__).parents[2] / "docs" / "supported.md"
HEAD = """\
# What is supported

Each line stands for a file of tests/behaviour. Its programs run as plain Python with NumPy,
converted, and compiled, and where they are floats also differentiated and mapped; the results must be the same. A program that
is refused gets an error with its line, the reason and a way out; none may give another result than Python. This page is made
of them whenever the site is built.

| programs with | programs | as in Python | refused | either | staged | differentiated | mapped |
|---|--:|--:|--:|--:|--:|--:|--:|
"""
REFUSED = """
## What is refused

The names are those of the functions in the files.

"""


def page() -> str:
    tables = {name: load(name) for name in TABLES}
    lines = [_line(_title(table.module), table.rows) for table in tables.values()]
    total = [row for table in tables.values() for row in table.rows]
    refused = [
        f"- {_title(table.module)} {', '.join(names)}\n" for table in tables.values() if (names := list(_refused(table.rows)))
    ]
    return HEAD + "".join([*lines, _line("**all**", total)]) + REFUSED + "".join(refused)


def _line(title: str, rows: list[Row]) -> str:
    wants = [sum(row.want == want for row in rows) for want in ("value", "error", "either")]
    counts = [
        len(rows),
        *wants,
        *(sum(map(bool, kind)) for kind in zip(*((r.staged, r.grad, r.batch) for r in rows), strict=True)),
    ]
    return f"| {title} | {' | '.join(map(str, counts))} |\n"


def _title(module: str) -> str:
    """The first line of a file's docstring, up to its end of sentence."""
    text = (sys.modules[module].__doc__ or "").strip().split("\n")[0]
    return text.replace("|", "\\|")


def _refused(rows: list[Row]) -> Iterator[str]:
    yield from (f"`{row.name}`" for row in rows if row.want == "error")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
