"""`ag.grad` and its family: derivatives by any arguments, given by number or by name, passed by position or by keyword."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar, overload

import jax

from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.canonical import Callee, decorate
from autograph_jax.runtime.selections import Selection

P = ParamSpec("P")
R = TypeVar("R")
Decorator = Callable[[Callable[P, Any]], Callable[P, Any]]


@overload
def grad(function: Callable[P, Any], /, argnums: Spec = None, *, argnames: Spec = None, **options: Any) -> Callable[P, Any]: ...
@overload
def grad(*, argnums: Spec = None, argnames: Spec = None, **options: Any) -> Decorator[P]: ...
def grad(function: Any = None, /, argnums: Spec = None, *, argnames: Spec = None, **options: Any) -> Any:
    """Convert a function with `autograph` and differentiate it with `jax.grad`, whose other options it takes.

    The arguments to differentiate by are given by number or by name, the first one unless said otherwise; numbers count the
    parameters of the signature, keyword-only ones too, negative ones from its end. `*args` and `**kwargs` have their own
    names, and what is in them a number or a name. However a call passes an argument, and where it leaves a differentiated one
    to its default, the result is the same.

    One number or name gives the gradient itself, several names a dict, several numbers (or both kinds) a tuple in the order
    given. `(0,)` and `["x"]` are several. A gradient has the structure, shapes and dtypes of its argument. With
    `has_aux=True` the function returns `(value, aux)`, and the gradient function `(gradient, aux)`.

        >>> @grad(argnames=["x", "scale"])
        ... def energy(x, *, scale=1.0):
        ...     return scale * x**2 if x > 0 else 0.0
        >>> print(energy(3.0))
        {'scale': Array(9., dtype=float32, weak_type=True), 'x': Array(6., dtype=float32, weak_type=True)}

    Raises ArgumentError for an argument that is not there or is meant twice; TypeError, as `jax.grad` does, for an argument
    that is no float and a function that does not return a scalar.
    """
    return _differentiated(jax.grad, function, argnums, argnames, options)


@overload
def value_and_grad(
    function: Callable[P, R], /, argnums: Spec = None, *, argnames: Spec = None, **options: Any
) -> Callable[P, tuple[R, Any]]: ...
@overload
def value_and_grad(
    *, argnums: Spec = None, argnames: Spec = None, **options: Any
) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Any]]]: ...
def value_and_grad(function: Any = None, /, argnums: Spec = None, *, argnames: Spec = None, **options: Any) -> Any:
    """The function's value and its gradient, `(value, gradient)`: see `grad`. With `has_aux=True`, `((value, aux), gradient)`.

    >>> value, slope = value_and_grad(lambda x, k: x**k, argnames="x")(k=2, x=3.0)
    >>> print(value, slope)
    9.0 6.0
    """
    return _differentiated(jax.value_and_grad, function, argnums, argnames, options)


@overload
def jacfwd(
    function: Callable[P, Any], /, argnums: Spec = None, *, argnames: Spec = None, **options: Any
) -> Callable[P, Any]: ...
@overload
def jacfwd(*, argnums: Spec = None, argnames: Spec = None, **options: Any) -> Decorator[P]: ...
def jacfwd(function: Any = None, /, argnums: Spec = None, *, argnames: Spec = None, **options: Any) -> Any:
    """The Jacobian, column by column in forward mode. Arguments are chosen as for `grad`.

    In place of each array of the output, of shape `out`, stands the derivative by the chosen arguments: an array of shape
    `out + in` for one argument of shape `in`, a dict or a tuple of these for several.

        >>> import jax.numpy as jnp
        >>> by_name = jacfwd(lambda x, y: x * y, argnames=["y"])(jnp.ones(3), y=jnp.ones(3))
        >>> by_name["y"].shape
        (3, 3)
    """
    return _differentiated(jax.jacfwd, function, argnums, argnames, options)


@overload
def jacrev(
    function: Callable[P, Any], /, argnums: Spec = None, *, argnames: Spec = None, **options: Any
) -> Callable[P, Any]: ...
@overload
def jacrev(*, argnums: Spec = None, argnames: Spec = None, **options: Any) -> Decorator[P]: ...
def jacrev(function: Any = None, /, argnums: Spec = None, *, argnames: Spec = None, **options: Any) -> Any:
    """The Jacobian, row by row in reverse mode; its structure is that of `jacfwd`."""
    return _differentiated(jax.jacrev, function, argnums, argnames, options)


@overload
def hessian(
    function: Callable[P, Any], /, argnums: Spec = None, *, argnames: Spec = None, **options: Any
) -> Callable[P, Any]: ...
@overload
def hessian(*, argnums: Spec = None, argnames: Spec = None, **options: Any) -> Decorator[P]: ...
def hessian(function: Any = None, /, argnums: Spec = None, *, argnames: Spec = None, **options: Any) -> Any:
    """The Hessian, `jacfwd` of `jacrev`. By several names it is a dict of dicts, `h["x"]["y"]`; by numbers a tuple of tuples.

    >>> h = hessian(lambda x, y: x**2 * y, argnames=["x", "y"])(2.0, y=3.0)
    >>> print(h["x"]["x"], h["x"]["y"], h["y"]["y"])
    6.0 4.0 0.0
    """
    return _differentiated(jax.hessian, function, argnums, argnames, options)


def _differentiated(transform: Any, function: Any, argnums: Spec, argnames: Spec, options: dict[str, Any]) -> Any:
    def make(function: Any) -> Any:
        first = 0 if argnums is None and argnames is None else argnums
        selection = Selection.of(Callee(function), first, argnames)
        derivative = transform(selection.function, **options)

        def call(*values: Any) -> Any:
            return derivative(*selection.divided(values))

        return selection.canonical.forwarder(call, filled=selection.names)

    return decorate(function, make)
