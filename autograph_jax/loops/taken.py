"""A loop in a branch, under jax.vmap: it runs for the lanes that take the branch, and not at all where none does.

There both branches are computed for all lanes, and one result is chosen for each. A while loop in a branch would run as long as
any lane wants it to, for what nobody reads. So its condition holds only where that of the branch does. Without vmap it does
anyway: the primitive is what it says first, and is gone from the compiled program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

taken_p = Primitive("taken")
taken_p.def_impl(lambda going, taken: going)
taken_p.def_abstract_eval(lambda going, taken: going)
mlir.register_lowering(taken_p, lambda lowering, going, taken: [going])


def where_taken(going: Any, taken: jax.Array) -> Any:
    """Does a loop go on, which counts only where a branch is taken?"""
    return taken_p.bind(jnp.asarray(going), taken)


def _batch(operands: Sequence[Any], dims: Sequence[int | None]) -> tuple[Any, int | None]:
    going, taken = operands
    if dims[1] is None:
        return taken_p.bind(going, taken), dims[0]
    lane = jnp.moveaxis(taken, dims[1], 0)
    shared = going if dims[0] is None else jnp.moveaxis(going, dims[0], 0)
    return jnp.logical_and(shared, lane), 0


def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    going = taken_p.bind(*primals)
    return going, ad.Zero(jax.typeof(going).to_tangent_aval())


batching.primitive_batchers[taken_p] = _batch
ad.primitive_jvps[taken_p] = _jvp
