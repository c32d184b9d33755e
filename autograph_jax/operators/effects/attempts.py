"""`try` around what traced data makes fail: which error it was is state, and what the handler does is staged after it.

A `with attempt:` around the body of a `try` makes it active. `raise` and `assert` where traced data decides, here or in what
is called, note their error in the innermost attempt that has a handler for it (`checks.py`); converters have put a check after
each statement of the body, which leaves it by `failure`. A function that is called runs on to its end, on values that nobody
will read: it must not write what was there before.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp

from autograph_jax.errors import AutographError, StagingError, is_user_frame, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.effects import managers
from autograph_jax.operators.effects.failures import Error, Failure, Failures
from autograph_jax.operators.exits import FAILURE
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.frame_variables import frame_variables
from autograph_jax.operators.tracing.places import Aside
from autograph_jax.operators.values.choices import Choice, decided

Kinds = Callable[[], Any]


class Raised(BaseException):
    """Ends the tracing of a block in which the user's code raises. No `except` of the user's is meant to see it."""

    def __str__(self) -> str:
        return "this program ends by an exception on every path, at run time; `ag.jit` gives it to the caller"


class Attempt:
    """The body of a `try`: `kinds` give what its handlers catch; None is everything."""

    is_record = False  # no object of the user's, though one of the user's variables holds it

    def __init__(self, *kinds: Kinds | None) -> None:
        self._kinds = kinds
        self.errors = Failures(Aside)
        self._handler_of: list[int] = []  # of each known error
        self.frame: types.FrameType | None = None  # whose body it is, while that runs
        self.is_open = False  # may what runs now have failed already?
        self.ends_loop = False  # has it failed in a loop that ends by that?
        self.loops: list[Failures] = []  # of functions that are called, which tell their errors when they are over
        self.is_unguarded = False  # would what runs now write what it must not, where it fails?
        self.is_cut_short = False  # has a block of it ended by an error of Python's, which its exit does not tell?
        self.is_over = False  # has the body surely failed where what follows the `try` is reached?
        self._checked: list[Attempt] = []  # of callers, that have been open in this body before a check

    def __enter__(self) -> None:
        if jax_private.tracing():
            self.frame = sys._getframe(1)
            self.loop = state.failures()
            self._trace, self._depth = jax_private.current_trace(), len(state.traces())
            active = state.attempts()
            active += [self]  # no call: Python looks for Ctrl-C when one returns

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> bool:
        active = state.attempts()
        if self in active:
            del active[active.index(self) :]  # what Ctrl-C has left inside, too
            self.frame = None
            for own in self._checked:  # what follows this `try` is no less in theirs
                own.is_open = True
            self._checked.clear()
            if kind is not None and self._may_catch(kind) and self.has_failed() is not False:
                raise uncatchable() from error  # both copies of a handler would run
        return kind is Raised and bool(self._handler_of)  # there is nothing more to trace: the handlers come next

    def _may_catch(self, kind: type[BaseException]) -> bool:
        """Is this an error of the user's? Ctrl-C, while something is traced, is none, unless a handler asks for it."""
        if issubclass(kind, (AutographError, Raised)):
            return False
        return issubclass(kind, Exception) or self.handler(kind) is not None

    def check(self, around: Sequence[Attempt]) -> None:
        """What comes next in the body is left out where one of these has failed."""
        for own in around:
            if own.is_open and not own.is_of(self.frame):
                self._checked.append(own)
            own.is_open = False

    def is_of(self, frame: types.FrameType | None) -> bool:
        """Is it a `try` of the function that has this frame, whose own checks follow?"""
        here = self.frame
        return here is None or frame is None or here.f_code.co_qualname == frame.f_code.co_qualname

    def handler(self, kind: type[BaseException]) -> int | None:
        """The number of the handler for errors of a class."""
        for number, kinds in enumerate(self._kinds):
            if kinds is None or issubclass(kind, kinds()):
                return number
        return None

    def is_for(self, kind: type[BaseException]) -> bool:
        """Has the user written a handler for errors of a class?"""
        return self.handler(kind) is not None

    def names(self, kind: type[BaseException]) -> bool:
        """Has the user written a handler for this class, or one of its few bases, and not one for all errors?"""
        given = (kinds() for kinds in self._kinds if kinds is not None)
        named = (one for own in given for one in (own if isinstance(own, tuple) else (own,)))
        return any(one in kind.__mro__ and one not in (Exception, BaseException) for one in named)

    def is_here(self) -> bool:
        """Is no staged block between the attempt and here?"""
        return self not in state.attempts() or len(state.traces()) == self._depth and jax_private.current_trace() is self._trace

    def note(self, condition: Any, failure: Failure, handler: int) -> None:
        """The body fails by this error where the condition holds, unless it has failed already.

        A staged loop of a function that is called ends first, and tells when it is over.
        """
        if not self.can_note():
            raise uncatchable()
        loop = state.failures()
        if loop is not None and loop is not self.loop and not self._checks_loop():
            loop.note(condition, failure, is_caught=True)
            self.loops.append(loop)
            self.is_open = self.ends_loop = True
            return
        self._handler_of.append(handler)
        self.errors.note(condition, failure, is_caught=True)
        self.is_open = True

    def _checks_loop(self) -> bool:
        """Does the innermost staged loop stand in the body itself, whose checks leave it?"""
        turns = [trace.block for trace in state.traces()[self._depth :] if trace.is_turn]
        return bool(turns) and self.frame is not None and turns[-1].__qualname__ == self.frame.f_code.co_qualname

    def takes(self, by_python: bool) -> bool:
        """Is an error that it has a handler for its own? So it is, though it cannot be noted, which is an error of ours.

        One that Python itself has raised in a branch has no check behind it, so that what follows would still run.
        """
        if by_python:
            raise uncatchable()
        return True

    def can_note(self) -> bool:
        return self._is_reached() and not any(own.is_unguarded for own in state.attempts())

    def _is_reached(self) -> bool:
        """Do only blocks of ours stand between the attempt and here, and nothing that JAX maps or compiles by itself?"""
        around = self._trace
        for trace in state.traces()[self._depth :]:
            if trace.around is not around:
                return False
            around = trace.jax_trace
        return jax_private.current_trace() is around

    def noted(self) -> int:
        """How many errors and loops that may have failed it has noted."""
        return len(self._handler_of) + len(self.loops)

    def has_failed(self) -> Any:
        """False, or where traced data decides a traced bool."""
        code = self.errors.code.read()
        return code != 0 if self._handler_of else False

    def by(self, handler: int) -> Any:
        """Has it failed by an error that this handler is for?"""
        code = self.errors.code.read()
        numbers = self._numbers(handler)
        if self.is_over and handler == max(self._handler_of, default=None):
            return True  # the last of a chain of elifs
        return jnp.isin(code, jnp.asarray(numbers)) if numbers else False

    def error(self, handler: int) -> Any:
        """The error that this handler is for, a Choice if there are several."""
        code, given = self.errors.code.read(), self.errors.values({})
        numbers = self._numbers(handler)
        errors = tuple(made(self.errors.known[number - 1].with_traced(given)) for number in numbers)
        if len(errors) == 1:
            return errors[0]
        return decided(jnp.argmax(jnp.asarray(numbers) == code).astype(jnp.int32), errors)

    def _numbers(self, handler: int) -> list[int]:
        return [number for number, own in enumerate(self._handler_of, 1) if own == handler]

    def knows(self, target: Any) -> bool:
        """Was this there before the attempt, so that who goes on after a failure sees what it is?"""
        return reach.any_holds(self._values_around(), lambda part: part is target)

    def _values_around(self) -> Iterator[Any]:
        """What the variables hold of the function that it stands in, and of those that have called that one."""
        frame = self.frame
        while frame is not None:
            if is_user_frame(frame) and not _runs_programs(frame):
                yield from frame_variables(frame).values()
            frame = frame.f_back

    def calls(self, name: str) -> bool:
        """Does a function of this name run now, which the body has called?"""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and frame is not self.frame:
            if frame.f_code.co_name == name:
                return True
            frame = frame.f_back
        return False

    def knows_variable(self, name: str, frame: types.FrameType) -> bool:
        """Was this variable of the running function there before the attempt?"""
        inside: types.FrameType | None = frame
        while inside is not None and inside is not self.frame:
            if name in inside.f_code.co_cellvars and frame.f_code.co_qualname.startswith(inside.f_code.co_qualname):
                return False
            inside = inside.f_back
        return True


attempt = Attempt


def made(error: Error) -> BaseException:
    """What `raise ValueError` raises, or where the class cannot be called without arguments, what that raises."""
    try:
        return error() if isinstance(error, type) else error
    except Exception as other:
        return other


def failed(attempt: Attempt) -> Any:
    """Has a body failed, of this `try` or of one around it? What follows runs only where they have not."""
    around = [*state.attempts(), *(() if attempt in state.attempts() else (attempt,))]
    attempt.check(around)
    conditions = [condition for own in around if (condition := own.has_failed()) is not False]
    return jnp.stack(conditions).any() if len(conditions) > 1 else conditions[0] if conditions else False


def has_just_failed(attempt: Attempt) -> Any:
    """The same where a loop has taken an element, which may have called a function; False where it has not."""
    return failed(attempt) if _is_open_here(attempt) else False


def unchecked(attempt: Attempt) -> None:
    """A statement is over that no check follows, since it calls no function: its operators have."""
    if _is_open_here(attempt):
        raise StagingError(
            "a property or an operator raises where traced data decides, in a `try` that catches it",
            location=user_location(),
            details=["The statement has written its value before that could be checked."],
            help="call a function or method instead of it",
        )


def _is_open_here(attempt: Attempt) -> bool:
    """Has anything failed, perhaps, since the last check of this body?"""
    return any(own.is_open and own.is_of(attempt.frame) for own in state.attempts())


def unguarded(attempt: Attempt, begins: bool) -> None:
    """Statements begin or end that nothing may leave by an error that traced data decides about."""
    attempt.is_unguarded = begins


def noted(attempt: Attempt, make: Callable[[], Error]) -> bool:
    """Is the error that the body of a `try` raises one that traced data decides about, and that has a handler?"""
    if attempt.is_here():
        return False
    found = [(chosen, error, catching(error)) for chosen, error in each(make())]
    if not any(by for _, _, by in found):
        return False
    opened = attempt.is_open
    for chosen, error, by in found:
        if by is None:
            raise uncatchable()
        managers.refuse_if_told(error, by[0])
        by[0].note(unless_failed(chosen), Failure(error), by[1])
    if all(by is not None and by[0] is attempt for _, _, by in found):
        attempt.is_open = opened  # the body is left
    return True


def each(error: Any) -> list[tuple[Any, Error]]:
    """An error, or those of a choice, each with the condition that it is the one."""
    if isinstance(error, Choice):
        return [(error._index == number, option) for number, option in enumerate(error._options)]
    return [(jnp.asarray(True), error)]


def handled(attempt: Attempt, number: int) -> Any:
    """Does this handler of a `try` run, because of what traced data has decided?"""
    return attempt.by(number)


_CAUGHT = "__autograph_jax_caught__"


def error_of(attempt: Attempt, number: int) -> Any:
    error = attempt.error(number)
    for option in error._options if isinstance(error, Choice) else (error,):
        if isinstance(option, BaseException):
            state.mark(option, _CAUGHT, True)
    return error


def of_error(value: Any, name: str) -> Any:
    """`error.__cause__` and the like: what an exception has that Python has raised."""
    options = value._options if isinstance(value, Choice) else (value,)
    if any(isinstance(option, BaseException) and _CAUGHT in option.__dict__ for option in options):
        raise StagingError(
            f"`{name}` of an exception that is raised, or not, at run time",
            location=user_location(),
            details=["The handler is staged: there is no exception that Python has raised, and chained to another one."],
            help="keep what is asked for in the exception itself: `raise Failed(reason)`, and `error.reason`",
        )
    return getattr(value, name)


def cut_short() -> None:
    """A block has ended by an error: how the `try` statements around it are left is told by what they have noted."""
    for own in state.attempts():
        own.is_cut_short = True


def went_on(attempt: Attempt, exit: Any) -> Any:
    """How a `try` was left, where a body that has failed goes on with its handlers."""
    if attempt.is_cut_short and exit is not None and (has_failed := attempt.has_failed()) is not False:
        index, ways = (exit._index, exit._options) if isinstance(exit, Choice) else (0, (exit,))
        exit = decided(jnp.where(has_failed, 0, index + 1).astype(jnp.int32), (FAILURE, *ways))
    if isinstance(exit, Choice):
        ways = exit._options
        attempt.is_over = any(way is FAILURE for way in ways) and None not in ways
        return exit._map(lambda option: None if option is FAILURE else option)
    return None if exit is FAILURE else exit


def catching(error: Error, by_python: bool = False) -> tuple[Attempt, int] | None:
    """The innermost attempt that has a handler for an error, raised by Python itself or not, and the handler's number."""
    kind = error if isinstance(error, type) else type(error)
    for own in reversed(state.attempts()):
        if (number := own.handler(kind)) is not None and own.takes(by_python):
            return own, number
    return None


def is_handled(kind: type[BaseException]) -> bool:
    """Has the user written a handler, around what runs now, for errors of a class?"""
    return any(own.is_for(kind) for own in state.attempts())


def is_named(kind: type[BaseException]) -> bool:
    """Has the user written a handler, around what runs now, for errors of a class, and not for any error?"""
    return any(own.names(kind) for own in state.attempts())


def may_handle_a_loop() -> bool:
    """Does a `try` stand between a loop that is about to be staged and the one around that, if there is one?"""
    active = state.attempts()
    return bool(active) and active[-1].loop is state.failures()


def unless_failed(condition: Any) -> Any:
    """Of several errors the first counts, whichever `try` handles it."""
    loop = state.failures()
    if loop is not None and catches(loop):
        condition = jnp.logical_and(condition, loop.code.read() == 0)
    for own in state.attempts():
        if (failed := own.has_failed()) is not False:
            condition = jnp.logical_and(condition, jnp.logical_not(failed))
    return condition


def catches(loop: Failures) -> bool:
    """Does a `try` handle errors of a loop? Then what the loop leaves is read."""
    return any(loop in own.loops for own in state.attempts())


def loop_over(loop: Failures) -> None:
    """A loop that hands its errors on to the one around is over: what follows in there may come after an error."""
    for own in state.attempts():
        if loop in own.loops:
            own.is_open = own.ends_loop = True


def after_a_turn(opened: list[bool]) -> None:
    """A turn of a loop is over: one that may have failed has to be the loop's last."""
    for own, before in zip(state.attempts(), opened, strict=True):
        if own.is_open and not before and not own.ends_loop:
            raise uncatchable()
        own.is_open, own.ends_loop = before, False


def _runs_programs(frame: types.FrameType) -> bool:
    """Is it of a test runner or notebook, or what these run on? They hold much, and read nothing of the user's."""
    return frame.f_globals.get("__name__", "").partition(".")[0] in _RUNNERS


_RUNNERS = frozenset(
    "_pytest pluggy pytest xdist execnet __channelexec__ unittest IPython ipykernel tornado asyncio runpy threading".split()
)


def is_written_late(target: Any) -> bool:
    """May an attempt have failed that would show what is about to be changed? Python would not come here then."""
    return _is_late(own for own in state.attempts() if own.is_open and own.knows(target))


def is_assigned_late(name: str, frame: types.FrameType) -> bool:
    """The same for a variable of a function around the running one, or of its module."""
    return _is_late(own for own in state.attempts() if own.is_open and own.knows_variable(name, frame))


def _is_late(found: Iterator[Attempt]) -> bool:
    """Has any been found? An `__exit__` writes after an error in its `with` too, and not after one that comes before that."""
    own = next(found, None)
    if own is not None and own.calls("__exit__"):
        raise _written_by_exit()
    return own is not None


def check_write(target: Any) -> None:
    """An object of the user's is about to be changed, which cannot be made to depend on whether an attempt has failed."""
    if is_written_late(target):
        raise _written_after_failure()


def uncatchable() -> StagingError:
    return StagingError(
        "an exception is raised where traced data decides, and caught outside of that block",
        location=user_location(),
        help="use a flag instead of the exception, or handle the case in the same branch",
    )


def _written_by_exit() -> StagingError:
    return StagingError(
        "a `with` may be left by an error that traced data decides about, and its `__exit__` writes what a `try` would see",
        location=user_location(),
        help="write `try` and `finally` in place of this `with`, or the `with` around the `try`",
    )


def _written_after_failure() -> StagingError:
    return StagingError(
        "something is changed in place that a `try` around it would see, after an error that traced data decides about",
        location=user_location(),
        details=["Where the error is raised, Python does not come here."],
        help="change it before what may raise, or return the new value",
    )
