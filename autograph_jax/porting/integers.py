"""What NumPy computes of integers, and JAX in floats or not at all: `np.convolve(n, n)`, `np.linalg.matrix_power(n, 2)`."""

from __future__ import annotations

import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .rounding import by_scaling


def convolve(a: Any, v: Any, mode: str = "full") -> jax.Array:
    """`np.convolve`."""
    a, v = jnp.asarray(a), jnp.asarray(v)
    if not _are_integers(a, v):
        return jnp.convolve(a, v, mode)
    return _part(_full(a, v), min(len(a), len(v)), max(len(a), len(v)), mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> jax.Array:
    """`np.correlate`."""
    a, v = jnp.asarray(a), jnp.asarray(v)
    if not _are_integers(a, v):
        return jnp.correlate(a, v, mode)
    if len(v) > len(a):
        return correlate(v, a, mode)[::-1]
    return _part(_full(a, v[::-1]), len(v), len(a), mode)


def polymul(a1: Any, a2: Any) -> jax.Array:
    """`np.polymul`."""
    a1, a2 = jnp.asarray(a1), jnp.asarray(a2)
    return _full(a1, a2) if _are_integers(a1, a2) else jnp.polymul(a1, a2)


def matrix_power(a: Any, n: int) -> jax.Array:
    """`np.linalg.matrix_power`, of integers by squaring."""
    a = jnp.asarray(a)
    if a.dtype.kind not in "iu" or n < 0:
        return jnp.linalg.matrix_power(a if a.dtype.kind in "fc" else a.astype(float), n)
    found = jnp.broadcast_to(jnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    while n:
        found, a, n = found @ a if n & 1 else found, a @ a, n >> 1
    return found


def _are_integers(a: jax.Array, v: jax.Array) -> bool:
    return jnp.result_type(a, v).kind in "iu" and a.ndim == v.ndim == 1 and bool(a.size and v.size)


def _full(a: jax.Array, v: jax.Array) -> jax.Array:
    dtype = jnp.result_type(a, v)
    places = jnp.arange(len(a) + len(v) - 1)[:, None] - jnp.arange(len(v))
    inside = (places >= 0) & (places < len(a))
    parts = jnp.where(inside, a.astype(dtype)[jnp.clip(places, 0, len(a) - 1)], 0)
    return (parts * v.astype(dtype)).sum(1, dtype=dtype)


def polyfit(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.polyfit`, also at places that are integers, which it computes in floats."""
    x, y = jnp.asarray(x), jnp.asarray(y)
    return jnp.polyfit(x.astype(jnp.result_type(x, float)), y, *args, **kwargs)


def _part(full: jax.Array, short: int, long: int, mode: str) -> jax.Array:
    """Of all sums those where the shorter one is inside of the longer one, or as many as the longer one has elements."""
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"mode is 'full', 'same' or 'valid', and not {mode!r}")
    if mode == "same":
        return full[(short - 1) // 2 :][:long]
    return full if mode == "full" else full[short - 1 : long]


def round_(a: Any, decimals: int = 0, out: None = None) -> jax.Array:
    """`np.round`, also of integers to tens: a half to the even one."""
    a = jnp.asarray(a)
    if a.dtype == bool:
        return a.astype(np.round(np.zeros(1, bool), decimals).dtype)  # or NumPy's error
    if a.dtype.kind == "f" and decimals:
        return by_scaling(a, operator.index(decimals))
    if decimals >= 0 or a.dtype.kind not in "iu":
        return jnp.round(a, decimals)
    if 10**-decimals > jnp.iinfo(a.dtype).max:
        return jnp.zeros_like(a)
    size = jnp.asarray(10**-decimals, a.dtype)
    below = a // size
    rest = a - below * size
    is_above = (rest > size - rest) | (rest == size - rest) & (below % 2 != 0)
    return (below + is_above.astype(a.dtype)) * size
