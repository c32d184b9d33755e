"""What traced data picks: `table[k]`, `(f, g)[k](x)`, an attribute of one of two objects. All it may pick is joined."""

from __future__ import annotations

import collections
import enum
import functools
import itertools
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import AutographError, StructureError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.effects import checks
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.staging import dependence
from autograph_jax.operators.staging.mismatches import joined
from autograph_jax.operators.tracing import aliasing, reach, same_containers, standing, views
from autograph_jax.operators.values import open_keys
from autograph_jax.operators.values.array_likes import opened_index
from autograph_jax.operators.values.choices import UNBOUND, Choice, refusal, renumbered
from autograph_jax.operators.values.containers import flatten, is_mutable, unflatten
from autograph_jax.operators.values.forms import Form, Mismatch, Options, array_forms, same_static
from autograph_jax.operators.values.joins import as_array, coerce, join, option_of
from autograph_jax.operators.values.narrowed import narrowed, rule_out, ruled_out
from autograph_jax.operators.values.traced import is_traced
from autograph_jax.operators.values.updated import index_of
from autograph_jax.porting import creating
from autograph_jax.porting.arrays import MutableArray, wrap
from autograph_jax.porting.arrays import picked as picked_array
from autograph_jax.porting.selections import Selection

# With what Python calls an index of each that is out of range.
_SEQUENCES = {
    list: "list index", tuple: "tuple index", str: "string index", bytes: "index", range: "range object index",
    collections.deque: "deque index",
}  # fmt: skip

_CONCATENATING = type(np.r_).__mro__[1]  # `np.r_[1.0, x]`
_PLAIN_INDICES, _PLAIN_CONTAINERS = frozenset({int, str, slice}), frozenset({list, tuple, dict, str})
_INDEXED_BY_ARRAYS: tuple[Any, ...] = (jax.Array, np.ndarray, list, tuple)


def get_item(container: Any, index: Any) -> Any:
    """`container[index]`."""
    if type(index) in _PLAIN_INDICES and type(container) in _PLAIN_CONTAINERS:
        return container[index]
    if isinstance(container, _INDEXED_BY_ARRAYS):
        index = opened_index(index)
    if isinstance(container, jax.Array):
        index = index_of(index)
    if hooks.is_porting():
        if isinstance(container, jax.Array) and not _is_place(index):
            return wrap(container)[index]
        if type(container) is np.ndarray and _is_new(index):
            return creating.asarray(container)[index]
        if isinstance(container, _CONCATENATING):
            return creating.concatenated(container, index)
    elif type(container) is np.ndarray and container.dtype.kind in "biufc" and _has_traced(index):
        return _of_numpys(container, index)
    if not is_traced(index) and not isinstance(container, Choice):
        if isinstance(container, dict) and open_keys.is_open(index) and _reads_plainly(container):
            return _at_open_key(container, index)
        return container[plain_index(container, index)]
    if isinstance(container, Choice):
        if isinstance(index, jax.Array) and all(isinstance(option, list | tuple) for option in container._options):
            return _of_lengths(container, index)
        by_code = _chosen_objects().has_method(container._options, "__getitem__", "__missing__")
        return of_choice(container, lambda option: get_item(option, index), "an element of it is read", by_code=by_code)
    if not _reads_plainly(container):
        return container[index]
    if isinstance(index, Choice):
        return of_choice(index, lambda option: container[option], "as an index")
    if index.shape != () or not jnp.issubdtype(index.dtype, jnp.integer) and index.dtype != bool:
        return container[index]
    if isinstance(container, dict):
        return _at_key(container, index)
    if isinstance(container, list | tuple | str | bytes | range | collections.deque):
        return _at_position(container, index)
    return container[index]


def _is_place(index: Any) -> bool:
    """Is it what any array takes as a key: integers and slices that are known?"""
    return all(isinstance(part, int | slice | None | types.EllipsisType) for part in _parts(index))


def _is_new(index: Any) -> bool:
    """Is there anything in it that NumPy's own arrays don't take?"""
    return any(isinstance(part, MutableArray | jax.Array | Selection) for part in _parts(index)) or _has_traced(index)


def _parts(index: Any) -> list[Any]:
    """The indices of an index, and the bounds of its slices."""
    parts = index if type(index) is tuple else (index,)
    return [*parts, *(bound for part in parts if isinstance(part, slice) for bound in (part.start, part.stop, part.step))]


def _has_traced(index: Any) -> bool:
    """Is there anything in it that NumPy's arrays cannot look at?"""
    parts = _parts(index)
    listed = [element for part in parts if isinstance(part, list) for element in reach.everything(part)]
    return any(isinstance(part, jax.core.Tracer) for part in (*parts, *listed))


def _of_numpys(array: np.ndarray, index: Any) -> jax.Array:
    """What stands at a traced place of an array of NumPy's, as it is of one of JAX's; a row is a view of it."""
    found = jnp.asarray(array)[_marked(index_of(index))]
    return found if views.copies(index) else standing.note(found, array)


def _marked(index: Any) -> Any:
    if isinstance(index, tuple):
        return tuple(map(_marked, index))
    is_number = isinstance(index, jax.Array) and index.ndim == 0 and jnp.issubdtype(index.dtype, jnp.integer)
    return dependence.as_index(index, of_numpys=True) if is_number else index


def view_at(base: Any, index: Any) -> Any:
    """`f(x)[1:]` and `x[0][1:]`, a view of what a call gives, or of a view."""
    return views.view(get_item(base, index), base, index)


def plain_index(container: Any, index: Any) -> Any:
    """An index that is known, as Python takes it: a JAX array is no key, and a bool of JAX's no position."""
    if type(index) is tuple and isinstance(container, dict):
        return tuple(plain_index(container, part) for part in index)
    if isinstance(index, jax.Array) and index.ndim == 0:
        if isinstance(container, dict) or index.dtype == bool and isinstance(container, tuple(_SEQUENCES)):
            return index.item()
    return index


def _reads_plainly(container: Any) -> bool:
    """Does reading an element change nothing? Not where a class of the user's does it, or a dict makes what is missing."""
    if isinstance(container, jax.Array):
        return True
    kind = type(container)
    return not isinstance(getattr(kind, "__getitem__", None), types.FunctionType) and not hasattr(kind, "__missing__")


def _at_position(container: Sequence[Any], index: jax.Array) -> Any:
    """Python's element at a traced index, negative ones from the end."""
    lists.check_known(container)
    name = next(name for kind, name in _SEQUENCES.items() if isinstance(container, kind))
    position = position_in(len(container), index, IndexError(f"{name} out of range"))
    return pick(jnp.clip(position, 0, len(container) - 1), list(container))


def _of_lengths(choice: Choice, index: jax.Array) -> Any:
    """An element of one of several lists or tuples, at a traced index: only of the one that is taken may it be out of range."""
    options = choice._options
    length = renumbered(choice._index, list(map(len, options))) if any(options) else 0
    position = position_in(length, index, IndexError("list index out of range"))
    given = {n: pick(jnp.clip(position, 0, len(one) - 1), list(one)) for n, one in enumerate(options) if one}
    anything = next(iter(given.values()))
    return pick(choice._index, [given.get(n, anything) for n in range(len(options))])


def position_in(length: Any, index: jax.Array, error: IndexError) -> jax.Array:
    """A traced index counted from the start; one out of range raises."""
    if isinstance(length, int) and not length:
        raise checks.raised(error)
    index = dependence.as_index(index)
    position = jnp.where(index < 0, index + length, index)
    checks.raise_where((position < 0) | (position >= length), error)
    return position


def put(value: Any, container: Any, index: Any) -> None:
    """`container[index] = value` in a list or dict, where traced data picks the element: each is the value or what it was."""
    if open_keys.is_open(index):
        chosen: dict[Any, Any] = open_keys.among(container, index)
        _refuse_new_key(chosen)
    elif isinstance(index, Choice):
        chosen = {key: index._where(lambda option, key=key: same_static(option, key)) for key in index._options}
        if any(isinstance(key, jax.Array) for key in chosen):
            raise refusal(index, "as an index to write at")
    elif isinstance(container, dict):
        chosen = {key: dependence.as_index(index) == key for key in container if isinstance(key, int | float)}
        _refuse_new_key(chosen)
    else:
        name = "deque index" if isinstance(container, collections.deque) else "list assignment index"
        position = position_in(len(container), index, IndexError(f"{name} out of range"))
        chosen: dict[Any, Any] = {number: position == number for number in range(len(container))}
    is_one_of_them = not hooks.is_porting() and not {*aliasing.kin(container)}.isdisjoint(aliasing.kin(value))
    turn = views.new_turn()
    for key, taken in chosen.items():
        try:
            old = container[key]
        except LookupError as error:
            if isinstance(container, dict):
                raise refusal(index, "as a new key of a dict") from None
            checks.raise_where(taken, error.with_traceback(None))
            continue
        container[key] = pick(jnp.asarray(taken, jnp.int32), [old, value], put_in=turn)
    if is_one_of_them:  # `rows[i] = rows[j]`: two of them are one array from now on
        for one, other in itertools.combinations(aliasing.memory(container), 2):
            aliasing.doubt(one, other)


def _refuse_new_key(found: dict[Any, jax.Array]) -> None:
    """Of a dict that is written, where none of these keys is the one that traced data decides about: Python would add it."""
    error = StructureError(
        "a key of a dict is written that traced data decides about, and it may be a new one",
        location=user_location(),
        details=["Which keys a dict has is known when the program is traced."],
        help="have all keys there before: `table = dict.fromkeys(range(n), 0.0)`; or write into an array: `table[i] = x`",
    )
    if not found:
        raise error
    checks.raise_where(jnp.logical_not(functools.reduce(jnp.logical_or, found.values())), error)


def get_of(container: dict[Any, Any], key: Any, default: Any = None) -> Any:
    """`container.get(key, default)`."""
    if open_keys.is_open(key):
        found = open_keys.among(container, key)
        there = jnp.stack([jnp.logical_not(functools.reduce(jnp.logical_or, found.values(), False)), *found.values()])
        return pick(jnp.argmax(there), [default, *(container[own] for own in found)])
    if not is_traced(key):
        return container.get(plain_index(container, key), default)
    if isinstance(key, Choice):
        return of_choice(key, lambda option: get_of(container, option, default), "as a key")
    keys = [own for own in container if isinstance(own, int | float)]
    index = dependence.as_index(key)
    found = jnp.stack([jnp.asarray(False), *(index == own for own in keys)])
    return pick(jnp.argmax(found.at[0].set(jnp.logical_not(found.any()))), [default, *(container[own] for own in keys)])


def _at_key(container: dict[Any, Any], index: jax.Array) -> Any:
    """The value of a traced number among the keys."""
    keys = [key for key in container if isinstance(key, int | float)]
    if not keys:
        raise checks.raised(KeyError(index))
    index = dependence.as_index(index)
    found = jnp.stack([index == key for key in keys])
    checks.raise_where(jnp.logical_not(found.any()), KeyError(index))
    return pick(jnp.argmax(found), [container[key] for key in keys])


def member_of(kind: type[enum.Enum], *arguments: Any, **keywords: Any) -> Any:
    """`Colour(n)`: the member of a traced number."""
    number = arguments[0] if len(arguments) == 1 and not keywords else None
    members: dict[Any, Any] = {member.value: member for member in kind if isinstance(member.value, int | float)}
    if not members or not isinstance(number, jax.Array) or number.ndim:
        return kind(*arguments, **keywords)
    if not is_traced(number):
        return kind(number.item())
    found = jnp.stack([number == value for value in members])
    checks.raise_where(jnp.logical_not(found.any()), ValueError(f"the number is not a valid {kind.__qualname__}"))
    return pick(jnp.argmax(found), list(members.values()))


_NO_KEY = "none of the keys is the one that traced data decides about"


def _at_open_key(container: dict[Any, Any], key: tuple[Any, ...]) -> Any:
    found = open_keys.among(container, key)
    if not found:
        raise checks.raised(KeyError(_NO_KEY))
    there = jnp.stack(list(found.values()))
    checks.raise_where(jnp.logical_not(there.any()), KeyError(_NO_KEY))
    return pick(jnp.argmax(there), [container[own] for own in found])


def entries(choice: Choice, what: str) -> Any:
    """`keys`, `values` or `items` of one of several dicts that have the same keys."""
    keys = choice._options[0].keys()
    if what == "keys":
        return keys
    pairs = {key: get_item(choice, key) for key in keys}
    return pairs.values() if what == "values" else pairs.items()


def bound(choice: Choice) -> Any:
    """The value of an attribute, where it is used: at run time an error, if no path before has set it."""
    if not choice._may_be_unbound():
        return choice
    return narrowed(choice, lambda option: option is not UNBOUND, lambda: AttributeError(_NOT_SET))


_NOT_SET = "an attribute has no value here: traced data took a path that does not set it"


def of_choice(choice: Choice, read: Callable[[Any], Any], use: str, *, by_code: bool = False) -> Any:
    """What is read of the option taken. An option that has no such element raises at run time, if it is the one.

    `by_code`: a property or method of the user's reads, which no option but the one that is taken may run.
    """
    if not isinstance(choice := bound(choice), Choice):
        return read(choice)
    if by_code:
        return _chosen_objects().of_taken(choice, read)
    values: dict[int, Any] = {}
    errors: dict[int, Exception] = {}
    for position, option in enumerate(choice._options):
        try:
            values[position] = read(option)
        except (LookupError, ValueError) as error:
            if isinstance(error, AutographError):
                raise
            errors[position] = _alone(error)
        except (TypeError, AttributeError) as error:
            if option is not None:
                raise refusal(choice, use) from None
            errors[position] = _alone(error)
    if not values:
        raise checks.raised(errors[0])
    known = ruled_out(choice)
    for position, error in errors.items():
        if position not in known:
            checks.raise_where(choice._index == position, error)
    rule_out(choice, errors.keys() - known)
    anything = next(iter(values.values()))
    return pick(choice._index, [values.get(position, anything) for position in range(len(choice._options))])


def _chosen_objects() -> Any:
    from autograph_jax.operators import chosen_objects  # which builds on this file

    return chosen_objects


def _alone(error: Exception) -> Exception:
    """An error without what it holds of the program: frames, whose variables are being traced."""
    error.__context__ = error.__cause__ = None
    return error.with_traceback(None)


def not_none(value: Any) -> Any:
    """A value that is None on some path, where a number or an array is needed: at run time an error, if it is the None."""
    if not isinstance(value, Choice) or not any(option is None for option in value._options):
        return value
    return of_choice(value, _number, "as a number")


def callable_of(choice: Choice) -> Any:
    """A Choice that is about to be called: None, or a number, is no function."""
    return choice if all(map(callable, choice._options)) else of_choice(choice, _function, "it is called")


def _function(option: Any) -> Any:
    if not callable(option):
        raise TypeError(f"'{type(option).__name__}' object is not callable")
    return option


def unpacked(choice: Choice, count: int) -> list[Any]:
    """`a, b = choice` of tuples of several lengths: at run time an error, if it is one of another length."""
    if all(len(option) != count for option in choice._options):
        raise ValueError(f"too many or not enough values to unpack (expected {count})")
    error = ValueError(f"too many or not enough values to unpack (expected {count})")
    fitting = narrowed(choice, lambda option: len(option) == count, lambda: error)
    return [get_item(fitting, position) for position in range(count)]


def array_of(choice: Choice) -> jax.Array:
    """The array of a value that is None on another path: at run time an error, if it is the None."""
    if not isinstance(choice := bound(choice), Choice):
        return jnp.asarray(choice)
    if sum(option is not None for option in choice._options) > 1:
        raise refusal(choice, "as an array")
    error = TypeError("None where an array is needed")
    return jnp.asarray(narrowed(choice, lambda option: option is not None, lambda: error))


def _number(option: Any) -> Any:
    if option is None:
        raise TypeError("unsupported operand type: 'NoneType'")
    return option


def pick(index: jax.Array, values: Sequence[Any], *, put_in: views.Turn | None = None) -> Any:
    """`values[index]`, for a traced index within bounds: one array of the joined kind, or a Choice of what has none.

    `put_in`: the last value is put into one of several places, of which this is one, in this turn.
    """
    if all(value is values[0] for value in values):
        return values[0]
    if all(isinstance(value, MutableArray) for value in values) and (array := picked_array(values, index)) is not None:
        return array
    if type(values[0]) is tuple and all(_is_like_tuple(value, values[0]) for value in values):
        return tuple(pick(index, column, put_in=put_in) for column in zip(*values, strict=True))
    picked = _picked(index, values, functools.reduce(_joined, [flatten(value, is_mutable)[0] for value in values]))
    for value in values:
        _share(picked, value, put_in if value is values[-1] else None)
        if not isinstance(picked, jax.Array):  # what JAX takes apart has been made anew
            same_containers.doubt_container(picked, value)
    if not hooks.is_porting():
        standing.note(picked, *(value for value in values if isinstance(value, np.ndarray)))
    return picked


def _picked(index: jax.Array, values: Sequence[Any], form: Form) -> Any:
    columns = [jnp.stack(column)[index] for column in zip(*(coerce(value, form) for value in values), strict=True)]
    if isinstance(form, Options) and not any(isinstance(value, Choice) for value in values):
        columns[0] = renumbered(index, [option_of(value, form.forms) for value in values])
    leaves = map(as_array, columns, array_forms(form))
    return unflatten(form, leaves)


def in_one_piece(choice: Choice) -> Any:
    """One of several containers that are built alike, made anew, for who only reads it; of others the choice itself."""
    if not all(isinstance(option, dict | list | tuple) for option in choice._options):
        return choice
    try:
        form = functools.reduce(join, [flatten(option)[0] for option in choice._options])
    except Mismatch:
        return choice
    return _picked(choice._index, choice._options, form)


def _is_like_tuple(value: Any, other: tuple[Any, ...]) -> bool:
    return type(value) is tuple and len(value) == len(other)


def _share(picked: Any, value: Any, put_in: views.Turn | None) -> None:
    """In NumPy what is picked is the array itself: a write to one would show in the other."""
    if isinstance(picked, tuple) and isinstance(value, tuple):
        for own, other in zip(picked, value, strict=True):
            _share(own, other, put_in)
    elif type(picked) is not Choice or all(option is not value for option in picked._options):
        views.relate(picked, value, whole_in=put_in)
        aliasing.doubt_buffers(picked, value)


def _joined(first: Form, second: Form) -> Form:
    return joined("what is picked here", first, second, before="it may be", after="or")
