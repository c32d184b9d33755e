"""A program put together of equations of other programs, which are not traced again for that.

To trace an equation takes some 60 microseconds, to put it elsewhere 4, both as a profiler sees it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Literal, Var

from autograph_jax.loops.tracing import traced

Atom = Any  # of a jaxpr: a variable, or a literal, which has a value
Each = Callable[[Any, list[Atom]], Sequence[Atom]]


def is_variable(atom: Atom) -> bool:
    return not hasattr(atom, "val")


class Builder:
    """The equations of a new program, with inputs of these types."""

    def __init__(self, avals: Sequence[Any]) -> None:
        self.inputs = [Var(aval) for aval in avals]
        self._equations: list[Any] = []
        self._consts: dict[Var, Any] = {}
        self._names: dict[int, Var] = {}  # of constants by their ids
        self._scope: Any = None  # the named scopes around the equations that come next

    def again(self, equation: Any, operands: Sequence[Atom], params: dict[str, Any] | None = None) -> list[Atom]:
        """An equation once more, of these operands and with these parameters. What it gives is of the same types."""
        outputs = [Var(variable.aval) for variable in equation.outvars]
        info = self._info(equation)
        self._equations.append(equation.replace(invars=[*operands], outvars=outputs, params=params, source_info=info))
        return [*outputs]

    def of(self, function: Callable[..., Any], operands: Sequence[Atom], instead: Any) -> list[Atom]:
        """What a function of arrays gives, of what is known the values; it stands for an equation, at the same place."""
        variables = list(dict.fromkeys(atom for atom in operands if self._is_open(atom)))
        info = self._info(instead)

        def run(*values: Any) -> Any:
            given = self._consts | dict(zip(variables, values, strict=True))
            with source_info_util.user_context(info.traceback, name_stack=info.name_stack):
                return function(*(given[atom] if is_variable(atom) else atom.val for atom in operands))

        closed = traced(run, [variable.aval for variable in variables])
        with self._outside():  # it knows where it is
            return self.of_program(closed, variables)

    def of_program(self, closed: ClosedJaxpr, operands: Sequence[Atom], each: Each | None = None) -> list[Atom]:
        """What a program gives, its equations written here: each `again`, or what `each` gives for it."""
        atoms: dict[Any, Atom] = dict(zip(closed.jaxpr.invars, operands, strict=True))
        atoms.update((v, self.const(v, value)) for v, value in zip(closed.jaxpr.constvars, closed.consts, strict=True))

        def read(variables: Sequence[Any]) -> list[Atom]:
            return [v if hasattr(v, "val") else atoms[v] for v in variables]

        for equation in closed.jaxpr.eqns:
            atoms.update(zip(equation.outvars, (each or self.again)(equation, read(equation.invars)), strict=True))
        return read(closed.jaxpr.outvars)

    def const(self, like: Any, value: Any) -> Atom:
        """The variable that stands for a value, of the type of another one."""
        if id(value) not in self._names:
            self._names[id(value)] = Var(like.aval)
            self._consts[self._names[id(value)]] = value
        return self._names[id(value)]

    def number(self, atom: Atom) -> Atom:
        """A literal for the variable of a constant that is a number, any other atom as it is."""
        is_number = is_variable(atom) and atom in self._consts and not atom.aval.shape
        return Literal(self._consts[atom], atom.aval) if is_number else atom

    @contextlib.contextmanager
    def inside(self, equation: Any) -> Iterator[None]:
        """Meanwhile equations are of a program that this one holds."""
        before, self._scope = self._scope, self._info(equation).name_stack
        try:
            yield
        finally:
            self._scope = before

    def program(self, like: Any, outputs: Sequence[Atom]) -> ClosedJaxpr:
        """The program that gives these; of its effects and its names, what another jaxpr says."""
        names = like.debug_info.with_unknown_names()
        new = like.replace(
            constvars=[*self._consts], invars=self.inputs, eqns=self._equations, outvars=[*outputs], debug_info=names
        )
        return ClosedJaxpr(new, [*self._consts.values()])

    def _is_open(self, atom: Atom) -> bool:
        return is_variable(atom) and atom not in self._consts

    def _info(self, equation: Any) -> Any:
        info = equation.source_info
        return info if self._scope is None else info.replace(name_stack=self._scope + info.name_stack)

    @contextlib.contextmanager
    def _outside(self) -> Iterator[None]:
        before, self._scope = self._scope, None
        try:
            yield
        finally:
            self._scope = before


def with_programs_in_place(closed: ClosedJaxpr, program: Callable[[Any], ClosedJaxpr | None]) -> ClosedJaxpr:
    """The program with others in place of some equations, which `program` gives."""
    builder = Builder(closed.in_avals)

    def each(equation: Any, operands: list[Atom]) -> Sequence[Atom]:
        inner = program(equation)
        if inner is None:
            return builder.again(equation, operands)
        with builder.inside(equation):
            return builder.of_program(inner, operands, each)

    return builder.program(closed.jaxpr, builder.of_program(closed, builder.inputs, each))


def with_consts_given(closed: ClosedJaxpr) -> ClosedJaxpr:
    """The program whose first inputs are what were its constants."""
    jaxpr = closed.jaxpr
    inputs = [*jaxpr.constvars, *jaxpr.invars]
    new = jaxpr.replace(constvars=[], invars=inputs, debug_info=jaxpr.debug_info.with_unknown_names())
    return ClosedJaxpr(new, [])
