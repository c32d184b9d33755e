"""The variables of a function that is running, as its frame tells them."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from typing import Any

from autograph_jax.operators.tracing.bytecode import instructions

_CRASHES = (3, 13) <= sys.version_info < (3, 13, 2)  # python/cpython#128396


def frame_variables(frame: types.FrameType) -> dict[str, Any]:
    """A frame's variables. Before Python 3.13 the frame keeps the dict that it gives, tracers included, so that is emptied."""
    kept, code = frame.f_locals, frame.f_code
    hidden = _hidden(code) if _CRASHES else None
    if hidden:
        names = (*code.co_varnames, *code.co_cellvars, *code.co_freevars)
        return {name: kept[name] for name in names if name not in hidden and name in kept}
    copied = dict(kept)
    if type(kept) is dict and code.co_flags & inspect.CO_OPTIMIZED:  # a module's is its namespace itself
        kept.clear()
    return copied


@functools.lru_cache(maxsize=4096)
def _hidden(code: types.CodeType) -> frozenset[str]:
    """Variables that functions inside share, and that those of a comprehension hide: Python may crash where it reads one."""
    if not code.co_cellvars:
        return frozenset()
    cleared = (one.argval for one in instructions(code) if one.opname == "LOAD_FAST_AND_CLEAR")
    return frozenset(code.co_cellvars).intersection(cleared)
