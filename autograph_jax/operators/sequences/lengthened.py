"""In ported code, a list that a branch makes longer, `if lb < x < ub: t.append(x)`, becomes one of which a bound is known.

One whose elements are not alike becomes one of several lengths; a deque with a `maxlen` has its bound.
"""

from __future__ import annotations

import collections
import contextlib
import gc
import math
import sys
import threading
import traceback
import types
from collections.abc import Callable, Iterator
from typing import TypeGuard

from autograph_jax.errors import StructureError, is_user_frame
from autograph_jax.operators import hooks
from autograph_jax.operators.sequences import bounded, deques
from autograph_jax.operators.sequences.several import Several
from autograph_jax.operators.tracing import holders, reach, state
from autograph_jax.operators.tracing.bytecode import instructions
from autograph_jax.operators.tracing.cells import cells_of
from autograph_jax.operators.tracing.frame_variables import frame_variables
from autograph_jax.operators.tracing.places import Attribute, Cell, Content

_METHODS = ("append", "insert")
_MOST = 1024  # further elements, where nested loops would make a larger bound
UNKNOWN = 200  # turns of a loop that Python runs, where it is not known how many: more are hardly ever unrolled


AGAIN = object()  # what a trial of blocks gives whose lists are bounded now


class Lists:
    """The lists that blocks make longer, of which one after the other is bounded until the blocks can be traced."""

    def __init__(self, functions: tuple[Callable[..., object] | None, ...]) -> None:
        self._functions = functions
        self._bounded: set[object] = set()  # the places of those that have been

    def are_bounded_now(self, error: Exception, *, open_ended: bool = False) -> bool:
        """Has the list that an error is about been replaced where it is held, so that the blocks can be traced again?

        Variables, attributes and dicts that are known hold it, then, and nothing else. In an `open_ended` loop, of any number
        of turns, `max_len` has to bound it.
        """
        if not isinstance(error, StructureError) or error.grown is None or not hooks.is_porting():
            return False
        if state.traces() and id(error.grown[0]) in state.traces()[-1].older:
            return False  # whoever has made the list will ask again
        (values, longest, are_alike), error.grown = error.grown, None  # where it is made, or never
        if open_ended and are_alike and hooks.max_len() is None and not _has_bound(values):
            return False
        if not (_is_list(values) or _has_bound(values) and are_alike):
            return False
        _clear_frames(error)
        found: list[Holding] = [*_variables(self._functions, values), *_captured(values)]
        found += [*_attributes(values), *_dicts(self._functions, values)]
        places = list({place.key: place for place in found}.values())
        if not places or holders.held_elsewhere(Content(values), *places):
            return False
        if self._bounded.issuperset(place.key for place in places):
            return False  # the blocks put a list of their own there each time
        self._bounded.update(place.key for place in places)
        new = _bounded(values, longest, places[0]) if are_alike else Several(tuple(values))
        for place in places:
            state.write(place, new if not isinstance(place, Content) else _with(place, values, new))
        state.take_escaped()  # the error is over
        return True

    def only_variable(self, error: StructureError, names: tuple[str, ...]) -> Cell | None:
        """The variable, assigned in a branch, that alone holds the list an error is about; None for others."""
        if error.grown is None or not hooks.is_porting():
            return None
        values, longest, are_alike = error.grown
        if not _is_list(values):
            return None
        if state.traces() and id(values) in state.traces()[-1].older:
            return None
        cells = _variables(self._functions, values)
        if len(cells) != 1 or cells[0].name not in names:
            return None
        error.grown = None  # which holds it too
        _clear_frames(error)
        is_held = holders.held_elsewhere(Content(values), *cells)
        error.grown = values, longest, are_alike
        return None if is_held else cells[0]


def _clear_frames(error: BaseException | None) -> None:
    """Let what has failed hold nothing: the variables of ours that have kept the list, and what it held."""
    while error is not None:
        traceback.clear_frames(error.__traceback__)
        error = error.__context__


Values = list[object] | collections.deque[object]


def _is_list(values: object) -> TypeGuard[list[object]]:
    return type(values) is list


def _has_bound(values: object) -> TypeGuard[collections.deque[object]]:
    return type(values) is collections.deque and bool(values.maxlen)


Holding = Cell | Attribute | Content


def _with(holder: Content, values: Values, new: object) -> dict[object, object]:
    """What a dict holds, with another list in place of one."""
    return {key: new if value is values else value for key, value in holder.read().items()}


def _bounded(values: Values, longest: int, place: Holding) -> object:
    if _has_bound(values):
        return deques.of(values)
    capacity = hooks.max_len()
    if capacity is None:
        further = max(_appending(place), longest - len(values)) * _turns()
        capacity = longest + min(further, _MOST)
    try:
        return bounded.of(list(values), [True] * len(values), max(capacity, len(values)))
    except StructureError:
        return Several(tuple(values))


def _variables(functions: tuple[Callable[..., object] | None, ...], values: Values) -> list[Cell]:
    return [cell for cell in cells_of(functions).values() if cell.read() is values]


def _captured(values: Values) -> Iterator[Cell]:
    """A variable of a function around, which the one captures that changes the list."""
    for holder in gc.get_referrers(values):
        if type(holder) is types.CellType:
            yield Cell(holder, _name_of(values))


def _name_of(values: Values) -> str:
    """What a variable that functions capture is called in the frames that are running."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_frame(frame):
            captured = (*frame.f_code.co_cellvars, *frame.f_code.co_freevars)
            variables = frame_variables(frame)
            if (name := next((name for name in captured if variables.get(name) is values), None)) is not None:
                return name
        frame = frame.f_back
    return ""


def _attributes(values: Values) -> Iterator[Attribute]:
    """The attributes of the user's objects that hold a list."""
    for holder in gc.get_referrers(values):
        owners = gc.get_referrers(holder) if type(holder) is dict else [holder]
        for owner in owners:
            if reach.is_record(owner) and (owner is holder or getattr(owner, "__dict__", None) is holder):
                names = reach.attributes(owner)
                yield from (Attribute(owner, name) for name in names if reach.attribute(owner, name, None) is values)


def _dicts(functions: tuple[Callable[..., object] | None, ...], values: Values) -> Iterator[Content]:
    """The dicts in variables of the blocks that hold a list: `history["cost"].append(x)`."""
    for cell in cells_of(functions).values():
        for part in reach.everything(cell.read()):
            if type(part) is dict and any(value is values for value in part.values()):
                yield Content(part)


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


def _appending(place: Holding) -> int:
    """How many places make a list longer by one element: of the running function, or of the methods of its object."""
    if isinstance(place, Attribute):
        members = [member for kind in type(place.target).__mro__ for member in vars(kind).values()]
        return sum(_count(member.__code__) for member in members if isinstance(member, types.FunctionType))
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
    here = sum(instruction.argval in _METHODS for instruction in instructions(code))
    return here + sum(_count(constant) for constant in code.co_consts if isinstance(constant, types.CodeType))
