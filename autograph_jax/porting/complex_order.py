"""The order that NumPy gives complex numbers, by the real part and then the imaginary one: `np.clip(z, -1e10, 1e10)`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp


def maximum(a: Any, b: Any) -> jax.Array:
    """The greater one; what is no number is given on, which XLA's maximum of complex numbers does not do."""
    found = jnp.maximum(a, b)
    return found if found.dtype.kind != "c" else _either(a, b, found)


def minimum(a: Any, b: Any) -> jax.Array:
    """The lesser one."""
    found = jnp.minimum(a, b)
    return found if found.dtype.kind != "c" else _either(a, b, found)


def _either(a: Any, b: Any, found: jax.Array) -> jax.Array:
    a, b = (jnp.asarray(x, found.dtype) for x in (a, b))
    return jnp.where(jnp.isnan(a), a, jnp.where(jnp.isnan(b), b, found))


def clip(a: Any, min: Any = None, max: Any = None) -> jax.Array:
    """`np.clip`; jax.numpy has it of real numbers alone."""
    if not any(jnp.iscomplexobj(x) for x in (a, min, max) if x is not None):
        return jnp.clip(a, min, max)
    low = jnp.asarray(a) if min is None else maximum(a, min)
    return low if max is None else minimum(low, max)


def argmax(a: Any, axis: int | None = None, **options: Any) -> jax.Array:
    """`np.argmax`: the first of the greatest, or of those that are no number."""
    return jnp.argmax(a if not jnp.iscomplexobj(a) else _is_at_end(a, jnp.max, axis), axis, **options)


def argmin(a: Any, axis: int | None = None, **options: Any) -> jax.Array:
    """`np.argmin`: the first of the least, or of those that are no number."""
    if not jnp.iscomplexobj(a):
        return jnp.argmin(a, axis, **options)
    return jnp.argmax(_is_at_end(a, jnp.min, axis), axis, **options)


def _is_at_end(a: Any, end: Any, axis: int | None) -> jax.Array:
    return (a == end(a, axis, keepdims=True)) | jnp.isnan(a)
