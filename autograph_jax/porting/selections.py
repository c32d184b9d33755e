"""`x[mask]` and `x[:k]` where the mask or the bound is traced: how many elements there are is not known, and seldom matters.

    p[m] -= f[m] / g[m]          (x[m] > 0).all()          y[:k] = u[:k, j] * 2          np.dot(a[:k], b[:k])

A `Selection` keeps all elements that there may be along one axis, and which of them count. What is computed element by element
is computed for all, reductions and products leave out what does not count, and a write puts the elements back where they
belong. Elements that do not count are replaced by one that does, so that what is computed of them raises no alarm, in
derivatives neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import casting, hooks
from .rows import Mask, Window, bounded, greatest, least, others, padded, refusal

if TYPE_CHECKING:
    from .arrays import MutableArray


class Selection(NDArrayOperatorsMixin):
    """Some elements of an array along one axis, in order."""

    __slots__ = ("array", "axis", "rows", "__weakref__")
    __array_priority__ = 1001.0
    __hash__ = None

    def __init__(self, array: MutableArray, axis: int, rows: Mask | Window) -> None:
        self.array, self.axis, self.rows = array, axis, rows

    # ------------------------------------------------------------------ what is known of it

    dtype = property(lambda self: self.array.dtype)
    ndim = property(lambda self: self.array.ndim)
    capacity = property(lambda self: self.array.shape[self.axis])
    count = property(lambda self: bounded(self.rows.count, self.capacity), doc="How many there are along the axis, traced.")
    mask = property(lambda self: self.rows.of(self.capacity), doc="Of each row of `values`: does it count?")

    @property
    def shape(self) -> tuple[Any, ...]:
        """As NumPy's, with a traced number among them."""
        return (*self.array.shape[: self.axis], self.count, *self.array.shape[self.axis + 1 :])

    @property
    def size(self) -> jax.Array:
        sizes = [size for axis, size in enumerate(self.array.shape) if axis != self.axis]
        return self.count * int(np.prod(sizes, dtype=int))

    @property
    def values(self) -> jax.Array:
        """All rows, those that count as they are, in place of each other one of these."""
        value = jnp.asarray(self.array.value)
        if isinstance(self.rows, Mask) or not self.capacity:
            return value
        if not _is_zero(self.rows.start):
            value = self._taken(value, jnp.arange(self.capacity) + self.rows.start)
        return jnp.where(self.over(), value, jax.lax.slice_in_dim(value, 0, 1, axis=self.axis))

    def over(self, mask: jax.Array | None = None) -> jax.Array:
        """The mask, for all axes."""
        return jnp.expand_dims(self.mask if mask is None else mask, others(self.ndim, self.axis))

    def filled(self, neutral: Any) -> jax.Array:
        """All rows, with something else in place of those that do not count."""
        return jnp.where(self.over(), self.values, jnp.asarray(neutral, self.dtype))

    def _taken(self, value: jax.Array, places: jax.Array) -> jax.Array:
        return jnp.take(value, jnp.clip(places, 0, self.capacity - 1), axis=self.axis)

    def like(self, value: Any, axis: int | None = None, rows: Any = None) -> Selection:
        """The same rows of something computed."""
        rows = self.rows.own() if rows is None else rows
        return Selection(_array(jnp.asarray(_value(value))), self.axis if axis is None else axis, rows)

    def compact(self) -> Selection:
        """The same elements, with those that count first."""
        if isinstance(self.rows, Window):
            return self.like(self.values)
        order = jnp.argsort(jnp.logical_not(self.mask), stable=True)
        return self.like(self._taken(self.values, order), rows=Window(0, self.count))

    def exactly(self, number: int) -> MutableArray:
        """An array, where NumPy has one of that many rows beside it, and raises if there are not so many."""
        hooks.raise_where(self.count != number, ValueError(f"operands could not be broadcast together: {number} elements"))
        return _array(self._taken(self.compact().values, jnp.arange(number)))

    # ------------------------------------------------------------------ computing

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from . import selecting_functions as functions

        (out,) = options.pop("out", (None,)) or (None,)
        inputs = tuple(map(hooks.number, inputs))
        if method == "reduce" and ufunc in _NAMES:
            return self.reduced(_NAMES[ufunc], **options)
        if ufunc.signature or method == "outer":
            return functions.of_products(ufunc if method == "__call__" else ufunc.outer, inputs, options)
        if method != "__call__":
            raise refusal(f"`{ufunc.__name__}.{method}` is called with it")
        if isinstance(options.get("where"), Selection):
            where = options.pop("where")
            found = by_element(lambda *arrays: ufunc(*arrays[:-1], where=arrays[-1], **options), (*inputs, where))
        else:
            found = by_element(lambda *arrays: ufunc(*arrays, **options), inputs)
        if out is None:
            return found
        out[...] = found
        return out

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        from . import functions

        return functions.call(function, args, kwargs)

    def reduced(
        self, name: str, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False, **options: Any
    ) -> Any:
        """`np.sum(s, axis)` and the like."""
        axes = tuple(range(self.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        axes = tuple(int(one) % self.ndim for one in axes)
        options = {key: value for key, value in options.items() if value is not np._NoValue}
        options |= {"keepdims": keepdims is True}
        values = self.values
        if name in ("sum", "prod"):
            into = getattr(np, name)(np.ones(1, self.dtype), dtype=dtype).dtype
            values = values.astype(casting.canonical(into))
        if self.axis not in axes:
            found = getattr(jnp, name)(values, axis=axes, **options)
            return self.like(found, self.axis - (0 if keepdims is True else sum(one < self.axis for one in axes)))
        if name in ("max", "min"):
            if "initial" not in options:
                hooks.raise_where(self.count == 0, ValueError("zero-size array to reduction operation"))
            options.setdefault("initial", least(self.dtype) if name == "max" else greatest(self.dtype))
        found = getattr(jnp, name)(values, axis=axes, where=self.over(), **options)
        return _array(found) if found.ndim else found

    # ------------------------------------------------------------------ parts

    def __getitem__(self, key: Any) -> Any:
        from . import selecting

        return selecting.read(self, key)

    def __setitem__(self, key: Any, new: Any) -> None:
        from . import selecting

        selecting.write(self, key, new)

    def put(self, new: Any) -> None:
        """Overwrites all elements that count, where they are."""
        start, mask, value = self.rows.start, self.mask, jnp.asarray(self.array.value)
        if isinstance(new, Selection) and new.ndim - new.axis == self.ndim - self.axis:
            new = self._brought(new)
        else:
            new = jnp.asarray(casting.nested(_value(new)))
            right = self.ndim - self.axis
            if new.ndim >= right and new.shape[-right] != 1:
                hooks.raise_where(self.count != new.shape[-right], ValueError("could not broadcast input array"))
                new = padded(new, new.ndim - right, self.capacity)
            new = self._in_place(new, new.ndim - right) if new.ndim >= right else new
        if not _is_zero(start):
            places = jnp.arange(self.capacity)
            mask = (places >= start) & (places < start + self.count)
            new = self._taken(new, places - start) if new.ndim == self.ndim and new.shape[self.axis] != 1 else new
        self.array.put(jnp.where(self.over(mask), casting.to(new, self.dtype), value))

    def _in_place(self, new: jax.Array, axis: int) -> jax.Array:
        """Rows one after the other, each where it belongs."""
        if isinstance(self.rows, Window) or new.shape[axis] == 1:
            return new
        return jnp.take(new, jnp.clip(jnp.cumsum(self.mask) - 1, 0, new.shape[axis] - 1), axis=axis)

    def _brought(self, new: Selection) -> jax.Array:
        """Another selection's elements, where these rows are."""
        if self.rows.is_same(new.rows) and new.capacity == self.capacity:
            return new.values
        hooks.raise_where(self.count != new.count, ValueError("could not broadcast input array"))
        return self._in_place(padded(new.compact().values, new.axis, self.capacity), new.axis)

    def __len__(self) -> int:
        raise refusal("its length is asked for")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise refusal("it is handed to a function that takes arrays alone")

    def __iter__(self) -> Any:
        if self.axis:
            return (self[place] for place in range(self.array.shape[0]))
        raise refusal("Python takes its elements one by one")

    def __bool__(self) -> bool:
        raise refusal("its truth is asked for")

    # ------------------------------------------------------------------ methods

    def copy(self, order: str = "C") -> Selection:
        return self.like(self.values)

    def astype(self, dtype: Any, **_: Any) -> Selection:
        return self.like(casting.to(self.values, casting.canonical(dtype)))

    def fill(self, new: Any) -> None:
        self.put(new)

    def sort(self, axis: int = -1, **options: Any) -> None:
        self.put(np.sort(self, axis=axis, **options))

    def item(self, *place: Any) -> Any:
        """One element, as a scalar."""
        return self[place if place else (0,)] if place or self.ndim > 1 else self.exactly(1)[0]

    @property
    def T(self) -> Any:
        return np.transpose(self)

    def __repr__(self) -> str:
        return f"Selection({self.values!r}, {self.mask!r})"


def together(selections: Sequence[Selection]) -> tuple[Mask | Window, list[jax.Array]]:
    """The rows of several selections, one beside the other; NumPy raises where they are not as many."""
    first, *others = selections
    if not all(first.rows.is_same(other.rows) for other in others):
        first, *others = (selection.compact() for selection in selections)
        for other in others:
            hooks.raise_where(first.count != other.count, ValueError("operands could not be broadcast together"))
    least = min(first.capacity, *(other.capacity for other in others)) if others else first.capacity
    values = [jax.lax.slice_in_dim(s.values, 0, least, axis=s.axis) for s in (first, *others)]
    return first.rows.own(), values


def by_element(function: Callable[..., Any], inputs: Sequence[Any]) -> Any:
    """What a function computes element by element of selections and other arrays."""
    selections = [x for x in inputs if isinstance(x, Selection)]
    right = selections[0].ndim - selections[0].axis
    if any(selection.ndim - selection.axis != right for selection in selections):
        raise refusal("it is combined with elements along another axis")
    beside = [np.shape(_value(x)) for x in inputs if not isinstance(x, Selection)]
    known = next((shape[-right] for shape in beside if len(shape) >= right and shape[-right] != 1), None)
    if known is not None:
        return function(*(x.exactly(known) if isinstance(x, Selection) else x for x in inputs))
    rows, values = together(selections)
    remaining = iter(values)
    found = function(*(_array(next(remaining)) if isinstance(x, Selection) else x for x in inputs))
    parts = [Selection(_whole(part), np.ndim(part) - right, rows) for part in (found if isinstance(found, tuple) else (found,))]
    return tuple(parts) if isinstance(found, tuple) else parts[0]


_NAMES = {
    np.add: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min", np.logical_and: "all", np.logical_or: "any",
}  # fmt: skip


def _is_zero(start: Any) -> bool:
    return isinstance(start, int) and start == 0


def _array(value: Any) -> Any:
    from .arrays import wrap  # whose `x[mask]` makes selections

    return wrap(value)


def _whole(x: Any) -> Any:
    return _array(jnp.asarray(_value(x)))


def _value(x: Any) -> Any:
    from .arrays import value_of

    return value_of(x)


def _method(name: str) -> Callable[..., Any]:
    return lambda self, *args, **options: getattr(np, name)(self, *args, **options)


for _name in (
    "sum prod mean any all max min var std argmax argmin dot cumsum cumprod ravel reshape squeeze clip conj nonzero argsort"
).split():
    setattr(Selection, _name, _method(_name))
for _name in ("flags", "itemsize", "device", "to_device", "__array_namespace__"):
    setattr(Selection, _name, property(lambda self, name=_name: getattr(self.array, name)))
for _name in ("real", "imag"):
    setattr(Selection, _name, property(_method(_name)))


def _flat(selection: Selection) -> tuple[Any, Any]:
    rows = selection.rows
    if isinstance(rows, Mask):
        return (selection.array, rows.mask), (selection.axis,)
    return (selection.array, rows.count, rows.start), (selection.axis,)


def _made(axis: tuple[int], parts: Any) -> Selection:
    array, *rows = parts
    return Selection(array, axis[0], Mask(rows[0], (rows[0],)) if len(rows) == 1 else Window(rows[1], rows[0]))


jax.tree_util.register_pytree_node(Selection, _flat, _made)
