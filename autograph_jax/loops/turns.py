"""The body of a loop that reads and writes elements of arrays: in place forward, and in place in reverse.

The transpose of `x[i]` is an array of zeros with one element, and these are added up: each turn would cost as much as the array
is long. A body that does so is a primitive here. Its tangent is a second one, whose transpose adds each element to the
cotangent that the array has anyway (`sums.py`), with the reads first and the writes last (`writes.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.interpreters import ad, batching, mlir, partial_eval

from autograph_jax.loops import checked
from autograph_jax.loops.axes import axes_of_type
from autograph_jax.loops.branches import seen_through
from autograph_jax.loops.building import with_consts_given, with_programs_in_place
from autograph_jax.loops.by_itself import for_its_platform
from autograph_jax.loops.caches import cached
from autograph_jax.loops.compiled import compiled
from autograph_jax.loops.evaluation import called, is_call, programs_of
from autograph_jax.loops.loop import Mask, chosen, depends, is_inexact, mapped, merged, split, taken_apart
from autograph_jax.loops.nested import with_nested_loops
from autograph_jax.loops.noted import noted
from autograph_jax.loops.optimizations import NONE, ON_CPU_ALONE, Chosen, Said
from autograph_jax.loops.ranges import Ranges
from autograph_jax.loops.sums import adding_in_place
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.writes import with_writes_last, writes_last
from autograph_jax.loops.written_out import over_lanes

_READS = ("dynamic_slice", "gather")


class Turn:
    """A loop's body, given as a closed jaxpr, ready to be run. Its constants are arguments, before the others."""

    def __init__(self, closed: ClosedJaxpr, optimize: Chosen = NONE) -> None:
        closed = with_nested_loops(closed)
        self._optimize = Said(optimize)
        self.consts, self._closed = list(closed.consts), closed
        self.known: Ranges = (None,) * (len(closed.consts) + len(closed.in_avals))
        flat = None if _is_special(closed) else _flat(closed)
        self._reads = _read_by_element(flat.jaxpr) if flat is not None else []
        has_branches = flat is not None and any(equation.primitive.name == "cond" for equation in flat.jaxpr.eqns)
        self._flat = flat if any(self._reads) or has_branches or flat is not None and _has_no_derivative(flat) else None
        self._reading: ClosedJaxpr | None = None

    @property
    def has_loops(self) -> bool:
        return _has_loops(self._closed.jaxpr)

    def only_reads(self, handed_on: Sequence[bool]) -> list[bool]:
        """Which inputs, constants first, does it read by elements, of those that it does not hand on anyway?"""
        if self._flat is None:
            return [False] * len(handed_on)
        mask = [read and not other for read, other in zip(self._reads, handed_on, strict=True)]
        jaxpr = self._flat.jaxpr
        self._reading = _with_outputs(self._flat, [*jaxpr.outvars, *chosen(jaxpr.invars, mask)])
        return mask

    def __call__(self, *operands: Any) -> list[Any]:
        if self._flat is None:  # not cached: it holds values of the trace around
            closed = noted(self._closed, self.known[len(self.consts) :])
            return list(writes_last(closed)(*operands[len(self.consts) :]))
        return turn_p.bind(*operands, jaxpr=self._flat, known=self.known, optimize=self._optimize)

    def program(self) -> ClosedJaxpr:
        """A turn, of its constants and its other operands."""
        moved = with_writes_last.__wrapped__ if self.consts else with_writes_last  # values of a trace are not kept
        run = moved(self._closed) if self._flat is None else self
        if run is self._closed:
            return with_consts_given(noted(self._closed, self.known[len(self.consts) :]))
        return traced(self, [*map(jax.typeof, self.consts), *self._closed.in_avals])

    def handing_on(self, *operands: Any) -> list[Any]:
        """What it gives, and behind that the inputs that `only_reads` has named."""
        if self._reading is None:
            return self(*operands)
        return turn_p.bind(*operands, jaxpr=self._reading, known=self.known, optimize=self._optimize)


def _is_special(closed: ClosedJaxpr) -> bool:
    """Prints and collectives, arrays that differ between devices, and random keys."""
    avals = [*map(jax.typeof, closed.consts), *closed.in_avals, *closed.out_avals]
    return bool(closed.effects) or any(axes_of_type(a) or jnp.issubdtype(a.dtype, jax.dtypes.extended) for a in avals)


def _has_loops(jaxpr: Any) -> bool:
    return any(e.primitive.name in ("scan", "while") or any(map(_has_loops, programs_of(e.params))) for e in jaxpr.eqns)


def _has_no_derivative(closed: ClosedJaxpr) -> bool:
    return not any(map(is_inexact, [*closed.in_avals, *closed.out_avals]))


def _flat(closed: ClosedJaxpr) -> ClosedJaxpr:
    """With calls of inner functions written out, and the constants as inputs."""
    return with_programs_in_place(with_consts_given(closed), lambda e: called(e) if is_call(e) else None)


def _read_by_element(jaxpr: Any) -> list[bool]:
    """Which inputs are arrays whose elements it reads, or a branch in it?"""
    read: list[Any] = []
    for equation in jaxpr.eqns:
        name = equation.primitive.name
        if name in _READS or name == "slice" and equation.outvars[0].aval.size == 1:
            read.append(equation.invars[0])
        elif name == "cond":
            for branch in equation.params["branches"]:
                read += chosen(equation.invars[1:], _read_by_element(branch.jaxpr))
    return [is_inexact(v.aval) and any(v is other for other in read) for v in jaxpr.invars]


def _run(*operands: Any, jaxpr: ClosedJaxpr, **_: Any) -> list[Any]:
    moved = with_writes_last(jaxpr)
    return list((moved if callable(moved) else jaxpr_as_fun(moved))(*operands))


def _run_compiled(*operands: Any, jaxpr: ClosedJaxpr, known: Ranges, optimize: Chosen) -> list[Any]:
    """By itself, where the loop around calls Python. Else that loop has it compiled, for its device."""
    return _run(*operands, jaxpr=compiled(jaxpr, known, optimize - ON_CPU_ALONE))


turn_p = Primitive("turn")
turn_p.multiple_results = True
turn_p.def_impl(jax.jit(_run_compiled, static_argnames=("jaxpr", "known", "optimize")))
turn_p.def_abstract_eval(lambda *avals, jaxpr, **_: jaxpr.out_avals)
mlir.register_lowering(turn_p, for_its_platform(mlir.lower_fun(_run_compiled, multiple_results=True)))
checked.register(turn_p, _run)
turn_p.to_lojax = lambda *operands, jaxpr, **said: turn_p.bind(*operands, jaxpr=taken_apart(jaxpr), **said)


def _jvp(primals: Sequence[Any], tangents: Sequence[Any], *, jaxpr: ClosedJaxpr, **said: Any) -> Any:
    mask = tuple(type(t) is not ad.Zero and is_inexact(a) for a, t in zip(jaxpr.in_avals, tangents, strict=True))
    if not any(mask):
        out = turn_p.bind(*primals, jaxpr=jaxpr, **said)
        return out, [ad.Zero(jax.typeof(o).to_tangent_aval()) for o in out]
    linear = _linear_turn(jaxpr, mask)
    out, residuals = linear.forward(primals)
    new = turn_tangent_p.bind(*residuals, *chosen(tangents, mask), linear=linear)
    return out, merged([ad.Zero(jax.typeof(o).to_tangent_aval()) for o in out], new, linear.reached)


def _batch(data: Any, operands: Sequence[Any], dims: Sequence[Any], *, jaxpr: ClosedJaxpr, **said: Any) -> Any:
    if all(dim is None for dim in dims):
        return turn_p.bind(*operands, jaxpr=jaxpr, **said), [None] * len(jaxpr.out_avals)
    operands = [x if d is None else jnp.moveaxis(x, d, 0) for x, d in zip(operands, dims, strict=True)]
    batched, reached = _batched(jaxpr, data.size, data.name, data.spmd_name, tuple(d is not None for d in dims))
    return turn_p.bind(*operands, jaxpr=batched, **said), [0 if r else None for r in reached]


def _needed(used: Sequence[bool], *more: Any) -> tuple[list[bool], Any]:
    """What of a turn is needed for some of its results; jax 0.12 says which references live on, too."""
    equation = more[-1]
    if not any(used):
        return [False] * len(equation.invars), None
    jaxpr, inputs = _part(equation.params["jaxpr"], tuple(used))
    known = equation.params["known"]
    params = {**equation.params, "jaxpr": jaxpr, "known": known and tuple(chosen(known, inputs))}
    operands, results = chosen(equation.invars, inputs), chosen(equation.outvars, used)
    return list(inputs), equation.replace(invars=operands, outvars=results, params=params)


@cached(1024)
def _part(closed: ClosedJaxpr, used: Mask) -> tuple[ClosedJaxpr, Mask]:
    jaxpr, inputs = partial_eval.dce_jaxpr(closed.jaxpr, used)
    return ClosedJaxpr(jaxpr, closed.consts), tuple(inputs)


ad.primitive_jvps[turn_p] = _jvp
partial_eval.dce_rules[turn_p] = _needed
batching.fancy_primitive_batchers[turn_p] = _batch


@cached(1024)
def _batched(jaxpr: ClosedJaxpr, size: int, name: Any, spmd_name: Any, mask: Mask) -> tuple[ClosedJaxpr, list[bool]]:
    reached = depends(jaxpr.jaxpr, mask)
    run = jax.vmap(
        over_lanes(jaxpr),
        in_axes=[0 if m else None for m in mask],
        out_axes=[0 if r else None for r in reached],
        axis_name=name,
        axis_size=size,
        spmd_axis_name=spmd_name,
    )
    avals = [a.update(shape=(size, *a.shape), weak_type=False) if m else a for a, m in zip(jaxpr.in_avals, mask, strict=True)]
    return traced(run, avals), reached


class LinearTurn:
    """A turn, linearized in the inputs of the mask: what it leaves, what its derivative needs, and that as a linear program.

    Of what the derivative needs, places in arrays are computed again, from the integers that they come from.
    """

    def __init__(self, jaxpr: ClosedJaxpr, mask: Mask) -> None:
        self._outputs = len(jaxpr.out_avals)
        reached = depends(jaxpr.jaxpr, mask, tangents=True)
        self.reached = [d and is_inexact(a) for d, a in zip(reached, jaxpr.out_avals, strict=True)]
        trees: list[Any] = []

        def body(*operands: Any) -> Any:
            def moved(*values: Any) -> Any:
                out = jaxpr_as_fun(jaxpr)(*merged(operands, values, mask))
                return chosen(out, self.reached), out

            _, derivative, out = jax.linearize(moved, *chosen(operands, mask), has_aux=True)
            leaves, tree = jax.tree.flatten(derivative)
            trees.append(tree)
            return [*out, *leaves]

        program = seen_through(traced(body, jaxpr.in_avals))
        self._tree = trees[-1]
        self._split_needs(program, tuple(not is_inexact(a) for a in jaxpr.in_avals))
        self._tangents = [a.to_tangent_aval() for a in chosen(jaxpr.in_avals, mask)]
        self.out_avals = [a.to_tangent_aval() for a in chosen(jaxpr.out_avals, self.reached)]
        self.back = _transposed(self.push, self._kept_avals, self._tangents, self.out_avals)

    def _split_needs(self, program: ClosedJaxpr, integers: Mask) -> None:
        """What is kept of a turn: what comes from numbers, and those integers that all else comes from."""
        count, jaxpr = self._outputs, program.jaxpr
        by_numbers = depends(jaxpr, [not integer for integer in integers])[count:]
        self._again = [not d for d in by_numbers]
        self._integers = integers
        self._find = _with_outputs(program, chosen(jaxpr.outvars[count:], self._again))
        kept = [*chosen(jaxpr.outvars[count:], by_numbers), *chosen(jaxpr.invars, integers)]
        self._forward = writes_last(_with_outputs(program, [*jaxpr.outvars[:count], *kept]))
        self._kept_avals, self.count = [v.aval for v in kept], len(kept)
        self._in_avals = program.in_avals

    def forward(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """What the turn leaves, and what is kept of it."""
        out, kept = split(self._forward(*operands), self._outputs)
        return out, kept

    def push(self, *operands: Any) -> list[Any]:
        """Of what is kept, and tangents, the tangents of what the turn leaves."""
        kept, tangents = split(operands, self.count)
        numbers, integers = split(kept, self._again.count(False))
        anything = [jax.lax.empty(a.shape, a.dtype) if is_inexact(a) else None for a in self._in_avals]
        found = jaxpr_as_fun(self._find)(*merged(anything, integers, self._integers))
        numbered, again = iter(numbers), iter(found)
        leaves = [next(again) if a else next(numbered) for a in self._again]
        return jax.tree.unflatten(self._tree, leaves)(*tangents)


def _with_outputs(program: ClosedJaxpr, outputs: Sequence[Any]) -> ClosedJaxpr:
    """A program that gives these of its variables, and does no more than that takes."""
    jaxpr = program.jaxpr
    new = jaxpr.replace(outvars=list(outputs), debug_info=jaxpr.debug_info.with_unknown_names())
    needed, _ = partial_eval.dce_jaxpr(new, [True] * len(outputs), instantiate=True)
    return ClosedJaxpr(needed, program.consts)


@cached(1024)
def _linear_turn(jaxpr: ClosedJaxpr, mask: Mask) -> LinearTurn:
    return LinearTurn(jaxpr, mask)


def _transposed(push: Any, kept: Sequence[Any], tangents: Sequence[Any], results: Sequence[Any]) -> ClosedJaxpr:
    """The transpose of a linear program, with sums in place."""
    structs = [jax.ShapeDtypeStruct(t.shape, t.dtype) for t in tangents]

    def back(*operands: Any) -> Any:
        own, cotangents = split(operands, len(kept))
        return list(jax.linear_transpose(lambda *ts: push(*own, *ts), *structs)(cotangents))

    avals = [*kept, *results]
    return traced(adding_in_place(traced(back, avals)), avals)


turn_tangent_p = Primitive("turn_tangent")
turn_tangent_p.multiple_results = True


def _push(*operands: Any, linear: LinearTurn) -> list[Any]:
    return linear.push(*operands)


def _push_jvp(primals: Sequence[Any], tangents: Sequence[Any], *, linear: LinearTurn) -> Any:
    mask = [type(t) is not ad.Zero and is_inexact(jax.typeof(p)) for p, t in zip(primals, tangents, strict=True)]
    if not any(mask[: linear.count]):
        given = [ad.instantiate_zeros(t) for t in tangents[linear.count :]]
        out = turn_tangent_p.bind(*primals, linear=linear)
        return out, turn_tangent_p.bind(*primals[: linear.count], *given, linear=linear)
    moved = lambda *values: linear.push(*merged(primals, values, mask))  # noqa: E731
    return jax.jvp(moved, tuple(chosen(primals, mask)), tuple(chosen(tangents, mask)))


def _push_transpose(cotangents: Sequence[Any], *operands: Any, linear: LinearTurn) -> list[Any]:
    residuals, unknown = split(operands, linear.count)
    if all(type(c) is ad.Zero for c in cotangents):
        return [None] * linear.count + [ad.Zero(u.aval) if ad.is_undefined_primal(u) else None for u in unknown]
    out = turn_p.bind(*residuals, *[ad.instantiate_zeros(c) for c in cotangents], jaxpr=linear.back, known=(), optimize=NONE)
    return [None] * linear.count + [o if ad.is_undefined_primal(u) else None for o, u in zip(out, unknown, strict=True)]


def _push_batch(data: Any, operands: Sequence[Any], dims: Sequence[Any], *, linear: LinearTurn) -> Any:
    if all(dim is None for dim in dims):
        return turn_tangent_p.bind(*operands, linear=linear), [None] * len(linear.out_avals)
    return mapped(data, linear.push, dims)(*operands), [0] * len(linear.out_avals)


turn_tangent_p.def_impl(jax.jit(_push, static_argnames="linear"))
turn_tangent_p.def_abstract_eval(lambda *avals, linear: linear.out_avals)
mlir.register_lowering(turn_tangent_p, mlir.lower_fun(_push, multiple_results=True))
checked.register(turn_tangent_p, _push)
ad.primitive_jvps[turn_tangent_p] = _push_jvp
ad.primitive_transposes[turn_tangent_p] = _push_transpose
batching.fancy_primitive_batchers[turn_tangent_p] = _push_batch
