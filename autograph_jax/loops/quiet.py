"""A loop that is run again without its prints: the sweep of reverse mode repeats turns that the user has seen already."""

from __future__ import annotations

from typing import Any

from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.loop import Loop, loop_of


def quiet(loop: Loop) -> Loop:
    """The loop without callbacks that give nothing back. Those inside of inner jaxprs stay."""
    if loop.inner is not None or not (loop.cond.effects or loop.body.effects):
        return loop
    return loop.derived("quiet", lambda: loop_of(_without(loop.cond), _without(loop.body), loop.counts, loop.checkpoints))


def _without(closed: Any) -> ClosedJaxpr:
    jaxpr = closed.jaxpr
    equations = [equation for equation in jaxpr.eqns if equation.outvars or not equation.effects]
    effects = frozenset().union(*(equation.effects for equation in equations))
    return ClosedJaxpr(jaxpr.replace(eqns=equations, effects=effects), closed.consts)
