"""flax.nnx: variables and modules that a staged block changes, also from inside of flax.

They remember the trace in which they were made, and refuse to be changed in another one. A block is traced apart, but what it
leaves is written back where it began: what may be changed there may be changed in the block.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Attribute


@dataclasses.dataclass(frozen=True, eq=False)
class _Owner(Attribute):
    """The trace that an object belongs to: put back after a block, and no part of what it leaves."""

    found = False


def changeable(functions: tuple[Callable[..., Any] | None, ...]) -> list[Any]:
    """The variables and modules in reach of a block's functions that may be changed where it is asked."""
    library = sys.modules.get("flax.nnx")
    if library is None:
        return []
    reached = (value for cell in cells_of(functions).values() for value in reach.everything(cell.read()))
    roots = [value for value in reached if isinstance(value, library.Variable | library.Pytree)]
    found = {id(value): value for root in roots for value in _inside(root, library)}
    return [value for value in found.values() if _owner(value, library).is_valid()]


def _inside(value: Any, library: Any) -> Iterator[Any]:
    """A module's variables and modules, however many."""
    if isinstance(value, library.Variable):
        yield value
    elif isinstance(value, library.Pytree):
        yield value
        for part in vars(value).values():
            yield from _inside(part, library)


def _owner(value: Any, library: Any) -> Any:
    return value._trace_state if isinstance(value, library.Variable) else value._pytree__state._trace_state


def enter(values: Sequence[Any]) -> set[int]:
    """Let the running block change these, and note what they hold. Gives their ids."""
    if not values:
        return set()
    library = sys.modules["flax.nnx"]
    for value in values:
        owner = _owner(value, library)
        state.write(_Owner(owner, "_jax_trace"), type(owner)()._jax_trace)
        if isinstance(value, library.Variable):
            state.note(Attribute(value, "_raw_value"))
        else:
            state.note(_Owner(value, "_pytree__nodes"))
    return set(map(id, values))
