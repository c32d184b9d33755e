"""`x[i:j] = v` where traced data says where the slice begins or ends: all of the axis, and which elements are in the slice."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.effects import checks
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.porting.replacing import replaced

_ALL = slice(None)


@dataclasses.dataclass(frozen=True)
class Span:
    """A slice of an axis: which elements are in it, the number of each there, and how many there are."""

    inside: jax.Array
    places: jax.Array
    length: jax.Array


@dataclasses.dataclass(frozen=True)
class Spanned:
    """`x[i:j]` on the way to being written back: `values` of all of the axes that have a span, by the number of each."""

    values: jax.Array
    spans: Mapping[int, Span]
    place: tuple[Any, ...]  # the index that reads all of these axes

    def inside(self) -> jax.Array:
        mask = jnp.ones((), bool)
        for axis, span in self.spans.items():
            mask = mask & span.inside.reshape((-1,) + (1,) * (self.values.ndim - axis - 1))
        return mask

    def spread(self, value: Any) -> Any:
        """What is written, each element where it belongs. NumPy's error at run time where there are more or fewer of them."""
        if isinstance(value, bool | int | float | complex):
            return value
        value = jnp.asarray(value)
        value = value.squeeze(tuple(range(max(0, value.ndim - self.values.ndim))))
        for axis, span in self.spans.items():
            at = axis - self.values.ndim + value.ndim
            if at < 0 or value.shape[at] == 1:
                continue
            count = value.shape[at]
            error = ValueError(f"could not broadcast input array of {count} elements into a slice of another length")
            checks.raise_where(span.length != count, error)
            value = jnp.take(value, span.places, axis=at, mode="clip") if count else jnp.zeros((), value.dtype)
        return value

    def written(self, array: jax.Array, value: Any) -> jax.Array:
        """The array with the value in the slice."""
        is_all = all(part == _ALL for part in self.place if isinstance(part, slice)) and self.values.ndim == array.ndim
        old = array if is_all else array[self.place]
        new = jnp.where(self.inside(), jnp.broadcast_to(value, old.shape), old)
        return new if is_all else replaced(array, self.place, new)


def spanned(array: jax.Array, index: Any) -> Spanned | None:
    """What an index with such slices in it takes; None if there is none, or anything but integers and slices beside it."""
    parts = index if isinstance(index, tuple) else (index,)
    if not any(map(_is_open, parts)) or (parts := _of_each_axis(parts, array.ndim)) is None:
        return None
    spans: dict[int, Span] = {}
    place: list[Any] = []
    axis = 0  # of what is taken
    for part, size in zip(parts, array.shape, strict=True):
        is_open = _is_open(part)
        if is_open:
            spans[axis] = _span(part, size)
        place.append(_ALL if is_open else part)
        axis += isinstance(part, slice)
    return Spanned(array[tuple(place)], spans, tuple(place))


def _is_open(part: Any) -> bool:
    """Is it a slice with a bound that is only known at run time, and a step that goes forward?"""
    if not isinstance(part, slice) or not (part.step is None or isinstance(part.step, int) and part.step > 0):
        return False
    bounds = [bound for bound in (part.start, part.stop) if bound is not None]
    return any(map(is_traced, bounds)) and all(map(_is_integer, bounds))


def _is_integer(bound: Any) -> bool:
    if isinstance(bound, jax.Array):
        return bound.ndim == 0 and jnp.issubdtype(bound.dtype, jnp.integer)
    return isinstance(bound, int | np.integer) and not isinstance(bound, bool)


def _of_each_axis(parts: tuple[Any, ...], ndim: int) -> tuple[Any, ...] | None:
    at = next((place for place, part in enumerate(parts) if part is ...), None)
    if at is not None:
        parts = (*parts[:at], *[_ALL] * (ndim - len(parts) + 1), *parts[at + 1 :])
    if len(parts) > ndim or not all(isinstance(part, slice) or _is_integer(part) for part in parts):
        return None
    return (*parts, *[_ALL] * (ndim - len(parts)))


def _span(part: slice, size: int) -> Span:
    start, stop, step = _bound(part.start, 0, size), _bound(part.stop, size, size), part.step or 1
    position = jnp.arange(size)
    inside = (position >= start) & (position < stop) & ((position - start) % step == 0)
    return Span(inside, (position - start) // step, jnp.maximum(0, (stop - start + step - 1) // step))


def _bound(bound: Any, otherwise: int, size: int) -> jax.Array:
    """Python's reading of a bound: negative ones count from the end, and none is outside."""
    bound = jnp.asarray(otherwise if bound is None else bound).astype(int)
    return jnp.clip(jnp.where(bound < 0, bound + size, bound), 0, size)
