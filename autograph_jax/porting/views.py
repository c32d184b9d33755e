"""Steps from an array to a view of it: what `x[1:]`, `x.T`, `x.ravel()` read, and how a write goes back.

Each step works on NumPy arrays, while nothing traced has been written, and on JAX arrays. Whether NumPy gives a view at all
is not known here: `arrays.py` asks NumPy itself.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Protocol

import jax
import jax.numpy as jnp
import numpy as np

from .replacing import replaced

Value = Any  # np.ndarray | jax.Array


class Step(Protocol):
    """`get` gives the view of a parent's value; `set` gives the parent's value in which the view's is `new`."""

    def get(self, parent: Value) -> Value: ...

    def set(self, parent: Value, new: Value) -> Value: ...


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Index:
    """`x[key]`: integers (traced ones, too), slices, newaxis, ellipsis; or any key, where it is only written."""

    key: tuple[Any, ...]

    def get(self, parent: Value) -> Value:
        parent = parent if is_static((parent, self.key)) else jnp.asarray(parent)
        return parent[self.key]

    def set(self, parent: Value, new: Value) -> Value:
        if not is_static((parent, self.key, new)):
            return replaced(jnp.asarray(parent), self.key, new)
        changed = parent.copy(order="K")
        changed[self.key] = new
        return changed


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Transpose:
    """`x.T`, `x.swapaxes(0, 1)`, `np.moveaxis(x, 0, -1)`."""

    axes: tuple[int, ...]

    def get(self, parent: Value) -> Value:
        return parent.transpose(self.axes)

    def set(self, parent: Value, new: Value) -> Value:
        return new.transpose(tuple(int(axis) for axis in np.argsort(self.axes)))


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Reshape:
    """`x.reshape(2, 3)`, `x.ravel()`; `order` is "C" or "F"."""

    shape: tuple[int, ...]
    order: str = "C"

    def get(self, parent: Value) -> Value:
        return parent.reshape(self.shape, order=self.order)

    def set(self, parent: Value, new: Value) -> Value:
        return new.reshape(parent.shape, order=self.order)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Elements:
    """Any other view, such as a diagonal: for each element its place in the flat parent."""

    places: np.ndarray

    def get(self, parent: Value) -> Value:
        return parent.reshape(-1)[self.places]

    def set(self, parent: Value, new: Value) -> Value:
        return Index((self.places,)).set(parent.reshape(-1), new).reshape(parent.shape)


@dataclasses.dataclass(frozen=True, eq=False, slots=True)
class Part:
    """`x.real` or `x.imag` of a complex array."""

    name: str

    def get(self, parent: Value) -> Value:
        return getattr(parent, self.name)

    def set(self, parent: Value, new: Value) -> Value:
        real, imag = (new, parent.imag) if self.name == "real" else (parent.real, new)
        if not is_static((real, imag)):
            return jax.lax.complex(*jnp.broadcast_arrays(real, imag))
        changed = parent.copy(order="K")
        changed.real, changed.imag = real, imag
        return changed


def read(value: Value, path: tuple[Step, ...]) -> Value:
    for step in path:
        value = step.get(value)
    return value


def written(value: Value, path: tuple[Step, ...], new: Value) -> Value:
    """The buffer's value after the view at the end of `path` has become `new`."""
    if not path:
        return new
    first, *rest = path
    return first.set(value, written(first.get(value), tuple(rest), new) if rest else new)


def is_static(values: Any) -> bool:
    """Is there no JAX array among these, so that NumPy itself can compute with them?"""
    return not any(isinstance(leaf, jax.Array) for leaf in jax.tree.leaves(values, is_leaf=lambda leaf: leaf is None))


def step_for(places: np.ndarray, shape: tuple[int, ...]) -> Step:
    """The simplest step that leads from a parent of `shape` to the elements at these places."""
    identity = np.arange(places.size)
    if places.size == np.prod(shape, dtype=int) and np.array_equal(places.ravel(), identity):
        return Reshape(places.shape)
    if sorted(places.shape) == sorted(shape) and places.size:
        strides = _strides(shape)
        axes = [strides.index(stride) for stride in _steps(places) if stride in strides]
        if sorted(axes) == list(range(len(shape))):
            transposed = identity.reshape(shape).transpose(axes)
            if np.array_equal(transposed, places):
                return Transpose(tuple(axes))
    return Elements(places)


def _strides(shape: tuple[int, ...]) -> list[int]:
    return [int(np.prod(shape[axis + 1 :], dtype=int)) for axis in range(len(shape))]


def _steps(places: np.ndarray) -> list[int]:
    """How far apart neighbours along each axis are; -1 where there are none."""
    firsts = [np.moveaxis(places, axis, 0).reshape(places.shape[axis], -1)[:2, 0] for axis in range(places.ndim)]
    return [int(first[1] - first[0]) if len(first) > 1 else -1 for first in firsts]
