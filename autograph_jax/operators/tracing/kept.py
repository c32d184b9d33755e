"""What JAX keeps of a function that is traced inside a block: where the block itself is part of it, it must serve no other.

`jax.jit` traces a function once. If the function prints or raises, or has a `while`, what was traced holds the condition under
which the block around counts, a value of that block alone.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import TypeVar

import jax

from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import state

T = TypeVar("T")

_block = jax.make_user_context(0)  # part of the keys of JAX's caches
_numbers = itertools.count(1)

# Module state: has this happened? From then on each block has caches of its own, which makes tracing slower.
_happened: list[bool] = []


class Again(BaseException):
    """The block so deep in others is to be traced again: what JAX traces in it at present, it would keep for others."""

    def __init__(self, depth: int) -> None:
        super().__init__(depth)
        self.depth = depth


def asked() -> None:
    """Whether a block counts is asked here."""
    if not _happened and (around := _around_what_is_kept()):
        _happened.append(True)
        depths = [depth for depth, trace in enumerate(around) if trace.block is not None]
        if depths:
            raise Again(depths[-1])


def _around_what_is_kept() -> list[state.Trace]:
    """The blocks that are being traced, up to one in which JAX traces a function by itself of which this is a part."""
    here, blocks = jax_private.current_trace(), state.traces()
    for depth in reversed(range(len(blocks))):
        if jax_private.program_of(here) is not jax_private.program_of(blocks[depth].jax_trace):
            return blocks[: depth + 1]
        here = blocks[depth].around or here
    return []


def apart(run: Callable[[], T]) -> T:
    """What is traced of a block, with nothing that JAX has kept of another one."""
    if not _happened:
        depth = len(state.traces())
        try:
            return run()
        except Again as again:
            if again.depth != depth:
                raise
    with _block(next(_numbers)):
        return run()
