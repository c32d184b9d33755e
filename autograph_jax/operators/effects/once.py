"""A call of Python at run time that is made once for all lanes of a vmap, gives one integer, and that no derivative sees."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
import jax.numpy as jnp
import numpy as np
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

_RESULT = jax.ShapeDtypeStruct((), np.dtype(np.int32))


def once(call: Callable[..., Any], *, due: Any, otherwise: Any, counts: Sequence[Any], values: Sequence[Any] = ()) -> jax.Array:
    """`call(*counts, *values)` where `due`, else `otherwise`.

    Under vmap it is due where any lane says so; of counts the largest of all lanes is taken, of values all.
    """
    scalars = [jnp.asarray(due, bool), jnp.asarray(otherwise, jnp.int32), *map(jnp.asarray, counts)]
    return _once.bind(*scalars, *values, call=call, count=len(scalars))


def _conditional(due: Any, otherwise: Any, *operands: Any, call: Callable[..., Any], count: int) -> jax.Array:
    def run() -> jax.Array:
        return jax.pure_callback(_as_int32(call), _RESULT, *operands)

    return jax.lax.cond(due, run, lambda: otherwise)


def _as_int32(call: Callable[..., Any]) -> Callable[..., np.ndarray]:
    return lambda *operands: np.asarray(call(*map(np.asarray, operands)), np.int32)


def _largest_of_lanes(operands: Sequence[Any], axes: Sequence[Any], *, call: Callable[..., Any], count: int) -> Any:
    pairs = enumerate(zip(operands, axes, strict=True))
    together = [_over_lanes(operand, axis, number < count) for number, (operand, axis) in pairs]
    return _once.bind(*together, call=call, count=count), None


def _over_lanes(operand: Any, axis: Any, is_count: bool) -> Any:
    if axis is None:
        return operand
    return jnp.max(operand, axis=axis) if is_count else jnp.moveaxis(operand, axis, 0)


def _without_derivative(primals: Sequence[Any], tangents: Sequence[Any], **parameters: Any) -> Any:
    result = _once.bind(*primals, **parameters)
    return result, ad.Zero(jax.typeof(result).to_tangent_aval())


_once = Primitive("once")
_once.def_impl(lambda *operands, **parameters: jax.jit(functools.partial(_conditional, **parameters))(*operands))
_once.def_abstract_eval(lambda *operands, **parameters: jax.core.ShapedArray(_RESULT.shape, _RESULT.dtype))
batching.primitive_batchers[_once] = _largest_of_lanes
ad.primitive_jvps[_once] = _without_derivative
mlir.register_lowering(_once, mlir.lower_fun(_conditional, multiple_results=False))
