"""A list of which only a bound is known: an array of `capacity` rows for its elements, and how many of them count.

`max_len` gives one under tracing, and so does a comprehension where traced data decides what it keeps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import StagingError, StructureError, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.comparisons import Comparing
from autograph_jax.operators.effects import checks, texts
from autograph_jax.operators.outside_loops import marked
from autograph_jax.operators.sequences import elements, lists
from autograph_jax.operators.tracing import same_containers
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.containers import flatten, unflatten
from autograph_jax.operators.values.forms import Array, Form, Mismatch, array_forms
from autograph_jax.operators.values.joins import alike, as_array, coerce, join, numbers_as_arrays
from autograph_jax.operators.values.traced import is_traced, truth


def full(capacity: int) -> IndexError:
    is_guessed = hooks.is_porting() and hooks.max_len() is None
    more = ": `ag.port(f, max_len=100)` gives the lists of ported code another bound" if is_guessed else ""
    return IndexError(f"a list of at most {capacity} elements is full{more}")


class Bounded(Comparing):
    """A list of at most `capacity` elements under tracing; `length` of them count."""

    is_record = True  # what it holds may be taken apart, where two paths make one each

    def __init__(self, columns: Any, length: Any, capacity: int) -> None:
        self._columns, self._length, self.capacity = columns, length, capacity

    @classmethod
    def empty_like(cls, forms: Mapping[str, Any]) -> Bounded:
        """One without elements, of the capacity that is in the Forms of what another one holds."""
        return of([], [], forms["capacity"].value)

    @property
    def length(self) -> Any:
        """How many elements there are: an integer, traced as a rule."""
        return self._length

    @property
    def mask(self) -> jax.Array:
        """Of each row of `padded`: is it an element?"""
        return jnp.arange(self.capacity) < self._length

    def padded(self, fill: Any = 0) -> Any:
        """The elements as an array of `capacity` rows; the rows beyond them hold `fill`."""
        if self._known is None:
            return jnp.full(self.capacity, fill)
        return self._each(lambda column: jnp.where(_over(self.mask, column), column, fill))

    @property
    def has_elements(self) -> bool:
        """Has anything ever been added? Before, it is known that there are no elements, and not of what kind they are."""
        return self._known is not None

    @property
    def now(self) -> tuple[Any, Any]:
        """What it holds at present, to be compared by `is`: another one, where it has been written."""
        return self._columns, self._length

    @property
    def _known(self) -> Any:
        """The columns; None before there is any element."""
        columns = self._columns
        return columns._only(lambda option: option is not None) if isinstance(columns, Choice) else columns

    @property
    def _form(self) -> Form | None:
        """The Form of one element."""
        return None if self._known is None else _row_form(flatten(self._known)[0])

    def _write(self, columns: Any, length: Any) -> None:
        for name, value in (("_columns", columns), ("_length", length)):
            _subscripts().set_attr(value, self, name)

    # A list's methods

    def append(self, value: Any) -> None:
        """Add an element at the end."""
        checks.raise_where(jnp.asarray(self._length >= self.capacity), full(self.capacity))
        self._write(self._with(self._length, elements.taken(value, self)), self._length + 1)

    def extend(self, values: Iterable[Any]) -> None:
        """Add elements at the end."""
        for value in values:
            self.append(value)

    def __iadd__(self, values: Iterable[Any]) -> Bounded:
        self.extend(values)
        return self

    def __add__(self, values: Any) -> Bounded:
        other = _bounded(values)
        return NotImplemented if other is None or type(self) is not Bounded else _concatenated(self, other)

    def __radd__(self, values: Any) -> Bounded:
        other = _bounded(values)
        return NotImplemented if other is None or type(self) is not Bounded else _concatenated(other, self)

    def __mul__(self, times: Any) -> Bounded:
        if is_traced(times):
            raise refused("is repeated as often as traced data says")
        if not isinstance(times, int) or type(self) is not Bounded:
            return NotImplemented
        return functools.reduce(_concatenated, [self] * times, Bounded(None, jnp.zeros((), int), 0))

    __rmul__ = __mul__

    def insert(self, index: Any, value: Any) -> None:
        """Put an element before the one at an index; at the end, if that is beyond it."""
        checks.raise_where(jnp.asarray(self._length >= self.capacity), full(self.capacity))
        place, rows = self._place(index).clip(0, self._length), jnp.arange(self.capacity)
        if self._known is not None:
            self._write(self._rows(jnp.where(rows > place, rows - 1, rows)), self._length)
        self._write(self._with(place, elements.taken(value, self)), self._length + 1)

    def remove(self, value: Any) -> None:
        """Take out the first element that is equal to a value, a number."""
        self.pop(self._first(value, ValueError("list.remove(x): x not in list")))

    def reverse(self) -> None:
        """Turn the order round."""
        if self._known is not None:
            self._write(self._rows(self._length - 1 - jnp.arange(self.capacity)), self._length)

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        """Put the elements in order: numbers, or tuples of numbers, or by a key that gives numbers."""
        if is_traced(reverse):
            raise refused("is sorted upwards or downwards")
        if self._known is None:
            return
        if key is not None:
            self._write(_ordering().sorted_(self, key=key, reverse=reverse)._columns, self._length)
            return
        self._write(in_order(self, reverse=bool(reverse))._columns, self._length)

    def index(self, value: Any, *bounds: Any) -> Any:
        """Where the first element is that is equal to a value, a number."""
        if bounds:
            raise refused("is searched in part")
        return self._first(value, ValueError(texts.not_in_list(value)))

    def count(self, value: Any) -> Any:
        """How many elements are equal to a value, a number."""
        return as_python_int(jnp.sum(self._equal(value)))

    def pop(self, index: Any = -1) -> Any:
        """Take the element at an index, the last one as a rule."""
        value, place = elements.popped(self._at(index), self), self._place(index)
        rows = jnp.arange(self.capacity)
        is_last = isinstance(index, int) and index == -1
        columns = self._known if is_last else self._rows(jnp.where(rows >= place, rows + 1, rows))
        self._write(columns, self._length - 1)
        return value

    def copy(self) -> Bounded:
        """Another list of the same elements."""
        return self._of_the_same(type(self)(self._columns, self._length, self.capacity))

    def clear(self) -> None:
        """Take all elements out."""
        self._write(self._columns, jnp.zeros((), int))

    def __getitem__(self, index: Any) -> Any:
        return self._sliced(index) if isinstance(index, slice) else elements.given(self._at(index), self)

    def _at(self, index: Any) -> Any:
        if self._known is None:
            raise checks.raised(IndexError("list index out of range"))
        if _is_known(self._length) and not -len(self) <= index < len(self):
            raise IndexError("list index out of range")
        place = self._checked(index)
        return self._each(lambda column: column[place])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            return self._replace(index, value)
        if self._known is None:
            raise checks.raised(IndexError("list assignment index out of range"))
        self._write(self._with(self._checked(index), elements.taken(value, self)), self._length)

    def _replace(self, index: slice, values: Any) -> None:
        """`values[:] = others`: all elements, of whatever kind they were."""
        is_whole = index.start in (None, 0) and index.stop is None and index.step in (None, 1)
        if not is_whole or type(self) is not Bounded:
            raise refused("is written by a slice")
        new = list(values)
        self._write(None, jnp.zeros((), int))
        self.extend(new)

    def __delitem__(self, index: Any) -> None:
        if not isinstance(index, slice):
            self.pop(index)
        elif index.stop is None and index.step in (None, 1):  # `del values[k:]`
            self._write(self._columns, jnp.minimum(self._place(index.start or 0).clip(0), self._length))
        else:
            raise refused("has a slice deleted")

    def _sliced(self, index: slice) -> Bounded:
        """`values[1:]`, `values[:k]`, `values[::-1]`: another list of the same elements."""
        step = 1 if index.step is None else index.step
        if not isinstance(step, int):
            raise refused("is sliced by a step that is not known")
        if step == 0:
            raise ValueError("slice step cannot be zero")
        if self._known is None:
            return self.copy()
        first, last = (0, self._length) if step > 0 else (-1, self._length - 1)
        bounds = [self._place(bound).clip(first, last) if bound is not None else None for bound in (index.start, index.stop)]
        default = (first, last) if step > 0 else (last, first)
        start, stop = (bound if bound is not None else other for bound, other in zip(bounds, default, strict=True))
        count = jnp.maximum((stop - start + step - (1 if step > 0 else -1)) // step, 0)
        return self._of_the_same(Bounded(self._rows(start + step * jnp.arange(self.capacity)), count, self.capacity))

    def _of_the_same(self, other: Bounded) -> Bounded:
        """Another list, which holds elements of this one."""
        if _has_containers(self._form):
            same_containers.keep_the_same(other, self)
        return other

    def _rows(self, places: jax.Array) -> Any:
        """The columns with the rows at these places, where there are such."""
        places = places.clip(0, self.capacity - 1)
        return self._each(lambda column: column[places])

    def _each(self, change: Callable[[jax.Array], jax.Array]) -> Any:
        """The columns, each replaced; what is no number or array in an element is the same in all, and stays."""
        form, columns = flatten(self._known)
        return unflatten(form, iter(map(change, columns)))

    def _first(self, value: Any, error: ValueError) -> Any:
        """Where the first element is that is equal to a value; the error, where there is none."""
        if self._known is None:
            raise checks.raised(error)
        found = self._equal(value)
        checks.raise_where(jnp.logical_not(found.any()), error)
        return as_python_int(jnp.argmax(found))

    def _equal(self, value: Any) -> jax.Array:
        """Which elements are equal to a value; of arrays Python could not tell."""
        if self.column().ndim > 1 or np.ndim(value):
            raise refused("is searched for an array, or holds arrays,")
        return jnp.logical_and(self.mask, self.column() == value)

    def _place(self, index: Any) -> Any:
        return jnp.where(jnp.asarray(index) < 0, index + self._length, index)

    def _checked(self, index: Any) -> Any:
        place = self._place(index)
        outside = jnp.logical_or(place < 0, place >= self._length)
        checks.raise_where(outside, IndexError("list index out of range"))
        return place

    def _with(self, place: Any, value: Any) -> Any:
        """The columns with one element written; made, or made wider, where the element asks for it."""
        own = flatten(value)[0]
        form = numbers_as_arrays(own) if self._form is None else _joined(self._form, numbers_as_arrays(own))
        columns = flatten(self._widened(form))[1]
        new = [column.at[place].set(leaf) for column, leaf in zip(columns, coerce(value, form), strict=True)]
        return unflatten(_column_form(form, self.capacity), iter(new))

    def _widened(self, form: Form) -> Any:
        wide = _column_form(form, self.capacity)
        if self._known is None:
            return unflatten(wide, iter([jnp.zeros(f.shape, f.dtype) for f in array_forms(wide)]))
        return unflatten(wide, iter([as_array(c, f) for c, f in zip(flatten(self._known)[1], array_forms(wide), strict=True)]))

    @property
    def as_condition(self) -> Any:
        """What decides in `if values`."""
        return self._length > 0

    def __iter__(self) -> Iterator[Any]:
        if not self.has_elements:
            return iter(())
        if not _is_known(self._length):
            raise refused("is iterated by Python")
        return (self[position] for position in range(len(self)))

    def __len__(self) -> int:
        if not _is_known(self._length):
            raise refused("has its length asked for by Python")
        return int(self._length)

    def __jax_array__(self) -> Any:
        return self._as_array()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self._as_array(), dtype)

    def _as_array(self) -> jax.Array:
        if not _is_known(self._length):
            raise refused("is made into an array")
        return self.column()[: len(self)]

    def equals(self, other: Any) -> Any:
        """Has another list as many elements, and the same ones? Numbers, as of arrays Python could not tell."""
        if _is_known(self._length):
            return self == other
        values = _bounded(other)
        if values is None:
            return False
        same_length = jnp.asarray(self._length == values._length)
        if self._known is None or values._known is None:
            return same_length
        one, two = self.column(), values.column()
        if one.ndim > 1 or two.ndim > 1:
            raise refused("is compared, and holds arrays,")
        count = min(len(one), len(two))
        return same_length & jnp.all((one[:count] == two[:count]) | jnp.logical_not(self.mask[:count]))

    def _refuse_order(self, other: Any) -> Any:
        raise refused("is compared by its order")

    __lt__ = __le__ = __gt__ = __ge__ = _refuse_order

    def __eq__(self, other: object) -> Any:
        if not _is_known(self._length):
            raise refused("is compared")
        return list(self) == (list(other) if isinstance(other, Bounded) else other)

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __getattr__(self, name: str) -> Any:
        if (
            name.startswith("__")
            and not hasattr(list, name)
            or name in ("_columns", "_length", "dtype", "aval")
            or _is_known(self._length)
        ):
            raise AttributeError(name)
        raise refused(f"has its `{name}` asked for")

    def __repr__(self) -> str:
        return repr(list(self)) if _is_known(self._length) else f"<a list of at most {self.capacity} elements>"

    # What Python's builtins ask for

    def leaves(self) -> tuple[jax.Array, ...]:
        """The columns of the elements' leaves, for a loop over them."""
        return () if self._known is None else tuple(flatten(self._known)[1])

    def element(self, leaves: Sequence[Any]) -> Any:
        return elements.given(unflatten(self._form, iter(leaves)), self) if self._form is not None else None

    def column(self) -> jax.Array:
        """The elements as rows of one array, where they are numbers or arrays."""
        if self._known is None:
            return jnp.zeros((self.capacity,))
        if not isinstance(self._known, jax.Array):
            raise refused("holds no numbers, and is summed or compared")
        return self._known


def as_python_int(number: jax.Array) -> jax.Array:
    """A traced integer of any type that is an `int` in Python, and so takes the type of what it is computed with."""
    return jax_private.as_weak(number, jax.dtypes.canonicalize_dtype(int))


def _is_known(length: Any) -> bool:
    """Is it a number that is there already, outside of tracing?"""
    return isinstance(length, int | jax.Array) and not is_traced(length)


def _subscripts() -> Any:  # which build on lists
    from autograph_jax.operators import subscripts

    return subscripts


def _ordering() -> Any:  # which builds on these lists
    from autograph_jax.operators import ordering

    return ordering


def refused(use: str) -> StagingError:
    return StagingError(
        f"a list whose number of elements is only known at run time {use}",
        location=user_location(),
        help="loop over it with `for`, or take `values.padded(fill)` and `values.mask`, arrays of fixed size",
    )


def _over(mask: jax.Array, column: jax.Array) -> jax.Array:
    return mask.reshape(mask.shape + (1,) * (column.ndim - 1))


def _has_containers(form: Form | None) -> bool:
    """Are there lists or dicts in an element of this Form?"""
    inner = any(map(_has_containers, getattr(form, "children", ())))
    return inner or getattr(getattr(form, "kind", None), "type", None) in (list, dict)


def _row_form(form: Form) -> Form:
    """The Form of one row of columns of this Form."""
    return _mapped(form, lambda array: Array(array.shape[1:], array.dtype, array.weak))


def _column_form(form: Form, capacity: int) -> Form:
    return _mapped(form, lambda array: Array((capacity, *array.shape), array.dtype, False))


def _mapped(form: Form, change: Callable[[Array], Array]) -> Form:
    match form:
        case Array():
            return change(form)
        case _ if hasattr(form, "children"):
            return type(form)(form.kind, tuple(_mapped(child, change) for child in form.children))  # pyright: ignore
    return form


def _joined(first: Form, second: Form) -> Form:
    try:
        form = join(first, second)
    except Mismatch as mismatch:
        raise _unlike(str(mismatch.first), str(mismatch.second)) from None
    if len(array_forms(form)) != len(array_forms(first)):
        raise _unlike(str(first), str(second))
    return form


def _unlike(first: str, second: str) -> StructureError:
    return StructureError(
        "the elements of a list whose length is only known at run time are not alike",
        location=user_location(),
        details=[f"One is {first}, another {second}."],
        help="give them one shape and structure",
    )


def of(values: Sequence[Any], masks: Sequence[Any], capacity: int) -> Bounded:
    """A Bounded of the values whose mask holds, in order."""
    if not values:
        return Bounded(None, jnp.zeros((), int), capacity)
    made = Bounded(None, jnp.sum(jnp.stack([jnp.asarray(mask) for mask in masks])), capacity)
    values = elements.all_taken(values, made)
    form, columns = columns_of(values)
    mask = jnp.stack([jnp.asarray(m) for m in masks])
    if not all(m is True for m in masks):
        order = marked(jnp.argsort, jnp.logical_not(mask), stable=True)
        columns = [column[order] for column in columns]
    missing = capacity - len(values)
    padded = [jnp.concatenate([c, jnp.zeros((missing, *c.shape[1:]), c.dtype)]) if missing else c for c in columns]
    made._columns = unflatten(_column_form(form, capacity), iter(padded))
    return made


def one_of(index: Any, lists: Sequence[Bounded]) -> Bounded:
    """The one of several that traced data has chosen, made anew for who only goes through it."""
    capacity, length = max(one.capacity for one in lists), jnp.stack([jnp.asarray(one.length) for one in lists])[index]
    forms = [one._form for one in lists if one._form is not None]
    if not forms:
        return Bounded(None, length, capacity)
    form = functools.reduce(_joined, forms)
    wide = [Bounded(one._widened(form), one.length, one.capacity)._rows(jnp.arange(capacity)) for one in lists]
    columns = [jnp.stack(column)[index] for column in zip(*(flatten(rows)[1] for rows in wide), strict=True)]
    made = Bounded(unflatten(_column_form(form, capacity), iter(columns)), length, capacity)
    for one in lists:
        one._of_the_same(made)
    return made


def _bounded(values: Any) -> Bounded | None:
    """A list as one of which only a bound is known; None for what cannot be added to one."""
    if type(values) is list:
        return of(values, [True] * len(values), len(values))
    return values if type(values) is Bounded else None


def _concatenated(first: Bounded, second: Bounded) -> Bounded:
    """The elements of one, and behind them those of another."""
    capacity, length = first.capacity + second.capacity, first._length + second._length
    if first._form is None or second._form is None:
        form = first._form or second._form
        if form is None:
            return Bounded(None, length, capacity)
    else:
        form = _joined(first._form, second._form)
    pairs = zip(flatten(first._widened(form))[1], flatten(second._widened(form))[1], strict=True)
    places = first._length + jnp.arange(second.capacity)
    columns = [jnp.concatenate([one, jnp.zeros_like(two)]).at[places].set(two) for one, two in pairs]
    both = Bounded(unflatten(_column_form(form, capacity), iter(columns)), length, capacity)
    return first._of_the_same(second._of_the_same(both))


def columns_of(values: Sequence[Any]) -> tuple[Form, list[jax.Array]]:
    """Elements that are alike: the Form of one, and its leaves, each stacked."""
    form = numbers_as_arrays(flatten(values[0])[0])
    for value in values[1:]:
        form = _joined(form, numbers_as_arrays(flatten(value)[0]))
    rows = [coerce(value, form) for value in values]
    return form, [lists.stack(column) for column in zip(*rows, strict=True)]


# Python's builtins on them


def reduced(values: Bounded, reduce: Callable[..., jax.Array], neutral: Any) -> jax.Array:
    """A reduction over the elements; the rows that don't count hold what changes nothing."""
    column = values.column()
    return reduce(jnp.where(_over(values.mask, column), column, neutral), axis=0)


def contains(values: Bounded, value: Any) -> jax.Array:
    return jnp.any(values._equal(value))


def truths(values: Bounded, *, beyond: bool) -> jax.Array:
    """The truth of each element, and `beyond` in the rows that don't count."""
    return jnp.where(values.mask, _numbers(values, "is asked for the truth of each element") != 0, beyond)


def extreme(values: Bounded, *, largest: bool, default: Any, has_default: bool) -> Any:
    """`max` or `min`."""
    column = _numbers(values, "has its largest or smallest element asked for")
    never = _never_best(column.dtype, largest=largest)
    compared = jnp.where(values.mask & (column == column), column, never)
    # A NaN is never better than what came before, so only a leading one stays.
    found = jnp.where(column[0] == column[0], (jnp.max if largest else jnp.min)(compared), column[0])
    empty = values.length == 0
    if has_default:
        return jnp.where(empty, *alike(default, found))
    checks.raise_where(truth(empty), ValueError(f"{'max' if largest else 'min'}() arg is an empty sequence"))
    return found


def best_by_key(pairs: Bounded, *, largest: bool, default: Callable[[], Any] | None) -> tuple[jax.Array, Callable[[], Any]]:
    """Whether there is any, and what gives it: of pairs of a key and an element, the element whose key is `max` or `min`."""
    keys = _keys(pairs)
    compared = jnp.where(pairs.mask & (keys == keys), keys, _never_best(keys.dtype, largest=largest))
    place = jnp.where(keys[0] == keys[0], (jnp.argmax if largest else jnp.argmin)(compared), 0)
    if default is None:
        checks.raise_where(truth(pairs.length == 0), ValueError(f"{'max' if largest else 'min'}() arg is an empty sequence"))
    return pairs.length > 0, lambda: elements.given(pairs._each(lambda column: column[place]), pairs)[1]


def in_order_of_keys(pairs: Bounded, *, reverse: bool) -> Bounded:
    """`sorted` by a key: the elements of such pairs."""
    if reverse:  # equal ones stay as they are
        return in_order_of_keys(pairs[::-1], reverse=False)[::-1]
    order = jnp.lexsort((_keys(pairs), jnp.logical_not(pairs.mask)))
    form, columns = flatten(pairs._known[1])
    ordered = unflatten(form, iter([column[order] for column in columns]))
    return pairs._of_the_same(Bounded(ordered, pairs.length, pairs.capacity))


def _keys(pairs: Bounded) -> jax.Array:
    keys = pairs._known[0]
    if not isinstance(keys, jax.Array) or keys.ndim != 1:
        raise refused("is ordered by a key that is no number")
    return keys


def _never_best(dtype: Any, *, largest: bool) -> Any:
    """What no number of a type is less than, or none greater."""
    if jnp.issubdtype(dtype, jnp.bool):
        return not largest
    if jnp.issubdtype(dtype, jnp.floating):
        return -jnp.inf if largest else jnp.inf
    return jnp.iinfo(dtype).min if largest else jnp.iinfo(dtype).max


def _numbers(values: Bounded, use: str) -> jax.Array:
    """The elements as numbers: an array of one element is one, of a larger one Python could not tell."""
    column = values.column()
    if column.size != len(column):
        raise refused(f"{use}, and holds arrays,")
    return column.reshape(-1)


def in_order(values: Bounded, *, reverse: bool) -> Bounded:
    """`sorted`."""
    if reverse:  # equal ones stay as they are
        return in_order(values[::-1], reverse=False)[::-1]
    if values._known is None:
        return values.copy()
    columns = jax.tree.leaves(values._known)
    if not _are_rows_of_numbers(values._known):
        raise refused("is sorted, and holds neither numbers nor tuples of numbers,")
    order = jnp.lexsort((*columns[::-1], jnp.logical_not(values.mask)))
    return values._of_the_same(Bounded(values._each(lambda column: column[order]), values.length, values.capacity))


def _are_rows_of_numbers(columns: Any) -> bool:
    """A column of numbers, or tuples and lists of such, which are compared one after the other."""
    if type(columns) in (tuple, list):
        return all(map(_are_rows_of_numbers, columns))
    return isinstance(columns, jax.Array) and columns.ndim == 1
