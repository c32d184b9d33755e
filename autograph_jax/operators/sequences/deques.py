"""A deque with a `maxlen` whose number of elements traced data decides: it is bounded, and its first element may go."""

from __future__ import annotations

import collections
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators.sequences import bounded, elements


class BoundedDeque(bounded.Bounded):
    """A list of at most `maxlen` elements, which takes one more at its end by giving up the first one."""

    @property
    def maxlen(self) -> int:
        return self.capacity

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        if self.has_elements:
            full = self._length >= self.capacity
            self._write(jax.tree.map(lambda c: jnp.where(full, jnp.roll(c, -1, axis=0), c), self._known), self._length)
        place = jnp.minimum(self._length, self.capacity - 1)
        self._write(self._with(place, elements.taken(value, self)), place + 1)

    def popleft(self) -> Any:
        """Take the first element."""
        return self.pop(0)


def of(values: collections.deque[Any]) -> BoundedDeque:
    """A deque with a `maxlen` as one of which only the bound is known."""
    assert values.maxlen is not None
    made = bounded.of(list(values), [True] * len(values), values.maxlen)
    return BoundedDeque(made._columns, made.length, made.capacity)
