"""What a `for` runs over without asking Python for each element: arrays, ranges, and zip, enumerate, reversed of these.

`range`, `enumerate`, `zip` and `reversed` of traced values give these views; `view` finds the view of anything else.
"""

from __future__ import annotations

import builtins
import itertools
import operator
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.effects import checks
from autograph_jax.operators.sequences import bounded, lists, taking
from autograph_jax.operators.sequences.ranges import RangeMethods
from autograph_jax.operators.sequences.rows import (
    BoundedRows,
    Count,
    Indexed,
    ListRows,
    LiveRows,
    Reversed,
    Rows,
    SelectedRows,
    SeveralRows,
    View,
    Zip,
    at_most,
    most_of,
    one_shot,
)
from autograph_jax.operators.sequences.several import Several
from autograph_jax.operators.tracing import state
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.narrowed import narrowed
from autograph_jax.operators.values.selection import not_none
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting import numbers
from autograph_jax.porting.arrays import MutableArray
from autograph_jax.porting.selections import Selection


def live(array: Any, read: Callable[[], Any] | None) -> Any:
    """What a loop runs over whose body writes the array. Lists show the writes by themselves.

    `read` gives the array as it is by then; None where the body gives the variable another array, too.
    """
    of_numpys = type(array) is np.ndarray and jax_private.tracing() and not hooks.is_porting()  # a traced value makes it JAX's
    if not (isinstance(array, jax.Array) or of_numpys) or array.ndim == 0:
        return array
    if read is None and of_numpys:
        return array
    if read is None:
        raise AliasError(
            "an array is written in place in the loop that runs over it, and the loop may run over another array as well",
            location=user_location(),
            help="loop over a copy, `for v in x.copy()`, or over the indices",
        )
    return LiveRows(array, read)


class Range(RangeMethods, View):
    """`range(start, stop, step)` with traced bounds, or a static one that is to be staged."""

    can_begin_late = True

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        zero = ValueError("range() arg 3 must not be zero")
        if is_traced(step):
            checks.raise_where(step == 0, zero)
        elif step == 0:
            raise zero
        self.start, self.stop, self.step = start, stop, step
        self.traced = any(is_traced(bound) for bound in (start, stop, step))
        self.length = _range_length(start, stop, step) if self.traced else len(builtins.range(start, stop, step))

    def element(self, index: Any, slices: Sequence[Any]) -> Any:
        scaled = index if isinstance(self.step, int) and self.step == 1 else index * self.step
        number = scaled if isinstance(self.start, int) and self.start == 0 else self.start + scaled
        is_known = isinstance(self.start, int) and isinstance(self.step, int)
        return numbers.natural(number) if is_known and self.start >= 0 and self.step > 0 else number

    def reversed(self) -> Range:
        return Range(self.start + (self.length - 1) * self.step, self.start - self.step, -self.step)


class Endless(Range):
    """`itertools.count(start, step)` that a loop takes from the beginning: as far as a program can count."""

    can_begin_late = False

    def __init__(self, start: int, step: int) -> None:
        most = int(jnp.iinfo(jnp.result_type(int)).max)
        super().__init__(start, most if step > 0 else -most, step)


def endless(iterable: Any) -> Endless | None:
    """The view of an `itertools.count` of integers; None for anything else."""
    shown = _COUNT.fullmatch(repr(iterable)) if type(iterable) is itertools.count else None
    step = int(shown[2] or 1) if shown else 0
    return Endless(int(shown[1]), step) if shown and step else None


_COUNT = re.compile(r"count\((-?\d+)(?:, (-?\d+))?\)")


def _range_length(start: Any, stop: Any, step: Any) -> Any:
    if isinstance(step, int):
        distance = stop - start if step > 0 else start - stop
        steps = distance if abs(step) == 1 else (distance + (abs(step) - 1)) // abs(step)
        most = most_of(stop) if step > 0 and isinstance(start, int) else None
        return at_most(jnp.maximum(steps, 0), most if most is None else len(builtins.range(start, most, step)))
    size = jnp.maximum(jnp.abs(step), 1)  # zero is an error; if XLA knew it, dividing by it would end the process
    return jnp.maximum((jnp.where(step > 0, stop - start, start - stop) + size - 1) // size, 0)


def view(iterable: Any) -> View | None:
    """The view of an iterable that a staged loop can run over; None for what only Python can iterate."""
    if isinstance(iterable, View):
        return iterable if iterable.is_fresh() else None
    if isinstance(iterable, jax.Array | np.ndarray) and iterable.ndim > 0 and _is_numeric(iterable):
        return Rows(iterable)
    if isinstance(iterable, builtins.range):
        return Range(iterable.start, iterable.stop, iterable.step)
    if isinstance(iterable, bounded.Bounded):
        return BoundedRows(iterable)
    if _is_selection(iterable):
        return SelectedRows(iterable)
    if _is_open_list(iterable):
        return SeveralRows(iterable)
    array = lists.rows_of_one(iterable)
    return ListRows(array, list(iterable)) if array is not None else None


def of_open_length(values: Any) -> View | None:
    """The view of what traced data decides the length of; None for anything else."""
    rows = view(values) if _goes_along(values) else None
    return rows if rows is not None and is_traced(rows.length) else None


def _is_numeric(array: Any) -> bool:
    return isinstance(array, jax.Array) or array.dtype.kind in "biufc"


def _is_traced_iterable(value: Any) -> bool:
    return isinstance(value, View) or isinstance(value, jax.Array) and value.ndim > 0 or _is_selection(value)


def _goes_along(value: Any) -> bool:
    """Can `enumerate` and `zip` give views of it?"""
    return _is_traced_iterable(value) or isinstance(value, bounded.Bounded) or _is_open_list(value)


def _is_open_list(value: Any) -> TypeGuard[Several]:
    return isinstance(value, Several) and value.is_open


def _is_selection(value: Any) -> TypeGuard[Selection]:
    return isinstance(value, Selection) and 0 in value.rows


def iterated(iterable: Any) -> Any:
    """What is gone through: on a path where it is None, an error of the run."""
    if type(iterable) is not Choice:
        return iterable
    return narrowed(iterable, lambda option: option is not None, lambda: TypeError("'NoneType' object is not iterable"))


# Python's builtins of the same names


def range_(*bounds: Any) -> Any:
    """`range`: Python's own for plain integers, a view for traced ones."""
    bounds = tuple(_plain_integer(bound) for bound in bounds)
    if not any(is_traced(bound) for bound in bounds):
        return builtins.range(*bounds)
    for bound in bounds:
        if not isinstance(bound, int) and (bound.shape or not jnp.issubdtype(bound.dtype, jnp.integer)):
            raise TypeError(f"'{bound.dtype}{list(bound.shape)}' object cannot be interpreted as an integer")
    bounds = tuple(bound if isinstance(bound, int) else _python_int(bound) for bound in bounds)
    start, stop, step = (0, *bounds, 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    return Range(start, stop, step)


def _python_int(bound: Any) -> Any:
    return at_most(bounded.as_python_int(bound), most_of(bound))


def _plain_integer(bound: Any) -> Any:
    """A bound as a Python int where it has a value; under an eager `jax.grad` a tracer has one too."""
    bound = not_none(bound)
    return bound if is_traced(bound) else operator.index(bound)


def _read(iterable: Any) -> Any:
    """What is gone through, and not written meanwhile: one list where traced data has chosen between some of open length."""
    iterable = iterated(iterable)
    if type(iterable) is Choice and all(type(option) is bounded.Bounded for option in iterable._options):
        return bounded.one_of(iterable._index, iterable._options)
    return iterable


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    iterable = _read(iterable)
    if not _goes_along(iterable) and not is_traced(start):
        return builtins.enumerate(iterable, start)
    if is_traced(start) and jnp.issubdtype(start.dtype, jnp.integer):
        start = bounded.as_python_int(start)
    rows = view(iterable)
    if rows is None or is_traced(rows.length) and not isinstance(rows.length, jax.Array):
        return builtins.zip(itertools.count(start), iterable) if is_traced(start) else builtins.enumerate(iterable, start)
    return one_shot(Zip([Count(start), rows]))


def zip_(*iterables: Any, strict: bool = False) -> Any:
    iterables = tuple(map(_read, iterables))
    views = [one for one in map(_beside_open if _is_any_open(iterables) else view, iterables) if one is not None]
    lengths = [v.length for v in views]
    parted = strict and (any(map(is_traced, lengths)) or len(set(lengths)) > 1)
    parted = parted or not jax_private.tracing() and any(type(one) is np.ndarray for one in iterables)  # which may be written
    if parted or not any(map(_goes_along, iterables)) or len(views) < len(iterables) or _has_twice(views):
        return builtins.zip(*builtins.map(taking.taken, iterables), strict=strict)
    return one_shot(Zip(views, strict=strict))


def _is_any_open(values: Sequence[Any]) -> bool:
    return hooks.is_porting() and any(of_open_length(value) is not None for value in values)


def _beside_open(values: Any) -> View | None:
    """The view of what `zip` takes beside something of a length that traced data decides."""
    rows = view(values)
    return Indexed(values) if rows is None and type(values) in (list, tuple, MutableArray) else rows


def _has_twice(views: Sequence[View]) -> bool:
    """Is one iterator among these more than once? `zip(it, it)` gives pairs of what comes one after the other."""
    found = [id(part) for part in _parts(views) if part.one_shot]
    return len(set(found)) < len(found)


def _parts(views: Sequence[View]) -> Iterator[View]:
    for one in views:
        yield one
        yield from _parts(one.views) if isinstance(one, Zip) else ()


def iter_(iterable: Any, *end: Any) -> Any:
    is_array = not end and isinstance(iterable, jax.Array) and iterable.ndim > 0
    return state.made(one_shot(Rows(iterable)) if is_array else builtins.iter(iterable, *end))


def reversed_(sequence: Any) -> Any:
    sequence = _read(sequence)
    if isinstance(sequence, Range):
        return one_shot(sequence.reversed())
    if isinstance(sequence, bounded.Bounded):
        return one_shot(BoundedRows(sequence[::-1]))
    if _is_traced_iterable(sequence) and (rows := view(sequence)) is not None:
        return one_shot(Reversed(rows))
    return builtins.reversed(sequence)
