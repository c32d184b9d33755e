"""The few things of JAX's that have no public name, each behind a guard; tests/operators/test_jax_private.py notices moves."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any, cast

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

try:
    from jax._src import core as _core
    from jax._src import shard_map as _shard_map
    from jax._src.interpreters import batching as _batching
    from jax._src.interpreters import partial_eval as _partial_eval
    from jax._src.lax import lax as _lax

    _STAGING: tuple[type, ...] = (_partial_eval.DynamicJaxprTrace, _batching.BatchTrace, _shard_map.ShardMapTrace)
    _to_concrete = _core.to_concrete_value
    _current = _core.trace_ctx
except (ImportError, AttributeError):  # pragma: no cover - a JAX that has moved them
    _core = _lax = None
    _STAGING, _to_concrete, _current = (), None, None


def tracing() -> bool:
    """Is some value abstract at present (jit, vmap, a staged block), so that trying things out costs little?

    Under an eager `jax.grad` values stay concrete: there Python runs as Python.
    """
    if _current is None:  # pragma: no cover
        return isinstance(jnp.zeros(()) + 0, jax.core.Tracer)
    trace = _current.trace
    while trace is not None:
        if isinstance(trace, _STAGING):
            return True
        trace = getattr(trace, "parent_trace", None)
    return False


def current_trace() -> object:
    """What JAX does with operations at present: stage them, differentiate them, run them."""
    return object() if _current is None else _current.trace


def is_abstract(tracer: jax.core.Tracer) -> bool:
    """Has this tracer no concrete value behind it (as it has under an eager `jax.grad`)?"""
    if _to_concrete is not None:
        return _to_concrete(tracer) is None
    try:  # pragma: no cover
        bool(jnp.all(tracer == tracer))
    except jax.errors.ConcretizationTypeError:  # pragma: no cover
        return True
    return False  # pragma: no cover


def is_own(value: Any) -> bool:
    """Is this a tracer of the block that is being traced, not of one around it?"""
    return isinstance(value, jax.core.Tracer) and (_current is None or getattr(value, "_trace", None) is _current.trace)


def is_over_with(tracer: jax.core.Tracer) -> bool:
    """Is this a tracer of the present trace or of one inside it, of no use when that is over?"""
    if _current is None:  # pragma: no cover
        return False
    around = _current.trace if getattr(jax.config, "jax_disable_jit", False) else getattr(_current.trace, "parent_trace", None)
    while around is not None and around is not getattr(tracer, "_trace", None):
        around = getattr(around, "parent_trace", None)
    return around is None


def concrete(tracer: jax.core.Tracer) -> Any:
    """The value behind a tracer of an eager `jax.grad`; None where there is none, or another trace goes on around it."""
    if _to_concrete is None or _current is None:  # pragma: no cover
        return None
    around = getattr(_current.trace, "parent_trace", None)
    return _to_concrete(tracer) if getattr(around, "parent_trace", None) is None else None


def as_weak(value: Any, dtype: np.dtype) -> jax.Array:
    """The value as a weakly typed array, which promotes as a Python number would."""
    if _lax is None:  # pragma: no cover
        return value + (0 if np.issubdtype(dtype, np.integer) else 0.0)
    return cast(jax.Array, _lax._convert_element_type(value, dtype, weak_type=True))


def unlogged(is_known: Callable[[BaseException], bool]) -> None:
    """Keep JAX from logging the traceback of an exception that a callback raises on purpose; the caller gets it anyway."""

    def passes(record: logging.LogRecord) -> bool:
        return not (record.exc_info and record.exc_info[1] is not None and is_known(record.exc_info[1]))

    logging.getLogger("jax._src.debugging").addFilter(passes)
