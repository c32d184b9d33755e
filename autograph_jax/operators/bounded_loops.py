"""`ag.while_loop` and `ag.fori_loop`: as in jax.lax, differentiable in every order, and with a bound that is never silent."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from autograph_jax.errors import user_location
from autograph_jax.loops import api
from autograph_jax.loops.taken import where_taken
from autograph_jax.operators.effects import checks, ended
from autograph_jax.operators.loop_options import Options, current
from autograph_jax.operators.tracing import kept, state
from autograph_jax.operators.values.traced import is_traced

Carry = TypeVar("Carry")


def while_loop(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    *,
    checkpoints: int | None = None,
    max_steps: int | None = None,
    throw: bool = True,
) -> Any:
    """lax.while_loop, for its arguments and its result, with derivatives forward and in reverse.

    Where nothing is differentiated it is lax.while_loop. Reverse mode keeps `checkpoints` states and runs turns again in
    between; with None as many as serve a long loop well, up to some MB.

    A loop that is not over after `max_steps` turns ends there with a RuntimeError, at run time. With `throw=False` it gives a
    pair: the result, whose floating-point arrays are NaN then, and whether it was so, a boolean (under jax.vmap for each lane).

        >>> import autograph_jax as ag
        >>> print(ag.while_loop(lambda x: x > 1, lambda x: x / 2, 5.0))
        0.625
        >>> result, reached = ag.while_loop(lambda x: x > 1, lambda x: x / 2, 5.0, max_steps=2, throw=False)
        >>> print(result, reached)
        nan True

    Raises what lax.while_loop raises.
    """
    options = Options(checkpoints, max_steps, current().optimize)
    if not throw:
        result, reached = _bounded(cond, body, init, options)
        return _nan_where(reached, result), jnp.asarray(reached, bool)
    return run_while(cond, body, init, options)


def run_while(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    options: Options,
    *,
    before: int = 0,
    bound: int | None = None,
) -> Any:
    """`ag.while_loop` with its options; of the turns that count, so many have been made `before`.

    `bound` is a number of turns after which `cond` is false for sure.
    """
    result, reached = _bounded(cond, body, init, options, before, bound)
    _raise_where(reached, options.max_steps)
    return result


def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[[Any, Carry], Carry],
    init: Carry,
    *,
    checkpoints: int | None = None,
    max_steps: int | None = None,
    throw: bool = True,
) -> Any:
    """lax.fori_loop, with derivatives also where the bounds are traced. With bounds that are known it is a scan, as there.

    `checkpoints`, `max_steps` and `throw` are those of `ag.while_loop`.
    """
    options = Options(checkpoints, max_steps, current().optimize)
    reached: Any = False
    if max_steps is not None:
        reached = upper - lower > max_steps
        upper = jnp.minimum(upper, lower + max_steps) if is_traced(reached) else min(upper, lower + max_steps)
    result = api.fori_loop(lower, upper, body, init, checkpoints=checkpoints, bound=max_steps, optimize=options.optimizations)
    if not throw:
        return _nan_where(reached, result), jnp.asarray(reached, bool)
    _raise_where(reached, options.max_steps)
    return result


def _bounded(
    cond: Callable[[Any], Any],
    body: Callable[[Any], Any],
    init: Any,
    options: Options,
    before: int = 0,
    bound: int | None = None,
) -> tuple[Any, Any]:
    """The loop, and whether it would go on where it ends."""
    if options.max_steps is None and bound is None and (failed := ended.has_failed()) is not False:
        cond = _with(cond, lambda going: jnp.logical_and(going, jnp.logical_not(failed)))
    if (taken := state.branch_taken()) is not None:
        kept.asked()
        cond = _with(cond, lambda going: where_taken(going, taken))
    staged = functools.partial(api.while_loop, checkpoints=options.checkpoints, optimize=options.optimizations)
    if options.max_steps is None:
        return staged(cond, body, init, bound=bound), False
    most = options.max_steps - before
    bound = most if bound is None else min(most, bound)

    def going(carry: Any) -> Any:
        return jnp.logical_and(carry[1] < most, cond(carry[0]))

    def turn(carry: Any) -> Any:
        return body(carry[0]), carry[1] + 1

    turn.__name__, turn.__qualname__ = getattr(body, "__name__", "body"), getattr(body, "__qualname__", "body")
    result, _ = staged(going, turn, (init, jnp.int32(0)), bound=bound)
    return result, cond(result)


def _with(cond: Callable[[Any], Any], condition: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A test of a loop under one more condition, by the test's own name."""

    def both(carry: Any) -> Any:
        return condition(cond(carry))

    both.__name__, both.__qualname__ = (getattr(cond, name, "cond") for name in ("__name__", "__qualname__"))
    return both


def _raise_where(reached: Any, max_steps: int | None) -> None:
    if is_traced(reached):
        checks.raise_where(reached, not_over(max_steps))
    elif reached:
        raise checks.raised(not_over(max_steps))


def _nan_where(reached: Any, result: Any) -> Any:
    def one(leaf: Any) -> Any:
        if not jnp.issubdtype(jnp.result_type(leaf), jnp.inexact):
            return leaf
        return jnp.where(reached, jnp.asarray(jnp.nan, jnp.result_type(leaf)), leaf)

    return jax.tree.map(one, result)


def not_over(max_steps: int | None) -> RuntimeError:
    """The error of a loop that has reached its bound."""
    place = user_location()
    where = f" ({place.filename}:{place.line})" if place else ""
    return RuntimeError(f"a loop is not over after max_steps={max_steps} turns{where}")
