"""What a function closes over at one time: a key, and a generated check that nothing has changed, which runs before each call.

r0["lr"] is v0 and (e1 := r1.cell_contents) is v1 and e1.rate is v2
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from autograph_jax.operators.tracing.places import Place
from autograph_jax.runtime.contents import Contents


class Capture(NamedTuple):
    """One value that a function closes over: its name, the value, and how it is compared from call to call.

    `compared` is "by value" (numbers, strings, tuples of these, small NumPy arrays), "by code" (functions, whose own captures
    follow), "by contents" (lists, dicts, sets, deques), "by identity" (JAX arrays, objects), or "by identity, contents not"
    (NumPy arrays and lists above the limit, and lists that the function itself changes).
    """

    name: str
    value: Any
    compared: str


class Finished(NamedTuple):
    """A function of `count` arguments, or of any number. If `pending` has `needs`, its result goes through `finish`."""

    run: Callable[..., Any]
    finish: Callable[[Any, Any], Any]
    pending: Any  # a Pending, whose module builds on this one
    count: int | None


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
    keys: list[tuple[str, Any]]  # by name
    roots: list[Any]
    values: list[Any]
    conditions: list[str]
    traced: bool  # is one of them a tracer, which must not be kept?
    holds: bool  # is one of them an array or object that is compared by identity, so that whoever keeps the key keeps it?
    shared: bool  # may a function of the same code and key stand in for this one?
    foreign: bool  # is a function among them that others have wrapped, as `jax.jit(f)` of the user's module?
    lifted: dict[str, Place]  # by name: what holds values that are arguments of the program
    contents: list[Contents]  # of lists and dicts that are compared by them

    @property
    def captured(self) -> tuple[Any, ...]:
        """The key without what it says of variables that the function assigns."""
        function, lifted, _, *keys = self.key
        return function, lifted, *keys

    def arguments(self) -> tuple[Any, ...]:
        """The values of now that are arguments of the program."""
        return tuple(place.read() for place in self.lifted.values())

    def check(self, kept: Any) -> Callable[[], Any]:
        """A function that gives `kept` while all values are what they are now, else None."""
        return self._made(_CHECK)(self.roots, self.values, kept)

    def runner(self, run: Finished, otherwise: Callable[..., Any]) -> Callable[..., Any]:
        """A function that calls `run` while all values are what they are now, else `otherwise`."""
        passed = "*given" if run.count is None else "".join(f"a{n}, " for n in range(run.count))
        return self._made(_RUN.replace("PASSED", passed))(self.roots, self.values, *run[:3], otherwise)

    def _made(self, text: str) -> Callable[..., Any]:
        return _factory(text, _short(self.conditions), len(self.roots), len(self.values))


def _short(conditions: Sequence[str]) -> tuple[str, ...]:
    """The conditions without names for values of which nothing more is read: `(e0 := r0["lr"]) is v0`, which take time."""
    read = set(re.findall(r"\be\d+\b(?! :=)", " ".join(conditions)))
    named = (re.fullmatch(r"\((e\d+) := (.*)\) (is v\d+)", condition) for condition in conditions)
    pairs = zip(conditions, named, strict=True)
    return tuple(f"{found[2]} {found[3]}" if found and found[1] not in read else condition for condition, found in pairs)


_CHECK = """
def factory(roots, values, kept):
    {roots} = roots
    {values} = values
    def check():
        try:
            return kept if {conditions} else None
        except Exception:
            return None
    return check
"""
_RUN = """
def factory(roots, values, run, finish, pending, otherwise):
    {roots} = roots
    {values} = values
    def checked(PASSED):
        try:
            same = {conditions}
        except Exception:
            same = False
        if not same:
            return otherwise(PASSED)
        out = run(PASSED)
        return finish(out, pending) if pending.needs else out
    return checked
"""


@functools.lru_cache(maxsize=1024)
def _factory(text: str, conditions: tuple[str, ...], roots: int, values: int) -> Callable[..., Any]:
    """The text is made of names of attributes and variables, and of numbers."""
    text = text.format(
        roots=f"[{', '.join(f'r{n}' for n in range(roots))}]",
        values=f"[{', '.join(f'v{n}' for n in range(values))}]",
        conditions=" and ".join(conditions) or "True",
    )
    space: dict[str, Any] = {}
    exec(compile(text, _FILE, "exec"), space)
    return space["factory"]


_FILE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "<check>")  # in our folder, for frames.hide()
