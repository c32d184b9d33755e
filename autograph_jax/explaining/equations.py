"""Which operations of a program come from which of the user's lines."""

from __future__ import annotations

import dataclasses
import sysconfig
from collections.abc import Iterator
from typing import Any, NamedTuple

from jax.extend.core import ClosedJaxpr, Jaxpr

from autograph_jax.operators import jax_private

Place = tuple[str, int]  # file, line
_LIBRARIES = tuple({sysconfig.get_paths()[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")})
_UNKNOWN_TURNS = 10  # a while loop counts as so many turns, for colours alone


class Operation(NamedTuple):
    """An equation, and how often it runs, where a loop with an unknown number of turns counts as ten."""

    equation: Any
    weight: int
    is_inside: bool  # of another equation


@dataclasses.dataclass
class Operations:
    """What a line computes: in its own expressions, and in the functions that it calls."""

    own: list[Operation] = dataclasses.field(default_factory=list)
    called: list[Operation] = dataclasses.field(default_factory=list)

    @property
    def count(self) -> int:
        return len(self.own) + len(self.called)

    @property
    def cost(self) -> int:
        return sum(operation.weight for operation in [*self.own, *self.called])

    @property
    def result(self) -> str:
        """The dtype and shape of what was computed last."""
        last = (self.own or self.called)[-1].equation
        shown = [_type_of(variable.aval) for variable in last.outvars]
        return shown[0] if len(shown) == 1 else f"({', '.join(shown[:4])}{', ...' if len(shown) > 4 else ''})"


def by_line(jaxpr: Any, fallback: Place) -> dict[Place, Operations]:
    """The operations of a program by the user's lines; those without a line go to the one around, or to `fallback`."""
    found: dict[Place, Operations] = {}
    for operation, places in _walk(jaxpr, [fallback], 1, False):
        for number, place in enumerate(places):
            line = found.setdefault(place, Operations())
            (line.called if number else line.own).append(operation)
    return found


def _walk(jaxpr: Any, around: list[Place], weight: int, is_inside: bool) -> Iterator[tuple[Operation, list[Place]]]:
    for equation in jaxpr.eqns:
        places = _places(equation) or around
        yield Operation(equation, weight, is_inside), places
        for inner in _inner(equation):
            for operation, found in _walk(inner, places, weight * _turns(equation), True):
                yield operation, places if _is_shared(equation, inner) else found


def _is_shared(equation: Any, inner: Any) -> bool:
    """Is this the program of one of JAX's own functions? It is traced once, and says where it was called first, by whomever."""
    return equation.primitive.name in ("jit", "pjit") and jax_private.is_of_jax_itself(inner)


def place_of(equation: Any) -> Place | None:
    """The user's line that an equation stands on, if it has one."""
    return next(iter(_places(equation)), None)


def _places(equation: Any) -> list[Place]:
    """The user's line that an equation stands on, and the lines of the calls around it: of each function one line."""
    places, functions = [], []
    for file, function, line in jax_private.user_frames(equation):
        if is_users(file) and (file, function) not in functions:
            functions.append((file, function))
            places.append((file, line))
    return places


def is_users(file: str) -> bool:
    """Is this a file of the user's, or a notebook's cell, and not of an installed library?"""
    is_cell = file.startswith("<ipython") or "ipykernel" in file
    return is_cell or not (file.startswith(_LIBRARIES) or file.startswith("<") or "site-packages" in file)


def _inner(equation: Any) -> list[Any]:
    """The programs inside of an equation. Where it has some as such, records that hold the same ones once more are left out."""
    flat = [part for given in equation.params.values() for part in (given if isinstance(given, tuple | list) else (given,))]
    programs = [part for part in flat if isinstance(part, Jaxpr | ClosedJaxpr)] or flat
    found = [getattr(part, "jaxpr", part) for part in programs]
    return [program for program in found if hasattr(program, "eqns")]


def _turns(equation: Any) -> int:
    name = equation.primitive.name
    return equation.params["length"] if name == "scan" else _UNKNOWN_TURNS if name.startswith("while") else 1


def _type_of(aval: Any) -> str:
    return f"{aval.dtype}[{','.join(map(str, aval.shape))}]" if hasattr(aval, "shape") else str(aval)
