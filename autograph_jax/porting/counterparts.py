"""Functions in C that their library has in Python, too: what SciPy's `Rotation` computes with arrays of other kinds."""

from __future__ import annotations

import functools
import importlib
import types
from collections.abc import Callable
from typing import Any

from .creating import values
from .views import is_static

# How libraries name the module with the same functions in Python, beside one in C: `_rotation_cy` and `_rotation_xp`.
_SIBLINGS = (("_cy", "_xp"), ("_cy", "_py"), ("", "_python"), ("", "_py"))


def in_python(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Callable[..., Any] | None:
    """The library's Python code for a call of a function in C with traced values; None where it has none."""
    module, name = getattr(function, "__module__", None), getattr(function, "__name__", None)
    is_named = isinstance(module, str) and "." in module and isinstance(name, str)
    return _counterpart(module, name) if is_named and not is_static((values(arguments), values(keywords))) else None


@functools.cache
def _counterpart(module: str, name: str) -> Callable[..., Any] | None:
    for end, other in _SIBLINGS:
        if module.endswith(end):
            try:
                found = getattr(importlib.import_module(module.removesuffix(end) + other), name, None)
            except ImportError:
                continue
            code = getattr(found, "py_func", found)
            if isinstance(code, types.FunctionType) and not _uses(code, module, name):
                return found
    return None


def _uses(function: types.FunctionType, module: str, name: str) -> bool:
    """Does it call what it has the name of, as `_odepack_py.odeint` does `_odepack.odeint`?"""
    used = (function.__globals__.get(one) for one in function.__code__.co_names)
    return any(
        isinstance(one, types.ModuleType)
        and one.__name__ == module
        or (getattr(one, "__module__", None), getattr(one, "__name__", None)) == (module, name)
        for one in used
    )
