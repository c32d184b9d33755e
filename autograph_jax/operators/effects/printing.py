"""print of traced values: it happens at run time, once for each time that the branch is taken.

Under vmap a branch runs for every lane; only lanes that took it print.
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.effects import cleanups, ended, in_memory, managers, ordered, texts
from autograph_jax.operators.tracing import kept, state
from autograph_jax.operators.values.choices import Choice, taken


def print_(*values: Any, **options: Any) -> None:
    """Python's print; at run time inside a staged block, or where a value is traced."""
    values = tuple(texts.of_objects(value, "s") for value in values)
    if not state.traces() and not texts.is_open(values, options):
        builtins.print(*values, **options)
        return
    others = {name: value for name, value in options.items() if not isinstance(value, texts.Text | Choice)}
    in_memory.written_later(others.get("file"))
    managers.refuse_if_redirected(others.get("file"))
    open_ = {name: value for name, value in options.items() if name not in others}  # `end` and `sep`
    stream = _standard(others.get("file"))

    def write(known: Any) -> None:
        values, own = known
        options: dict[str, Any] = others | {name: str(text) for name, text in own.items()}
        options |= {"file": getattr(sys, stream)} if stream is not None else {}
        builtins.print(*values, **options)

    at_run_time(write, (values, open_))


def _standard(file: Any) -> str | None:
    """`file=sys.stdout` is asked for anew in each call: by then it may be another one."""
    return next((name for name in ("stdout", "stderr") if file is not None and file is getattr(sys, name)), None)


def at_run_time(action: Any, values: Sequence[Any]) -> None:
    """Call `action` with the values that traced ones have at run time, if the code that asks is really reached."""
    cleanups.refuse_if_lost("something is printed, logged or written")
    leaves, tree = jax.tree.flatten(values, is_leaf=lambda value: value is None)
    traced = [position for position, leaf in enumerate(leaves) if isinstance(leaf, jax.Array)]
    operands = [leaves[position] for position in traced]
    for position in traced:  # the compiled program keeps the others, and must not keep a tracer
        leaves[position] = None

    def run(active: Any, *known: Any) -> None:
        if not np.all(active):
            return
        shown = list(leaves)
        for position, value in zip(traced, known, strict=True):
            shown[position] = texts.plain(value)
        action(taken(jax.tree.unflatten(tree, shown)))

    active, has_failed = active_here(), ended.has_failed()
    ordered.call(run, active if has_failed is False else jnp.logical_and(active, jnp.logical_not(has_failed)), *operands)


def active_here() -> jax.Array:
    """Whether this code is really reached: by the conditions of all staged blocks around it, and without an error before."""
    active = jnp.asarray(True)
    for trace in state.traces():
        if trace.active is not None:
            active = jnp.logical_and(active, trace.active)
    for attempt in state.attempts():
        active = jnp.logical_and(active, jnp.logical_not(attempt.has_failed()))
    kept.asked()
    error = loop.code.read() if (loop := state.failures()) is not None else 0
    return jnp.logical_and(active, error == 0) if isinstance(error, jax.Array) else active
