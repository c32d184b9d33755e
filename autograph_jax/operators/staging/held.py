"""What a place holds at the end of a block: which arrays and objects that is, or may be, or shows parts of."""

from __future__ import annotations

import dataclasses
from collections.abc import Set
from typing import Any

import jax
import numpy as np

from autograph_jax.operators.tracing import aliasing, listed, reach, standing, views
from autograph_jax.operators.tracing.holders import Uncounted
from autograph_jax.porting.arrays import Buffer


@dataclasses.dataclass(frozen=True, slots=True)
class Held:
    """A value, as the joins and loops around need to know it. Arrays, memory and objects are named by their ids."""

    identity: int  # of the value; of an array of ported code, that of its memory
    older: Uncounted  # the containers from before the block that it may be
    bases: list[views.Base] = dataclasses.field(default_factory=list)  # of what arrays there are views in it
    kin: list[int] = dataclasses.field(default_factory=list)  # the arrays in it, and those that these may be or are views of
    handed: Set[int] = frozenset()  # among these, those that loops hand over from turn to turn
    doubted: Set[int] = frozenset()  # among these, the memory that it may have
    is_listed: bool = False  # may a list of bounded length hold an array in it?
    numpy: tuple[standing.Shown, ...] = ()  # what of NumPy's the arrays in it are, or stand for


def held(value: Any, older: Uncounted) -> Held:
    """What a block leaves in a place; `older` are the containers from before it that this may be."""
    identity = aliasing.identity(value)
    if reach.is_plain(value) and not (isinstance(value, jax.Array | np.ndarray) and value.ndim):  # nobody writes into a number
        return Held(identity, older)
    parts = list(reach.everything(value))
    arrays = [part for part in parts if isinstance(part, jax.Array)]
    buffers = [part for part in parts if isinstance(part, Buffer)]
    has_content = any(type(part) in aliasing.HAVING_CONTENT for part in parts)  # whose arrays are nobody's
    memory = list(aliasing.memory(value)) if has_content else [array for array in arrays if array.ndim]
    return Held(
        identity,
        older,
        bases=views.bases_in(arrays),
        kin=aliasing.kin_of(memory),
        handed=views.handed_over(value),
        doubted=aliasing.doubted(buffers),
        is_listed=listed.are_held(memory),
        numpy=standing.shown(parts),
    )
