"""Cotangents that a loop adds up, in a branch perhaps, are added to what is there: `a + (a sum from zeros on)` begins with `a`.

The cotangent of an array that an inner loop reads would else be, in each turn of the loop around, an array of zeros, filled by
the inner one and added. The gradient of a product of a matrix and a vector by two loops took the size of the matrix per row.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
from jax.extend.core import ClosedJaxpr, Primitive
from jax.extend.core.primitives import scan_p
from jax.interpreters.ad import add_jaxvals

from autograph_jax.loops.building import Builder, is_variable, with_programs_in_place
from autograph_jax.loops.evaluation import called, is_call
from autograph_jax.loops.guards import parts_of_scan

INTO: dict[Primitive, Primitive] = {}  # module state: of a sweep, the same from sums on that are given as its last operands
_SUMS = ("add_any", "add")  # the first is that of transposes
_UPDATES = ("dynamic_update_slice", "scatter-add", "scatter_add")  # of zeros


def accumulated(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program where loops, and branches with loops in them, begin with what their sums would be added to."""
    sums = [e for e in closed.jaxpr.eqns if e.primitive.name in _SUMS and e.outvars[0].aval.ndim]
    if not sums:
        return closed
    program = _Program(closed)
    for equation in sums:
        program.try_to_merge(equation)
    return program.made() if program.starts else closed


def with_sums_in_sight(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program with calls written out that hold a loop, where what they give is added to something.

    So it is in the transpose of a turn whose arithmetic is done by itself (`by_itself.py`).
    """
    ids = {id(e) for e in closed.jaxpr.eqns if is_call(e) and not e.effects and _may_be_added(closed.jaxpr, e)}
    return with_programs_in_place(closed, lambda e: called(e) if id(e) in ids else None) if ids else closed


def _may_be_added(jaxpr: Any, call: Any) -> bool:
    """Is what a call gives, with a loop in it, added to something? To whatever, if it is a sweep, else in a transpose alone."""
    inside = {equation.primitive for equation in called(call).jaxpr.eqns}
    names = _SUMS if not inside.isdisjoint(INTO) else _SUMS[:1] if scan_p in inside else ()
    sums = [equation for equation in jaxpr.eqns if equation.primitive.name in names]
    return any(atom is v for equation in sums for atom in equation.invars for v in call.outvars)


class _Program:
    """`starts` are, by the id of a loop's equation, which of its results begin with what."""

    def __init__(self, closed: ClosedJaxpr) -> None:
        self._closed, self._jaxpr = closed, closed.jaxpr
        jaxpr = closed.jaxpr
        self._makers = {v: equation for equation in jaxpr.eqns for v in equation.outvars}
        self._uses: dict[Any, int] = {}
        for atom in [*(atom for equation in jaxpr.eqns for atom in equation.invars), *jaxpr.outvars]:
            if is_variable(atom):
                self._uses[atom] = self._uses.get(atom, 0) + 1
        self.starts: dict[int, dict[int, Any]] = {}
        self._merged: dict[int, Any] = {}  # by the id of a sum's equation, the result of the loop that it is

    def try_to_merge(self, equation: Any) -> None:
        for result, other in (equation.invars, equation.invars[::-1]):
            loop = self._makers.get(result) if is_variable(result) else None
            if loop is None or not is_variable(other) or self._uses[result] > 1 or not _are_alike(result, other):
                continue
            is_users = equation.primitive.name == "add" and loop.primitive not in INTO  # whose sums keep their order
            number = next(n for n, v in enumerate(loop.outvars) if v is result)
            if not is_users and self._begins_with_zeros(loop, number) and not self._needs(other, loop):
                self.starts.setdefault(id(loop), {})[number] = other
                self._merged[id(equation)] = result
                return

    def _begins_with_zeros(self, loop: Any, number: int) -> bool:
        """Is this result a sum from zeros on?"""
        if loop.primitive in INTO:
            return number < sum(loop.params["masks"][0])
        if loop.primitive.name in _UPDATES:
            return _is_zeros(self._makers.get(_variable(loop.invars[0])))
        if loop.primitive.name == "cond":
            return all(_Program(branch).is_sum(branch.jaxpr.outvars[number]) for branch in loop.params["branches"])
        if loop.primitive.name != "scan":
            return False
        first, last = parts_of_scan(loop.params, loop.invars)
        if number >= last - first or not _is_zeros(self._makers.get(_variable(loop.invars[first + number]))):
            return False
        return _adds_up(loop.params["jaxpr"].jaxpr, first + number, number)

    def is_sum(self, atom: Any) -> bool:
        """Is it zeros, or a sum from zeros on that nobody else has?"""
        maker = self._makers.get(_variable(atom))
        if maker is None or _is_zeros(maker):
            return maker is not None
        return self._uses[atom] == 1 and self._begins_with_zeros(
            maker, next(n for n, v in enumerate(maker.outvars) if v is atom)
        )

    def _needs(self, atom: Any, loop: Any) -> bool:
        """Does the loop come before this value?"""
        seen, left = set(), [atom]
        while left:
            maker = self._makers.get(_variable(left.pop()))
            if maker is None or id(maker) in seen:
                continue
            if maker is loop:
                return True
            seen.add(id(maker))
            left += [*maker.invars, *self.starts.get(id(maker), {}).values()]
        return False

    def made(self) -> ClosedJaxpr:
        builder = Builder(self._closed.in_avals)
        consts = (builder.const(v, value) for v, value in zip(self._jaxpr.constvars, self._closed.consts, strict=True))
        atoms: dict[Any, Any] = dict(zip(self._jaxpr.invars, builder.inputs, strict=True))
        atoms.update(zip(self._jaxpr.constvars, consts, strict=True))

        def atom_of(atom: Any) -> Any:
            if not is_variable(atom):
                return atom
            if atom not in atoms:
                write(self._makers[atom])
            return atoms[atom]

        def write(equation: Any) -> None:
            if equation.outvars and all(v in atoms for v in equation.outvars):
                return
            if id(equation) in self._merged:
                atoms[equation.outvars[0]] = atom_of(self._merged[id(equation)])
                return
            starts = {number: atom_of(start) for number, start in self.starts.get(id(equation), {}).items()}
            operands = list(map(atom_of, equation.invars))
            out = _begun(builder, equation, operands, starts) if starts else builder.again(equation, operands)
            atoms.update(zip(equation.outvars, out, strict=True))

        for equation in self._jaxpr.eqns:
            write(equation)
        return builder.program(self._jaxpr, list(map(atom_of, self._jaxpr.outvars)))


def _begun(builder: Builder, loop: Any, operands: list[Any], starts: dict[int, Any]) -> list[Any]:
    """The loop, or the branch or update, from these on."""
    if loop.primitive.name == "scan":
        first, _ = parts_of_scan(loop.params, operands)
        for number, start in starts.items():
            operands[first + number] = start
        return builder.again(loop, operands)
    if loop.primitive.name == "cond":
        branches = tuple(_branch_begun(branch, list(starts)) for branch in loop.params["branches"])
        return builder.again(loop, [*operands, *starts.values()], loop.params | {"branches": branches})
    if loop.primitive.name == "dynamic_update_slice":
        return builder.of(_added_to_slice, [starts[0], *operands[1:]], loop)
    if loop.primitive.name in _UPDATES:
        return builder.again(loop, [starts[0], *operands[1:]])
    for number, variable in enumerate(loop.outvars[: sum(loop.params["masks"][0])]):
        zeros = functools.partial(jnp.zeros, variable.aval.shape, variable.aval.dtype)
        operands.append(starts[number] if number in starts else builder.of(zeros, [], loop)[0])
    return builder.again(loop.replace(primitive=INTO[loop.primitive]), operands)


def _added_to_slice(array: jax.Array, update: jax.Array, *starts: Any) -> jax.Array:
    own = jax.lax.dynamic_slice(array, starts, update.shape, allow_negative_indices=False)
    return jax.lax.dynamic_update_slice(array, own + update, starts, allow_negative_indices=False)


def _branch_begun(branch: ClosedJaxpr, numbers: list[int]) -> ClosedJaxpr:
    """A branch that takes, behind its operands, what these of its results begin with."""
    builder = Builder([*branch.in_avals, *(branch.out_avals[number] for number in numbers)])
    count, equations = len(branch.in_avals), branch.jaxpr.eqns
    makers = {v: equation for equation in equations for v in equation.outvars}
    out = builder.of_program(branch, builder.inputs[:count])
    for number, start in zip(numbers, builder.inputs[count:], strict=True):
        is_nothing = _is_zeros(makers.get(_variable(branch.jaxpr.outvars[number])))
        out[number] = start if is_nothing else builder.of(add_jaxvals, [start, out[number]], equations[-1])[0]
    return accumulated(with_sums_in_sight(builder.program(branch.jaxpr, out)))


def _adds_up(jaxpr: Any, number: int, output: int) -> bool:
    """Is this input only added to, and the sum left as this output?"""
    readers: dict[Any, list[tuple[Any, int]]] = {}
    for equation in jaxpr.eqns:
        for position, atom in enumerate(equation.invars):
            if is_variable(atom):
                readers.setdefault(atom, []).append((equation, position))
    atom, end = jaxpr.invars[number], jaxpr.outvars[output]
    while atom is not end:
        if len(readers.get(atom, ())) != 1 or any(v is atom for v in jaxpr.outvars):
            return False
        atom = _sum_of(*readers[atom][0])
    return not readers.get(end) and sum(v is end for v in jaxpr.outvars) == 1


def _sum_of(equation: Any, position: int) -> Any:
    """What an operand is in when something is added to it; None where the equation does something else with it."""
    name, params = equation.primitive.name, equation.params
    if name in _SUMS and len(equation.outvars) == 1 or name in ("scatter-add", "scatter_add") and position == 0:
        return equation.outvars[0]
    found: list[int] = []
    if is_call(equation):
        found = [n for n in range(len(equation.outvars)) if _adds_up(called(equation).jaxpr, position, n)]
    elif name == "cond" and position > 0:
        branches = [branch.jaxpr for branch in params["branches"]]
        found = [n for n in range(len(equation.outvars)) if all(_adds_up(branch, position - 1, n) for branch in branches)]
    elif name == "scan":
        first, last = parts_of_scan(params, equation.invars)
        if first <= position < last and _adds_up(params["jaxpr"].jaxpr, position, position - first):
            found = [position - first]
    return equation.outvars[found[0]] if len(found) == 1 else None


def _are_alike(one: Any, other: Any) -> bool:
    return one.aval.shape == other.aval.shape and one.aval.dtype == other.aval.dtype


def _is_zeros(maker: Any) -> bool:
    return (
        maker is not None
        and maker.primitive.name == "broadcast_in_dim"
        and not is_variable(maker.invars[0])
        and not maker.invars[0].val
    )


def _variable(atom: Any) -> Any:
    return atom if is_variable(atom) else None
