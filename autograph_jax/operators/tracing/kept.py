"""What JAX keeps of a function that is traced inside a block: where the block itself is part of it, it must serve no other.

`jax.jit` traces a function once. If the function prints or raises, or has a `while`, what was traced holds the condition under
which the block around counts, a value of that block alone.
"""

from __future__ import annotations

import contextlib
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
    """The innermost block is to be traced again: what JAX traces at present, it would keep for others."""


def asked() -> None:
    """Whether a block counts is asked here."""
    if not _happened and _is_kept():
        _happened.append(True)
        if any(trace.block is not None for trace in state.traces()):
            raise Again


def _is_kept() -> bool:
    """Is this part of a function that JAX traces by itself, in a block that is being traced?"""
    here = jax_private.current_trace()
    for trace in reversed(state.traces()):
        if jax_private.program_of(here) is not jax_private.program_of(trace.jax_trace):
            return True
        here = trace.around or here
    return False


def apart(run: Callable[[], T]) -> T:
    """What is traced of a block, with nothing that JAX has kept of another one."""
    if not _happened:
        with contextlib.suppress(Again):
            return run()
    with _block(next(_numbers)):
        return run()
