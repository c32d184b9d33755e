"""Short arrays are sorted by counting: each element goes to the place that so many others come before.

XLA sorts the rows of a matrix one by one, in a call of some 100 ns each, which no kernel can hold. Elements that are equal keep
their order, as in a stable sort, and NaN comes last: the same as XLA's to the bit.

A sort outside of loops is lax's own, which every transform and every tool knows. It says in its `num_keys`, a number that
transforms hand on, that it is converted code's (`lowering.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from autograph_jax.loops.optimizations import Choosing, Chosen

_LONGEST = 8
_MOST_ELEMENTS = 1 << 16


def is_small(equation: Any) -> bool:
    """Is this a sort of so few elements, by one key of real numbers?"""
    if equation.primitive.name != "sort":
        return False
    return are_few([v.aval for v in equation.invars], **equation.params)


def are_few(avals: Sequence[Any], *, dimension: int, num_keys: int, **_: Any) -> bool:
    """The same of what is sorted."""
    key = avals[0]
    if int(num_keys) != 1:
        return False
    has_numbers = all(jnp.issubdtype(aval.dtype, jnp.number) or aval.dtype == bool for aval in avals)
    is_short = 0 < key.shape[dimension] <= _LONGEST and 0 < key.size <= _MOST_ELEMENTS
    return has_numbers and is_short and not jnp.issubdtype(key.dtype, jnp.complexfloating)


def marked(equation: Any, chosen: Chosen) -> dict[str, Any] | None:
    """The parameters of a short sort that says what it is compiled with; None of anything else."""
    params = equation.params
    if equation.primitive.name != "sort" or not 0 < equation.invars[0].aval.shape[params["dimension"]] <= _LONGEST:
        return None
    return params | {"num_keys": Choosing(params["num_keys"], chosen)}


def by_counting(*operands: jax.Array, dimension: int, **_: Any) -> list[jax.Array]:
    """What `lax.sort` gives."""
    last = operands[0].ndim - 1
    rows = [jnp.moveaxis(operand, dimension, last) for operand in operands]
    places = _places(rows[0])
    return [jnp.moveaxis(_put(row, places), last, dimension) for row in rows]


def _places(key: jax.Array) -> jax.Array:
    """Where each element of a row goes."""
    ndim = key.ndim
    shape = (*key.shape, key.shape[-1])
    mine = lax.broadcast_in_dim(key, shape, range(ndim))
    other = lax.broadcast_in_dim(key, shape, (*range(ndim - 1), ndim))
    is_earlier = lax.lt(lax.broadcasted_iota(jnp.int32, shape, ndim), lax.broadcasted_iota(jnp.int32, shape, ndim - 1))
    comes_before = lax.select(is_earlier, lax.bitwise_not(_is_less(mine, other)), _is_less(other, mine))
    return jnp.sum(comes_before, axis=-1, dtype=jnp.int32)


def _is_less(one: jax.Array, other: jax.Array) -> jax.Array:
    less = lax.lt(one, other)
    if not jnp.issubdtype(one.dtype, jnp.floating):
        return less
    return lax.bitwise_or(less, lax.bitwise_and(lax.eq(one, one), lax.ne(other, other)))  # NaN is the largest


def _put(row: jax.Array, places: jax.Array) -> jax.Array:
    last, (*_, count) = row.ndim - 1, row.shape
    spots = lax.broadcasted_iota(jnp.int32, row.shape, last)

    def each(array: jax.Array, number: int) -> jax.Array:
        one = lax.slice_in_dim(array, number, number + 1, axis=last)
        return lax.broadcast_in_dim(one, row.shape, range(row.ndim))

    made = each(row, 0)
    for number in range(1, count):
        made = lax.select(lax.eq(each(places, number), spots), each(row, number), made)
    return made
