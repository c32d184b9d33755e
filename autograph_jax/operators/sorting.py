"""Sorts that operators and ported code stage, compiled with what the running function's options say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph_jax.loops import sorts
from autograph_jax.operators import loop_options


def sorting(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function of arrays that sorts gives: `sorting(jnp.argsort, x)`."""
    return sorts.marked(function, *args, chosen=loop_options.current().optimizations, **options)
