"""Places that hold state (variables, attributes, items), and the log of what is written while a block is traced.

State is found, not declared: converted code writes attributes and items through operators, and these note (place, old value)
in the innermost trace. When the trace ends the log is rolled back, and the places join the block's state.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import sys
import threading
import types
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Any

import jax

from autograph_jax.errors import StructureError, user_location
from autograph_jax.operators import hooks, jax_private, reach
from autograph_jax.operators.choices import UNBOUND, Choice


@dataclasses.dataclass(frozen=True, eq=False)
class Cell:
    """A variable of a converted function, in its closure cell."""

    cell: types.CellType
    name: str
    found: bool = False  # noted because a callee assigns it, not because the block's functions mention it
    target = None

    @property
    def key(self) -> Hashable:
        return id(self.cell)

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except ValueError:
            return UNBOUND

    def write(self, value: Any) -> None:
        if value is UNBOUND:
            del self.cell.cell_contents
        else:
            self.cell.cell_contents = value



@dataclasses.dataclass(frozen=True, eq=False)
class Global:
    """A global variable of the user's module."""

    namespace: dict[str, Any]
    name: str
    found = True
    target = None

    @property
    def key(self) -> Hashable:
        return id(self.namespace), self.name

    def read(self) -> Any:
        return self.namespace.get(self.name, UNBOUND)

    def write(self, value: Any) -> None:
        if value is UNBOUND:
            self.namespace.pop(self.name, None)
        else:
            self.namespace[self.name] = value



@dataclasses.dataclass(frozen=True, eq=False)
class Attribute:
    """An attribute of an object. Written past properties and `__setattr__`, which have had their turn."""

    target: Any
    attribute: str
    found = True

    @property
    def name(self) -> str:
        return f"{type(self.target).__name__}.{self.attribute}"

    @property
    def key(self) -> Hashable:
        return id(self.target), self.attribute

    def read(self) -> Any:
        return reach.attribute(self.target, self.attribute, UNBOUND)

    def write(self, value: Any) -> None:
        if isinstance(self.target, type | types.ModuleType):
            setattr(self.target, self.attribute, value)
        elif hasattr(self.target, "__dict__") and not reach.has_slot(self.target, self.attribute):
            self._write_dict(self.target.__dict__, value)
        elif value is not UNBOUND:
            object.__setattr__(self.target, self.attribute, value)
        elif self.read() is not UNBOUND:
            object.__delattr__(self.target, self.attribute)

    def _write_dict(self, attributes: dict[str, Any], value: Any) -> None:
        if value is UNBOUND:
            attributes.pop(self.attribute, None)
        else:
            attributes[self.attribute] = value



@dataclasses.dataclass(frozen=True, eq=False)
class Aside(Attribute):
    """State that is no variable of the user's program: how far a progress bar is. `start` is what it holds at first."""

    start: Any = None

    def read(self) -> Any:
        return self.target.__dict__.get(self.attribute, self.start)


@dataclasses.dataclass(frozen=True, eq=False)
class Content:
    """What a list, dict, set or deque holds; read as a shallow copy."""

    target: Any
    found = True

    @property
    def name(self) -> str:
        return f"this {type(self.target).__name__}"

    @property
    def key(self) -> Hashable:
        return id(self.target)

    def read(self) -> Any:
        if isinstance(self.target, dict):
            return dict(self.target)
        return frozenset(self.target) if isinstance(self.target, set) else list(self.target)

    def write(self, value: Any) -> None:
        if type(value) is Choice:
            raise StructureError(
                f"what {self.name} holds depends on traced data",
                location=user_location(),
                details=["Two paths leave different elements in it."],
                help="keep an array of bools, one for each element that there may be",
            )
        methods = _plain_methods(self.target)
        methods.clear(self.target)
        if isinstance(self.target, dict | set):
            methods.update(self.target, value)
        else:
            methods.extend(self.target, value)


def _plain_methods(target: Any) -> Any:
    """The class whose methods put a content back as it was: `Counter.update` would add to it."""
    if isinstance(target, collections.OrderedDict):
        return collections.OrderedDict
    return next(kind for kind in (list, dict, set, collections.deque) if isinstance(target, kind))


Place = Cell | Global | Attribute | Content


def outliving(places: list[Place]) -> list[Place]:
    """The places of objects that something outside the block holds too; what the block made for itself is no state.

    `for x in xs: pair = [x, 0]; pair[1] = x` writes a list that is gone after the turn. Whether an object is gone is told by
    its reference count, after the trace has been rolled back: only our places are left to hold it.
    """
    held = collections.Counter(id(_owner(place)) for place in places)
    return [place for place in places if _owner(place) is None or _count(place) > held[id(_owner(place))]]


def _owner(place: Place) -> Any:
    """The object, or the variable of a function that has been called, that is gone when nobody holds it any more."""
    return place.cell if isinstance(place, Cell) and place.found else place.target


def _count(place: Place) -> int:
    """References to a place's object, apart from those that this call itself makes."""
    owner = _owner(place)
    return sys.getrefcount(owner) - _OWN


class _Probe:
    pass


_OWN = 0
_OWN = _count(Attribute(_Probe(), "x")) - 1  # differs between versions of CPython


class Memory:
    """What the loops inside a loop's body settled to when the body was last traced, so that they start from there.

    Without it a loop inside d others would settle 2^d times: each round of the outer loop would begin the inner one anew.
    """

    def __init__(self) -> None:
        self.settled: dict[Hashable, Any] = {}
        self.failures: Any = None  # what the loop raises when it is over; None: it raises at the place itself
        self.raises_at_once = False  # for good, since it calls Python anyway
        self._seen: collections.Counter[Hashable] = collections.Counter()

    def next_round(self) -> None:
        self._seen.clear()

    def key(self, code: types.CodeType) -> Hashable:
        """Which loop this is: its body, and the how-manyeth run of it in this round."""
        self._seen[id(code)] += 1
        return id(code), self._seen[id(code)]


class Trace:
    """What is noted while one block is traced. `inputs`, `memory`, `failures` are those of the loop around, if there is one."""

    def __init__(
        self,
        active: Any = None,
        inputs: Sequence[Place] | None = None,
        memory: Memory | None = None,
        failures: Any = None,
    ) -> None:
        outer = _local.traces[-1] if _local.traces else None
        self.log: dict[Hashable, tuple[Place, Any]] = {}
        self.active = active
        self.inputs: Sequence[Place] = inputs if inputs is not None else outer.inputs if outer else ()
        self.memory: Memory | None = memory or (outer.memory if outer else None)
        self.failures = failures
        self.jax_trace = jax_private.current_trace()
        self.inside = False  # of a function that JAX traces by itself
        self.block: Any = None
        self.called: dict[types.CodeType, dict[str, Any]] = {}  # the code of functions, and their globals
        self.made: dict[int, Any] = {}  # iterators and objects that the block makes for itself, by id

    def roll_back(self) -> None:
        for place, old in reversed(self.log.values()):
            place.write(old)
        self.made.clear()  # an exception among them holds the frames that it has passed, and those this trace


class Attempt(Trace):
    """Writes that are kept unless the attempt is given up."""

    given_up = False

    def give_up(self) -> None:
        self.given_up = True


class _Local(threading.local):
    def __init__(self) -> None:
        self.traces: list[Trace] = []
        # The frames, by id, that an exception out of a traced branch may pass. Not the exception: it would hold tracers.
        self.escaped: frozenset[int] = frozenset()


_local = _Local()  # a trace belongs to the thread that runs it


def traces() -> list[Trace]:
    """The traces that are running in this thread, outermost first."""
    return _local.traces


def inside_another() -> bool:
    """Does JAX do something of its own between the innermost block and here? `jax.vmap(f)(xs)` in a loop: `f` is inside."""
    return bool(_local.traces) and _local.traces[-1].jax_trace is not jax_private.current_trace()


def failures() -> Any:
    """Where the staged loop around keeps its errors; None where there is none, or where what is computed is no state of its."""
    return _local.traces[-1].failures if _local.traces and not inside_another() else None


@contextlib.contextmanager
def running(trace: Trace) -> Iterator[Trace]:
    _local.traces.append(trace)
    try:
        yield trace
    finally:
        _local.traces.pop()
        if _local.traces:
            _local.traces[-1].called |= trace.called


@contextlib.contextmanager
def attempt() -> Iterator[Attempt]:
    """Something that may turn out not to be the way: if it is given up, or raises, what it wrote is put back."""
    trace = Attempt(failures=failures())
    try:
        with running(trace):
            yield trace
    except BaseException:
        trace.roll_back()
        raise
    if trace.given_up:
        trace.roll_back()
    elif _local.traces:
        for key, entry in trace.log.items():
            _local.traces[-1].log.setdefault(key, entry)
        _local.traces[-1].made |= trace.made


def escape() -> None:
    """An exception leaves a branch that traced data decides about."""
    frame: types.FrameType | None = sys._getframe(1)
    frames = set()
    while frame is not None:
        frames.add(id(frame))
        frame = frame.f_back
    _local.escaped = frozenset(frames)


def take_escaped() -> frozenset[int]:
    """The frames that such an exception may have passed; asked once."""
    frames, _local.escaped = _local.escaped, frozenset()
    return frames


def note(place: Place) -> None:
    """Keep the present value of a place that is about to be written."""
    if _local.traces:
        trace = _local.traces[-1]
        if place.key not in trace.log:
            trace.log[place.key] = (place, place.read())
        elif place.found:
            trace.log[place.key] = (place, trace.log[place.key][1])


def write(place: Place, value: Any) -> None:
    """Write a place, noting what it held."""
    note(place)
    place.write(value)


def entered(function: types.FunctionType) -> None:
    """Remember a function that the running block calls; not the function itself, which would keep its variables alive."""
    if _local.traces:
        _local.traces[-1].called[function.__code__] = function.__globals__


def made(value: Any) -> Any:
    """Remember an iterator or object that the running block makes for itself: when that runs again, it makes another one."""
    if _local.traces:
        _local.traces[-1].made[id(value)] = value
    return value


def variables(functions: tuple[Callable[..., Any] | None, ...], names: tuple[str, ...]) -> list[Place]:
    """The places of named variables, among the closure cells of the block's functions.

    `y?` names the variable y, and says that some path leaves it without a value; `global y` one of the user's module.
    """
    cells = cells_of(functions)
    return [_variable(name.rstrip("?"), cells, functions) for name in names]


def _variable(name: str, cells: dict[str, Cell], functions: tuple[Callable[..., Any] | None, ...]) -> Place:
    if not name.startswith("global "):
        return cells[name]
    module = next(function.__globals__ for function in _originals(functions))
    return Global(module, name.removeprefix("global "))


def standing_for(function: Callable[..., Any], *originals: Callable[..., Any] | None) -> Callable[..., Any]:
    """Let a function of ours stand for blocks of the user's: their variables are its variables, their name its name."""
    blocks = tuple(_originals(originals))
    function.stands_for = blocks
    if blocks:
        function.__name__, function.__qualname__ = blocks[0].__name__, blocks[0].__qualname__
    return function


def _originals(functions: Sequence[Callable[..., Any] | None]) -> Iterator[Any]:
    for function in functions:
        if function is not None:
            yield from getattr(function, "stands_for", (function,))


def cells_of(functions: tuple[Callable[..., Any] | None, ...]) -> dict[str, Cell]:
    """Every closure cell of some functions by name."""
    found: dict[str, Cell] = {}
    for function in _originals(functions):
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            found.setdefault(name, Cell(cell, name))
    return found


def arrays_around(functions: Sequence[Callable[..., Any] | None], places: Iterable[Place]) -> list[jax.Array]:
    """The arrays that a block's variables and these places hold, also in lists and objects."""
    values = [cell.read() for cell in cells_of(tuple(functions)).values()] + [place.read() for place in places]
    return [part for value in values for part in reach.arrays(value)]


def bind(functions: tuple[Callable[..., Any] | None, ...], names: tuple[str, ...]) -> None:
    """After a statement that surely gives its variables values: they are no longer a choice of a value and none.

    `for v in xs: if v > t: r = v; break` / `else: r = 0` binds r on every path; how the loop was left tells which.
    """
    sure = tuple(name for name in names if not name.endswith("?"))
    for place in variables(functions, sure) if sure else ():
        value = place.read()
        if isinstance(value, Choice) and any(option is UNBOUND for option in value._options):
            write(place, value._only(lambda option: option is not UNBOUND))


def noted(functions: tuple[Callable[..., Any] | None, ...]) -> set[int]:
    """Note all variables of a block's functions: whatever tracing them writes is rolled back.

    So are the lists, dicts and attributes that can be reached from them, since `total += [x]`, a context manager or a
    library may change them without an operator. Gives the ids of these, which are older than the block.
    """
    older: set[int] = set()
    for cell in cells_of(functions).values():
        note(cell)
        for value in reach.everything(cell.read()):
            hooks.meet(type(value))
            if isinstance(value, list | dict | set | collections.deque):
                older.add(id(value))
                note(Content(value))
            elif reach.is_record(value):
                older.add(id(value))
                for attribute in reach.attributes(value):
                    note(Attribute(value, attribute))
    return older


def of_modules(functions: Sequence[Callable[..., Any] | None], called: dict[types.CodeType, dict[str, Any]]) -> dict[int, Any]:
    """The lists and dicts that functions name among the globals, by id: `scale = COARSE if x > 0 else FINE`."""
    codes = called | {function.__code__: function.__globals__ for function in _originals(functions)}
    found = [space[name] for code, space in codes.items() for name in _global_names(code) if name in space]
    containers = [value for value in found if issubclass(type(value), (list, dict))]
    return {id(part): part for value in containers for part in reach.everything(value) if issubclass(type(part), (list, dict))}


def _global_names(code: types.CodeType) -> set[str]:
    inner = (constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    return set(code.co_names).union(*map(_global_names, inner))
