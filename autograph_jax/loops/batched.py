"""Loops under jax.vmap: a batch of a loop is a loop again, over lanes where the lanes decide for themselves when they end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.extend.core.primitives import while_p
from jax.interpreters import batching

from autograph_jax.loops import blocks, by_lane, kernels
from autograph_jax.loops.loop import Axis, Loop, batched_aval, chosen, is_nameless, lanes, loop_of, merged, split
from autograph_jax.loops.sweep import plan_of, run_again, saved_avals
from autograph_jax.loops.tracing import traced

Dim = int | None
Batcher = Callable[..., tuple[list[Any], list[Dim]]]


def batch_of(loop: Loop, data: Any, dims: Sequence[Dim]) -> tuple[Loop, list[Dim]]:
    """The batch of a loop whose operands have the new axis there; and where the carry must have it, and leaves it."""
    key = "batch", data.size, data.name, data.spmd_name, tuple(dims)
    return loop.derived(key, lambda: _batch_of(loop, data, dims))


def _batch_of(loop: Loop, data: Any, dims: Sequence[Dim]) -> tuple[Loop, list[Dim]]:
    first, second = loop.counts
    is_joint = by_lane.has_joint_branch(loop.body.jaxpr, data.name)
    if not is_joint and loop.rank == 0 and not (is_nameless(data) and by_lane.decides(loop, [d is not None for d in dims])):
        new, out = _as_lax_does(loop, data, dims)
        if new.rank == 0:
            return new, out
    axis = Axis(data, dims[:first], dims[first : first + second])
    new = lanes(loop, axis, later=True) if _may_wait(loop) else None
    if new is None or not any(blocks.may_be_in_blocks(new, size) for size in blocks.SIZES):
        new = lanes(loop, axis)
    return new, [0] * len(loop.carry_avals)


def _may_wait(loop: Loop) -> bool:
    """May the programs of all lanes be traced when they are compiled? Nothing in them tells of a mesh or a named axis, then."""
    return "blocks" in loop.optimize and not loop.effects and kernels.knows([loop.cond.jaxpr, loop.body.jaxpr])


def _as_lax_does(loop: Loop, data: Any, dims: Sequence[Dim]) -> tuple[Loop, list[Dim]]:
    rule = batching.fancy_primitive_batchers[while_p]
    out: list[Dim] = []

    def run(*operands: Any) -> list[Any]:
        results, out_dims = rule(data, operands, list(dims), **loop.params)
        out[:] = out_dims
        return results

    avals = [batched_aval(a, d, data.size) for a, d in zip(loop.in_avals, dims, strict=True)]
    equation = next(e for e in traced(run, avals).jaxpr.eqns if e.primitive is while_p)
    cond, body = equation.params["cond_jaxpr"], equation.params["body_jaxpr"]
    new = loop_of(cond, body, loop.counts, loop.given)
    return new, [d if d is not None else None for d in out]


def register(primitive: Primitive, batch: Batcher) -> None:
    """JAX asks such a rule also where nothing is a batch, and there nothing may become one."""

    def rule(data: Any, operands: Sequence[Any], dims: Sequence[Dim], **params: Any) -> tuple[list[Any], list[Dim]]:
        if all(dim is None for dim in dims):
            out = primitive.bind(*operands, **params)
            return out, [None] * len(out)
        return batch(data, operands, dims, **params)

    batching.fancy_primitive_batchers[primitive] = rule


def of_loop(bind: Callable[..., list[Any]]) -> Batcher:
    def batch(data: Any, operands: Sequence[Any], dims: Sequence[Dim], *, loop: Loop, **_: Any) -> tuple[list[Any], list[Dim]]:
        new, carry_dims = batch_of(loop, data, dims)
        moved = _carry_moved(loop, data, operands, dims, carry_dims)
        return bind(new, *moved), carry_dims

    return batch


def of_saving(primitive: Primitive, bind: Callable[..., list[Any]]) -> Batcher:
    """Checkpoints and residuals have one more axis in front. Where a batch saves what one loop does not, nothing is."""

    def batch(data: Any, operands: Sequence[Any], dims: Sequence[Dim], *, loop: Loop, masks: Any) -> Any:
        operands, dims = _all_that_is_differentiated(loop, masks, data, operands, dims)
        new, carry_dims = batch_of(loop, data, dims)
        moved = _carry_moved(loop, data, operands, dims, carry_dims)
        places = _saved_places(loop, new, masks, carry_dims, data.size)
        if places is None:
            nothing = [jnp.zeros(a.shape, a.dtype) for a in saved_avals(loop, masks)]
            return [*bind(new, *moved), *nothing], [*carry_dims, *(None for _ in nothing)]
        return primitive.bind(*moved, loop=new, masks=masks), [*carry_dims, *places]

    return batch


def _saved_places(loop: Loop, new: Loop, masks: Any, carry_dims: Sequence[Dim], size: int) -> list[Dim] | None:
    """Where what a loop saves has the new axis in what its batch saves; None where that is something else, as with fewer
    checkpoints, since those of many lanes take more memory.
    """
    if (
        by_lane.meet(new)
        or bool(plan_of(loop, masks).kept) != bool(plan_of(new, masks).kept)
        or run_again(loop, masks) != run_again(new, masks)
    ):
        return None
    saved, batch = saved_avals(loop, masks), saved_avals(new, masks)
    if len(saved) != len(batch):
        return None
    if len(saved) == 1:
        return [0 if new.rank > loop.rank else None]
    part = [] if plan_of(loop, masks).kept else chosen(carry_dims, run_again(loop, masks))
    states = [d if d is None else d + 1 for d in part]
    residuals = zip(saved[2 + len(states) :], batch[2 + len(states) :], strict=True)
    if new.rank > loop.rank:
        places = [0, None, *states, *(1 for _ in residuals)]
    else:
        found = [_place(one, many, size) for one, many in residuals]
        if () in found:
            return None
        places = [None, None, *states, *(place[0] for place in found)]
    shapes = [batched_aval(a, d, size).shape for a, d in zip(saved, places, strict=True)]
    return places if shapes == [a.shape for a in batch] else None


def _place(one: Any, many: Any, size: int) -> tuple[Dim, ...]:
    """Where the second array has an axis that the first has not: a place, or None; nothing where the shapes leave it open."""
    if one.shape == many.shape:
        return (None,)
    found = tuple(n for n in range(many.ndim) if batched_aval(one, n, size).shape == many.shape)
    return found if len(found) == 1 else ()


def of_linear(primitive: Primitive) -> Batcher:
    """Tangents or cotangents alone stay many of one loop; otherwise both are a batch."""

    def batch(data: Any, operands: Sequence[Any], dims: Sequence[Dim], **params: Any) -> tuple[list[Any], list[Dim]]:
        loop, masks, saved, many = (params[name] for name in ("loop", "masks", "saved", "many"))
        primals, kept, linear = split(operands, len(loop.in_avals), saved)
        primal_dims, kept_dims, linear_dims = split(dims, len(loop.in_avals), saved)
        if all(dim is None for dim in [*primal_dims, *kept_dims]):
            front = [_to(x, d, 0, data.size) for x, d in zip(linear, linear_dims, strict=True)]
            out = primitive.bind(*primals, *kept, *front, **{**params, "many": many + 1})
            return out, [0] * len(out)
        primals, primal_dims = _all_that_is_differentiated(loop, masks, data, primals, primal_dims)
        new, carry_dims = batch_of(loop, data, primal_dims)
        moved = _carry_moved(loop, data, primals, primal_dims, carry_dims)
        if saved:
            places = _saved_places(loop, new, masks, carry_dims, data.size)
            if places is None or any((d is None) != (p is None) for d, p in zip(kept_dims, places, strict=True)):
                kept = []
            kept = [_to(x, d, p, data.size) for x, d, p in zip(kept, kept_dims, places or (), strict=False)]
        const_count = sum(masks[0])
        carry_places = chosen(carry_dims, masks[1])
        const_places: list[Dim] = [0] * const_count
        in_places = (const_places + carry_places)[-len(linear) :]
        places = [d if d is None else d + many for d in in_places]
        linear = [_to(x, d, p, data.size) for x, d, p in zip(linear, linear_dims, places, strict=True)]
        out = primitive.bind(*moved, *kept, *linear, **{**params, "loop": new, "saved": len(kept)})
        out_places = (const_places + carry_places)[-len(out) :]
        return out, [d if d is None else d + many for d in out_places]

    return batch


def of_sweep_tangent(primitive: Primitive) -> Batcher:
    """Operands: those of the loop, w, b', x', w'."""

    def batch(data: Any, operands: Sequence[Any], dims: Sequence[Dim], *, loop: Loop, masks: Any, by_rules: bool) -> Any:
        count, consts = len(loop.in_avals), sum(masks[0])
        primals, primal_dims = _all_that_is_differentiated(loop, masks, data, operands[:count], dims[:count])
        new, carry_dims = batch_of(loop, data, primal_dims)
        moved = _carry_moved(loop, data, primals, primal_dims, carry_dims)
        carry_places = chosen(carry_dims, masks[1])
        const_places: list[Dim] = [0] * consts
        places = [*carry_places, *const_places, *carry_places, *carry_places]
        linear = [_to(x, d, p, data.size) for x, d, p in zip(operands[count:], dims[count:], places, strict=True)]
        out = primitive.bind(*moved, *linear, loop=new, masks=masks, by_rules=by_rules)
        return out, [*const_places, *carry_places]

    return batch


def of_loop_with_tangents(primitive: Primitive, bind: Callable[..., list[Any]]) -> Batcher:
    """What carries tangents is a loop as well: where they alone are a batch, the values are computed once. Otherwise it stays
    what it is, which jax.checkpoint can still split.
    """

    def batch(data: Any, operands: Sequence[Any], dims: Sequence[Dim], *, loop: Loop, masks: Any) -> Any:
        if any(dim is not None for dim in dims[: len(loop.in_avals)]):
            return both(data, operands, dims, loop, masks)
        parts = [*loop.counts, len(loop.carry_avals), sum(masks[0])]
        sorted_operands, sorted_dims = [_tangents_beside(values, parts) for values in (operands, dims)]
        out, out_dims = of_loop(bind)(data, sorted_operands, sorted_dims, loop=loop.with_tangents(*masks))
        count = len(loop.carry_avals)  # values of which each lane has the same: jax.jacfwd wants them once
        once = [x if d is None else jax.lax.index_in_dim(x, 0, d, keepdims=False) for x, d in zip(out, out_dims, strict=True)]
        return [*once[:count], *out[count:]], [*(None for _ in once[:count]), *out_dims[count:]]

    def both(data: Any, operands: Sequence[Any], dims: Sequence[Dim], loop: Loop, masks: Any) -> Any:
        def moved_to(pairs: Sequence[Any], places: Sequence[Dim]) -> list[Any]:
            return [(_to(x, d, place, data.size), place) for (x, d), place in zip(pairs, places, strict=True)]

        pairs = list(zip(operands, dims, strict=True))
        cond_consts, consts, carry, const_tangents, carry_tangents = loop.split_with_tangents(masks, pairs)
        moving = chosen(consts, masks[0])
        both_dims = [(dim, of_tangent) for (_, dim), (_, of_tangent) in zip(moving, const_tangents, strict=True)]
        const_places = [0 if dim is None and of_tangent is not None else dim for dim, of_tangent in both_dims]
        consts = merged(consts, moved_to(moving, const_places), masks[0])
        carry = merged(carry, moved_to(chosen(carry, masks[1]), [0] * sum(masks[1])), masks[1])
        primals, primal_dims = map(list, zip(*cond_consts, *consts, *carry, strict=True))
        new, carry_dims = batch_of(loop, data, primal_dims)
        carried = chosen(carry_dims, masks[1])
        tangents = moved_to([*const_tangents, *carry_tangents], [*const_places, *carried])
        primals = _carry_moved(loop, data, primals, primal_dims, carry_dims)
        return primitive.bind(*primals, *(x for x, _ in tangents), loop=new, masks=masks), [*carry_dims, *carried]

    return batch


def _tangents_beside(values: Sequence[Any], counts: Sequence[int]) -> list[Any]:
    cond_consts, consts, carry, const_tangents, carry_tangents = split(values, *counts)
    return [*cond_consts, *consts, *const_tangents, *carry, *carry_tangents]


def of_sweep_with_tangents(value: Primitive, tangent: Primitive) -> Batcher:
    """The values of the sweep are no batch where only the tangents are."""
    params = {"saved": 0, "many": 0}

    def batch(data: Any, operands: Sequence[Any], dims: Sequence[Dim], *, loop: Loop, masks: Any) -> Any:
        known = len(loop.in_avals) + sum(masks[1])
        first, places = of_sweep_tangent(tangent)(data, operands, dims, loop=loop, masks=masks, by_rules=loop.has_rules)
        if all(dim is None for dim in dims[:known]):
            out = value.bind(*operands[:known], loop=loop, masks=masks, **params)
            return [*out, *first], [*(None for _ in out), *places]
        out, out_dims = of_linear(value)(data, operands[:known], dims[:known], loop=loop, masks=masks, **params)
        return [*out, *first], [*out_dims, *places]

    return batch


def _all_that_is_differentiated(
    loop: Loop, masks: Any, data: Any, operands: Sequence[Any], dims: Sequence[Dim]
) -> tuple[list[Any], list[Dim]]:
    """Each lane has cotangents of its own, so each has its own constants and carry, too."""
    mask = [*(False for _ in range(loop.counts[0])), *masks[0], *masks[1]]
    new = [_to(x, d, 0, data.size) for x, d in zip(operands, dims, strict=True)]
    return merged(operands, chosen(new, mask), mask), merged(dims, [0] * sum(mask), mask)


def _carry_moved(loop: Loop, data: Any, operands: Sequence[Any], dims: Sequence[Dim], places: Sequence[Dim]) -> list[Any]:
    consts, carry = split(operands, loop.consts)
    moved = [_to(x, d, p, data.size) for x, d, p in zip(carry, dims[loop.consts :], places, strict=True)]
    return [*consts, *moved]


def _to(value: Any, dim: Dim, place: Dim, size: int) -> Any:
    """A value with its batch axis in this place, broadcast to it if need be."""
    if dim is None:
        if place is None:
            return value
        shape = jnp.shape(value)
        return jnp.broadcast_to(jnp.expand_dims(value, place), (*shape[:place], size, *shape[place:]))
    assert place is not None, "a batched value where none is expected"
    return jnp.moveaxis(value, dim, place)
