"""Programs by what a function closes over: when a captured value has changed, the next call has another program.

JAX caches by the identity of a function. So each key of captured values has a function of its own, and all functions of one
code and one key have the same: a lambda that a loop makes anew is compiled once.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import threading
import types
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal

import jax

from autograph_jax.errors import ArgumentError, CaptureError, user_location
from autograph_jax.operators.tracing.places import Place
from autograph_jax.runtime import field_comparisons
from autograph_jax.runtime.captured_values import unwrapped
from autograph_jax.runtime.captures import Snapshot, may_change, snapshot, snapshot_of_arguments
from autograph_jax.runtime.contents import note_changed
from autograph_jax.runtime.libraries import is_users, module_of
from autograph_jax.runtime.snapshots import Finished

Mode = Literal["retrace", "warn", "error", "freeze", "argument"]
MODES = ("retrace", "warn", "error", "freeze", "argument")
_MOST, _MOST_HOLDING = 128, 8  # programs that are kept, of a function and of all that share theirs; those that keep arrays
Table = OrderedDict[Any, Any]
_shared: dict[bool, Table] = {False: OrderedDict(), True: OrderedDict()}  # Module state: stand-ins for functions, by key


def check_mode(mode: Any) -> None:
    if mode not in MODES:
        raise ArgumentError(
            f"`captures={mode!r}` is no way to treat captured values",
            location=user_location(),
            help="choose one of: " + ", ".join(map(repr, MODES)),
        )


class Recaptured:
    """What `make` gives for a function, or a stand-in of it, for each key of what the function closes over.

    `make` gets the names of variables that are arguments of the program, too; `arguments` gives their values. With `finished`,
    which says how to call what `make` gives, `run` calls what belongs to the values of now.
    """

    def __init__(
        self,
        target: Any,
        make: Callable[[Any, tuple[str, ...]], Any],
        *,
        mode: Mode,
        name: str,
        share: bool,
        finished: Callable[[Any], Finished] | None = None,
    ) -> None:
        self.target, self.make, self.mode, self.name, self.share = target, make, mode, name, share
        self.finished = finished
        self.running = types.CellType(self._run)  # an attribute takes longer to find in each call than what a variable holds
        self.made: Table = OrderedDict()
        self.check: Callable[[], Any] = _never
        self.arguments: Callable[[], tuple[Any, ...]] = tuple
        self._last: Snapshot | None = None

    @property
    def run(self) -> Callable[..., Any]:
        return self.running.cell_contents

    @run.setter
    def run(self, function: Callable[..., Any]) -> None:
        self.running.cell_contents = function

    def now(self) -> Any:
        if (kept := self.check()) is not None and self._last is not None:
            self.arguments = self._last.arguments
            return kept
        return self.look()

    def look(self) -> Any:
        """What belongs to the values of now, where `check` does not find them to be those of the last call."""
        found = snapshot(self.target, lift=self.mode == "argument")
        names = tuple(found.lifted)
        self.arguments = found.arguments
        if self._last is not None and found.captured != self._last.captured and self.mode in ("warn", "error"):
            self._tell(self._last, found)
        if found.traced:  # a tracer ends with its trace, and must not be kept
            return self.make(_apart(copied(self.target), found), names)
        kept = _remembered(self.made, found, lambda: self.make(self._stand_in(found), names))
        self._watch(found, kept)
        return kept

    def _run(self, *values: Any) -> Any:
        assert self.finished is not None
        run, finish, pending, _ = self.finished(self.look())
        out = run(*values)
        self.learn()
        return finish(out, pending) if pending.needs else out

    def learn(self) -> None:
        """After a trace: a list that the function itself has changed is state, and not what it was compiled for."""
        last, function = self._last, unwrapped(_plain(self.target))
        changed = [contents.value for contents in last.contents if contents.has_changed] if last is not None else []
        if last is None or not changed or not isinstance(function, types.FunctionType) or last.key not in self.made:
            return
        note_changed(function.__code__, changed)
        found = snapshot(self.target, lift=self.mode == "argument")
        for table in (self.made, *_shared.values()):
            if last.key in table:
                table[found.key] = table.pop(last.key)
        self._watch(found, self.made[found.key])

    def _watch(self, found: Snapshot, kept: Any) -> None:
        self._last, self.check = found, found.check(kept)
        if self.finished is not None:
            self.run = found.runner(self.finished(kept), self._run)

    def _stand_in(self, found: Snapshot) -> Any:
        if self.share and found.shared:
            return _remembered(_shared[found.holds], found, lambda: _apart(_frozen(self.target), found))
        return _apart(copied(self.target) if self.made else self.target, found)

    def _tell(self, last: Snapshot, found: Snapshot) -> None:
        old, new = dict(last.keys), dict(found.keys)
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        which = ", ".join(f"`{name}`" for name in names) or "something"
        what = f"{which}, which `{self.name}` closes over, has changed since it was compiled"
        if self.mode == "error":
            raise CaptureError(what, location=user_location(), help="pass what changes as an argument")
        warnings.warn(f"{what}: it is compiled again", RuntimeWarning, stacklevel=6)


def _never() -> None:
    return None


def _remembered(table: Table, found: Snapshot, make: Callable[[], Any]) -> Any:
    if found.key not in table:
        table[found.key] = make()
        while len(table) > (_MOST_HOLDING if found.holds else _MOST):
            table.popitem(last=False)
    table.move_to_end(found.key)
    return table[found.key]


def _frozen(function: types.FunctionType) -> types.FunctionType:
    """The function with cells of its own, which keep the values of now, for other functions of the same code to share."""
    cells = function.__closure__
    return copied(function, cells and tuple(types.CellType(cell.cell_contents) for cell in cells))


_NUMBER = "__autograph_jax_number__"
_program = jax.make_user_context(0)  # part of the keys of JAX's caches
_numbers = itertools.count(1)


def _apart(function: Any, found: Snapshot) -> Any:
    """A stand-in that is traced apart from all that JAX has kept: what functions of others were with other values."""
    plain = _plain(function)
    if found.foreign and isinstance(plain, types.FunctionType):
        plain.__dict__[_NUMBER] = next(_numbers)
    return function


def _plain(function: Any) -> Any:
    """The plain function in partials and bound methods."""
    while isinstance(function, functools.partial):
        function = function.func
    return getattr(function, "__func__", function)


def apart(function: Any) -> contextlib.AbstractContextManager[None]:
    """While a stand-in is traced: nothing of what JAX has kept for other captured values."""
    number = getattr(_plain(function), "__dict__", {}).get(_NUMBER)
    return contextlib.nullcontext() if number is None else _program(number)


class StaticObjects:
    """Functions and objects that are static arguments: `self`, `f`. What these read, and what is read of them, counts too."""

    def __init__(self, target: Any) -> None:
        self._target = target
        self._known: OrderedDict[Any, tuple[Any, Callable[[], Any]]] = OrderedDict()  # by identity: objects, and a check
        self._states: Table = OrderedDict()  # numbers, by key

    def state(self, value: Any, name: str) -> int | None:
        """A number for what it and its parts hold now; None for what is compared by value."""
        parts = [*_parts(value)]
        if not parts:
            return None
        known = self._known.get(key := tuple(map(_identity, parts)))
        return (known and known[1]() or self._look(key, parts, name)) or None

    def _look(self, key: Any, parts: list[Any], name: str) -> int:
        watched = [part for part in parts if _is_watched(part)]
        if not watched:
            return self._remember(key, parts, lambda: 0)
        found = snapshot_of_arguments(self._target, watched, name)
        if found.traced:
            return 0
        number = _remembered(self._states, found, lambda: next(_numbers))
        return self._remember(key, parts, found.check(number))

    def _remember(self, key: Any, parts: list[Any], check: Callable[[], Any]) -> int:
        self._known[key] = parts, check
        while len(self._known) > _MOST:
            self._known.popitem(last=False)
        return check()


_NUMBERS = frozenset({int, float, bool, str})


def _parts(value: Any) -> Iterator[Any]:
    """Itself, or what is in it and in its compared fields, and the user's class to which these belong."""
    kind = type(value)
    if kind in _NUMBERS:
        return
    if isinstance(value, dict):
        inner: Iterable[Any] = value.values()
    elif isinstance(value, tuple | list | set | frozenset):
        inner = value
    elif field_comparisons.by_fields(kind):
        inner = [getattr(value, field.name, None) for field in dataclasses.fields(value) if field.compare]
    else:
        yield value
        return
    if is_users(module_of(kind)):
        yield kind
    for part in inner:
        yield from _parts(part)


def _identity(value: Any) -> Any:
    """A bound method is another object each time it is read."""
    return (id(value.__self__), id(value.__func__)) if type(value) is types.MethodType else id(value)


def _is_watched(value: Any) -> bool:
    kind = type(value)
    if isinstance(value, types.FunctionType | types.MethodType | functools.partial):
        return may_change(value)
    if isinstance(value, type):
        return is_users(module_of(value))
    return kind.__eq__ is object.__eq__ and is_users(module_of(kind))


_lock = threading.RLock()


@contextlib.contextmanager
def holding(places: Sequence[Place], values: Sequence[Any], *, foreign: bool) -> Iterator[None]:
    """While a function is traced, what it closes over is what JAX traces it by. One thread at a time.

    `foreign` says that it calls functions that others have wrapped, and may keep what they were.
    """
    with _lock, _program(next(_numbers)) if foreign else contextlib.nullcontext():
        before = [place.read() for place in places]
        try:
            for place, value in zip(places, values, strict=True):
                place.write(value)
            yield
        finally:
            for place, value, old in zip(places, values, before, strict=True):
                if place.read() is value:  # not if the function has assigned it
                    place.write(old)


def copied(function: Any, closure: tuple[types.CellType, ...] | None = None) -> Any:
    """A function that is another one to JAX, which caches by identity."""
    if isinstance(function, functools.partial):
        return functools.partial(copied(function.func), *function.args, **function.keywords)
    if isinstance(function, types.MethodType):
        return types.MethodType(copied(function.__func__), function.__self__)
    if not isinstance(function, types.FunctionType):
        return function
    cells = closure or function.__closure__
    made = types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)
    made.__kwdefaults__ = function.__kwdefaults__
    made.__annotations__, made.__doc__ = function.__annotations__, function.__doc__
    made.__module__, made.__qualname__ = function.__module__, function.__qualname__
    made.__dict__.update((name, value) for name, value in vars(function).items() if not name.startswith("__autograph_jax"))
    return made


# ------------------------------------------------------------------ functions that are handed to JAX inside of converted code

_KEYED = "__autograph_jax_keyed__"


def keyed(function: types.FunctionType) -> Any:
    """The function, or a copy of it for other captured values than before, since `lax.scan` caches by identity."""
    if not may_change(function):
        return function
    kept = function.__dict__.get(_KEYED)
    if kept is None or kept.target is not function:
        kept = Recaptured(function, lambda target, names: target, mode="retrace", name=function.__name__, share=False)
        function.__dict__[_KEYED] = kept
    return kept.now()
