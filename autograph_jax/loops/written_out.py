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

from autograph_jax.loops.by_lane import left_by
from autograph_jax.loops.evaluation import bound


def over_lanes(closed: ClosedJaxpr, inputs: Sequence[bool]) -> Callable[..., list[Any]]:
    """What runs the program under a jax.vmap, where these inputs differ from lane to lane."""

    def run(*operands: Any) -> list[Any]:
        return _written_out(closed, operands, inputs)[0]

    return run


def _written_out(closed: ClosedJaxpr, operands: Sequence[Any], inputs: Sequence[bool]) -> tuple[list[Any], list[bool]]:
    """What a program gives, and which of it differs."""
    jaxpr = closed.jaxpr
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *operands], strict=True))
    differing = {v for v, differs in zip(jaxpr.invars, inputs, strict=True) if differs}

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    def differs(atom: Any) -> bool:
        return not hasattr(atom, "val") and atom in differing

    for equation in jaxpr.eqns:
        given, mask = [*map(read, equation.invars)], [*map(differs, equation.invars)]
        if equation.primitive.name == "cond" and mask[0] and not equation.effects:
            out = branches_over_lanes(equation.params["branches"], given, mask)
            left = [True] * len(equation.outvars)
        else:
            out = bound(equation, given)
            left = left_by(equation, mask) if any(mask) else [False] * len(equation.outvars)
        values.update(zip(equation.outvars, out, strict=True))
        differing.update(v for v, one in zip(equation.outvars, left, strict=True) if one)
    return [*map(read, jaxpr.outvars)], [*map(differs, jaxpr.outvars)]


def branches_over_lanes(branches: Sequence[ClosedJaxpr], given: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """What lax.cond gives under a jax.vmap of an index and operands, which differ from lane to lane where the mask says so."""
    index, *operands = given
    outputs = []
    for number, branch in enumerate(branches):
        taken = jax.lax.eq(index, np.asarray(number, index.dtype))
        inside = [_kept_where(taken, value) for value in operands]
        kept = [one or _is_inexact(value) for one, value in zip(mask[1:], operands, strict=True)]
        outputs.append(_written_out(branch, inside, kept)[0])
    which = taken if len(branches) == 2 else index
    return [jax.lax.select_n(which, *values) for values in zip(*outputs, strict=True)]


def _kept_where(taken: jax.Array, value: Any) -> Any:
    """The same value, with a derivative only where a branch is taken: that of what is computed in vain may be NaN.

    https://github.com/jax-ml/jax/issues/1052
    """
    return jax.lax.select(taken, value, jax.lax.stop_gradient(value)) if _is_inexact(value) else value


def _is_inexact(value: Any) -> bool:
    return jnp.issubdtype(jax.typeof(value).dtype, jnp.inexact)
