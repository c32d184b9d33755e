"""The arrays that a generator has given, where nobody knows who holds them: `list(g())`, and g goes on to write one of them.

NumPy's list shows the write. A loop of converted code has what it takes in a variable, which the writer finds; `list`, `[*g()]`
and the like keep it where only Python sees it. A comprehension or `map` is shown each, and keeps what it makes of that.
"""

from __future__ import annotations

import gc
import inspect
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from autograph_jax.errors import AliasError, is_user_frame, user_location
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.bytecode import instruction_at

_DELEGATING = frozenset({"SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT"})
_DEEPEST = 20  # iterators of iterators
_Known = dict[int, weakref.ref[Any]]  # arrays by id


class Given:
    """What one generator has given, as long as somebody has it."""

    is_record = False  # no object of the user's, though one of the user's variables holds it

    def __init__(self) -> None:
        self.kept: _Known = {}
        self.shown: _Known = {}  # to a comprehension or a function, which may keep no more than parts of them

    def add(self, arrays: Iterable[Any], generator: types.FrameType) -> None:
        taking = _taking(generator)
        is_kept = _is_among(generator, _local.kept)
        if not is_kept and _is_of_variable(taking):
            return
        is_shown = not is_kept and (_is_among(generator, _local.passed) or _is_of_comprehension(taking))
        _remember(arrays, self.shown if is_shown else self.kept)
        _local.recording.add(self)

    def check_write(self, written: Iterable[Any], has_views: Callable[[Any], bool]) -> None:
        """The generator goes on, and writes an array, which these show: has it given one of them?"""
        if any(_is_known(array, self.kept) or _is_known(array, self.shown) and has_views(array) for array in written):
            raise AliasError(
                "an array is written in place that the generator has given before",
                location=user_location(),
                help="give a copy each time: `yield x.copy()`",
            )


def _remember(arrays: Iterable[Any], known: _Known) -> None:
    for array in arrays:
        key = id(array)
        known[key] = weakref.ref(array, lambda _, key=key, known=known: known.pop(key, None))


def _is_known(array: Any, known: _Known) -> bool:
    kept = known.get(id(array))
    return kept is not None and kept() is array


def give(given: Given, value: Any) -> Any:
    """`yield x`: remembers the arrays, where it is not known who takes them."""
    if type(value) not in reach.ATOMS and (arrays := _arrays(value)):
        given.add(arrays, sys._getframe(1))
    return value


def collect(value: Any) -> Any:
    """What a comprehension or a function makes of what it is shown, and somebody keeps: maybe that itself."""
    if is_any() and type(value) not in reach.ATOMS:
        for array in _arrays(value):
            for given in _local.recording:
                if _is_known(array, given.shown):
                    _remember([array], given.kept)
    return value


def _arrays(value: Any) -> list[Any]:
    return [array for array in reach.arrays(value) if array.ndim]


def is_any() -> bool:
    """Has any generator that lives given an array to nobody knows whom?"""
    return bool(_local.recording)


def taker(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours that takes elements for a variable of the user's."""
    _takers.add(function.__code__)
    return function


def keep(elements: Any) -> None:
    """What these iterators give is kept, where it cannot be seen."""
    _local.kept.update(_generators_in(elements, 0))


def pass_on(elements: Any) -> None:
    """What these iterators give is handed to a function, and `collect` is asked of what that gives."""
    _local.passed.update(_generators_in(elements, 0))


def _generators_in(elements: Any, depth: int) -> Iterator[types.GeneratorType[Any, Any, Any]]:
    """The generators that an iterator gives the elements of; of `map` and `filter` others see what their function makes."""
    if type(elements) is types.GeneratorType:
        yield elements
    elif depth < _DEEPEST and hasattr(type(elements), "__next__") and type(elements) not in (map, filter):
        for source in gc.get_referents(elements):
            for one in source if type(source) is tuple else (source,):  # `zip` has a tuple of iterators
                yield from _generators_in(one, depth + 1)


def _taking(generator: types.FrameType) -> types.FrameType | None:
    """The frame that takes what a generator gives."""
    taking = generator.f_back
    while taking is not None and taking.f_code.co_flags & inspect.CO_GENERATOR and instruction_at(taking) in _DELEGATING:
        taking = taking.f_back  # it is in a `yield from`
    return taking


def _is_of_variable(taking: types.FrameType | None) -> bool:
    """Does it take that for a variable of the user's: of a loop, of `with`, or what `next` gives?"""
    return taking is None or taking.f_code in _takers or taking.f_globals.get("__name__") == "contextlib"


def _is_of_comprehension(taking: types.FrameType | None) -> bool:
    """Is it a comprehension, or the loop of another generator?"""
    return taking is not None and is_user_frame(taking) and instruction_at(taking) == "FOR_ITER"


def _is_among(generator: types.FrameType, generators: Iterable[Any]) -> bool:
    return any(one.gi_frame is generator for one in generators)


class _Local(threading.local):
    def __init__(self) -> None:
        self.kept: weakref.WeakSet[Any] = weakref.WeakSet()  # generators of which something keeps what they give
        self.passed: weakref.WeakSet[Any] = weakref.WeakSet()  # those that a function is shown the elements of
        self.recording: weakref.WeakSet[Given] = weakref.WeakSet()  # what has been given


_local = _Local()
_takers: set[types.CodeType] = set()  # module state: the code of the functions that take elements for variables
