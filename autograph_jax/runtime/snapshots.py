"""What a function closes over at one time: a key, and a generated check that nothing has changed, which runs before each call.

(e0 := r0["lr"]) is v0 and (e1 := r1.cell_contents) is v1 and e1.rate is v2
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from autograph_jax.operators.tracing.places import Place


class Capture(NamedTuple):
    """One value that a function closes over: its name, the value, and how it is compared from call to call.

    `compared` is "by value" (numbers, strings, tuples of these, small NumPy arrays), "by code" (functions, whose own captures
    follow), "by identity" (JAX arrays, objects, lists, dicts), or "by identity, contents not" (NumPy arrays above the limit).
    """

    name: str
    value: Any
    compared: str


class Identity:
    """A value that is compared by `is`."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.value is other.value


@dataclasses.dataclass
class Snapshot:
    """The values that a function closes over now: a key for them, and what a check of them needs."""

    key: tuple[Any, ...]
    captures: list[Capture]
    keys: list[Any]
    roots: list[Any]
    values: list[Any]
    conditions: list[str]
    traced: bool  # is one of them a tracer, which must not be kept?
    holds: bool  # is one of them an array or object that is compared by identity, so that whoever keeps the key keeps it?
    shared: bool  # may a function of the same code and key stand in for this one?
    foreign: bool  # is a function among them that others have wrapped, as `jax.jit(f)` of the user's module?
    lifted: dict[str, Place]  # by name: what holds values that are arguments of the program

    def arguments(self) -> tuple[Any, ...]:
        """The values of now that are arguments of the program."""
        return tuple(place.read() for place in self.lifted.values())

    def check(self, kept: Any) -> Callable[[], Any]:
        """A function that gives `kept` while all values are what they are now, else None."""
        return _factory(tuple(self.conditions), len(self.roots), len(self.values))(self.roots, self.values, kept)


@functools.lru_cache(maxsize=1024)
def _factory(conditions: tuple[str, ...], roots: int, values: int) -> Callable[..., Any]:
    """The text is made of names of attributes and variables, and of numbers."""
    text = f"""
def factory(roots, values, kept):
    [{", ".join(f"r{n}" for n in range(roots))}] = roots
    [{", ".join(f"v{n}" for n in range(values))}] = values
    def check():
        try:
            return kept if {" and ".join(conditions) or True} else None
        except Exception:
            return None
    return check
"""
    space: dict[str, Any] = {}
    exec(text, space)
    return space["factory"]
