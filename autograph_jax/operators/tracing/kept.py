"""What JAX keeps of a function that is traced inside a block: where the block itself is part of it, it must serve no other.

`jax.jit` traces a function once. If the function prints or raises, or has a `while`, what was traced holds the condition under
which the block around counts, a value of that block alone. So such a block is traced a second time, with caches of its own.
"""

from __future__ import annotations

import itertools
import threading
import types
import weakref
from collections.abc import Callable
from typing import TypeVar

import jax

from autograph_jax.operators.tracing import state

T = TypeVar("T")

_block = jax.make_user_context(0)  # part of the keys of JAX's caches
_numbers = itertools.count(1)

# Module state: the code of blocks in which that has happened. They have caches of their own, which makes tracing slower.
_asking: weakref.WeakSet[types.CodeType] = weakref.WeakSet()


class _Local(threading.local):
    def __init__(self) -> None:
        self.apart: list[int] = []  # how deep in others the blocks are that are being traced, with caches of their own
        self.again: int | None = None  # and the one that is to be


_local = _Local()


class Again(BaseException):
    """A block around is to be traced again: what JAX traces in it at present, it would keep for others."""


def asked() -> None:
    """Whether a block counts is asked here."""
    traces = state.traces()
    depths = [_block_at(depth) for depth in state.boundaries()]
    shared = [depth for depth in depths if depth not in _local.apart and depth < len(traces)]
    if shared:
        _local.again = min([*shared, *([] if _local.again is None else [_local.again])])
        raise Again


def _block_at(depth: int) -> int:
    """The block in which something stands that is so deep: no attempt, of which nothing is traced."""
    traces = state.traces()
    return next((one for one in range(depth, -1, -1) if traces[one].block is not None), len(traces))


def apart(code: types.CodeType | None, run: Callable[[], T]) -> T:
    """What is traced of a block of this code, with nothing that JAX has kept of another one.

    Whether it asks is known once it does: then it is traced again, whatever the user's handlers have made of the exception.
    """
    depth = len(state.traces())
    if code is None or code not in _asking:
        try:
            traced = run()
        except (Exception, Again):  # a user's handler may have raised anything in its place
            if _local.again != depth:
                raise
        else:
            if _local.again != depth:
                return traced
        _local.again = None
        if code is not None:
            _asking.add(code)
    count = len(_local.apart)
    _local.apart.append(depth)
    try:
        with _block(next(_numbers)):
            return run()
    finally:
        del _local.apart[count:]
