"""Expressions that a statement under way has evaluated, and whether their values are arrays that a call in it writes.

`s = x + fill(x)`: NumPy adds what `fill` leaves in x, since x is one array throughout.
"""

from __future__ import annotations

import dataclasses
import inspect
import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax

from autograph_jax.operators.tracing import reach
from autograph_jax.operators.values.choices import UNBOUND


@dataclasses.dataclass(frozen=True)
class Attr:
    """`.name`"""

    name: str

    def __str__(self) -> str:
        return f".{self.name}"


@dataclasses.dataclass(frozen=True)
class Item:
    """`[key]`, a constant."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


@dataclasses.dataclass(frozen=True)
class Variable:
    """`[name]`"""

    name: str

    def __str__(self) -> str:
        return f"[{self.name}]"


@dataclasses.dataclass(frozen=True)
class _Step:
    text: str

    def __str__(self) -> str:
        return self.text


SLICE = _Step("[a:b]")
ELEMENT = _Step("[...]")  # of an index that is not known
Step = Attr | Item | Variable | _Step

OF_ITS_OWN = ("shape", "ndim", "dtype", "size", "at")  # attributes of an array that do not share its memory


@dataclasses.dataclass(frozen=True)
class Operand:
    """A variable, or an attribute or element of one."""

    name: str
    steps: tuple[Step, ...] = ()

    def __str__(self) -> str:
        return self.name + "".join(map(str, self.steps))

    def values(self, variables: Mapping[str, Any]) -> Iterator[Any]:
        """What it may be, where it is a view of an array that array."""
        found = [variables[self.name]] if self.name in variables else []
        for position, step in enumerate(self.steps):
            arrays = [value for value in found if isinstance(value, jax.Array)]
            yield from (array for array in arrays if _shares(array, self.steps[position:]))
            found = [part for value in found for part in _parts(value, step, variables)]
        yield from found


def _shares(array: jax.Array, steps: tuple[Step, ...]) -> bool:
    """Does what these steps give share the array's memory?"""
    indices = list(itertools.takewhile(lambda step: not isinstance(step, Attr), steps))
    if not indices:
        return isinstance(steps[0], Attr) and steps[0].name not in OF_ITS_OWN
    return SLICE in indices or len(indices) < array.ndim


def _parts(value: Any, step: Step, variables: Mapping[str, Any]) -> list[Any]:
    if isinstance(step, Attr):
        part = reach.attribute(value, step.name, UNBOUND)
        return [] if part is UNBOUND else [part]
    if not issubclass(type(value), list | tuple | dict):
        return []
    key = step.key if isinstance(step, Item) else variables.get(step.name) if isinstance(step, Variable) else None
    if isinstance(key, str | int):
        try:
            return [value[key]]
        except LookupError:
            return []
    return list(value.values() if isinstance(value, dict) else value)


@dataclasses.dataclass(frozen=True)
class Result:
    """What a call gave: something new, or an argument, a part of one, what the function or its object keeps."""

    function: Operand | None
    given: tuple[Operand | Result, ...]
    is_new: Callable[[Any], bool]

    def __str__(self) -> str:
        return f"{self.function or ''}({', '.join(map(str, self.given))})"

    def values(self, variables: Mapping[str, Any]) -> Iterator[Any]:
        """The arrays that it may be or be views of. The methods of an array that give views of it are operands of their own."""
        calls = list(self._functions(variables))
        given = [value for operand in self.given for value in operand.values(variables)]
        joins = any(issubclass(type(value), list | tuple) for value in given)  # `a + b` of lists, which has their arrays
        if calls and not joins and all(isinstance(owner, jax.Array) or self.is_new(function) for function, owner in calls):
            return
        for value in (*itertools.chain(*calls), *given):
            yield from reach.arrays(value)

    def _functions(self, variables: Mapping[str, Any]) -> Iterator[tuple[Any, Any]]:
        """What may be called, and the object whose method it is."""
        if self.function is None:
            return
        *steps, last = self.function.steps or (None,)
        if not isinstance(last, Attr):
            yield from ((function, None) for function in self.function.values(variables))
            return
        for owner in Operand(self.function.name, tuple(steps)).values(variables):
            function = reach.attribute(owner, last.name, inspect.getattr_static(owner, last.name, None))
            yield getattr(function, "__func__", function), owner
