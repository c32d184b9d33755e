"""`ag.max_len`: a list with a bound on its length. In plain Python, a list that refuses to grow beyond it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import jax
import numpy as np

from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.sequences import bounded


def max_len(values: Iterable[Any], capacity: int) -> Any:
    """A list that starts with `values` and never has more than `capacity` elements.

    Under tracing, elements may then be added in a branch, or in a loop whose number of turns depends on traced data. They have
    to be alike: numbers, arrays of one shape, or tuples, lists and dicts of these.

        >>> import jax, autograph_jax as ag
        >>> @ag.autograph
        ... def positive(v):
        ...     kept = ag.max_len([], 10)
        ...     for x in v:
        ...         if x > 0:
        ...             kept.append(x)
        ...     return kept.padded(fill=-1.0)[:4], len(kept)
        >>> values, count = jax.jit(positive)(jax.numpy.array([3.0, -2.0, 5.0]))
        >>> values
        Array([ 3.,  5., -1., -1.], dtype=float32)
        >>> int(count)
        2

    The list has `append`, `extend`, `insert`, `pop`, `remove`, `reverse`, `sort`, `index`, `count`, indexing, slices, `len`,
    `for`, `reversed`, `in`, `sum`, `min`, `max`, `any`, `all` and `sorted`. Also, `padded(fill)` is an array of `capacity`
    rows, `mask` tells which of these count, and `length` how many. Once the program is over, it can be indexed, looped
    over, compared and made into an array as a list.

    An element beyond the capacity raises IndexError, at run time where the number is traced.
    """
    values = list(values)
    if len(values) > capacity:
        raise bounded.full(capacity)
    if not jax_private.tracing():
        return Limited(values, capacity)
    return bounded.of(values, [True] * len(values), capacity)


def growing(values: list[Any]) -> Any:
    """A list of ported code that a loop makes longer: bounded, where `ag.port` was given a bound."""
    capacity = hooks.max_len()
    return values if capacity is None or not jax_private.tracing() else max_len(values, capacity)


class Limited(list):
    """What `max_len` gives in plain Python."""

    def __init__(self, values: Iterable[Any], capacity: int) -> None:
        super().__init__(values)
        self.capacity = capacity

    def append(self, value: Any) -> None:
        self.extend([value])

    def extend(self, values: Iterable[Any]) -> None:
        values = list(values)
        if len(self) + len(values) > self.capacity:
            raise bounded.full(self.capacity)
        super().extend(values)

    def __iadd__(self, values: Iterable[Any]) -> Limited:
        self.extend(values)
        return self

    def insert(self, index: Any, value: Any) -> None:
        if len(self) >= self.capacity:
            raise bounded.full(self.capacity)
        super().insert(index, value)

    def padded(self, fill: Any = 0) -> Any:
        """The elements as an array of `capacity` rows; the rows beyond them hold `fill`."""
        if not self:
            return np.full(self.capacity, fill)
        return jax.tree.map(lambda *leaves: _pad(np.stack(leaves), self.capacity, fill), *self)

    @property
    def length(self) -> int:
        return len(self)

    @property
    def mask(self) -> np.ndarray:
        """Of each row of `padded`: is it an element?"""
        return np.arange(self.capacity) < len(self)


def _pad(array: Any, capacity: int, fill: Any) -> Any:
    missing = np.full((capacity - len(array), *array.shape[1:]), fill, array.dtype)
    return np.concatenate([array, missing])
