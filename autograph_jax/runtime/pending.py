"""What is to be done with the output of a compiled program, once it has returned."""

from __future__ import annotations

import types
from typing import Any

import jax

from autograph_jax.operators.effects import checks
from autograph_jax.runtime import outputs

SETTLE, WAIT, BUILD = "settle", "wait", "build"


class Pending(set[str]):
    """What the traces of a program say of its output; `finish` holds what does it, None where that is nothing.

    A call reads a cell in some nanoseconds; whether a set is empty takes three times as long.
    """

    def __init__(self) -> None:
        self.finish = types.CellType(None)

    def add(self, element: str) -> None:
        super().add(element)
        self.finish.cell_contents = lambda out: finish(out, self)


def finish(out: Any, pending: Pending) -> Any:
    """The output of a program that may raise, or that gives a Choice, waited for; objects and choices as themselves."""
    if SETTLE in pending:
        checks.settle(out)
    elif WAIT in pending:
        jax.block_until_ready(out)
    return outputs.unpacked(out)
