"""Selections of ported code in a join: of two capacities, or beside an array, they become one that starts with what counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.values import references
from autograph_jax.operators.values.containers import children_of
from autograph_jax.operators.values.forms import Array, Form, Mismatch, Number, Static, Tree
from autograph_jax.porting.arrays import MutableArray, wrap
from autograph_jax.porting.casting import canonical
from autograph_jax.porting.rows import Window, padded
from autograph_jax.porting.selections import Selection


def axis_of(form: Form) -> int | None:
    """The selected axis, of the Form of a selection; None of any other."""
    treedef = getattr(form.kind, "treedef", None) if isinstance(form, Tree) else None
    data = treedef.node_data() if treedef is not None else None
    return data[1][0] if data is not None and data[0] is Selection else None


def is_selection(form: Form) -> bool:
    return axis_of(form) is not None


def joined(first: Form, second: Form) -> Form:
    """The Form of the rows that count, in order, with as many behind them as the longer one has."""
    axis = axis_of(first) if is_selection(first) else axis_of(second)
    one, other = _array(first), _array(second)
    if axis is None or is_selection(first) and is_selection(second) and axis_of(first) != axis_of(second):
        raise Mismatch("structure", str(first), str(second))
    if one is not None and other is not None and () in (one.shape, other.shape):  # `t = 0.5` before a loop, a vector in it
        shape = one.shape or other.shape
        one, other = (dataclasses.replace(form, shape=shape) for form in (one, other))
    if one is None or other is None or _without(one.shape, axis) != _without(other.shape, axis):
        raise Mismatch("shape", str(first), str(second))
    shape = (*one.shape[:axis], max(one.shape[axis], other.shape[axis]), *one.shape[axis + 1 :])
    array = Array(shape, np.result_type(one.dtype, other.dtype), False, one.axes | other.axes)
    count = Array((), canonical(int), False, one.axes | other.axes)
    return Tree(_window_kind(axis), (Tree(references.Fresh(), (array,)), count, Static(0)))


def parts(value: Any, axis: int, children: Sequence[Form]) -> Sequence[Any]:
    """The array, the count and the start of a value that has such a Form, or is joined into one."""
    if len(children) < 3:
        return value.array, value.mask  # by a mask, as the other
    (array,) = children[0].children if isinstance(children[0], Tree) and children[0].children else (None,)
    if isinstance(value, Selection) and isinstance(value.rows, Window):
        if not isinstance(array, Array) or value.array.shape == array.shape and not isinstance(children[2], Static):
            return value.array, value.rows.count, value.rows.start
    assert isinstance(array, Array)
    if isinstance(value, Selection):
        rows = value.compact()
        return wrap(padded(rows.values, axis, array.shape[axis])), rows.count, 0
    whole = jnp.asarray(value.value if isinstance(value, MutableArray) else value)
    whole = whole if whole.ndim else jnp.broadcast_to(whole, array.shape)
    return wrap(padded(whole, axis, array.shape[axis])), whole.shape[axis], 0


def _array(form: Form) -> Array | None:
    if is_selection(form):
        return _array(form.children[0])  # pyright: ignore[reportAttributeAccessIssue]
    if isinstance(form, Tree) and isinstance(form.kind, references.View):
        return Array(*references.shape_and_dtype(form.kind.array))
    if isinstance(form, Tree) and isinstance(form.kind, references.Fresh):
        form = form.children[0]
    if isinstance(form, Static) and isinstance(form.value, Number) and not isinstance(form.value, bool):
        return Array((), canonical(type(form.value)), False)
    return form if isinstance(form, Array) else None


def _without(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], *shape[axis + 1 :])


def _window_kind(axis: int) -> Any:
    one = Selection(wrap(np.zeros((1,) * (axis + 1))), axis, Window(0, jax.ShapeDtypeStruct((), int)))
    taken = children_of(one)
    assert taken is not None
    return taken[0]
