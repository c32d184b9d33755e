"""`np.asarray(x)`, `np.array([[a, b], [c, d]])`, `np.diag(v)` and the like make MutableArrays; and what these hold."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from . import casting
from .arrays import MutableArray, found, static, value_of, wrap
from .casting import canonical
from .selections import Selection
from .views import is_static


def asarray(x: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None, like: Any = None) -> MutableArray:
    """`np.asarray`: the array itself, where neither its dtype nor its layout has to change."""
    if not isinstance(x, MutableArray):
        value = casting.nested(values(x))
        own = value if isinstance(value, jax.Array) else as_canonical(np.array(value))
        x = found(own) if isinstance(x, np.ndarray) and x.ndim else wrap(own)
    into = x.dtype if dtype is None else canonical(dtype)
    layout = np.asarray(x.shadow, into, order=order, copy=copy)
    return x if layout is x.shadow else wrap(casting.to(x.value, into), np.empty_like(layout))


def array(
    x: Any, dtype: Any = None, *, copy: bool | None = True, order: Any = "K", ndmin: int = 0, **options: Any
) -> MutableArray:
    if isinstance(copy, np._CopyMode):
        copy = copy is np._CopyMode.ALWAYS
    made = asarray(x, dtype, order)
    made = made.copy(order) if copy and (made is x or isinstance(x, np.ndarray)) else made
    return made if made.ndim >= ndmin else made[(None,) * (ndmin - made.ndim)]


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None
) -> MutableArray:
    made = wrap(as_canonical(np.zeros_like(layouts(a), dtype=dtype, order=order, shape=static(shape))))
    made[...] = fill_value
    return made


def diag(v: Any, k: int = 0) -> Any:
    v = asarray(v)
    if v.ndim != 1:
        return v.diagonal(static(k))
    made = wrap(np.zeros((len(v) + abs(k),) * 2, v.dtype))
    places = np.arange(len(v))
    made[places + max(-k, 0), places + max(k, 0)] = v
    return made


def concatenated(maker: Any, key: Any) -> Any:
    """`np.r_[1.0, x[2:]]`, `np.c_[x, y]`: ranges, numbers and arrays one behind the other."""
    parts = key if isinstance(key, tuple) else (key,)
    if is_static(values(parts)) or any(isinstance(part, str) for part in parts):
        return wrap(maker[tuple(values(part) for part in parts)])
    return np.concatenate([_part_for(maker, part) for part in parts], axis=maker.axis)


def _part_for(maker: Any, part: Any) -> Any:
    made: Any = part if isinstance(part, Selection) else wrap(np.r_[part]) if isinstance(part, slice) else asarray(part)
    missing = maker.ndmin - made.ndim
    if missing <= 0:
        return made
    # A vector in `c_` is a column: new axes come behind its own, as many as `trans1d` says before.
    before = missing if maker.trans1d == -1 or isinstance(part, slice) and maker.ndmin == 1 else maker.trans1d
    return made[(None,) * before + (...,) + (None,) * (missing - before)]


def values(x: Any) -> Any:
    """Arguments, and what stands in lists of them, without MutableArrays."""
    if isinstance(x, dict):
        return {name: values(part) for name, part in x.items()}
    if isinstance(x, (list, tuple)):
        parts = [values(part) for part in x]
        return type(x)(*parts) if hasattr(x, "_fields") else type(x)(parts)
    return value_of(x)


def layouts(x: Any) -> Any:
    if isinstance(x, dict):
        return {name: layouts(part) for name, part in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(layouts(part) for part in x)
    if isinstance(x, MutableArray):
        return x.shadow
    if isinstance(x, Selection):
        return np.empty((1,) * x.ndim, x.dtype)
    if isinstance(x, jax.Array):  # what has no dimensions is a scalar of NumPy's
        return np.empty(x.shape, x.dtype) if x.ndim else np.zeros((), x.dtype)[()]
    return x


def as_canonical(array: np.ndarray) -> np.ndarray:
    return array.astype(canonical(array.dtype), copy=False)
