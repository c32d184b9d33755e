"""Python's builtins on traced values: min, max, sum, any, all, sorted, len, int, float, bool, round."""

from __future__ import annotations

import builtins
import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators import comparisons, comprehensions, hooks, jax_private
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.effects import checks
from autograph_jax.operators.effects.texts import Text
from autograph_jax.operators.sequences import bounded, iterables, lists, overtaken
from autograph_jax.operators.tracing import aliasing, views
from autograph_jax.operators.values import joins, objects, selection
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.traced import is_traced, truth
from autograph_jax.porting.mathematics import complex_of, in_own_type

_NOTHING = object()


def max_(*arguments: Any, key: Any = None, default: Any = _NOTHING) -> Any:
    return _extreme(builtins.max, lambda a, b: a > b, jnp.nanmax, arguments, key, default)


def min_(*arguments: Any, key: Any = None, default: Any = _NOTHING) -> Any:
    return _extreme(builtins.min, lambda a, b: a < b, jnp.nanmin, arguments, key, default)


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
    values = _all_of(arguments[0]) if len(arguments) == 1 else arguments
    if isinstance(values, bounded.Bounded) and key is None:
        return bounded.extreme(values, largest=builtin is builtins.max, default=default, has_default=bool(given))
    if isinstance(values, jax.Array) and key is None and values.ndim == 1 and values.size and is_traced(values):
        return extreme_of_array(values, reduce)
    elements = list(views.rows(values))
    keys = elements if key is None else [hooks.call(key)(element) for element in elements]
    if not any(map(is_traced, keys)) and not (jax_private.tracing() and any(map(_compares_itself, keys))):
        if key is None:
            return builtin(elements, **given)
        order = {id(element): k for element, k in zip(elements, keys, strict=True)}
        return builtin(elements, key=lambda element: order[id(element)], **given)
    best, best_key = elements[0], keys[0]
    for element, its_key in zip(elements[1:], keys[1:], strict=True):
        wins = better(its_key, best_key)
        best = _choose(wins, element, best)
        best_key = best if key is None else _choose(wins, its_key, best_key)
    return best


def _compares_itself(value: Any) -> bool:
    return objects.has_own(value, "__lt__") or objects.has_own(value, "__gt__")


def extreme_of_array(array: jax.Array, reduce: Callable[[jax.Array], jax.Array]) -> jax.Array:
    """A NaN is never better than what came before, so only a leading one stays."""
    if not jnp.issubdtype(array.dtype, jnp.floating):
        return array.max() if reduce is jnp.nanmax else array.min()
    return jnp.where(jnp.isnan(array[0]), array[0], reduce(array))


def _choose(predicate: Any, first: Any, second: Any) -> Any:
    if _is_scalar(first) and _is_scalar(second) and is_traced(predicate):
        return jnp.where(truth(predicate), *joins.alike(first, second))
    return if_expr(predicate, lambda: first, lambda: second)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, int | float | complex) or isinstance(value, jax.Array) and value.ndim == 0


def sum_(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    if isinstance(iterable, jax.Array) and iterable.ndim and is_traced(iterable):
        return _summed(iterable, start)
    iterable = _all_of(iterable)
    if isinstance(iterable, bounded.Bounded):
        return bounded.reduced(iterable, lambda column, axis: _summed(column, start), 0)
    return builtins.sum(iterable, start)


def _summed(rows: jax.Array, start: Any) -> Any:
    """In the type of row added to row: of truth values, and of what adapts to other types, it is one that adapts."""
    result = start + in_own_type(jnp.sum, rows, start)
    adapts = not hooks.is_porting() and isinstance(start, int | float | complex) and _adapts(start, rows)
    return jax_private.as_weak(result, result.dtype) if adapts else result


def _adapts(start: Any, rows: jax.Array) -> bool:
    return jax.dtypes.result_type(start, rows, return_weak_type_flag=True)[1]


def fsum(numbers: Iterable[Any]) -> Any:
    """`math.fsum`, in the default float: what it goes through may be a generator, or a list of which only a bound is known."""
    numbers = _all_of(numbers)
    if isinstance(numbers, bounded.Bounded):
        return bounded.reduced(numbers, lambda column, axis: as_number(jnp.sum(column.astype(float)), float), 0)
    numbers = list(numbers)
    if not any(isinstance(number, jax.Array) for number in numbers):
        return math.fsum(numbers)
    return as_number(jnp.sum(jnp.stack([as_number(jnp.asarray(number), float) for number in numbers])), float)


def any_(iterable: Iterable[Any]) -> Any:
    return _fold(iterable, jnp.any, jnp.logical_or, decided_by=True)


def all_(iterable: Iterable[Any]) -> Any:
    return _fold(iterable, jnp.all, jnp.logical_and, decided_by=False)


def _fold(iterable: Iterable[Any], reduce: Any, combine: Any, *, decided_by: bool) -> Any:
    if isinstance(iterable, jax.Array) and iterable.ndim == 1 and is_traced(iterable):
        return reduce(iterable != 0)
    if isinstance(iterable, bounded.Bounded):
        return reduce(bounded.truths(iterable, beyond=not decided_by))
    elements, places = iter(_all_of(iterable, one_by_one=True)), None
    result: Any = not decided_by
    for element in elements:
        if comprehensions.is_open(element):  # one that is not there decides nothing
            element = element._map(lambda option: not decided_by if option is comprehensions.SKIP else option)
        if is_traced(element):
            decision = truth(element)
            places = overtaken.places(iterable) if places is None else places
            result = decision if result is (not decided_by) else combine(result, decision)
        elif builtins.bool(element) is decided_by:
            result = decided_by
            break
    overtaken.give_up(places or [])
    return result


_NUMERIC = (jax.Array, np.ndarray, np.generic, int, float, complex)


def sorted_(iterable: Iterable[Any], /, *, key: Any = None, reverse: Any = False) -> Any:
    """Stable, as Python's; elements of any structure are put in order by gathering, objects by a choice for each place."""
    iterable = _all_of(iterable)
    if isinstance(iterable, bounded.Bounded) and key is None:
        return bounded.in_order(iterable, reverse=bool(reverse))
    elements = list(map(_in_one_piece, views.rows(iterable)))
    keys = elements if key is None else [hooks.call(key)(element) for element in elements]
    compared = _compared(keys)
    if compared is None:
        order = builtins.sorted(range(len(elements)), key=keys.__getitem__, reverse=reverse)
        return [elements[position] for position in order]
    stacked = [jnp.stack([jnp.asarray(k) for k in (reversed(column) if reverse else column)]) for column in compared]
    places = jnp.lexsort(stacked[::-1])
    places = len(elements) - 1 - jnp.flip(places) if reverse else places
    if not all(isinstance(leaf, _NUMERIC) for leaf in jax.tree.leaves(elements)):
        return [selection.pick(places[position], elements) for position in range(len(elements))]
    columns = jax.tree.map(lambda *leaves: jnp.stack([jnp.asarray(leaf) for leaf in leaves])[places], *elements)
    ordered = [jax.tree.map(lambda column, n=n: column[n], columns) for n in range(len(elements))]
    for element in ordered:
        aliasing.doubt_arrays(element, elements)
    return ordered


def _in_one_piece(element: Any) -> Any:
    """An element, or a part of it, that is one of two lists: a list of what traced data chooses."""
    if type(element) is tuple:
        return tuple(map(_in_one_piece, element))
    if not isinstance(element, Choice) or not all(isinstance(option, list | tuple) for option in element._options):
        return element
    if len(set(map(len, element._options))) > 1:
        return element
    return [selection.pick(element._index, column) for column in zip(*element._options, strict=True)]


def _compared(keys: list[Any]) -> list[list[Any]] | None:
    """What is compared first, then where that is equal, ...; None where all of it is known, and Python does it."""
    if any(map(is_traced, keys)):
        return [keys]
    if not all(type(key) in (tuple, list) for key in keys):
        return None
    rows = [jax.tree.leaves(key) for key in keys]
    alike = len({len(row) for row in rows}) == 1 and all(_is_scalar(leaf) for row in rows for leaf in row)
    return [list(column) for column in zip(*rows, strict=True)] if alike and any(map(is_traced, sum(rows, []))) else None


def _all_of(iterable: Any, *, one_by_one: bool = False) -> Any:
    """What a generator expression keeps, traced data deciding: a Bounded; or its elements as they come."""
    if not isinstance(iterable, comprehensions.Kept):
        return iterable
    return iterable.each() if one_by_one else iterable.collected()


def list_(*arguments: Any, **keywords: Any) -> Any:
    return _copied(builtins.list, arguments, keywords)


def tuple_(*arguments: Any, **keywords: Any) -> Any:
    return _copied(builtins.tuple, arguments, keywords)


def _copied(kind: type, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if len(arguments) != 1 or keywords:
        return kind(*arguments, **keywords)
    values = _all_of(arguments[0])
    return values.copy() if isinstance(values, bounded.Bounded) else kind(views.rows(values))


def filter_(test: Any, values: Iterable[Any]) -> Any:
    test = hooks.call(test) if test is not None else lambda value: value
    if not jax_private.tracing():
        return builtins.filter(test, values)
    return comprehensions.kept_ones(comprehensions.kept(test(value), lambda value=value: value) for value in values)


def count_of(container: Any, value: Any) -> Any:
    """`container.count(value)` of a list or tuple."""
    found = [comparisons.same(value, element) for element in container]
    known, traced = sum(one is True for one in found), [one for one in found if is_traced(one)]
    return known + jnp.stack(traced).sum() if traced else known


def index_of(container: Any, value: Any, *bounds: Any) -> Any:
    """`container.index(value)` of a list or tuple: of the first that is equal; at run time an error, if none is."""
    start, stop = (*bounds, None, None)[:2]
    places = range(*slice(start, stop).indices(len(container)))
    found = {place: comparisons.same(value, container[place]) for place in places}
    if not any(map(is_traced, found.values())):
        return container.index(value, *bounds)
    equal_here = jnp.stack([jnp.asarray(one) for one in found.values()])
    checks.raise_where(jnp.logical_not(equal_here.any()), ValueError("the value is not in the list"))
    return jnp.asarray(list(found))[jnp.argmax(equal_here)]


def isinstance_(value: Any, kinds: Any) -> Any:
    value = value._bound() if type(value) is Choice else value
    if type(value) is Choice:
        return value._where(lambda option: isinstance_(option, kinds))
    return isinstance("" if type(value) is Text else value, kinds) or isinstance(hooks.shown_as(value), kinds)


def issubclass_(kind: Any, kinds: Any) -> Any:
    kind = kind._bound() if type(kind) is Choice else kind
    return kind._where(lambda option: issubclass(option, kinds)) if type(kind) is Choice else issubclass(kind, kinds)


def callable_(value: Any) -> Any:
    value = value._bound() if type(value) is Choice else value
    return value._where(callable) if type(value) is Choice else callable(value)


def type_(value: Any, *rest: Any, **keywords: Any) -> Any:
    if rest or keywords:
        return builtins.type(value, *rest, **keywords)
    value = value._bound() if type(value) is Choice else value
    return value._map(type_) if type(value) is Choice else builtins.type("" if type(value) is Text else hooks.shown_as(value))


def len_(value: Any) -> Any:
    lists.check_known(value)
    if not isinstance(value, iterables.View | bounded.Bounded):
        return objects.asked(value, "__len__", len)
    return bounded.as_python_int(value.length) if is_traced(value.length) else value.length


def int_(*arguments: Any, **keywords: Any) -> Any:
    if len(arguments) == 1 and _is_traced_scalar(arguments[0]):
        whole = jnp.trunc(arguments[0]) if jnp.issubdtype(arguments[0].dtype, jnp.inexact) else arguments[0]
        return as_number(whole, int)
    if len(arguments) == 1 and not keywords:
        return objects.asked(arguments[0], "__int__", builtins.int)
    return builtins.int(*arguments, **keywords)


def float_(*arguments: Any) -> Any:
    if len(arguments) != 1:
        return builtins.float(*arguments)
    if _is_traced_scalar(arguments[0]):
        return as_number(arguments[0], float)
    return objects.asked(arguments[0], "__float__", builtins.float)


def complex_(*arguments: Any, **keywords: Any) -> Any:
    if not any(map(_is_traced_scalar, (*arguments, *keywords.values()))):
        return builtins.complex(*arguments, **keywords)
    parts = dict(zip(("real", "imag"), arguments, strict=False)) | keywords
    real, imag = parts.get("real", 0.0), parts.get("imag", 0.0)
    are_real = not (jnp.iscomplexobj(real) or jnp.iscomplexobj(imag))
    return as_number(complex_of(real, imag) if are_real else real + 1j * imag, complex)


def bool_(*arguments: Any) -> Any:
    arguments = tuple(map(objects.condition, arguments))
    if arguments and is_traced(arguments[0]):
        return truth(arguments[0])
    return builtins.bool(*map(lists.truth, arguments))


def operator_not(value: Any) -> Any:
    decision = bool_(value)
    return jnp.logical_not(decision) if is_traced(decision) else not decision


def round_(number: Any, ndigits: Any = None) -> Any:
    """Half to even, as Python's; an integer where no digits are asked for."""
    if not _is_traced_scalar(number):
        return builtins.round(number) if ndigits is None else builtins.round(number, ndigits)
    return as_number(jnp.round(number), int) if ndigits is None else jnp.round(number, ndigits)


def as_number(array: Any, kind: type) -> jax.Array:
    """A traced array in the place of a Python number: weakly typed, as that would be."""
    dtype = jax.dtypes.canonicalize_dtype(kind)
    return jax_private.as_weak(jnp.reshape(array, ()), dtype)


def of_python_numbers(function: Callable[..., Any], ours: Callable[..., Any]) -> Callable[..., Any]:
    """A function of math or cmath, by JAX's: its floats are Python's, of double precision where JAX has that, and so adapt."""
    if function is math.prod:  # which multiplies what it is given
        return ours

    def apply(*arguments: Any, **keywords: Any) -> Any:
        arguments, keywords = jax.tree.map(_in_default_type, (arguments, keywords))
        return jax.tree.map(_adapting, ours(*arguments, **keywords))

    return apply


def _in_default_type(value: Any) -> Any:
    if not isinstance(value, jax.Array) or not jnp.issubdtype(value.dtype, jnp.inexact):
        return value
    return value.astype(complex if jnp.iscomplexobj(value) else float)


def _adapting(value: Any) -> Any:
    return value if value.dtype == bool else jax_private.as_weak(value, value.dtype)


def _is_traced_scalar(value: Any) -> bool:
    """Also under an eager `jax.grad`, where a tracer has a value: `float(x)` of it keeps its derivative."""
    return isinstance(value, jax.core.Tracer) and value.size == 1


def converting(builtin: Callable[..., Any]) -> Callable[..., Any]:
    """A builtin that takes a function, with that function converted: what it is outside of tracing."""

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if keywords.get("key") is not None:
            keywords["key"] = hooks.call(keywords["key"])
        elif arguments and builtin in _FUNCTION_FIRST and arguments[0] is not None:
            arguments = hooks.call(arguments[0]), *arguments[1:]
        return builtin(*_iterated(builtin, arguments), **keywords)

    apply.__name__ = apply.__qualname__ = builtin.__name__
    return apply


def _iterated(builtin: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with the rows of arrays that are iterated: `max(a, b)` compares two, `reduce` starts at its third."""
    if builtin in (builtins.max, builtins.min) and len(arguments) > 1:
        return arguments
    count = 2 if builtin is functools.reduce else len(arguments)
    return (*map(views.rows, arguments[:count]), *arguments[count:])


_FUNCTION_FIRST = (builtins.map, builtins.filter, functools.reduce)
TAKING_FUNCTIONS = {f: converting(f) for f in (*_FUNCTION_FIRST, builtins.max, builtins.min, builtins.sorted)}
OVERRIDES: dict[Any, Callable[..., Any]] = {
    builtins.max: max_, builtins.min: min_, builtins.sum: sum_, builtins.any: any_, builtins.all: all_,
    builtins.sorted: sorted_, builtins.len: len_, builtins.int: int_, builtins.float: float_, builtins.complex: complex_,
    builtins.bool: bool_, builtins.round: round_, builtins.list: list_, builtins.tuple: tuple_, builtins.filter: filter_,
    builtins.callable: callable_, builtins.type: type_, builtins.isinstance: isinstance_, builtins.issubclass: issubclass_,
    operator.truth: bool_, operator.not_: operator_not,
    functools.reduce: converting(functools.reduce),
    builtins.map: lambda f, *rest: builtins.map(hooks.call(f), *map(views.rows, rest)),
}  # fmt: skip
