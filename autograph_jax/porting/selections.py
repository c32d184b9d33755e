"""`x[mask]` where the mask is traced: how many elements there are is not known, and seldom matters.

    p[m] -= f[m] / g[m]          (x[m] > 0).all()          y[m] = np.abs(x[m])

A `Selection` keeps all elements and the mask. What is computed element by element is computed for all, reductions leave out
what the mask does, and a write puts the elements back where they belong. Elements that are left out are replaced by one that is
not, so that what is computed of them raises no alarm, in derivatives neither.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..errors import PortingError, user_location
from . import casting


class Selection(NDArrayOperatorsMixin):
    """Some elements of an array, in the array's order: those of `values` where `mask`, which has its leading axes, holds."""

    __slots__ = ("mask", "values")
    __array_priority__ = 1001.0
    __hash__ = None

    def __init__(self, values: jax.Array, mask: jax.Array) -> None:
        self.values, self.mask = values, mask

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(self.values.dtype)

    @property
    def ndim(self) -> int:
        return 1 + self.values.ndim - self.mask.ndim

    @property
    def size(self) -> jax.Array:
        """How many elements there are: a traced number."""
        each = int(np.prod(self.values.shape[self.mask.ndim :], dtype=int))
        return jnp.sum(self.mask) * each

    @property
    def shape(self) -> tuple[int, ...]:
        raise refusal("its shape is asked for")

    def __len__(self) -> int:
        raise refusal("its length is asked for")

    def __array__(self, *_: Any, **__: Any) -> np.ndarray:
        raise refusal("it is handed to a function that takes arrays alone")

    def __getitem__(self, key: Any) -> Any:
        """`x[mask][:, None]`: all of the elements, and something of the axes that the mask leaves alone."""
        if isinstance(key, tuple) and isinstance(key[0], slice) and key[0] == slice(None):
            return Selection(self.values[(slice(None),) * self.mask.ndim + key[1:]], self.mask)
        raise refusal("elements of it are read")

    def __setitem__(self, key: Any, new: Any) -> None:
        raise refusal("elements of it are written")

    def __iter__(self) -> Any:
        raise refusal("it is iterated over")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce":
            return self._reduced(ufunc, options)
        if method != "__call__":
            raise refusal(f"`{ufunc.__name__}.{method}` is called with it")
        options.pop("out", None)  # `s += 1` binds the name to a new one
        return self._by_element(lambda *arrays: ufunc(*arrays, **options), inputs)

    def __array_function__(self, function: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
        name = function.__name__
        if name in _REDUCTIONS and args[0] is self:
            return getattr(self, name)(*args[1:], **kwargs)
        if function in _BY_ELEMENT:
            return self._by_element(lambda *arrays: function(*arrays, **kwargs), args)
        if function is np.size:
            return self.size
        if function in (np.asarray, np.asanyarray, np.atleast_1d, np.array, np.ascontiguousarray):
            dtype = kwargs.get("dtype") or (args[1] if len(args) > 1 else None)
            return self if dtype is None else self.astype(dtype)
        if function in (np.zeros_like, np.ones_like, np.empty_like):
            made = function(np.empty(self.values.shape, self.dtype), **kwargs)
            return Selection(jnp.asarray(made), self.mask)
        raise refusal(f"`np.{name}` is called with it")

    def _by_element(self, function: Callable[..., Any], inputs: Any) -> Selection:
        for x in inputs:
            if isinstance(x, Selection) and x.mask is not self.mask:
                raise refusal("it is combined with elements of another mask")
            if not isinstance(x, Selection) and np.ndim(x) > self.ndim - 1:
                raise refusal("it is combined with an array, which would have to have as many elements")
        arrays = [_array(x.values) if isinstance(x, Selection) else x for x in inputs]
        return Selection(_value(function(*arrays)), self.mask)

    def _reduced(self, ufunc: np.ufunc, options: dict[str, Any]) -> Any:
        name = _NAMES.get(ufunc)
        if name is None:
            raise refusal(f"`{ufunc.__name__}.reduce` is called with it")
        return getattr(self, name)(**{key: value for key, value in options.items() if value is not np._NoValue})

    def _over(self) -> jax.Array:
        return self.mask.reshape(self.mask.shape + (1,) * (self.values.ndim - self.mask.ndim))

    def _reduce(self, reduce: Callable[..., Any], axis: Any, **options: Any) -> Any:
        """Over the selected elements, or over all axes."""
        if axis not in (None, 0):
            raise refusal("it is reduced along an axis")
        axes = tuple(range(self.mask.ndim)) if axis == 0 and self.ndim > 1 else None
        found = reduce(self.values, axis=axes, where=self._over(), **options)
        return _array(found) if found.ndim else found

    def sum(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        into = np.add.reduce(np.ones(1, self.dtype), dtype=dtype).dtype
        return Selection(self.values.astype(casting.canonical(into)), self.mask)._reduce(jnp.sum, axis)

    def prod(self, axis: Any = None) -> Any:
        return self._reduce(jnp.prod, axis)

    def mean(self, axis: Any = None) -> Any:
        return self._reduce(jnp.mean, axis)

    def any(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return self._reduce(jnp.any, axis)

    def all(self, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        return self._reduce(jnp.all, axis)

    def max(self, axis: Any = None, out: Any = None) -> Any:
        return self._reduce(jnp.max, axis, initial=_least(self.dtype))

    def min(self, axis: Any = None, out: Any = None) -> Any:
        return self._reduce(jnp.min, axis, initial=_greatest(self.dtype))

    def copy(self, order: str = "C") -> Selection:
        return Selection(self.values, self.mask)

    def astype(self, dtype: Any, **_: Any) -> Selection:
        return Selection(casting.to(self.values, casting.canonical(dtype)), self.mask)

    @property
    def real(self) -> Selection:
        return Selection(jnp.real(self.values), self.mask)

    @property
    def imag(self) -> Selection:
        return Selection(jnp.imag(self.values), self.mask)

    def put_into(self, value: Any, mask: jax.Array) -> jax.Array:
        """`value` in which the elements where `mask` holds are these, in order."""
        value = jnp.asarray(value)
        over = mask.reshape(mask.shape + (1,) * (value.ndim - mask.ndim))
        if mask is self.mask:
            return jnp.where(over, self.values.astype(value.dtype), value)
        rest = self.values.shape[self.mask.ndim :]
        first = jnp.argsort(~self.mask.ravel(), stable=True)  # the places of the selected ones, in order
        place = jnp.clip(jnp.cumsum(mask.ravel()) - 1, 0, first.size - 1)
        taken = self.values.reshape(-1, *rest)[first][place].reshape(mask.shape + rest)
        return jnp.where(over, taken.astype(value.dtype), value)

    def __repr__(self) -> str:
        return f"Selection({self.values!r}, {self.mask!r})"


def selected(value: Any, mask: jax.Array) -> Selection:
    """`value[mask]`."""
    value = jnp.asarray(value)
    if value.shape[: mask.ndim] != mask.shape:
        raise IndexError(f"boolean index has shape {mask.shape}, the indexed array {value.shape}")
    if not mask.size:
        return Selection(value, mask)
    rest = value.shape[mask.ndim :]
    one = value.reshape(-1, *rest)[jnp.argmax(mask.ravel())]
    return Selection(jnp.where(mask.reshape(mask.shape + (1,) * len(rest)), value, one), mask)


def refusal(use: str) -> PortingError:
    return PortingError(
        f"the shape of `x[mask]` depends on traced data, and {use}",
        location=user_location(),
        help="np.where(mask, x, 0) keeps the shape",
    )


_BY_ELEMENT = (np.where, np.clip, np.isclose, np.real, np.imag, np.nan_to_num, np.iscomplex, np.isreal, np.angle)
_REDUCTIONS = ("sum", "prod", "mean", "any", "all", "max", "min", "amax", "amin", "copy")
_NAMES = {
    np.add: "sum", np.multiply: "prod", np.maximum: "max", np.minimum: "min", np.logical_and: "all", np.logical_or: "any",
}  # fmt: skip


def _least(dtype: np.dtype) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min if dtype.kind in "iu" else False


def _greatest(dtype: np.dtype) -> Any:
    return np.inf if dtype.kind == "f" else np.iinfo(dtype).max if dtype.kind in "iu" else True


def _array(value: Any) -> Any:
    from .arrays import wrap  # whose `x[mask]` makes selections

    return wrap(value)


def _value(x: Any) -> Any:
    from .arrays import value_of

    return jnp.asarray(value_of(x))


jax.tree_util.register_pytree_node(Selection, lambda s: ((s.values, s.mask), None), lambda _, parts: Selection(*parts))
