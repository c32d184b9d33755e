"""How a callable is called, by which signature its arguments are named and counted, and its name for messages."""

from __future__ import annotations

import functools
import inspect
import keyword
import types
from inspect import Parameter, Signature
from typing import Any

POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_ANY = inspect.signature(lambda *args, **kwargs: None)


def called_signature(function: Any) -> Signature:
    """How the callable itself is called, whatever `functools.wraps` says; `(*args, **kwargs)` if Python cannot tell."""
    try:
        signature = inspect.signature(_bare(function))
    except (TypeError, ValueError):
        return _ANY
    return signature if not any(map(keyword.iskeyword, signature.parameters)) else _ANY


def shown_signature(function: Any) -> Signature:
    """The signature that the callable shows, that of the function it wraps if it says so."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return _ANY


def naming_signature(function: Any) -> Signature:
    """The signature that arguments are named and counted by.

    It is the callable's own; but that of the wrapped function where a wrapper seems to hand on what it gets: `def
    wrapper(*args, **kwargs)`, or `def wrapper(self, *args, **kwargs)` around `def step(self, x)`.
    """
    called = called_signature(function)
    kinds = {p.kind for p in called.parameters.values()}
    if not {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD} <= kinds or Parameter.KEYWORD_ONLY in kinds:
        return called
    try:
        wrapped = inspect.signature(function)
    except (TypeError, ValueError):
        return called
    first = [p.name for p in called.parameters.values() if p.kind in POSITIONAL]
    return wrapped if list(wrapped.parameters)[: len(first)] == first else called


def _bare(function: Any) -> Any:
    """The same callable without `__wrapped__` and `__signature__`, which `inspect` would believe."""
    match function:
        case types.FunctionType():
            bare = types.FunctionType(function.__code__, {}, "f", function.__defaults__, function.__closure__)
            bare.__kwdefaults__ = function.__kwdefaults__
            return bare
        case types.MethodType():
            return types.MethodType(_bare(function.__func__), function.__self__)
        case functools.partial():
            return functools.partial(_bare(function.func), *function.args, **function.keywords)
    return function


def name_of(function: Any) -> str:
    """A callable's name as messages give it: `solve`, `Model.step`, the class of a callable object."""
    if isinstance(function, functools.partial):
        return name_of(function.func)
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    return name.rpartition("<locals>.")[2]
