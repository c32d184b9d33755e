"""Loops that are part of a turn of another loop know it: what they save in reverse is saved for each turn of that one."""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.loop import Loop


def with_nested_loops(body: ClosedJaxpr) -> ClosedJaxpr:
    """The body of a loop, whose loops know it, also those in branches and calls. Theirs know it already."""
    jaxpr = _known(body.jaxpr)
    return body if jaxpr is body.jaxpr else ClosedJaxpr(jaxpr, body.consts)


def _known(jaxpr: Any) -> Any:
    params = [_params(equation.params) for equation in jaxpr.eqns]
    if all(new is equation.params for new, equation in zip(params, jaxpr.eqns, strict=True)):
        return jaxpr
    equations = [equation.replace(params=new) for new, equation in zip(params, jaxpr.eqns, strict=True)]
    return jaxpr.replace(eqns=equations)


def _params(params: dict[str, Any]) -> dict[str, Any]:
    if isinstance(loop := params.get("loop"), Loop):
        return params if loop.given.is_nested else params | {"loop": loop.as_nested()}
    new = {name: _within(value) for name, value in params.items()}
    return params if all(new[name] is value for name, value in params.items()) else new


def _within(value: Any) -> Any:
    """A jaxpr, or a tuple of those, the branches; anything else as it is."""
    if type(value) is tuple:
        new = tuple(map(_within, value))
        return value if all(one is other for one, other in zip(new, value, strict=True)) else new
    if isinstance(value, ClosedJaxpr):
        return with_nested_loops(value)
    return value
