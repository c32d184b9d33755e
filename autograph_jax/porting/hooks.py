"""What arrays need of the rooms above. The operators set this once, when they are imported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _nothing(buffer: Any) -> None:
    return None


before_write: Callable[[Any], None] = _nothing  # a buffer is about to be written: a staged block notes it
