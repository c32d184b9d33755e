"""A bool of the program itself: what it is in any lane of a vmap, and kept by the program for as long as that is being made.

To keep a tracer anywhere else would keep the whole program. An equation with an effect keeps what it takes; it becomes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir
from jax.interpreters import partial_eval as pe

from autograph_jax.operators import jax_private

_here = threading.local()  # the value that is held, as far as it has come


def of_program(value: jax.Array) -> jax.Array:
    """This value, outside of all that only maps or differentiates."""
    _here.value = value
    if _EFFECT is not None:
        _held.bind(value)
    return vars(_here).pop("value")


def _in_any_lane(operands: Sequence[Any], axes: Sequence[Any]) -> Any:
    _here.value = of_program(jnp.any(operands[0], axis=axes[0]))
    return [], []


def _without_derivative(primals: Sequence[Any], _: Any) -> Any:
    _here.value = of_program(primals[0])
    return [], []


_EFFECT = jax_private.effect()
_held = Primitive("held")
_held.multiple_results = True
_held.def_impl(lambda value: [])
_held.def_effectful_abstract_eval(lambda value: ([], {_EFFECT}))
batching.primitive_batchers[_held] = _in_any_lane
ad.primitive_jvps[_held] = _without_derivative
pe.partial_eval_jaxpr_custom_rules[_held] = jax_private.kept_under_checkpoints()
mlir.register_lowering(_held, lambda lowering, value: [])
