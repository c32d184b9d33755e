"""What a block has made itself, and what it has in common with the program around it: what is new is taken apart at its end."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.frame_variables import frame_variables
from autograph_jax.operators.tracing.places import Cell
from autograph_jax.operators.values.choices import UNBOUND

_FUNCTIONS = (types.FunctionType, functools.partial)


def written(trace: state.Trace) -> set[int]:
    """The ids of the variables' cells and of the older objects that a block has written to."""
    places = [place for place, _ in trace.log.values()]
    targets = {id(place.target) for place in places if place.target is not None}
    return {id(place.cell) for place in places if isinstance(place, Cell)} | targets - trace.made.keys()


def made_in(trace: state.Trace) -> Callable[[Any], bool]:
    """Tells the objects that a block has made, by a call of their class or by a library, from those that it only came across.

    What it writes to an older object is noted, and is state. One that it did not write to holds nothing of its tracers.
    """
    noted = {id(place.target) for place, _ in trace.log.values()} - trace.made.keys()
    is_variable = reach.is_variable_of(trace.variables)

    def is_new(value: Any) -> bool:
        if id(value) in trace.made or reach.is_our_record(type(value)):
            return True
        is_function = type(value) in _FUNCTIONS
        if not is_function and not reach.is_record(value):
            return False
        parts = list(reach.everything(value, skip=is_variable if is_function else None))
        return any(map(jax_private.is_own, parts)) and not any(id(part) in noted for part in parts)

    return is_new


class Shared:
    """The ids of the cells of variables that a block has in common with what is around it.

    Not those of functions that it has called, and that have returned: only what they have made has these.
    """

    def __init__(self, trace: state.Trace, functions: tuple[Callable[..., Any] | None, ...]) -> None:
        self._own = {id(place.cell) for place in cells_of(functions).values()}
        self._written = {id(place.cell): place for place, _ in trace.log.values() if isinstance(place, Cell)}

    def __contains__(self, cell: int) -> bool:
        return cell in self._own or cell in self._written and _is_of_running(self._written[cell])


def _is_of_running(place: Cell) -> bool:
    """Is this a variable of a function that is running?"""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if place.name in frame.f_code.co_cellvars and frame_variables(frame).get(place.name, UNBOUND) is place.read():
            return True
        frame = frame.f_back
    return False
