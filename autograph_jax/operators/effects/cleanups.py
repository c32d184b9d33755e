"""What is done where a `with` or a generator is left, after an error in it that traced data decides about.

Python does it, and the error goes on. A compiled program is over where the error is raised, so that what an `__exit__` prints
or raises would be lost: that is refused. What it puts back in Python's memory nobody sees any more, and stays as it is.
"""

from __future__ import annotations

import sys
import threading
import types
from typing import Any

from autograph_jax.errors import StagingError, frame_location, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.bytecode import instructions


class _Local(threading.local):
    def __init__(self) -> None:
        self.errors = 0  # so many may have left the programs that were traced so far, without a `try` that handles them
        self.left: set[int] = set()  # the ids of frames that are at the end of a `with` whose body may have failed
        self.hearing: Hearing | None = None


_local = _Local()


class Hearing:
    """Hears of what is refused where Python closes a generator that nobody holds any more: who raises there is ignored."""

    def __enter__(self) -> None:
        self._refusal: StagingError | None = None
        self._around, _local.hearing = _local.hearing, self

    def __exit__(self, kind: type[BaseException] | None, *_: Any) -> None:
        _local.hearing = self._around
        if kind is None and self._refusal is not None:
            raise self._refusal

    def take(self, refusal: StagingError) -> None:
        self._refusal = refusal


def note() -> None:
    """An error that traced data decides about leaves the program."""
    _local.errors += 1


def begin(frame: int) -> int | None:
    """The body of a `with`, or of a `try` with a `finally`, begins: how many errors there may have been before."""
    if not jax_private.tracing():
        _local.left.clear()
        return None
    _local.left.discard(frame)
    return _errors()


def leave(frame: int, before: int | None) -> None:
    """The body is over."""
    if before is not None and _errors() > before:
        _local.left.add(frame)


def end(frame: int) -> None:
    """What follows the body is over."""
    _local.left.discard(frame)


def _errors() -> int:
    """Also those of the attempts around: one that stands in the body is over before the body is."""
    return _local.errors + sum(own.noted() for own in state.attempts())


def refuse_if_lost(what: str) -> None:
    """`what` is about to be staged: not in an `__exit__` or a `finally` that Python would run after an error."""
    if _local.left and (frame := _left_by()) is not None:
        refusal = _lost(what, frame)
        if not isinstance(sys.exc_info()[1], GeneratorExit) or _local.hearing is None:
            raise refusal
        _local.hearing.take(refusal)


def _left_by() -> types.FrameType | None:
    """The running function that leaves a `with` whose body may have failed; else one that is in such a `finally`."""
    in_finally: types.FrameType | None = None
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None:
        if id(frame) in _local.left:
            if _leaves_with(frame):
                return frame
            in_finally = in_finally or (frame if _is_in_finally(frame) else None)
        frame = frame.f_back
    return in_finally


def _leaves_with(frame: types.FrameType) -> bool:
    """Does it call an `__exit__` now, with three times None, or with the error? The id may be that of an earlier frame."""
    done = [one for one in instructions(frame.f_code) if one.offset <= frame.f_lasti and one.opname != "PRECALL"]
    if not done or done[-1].opname == "WITH_EXCEPT_START":
        return bool(done)
    *given, call = done[-4:]
    return len(given) == 3 and call.opname == "CALL" and all(one.opname == "LOAD_CONST" and one.argval is None for one in given)


def _is_in_finally(frame: types.FrameType) -> bool:
    later = hooks.read_later(frame)
    return later is not None and later.in_finally


def _lost(what: str, frame: types.FrameType) -> StagingError:
    place = frame_location(frame)
    if _leaves_with(frame):
        where, help = "at the end of a `with`", "write `try` and `finally` in place of the `with`, which can be staged"
    else:
        where, help = "in a `finally`", "take all elements before, `values = list(g())`, and put the `try` around the loop"
    return StagingError(
        f"{what} {where} that may be left by an exception that traced data decides about",
        location=user_location(),
        details=[
            f"{place.function} ({place.filename}:{place.line}) leaves it, and Python does that before the exception goes on.",
            "A compiled program is over where the exception is raised.",
        ],
        help=f"{help}; or return a flag instead of the exception",
    )
