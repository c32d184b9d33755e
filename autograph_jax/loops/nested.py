"""Loops that are part of a turn of another loop know it: what they save in reverse is kept for each turn of that one."""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.caches import cached
from autograph_jax.loops.evaluation import PLAIN
from autograph_jax.loops.loop import Loop


def with_nested_loops(body: ClosedJaxpr) -> ClosedJaxpr:
    """The body of a loop, whose loops know it, also those in branches and calls. What JAX itself runs again stays as it is."""
    return _made(body) if body.consts else _made_once(body)  # tracers are not kept


def _made(body: ClosedJaxpr) -> ClosedJaxpr:
    if body.jaxpr is body:  # jax 0.12 has one class for both
        return _known(body)
    jaxpr = _known(body.jaxpr)
    return body if jaxpr is body.jaxpr else ClosedJaxpr(jaxpr, body.consts)


_made_once = cached(1024)(_made)  # module state: bodies that are the same stay the same


def _known(jaxpr: Any) -> Any:
    params = [_params(equation) for equation in jaxpr.eqns]
    if all(new is equation.params for new, equation in zip(params, jaxpr.eqns, strict=True)):
        return jaxpr
    equations = [equation.replace(params=new) for new, equation in zip(params, jaxpr.eqns, strict=True)]
    return jaxpr.replace(eqns=equations)


def _params(equation: Any) -> dict[str, Any]:
    params = equation.params
    if not params:  # as of most
        return params
    if isinstance(loop := params.get("loop"), Loop):
        has_saved = equation.primitive.name == "while_saving" or params.get("saved")  # of a derivative that is part of the body
        return params if loop.given.is_nested or has_saved else params | {"loop": loop.as_nested()}
    if "prevent_cse" in params:  # of jax.checkpoint
        return params
    values = {name: value for name, value in params.items() if type(value) not in PLAIN}
    new = {name: _within(value) for name, value in values.items()}
    return params if all(new[name] is value for name, value in values.items()) else params | new


def _within(value: Any) -> Any:
    """A jaxpr, or a tuple of those, the branches; anything else as it is."""
    if type(value) is tuple:
        new = tuple(map(_within, value))
        return value if all(one is other for one, other in zip(new, value, strict=True)) else new
    return with_nested_loops(value) if isinstance(value, ClosedJaxpr) else value
