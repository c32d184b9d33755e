"""What a comprehension keeps, where traced data decides: `[v for v in x if v > 1]` becomes a list with a bound."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp

from autograph_jax.operators import speculation
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.effects import attempts, checks
from autograph_jax.operators.sequences import bounded, iterables
from autograph_jax.operators.tracing import given, impure, listed
from autograph_jax.operators.values.choices import Choice, refusal
from autograph_jax.porting.numbers import bound_of


class _Skip:
    """In place of an element that a comprehension leaves out."""


SKIP = _Skip()


def kept(condition: Any, element: Callable[[], Any]) -> Any:
    """An element of `[element for ... if condition]`, or SKIP; where traced data decides, a Choice of both."""
    return if_expr(condition, element, lambda: SKIP)


def kept_one(condition: Any, value: Any) -> Any:
    """The same of a value that is there already."""
    return kept(condition, lambda: value)


def kept_call(condition: Any, function: Callable[[Any], Any], value: Any) -> Any:
    """The same of what a function gives for a value."""
    return kept(condition, lambda: function(value))


def _either(condition: Any, one: Any, other: Any) -> Any:
    """One of two values. They are in variables of functions, where a conditional looks for what it must not copy."""
    return if_expr(condition, lambda: one, lambda: other)


def kept_list(values: Sequence[Any]) -> Any:
    """`[element for ... if condition]`, of `kept`'s answers."""
    values = [value for value in values if value is not SKIP]
    if not any(map(is_open, values)):
        return values
    masks = list(map(is_there, values))
    return bounded.of([listed.note(only_kept(value)) for value in values], masks, len(values))


def kept_ones(values: Iterable[Any]) -> Iterator[Any]:
    """`(element for ... if condition)`, of `kept`'s answers."""
    return Kept(iter(values))


def each_there(values: Any) -> Iterator[tuple[Any, Any]]:
    """For each element that there may be in what ported code goes through, whether it is there, and itself."""
    if isinstance(values, Kept):
        return _with_whether_there(values.each())
    values = iterables.iterated(values)
    rows = iterables.of_open_length(values)
    most = bound_of(rows.length) if rows is not None else None
    if rows is None or most is None:
        return zip(itertools.repeat(True), values, strict=False)
    rows.lose()  # an iterator, `zip(...)` say: how many it has given is not known from here on
    return rows.each_there(most)


@given.passing_on
def _with_whether_there(values: Iterator[Any]) -> Iterator[tuple[Any, Any]]:
    for value in values:
        yield is_there(value), only_kept(value)


def ones_there(each: Iterator[tuple[Any, Any]], make: Callable[[Iterator[tuple[Any, Any]]], Kept]) -> Iterator[Any]:
    """`(element for ...)` of what `each_there` gives: Python's own generator of a zip, all of whose elements are there."""
    ones = make(each)
    return ones.unconditional() if isinstance(each, zip) else ones


def next_(iterator: Any, *default: Any) -> Any:
    """Python's `next`."""
    if type(iterator) is Choice:
        raise refusal(iterator, "`next`")
    attempts.check_write(iterator)
    return iterator.first(*default) if isinstance(iterator, Kept) else impure.next_(iterator, *default)


class Kept:
    """A generator expression with a condition; what takes its elements one by one may not meet one that is open."""

    one_shot = True

    def __init__(self, values: Iterator[Any]) -> None:
        self._iterator = values
        self._is_somewhere = False  # has traced data decided how many elements have been taken?

    def __iter__(self) -> Kept:
        return self

    @given.passing_on
    def __next__(self) -> Any:
        if self._is_somewhere:
            raise bounded.refused("is taken one by one")
        value = next(self._iterator)
        while value is SKIP:
            value = next(self._iterator)
        if is_open(value):
            raise bounded.refused("is taken one by one")
        return value

    @given.taker
    def first(self, *default: Any) -> Any:
        """`next`: the first element that there is."""
        if self._is_somewhere:
            raise bounded.refused("is taken one by one")
        maybe, open_still, elements = [], True, speculation.Elements(self._iterator, self.each())
        while (value := elements.next_if(open_still)) is not speculation.END:
            if not is_open(value):
                break
            maybe.append(value)
            open_still = speculation.both(open_still, value._where(lambda option: option is SKIP))
        else:
            value = default[0] if default else SKIP
        elements.give_up()
        self._is_somewhere = bool(maybe)
        if value is SKIP:
            if not maybe:
                raise StopIteration
            nothing = [one._where(lambda option: option is SKIP) for one in maybe]
            checks.raise_where(jnp.stack([jnp.asarray(skipped) for skipped in nothing]).all(), StopIteration())
            value = only_kept(maybe.pop())
        for one in reversed(maybe):
            value = _either(jnp.asarray(_is_kept(one)), only_kept(one), value)
        return value

    def each(self) -> Iterator[Any]:
        """The elements one by one; one that is open is a Choice of SKIP and itself."""
        if self._is_somewhere:
            raise bounded.refused("is taken one by one")
        return _all_but_skipped(self._iterator)

    def unconditional(self) -> Iterator[Any]:
        """The generator itself, all of whose elements are there where its condition always holds."""
        return self._iterator

    def lose(self) -> None:
        """Traced data has decided how many elements were taken."""
        self._is_somewhere = True

    def collected(self) -> Any:
        """All elements, as `kept_list` gives them."""
        if self._is_somewhere:
            raise bounded.refused("is taken one by one")
        return kept_list(list(self._iterator))


@given.passing_on
def _all_but_skipped(values: Iterator[Any]) -> Iterator[Any]:
    for value in values:
        if value is not SKIP:
            yield value


def is_open(value: Any) -> bool:
    return isinstance(value, Choice) and any(option is SKIP for option in value._options)


def _is_kept(value: Choice) -> Any:
    return value._where(lambda option: option is not SKIP)


def is_there(value: Any) -> Any:
    return _is_kept(value) if is_open(value) else True


def only_kept(value: Any) -> Any:
    return value._only(lambda option: option is not SKIP) if is_open(value) else value
