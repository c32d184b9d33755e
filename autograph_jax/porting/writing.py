"""Functions of NumPy's that write into an array: `np.copyto(a, b)`, `np.put(a, i, v)`, `np.place(a, m, v)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from . import casting as casts
from . import hooks
from .arrays import MutableArray, result, value_of
from .creating import asarray
from .views import is_static


def _copyto(destination: MutableArray, source: Any, casting: str = "same_kind", where: Any = True) -> None:
    new, where = asarray(source).value, value_of(where)
    casts.check(new, destination.dtype, casting)
    if where is not True:
        new, kept = casts.to(new, destination.dtype), destination.value
        new = np.where(where, new, kept) if is_static((where, new, kept)) else jnp.where(where, new, kept)
    destination.put(new)


def _fill_diagonal(a: MutableArray, val: Any, wrap: bool = False) -> None:
    places = np.arange(a.size).reshape(a.shape)
    marked = np.zeros(a.shape, bool)
    np.fill_diagonal(marked, True, wrap=wrap)
    new = asarray(val)
    a.flat[places[marked]] = np.resize(new, marked.sum()) if new.ndim else new


def _put(a: MutableArray, ind: Any, v: Any, mode: str = "raise") -> None:
    places = asarray(ind).astype(np.intp).ravel()
    if mode != "raise":
        places = np.clip(places, 0, a.size - 1) if mode == "clip" else places % a.size
    a.flat[places] = np.resize(v, places.size) if np.ndim(v) and np.size(v) != places.size else v


def _put_along_axis(arr: MutableArray, indices: Any, values: Any, axis: int | None = -1) -> None:
    if axis is None:
        arr.flat[indices] = values
        return
    places = asarray(indices)
    if places.ndim != arr.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    grid: list[Any] = list(np.ogrid[tuple(slice(size) for size in arr.shape)])
    grid[axis] = places
    arr[tuple(grid)] = values


def _putmask(a: MutableArray, mask: Any, values: Any) -> None:
    repeated = np.resize(values, a.shape)
    _copyto(a, repeated, casting="unsafe", where=mask)


def _place(arr: MutableArray, mask: Any, vals: Any) -> None:
    """The elements where the mask holds, one after the other, and from the first again where there are no more."""
    mask, given = asarray(mask).astype(bool).value, asarray(vals).value.ravel()
    if not given.size:
        hooks.raise_where(mask.any(), ValueError("Cannot insert from an empty array!"))
        return
    places = (mask.ravel().cumsum() - 1) % given.size
    taken = np.take(given, places) if is_static((given, places)) else jnp.take(given, places)
    _copyto(arr, result(taken.reshape(mask.shape)), "unsafe", result(mask))


WRITING: dict[Callable[..., Any], Callable[..., Any]] = {
    np.copyto: _copyto, np.fill_diagonal: _fill_diagonal, np.put: _put, np.place: _place, np.put_along_axis: _put_along_axis,
    np.putmask: _putmask,
}  # fmt: skip
