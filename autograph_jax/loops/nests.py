"""What holds programs, as it is compiled: scans, while loops, and turns. A loop is one kernel where it can be."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr
from jax.extend.core.primitives import while_p

from autograph_jax.loops import blocks, forwarding, guards, kernels, ranges, rows, told
from autograph_jax.loops.evaluation import programs_of
from autograph_jax.loops.kernel_calls import in_one_kernel, kernel_p
from autograph_jax.loops.loop import Loop, closed_of
from autograph_jax.loops.noted import of_inputs
from autograph_jax.loops.optimizations import TO_FOLD, Chosen, own_choice
from autograph_jax.loops.ranges import Ranges
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.writes import made_in_place, with_writes_last

Compile = Callable[[ClosedJaxpr, Ranges, Chosen], ClosedJaxpr]  # how the programs inside are compiled
Run = Callable[..., Sequence[Any]]
Instead = Any  # of the same operands as an equation, and giving what it gives: a Run, an equation, a program, or a Kernel


@dataclasses.dataclass(frozen=True)
class Kernel:
    """An equation that is compiled as a whole."""

    equation: Any


def scan(equation: Any, known: Ranges, chosen: Chosen, compiled: Compile) -> Instead:
    params, avals = equation.params, [atom.aval for atom in equation.invars]
    inside = guards.in_scan(params, known)[1]
    before = of_inputs(params["jaxpr"].jaxpr, inside)

    def made(chosen: Chosen) -> dict[str, Any]:
        return params | {"unroll": int(params["unroll"]), "jaxpr": compiled(params["jaxpr"], inside, chosen)}

    own = _of_its_own(equation, chosen)
    to_fold = TO_FOLD in own
    if ("rows" in own or to_fold) and rows.may_have_tables(params, avals, to_fold=to_fold):
        with told.trying():
            whole = params | {"jaxpr": compiled(forwarding.with_turns_in_place(params["jaxpr"]), before, own)}
        tables = rows.of_scan(whole, avals, before, to_fold=to_fold)
        turn = rows.turn_in_rows(whole, avals, tables) if tables else None
        if turn is not None and to_fold:
            turn = made_in_place(turn)
        if turn is not None and (to_fold or with_writes_last(turn) is turn):
            made(own) if told.is_heard() else None
            told.tell(equation, "rows", "of a table, only the rows that the loop needs are in it")
            return lambda *given: rows.in_rows(whole, given, tables, turn)

    def kernel(params: dict[str, Any], chosen: Chosen) -> Run | Kernel:
        count = kernels.turns_at_once(params) if "unroll" in chosen else 1
        if count == 1 and {"unroll", "forwarding"} <= chosen and kernels.may_be_unrolled(params):
            plain = compiled(forwarding.with_turns_in_place(equation.params["jaxpr"]), before, chosen - {"kernel"})
            found = forwarding.of_scan(params | {"jaxpr": plain}, avals, before)
            count = kernels.turns_at_once(params | {"jaxpr": found.body}) if found is not None else 1
            if found is not None and count > 1:
                told.tell(equation, "forwarding", f"what a turn writes is handed on; {count} turns stand one after the other")
                scan = forwarding.run(params, found, count)
                return lambda *given: in_one_kernel(scan, given)
        if count > 1:
            told.tell(equation, "unroll", f"{count} turns stand one after the other")
            params = params | {"unroll": count}
        return Kernel(equation.replace(params=params))

    return _loop(equation, made, chosen, kernel)


def while_(equation: Any, known: Ranges, chosen: Chosen, compiled: Compile) -> Instead:
    names = ("cond_nconsts", "cond_jaxpr", "body_nconsts", "body_jaxpr")
    loop = equation.params.get("loop")
    if loop is not None and (blocked := in_blocks(loop, equation.primitive, chosen, compiled)) is not None:
        told.tell(equation, "blocks", "lanes run in blocks, each of which ends for itself")
        return blocked
    params = {name: closed_of(equation.params[name]) for name in names}
    cond, body = guards.in_while(params, known)

    def made(chosen: Chosen) -> dict[str, Any]:
        programs = {
            "cond_jaxpr": compiled(params["cond_jaxpr"], cond, chosen),
            "body_jaxpr": compiled(params["body_jaxpr"], body, chosen),
        }
        return params | programs

    as_while = equation.replace(primitive=while_p)

    def kernel(params: dict[str, Any], chosen: Chosen) -> Kernel:
        return Kernel(as_while.replace(params=params))

    return _loop(as_while, made, chosen, kernel)


def in_blocks(loop: Loop, primitive: Any, chosen: Chosen, compiled: Compile) -> ClosedJaxpr | None:
    """A mapped loop of ours with its lanes in blocks, where a block is one kernel."""
    if not {"blocks", "kernel"} <= chosen & loop.optimize:
        return None
    sizes = [size for size in blocks.SIZES if blocks.may_be_in_blocks(loop, size)]
    if not sizes or loop.inner is None:
        return None
    if kernels.are_short(programs_of(loop.inner.params)):  # which is tried soon, and is one as a rule
        with told.trying():
            blocked = _blocked(loop, sizes[0], primitive, chosen, compiled)
        if blocked is not None:
            return _blocked(loop, sizes[0], primitive, chosen, compiled) if told.is_heard() else blocked
        sizes = sizes[1:]
    with told.trying():
        alone = _blocked(loop, 1, primitive, chosen, compiled)
    if alone is None:  # then no block is one
        return None
    sizes = [size for size in sizes if size == 1 or kernels.may_be_several(alone.jaxpr, size)]
    found = (_blocked(loop, size, primitive, chosen, compiled) for size in sizes)
    return next((blocked for blocked in found if blocked is not None), None)


def _blocked(loop: Loop, size: int, primitive: Any, chosen: Chosen, compiled: Compile) -> ClosedJaxpr | None:
    """The loop in blocks of so many lanes, if these are kernels."""
    run = functools.partial(blocks.run_in_blocks, loop, primitive, size)
    staged = loop.derived(("blocks", size), lambda: traced(lambda *operands: run(operands), loop.in_avals))
    blocked = compiled(staged, (), chosen & loop.optimize)
    return blocked if _is_kernels(blocked.jaxpr) else None


def _is_kernels(jaxpr: Any) -> bool:
    """Are all while loops in kernels?"""
    outside = [equation for equation in jaxpr.eqns if equation.primitive is not kernel_p]
    return all(e.primitive.name != "while" and all(map(_is_kernels, programs_of(e.params))) for e in outside)


def _loop(
    equation: Any, made: Callable[[Chosen], dict[str, Any]], chosen: Chosen, kernel: Callable[[dict[str, Any], Chosen], Instead]
) -> Instead:
    """A loop as one kernel, where it can be; otherwise the loops in it may be."""
    chosen = _of_its_own(equation, chosen)
    if "kernel" in chosen and (reason := kernels.surely_not(programs_of(equation.params))) is not None:
        told.tell(equation, "kernel", f"no kernel of its own: {reason}", is_done=False)
    elif "kernel" in chosen and _all_choose("kernel", equation):
        with told.trying():
            params = made(chosen - {"kernel"})
        reason = kernels.why_not(equation, params)
        if reason is None:
            made(chosen - {"kernel"}) if told.is_heard() else None
            told.tell(equation, "kernel", "the loop is one kernel")
            return kernel(params, chosen)
        told.tell(equation, "kernel", f"no kernel of its own: {reason}", is_done=False)
    return equation.replace(params=made(chosen))


def _of_its_own(equation: Any, chosen: Chosen) -> Chosen:
    own = own_choice(equation)
    return chosen if own is None else chosen & (own | {TO_FOLD})


def _all_choose(name: str, equation: Any) -> bool:
    """Have the loops in it, which a function with options of its own may have staged, chosen this as well?"""
    for jaxpr in programs_of(equation.params):
        for inner in jaxpr.eqns:
            own = own_choice(inner)
            if own is not None and name not in own or not _all_choose(name, inner):
                return False
    return True


def turn(equation: Any, known: Ranges, chosen: Chosen, compiled: Compile) -> Instead:
    joint = ranges.narrowed(known, equation.params["known"])
    return with_writes_last(compiled(equation.params["jaxpr"], joint, chosen))
