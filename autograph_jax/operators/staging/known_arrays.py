"""An array that is known is made in the branch that reads it: under jax.vmap what a branch is handed gets a copy for each lane.

`table = np.array([...])` before `if x > 0: y = table[k] * x` is one array for all lanes, until it is an operand of lax.cond.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.core
import jax.extend
import jax.numpy as jnp
import numpy as np

from autograph_jax.loops.tracing import traced

_MOST_ELEMENTS = 4096  # it stands in each branch that reads it


def made_inside(closed: Any) -> Any:
    """A jaxpr whose known constants are results of calls, which hold them: JAX hands no branch what a call in it holds."""
    read = {v for equation in closed.jaxpr.eqns for v in equation.invars if not hasattr(v, "val")}
    read |= {v for v in closed.jaxpr.outvars if not hasattr(v, "val")}
    pairs = list(zip(closed.jaxpr.constvars, closed.consts, strict=True))
    known = [(variable, value) for variable, value in pairs if variable in read and _is_known(value)]
    if not known:
        return closed
    with jax.disable_jit(False):  # the calls are what the values stand in
        calls = traced(lambda: [_made(value) for _, value in known], []).jaxpr
    names = dict(zip(calls.outvars, (variable for variable, _ in known), strict=True))
    equations = [equation.replace(outvars=[names.get(v, v) for v in equation.outvars]) for equation in calls.eqns]
    rest = [pair for pair in pairs if pair[0] not in names.values()]
    changed = closed.jaxpr.replace(constvars=[variable for variable, _ in rest], eqns=[*equations, *closed.jaxpr.eqns])
    return jax.extend.core.ClosedJaxpr(changed, [value for _, value in rest])


def _is_known(value: Any) -> bool:
    if isinstance(value, jax.core.Tracer) or not isinstance(value, np.ndarray | jax.Array):
        return False
    return 1 < value.size <= _MOST_ELEMENTS and not jnp.issubdtype(value.dtype, jax.dtypes.extended)


def _made(value: Any) -> Any:
    def known() -> Any:
        return value

    return jax.jit(known)()
