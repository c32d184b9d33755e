"""`np.searchsorted(edges, x)` beside numbers that XLA takes for zero: SciPy moves edges by the smallest step there is."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def searchsorted(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> jax.Array:
    if not _holds_subnormal(a):
        return jnp.searchsorted(a, v, side=side, sorter=sorter)
    kind = jnp.result_type(a, v)
    return jnp.searchsorted(_ordered(jnp.asarray(a, kind)), _ordered(jnp.asarray(v, kind)), side=side, sorter=sorter)


def _holds_subnormal(a: Any) -> bool:
    if not isinstance(a, np.ndarray) or a.dtype.kind != "f":
        return False
    return bool(((a != 0) & (np.abs(a) < np.finfo(a.dtype).tiny)).any())


def _ordered(x: jax.Array) -> jax.Array:
    """Integers in the order of floats, NaN behind all."""
    whole = jnp.dtype(f"int{8 * x.dtype.itemsize}")
    bits = jax.lax.bitcast_convert_type(x, whole)
    least, most = jnp.iinfo(whole).min, jnp.iinfo(whole).max
    return jnp.where(jnp.isnan(x), most, jnp.where(bits < 0, least - bits, bits))
