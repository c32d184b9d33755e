"""What stays in its place: the arrays that writes, loops and branches leave where they were, if nobody disturbs XLA in it."""

from __future__ import annotations

import weakref
from typing import Any

from autograph_jax.loops.building import is_variable
from autograph_jax.loops.evaluation import WRITES, programs_of
from autograph_jax.loops.guards import parts_of_scan

_DERIVATIVES = ("while_saving", "while_and_tangent", "while_tangent", "while_cotangent", "while_cotangent_into")
_CALLS = ("jit", "pjit", "closed_call", "kernel")  # where programs are compiled; turns are written out there


# Module state: of programs met, whether they have loops that carry arrays. Every loop around asks anew.
_have_loops: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()


def has_loops(jaxpr: Any) -> bool:
    """Is an array carried by a loop in it?"""
    found = _have_loops.get(jaxpr)
    if found is None:
        found = _have_loops[jaxpr] = any(map(is_loop, jaxpr.eqns))
    return found


def is_loop(equation: Any) -> bool:
    """Is it one that carries an array, or does it hold one?"""
    return any(v.aval.ndim for v, _ in _carried(equation)) or any(map(has_loops, programs_of(equation.params)))


def _carried(equation: Any) -> list[tuple[Any, Any]]:
    """What a loop, or a derivative of one, leaves in the place of what: none of other equations."""
    name, given, left = equation.primitive.name, equation.invars, equation.outvars
    if name == "while":
        return list(zip(left, given[len(given) - len(left) :], strict=True))
    if name == "scan":
        return list(zip(left, given[slice(*parts_of_scan(equation.params, given))], strict=False))
    if name not in _DERIVATIVES:
        return []
    loop, (consts, mask) = equation.params["loop"], equation.params["masks"]
    if name == "while_cotangent_into":
        first = len(given) - sum(consts)
        return list(zip(left, [*given[first:], *given[first - sum(mask) : first]], strict=True))
    carry = given[sum(loop.counts) :][: len(loop.carry_avals)]
    tangents = given[len(given) - sum(mask) :]
    before = {"while_saving": carry, "while_and_tangent": [*carry, *tangents]}.get(name, tangents)
    first = len(left) - len(tangents) if before is tangents else 0
    return list(zip(left[first:], before, strict=False))


class Places:
    """Which operand of a program a result is, written again and again. What is found of programs inside is kept."""

    def __init__(self) -> None:
        self._makers: dict[int, dict[Any, Any]] = {}  # of each program what makes its values, by its id
        self._found: dict[tuple[int, int], int | None] = {}

    def of(self, jaxpr: Any, number: int) -> int | None:
        key = id(jaxpr), number
        if key not in self._found:
            self._found[key] = self._of(jaxpr, number)
        return self._found[key]

    def _of(self, jaxpr: Any, number: int) -> int | None:
        if id(jaxpr) not in self._makers:
            self._makers[id(jaxpr)] = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
        makers, atom = self._makers[id(jaxpr)], jaxpr.outvars[number]
        while is_variable(atom) and atom in makers:
            atom = self._before(makers[atom], atom)
        return next((position for position, v in enumerate(jaxpr.invars) if v is atom), None)

    def written(self, equation: Any) -> list[Any]:
        """The arrays that an equation writes in place."""
        found = [self._before(equation, v) for v in equation.outvars if v.aval.ndim]
        return [atom for atom in found if atom is not None and is_variable(atom)]

    def _before(self, equation: Any, atom: Any) -> Any:
        """What an array was before the equation that left it so; None if it has made another one."""
        name, number = equation.primitive.name, next(n for n, v in enumerate(equation.outvars) if v is atom)
        if name in WRITES:
            return equation.invars[0]
        if carried := dict(_carried(equation)):
            return carried.get(atom)
        if name == "cond":
            inside = {self.of(branch.jaxpr, number) for branch in equation.params["branches"]}
            place = inside.pop()
            return None if inside or place is None else equation.invars[1 + place]
        if name in _CALLS:
            place = self.of(equation.params["jaxpr"].jaxpr, number)
            return None if place is None else equation.invars[place]
        return None
