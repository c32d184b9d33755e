"""Files in memory that a `print` writes into when the program runs: what is in them is not known before."""

from __future__ import annotations

import io
import weakref
from collections.abc import Callable
from typing import Any

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import jax_private

KINDS = (io.StringIO, io.BytesIO)  # what a staged block does to them itself is state, which is rolled back
_READING = frozenset("getvalue getbuffer read read1 readinto readline readlines seek tell truncate".split())
_written: weakref.WeakSet[Any] = weakref.WeakSet()  # module state: a file goes when nobody has it any more


def written_later(file: Any) -> None:
    """Remember that something will be printed into this file, if it is one in memory."""
    if isinstance(file, KINDS):
        _written.add(file)


def refused(method: Callable[..., Any]) -> Callable[..., Any] | None:
    """What refuses to read what is not there yet; None for any other method of a file in memory."""
    file, name = method.__self__, method.__name__

    def refuse(*_: Any, **__: Any) -> Any:
        raise StagingError(
            f"a file in memory is read (`{name}`) before what is printed into it is there",
            location=user_location(),
            details=["Under tracing, `print` writes when the program runs."],
            help="read it after the call, or put the text together with an f-string",
        )

    return refuse if name in _READING and file in _written and jax_private.tracing() else None
