"""Would a caller's `except` catch what is raised where traced data decides? Whether it runs, no staged program can tell."""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from typing import Any

from autograph_jax.errors import StagingError, frame_location, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.effects import managers
from autograph_jax.operators.tracing.frame_variables import frame_variables

Error = BaseException | type[BaseException]


def refuse_if_caught(error: Error, attempt: Any = None) -> None:
    """An exception at run time leaves the whole compiled program: a `try` inside of that must not expect to see it.

    An attempt that notes it leaves the functions that are called in there. Nor must a `with` expect to be told.
    """
    running = managers.functions_of_the_program()
    managers.refuse_if_told(error, attempt, running)
    around = attempt.frame if attempt is not None else None
    kind = error if isinstance(error, type) else type(error)
    for frame, caught in _left(running, around):
        if any(_catches(handler, kind, frame) for handler in caught):
            raise _caught_by_caller(kind, frame)


def _left(
    running: Sequence[managers.Running], around: types.FrameType | None
) -> Iterator[tuple[types.FrameType, tuple[str, ...]]]:
    """The frames that an exception leaves, and what their handlers catch. Blocks of the frame's own function stand in that."""
    blocks = []
    for frame, later in running:
        if frame is around:
            return
        blocks.append((frame, later.handlers))
        if around is None or not hooks.is_block(frame.f_code):
            yield from blocks
            blocks.clear()


def _catches(handler: str, kind: type[BaseException], frame: types.FrameType) -> bool:
    """Does `except handler` of a running function catch exceptions of a class? Yes, where its text cannot tell."""
    if not handler:
        return True
    try:
        return issubclass(kind, eval(handler, frame.f_globals, frame_variables(frame)))
    except Exception:  # a name that has no value by now, or is no class: it may be anything
        return True


def _caught_by_caller(kind: type[BaseException], frame: types.FrameType) -> StagingError:
    place = frame_location(frame)
    return StagingError(
        f"{kind.__name__} is raised where traced data decides, and an `except` of a caller would catch it",
        location=user_location(),
        details=[f"{place.function} ({place.filename}:{place.line}) handles it, which no staged program can do."],
        help="return a flag or `jnp.nan` instead of the exception, or put the `try` around the compiled function",
    )
