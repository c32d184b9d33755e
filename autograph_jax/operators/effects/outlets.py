"""What a staged block writes into files and logs, and its warnings: at run time, as `print` does."""

from __future__ import annotations

import io
import logging
import sys
import warnings
from collections.abc import Callable
from typing import Any

from autograph_jax.errors import user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.effects import in_memory, managers, printing, texts
from autograph_jax.operators.effects.texts import Text
from autograph_jax.operators.tracing import impure, state

Function = Callable[..., Any]
_LEVELS = {
    "debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING, "error": logging.ERROR,
    "critical": logging.CRITICAL, "fatal": logging.CRITICAL,
}  # fmt: skip


# Asked for first, by classes in C, or plain ones: near Python's limit of recursion few frames are left.
_FILE = next(kind for kind in io.IOBase.__mro__ if type(kind) is type)
OWNERS: Any = (_FILE, logging.Logger, logging.LoggerAdapter)


def method(function: Any) -> Function | None:
    """What stands for a method of a file or a logger that writes; None where this is no such method."""
    owner, name = function.__self__, function.__name__
    if isinstance(owner, _FILE):
        if name not in ("write", "writelines"):
            return in_memory.refused(function)
        stream = next((stream for stream in ("stdout", "stderr") if owner is getattr(sys, stream)), None)
        if stream is not None:
            return _writing(function, lambda content: getattr(getattr(sys, stream), name)(content))
        return _writing(function, function) if not isinstance(owner, in_memory.KINDS) else None
    if isinstance(owner, logging.Logger | logging.LoggerAdapter) and name in (*_LEVELS, "log"):
        return _logging(function, owner)
    return None


def _is_later(values: Any) -> bool:
    return bool(state.traces()) or texts.is_open(values)


def _writing(write: Function, later: Function) -> Function:
    """`later` is what is called at run time: Python's own streams may be others by then."""

    def apply(content: Any) -> Any:
        if not _is_later((content,)):
            return write(content)
        content = list(content) if write.__name__ == "writelines" else content
        printing.at_run_time(lambda known: later(_python(known[0])), (content,))
        return len(content) if isinstance(content, str | bytes) and write.__name__ == "write" else None

    return apply


def _python(content: Any) -> Any:
    """Python's own text, where values of the run stand in it."""
    if isinstance(content, list | tuple):
        return [_python(part) for part in content]
    return str(content) if isinstance(content, Text) else content


def _logging(log: Function, logger: logging.Logger | logging.LoggerAdapter[Any]) -> Function:
    """A message of a level that is switched off while the code is traced costs nothing when it runs. None of ported code."""

    def apply(*arguments: Any, **keywords: Any) -> None:
        level = _LEVELS.get(log.__name__) or (arguments[0] if arguments else keywords.get("level"))
        arguments = tuple(map(texts.both, arguments))
        if not _is_later(arguments):
            log(*arguments, **keywords)
        elif not hooks.is_porting() and (not isinstance(level, int) or logger.isEnabledFor(level)):
            printing.at_run_time(lambda known: log(*known, **keywords), arguments)

    return apply


def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    """`warnings.warn`; in a staged block at run time, with the line that asks for it."""
    kind = category or (type(message) if isinstance(message, Warning) else UserWarning)
    message = texts.of_objects(message, "s")
    if not _is_later((message,)):
        impure.warn(message, category, stacklevel + 1, source, **options)
        return
    place = user_location()
    if managers.is_ignored(kind):
        return
    file, line = (place.filename, place.line) if place is not None else ("<unknown>", 1)
    printing.at_run_time(lambda known: warnings.warn_explicit(_python(known[0]), kind, file, line), (message,))


OVERRIDES: dict[Any, Function] = {
    warnings.warn: warn,
    **{getattr(logging, name): _logging(getattr(logging, name), logging.getLogger()) for name in (*_LEVELS, "log")},
}
