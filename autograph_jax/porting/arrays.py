"""An array that converted NumPy code may write into: `x[0] = v`, `x += v`, `row = x[1]; row[:] = 0`.

A `MutableArray` is a buffer and the path of views that leads from it. The buffer holds the current value, a JAX array (or a
NumPy array, until something traced is written): a write makes a new value and puts it into the buffer, where every other view
finds it. Beside it stands a shadow, an `np.empty` of the same layout that nobody reads or writes, so that it costs no memory:
shape, dtype, strides and flags are the shadow's, and whether NumPy gives a view or a copy is seen by doing the same to it.

Results without dimensions are scalars, as in NumPy: immutable, and JAX's own once they are traced.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..errors import PortingError, user_location
from . import casting, chosen_keys, hooks, selecting
from .methods import Methods
from .refusals import not_made_by_ported_code
from .selections import Selection
from .views import Index, Part, Reshape, Step, Transpose, Value, read, step_for, written

_serials = itertools.count()


class Buffer:
    """What all views of one array share. `value` is written by `put` alone, `serial` tells which of two buffers is older."""

    __slots__ = ("serial", "value", "__weakref__")
    made = False  # has there been any?

    def __init__(self, value: Value) -> None:
        self.value, self.serial = value, next(_serials)
        Buffer.made = True

    def put(self, value: Value) -> None:
        self.value = hooks.before_write(self, value)

    def memory(self) -> Iterator[Buffer]:
        yield self


class Found(Buffer):
    """An array of NumPy's own that ported code has come across: others may hold it, and would not see what is written."""

    __slots__ = ()

    def put(self, value: Value) -> None:
        raise not_made_by_ported_code()


class Picked:
    """What stands for the memory of one of several arrays, of which traced data picks one: `tables[k]`.

    It has none of its own. What is read is what the one picked holds now; a write changes that one, and leaves the others.
    """

    __slots__ = ("arrays", "index", "__weakref__")

    def __init__(self, arrays: Sequence[MutableArray], index: jax.Array) -> None:
        self.arrays, self.index = tuple(arrays), index

    @property
    def serial(self) -> int:
        """As young as the youngest of the arrays."""
        return max(array._buffer.serial for array in self.arrays)

    @property
    def value(self) -> Value:
        return jnp.stack([jnp.asarray(array.value) for array in self.arrays])[self.index]

    def put(self, value: Value) -> None:
        for position, array in enumerate(self.arrays):
            array.overwrite(jnp.where(self.index == position, value, array.value))

    def memory(self) -> Iterator[Buffer]:
        for array in self.arrays:
            yield from array.memory()


def picked(arrays: Sequence[MutableArray], index: jax.Array) -> MutableArray | None:
    """`arrays[index]` of arrays of one layout, for a traced index within bounds; else None."""
    layouts = {(one.shape, one.dtype, one.shadow.strides, one.shadow.flags.writeable) for one in arrays}
    return MutableArray(Picked(arrays, index), (), arrays[0].shadow) if len(layouts) == 1 else None


def is_view(x: Any) -> bool:
    """Is it an array that shows the memory of another one, or of one of several?"""
    return isinstance(x, MutableArray) and (x.base is not None or isinstance(x._buffer, Picked))


def serial() -> int:
    """Buffers made from now on have a greater one."""
    return next(_serials)


def arrays_made() -> bool:
    """Has there been any array of ported code in this process?"""
    return Buffer.made


class MutableArray(Methods):
    """NumPy's `ndarray` around JAX values: made by `wrap`, read by `value_of`."""

    __slots__ = ("_buffer", "_path", "_shadow", "base", "__weakref__")
    __array_priority__ = 1000.0
    __hash__ = None

    def __init__(
        self, buffer: Buffer | Picked, path: tuple[Step, ...], shadow: np.ndarray, base: MutableArray | None = None
    ) -> None:
        self._buffer, self._path, self._shadow, self.base = buffer, path, shadow, base

    @property
    def value(self) -> Value:
        """What the array holds now."""
        return read(self._buffer.value, self._path)

    @property
    def shadow(self) -> np.ndarray:
        return self._shadow

    def memory(self) -> Iterator[Buffer]:
        """The buffers that a write may change: one, or those of the arrays of which traced data has picked this."""
        return self._buffer.memory()

    def put(self, new: Any, casting_rule: str = "unsafe") -> None:
        """Overwrites all elements, as `x[...] = new` does."""
        if not self._shadow.flags.writeable:
            raise ValueError("assignment destination is read-only")
        casting.check(new, self._shadow.dtype, casting_rule)
        self.overwrite(casting.fitted(casting.to(new, self._shadow.dtype), self._shadow.shape))

    def overwrite(self, new: Value) -> None:
        """`put` of a value that has the array's shape and dtype."""
        self._buffer.put(written(self._buffer.value, self._path, new))

    # ------------------------------------------------------------------ views

    def view_by(self, step: Step, shadow: np.ndarray) -> MutableArray:
        return MutableArray(self._buffer, (*self._path, step), shadow, self if self.base is None else self.base)

    def moved(self, function: Callable[[np.ndarray], Any]) -> Any:
        """What a function gives that only moves elements: views where NumPy gives views, copies where it copies."""
        shadows = function(self._shadow)
        places = function(np.arange(self._shadow.size).reshape(self._shadow.shape))
        if isinstance(shadows, np.ndarray):
            return self._moved_one(shadows, places)
        return type(shadows)(self._moved_one(*pair) for pair in zip(shadows, places, strict=True))

    def _moved_one(self, shadow: np.ndarray, places: np.ndarray) -> Any:
        return self._stepped(step_for(places, self._shadow.shape), shadow)

    def _stepped(self, step: Step, shadow: np.ndarray) -> Any:
        """The view, where the shadow's is one; else a copy with the shadow's layout."""
        if np.may_share_memory(shadow, self._shadow):
            return self.view_by(step, shadow)
        return wrap(step.get(self.value), shadow)

    def reshape(self, *shape: Any, order: str = "C", copy: bool | None = None) -> MutableArray:
        sizes = shape[0] if len(shape) == 1 else shape
        if any(isinstance(value_of(size), Tracer) for size in (sizes if isinstance(sizes, tuple | list) else (sizes,))):
            return self._reshaped_by_data(sizes, order)
        shadow = np.reshape(self._shadow, static(sizes), order=order, copy=copy)  # type: ignore[arg-type]
        return self._stepped(Reshape(shadow.shape, self._order(order)), shadow)

    def _reshaped_by_data(self, shape: Any, order: str) -> Any:
        from . import reshaping  # of what is selected, which are arrays

        return reshaping.reshaped(self, shape, order)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._shadow.shape

    @shape.setter
    def shape(self, sizes: Any) -> None:
        """Another shape of the same elements; in a staged block only of an array that it has made."""
        shadow = np.reshape(self._shadow, static(sizes))
        if not np.may_share_memory(shadow, self._shadow) and self.size:
            raise AttributeError("incompatible shape for in-place modification. Use `.reshape()` to make a copy.")
        hooks.before_reshape(self._buffer)
        self._path, self._shadow = (*self._path, Reshape(shadow.shape, self._order("C"))), shadow

    def ravel(self, order: str = "C") -> MutableArray:
        shadow = self._shadow.ravel(order)  # type: ignore[arg-type]
        if order == "K" and not self._shadow.flags.forc:
            return self._stepped(step_for(self._places_in_memory(), self.shape), shadow)
        return self._stepped(Reshape(shadow.shape, self._order(order)), shadow)

    def _order(self, order: str) -> str:
        if order in ("A", "K"):
            return "F" if self._shadow.flags.f_contiguous and not self._shadow.flags.c_contiguous else "C"
        return order.upper()

    def _places_in_memory(self) -> np.ndarray:
        """The elements' places, in the order of the axes in memory; along each, also a reversed one, from its first element."""
        strides = [abs(stride) for stride in self._shadow.strides]
        inner_first: list[int] = []
        for axis in reversed(range(self.ndim)):  # those of no stride (`np.broadcast_to`) stay where they are
            place = len(inner_first)
            for before in reversed(range(len(inner_first))):
                own, other = strides[axis], strides[inner_first[before]]
                if own and other and other <= own:
                    break
                place = before if own and other else place
            inner_first.insert(place, axis)
        return np.arange(self.size).reshape(self.shape).transpose(inner_first[::-1]).ravel()

    def transpose(self, *axes: Any) -> MutableArray:
        shadow = self._shadow.transpose(*axes)
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int | np.integer) else axes
        order = tuple(reversed(range(self.ndim))) if order is None or not axes else order
        return self.view_by(Transpose(tuple(int(axis) % self.ndim for axis in order)), shadow)

    @property
    def T(self) -> MutableArray:
        return self.transpose()

    @property
    def mT(self) -> MutableArray:
        return self.moved(lambda array: array.mT)

    @property
    def real(self) -> Any:
        return self.view_by(Part("real"), np.real(self._shadow)) if self._shadow.dtype.kind == "c" else self

    @real.setter
    def real(self, new: Any) -> None:
        self.real.put(new)

    @property
    def imag(self) -> Any:
        if self._shadow.dtype.kind == "c":
            return self.view_by(Part("imag"), np.imag(self._shadow))
        zeros = np.imag(self._shadow)  # read-only, of the layout that NumPy gives it
        return MutableArray(Buffer(zeros), (), zeros)

    @imag.setter
    def imag(self, new: Any) -> None:
        if self._shadow.dtype.kind != "c":
            raise TypeError("array does not have imaginary part to set")
        self.imag.put(new)

    # ------------------------------------------------------------------ indexing

    def __getitem__(self, key: Any) -> Any:
        if chosen_keys.is_chosen(key):
            return chosen_keys.read(self, key)
        actual, layout = keys(key)
        if layout is MASKED:
            return selecting.of_array(self, actual)
        selecting.check_handled(self.shape, actual)
        shadow = self._shadow[layout]
        if not isinstance(shadow, np.ndarray):
            return scalar(Index(actual).get(self.value))
        return self._stepped(Index(actual), shadow)

    def __setitem__(self, key: Any, new: Any) -> None:
        if not self._shadow.flags.writeable:
            raise ValueError("assignment destination is read-only")
        if chosen_keys.is_chosen(key):
            chosen_keys.write(self, key, new)
            return
        actual, layout = keys(key)
        if layout is MASKED:
            selecting.put_into(self, actual, new)
            return
        selecting.check_handled(self.shape, actual)
        sizes = np.shape(self._shadow[layout])
        while isinstance(new, Selection):
            axis = next(iter(new.rows))
            new = new.exactly(sizes[axis - new.ndim] if len(sizes) >= new.ndim - axis else 1, axis, or_one=True)
        new = casting.to(new, self._shadow.dtype)
        value, key = self.value, actual[0] if len(actual) == 1 else None
        if np.ndim(new) > 1 and np.ndim(key) == self.ndim > 0 and key.dtype == bool:
            raise TypeError(f"NumPy boolean array indexing assignment requires a 0 or 1-dimensional input, not {np.ndim(new)}")
        self.overwrite(Index(actual).set(value, casting.fitted(new, sizes)))

    def __len__(self) -> int:
        return len(self._shadow)

    def __iter__(self) -> Iterator[Any]:
        if not self.ndim:
            raise TypeError("iteration over a 0-d array")
        return (self[index] for index in range(len(self)))


MASKED = object()  # the layout of what a traced mask selects


def keys(key: Any) -> tuple[tuple[Any, ...], Any]:
    """The key for values, and the key that has the same layout for a shadow."""
    parts = key if isinstance(key, tuple) else (key,)
    actual = tuple(_key_part(part) for part in parts)
    # NumPy gives a copy for `x[np.array(0)]`, and a view for `x[0]`
    layout = tuple(
        np.zeros((), np.intp)
        if isinstance(part, MutableArray) and not part.ndim and part.dtype.kind in "iu"
        else _key_layout(known)
        for part, known in zip(parts, actual, strict=True)
    )
    if any(part is MASKED for part in layout):
        return actual, MASKED
    return actual, layout


def _key_part(part: Any) -> Any:
    if isinstance(part, slice):
        return slice(*(_bound(bound) for bound in (part.start, part.stop, part.step)))
    part = value_of(part)
    if isinstance(part, jax.Array) and not isinstance(part, Tracer):
        part = np.asarray(part)[()] if part.ndim == 0 else np.asarray(part)
    if isinstance(part, np.bool_):  # which jax.numpy does not take
        return bool(part)
    if isinstance(part, range):
        return np.array(part, np.intp)
    if isinstance(part, list):
        part = casting.nested(part)
        return part.astype(np.intp) if not part.size else widened(part)
    return _whole(part) if isinstance(part, Tracer) and not part.ndim and part.dtype.kind == "f" else widened(part)


def _whole(place: jax.Array) -> jax.Array:
    """An index that another path has a NaN in place of, `return False, np.nan`: both paths have a float then."""
    kinds = "integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays"
    hooks.raise_where(jnp.floor(place) != place, IndexError(f"only {kinds} are valid indices"))
    return place.astype(casting.canonical(np.intp))


def widened(places: Any) -> Any:
    """Indices as NumPy takes them: JAX adds the length of an axis to a negative one, which an int8 may not hold."""
    is_small = isinstance(places, jax.Array) and places.dtype.kind in "iu" and places.dtype.itemsize < 4
    return places.astype(casting.canonical(np.intp)) if is_small else places


def _bound(bound: Any) -> Any:
    bound = value_of(bound)
    return bound if isinstance(bound, Tracer) or not isinstance(bound, jax.Array) else int(bound)


def _key_layout(part: Any) -> Any:
    if selecting.is_open(part):
        return MASKED
    if not isinstance(part, jax.Array):
        return part
    return np.zeros(part.shape, np.intp) if part.ndim else 0


def static(size: Any) -> Any:
    """A shape, an axis or a bound, which must be known."""
    if isinstance(size, (tuple, list)):
        return tuple(static(part) for part in size)
    size = value_of(size)
    if isinstance(size, Tracer):
        raise PortingError(
            "a shape, or the bound of a slice, depends on traced data",
            location=user_location(),
            help="make it a Python integer that is known while the function is traced",
        )
    return size


def value_of(x: Any) -> Any:
    """What a MutableArray holds now; anything else as it is."""
    return x.value if isinstance(x, MutableArray) else x


def scalar(value: Value) -> Any:
    return value[()] if isinstance(value, np.ndarray) else value


def wrap(value: Value, shadow: np.ndarray | None = None) -> MutableArray:
    """A new array that holds `value`, with the layout of `shadow`."""
    if shadow is None:
        shadow = np.empty_like(value) if isinstance(value, np.ndarray) else np.empty(value.shape, value.dtype)
    elif shadow.dtype != value.dtype or not shadow.flags.owndata or not shadow.flags.writeable:
        shadow = np.empty_like(shadow, dtype=value.dtype)
    return MutableArray(Buffer(value), (), shadow)


def found(value: Any) -> MutableArray:
    """What stands for an array of NumPy's own; it cannot be written."""
    return MutableArray(Found(value), (), np.empty_like(value))


def result(value: Any, shadow: np.ndarray | None = None) -> Any:
    """What an operation returns: an array of its own, or a scalar."""
    if not isinstance(value, (np.ndarray, jax.Array)):
        return value
    return wrap(value, shadow) if value.ndim else scalar(value)
