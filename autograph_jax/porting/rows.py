"""Which rows of an array count, where traced data says so: those of a mask, or those from one place on."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from .numbers import is_same_number


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

    @property
    def starts_first(self) -> bool:
        return isinstance(self.start, int) and self.start == 0

    def of(self, capacity: int) -> jax.Array:
        return jnp.arange(capacity) < self.count

    @property
    def origin(self) -> tuple[Any, ...]:
        return self.start, self.count

    def own(self) -> Window:
        return Window(0, self.count)

    def is_same(self, other: Any) -> bool:
        return isinstance(other, Window) and is_same_number(self.count, other.count)


Rows = Mask | Window


def refusal(use: str) -> PortingError:
    return PortingError(
        f"the shape of an array depends on traced data, and {use}",
        location=user_location(),
        details=["So it is with `x[mask]`, `x[:k]`, and an array that has another shape on another path."],
        help="np.where(mask, x, 0) keeps the shape",
    )


def taken(array: jax.Array, places: jax.Array, axis: int) -> jax.Array:
    """The rows at these places, of those beyond the ends the first or last one."""
    have = array.shape[axis]
    if not have:
        return jnp.zeros((*array.shape[:axis], len(places), *array.shape[axis + 1 :]), array.dtype)
    return jnp.take(array, jnp.clip(places, 0, have - 1), axis=axis)


def padded(array: jax.Array, axis: int, size: int) -> jax.Array:
    """`size` rows along an axis: the first ones, or these and as many of the last."""
    return array if array.shape[axis] == size else taken(array, jnp.arange(size), axis)


def over(mask: jax.Array, axis: int, ndim: int) -> jax.Array:
    """The mask of an axis, for arrays of so many."""
    return jnp.expand_dims(mask, tuple(other for other in range(ndim) if other != axis))


def spread(array: jax.Array, axis: int, mask: jax.Array) -> jax.Array:
    """One of the rows that count in place of each other one; where none counts, numbers that most functions are smooth at."""
    if not mask.size:
        return array
    one = jnp.take(array, jnp.argmax(mask)[None], axis=axis)
    if array.dtype.kind in "fc":
        near = jnp.nan_to_num(jax.lax.stop_gradient(one), posinf=0.0, neginf=0.0)
        one = jnp.where(jnp.any(mask), one, 0.75 + 0.2 * near / (1 + jnp.abs(near)))
    return jnp.where(over(mask, axis, array.ndim), array, one)


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
