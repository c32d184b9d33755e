"""A program over lanes: branches that each lane takes for itself are written out under jax.vmap, each operation once.

JAX's rule for lax.cond traces a branch over the lanes and then evaluates what it has traced, within each branch around it anew:
an operation five branches deep is traced six times. Here a branch is evaluated where it stands, and one result chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.by_lane import has_collective, is_of_axis
from autograph_jax.loops.evaluation import bound, evaluated
from autograph_jax.loops.mapped import is_mapped


def over_lanes(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """What runs the program under a jax.vmap."""

    def run(*operands: Any) -> list[Any]:
        return evaluated(closed, operands, _each)

    return run


def _each(equation: Any, given: list[Any]) -> Sequence[Any]:
    if equation.primitive.name == "cond" and is_mapped(given[0]) and may_be_for_all(equation.params["branches"]):
        return branches_over_lanes(equation.params["branches"], given)
    return bound(equation, given)


def may_be_for_all(branches: Sequence[ClosedJaxpr]) -> bool:
    """May branches run for lanes that do not take them? Not if they print, say; a collective is read by others."""
    return all(map(is_of_axis, frozenset().union(*(branch.effects for branch in branches))))


def branches_over_lanes(branches: Sequence[ClosedJaxpr], given: Sequence[Any]) -> list[Any]:
    """What lax.cond gives under a jax.vmap, of an index that differs from lane to lane and of operands.

    A collective in a branch reads all lanes, also those that do not take it: so do the derivatives.
    """
    is_joint = any(has_collective(branch.jaxpr) for branch in branches)
    index, *operands = given
    taken, outputs = index, []
    for number, branch in enumerate(branches):
        taken = jax.lax.eq(index, np.asarray(number, index.dtype))
        values = operands if is_joint else [_kept_where(taken, value) for value in operands]
        outputs.append(evaluated(branch, values, _each))
    which = taken if len(branches) == 2 else index
    return [jax.lax.select_n(which, *values) for values in zip(*outputs, strict=True)]


def _kept_where(taken: jax.Array, value: Any) -> Any:
    """The same value, with a derivative only where a branch is taken: that of what is computed in vain may be NaN.

    https://github.com/jax-ml/jax/issues/1052
    """
    is_inexact = jnp.issubdtype(jax.typeof(value).dtype, jnp.inexact)
    return jax.lax.select(taken, value, jax.lax.stop_gradient(value)) if is_inexact else value
