"""Code that traced data may not reach, run all the same: the next element of an `any`, after one that may have decided it.

Its value is computed in any case, as what follows is only combined with it. What it writes, prints and raises counts where
it is reached.
"""

from __future__ import annotations

import gc
import types
from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from autograph_jax.operators import hooks
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.effects import checks
from autograph_jax.operators.sequences import overtaken
from autograph_jax.operators.tracing import given, reach, state
from autograph_jax.operators.tracing.places import Content, Place

END = object()


class Elements:
    """An iterable's elements, taken one by one."""

    def __init__(self, iterable: Any, elements: Iterator[Any]) -> None:
        self._iterable, self._elements = iterable, elements
        self._functions: list[types.FunctionType] | None = None
        self._places: list[Any] = []

    @given.passing_on
    def next_if(self, reached: Any) -> Any:
        """The next element, or END; for a traced `reached`, as if it were taken only where that holds."""
        if reached is True:
            return next(self._elements, END)
        if self._functions is None:
            self._functions = list(_functions(self._iterable))
            self._places = overtaken.places(self._iterable)
        overtaken.check_left(self._places)
        with state.attempt(active=reached) as trace:
            for function in self._functions:
                hooks.note_variables(function)
            element = _taken(self._elements)
            for place, old in list(trace.log.values()):
                _keep_unless(reached, place, old)
        return element

    def give_up(self) -> None:
        """Nobody may go on with an iterator of which elements have been taken that may not have been reached."""
        overtaken.give_up(self._places)


@given.passing_on
def _taken(elements: Iterator[Any]) -> Any:
    """The next element; after an exception there is none."""
    try:
        return next(elements, END)
    except checks.Raised:
        return END
    except Exception as error:
        if not checks.raised_later(error):
            raise
        return END


def _keep_unless(reached: Any, place: Place, old: Any) -> None:
    new = place.read()
    if new is not old:
        either = _either_content if isinstance(place, Content) else _chosen
        place.write(either(reached, new, old))


def _either_content(reached: Any, new: Any, old: Any) -> Any:
    """What a list or dict holds, which itself stays the same one: element by element."""
    if isinstance(new, list) and len(new) == len(old):
        return [_chosen(reached, *pair) for pair in zip(new, old, strict=True)]
    if isinstance(new, dict) and list(new) == list(old):
        return {key: _chosen(reached, new[key], old[key]) for key in new}
    return _chosen(reached, new, old)


def _chosen(reached: Any, new: Any, old: Any) -> Any:
    return new if new is old else if_expr(reached, lambda: new, lambda: old)


def _functions(iterable: Any) -> Iterator[types.FunctionType]:
    """Those that give the elements: of `map` and `filter`, and of generators, which may assign variables around them."""
    for part in reach.everything(iterable):
        if isinstance(part, types.FunctionType):
            yield part
        elif isinstance(part, types.GeneratorType):
            yield from (held for held in gc.get_referents(part) if isinstance(held, types.FunctionType))


def both(first: Any, second: Any) -> Any:
    """`first and second`, of bools or traced ones."""
    return second if first is True else first if second is True else jnp.logical_and(first, second)
