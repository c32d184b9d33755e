"""Arrays of NumPy's that JAX has as constants, when Python writes them.

JAX makes a constant of an array once, and goes by its identity as long as any program has that: a program that reads the array
after a write would get what it held before, or what it holds in the end. So programs get copies before it is written.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import Literal, Var

from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing.frozen import share_memory

_OWN = sys.getrefcount(object()) + 1  # references: what Python counts for the argument, and the variable


def keep(arrays: Sequence[np.ndarray]) -> None:
    """These arrays share the memory that is about to be written: what JAX has of them stays what it is now."""
    arrays = [*arrays, *(base for array in arrays for base in _bases(array))]
    _copy(lambda value: isinstance(value, np.ndarray) and any(share_memory(value, one) for one in arrays))
    for one in arrays:
        forget(one)


def renew(array: np.ndarray) -> None:
    """Something else may have written this array since JAX has made a constant of it."""
    known = _constant_of(array)
    if known is not None and known.tobytes() != np.asarray(array, known.dtype).tobytes():
        del known
        forget(array)


def forget(array: np.ndarray) -> None:
    """Whoever has the constant that JAX has made of this array gets a copy of that, so that JAX makes another one."""
    known = _constant_of(array)
    if known is None or sys.getrefcount(known) <= _OWN:
        return
    _copy(lambda value: value is known)
    if sys.getrefcount(known) > _OWN:  # programs that are done have lists of them, or literals; those that have failed, dicts
        for holder in gc.get_referrers(known):
            if type(holder) is list:
                holder[:] = [known.copy() if one is known else one for one in holder]
            elif type(holder) is dict and all(isinstance(key, Var) for key in holder):
                holder.update({variable: known.copy() for variable, one in holder.items() if one is known})
            elif isinstance(holder, Literal) and holder.val is known:
                holder.val = known.copy()


def _copy(is_one: Callable[[Any], bool]) -> None:
    """The programs that are being made have copies of these constants, and take what they are made of for another one."""
    for constants, tracers in jax_private.constants():
        for variable in [variable for variable, value in constants.items() if is_one(value)]:
            tracers.pop(id(constants[variable]), None)
            constants[variable] = constants[variable].copy()


def _constant_of(array: Any) -> Any:
    """JAX's, an array of a class of its own; None where it takes none."""
    is_known = isinstance(array, np.ndarray) and not isinstance(array, np.ma.MaskedArray) and array.dtype.kind in "biufc"
    known = jax_private.constant_of(array) if is_known else None
    return None if known is array else known


def _bases(array: np.ndarray) -> Iterable[np.ndarray]:
    base: Any = array.base
    while isinstance(base, np.ndarray):
        yield base
        base = base.base
