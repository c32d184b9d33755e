"""In ported code, a list that a branch makes longer, `if lb < x < ub: t.append(x)`, becomes one of which a bound is known."""

from __future__ import annotations

import contextlib
import dis
import math
import sys
import threading
import types
from collections.abc import Callable, Iterator

from autograph_jax.errors import StructureError, is_user_frame
from autograph_jax.operators import hooks
from autograph_jax.operators.sequences import bounded
from autograph_jax.operators.tracing import holders, state
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.places import Cell, Content

_METHODS = ("append", "insert")
_MOST = 1024  # further elements, where nested loops would make a larger bound


def is_bounded_now(error: StructureError, functions: tuple[Callable[..., object] | None, ...]) -> bool:
    """Has the list that an error is about been replaced in the one variable that holds it, so that blocks can be traced?"""
    if error.grown is None or not hooks.is_porting():
        return False
    (values, longest), error.grown = error.grown, None
    if type(values) is not list or state.traces() and id(values) in state.traces()[-1].older:
        error.grown = values, longest
        return False  # whoever has made the list will ask again
    cells = _variables(functions, values)
    if len(cells) != 1 or holders.held_elsewhere(Content(values), cells[0]):
        return False
    try:
        made = bounded.of(list(values), [True] * len(values), longest + min(_appending() * _turns(), _MOST))
    except StructureError:
        return False
    state.write(cells[0], made)
    return True


def _variables(functions: tuple[Callable[..., object] | None, ...], values: list[object]) -> list[Cell]:
    return [cell for cell in cells_of(functions).values() if cell.read() is values]


class _Unrolled(threading.local):
    """Of each loop that Python runs now, how many turns it has at most."""

    def __init__(self) -> None:
        self.turns: dict[object, int] = {}


_unrolled = _Unrolled()


@contextlib.contextmanager
def unrolling(loop: object, turns: int) -> Iterator[None]:
    """Meanwhile a loop is run that comes at most so often to each place in it; it may be entered again, for what is left."""
    is_known = loop in _unrolled.turns
    _unrolled.turns.setdefault(loop, turns)
    try:
        yield
    finally:
        if not is_known:
            del _unrolled.turns[loop]


def _turns() -> int:
    return math.prod(max(turns, 1) for turns in _unrolled.turns.values())


def _appending() -> int:
    """How many places of the running function make a list longer by one element."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    if frame is None:
        return 0
    name, code = frame.f_code.co_qualname, frame.f_code
    while frame is not None:  # blocks have the name of the function that they are pieces of
        code = frame.f_code if frame.f_code.co_qualname == name else code
        frame = frame.f_back
    return _count(code)


def _count(code: types.CodeType) -> int:
    here = sum(instruction.argval in _METHODS for instruction in dis.get_instructions(code))
    return here + sum(_count(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
