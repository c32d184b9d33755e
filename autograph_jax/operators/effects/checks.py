"""raise and assert that traced data decides about: real at run time, and never dropped.

The exception reaches the caller through the callback that raises it; a staged loop ends by it and calls back when it is over
(`failures.py`). `ag.jit` gives the caller the user's exception itself; a bare `jax.jit` gives JAX's error, with the exception's
type and message in its text; `ag.checkify` gives it as a value.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.errors import (
    AutographError,
    Location,
    StagingError,
    is_user_frame,
    line_of,
    raise_at,
    user_line,
    user_location,
)
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.effects import attempts, cleanups, ended, handlers, ordered, printing, progress_bars, swallowed
from autograph_jax.operators.effects.attempts import Raised
from autograph_jax.operators.effects.failures import CheckText, Error, Failure, Failures, errors_are_values
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced, truth
from autograph_jax.porting.refusals import about_tracers


class _Here(threading.local):
    program: object = None  # what JAX makes of the function of `ag.jit` that is being traced
    error: tuple[int, type] | None = None  # what Python was given last to raise: its id, since held it would hold tracers


_here = _Here()
_RAISES = "an exception is raised"


def result_of(function: Callable[..., Any], *values: Any, programs: int = 1) -> Any:
    """What a function returns; None where it raises on every path, which the staged program does as well.

    `assert x > 0` before `raise Stop`: which of the two the caller gets is only known at run time. The function is traced as so
    many programs, in each other.
    """
    around = _here.program
    _here.program = jax_private.program_of(jax_private.current_trace())
    try:
        with cleanups.Hearing():
            return _unless_raised(function, values, programs)
    finally:
        _here.program = around


def _unless_raised(function: Callable[..., Any], values: Sequence[Any], programs: int) -> Any:
    before = made()
    try:
        return function(*values)
    except Raised:
        return None
    except Exception as error:
        is_known = made() == before and not reach.holds_traced((error.args, vars(error)))
        if is_known or not jax_private.is_outermost(programs) or not raised_later(error):
            raise
        return None


def raised(error: Error, caught: bool = False, by_python: bool = False) -> BaseException | type[BaseException]:
    """What `raise error` raises: the error itself, or in a staged block an end of the block and an error at run time.

    `caught` says that a handler around the block would catch it: whether it runs, no staged program can tell. `by_python`:
    no `raise` has raised it, but Python itself.
    """
    if isinstance(refusal := sys.exc_info()[1], AutographError):  # on its way through a `finally`, which may not end it
        return refusal
    if not jax_private.tracing():
        return error
    cleanups.refuse_if_lost(_RAISES)
    if isinstance(error, Choice):
        for chosen, one in attempts.each(error):
            raise_where(chosen, one)
        return Raised()
    if not in_staged_branch() or not is_kept():
        return raised_here(error)
    found = attempts.catching(error, by_python)
    if found is not None and found[0].is_here() or _answers_python(error):
        return raised_here(error)
    if found is None and caught:
        raise attempts.uncatchable()
    raise_where(jnp.asarray(True), error, _line_taken(error), by_python)
    return Raised()


def raised_here(error: Error) -> BaseException | type[BaseException]:
    """What `raise error` raises where a handler of the same block may catch it; if none does, it is one at run time."""
    if isinstance(refusal := sys.exc_info()[1], AutographError):
        return refusal
    if not jax_private.tracing():
        return error
    cleanups.refuse_if_lost(_RAISES)
    error = error() if isinstance(error, type) else error
    _here.error = id(error), type(error)
    return error


def cause(error: Any) -> Any:
    """The cause in `raise X from error`; none where traced data says which error, or whether there is one."""
    return None if type(error) is Choice else error


def raised_anew(caught: bool = False) -> None:
    """Comes before a bare `raise`: in a staged block, what a `raise` of the user's has raised is an error at run time."""
    error = sys.exc_info()[1]
    if error is not None and jax_private.tracing() and in_staged_branch() and is_of_raise(error):
        raise raised(error, caught)


# Python's questions to a class, and the errors that answer them.
_ASKED = {"__getattr__": AttributeError, "__get__": AttributeError, "__next__": StopIteration}
_TRACING = "autograph_jax.operators.staging.blocks"  # where blocks are traced; it imports this file


def _answers_python(error: Error) -> bool:
    """Is this the answer that there is no such attribute, or no further element, and does no traced data decide about it?

    `hasattr(x, "shape")` asks also where traced data decides whether it is reached.
    """
    frame, is_staged = sys._getframe(2), False
    name = frame.f_code.co_name
    if name not in _ASKED or not issubclass(error if isinstance(error, type) else type(error), _ASKED[name]):
        return False
    while frame is not None and (frame.f_code.co_name == name or not is_user_frame(frame)):
        if frame.f_code.co_name == name and is_staged:  # one of its own blocks is traced
            if name == "__next__":
                raise _ends_by_traced_data()
            return False
        is_staged = is_staged or frame.f_globals.get("__name__") == _TRACING
        frame = frame.f_back
    return True


def _ends_by_traced_data() -> StagingError:
    return StagingError(
        "traced data decides whether an iterator has another element",
        location=user_location(),
        details=["Python asks for the elements one by one, and has to know."],
        help="loop with `while`, or over a range with a `break`",
    )


def is_kept() -> bool:
    """Does what is staged now stay, where an exception ends it? Not in a function that JAX traces by itself."""
    own = jax_private.program_of(state.traces()[-1].jax_trace) if state.traces() else _here.program
    return own is None or jax_private.program_of(jax_private.current_trace()) is own


def is_of_raise(error: BaseException) -> bool:
    """Is this an exception that a `raise` of the user's has raised while JAX traced?"""
    return (id(error), type(error)) == _here.error


def raised_later(error: Exception) -> bool:
    """Is it such an exception? Then it is one at run time."""
    if not is_of_raise(error):
        return False
    if any(map(jax_private.is_lost, jax.tree.leaves((error.args, vars(error))))):
        raise raised_by_itself() from None
    raise_where(jnp.asarray(True), error, _line_taken(error))
    return True


def refuse_if_lost(error: Exception) -> None:
    """Refuse an exception of the user's that leaves all of JAX's traces and shows a value of one of them."""
    if isinstance(error, AutographError) or type(error).__module__.startswith("jax") or jax_private.tracing():
        return
    if any(map(jax_private.is_lost, reach.everything((error.args, vars(error))))):
        raise StagingError(
            f"this {type(error).__name__} holds a traced value, and is raised while JAX traces",
            location=line_of(error),
            details=["The value is known at run time only, when the exception is long gone."],
            help="leave the value out of it, or compile the whole with `ag.jit`, which raises at run time",
        ) from None


def _line_taken(error: Error) -> Location | None:
    """Where an exception has been raised, if it has. It forgets that: the frames of a traceback hold tracers."""
    location = line_of(error)
    if isinstance(error, BaseException):
        error.__traceback__ = error.__cause__ = error.__context__ = None
    return location


def raised_by_itself() -> StagingError:
    return StagingError(
        "a function that JAX traces by itself, to scan or compile it, raises here on every path, at run time",
        location=user_location(),
        help="return a flag from it, and raise outside",
    )


def in_staged_branch() -> bool:
    """Does traced data decide whether this code is reached?"""
    return any(trace.active is not None for trace in state.traces())


def caught(of_jax: bool = False) -> None:
    """Begins every `except` of the user's: some exceptions are not theirs to end.

    `of_jax`: the handler names errors of JAX's.
    """
    current = sys.exc_info()[1]
    refusal = swallowed.replaced_by(current, id(sys._getframe(1)))
    for one in swallowed.behind(current):
        if isinstance(one, AutographError):
            raise one
    if refusal is not None:
        raise refusal
    if not of_jax and not hooks.is_porting() and (refusal := swallowed.refusal_of(current)) is not None:
        raise refusal from current
    if hooks.is_porting() and (refusal := about_tracers(current)) is not None:
        raise refusal from current  # NumPy would not have come here
    if state.has_escaped(current, sys._getframe(1)) and jax_private.tracing():
        raise attempts.uncatchable() from current


def checked(condition: Any, message: Callable[[], Any] | None = None, caught: str = "") -> Any:
    """What `assert condition, message` asserts: the condition, or True where it is checked at run time.

    `caught` says where a handler may catch what it raises: "here", in the same block, or "outside" of it.
    """
    condition = objects.condition(condition)
    if not is_traced(condition) and (condition or caught == "here" or not jax_private.tracing()):
        return condition
    error = AssertionError() if message is None else AssertionError(message())
    if not is_traced(condition) and not in_staged_branch():
        raise raised(error)
    if caught and attempts.catching(error) is None:
        raise attempts.uncatchable()
    if not is_traced(condition):
        raise raised(error)
    raise_where(jnp.logical_not(truth(condition)), error)
    return True


# Module state: what a callback raised last, for the caller of `ag.jit`; and how many checks have been staged so far.
_raised: list[BaseException] = []
_checks_made = [0]

jax_private.unlogged(lambda error: any(error is known for known in _raised))


def take_raised() -> BaseException | None:
    return _raised.pop() if _raised else None


def made() -> int:
    return _checks_made[0]


def settled(program: Callable[..., Any], *values: Any) -> Any:
    """What a program of several devices gives, or raises. If it becomes a part of another one, that one raises."""
    if jax_private.staging():
        return program(*values)
    with ordered.collecting():
        out = program(*values)
    settle(out)
    return out


def settle(out: Any) -> None:
    """Wait for what a program gives, and raise what it raises, also where its devices went on to the end."""
    if (error := ordered.wait(out)) is not None:
        _raised[:] = [error]
        raise jax.errors.JaxRuntimeError(f"{type(error).__name__}: {error}")


def raise_where(condition: Any, error: Error, location: Location | None = None, by_python: bool = False) -> None:
    """Raise an error at run time where a traced condition holds, and the code that asks is really reached.

    In a staged loop that does not call Python, the loop ends there, and the error is raised when it is over. Its traceback
    ends in the user's line: the one that asks, if no `location` is given.
    """
    condition = attempts.unless_failed(condition)
    if (reached := state.speculated()) is not None:
        condition = jnp.logical_and(condition, reached)
    if not isinstance(error, AutographError):  # those are nobody's to catch
        cleanups.refuse_if_lost(_RAISES)
        if (found := attempts.catching(error, by_python)) is not None:
            handlers.refuse_if_caught(error, found[0])
            found[0].note(condition, Failure(error), found[1])
            return
        handlers.refuse_if_caught(error)
        cleanups.note()
    _checks_made[0] += 1
    failure, loop = Failure(error, location or user_line()), state.failures()
    if loop is not None:
        loop.note(condition, failure)
    else:
        _raise(jnp.asarray(condition, jnp.int32), [failure], failure.values)
        failure.values = []


def raise_after_loop(loop: Failures, after: dict[Any, Any]) -> None:
    """Raise the error that has ended a loop; `after` it, its places hold these values, by their keys."""
    code, values = after[loop.code.key], loop.values(after)
    if not state.attempts():
        _raise(code, loop.known, values)
        return
    for number, failure in enumerate(loop.known, 1):  # each may have a handler of its own, or be the loop around's
        raise_where(code == number, failure.with_traced(values), failure.location)


def _raise(code: Any, known: Sequence[Failure], values: Sequence[Any]) -> None:
    """At run time: raise the error of this number, if it is not 0."""
    has_order, has_failed = not ended.are_in_order(code), ended.has_failed()
    ended.note(code != 0)
    code = jnp.where(printing.active_here(), code, 0)
    if not has_order and has_failed is not False:
        code = jnp.where(has_failed, 0, code)
    if errors_are_values():
        from jax.experimental import checkify  # 3 ms, and few programs need it

        checkify.check(code == 0, CheckText(known), code, *values)
        return

    def report(code: Any, *values: Any) -> None:
        if not code:
            return
        failure = known[int(code) - 1]
        final = failure.with_values(values)
        final = attempts.made(final).with_traceback(None)
        _raised[:] = [final]
        progress_bars.close_all()
        raise_at(final, failure.location)

    call = functools.partial(ordered.call, report, code, *values, raises=True, has_order=has_order)
    jax.lax.cond(code != 0, call, lambda: None)
