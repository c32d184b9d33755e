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

_MOST_ELEMENTS = 4096  # it stands in each branch that reads it


def made_inside(closed: Any) -> Any:
    """A jaxpr whose known constants are results of calls, which hold them: JAX hands no branch what a call in it holds."""
    read = {v for equation in closed.jaxpr.eqns for v in equation.invars if not hasattr(v, "val")}
    read |= {v for v in closed.jaxpr.outvars if not hasattr(v, "val")}
    pairs = zip(closed.jaxpr.constvars, closed.consts, strict=True)
    consts = [_made(value) if variable in read and _is_known(value) else value for variable, value in pairs]
    return jax.extend.core.ClosedJaxpr(closed.jaxpr, consts)


def _is_known(value: Any) -> bool:
    if isinstance(value, jax.core.Tracer) or not isinstance(value, np.ndarray | jax.Array):
        return False
    return 1 < value.size <= _MOST_ELEMENTS and not jnp.issubdtype(value.dtype, jax.dtypes.extended)


def _made(value: Any) -> Any:
    def known() -> Any:
        return value

    return jax.jit(known)()
