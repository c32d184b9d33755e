"""`autograph`: the decorator, for functions, methods, classes and callables; and `source`."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Collection
from typing import Any, NamedTuple, TypeVar, overload

from autograph_jax.errors import NotAFunctionError, user_location
from autograph_jax.loops.optimizations import chosen
from autograph_jax.operators import loop_options
from autograph_jax.operators.tracing.cached import CachedProperty
from autograph_jax.runtime.classes import meet
from autograph_jax.runtime.convert import another_twin, conversion_of, convert_function
from autograph_jax.runtime.libraries import uses_us
from autograph_jax.runtime.strict import strictly
from autograph_jax.syntax import emit

F = TypeVar("F", bound=Callable[..., Any])
Optimize = bool | str | Collection[str]


@overload
def autograph(
    function: F,
    /,
    *,
    strict: bool = False,
    checkpoints: int | None = None,
    max_steps: int | None = None,
    optimize: Optimize | None = None,
) -> F: ...
@overload
def autograph(
    *,
    strict: bool = False,
    checkpoints: int | None = None,
    max_steps: int | None = None,
    optimize: Optimize | None = None,
) -> Callable[[F], F]: ...
def autograph(
    function: Any = None,
    /,
    *,
    strict: bool = False,
    checkpoints: int | None = None,
    max_steps: int | None = None,
    optimize: Optimize | None = None,
) -> Any:
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

    Of a loop whose number of turns is only known at run time, reverse mode keeps so many `checkpoints` (states), as in
    `ag.while_loop`. A `while`, or a `for` over a range with a traced bound, that is not over after `max_steps` turns ends
    there by a RuntimeError. `optimize` says what loops are compiled with: True (what holds where nothing is said), False, or
    the names of optimisations that docs/optimizations.md has. All of these hold for the loops of the function and of whatever
    it calls; a function with options of its own decides for itself, and `ag.stage(xs, checkpoints=...)` for one loop. (A callee
    under a `jax.jit` of its own is traced once, with the options of whoever calls it first.)

    Raises NotAFunctionError for anything that cannot be called, ValueError for an option that means nothing.
    """
    choice = None if optimize is None else chosen(optimize)
    options = _Options(strict, loop_options.Options(checkpoints, max_steps, choice))
    if function is None:
        return functools.partial(_decorated, options=options)
    return _decorated(function, options)


def _decorated(function: Any, options: _Options) -> Any:
    uses_us(getattr(function, "__module__", None))
    return _converted(function, options)


class _Options(NamedTuple):
    strict: bool
    of_loops: loop_options.Options


def _twin(function: types.FunctionType, options: _Options) -> types.FunctionType:
    twin = convert_function(function, strict=options.strict)
    if options.of_loops != loop_options.NONE:
        twin = another_twin(twin)
        loop_options.give(twin.__code__, options.of_loops)
    return strictly(twin) if options.strict else twin


def _converted(target: Any, options: _Options) -> Any:
    match target:
        case types.FunctionType():
            return _twin(target, options)
        case types.MethodType():
            return types.MethodType(_converted(target.__func__, options), target.__self__)
        case staticmethod() | classmethod():
            return type(target)(_converted(target.__func__, options))
        case property():
            parts = (target.fget, target.fset, target.fdel)
            fget, fset, fdel = (_converted(f, options) if f is not None else None for f in parts)
            return property(fget, fset, fdel, target.__doc__)
        case functools.partial():
            return functools.partial(_converted(target.func, options), *target.args, **target.keywords)
        case functools.cached_property():
            return CachedProperty.of(target, _converted(target.func, options))
        case type():
            return _class(target, options)
    method = getattr(type(target), "__call__", None)  # noqa: B004 - the function is wanted
    if isinstance(method, types.FunctionType):
        return types.MethodType(_converted(method, options), target)
    if callable(target) and not isinstance(target, types.BuiltinFunctionType):
        raise NotAFunctionError(
            f"`autograph` got {target!r}, whose source it cannot see",
            location=user_location(),
            help="decorate the Python function itself: `@autograph` goes below `@jax.jit`",
        )
    raise NotAFunctionError(
        f"`autograph` got {target!r}, which is not a Python function",
        location=user_location(),
        help="decorate a function, a method or a class",
    )


_METHODS = (types.FunctionType, staticmethod, classmethod, property, functools.cached_property)


def _class(kind: type, options: _Options) -> type:
    """Convert the methods that a class defines, in place: the class stays itself. So do its bases."""
    meet(kind)
    for name, member in list(vars(kind).items()):
        if isinstance(member, _METHODS) and not _is_generated(member):
            setattr(kind, name, _converted(member, options))
    return kind


def _is_generated(member: Any) -> bool:
    """Methods that dataclasses and NamedTuples write have no source, and need none."""
    code = getattr(getattr(member, "__func__", member), "__code__", None)
    return code is not None and code.co_filename.startswith("<")


def source(function: Any) -> str:
    """The converted source of a function, as text that reads like the user's own.

    Takes what `autograph` takes, converted or not. Raises UnconvertibleError or SourceError with the reason.
    """
    function = innermost(function)
    converted = convert_function(function, strict=True)
    tree = conversion_of(converted).tree
    assert tree is not None
    return emit.to_text(tree)


def innermost(target: Any) -> types.FunctionType:
    """The plain function under methods, partials, properties and callable objects."""
    for attribute in ("__func__", "fget", "func"):
        if not isinstance(target, types.FunctionType) and hasattr(target, attribute):
            return innermost(getattr(target, attribute))
    if isinstance(target, types.FunctionType):
        return target
    method = getattr(type(target), "__call__", None)  # noqa: B004 - the function is wanted
    if isinstance(method, types.FunctionType):
        return method
    raise NotAFunctionError(
        f"{target!r} is not a Python function", location=user_location(), help="name a function or a method"
    )
