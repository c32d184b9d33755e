"""A turn of a loop, linearized: what it leaves, what its derivative needs, and the derivative as a linear program."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import jaxpr_as_fun
from jax.interpreters import partial_eval

from autograph_jax.errors import RuleError, user_location
from autograph_jax.loops.axes import axes_of_type, struct, vary
from autograph_jax.loops.branches import seen_through
from autograph_jax.loops.by_lane import knows_lanes, meet
from autograph_jax.loops.evaluation import inlined
from autograph_jax.loops.loop import (
    Axis,
    Loop,
    Mask,
    chosen,
    depends,
    giving,
    holds_custom_vjp,
    holds_pushed_vjp,
    merged,
    split,
    traced,
)
from autograph_jax.loops.stops import run_linear
from autograph_jax.loops.writes import writes_last


class Linearized:
    """The derivative of a loop's body by the constants and the part of the carry that the masks choose: of all lanes at once,
    where these read each other.

    Its coefficients are `invariants`, which the constants alone decide, and `residuals` of a turn.
    """

    def __init__(self, loop: Loop, const_mask: Mask, carry_mask: Mask) -> None:
        self._loop, self._const_mask, self._carry_mask = loop, const_mask, carry_mask
        if holds_pushed_vjp(loop.body.jaxpr):
            raise _rule_differentiated()
        self.has_rules = holds_custom_vjp(loop.body.jaxpr)
        consts = len(loop.const_avals)
        trees: list[Any] = []

        def body(*operands: Any) -> Any:
            mask = (*const_mask, *carry_mask)

            def moved(*values: Any) -> Any:
                new = inlined(loop.body, merged(operands, values, mask))
                return chosen(new, carry_mask), new

            _, derivative, new = jax.linearize(moved, *chosen(operands, mask), has_aux=True)
            leaves, tree = jax.tree.flatten(derivative)
            trees.append(tree)
            return [*new, *leaves]

        self._program = seen_through(traced(body, loop.body.in_avals))
        self._tree = trees[-1]
        leaves = self._program.jaxpr.outvars[len(loop.carry_avals) :]
        varying = depends(self._program.jaxpr, [False] * consts + [True] * len(loop.carry_avals))[len(loop.carry_avals) :]
        self._varying, self._first = varying, _first_of_each(leaves)
        self._stored = [v and first == i for i, (v, first) in enumerate(zip(varying, self._first, strict=True))]
        self._fixed = [not v for v in varying]
        count = len(loop.carry_avals)
        self.residual_avals = chosen(self._program.out_avals[count:], self._stored)
        self._forward = writes_last(self._program)
        self._again = functools.lru_cache(maxsize=None)(self._make_again)
        everything = [True] * len(self._program.in_avals)
        self._invariant_program = giving(self._program, [*[False] * count, *self._fixed], everything)

    def forward(self, consts: Sequence[Any], carry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """The carry after a turn, and the turn's residuals."""
        new, leaves = split(self._forward(*consts, *carry), len(carry))
        return new, chosen(leaves, self._stored)

    def needed(self) -> Mask:
        """Which part of the carry decides the residuals, of this turn and of all later ones?"""
        consts, mask = len(self._loop.const_avals), tuple(False for _ in self._loop.carry_avals)
        while True:
            _, used = partial_eval.dce_jaxpr(self._program.jaxpr, [*mask, *self._stored])
            wide = tuple(m or u for m, u in zip(mask, used[consts:], strict=True))
            if wide == mask:
                return mask
            mask = wide

    def again(self, part: Mask, consts: Sequence[Any], carry: Sequence[Any], *, saving: bool) -> tuple[list[Any], list[Any]]:
        """What `forward` gives, of such a part of the carry; with residuals if `saving`."""
        new, leaves = split(self._again(part, saving)(*consts, *carry), len(carry))
        return new, leaves

    def _make_again(self, part: Mask, saving: bool) -> Any:
        inputs = [*(True for _ in self._loop.const_avals), *part]
        return writes_last(giving(self._program, [*part, *(saving and stored for stored in self._stored)], inputs))

    def invariants(self, consts: Sequence[Any]) -> list[Any]:
        carry = [_anything(aval) for aval in self._loop.carry_avals]
        return list(jaxpr_as_fun(self._invariant_program)(*consts, *carry))

    def invariant_lanes(self) -> list[tuple[bool, ...]]:
        """Which axes of lanes each invariant has, from the outermost on: none."""
        return [() for _ in self._invariant_program.out_avals]

    def invariants_depend(self, const_mask: Sequence[bool], name: Any) -> list[bool]:
        """Which invariants depend on these constants, or on the number of the lane along an axis?"""
        if knows_lanes(self._invariant_program.jaxpr, name):
            return [True for _ in self._invariant_program.out_avals]
        return depends(self._invariant_program.jaxpr, [*const_mask, *(False for _ in self._loop.carry_avals)])

    def push(
        self, invariants: Sequence[Any], residuals: Sequence[Any], tangents: Sequence[Any], carry_tangents: Sequence[Any]
    ) -> list[Any]:
        """Tangents of the carry before a turn, and of the constants, become those after it."""
        stored, fixed = iter(residuals), iter(invariants)
        leaves: list[Any] = []
        for first, varies in zip(self._first, self._varying, strict=True):
            if not varies:
                leaves.append(next(fixed))
            else:
                leaves.append(next(stored) if first == len(leaves) else leaves[first])
        return jax.tree.unflatten(self._tree, leaves)(*tangents, *carry_tangents)

    def pull(
        self, live: Mask, active: Any, invariants: Sequence[Any], residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """The transpose: cotangents of the constants, which are zero if this lane is over, and of the carry."""
        avals = chosen(self._loop.const_avals, self._const_mask), chosen(self._loop.carry_avals, self._carry_mask)
        sums, new = transposed(functools.partial(self.push, invariants, residuals), *avals, live)(list(cotangents))
        return [jax.lax.select(jax.lax.broadcast(active, s.shape), s, jax.lax.full_like(s, 0)) for s in sums], new


def _rule_differentiated() -> RuleError:
    return RuleError(
        "a loop that calls a function with a `custom_vjp` is differentiated twice",
        location=user_location(),
        details=["How often it turns is only known at run time; its second derivative needs the rule of forward mode."],
        help="give the function a `custom_jvp`; or let the number of turns be known: `for _ in range(3)`",
    )


class LinearizedLanes:
    """The same for a batch of loops. Each residual begins with the axis of the lanes, so that it can be told whose it is."""

    def __init__(self, inner: Linearized | LinearizedLanes, axis: Axis, const_mask: Mask) -> None:
        self._inner, self._axis, self._const_mask, self.has_rules = inner, axis, const_mask, inner.has_rules
        self.residual_avals = [a.update(shape=(axis.size, *a.shape), weak_type=False) for a in inner.residual_avals]
        depend = inner.invariants_depend([dim is not None for dim in axis.const_dims], axis.data.name)
        self._invariant_dims = [0 if batched else None for batched in depend]

    def forward(self, consts: Sequence[Any], carry: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        axes = [list(self._axis.const_dims), [0] * len(carry)]
        return self._axis.map(self._inner.forward, axes)(list(consts), list(carry))

    def needed(self) -> Mask:
        return self._inner.needed()

    def again(self, part: Mask, consts: Sequence[Any], carry: Sequence[Any], *, saving: bool) -> tuple[list[Any], list[Any]]:
        axes = [list(self._axis.const_dims), [0] * len(carry)]
        again = functools.partial(self._inner.again, part, saving=saving)
        return self._axis.map(again, axes)(list(consts), list(carry))

    def invariants(self, consts: Sequence[Any]) -> list[Any]:
        return self._axis.map(self._inner.invariants, [list(self._axis.const_dims)], self._invariant_dims)(list(consts))

    def invariant_lanes(self) -> list[tuple[bool, ...]]:
        inner = self._inner.invariant_lanes()
        return [(dim is not None, *lanes) for dim, lanes in zip(self._invariant_dims, inner, strict=True)]

    def invariants_depend(self, const_mask: Sequence[bool], name: Any) -> list[bool]:
        inner = self._inner.invariants_depend(const_mask, name)
        return [own or dim is not None for own, dim in zip(inner, self._invariant_dims, strict=True)]

    def push(
        self, invariants: Sequence[Any], residuals: Sequence[Any], tangents: Sequence[Any], carry_tangents: Sequence[Any]
    ) -> list[Any]:
        dims = chosen(self._axis.const_dims, self._const_mask)
        axes = [self._invariant_dims, [0] * len(residuals), dims, [0] * len(carry_tangents)]
        operands = list(invariants), list(residuals), list(tangents), list(carry_tangents)
        return run_linear(self._axis.map(self._inner.push, axes), *operands)

    def pull(
        self, live: Mask, active: Any, invariants: Sequence[Any], residuals: Sequence[Any], cotangents: Sequence[Any]
    ) -> tuple[list[Any], list[Any]]:
        """The transpose of one lane, mapped: so a jax.custom_vjp keeps its rule. Each lane has its own sums."""
        axes = [0, self._invariant_dims, [0] * len(residuals), [0] * len(cotangents)]
        operands = active, list(invariants), list(residuals), list(cotangents)
        sums, new = self._axis.map(functools.partial(self._inner.pull, live), axes)(*operands)
        dims = chosen(self._axis.const_dims, self._const_mask)
        return [s.sum(0) if dim is None else jax.numpy.moveaxis(s, 0, dim) for s, dim in zip(sums, dims, strict=True)], new


def linearized(loop: Loop, const_mask: Mask, carry_mask: Mask) -> Linearized | LinearizedLanes:
    """A loop's turn, linearized once for these masks."""

    def make() -> Linearized | LinearizedLanes:
        if loop.inner is not None and loop.axis is not None and not meet(loop):
            inner = loop.axis.called(functools.partial(linearized, loop.inner, const_mask, carry_mask))
            return LinearizedLanes(inner, loop.axis, const_mask)
        return Linearized(loop, const_mask, carry_mask)

    return loop.derived(("linearized", const_mask, carry_mask), make)


def transposed(push: Any, consts: Sequence[Any], carry: Sequence[Any], live: Mask) -> Any:
    """The transpose of a turn's derivative, for tangents of these types. What of the carry is not `live` stays as it is."""

    def push_live(tangents: Any, carry_tangents: Any) -> Any:
        return chosen(push(tangents, merged(list(map(_no_tangent, carry)), carry_tangents, live)), live)

    back = jax.linear_transpose(push_live, list(map(struct, consts)), list(map(struct, chosen(carry, live))))

    def pull(cotangents: list[Any]) -> tuple[list[Any], list[Any]]:
        sums, new = back(chosen(cotangents, live))
        return sums, merged(cotangents, new, live)

    return pull


def _no_tangent(aval: Any) -> Any:
    return vary(jax.numpy.zeros(aval.shape, aval.dtype), axes_of_type(aval))


def _first_of_each(variables: Sequence[Any]) -> list[int]:
    """For each variable, where it stands first."""
    seen: dict[int, int] = {}
    return [seen.setdefault(id(variable), position) for position, variable in enumerate(variables)]


def _anything(aval: Any) -> Any:
    is_key = jax.numpy.issubdtype(aval.dtype, jax.dtypes.extended)
    return vary(_key(aval) if is_key else jax.lax.empty(aval.shape, aval.dtype), axes_of_type(aval))


def _key(aval: Any) -> Any:
    return jax.random.split(jax.random.key(0, impl=aval.dtype._impl.name), aval.shape)
