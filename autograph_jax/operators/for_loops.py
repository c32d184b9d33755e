"""What `for` does: Python's own loop on plain values, lax.scan or lax.while_loop over traced ones.

It is staged when an exit depends on traced data, or when it runs over a traced array or a range of a traced bound. A static
range is staged where that changes nothing that plain `jax.jit` would give; else it runs in Python.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import functools
import itertools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.errors import (
    AliasError,
    AutographError,
    CollectiveError,
    EscapedTracerError,
    Location,
    StagingError,
    user_location,
)
from autograph_jax.loops.axes import NONE, axes_of
from autograph_jax.loops.lowering import unroll
from autograph_jax.operators import comprehensions, decisions, hooks, jax_private, loop_options, markers
from autograph_jax.operators.bounded_loops import not_over, run_while
from autograph_jax.operators.conditionals import if_stmt
from autograph_jax.operators.effects import checks
from autograph_jax.operators.exits import BREAK, CONTINUE, turn_ended
from autograph_jax.operators.loops import (
    PYTHON,
    cannot_be_staged,
    is_strict,
    leave,
    left_to_python,
    may_be_traced,
    named,
    nothing,
    reads_iterator,
    run_else,
    turn_begun,
)
from autograph_jax.operators.sequences import bounded, iterables, lengthened, lists, overtaken, taking
from autograph_jax.operators.sequences.rows import Rest, View, row_forms, stacked
from autograph_jax.operators.staging.fixpoint import settle
from autograph_jax.operators.staging.settled import Settled
from autograph_jax.operators.tracing import holders, impure, reach, state
from autograph_jax.operators.tracing.cells import standing_for
from autograph_jax.operators.tracing.places import Content
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.forms import Static
from autograph_jax.operators.values.joins import number_as_array
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.numbers import bound_of

Block = Callable[..., Any]

_HELD_BY_CALL = 4  # references to an iterable that nothing but the `for` holds: the caller's stack and our frames
_NOTHING = contextlib.nullcontext()
_UNROLL_LIMIT = 4096  # beyond it, a loop that cannot be staged is an error rather than an hour of tracing


def for_stmt(iterable: Any, body: Block | None, *names: str, orelse: Block | None = None) -> Any:
    """Run a for loop; `body` takes the element. Gives how it left the block around it: None, or a Return."""
    body = body or nothing
    if isinstance(iterable, markers.Marked):
        return _as_marked(iterable, body, names, orelse)
    arrays = _run_over(iterable)
    orelse = _when_over(orelse, arrays) if orelse is not None and arrays else orelse
    with holders.in_use(arrays, _written_meanwhile) if arrays else _NOTHING:
        if not jax_private.tracing():
            # Python's own loop stands here, and not in a function of its own: deep recursion needs the frames.
            for element in taking.taken(iterable):
                exit = body(element)
                if exit is not None and exit is not CONTINUE:
                    return None if exit is BREAK else exit
            return orelse() if orelse is not None else None
        rows, exit = iterables.view(iterable), None
        if type(iterable) is itertools.count and not impure.is_held(iterable, references=_HELD_BY_CALL - 1):
            rows = iterables.endless(iterable)
        functions = (body, orelse)
        if rows is not None and _worth_staging(rows, functions):
            if rows is iterable:
                impure.check_loop(iterable, references=_HELD_BY_CALL + 1)
            exit = _staged_for(rows, body, functions, names)
            if exit is _FROM_THE_SECOND or exit is _FAILED and rows.length > _FEW and type(iterable) is range:
                return _staged_from_the_second(rows, body, names, orelse)
            if exit is not PYTHON and exit is not _FAILED:
                rows.end(exit)
                return run_else(_left(rows, exit), orelse, functions, names)
            rows.give_up()
        if rows is None:
            why = f"Python takes the elements of a {type(iterable).__name__} one by one"
            left_to_python(body, why) if may_be_traced(None, functions) else decisions.left_to_python(why)
        elif exit is None:
            decisions.left_to_python("it has one turn, nothing that its body reads is traced, or it reads an iterator")
        impure.check_loop(iterable, references=_HELD_BY_CALL)
        elements = iter(taking.taken(iterable))
        return _python_for(elements, body, names, orelse)


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
    if marked.how == "unroll" or not jax_private.tracing():
        elements = taking.taken(marked.iterable) if isinstance(marked.iterable, jax.Array) else iter(marked)
        decisions.left_to_python("it is marked: `ag.unroll`")
        return _python_for(elements, body, names, orelse, is_meant=True)
    rows = iterables.view(marked.iterable) if marked.how == "stage" or hasattr(marked.iterable, "shape") else None
    if rows is None:
        rows = stacked(list(marked.iterable) if marked.how == "stage" else marked.iterable)
    functions = (body, orelse)
    exit = _staged_for(rows, body, functions, names, how=marked.how, options=marked.options)
    if exit is _FROM_THE_SECOND:
        return _staged_from_the_second(rows, body, names, orelse, how=marked.how, options=marked.options)
    rows.end(exit)
    return run_else(exit, orelse, functions, names)


def each(iterable: Any) -> Any:
    """What a `for` of a generator's own runs over: Python takes the elements one by one."""
    impure.check_loop(iterable, references=_HELD_BY_CALL)
    return taking.taken(iterable)


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
    loop = loop or (object(), operator.length_hint(elements, 1))
    with lengthened.unrolling(*loop) if hooks.is_porting() else _NOTHING:
        return _turns_in_python(elements, body, names, orelse, turns, is_meant, loop)


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
        kept = itertools.tee(elements, 1)[0]
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


def _staged_from_the_second(
    rows: View,
    body: Block,
    names: tuple[str, ...],
    orelse: Block | None,
    *,
    how: str = "",
    options: loop_options.Options = loop_options.NONE,
    before: int = 0,
) -> Any:
    """The first turn in Python, the others staged, after so many `before`.

    `old = None` before a loop, `if i > 0: y = x / old` in it; `product = 1.0` before `for row in m: product = product * row`.
    """
    functions = (body, orelse)
    elements = rows.elements()
    first = next(elements)
    left = _again(elements)
    with state.attempt():  # what it prints is printed when the program runs, as by the other turns
        exit = turn_ended(body(first))
    may_be_left = exit is not None
    rest = Rest(rows)

    def go_on() -> Any:
        exit = _staged_for(rest, body, functions, names, how=how, options=options, before=before + 1)
        if exit is _FROM_THE_SECOND:
            return _staged_from_the_second(rest, body, names, orelse, how=how, options=options, before=before + 1)
        if exit is PYTHON or exit is _FAILED:
            exit = _python_for(left(), body, names, orelse)
            rows.lose()
            return exit
        if not may_be_left:
            rest.end(exit)
        return run_else(exit, orelse, functions, names)

    if not may_be_left:
        return go_on()
    exit = leave(exit, standing_for(go_on, body, orelse), names)
    rows.lose()
    return exit


_FAILED = object()  # as PYTHON, because the loop cannot be staged as it is
_FROM_THE_SECOND = object()  # as PYTHON for the first turn: what it leaves can be staged
_FEW = 8  # turns that are as well unrolled
_MOST_BEFORE = 4  # turns that Python runs before the others are staged: `older, old = old, row` takes two


def _turn(element: Any, body: Block, names: tuple[str, ...]) -> Any:
    """A turn; of a generator expression that keeps its elements by traced data, one under that condition."""
    if not comprehensions.is_open(element):
        return body(element)
    there = element._where(lambda option: option is not comprehensions.SKIP)
    return if_stmt(there, standing_for(lambda: body(comprehensions.only_kept(element)), body), None, *names)


def _worth_staging(rows: View, functions: tuple[Block | None, ...]) -> bool:
    """Traced bounds and rows are staged; a static range may be, where its body sees anything traced."""
    if is_traced(rows.length):
        return True
    if rows.length <= 1 or reads_iterator(functions):
        return False
    return bool(rows.traced_arrays) or may_be_traced(None, functions)


_NOT_PUT_RIGHT = (CollectiveError, EscapedTracerError)  # by a loop that Python runs


def _staged_for(
    rows: View,
    body: Block,
    functions: tuple[Block | None, ...],
    names: tuple[str, ...],
    *,
    how: str = "",
    options: loop_options.Options = loop_options.NONE,
    before: int = 0,
) -> Any:
    """Stage a for loop and give its exit; PYTHON where Python had better run it, unless `how` ("stage", "scan") says no.

    So many turns `before` have been run by Python.
    """
    traced_length, began = is_traced(rows.length), decisions.clock()
    must = traced_length or bool(how)
    if before and rows.length == 0:
        return None
    too_long = not traced_length and rows.length > _UNROLL_LIMIT and not isinstance(rows, iterables.Endless)

    def take(index: Any, *slices: Any) -> Any:
        exit = body(rows.element(index, slices))
        rows.turn_over()
        return exit

    rows.begin((body,))
    take.__name__, take.__qualname__ = body.__name__, body.__qualname__
    try:
        arguments = [number_as_array(Static(0)), *row_forms(rows)]
        axes = axes_of(rows.length) if traced_length else NONE
        grows = 0 if traced_length else max(rows.length, 1)
        given = {"arguments": arguments, "tainted_arguments": rows.traced_arrays, "over": rows.sources()}
        settled = settle(take, functions, names, **given, may_grow=grows, axes=axes)
    except AutographError as error:
        if _is_bounded_now(error, functions, rows.length):
            return _staged_for(rows, body, functions, names, how=how, options=options, before=before)
        if must or too_long or is_strict(body) or isinstance(error, _NOT_PUT_RIGHT):
            raise
        _tell_failed(error)
        state.take_escaped()
        return _FAILED
    except Exception as error:
        if how or is_strict(body):
            raise cannot_be_staged(error) from error
        if must or too_long:
            raise
        _tell_failed(error)
        state.take_escaped()
        return _FAILED
    settled.count_to(None if isinstance(rows, iterables.Endless) else rows.length)
    if not traced_length and rows.length == 0 and (settled.has_exit or settled.tells_numbers()):
        return None
    if how != "scan" and not traced_length and settled.tells_numbers():
        if rows.can_begin_late and before < _MOST_BEFORE and (how or is_strict(body) or rows.length > _FEW):
            decisions.left_to_python("a number that it begins with becomes an array in its first turn")
            return _FROM_THE_SECOND
        if not must and not too_long:
            left_to_python(body, "a number that it begins with becomes an array")
            return PYTHON
    if (why := _why_not_staged(rows, settled, how)) is not None:
        left_to_python(body, why)
        return PYTHON
    if settled.has_exit or traced_length or settled.is_caught:
        if settled.growing and _bounded_now(settled, functions, rows.length):
            return _staged_for(rows, body, functions, names, how=how, options=options, before=before)
        if settled.growing:
            raise lists.number_unknown("a list")
        if how == "scan":
            raise _no_scan()
        around = loop_options.current()
        if not traced_length:
            around = dataclasses.replace(around, max_steps=None)
        settled.tell("while", since=began)
        return _for_while(rows, settled, body, options.over(around))
    if options.max_steps is not None and rows.length > options.max_steps:
        raise checks.raised(not_over(options.max_steps))
    settled.tell("scan", turns=rows.length, since=began)
    return _for_scan(rows, settled, body)


def _why_not_staged(rows: View, settled: Settled, how: str) -> str | None:
    """Why Python had better run a loop that could be staged; an error, where that would take it too long."""
    if isinstance(rows, iterables.Endless) and not settled.exits_on_traced():
        return "Python knows when it ends"
    if not how and not rows.traced and not settled.exits_on_traced() and not settled.only_traced_state():
        return "a Python number is computed along the way, which would be rounded or overflow when staged"
    if is_traced(rows.length):
        return None
    is_short = rows.length <= _UNROLL_LIMIT
    if not how and settled.reads_by_counter(of_numpys=is_short):
        return "it looks something up by its counter, or asks for its class, which Python knows and a staged loop does not"
    if (equation := settled.overflowing(in_branches=is_short)) is None:
        return None
    if how or not is_short:
        raise _no_room(equation)
    return "an integer is computed from its counter, which would overflow when staged"


def _bounded_now(settled: Settled, functions: tuple[Block | None, ...], turns: Any) -> bool:
    """Are the lists that a turn makes longer such now of which a bound is known, by that of the turns or `max_len`?"""
    for place in settled.places:
        if place.key in settled.growing:
            values = place.target if isinstance(place, Content) else place.read()
            error = lists.number_unknown("a list")
            error.grown = values, len(values), True
            if not _is_bounded_now(error, functions, turns):
                return False
    return True


def _is_bounded_now(error: Exception, functions: tuple[Block | None, ...], turns: Any) -> bool:
    most = bound_of(turns) if is_traced(turns) else turns
    if most is None:
        return lengthened.is_bounded_now(error, functions, open_ended=True)
    with lengthened.unrolling(object(), most):
        return lengthened.is_bounded_now(error, functions)


def _tell_failed(error: Exception) -> None:
    what = error.what if isinstance(error, AutographError) else str(error).partition(chr(10))[0]
    decisions.left_to_python(f"tracing its body raised {type(error).__name__}: {what}")


def _no_room(equation: Any) -> StagingError:
    dtype, places = equation.outvars[0].aval.dtype, jax_private.user_frames(equation)
    return StagingError(
        f"an integer that is computed from a loop's counter may have no room in {dtype}",
        location=Location(places[0][0], places[0][2], function=places[0][1]) if places else user_location(),
        details=["Python's integers have no end, those of a compiled program do."],
        help="compute in floats, `float(i)`; or with 64 bits: `jax.config.update('jax_enable_x64', True)`",
    )


def _no_scan() -> StagingError:
    return StagingError(
        "a loop over `ag.scan` may be left early, or its number of turns is only known at run time",
        location=user_location(),
        help="loop over `ag.stage(xs)`, which may become a while loop; or let all turns run, and choose by `jnp.where`",
    )


def _for_scan(rows: View, settled: Settled, body: Block) -> Any:
    def turn(carry: Any, slices: Any) -> Any:
        index, state_carry, reads = carry
        new, reads, given = settled.turn_with_rows(state_carry, reads, 0 if index is None else index, *slices)
        return (None if index is None else index + 1, new, reads), given

    start = (0 if settled.uses_index else None, settled.start(), settled.only_read())
    unrolled = unroll(loop_options.current().optimizations)
    with decisions.scope("for"):
        (_, final, _), given = jax.lax.scan(named(body, turn), start, rows.arrays, length=rows.length, unroll=unrolled)
    return settled.finish(final, turns=True, lists=settled.fill_lists(given, rows.length))


def _for_while(rows: View, settled: Settled, body: Block, options: loop_options.Options) -> Any:
    def going(carry: Any) -> jax.Array:
        index, state_carry = carry
        return settled.not_left(state_carry, index < rows.length, ends=True)

    def turn(carry: Any) -> Any:
        index, state_carry = carry
        slices = [jax.lax.dynamic_index_in_dim(array, index, keepdims=False) for array in rows.arrays]
        active = going(carry) if settled.uses_active else True
        return index + 1, settled.turn(state_carry, index, *slices, active=active)

    bound = None if is_traced(rows.length) else rows.length
    with decisions.scope("for"):
        _, final = run_while(going, named(body, turn), (0, settled.start()), options, bound=bound)
    return settled.finish(final, turns=bound is not None)
