"""`@autograph(checkpoints=..., max_steps=..., optimize=...)`: options of the loops that run while a function does.

They hold for the loops of the decorated function and of whatever it calls; a function with options of its own decides about
what it does not leave open, and `ag.stage(xs, checkpoints=...)` about one loop.
"""

from __future__ import annotations

import dataclasses
import sys
import types
import weakref
from typing import Any

from autograph_jax.loops.optimizations import ALL, Chosen, allowed


@dataclasses.dataclass(frozen=True)
class Options:
    """How many states reverse mode keeps of a loop, after how many turns it is an error that a loop is not over, and what it is
    compiled with.
    """

    checkpoints: int | None = None
    max_steps: int | None = None
    optimize: Chosen | None = None

    def __post_init__(self) -> None:
        check("checkpoints", self.checkpoints)
        check("max_steps", self.max_steps)

    def over(self, others: Options) -> Options:
        """These, and what they leave open as others say it."""
        pairs = ((getattr(self, name), getattr(others, name)) for name in _NAMES)
        return Options(*(other if own is None else own for own, other in pairs))

    @property
    def optimizations(self) -> Chosen:
        """What is left of it in this environment; where nothing is said, all."""
        return allowed() & (ALL if self.optimize is None else self.optimize)


_NAMES = [field.name for field in dataclasses.fields(Options)]
_MEANINGS = {"checkpoints": "a number of states", "max_steps": "a number of turns"}


def check(name: str, value: Any) -> None:
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
        raise ValueError(f"{name} is {_MEANINGS[name]}, 1 or more, or None; got {value!r}")


NONE = Options()

# Module state: the options of decorated functions, by the ids of their code objects while these live.
_options: dict[int, tuple[weakref.ref[types.CodeType], Options]] = {}


def give(code: types.CodeType, options: Options) -> None:
    key = id(code)
    _options[key] = weakref.ref(code, lambda _: _options.pop(key, None)), options


def of(code: types.CodeType | None) -> Options:
    """Those of one function."""
    return _options[id(code)][1] if id(code) in _options else NONE


def current() -> Options:
    """What holds for a loop that begins now, by the functions that are running."""
    found = NONE
    frame = sys._getframe(1) if _options else None
    while frame is not None and None in (found.checkpoints, found.max_steps, found.optimize):
        if id(frame.f_code) in _options:
            found = found.over(_options[id(frame.f_code)][1])
        frame = frame.f_back
    return found
