"""What operators tell of their decisions while somebody listens: `ag.explain`, or the log. Else it costs a look at a variable.

Operators ask only while a program is made, never on plain values.
"""

from __future__ import annotations

import contextlib
import contextvars
import dataclasses
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax

from autograph_jax.errors import Location, is_user_frame, user_location
from autograph_jax.operators.exits import Break, Continue, Return
from autograph_jax.operators.values.containers import flatten, is_mutable
from autograph_jax.operators.values.forms import Form, Mismatch, Options, Static, Tree, array_forms
from autograph_jax.operators.values.joins import number_as_array


@dataclasses.dataclass(frozen=True)
class Decision:
    """What became of an `if` or a loop. One that is inside a loop is told again in each round of tracing the loop's body."""

    location: Location
    how: str  # "cond", "scan", "while", "python"
    values: tuple[tuple[str, str], ...] = ()  # what is carried, or left by the branches: the user's name, dtype and shape
    changes: tuple[str, ...] = ()  # promotions and choices: "`n` enters as 0 and is carried as float32[]"
    why: str = ""  # for one that Python decides
    turns: int | None = None
    seconds: float = 0.0  # of tracing, with what is inside

    def __str__(self) -> str:
        place = f"{self.location.filename}:{self.location.line}"
        return "; ".join([f"{place}: {self.what}", *self.details])

    @property
    def what(self) -> str:
        """In a few words: "lax.scan of 5 turns"."""
        if self.how == "python":
            return f"Python, unrolled x{self.turns}" if self.turns else "Python"
        return f"lax.{_LAX[self.how]}" + (f" of {self.turns} turns" if self.turns is not None else "")

    @property
    def details(self) -> list[str]:
        """What is carried, what changes by it, or why Python decides."""
        values = ", ".join(f"{name} {kind}" for name, kind in self.values)
        verb = "leaves" if self.how == "cond" else "carries"
        return [f"{verb} {values}"] * bool(values) + list(self.changes) + [self.why] * bool(self.why)


_LAX = {"cond": "cond", "scan": "scan", "while": "while_loop"}

_listener: contextvars.ContextVar[Callable[[Decision], None] | None] = contextvars.ContextVar("listener", default=None)
_always: Callable[[Decision], None] | None = None  # set where the package is configured
_MOST_NAMED = 6  # parts of a value's type that are spelt out


@contextlib.contextmanager
def listening(listener: Callable[[Decision], None]) -> Iterator[None]:
    """Meanwhile, in this context, a function hears of each decision."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def listen_always(listener: Callable[[Decision], None] | None) -> None:
    """From now on a function hears of each decision where nobody else listens: the log."""
    global _always
    _always = listener


def _heard_by() -> Callable[[Decision], None] | None:
    return _listener.get() or _always


def clock() -> float:
    """When tracing a block has begun, if anybody listens."""
    return time.perf_counter() if _heard_by() is not None else 0.0


def staged(
    how: str,
    names: Sequence[str],
    forms: Sequence[Form],
    *,
    entries: Sequence[Any] = (),
    turns: int | None = None,
    since: float = 0.0,
) -> None:
    """A block becomes one of lax's; `forms` are those of the state that it carries or leaves, `entries` what it enters with."""
    if (tell := _heard_by()) is None or (location := user_location()) is None:
        return
    exits = {number: ways for number, form in enumerate(forms) if (ways := _ways_to_leave(form))}
    kept = [(name, form) for number, (name, form) in enumerate(zip(names, forms, strict=True)) if number not in exits]
    values = tuple(sorted((name, type_of(form)) for name, form in kept))
    changes = [_change(name, entry, form) for name, entry, form in zip(names, entries, forms, strict=False)]
    if chosen := [f"`{name}`" for name, form in kept if isinstance(form, Options)]:
        changes.append(f"traced data chooses {', '.join(chosen)}")
    changes += [f"may {' or '.join(ways)}" for ways in exits.values()]
    seconds = time.perf_counter() - since if since else 0.0
    tell(Decision(location, how, values, tuple(filter(None, changes)), turns=turns, seconds=seconds))


def left_to_python(why: str) -> None:
    """Python decides, though something is traced around."""
    if (tell := _heard_by()) is not None and (location := user_location()) is not None:
        tell(Decision(location, "python", why=why))


def turned(turns: int) -> None:
    """Python has begun so many turns of a loop whose operations all become part of a program."""
    if (tell := _heard_by()) is not None and (location := user_location()) is not None:
        tell(Decision(location, "python", turns=turns))


def warn_of_unrolling(turns: int) -> None:
    """Say, once for a line, that a program gets long."""
    location = user_location()
    if location is not None and (location.filename, location.line) not in _warned:
        _warned.add((location.filename, location.line))
        message = (
            f"this loop is unrolled: Python has run {turns} turns of it, and the program has the operations of each. "
            "`for x in ag.stage(xs)` says why it is not staged, `for x in ag.unroll(xs)` that this is meant"
        )
        warnings.warn_explicit(message, UserWarning, location.filename, location.line)


_warned: set[tuple[str, int]] = set()  # lines that have been warned of. Module state: it only grows.


def scope(kind: str) -> Any:
    """A name for profilers and dumps of what is staged: `while[solver.py:12]`."""
    frame = sys._getframe(1)
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    place = f"{os.path.basename(frame.f_code.co_filename)}:{frame.f_lineno}" if frame is not None else "?"
    return jax.named_scope(f"{kind}[{place.replace('@', '_')}]")  # XLA would drop a name with @


def type_of(form: Form) -> str:
    """A Form as a report shows it: float32[3], or of a container its first arrays."""
    match form:
        case Tree():
            leaves = list(map(str, array_forms(form)))
            more = f", and {len(leaves) - _MOST_NAMED} more" if len(leaves) > _MOST_NAMED else ""
            return f"({', '.join(leaves[:_MOST_NAMED])}{more})"
        case Options(forms):
            return " or ".join(map(type_of, forms))
        case Static(value) if type(value).__module__.startswith("autograph_jax"):
            return "nothing" if str(form) != "no value" else "no value"
        case Static(value) if is_mutable(value):
            return type(value).__name__
    return str(form)


def _ways_to_leave(form: Form) -> list[str]:
    """How a block leaves early, if what it returns says so: "break", "return float32[]"."""
    found = []
    for option in form.forms if isinstance(form, Options) else (form,):
        match option:
            case Static(Break() | Continue() as value):
                found.append(repr(value))
            case Tree(kind) if getattr(getattr(kind, "treedef", None), "node_data", lambda: None)() == (Return, None):
                found.append(f"return {', '.join(map(type_of, option.children))}")
    return found


def _change(name: str, entry: Any, form: Form) -> str | None:
    """What is carried otherwise than it enters. A counter that enters as 0 is an int32 from the start, as everybody expects."""
    try:
        entered = flatten(entry, is_mutable)[0]
        if type_of(number_as_array(entered)) == type_of(form) or isinstance(form, Options):
            return None
    except Mismatch:
        return None
    return f"`{name}` enters as {type_of(entered)} and is carried as {type_of(form)}"
