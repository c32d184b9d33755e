"""What operators need of the room above them: how a callee is converted. The runtime sets it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _as_it_is(function: Callable[..., Any]) -> Callable[..., Any]:
    return function


call: Callable[[Any], Callable[..., Any]] = _as_it_is  # set once, by autograph_jax.runtime.calls
