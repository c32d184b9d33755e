"""What a file of programs/ says about its program."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


@dataclasses.dataclass(frozen=True)
class Program:
    """One program in several forms, which agree on `arguments(size)`, NumPy arrays and numbers.

    `python` is what a user writes and is converted, `expert` what somebody who knows lax well writes. `literal` has the same
    loops over NumPy arrays: numba compiles it. `numpy` is what NumPy or SciPy has for it, where that is not `literal`.
    """

    name: str
    python: Function
    expert: Function
    literal: Function
    arguments: Callable[[int], tuple[Any, ...]]
    size: int
    numpy: Function | None = None
    static: tuple[int, ...] = ()  # arguments by number that are known when it is compiled
    mapped: bool = False  # `python` and `expert` are of one lane, and are mapped over the first axis
    unrolls: bool = False  # plain jax.jit takes it, and unrolls its loops
    tolerance: float = 1e-9  # relative to the largest result
