"""Which rows of an array count, where traced data says so: those of a mask, or those from one place on."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from .replacing import literal, parent_of, staged


@dataclasses.dataclass(frozen=True, eq=False)
class Mask:
    """The rows where it holds, in order. The array is the selection's own. `origin` tells two masks apart: what made it."""

    mask: jax.Array
    origin: tuple[Any, ...]
    start = 0

    def of(self, capacity: int) -> jax.Array:
        return self.mask

    @property
    def count(self) -> jax.Array:
        return jnp.sum(self.mask)

    def own(self) -> Mask:
        return self

    def is_same(self, other: Any) -> bool:
        if not isinstance(other, Mask) or self.mask.shape != other.mask.shape or len(self.origin) != len(other.origin):
            return False
        return all(one is another for one, another in zip(self.origin, other.origin, strict=True))


@dataclasses.dataclass(frozen=True, eq=False)
class Window:
    """So many rows of the array, from `start` on."""

    start: Any
    count: Any

    def of(self, capacity: int) -> jax.Array:
        return jnp.arange(capacity) < self.count

    @property
    def origin(self) -> tuple[Any, ...]:
        return self.start, self.count

    def own(self) -> Window:
        return Window(0, self.count)

    def is_same(self, other: Any) -> bool:
        return isinstance(other, Window) and self.count is other.count


# Module state: for the id of a traced number, itself and what it never exceeds. An entry goes when the number goes.
_bounds: dict[int, tuple[weakref.ref[Any], int]] = {}


def bounded(count: Any, bound: int) -> Any:
    """The number, of which is remembered that it never exceeds the bound: `np.zeros(len(x[m]))`."""
    for number in {id(one): one for one in (count, staged(count)) if isinstance(one, jax.Array)}.values():
        key = id(number)
        _bounds[key] = weakref.ref(number, lambda _, key=key: _bounds.pop(key, None)), bound
    return count


def bound_of(count: Any) -> int | None:
    """What a traced number never exceeds, if that is known: of `k + 1`, if it is known of k."""
    known = _bounds.get(id(count))
    if known is not None and known[0]() is count:
        return known[1]
    if (value := literal(count)) is not None:
        return value
    number = staged(count)
    if number is not count and number is not None:
        return bound_of(number)
    parent = parent_of(number)
    if parent is None or number is None or number.ndim or number.dtype.kind not in "iu":
        return None
    name = str(parent.primitive)
    if name not in ("add", "sub", "min", "convert_element_type"):
        return None
    first, second = (*map(bound_of, parent.in_tracers), None)[:2]
    if name == "convert_element_type":
        return first
    if name == "min":
        return min((bound for bound in (first, second) if bound is not None), default=None)
    if name == "sub":
        second = literal(parent.in_tracers[1])
    if first is None or second is None:
        return None
    return first - second if name == "sub" else first + second


def refusal(use: str) -> PortingError:
    return PortingError(
        f"the shape of `x[mask]` or `x[:k]` depends on traced data, and {use}",
        location=user_location(),
        help="np.where(mask, x, 0) keeps the shape",
    )


def others(ndim: int, axis: int) -> tuple[int, ...]:
    return tuple(other for other in range(ndim) if other != axis)


def padded(array: jax.Array, axis: int, size: int) -> jax.Array:
    """`size` rows along an axis: the first ones, or these and as many of the last."""
    have = array.shape[axis]
    return array if have == size else jnp.take(array, jnp.clip(jnp.arange(size), 0, max(have - 1, 0)), axis=axis)


def least(dtype: np.dtype) -> Any:
    return -np.inf if _ordered(dtype).kind == "f" else np.iinfo(dtype).min if dtype.kind in "iu" else False


def greatest(dtype: np.dtype) -> Any:
    return np.inf if _ordered(dtype).kind == "f" else np.iinfo(dtype).max if dtype.kind in "iu" else True


def last(dtype: np.dtype) -> Any:
    """What stands behind all others when they are in order: NaN, where there is one."""
    return np.nan if dtype.kind in "fc" else greatest(dtype)


def _ordered(dtype: np.dtype) -> np.dtype:
    if dtype.kind == "c":
        raise refusal("the greatest or least of complex numbers is asked for")
    return dtype
