"""A `for` that is to be staged: its body is traced until it settles, and is lax.scan or lax.while_loop; or Python runs it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from autograph_jax.errors import (
    AutographError,
    CollectiveError,
    EscapedTracerError,
    Location,
    StagingError,
    user_location,
)
from autograph_jax.loops.axes import NONE, axes_of
from autograph_jax.loops.lowering import unroll
from autograph_jax.operators import decisions, jax_private, loop_options
from autograph_jax.operators.bounded_loops import not_over, run_while
from autograph_jax.operators.effects import checks
from autograph_jax.operators.loops import (
    PYTHON,
    cannot_be_staged,
    is_strict,
    left_to_python,
    may_be_traced,
    named,
    reads_iterator,
)
from autograph_jax.operators.sequences import iterables, lengthened, lists
from autograph_jax.operators.sequences.rows import Rest, View, row_forms
from autograph_jax.operators.staging.fixpoint import settle
from autograph_jax.operators.staging.settled import Settled
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.places import Content
from autograph_jax.operators.values.forms import Static
from autograph_jax.operators.values.joins import number_as_array
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.numbers import bound_of

Block = Callable[..., Any]

# Beside PYTHON, in place of an exit:
FAILED = object()  # as PYTHON, because the loop cannot be staged as it is
FROM_THE_SECOND = object()  # as PYTHON for the first turn: what it leaves can be staged

FEW = 8  # turns that are as well unrolled
_MOST_BEFORE = 4  # turns that Python runs before the others are staged: `older, old = old, row` takes two
_UNROLL_LIMIT = 4096  # beyond it, a loop that cannot be staged is an error rather than an hour of tracing
_NOT_PUT_RIGHT = (CollectiveError, EscapedTracerError)  # by a loop that Python runs


def worth_staging(rows: View, functions: tuple[Block | None, ...]) -> bool:
    """Traced bounds and rows are staged; a static range may be, where its body sees anything traced."""
    if is_traced(rows.length):
        return True
    if rows.length <= 1 or reads_iterator(functions):
        return False
    return bool(rows.traced_arrays) or may_be_traced(None, functions)


@dataclasses.dataclass(frozen=True)
class Loop:
    """A `for` over a view; marked "stage" or "scan", by `how`, it is no loop of Python's. That has run the turns `before`."""

    rows: View
    body: Block
    names: tuple[str, ...]
    orelse: Block | None
    how: str = ""
    options: loop_options.Options = loop_options.NONE
    before: int = 0

    @property
    def functions(self) -> tuple[Block | None, ...]:
        return self.body, self.orelse

    @property
    def _is_of_traced_length(self) -> bool:
        return is_traced(self.rows.length)

    @property
    def _may_be_pythons(self) -> bool:
        """May Python run it, if it cannot be staged?"""
        if self._is_of_traced_length or self.how:
            return False
        return self.rows.length <= _UNROLL_LIMIT or isinstance(self.rows, iterables.Endless)

    def rest(self) -> Loop:
        """The loop after its first turn."""
        return dataclasses.replace(self, rows=Rest(self.rows), before=self.before + 1)

    def staged(self) -> Any:
        """Stage it and give its exit; or PYTHON, FAILED or FROM_THE_SECOND."""
        if self.before and self.rows.length == 0:
            return None
        grown = lengthened.Lists(self.functions)
        while (exit := self._staged(grown)) is lengthened.AGAIN:
            pass
        return exit

    def _staged(self, grown: lengthened.Lists) -> Any:
        began = decisions.clock()
        try:
            settled = self._settled()
        except AutographError as error:
            if _are_bounded_now(error, grown, self.rows.length):
                return lengthened.AGAIN
            if not self._may_be_pythons or is_strict(self.body) or isinstance(error, _NOT_PUT_RIGHT):
                raise
            return _failed(error)
        except Exception as error:
            if self.how or is_strict(self.body):
                raise cannot_be_staged(error) from error
            if not self._may_be_pythons:
                raise
            return _failed(error)
        if (other := self._not_staged(settled)) is not settled:
            return other
        if settled.growing and self._may_end_early(settled):
            if _bounded_now(settled, grown, self.rows.length):
                return lengthened.AGAIN
            raise lists.number_unknown("a list")
        return self._run(settled, began)

    def _settled(self) -> Settled:
        rows, body = self.rows, self.body

        def take(index: Any, *slices: Any) -> Any:
            exit = body(rows.element(index, slices))
            rows.turn_over()
            return exit

        rows.begin((body,))
        take.__name__, take.__qualname__ = body.__name__, body.__qualname__
        arguments = [number_as_array(Static(0)), *row_forms(rows)]
        axes = axes_of(rows.length) if self._is_of_traced_length else NONE
        grows = 0 if self._is_of_traced_length else max(rows.length, 1)
        given = {"arguments": arguments, "tainted_arguments": rows.traced_arrays, "over": rows.sources()}
        settled = settle(take, self.functions, self.names, **given, may_grow=grows, axes=axes, may_wait=True)
        settled.count_to(None if isinstance(rows, iterables.Endless) else rows.length)
        return settled

    def _not_staged(self, settled: Settled) -> Any:
        """What is to be done in place of staging it; if nothing, what has settled."""
        tells_numbers = not self._is_of_traced_length and self.how != "scan" and settled.tells_numbers()
        if not self._is_of_traced_length and self.rows.length == 0 and (settled.has_exit or tells_numbers):
            return None
        if tells_numbers and self._may_begin_in_python:
            decisions.left_to_python("a number that it begins with becomes an array in its first turn")
            return FROM_THE_SECOND
        if tells_numbers and self._may_be_pythons:
            why = "a number that it begins with becomes an array"
        elif (why := self._why_not_staged(settled)) is None:
            return settled
        left_to_python(self.body, why)
        return PYTHON

    @property
    def _may_begin_in_python(self) -> bool:
        is_worth_it = bool(self.how) or is_strict(self.body) or self.rows.length > FEW
        return is_worth_it and self.rows.can_begin_late and self.before < _MOST_BEFORE

    def _why_not_staged(self, settled: Settled) -> str | None:
        """Why Python had better run a loop that could be staged; an error, where that would take it too long."""
        rows, how = self.rows, self.how
        if isinstance(rows, iterables.Endless) and not settled.exits_on_traced():
            return "Python knows when it ends"
        if not how and not rows.traced and not settled.exits_on_traced() and not settled.only_traced_state():
            return "a Python number is computed along the way, which would be rounded or overflow when staged"
        if self._is_of_traced_length:
            return None
        is_short = rows.length <= _UNROLL_LIMIT
        if not how and settled.reads_by_counter(of_numpys=is_short):
            return "it looks something up by its counter, or asks for its class, which Python knows and a staged loop does not"
        if (equation := settled.overflowing(in_branches=is_short)) is None:
            return None
        if how or not is_short:
            raise _no_room(equation)
        return "an integer is computed from its counter, which would overflow when staged"

    def _may_end_early(self, settled: Settled) -> bool:
        return settled.has_exit or self._is_of_traced_length or settled.is_caught

    def _run(self, settled: Settled, began: float) -> Any:
        rows, options = self.rows, self.options
        if settled.is_provisional:
            return settled.finish_provisionally()
        if self._may_end_early(settled):
            if self.how == "scan":
                raise _no_scan()
            around = loop_options.current()
            if not self._is_of_traced_length:
                around = dataclasses.replace(around, max_steps=None)
            settled.tell("while", since=began)
            return _for_while(rows, settled, self.body, options.over(around))
        if options.max_steps is not None and rows.length > options.max_steps:
            raise checks.raised(not_over(options.max_steps))
        settled.tell("scan", turns=rows.length, since=began)
        return _for_scan(rows, settled, self.body)


def _failed(error: Exception) -> Any:
    """Python runs a loop whose body cannot be traced."""
    what = error.what if isinstance(error, AutographError) else str(error).partition(chr(10))[0]
    decisions.left_to_python(f"tracing its body raised {type(error).__name__}: {what}")
    state.take_escaped()
    return FAILED


def _bounded_now(settled: Settled, grown: lengthened.Lists, turns: Any) -> bool:
    """Are the lists that a turn makes longer such now of which a bound is known, by that of the turns or `max_len`?"""
    for place in settled.places:
        if place.key in settled.growing:
            values = place.target if isinstance(place, Content) else place.read()
            error = lists.number_unknown("a list")
            error.grown = values, len(values), True
            if not _are_bounded_now(error, grown, turns):
                return False
    return True


def _are_bounded_now(error: Exception, grown: lengthened.Lists, turns: Any) -> bool:
    most = bound_of(turns) if is_traced(turns) else turns
    if most is None:
        return grown.are_bounded_now(error, open_ended=True)
    with lengthened.unrolling(object(), most):
        return grown.are_bounded_now(error)


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
        return (None if index is None else jax.lax.add(index, 1), new, reads), given

    start = (0 if settled.uses_index else None, settled.start(), settled.only_read())
    unrolled = unroll(loop_options.current().optimizations)
    with decisions.scope("for"):
        (_, final, _), given = jax.lax.scan(named(body, turn), start, rows.arrays, length=rows.length, unroll=unrolled)
    return settled.finish(final, turns=True, lists=settled.fill_lists(given, rows.length))


def _for_while(rows: View, settled: Settled, body: Block, options: loop_options.Options) -> Any:
    bound = None if is_traced(rows.length) else rows.length

    def going(carry: Any) -> jax.Array:
        index, state_carry = carry
        is_there = jax.lax.lt(index, bound) if bound is not None else index < rows.length
        return settled.not_left(state_carry, is_there, ends=True)

    def turn(carry: Any) -> Any:
        index, state_carry = carry
        slices = [jax.lax.dynamic_index_in_dim(array, index, keepdims=False) for array in rows.arrays]
        active = going(carry) if settled.uses_active else True
        return jax.lax.add(index, 1), settled.turn(state_carry, index, *slices, active=active)

    with decisions.scope("for"):
        _, final = run_while(going, named(body, turn), (0, settled.start()), options, bound=bound)
    return settled.finish(final, turns=bound is not None)
