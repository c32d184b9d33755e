"""Programs by what a function closes over: when a captured value has changed, the next call has another program.

JAX caches by the identity of a function. So each key of captured values has a function of its own, and all functions of one
code and one key have the same: a lambda that a loop makes anew is compiled once.
"""

from __future__ import annotations

import types
import warnings
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Literal

from autograph_jax.errors import ArgumentError, CaptureError, user_location
from autograph_jax.runtime.captures import Snapshot, may_change, snapshot

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

    `make` gets the names of variables that are arguments of the program, too; `arguments` gives their values.
    """

    def __init__(self, target: Any, make: Callable[[Any, tuple[str, ...]], Any], *, mode: Mode, name: str, share: bool) -> None:
        self.target, self.make, self.mode, self.name, self.share = target, make, mode, name, share
        self.made: Table = OrderedDict()
        self.check: Callable[[], Any] = _never
        self.arguments: Callable[[], tuple[Any, ...]] = tuple
        self._last: Snapshot | None = None

    def now(self) -> Any:
        return self.check() or self.look()

    def look(self) -> Any:
        """What belongs to the values of now, where `check` does not find them to be those of the last call."""
        found = snapshot(self.target, lift=self.mode == "argument")
        names = tuple(found.lifted)
        if self._last is not None and found.key != self._last.key and self.mode in ("warn", "error"):
            self._tell(self._last, found)
        if found.traced and self.share:  # a tracer ends with its trace, and must not be kept
            return self.make(_copy(self.target), names)
        kept = _remembered(self.made, found, lambda: self.make(self._stand_in(found), names))
        self._last, self.check, self.arguments = found, found.check(kept), found.lifter()
        return kept

    def _stand_in(self, found: Snapshot) -> Any:
        if self.share and found.shared:
            return _remembered(_shared[found.holds], found, lambda: _frozen(self.target))
        return _copy(self.target) if self.made else self.target

    def _tell(self, last: Snapshot, found: Snapshot) -> None:
        old = {capture.name: key for capture, key in zip(last.captures, last.keys, strict=True)}
        new = {capture.name: key for capture, key in zip(found.captures, found.keys, strict=True)}
        names = [name for name in {**old, **new} if old.get(name) != new.get(name)]
        which = ", ".join(f"`{name}`" for name in names) or "something"
        what = f"{which}, which `{self.name}` closes over, has changed since it was compiled"
        if self.mode == "error":
            raise CaptureError(what, location=user_location(), help="pass what changes as an argument")
        warnings.warn(f"{what}: it is compiled again", RuntimeWarning, stacklevel=5)


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
    return _copy(function, cells and tuple(types.CellType(cell.cell_contents) for cell in cells))


def substituted(function: types.FunctionType, values: dict[str, Any]) -> types.FunctionType:
    """The function with other values of variables that it closes over, and of globals."""
    names = function.__code__.co_freevars
    cells = zip(names, function.__closure__ or (), strict=True)
    closure = tuple(types.CellType(values[name]) if name in values else cell for name, cell in cells)
    others = {name: value for name, value in values.items() if name not in names}
    return _copy(function, closure or None, {**function.__globals__, **others} if others else None)


def _copy(function: Any, closure: tuple[types.CellType, ...] | None = None, globals_: dict[str, Any] | None = None) -> Any:
    if not isinstance(function, types.FunctionType):
        return function
    space, cells = globals_ or function.__globals__, closure or function.__closure__
    made = types.FunctionType(function.__code__, space, function.__name__, function.__defaults__, cells)
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
