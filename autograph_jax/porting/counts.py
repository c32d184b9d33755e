"""What a traced integer is at least and at most, by its equations so far: `k` after `while k < 4 and x[k] > 0`."""

from __future__ import annotations

import types
from typing import Any

import jax
import jax.core
import numpy as np

from . import hooks, numbers
from .replacing import literal, outside, parent_of, staged

Span = tuple[int, int] | None  # both included
_LARGEST = 1 << 20  # what may be greater has no bound, as far as arrays are made by it
_MOST = 500  # equations that are looked at


def most_of(number: Any) -> int | None:
    """What a traced integer never exceeds, of those that are a number of rows."""
    span = _span(number, {})
    return span[1] if span is not None and span[1] <= _LARGEST else None


def _span(number: Any, found: dict[int, Span]) -> Span:
    """What is known of a number; `found` keeps it by id, for a number that is used more than once."""
    if not isinstance(number, jax.core.Tracer):
        return _of_known(number)
    if number.dtype.kind not in "biu" or len(found) > _MOST:
        return None
    if id(number) not in found:
        found[id(number)] = None
        found[id(number)] = _narrowed(number, _computed(number, found))
    return found[id(number)]


def _of_known(number: Any) -> Span:
    array = np.asarray(number)
    return (int(array.min()), int(array.max())) if array.size and array.dtype.kind in "biu" else None


def _narrowed(number: Any, span: Span) -> Span:
    """With what is remembered of it."""
    most, is_natural = numbers.noted_bound(number), numbers.is_noted_natural(number)
    if span is None and most is None:
        return None
    least, largest = span or (np.iinfo(number.dtype).min, most or 0)
    return max(least, 0) if is_natural else least, largest if most is None else min(largest, most)


def _computed(number: Any, found: dict[int, Span]) -> Span:
    own = staged(number)
    if own is None:  # of jax.vmap alone, without jax.jit
        known = getattr(number, "val", None)
        return _of_known(known) if isinstance(known, jax.Array) and not isinstance(known, jax.core.Tracer) else None
    if own is not number:
        return _span(own, found)
    if (value := literal(own)) is not None:
        return value, value
    if (parent := parent_of(own)) is None:
        return None if (value := outside(own)) is None else _span(value, found)
    given = tuple(_span(one, found) for one in parent.in_tracers)
    equation = types.SimpleNamespace(
        primitive=parent.primitive, params=parent.params, invars=parent.in_tracers, outvars=parent.outvars
    )
    spans = hooks.spans_left_by(equation, given)
    return next((span for out, span in zip(parent.outvars, spans, strict=False) if out is own.val), None)
