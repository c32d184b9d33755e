"""The arrays that a generator has given, where nobody knows who holds them: `list(g())`, and g goes on to write one of them.

NumPy's list shows the write. A loop of converted code has what it takes in a variable, which the writer finds, and a
comprehension has it `collected`; `list`, `[*g()]` and the like keep it where only Python sees it. Another generator or `map`
is shown each, and gives what it makes of that.
"""

from __future__ import annotations

import functools
import gc
import inspect
import itertools
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax

from autograph_jax.errors import AliasError, is_user_frame, user_location
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.bytecode import instruction_at

_DELEGATING = frozenset({"SEND", "YIELD_VALUE", "RESUME", "JUMP_BACKWARD_NO_INTERRUPT"})
_DEEPEST = 20  # iterators of iterators
_Known = dict[int, weakref.ref[Any]]  # arrays and objects by id


class Given:
    """What one generator has given, as long as somebody has it; and what it may have yet to take."""

    is_record = False  # no object of the user's, though one of the user's variables holds it

    def __init__(self, left: Iterator[Any] | None = None) -> None:
        self.kept: _Known = {}
        self.shown: _Known = {}  # to a comprehension or a function, which may keep no more than parts of them
        self.left = left  # where there may be arrays in it
        if left is not None:
            _local.recording.add(self)

    def add(self, values: Sequence[Any], generator: types.FrameType) -> None:
        taking = _taking(generator)
        if self._is_among(generator, _local.kept):
            is_shown = False
        elif _is_of_variable(taking):
            return
        else:
            is_shown = self._is_among(generator, _local.passed) or _is_of_loop(taking)
        if not is_shown:
            _keep_shown(values)
        _remember(values, self.shown if is_shown else self.kept)
        _local.recording.add(self)

    def _is_among(self, generator: types.FrameType, givers: Iterable[Any]) -> bool:
        return any(one is self or getattr(one, "gi_frame", None) is generator for one in givers)

    def check_write(self, written: Sequence[Any], has_views: Callable[[Any], bool], skip: reach.Skip) -> None:
        """The generator goes on, and writes an array, which these show: has it given one of them? Not at places to `skip`."""
        known = frozenset(map(id, written))
        objects = [one for kept in list(self.kept.values()) if not isinstance(one := kept(), jax.Array)]
        if (
            any(_is_known(array, self.kept) or _is_known(array, self.shown) and has_views(array) for array in written)
            or objects
            and reach.any_holds(objects, lambda part: id(part) in known, skip=skip)
        ):
            raise AliasError(
                "an array is written in place that the generator has given before",
                location=user_location(),
                help="give a copy each time: `yield x.copy()`",
            )


def _remember(values: Iterable[Any], known: _Known) -> None:
    for value in values:
        known[id(value)] = weakref.ref(value, functools.partial(_forget, known, id(value)))


def _forget(known: _Known, key: int, _: Any) -> None:
    known.pop(key, None)


def _is_known(array: Any, known: _Known) -> bool:
    kept = known.get(id(array))
    return kept is not None and kept() is array


def give(given: Given, value: Any) -> Any:
    """`yield x`: remembers the arrays, where it is not known who takes them."""
    if type(value) not in reach.ATOMS and (values := _kept_in(value)):
        given.add(values, sys._getframe(1))
    return value


def mapped(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `map`, which gives what that makes of each element."""
    given = Given()

    def run(*arguments: Any, **keywords: Any) -> Any:
        return give(given, function(*arguments, **keywords))

    functools.update_wrapper(run, function)
    _functions.add(run.__code__)
    run.__dict__["given"] = given
    return run


def by_users(elements: Any) -> Any:
    """What a class of the user's gives the elements of, by `__next__` or `__getitem__`, which give as a generator does."""
    kind = type(elements)
    if reach.is_foreign(kind):
        return elements
    if _is_users(kind, "__next__"):
        return _each(elements)
    if _is_users(kind, "__iter__"):
        return own if (own := iter(elements)) is elements else by_users(own)
    return _each(elements) if not hasattr(kind, "__iter__") and _is_users(kind, "__getitem__") else elements


def _is_users(kind: type, name: str) -> bool:
    """Has a class this method from a user's class? Not from one of ours, as classes of NumPy's array have in ported code."""
    method = getattr(kind, name, None)
    return isinstance(method, types.FunctionType) and not reach.is_foreign(method)


def _each(elements: Iterable[Any]) -> Iterator[Any]:
    given = Given()
    for element in elements:
        yield give(given, element)


def made(value: Any) -> Any:
    """What a function makes of what it is shown, and somebody keeps: maybe that itself."""
    if is_any() and type(value) not in reach.ATOMS:
        _keep_shown(_kept_in(value))
    return value


def _keep_shown(values: Iterable[Any]) -> None:
    for value in values:
        for given in list(_local.recording):
            if _is_known(value, given.shown):
                _remember([value], given.kept)


def may_give(code: types.CodeType) -> bool:
    """May a variable of this function be what it has given?"""
    return bool(code.co_flags & inspect.CO_GENERATOR) or code in _functions


def _kept_in(value: Any) -> list[Any]:
    """The arrays in what is given, and objects of users', in which are those that they hold then."""
    found: list[Any] = []
    known, pending = set[int](), [value]
    for one in pending:  # which grows
        if type(one) in reach.ATOMS or id(one) in known:
            continue
        known.add(id(one))
        if reach.is_plain(one) and isinstance(one, jax.Array):
            found += [one] if one.ndim else []
        elif reach.is_record(one) and type(one).__weakrefoffset__:
            found.append(one)
        elif type(one) in (tuple, list, dict):
            pending += one.values() if type(one) is dict else one
        else:
            found += (array for array in reach.arrays(one) if array.ndim)
    return found


def is_any() -> bool:
    """Has any generator that lives given an array to nobody knows whom, or one yet to take?"""
    return bool(_local.recording)


def taker(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours that takes elements for a variable of the user's."""
    _takers.add(function.__code__)
    return function


def passing_on(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of ours that takes elements and gives them as they are."""
    _passing_on.add(function.__code__)
    return function


def keep(*iterators: Any) -> None:
    """What these give is kept, where it cannot be seen."""
    for elements in iterators:
        _local.kept.update(_givers_in(elements, 0))


def pass_on(elements: Any) -> None:
    """What an iterator gives is handed to a function, and `made` is told what that gives."""
    _local.passed.update(_givers_in(elements, 0))


def _givers_in(elements: Any, depth: int) -> Iterator[Any]:
    """The generators that an iterator gives the elements of, and what `map` notes of those that its function makes.

    What `accumulate` gives are sums, but for the first, which `taking` knows about.
    """
    if type(elements) is types.GeneratorType:
        yield elements
    elif type(elements) is map:
        state: Any = elements.__reduce__()[1]  # the function, and iterators
        yield from (state[0].given,) if getattr(state[0], "__code__", None) in _functions else ()
    elif depth < _DEEPEST and hasattr(type(elements), "__next__") and type(elements) is not itertools.accumulate:
        for source in _sources(elements):
            yield from _givers_in(source, depth + 1)


def _sources(elements: Any) -> Iterator[Any]:
    for source in gc.get_referents(elements):
        yield from source if type(source) is tuple else (source,)  # `zip` has a tuple of iterators


def _taking(generator: types.FrameType) -> types.FrameType | None:
    """The frame that takes what a generator gives."""
    taking = generator.f_back
    while taking is not None and (taking.f_code in _passing_on or _delegates(taking)):
        taking = taking.f_back
    return taking


def _delegates(frame: types.FrameType) -> bool:
    """Is it in a `yield from`?"""
    return bool(frame.f_code.co_flags & inspect.CO_GENERATOR) and instruction_at(frame) in _DELEGATING


def _is_of_variable(taking: types.FrameType | None) -> bool:
    """Does it take that for a variable of the user's: of a loop, of `with`, or what `next` gives?"""
    return taking is None or taking.f_code in _takers or taking.f_globals.get("__name__") == "contextlib"


def _is_of_loop(taking: types.FrameType | None) -> bool:
    """Is it a comprehension, or the loop of another generator?"""
    return taking is not None and is_user_frame(taking) and instruction_at(taking) == "FOR_ITER"


class _Local(threading.local):
    def __init__(self) -> None:
        # Generators, and what those of `map` have given:
        self.kept: weakref.WeakSet[Any] = weakref.WeakSet()  # something keeps what they give
        self.passed: weakref.WeakSet[Any] = weakref.WeakSet()  # a function is shown that
        self.recording: weakref.WeakSet[Given] = weakref.WeakSet()  # what has been given


_local = _Local()
# Module state: the code of the functions that take elements for variables, that pass them on, and that of those of `map`.
_takers: set[types.CodeType] = set()
_passing_on: set[types.CodeType] = set()
_functions: set[types.CodeType] = set()
