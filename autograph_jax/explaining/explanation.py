"""What `explain` gives: each line of the functions that ran, and what became of it."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Line:
    """A line of the user's. `kind` is "cond", "scan", "while", "python" (a branch or loop that Python decides), "traced" (its
    operations are in the program), or "" for one that leaves nothing in the program.
    """

    number: int
    text: str
    kind: str = ""
    what: str = ""  # in words: "lax.while_loop", "unrolled x3", "39 operations"
    details: tuple[str, ...] = ()
    operations: int = 0
    cost: int = 0  # operations, each times the turns of the loops around it
    code: str = ""  # as a jaxpr
    seconds: float = 0.0  # of tracing, with what is inside; staged lines only
    compile_seconds: float = 0.0  # compiled apart from the rest; outermost staged lines only


@dataclasses.dataclass(frozen=True)
class Function:
    """A function of which a line ran."""

    name: str
    file: str
    lines: tuple[Line, ...]


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What each line of a function, and of those that it calls, became for one call. Prints itself on one screen.

    `answer` says it in a line or two; `functions` has the lines; `captures` what is closed over; `static` the arguments that
    were constants. Times are in seconds.
    """

    name: str
    answer: tuple[str, ...]
    functions: tuple[Function, ...]
    static: tuple[str, ...]
    captures: tuple[str, ...]
    derivatives: dict[str, str]
    operations: int
    trace_seconds: float
    compile_seconds: float | None

    def data(self) -> dict[str, Any]:
        """All of it as dicts, lists, strings and numbers, for JSON."""
        return dataclasses.asdict(self)

    def html(self) -> str:
        """One HTML page, without scripts and without references to anything outside of it."""
        from autograph_jax.explaining.page import page

        return page(self)

    def __repr__(self) -> str:
        from autograph_jax.explaining.screen import screen

        return screen(self)

    def _repr_html_(self) -> str:
        from autograph_jax.explaining.page import fragment

        return fragment(self)
