"""Calls that give something else each time: an iterator's next element, a random number of Python's or NumPy's, the time.

A staged block is traced once and runs many times, so these can't stand in one. Where a loop may run in Python as well, the
refusal makes it do so, before anything is taken.
"""

from __future__ import annotations

import builtins
import datetime
import random
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from autograph_jax.errors import StagingError, is_user_frame, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import given, state
from autograph_jax.operators.tracing.positions import Position, position

GENERATORS = (random.Random, np.random.Generator, np.random.RandomState)


@given.taker
def next_(iterator: Any, *default: Any) -> Any:
    check_iterator(iterator)
    return builtins.next(iterator, *default)


def check_iterator(iterator: Any) -> None:
    """Refuse to take elements of an iterator that is older than the staged block."""
    if state.is_older(iterator):
        raise _advanced()


def check_untouched(iterators: Sequence[tuple[Any, Position]]) -> None:
    """Refuse a block that has taken elements of older iterators by what asks nobody: `list(it)`, `a, b = it`."""
    if any(position(iterator) != before for iterator, before in iterators):
        raise _advanced()


def _advanced() -> StagingError:
    return StagingError(
        "an iterator is advanced in a block that traced data decides about",
        location=user_location(),
        details=["The block is traced once; each run of it would get the same element."],
        help="index a sequence instead, or take the elements before: `keys = jax.random.split(key, n)`",
    )


def check_loop(iterable: Any, references: int) -> None:
    """The same for a loop over an iterator that a variable holds. A temporary, `zip(a, b)` in the `for`, is fresh."""
    if isinstance(iterable, Iterator) and sys.getrefcount(iterable) > references:
        check_iterator(iterable)


def is_held(iterator: Any, references: int) -> bool:
    """Does a variable hold this iterator, so that somebody may go on with it after the loop?"""
    return sys.getrefcount(iterator) > references


def check(function: Any) -> None:
    """Refuse numbers from generators that don't know about tracing, and the time."""
    if not state.traces():
        return
    if isinstance(getattr(function, "__self__", None), GENERATORS):
        raise StagingError(
            "a random number of Python's or NumPy's is drawn in a block that traced data decides about",
            location=user_location(),
            details=["The block is traced once; each run of it would get the same number."],
            help="use jax.random with a key that the loop splits: `key, sub = jax.random.split(key)`",
        )
    if _is_new_each_time(function):
        raise StagingError(
            f"`{function.__name__}` is called in a block that traced data decides about",
            location=user_location(),
            details=["It gives something else each time. The block is traced once; each run of it would get the same."],
            help="call it before the block; or at run time, by a callback: `jax.experimental.io_callback`",
        )
    if function in _CLOCKS:
        raise StagingError(
            "the time is asked for in a block that traced data decides about",
            location=user_location(),
            details=["The block is traced once; each run of it would get the same time."],
            help="ask before the block; or at run time, by a callback: `jax.experimental.io_callback`",
        )


_CLOCKS = frozenset({
    time.time, time.time_ns, time.perf_counter, time.perf_counter_ns, time.monotonic, time.monotonic_ns, time.process_time,
    time.process_time_ns, time.thread_time, time.ctime, datetime.datetime.now, datetime.datetime.today, datetime.date.today,
})  # fmt: skip


# Functions that give something else each time, by their modules; all of them where there is None.
_NEW_EACH_TIME = {
    "uuid": ("uuid1", "uuid4"), "posix": ("urandom", "getrandom"), "nt": ("urandom",), "builtins": ("input",),
    "secrets": None, "tempfile": None,
}  # fmt: skip


def _is_new_each_time(function: Any) -> bool:
    module = getattr(function, "__module__", None)
    if not isinstance(module, str) or module not in _NEW_EACH_TIME:
        return False
    names = _NEW_EACH_TIME[module]
    return names is None or function.__name__ in names


def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **options: Any) -> None:
    """`warnings.warn`, whose `stacklevel` counts the user's functions: not ours, and not the blocks of one function."""
    frame, level = sys._getframe(1), 1
    remaining = stacklevel - 1
    while frame.f_back is not None and remaining > 0:
        leaves_function = not hooks.is_block(frame.f_code)
        frame, level = frame.f_back, level + 1
        while frame.f_back is not None and not is_user_frame(frame):
            frame, level = frame.f_back, level + 1
        remaining -= leaves_function
    warnings.warn(message, category, level + 1, source, **options)
