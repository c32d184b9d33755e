"""An array with new values at an index: `target.at[index].set(value)` with NumPy's rules."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators.values.spans import Spanned, spanned
from autograph_jax.porting.replacing import replaced


def updated(target: Any, index: Any, value: Any) -> jax.Array:
    """`target.at[index].set(value)` with NumPy's dtype rule: the array keeps its own."""
    array, index = jnp.asarray(target), index_of(index)
    if isinstance(value, Masked | Written):
        value = dataclasses.replace(value, values=value.values.astype(array.dtype))
    elif not isinstance(value, bool | int | float | complex):
        value = jnp.asarray(value)
        value = value if value.dtype == array.dtype else value.astype(array.dtype)
    elif isinstance(value, float) and jnp.issubdtype(array.dtype, jnp.integer):
        value = int(value)  # y[i] = 2.7 on integers, as NumPy has it
    elif array.dtype == bool:
        value = bool(value)
    if isinstance(value, Masked):
        check_same_mask(value, index)
        return jnp.where(_over(value.mask, array), value.values, array)
    if isinstance(value, Written):
        return value.place.written(array, value.values)
    if (taken := spanned(array, index)) is not None:
        return taken.written(array, taken.spread(value))
    if is_mask(index) and jnp.ndim(value) <= array.ndim - index.ndim:
        return jnp.where(_over(index, array), value, array)
    if (found := _with_mask(array, index)) is not None and jnp.ndim(value) == 0:
        part, mask = found
        return replaced(array, part, jnp.where(mask, value, array[part]))
    if _is_everything(index) and jnp.ndim(value) <= array.ndim:
        # No scatter, on which XLA's simplifier for CPUs can abort the process: "Invalid binary instruction opcode map".
        whole = jnp.broadcast_to(jnp.asarray(value, array.dtype), array.shape)
        return jax.lax.dynamic_update_slice(array, whole, (0,) * array.ndim)
    return replaced(array, index, value)


def _with_mask(array: jax.Array, index: Any) -> tuple[Any, jax.Array] | None:
    """Of `x[0, mask]` the index of all that the mask chooses from, `x[0, :]`, and the mask for the array there."""
    masks = [position for position, one in enumerate(index) if is_mask(one)] if isinstance(index, tuple) else []
    if len(masks) != 1 or any(one is None or one is ... for one in index):
        return None
    [position], mask = masks, index[masks[0]]
    others = [*index[:position], *index[position + 1 :]]
    if not all(isinstance(one, slice | int) or jnp.ndim(one) == 0 for one in others):
        return None
    part = (*index[:position], *[slice(None)] * mask.ndim, *index[position + 1 :])
    axes = array.ndim - sum(not isinstance(one, slice) for one in part)
    before = sum(isinstance(one, slice) for one in index[:position])
    return part, mask.reshape(mask.shape + (1,) * (axes - before - mask.ndim))


def _is_everything(index: Any) -> bool:
    """Is this `x[:]` or `x[...]`, which writes all of an array?"""
    return index is ... or isinstance(index, slice) and index.start is index.stop is index.step is None


def index_of(index: Any) -> Any:
    """NumPy takes a list as an index where JAX wants an array."""
    if isinstance(index, tuple):
        return tuple(map(index_of, index))
    return jnp.asarray(index) if isinstance(index, list) else index


@dataclasses.dataclass(frozen=True)
class Masked:
    """`x[mask]` on the way to being written: `values` where the mask holds. How many they are is not known.

    It can be computed with: `a[m] = b[m] * 2 + c[m]`. Where the mask does not hold, a 1 stands in, of which nothing is left.
    """

    values: jax.Array
    mask: jax.Array


def masked(array: Any, mask: jax.Array) -> Masked:
    """`array[mask]`, on the right of a write by the same mask."""
    array = jnp.asarray(array)
    return Masked(_or_one(_over(mask, array), array), mask)


def check_same_mask(value: Masked, mask: Any) -> None:
    if value.mask is not mask:
        raise StagingError(
            "elements that one mask picks meet those of another one, and how many they are is only known at run time",
            location=user_location(),
            help="choose among whole arrays: `a = jnp.where(mask, b, a)`",
        )


def _operation(name: str) -> Callable[..., Any]:
    operation = getattr(operator, f"__{name}__")

    def apply(self: Masked, *others: Any) -> Masked:
        return dataclasses.replace(self, values=operation(self.values, *(_beside(self, other) for other in others)))

    def apply_turned(self: Masked, other: Any) -> Masked:
        return dataclasses.replace(self, values=operation(_beside(self, other), self.values))

    setattr(Masked, f"__r{name}__", apply_turned)
    return apply


def _beside(masked: Masked, other: Any) -> Any:
    """What an operation meets: elements of the same mask, or something that is repeated for each."""
    if isinstance(other, Masked):
        check_same_mask(other, masked.mask)
        return other.values
    if jnp.ndim(other) > masked.values.ndim - masked.mask.ndim:
        raise StagingError(
            "elements that a mask picks are computed with an array, and how many they are is only known at run time",
            location=user_location(),
            help="pick those of the array by the same mask, `b[m] * c[m]`, or choose among whole arrays by `jnp.where`",
        )
    return other


for _name in "add sub mul truediv floordiv mod pow and or xor neg pos abs invert".split():
    setattr(Masked, f"__{_name}__", _operation(_name))


@dataclasses.dataclass(frozen=True)
class Written:
    """`x[i:j] += v` on the way to being written back, where traced data says where the slice is."""

    values: jax.Array
    place: Spanned


def part_of(array: jax.Array, index: Any) -> Any:
    """What an augmented assignment to an item starts from."""
    if is_mask(index):
        return Masked(array, index)
    index = index_of(index)
    taken = spanned(array, index)
    return array[index] if taken is None else taken


def applied(part: Masked | Spanned, operation: Callable[[Any, Any], Any], value: Any) -> Masked | Written:
    """The part with an operation done. Where it is not, nothing is computed: `x[x > 0] **= 0.5` has a derivative."""
    if isinstance(part, Masked):
        return dataclasses.replace(part, values=operation(_or_one(_over(part.mask, part.values), part.values), value))
    return Written(operation(_or_one(part.inside(), part.values), part.spread(value)), part)


def _or_one(inside: jax.Array, values: jax.Array) -> jax.Array:
    return jnp.where(inside, values, jnp.ones_like(values))


def is_mask(index: Any) -> bool:
    return isinstance(index, jax.Array) and index.dtype == bool and index.ndim > 0


def _over(mask: jax.Array, array: jax.Array) -> jax.Array:
    """A mask of the leading dimensions, for all of an array's."""
    return mask.reshape(mask.shape + (1,) * (array.ndim - mask.ndim))
