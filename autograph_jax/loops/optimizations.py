"""Which optimisations loops are compiled with: `@autograph(optimize=...)`, and AUTOGRAPH_JAX_OPTIMIZE in the environment."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

Chosen = frozenset[str]

MEANINGS = {
    "ranges": "an index that is known to be in bounds is not checked",
    "selects": "both branches of a cheap `if` are computed, and one is chosen",
    "shifts": "`//` and `%` of integers by powers of two are shifts and masks",
    "blocks": "lanes of a mapped while loop run in blocks, each of which ends for itself",
    "factors": "matrices of up to 3x3 are factorised and solved by written-out arithmetic, not by LAPACK",
    "products": "products of matrices of up to 8x8, a pair for each lane, are written-out arithmetic",
    "sorts": "arrays of up to 8 elements are sorted by written-out comparisons",
    "extremes": "`argmax` and `argmin` look for the largest element first, and then for its place",
    "halos": "an array of which several shifted windows are read, jnp.roll(x, 1) and jnp.roll(x, -1), is continued in one copy",
    "rows": "of a table of which a loop needs some rows, copies of these are in it",
    "folds": "of a table of which the last rows are read, rows are kept that the loop needs, and not all",
    "forwarding": "an element that a turn before has written is handed on, and not read again",
    "unroll": "of a kernel that computes few numbers, up to 8 turns stand one after the other",
    "kernel": "a whole loop is one piece of machine code",
}
ALL: Chosen = frozenset(MEANINGS)
NONE: Chosen = frozenset()
ON_CPU_ALONE: Chosen = ALL - {"ranges", "selects", "shifts", "rows", "folds"}
TO_FOLD = "to fold"  # beside names: rows are cut out of all tables, as some may be folded then
_VARIABLE = "AUTOGRAPH_JAX_OPTIMIZE"


def chosen(value: Any) -> Chosen:
    """What `optimize=` means: True is all, False none, and names are these. Raises ValueError for anything else."""
    if isinstance(value, bool):
        return ALL if value else NONE
    names = [value] if isinstance(value, str) else list(value) if isinstance(value, Iterable) else [value]
    if unknown := [name for name in names if name not in MEANINGS]:
        raise ValueError(f"optimize is True, False, or names out of {', '.join(sorted(ALL))}; got {unknown[0]!r}")
    return frozenset(names)


def allowed() -> Chosen:
    """What the environment leaves on: all, unless AUTOGRAPH_JAX_OPTIMIZE is 0 or has names."""
    text = os.environ.get(_VARIABLE, "1").strip()
    if text in ("", "1", "0"):
        return NONE if text == "0" else ALL
    try:
        return chosen([name.strip() for name in text.split(",")])
    except ValueError as error:
        raise ValueError(f"{_VARIABLE}: {error}") from None


class Said(frozenset[str]):
    """What was chosen, as a program shows it."""

    def __repr__(self) -> str:
        return "all" if self == ALL else "+".join(sorted(self)) or "none"


class _WithChoice:
    """Equal to the value without a choice, which JAX compares it with, and to one with the same choice.

    What is looked up by it, a lowered equation, is another one than without a choice, since hashes are compared first.
    """

    chosen: Chosen

    def __new__(cls, value: Any, chosen: Chosen) -> Any:
        made = super().__new__(cls, value)  # pyright: ignore[reportCallIssue] - that of the class beside this one
        made.chosen = chosen
        return made

    def __eq__(self, other: object) -> bool:
        is_same = super().__eq__(other)
        return is_same if is_same is NotImplemented else is_same and getattr(other, "chosen", self.chosen) == self.chosen

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((super().__hash__(), self.chosen))


class Choosing(_WithChoice, int):
    """A number among an equation's parameters, a scan's `unroll` say, which says what the equation is compiled with, too."""


class ChoosingPair(_WithChoice, tuple[Any, ...]):
    """A pair among an equation's parameters, a product's `precision`, which says the same."""


class ChoosingName(_WithChoice, str):
    """The name of a call of a compiled function, whose loops are compiled together with what is around them in it."""


def own_choice(equation: Any) -> Chosen | None:
    """What was chosen for a loop of ours; None for anything else."""
    if "loop" in equation.params:
        return equation.params["loop"].optimize
    given = equation.params.get("unroll")
    return given.chosen if isinstance(given, Choosing) else None
