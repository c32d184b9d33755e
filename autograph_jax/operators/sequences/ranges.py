"""What a `range` with traced bounds does beside being looped over: `r[i]`, `v in r`, `r.index(v)`, `r == other`."""

from __future__ import annotations

import builtins
from typing import Any, Self

import jax
import jax.numpy as jnp

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.comparisons import Comparing
from autograph_jax.operators.effects import checks
from autograph_jax.operators.sequences.bounded import as_python_int
from autograph_jax.operators.values.traced import is_traced


class RangeMethods(Comparing):
    """A range's operators and methods, of its start, stop, step and length."""

    start: Any
    stop: Any
    step: Any
    length: Any

    def __init__(self, start: Any, stop: Any, step: Any) -> None:
        raise NotImplementedError  # pragma: no cover - the range does it

    @property
    def as_condition(self) -> Any:
        """What decides in `if r`."""
        return self.length > 0

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._sliced(index)
        place = jnp.where(jnp.asarray(index) < 0, index + self.length, index)
        outside = jnp.logical_or(place < 0, place >= self.length)
        checks.raise_where(outside, IndexError("range object index out of range"))
        return self._at(place)

    def _sliced(self, index: slice) -> Self:
        step = 1 if index.step is None else index.step
        if is_traced(step):
            raise _refused("is sliced by a step that is not known")
        if step == 0:
            raise ValueError("slice step cannot be zero")
        first, last = (0, self.length) if step > 0 else (-1, self.length - 1)
        default = (first, last) if step > 0 else (last, first)
        start, stop = (
            other if bound is None else jnp.where(jnp.asarray(bound) < 0, bound + self.length, bound).clip(first, last)
            for bound, other in zip((index.start, index.stop), default, strict=True)
        )
        return type(self)(self._at(start), self._at(stop), self.step * step)

    def _at(self, place: Any) -> Any:
        return as_python_int(jnp.asarray(self.start + place * self.step))

    def contains(self, value: Any) -> Any:
        """`value in r`, as a traced bool."""
        if not isinstance(value, int | float | jax.Array):
            return False
        if jnp.ndim(value):
            raise _refused("is searched for an array")
        distance = value - self.start
        place = distance // self.step
        return (place * self.step == distance) & (place >= 0) & (place < self.length)

    def sum(self) -> Any:
        """Of all its numbers: by the first one, and the number of steps from it to each."""
        steps = self.length * (self.length - 1) // 2
        return as_python_int(jnp.asarray(self.start * self.length + self.step * steps))

    def count(self, value: Any) -> Any:
        """How often a value is in it: once, or not at all."""
        return as_python_int(jnp.asarray(self.contains(value)))

    def index(self, value: Any) -> Any:
        """Where a value is."""
        checks.raise_where(jnp.logical_not(self.contains(value)), ValueError("the value is not in range"))
        return as_python_int(jnp.asarray((value - self.start) // self.step))

    def equals(self, other: Any) -> Any:
        """`r == other`: two ranges are equal if they have the same elements."""
        if isinstance(other, builtins.range):
            other = type(self)(other.start, other.stop, other.step)
        if not isinstance(other, RangeMethods):
            return False
        same_steps = (self.length < 2) | (jnp.asarray(self.step) == other.step)
        same = jnp.logical_and(jnp.asarray(self.start) == other.start, same_steps)
        return jnp.logical_and(jnp.asarray(self.length) == other.length, jnp.logical_or(jnp.asarray(self.length) == 0, same))

    def __repr__(self) -> str:
        if any(map(is_traced, (self.start, self.stop, self.step))):
            return "<a range whose bounds are only known at run time>"
        return repr(builtins.range(int(self.start), int(self.stop), int(self.step)))


def _refused(use: str) -> StagingError:
    return StagingError(
        f"a range whose bounds are only known at run time {use}",
        location=user_location(),
        help="loop over it with `for`, or compute with its `start`, `stop` and `step`",
    )
