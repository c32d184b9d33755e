"""An array that an inner loop reads by elements and carries for the sake of its cotangent, as its values are outside of it.

Of what a scan carries JAX keeps a copy for each turn where a derivative needs it, of what stands around it none. So a turn
reads the array that stands around, and takes the tangent of the one that is carried. Else `A`, in a product of a matrix and a
vector by two loops, would be kept for each row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

lent_p = Primitive("lent")
lent_p.def_impl(lambda array, carried: array)
lent_p.def_abstract_eval(lambda array, carried: carried)
mlir.register_lowering(lent_p, lambda lowering, array, carried: [array])


def lent(array: jax.Array, carried: jax.Array) -> Any:
    """The first of two arrays that are the same, with the tangent of the second."""
    return lent_p.bind(array, carried)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """The array itself, which JAX knows to be one that stands around."""
    return primals[0], tangents[1]


def _batch(operands: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int | None]:
    array, carried = operands
    if dims[0] is None or dims[1] is None:  # one of the two is that of each lane, whose values are the same
        return (carried, dims[1]) if dims[0] is None else (array, dims[0])
    return lent_p.bind(array, jnp.moveaxis(carried, dims[1], dims[0])), dims[0]


ad.primitive_jvps[lent_p] = _jvp
batching.primitive_batchers[lent_p] = _batch
