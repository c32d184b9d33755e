"""filter, and itertools' takewhile, dropwhile, filterfalse and compress, where traced data decides which elements remain.

As a comprehension with a condition, they give elements of which only a bound is known, `comprehensions.Kept`.
"""

from __future__ import annotations

import builtins
import itertools
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import jax.numpy as jnp

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import comparisons, comprehensions, hooks, jax_private
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.sequences import overtaken
from autograph_jax.operators.sequences.taking import taken
from autograph_jax.operators.tracing import given
from autograph_jax.operators.values import objects
from autograph_jax.operators.values.traced import is_traced, truth

_MOST = 10_000  # elements that are looked at, where traced data says which one is the last: there may be no end

Test = Callable[[Any], Any]


def filter_(test: Any, values: Iterable[Any]) -> Any:
    test = hooks.call(test) if test is not None else lambda value: value
    if not jax_private.tracing():
        return builtins.filter(test, values)
    return _those(taken(values), test)


def filterfalse(predicate: Any, iterable: Iterable[Any]) -> Any:
    """`itertools.filterfalse`."""
    test = hooks.call(predicate) if predicate is not None else lambda value: value
    return _those(taken(iterable), lambda value: _negated(test(value)))


def compress(data: Iterable[Any], selectors: Iterable[Any]) -> Any:
    """`itertools.compress`."""
    return comprehensions.kept_ones(_compressed(zip(taken(data), taken(selectors), strict=False)))


@given.passing_on
def _compressed(pairs: Iterable[tuple[Any, Any]]) -> Iterator[Any]:
    for value, chosen in pairs:
        yield comprehensions.kept_one(chosen, value)


def _those(values: Iterable[Any], test: Test) -> Any:
    return comprehensions.kept_ones(_tested(comprehensions.each_there(values), test))


@given.passing_on
def _tested(each: Iterable[tuple[Any, Any]], test: Test) -> Iterator[Any]:
    for there, value in each:
        yield comprehensions.kept_one(_and_then(there, test, value), value)


def takewhile(predicate: Test, iterable: Iterable[Any]) -> Any:
    """`itertools.takewhile`. How many elements it takes of an iterator is unknown then: nobody may go on with that one."""
    return comprehensions.kept_ones(_while_true(hooks.call(predicate), iterable))


@given.passing_on
def _while_true(test: Test, iterable: Iterable[Any]) -> Iterator[Any]:
    going, looked_at, places = True, 0, None
    for value in taken(iterable):
        going = _and_then(going, test, value)
        if going is False:
            break
        if is_traced(going):
            places = overtaken.places(iterable) if places is None else places
            overtaken.check_left(places)
            looked_at += 1
            _check_end(looked_at)
        yield comprehensions.kept_one(going, value)
    overtaken.give_up(places or [])


def dropwhile(predicate: Test, iterable: Iterable[Any]) -> Any:
    """`itertools.dropwhile`."""
    return comprehensions.kept_ones(_after_true(hooks.call(predicate), iterable))


@given.passing_on
def _after_true(test: Test, iterable: Iterable[Any]) -> Iterator[Any]:
    dropping: Any = True
    for value in taken(iterable):
        dropping = _and_then(dropping, test, value)
        yield comprehensions.kept_one(_negated(dropping), value)


def groupby(iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby`, where traced data does not decide which elements belong together."""
    of_one = hooks.call(key) if key is not None else lambda value: value

    def known(value: Any) -> Any:
        found = of_one(value)
        if comparisons.has_traced_parts(found):
            raise StagingError(
                "traced data decides which elements `groupby` puts together",
                location=user_location(),
                help="loop over the elements, and compare each with the one before",
            )
        return found

    return itertools.groupby(taken(iterable), known)


def _and_then(so_far: Any, test: Test, value: Any) -> Any:
    """`so_far and test(value)`, as a bool or a traced one; nothing is asked once it is False."""
    if so_far is False:
        return False

    def asked() -> Any:
        if isinstance(test, types.FunctionType):
            hooks.note_variables(test)
        return _as_bool(test(value))

    return _as_bool(if_expr(so_far, asked, lambda: False))


def _as_bool(condition: Any) -> Any:
    condition = objects.condition(condition)
    return truth(condition) if is_traced(condition) else bool(condition)


def _negated(condition: Any) -> Any:
    condition = _as_bool(condition)
    return jnp.logical_not(condition) if is_traced(condition) else not condition


def _check_end(count: int) -> None:
    if count > _MOST:
        raise StagingError(
            f"of more than {_MOST} elements, traced data decides how many are taken",
            location=user_location(),
            help="bound what it runs over: `itertools.islice(values, 100)`; or write a `while` loop",
        )


OVERRIDES: dict[Any, Callable[..., Any]] = {
    builtins.filter: filter_,
    itertools.filterfalse: filterfalse,
    itertools.compress: compress,
    itertools.takewhile: takewhile,
    itertools.dropwhile: dropwhile,
    itertools.groupby: groupby,
}
