"""What a traced condition tells about a Choice: `if best is None or v > best` may compare with best, an array by then."""

from __future__ import annotations

import dataclasses
import weakref
from collections.abc import Callable
from typing import Any

from autograph_jax.operators import state
from autograph_jax.operators.choices import Choice

Test = Callable[[Any], bool]


@dataclasses.dataclass(frozen=True)
class Facts:
    """Which options each Choice can still have where a condition holds, and where it does not."""

    if_true: tuple[tuple[Choice, Test], ...] = ()
    if_false: tuple[tuple[Choice, Test], ...] = ()


NONE = Facts()
# By the condition's id, since arrays have no usable ==. Module state: an entry goes when its condition goes.
_by_id: dict[int, tuple[weakref.ref[Any], Facts]] = {}


def tell(condition: Any, facts: Facts) -> Any:
    """Remember what a traced condition tells."""
    key = id(condition)
    _by_id[key] = (weakref.ref(condition, lambda _: _by_id.pop(key, None)), facts)
    return condition


def of(condition: Any) -> Facts:
    entry = _by_id.get(id(condition))
    return entry[1] if entry is not None and entry[0]() is condition else NONE


def narrowed(
    block: Callable[[], Any], functions: tuple[Callable[..., Any] | None, ...], facts: Facts, holds: bool
) -> Callable[[], Any]:
    """The block, run with each Choice that the condition tells about narrowed to what it can be there."""
    told = facts.if_true if holds else facts.if_false
    if not told:
        return block

    def run() -> Any:
        for choice, test in told:
            value = choice.only(test)
            for cell in state.cells_of(functions).values():
                if cell.read() is choice:
                    state.write(cell, value)
        return block()

    return state.standing_for(run, block)
