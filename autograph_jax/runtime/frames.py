"""Hides our frames from JAX: its source lines and filtered tracebacks then show the user's code alone."""

from __future__ import annotations

import os

import jax.extend.source_info_util

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def hide() -> None:
    jax.extend.source_info_util.register_exclusion(_PACKAGE)
    try:
        from jax._src import traceback_util
    except ImportError:  # pragma: no cover - private; without it filtered tracebacks show our frames too
        return
    traceback_util.register_exclusion(_PACKAGE)
