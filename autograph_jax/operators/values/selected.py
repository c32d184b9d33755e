"""Selections of ported code in a join: of two capacities, or beside an array, they become one that starts with what counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.values import references
from autograph_jax.operators.values.containers import children_of
from autograph_jax.operators.values.forms import Array, Form, Mismatch, Number, Static, Tree
from autograph_jax.porting.arrays import value_of, wrap
from autograph_jax.porting.casting import canonical
from autograph_jax.porting.rows import Mask, Rows, Window, padded
from autograph_jax.porting.selections import Selection


def axes_of(form: Form) -> tuple[int, ...]:
    """The selected axes, of the Form of a selection; none of any other."""
    return tuple(axis for axis, _ in _kinds_of(form))


def _kinds_of(form: Form) -> tuple[tuple[int, type], ...]:
    treedef = getattr(form.kind, "treedef", None) if isinstance(form, Tree) else None
    data = treedef.node_data() if treedef is not None else None
    return data[1] if data is not None and data[0] is Selection else ()


def is_selection(form: Form) -> bool:
    return bool(axes_of(form))


def joined(first: Form, second: Form) -> Form:
    """The Form of the rows that count, in order, with as many behind them as the longer one has."""
    one, other = _array(first), _array(second)
    if one is not None and other is not None and (one.has_any_shape or other.has_any_shape):  # `t = 0.5`, then a vector
        shape = one.shape or other.shape
        one, other = (dataclasses.replace(form, shape=shape) for form in (one, other))
    if one is None or other is None or len(one.shape) != len(other.shape):
        raise Mismatch("shape", str(first), str(second))
    axes = sorted({*axes_of(first), *axes_of(second), *_different_axes(one.shape, other.shape)})
    shape = tuple(max(sizes) for sizes in zip(one.shape, other.shape, strict=True))
    array = Array(shape, np.result_type(one.dtype, other.dtype), False, one.axes | other.axes)
    count = Array((), canonical(int), False, one.axes | other.axes)
    rows = [part for _ in axes for part in (count, Static(0))]
    return Tree(_window_kind(axes), (Tree(references.Fresh(), (array,)), *rows))


def parts(value: Any, form: Tree) -> Sequence[Any]:
    """The array, and for each axis the mask, or the count and the start, of a value that is brought to such a Form."""
    kinds, children = _kinds_of(form), form.children
    (array,) = children[0].children if isinstance(children[0], Tree) and children[0].children else (None,)
    if isinstance(value, Selection) and tuple((axis, type(rows)) for axis, rows in value.rows.items()) == kinds:
        if not isinstance(array, Array) or value.array.shape == array.shape:
            starts_first = isinstance(array, Array) and any(isinstance(child, Static) for child in children)
            first = value.like(value.values) if starts_first else value
            return _parts_of(first.array, first.rows)
    assert isinstance(array, Array)
    axes = [axis for axis, _ in kinds]
    whole = value.compact() if isinstance(value, Selection) else value
    held = jnp.asarray(whole.values if isinstance(whole, Selection) else value_of(value))
    held = held if held.ndim else jnp.broadcast_to(held, array.shape)
    rows = whole.rows if isinstance(whole, Selection) else {}
    rows = {axis: Window(0, rows[axis].count if axis in rows else held.shape[axis]) for axis in axes}
    for axis in axes:
        held = padded(held, axis, array.shape[axis])
    return _parts_of(wrap(held), rows)


def _parts_of(array: Any, rows: Mapping[int, Rows]) -> Sequence[Any]:
    parts = [[own.mask] if isinstance(own, Mask) else [own.count, own.start] for own in rows.values()]
    return array, *(part for own in parts for part in own)


def _array(form: Form) -> Array | None:
    if is_selection(form):
        return _array(form.children[0])  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(form, Tree) and isinstance(form.kind, references.View):
        return Array(*references.shape_and_dtype(form.kind.array))
    if isinstance(form, Tree) and isinstance(form.kind, references.Fresh):
        form = form.children[0]
    if isinstance(form, Static) and isinstance(form.value, Number) and not isinstance(form.value, bool):
        return Array((), canonical(type(form.value)), False, number=form.value)
    return form if isinstance(form, Array) else None


def are_of_one_capacity(first: Form, second: Form) -> bool:
    """Are these selections of arrays of one shape?"""
    one, other = _array(first), _array(second)
    return one is not None and other is not None and one.shape == other.shape


def are_of_two_shapes(first: Array, second: Array) -> bool:
    """Are these arrays of as many axes, along some of which one has more rows than the other?"""
    return len(first.shape) == len(second.shape) and first.shape != second.shape


def is_longer(first: Form, second: Form) -> bool:
    """Are these two arrays, and has the second one more rows along an axis?"""
    one, other = _array(first), _array(second)
    if one is None or other is None or len(one.shape) != len(other.shape):
        return False
    return any(size < more for size, more in zip(one.shape, other.shape, strict=True))


def _different_axes(first: tuple[int, ...], second: tuple[int, ...]) -> list[int]:
    return [axis for axis, sizes in enumerate(zip(first, second, strict=True)) if sizes[0] != sizes[1]]


def _window_kind(axes: Sequence[int]) -> Any:
    one = Selection(wrap(np.zeros((1,) * (axes[-1] + 1))), {axis: Window(0, jax.ShapeDtypeStruct((), int)) for axis in axes})
    taken = children_of(one)
    assert taken is not None
    return taken[0]
