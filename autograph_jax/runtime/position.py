"""What is known about the statement that a running converted function is at: what is read later, what decides a loop."""

from __future__ import annotations

import bisect
import functools
import itertools
import keyword
import types
from collections.abc import Callable
from typing import TypeVar

from autograph_jax.operators import hooks
from autograph_jax.operators.tracing import bytecode
from autograph_jax.runtime.convert import conversion_of_code
from autograph_jax.runtime.spans import Position, Span

T = TypeVar("T")


def read_later(frame: types.FrameType) -> Span | None:
    """The variables of a converted function whose values may be read after the statement that it is at; else None.

    Its `roots` are variables whose containers are, while they themselves are given anew.
    """
    conversion = conversion_of_code(frame.f_code)
    if conversion is None or conversion.spans is None:
        return None
    known = conversion.span_at.get(frame.f_lasti)
    if known is None:
        known = conversion.span_at[frame.f_lasti] = _innermost(conversion.spans.all, extent_at(frame)[0])
    return known


def told_once(look: Callable[[types.FrameType], T]) -> Callable[[types.FrameType], T]:
    """Of what a frame's code and the instruction that it is at say alone: it is asked for in each write that runs below it."""

    @functools.wraps(look)
    def known(frame: types.FrameType) -> T:
        conversion = conversion_of_code(frame.f_code)
        if conversion is None:
            return look(frame)
        key = look.__name__, frame.f_lasti
        if key not in conversion.told_at:
            conversion.told_at[key] = look(frame)
        return conversion.told_at[key]

    return known


def _innermost(spans: list[Span], position: Position) -> Span:
    first = bisect.bisect_right(spans, position, key=lambda span: span.start)
    enclosing = [span for span in spans[:first] if span.end > position]
    return enclosing[-1] if enclosing else Span((0, 0), (0, 0), frozenset())


def extent_at(frame: types.FrameType) -> tuple[Position, Position]:
    """Where the expression that a frame is at begins and ends."""
    positions = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    line, last, column, end = next(positions)
    return (line or frame.f_lineno, column or 0), (last or frame.f_lineno, end or 0)


def calls_after(frame: types.FrameType) -> bool:
    """Is there another call at the same place, after the one that a frame is at?"""
    here, *later = itertools.islice(frame.f_code.co_positions(), frame.f_lasti // 2, None)
    calls = {one.offset for one in bytecode.instructions(frame.f_code) if one.opname.startswith("CALL")}
    return any(place == here and frame.f_lasti + 2 * n in calls for n, place in enumerate(later, start=1))


def _is_block(code: types.CodeType) -> bool:
    conversion = conversion_of_code(code)
    return conversion is not None and conversion.is_block


def _is_users(frame: types.FrameType, name: str) -> bool:
    conversion = conversion_of_code(frame.f_code)
    is_variable = name.isidentifier() and not keyword.iskeyword(name)  # no part of an expression, no `return`
    return not is_variable or conversion is None or conversion.names is None or conversion.names.is_users(name)


def deciding_names(frame: types.FrameType) -> frozenset[str] | None:
    """What decides about the while loop that a converted function is at; None where it is not known."""
    conversion = conversion_of_code(frame.f_code)
    if conversion is None or conversion.deciding is None:
        return None
    return conversion.deciding.get(extent_at(frame)[0])


hooks.deciding_names = deciding_names
hooks.read_later = read_later
hooks.is_block = _is_block
hooks.is_users = _is_users
