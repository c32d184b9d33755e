"""`ag.checkify`: what a function's `raise` and `assert` say, as a value."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

from jax.experimental import checkify as jax_checkify

from autograph_jax.operators.effects.failures import errors_as_values
from autograph_jax.runtime.canonical import Callee, decorate
from autograph_jax.runtime.classes import meet_all

P = ParamSpec("P")
R = TypeVar("R")
Errors = frozenset[Any]  # of JAX's error categories: `jax.experimental.checkify.float_checks`


@overload
def checkify(
    function: Callable[P, R], /, errors: Errors = jax_checkify.user_checks
) -> Callable[P, tuple[jax_checkify.Error, R]]: ...
@overload
def checkify(
    *, errors: Errors = jax_checkify.user_checks
) -> Callable[[Callable[P, R]], Callable[P, tuple[jax_checkify.Error, R]]]: ...
def checkify(function: Any = None, /, errors: Errors = jax_checkify.user_checks) -> Any:
    """Convert a function with `autograph` and check it with `jax.experimental.checkify`; a call gives `(error, value)`.

    Each `raise` and `assert` that traced data decides about is a check: nothing is raised at run time, and the program calls
    Python nowhere, so that it also suits devices without callbacks. `error.get()` is None or a text: the exception's type, what
    the user's code says with the values of the run, and file and line. `error.throw()` raises JAX's error. Of several errors
    the first counts; a loop ends by it, and the value means nothing then. What Python decides, it raises as always.

    `errors` are the categories of `jax.experimental.checkify.checkify`; without `user_checks` no `raise` or `assert` counts.

        >>> @checkify
        ... def shrink(x, n):
        ...     for _ in range(n):
        ...         x = x - 1
        ...         assert x > 0, f"x is {x}"
        ...     return x
        >>> import jax
        >>> error, _ = jax.jit(shrink)(2.5, 4)
        >>> print(error.get()[:28])
        AssertionError: x is -0.5 (<

    Raises NotAFunctionError for what cannot be called.
    """

    def make(function: Any) -> Any:
        checked: Any = jax_checkify.checkify(Callee(function).target, errors)

        @functools.wraps(function)
        def checkified(*arguments: Any, **keywords: Any) -> Any:
            meet_all((arguments, keywords))
            with errors_as_values():
                return checked(*arguments, **keywords)

        return checkified

    return decorate(function, make)
