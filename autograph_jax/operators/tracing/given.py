"""The arrays that a generator has given, where nobody knows who holds them: `list(g())`, and g goes on to write one of them.

NumPy's list shows the write. A loop of converted code has what it takes in a variable, which the writer finds; `list`, `[*g()]`
and the like keep it where only Python sees it.
"""

from __future__ import annotations

import gc
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from autograph_jax.errors import AliasError, is_user_frame, user_location
from autograph_jax.operators.tracing import bytecode, reach

_DELEGATING = frozenset({"SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT"})
_DEEPEST = 20  # iterators of iterators
_Known = dict[int, weakref.ref[Any]]  # arrays by id


class Given:
    """What one generator has given, as long as somebody has it."""

    is_record = False  # holds nothing of the user's: see `reach`

    def __init__(self) -> None:
        self._kept: _Known = {}
        self._seen: _Known = {}  # by a comprehension that keeps no more than parts of them

    def add(self, arrays: Iterable[Any], generator: types.FrameType) -> None:
        if _is_variable(generator):
            return
        known = self._seen if _is_comprehension(generator) else self._kept
        for array in arrays:
            key = id(array)
            known[key] = weakref.ref(array, lambda _, key=key, known=known: known.pop(key, None))
        _recording.add(self)

    def check_write(self, shown: Iterable[Any], has_views: Callable[[Any], bool]) -> None:
        """The generator goes on, and writes an array, which these show: has it given one of them?"""
        if any(_is_among(array, self._kept) or _is_among(array, self._seen) and has_views(array) for array in shown):
            raise AliasError(
                "an array is written in place that the generator has given before",
                location=user_location(),
                help="give a copy each time: `yield x.copy()`",
            )


def _is_among(array: Any, known: _Known) -> bool:
    kept = known.get(id(array))
    return kept is not None and kept() is array


def give(given: Given, value: Any) -> Any:
    """`yield x`: remembers the arrays, where it is not known who takes them."""
    if type(value) not in reach.ATOMS and (arrays := [array for array in reach.arrays(value) if array.ndim]):
        given.add(arrays, sys._getframe(1))
    return value


def is_any() -> bool:
    """Has any generator that lives given an array to nobody knows whom?"""
    return bool(_recording)


def taker(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours that takes elements for a variable of the user's."""
    _takers.add(function.__code__)
    return function


def keep(elements: Any, deepest: int = _DEEPEST) -> None:
    """What these iterators give is kept, where it cannot be seen."""
    if isinstance(elements, types.GeneratorType):
        _kept.add(elements)
    if deepest and hasattr(type(elements), "__next__"):
        for source in gc.get_referents(elements):
            for one in source if type(source) is tuple else (source,):  # `zip` has a tuple of iterators
                if hasattr(type(one), "__next__"):
                    keep(one, deepest - 1)


def _is_variable(generator: types.FrameType) -> bool:
    """Is it a variable of the user's that takes what a generator gives: of a loop, of `with`, or what `next` gives?"""
    taking = _taking(generator)
    is_one = taking is None or taking.f_code in _takers or taking.f_globals.get("__name__") == "contextlib"
    return is_one and not _is_kept(generator)


def _is_comprehension(generator: types.FrameType) -> bool:
    """Takes a comprehension it, or the loop of another generator?"""
    taking = _taking(generator)
    is_one = taking is not None and is_user_frame(taking) and _instruction(taking) == "FOR_ITER"
    return is_one and not _is_kept(generator)


def _taking(generator: types.FrameType) -> types.FrameType | None:
    taking = generator.f_back
    while taking is not None and taking.f_code.co_flags & inspect.CO_GENERATOR and _instruction(taking) in _DELEGATING:
        taking = taking.f_back  # it is in a `yield from`
    return taking


def _is_kept(generator: types.FrameType) -> bool:
    return any(one.gi_frame is generator for one in _kept)


def _instruction(frame: types.FrameType) -> str:
    instructions = bytecode.instructions(frame.f_code)
    return next((one.opname for one in instructions if one.offset == frame.f_lasti), "")


# Module state: the code of the functions that take elements for variables; the generators that something keeps elements of.
_takers: set[types.CodeType] = set()
_kept: weakref.WeakSet[Any] = weakref.WeakSet()
_recording: weakref.WeakSet[Given] = weakref.WeakSet()
