"""`autograph`: the decorator, for functions, methods, classes and callables; and `source`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, overload

from autograph_jax.errors import NotAFunctionError
from autograph_jax.operators.tracing.cached import CachedProperty
from autograph_jax.runtime import frames
from autograph_jax.runtime import position as position  # sets the operators' hooks
from autograph_jax.runtime.classes import meet
from autograph_jax.runtime.convert import conversion_of, convert_function
from autograph_jax.runtime.libraries import uses_us
from autograph_jax.runtime.strict import strictly
from autograph_jax.syntax import emit

F = TypeVar("F", bound=Callable[..., Any])

frames.hide()


@overload
def autograph(function: F, /, *, strict: bool = False) -> F: ...
@overload
def autograph(*, strict: bool = False) -> Callable[[F], F]: ...
def autograph(function: Any = None, /, *, strict: bool = False) -> Any:
    """Rewrite Python control flow so that it also works on traced JAX values.

    `if`, `while`, `for`, `break`, `continue`, `return`, `and`/`or`/`not`, `x[i] = y`, attribute writes and calls run as
    plain Python on plain values, and stage `lax.cond`, `lax.scan` and `lax.while_loop` where a traced value decides. The result
    is an ordinary function for `jax.jit`, `jax.grad`, `jax.vmap`.

    Works on functions, lambdas, methods, `classmethod`, `staticmethod`, `property`, `functools.partial`, callable objects,
    and classes (all methods that the class itself defines). What it gets is left as it is; it returns the converted twin.

    With `strict=True`, whatever would fall back to Python is an error: a function that cannot be converted (UnconvertibleError
    or SourceError), a call of such a function, and a loop that sees traced values but is not staged (StagingError), unless it
    says so by `ag.unroll`.

        >>> import jax
        >>> @autograph
        ... def root(a):
        ...     x = a
        ...     while abs(x * x - a) > 1e-6:
        ...         x = 0.5 * (x + a / x)
        ...     return x
        >>> print(jax.jit(root)(2.0))
        1.4142135

    Raises NotAFunctionError for anything that cannot be called.
    """
    if function is None:
        return lambda f: autograph(f, strict=strict)
    uses_us(getattr(function, "__module__", None))
    return _converted(function, strict)


def _converted(target: Any, strict: bool) -> Any:
    match target:
        case types.FunctionType():
            twin = convert_function(target, strict=strict)
            return strictly(twin) if strict else twin
        case types.MethodType():
            return types.MethodType(_converted(target.__func__, strict), target.__self__)
        case staticmethod() | classmethod():
            return type(target)(_converted(target.__func__, strict))
        case property():
            parts = (target.fget, target.fset, target.fdel)
            fget, fset, fdel = (_converted(f, strict) if f is not None else None for f in parts)
            return property(fget, fset, fdel, target.__doc__)
        case functools.partial():
            return functools.partial(_converted(target.func, strict), *target.args, **target.keywords)
        case functools.cached_property():
            return CachedProperty.of(target, _converted(target.func, strict))
        case type():
            return _class(target, strict)
    method = getattr(type(target), "__call__", None)  # noqa: B004 - the function is wanted
    if isinstance(method, types.FunctionType):
        return types.MethodType(_converted(method, strict), target)
    if callable(target) and not isinstance(target, types.BuiltinFunctionType):
        raise NotAFunctionError(
            f"`autograph` got {target!r}, whose source it cannot see",
            help="decorate the Python function itself: `@autograph` goes below `@jax.jit`",
        )
    raise NotAFunctionError(
        f"`autograph` got {target!r}, which is not a Python function",
        help="decorate a function, a method or a class",
    )


_METHODS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)


def _class(kind: type, strict: bool) -> type:
    """Convert the methods that a class defines, in place: the class stays itself. So do its bases."""
    meet(kind)
    for name, member in list(vars(kind).items()):
        if isinstance(member, _METHODS) and not _is_generated(member):
            setattr(kind, name, _converted(member, strict))
    return kind


def _is_generated(member: Any) -> bool:
    """Methods that dataclasses and NamedTuples write have no source, and need none."""
    code = getattr(getattr(member, "__func__", member), "__code__", None)
    return code is not None and code.co_filename.startswith("<")


def source(function: Any) -> str:
    """The converted source of a function, as text that reads like the user's own.

    Takes what `autograph` takes, converted or not. Raises UnconvertibleError or SourceError with the reason.
    """
    function = _innermost(function)
    converted = convert_function(function, strict=True)
    tree = conversion_of(converted).tree
    assert tree is not None
    return emit.to_text(tree)


def _innermost(target: Any) -> types.FunctionType:
    """The plain function under methods, partials, properties and callable objects."""
    for attribute in ("__func__", "fget", "func"):
        if not isinstance(target, types.FunctionType) and hasattr(target, attribute):
            return _innermost(getattr(target, attribute))
    if isinstance(target, types.FunctionType):
        return target
    method = getattr(type(target), "__call__", None)  # noqa: B004 - the function is wanted
    if isinstance(method, types.FunctionType):
        return method
    raise NotAFunctionError(f"{target!r} is not a Python function", help="name a function or a method")
