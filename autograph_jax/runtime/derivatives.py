"""`ag.grad` and its family: derivatives by any arguments, given by number or by name, passed by position or by keyword."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, ParamSpec, Protocol, TypeVar, overload

import jax

from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.canonical import Callee, decorate
from autograph_jax.runtime.opened import arrays_in
from autograph_jax.runtime.selections import Selection

P = ParamSpec("P")
R = TypeVar("R")
Captures = Literal["argument"] | None
Decorator = Callable[[Callable[P, Any]], Callable[P, Any]]


class Derivative(Protocol):
    """A transform of a function into one that gives derivatives; without a function, a decorator."""

    __name__: str

    @overload
    def __call__(
        self,
        function: Callable[P, Any],
        /,
        argnums: Spec = None,
        *,
        argnames: Spec = None,
        captures: Captures = None,
        **options: Any,
    ) -> Callable[P, Any]: ...
    @overload
    def __call__(
        self, *, argnums: Spec = None, argnames: Spec = None, captures: Captures = None, **options: Any
    ) -> Decorator[P]: ...


class WithValue(Protocol):
    """A transform of a function into one that gives its value and derivatives; without a function, a decorator."""

    __name__: str

    @overload
    def __call__(
        self,
        function: Callable[P, R],
        /,
        argnums: Spec = None,
        *,
        argnames: Spec = None,
        captures: Captures = None,
        **options: Any,
    ) -> Callable[P, tuple[R, Any]]: ...
    @overload
    def __call__(
        self, *, argnums: Spec = None, argnames: Spec = None, captures: Captures = None, **options: Any
    ) -> Callable[[Callable[P, R]], Callable[P, tuple[R, Any]]]: ...


def _derivative(transform: Callable[..., Any]) -> Callable[[Callable[[], None]], Derivative]:
    """The transform of JAX's for arguments of every kind, with the name and docstring of what is decorated."""
    return _by_arguments(transform)


def _with_value(transform: Callable[..., Any]) -> Callable[[Callable[[], None]], WithValue]:
    return _by_arguments(transform)


def _by_arguments(transform: Callable[..., Any]) -> Callable[[Callable[[], None]], Any]:

    def make(described: Callable[[], None]) -> Any:
        def derivative(
            function: Any = None,
            /,
            argnums: Spec = None,
            *,
            argnames: Spec = None,
            captures: Captures = None,
            **options: Any,
        ) -> Any:
            by = argnums, argnames, captures
            return decorate(function, lambda f: _differentiated(transform, f, *by, options))

        functools.update_wrapper(derivative, described)
        del derivative.__wrapped__  # whose signature it does not have
        return derivative

    return make


def _differentiated(
    transform: Any, function: Any, argnums: Spec, argnames: Spec, captures: Captures, options: dict[str, Any]
) -> Any:
    first = 0 if argnums is None and argnames is None else argnums
    selection = Selection.of(Callee(function), first, argnames, captures)
    derivative = transform(selection.function, **options)

    def call(*values: Any) -> Any:
        return arrays_in(derivative(*selection.divided(values)))

    return selection.canonical.forwarder(call, filled=selection.names)


@_derivative(jax.grad)
def grad() -> None:
    """Convert a function with `autograph` and differentiate it with `jax.grad`, whose other options it takes.

    The arguments to differentiate by are given by number or by name, the first one unless said otherwise; numbers count the
    parameters of the signature, keyword-only ones too, negative ones from its end. `*args` and `**kwargs` have their own
    names, and what is in them a number or a name. However a call passes an argument, and where it leaves a differentiated one
    to its default, the result is the same.

    One number or name gives the gradient itself, several names a dict, several numbers (or both kinds) a tuple in the order
    given. `(0,)` and `["x"]` are several. A gradient has the structure, shapes and dtypes of its argument. With
    `has_aux=True` the function returns `(value, aux)`, and the gradient function `(gradient, aux)`.

    With `captures="argument"`, a name may be that of a float or an array that the function closes over, as `ag.captures`
    lists them: `grad(loss, argnames=["w", "model.bias"], captures="argument")`.

        >>> @grad(argnames=["x", "scale"])
        ... def energy(x, *, scale=1.0):
        ...     return scale * x**2 if x > 0 else 0.0
        >>> print(energy(3.0))
        {'scale': Array(9., dtype=float32, weak_type=True), 'x': Array(6., dtype=float32, weak_type=True)}

    Raises ArgumentError for an argument that is not there or is meant twice; TypeError, as `jax.grad` does, for an argument
    that is no float and a function that does not return a scalar.
    """


@_with_value(jax.value_and_grad)
def value_and_grad() -> None:
    """The function's value and its gradient, `(value, gradient)`: see `grad`. With `has_aux=True`, `((value, aux), gradient)`.

    >>> value, slope = value_and_grad(lambda x, k: x**k, argnames="x")(k=2, x=3.0)
    >>> print(value, slope)
    9.0 6.0
    """


@_derivative(jax.jacfwd)
def jacfwd() -> None:
    """The Jacobian, column by column in forward mode. Arguments are chosen as for `grad`.

    In place of each array of the output, of shape `out`, stands the derivative by the chosen arguments: an array of shape
    `out + in` for one argument of shape `in`, a dict or a tuple of these for several.

        >>> import jax.numpy as jnp
        >>> by_name = jacfwd(lambda x, y: x * y, argnames=["y"])(jnp.ones(3), y=jnp.ones(3))
        >>> by_name["y"].shape
        (3, 3)
    """


@_derivative(jax.jacrev)
def jacrev() -> None:
    """The Jacobian, row by row in reverse mode; its structure is that of `jacfwd`."""


@_derivative(jax.hessian)
def hessian() -> None:
    """The Hessian, `jacfwd` of `jacrev`.

    By several names it is a dict of dicts, `h["x"]["y"]`; by numbers a tuple of tuples.

        >>> h = hessian(lambda x, y: x**2 * y, argnames=["x", "y"])(2.0, y=3.0)
        >>> print(h["x"]["x"], h["x"]["y"], h["y"]["y"])
        6.0 4.0 0.0
    """
