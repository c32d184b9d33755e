"""What `while` does: Python's own loop on plain values, lax.while_loop where traced data decides.

It is staged when its condition or an exit depends on traced data, now or after some turns in Python.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp

from autograph_jax.errors import EscapedTracerError
from autograph_jax.loops.axes import NONE, axes_of
from autograph_jax.operators import decisions, hooks, jax_private, loop_options
from autograph_jax.operators.bounded_loops import not_over, run_while
from autograph_jax.operators.conditionals import unless
from autograph_jax.operators.effects import checks
from autograph_jax.operators.exits import turn_ended
from autograph_jax.operators.loops import (
    LEFT,
    PYTHON,
    TRACED,
    cannot_be_staged,
    is_strict,
    leave,
    may_be_traced,
    named,
    nothing,
    reads_iterator,
    run_else,
    run_turn,
    turn_begun,
)
from autograph_jax.operators.sequences import lengthened, lists
from autograph_jax.operators.staging import assembled
from autograph_jax.operators.staging.blocks import trace
from autograph_jax.operators.staging.fixpoint import settle, settle_with_test
from autograph_jax.operators.staging.settled import Settled
from autograph_jax.operators.tracing import bytecode, state
from autograph_jax.operators.tracing.cells import standing_for, variables
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.forms import Static
from autograph_jax.operators.values.traced import is_traced, truth

Block = Callable[..., Any]


def while_stmt(
    test: Block, body: Block | None, *names: str, orelse: Block | None = None, before: int = 0, tries: int = 0
) -> Any:
    """Run a while loop; `names` are its variables. Gives how it left the block around it: None, or a Return.

    Python has run so many turns `before` already, where that counts, each of which may have been left by traced data; after
    `tries` such turns of a `while True`, it would go on without an end.
    """
    body = body or nothing
    functions = (test, body, orelse)
    most = loop_options.current().max_steps
    if not jax_private.tracing():
        turn = body
    elif not may_be_traced(hooks.deciding_names(sys._getframe(1)), functions):
        decisions.left_to_python("nothing that decides about it is traced")
        turn = _counted(body, functions)
    elif tries < _TRIES and reads_iterator(functions):
        decisions.left_to_python("it reads an iterator")
        turn = _counted(body, functions)
    else:
        going, writes = _test_apart(test, functions, names)
        must = going is TRACED or tries >= _TRIES and _is_endless(test)
        if must or going and not _is_rested(tries):
            exit = _staged_while(test, body, functions, names, must=must, before=before, test_writes=writes)
            if exit is not PYTHON:
                return run_else(exit, orelse, functions, names)
        turn = _counted(body, functions)
    while True:
        going = objects.condition(test())
        if is_traced(going):  # it became so in the last turn
            exit = _staged_from_here(going, test, body, functions, names, before=before)
            return run_else(exit, orelse, functions, names)
        if not lists.truth(going):
            return orelse() if orelse is not None else None
        if most is not None:
            before = _one_more(before, most)
        exit = turn_ended(turn())
        if exit is not None:
            go_on = _again(test, body, orelse, names, before, tries + 1) if type(exit) is Choice else nothing
            return leave(exit, go_on, names)


def _counted(body: Block, functions: tuple[Block | None, ...]) -> Block:
    turns, loop = 0, object()

    def turn() -> Any:
        nonlocal turns
        turns += 1
        turn_begun(turns, functions)
        if not hooks.is_porting():
            return body()
        with lengthened.unrolling(loop, lengthened.UNKNOWN):
            return body()

    return turn


_TRIES = 3  # turns in Python, after which the state of a loop has found its kinds


def _is_rested(tries: int) -> bool:
    """After so many turns in Python, is it not tried again to stage what is left? A list that grows would fail each time."""
    return tries > _TRIES and tries & (tries - 1) != 0


def _is_endless(test: Block) -> bool:
    """Is it `while True`?"""
    return not test.__code__.co_freevars and not test.__code__.co_names


def _again(test: Block, body: Block, orelse: Block | None, names: tuple[str, ...], before: int, tries: int) -> Block:
    def go_on() -> Any:
        return while_stmt(test, body, *names, orelse=orelse, before=before, tries=tries)

    return standing_for(go_on, test, body, orelse)


def _one_more(before: int, most: int) -> int:
    if before >= most:
        raise checks.raised(not_over(most))
    return before + 1


def _test_apart(test: Block, functions: tuple[Block | None, ...], names: tuple[str, ...]) -> tuple[Any, bool]:
    """The test's value, TRACED where it is not known, and whether it writes any state or has effects. It is evaluated apart,
    so that nothing of it stays behind.
    """
    if (answer := _of_numbers(test)) is not None:
        return answer, False
    known: list[Any] = []

    def evaluate() -> Any:
        value = objects.condition(test())
        known.append(TRACED if is_traced(value) else lists.truth(value))

    try:
        traced = trace(evaluate, functions, variables(functions, names) if names else ())
        is_apart = not traced.raised
    except Exception as error:
        if not checks.is_of_raise(error):
            raise
        is_apart = False
    if not is_apart:  # it raises on every path: here, where what it has raised before on some of them counts
        evaluate()
    return known[0], bool(traced.ends or traced.jaxpr.effects)


def _of_numbers(test: Block) -> Any:
    """What a test gives that compares numbers, which it computes of variables, TRACED if one of these is; None for any other.

    It writes nothing and has no effects: no trace of its own is needed to tell.
    """
    if not bytecode.compares_numbers(test.__code__):
        return None
    try:
        values = [cell.cell_contents for cell in test.__closure__ or ()]
    except ValueError:  # a variable without a value
        return None
    others = [value for value in values if type(value) not in (int, float, bool)]
    if not others:
        return test()
    return TRACED if all(issubclass(type(one), jax.core.Tracer) and not jnp.ndim(one) for one in others) else None


def _staged_from_here(
    going: Any, test: Block, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...], *, before: int
) -> Any:
    """Stage what is left of a loop whose test has been asked, and is not to do twice what it does beside its answer."""
    if not _test_apart(test, functions, names)[1]:
        return _staged_while(test, body, functions, names, must=True, before=before)
    decide = _deciding(test)
    return _staged_while_with_test_in_body(decide, body, functions, names, must=True, before=before, first=truth(going))


def _staged_while(test: Block, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...], **how: Any) -> Any:
    """Stage a while loop and give its exit. Unless it `must` be, gives PYTHON where nothing traced decides about it."""
    grown = lengthened.Lists(functions)
    while (exit := _staged_with(grown, test, body, functions, names, **how)) is lengthened.AGAIN:
        pass
    return exit


def _staged_with(
    grown: lengthened.Lists,
    test: Block,
    body: Block,
    functions: tuple[Block | None, ...],
    names: tuple[str, ...],
    *,
    must: bool,
    before: int,
    test_writes: bool = False,
) -> Any:
    decide, began = _deciding(test), decisions.clock()
    if test_writes:  # `while (y := f(x)) > 1: x = y`: the body needs what the test writes
        return _staged_while_with_test_in_body(decide, body, functions, names, must=must, before=before)
    try:
        settled, condition = settle_with_test(decide, body, functions, names, may_wait=must)
        if (
            condition.changes(settled.inputs) or condition.jaxpr.effects
        ):  # a print, or an error: once for each time that Python asks
            return _staged_while_with_test_in_body(decide, body, functions, names, must=must, before=before)
    except Exception as error:
        if grown.are_bounded_now(error, open_ended=True):
            return lengthened.AGAIN
        if must or isinstance(error, EscapedTracerError):  # which nobody can take back
            raise
        if is_strict(body):
            raise cannot_be_staged(error) from error
        decisions.left_to_python(f"tracing its body raised {type(error).__name__}: {str(error).partition(chr(10))[0]}")
        state.take_escaped()
        return PYTHON
    if not must and not settled.exits_on_traced() and not settled.is_traced(condition):
        decisions.left_to_python("nothing that decides about it is traced")
        return PYTHON
    if settled.is_provisional:
        return settled.finish_provisionally()
    settled.check_numbers(condition)
    settled.tell("while", since=began)

    def going(carry: Any) -> jax.Array:
        value, _ = condition(settled.leaves(carry))
        return settled.not_left(carry, value)

    def turn(carry: Any) -> Any:
        active = going(carry) if settled.uses_active else True
        return settled.turn(carry, active=active)

    start, options = settled.start(), loop_options.current()
    with decisions.scope("while"):
        final = assembled.while_loop(settled, condition, start, options)
        if final is None:
            final = run_while(named(test, going), named(body, turn), start, options, before=before)
    exit = settled.finish(final, turns=not must)
    # `while True:` ends by what its body does, or never.
    return exit._only(_is_exit) if isinstance(exit, Choice) and condition.result == Static(True) else exit


def _deciding(test: Block) -> Block:
    def decide() -> Any:
        value = objects.condition(test())
        return truth(value) if is_traced(value) else lists.truth(value)

    return decide


def _is_exit(option: Any) -> bool:
    return option is not None


def _staged_while_with_test_in_body(
    decide: Block,
    body: Block,
    functions: tuple[Block | None, ...],
    names: tuple[str, ...],
    *,
    must: bool,
    before: int,
    first: Any = None,
) -> Any:
    """A loop whose test writes state: it is evaluated where Python does, before the loop and after each turn.

    `first` is its answer before the loop, where it has been asked.
    """

    def turn_and_test() -> Any:
        exit = run_turn(body)
        if exit is None:
            answers: list[Any] = []
            exit = run_turn(lambda: answers.append(decide()))  # a test that raises ends the loop, too
            return exit, answers[0] if answers else False
        if not isinstance(exit, Choice):
            return exit, False
        go_on = unless(exit._map(lambda option: None if option is None else LEFT), again, *names)
        return exit, _went_on(go_on)

    def again() -> tuple[Any]:
        return (decide(),)

    standing_for(again, *functions)
    began = decisions.clock()

    with state.attempt() as attempt:
        first = decide() if first is None else first
        try:
            axes = axes_of(first) if is_traced(first) else NONE
            settled = settle(turn_and_test, functions, names, gives_more=True, axes=axes)
        except Exception as error:
            if must or isinstance(error, EscapedTracerError):
                raise
            state.take_escaped()
            settled = None
        if settled is None or not must and not settled.result_on_traced():
            attempt.give_up()
            return PYTHON
    settled.tell("while", since=began)
    return _run_with_going(settled, first, body, before)


def _went_on(value: Any) -> Any:
    if isinstance(value, Choice):
        taken = value._only(lambda option: isinstance(option, tuple))
        return jnp.logical_and(value._where(lambda option: isinstance(option, tuple)), taken[0])
    return value is not LEFT and value[0]


def _run_with_going(settled: Settled, first: Any, body: Block, before: int) -> Any:
    def going(carry: Any) -> jax.Array:
        return settled.not_left(carry[1], carry[0])

    def turn(carry: Any) -> Any:
        new, (decided,) = settled.turn_with(carry[1], active=carry[0])
        return jnp.asarray(decided, bool), new

    start = jnp.asarray(first, bool), settled.start()
    with decisions.scope("while"):
        final = run_while(going, named(body, turn), start, loop_options.current(), before=before)
    return settled.finish(final[1], turns=False)
