"""What `x.sum()`, `x + 1`, `x.shape` and the like do: NumPy's functions of the same name, which know where JAX is needed."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from . import hooks

if TYPE_CHECKING:
    from .arrays import MutableArray

# Methods that do the same as NumPy's function of the same name.
_AS_FUNCTIONS = (
    "all any argmax argmin argpartition argsort choose cumprod cumsum diagonal dot max mean min "
    "nonzero prod put repeat round searchsorted squeeze std sum swapaxes take trace var"
).split()
_FACTS = "shape ndim size dtype itemsize nbytes strides flags".split()  # known from the layout alone


class Methods(NDArrayOperatorsMixin):
    """The methods of NumPy's arrays that need no more than the array's value and its layout."""

    __slots__ = ()

    if TYPE_CHECKING:
        value: Any
        shadow: np.ndarray
        shape: tuple[int, ...]
        ndim: int
        size: int
        dtype: np.dtype
        flags: Any

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        from . import ufuncs  # it makes arrays, and arrays have these methods

        return ufuncs.call(ufunc, method, tuple(map(hooks.number, inputs)), options)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        from . import functions

        return functions.call(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """What is known as a NumPy array; JAX's own error for what is traced."""
        if copy is False:
            raise ValueError("a MutableArray is not a NumPy array: it has to be copied")
        return np.array(self.value, dtype=dtype)

    def __pow__(self, other: Any) -> Any:
        if type(other) in (int, float):  # `flags**2` has a dtype of its own in NumPy, which squares
            return np.power(self, other).astype((np.ones(1, self.dtype) ** other).dtype, copy=False)
        return super().__pow__(other)

    def astype(
        self, dtype: Any, order: Any = "K", casting: Any = "unsafe", subok: bool = True, copy: bool = True
    ) -> MutableArray:
        from . import casting as casts
        from .arrays import wrap

        if not np.can_cast(self.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {np.dtype(dtype)!r} according to the rule '{casting}'"
            )
        kept = self.dtype == casts.canonical(dtype) and not copy
        if kept:
            return self  # type: ignore[return-value]
        return wrap(casts.to(self.value, casts.canonical(dtype)), np.empty_like(self.shadow, order=order))

    def copy(self, order: Any = "C") -> MutableArray:
        from .arrays import wrap

        return wrap(self.value, np.empty_like(self.shadow, order=order))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> MutableArray:
        return self.copy("K")

    def flatten(self, order: Any = "C") -> Any:
        return self.copy("K").ravel(order).copy()

    def conj(self) -> Any:
        """The array itself, where its numbers are real."""
        return np.conj(self) if self.dtype.kind == "c" else self

    conjugate = conj

    def fill(self, new: Any) -> None:
        self[...] = new  # type: ignore[index]

    def sort(self, axis: int = -1, *rest: Any, **options: Any) -> None:
        self[...] = np.sort(self, axis, *rest, **options)  # type: ignore[index, call-overload]

    def partition(self, kth: Any, axis: int = -1, *rest: Any, **options: Any) -> None:
        self[...] = np.partition(self, kth, axis, *rest, **options)  # type: ignore[index, call-overload]

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **options: Any) -> Any:
        return np.clip(self, hooks.number(min), hooks.number(max), out=out, **options)

    def compress(self, condition: Any, axis: Any = None, out: Any = None) -> Any:
        """The function takes the condition first."""
        return np.compress(condition, self, axis=hooks.number(axis), out=out)

    def item(self, *place: Any) -> Any:
        """One element: a Python number, or while it is traced JAX's scalar."""
        if len(place) == 1 and isinstance(place[0], tuple):
            (place,) = place
        if not place:
            self.shadow.reshape(-1)[:].reshape(())  # NumPy's error for more than one element
            return _number(self.flat[0])
        return _number(self.flat[place[0]] if len(place) == 1 else self[place])  # type: ignore[index]

    def tolist(self) -> Any:
        if not self.ndim:
            return _number(self[()])  # type: ignore[index]
        return [part.tolist() if isinstance(part, Methods) else _number(part) for part in self]  # type: ignore[attr-defined]

    @property
    def flat(self) -> Flat:
        return Flat(self)  # type: ignore[arg-type]

    @flat.setter
    def flat(self, new: Any) -> None:
        Flat(self)[:] = new  # type: ignore[arg-type]

    def view(self, dtype: Any = None) -> Any:
        from . import array_classes

        if array_classes.is_for(dtype):
            return array_classes.made(dtype, self[...], self)  # type: ignore[index, arg-type]
        if dtype in (None, np.ndarray) or np.dtype(dtype) == self.dtype:
            return self[...]  # type: ignore[index]
        from .functions import refuse

        raise refuse("the bytes of an array read as another dtype", "`x.astype(dtype)` converts the numbers")

    def setflags(self, write: Any = None, align: Any = None, uic: Any = None) -> None:
        if write is not None:
            self.shadow.setflags(write=write)

    device = "cpu"  # of the array API: of NumPy's arrays, wherever JAX has them

    def to_device(self, device: Any, /, *, stream: Any = None) -> Any:
        return self

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        from .creating import asarray

        return asarray(array)

    def __array_namespace__(self, /, *, api_version: Any = None) -> Any:
        return np

    def __contains__(self, element: Any) -> Any:
        return (self == element).any()

    def __bool__(self) -> bool:
        return self._as_number(bool)

    def __int__(self) -> int:
        return self._as_number(int)

    def __float__(self) -> float:
        return self._as_number(float)

    def __complex__(self) -> complex:
        return self._as_number(complex)

    def __index__(self) -> int:
        return self._as_number(operator.index)

    def _as_number(self, number: Callable[[Any], Any]) -> Any:
        number(np.ones(self.shape, self.dtype) if self.size == 1 else self.shadow)  # NumPy's error for what is no number
        return number(self.value if self.ndim == 0 else self.value.reshape(()))

    def __repr__(self) -> str:
        return f"MutableArray({self.value!r})"


def _number(x: Any) -> Any:
    if isinstance(x, np.generic):
        return x.item()
    return hooks.python_number(x) if isinstance(x, jax.Array) else x


class Flat:
    """`x.flat`: the elements in the order of rows, whatever the layout. A write goes through to the array."""

    __slots__ = ("base",)

    def __init__(self, base: MutableArray) -> None:
        self.base = base

    def _flat(self) -> Any:
        from .arrays import wrap

        return wrap(self.base.value.reshape(-1))

    def __getitem__(self, key: Any) -> Any:
        part = self._flat()[key]
        return part.copy() if isinstance(part, Methods) else part

    def __setitem__(self, key: Any, new: Any) -> None:
        flat = self._flat()
        # NumPy repeats or cuts what is written to the length of the place, here as in np.put
        length = np.size(flat.shadow[key]) if isinstance(key, (int, slice)) else None
        flat[key] = new if length is None or np.ndim(new) == 0 else np.resize(new, length)
        self.base.put(flat.value.reshape(self.base.shape))

    def __iter__(self) -> Iterator[Any]:
        return iter(self._flat())

    def __len__(self) -> int:
        return self.base.size


def _method(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **options: Any) -> Any:
        return getattr(np, name)(self, *map(hooks.number, args), **options)

    method.__name__ = name
    return method


def _fact(name: str) -> property:
    return property(lambda self: getattr(self.shadow, name))


for _name in _AS_FUNCTIONS:
    setattr(Methods, _name, _method(_name))
for _name in _FACTS:
    setattr(Methods, _name, _fact(_name))


def _comes_first(other: Any) -> bool:
    """Does NumPy leave an operator to the other operand, a sparse matrix in `x @ A` say? It has no ufuncs, and a priority."""
    if isinstance(other, np.ndarray | np.generic | jax.Array | int | float | complex | list | tuple):
        return False
    kind = type(other)
    return not hasattr(kind, "__array_ufunc__") and getattr(kind, "__array_priority__", 0.0) > 0


def _left_to_others(name: str) -> Callable[[Any, Any], Any]:
    own = getattr(Methods, name)

    @functools.wraps(own)
    def operation(self: Any, other: Any) -> Any:
        return NotImplemented if _comes_first(other) else own(self, other)

    return operation


for _name in "add sub mul matmul truediv floordiv mod pow lt le gt ge eq ne".split():
    setattr(Methods, f"__{_name}__", _left_to_others(f"__{_name}__"))
