"""Arrays of NumPy's that are older than a block are read-only while it is traced: a write would be made on every path.

Converted code that writes one through a variable or a place gives that a copy (`subscripts.changed`). Whatever else writes,
`x.fill(0)` or a function in C, ends in NumPy's own error, which becomes one of ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from autograph_jax.errors import ImmutableError, Location, line_of


class Frozen:
    """Those of one block, until it ends."""

    def __init__(self) -> None:
        self._arrays: dict[int, np.ndarray] = {}

    def freeze(self, array: np.ndarray) -> None:
        if array.flags.writeable and self._can_be_thawed(array):
            array.flags.writeable = False
            self._arrays[id(array)] = array

    def _can_be_thawed(self, array: np.ndarray) -> bool:
        """NumPy makes an array writeable that owns its memory, or whose memory may be written."""
        base: Any = array.base
        while isinstance(base, np.ndarray):
            if not base.flags.writeable and id(base) not in self._arrays:
                return False
            array, base = base, base.base
        if base is None:
            return array.flags.owndata
        try:
            return not memoryview(base).readonly
        except TypeError:  # memory of another library
            return False

    def thaw(self) -> None:
        """Make them writeable again, the owners of memory first."""
        for array in sorted(self._arrays.values(), key=lambda array: isinstance(array.base, np.ndarray)):
            array.flags.writeable = True
        self._arrays.clear()

    def holds(self, array: np.ndarray) -> bool:
        """Is this one of them, or a view of one?"""
        part: Any = array
        while isinstance(part, np.ndarray):
            if id(part) in self._arrays:
                return True
            part = part.base
        return False


def share_memory(first: np.ndarray, second: np.ndarray) -> bool:
    """Do two arrays of NumPy's share an element? Yes, where that would take long to find out."""
    most: Any = 1000
    try:
        return np.shares_memory(first, second, max_work=most)
    except np.exceptions.TooHardError:
        return True


def refusal(error: Exception) -> ImmutableError | None:
    """The error that takes the place of NumPy's, if that tells of a write."""
    is_of_a_write = type(error) in (ValueError, TypeError) and "read-only" in str(error)
    return written(line_of(error)) if is_of_a_write else None


def written(location: Location | None) -> ImmutableError:
    return ImmutableError(
        "an array of NumPy's is written in place where traced data decides whether, or how often",
        location=location,
        details=["NumPy would write it while the code is traced, on every path."],
        help="write `x[...] = v` or `x = x + v`, or make a copy in the block: `x = x.copy()`",
    )
