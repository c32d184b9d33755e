"""Ufuncs and reductions of selections: which rows of the operands stand beside each other, and which of the result count."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from . import casting, hooks
from .arrays import value_of, wrap
from .numbers import bounded
from .rows import Rows, Window, greatest, least, refusal
from .selections import Selection, selected

_NAMES = {
    np.add: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min", np.logical_and: "all", np.logical_or: "any",
}  # fmt: skip


def of_ufunc(ufunc: np.ufunc, method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    """A ufunc, where an operand is a selection."""
    from . import picking, probing

    if method == "at":
        return picking.changed_at(ufunc, *inputs)
    (out,) = options.pop("out", (None,)) or (None,)
    if method == "reduce" and ufunc in _NAMES:
        found = reduced(inputs[0], _NAMES[ufunc], **options)
    elif ufunc.signature or method == "outer":
        found = probing.of_products(ufunc if method == "__call__" else ufunc.outer, inputs, options)
    elif method != "__call__":
        raise refusal(f"`{ufunc.__name__}.{method}` is called with it")
    elif isinstance(options.get("where"), Selection):
        where = options.pop("where")
        found = by_element(lambda *arrays: ufunc(*arrays[:-1], where=arrays[-1], **options), (*inputs, where))
    else:
        found = by_element(lambda *arrays: ufunc(*arrays, **options), inputs)
    if out is None:
        return found
    out[...] = found
    return out


def by_element(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """What a function computes element by element of selections and other arrays."""
    rows, arrays = aligned(inputs)
    found = function(*arrays)
    if not rows:
        return found
    parts = [
        selected(part, {place + np.ndim(part): own for place, own in rows.items()})
        for part in (found if isinstance(found, tuple) else (found,))
    ]
    return tuple(parts) if isinstance(found, tuple) else parts[0]


def aligned(inputs: Sequence[Any]) -> tuple[dict[int, Rows], list[Any]]:
    """Arrays that NumPy's rules broadcast, and of what they give the rows that count, by axis, -1 the last one."""
    inputs, rows = list(inputs), {}
    for place in sorted({axis - x.ndim for x in inputs if isinstance(x, Selection) for axis in x.rows}):
        holders = [n for n, x in enumerate(inputs) if _is_selected(x, place)]
        sizes = [shape[place] for n, x in enumerate(inputs) if n not in holders and len(shape := _shape(x)) >= -place]
        known = next((size for size in sizes if size != 1), None)
        if known is None:
            rows[place], inputs = together(inputs, [(n, place + inputs[n].ndim) for n in holders], or_one=True)
        else:
            for n in holders:
                inputs[n] = inputs[n].exactly(known, place + inputs[n].ndim, or_one=True)
    return rows, [wrap(x.values) if isinstance(x, Selection) else x for x in inputs]


def together(selections: Sequence[Any], axes: Sequence[tuple[int, int]], *, or_one: bool = False) -> tuple[Rows, list[Any]]:
    """The rows along these axes, each of one selection, one beside the other; NumPy raises where they are not as many.

    Where one row stands beside all those of another (`or_one`), it is at each place behind the first one, too.
    """
    ready = list(selections)
    (number, axis), *others = axes
    first = ready[number].rows[axis]
    is_same = all(first.is_same(ready[other].rows[along]) for other, along in others)
    if is_same:
        first = first.own()
    else:
        for other, along in axes:
            ready[other] = ready[other].compact((along,))
        counts = [ready[other].count(along) for other, along in axes]
        count = functools.reduce(lambda one, other: jnp.where(one == 1, other, one), counts) if or_one else counts[0]
        for own in counts:
            error = ValueError("operands could not be broadcast together")
            hooks.raise_where((own != count) & (own != 1) if or_one else own != count, error)
        first = Window(0, count)
    capacities = [ready[other].capacity(along) for other, along in axes]
    capacity = max(capacities) if or_one and not is_same else min(capacities)
    for other, along in axes:
        one = ready[other].cut(along, capacity)
        ready[other] = Selection(wrap(one.values), {**one.own(), along: first})
    return first, ready


def _is_selected(x: Any, place: int) -> bool:
    return isinstance(x, Selection) and place + x.ndim in x.rows


def _shape(x: Any) -> tuple[int, ...]:
    return x.array.shape if isinstance(x, Selection) else np.shape(value_of(x))


def reduced(
    s: Selection, name: str, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
) -> Any:
    """`np.sum(s, axis)` and the like."""
    axes = tuple(range(s.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(int(one) % s.ndim for one in axes)
    options = {key: value for key, value in options.items() if value is not np._NoValue}
    lost = [one for one in s.rows if one in axes]
    keepdims = keepdims is not np._NoValue and bool(keepdims)
    values, where, into = s.values, options.pop("where", True), None
    if where is not True:
        raise refusal(f"`np.{name}` is called with it and `where`")
    if name in ("all", "any"):
        dtype = np.dtype(bool)
    if name in ("sum", "prod"):
        into = casting.canonical(getattr(np, name)(np.ones(1, s.dtype), dtype=dtype).dtype)
        values = casting.to(values, into)
    elif dtype is not None:
        values = casting.to(values, casting.canonical(dtype))
        into = values.dtype if name == "mean" else None
    elif name in ("mean", "var", "std") and s.dtype.kind in "biu":  # JAX's are of 32 bits for bool and int8
        values = casting.to(values, casting.canonical(float))
    if name in ("max", "min") and lost and "initial" not in options:
        empty = jnp.any(jnp.asarray([s.count(one) == 0 for one in lost]))
        hooks.raise_where(empty, ValueError("zero-size array to reduction operation"))
        options["initial"] = least(s.dtype) if name == "max" else greatest(s.dtype)
    if lost:
        options["where"] = s.over(lost)
    found = getattr(jnp, name)(values, axis=axes, keepdims=keepdims, **options)
    found = found if into is None else found.astype(into)
    if name == "sum" and s.dtype == bool and not found.ndim:
        return bounded(found, values.size)
    gone = () if keepdims else axes
    rows = {one - sum(other < one for other in gone): own for one, own in s.own().items() if one not in lost}
    found = selected(found, rows)
    if out is None:
        return found
    out[...] = found
    return out
