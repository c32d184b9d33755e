"""Refusals that the user's own code would end: `with suppress(Exception)`, `except TypeError` of an error about a tracer.

A refusal says that no value is right. An error of JAX's about a value that is not known while it traces is one too: Python
itself, on plain values, would not have come to the handler.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Iterator
from typing import Any

import jax

from autograph_jax.errors import AutographError, StagingError, line_of
from autograph_jax.operators import jax_private
from autograph_jax.operators.effects import cleanups
from autograph_jax.operators.tracing import state

_ABOUT_TRACERS = (jax.errors.ConcretizationTypeError, jax.errors.TracerIntegerConversionError)
_OF_OURS = re.compile(r"unhashable type: '\w*Tracer'|Non-hashable static arguments|\bnot '?(Choice|Text)\b")
_LEFT = "__autograph_jax_left__"


class _Local(threading.local):
    def __init__(self) -> None:
        self.told: dict[int, AutographError] = {}  # by the id of the frame of a `with`, what has left its body


_local = _Local()


class Told:
    """The innermost manager of a user's `with`: hears of a refusal before the others, which may end it.

    So does it in a `try` whose `finally` Python runs. It knows whether traced data decides about an error in the body.
    """

    def __enter__(self) -> None:
        self._frame = id(sys._getframe(1))
        _local.told.pop(self._frame, None)
        self._errors = cleanups.begin(self._frame)

    def __exit__(self, _: Any, error: BaseException | None, __: Any) -> None:
        cleanups.leave(self._frame, self._errors)
        if error is not None and (refusal := refusal_of(error)) is not None:
            _local.told[self._frame] = refusal
            state.mark(error, _LEFT, refusal)


def ended() -> None:
    """Follows every `with` of the user's: raises the refusal that has left its body, and that one of its managers has ended."""
    frame = id(sys._getframe(1))
    cleanups.end(frame)
    if (refusal := _local.told.pop(frame, None)) is not None:
        raise refusal


def behind(error: BaseException | None) -> Iterator[BaseException]:
    """An error, the one that it took the place of in a `finally` or by a library's `raise X from error`, and so on."""
    known: set[int] = set()
    while error is not None and id(error) not in known:
        known.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def replaced_by(error: BaseException | None, frame: int) -> AutographError | None:
    """The refusal that has left the body of a `with` in this frame, and in whose place one of the managers has raised this."""
    refusal = _local.told.pop(frame, None)
    return refusal if state.follows(error, _LEFT, refusal) else None


def refusal_of(error: BaseException | None) -> AutographError | None:
    """What an error refuses, as an exception that holds no frames; None for one that plain Python raises as well."""
    if isinstance(error, AutographError):
        kind, arguments = error.__reduce__()
        return kind(*arguments)  # pyright: ignore[reportCallIssue] - as it pickles itself
    of_ours = isinstance(error, TypeError | ValueError) and _OF_OURS.search(str(error))
    if error is None or not (of_ours or isinstance(error, _ABOUT_TRACERS)) or not jax_private.tracing():
        return None
    return StagingError(
        f"an error that only traced values make would be taken for the program's own: {_first_line(error)}",
        location=line_of(error),
        help="let it pass: name the errors that are meant, or ask before instead of trying",
    )


def _first_line(error: BaseException) -> str:
    return f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
