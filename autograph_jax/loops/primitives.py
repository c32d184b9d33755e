"""A while loop that differentiates in every order: five primitives, each the derivative or the transpose of another.

    while                  c, b, x             -> y                  lax.while_loop itself
    while_and_tangent      c, b, x, b', x'     -> y, y'              its jvp: one loop that carries tangents too
    while_saving           c, b, x             -> y, checkpoints     what of that is known where reverse mode splits it,
    while_tangent          ..., b', x'         -> y'                 and what is linear
    while_cotangent        ..., w              -> b*, x*             the transpose: the sweep back
    cotangent_and_tangent  ..., w, b', x', w'  -> b*, x*, b*', x*'   its jvp

c and b are the constants of the condition and of the body, x is the carry. The derivative of the sweep is the sweep of the loop
that carries tangents: second derivatives are symmetric. So every order comes out of these, and none differentiates through
checkpoints. What a user's rule says need not be a derivative, and need not have symmetric ones: there it is the sweep of the
loop that carries tangents of tangents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import Primitive
from jax.extend.core.primitives import while_p
from jax.interpreters import ad, mlir, partial_eval

from autograph_jax.loops import accumulated, batched, checked, partial
from autograph_jax.loops.axes import axes_of, axes_of_type, vary
from autograph_jax.loops.linearized import linearized
from autograph_jax.loops.loop import RUNS, Later, Loop, Mask, chosen, merged, split, tangent_aval
from autograph_jax.loops.lowering import lowering_of
from autograph_jax.loops.quiet import quiet
from autograph_jax.loops.sweep import run_and_save, saved_avals, sweep

Masks = tuple[Mask, Mask]  # which of the body's constants, and which of the carry, have tangents
Live = Mask | None  # which of that carry a sweep takes anything back of


def _new(name: str, run: Callable[..., list[Any]]) -> Primitive:
    primitive = Primitive(name)
    primitive.multiple_results = True
    primitive.def_impl(functools.partial(_run_compiled, primitive))
    RUNS[primitive] = run
    mlir.register_lowering(primitive, lowering_of(run))
    checked.register(primitive, run)
    primitive.is_high = lambda *_, loop, **__: loop.is_high
    primitive.to_lojax = lambda *operands, loop, **params: _run_lowered(primitive, operands, loop.lowered(), params)
    return primitive


def _run_lowered(primitive: Primitive, operands: Sequence[Any], loop: Loop, params: dict[str, Any]) -> list[Any]:
    return bind_loop(loop, *operands) if primitive is while_loop_p else primitive.bind(*operands, loop=loop, **params)


def _run_compiled(primitive: Primitive, *operands: Any, loop: Loop, **params: Any) -> list[Any]:
    """Outside of jit: compiled once for each loop."""
    key = primitive, *sorted(params.items())
    compiled = loop.derived(key, lambda: jax.jit(functools.partial(primitive.bind, loop=loop, **params)))
    with jax.disable_jit(False):  # which would come here again
        return compiled(*operands)


# The loop


def _run(*operands: Any, loop: Loop, **_: Any) -> list[Any]:
    return loop.run(*operands)


while_loop_p = _new("while", _run)  # jaxprs and profiles show it as lax's
mlir.register_lowering(while_loop_p, lowering_of(_run, while_loop_p))


def bind_loop(loop: Loop, *operands: Any) -> list[Any]:
    return while_loop_p.bind(*operands, loop=loop, **loop.said)


@while_loop_p.def_effectful_abstract_eval
def _while_avals(*avals: Any, loop: Loop, **params: Any) -> Any:
    if isinstance(params["body_jaxpr"], Later):  # which has no effects
        return loop.out_avals, params["body_jaxpr"].effects
    out, effects = while_p.abstract_eval(*avals, **params)
    return loop.out_avals if loop.inner is not None else out, effects


def _while_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, loop: Loop, **_: Any) -> tuple[list[Any], list[Any]]:
    const_tangents, carry_tangents = loop.split(tangents)[1:]
    const_mask = _nonzero(loop.const_avals, const_tangents)
    mask = loop.reached(const_mask, _nonzero(loop.carry_avals, carry_tangents))
    if not any(mask):
        new = bind_loop(loop, *primals)
        return new, [_zero(x) for x in new]
    given = _instantiated([*chosen(const_tangents, const_mask), *chosen(carry_tangents, mask)])
    loop.with_tangents(const_mask, mask)  # here the names of mapped axes are known
    out = while_and_tangent_p.bind(*primals, *given, loop=loop, masks=(const_mask, mask))
    new, new_tangents = split(out, len(mask))
    return new, merged([_zero(x) for x in new], new_tangents, mask)


ad.primitive_jvps[while_loop_p] = _while_jvp


# The loop with its tangents


def _run_with_tangents(*operands: Any, loop: Loop, masks: Masks) -> list[Any]:
    cond_consts, consts, carry, const_tangents, carry_tangents = loop.split_with_tangents(masks, operands)
    joint = loop.with_tangents(*masks)
    return bind_loop(joint, *cond_consts, *consts, *const_tangents, *carry, *carry_tangents)


def _with_tangents_avals(*avals: Any, loop: Loop, masks: Masks) -> Any:
    out, effects = _while_avals_of(loop)
    return [*out, *_carry_tangents(loop, masks)], effects


while_and_tangent_p = _new("while_and_tangent", _run_with_tangents)
while_and_tangent_p.def_effectful_abstract_eval(_with_tangents_avals)
ad.primitive_jvps[while_and_tangent_p] = lambda primals, tangents, **params: _jvp_of(
    functools.partial(_run_with_tangents, **params), primals, tangents
)

# What of it is known before the tangents are


def _run_saving(*operands: Any, loop: Loop, masks: Masks) -> list[Any]:
    result, saved = run_and_save(loop, operands, masks)
    return [*result, *saved]


def _saving_avals(*avals: Any, loop: Loop, masks: Masks) -> Any:
    out, effects = _while_avals_of(loop)
    return [*out, *saved_avals(loop, masks)], effects


def _saving_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, loop: Loop, masks: Masks) -> Any:
    """The tangents of checkpoints are made anew by whoever needs them."""
    out = while_saving_p.bind(*primals, loop=loop, masks=masks)
    _, new_tangents = _while_jvp(primals, tangents, loop=loop)
    return out, [*new_tangents, *(_zero(x) for x in out[len(new_tangents) :])]


while_saving_p = _new("while_saving", _run_saving)
while_saving_p.def_effectful_abstract_eval(_saving_avals)
ad.primitive_jvps[while_saving_p] = _saving_jvp


# The linear part. Its operands: those of the loop, what was saved, the tangents.


def _run_tangent(*operands: Any, loop: Loop, masks: Masks, saved: int, many: int, live: Live = None) -> list[Any]:
    primals, _, tangents = split(operands, len(loop.in_avals), saved)

    def one(*tangents: Any) -> list[Any]:
        return _run_with_tangents(*primals, *tangents, loop=quiet(loop), masks=masks)[len(loop.carry_avals) :]

    for _ in range(many):
        one = jax.vmap(one)
    return one(*tangents)


def _tangent_avals(*avals: Any, loop: Loop, masks: Masks, saved: int, many: int, live: Live = None) -> Any:
    leading = avals[-1].shape[:many]
    out = [a.update(shape=(*leading, *a.shape), weak_type=False) for a in _carry_tangents(loop, masks)]
    return out, _while_avals_of(quiet(loop))[1]


def _tangent_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    linear = _linear(**params)
    if all(type(t) is ad.Zero for t in tangents[:linear]):
        given = _instantiated(tangents[linear:])
        return while_tangent_p.bind(*primals, **params), while_tangent_p.bind(*primals[:linear], *given, **params)
    return _jvp_of(functools.partial(_run_tangent, **params), primals, tangents)


def _tangent_transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    linear = _linear(**params)
    unknown = operands[linear:]
    if all(type(c) is ad.Zero for c in cotangents):
        return [*(None for _ in range(linear)), *(ad.Zero(u.aval) if ad.is_undefined_primal(u) else None for u in unknown)]
    if "live" not in params:
        params["live"] = _live(cotangents, **params)
    out = while_cotangent_p.bind(*operands[:linear], *_instantiated(cotangents), **params)
    return [None] * linear + [o if ad.is_undefined_primal(u) else None for o, u in zip(out, unknown, strict=True)]


def _live(cotangents: Sequence[Any], *, loop: Loop, masks: Masks, **_: Any) -> Live:
    """Of the carry that is differentiated: what has a say in what has a cotangent. None if all of it has.

    Of the rest nothing is taken back: 0 times an infinite derivative is no zero, as of `n = norm(r)` that only the condition
    reads, where r is 0 in the end. All that a loop in the body is given counts as read; second derivatives do not ask.
    """
    given = iter(type(c) is not ad.Zero for c in cotangents)
    live = [own and next(given) for own in masks[1]]
    while True:
        used = partial_eval.dce_jaxpr(quiet(loop).body.jaxpr, live)[1]
        wide = [own and (one or other) for own, one, other in zip(masks[1], live, used[len(loop.const_avals) :], strict=True)]
        if wide == live:
            break
        live = wide
    found = tuple(chosen(live, masks[1]))
    return None if all(found) else found


def _linear(*, loop: Loop, saved: int, **_: Any) -> int:
    """Where the linear operands begin."""
    return len(loop.in_avals) + saved


while_tangent_p = _new("while_tangent", _run_tangent)
while_tangent_p.def_effectful_abstract_eval(_tangent_avals)
ad.primitive_jvps[while_tangent_p] = _tangent_jvp
ad.primitive_transposes[while_tangent_p] = _tangent_transpose


# Its transpose


def _run_cotangent(*operands: Any, loop: Loop, masks: Masks, saved: int, many: int, live: Live = None) -> list[Any]:
    primals, kept, cotangents = split(operands, len(loop.in_avals), saved)
    loop = quiet(loop)
    sums, back = sweep(loop, masks, primals, kept, cotangents, many=many, live=live)
    return [*sums, *back]


def _run_cotangent_into(*operands: Any, loop: Loop, masks: Masks, saved: int, many: int, live: Live = None) -> list[Any]:
    count = sum(masks[0])
    primals, kept, cotangents = split(operands[: len(operands) - count], len(loop.in_avals), saved)
    starts = operands[len(operands) - count :]
    sums, back = sweep(quiet(loop), masks, primals, kept, cotangents, many=many, live=live, starts=starts)
    return [*sums, *back]


def _cotangent_avals(*avals: Any, loop: Loop, masks: Masks, saved: int, many: int, live: Live = None) -> Any:
    leading = avals[-1].shape[:many]
    consts = [tangent_aval(a) for a in chosen(loop.const_avals, masks[0])]
    out = [a.update(shape=(*leading, *a.shape), weak_type=False) for a in [*consts, *_carry_tangents(loop, masks)]]
    return out, _while_avals_of(quiet(loop))[1]


def _cotangent_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Any:
    loop, (const_mask, carry_mask) = params["loop"], params["masks"]
    linear, count = _linear(**params), len(loop.in_avals)
    if all(type(t) is ad.Zero for t in tangents[:linear]):
        given = _instantiated(tangents[linear:])
        return while_cotangent_p.bind(*primals, **params), while_cotangent_p.bind(*primals[:linear], *given, **params)
    _, const_tangents, carry_tangents = loop.split(tangents[:count])
    wide = _either(const_mask, _nonzero(loop.const_avals, const_tangents))
    reached = loop.reached(wide, _either(carry_mask, _nonzero(loop.carry_avals, carry_tangents)))
    given = _instantiated([*chosen(const_tangents, wide), *chosen(carry_tangents, reached)])
    loop.with_tangents(wide, reached)

    def both(cotangents: list[Any], moved: list[Any]) -> list[Any]:
        zeros = [vary(jnp.zeros(a.shape, a.dtype), axes_of_type(a)) for a in loop.carry_avals]
        filled = [merged(zeros, w, carry_mask) for w in (cotangents, moved)]
        wider = [chosen(w, reached) for w in filled]
        return cotangent_and_tangent_p.bind(*primals[:count], *wider[0], *given, *wider[1], loop=loop, masks=(wide, reached))

    for _ in range(params["many"]):
        both = jax.vmap(both)
    out = both(list(primals[linear:]), _instantiated(tangents[linear:]))
    wanted = [*chosen(const_mask, wide), *chosen(carry_mask, reached)]
    return chosen(out[: len(wanted)], wanted), chosen(out[len(wanted) :], wanted)


def _cotangent_transpose(cotangents: Sequence[Any], *operands: Any, **params: Any) -> list[Any]:
    linear = _linear(**params)
    if all(type(c) is ad.Zero for c in cotangents):
        return [None] * linear + [ad.Zero(u.aval) for u in operands[linear:]]
    out = while_tangent_p.bind(*operands[:linear], *_instantiated(cotangents), **params)
    return [None] * linear + [o if ad.is_undefined_primal(u) else None for o, u in zip(out, operands[linear:], strict=True)]


while_cotangent_p = _new("while_cotangent", _run_cotangent)
while_cotangent_p.def_effectful_abstract_eval(_cotangent_avals)
while_cotangent_into_p = _new("while_cotangent_into", _run_cotangent_into)  # made where a program is compiled
while_cotangent_into_p.def_effectful_abstract_eval(lambda *avals, **params: _cotangent_avals(*avals, **params))
accumulated.INTO[while_cotangent_p] = while_cotangent_into_p
ad.primitive_jvps[while_cotangent_p] = _cotangent_jvp
ad.primitive_transposes[while_cotangent_p] = _cotangent_transpose


# The sweep with its tangents, and these alone. Operands: those of the loop, w, b', x', w'.


def _run_sweep_with_tangents(*operands: Any, loop: Loop, masks: Masks) -> list[Any]:
    return (_run_sweep_by_rules if loop.has_rules else _run_sweep_by_symmetry)(*operands, loop=loop, masks=masks)


def _run_sweep_by_symmetry(*operands: Any, loop: Loop, masks: Masks) -> list[Any]:
    """The sweep by (x, x') of the loop that carries x': what it gives of x is what it should by x'."""
    count, consts, carry = len(loop.in_avals), sum(masks[0]), sum(masks[1])
    primals, cotangents, const_tangents, carry_tangents, moved = split(operands, count, carry, consts, carry)
    cond_consts, body_consts, start = loop.split(primals)
    joint = loop.with_tangents(*masks)
    everything = [True] * carry
    joint_masks = (*masks[0], *[True] * consts), (*masks[1], *everything)
    out = while_cotangent_p.bind(
        *cond_consts, *body_consts, *const_tangents, *start, *carry_tangents, *moved, *cotangents,
        loop=joint, masks=joint_masks, saved=0, many=0,
    )  # fmt: skip
    sum_tangents, sums, back_tangents, back = split(out, consts, consts, carry)
    return [*sums, *back, *sum_tangents, *back_tangents]


def _run_sweep_by_rules(*operands: Any, loop: Loop, masks: Masks) -> list[Any]:
    """The loop that carries s, and the derivatives along x' of both, swept by s and its derivative, in which it is linear."""
    count, consts, carry = len(loop.in_avals), sum(masks[0]), sum(masks[1])
    primals, cotangents, const_tangents, carry_tangents, moved = split(operands, count, carry, consts, carry)
    cond_consts, body_consts, start = loop.split(primals)
    own_consts, own_carry = [True] * consts, [True] * carry
    twice = loop.with_tangents(*masks).with_tangents((*masks[0], *own_consts), (*masks[1], *own_carry))
    no_consts, no_carry = (list(map(jnp.zeros_like, tangents)) for tangents in (const_tangents, carry_tangents))
    swept = [[*([False] * len(old)), *own, *([False] * len(own)), *own]
             for old, own in ((body_consts, own_consts), (start, own_carry))]  # fmt: skip
    out = while_cotangent_p.bind(
        *cond_consts, *body_consts, *no_consts, *const_tangents, *no_consts, *start, *no_carry, *carry_tangents, *no_carry,
        *moved, *cotangents, loop=twice, masks=tuple(map(tuple, swept)), saved=0, many=0,
    )  # fmt: skip
    sum_tangents, sums, back_tangents, back = split(out, consts, consts, carry)
    return [*sums, *back, *sum_tangents, *back_tangents]


def _sweep_with_tangents_avals(*avals: Any, loop: Loop, masks: Masks) -> Any:
    out = [tangent_aval(a) for a in chosen(loop.const_avals, masks[0])] + _carry_tangents(loop, masks)
    return [*out, *out], _while_avals_of(quiet(loop))[1]


cotangent_and_tangent_p = _new("cotangent_and_tangent", _run_sweep_with_tangents)
cotangent_and_tangent_p.def_effectful_abstract_eval(_sweep_with_tangents_avals)
ad.primitive_jvps[cotangent_and_tangent_p] = lambda primals, tangents, **params: _jvp_of(
    functools.partial(_run_sweep_with_tangents, **params), primals, tangents
)


def _run_sweep_tangent(*operands: Any, loop: Loop, masks: Masks, by_rules: bool) -> list[Any]:
    out = (_run_sweep_by_rules if by_rules else _run_sweep_by_symmetry)(*operands, loop=loop, masks=masks)
    return out[len(out) // 2 :]


def _sweep_tangent_avals(*avals: Any, loop: Loop, masks: Masks, **_: Any) -> Any:
    out, effects = _sweep_with_tangents_avals(*avals, loop=loop, masks=masks)
    return out[len(out) // 2 :], effects


def _sweep_tangent_transpose(cotangents: Sequence[Any], *operands: Any, loop: Loop, masks: Masks, by_rules: bool) -> list[Any]:
    """By symmetry, what this makes of (b', x') is its own transpose; where there are rules, one of the two is the other's."""
    count, consts, carry = len(loop.in_avals), sum(masks[0]), sum(masks[1])
    known, tangents, moved = split(operands, count + carry, consts + carry)
    if all(type(c) is ad.Zero for c in cotangents):
        linear = [*tangents, *moved]
        return [None] * len(known) + [ad.Zero(u.aval) if ad.is_undefined_primal(u) else None for u in linear]
    given = _instantiated(cotangents)
    zeros = [vary(jnp.zeros(jnp.shape(w), w.dtype), axes_of(w)) for w in known[count:]]
    second = sweep_tangent_p.bind(*known, *given, *zeros, loop=loop, masks=masks, by_rules=loop.has_rules and not by_rules)
    first = while_tangent_p.bind(*known[:count], *given, loop=loop, masks=masks, saved=0, many=0)
    out = zip([*second, *first], [*tangents, *moved], strict=True)
    return [None] * len(known) + [o if ad.is_undefined_primal(u) else None for o, u in out]


sweep_tangent_p = _new("sweep_tangent", _run_sweep_tangent)
sweep_tangent_p.def_effectful_abstract_eval(_sweep_tangent_avals)
ad.primitive_jvps[sweep_tangent_p] = lambda primals, tangents, **params: _jvp_of(
    functools.partial(_run_sweep_tangent, **params), primals, tangents
)
ad.primitive_transposes[sweep_tangent_p] = _sweep_tangent_transpose


# Where reverse mode splits a loop: what is known is run, what is linear waits


def _split_loop(*known: Any, loop: Loop, masks: Masks) -> tuple[list[Any], Primitive, list[Any], dict[str, Any]]:
    linearized(loop, *masks)  # while what is differentiated can be traced; both are kept
    linearized(quiet(loop), *masks)
    out, saved = split(while_saving_p.bind(*known, loop=loop, masks=masks), len(loop.carry_avals))
    return out, while_tangent_p, [*known, *saved], {"loop": loop, "masks": masks, "saved": len(saved), "many": 0}


def _split_sweep(*known: Any, loop: Loop, masks: Masks) -> tuple[list[Any], Primitive, list[Any], dict[str, Any]]:
    out = while_cotangent_p.bind(*known, loop=loop, masks=masks, saved=0, many=0)
    return out, sweep_tangent_p, list(known), {"loop": loop, "masks": masks, "by_rules": loop.has_rules}


def _keep_loop(*, loop: Loop, masks: Masks) -> tuple[Primitive, dict[str, Any]]:
    return while_loop_p, {"loop": loop, **loop.said}


def _keep_sweep(*, loop: Loop, masks: Masks) -> tuple[Primitive, dict[str, Any]]:
    return while_cotangent_p, {"loop": loop, "masks": masks, "saved": 0, "many": 0}


def _known_of_loop(loop: Loop, masks: Masks) -> tuple[int, int]:
    return len(loop.in_avals), len(loop.carry_avals)


def _known_of_sweep(loop: Loop, masks: Masks) -> tuple[int, int]:
    return len(loop.in_avals) + sum(masks[1]), sum(masks[0]) + sum(masks[1])


partial.register(while_and_tangent_p, _known_of_loop, _split_loop, _keep_loop)
partial.register(cotangent_and_tangent_p, _known_of_sweep, _split_sweep, _keep_sweep)


# Batches


batched.register(while_loop_p, batched.of_loop(bind_loop))
batched.register(while_and_tangent_p, batched.of_loop_with_tangents(while_and_tangent_p, bind_loop))
batched.register(while_saving_p, batched.of_saving(while_saving_p, bind_loop))
batched.register(while_tangent_p, batched.of_linear(while_tangent_p))
batched.register(while_cotangent_p, batched.of_linear(while_cotangent_p))
batched.register(cotangent_and_tangent_p, batched.of_sweep_with_tangents(while_cotangent_p, sweep_tangent_p))
batched.register(sweep_tangent_p, batched.of_sweep_tangent(sweep_tangent_p))


# Helpers


def _while_avals_of(loop: Loop) -> Any:
    return _while_avals(*loop.in_avals, loop=loop, **loop.said)


def _carry_tangents(loop: Loop, masks: Masks) -> list[Any]:
    return [tangent_aval(a) for a in chosen(loop.carry_avals, masks[1])]


def _nonzero(avals: Sequence[Any], tangents: Sequence[Any]) -> Mask:
    return tuple(type(t) is not ad.Zero and jnp.issubdtype(a.dtype, jnp.inexact) for a, t in zip(avals, tangents, strict=True))


def _either(first: Mask, second: Mask) -> Mask:
    return tuple(a or b for a, b in zip(first, second, strict=True))


def _zero(value: Any) -> ad.Zero:
    return ad.Zero(jax.typeof(value).to_tangent_aval())


def _instantiated(tangents: Sequence[Any]) -> list[Any]:
    return [ad.instantiate_zeros(t) for t in tangents]


def _jvp_of(run: Callable[..., list[Any]], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Of a primitive that stands for what it runs. Operands without a tangent stay so."""
    mask = _nonzero([jax.typeof(p) for p in primals], tangents)

    def moved(*values: Any) -> list[Any]:
        return run(*merged(primals, values, mask))

    out, new = jax.jvp(moved, tuple(chosen(primals, mask)), tuple(chosen(tangents, mask)))
    inexact = [jnp.issubdtype(o.dtype, jnp.inexact) for o in out]
    return out, [n if i else _zero(o) for o, n, i in zip(out, new, inexact, strict=True)]
