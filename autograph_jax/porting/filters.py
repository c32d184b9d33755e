"""What `scipy.signal.lfilter` calls in C, on traced values: a linear filter along an axis, with derivatives by all it gets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from . import hooks
from .arrays import value_of, wrap
from .casting import canonical
from .products import rounded

Function = Callable[..., Any]


def routine(function: Any) -> Function | None:
    """What a function of scipy.signal's compiled modules computes; None where it is not known."""
    is_of_signal = (getattr(function, "__module__", None) or "") == "scipy.signal._sigtools"
    return _linear_filter if is_of_signal and getattr(function, "__name__", "") == "_linear_filter" else None


def _linear_filter(b: Any, a: Any, x: Any, axis: Any = -1, zi: Any = None) -> Any:
    """`x` filtered by b(z) / a(z) along an axis, in direct form II transposed; with delays `zi` also those that are left."""
    given = [jnp.asarray(value_of(part)) for part in (b, a, x, *([] if zi is None else [zi]))]
    dtype = canonical(np.result_type(*(np.dtype(part.dtype) for part in given), float if _are_whole(given) else given[0].dtype))
    numerator, denominator, signal, *delays = (part.astype(dtype) for part in given)
    hooks.raise_where(denominator[0] == 0, ValueError("BUG: filter coefficient a[0] == 0 not supported yet"))
    size = max(len(numerator), len(denominator))
    ahead, back = (_padded(part / denominator[0], size) for part in (numerator, denominator))
    rows = jnp.moveaxis(signal, axis, 0)
    begin = jnp.moveaxis(delays[0], axis, 0) if delays else jnp.zeros((size - 1, *rows.shape[1:]), dtype)
    left, found = jax.lax.scan(lambda state, row: _step(ahead, back, state, row), begin, rows)
    filtered = wrap(jnp.moveaxis(found, 0, axis))
    return filtered if zi is None else (filtered, wrap(jnp.moveaxis(left, 0, axis)))


def _step(ahead: jax.Array, back: jax.Array, delays: jax.Array, row: jax.Array) -> tuple[jax.Array, jax.Array]:
    first = jnp.zeros_like(row) if not len(delays) else delays[0]
    found = first + rounded(ahead[0] * row)
    following = jnp.concatenate([delays[1:], jnp.zeros_like(delays[:1])])
    return following + rounded(_outer(ahead[1:], row)) - rounded(_outer(back[1:], found)), found


def _outer(weights: jax.Array, row: jax.Array) -> jax.Array:
    return weights.reshape(-1, *(1,) * row.ndim) * row


def _padded(weights: jax.Array, size: int) -> jax.Array:
    return jnp.concatenate([weights, jnp.zeros(size - len(weights), weights.dtype)])


def _are_whole(given: list[jax.Array]) -> bool:
    return all(part.dtype.kind in "biu" for part in given)
