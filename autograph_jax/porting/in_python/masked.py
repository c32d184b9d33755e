"""Masked arrays whose data or mask are traced: what `numpy.ma` does with a subclass of its array, in Python of its functions.

An array keeps all its elements and tells by a second array which of them do not count. Both are arrays of ported code, so
that all of this is converted like the code of a library. What NumPy gives as `np.ma.masked`, the reduction of elements of
which none counts, is an error of the run here, where one number is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from ...errors import PortingError, user_location

Function = Callable[..., Any]


def _unary(function: Function) -> Function:
    return lambda self: _of_one(function, self)


def _binary(function: Function) -> Function:
    return lambda self, other: _of_two(function, self, other)


def _reflected(function: Function) -> Function:
    return lambda self, other: _of_two(function, other, self)


@jax.tree_util.register_pytree_node_class
class MaskedArray:
    """Data, and a mask of the same shape, or `np.ma.nomask`."""

    __array_ufunc__ = None  # arrays leave their operators to this
    __hash__: Any = None

    def __init__(self, data: Any, mask: Any = np.ma.nomask) -> None:
        self.data, self._mask = data, mask

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.data, dtype)

    def tree_flatten(self) -> tuple[tuple[Any, Any], None]:
        return (self.data, self._mask), None

    @classmethod
    def tree_unflatten(cls, _: None, parts: tuple[Any, Any]) -> MaskedArray:
        return cls(*parts)

    # ------------------------------------------------------------------ what is known of it

    @property
    def mask(self) -> Any:
        return self._mask

    @mask.setter
    def mask(self, value: Any) -> None:
        self._mask = np.zeros(np.shape(self.data), bool) | np.asarray(value, bool)

    @property
    def shape(self) -> Any:
        return np.shape(self.data)

    @property
    def ndim(self) -> Any:
        return np.ndim(self.data)

    @property
    def size(self) -> Any:
        return np.size(self.data)

    @property
    def dtype(self) -> Any:
        return self.data.dtype

    @property
    def T(self) -> Any:  # noqa: N802 - as NumPy's
        return self.transpose()

    def __len__(self) -> int:
        return len(self.data)

    # ------------------------------------------------------------------ elements

    def __getitem__(self, key: Any) -> Any:
        found = self.data[key]
        return MaskedArray(found, self._mask if self._mask is np.ma.nomask else self._mask[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        if value is np.ma.masked:
            self.mask = getmaskarray(self)
            self._mask[key] = True
            return
        self.data[key] = getdata(value)
        if self._mask is not np.ma.nomask or getmask(value) is not np.ma.nomask:
            self._mask = getmaskarray(self)
            self._mask[key] = getmask(value)

    def filled(self, fill_value: Any = None) -> Any:
        if self._mask is np.ma.nomask:
            return self.data
        value = np.ma.default_fill_value(self.data.dtype) if fill_value is None else fill_value
        return np.where(self._mask, np.asarray(value, self.data.dtype), self.data)

    def compressed(self) -> Any:
        return np.ravel(self.data)[~np.ravel(getmaskarray(self))]

    def nonzero(self) -> Any:
        return np.nonzero(self.filled(0))

    def count(self, axis: Any = None, keepdims: Any = False) -> Any:
        return np.sum(~getmaskarray(self), axis=axis, keepdims=keepdims)

    def _each(self, change: Function) -> MaskedArray:
        """The same elements in other places."""
        return MaskedArray(change(self.data), self._mask if self._mask is np.ma.nomask else change(self._mask))

    def copy(self) -> MaskedArray:
        return self._each(lambda part: part.copy())

    def astype(self, dtype: Any) -> MaskedArray:
        return MaskedArray(self.data.astype(dtype), self._mask)

    def ravel(self) -> MaskedArray:
        return self._each(np.ravel)

    def flatten(self) -> MaskedArray:
        return self._each(lambda part: part.flatten())

    def reshape(self, *shape: Any) -> MaskedArray:
        return self._each(lambda part: part.reshape(*shape))

    def transpose(self, *axes: Any) -> MaskedArray:
        return self._each(lambda part: part.transpose(*axes))

    def squeeze(self) -> MaskedArray:
        return self._each(np.squeeze)

    # ------------------------------------------------------------------ reductions

    def _reduced(self, function: Function, neutral: Any, axis: Any, **options: Any) -> Any:
        """A function of all that counts: the neutral number stands where something does not."""
        return self._counting(function(self.filled(neutral), axis=axis, **options), axis, **options)

    def _counting(self, found: Any, axis: Any, keepdims: Any = False, **_: Any) -> Any:
        """What was found of elements of which some may not count."""
        if self._mask is np.ma.nomask:
            return found
        nothing = np.all(self._mask, axis=axis, keepdims=keepdims)
        if np.ndim(found):
            return MaskedArray(found, nothing)
        if nothing:
            raise ValueError("no element of a masked array counts: NumPy gives `masked`")
        return found

    def sum(self, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
        return self._reduced(np.sum, 0, axis, dtype=dtype, keepdims=keepdims)

    def prod(self, axis: Any = None, dtype: Any = None, keepdims: Any = False) -> Any:
        return self._reduced(np.prod, 1, axis, dtype=dtype, keepdims=keepdims)

    def min(self, axis: Any = None, keepdims: Any = False) -> Any:
        return self._reduced(np.min, np.ma.minimum_fill_value(self.data.dtype), axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: Any = False) -> Any:
        return self._reduced(np.max, np.ma.maximum_fill_value(self.data.dtype), axis, keepdims=keepdims)

    def any(self, axis: Any = None, keepdims: Any = False) -> Any:
        return self._reduced(np.any, False, axis, keepdims=keepdims)

    def all(self, axis: Any = None, keepdims: Any = False) -> Any:
        return self._reduced(np.all, True, axis, keepdims=keepdims)

    def mean(self, axis: Any = None, keepdims: Any = False) -> Any:
        count = np.maximum(self.count(axis, keepdims), 1)
        return self._counting(np.sum(self.filled(0), axis=axis, keepdims=keepdims) / count, axis, keepdims)

    def var(self, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        count = np.sum(~getmaskarray(self), axis=axis, keepdims=True)
        mean = np.sum(self.filled(0), axis=axis, keepdims=True) / np.maximum(count, 1)
        squares = np.abs(np.where(getmaskarray(self), mean, self.data) - mean) ** 2
        free = count - ddof
        found = np.sum(squares, axis=axis, keepdims=True) / np.where(free > 0, free, 1)
        few = free <= 0
        if not keepdims:
            found, few = np.squeeze(found, axis), np.squeeze(few, axis)
        if np.ndim(found):
            return MaskedArray(found, few)
        if few:
            raise ValueError("too few elements of a masked array count: NumPy gives `masked`")
        return found

    def std(self, axis: Any = None, ddof: Any = 0, keepdims: Any = False) -> Any:
        found = self.var(axis, ddof, keepdims)
        return MaskedArray(np.sqrt(found.data), found.mask) if isinstance(found, MaskedArray) else np.sqrt(found)

    def argmin(self, axis: Any = None) -> Any:
        return np.argmin(self.filled(np.ma.minimum_fill_value(self.data.dtype)), axis=axis)

    def argmax(self, axis: Any = None) -> Any:
        return np.argmax(self.filled(np.ma.maximum_fill_value(self.data.dtype)), axis=axis)

    # ------------------------------------------------------------------ operators

    __neg__, __abs__, __invert__ = _unary(np.negative), _unary(np.abs), _unary(np.invert)
    __add__, __radd__ = _binary(np.add), _reflected(np.add)
    __sub__, __rsub__ = _binary(np.subtract), _reflected(np.subtract)
    __mul__, __rmul__ = _binary(np.multiply), _reflected(np.multiply)
    __truediv__, __rtruediv__ = _binary(np.divide), _reflected(np.divide)
    __floordiv__, __rfloordiv__ = _binary(np.floor_divide), _reflected(np.floor_divide)
    __mod__, __rmod__ = _binary(np.remainder), _reflected(np.remainder)
    __pow__, __rpow__ = _binary(np.power), _reflected(np.power)
    __and__, __or__, __xor__ = _binary(np.bitwise_and), _binary(np.bitwise_or), _binary(np.bitwise_xor)
    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    __eq__, __ne__ = _binary(np.equal), _binary(np.not_equal)
    __lt__, __le__, __gt__, __ge__ = _binary(np.less), _binary(np.less_equal), _binary(np.greater), _binary(np.greater_equal)


# -------------------------------------------------------------------------------------------------- elementwise

# Where these are not defined, or are not finite, what they give is masked.
_DOMAINS: dict[Function, Function] = {
    np.sqrt: lambda x: x < 0.0,
    np.log: lambda x: x <= 0.0,
    np.log2: lambda x: x <= 0.0,
    np.log10: lambda x: x <= 0.0,
    np.tan: lambda x: np.abs(np.cos(x)) < 1e-35,
    np.arcsin: lambda x: (x < -1.0) | (x > 1.0),
    np.arccos: lambda x: (x < -1.0) | (x > 1.0),
    np.arccosh: lambda x: x < 1.0,
    np.arctanh: lambda x: (x < -1.0 + 1e-15) | (x > 1.0 - 1e-15),
}
_DIVISIONS = (np.divide, np.floor_divide, np.remainder, np.fmod)


def _of_one(function: Function, a: Any) -> MaskedArray:
    data, mask = getdata(a), getmask(a)
    if function not in _DOMAINS:
        return MaskedArray(function(data), mask)
    outside = _DOMAINS[function](data)
    found = function(np.where(outside, 1.0, data))
    mask = _either(_either(outside, ~np.isfinite(found)), mask)
    return MaskedArray(np.where(mask, data, found), mask)


def _of_two(function: Function, a: Any, b: Any) -> MaskedArray:
    first, second = getdata(a), getdata(b)
    mask = _either(getmask(a), getmask(b))
    if function in _DIVISIONS:
        mask = _either(mask, np.abs(first) * np.finfo(float).tiny >= np.abs(second))
    found = function(_harmless(first, mask), _harmless(second, mask))
    if function in _DIVISIONS or function is np.power:
        mask = _either(mask, ~np.isfinite(found))
    if mask is np.ma.nomask:
        return MaskedArray(found, mask)
    # Of two elements of which one is masked, `==` says whether both are.
    under = function(getmask(a), getmask(b)) if function in (np.equal, np.not_equal) else np.asarray(first, found.dtype)
    mask = np.broadcast_to(mask, np.shape(found))
    return MaskedArray(np.where(mask, under, found), mask)


def _harmless(data: Any, mask: Any) -> Any:
    """Ones where something does not count: what is computed of a NaN there has no derivative."""
    return data if mask is np.ma.nomask else np.where(mask, np.ones((), data.dtype), data)


def _either(a: Any, b: Any) -> Any:
    """A mask of what does not count by one or the other."""
    if a is np.ma.nomask:
        return b
    return a if b is np.ma.nomask else a | b


# -------------------------------------------------------------------------------------------------- functions of numpy.ma


def getdata(a: Any, subok: Any = True) -> Any:
    return a.data if isinstance(a, MaskedArray | np.ma.MaskedArray) else np.asarray(a)


def data_of(value: Any) -> Any:
    """What functions in C see of a masked array; not converted itself."""
    return value.data if type(value) is MaskedArray else value


def operand(value: Any) -> Any:
    """The same beside a traced array. One of NumPy's own is refused: what is computed there would lose its mask."""
    if isinstance(value, np.ma.MaskedArray) and value.mask is np.ma.nomask:
        return value.data
    if isinstance(value, np.ma.MaskedArray):
        raise PortingError(
            "a masked array of NumPy's own is computed with an array of ported code",
            location=user_location(),
            help="compute with its data, and mask the result: `np.ma.array(x * m.data, mask=m.mask)`",
        )
    return data_of(value)


def getmask(a: Any) -> Any:
    return a.mask if isinstance(a, MaskedArray | np.ma.MaskedArray) else np.ma.nomask


def getmaskarray(a: Any) -> Any:
    mask = getmask(a)
    return np.zeros(np.shape(getdata(a)), bool) if mask is np.ma.nomask else mask


def array(data: Any, dtype: Any = None, copy: Any = False, mask: Any = np.ma.nomask, **options: Any) -> MaskedArray:
    if set(options) - {"subok", "fill_value", "keep_mask", "shrink", "ndmin", "hard_mask", "order"}:
        raise TypeError(f"np.ma.array() got an unexpected keyword argument {next(iter(options))!r}")
    values = np.array(getdata(data), dtype) if copy else np.asarray(getdata(data), dtype)
    own = getmask(data)
    if mask is not np.ma.nomask:
        given = np.zeros(np.shape(values), bool) | np.asarray(mask, bool)
        own = given if own is np.ma.nomask or not options.get("keep_mask", True) else own | given
    return MaskedArray(values, own)


def asarray(a: Any, dtype: Any = None, order: Any = None) -> MaskedArray:
    return array(a, dtype)


def masked_where(condition: Any, a: Any, copy: Any = True) -> MaskedArray:
    mask = np.asarray(filled(condition, True), bool)
    values = np.array(getdata(a)) if copy else np.asarray(getdata(a))
    if np.ndim(mask) and np.shape(mask) != np.shape(values):
        raise IndexError(f"Inconsistent shape between the condition and the input (got {mask.shape} and {values.shape})")
    return MaskedArray(values, _either(np.zeros(np.shape(values), bool) | mask, getmask(a)))


def _masked_by(comparison: Function) -> Function:
    return lambda x, value, copy=True: masked_where(comparison(x, value), x, copy)


masked_equal, masked_not_equal = _masked_by(np.equal), _masked_by(np.not_equal)
masked_greater, masked_greater_equal = _masked_by(np.greater), _masked_by(np.greater_equal)
masked_less, masked_less_equal = _masked_by(np.less), _masked_by(np.less_equal)


def masked_inside(x: Any, v1: Any, v2: Any, copy: Any = True) -> MaskedArray:
    low, high = np.minimum(v1, v2), np.maximum(v1, v2)
    return masked_where((x >= low) & (x <= high), x, copy)


def masked_outside(x: Any, v1: Any, v2: Any, copy: Any = True) -> MaskedArray:
    low, high = np.minimum(v1, v2), np.maximum(v1, v2)
    return masked_where((x < low) | (x > high), x, copy)


def masked_invalid(a: Any, copy: Any = True) -> MaskedArray:
    return masked_where(~np.isfinite(getdata(a)), a, copy)


def masked_values(x: Any, value: Any, rtol: Any = 1e-5, atol: Any = 1e-8, copy: Any = True, shrink: Any = True) -> MaskedArray:
    return masked_where(np.isclose(getdata(x), value, rtol=rtol, atol=atol), x, copy)


def filled(a: Any, fill_value: Any = None) -> Any:
    return a.filled(fill_value) if isinstance(a, MaskedArray | np.ma.MaskedArray) else np.asarray(a)


def is_masked(x: Any) -> Any:
    mask = getmask(x)
    return False if mask is np.ma.nomask else np.any(mask)


def isMaskedArray(x: Any) -> bool:  # noqa: N802 - as NumPy's
    return isinstance(x, MaskedArray | np.ma.MaskedArray)


def where(condition: Any, x: Any, y: Any) -> MaskedArray:
    chosen = filled(condition, False)
    found = np.where(chosen, getdata(x), getdata(y))
    mask = np.where(chosen, getmaskarray(x), getmaskarray(y))
    return MaskedArray(found, _either(mask, getmask(condition)))


def concatenate(arrays: Any, axis: Any = 0) -> MaskedArray:
    return MaskedArray(
        np.concatenate([getdata(one) for one in arrays], axis), np.concatenate([getmaskarray(one) for one in arrays], axis)
    )


def atleast_1d(a: Any) -> MaskedArray:
    return asarray(a)._each(np.atleast_1d)


def atleast_2d(a: Any) -> MaskedArray:
    return asarray(a)._each(np.atleast_2d)


def average(a: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return asarray(a).mean(axis)
    weighted = np.asarray(weights) + np.zeros(np.shape(getdata(a)))
    total = MaskedArray(weighted, getmask(a)).sum(axis)
    return (asarray(a) * weighted).sum(axis) / total


def dot(a: Any, b: Any) -> MaskedArray:
    known = np.dot((~getmaskarray(a)).astype(int), (~getmaskarray(b)).astype(int))
    return MaskedArray(np.dot(filled(a, 0), filled(b, 0)), known == 0)


# -------------------------------------------------------------------------------------------------- what stands for NumPy's

_NAMES = """getdata getmask getmaskarray array asarray masked_where masked_equal masked_not_equal masked_greater
masked_greater_equal masked_less masked_less_equal masked_inside masked_outside masked_invalid masked_values filled is_masked
isMaskedArray where concatenate atleast_1d atleast_2d average dot""".split()
_BY_NAME: dict[str, Function] = {
    **{name: globals()[name] for name in _NAMES},
    **dict.fromkeys(("asanyarray", "MaskedArray"), array),
    **dict.fromkeys(("isMA", "isarray"), isMaskedArray),
}
_METHODS = frozenset(
    """all any argmax argmin compressed copy count max mean min nonzero prod ravel reshape squeeze std sum
transpose var""".split()
)
# Functions of NumPy that heed a mask as those of `numpy.ma` do, and those that only see the data.
_HEEDING = frozenset(
    "all any argmax argmin concatenate max mean min nonzero prod ravel reshape squeeze std sum transpose var".split()
)
_BY_DATA = frozenset("array asarray isscalar ndim shape size zeros_like ones_like empty_like".split())


def of_masked(function: Any) -> Function | None:
    """What computes a function of `numpy.ma`, in Python; None where there is none."""
    name = function.__name__
    ufunc = getattr(np, name, None)
    if isinstance(ufunc, np.ufunc):
        return _elementwise(ufunc)
    return functools.partial(_by_method, name) if name in _METHODS else _BY_NAME.get(name)


def of_arrays(function: Any) -> Function | None:
    """What computes a function of NumPy's where an argument is a masked array."""
    if isinstance(function, np.ufunc):
        return _elementwise(function)
    name = function.__name__
    if name in _BY_DATA:
        return functools.partial(_by_data, function)
    if name in _HEEDING:
        return functools.partial(_by_method, name) if name in _METHODS else _BY_NAME[name]
    return None


def _elementwise(ufunc: np.ufunc) -> Function | None:
    if ufunc.signature is not None:  # `np.matmul`, which does not heed a mask
        return None
    return functools.partial({1: _of_one, 2: _of_two}[ufunc.nin], ufunc)


def _by_method(name: str, a: Any, *arguments: Any, **options: Any) -> Any:
    return getattr(asarray(a), name)(*arguments, **options)


def _by_data(function: Function, a: Any, *arguments: Any, **options: Any) -> Any:
    return function(getdata(a), *arguments, **options)
