"""A function of arrays as a program. `jax.make_jaxpr` takes arguments of any structure, and 0.3 ms for that: a solver is
thousands of programs. These are given types alone, which takes a twelfth of it.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import jax
from jax.api_util import debug_info, shaped_abstractify
from jax.extend import linear_util
from jax.extend.core import ClosedJaxpr
from jax.interpreters import partial_eval

_NO_SIGNATURE = inspect.Signature()


def traced(function: Callable[..., Any], avals: Sequence[Any]) -> ClosedJaxpr:
    """The program of a function, for arguments of these types, whatever structure it gives: the leaves of that."""

    def leaves(*operands: Any) -> list[Any]:
        return jax.tree.leaves(function(*operands))

    jaxpr, _, consts = partial_eval.trace_to_jaxpr_dynamic(
        linear_util.wrap_init(leaves, debug_info=_about()), [*map(_as_aval, avals)]
    )
    return ClosedJaxpr(jaxpr, consts)


@functools.cache
def _about() -> Any:
    """What JAX is told of each of these functions, and looks at in its own errors alone: nothing of where it is written."""
    return debug_info("jit", traced, (), {}, signature=_NO_SIGNATURE).with_unknown_names()


def _as_aval(aval: Any) -> Any:
    x64 = jax.config.jax_enable_x64  # pyright: ignore[reportAttributeAccessIssue]
    return _of_struct(aval, x64) if isinstance(aval, jax.ShapeDtypeStruct) else aval


@functools.lru_cache(maxsize=4096)
def _of_struct(struct: jax.ShapeDtypeStruct, x64: bool) -> Any:
    """The type is another one without 64 bits."""
    return shaped_abstractify(struct)
