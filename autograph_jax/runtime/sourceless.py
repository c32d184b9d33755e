"""A function without source text, made by `exec`, runs as it is; what it calls by a global name, or is handed, is converted."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.operators.tracing.bytecode import instructions

Call = Callable[[Any], Callable[..., Any]]


def with_callees(function: types.FunctionType, call: Call) -> Callable[..., Any]:
    """The function with callees that are converted, by `call`, when they are called."""
    names = _names(function.__code__)
    known = {name: value for name, value in function.__globals__.items() if name in names}
    calls = _called(function.__code__)
    called = {name: _calling(value, call) for name, value in known.items() if _is_converted(value, name in calls)}
    same = types.FunctionType(
        function.__code__,
        {**function.__globals__, **called},
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    same.__kwdefaults__ = function.__kwdefaults__

    def run(*arguments: Any, **keywords: Any) -> Any:
        return same(*(_handed(value, call) for value in arguments), **{name: _handed(v, call) for name, v in keywords.items()})

    return run


def _names(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_names, inner))


def _called(code: types.CodeType) -> set[str]:
    """The global names that it calls at once, in every place where it reads them."""
    reads = [instruction for instruction in instructions(code) if instruction.opname == "LOAD_GLOBAL"]
    read = {one.argval for one in reads if not (one.arg or 0) & 1}  # the bit says that a call follows
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return {one.argval for one in reads}.union(*map(_called, inner)) - read


def _is_converted(value: Any, is_called: bool) -> bool:
    """A function; or an object with a `__call__` in Python, where it is only called."""
    if type(value) is types.FunctionType:
        return True
    return is_called and callable(value) and isinstance(type(value).__call__, types.FunctionType)


def _calling(function: Any, call: Call) -> Callable[..., Any]:
    @functools.wraps(function)
    def run(*arguments: Any, **keywords: Any) -> Any:
        return call(function)(*arguments, **keywords)

    return run


def _handed(value: Any, call: Call) -> Any:
    return call(value) if type(value) is types.FunctionType else value
