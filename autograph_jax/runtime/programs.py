"""`ag.make_jaxpr`, `ag.closure_convert`: the program that JAX sees of a function; captured values as arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, overload

import jax

from autograph_jax.runtime.arguments import Spec
from autograph_jax.runtime.canonical import Callee, decorate
from autograph_jax.runtime.recaptured import Recaptured, StaticObjects, copied

P = ParamSpec("P")


@overload
def make_jaxpr(
    function: Callable[P, Any], /, *, static_argnums: Spec = None, static_argnames: Spec = None, **options: Any
) -> Callable[P, Any]: ...
@overload
def make_jaxpr(
    *, static_argnums: Spec = None, static_argnames: Spec = None, **options: Any
) -> Callable[[Callable[P, Any]], Callable[P, Any]]: ...
def make_jaxpr(function: Any = None, /, *, static_argnums: Spec = None, static_argnames: Spec = None, **options: Any) -> Any:
    """Convert a function with `autograph`; the result gives the jaxpr of a call, as `jax.make_jaxpr`, whose options it takes.

    Static arguments are given by number or by name as for `jit`. The jaxpr's inputs are the arrays of the other arguments in
    the order of the signature, however the call passes them; a default that it leaves out is a constant.

        >>> program = make_jaxpr(lambda x, *, n: x**n, static_argnames="n")(n=3, x=2.0)
        >>> print(program.jaxpr.eqns[0].params["y"])
        3

    Raises ArgumentError for an argument that is not there or is meant twice.
    """

    return decorate(function, lambda f: with_statics(jax.make_jaxpr, f, static_argnums, static_argnames, options))


def with_statics(transform: Any, function: Any, argnums: Spec, argnames: Spec, options: dict[str, Any]) -> Any:
    """A transform of JAX's that has `static_argnums`, and keeps the trace of a function with the captured values of then."""
    callee = Callee(function)
    static = callee.arguments("static", argnums, argnames)
    canonical = callee.canonical(static)
    positions = canonical.positions(static)

    def transformed(target: Any, names: tuple[str, ...]) -> Any:
        return transform(canonical.body_of(target), static_argnums=positions, **options)

    programs = Recaptured(callee.target, transformed, mode="retrace", name=callee.name, share=False)
    statics = canonical.statics(static, StaticObjects(callee.target).state)
    return canonical.forwarder(lambda *values: programs.now()(*values), static=statics)


def closure_convert(function: Callable[..., Any], /, *arguments: Any, **keywords: Any) -> tuple[Callable[..., Any], list[Any]]:
    """Convert a function with `autograph`, and make what it captures from a trace an argument: `(converted, captured)`.

    `arguments` and `keywords` are those of one call, by their shapes and dtypes; they are passed in the same way later, the
    captured values after the positional ones: `converted(*arguments, *captured, **keywords)`. As in
    `jax.closure_convert`, only floating-point values of a trace are taken out.

        >>> import jax
        >>> def slope(a, x):
        ...     scaled, captured = closure_convert(lambda x, *, k: k * a * x, x, k=2.0)
        ...     return scaled(x, *captured, k=2.0)
        >>> print(jax.grad(slope)(1.0, 3.0))
        6.0
    """
    callee = Callee(function)
    canonical = callee.canonical()
    body = canonical.body_of(copied(callee.target))  # JAX keeps what it was, with the values of then
    program, captured = jax.closure_convert(body, *canonical.values(*arguments, **keywords))
    count = len(arguments)

    def converted(*values: Any, **named: Any) -> Any:
        return program(*canonical.values(*values[:count], **named), *values[count:])

    return converted, captured
