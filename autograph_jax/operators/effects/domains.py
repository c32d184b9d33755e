"""What Python's math raises where jax.numpy gives nan or inf: `math.sqrt(-1.0)`, `math.exp(1000.0)`; where a `try` handles it.

Without a handler it is nan or inf, as in NumPy: a check of each number would cost more than the number.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators.effects import attempts, checks

# Where they are infinite between finite numbers: an error of what they are given, not of the size of what they give.
_WITH_POLES = frozenset({math.log, math.log2, math.log10, math.log1p, math.atanh, math.gamma, math.lgamma, math.pow})


def checked(function: Callable[..., Any], compute: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """What a function of math gives, by `compute`, after a check for each of its errors that a handler around is for."""
    found = compute(*arguments)
    if not isinstance(found, jax.Array) or found.ndim or not jnp.issubdtype(found.dtype, jnp.floating):
        return found
    caught = [kind for kind in (ValueError, OverflowError) if attempts.is_handled(kind)]
    if not caught:
        return found
    given = [jnp.asarray(leaf) for leaf in jax.tree.leaves(arguments)]
    has_nan = jnp.any(jnp.asarray([jnp.isnan(one) for one in given]))
    is_pole = jnp.isinf(found) & jnp.all(jnp.asarray([jnp.isfinite(one) for one in given]))
    has_no_value, is_too_large = jnp.isnan(found) & ~has_nan, is_pole
    if function in _WITH_POLES:
        has_no_value, is_too_large = has_no_value | is_pole, jnp.asarray(False)
    fails = jnp.asarray(False)
    for kind, where, text in ((ValueError, has_no_value, "domain"), (OverflowError, is_too_large, "range")):
        if kind in caught:
            checks.raise_where(where, kind(f"math {text} error"))
            fails = fails | where
    # What is not used has a derivative all the same, which must be finite.
    inside = 1.5 if function is math.acosh else 0.5
    return compute(*(jnp.where(fails, inside, x) if _is_float(x) else x for x in arguments))


def _is_float(value: Any) -> bool:
    return isinstance(value, jax.Array) and jnp.issubdtype(value.dtype, jnp.floating)
