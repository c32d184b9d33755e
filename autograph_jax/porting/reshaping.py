"""`A[:k, :k].ravel()`, `x.reshape(k, -1)`, `np.kron(A[:k], B)`: elements in their order, of which traced data says how many.

What NumPy gives may be a view, or a copy, as the number says: nobody may write into it.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks
from .arrays import MutableArray, value_of
from .numbers import bound_of
from .rows import Mask, Rows, Window, over, refusal, taken
from .selections import Selection, selected


def raveled(selection: Selection, order: str = "C") -> Selection:
    """The elements that count of all, in their order: a mask says which."""
    return selection if selection.ndim == 1 else _read_only(flattened(selection, order))


def flattened(selection: Selection, order: str = "C") -> Selection:
    """`A[:k, :k].flatten()`, which can be written."""
    if order not in ("C", "F"):
        raise refusal("it is put into one axis in the order of memory")
    whole: Any = np.transpose(selection) if order == "F" else selection
    mask = jnp.broadcast_to(whole.over(), whole.array.shape).reshape(-1)
    return selected(whole.values.reshape(-1), {0: Mask(mask, (mask,))})


def reshaped(x: Selection | MutableArray, shape: Any, order: str = "C", *, copy: Any = None) -> Any:
    """`s.reshape(-1)`, `s.reshape(-1, 1)`, `s.reshape(n, 1)`, `x.reshape(k, -1)`."""
    selection = x if isinstance(x, Selection) else Selection(x, {})
    sizes = tuple(map(value_of, shape)) if isinstance(shape, tuple | list) else (value_of(shape),)
    open_ones = [n for n, size in enumerate(sizes) if isinstance(size, jax.Array) or size == -1]
    if order != "C":
        raise refusal("it is reshaped in another order")
    if selection.ndim == 1 and len(open_ones) == 1 and all(size == 1 for n, size in enumerate(sizes) if n not in open_ones):
        return selection[tuple(slice(None) if n in open_ones else None for n in range(len(sizes)))]
    count = jnp.asarray(selection.size if selection.rows else selection.array.size)
    sizes = _without_minus_one(sizes, count)
    error = ValueError(f"cannot reshape array into shape {tuple(map(str, sizes))}")
    hooks.raise_where(jnp.asarray(_product(sizes)) != count, error)
    if _keeps_axes(selection, sizes, open_ones):
        whole = [*sizes]
        for axis, number in zip(selection.rows, open_ones, strict=True):
            whole[number] = selection.capacity(axis)
        rows = dict(zip(open_ones, selection.own().values(), strict=True))
        return _read_only(selected(selection.values.reshape(whole), rows))
    flat = flattened(selection).compact().values if selection.rows else jnp.asarray(selection.array.value).reshape(-1)
    return _read_only(_laid_out(flat, sizes))


def _laid_out(flat: jax.Array, sizes: Sequence[Any]) -> Any:
    """The elements row by row, as many in each as traced data says."""
    rows: dict[int, Rows] = {axis: Window(0, size) for axis, size in enumerate(sizes) if isinstance(size, jax.Array)}
    most = max(flat.size, 1)
    capacities = [min(most, bound_of(size) or most) if axis in rows else size for axis, size in enumerate(sizes)]
    places, step = jnp.zeros((), int), 1
    for axis in reversed(range(len(sizes))):
        places = places + step * over(jnp.arange(capacities[axis]), axis, len(sizes))
        step = step * sizes[axis]
    return selected(taken(flat, places.reshape(-1), 0).reshape(capacities), rows)


def _without_minus_one(sizes: Sequence[Any], count: Any) -> list[Any]:
    sizes = [size if isinstance(size, jax.Array) else operator.index(size) for size in sizes]
    if -1 in [size for size in sizes if isinstance(size, int)]:
        place = next(n for n, size in enumerate(sizes) if isinstance(size, int) and size == -1)
        rest = _product([*sizes[:place], *sizes[place + 1 :]])
        sizes[place] = count // jnp.maximum(rest, 1)
    return sizes


def _product(sizes: Sequence[Any]) -> Any:
    found: Any = 1
    for size in sizes:
        found = found * size
    return found


def _keeps_axes(selection: Selection, sizes: Sequence[Any], open_ones: Sequence[int]) -> bool:
    """Is no selected axis cut or joined, as in `A[:k].reshape(k, 2, 2)`, so that there are as many elements between them?"""
    known = [1 if axis in selection.rows else size for axis, size in enumerate(selection.array.shape)]
    if len(open_ones) != len(selection.rows) or not open_ones:
        return False
    if _between(known, list(selection.rows)) != _between(sizes, open_ones):
        return False
    for axis, number in zip(selection.rows, open_ones, strict=True):
        hooks.raise_where(selection.count(axis) != sizes[number], ValueError("cannot reshape array"))
    return True


def _between(sizes: Sequence[Any], places: Sequence[int]) -> list[int]:
    """How many elements there are before, between and behind these axes."""
    ends = [-1, *places, len(sizes)]
    return [int(np.prod([*sizes[first + 1 : second]], dtype=int)) for first, second in itertools.pairwise(ends)]


def _read_only(x: Any) -> Any:
    array = x.array if isinstance(x, Selection) else x
    if isinstance(array, MutableArray):
        array.setflags(write=False)
    return x


def kron(a: Any, b: Any) -> Any:
    """`np.kron`: of each axis the rows of both, the second's the faster ones."""
    first, second = (x if isinstance(x, Selection) else Selection(x, {}) for x in (a, b))
    if first.ndim != second.ndim:
        raise refusal("`np.kron` is called with it, and has numbers of axes that differ")
    rows: dict[int, Rows] = {}
    for axis in range(first.ndim):
        sides = [(s.mask(axis) if axis in s.rows else jnp.ones(s.capacity(axis), bool)) for s in (first, second)]
        if axis in first.rows or axis in second.rows:
            mask = (sides[0][:, None] & sides[1]).reshape(-1)
            rows[axis] = Mask(mask, (mask,))
    return selected(jnp.kron(first.values, second.values), rows)
