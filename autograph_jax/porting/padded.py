"""What a ported function gives where traced data decides how many elements there are: an array of fixed size, and a length."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from .rows import over


class Padded:
    """An array of which only the first `length` rows count, along one axis or along each of several.

    `padded(fill)` is the array with `fill` in place of what does not count, `mask` tells what does. Indices are those of the
    rows that count: `y[-1]` is the last of them. `jnp.asarray` gives `padded(0)`. Along several axes, `axis` and `length` are
    tuples, and the mask has all axes.
    """

    def __init__(self, values: jax.Array, lengths: Mapping[int, Any]) -> None:
        self._values, self.lengths = values, dict(lengths)

    @property
    def axis(self) -> Any:
        """Along which axis."""
        return _only(tuple(self.lengths))

    @property
    def length(self) -> Any:
        """How many rows count: an integer, traced while a function is."""
        return _only(tuple(self.lengths.values()))

    @property
    def capacity(self) -> Any:
        return _only(tuple(self._values.shape[axis] for axis in self.lengths))

    @property
    def mask(self) -> jax.Array:
        """Of each row of `padded`: does it count? Along several axes, of each element."""
        if len(self.lengths) > 1:
            return jnp.broadcast_to(self._over(), self._values.shape)
        return jnp.arange(self.capacity) < self.length

    def _over(self) -> jax.Array:
        ndim = self._values.ndim
        masks = [over(jnp.arange(self._values.shape[axis]) < length, axis, ndim) for axis, length in self.lengths.items()]
        return functools.reduce(jnp.logical_and, masks)

    def padded(self, fill: Any = 0) -> jax.Array:
        """The array, with `fill` in place of what does not count."""
        return jnp.where(self._over(), self._values, jnp.asarray(fill, self._values.dtype))

    def __jax_array__(self) -> jax.Array:
        return self.padded()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.padded(), dtype)

    def __getitem__(self, key: Any) -> jax.Array:
        parts = key if isinstance(key, tuple) else (key,)
        used = sum(part is not ... for part in parts)
        full = (slice(None),) * (self._values.ndim - used)
        parts = [one for part in (parts if ... in parts else (*parts, ...)) for one in (full if part is ... else (part,))]
        for axis, length in self.lengths.items():
            at = parts[axis]
            if isinstance(at, slice) and at != slice(None):
                raise PortingError(
                    "rows of a padded array are taken by a slice, and how many there are is only known at run time",
                    location=user_location(),
                    help="`y.padded(fill)` is an ordinary array, `y.mask` tells which of its rows count",
                )
            if not isinstance(at, slice):
                at = at if isinstance(at, jax.Array) else operator.index(at)
                parts[axis] = jnp.where(jnp.asarray(at) < 0, at + length, at)
        return self.padded()[tuple(parts)]

    def __repr__(self) -> str:
        return f"Padded({self._values!r}, length={self.length}, axis={self.axis})"


def _only(parts: tuple[Any, ...]) -> Any:
    return parts[0] if len(parts) == 1 else parts


jax.tree_util.register_pytree_node(
    Padded,
    lambda p: ((p._values, *p.lengths.values()), tuple(p.lengths)),
    lambda axes, parts: Padded(parts[0], dict(zip(axes, parts[1:], strict=True))),
)
