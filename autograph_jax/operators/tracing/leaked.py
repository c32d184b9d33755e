"""A library that keeps a value of a block where nobody sees it: the random key of `numpyro.handlers.seed`, Haiku's state.

The next turn would find that value and not what a turn leaves, since the block is traced once: so each would have one key.
"""

from __future__ import annotations

import collections
import gc
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.core

from autograph_jax.errors import EscapedTracerError, user_location
from autograph_jax.operators.tracing import reach

_OURS = ("autograph_jax", "jax", "jaxlib", "builtins")  # whose objects know what they keep
_IN_BETWEEN = (list, tuple, collections.deque)
_DEEPEST = 2  # lists in lists


def check(trace: Callable[[], Any]) -> None:
    """Refuse a block of which something is left when its trace by JAX, which this reference gives, is over.

    Nothing refers to the trace then but its tracers, of which the block's notes and our own tables keep none.
    """
    if all(_is_left(trace, generation) for generation in (0, 1, 2)):
        _refuse(trace())


def _is_left(trace: Callable[[], Any], generation: int) -> bool:
    """Also when objects that refer to each other are gone, as frames do that an exception has passed: first the latest."""
    if trace() is not None:
        gc.collect(generation)
    return trace() is not None


def _refuse(trace: Any) -> None:
    tracers = [one for one in gc.get_referrers(trace) if isinstance(one, jax.core.Tracer)]
    if owners := list(_owners(tracers)):
        raise EscapedTracerError(
            "a value that is computed in this block is kept outside of it, where autograph_jax does not see it",
            location=user_location(),
            details=[*owners[:3], "The block is traced once, so the next turn, or what follows, would find that value."],
            help="do it before the block, and keep the value in a variable; or let Python run a loop: `ag.unroll(range(n))`",
        )


def _owners(values: list[Any]) -> Iterator[str]:
    """The objects that hold one of them, in words, also in their lists. What else holds it may be of the tracing itself.

    All values are looked for at once: each look is at all objects that there are.
    """
    own = [values]  # lists that hold values, and are this function's
    for _ in range(1 + _DEEPEST):
        holders = gc.get_referrers(*values)
        own.append(holders)
        dicts = [holder for holder in holders if type(holder) is dict]
        held = set(map(id, values))
        for one in itertools.chain(holders, gc.get_referrers(*dicts)):
            if _root(type(one)) not in _OURS and jax.tree_util.all_leaves([one]):  # a pytree is a value
                names = [name for name in reach.attributes(one) if id(reach.attribute(one, name, None)) in held]
                yield from (f"`{name}` of an object of class {type(one).__qualname__} holds it." for name in names)
        values = [one for one in holders if type(one) in _IN_BETWEEN and not any(one is list_ for list_ in own)]
        own.append(values)


def _root(kind: type) -> str:
    return str(kind.__module__).partition(".")[0]
