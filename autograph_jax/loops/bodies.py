"""A scan's turn as it is compiled: who makes what in it, what its integers may be, what it does with the arrays it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.extend.core import ClosedJaxpr

from autograph_jax.loops.building import Atom, is_variable
from autograph_jax.loops.noted import left_by
from autograph_jax.loops.ranges import Range, Ranges, of_literal

WRITE = "dynamic_update_slice"
_ACCESSES = ("dynamic_slice", WRITE)


class Body:
    """The program of a turn; `inside` is what is known of its operands."""

    def __init__(self, closed: ClosedJaxpr, inside: Ranges) -> None:
        self.jaxpr: Any = closed.jaxpr
        self._makers = {v: equation for equation in self.jaxpr.eqns for v in equation.outvars}
        inputs = [*self.jaxpr.constvars, *self.jaxpr.invars]
        self._ranges: dict[Any, Range | None] = dict(zip(inputs, [*map(of_literal, closed.consts), *inside], strict=True))
        for equation in self.jaxpr.eqns:
            given = tuple(map(self.range_of, equation.invars))
            self._ranges.update(zip(equation.outvars, left_by(equation, given), strict=False))

    def maker(self, atom: Atom) -> Any:
        """The equation that gives this; None of an input, and of a literal."""
        return self._makers.get(atom) if is_variable(atom) else None

    def range_of(self, atom: Atom) -> Range | None:
        return self._ranges.get(atom) if is_variable(atom) else of_literal(atom.val)

    def accesses(self, number: int, output: int) -> list[Any]:
        """The equations that read or write the array that is this input and left as this output; none if all of it is used."""
        used, versions = [], [self.jaxpr.invars[number]]

        def is_one(atom: Any) -> bool:
            return any(atom is version for version in versions)

        for equation in self.jaxpr.eqns:
            if not any(map(is_one, equation.invars)):
                continue
            if equation.primitive.name not in _ACCESSES or any(map(is_one, equation.invars[1:])):
                return []
            used.append(equation)
            if is_write(equation):
                versions.append(equation.outvars[0])
        return used if is_one(self.jaxpr.outvars[output]) and sum(map(is_one, self.jaxpr.outvars)) == 1 else []

    def is_in_bounds(self, start: Atom, size: int, length: int) -> bool:
        span = self.range_of(start)
        return span is not None and span[0] >= 0 and span[1] + size <= length


def is_write(equation: Any) -> bool:
    return equation.primitive.name == WRITE


def replaces(equation: Any) -> bool:
    """Is it a scatter that puts values where others were? `x.at[i].apply(f)` is one that puts there what it makes of these."""
    return equation.primitive.name == "scatter" and equation.params["update_jaxpr"] is None


def window(equation: Any) -> tuple[Sequence[Atom], Sequence[int]]:
    """Where an access begins, and how large it is."""
    if is_write(equation):
        return equation.invars[2:], equation.invars[1].aval.shape
    return equation.invars[1:], equation.params["slice_sizes"]
