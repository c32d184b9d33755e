"""`@autograph(strict=True)`: what would fall back to Python is an error."""

from __future__ import annotations

import types
import weakref

from autograph_jax.errors import UnconvertibleError, user_location
from autograph_jax.operators import hooks
from autograph_jax.runtime.convert import conversion_of

# Module state: converted code objects of strict functions, by id while they live.
_strict: dict[int, weakref.ref[types.CodeType]] = {}


def strictly(twin: types.FunctionType) -> types.FunctionType:
    """Mark a converted function, and the blocks and functions inside it, as strict."""
    pending = [twin.__code__]
    while pending:
        code = pending.pop()
        key = id(code)
        _strict[key] = weakref.ref(code, lambda _, key=key: _strict.pop(key, None))
        pending += [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return twin


def is_strict(code: types.CodeType) -> bool:
    return id(code) in _strict


def check_callee(caller: types.CodeType, function: types.FunctionType) -> None:
    """A function of the user's that cannot be converted is an error where a strict one calls it."""
    if is_strict(caller):
        conversion = conversion_of(function)
        raise UnconvertibleError(
            f"`{function.__qualname__}` is called here and cannot be converted: {conversion.reason}",
            location=user_location(),
            help="mark it with `@ag.do_not_convert` if it is to run as it is",
        )


hooks.is_strict = is_strict
