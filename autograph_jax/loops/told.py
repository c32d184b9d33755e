"""What is optimised, and what is not and why, told to whoever listens while a loop is compiled: `ag.explain`."""

from __future__ import annotations

import contextlib
import contextvars
from collections.abc import Iterator
from typing import Any, NamedTuple


class Told(NamedTuple):
    """Of an equation of a program: what is done with it, or why it is not."""

    equation: Any
    name: str  # of the optimisation
    what: str
    is_done: bool = True


_heard: contextvars.ContextVar[list[Told] | None] = contextvars.ContextVar("heard", default=None)


@contextlib.contextmanager
def listening() -> Iterator[list[Told]]:
    """Meanwhile all that is told is put into this list."""
    heard: list[Told] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


def is_heard() -> bool:
    return _heard.get() is not None


def tell(equation: Any, name: str, what: str, *, is_done: bool = True) -> None:
    if (heard := _heard.get()) is not None:
        heard.append(Told(equation, name, what, is_done))


@contextlib.contextmanager
def trying() -> Iterator[None]:
    """What is told meanwhile is of a program that is not taken."""
    heard = _heard.get()
    count = len(heard) if heard is not None else 0
    yield
    if heard is not None:
        del heard[count:]
