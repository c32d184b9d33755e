"""What `while` and `for` do: Python's own loop on plain values, lax.while_loop or lax.scan where traced data decides.

A loop is staged when its condition or an exit depends on traced data, or when it runs over a traced array or a range of a
traced bound. A static range is staged where that changes nothing that plain `jax.jit` would give; else it runs in Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators import aliasing, hooks, impure, iterables, jax_private, lists, reach, state
from autograph_jax.operators.choices import Choice
from autograph_jax.operators.conditionals import unless
from autograph_jax.operators.exits import BREAK, turn_ended
from autograph_jax.operators.fixpoint import settle
from autograph_jax.operators.forms import Static, number_as_array
from autograph_jax.operators.settled import Settled
from autograph_jax.operators.staging import trace
from autograph_jax.operators.values import is_traced, truth

Block = Callable[..., Any]


class _Left:
    """In place of BREAK once a loop has ended by it: its `else` must not run, and nothing else is left."""


_LEFT = _Left()
_HELD_BY_CALL = 4  # references to an iterable that nothing but the `for` holds: the caller's stack and our frames
_UNROLL_LIMIT = 4096  # beyond it, a loop that cannot be staged is an error rather than an hour of tracing


def _nothing(*_: Any) -> None:
    """The body of `for _ in xs: pass`."""


def while_stmt(test: Block, body: Block | None, *names: str, orelse: Block | None = None) -> Any:
    """Run a while loop; `names` are its variables. Gives how it left the block around it: None, or a Return."""
    body = body or _nothing
    functions = (test, body, orelse)
    if jax_private.tracing() and _may_be_traced(hooks.deciding_names(sys._getframe(1)), functions):
        going = _test_apart(test, functions)
        if going:
            exit = _staged_while(test, body, functions, names, must=going is _TRACED)
            if exit is not _PYTHON:
                return _else(exit, orelse, functions, names)
    while True:
        going = test()
        if is_traced(going):  # it became so in the last turn
            return _else(_staged_while(test, body, functions, names, must=True), orelse, functions, names)
        if not lists.truth(going):
            return orelse() if orelse is not None else None
        exit = turn_ended(body())
        if exit is not None:
            go_on = state.standing_for(lambda: while_stmt(test, body, *names, orelse=orelse), test, body, orelse)
            return _leave(exit, go_on, names)


def _may_be_traced(deciding: frozenset[str] | None, functions: tuple[Block | None, ...]) -> bool:
    """Can traced data come to decide about this loop? Where it cannot, nothing is tried out: Python runs each turn once."""
    cells = state.cells_of(functions)
    values = [cell.read() for name, cell in cells.items() if deciding is None or name in deciding]
    return any(map(reach.holds_traced, values))


class _Marker:
    """Answers of the questions below that are no values of the user's; they count as true."""


_TRACED, _PYTHON = _Marker(), _Marker()


def _test_apart(test: Block, functions: tuple[Block | None, ...]) -> Any:
    """The test's value, evaluated apart, so that nothing of it stays behind; _TRACED where it is not known."""
    known: list[Any] = []

    def evaluate() -> Any:
        value = test()
        known.append(_TRACED if is_traced(value) else lists.truth(value))

    trace(evaluate, functions, ())
    return known[0]


def _leave(exit: Any, go_on: Block, names: tuple[str, ...]) -> Any:
    """After a turn in Python that may have left: BREAK ends here, and what is only known at run time decides there."""
    if isinstance(exit, Choice):
        exit = exit.map(lambda option: _LEFT if option is BREAK else option)
        exit = unless(exit, go_on, *names)
        return exit.map(_without_mark) if isinstance(exit, Choice) else _without_mark(exit)
    return None if exit is BREAK else exit


def _without_mark(exit: Any) -> Any:
    return None if exit is _LEFT else exit


def _else(
    exit: Any, orelse: Block | None, functions: tuple[Block | None, ...], names: tuple[str, ...]
) -> Any:
    """The loop's else runs unless it was left; then BREAK has done its work."""
    if isinstance(exit, Choice):
        exit = exit.map(lambda option: _LEFT if option is BREAK else option)
    elif exit is BREAK:
        exit = _LEFT
    if orelse is not None:
        exit = unless(exit, state.standing_for(lambda: orelse(), orelse, *functions), *names)
    state.bind(functions, names)
    return exit.map(_without_mark) if isinstance(exit, Choice) else _without_mark(exit)


# while


def _staged_while(test: Block, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...], *, must: bool) -> Any:
    """Stage a while loop and give its exit. Unless it must be, gives _PYTHON where nothing traced decides about it."""

    def decide() -> Any:
        value = test()
        return truth(value) if is_traced(value) else lists.truth(value)

    try:
        settled = settle(body, functions, names)
        condition = trace(decide, functions, (), settled.inputs)
        if condition.ends:
            return _staged_while_with_test_in_body(decide, body, functions, names, must=must)
    except Exception:
        if must:
            raise
        state.take_escaped()
        return _PYTHON
    if not must and not settled.exits_on_traced() and not settled.is_traced(condition):
        return _PYTHON

    def going(carry: Any) -> jax.Array:
        value, _ = condition(settled.leaves(carry))
        return settled.not_left(carry, value)

    def turn(carry: Any) -> Any:
        active = going(carry) if settled.uses_active else True
        return settled.turn(carry, active=active)

    final = jax.lax.while_loop(_named(test, going), _named(body, turn), settled.start())
    exit = settled.finish(final, turns=not must)
    # `while True:` ends by what its body does, or never.
    return exit.only(_is_exit) if isinstance(exit, Choice) and condition.result == Static(True) else exit


def _is_exit(option: Any) -> bool:
    return option is not None


def _staged_while_with_test_in_body(
    decide: Block, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...], *, must: bool
) -> Any:
    """A loop whose test writes state: it is evaluated where Python does, before the loop and after each turn."""

    def turn_and_test() -> Any:
        exit = turn_ended(body())
        if exit is None:
            return None, decide()
        if not isinstance(exit, Choice):
            return exit, False
        go_on = unless(exit.map(lambda option: None if option is None else _LEFT), again, *names)
        return exit, _went_on(go_on)

    def again() -> tuple[Any]:
        return (decide(),)

    state.standing_for(again, *functions)

    with state.attempt() as attempt:
        first = decide()
        try:
            settled = settle(turn_and_test, functions, names, gives_more=True)
        except Exception:
            if must:
                raise
            state.take_escaped()
            settled = None
        if settled is None or not must and not settled.result_on_traced():
            attempt.give_up()
            return _PYTHON
    return _run_with_going(settled, first, body)


def _went_on(value: Any) -> Any:
    if isinstance(value, Choice):
        taken = value.only(lambda option: isinstance(option, tuple))
        return jnp.logical_and(value.where(lambda option: isinstance(option, tuple)), taken[0])
    return value[0]


def _run_with_going(settled: Settled, first: Any, body: Block) -> Any:
    def going(carry: Any) -> jax.Array:
        return settled.not_left(carry[1], carry[0])

    def turn(carry: Any) -> Any:
        new, (decided,) = settled.turn_with(carry[1], active=carry[0])
        return jnp.asarray(decided, bool), new

    final = jax.lax.while_loop(going, _named(body, turn), (jnp.asarray(first, bool), settled.start()))
    return settled.finish(final[1], turns=False)


# for


def for_stmt(iterable: Any, body: Block | None, *names: str, orelse: Block | None = None) -> Any:
    """Run a for loop; `body` takes the element. Gives how it left the block around it: None, or a Return."""
    body = body or _nothing
    if jax_private.tracing() or isinstance(iterable, iterables.View):
        rows = iterables.view(iterable)
        functions = (body, orelse)
        if rows is not None and _worth_staging(rows, functions):
            if rows is iterable:
                impure.check_loop(iterable, references=_HELD_BY_CALL + 1)
            exit = _staged_for(rows, body, functions, names)
            if exit is not _PYTHON:
                rows.use_up(wholly=exit is None)
                return _else(exit, orelse, functions, names)
    impure.check_loop(iterable, references=_HELD_BY_CALL)
    elements = _rows_in_python(iterable) if isinstance(iterable, jax.Array) else iter(iterable)
    return _python_for(elements, body, names, orelse)


def _rows_in_python(array: jax.Array) -> Iterator[Any]:
    for row in array:
        yield aliasing.view(row, array)


def _python_for(elements: Iterator[Any], body: Block, names: tuple[str, ...], orelse: Block | None) -> Any:
    for element in elements:
        exit = turn_ended(body(element))
        if exit is not None:
            go_on = state.standing_for(lambda: _python_for(elements, body, names, orelse), body, orelse)
            return _leave(exit, go_on, names)
    return orelse() if orelse is not None else None


def _worth_staging(rows: iterables.View, functions: tuple[Block | None, ...]) -> bool:
    """Traced bounds and rows are staged; a static range may be, where its body sees anything traced."""
    if is_traced(rows.length):
        return True
    return rows.length > 1 and (rows.traced_arrays or _may_be_traced(None, functions))


def _staged_for(rows: iterables.View, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...]) -> Any:
    must = is_traced(rows.length)

    def take(index: Any, *slices: Any) -> Any:
        return body(rows.element(index, slices))

    take.__name__, take.__qualname__ = body.__name__, body.__qualname__
    try:
        arguments = [number_as_array(Static(0)), *iterables.row_forms(rows)]
        settled = settle(
            take, functions, names, arguments=arguments, tainted_arguments=rows.traced_arrays, may_grow=not must
        )
    except Exception:
        if must or rows.length > _UNROLL_LIMIT:
            raise
        state.take_escaped()
        return _PYTHON
    if not rows.traced and not settled.exits_on_traced() and not settled.only_traced_state():
        return _PYTHON
    if settled.has_exit or must:
        if settled.growing:
            raise lists.number_unknown("a list")
        return _for_while(rows, settled, body)
    return _for_scan(rows, settled, body)


def _for_scan(rows: iterables.View, settled: Settled, body: Block) -> Any:
    def turn(carry: Any, slices: Any) -> Any:
        index, state_carry = carry
        new, given = settled.turn_with_rows(state_carry, 0 if index is None else index, *slices)
        return (None if index is None else index + 1, new), given

    start = (0 if settled.uses_index else None, settled.start())
    (_, final), given = jax.lax.scan(_named(body, turn), start, rows.arrays, length=rows.length)
    settled.fill_lists(given, rows.length)
    return settled.finish(final, turns=True)


def _for_while(rows: iterables.View, settled: Settled, body: Block) -> Any:
    def going(carry: Any) -> jax.Array:
        index, state_carry = carry
        return settled.not_left(state_carry, index < rows.length)

    def turn(carry: Any) -> Any:
        index, state_carry = carry
        slices = [jax.lax.dynamic_index_in_dim(array, index, keepdims=False) for array in rows.arrays]
        active = going(carry) if settled.uses_active else True
        return index + 1, settled.turn(state_carry, index, *slices, active=active)

    _, final = jax.lax.while_loop(going, _named(body, turn), (0, settled.start()))
    return settled.finish(final, turns=not is_traced(rows.length))


def _named(block: Block, function: Block) -> Block:
    """What lax is handed wears the user's name, so that JAX's messages say where."""
    function.__name__, function.__qualname__ = block.__name__, block.__qualname__
    return function
