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
from autograph_jax.loops.evaluation import bound
from autograph_jax.loops.in_place import Places, has_loops

_LOOPS = ("while", "scan")
_MOST_HELD = 64  # elements

Run = Callable[..., list[Any]]


class _Stage(NamedTuple):
    """What can be computed before the next step, and gives these, by itself if it has to be; and the step, if there is one."""

    ready: list[Any]
    given: list[Any]
    is_by_itself: bool
    step: Any


def in_order(closed: ClosedJaxpr) -> Run:
    """A function that computes what a program does, reads before loops that write."""
    return reads_before_loops(closed) or jaxpr_as_fun(closed)


def reads_before_loops(closed: ClosedJaxpr) -> Run | None:
    """The same; None where it may stay as it is. What prints, or writes what is seen elsewhere, does so in its order."""
    jaxpr = closed.jaxpr
    if closed.effects or not has_loops(jaxpr):
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
                operands = read(program.jaxpr.invars), read(stage.step.invars[number] for number in waiting)
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
    few = [n for n, atom in enumerate(atoms) if not atom.aval.ndim or _is_known(atom.aval) and atom.aval.size <= _MOST_HELD]
    return sorted(few, key=lambda number: (atoms[number].aval.size, not is_variable(atoms[number])))[:1]


def _is_known(aval: Any) -> bool:
    """Is the shape one of numbers, and not of symbols?"""
    return all(isinstance(length, int) for length in aval.shape)


def _stages(jaxpr: Any) -> list[_Stage]:
    """The equations in stages, each of which ends with a step: a write, a loop, or a branch that leaves an array in its place.

    What is in a stage waits for the steps before. It is done by itself if it comes from an array that its step, or a later one,
    writes, and is used after the step.
    """
    places, numbers, since, last = Places(), {}, {}, {}
    steps: list[Any] = []
    written: dict[Any, int] = {}  # by an array, the last step that writes it
    for equation in jaxpr.eqns:
        if arrays := places.written(equation):
            numbers[id(equation)] = len(steps)
            written |= dict.fromkeys(arrays, len(steps))
            since |= dict.fromkeys(equation.outvars, len(steps) + 1)
            steps.append(equation)
        else:
            numbers[id(equation)] = max((since.get(v, 0) for v in equation.invars if is_variable(v)), default=0)
            since |= dict.fromkeys(equation.outvars, numbers[id(equation)])
    for equation in jaxpr.eqns:
        for v in filter(is_variable, equation.invars):
            last[v] = max(last.get(v, 0), numbers[id(equation)])
    last |= dict.fromkeys(filter(is_variable, jaxpr.outvars), len(steps) + 1)

    ready: list[list[Any]] = [[] for _ in range(len(steps) + 1)]
    for equation in jaxpr.eqns:
        if not (numbers[id(equation)] < len(steps) and steps[numbers[id(equation)]] is equation):
            ready[numbers[id(equation)]].append(equation)
    return [
        _stage(number, own, steps[number] if number < len(steps) else None, written, last) for number, own in enumerate(ready)
    ]


def _stage(number: int, ready: list[Any], step: Any, written: dict[Any, int], last: dict[Any, int]) -> _Stage:
    """`last` is, by a value, the last stage that uses it."""
    taken = set() if step is None else {v for v in step.invars if is_variable(v)}
    read: set[Any] = set()  # what comes from an array that this step, or a later one, writes
    for equation in ready:
        if any(v in read or written.get(v, -1) >= number for v in equation.invars if is_variable(v)):
            read |= set(equation.outvars)
    made = [v for equation in ready for v in equation.outvars]
    given = [v for v in made if v in taken or last.get(v, -1) > number]
    there = taken if step is not None and step.primitive.name in _LOOPS else set()  # what a loop takes is there before it
    is_read_late = any(last.get(v, -1) > number and v not in there for v in read)
    return _Stage(ready, given, is_read_late, step)


def _program(closed: ClosedJaxpr, stage: _Stage) -> ClosedJaxpr:
    """What is computed before a step, of what it takes from elsewhere."""
    jaxpr = closed.jaxpr
    made = {v for equation in stage.ready for v in equation.outvars}
    taken = dict.fromkeys(v for equation in stage.ready for v in equation.invars if is_variable(v) and v not in made)
    names = jaxpr.debug_info.with_unknown_names()
    new = jaxpr.replace(constvars=[], invars=[*taken], eqns=stage.ready, outvars=stage.given, debug_info=names)
    return ClosedJaxpr(new, [])
