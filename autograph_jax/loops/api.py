"""`while_loop` and `fori_loop` as in jax.lax, and differentiable in every order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import ClosedJaxpr
from jax.extend.core.primitives import scan_p, while_p

from autograph_jax.loops import references
from autograph_jax.loops.axes import axes_of, axes_of_type, vary
from autograph_jax.loops.loop import Given, loop_of
from autograph_jax.loops.lowering import unroll
from autograph_jax.loops.nested import with_nested_loops
from autograph_jax.loops.optimizations import NONE, Chosen
from autograph_jax.loops.primitives import bind_loop
from autograph_jax.loops.tracing import traced

Carry = TypeVar("Carry")


def while_loop(
    cond: Callable[[Carry], Any],
    body: Callable[[Carry], Carry],
    init: Carry,
    *,
    checkpoints: int | None = None,
    bound: int | None = None,
    optimize: Chosen = NONE,
) -> Carry:
    """lax.while_loop, differentiable. `bound` is a number of turns that `cond` is known to end it by."""
    init = _varied(cond, init)
    return _differentiable(lambda init: lax.while_loop(cond, body, init), init, Given(checkpoints, bound, optimize))


def fori_loop(
    lower: Any,
    upper: Any,
    body: Callable[[Any, Carry], Carry],
    init: Carry,
    *,
    checkpoints: int | None = None,
    bound: int | None = None,
    optimize: Chosen = NONE,
) -> Carry:
    """lax.fori_loop, with derivatives also where the bounds are traced. With bounds that are known it is a scan, as there."""

    def run(bounds: tuple[Any, Any]) -> Carry:
        return lax.fori_loop(bounds[0], bounds[1], body, init)

    return _differentiable(run, (lower, upper), Given(checkpoints, bound, optimize), static=True)


def while_loop_of(
    programs: tuple[ClosedJaxpr, ClosedJaxpr],
    operands: Sequence[Sequence[Any]],
    *,
    checkpoints: int | None = None,
    optimize: Chosen = NONE,
) -> list[Any]:
    """The same of its two programs, which take constants and the leaves of the carry.

    `operands` are the constants of the one and of the other, and the carry.
    """
    cond, body = programs
    counts = len(operands[0]), len(operands[1])
    loop = loop_of(cond, with_nested_loops(body), counts, Given(checkpoints, None, optimize))
    return bind_loop(loop, *operands[0], *operands[1], *operands[2])


def _varied(cond: Callable[[Carry], Any], init: Carry) -> Carry:
    """Inside jax.shard_map: where devices run different numbers of turns, all of the carry comes to differ, a counter too."""
    while not jax.sharding.get_abstract_mesh().empty:
        axes = axes_of_type(jax.eval_shape(cond, init))
        if all(axes <= axes_of(leaf) for leaf in jax.tree.leaves(init)):
            break
        init = jax.tree.map(lambda leaf, axes=axes: vary(leaf, axes), init)
    return init


def _differentiable(run: Callable[[Any], Any], init: Any, given: Given, *, static: bool = False) -> Any:
    """What a function gives, with the while loop that it binds made ours."""
    if jax.config.jax_disable_jit and _are_known(init):  # pyright: ignore[reportAttributeAccessIssue]
        return run(init)
    entered, structure = ([], None) if static else jax.tree.flatten(init)
    left: list[Any] = []

    def call(*leaves: Any) -> Any:
        result = run(init if static else jax.tree.unflatten(structure, leaves))
        left.append(jax.tree.structure(result))
        return result

    with jax.disable_jit(False):
        closed = traced(call, [*map(jax.typeof, entered)])
        if not any(equation.primitive in (while_p, scan_p) for equation in closed.jaxpr.eqns):
            return run(init)
        leaves = _evaluate(closed.jaxpr, closed.consts, entered, given)
    return jax.tree.unflatten(left[0], leaves)


def _are_known(values: Any) -> bool:
    """Have all values numbers, so that lax takes each turn in Python? Not in jax.checkpoint, which traces what it gets."""
    try:
        return all(bool((jnp.asarray(leaf) == leaf).all()) or True for leaf in jax.tree.leaves(values))
    except jax.errors.ConcretizationTypeError:
        return False


def _evaluate(jaxpr: Any, consts: list[Any], arguments: list[Any], given: Given) -> list[Any]:
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *arguments], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if hasattr(atom, "val") else values[atom]

    for equation in jaxpr.eqns:
        operands, params = [read(v) for v in equation.invars], equation.params
        if equation.primitive is while_p:
            out = _bound(equation, operands, given)
        elif equation.primitive is scan_p and given.optimize:
            out = scan_p.bind(*operands, **params | {"unroll": unroll(given.optimize)})
        else:
            out = equation.primitive.bind(*operands, **params)  # a conversion of a weak type, a comparison of bounds
        out = out if equation.primitive.multiple_results else [out]
        values.update(zip(equation.outvars, out, strict=True))
    return [read(v) for v in jaxpr.outvars]


def _bound(equation: Any, operands: list[Any], given: Given) -> list[Any]:
    """What a while loop of lax's gives, as ours."""
    params = equation.params

    def bind(programs: references.Programs, operands: list[Any]) -> list[Any]:
        cond, body, counts = programs
        return bind_loop(loop_of(cond, with_nested_loops(body), counts, given), *operands)

    programs = params["cond_jaxpr"], params["body_jaxpr"], (params["cond_nconsts"], params["body_nconsts"])
    if not references.are_in(*programs[:2]):
        return bind(programs, operands)
    return references.carried(programs, operands, bind) if references.are_known else while_p.bind(*operands, **params)
