"""A turn with loops in it that write arrays: what the turn reads of these before is read before, by itself.

`k = x[i]`, then a loop that writes `x`, then `y[i] = 3 * k`: XLA reads `x[i]` where it is used, after the loop, and gives the
loop a copy of `x` in each turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from autograph_jax.loops.building import is_variable
from autograph_jax.loops.by_itself import by_itself
from autograph_jax.loops.evaluation import bound, programs_of
from autograph_jax.loops.guards import parts_of_scan

_MOST_HELD = 64  # elements
_DERIVATIVES = ("while_saving", "while_and_tangent", "while_tangent", "while_cotangent", "while_cotangent_into")
_CALLS = ("jit", "pjit", "closed_call", "kernel")
_WRITES = ("dynamic_update_slice", "scatter", "scatter-add", "scatter_add")


class _Stage(NamedTuple):
    """What can be computed before the next step, and gives these, by itself if it has to be; and the step, if there is one."""

    ready: list[Any]
    given: list[Any]
    is_by_itself: bool
    step: Any


def reads_before_loops(closed: ClosedJaxpr) -> Callable[..., list[Any]] | None:
    """A function that computes what a turn does, such that no inner loop waits for reads; None where none does."""
    jaxpr = closed.jaxpr
    if closed.effects or not any(map(_has_loop, jaxpr.eqns)):  # what prints, prints in its order
        return None
    stages = _stages(jaxpr)
    if not any(stage.is_by_itself for stage in stages):
        return None
    programs = [_program(closed, stage) if stage.is_by_itself else None for stage in stages]

    def run(*arguments: Any) -> list[Any]:
        known = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*closed.consts, *arguments], strict=True))

        def read(atoms: Iterable[Any]) -> list[Any]:
            return [known[atom] if is_variable(atom) else atom.val for atom in atoms]

        for stage, program in zip(stages, programs, strict=True):
            held: dict[int, Any] = {}
            if program is not None:
                waiting = _waiting(stage)
                operands = read(program.jaxpr.invars), [read([stage.step.invars[number]])[0] for number in waiting]
                results, values = _computed(program)(*operands)
                known |= zip(stage.given, results, strict=True)
                held = dict(zip(waiting, values, strict=True))
            for equation in stage.ready if program is None else []:
                known |= zip(equation.outvars, bound(equation, read(equation.invars)), strict=True)
            if stage.step is not None:
                operands = [held.get(number, value) for number, value in enumerate(read(stage.step.invars))]
                known |= zip(stage.step.outvars, bound(stage.step, operands), strict=True)
        return read(jaxpr.outvars)

    return run


def _computed(program: ClosedJaxpr) -> Callable[..., tuple[list[Any], list[Any]]]:
    """What gives what is ready, by itself, and after that what a step takes which would else not wait for it."""

    @by_itself
    def computed(operands: Sequence[Any], held: Sequence[Any]) -> tuple[Any, Any]:
        return jaxpr_as_fun(program)(*operands), jax.lax.optimization_barrier(held)

    return computed


def _waiting(stage: _Stage) -> list[int]:
    """Which operand the next step gets through the call, so that it comes after what is read there: the smallest."""
    if stage.step is None:
        return []
    made = {v for equation in stage.ready for v in equation.outvars}
    atoms = stage.step.invars
    if any(is_variable(atom) and atom in made for atom in atoms):
        return []
    order = sorted(range(len(atoms)), key=lambda number: (atoms[number].aval.size, not is_variable(atoms[number])))
    return [number for number in order if atoms[number].aval.size <= _MOST_HELD][:1]


def _stages(jaxpr: Any) -> list[_Stage]:
    left, stages = list(jaxpr.eqns), []
    places = Places()
    steps = [equation for equation in left if _written(equation, places)]
    while left:
        late = _depending(left, steps)
        ready = _without(left, late)
        step, written = next(iter(steps), None), {v for equation in steps for v in _written(equation, places)}
        left, steps = _without(late, [step]), steps[1:]
        users = [*(atom for equation in left for atom in equation.invars), *jaxpr.outvars]
        later = {atom for atom in users if is_variable(atom)}
        needed = later if step is None else later | {v for v in step.invars if is_variable(v)}
        given = [v for equation in ready for v in equation.outvars if v in needed]
        stages.append(_Stage(ready, given, not later.isdisjoint(_read_of(ready, written)), step))
    return stages


def _written(equation: Any, places: Places) -> list[Any]:
    """The arrays that it writes in place."""
    found = [places.before(equation, v) for v in equation.outvars if v.aval.size > 1]
    return [v for v in found if v is not None]


def _has_loop(equation: Any) -> bool:
    return _is_loop_over_arrays(equation) or any(map(has_loops, programs_of(equation.params)))


def _depending(equations: Sequence[Any], steps: Sequence[Any]) -> list[Any]:
    """The steps and all that needs what they give."""
    ids, reached = set(map(id, steps)), set()
    found = []
    for equation in equations:
        if id(equation) in ids or any(is_variable(v) and v in reached for v in equation.invars):
            found.append(equation)
            reached |= set(equation.outvars)
    return found


def _without(equations: Sequence[Any], others: Sequence[Any]) -> list[Any]:
    ids = set(map(id, others))
    return [equation for equation in equations if id(equation) not in ids]


def _read_of(ready: Sequence[Any], written: set[Any]) -> set[Any]:
    """What is computed from these arrays."""
    found: set[Any] = set()
    for equation in ready:
        if any(is_variable(v) and (v in written or v in found) for v in equation.invars):
            found |= set(equation.outvars)
    return found


def _program(closed: ClosedJaxpr, stage: _Stage) -> ClosedJaxpr:
    """What is computed before a step, of what it takes from elsewhere."""
    jaxpr = closed.jaxpr
    made = {v for equation in stage.ready for v in equation.outvars}
    taken = dict.fromkeys(v for equation in stage.ready for v in equation.invars if is_variable(v) and v not in made)
    names = jaxpr.debug_info.with_unknown_names()
    new = jaxpr.replace(constvars=[], invars=[*taken], eqns=stage.ready, outvars=stage.given, debug_info=names)
    return ClosedJaxpr(new, [])


def has_loops(jaxpr: Any) -> bool:
    """Is an array carried by a loop in it?"""
    return any(map(_has_loop, jaxpr.eqns))


def _is_loop_over_arrays(equation: Any) -> bool:
    return any(v.aval.size > 1 for v, _ in _carried(equation))


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
            atom = self.before(makers[atom], atom)
        return next((position for position, v in enumerate(jaxpr.invars) if v is atom), None)

    def before(self, equation: Any, atom: Any) -> Any:
        """What an array was before the equation that left it so; None if it has made another one."""
        name, number = equation.primitive.name, next(n for n, v in enumerate(equation.outvars) if v is atom)
        if name in _WRITES:
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
