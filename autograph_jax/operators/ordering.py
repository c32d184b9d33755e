"""What Python orders by comparing: min, max, sorted, list.sort and functools.cmp_to_key, where what is compared is traced."""

from __future__ import annotations

import builtins
import functools
import itertools
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators import comparisons, hooks, jax_private
from autograph_jax.operators.comprehensions import Kept, each_there, is_there, kept_call, kept_list, kept_one, only_kept
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.outside_loops import marked
from autograph_jax.operators.sequences import bounded, iterables
from autograph_jax.operators.tracing import same_containers, to_come, views
from autograph_jax.operators.values import joins, objects, selection
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced, truth

_NOTHING = object()
_less, _greater = comparisons.ordered("<"), comparisons.ordered(">")


def max_(*arguments: Any, key: Any = None, default: Any = _NOTHING) -> Any:
    return _extreme(builtins.max, _greater, jnp.nanmax, arguments, key, default)


def min_(*arguments: Any, key: Any = None, default: Any = _NOTHING) -> Any:
    return _extreme(builtins.min, _less, jnp.nanmin, arguments, key, default)


def _extreme(
    builtin: Callable[..., Any],
    better: Callable[[Any, Any], Any],
    reduce: Callable[[jax.Array], jax.Array],
    arguments: tuple[Any, ...],
    key: Any,
    default: Any,
) -> Any:
    """Python's rule: the first of the best, found by comparing one after the other."""
    given = {} if default is _NOTHING else {"default": default}
    values = all_of(arguments[0]) if len(arguments) == 1 else arguments
    if isinstance(values, bounded.Bounded) and key is None:
        return bounded.extreme(values, largest=builtin is builtins.max, default=default, has_default=bool(given))
    if isinstance(values, bounded.Bounded) and values.has_elements:
        own_default = (lambda: default) if given else None
        found, best = bounded.best_by_key(_with_keys(values, key), largest=builtin is builtins.max, default=own_default)
        return best() if own_default is None else if_expr(found, best, own_default)
    if isinstance(values, jax.Array) and key is None and values.ndim == 1 and values.size and is_traced(values):
        return extreme_of_array(values, reduce)
    elements = list(views.rows(values))
    keys = _deciding(_keys(elements, key))
    if not any(map(is_compared_at_run_time, keys)):
        if not elements:
            return builtin(elements, **given)
        return elements[builtin(range(len(elements)), key=keys.__getitem__)]
    if key is None and all(map(_is_default_integer, elements)):
        return functools.reduce(jnp.maximum if builtin is builtins.max else jnp.minimum, elements)
    best, best_key = elements[0], keys[0]
    for element, its_key in zip(elements[1:], keys[1:], strict=True):
        wins = better(its_key, best_key)
        best = _choose(wins, element, best)
        best_key = best if key is None else _choose(wins, its_key, best_key)
    return best


def is_compared_at_run_time(key: Any) -> bool:
    """Is it traced, in a part of it at least, or of a class that compares by a function of the user's?"""
    if not jax_private.tracing():
        return is_traced(key)
    if type(key) in (tuple, list):
        return any(map(is_compared_at_run_time, key))
    return comparisons.has_traced_parts(key) or objects.has_own(key, "__lt__") or objects.has_own(key, "__gt__")


def _with_keys(values: bounded.Bounded, key: Any) -> bounded.Bounded:
    """The elements of a list of open length, each with its key."""
    run = hooks.call(key)
    each = [kept_call(there, lambda value: (run(value), value), value) for there, value in each_there(values)]
    return bounded.of([only_kept(pair) for pair in each], [is_there(pair) for pair in each], values.capacity)


def _deciding(keys: list[Any]) -> list[Any]:
    """Of tuples, their first elements, where these are known and no two are equal: Python compares nothing else."""
    shortest = builtins.min((len(key) if type(key) is tuple else 0 for key in keys), default=0)
    for length in range(1, shortest + 1 if jax_private.tracing() else 1):
        first = [key[:length] for key in keys]
        if any(map(is_compared_at_run_time, first)):
            break
        if all(one != other for one, other in itertools.pairwise(builtins.sorted(first))):
            return first
    return keys


def extreme_of_array(array: jax.Array, reduce: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """A NaN is never better than what came before, so only a leading one stays."""
    if not jnp.issubdtype(array.dtype, jnp.floating):
        return array.max() if reduce is jnp.nanmax else array.min()
    return jnp.where(jnp.isnan(array[0]), array[0], reduce(array))


def _is_default_integer(value: Any) -> bool:
    """Is it of JAX's type for Python's integers, or one of these that has room in it?"""
    default = jnp.iinfo(jax.dtypes.canonicalize_dtype(int))
    if isinstance(value, jax.Array):
        return value.ndim == 0 and value.dtype == default.dtype
    return type(value) is int and default.min <= value <= default.max


def _choose(predicate: Any, first: Any, second: Any) -> Any:
    if not is_traced(predicate):
        return if_expr(predicate, lambda: first, lambda: second)
    if is_scalar(first) and is_scalar(second):
        return jnp.where(truth(predicate), *joins.alike(first, second))
    if type(first) is tuple and type(second) is tuple and len(first) == len(second):
        return tuple(_choose(predicate, *parts) for parts in zip(first, second, strict=True))
    return if_expr(predicate, lambda: first, lambda: second)


def is_scalar(value: Any) -> bool:
    return isinstance(value, int | float | complex) or isinstance(value, jax.Array) and value.ndim == 0


_NUMERIC = (jax.Array, np.ndarray, np.generic, int, float, complex)


def sorted_(iterable: Iterable[Any], /, *, key: Any = None, reverse: Any = False) -> Any:
    """Stable, as Python's; elements of any structure are put in order by gathering, objects by a choice for each place."""
    iterable = all_of(iterable)
    if isinstance(iterable, bounded.Bounded) and key is None:
        if is_traced(reverse):
            raise bounded.refused("is sorted upwards or downwards")
        return bounded.in_order(iterable, reverse=bool(reverse))
    if isinstance(iterable, bounded.Bounded) and iterable.has_elements and not is_traced(reverse):
        return bounded.in_order_of_keys(_with_keys(iterable, key), reverse=bool(reverse))
    elements = list(map(_in_one_piece, views.rows(iterable)))
    keys = _keys(elements, key)
    if not is_traced(reverse):
        return _in_order(elements, keys, reverse)
    ways = [_in_order(elements, keys, way) for way in (False, True)]
    taken = jnp.asarray(truth(reverse), jnp.int32)
    return [selection.pick(taken, pair) for pair in zip(*ways, strict=True)]


def _keys(elements: list[Any], key: Any) -> list[Any]:
    if key is None:
        return elements
    run = to_come.meanwhile(hooks.call(key), elements)  # all of them show what it writes
    return list(map(run, elements))


def _in_order(elements: list[Any], keys: list[Any], reverse: Any) -> list[Any]:
    keys = _deciding(keys)
    if not any(map(is_compared_at_run_time, keys)):
        order = builtins.sorted(range(len(elements)), key=keys.__getitem__, reverse=reverse)
        return [elements[position] for position in order]
    columns = _columns(keys)
    places = _places_by_pairs(keys, reverse) if columns is None else _places(columns, reverse)
    if not _are_of_one_kind(elements):
        return [selection.pick(places[position], elements) for position in range(len(elements))]
    columns = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves])[places], *elements)
    ordered = [jax.tree.map(lambda column, n=n: column[n], columns) for n in range(len(elements))]
    for element in ordered:
        same_containers.doubt_all(element, elements)
    return ordered


def _are_of_one_kind(elements: list[Any]) -> bool:
    """Are these numbers and arrays, or containers of such, all of one structure and shape?"""
    leaves = [jax.tree.leaves(element) for element in elements]
    if not all(isinstance(leaf, _NUMERIC) for row in leaves for leaf in row):
        return False
    shapes = {(jax.tree.structure(element), *map(np.shape, row)) for element, row in zip(elements, leaves, strict=True)}
    return len(shapes) == 1


def sort(values: list[Any], **options: Any) -> None:
    """`values.sort(key=..., reverse=...)`."""
    values[:] = sorted_(values, **options)


def _places(columns: list[list[Any]], reverse: Any) -> jax.Array:
    """Where the elements in order are found, by numbers: by the first column, then the second where that is equal, ..."""
    stacked = [jnp.stack([jnp.asarray(k) for k in (reversed(column) if reverse else column)]) for column in columns]
    places = marked(jnp.lexsort, stacked[::-1])
    return len(places) - 1 - jnp.flip(places) if reverse else places


def _places_by_pairs(keys: list[Any], reverse: Any) -> jax.Array:
    """The same by comparing each with each, of what has an order of its own: how many come before it is an element's place."""
    rank: list[Any] = [0] * len(keys)
    for i, j in itertools.combinations(range(len(keys)), 2):
        overtakes = _less(keys[i], keys[j]) if reverse else _less(keys[j], keys[i])
        overtakes = jnp.where(truth(overtakes), 1, 0) if is_traced(overtakes) else int(bool(overtakes))
        rank[i] += overtakes
        rank[j] += 1 - overtakes
    return marked(jnp.argsort, jnp.stack(list(map(jnp.asarray, rank))))


def _in_one_piece(element: Any) -> Any:
    """An element, or a part of it, that is one of two lists: a list of what traced data chooses."""
    if type(element) is tuple:
        return tuple(map(_in_one_piece, element))
    if not isinstance(element, Choice) or not all(isinstance(option, list | tuple) for option in element._options):
        return element
    if len(set(map(len, element._options))) > 1:
        return element
    return [selection.pick(element._index, column) for column in zip(*element._options, strict=True)]


def _columns(keys: list[Any]) -> list[list[Any]] | None:
    """What is compared first, then where that is equal, ...; None where the keys are not numbers, or rows of these."""
    if all(map(_is_number, keys)):
        return [keys]
    if not all(type(key) in (tuple, list) for key in keys):
        return None
    rows = [jax.tree.leaves(key) for key in keys]
    alike = len({jax.tree.structure(key) for key in keys}) == 1 and all(is_scalar(leaf) for row in rows for leaf in row)
    return [list(column) for column in zip(*rows, strict=True)] if alike else None


def _is_number(key: Any) -> bool:
    return type(key) is not Choice and (is_scalar(key) or is_traced(key) and np.ndim(key) == 0)


class _Compared:
    """A key of `functools.cmp_to_key`, ordered by what a function says about two values: a number below, at or above zero."""

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __init__(self, compare: Callable[[Any, Any], Any], value: Any) -> None:
        self._compare, self._value = compare, value

    def _to(self, other: _Compared) -> Any:
        return hooks.call(self._compare)(self._value, other._value)

    def __lt__(self, other: _Compared) -> Any:
        return self._to(other) < 0

    def __le__(self, other: _Compared) -> Any:
        return self._to(other) <= 0

    def __gt__(self, other: _Compared) -> Any:
        return self._to(other) > 0

    def __ge__(self, other: _Compared) -> Any:
        return self._to(other) >= 0

    def __eq__(self, other: Any) -> Any:
        return self._to(other) == 0


def cmp_to_key(mycmp: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """`functools.cmp_to_key`."""
    return lambda value: _Compared(mycmp, value)


def all_of(iterable: Any, *, one_by_one: bool = False) -> Any:
    """What a generator expression keeps, or `reversed(kept)`, traced data deciding: a Bounded; or its elements as they come."""
    if isinstance(iterable, iterables.View) and not one_by_one and iterables.of_open_length(iterable) is not None:
        return kept_list([kept_one(there, value) for there, value in each_there(iterable)])
    if not isinstance(iterable, Kept):
        return iterable
    return iterable.each() if one_by_one else iterable.collected()
