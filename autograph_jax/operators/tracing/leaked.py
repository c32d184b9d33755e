"""A library that keeps a value of a block where nobody sees it: the random key of `numpyro.handlers.seed`, Haiku's state.

The next turn would find that value and not what a turn leaves, since the block is traced once: so each would have one key.
"""

from __future__ import annotations

import collections
import gc
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.core

from autograph_jax.errors import EscapedTracerError, user_location
from autograph_jax.operators.tracing import reach

_OURS = ("autograph_jax", "jax", "jaxlib", "builtins")  # whose objects know what they keep
_IN_BETWEEN = (list, tuple, collections.deque)
_DEEPEST = 2


def check(trace: Callable[[], Any]) -> None:
    """Refuse a block of which something is left when its trace by JAX, which this reference gives, is over.

    Nothing refers to the trace then but its tracers, of which the block's notes and our own tables keep none.
    """
    if trace() is None:
        return
    gc.collect()  # frames that an exception has passed hold each other
    if (left := trace()) is None:
        return
    tracers = [one for one in gc.get_referrers(left) if isinstance(one, jax.core.Tracer)]
    if owners := [told for tracer in tracers for told in _owners(tracer)]:
        raise EscapedTracerError(
            "a value that is computed in this block is kept outside of it, where autograph_jax does not see it",
            location=user_location(),
            details=[*owners[:3], "The block is traced once, so the next turn, or what follows, would find that value."],
            help="do it before the block, and keep the value in a variable; or let Python run a loop: `ag.unroll(range(n))`",
        )


def _owners(value: Any, depth: int = 0) -> Iterator[str]:
    """The objects that hold it, in words, also in their lists. What holds it in another way may be of the tracing itself."""
    for holder in gc.get_referrers(value):
        if type(holder) in _IN_BETWEEN and depth < _DEEPEST:
            yield from _owners(holder, depth + 1)
        for one in gc.get_referrers(holder) if type(holder) is dict else [holder]:
            if _root(type(one)) not in _OURS and jax.tree_util.all_leaves([one]):  # a pytree is a value
                names = [name for name in reach.attributes(one) if reach.attribute(one, name, None) is value]
                yield from (f"`{name}` of an object of class {type(one).__qualname__} holds it." for name in names)


def _root(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]
