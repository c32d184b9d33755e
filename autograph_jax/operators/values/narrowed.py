"""What is left of a choice where it is used: an error is raised at run time for the other options, once in a block.

`x = None` on one path, then `x + 1; x * 2`: the second use need not ask again, nor in a block inside that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax.numpy as jnp

from autograph_jax.operators.effects import checks
from autograph_jax.operators.effects.failures import Error
from autograph_jax.operators.tracing import state
from autograph_jax.operators.values.choices import Choice


def narrowed(choice: Choice, passes: Callable[[Any], bool], error: Callable[[], Error]) -> Any:
    """The value where the option taken passes; at run time an error, if it is another one."""
    others = frozenset(position for position, option in enumerate(choice._options) if not passes(option))
    if not others:
        return choice
    if not others <= ruled_out(choice):
        checks.raise_where(jnp.asarray(choice._where(lambda option: not passes(option))), error())
        rule_out(choice, others)
    for trace in state.traces():
        if (known := trace.narrowed.get((id(choice), others))) is not None:
            return known[1]
    left = choice._only(passes)
    if state.traces() and not state.inside_another():
        state.traces()[-1].narrowed[id(choice), others] = choice, left
    return left


def ruled_out(choice: Choice) -> set[int]:
    """The options, by position, for which an error would have been raised before the program came here."""
    running = state.attempts()
    return {position for position, inside in _noted(choice) if inside == running[: len(inside)]}


def rule_out(choice: Choice, positions: Iterable[int]) -> None:
    """An error has been raised for these options. In a `try` this holds up to its end: who goes on after it may have one."""
    if state.traces() and not state.inside_another():
        _, known = state.traces()[-1].ruled_out.setdefault(id(choice), (choice, []))
        known += [(position, state.attempts().copy()) for position in positions]


def _noted(choice: Choice) -> Iterator[tuple[int, list[Any]]]:
    for trace in state.traces():
        if (known := trace.ruled_out.get(id(choice))) is not None:
            yield from known[1]
