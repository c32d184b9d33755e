"""`ag.checkpoint`: what a function computes on the way is computed again in the backward pass, not kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

import jax

from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.canonical import decorate
from autograph_jax.runtime.programs import with_statics

F = TypeVar("F", bound=Callable[..., Any])


@overload
def checkpoint(function: F, /, *, static_argnums: Spec = None, static_argnames: Spec = None, **options: Any) -> F: ...
@overload
def checkpoint(*, static_argnums: Spec = None, static_argnames: Spec = None, **options: Any) -> Callable[[F], F]: ...
def checkpoint(function: Any = None, /, *, static_argnums: Spec = None, static_argnames: Spec = None, **options: Any) -> Any:
    """Convert a function with `autograph` and rematerialize it with `jax.checkpoint`, whose other options it takes.

    Static arguments are given by number or by name, and compared, as for `jit`. They are what the function sees as they are
    passed; others are traced, keyword arguments too.

        >>> @checkpoint(static_argnames="n")
        ... def tower(x, *, n):
        ...     for _ in range(n):
        ...         x = x * x
        ...     return x
        >>> import jax
        >>> print(jax.grad(lambda x: tower(x, n=2))(2.0))
        32.0

    Raises ArgumentError for an argument that is not there or is meant twice, and, when called, for a static value that cannot
    be compared.
    """

    return decorate(function, lambda f: with_statics(jax.checkpoint, f, static_argnums, static_argnames, options))
