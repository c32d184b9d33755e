"""Caches of programs. `jax.clear_caches` empties them with JAX's own: their entries keep programs in memory.

JAX has no public name for that (`jax._src.util.register_cache`); without it they go on by themselves, each with a bound.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

try:
    from jax._src.util import register_cache
except ImportError:  # pragma: no cover - private
    register_cache: Any = None


T = TypeVar("T")


def cached(most: int) -> Callable[[Callable[..., T]], functools._lru_cache_wrapper[T]]:
    """`functools.lru_cache` of that many entries, which `jax.clear_caches` empties."""

    def of(function: Callable[..., T]) -> functools._lru_cache_wrapper[T]:
        made = functools.lru_cache(maxsize=most)(function)
        if register_cache is not None:
            register_cache(made, f"{function.__module__}.{function.__qualname__}")
        return made

    return of
