"""Arrays on the way into ported code, and out of it."""

from __future__ import annotations

import collections
import copy
import gc
import itertools
import operator
import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import PortingError, user_location
from autograph_jax.operators.effects.checks import raise_where
from autograph_jax.operators.sequences.bounded import Bounded, full
from autograph_jax.operators.sequences.several import Several
from autograph_jax.operators.subscripts import note_content
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.places import Attribute, Content
from autograph_jax.operators.values import bunches
from autograph_jax.operators.values.choices import Choice
from autograph_jax.porting import array_classes
from autograph_jax.porting.arrays import MutableArray, wrap
from autograph_jax.porting.padded import Padded
from autograph_jax.porting.rows import padded
from autograph_jax.porting.selections import Selection
from autograph_jax.runtime.libraries import max_len


def entering(leaf: Any) -> Any:
    """An array argument as one that can be written; what has no dimensions is a number."""
    return wrap(leaf) if isinstance(leaf, jax.Array | np.ndarray) and leaf.ndim else leaf


class Entered:
    """Arguments as ported code gets them, with lists and dicts of its own. What is done to these, the caller's show then."""

    def __init__(self) -> None:
        self._ours: dict[int, Any] = {}  # by the id of what the caller has
        self._theirs: dict[int, tuple[Any, Any]] = {}  # by the id of what ported code has: it, and what the caller has

    def take(self, value: Any) -> Any:
        """A value of the caller's, as ported code gets it."""
        if id(value) in self._ours:
            return self._ours[id(value)]
        if type(value) in _CONTAINERS:
            new = copy.copy(value)
            self._keep(value, new)
            _fill(new, [(key, self.take(part)) for key, part in _entries(value)])
            return new
        new = jax.tree.map(
            lambda part: entering(part) if part is value else self.take(part), value, is_leaf=lambda part: part is not value
        )
        if new is not value:
            self._keep(value, new)
        return new

    def _keep(self, value: Any, new: Any) -> None:
        self._ours[id(value)] = new
        self._theirs[id(new)] = new, value

    def give_back(self, written_back: Callable[[Any, Any], None]) -> None:
        """The caller's lists and dicts hold what ported code has left in those that it got; and so do NumPy's arrays."""
        for new, value in list(self._theirs.values()):
            written_back(value, new)
            if type(value) in _CONTAINERS:
                entries = [(key, self._returned(part)) for key, part in _entries(new)]
                if _differ(entries, _entries(value)):
                    note_content(value)
                    _fill(value, entries)

    def _returned(self, part: Any) -> Any:
        if id(part) not in self._theirs:
            return left(part)
        new, value = self._theirs[id(part)]
        if isinstance(new, MutableArray) and isinstance(value, jax.Array) and new.value is not value:
            return new.value
        return value


_CONTAINERS = (list, dict, collections.OrderedDict, collections.defaultdict)


def _entries(value: Any) -> list[tuple[Any, Any]]:
    return list(value.items() if isinstance(value, dict) else enumerate(value))


def _differ(entries: list[tuple[Any, Any]], others: list[tuple[Any, Any]]) -> bool:
    pairs = itertools.zip_longest(entries, others, fillvalue=(None, None))
    return len(entries) != len(others) or any(one[0] != other[0] or one[1] is not other[1] for one, other in pairs)


def _fill(value: Any, entries: list[tuple[Any, Any]]) -> None:
    value.clear()
    value.update(entries) if isinstance(value, dict) else value.extend(part for _, part in entries)


def references(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> dict[int, int]:
    """Of the NumPy arrays among the arguments of a call: how many hold each, beside the call, by their ids."""
    counts = {}
    for values in (arguments, keywords.values()):
        for value in values:
            if type(value) is np.ndarray:
                counts[id(value)] = sys.getrefcount(value) - 3  # the call's tuple or dict, `value`, and what is asked
    return counts


def written_back(leaf: Any, entered: Any, *, held: dict[int, int], arguments: Any, keywords: Any) -> None:
    """A NumPy array of the caller's shows what ported code has written into it, if that is known.

    One that was made for the call, `f(np.zeros(3))`, nobody will look at.
    """
    if not isinstance(leaf, np.ndarray) or not isinstance(entered, MutableArray) or entered.value is leaf:
        return
    if isinstance(entered.value, jax.core.Tracer):
        if id(leaf) in held and held[id(leaf)] <= _of_the_call(leaf, arguments, bool(keywords)):
            return
        raise PortingError(
            "a traced value is written into an argument that is a NumPy array",
            location=user_location(),
            help="pass `jnp.asarray(x)`, and return what is written",
        )
    leaf[...] = entered.value


def _held(*arguments: Any, **_: Any) -> int:
    return sys.getrefcount(arguments[0])


_STACK_HOLDS = _held(object(), **{}) > _held(object())  # until 3.11 also what `f(x, **options)` has made of its arguments


def _of_the_call(leaf: np.ndarray, arguments: Any, has_keywords: bool) -> int:
    """How many references are Python's stack's: a tuple of the arguments that nothing else has, and a copy beside keywords."""
    if not _STACK_HOLDS:
        return 0
    tuples = [part for part in gc.get_referrers(leaf) if type(part) is tuple and part is not arguments]
    same = [part for part in tuples if len(part) == len(arguments) and all(map(operator.is_, part, arguments))]
    count = 0
    for number in range(len(same)):
        alone = all(holder is same or holder is tuples for holder in gc.get_referrers(same[number]))
        count += alone and sys.getrefcount(same[number]) == 4  # these two lists, and what is asked
    return count + (has_keywords and count > 0)


def left(value: Any) -> Any:
    """What a ported function gives: arrays are JAX's, or NumPy's where they are known, also inside containers and objects."""
    value = array_classes.data_of(value)
    if isinstance(value, _ARRAYS):
        return _value(value)
    for part in list(reach.everything(value)):
        if isinstance(part, list | dict):
            _leave(Content(part))
        elif type(part).__module__.startswith("numpy") and isinstance(own := getattr(part, "__dict__", None), dict):
            own.update({name: _without(held) for name, held in own.items()})  # a polynomial's coefficients
        elif reach.is_record(part) and not isinstance(part, array_classes.ArrayObject):
            for name in reach.attributes(part):
                _leave(Attribute(part, name))
    return value if isinstance(value, list | dict) else _without(value)  # SciPy's results are dicts of a class


def _leave(place: Any) -> None:
    old = place.read()
    new = _without(old)
    if new is not old:
        place.write(new)


_ARRAYS = MutableArray, Selection, Choice, Several
_HOLDING = *_ARRAYS, array_classes.ArrayObject, tuple


def _without(value: Any) -> Any:
    """A value in which arrays are values; a list or dict, and what is in tuples, anew if anything in it is one."""
    value = array_classes.data_of(value)
    if isinstance(value, _ARRAYS):
        return _value(value)
    if isinstance(value, dict) and any(isinstance(part, _HOLDING) for part in value.values()):
        new = {key: _without(part) if isinstance(part, _HOLDING) else part for key, part in value.items()}
        return new if any(new[key] is not part for key, part in value.items()) else value
    if isinstance(value, list | tuple) and any(isinstance(part, _HOLDING) for part in value):
        parts = [_without(part) if isinstance(part, _HOLDING) else part for part in value]
        if all(map(operator.is_, parts, value)):
            return value
        return _rebuilt(value, parts)
    return value


def _rebuilt(value: Any, parts: list[Any]) -> Any:
    """A list or tuple with other elements."""
    if not hasattr(value, "_fields"):
        return type(value)(parts)
    if not getattr(value, "__dict__", None):
        return type(value)(*parts)
    bunches.meet(value)
    names, attributes = tuple(vars(value)), map(_without, vars(value).values())
    return bunches.made(type(value), names, (*parts, *attributes))


def _value(value: Any) -> Any:
    """An array of JAX's; of fixed size and with a length, where traced data says how long it is."""
    if isinstance(value, MutableArray):
        return value.value
    if isinstance(value, Choice):
        return _of_choice(value)
    if isinstance(value, Several):
        return _without(value.lists())
    capacity = max_len()
    if capacity is None:
        raise PortingError(
            "how many elements a result has depends on traced data",
            location=user_location(),
            help="`ag.port(f, max_len=100)` gives up to so many, padded, with a length",
        )
    rows = value.compact()
    array = rows.filled(0)
    for axis in rows.rows:
        raise_where(rows.count(axis) > capacity, full(capacity))
        array = padded(array, axis, capacity)
    return Padded(array, {axis: rows.count(axis) for axis in rows.rows})


def _of_choice(choice: Choice) -> Any:
    """`if ts: ts = np.hstack(ts)`: the array, or a list that is empty, which is an array without elements."""
    options = [array_classes.data_of(option) for option in choice._options]
    if all(isinstance(option, MutableArray) for option in options) and len({option.shape for option in options}) == 1:
        return jnp.stack([jnp.asarray(option.value) for option in options])[choice._index]
    if any(isinstance(option, MutableArray) for option in options):
        return _mapped(choice, _array_of)
    arrays = {number: _value(option) for number, option in enumerate(options) if isinstance(option, Selection)}
    kinds = {(part._values.shape, part._values.dtype, tuple(part.lengths)) for part in arrays.values()}
    if len(kinds) != 1 or not all(isinstance(option, Selection | Bounded | list) for option in options):
        return _mapped(choice, lambda option: _without(option) if isinstance(option, list | tuple) else option)
    first = next(iter(arrays.values()))
    values, lengths = first._values, dict.fromkeys(first.lengths, jnp.zeros((), int))
    for number, option in enumerate(options):
        here = choice._index == number
        if number in arrays:
            values = jnp.where(here, arrays[number]._values, values)
            lengths = {axis: jnp.where(here, arrays[number].lengths[axis], length) for axis, length in lengths.items()}
        else:
            length = option.length if isinstance(option, Bounded) else len(option)
            raise_where(here & (length > 0), TypeError("a list on one path, an array on another"))
    return Padded(values, lengths)


def _array_of(option: Any) -> Any:
    array = array_classes.data_of(option)
    return array.value if isinstance(array, MutableArray) else option


def _mapped(choice: Choice, function: Callable[[Any], Any]) -> Any:
    """Each option replaced; the choice itself where none is, so that what holds it (an OptimizeResult) stays what it is."""
    same = all(function(option) is option for option in choice._options)
    return choice if same else choice._map(function)
