"""What a ported function gives where traced data decides how many elements there are: an array of fixed size, and a length."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location


class Padded:
    """An array of which only the first `length` rows count, along one axis.

    `padded(fill)` is the array with `fill` in the other rows, `mask` tells which count. Indices are those of the rows that
    count: `y[-1]` is the last of them. `jnp.asarray` gives `padded(0)`.
    """

    def __init__(self, values: jax.Array, length: Any, axis: int = 0) -> None:
        self._values, self._length, self.axis = values, length, axis

    @property
    def length(self) -> Any:
        """How many rows count: an integer, traced while a function is."""
        return self._length

    @property
    def capacity(self) -> int:
        return self._values.shape[self.axis]

    @property
    def mask(self) -> jax.Array:
        """Of each row of `padded`: does it count?"""
        return jnp.arange(self.capacity) < self._length

    def padded(self, fill: Any = 0) -> jax.Array:
        """The array, with `fill` in the rows that do not count."""
        over = jnp.expand_dims(self.mask, tuple(axis for axis in range(self._values.ndim) if axis != self.axis))
        return jnp.where(over, self._values, jnp.asarray(fill, self._values.dtype))

    def __jax_array__(self) -> jax.Array:
        return self.padded()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.padded(), dtype)

    def __getitem__(self, key: Any) -> jax.Array:
        parts = key if isinstance(key, tuple) else (key,)
        used = sum(part is not ... for part in parts)
        full = (slice(None),) * (self._values.ndim - used)
        parts = [one for part in (parts if ... in parts else (*parts, ...)) for one in (full if part is ... else (part,))]
        at = parts[self.axis]
        if isinstance(at, slice) and at != slice(None):
            raise PortingError(
                "rows of a padded array are taken by a slice, and how many there are is only known at run time",
                location=user_location(),
                help="`y.padded(fill)` is an ordinary array, `y.mask` tells which of its rows count",
            )
        if not isinstance(at, slice):
            at = at if isinstance(at, jax.Array) else operator.index(at)
            parts[self.axis] = jnp.where(jnp.asarray(at) < 0, at + self._length, at)
        return self.padded()[tuple(parts)]

    def __repr__(self) -> str:
        return f"Padded({self._values!r}, length={self._length}, axis={self.axis})"


jax.tree_util.register_pytree_node(Padded, lambda p: ((p._values, p._length), p.axis), lambda axis, parts: Padded(*parts, axis))
