"""`x[mask]` and `A[:k, :k]` of a traced mask or bound: how many elements there are is not known, and seldom matters.

    p[m] -= f[m] / g[m]          (x[m] > 0).all()          A[k:, k:] += np.outer(u[k:], v[k:])          np.dot(a[:k], b[:k])

A `Selection` keeps all elements that there may be, and along each of its axes which of them count. What is computed element by
element is computed for all, reductions and products leave out what does not count, and a write puts the elements back where
they belong. Elements that do not count are replaced by one that does, so that what is computed of them raises no alarm, in
derivatives neither.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import casting, chosen_keys, hooks
from .numbers import bounded, natural
from .rows import Mask, Rows, Window, over, padded, refusal, spread, taken

if TYPE_CHECKING:
    from .arrays import MutableArray


class Selection(NDArrayOperatorsMixin):
    """Some elements of an array, in order: along each selected axis the same ones everywhere."""

    __slots__ = ("array", "rows", "__weakref__")
    __array_priority__ = 1001.0
    __hash__ = None

    def __init__(self, array: MutableArray, rows: Mapping[int, Rows]) -> None:
        self.array, self.rows = array, dict(sorted(rows.items()))

    # ------------------------------------------------------------------ what is known of it

    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)

    def memory(self) -> Iterable[Any]:
        return self.array.memory()

    def capacity(self, axis: int) -> int:
        return self.array.shape[axis]

    def count(self, axis: int) -> Any:
        """How many there are along a selected axis, traced."""
        return natural(bounded(self.rows[axis].count, self.capacity(axis)))

    def mask(self, axis: int) -> jax.Array:
        """Of each row of `values` along a selected axis: does it count?"""
        return self.rows[axis].of(self.capacity(axis))

    @property
    def shape(self) -> tuple[Any, ...]:
        """As NumPy's, with traced numbers among them."""
        return tuple(self.count(axis) if axis in self.rows else size for axis, size in enumerate(self.array.shape))

    @property
    def size(self) -> jax.Array:
        others = math.prod(size for axis, size in enumerate(self.array.shape) if axis not in self.rows)
        count = functools.reduce(operator.mul, map(self.count, self.rows))
        return count if others == 1 and len(self.rows) == 1 else natural(bounded(count * others, self.array.size))

    @property
    def values(self) -> jax.Array:
        """All elements, those that count as they are, in place of each other one of these."""
        value = jnp.asarray(self.array.value)
        for axis, rows in self.rows.items():
            if isinstance(rows, Window):
                value = value if rows.starts_first else taken(value, jnp.arange(self.capacity(axis)) + rows.start, axis)
                value = spread(value, axis, self.mask(axis))
        return value

    def over(self, axes: Iterable[int] | None = None) -> jax.Array:
        """Which elements count, as far as these axes say, for arrays of all axes."""
        masks = [over(self.mask(axis), axis, self.ndim) for axis in (self.rows if axes is None else axes)]
        return functools.reduce(jnp.logical_and, masks)

    def filled(self, neutral: Any, axes: Iterable[int] | None = None) -> jax.Array:
        """All elements, with something else in place of those that do not count."""
        return jnp.where(self.over(axes), self.values, jnp.asarray(neutral, self.dtype))

    # ------------------------------------------------------------------ the same elements otherwise

    def own(self) -> dict[int, Rows]:
        """The rows of `values` that count."""
        return {axis: rows.own() for axis, rows in self.rows.items()}

    def like(self, value: Any) -> Selection:
        """The same rows of something computed of `values`."""
        return Selection(_array(jnp.asarray(_value(value))), self.own())

    def with_rows(self, value: Any, axis: int, rows: Rows | None) -> Any:
        """Other rows along one axis, or all of them, of something computed of `values`."""
        kept = {other: own for other, own in self.own().items() if other != axis}
        return selected(value, kept if rows is None else {**kept, axis: rows})

    def compact(self, axes: Iterable[int] | None = None) -> Selection:
        """The same elements, with those that count first along these axes."""
        found = self.like(self.values)
        for axis in self.rows if axes is None else axes:
            if isinstance(self.rows.get(axis), Mask):
                order = hooks.marked(jnp.argsort, jnp.logical_not(self.mask(axis)), stable=True)
                found = found.with_rows(taken(found.values, order, axis), axis, Window(0, self.count(axis)))
        return found

    def cut(self, axis: int, capacity: int) -> Selection:
        """The same elements, of which there cannot be more along an axis; behind them, where room is left, the last one."""
        if capacity == self.capacity(axis):
            return self
        return self.like(padded(self.values, axis, capacity))

    def exactly(self, number: int, axis: int, *, or_one: bool = False) -> Any:
        """All rows of an axis, where NumPy has so many beside it; raises if there are not so many, nor one for all of them."""
        others = self.count(axis) != number
        hooks.raise_where(
            others & (self.count(axis) != 1) if or_one else others,
            ValueError(f"operands could not be broadcast together: {number} elements"),
        )
        compact = self.compact((axis,))
        return compact.with_rows(taken(compact.values, jnp.arange(number), axis), axis, None)

    # ------------------------------------------------------------------ computing

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from . import computing

        return computing.of_ufunc(ufunc, method, tuple(map(hooks.number, inputs)), options)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        from . import functions

        return functions.call(function, args, kwargs)

    # ------------------------------------------------------------------ parts

    def __getitem__(self, key: Any) -> Any:
        from . import selecting

        return chosen_keys.read(self, key) if chosen_keys.is_chosen(key) else selecting.read(self, key)

    def __setitem__(self, key: Any, new: Any) -> None:
        from . import selecting

        (chosen_keys if chosen_keys.is_chosen(key) else selecting).write(self, key, new)

    def put(self, new: Any) -> None:
        """Overwrites all elements that count, where they are."""
        if not self.array.flags.writeable:
            raise refusal("it is written, while NumPy may share its memory with another array: `.copy()` has its own")
        new = new if isinstance(new, Selection) else jnp.asarray(casting.nested(_value(new)))
        while new.ndim > self.ndim and not (isinstance(new, Selection) and 0 in new.rows) and new.shape[0] == 1:
            new = new[0]
        here = jnp.ones((1,) * self.ndim, bool)
        for axis in range(self.ndim):
            place = axis - self.ndim + new.ndim
            if place >= 0:
                new = self._brought(new, axis, place)
                new = new if isinstance(new, Selection) else jnp.asarray(_value(new))
            if axis in self.rows:
                here = here & over(self._in_place(axis), axis, self.ndim)
        self.array.put(jnp.where(here, casting.to(new, self.dtype), jnp.asarray(self.array.value)))

    def _in_place(self, axis: int) -> jax.Array:
        """Of each row of the array: is it one of these?"""
        rows, places = self.rows[axis], jnp.arange(self.capacity(axis))
        if isinstance(rows, Mask) or rows.starts_first:
            return self.mask(axis)
        return (places >= rows.start) & (places < rows.start + rows.count)

    def _brought(self, new: Any, axis: int, place: int) -> Any:
        """What is written, with each row along an axis where it belongs."""
        given = isinstance(new, Selection) and place in new.rows
        if axis not in self.rows:
            return new.exactly(self.capacity(axis), place, or_one=True) if given else new
        rows, capacity = self.rows[axis], self.capacity(axis)
        size = new.array.shape[place] if isinstance(new, Selection) else new.shape[place]
        if not given and size == 1:
            return new
        is_same = given and rows.is_same(new.rows[place]) and size == capacity
        if not is_same:
            count = new.count(place) if given else size
            hooks.raise_where((self.count(axis) != count) & (count != 1), ValueError("could not broadcast input array"))
        moved = new.compact((place,)) if given and not is_same else new
        value = padded(moved.values if isinstance(moved, Selection) else moved, place, capacity)
        if isinstance(rows, Mask) and not is_same:
            value = taken(value, jnp.cumsum(rows.mask) - 1, place)
        elif isinstance(rows, Window) and not rows.starts_first:
            value = taken(value, jnp.arange(capacity) - rows.start, place)
        if not isinstance(new, Selection):
            return value
        return new.with_rows(value, place, None) if given else new.like(value)

    def __contains__(self, element: Any) -> Any:
        return (self == element).any()

    def __len__(self) -> int:
        if 0 not in self.rows:
            return self.array.shape[0]
        raise refusal("its length is asked for")

    def tolist(self) -> Any:
        if self.ndim != 1:
            raise refusal("its rows become lists")
        return hooks.as_list(self)

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise refusal("it is handed to a function that takes arrays alone")

    def __iter__(self) -> Any:
        if 0 not in self.rows:
            return (self[place] for place in range(self.array.shape[0]))
        raise refusal("Python takes its elements one by one")

    def __bool__(self) -> bool:
        raise refusal("its truth is asked for")

    @property
    def as_condition(self) -> jax.Array:
        """What decides in `if x[mask]:`, the one element that there has to be."""
        hooks.raise_where(self.size != 1, ValueError("The truth value of an array that has not one element is ambiguous."))
        return self._only_element()

    # ------------------------------------------------------------------ methods

    def copy(self, order: str = "C") -> Selection:
        return self.like(self.values)

    def astype(self, dtype: Any, **_: Any) -> Selection:
        return self.like(casting.to(self.values, casting.canonical(dtype)))

    def fill(self, new: Any) -> None:
        self.put(new)

    def sort(self, axis: int = -1, **options: Any) -> None:
        self.put(np.sort(self, axis=axis, **options))

    def clip(self, min: Any = None, max: Any = None, **options: Any) -> Any:
        return np.clip(self, min, max, **options)

    def flatten(self, order: str = "C") -> Any:
        from . import reshaping

        return reshaping.flattened(self, order)

    def reshape(self, *shape: Any, order: str = "C") -> Any:
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, order=order)  # type: ignore[call-overload]

    def transpose(self, *axes: Any) -> Any:
        return np.transpose(self, (axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes) or None)

    def item(self, *place: Any) -> Any:
        """One element, as a scalar."""
        if place:
            return self[place]
        hooks.raise_where(self.size != 1, ValueError("can only convert an array of size 1 to a Python scalar"))
        return self._only_element()

    def _only_element(self) -> jax.Array:
        return jnp.take(self.compact().values, 0)

    @property
    def T(self) -> Any:
        return np.transpose(self)

    def __repr__(self) -> str:
        return f"Selection({self.values!r}, { {axis: self.mask(axis) for axis in self.rows} })"


def selected(value: Any, rows: Mapping[int, Rows]) -> Any:
    """Some rows of a value, of whose other rows nothing is known; an array or a scalar, where all count."""
    value = jnp.asarray(_value(value))
    if not rows:
        return _array(value) if value.ndim else value
    for axis, own in rows.items():
        if isinstance(own, Mask):
            value = spread(value, axis, own.mask)
    return Selection(_array(value), rows)


def _array(value: Any) -> Any:
    from .arrays import wrap  # whose `x[mask]` makes selections

    return wrap(value)


def _value(x: Any) -> Any:
    from .arrays import value_of

    return value_of(x)


def _method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **options: getattr(np, name)(self, *args, **options)


for _name in (
    "sum prod mean any all max min var std argmax argmin dot cumsum cumprod ravel squeeze conj conjugate nonzero argsort "
    "swapaxes diagonal trace take round repeat"
).split():
    setattr(Selection, _name, _method(_name))
for _name in ("flags", "itemsize", "device", "to_device", "__array_namespace__"):
    setattr(Selection, _name, property(lambda self, name=_name: getattr(self.array, name)))
for _name in ("real", "imag"):
    setattr(Selection, _name, property(_method(_name)))


def _flat(selection: Selection) -> tuple[Any, Any]:
    parts, kinds = [], []
    for axis, rows in selection.rows.items():
        parts += [rows.mask] if isinstance(rows, Mask) else [rows.count, rows.start]
        kinds.append((axis, type(rows)))
    return (selection.array, *parts), tuple(kinds)


def _made(kinds: Any, parts: Any) -> Selection:
    array, *rest = parts
    remaining = iter(rest)
    rows: dict[int, Rows] = {}
    for axis, kind in kinds:
        first = next(remaining)
        rows[axis] = Mask(first, (first,)) if kind is Mask else Window(next(remaining), first)
    return Selection(array, rows)


jax.tree_util.register_pytree_node(Selection, _flat, _made)
