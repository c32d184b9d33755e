"""`np.nanquantile(x, (0.25, 0.75))`, `np.quantile(x[m], q, method="hazen")`: quantiles of as many elements as traced data says.

Source: R. J. Hyndman, Y. Fan: Sample quantiles in statistical packages, The American Statistician 50 (1996), and NumPy's own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import PortingError, user_location
from . import casting, hooks

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Method:
    """Where a quantile is among n elements in order, from 0 on, and how much of the element behind it counts."""

    place: Callable[[Any, Any], Any]
    weight: Callable[[Any, Any], Any] = lambda part, place: part


def _between(alpha: float, beta: float) -> Method:
    return Method(lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1)


def _at(place: Any, is_before: Any) -> Any:
    """The place of one of the two around this one."""
    before = jnp.floor(place)
    return jnp.maximum(jnp.where(is_before(place - before, before), before, before + 1), 0)


_METHODS: dict[str, Method] = {
    "inverted_cdf": Method(lambda n, q: _at(n * q - 1, lambda part, before: part == 0)),
    "averaged_inverted_cdf": Method(lambda n, q: n * q - 1, lambda part, place: jnp.where(part == 0, 0.5, 1.0)),
    "closest_observation": Method(lambda n, q: _at(n * q - 1.5, lambda part, before: (part == 0) & (before % 2 == 1))),
    "interpolated_inverted_cdf": _between(0.0, 1.0), "hazen": _between(0.5, 0.5), "weibull": _between(0.0, 0.0),
    "linear": Method(lambda n, q: (n - 1) * q), "median_unbiased": _between(1 / 3, 1 / 3),
    "normal_unbiased": _between(3 / 8, 3 / 8),
    "lower": Method(lambda n, q: jnp.floor((n - 1) * q)), "higher": Method(lambda n, q: jnp.ceil((n - 1) * q)),
    "nearest": Method(lambda n, q: jnp.round((n - 1) * q)),
    "midpoint": Method(
        lambda n, q: (jnp.floor((n - 1) * q) + jnp.ceil((n - 1) * q)) / 2,
        lambda part, place: jnp.where(place % 1 == 0, 0.0, 0.5),
    ),
}  # fmt: skip


def of_ordered(ordered: jax.Array, count: Any, share: Any, method: str = "linear") -> jax.Array:
    """Of the first so many rows, which are in order: the axes of the share come first."""
    if method not in _METHODS:
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_METHODS.keys()}")
    share = jnp.asarray(share)
    rows = jnp.asarray(count).astype(share.dtype)
    place = _METHODS[method].place(rows, share.reshape(*share.shape, *(1,) * rows.ndim))
    last = jnp.maximum(jnp.asarray(count) - 1, 0)
    before = jnp.floor(place)
    weight = _METHODS[method].weight(place - before, place)
    low, high = (_rows(ordered, _within(place, at, last), share.ndim) for at in (before, before + 1))
    apart = high - low
    found = jnp.where(weight < 0.5, low + apart * weight, high - apart * (1 - weight))
    return jnp.where((weight == 0) & jnp.isfinite(low), low, found)


def _within(place: Any, at: Any, last: Any) -> Any:
    return jnp.where(place >= last, last, jnp.where(place < 0, 0, at)).astype(int)


def _rows(ordered: jax.Array, places: jax.Array, axes: int) -> jax.Array:
    """At each place the element of its own column."""
    columns = jnp.broadcast_to(ordered, (*places.shape[:axes], *ordered.shape))
    return jnp.take_along_axis(columns, jnp.expand_dims(places, axes), axis=axes).squeeze(axes)


# ------------------------------------------------------------------ of arrays


def _of_arrays(function: Function) -> Function:
    """`np.quantile` and the like."""
    without_nan = is_without_nan(function)

    def apply(
        a: Any, q: Any, axis: Any = None, out: None = None, overwrite_input: bool = False, method: str = "linear",
        keepdims: Any = False, *, weights: None = None,
    ) -> jax.Array:  # fmt: skip
        a = jnp.asarray(a)
        if weights is not None:
            error = PortingError(
                f"`{function.__name__}` with `weights` has no counterpart on traced values",
                location=user_location(),
                help="leave `weights` out",
            )
            error.lacks = function  # NumPy's own Python code may do
            raise error
        if a.dtype.kind == "c":
            raise TypeError("a must be an array of real numbers")
        axes = tuple(range(a.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        lost = tuple(sorted(int(one) % a.ndim for one in axes))
        kept = tuple(one for one in range(a.ndim) if one not in lost)
        columns = a.transpose(*lost, *kept).reshape(-1, *(a.shape[one] for one in kept))
        ordered = hooks.marked(jnp.sort, columns, axis=0)  # what is no number comes last
        count = jnp.sum(~jnp.isnan(columns), axis=0)
        share = share_of(function, q, a.dtype)
        found = of_ordered(ordered, count if without_nan else jnp.full_like(count, len(columns)), share, method)
        found = jnp.where(count > 0 if without_nan else count == len(columns), found, jnp.nan)
        return jnp.expand_dims(found, tuple(share.ndim + one for one in lost)) if keepdims else found

    return apply


def share_of(function: Function, q: Any, dtype: np.dtype) -> Any:
    """A Python number has the precision of the array."""
    share, parts = casting.nested(q), 100 if "percentile" in function.__name__ else 1
    is_number = np.ndim(share) == 0 and isinstance(casting.kind_of(share), int | float)
    to = dtype if is_number and dtype.kind == "f" else casting.canonical(float)
    share = (jnp if isinstance(share, jax.Array) else np).asarray(share, to) / parts
    text = "Percentiles must be in the range [0, 100]" if parts > 1 else "Quantiles must be in the range [0, 1]"
    is_within = (share >= 0) & (share <= 1)
    hooks.raise_where(~is_within.all(), ValueError(text)) if isinstance(share, jax.Array) else _check(is_within, text)
    return share


def _check(is_within: Any, text: str) -> None:
    if not np.all(is_within):
        raise ValueError(text)


def is_without_nan(function: Function) -> bool:
    return function.__name__.startswith("nan")


OF_SHARES = (np.quantile, np.percentile, np.nanquantile, np.nanpercentile)
FUNCTIONS: dict[Function, Function] = {function: _of_arrays(function) for function in OF_SHARES}
