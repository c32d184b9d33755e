"""Hides our frames from JAX: its source lines and filtered tracebacks then show the user's code alone."""

from __future__ import annotations

import os
import types

import jax.extend.source_info_util

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Not `cli`: the demo's solver is a user's program like any other.
_OURS = [
    os.path.join(_PACKAGE, room) + os.sep
    for room in ("syntax", "converters", "operators", "loops", "porting", "runtime", "explaining")
]


def is_ours(code: types.CodeType) -> bool:
    """Is it code of this package, written or generated? Generated functions have the user's globals."""
    return code.co_filename.startswith(_PACKAGE + os.sep)


def hide() -> None:
    for room in _OURS:
        jax.extend.source_info_util.register_exclusion(room)
    try:
        from jax._src import traceback_util
    except ImportError:  # pragma: no cover - private; without it filtered tracebacks show our frames too
        return
    for room in _OURS:
        traceback_util.register_exclusion(room)
