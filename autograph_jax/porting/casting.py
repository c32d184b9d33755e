"""`x[i] = v` in NumPy's words: v becomes x's dtype and x's shape, or NumPy's own error."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks


def to(new: Any, dtype: np.dtype) -> Any:
    """`new` as an array of this dtype; a traced one is cast without a word, as NumPy's are between arrays."""
    new = nested(new)
    if not isinstance(new, jax.Array):
        return np.asarray(new, dtype=dtype) if not isinstance(new, np.ndarray) else new.astype(dtype, copy=False)
    if new.dtype.kind == "c" and dtype.kind != "c":
        new = new.real if dtype.kind != "b" else new != 0
    return new.astype(canonical(dtype))


def check(new: Any, dtype: np.dtype, rule: str) -> None:
    if rule != "unsafe" and not np.can_cast(new.dtype, dtype, rule):  # type: ignore[arg-type]
        raise TypeError(f"Cannot cast output from {new.dtype!r} to {dtype!r} with casting rule '{rule}'")


def fitted(new: Any, shape: tuple[int, ...]) -> Any:
    """`new` broadcast to what it is written into; leading axes of length one are dropped, as in NumPy's assignments."""
    extra = np.ndim(new) - len(shape)
    if extra > 0 and np.shape(new)[:extra] == (1,) * extra:
        new = new.reshape(np.shape(new)[extra:])
    if np.shape(new) == shape:
        return new
    if np.ndim(new) > len(shape) or any(a not in (1, b) for a, b in zip(np.shape(new)[::-1], shape[::-1], strict=False)):
        raise ValueError(f"could not broadcast input array from shape {np.shape(new)} into shape {shape}")
    return jnp.broadcast_to(new, shape) if isinstance(new, jax.Array) else np.broadcast_to(new, shape)


def nested(values: Any) -> Any:
    """`[[a, b], [c, d]]` of traced numbers is one array; anything without them is left to NumPy."""
    values = hooks.number(values)
    values = getattr(values, "value", values) if hasattr(values, "shadow") else values
    if not isinstance(values, (list, tuple)):
        return values
    parts = [nested(part) for part in values]
    if not any(isinstance(part, jax.Array) for part in parts):
        return np.array(parts)
    dtype = np.result_type(*(dtype_of(part) for part in parts))
    return jnp.stack([jnp.asarray(to(part, dtype)) for part in parts])


def kind_of(x: Any) -> Any:
    """What `np.result_type` goes by: a dtype; a Python number for numbers that adapt to the others."""
    if isinstance(x, jax.Array):
        weak = x.weak_type and x.ndim == 0 and x.dtype.kind in "ifc"
        return {"i": 0, "f": 0.0, "c": 0j}[x.dtype.kind] if weak else np.dtype(x.dtype)
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype
    return x if type(x) in (int, float, complex) else np.asarray(x).dtype


def dtype_of(x: Any) -> np.dtype:
    """The dtype that NumPy gives an array of it; a Python number, traced or not, is an array of 64 bits."""
    kind = kind_of(x)
    return kind if isinstance(kind, np.dtype) else np.dtype(type(kind))


def canonical(dtype: Any) -> np.dtype:
    """The dtype that JAX has for this one: 32 bits where 64 are switched off."""
    return np.dtype(jax.dtypes.canonicalize_dtype(dtype))
