"""`while_loop` and `fori_loop` as in jax.lax, and differentiable in every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import jax
from jax import lax
from jax.extend.core.primitives import while_p

from autograph_jax.loops.loop import loop_of
from autograph_jax.loops.primitives import bind_loop

Carry = TypeVar("Carry")


def while_loop(
    cond: Callable[[Carry], Any], body: Callable[[Carry], Carry], init: Carry, *, checkpoints: int | None = None
) -> Carry:
    """lax.while_loop, for its arguments and its result, with derivatives forward and in reverse.

    Where nothing is differentiated it is lax.while_loop. Reverse mode keeps `checkpoints` states and runs turns
    again in between; with None as many as serve a long loop well, up to some MB. Raises what lax.while_loop raises.
    """
    return _differentiable(lambda init: lax.while_loop(cond, body, init), init, checkpoints)


def fori_loop(
    lower: Any, upper: Any, body: Callable[[Any, Carry], Carry], init: Carry, *, checkpoints: int | None = None
) -> Carry:
    """lax.fori_loop, with derivatives also where the bounds are traced. With bounds that are known it is a scan, as there."""

    def run(bounds: tuple[Any, Any]) -> Carry:
        return lax.fori_loop(bounds[0], bounds[1], body, init)

    return _differentiable(run, (lower, upper), checkpoints, static=True)


def _differentiable(run: Callable[[Any], Any], init: Any, checkpoints: int | None, *, static: bool = False) -> Any:
    """What a function gives, with the while loop that it binds made ours."""
    if checkpoints is not None and (not isinstance(checkpoints, int) or checkpoints < 1):
        raise ValueError(f"checkpoints is a number of states, 1 or more, or None; got {checkpoints!r}")
    if jax.config.jax_disable_jit:  # pyright: ignore[reportAttributeAccessIssue]
        return run(init)
    operands, call = ((), lambda: run(init)) if static else ((init,), run)
    closed, shape = jax.make_jaxpr(call, return_shape=True)(*operands)
    if not any(equation.primitive is while_p for equation in closed.jaxpr.eqns):
        return run(init)
    leaves = _evaluate(closed.jaxpr, closed.consts, jax.tree.leaves(operands), checkpoints)
    return jax.tree.unflatten(jax.tree.structure(shape), leaves)


def _evaluate(jaxpr: Any, consts: list[Any], arguments: list[Any], checkpoints: int | None) -> list[Any]:
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *arguments], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        operands, params = [read(v) for v in equation.invars], equation.params
        if equation.primitive is while_p:
            counts = params["cond_nconsts"], params["body_nconsts"]
            loop = loop_of(params["cond_jaxpr"], params["body_jaxpr"], counts, checkpoints)
            out = bind_loop(loop, *operands)
        else:
            out = equation.primitive.bind(*operands, **params)  # a conversion of a weak type, a comparison of bounds
        out = out if equation.primitive.multiple_results else [out]
        values.update(zip(equation.outvars, out, strict=True))
    return [read(v) for v in jaxpr.outvars]
