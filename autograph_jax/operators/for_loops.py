"""What `for` does: Python's own loop on plain values, lax.scan or lax.while_loop over traced ones.

It is staged when an exit depends on traced data, or when it runs over a traced array or a range of a traced bound. A static
range is staged where that changes nothing that plain `jax.jit` would give; else it runs in Python.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import itertools
import operator
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import comprehensions, decisions, hooks, jax_private, markers
from autograph_jax.operators.conditionals import if_stmt
from autograph_jax.operators.exits import BREAK, CONTINUE, turn_ended
from autograph_jax.operators.loops import (
    PYTHON,
    leave,
    left_to_python,
    may_be_traced,
    nothing,
    run_else,
    turn_begun,
)
from autograph_jax.operators.sequences import bounded, iterables, lengthened, lists, overtaken, taking
from autograph_jax.operators.sequences.rows import View, stacked
from autograph_jax.operators.staged_for import FAILED, FEW, FROM_THE_SECOND, Loop, worth_staging
from autograph_jax.operators.tracing import given, holders, impure, reach, state, to_come
from autograph_jax.operators.tracing.cells import standing_for
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import Choice

Block = Callable[..., Any]

_HELD_BY_CALL = 4  # references to an iterable that nothing but the `for` holds: the caller's stack and our frames
_NOTHING = contextlib.nullcontext()
_SEQUENCES = (list, tuple, dict, range, str, set, frozenset, bounded.Bounded)


@given.taker
def for_stmt(iterable: Any, body: Block | None, *names: str, orelse: Block | None = None) -> Any:
    """Run a for loop; `body` takes the element. Gives how it left the block around it: None, or a Return."""
    body = body or nothing
    if isinstance(iterable, markers.Marked):
        return _as_marked(iterable, body, names, orelse)
    iterable = iterables.iterated(iterable)
    if type(iterable) is Choice and all(isinstance(option, _SEQUENCES) for option in iterable._options):
        return _over_one_of(iterable, body, names, orelse)
    arrays = _run_over(iterable)
    orelse = _when_over(orelse, arrays) if orelse is not None and arrays else orelse
    with holders.in_use(arrays, _written_meanwhile) if arrays else _NOTHING:
        if not jax_private.tracing():
            # Python's own loop stands here, and not in a function of its own: deep recursion needs the frames.
            elements = _iterator_over(iterable)
            with to_come.taking(elements):
                for element in elements:
                    exit = body(element)
                    if exit is not None and exit is not CONTINUE:
                        return None if exit is BREAK else exit
            return orelse() if orelse is not None else None
        rows, exit = iterables.view(iterable), None
        if type(iterable) is itertools.count and not impure.is_held(iterable, references=_HELD_BY_CALL - 1):
            rows = iterables.endless(iterable)
        functions = (body, orelse)
        if rows is not None and worth_staging(rows, functions):
            if rows is iterable:
                impure.check_loop(iterable, references=_HELD_BY_CALL + 1)
            exit = Loop(rows, body, names, orelse).staged()
            if exit is FROM_THE_SECOND or exit is FAILED and rows.length > FEW and type(iterable) is range:
                return _from_the_second(Loop(rows, body, names, orelse))
            if exit is not PYTHON and exit is not FAILED:
                rows.end(exit)
                return run_else(_left(rows, exit), orelse, functions, names)
            rows.give_up()
        if rows is None:
            why = f"Python takes the elements of a {type(iterable).__name__} one by one"
            left_to_python(body, why) if may_be_traced(None, functions) else decisions.left_to_python(why)
        elif exit is None:
            decisions.left_to_python("it has one turn, nothing that its body reads is traced, or it reads an iterator")
        impure.check_loop(iterable, references=_HELD_BY_CALL)
        elements = _iterator_over(iterable)
        turns = rows.length if rows is not None and isinstance(rows.length, int) else _hint(elements)
        return _python_for(elements, body, names, orelse, loop=(object(), turns))


def _over_one_of(choice: Choice, body: Block, names: tuple[str, ...], orelse: Block | None) -> Any:
    """A loop over the sequence that traced data has chosen, `for v in (few if x > 0 else many)`: a loop for each of them."""
    run, *others = [
        standing_for(functools.partial(for_stmt, option, body, *names, orelse=orelse), body, orelse)
        for option in choice._options
    ]
    for position, other in enumerate(others, start=1):
        run = standing_for(functools.partial(if_stmt, choice._index == position, other, run, *names), body, orelse)
    return run()


def _left(rows: View, exit: Any) -> Any:
    """How the loop was left: an endless one only by an exit."""
    is_open = isinstance(rows, iterables.Endless) and type(exit) is Choice
    return exit._only(lambda option: option is not None) if is_open else exit


def _when_over(orelse: Block, arrays: Sequence[Any]) -> Block:
    """The `else` of a loop over these arrays, which may write them: it runs when nothing more is taken from them."""

    def run() -> Any:
        with holders.no_longer_in_use(arrays):
            return orelse()

    return standing_for(run, orelse)


def _run_over(iterable: Any) -> Sequence[Any]:
    """The arrays that a loop over this takes its elements of."""
    if isinstance(iterable, jax.Array | np.ndarray):
        return (iterable,)
    return iterable.arrays if isinstance(iterable, View) else ()


def _written_meanwhile() -> AliasError:
    return AliasError(
        "an array is written in place while a loop runs over it",
        location=user_location(),
        help="loop over a variable, whose writes the loop sees: `y = f(x)`, `for v in y: y[i] = v`; or over a copy",
    )


def _as_marked(marked: markers.Marked, body: Block, names: tuple[str, ...], orelse: Block | None) -> Any:
    """A loop over `ag.stage(xs)`, `ag.scan(xs)` or `ag.unroll(xs)`."""
    arrays = _run_over(marked.iterable)
    orelse = _when_over(orelse, arrays) if orelse is not None and arrays else orelse
    with holders.in_use(arrays, _written_meanwhile) if arrays else _NOTHING:
        if marked.how == "unroll" or not jax_private.tracing():
            elements = taking.taken(marked.iterable) if isinstance(marked.iterable, jax.Array) else iter(marked)
            decisions.left_to_python("it is marked: `ag.unroll`")
            return _python_for(elements, body, names, orelse, is_meant=True)
        rows = iterables.view(marked.iterable) if marked.how == "stage" or hasattr(marked.iterable, "shape") else None
        values = list(marked.iterable) if marked.how == "stage" and rows is None else marked.iterable
        rows = stacked(values) if rows is None else rows
        loop = Loop(rows, body, names, orelse, marked.how, marked.options)
        with to_come.taking(iter(values if isinstance(values, list) else ()), is_staged=True):
            exit = loop.staged()
            if exit is FROM_THE_SECOND:
                return _from_the_second(loop)
        rows.end(exit)
        return run_else(exit, orelse, loop.functions, names)


def each(iterable: Any) -> Any:
    """What a `for` of a generator's own runs over: Python takes the elements one by one."""
    impure.check_loop(iterable, references=_HELD_BY_CALL)
    return taking.rows_of(iterable)


def _iterator_over(iterable: Any) -> Iterator[Any]:
    """Python's iterator over this; a generator that a user's `__iter__` gives may read what is written meanwhile."""
    elements = iter(taking.rows_of(iterable))
    return holders.keep_in_view(elements) if type(elements) is types.GeneratorType else elements


def _python_for(
    elements: Iterator[Any],
    body: Block,
    names: tuple[str, ...],
    orelse: Block | None,
    *,
    turns: int = 0,
    is_meant: bool = False,
    loop: tuple[Any, ...] | None = None,
) -> Any:
    loop = loop or (object(), _hint(elements))
    source = elements.unconditional() if isinstance(elements, comprehensions.Kept) else elements
    with to_come.taking(source), lengthened.unrolling(*loop) if hooks.is_porting() else _NOTHING:
        return _turns_in_python(elements, body, names, orelse, turns, is_meant, loop)


def _hint(elements: Iterator[Any]) -> int:
    return operator.length_hint(elements, lengthened.UNKNOWN)


@given.taker
def _turns_in_python(
    elements: Iterator[Any],
    body: Block,
    names: tuple[str, ...],
    orelse: Block | None,
    turns: int,
    is_meant: bool,
    loop: tuple[Any, ...],
) -> Any:
    for element in elements.each() if isinstance(elements, comprehensions.Kept) else elements:
        turns += 1
        lists.check_taken(element)
        decisions.turned(turns) if is_meant else turn_begun(turns, (body, orelse))
        exit = turn_ended(_turn(element, body, names))
        if exit is not None:
            options = {"turns": turns, "is_meant": is_meant, "loop": loop}
            places = overtaken.places(elements) if type(exit) is Choice else []
            overtaken.check_left(places)
            rest = functools.partial(_rest, _again(elements), body, names, orelse, options)
            left = leave(exit, standing_for(lambda rest=rest: rest(), body, orelse), names)
            overtaken.give_up(places, returned=type(exit) is Choice and BREAK not in exit._options)
            return left
    return orelse() if orelse is not None else None


def _rest(
    elements: Callable[[], Iterator[Any]], body: Block, names: tuple[str, ...], orelse: Block | None, options: Any
) -> Any:
    return _python_for(elements(), body, names, orelse, **options)


def _again(elements: Iterator[Any]) -> Callable[[], Iterator[Any]]:
    """The elements that are left, the same each time: a block that takes them may be traced more than once."""
    if objects.has_own(elements, "__next__") and reach.is_record(elements):
        elements = _Begun(elements)
    if isinstance(elements, _Begun):
        return lambda: elements
    if not isinstance(elements, comprehensions.Kept):
        kept = copy.copy(elements) if isinstance(elements, type(iter(()))) else itertools.tee(elements, 1)[0]
        return lambda: copy.copy(kept)
    times = itertools.count()

    def once() -> Iterator[Any]:
        if next(times):
            raise bounded.refused("is taken one by one")
        return elements

    return once


class _Begun:
    """An iterator of a user's class. Where it stands is in its attributes, which are put back; `__iter__` may begin anew."""

    def __init__(self, iterator: Iterator[Any]) -> None:
        self._iterator = iterator

    def __iter__(self) -> _Begun:
        return self

    def __next__(self) -> Any:
        return next(self._iterator)


@given.taker
def _from_the_second(loop: Loop) -> Any:
    """The first turn in Python, the others staged.

    `old = None` before a loop, `if i > 0: y = x / old` in it; `product = 1.0` before `for row in m: product = product * row`.
    """
    rows, body, names, orelse = loop.rows, loop.body, loop.names, loop.orelse
    elements = rows.elements()
    first = next(elements)
    left = _again(elements)
    with state.attempt():  # what it prints is printed when the program runs, as by the other turns
        exit = turn_ended(body(first))
    may_be_left = exit is not None
    rest = loop.rest()

    def go_on() -> Any:
        exit = rest.staged()
        if exit is FROM_THE_SECOND:
            return _from_the_second(rest)
        if exit is PYTHON or exit is FAILED:
            exit = _python_for(left(), body, names, orelse)
            rows.lose()
            return exit
        if not may_be_left:
            rows.end(exit)
        return run_else(exit, orelse, loop.functions, names)

    if not may_be_left:
        return go_on()
    exit = leave(exit, standing_for(go_on, body, orelse), names)
    rows.lose()
    return exit


def _turn(element: Any, body: Block, names: tuple[str, ...]) -> Any:
    """A turn; of a generator expression that keeps its elements by traced data, one under that condition."""
    if not comprehensions.is_open(element):
        return body(element)
    there = element._where(lambda option: option is not comprehensions.SKIP)
    return if_stmt(there, standing_for(lambda: body(comprehensions.only_kept(element)), body), None, *names)
