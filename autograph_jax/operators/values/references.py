"""Arrays of ported NumPy code in a staged block: what the block has made is taken apart, what was there before stays itself.

A `MutableArray` whose buffer is older than the block stays a view of that buffer, whose value is state like an attribute. One
that the block has made is its value, and is made anew from what lax gives back.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.operators.values.forms import Form, Options, Static, Tree, same_static
from autograph_jax.porting.arrays import Buffer, MutableArray, Picked, wrap
from autograph_jax.porting.casting import canonical
from autograph_jax.porting.views import Index, Step


@dataclasses.dataclass(frozen=True)
class Fresh:
    """The kind of an array that a block has made; its value is the only child."""

    def build(self, children: Sequence[Any]) -> Any:
        return wrap(children[0])

    def parts(self, value: Any) -> Sequence[Any]:
        return [value.value if isinstance(value, MutableArray) else value]

    def __str__(self) -> str:
        return "array"


@dataclasses.dataclass(frozen=True, eq=False)
class View:
    """The kind of an array that is older, or a view of one; traced indices on the way to it are the children."""

    array: MutableArray

    def __eq__(self, other: object) -> bool:
        return isinstance(other, View) and _are_one(self.array, other.array)

    def build(self, children: Sequence[Any]) -> Any:
        return _with_indices(self.array, iter(children)) if children else self.array

    def parts(self, value: Any) -> Sequence[Any]:
        return traced_indices(value)

    def __str__(self) -> str:
        return "array"


@contextlib.contextmanager
def holding(places: Iterable[Any], values: dict[Any, Any]) -> Iterator[None]:
    """Meanwhile the memory of older arrays holds what a block leaves in it, for views of it that become arrays of their own."""
    buffers = [(place.target, values[place.key]) for place in places if type(place.target) is Buffer and place.key in values]
    before = [buffer.value for buffer, _ in buffers]
    try:
        for buffer, value in buffers:
            buffer.value = value
        yield
    finally:
        for (buffer, _), value in zip(buffers, before, strict=True):
            buffer.value = value


def viewed(form: Form) -> Iterator[Buffer]:
    """The memory of the older arrays that a value holds."""
    match form:
        case Tree(View() as kind, _):
            yield from kind.array.memory()
        case Tree(_, forms) | Options(forms):
            for part in forms:
                yield from viewed(part)


def is_kind(kind: Any) -> bool:
    return isinstance(kind, Fresh | View)


def objects_of(form: Form) -> np.ndarray | None:
    """The array of Python objects that it is: `np.atleast_2d(None)`. JAX has no such arrays."""
    match form:
        case Tree(View() as kind, _) if kind.array.dtype == object:
            return kind.array.value
        case Tree(Fresh(), (Static(np.ndarray() as value),)) if value.dtype == object:
            return value
    return None


def are_same_objects(first: Form, second: Form) -> bool:
    one, other = objects_of(first), objects_of(second)
    return one is not None and other is not None and one.shape == other.shape and all(map(same_static, one.flat, other.flat))


def is_older(value: Any, serial: int) -> bool:
    """Was the memory of this array there before `serial` was given?"""
    return isinstance(value, MutableArray) and value._buffer.serial < serial


def is_made_since(target: Any, serial: int) -> bool:
    """Is this the memory of an array that has been made since?"""
    return type(target) is Buffer and target.serial > serial


def traced_indices(array: MutableArray) -> list[jax.Array]:
    """Those that pick its memory, and those of the path from there."""
    memory, indices = array._buffer, []
    if isinstance(memory, Picked):
        indices = [memory.index, *(index for one in memory.arrays for index in traced_indices(one))]
    own = [part for step in array._path if isinstance(step, Index) for part in step.key if isinstance(part, jax.Array)]
    return indices + own


def _with_indices(array: MutableArray, indices: Iterator[jax.Array]) -> MutableArray:
    """The array with other traced indices, which `traced_indices` gives of it."""
    memory = array._buffer
    if isinstance(memory, Picked):
        index = next(indices)
        memory = Picked([_with_indices(one, indices) for one in memory.arrays], index)
    path = tuple(_step_with(step, indices) for step in array._path)
    return MutableArray(memory, path, array.shadow, array.base)


def _step_with(step: Step, indices: Iterator[jax.Array]) -> Step:
    if not isinstance(step, Index):
        return step
    return Index(tuple(next(indices) if isinstance(part, jax.Array) else part for part in step.key))


def _are_one(first: MutableArray, second: MutableArray) -> bool:
    """Are two arrays views of one, but for traced indices on the way?"""
    memory, other = first._buffer, second._buffer
    if isinstance(memory, Picked) and isinstance(other, Picked):
        same = len(memory.arrays) == len(other.arrays) and all(map(_are_one, memory.arrays, other.arrays))
    else:
        same = memory is other
    return same and _told_apart(first._path) == _told_apart(second._path)


def _told_apart(path: tuple[Step, ...]) -> tuple[Any, ...]:
    """What two paths are compared by."""
    return tuple((type(step), *_content(step)) for step in path)


def _content(step: Step) -> tuple[Any, ...]:
    fields: Any = step
    parts = [getattr(fields, field.name) for field in dataclasses.fields(fields)]
    return tuple(_comparable(part) for part in parts)


def _comparable(part: Any) -> Any:
    if isinstance(part, tuple):
        return tuple(map(_comparable, part))
    if isinstance(part, np.ndarray):
        return part.shape, part.dtype.str, part.tobytes()
    return "traced" if isinstance(part, jax.Array) else part


def shape_and_dtype(array: MutableArray) -> tuple[tuple[int, ...], Any]:
    return array.shape, canonical(array.dtype)
