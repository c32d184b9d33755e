"""stop_gradient in linear programs: jax.vmap puts it where lax.cond becomes a select, and JAX has no transpose for it.

There it holds the lanes for which a branch does not count, so nothing is lost, and no NaN comes back, if they are zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir


def run_linear(function: Any, *operands: Any) -> list[Any]:
    """What a function of lists of arrays gives, made of linear operations that can be transposed."""
    closed = jax.make_jaxpr(function)(*operands)
    changed = ClosedJaxpr(_without_stops(closed.jaxpr), closed.consts)
    return list(jaxpr_as_fun(changed)(*jax.tree.leaves(operands)))


def _without_stops(jaxpr: Any) -> Any:
    return jaxpr.replace(eqns=[_changed(equation) for equation in jaxpr.eqns])


def _changed(equation: Any) -> Any:
    if equation.primitive.name == "stop_gradient":
        return equation.replace(primitive=zeros_like_p, params={})
    if equation.primitive.name.startswith(("custom_", "while")):
        return equation
    return equation.replace(params={name: _inside(value) for name, value in equation.params.items()})


def _inside(value: Any) -> Any:
    if isinstance(value, ClosedJaxpr):
        return ClosedJaxpr(_without_stops(value.jaxpr), value.consts)
    if hasattr(value, "eqns"):
        return _without_stops(value)
    if type(value) is tuple:
        return tuple(map(_inside, value))
    return value


zeros_like_p = Primitive("zeros_like")
zeros_like_p.def_impl(jnp.zeros_like)
zeros_like_p.def_abstract_eval(lambda aval: aval)
mlir.register_lowering(zeros_like_p, mlir.lower_fun(lambda x: jnp.zeros(x.shape, x.dtype), multiple_results=False))


def _batch(operands: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
    return zeros_like_p.bind(operands[0]), dims[0]


def _jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return zeros_like_p.bind(primals[0]), ad.Zero(jax.typeof(primals[0]).to_tangent_aval())


batching.primitive_batchers[zeros_like_p] = _batch
ad.primitive_jvps[zeros_like_p] = _jvp
ad.primitive_transposes[zeros_like_p] = lambda cotangent, x: [ad.Zero(x.aval)]
