"""Is a value traced? Can Python decide by it?"""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import jax.numpy as jnp

from autograph_jax.errors import PredicateError, user_location
from autograph_jax.operators import jax_private
from autograph_jax.operators.values.choices import UNBOUND, Choice


def is_traced(value: Any) -> bool:
    """Is the truth of this value unknown while tracing? Under an eager `jax.grad` a tracer has a value, and it is not."""
    kind = type(value)  # not `isinstance`, which asks a user's object for its `__class__`
    return kind is Choice or issubclass(kind, jax.core.Tracer) and jax_private.is_abstract(value)


def truth(value: Any) -> jax.Array:
    """The truth value of a traced value, as a bool array of no dimensions."""
    if isinstance(value, Choice) and value._may_be_unbound():
        value = value._bound()
        if not is_traced(value):
            return jnp.asarray(bool(value))
    if isinstance(value, Choice):
        return jnp.asarray(value._where(_truth_of_option)) if _decidable(value) else _truth_of_array_choice(value)
    if value.size != 1:
        raise PredicateError(
            f"the truth value of an array of {value.size} elements is ambiguous",
            location=user_location(),
            details=[f"The condition is {value.dtype}{list(value.shape)}."],
            help="reduce it with `.any()` or `.all()`",
        )
    value = value != 0 if value.dtype != bool else value
    return value.reshape(()) if value.ndim else value


def _truth_of_option(option: Any) -> bool:
    return option is not UNBOUND and bool(option)


def _decidable(value: Choice) -> bool:
    return not any(isinstance(option, jax.Array) for option in value._options)


def _truth_of_array_choice(value: Choice) -> jax.Array:
    truths = [truth(option) if isinstance(option, jax.Array) else _truth_of_option(option) for option in value._options]
    return jnp.stack([jnp.asarray(t) for t in truths])[value._index]
