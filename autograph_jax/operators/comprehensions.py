"""What a comprehension keeps, where traced data decides: `[v for v in x if v > 1]` becomes a list with a bound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.sequences import bounded
from autograph_jax.operators.values.choices import Choice


class _Skip:
    """In place of an element that a comprehension leaves out."""


SKIP = _Skip()


def kept(condition: Any, element: Callable[[], Any]) -> Any:
    """An element of `[element for ... if condition]`, or SKIP; where traced data decides, a Choice of both."""
    return if_expr(condition, element, lambda: SKIP)


def kept_list(values: Sequence[Any]) -> Any:
    """`[element for ... if condition]`, of `kept`'s answers."""
    values = [value for value in values if value is not SKIP]
    if not any(map(is_open, values)):
        return values
    masks = [value._where(lambda option: option is not SKIP) if is_open(value) else True for value in values]
    return bounded.of([only_kept(value) for value in values], masks, len(values))


def kept_ones(values: Iterable[Any]) -> Iterator[Any]:
    """`(element for ... if condition)`, of `kept`'s answers."""
    return Kept(iter(values))


class Kept:
    """A generator expression with a condition; what takes its elements one by one may not meet one that is open."""

    def __init__(self, values: Iterator[Any]) -> None:
        self._values = values

    def __iter__(self) -> Kept:
        return self

    def __next__(self) -> Any:
        value = next(self._values)
        while value is SKIP:
            value = next(self._values)
        if is_open(value):
            raise bounded.refused("is taken one by one")
        return value

    def each(self) -> Iterator[Any]:
        """The elements one by one; one that is open is a Choice of SKIP and itself."""
        return (value for value in self._values if value is not SKIP)

    def collected(self) -> Any:
        """All elements, as `kept_list` gives them."""
        return kept_list(list(self._values))


def is_open(value: Any) -> bool:
    return isinstance(value, Choice) and any(option is SKIP for option in value._options)


def only_kept(value: Any) -> Any:
    return value._only(lambda option: option is not SKIP) if is_open(value) else value
