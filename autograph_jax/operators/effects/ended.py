"""Has the program failed already? A `while` that comes later asks, and makes no turn then.

Nothing orders a loop behind the call of Python that raises: without a bound it might run before that, and never end. In blocks
this is state, a bool; around them a tracer of the program itself, which an equation of that holds, and nobody else.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp

from autograph_jax.loops.axes import axes_of
from autograph_jax.operators import jax_private
from autograph_jax.operators.effects import attempts
from autograph_jax.operators.effects.failures import Carried
from autograph_jax.operators.effects.held import of_program
from autograph_jax.operators.tracing import state


class _Programs(threading.local):
    """Those that are being made, and of each whether it has failed: outside of blocks, and in the running block."""

    def __init__(self) -> None:
        self.outside: weakref.WeakKeyDictionary[Any, Callable[[], Any]] = weakref.WeakKeyDictionary()


_programs = _Programs()


class _Flag(Carried):
    """The place for whether the program has failed, by an error that leaves it."""

    ends_with_its_loop = False  # what follows a loop asks, too

    def read(self) -> Any:
        if not jax_private.tracing():
            return False
        return self.target.__dict__[self.attribute] if self.attribute in self.target.__dict__ else self._outside()

    def write(self, value: Any) -> None:
        # Outside of all programs a block of one that is over puts back what it found: what runs there has not failed.
        if not jax_private.tracing() or value is self._outside():
            self.target.__dict__.pop(self.attribute, None)
        elif blocks := _blocks():
            if _is_of_program():  # `jax.jit(f)(x)` in a block: of what fails in `f` its own program tells
                is_mapped = isinstance(value, jax.core.Tracer) and jax_private.current_trace() is not blocks[-1].jax_trace
                self.target.__dict__[self.attribute] = of_program(value) if is_mapped else value
        elif value is False:
            self.target.outside.pop(_program(), None)
        else:
            value = of_program(value)
            is_held = isinstance(value, jax.core.Tracer)  # by the program
            self.target.outside[_program()] = weakref.ref(value) if is_held else lambda: value

    def _outside(self) -> Any:
        kept = self.target.outside.get(_program(), _nothing)()
        return False if kept is None else kept


_flag = _Flag(_programs, "failed", False)


def note(condition: Any) -> None:
    """The program fails here where this holds. On several devices the others go on, and this one with them."""
    if _is_noted(condition):
        before = _flag.read()
        state.write(_flag, condition if before is False else jnp.logical_or(before, condition))


def has_failed() -> Any:
    """False, or a traced bool: has the program failed, or a `try` that is running?"""
    if not _is_of_program():
        return False
    failed = _flag.read()
    inside = jnp.logical_not(attempts.unless_failed(jnp.asarray(True))) if state.attempts() else False
    return inside if failed is False else failed if inside is False else jnp.logical_or(failed, inside)


def are_in_order(condition: Any) -> bool:
    """Where something fails by this: is it known of all that comes later that it does not run, or asks whether it has failed?

    Not of what was printed before, which JAX itself has to keep before it; nor on several devices, which `note` leaves out.
    """
    programs = [_program(), *(jax_private.program_of(trace.jax_trace) for trace in _blocks())]
    in_turns = any(trace.is_turn for trace in state.traces())
    return _is_noted(condition) and not in_turns and not any(map(jax_private.has_order, programs))


def _blocks() -> list[Any]:
    return [trace for trace in state.traces() if trace.around is not None]


def _program() -> Any:
    blocks = _blocks()
    around = blocks[0].around if blocks else jax_private.current_trace()
    return jax_private.program_of(around) or around


def _is_noted(condition: Any) -> bool:
    return _is_of_program() and not axes_of(condition)


def _is_of_program() -> bool:
    """Is this no function in a block that JAX traces by itself, to scan or compile it?"""
    return not state.boundaries()


def _nothing() -> Any:
    return None
