"""Sums with arrays of zeros that hold a few elements, as transposes make them, in place: `a + zeros.at[i].add(v)` adds to a.

A branch that would hand such an array out of lax.cond hands out the places and the values.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.evaluation import bound, inlined


class Update(NamedTuple):
    """Something added to some elements of an array: how, where, and what."""

    how: tuple[Any, Any, bool, bool]  # lax.scatter_add's numbers, mode, indices_are_sorted, unique_indices
    where: Any
    what: Any

    def made_to(self, array: Any) -> Any:
        numbers, mode, are_sorted, unique = self.how
        told = {"indices_are_sorted": are_sorted, "unique_indices": unique, "mode": mode}
        return lax.scatter_add(array, self.where, self.what, numbers, **told)

    def alike(self, other: Update) -> bool:
        shapes = [(jnp.shape(u.where), jnp.shape(u.what), u.where.dtype, u.what.dtype) for u in (self, other)]
        return self.how == other.how and shapes[0] == shapes[1]


class Sparse(NamedTuple):
    """An array of zeros, to which so far only these updates have been made."""

    aval: Any
    updates: tuple[Update, ...] = ()

    def added_to(self, array: Any) -> Any:
        for update in self.updates:
            array = update.made_to(array)
        return array

    def array(self) -> Any:
        return self.added_to(jnp.zeros(self.aval.shape, self.aval.dtype))


def adding_in_place(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A function that computes what a jaxpr does."""

    def run(*arguments: Any) -> list[Any]:
        return list(map(_array, inlined(closed, arguments, _given)))

    return run


def _given(equation: Any, operands: Sequence[Any]) -> Sequence[Any]:
    """What an equation gives; an array of zeros with some elements as Sparse."""
    if equation.primitive.name == "cond" and not equation.effects:
        out = _cond(equation, list(map(_array, operands)))
        return bound(equation, list(map(_array, operands))) if out is None else out
    sparse = _sparse(equation, operands)
    return bound(equation, list(map(_array, operands))) if sparse is None else [sparse]


def _array(value: Any) -> Any:
    return value.array() if isinstance(value, Sparse) else value


def _sparse(equation: Any, operands: Sequence[Any]) -> Any:
    """What an equation gives, if that is a sum with an array of zeros in it; else None."""
    name, first, aval = equation.primitive.name, operands[0] if operands else None, equation.outvars[0].aval
    if name == "broadcast_in_dim" and aval.shape and _is_zero(first):
        return Sparse(aval)
    if name == "pad" and _is_zero(operands[1]) and _is_outside(equation.params["padding_config"]):
        starts = jnp.asarray([low for low, _, _ in equation.params["padding_config"]], jnp.int32)
        return Sparse(aval, (_block(starts, _array(first)),))
    if name in ("add_any", "add") and any(isinstance(operand, Sparse) for operand in operands):
        return _sum(operands[0], operands[1], aval)
    if not isinstance(first, Sparse):
        return None
    if name in ("scatter-add", "scatter_add"):
        params = equation.params
        how = params["dimension_numbers"], params["mode"], params["indices_are_sorted"], params["unique_indices"]
        where, what = map(_array, operands[1:])
        return Sparse(aval, (*first.updates, Update(how, where, what)))
    if name == "dynamic_update_slice" and not first.updates:
        return Sparse(aval, (_block(jnp.stack([jnp.asarray(i, jnp.int32) for i in operands[2:]]), _array(operands[1])),))
    return None


def _sum(first: Any, second: Any, aval: Any) -> Any:
    if isinstance(first, Sparse) and isinstance(second, Sparse):
        return Sparse(aval, (*first.updates, *second.updates))
    sparse, array = (second, first) if isinstance(second, Sparse) else (first, second)
    return sparse.added_to(jnp.broadcast_to(_array(array), aval.shape))  # a number stands beside an array as it is


def _block(starts: Any, block: Any) -> Update:
    """Add a block where lax.dynamic_slice would read it."""
    dims = tuple(range(block.ndim))
    numbers = lax.ScatterDimensionNumbers(update_window_dims=dims, inserted_window_dims=(), scatter_dims_to_operand_dims=dims)
    return Update((numbers, lax.GatherScatterMode.CLIP, True, True), starts, block)


def _is_zero(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic | float | int | complex) and np.ndim(value) == 0 and not value


def _is_outside(padding: Any) -> bool:
    return all(low >= 0 and high >= 0 and inside == 0 for low, high, inside in padding)


# Branches


def _cond(equation: Any, operands: list[Any]) -> list[Any] | None:
    """What a lax.cond gives, if some of that can be Sparse; else None."""
    index, *rest = operands
    branches = equation.params["branches"]
    slots = [_slots(outputs) for outputs in zip(*[_outputs(branch, rest) for branch in branches], strict=True)]
    if not any(slots):
        return None

    def given(branch: ClosedJaxpr) -> Callable[..., list[Any]]:
        return lambda *operands: _handed_out(inlined(branch, operands, _given), slots)

    handed_out = iter(lax.switch(index, [given(branch) for branch in branches], *rest))
    out = []
    for variable, own in zip(equation.outvars, slots, strict=True):
        updates = tuple(Update(slot.how, next(handed_out), next(handed_out)) for slot in own or ())
        out.append(next(handed_out) if own is None else Sparse(variable.aval, updates))
    return out


def _outputs(branch: ClosedJaxpr, operands: Sequence[Any]) -> list[Any]:
    """What a branch gives: None for an array, and for a Sparse its updates, with types in place of values."""
    found: list[Any] = []

    def run(*operands: Any) -> list[Any]:
        out = inlined(branch, operands, _given)
        found[:] = [_types(value) if isinstance(value, Sparse) else None for value in out]
        return []

    jax.eval_shape(run, *operands)
    return found


def _types(value: Sparse) -> list[Update]:
    structs = [[jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (u.where, u.what)] for u in value.updates]
    return [Update(u.how, *types) for u, types in zip(value.updates, structs, strict=True)]


def _slots(outputs: Sequence[Any]) -> list[Update] | None:
    """The updates that an output of all branches can be made of; None where it has to be an array."""
    if any(output is None for output in outputs) or not any(outputs):
        return None
    slots = []
    for updates in itertools.zip_longest(*outputs):
        there = [update for update in updates if update is not None]
        if not all(there[0].alike(update) for update in there):
            return None
        slots.append(there[0])
    return slots


def _handed_out(values: Sequence[Any], slots: Sequence[list[Update] | None]) -> list[Any]:
    """The branch's arrays, and for each slot where and what it adds: to some element 0, where it adds nothing."""
    out: list[Any] = []
    for value, own in zip(values, slots, strict=True):
        if own is None:
            out.append(_array(value))
            continue
        for slot, update in itertools.zip_longest(own, value.updates):
            nothing = [jnp.zeros(x.shape, x.dtype) for x in (slot.where, slot.what)]
            out += nothing if update is None else [update.where, update.what]
    return out
