"""Functions for which Numba compiles others, `@overload(stub)`, and which do nothing in Python: refused.

Which function Numba would take depends on its types of the arguments; a stub that is run gives None, and goes on.
"""

from __future__ import annotations

import dis
import sys
import types

from ..errors import PortingError, user_location

_REGISTRY = "numba.core.typing.templates"  # where Numba keeps what it knows by another function; not a public name of it
_NOTHING = frozenset({"LOAD_CONST", "RETURN_VALUE", "RETURN_CONST", "NOP"})


def check(function: types.FunctionType) -> None:
    """Raises PortingError for such a function."""
    if does_nothing(function) and _has_overload(function):
        name = function.__name__
        raise PortingError(
            f"`{name}` is a function for which Numba compiles another one, and does nothing in Python",
            location=user_location(),
            help=f"put a function in the place of `{name}` that computes what Numba's does",
        )


def does_nothing(function: types.FunctionType) -> bool:
    """Is its body `pass`, or a docstring alone?"""
    if len(function.__code__.co_code) > 12:
        return False
    return all(i.opname in _NOTHING and i.argval is None for i in dis.get_instructions(function) if i.opname != "RESUME")


def _has_overload(function: types.FunctionType) -> bool:
    registry = getattr(sys.modules.get(_REGISTRY), "builtin_registry", None)
    return any(known is function for known, _ in getattr(registry, "globals", ()))
