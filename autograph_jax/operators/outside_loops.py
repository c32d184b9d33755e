"""What operators and ported code stage outside of loops, compiled with what the running function's options say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograph_jax.loops import marks
from autograph_jax.operators import loop_options


def marked(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a function of arrays gives that sorts or multiplies matrices: `marked(jnp.argsort, x)`."""
    return marks.marked(function, *args, chosen=loop_options.current().optimizations, **options)
