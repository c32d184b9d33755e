"""A while loop as a value: its condition and body as jaxprs, and the loops that derive from it (of tangents, of lanes)."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Primitive, jaxpr_as_fun
from jax.extend.core.primitives import while_p
from jax.interpreters import partial_eval

from autograph_jax.loops.axes import Axes, axes_of_type
from autograph_jax.loops.by_itself import are_by_a_call
from autograph_jax.loops.caches import cached
from autograph_jax.loops.optimizations import NONE, Chosen
from autograph_jax.loops.tracing import traced
from autograph_jax.loops.written_out import over_lanes

Mask = tuple[bool, ...]
RUNS: dict[Primitive, Callable[..., list[Any]]] = {}  # module state: what each primitive with a loop runs


class Later:
    """A program without effects that is traced where somebody looks into it: that of all lanes, which may run in blocks.

    It has the attributes of a ClosedJaxpr, and is none, so that JAX does not look.
    """

    effects: frozenset[Any] = frozenset()

    def __init__(self, make: Callable[[], ClosedJaxpr], in_avals: Sequence[Any], out_avals: Sequence[Any]) -> None:
        self._make, self.in_avals, self.out_avals = make, list(in_avals), list(out_avals)

    @functools.cached_property
    def closed(self) -> ClosedJaxpr:
        return self._make()

    @property
    def jaxpr(self) -> Any:
        return self.closed.jaxpr

    @property
    def consts(self) -> Any:
        return self.closed.consts

    def __repr__(self) -> str:
        return str(self.closed)


def closed_of(program: ClosedJaxpr | Later) -> ClosedJaxpr:
    return program.closed if isinstance(program, Later) else program


class Given(NamedTuple):
    """What is said of a loop: how many checkpoints it has in reverse; a number of turns that it never exceeds, where one is
    known; what it is compiled with; and whether it is part of a turn of another loop.
    """

    checkpoints: int | None = None
    bound: int | None = None
    optimize: Chosen = NONE
    is_nested: bool = False


class Loop:
    """`while cond(*cond_consts, *carry): carry = body(*body_consts, *carry)`, with jaxprs as lax.while_loop makes them.

    A predicate of shape (lanes, ...) is that of a batch: each array of the carry begins with these axes, the loop goes on
    while any lane does, and only such lanes take what the body gives. `inner` is then the loop of one lane.
    """

    def __init__(
        self,
        cond: ClosedJaxpr | Later,
        body: ClosedJaxpr | Later,
        counts: tuple[int, int],
        given: Given,
        *,
        inner: Loop | None = None,
        axis: Axis | None = None,
    ) -> None:
        self._cond, self._body, self.counts, self.given, self.inner, self.axis = cond, body, counts, given, inner, axis
        self.rank = len(cond.out_avals[0].shape)
        self.origin: Loop | None = None  # of a loop that has been `lowered`: the one before
        self._derived: dict[Hashable, Any] = {}

    def derived(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What is computed once for a loop, so that JAX meets the same objects and its caches hold."""
        if key not in self._derived:
            self._derived[key] = make()
        return self._derived[key]

    @property
    def optimize(self) -> Chosen:
        return self.given.optimize

    @property
    def cond(self) -> ClosedJaxpr:
        return closed_of(self._cond)

    @property
    def body(self) -> ClosedJaxpr:
        return closed_of(self._body)

    @property
    def consts(self) -> int:
        return sum(self.counts)

    @property
    def const_avals(self) -> list[Any]:
        """Of the body's constants."""
        return self._body.in_avals[: self.counts[1]]

    @property
    def carry_avals(self) -> list[Any]:
        return self._body.in_avals[self.counts[1] :]

    @property
    def in_avals(self) -> list[Any]:
        return [*self._cond.in_avals[: self.counts[0]], *self._body.in_avals]

    @property
    def out_avals(self) -> list[Any]:
        """Of what it leaves: of many lanes, numbers of Python's where one lane has such."""
        if self.inner is None or self.axis is None:
            return self._body.out_avals
        weak = [aval.weak_type for aval in self.inner.out_avals]
        return [aval.update(weak_type=w) for aval, w in zip(self.carry_avals, weak, strict=True)]

    @property
    def effects(self) -> Any:
        return self._cond.effects | self._body.effects

    @property
    def axes(self) -> Axes:
        """Of a mesh: along these devices run different numbers of turns."""
        return axes_of_type(self._cond.out_avals[0])

    def split(self, operands: Sequence[Any]) -> tuple[list[Any], list[Any], list[Any]]:
        """The condition's constants, the body's, and the carry."""
        first, second = self.counts[0], self.consts
        return list(operands[:first]), list(operands[first:second]), list(operands[second:])

    def split_with_tangents(self, masks: tuple[Mask, Mask], operands: Sequence[Any]) -> list[list[Any]]:
        """These, and of those that the masks choose, of the constants and of the carry, the tangents."""
        return split(operands, *self.counts, len(self.carry_avals), sum(masks[0]))

    def run(self, *operands: Any) -> list[Any]:
        """The loop itself: exactly what lax.while_loop binds."""
        return while_p.bind(*operands, **self.params)

    @property
    def params(self) -> dict[str, Any]:
        """Those of lax's primitive."""
        first, second = self.counts
        return {"cond_nconsts": first, "cond_jaxpr": self.cond, "body_nconsts": second, "body_jaxpr": self.body}

    @property
    def said(self) -> dict[str, Any]:
        """The same for our primitive: programs that nobody has looked into stay so."""
        first, second = self.counts
        return {"cond_nconsts": first, "cond_jaxpr": self._cond, "body_nconsts": second, "body_jaxpr": self._body}

    @property
    def jaxpr(self) -> Any:
        """The loop as a program of one equation, which whoever searches a jaxpr finds here, as in lax's loops."""
        return self.derived("jaxpr", lambda: traced(self.run, self.in_avals).jaxpr)

    def program(self, run: Callable[..., list[Any]], params: dict[str, Any], avals: Sequence[Any]) -> ClosedJaxpr:
        """What a primitive with this loop runs, for operands of these types: those that go with the parameters."""
        key = "program", run, are_by_a_call(), *sorted(params.items())
        return self.derived(key, lambda: traced(lambda *values: run(*values, loop=self, **params), avals))

    @property
    def is_high(self) -> bool:
        """Does it hold primitives that newer versions of JAX take apart before they compile a program (jnp.searchsorted)?"""
        if isinstance(self._body, Later) and self.inner is not None:
            return self.inner.is_high
        return any(getattr(getattr(closed, "jaxpr", closed), "is_high", False) for closed in (self.cond, self.body))

    @property
    def has_rules(self) -> bool:
        """Does a user's rule, or one of a library's, say what the derivative of something in the body is?"""
        return self.derived("rules", lambda: holds_rules(self.body.jaxpr))

    def lowered(self) -> Loop:
        """The loop with these taken apart."""
        return self.derived("lowered", self._lowered) if self.is_high else self

    def _lowered(self) -> Loop:
        inner = self.inner.lowered() if self.inner is not None else None
        cond, body = map(taken_apart, (self.cond, self.body))
        new = Loop(cond, body, self.counts, self.given, inner=inner, axis=self.axis)
        new.origin = self
        return new

    def as_nested(self) -> Loop:
        """The same as part of a turn of another loop."""
        return self.derived("nested", self._as_nested)

    def _as_nested(self) -> Loop:
        inner = self.inner.as_nested() if self.inner is not None else None
        new = Loop(self._cond, self._body, self.counts, self.given._replace(is_nested=True), inner=inner, axis=self.axis)
        new.origin = self.origin and self.origin.as_nested()
        return new

    def __repr__(self) -> str:
        return f"Loop(checkpoints={self.given.checkpoints})"

    def active(self, cond_consts: Sequence[Any], carry: Sequence[Any]) -> jax.Array:
        """The predicate, one for each lane."""
        return jaxpr_as_fun(self.cond)(*cond_consts, *carry)[0]

    def choose(self, active: jax.Array, new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
        """Of each pair the first where a lane is active."""
        return [jax.lax.select(self.spread(active, n), n, o) for n, o in zip(new, old, strict=True)]

    def spread(self, active: jax.Array, array: Any) -> jax.Array:
        return jax.lax.broadcast_in_dim(active, jnp.shape(array), tuple(range(self.rank)))

    def reached(self, const_mask: Mask, carry_mask: Mask) -> Mask:
        """Which of the carry gets a tangent, in any turn, if these constants and this part of the carry have one?"""
        return self.derived(("reached", const_mask, carry_mask), lambda: self._reached(const_mask, carry_mask))

    def _reached(self, const_mask: Mask, carry_mask: Mask) -> Mask:
        while True:
            out = depends(self.body.jaxpr, [*const_mask, *carry_mask], tangents=True)
            wide = tuple(m or o and is_inexact(a) for m, o, a in zip(carry_mask, out, self.carry_avals, strict=True))
            if wide == carry_mask:
                return wide
            carry_mask = wide

    def with_tangents(self, const_mask: Mask, carry_mask: Mask) -> Loop:
        """The loop that carries tangents too, behind the carry, where the masks say; those of constants stand behind these."""
        key = "tangents", const_mask, carry_mask
        return self.derived(key, lambda: self._with_tangents(const_mask, carry_mask))

    def _with_tangents(self, const_mask: Mask, carry_mask: Mask) -> Loop:
        if self.inner is not None and self.axis is not None and not holds_custom_vjp(self.body.jaxpr):
            inner = self.axis.called(functools.partial(self.inner.with_tangents, const_mask, carry_mask))
            dims = self.axis.const_dims
            return lanes(inner, self.axis.with_dims(self.axis.cond_dims, (*dims, *chosen(dims, const_mask))))
        consts, carry = self.const_avals, self.carry_avals
        tangents = [tangent_aval(a) for a in (*chosen(consts, const_mask), *chosen(carry, carry_mask))]
        const_tangents, carry_tangents = split(tangents, sum(const_mask))

        def cond(*operands: Any) -> Any:
            return jaxpr_as_fun(self.cond)(*operands[: self.counts[0] + len(carry)])

        def body(*operands: Any) -> Any:
            xs, ts, ys, us = split(operands, len(consts), len(const_tangents), len(carry))
            mask = (*const_mask, *carry_mask)

            def moved(*values: Any) -> Any:
                return jaxpr_as_fun(self.body)(*merged([*xs, *ys], values, mask))

            if not any(mask):
                return moved()
            new, new_tangents = jax.jvp(moved, tuple(chosen([*xs, *ys], mask)), (*ts, *us))
            return [*new, *chosen(new_tangents, carry_mask)]

        return Loop(
            traced(cond, [*self.in_avals[: self.counts[0]], *carry, *carry_tangents]),
            traced(body, [*consts, *const_tangents, *carry, *carry_tangents]),
            (self.counts[0], len(consts) + len(const_tangents)),
            self.given,
        )


class Axis:
    """An axis of lanes: its size and names, and where the constants have it (None: nowhere). The carry has it first."""

    def __init__(self, data: Any, cond_dims: Sequence[int | None], const_dims: Sequence[int | None]) -> None:
        self.data, self.cond_dims, self.const_dims = data, tuple(cond_dims), tuple(const_dims)

    @property
    def size(self) -> int:
        return self.data.size

    def with_dims(self, cond_dims: Sequence[int | None], const_dims: Sequence[int | None]) -> Axis:
        return Axis(self.data, cond_dims, const_dims)

    def map(self, function: Callable[..., Any], in_axes: Sequence[Any], out_axes: Any = 0) -> Callable[..., Any]:
        return mapped(self.data, function, in_axes, out_axes)

    def called(self, make: Callable[[], Any]) -> Any:
        """What a function gives that traces programs of one lane: called where the axis is known by its name."""
        found: list[Any] = []

        def lane(_: Any) -> jax.Array:
            found.append(make())
            return jnp.zeros(())

        if is_nameless(self.data):
            return make()
        jax.eval_shape(self.map(lane, [0]), jax.ShapeDtypeStruct((self.size,), jnp.float32))
        return found[0]

    def map_program(self, closed: ClosedJaxpr, in_axes: Sequence[Any]) -> Callable[..., Any]:
        return self.map(over_lanes(closed), in_axes)


def is_nameless(data: Any) -> bool:
    """Has the axis no name, by which collectives may make one value of all lanes'? What JAX has for none is a bare object."""
    return type(data.name) is object


def mapped(data: Any, function: Callable[..., Any], in_axes: Sequence[Any], out_axes: Any = 0) -> Callable[..., Any]:
    """jax.vmap over the axis that a batching rule is given."""
    names = {"axis_name": data.name, "axis_size": data.size, "spmd_axis_name": data.spmd_name}
    return jax.vmap(function, in_axes=tuple(in_axes), out_axes=out_axes, **names)


def lanes(inner: Loop, axis: Axis, *, later: bool = False) -> Loop:
    """Many loops at once, each with a predicate of its own; its programs are traced `later`, if they are."""
    size, carry = axis.size, [0] * len(inner.carry_avals)
    cond_dims, const_dims = [*axis.cond_dims, *carry], [*axis.const_dims, *carry]
    cond_avals = [batched_aval(a, d, size) for a, d in zip(inner.cond.in_avals, cond_dims, strict=True)]
    body_avals = [batched_aval(a, d, size) for a, d in zip(inner.body.in_avals, const_dims, strict=True)]
    cond: ClosedJaxpr | Later
    body: ClosedJaxpr | Later
    of_cond = functools.partial(traced, axis.map_program(inner.cond, cond_dims), cond_avals)
    of_body = functools.partial(traced, axis.map_program(inner.body, const_dims), body_avals)
    if later:
        cond = Later(of_cond, cond_avals, [batched_aval(inner.cond.out_avals[0], 0, size)])
        body = Later(of_body, body_avals, body_avals[inner.counts[1] :])
    else:
        cond, body = of_cond(), of_body()
    return Loop(cond, body, inner.counts, inner.given, inner=inner, axis=axis)


@cached(1024)
def loop_of(cond: ClosedJaxpr, body: ClosedJaxpr, counts: tuple[int, int], given: Given) -> Loop:
    """The one Loop of two jaxprs, which are compared by identity. Module state: what JAX's caches rely on."""
    return Loop(cond, body, counts, given)


# Jaxprs, avals and masks


def taken_apart(closed: ClosedJaxpr) -> ClosedJaxpr:
    """A jaxpr without the primitives that JAX itself takes apart; asked for only where JAX has such."""
    return partial_eval.lower_jaxpr2(closed)  # pyright: ignore[reportAttributeAccessIssue] - from jax 0.12 on


def unread(equation: Any) -> list[bool]:
    """Which operands does a primitive with a loop not read? An array, say, that the loop is linear in."""
    params = {name: value for name, value in equation.params.items() if name != "loop"}
    loop, run = equation.params["loop"], RUNS[equation.primitive]

    def found() -> list[bool]:
        program = loop.program(run, params, [atom.aval for atom in equation.invars])
        _, used = partial_eval.dce_jaxpr(program.jaxpr, [True] * len(program.out_avals))
        return [not one for one in used]

    return loop.derived(("unread", run, *sorted(params.items())), found)


def giving(closed: ClosedJaxpr, outputs: Sequence[bool], inputs: Sequence[bool]) -> ClosedJaxpr:
    """The program of some of its outputs, and of some of its inputs, which are all that these need."""
    needed, used = partial_eval.dce_jaxpr(closed.jaxpr, outputs, instantiate=inputs)
    assert list(used) == list(inputs), "a program needs more than it is given"
    return ClosedJaxpr(needed, closed.consts)


def batched_aval(aval: Any, dim: int | None, size: int) -> Any:
    if dim is None:
        return aval
    return aval.update(shape=(*aval.shape[:dim], size, *aval.shape[dim:]), weak_type=False)


def tangent_aval(aval: Any) -> Any:
    return aval.to_tangent_aval()


def is_inexact(aval: Any) -> bool:
    return jnp.issubdtype(aval.dtype, jnp.inexact)


def depends(jaxpr: Any, inputs: Sequence[bool], *, tangents: bool = False) -> list[bool]:
    """Which outputs depend on these inputs, or on their tangents? Calls of other jaxprs are looked into."""
    reached = {v for v, mask in zip(jaxpr.invars, inputs, strict=True) if mask}
    for equation in jaxpr.eqns:
        mask = [_is_variable(v) and v in reached for v in equation.invars]
        if not any(mask) or tangents and equation.primitive.name == "stop_gradient":
            continue
        inner = equation.params.get("jaxpr")
        inner = getattr(inner, "jaxpr", inner)
        if equation.primitive.name in ("jit", "pjit", "closed_call", "turn") and len(inner.invars) == len(mask):
            reached.update(v for v, out in zip(equation.outvars, depends(inner, mask, tangents=tangents), strict=True) if out)
        else:
            reached.update(equation.outvars)
    return [_is_variable(v) and v in reached for v in jaxpr.outvars]


def holds_custom_vjp(jaxpr: Any) -> bool:
    """Is there a function with a rule for reverse mode alone, also in branches, inner loops and calls?"""
    # Under jax_custom_vjp3 the rule is a parameter of a call.
    return _holds(jaxpr, lambda name: "custom_vjp" in name, lambda value: "CustomVJP" in type(value).__name__)


def holds_pushed_vjp(jaxpr: Any) -> bool:
    """Is there one to which JAX has applied forward mode, which nothing but its transpose can be made of?"""
    return _holds(jaxpr, lambda name: name == "custom_lin", lambda _: False)


def holds_rules(jaxpr: Any) -> bool:
    """Is there a function with a rule for forward mode, also in branches, inner loops and calls?"""
    return _holds(jaxpr, lambda name: "custom_jvp" in name, lambda _: False)


def _holds(jaxpr: Any, is_rule: Callable[[str], bool], is_in_param: Callable[[Any], bool]) -> bool:
    def inside(value: Any) -> bool:
        if type(value) is tuple:
            return any(map(inside, value))
        inner = getattr(value, "jaxpr", value)
        return is_in_param(value) or hasattr(inner, "eqns") and _holds(inner, is_rule, is_in_param)

    return any(is_rule(e.primitive.name) or any(map(inside, e.params.values())) for e in jaxpr.eqns)


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")  # a literal has one


def chosen(values: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    return [value for value, wanted in zip(values, mask, strict=True) if wanted]


def merged(values: Sequence[Any], new: Sequence[Any], mask: Sequence[bool]) -> list[Any]:
    """The values, with new ones in the places of the mask."""
    remaining = iter(new)
    return [next(remaining) if wanted else value for value, wanted in zip(values, mask, strict=True)]


def split(values: Sequence[Any], *counts: int) -> list[list[Any]]:
    """Parts of these lengths, and the rest."""
    parts, start = [], 0
    for count in counts:
        parts.append(list(values[start : start + count]))
        start += count
    return [*parts, list(values[start:])]


def size_in_bytes(avals: Sequence[Any]) -> int:
    return sum(math.prod(a.shape) * getattr(a.dtype, "itemsize", 8) for a in avals)
