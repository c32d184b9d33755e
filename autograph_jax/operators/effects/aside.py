"""A function is traced once more, beside the program: what it gives is wanted, and nothing done of what it does."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import jax

from autograph_jax.operators.effects.attempts import Attempt
from autograph_jax.operators.tracing import state


def traced_aside(function: Callable[..., Any], *arguments: jax.Array) -> Any:
    """The closed jaxpr of a function. What it writes is put back, and what it raises is nobody's."""

    def run(*arguments: jax.Array) -> Any:
        with _on_its_own(), state.attempt() as writes, Attempt(None):  # which takes every error
            writes.give_up()
            return function(*arguments)

    return jax.make_jaxpr(run)(*arguments)


@contextlib.contextmanager
def _on_its_own() -> Iterator[None]:
    """The `try` statements around have nothing to do with it."""
    active = state.attempts()
    around = active[:]
    active.clear()
    try:
        yield
    finally:
        active[:] = around
