"""Our primitives under jax.experimental.checkify, which looks into what it knows: NaN and indices are checked inside, too.

JAX has no public name for its rules (`jax._src.checkify.error_checks`); without it, what is inside is not checked.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import Primitive

try:
    from jax._src.checkify import error_checks as _rules
except ImportError:  # pragma: no cover - another jax
    _rules: dict[Any, Any] = {}


def register(primitive: Primitive, run: Callable[..., Any]) -> None:
    """Check a primitive as the compiled function that it stands for."""

    def rule(*given: Any, **params: Any) -> Any:
        # What stands before the operands differs between versions of JAX; the errors that are asked for come last of it.
        start = next(n for n, value in enumerate(given) if isinstance(value, set | frozenset)) + 1
        closed = jax.make_jaxpr(jax.jit(functools.partial(run, **params)))(*given[start:])
        (equation,) = closed.jaxpr.eqns
        values = dict(zip([*closed.jaxpr.constvars, *closed.jaxpr.invars], [*closed.consts, *given[start:]], strict=True))
        operands = [v.val if hasattr(v, "val") else values[v] for v in equation.invars]
        return _rules[equation.primitive](*given[:start], *operands, **equation.params)

    _rules[primitive] = rule
