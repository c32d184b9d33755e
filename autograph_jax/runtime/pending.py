"""What is to be done with the output of a compiled program, once it has returned."""

from __future__ import annotations

import types
from typing import Any

import jax

from autograph_jax.operators.effects import checks
from autograph_jax.runtime import outputs

SETTLE, WAIT, BUILD = "settle", "wait", "build"


class Pending:
    """What the traces of a program say of its output, its `needs`; `finish` holds what does it, None where that is nothing.

    A call reads a cell in some nanoseconds. No set that changes: a block would take that for state of the user's.
    """

    def __init__(self) -> None:
        self.needs = frozenset[str]()
        self.finish = types.CellType(None)

    def add(self, need: str) -> None:
        self.needs |= {need}
        self.finish.cell_contents = lambda out: finish(out, self)


def finish(out: Any, pending: Pending) -> Any:
    """The output of a program that may raise, or that gives a Choice, waited for; objects and choices as themselves."""
    if SETTLE in pending.needs:
        checks.settle(out)
    elif WAIT in pending.needs:
        jax.block_until_ready(out)
    return outputs.unpacked(out)
