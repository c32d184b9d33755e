"""What the lines of a program are compiled with, in words."""

from __future__ import annotations

from typing import Any

from autograph_jax.explaining.equations import Place, place_of
from autograph_jax.runtime.optimized import told_of


def by_line(jaxpr: Any, fallback: Place) -> dict[Place, list[str]]:
    """By the user's lines: which optimisations, by the names that `optimize=` takes, and what they do there."""
    found: dict[Place, list[str]] = {}
    for loop, told in told_of(jaxpr):
        said = found.setdefault(place_of(told.equation) or place_of(loop) or fallback, [])
        text = f"{told.name}: {told.what}"
        if text not in said:
            said.append(text)
    return found
