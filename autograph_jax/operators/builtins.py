"""Python's builtins on traced values: sum, any, all, len, int, float, ...; those that compare elements are in `ordering`."""

from __future__ import annotations

import builtins
import collections
import functools
import math
import operator
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, cast

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators import comparisons, comprehensions, hooks, jax_private, ordering, speculation
from autograph_jax.operators.effects import checks, texts
from autograph_jax.operators.effects.texts import Text
from autograph_jax.operators.ordering import all_of
from autograph_jax.operators.sequences import bounded, iterables, lists
from autograph_jax.operators.sequences.deques import BoundedDeque
from autograph_jax.operators.sequences.ranges import RangeMethods
from autograph_jax.operators.sequences.rows import View
from autograph_jax.operators.sequences.taking import taken
from autograph_jax.operators.staging import dependence
from autograph_jax.operators.tracing import given, to_come, views
from autograph_jax.operators.values import bools, objects, selection
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.joins import alike
from autograph_jax.operators.values.traced import is_traced, truth
from autograph_jax.porting import rounding
from autograph_jax.porting.in_python.masked import MaskedArray
from autograph_jax.porting.mathematics import complex_of, in_own_type


def sum_(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    if isinstance(iterable, jax.Array) and iterable.ndim and is_traced(iterable):
        return _summed(iterable, start)
    if issubclass(type(iterable), RangeMethods):
        return start + cast(RangeMethods, iterable).sum()
    iterable = all_of(iterable)
    if isinstance(iterable, bounded.Bounded):
        total = bounded.reduced(iterable, lambda column, axis: _summed(column, start), 0)
        return jnp.where(iterable.length == 0, *alike(start, total)) if ordering.is_scalar(start) else total
    return _python_sum(iterable, start)


def _python_sum(iterable: Iterable[Any], /, start: Any = 0) -> Any:
    given.pass_on(iterable)  # none of the elements is kept
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
    numbers = all_of(numbers)
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


def found_in(iterator: Iterable[Any], value: Any) -> Any:
    """`value in iterator`, which takes its elements up to the first that is equal."""
    return _one_by_one(iterator, jnp.logical_or, True, lambda element: comparisons.same(value, element))


def _fold(iterable: Iterable[Any], reduce: Any, combine: Any, *, decided_by: bool) -> Any:
    if isinstance(iterable, jax.Array) and iterable.ndim == 1 and is_traced(iterable):
        return reduce(iterable != 0)
    if isinstance(iterable, bounded.Bounded):
        return reduce(bounded.truths(iterable, beyond=not decided_by))
    return _one_by_one(iterable, combine, decided_by, objects.condition)


def _one_by_one(iterable: Iterable[Any], combine: Any, decided_by: bool, test: Callable[[Any], Any]) -> Any:
    elements = speculation.Elements(iterable, iter(all_of(iterable, one_by_one=True)))
    result: Any = not decided_by
    while (element := elements.next_if(_is_open(result, decided_by))) is not speculation.END:
        if comprehensions.is_open(element):  # one that is not there decides nothing
            element = element._map(lambda option: not decided_by if option is comprehensions.SKIP else test(option))
        else:
            element = test(element)
        if is_traced(element):
            decision = truth(element)
            result = decision if result is (not decided_by) else combine(result, decision)
        elif builtins.bool(element) is decided_by:
            result = decided_by
            break
    elements.give_up()
    return result


def _is_open(result: Any, decided_by: bool) -> Any:
    """Has nothing decided yet, as far as the elements go that have been seen?"""
    return True if result is (not decided_by) else jnp.logical_not(result) if decided_by else result


def list_(*arguments: Any, **keywords: Any) -> Any:
    return _copied(builtins.list, arguments, keywords)


def tuple_(*arguments: Any, **keywords: Any) -> Any:
    return _copied(builtins.tuple, arguments, keywords)


def _copied(kind: type, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    if len(arguments) != 1 or keywords:
        return kind(*arguments, **keywords)
    values = all_of(arguments[0])
    return values.copy() if isinstance(values, bounded.Bounded) else kind(views.rows(values))


def count_of(container: Any, value: Any) -> Any:
    """`container.count(value)` of a list or tuple."""
    found = [comparisons.same(value, element) for element in container]
    known, traced = sum(one is True for one in found), [one for one in found if is_traced(one)]
    return known + jnp.stack(traced).sum() if traced else known


def index_of(container: Any, value: Any, *bounds: Any, error: str | None = None) -> Any:
    """`container.index(value)` of a list or tuple: of the first that is equal; at run time an error, if none is."""
    start, stop = (*bounds, None, None)[:2]
    places = range(*slice(start, stop).indices(len(container)))
    found = {place: comparisons.same(value, container[place]) for place in places}
    if not any(map(is_traced, found.values())):
        return container.index(value, *bounds)
    equal_here = jnp.stack([jnp.asarray(one) for one in found.values()])
    if error is None:
        error = "tuple.index(x): x not in tuple" if isinstance(container, tuple) else texts.not_in_list(value)
    checks.raise_where(jnp.logical_not(equal_here.any()), ValueError(error))
    return jnp.asarray(list(found))[jnp.argmax(equal_here)]


def isinstance_(value: Any, kinds: Any) -> Any:
    lists.check_element(value)
    value = value._bound() if type(value) is Choice else value
    if type(value) is Choice:
        return value._where(lambda option: isinstance_(option, kinds))
    if _asks_for_bool(kinds):
        bools.check_class(value)
    dependence.note_class_asked(value)
    return isinstance("" if type(value) is Text else value, kinds) or isinstance(taken_for(value), kinds)


def _asks_for_bool(kinds: Any) -> bool:
    return any(map(_asks_for_bool, kinds)) if isinstance(kinds, tuple) else kinds is bool


def taken_for(value: Any) -> Any:
    """A value of the class that Python's has where there is one of ours."""
    for kind, python in _TAKEN_FOR:
        if isinstance(value, kind):
            return python
    return hooks.shown_as(value)


# A deque is a list of which only a bound is known, too.
_TAKEN_FOR = (
    (Text, ""),
    (MaskedArray, np.ma.masked_array(())),
    (BoundedDeque, collections.deque()),
    (bounded.Bounded, []),
    (iterables.Range, range(0)),
)


def issubclass_(kind: Any, kinds: Any) -> Any:
    kind = kind._bound() if type(kind) is Choice else kind
    return kind._where(lambda option: issubclass(option, kinds)) if type(kind) is Choice else issubclass(kind, kinds)


def callable_(value: Any) -> Any:
    lists.check_element(value)
    value = value._bound() if type(value) is Choice else value
    return value._where(callable) if type(value) is Choice else callable(value)


def type_(value: Any, *rest: Any, **keywords: Any) -> Any:
    if rest or keywords:
        return builtins.type(value, *rest, **keywords)
    lists.check_element(value)
    value = value._bound() if type(value) is Choice else value
    bools.check_class(value)
    dependence.note_class_asked(value)
    return value._map(type_) if type(value) is Choice else builtins.type(taken_for(value))


def len_(value: Any) -> Any:
    lists.check_known(value)
    if type(value) is Choice and any(isinstance(option, View | bounded.Bounded) for option in value._options):
        return selection.of_choice(value, len_, "`len`")
    if not isinstance(value, View | bounded.Bounded):
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


def number(value: Any) -> Any:
    """A bool of Python's in arithmetic: `True + True` is 2. Not what a function of JAX's of a builtin's name gives."""
    if not is_traced(value) or value.dtype != bool or value.ndim:
        return value
    names = sys._getframe(1).f_globals
    return value if any(names.get(name, own) is not own for name, own in _GIVING_BOOLS.items()) else as_number(value, int)


_GIVING_BOOLS = {"any": any, "all": all, "bool": bool}


def round_(number: Any, ndigits: Any = None) -> Any:
    """Half to even, as Python's; an integer where no digits are asked for."""
    if not _is_traced_scalar(number):
        return builtins.round(number) if ndigits is None else builtins.round(number, ndigits)
    if jnp.issubdtype(number.dtype, jnp.floating):
        return as_number(jnp.round(number), int) if ndigits is None else _rounded_float(number, ndigits)
    whole = as_number(number, int) if number.dtype == bool else number
    return whole if ndigits is None or ndigits >= 0 else _rounded_integer(whole, 10**-ndigits)


def _rounded_float(number: jax.Array, ndigits: Any) -> jax.Array:
    """A float of Python's is rounded as Python does it, NumPy's as NumPy, and JAX's as JAX."""
    if is_traced(ndigits):
        return jnp.round(number, ndigits)
    ndigits = operator.index(ndigits)
    if number.weak_type:
        return rounding.to_digits(number, ndigits)
    return rounding.by_scaling(number, ndigits) if hooks.is_porting() else jnp.round(number, ndigits)


def _rounded_integer(number: jax.Array, unit: int) -> jax.Array:
    """An integer to the next multiple, half to even."""
    below, rest = jnp.divmod(number, unit)
    up = (2 * rest > unit) | (2 * rest == unit) & (below % 2 == 1)
    return (below + up) * unit


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
            elements, seen = _compared(arguments)
            keywords["key"] = to_come.meanwhile(hooks.call(keywords["key"]), *seen)
            return builtin(*elements, **keywords)
        if arguments and builtin in _FUNCTION_FIRST and arguments[0] is not None:
            function, *iterables = arguments
            sources = [iter(taken(one)) for one in iterables]
            run = to_come.meanwhile(hooks.call(function), *sources)
            return builtin(given.mapped(run) if builtin is builtins.map else run, *sources, **keywords)
        return builtin(*_iterated(builtin, arguments), **keywords)

    apply.__name__ = apply.__qualname__ = builtin.__name__
    return apply


def _compared(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """What is compared by a key: the arguments, the elements of the only one; and what shows all that the key writes."""
    if len(arguments) != 1:
        return arguments, [arguments]
    elements = iter(taken(*arguments))
    given.keep(elements)
    seen: list[Any] = []

    def each() -> Iterator[Any]:
        for element in elements:
            seen.append(element)
            yield element

    return (each(),), [elements, seen]


def _iterated(builtin: Callable[..., Any], arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments, with the rows of arrays that are iterated: `max(a, b)` compares two."""
    if builtin in (builtins.max, builtins.min) and len(arguments) > 1:
        return arguments
    return tuple(map(views.rows, arguments))


def reduce_(function: Callable[..., Any], iterable: Iterable[Any], *start: Any) -> Any:
    """`functools.reduce`, which would hide why something cannot be iterated."""
    elements = iter(taken(iterable))
    if not start:  # the first one is what the second is joined to
        given.keep(elements)
    return functools.reduce(to_come.meanwhile(hooks.call(function), elements), elements, *start)


def map_(function: Callable[..., Any], *iterables: Any) -> Iterator[Any]:
    """`map`; of a list of open length what a generator expression gives."""
    if len(iterables) == 1 and isinstance(iterables[0], bounded.Bounded | comprehensions.Kept):
        run, each = hooks.call(function), comprehensions.each_there(iterables[0])
        return comprehensions.kept_ones(comprehensions.kept_call(there, run, value) for there, value in each)
    sources = [iter(taken(one)) for one in iterables]
    return builtins.map(given.mapped(to_come.meanwhile(hooks.call(function), *sources)), *sources)


_FUNCTION_FIRST = (builtins.map, builtins.filter)
TAKING_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    **{function: converting(function) for function in (*_FUNCTION_FIRST, builtins.max, builtins.min, builtins.sorted)},
    functools.reduce: reduce_,
    builtins.sum: _python_sum,
}
OVERRIDES: dict[Any, Callable[..., Any]] = {
    builtins.max: ordering.max_, builtins.min: ordering.min_, builtins.sum: sum_, builtins.any: any_, builtins.all: all_,
    builtins.sorted: ordering.sorted_, builtins.len: len_, builtins.int: int_, builtins.float: float_,
    builtins.complex: complex_, builtins.bool: bool_, builtins.round: round_, builtins.list: list_, builtins.tuple: tuple_,
    builtins.callable: callable_, builtins.type: type_, builtins.isinstance: isinstance_, builtins.issubclass: issubclass_,
    operator.truth: bool_, operator.not_: operator_not,
    operator.eq: comparisons.equal, operator.ne: comparisons.not_equal,
    operator.lt: comparisons.ordered("<"), operator.le: comparisons.ordered("<="),
    operator.gt: comparisons.ordered(">"), operator.ge: comparisons.ordered(">="),
    functools.cmp_to_key: ordering.cmp_to_key, functools.reduce: reduce_,
    builtins.map: map_,
}  # fmt: skip
