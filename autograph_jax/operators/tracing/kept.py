"""What JAX keeps of a function that is traced inside a block: where the block itself is part of it, it must serve no other.

`jax.jit` traces a function once. If the function prints or raises, what was traced holds the condition under which the block
around counts, a value of that block alone.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator

import jax

from autograph_jax.operators.tracing import state

_block = jax.make_user_context(0)  # part of the keys of JAX's caches
_numbers = itertools.count(1)

# Module state: has this happened? From then on each block has caches of its own, which makes tracing slower.
_happened: list[bool] = []


def asked() -> None:
    """Whether a block counts is asked here."""
    if not _happened and (state.inside_another() or any(trace.inside for trace in state.traces())):
        _happened.append(True)


@contextlib.contextmanager
def apart() -> Iterator[None]:
    """While a block is traced: nothing that JAX has kept of another block."""
    with _block(next(_numbers)) if _happened else contextlib.nullcontext():
        yield
