"""Copies of arrays for functions in C: they lie in memory as the code believes, and share it where the originals do."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import MutableArray


class Copies:
    """Of the arguments of one call."""

    def __init__(self) -> None:
        self._memory: dict[tuple[int, int], np.ndarray] = {}  # by the array that owns it, and how much wider an element is

    def of(self, array: MutableArray, value: Any, dtype: Any = None) -> np.ndarray:
        """An array of NumPy's that holds `value` where `array` would; of `dtype`, where an element is wider than it was."""
        shadow = array.shadow
        owner: Any = shadow
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        dtype = shadow.dtype if dtype is None else np.dtype(dtype)
        wider = dtype.itemsize // shadow.dtype.itemsize
        memory = self._memory.setdefault((id(owner), wider), np.empty(owner.nbytes * wider, np.uint8))
        offset = shadow.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
        strides = [stride * wider for stride in shadow.strides]
        made = np.ndarray(shadow.shape, dtype, memory, offset * wider, strides)
        made[...] = value
        made.flags.writeable = shadow.flags.writeable
        return made
