"""A loop that is run again without its prints: the sweep of reverse mode repeats turns that the user has seen already."""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.loop import Loop, loop_of


def quiet(loop: Loop) -> Loop:
    """The loop without callbacks that give nothing back, also in its branches and inner loops. It is run again, so no residuals
    of the loop itself are kept: without a bound, as in `schedule.plan`.
    """
    if loop.inner is not None or not (loop.cond.effects or loop.body.effects):
        return loop
    return loop.derived("quiet", lambda: _quiet(loop))


def _quiet(loop: Loop) -> Loop:
    new = loop_of(_without(loop.cond), _without(loop.body), loop.counts, loop.given._replace(bound=None))
    new.origin = loop.origin and quiet(loop.origin)
    return new


def _without(value: Any) -> Any:
    """A jaxpr without them; a tuple of jaxprs (branches), each without; a loop, quiet; anything else as it is."""
    if isinstance(value, ClosedJaxpr) and value.jaxpr is not value:  # jax 0.12 has one class for both
        return ClosedJaxpr(_without(value.jaxpr), value.consts)
    if isinstance(value, Loop):
        return quiet(value)
    if type(value) is tuple:
        return tuple(map(_without, value))
    return _quieter(value) if hasattr(value, "eqns") and value.effects else value


def _quieter(jaxpr: Any) -> Any:
    equations = [_silenced(equation) for equation in jaxpr.eqns if equation.outvars or not equation.effects]
    return jaxpr.replace(eqns=equations, effects=_effects_of(equations))


def _silenced(equation: Any) -> Any:
    if not equation.effects:
        return equation
    params = {name: _without(parameter) for name, parameter in equation.params.items()}
    if isinstance(params.get("loop"), Loop) and "body_jaxpr" in params:
        params |= params["loop"].params
    left = [parameter for value in params.values() for parameter in (value if type(value) is tuple else (value,))]
    inside = [getattr(parameter, "jaxpr", parameter) for parameter in left]
    inner = frozenset().union(*(jaxpr.effects for jaxpr in inside if hasattr(jaxpr, "eqns")))
    has_inner = any(hasattr(jaxpr, "eqns") for jaxpr in inside)
    return equation.replace(params=params, effects=equation.effects & inner if has_inner else equation.effects)


def _effects_of(equations: Any) -> Any:
    return frozenset().union(*(equation.effects for equation in equations))
