"""Which values a jax.vmap maps. JAX has no public name for that."""

from __future__ import annotations

from typing import Any

from jax.core import Tracer

try:
    from jax._src.core import trace_ctx as _current
    from jax._src.interpreters.batching import BatchTrace as _BatchTrace
except ImportError:  # pragma: no cover - a JAX that has moved them
    _current = _BatchTrace = None


def is_mapped(value: Any) -> bool:
    """Has this value another number for each lane of the jax.vmap that goes on at present? Not known: no."""
    trace = _current.trace if _current is not None else None
    return trace is not None and type(trace) is _BatchTrace and isinstance(value, Tracer) and value._trace is trace
