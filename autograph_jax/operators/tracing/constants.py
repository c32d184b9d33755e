"""Arrays of NumPy's that JAX has as constants, when Python writes them.

JAX makes a constant of an array once, and goes by its identity as long as any program has that: a program that reads the array
after a write would get what it held before, or what it holds in the end. So programs get copies before it is written.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np
from jax.extend.core import Literal

from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing.frozen import share_memory


def keep(arrays: Iterable[np.ndarray]) -> None:
    """These arrays share the memory that is about to be written: what JAX has of them stays what it is now."""
    arrays = list(arrays)
    for constants, tracers in jax_private.constants():
        ours = [variable for variable, value in constants.items() if _shares(value, arrays)]
        for variable in ours:
            tracers.pop(id(constants[variable]), None)
            constants[variable] = constants[variable].copy()
    for array in arrays:
        forget(array)


def _shares(value: Any, arrays: list[np.ndarray]) -> bool:
    return isinstance(value, np.ndarray) and any(share_memory(value, array) for array in arrays)


def renew(array: np.ndarray) -> None:
    """Something else may have written this array since JAX has made a constant of it."""
    known = jax_private.constant_of(array) if _may_be_constant(array) else None
    if known is not None and known.tobytes() != np.asarray(array, known.dtype).tobytes():
        del known
        forget(array)


def forget(array: np.ndarray) -> None:
    """Whoever has the constant that JAX has made of this array gets a copy of that, so that JAX makes another one."""
    known = jax_private.constant_of(array) if _may_be_constant(array) else None
    if known is None or sys.getrefcount(known) <= _OWN:
        return
    for constants, tracers in jax_private.constants():
        tracers.pop(id(known), None)
        for variable in [variable for variable, value in constants.items() if value is known]:
            constants[variable] = known.copy()
    if sys.getrefcount(known) > _OWN:  # programs that are done have lists of them, or literals
        for holder in gc.get_referrers(known):
            if type(holder) is list:
                holder[:] = [known.copy() if one is known else one for one in holder]
            elif isinstance(holder, Literal) and holder.val is known:
                holder.val = known.copy()


_OWN = 2  # references: the variable and the argument


def _may_be_constant(array: Any) -> bool:
    return type(array) is np.ndarray and array.dtype.kind in "biufc"
