"""Functions in C that their library has in Python, too: what SciPy's `Rotation` computes with arrays of other kinds."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .creating import values
from .views import is_static

# For a module in C the one of the same library that has its functions in Python, under their names.
_IN_PYTHON = {
    "scipy.spatial.transform._rotation_cy": "scipy.spatial.transform._rotation_xp",
    "scipy.spatial.transform._rigid_transform_cy": "scipy.spatial.transform._rigid_transform_xp",
    "arch.univariate.recursions": "arch.univariate.recursions_python",
}


def in_python(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Callable[..., Any] | None:
    """The library's Python code for a call of a function in C with traced values; None where it has none."""
    module = _IN_PYTHON.get(getattr(function, "__module__", None) or "")
    if module is None or is_static((values(arguments), values(keywords))):
        return None
    try:
        found = getattr(importlib.import_module(module), function.__name__, None)
    except ImportError:  # of another version of the library
        return None
    return found if callable(found) else None
