"""What arrays need of the rooms above. The operators set this once, when they are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _as_it_is(buffer: Any, value: Any) -> Any:
    return value


# A buffer is about to be written: a staged block notes it, and gives the value to be written.
before_write: Callable[[Any, Any], Any] = _as_it_is
