"""`x.sort()` as a statement sorts a NumPy array in place. JAX's gives a sorted copy, which would be thrown away: refused."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Callable
from typing import Any

import jax

from autograph_jax.errors import ImmutableError, user_location

_POP, _CACHE = dis.opmap["POP_TOP"], dis.opmap["CACHE"]


def of_sort(method: types.MethodType) -> Callable[..., Any] | None:
    """The method `sort` of one of JAX's arrays, for a call that uses what it gives; None for any other method."""
    owner = method.__self__
    if not isinstance(owner, jax.Array) or method.__func__ is not getattr(type(owner), "sort", None):
        return None

    def sort(*arguments: Any, **keywords: Any) -> Any:
        if _is_thrown_away(sys._getframe(1)):
            raise ImmutableError(
                "an array of JAX's is not sorted in place: `sort` gives a sorted copy, which nothing takes",
                location=user_location(),
                help="give it to the variable, `x = x.sort()`; or write it into the array, `x[:] = jnp.sort(x)`",
            )
        return method(*arguments, **keywords)

    return sort


def _is_thrown_away(frame: types.FrameType) -> bool:
    """Is the call that a frame is at a statement of its own?"""
    code, place = frame.f_code.co_code, frame.f_lasti + 2
    while code[place] == _CACHE:
        place += 2
    return code[place] == _POP
