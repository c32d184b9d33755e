"""What a place holds at the end of a block: which arrays and objects that is, or may be, or shows parts of."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence, Set
from typing import Any

import jax
import numpy as np

from autograph_jax.operators.tracing import aliasing, listed, reach, same_containers, standing, views
from autograph_jax.operators.tracing.holders import Uncounted
from autograph_jax.porting.arrays import Buffer

_NOTHING: Mapping[int, Any] = types.MappingProxyType({})


@dataclasses.dataclass(slots=True, eq=False)
class Held:
    """A value, as the joins and loops around need to know it. Arrays, memory and objects are named by their ids."""

    identity: int  # of the value; of an array of ported code, that of its memory
    older: Uncounted  # the containers from before the block that it may be, or what it holds
    ways: Mapping[int, same_containers.Ways]  # by their ids: to which of these
    bases: Sequence[views.Base] = ()  # of what arrays there are views in it
    kin: Sequence[int] = ()  # the arrays in it, and those that these may be or are views of
    handed: Set[int] = frozenset()  # among these, those that loops hand over from turn to turn
    # Among these, the memory that it may have, and the ways to the arrays in it that may.
    doubted: Mapping[int, set[aliasing.Way]] = dataclasses.field(default_factory=lambda: _NOTHING)
    is_listed: bool = False  # may a list of bounded length hold an array in it?
    numpy: tuple[standing.Shown, ...] = ()  # what of NumPy's the arrays in it are, or stand for


def is_number(value: Any) -> bool:
    """Is it a number or the like, into which nobody writes?"""
    return reach.is_plain(value) and not (isinstance(value, jax.Array | np.ndarray) and value.ndim)


def held(value: Any, older: Uncounted, ways: Mapping[int, same_containers.Ways]) -> Held:
    """What a block leaves in a place; `older` are the containers from before it that this may be, at some `ways`."""
    identity = aliasing.identity(value)
    if is_number(value):
        return Held(identity, older, ways)
    parts = list(reach.everything(value))
    arrays = [part for part in parts if isinstance(part, jax.Array)]
    buffers = [part for part in parts if isinstance(part, Buffer)]
    has_content = any(type(part) in aliasing.HAVING_CONTENT for part in parts)  # whose arrays are nobody's
    memory = list(aliasing.memory(value)) if has_content else [array for array in arrays if array.ndim]
    return Held(
        identity,
        older,
        ways,
        bases=views.bases_in(arrays),
        kin=aliasing.kin_of(memory),
        handed=views.handed_over(value),
        doubted=aliasing.doubted(buffers, value),
        is_listed=listed.are_held(memory),
        numpy=standing.shown(parts),
    )
