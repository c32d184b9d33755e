"""Sorts and products outside of loops that say what they are compiled with (`lowering.py`): those of ported code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.core
from jax.extend.core import ClosedJaxpr

from autograph_jax.loops import small_products, sorts
from autograph_jax.loops.evaluation import WITH_RULES, bound, inlined
from autograph_jax.loops.optimizations import Chosen


def marked(function: Callable[..., Any], *args: Any, chosen: Chosen, **options: Any) -> Any:
    """What a function of arrays gives, `jnp.argsort(x)` say, whose short sorts and small products may be compiled to less."""
    if not chosen & {"sorts", "products"} or not any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(args)):
        return function(*args, **options)
    closed, shape = jax.make_jaxpr(lambda *given: function(*given, **options), return_shape=True)(*args)

    def each(equation: Any, operands: list[Any]) -> Any:
        return bound(_marked(equation, chosen), operands)

    return jax.tree.unflatten(jax.tree.structure(shape), inlined(closed, jax.tree.leaves(args), each))


def _marked(equation: Any, chosen: Chosen) -> Any:
    """An equation that says what it is compiled with, and so do the programs in it, but for those with rules of their own."""
    params = sorts.marked(equation, chosen) or small_products.marked(equation, chosen)
    if params is None and equation.primitive.name not in WITH_RULES:
        params = {name: _programs(value, chosen) for name, value in equation.params.items()}
    return equation if params is None else equation.replace(params=params)


def _programs(value: Any, chosen: Chosen) -> Any:
    """A parameter, a program or several in a tuple, say."""
    if isinstance(value, ClosedJaxpr):
        jaxpr = value.jaxpr
        return ClosedJaxpr(jaxpr.replace(eqns=[_marked(equation, chosen) for equation in jaxpr.eqns]), value.consts)
    if isinstance(value, tuple):
        parts = [_programs(part, chosen) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts) if type(value) is tuple else value
    return value
