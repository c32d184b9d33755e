"""Who else holds an array that is written in place: the variables of the converted functions that are running and are read
later, the lists, dicts and objects in them, and what a statement under way has read already."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import functools
import gc
import inspect
import itertools
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.errors import AliasError, frame_location, is_user_frame, user_location
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.exits import Return
from autograph_jax.operators.tracing import (
    bytecode,
    collected,
    constants,
    given,
    history,
    listed,
    outside,
    reach,
    standing,
    to_come,
)
from autograph_jax.operators.tracing.aliasing import doubtful_error, doubtful_with, may_share
from autograph_jax.operators.tracing.frame_variables import frame_variables
from autograph_jax.operators.tracing.frozen import share_memory
from autograph_jax.operators.tracing.operands import Operand, Result
from autograph_jax.operators.tracing.places import Attribute, Cell, Content, Global, Inside, Place
from autograph_jax.operators.tracing.views import Renewed, has_views, may_overlap, related_to
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.forms import Static
from autograph_jax.operators.values.traced import is_traced

Holder = tuple[types.FrameType, str]
Kept = tuple[Any, tuple[Any, Any]]  # an array, and the container and the key that it is at


def check_write(
    array: Any,
    *,
    place: tuple[Any, Any] | None = None,
    aliases: tuple[Any, ...] = (),
    renewed: Renewed | None = None,
    kept: Sequence[Kept] = (),
) -> None:
    """Refuse an in-place write that somebody else would have to see.

    `place` is the container and the key that the new array is put into, `aliases` are variables that hold what they did
    before. Those that the statement assigns follow, where they hold what is `renewed`. `kept` are arrays that are written by
    this write of a part of them, where they are.
    """
    listed.check_write(array)
    related, doubted = (array, *related_to(array)), may_share(array)
    for base in (*related, *doubted):
        for used, error in _in_use.values:
            if used is base:
                raise error()
    shares_one = standing.shares([array]) if isinstance(array, np.ndarray) else None
    if shares_one is not None and any(reach.holds(alias, shares_one, skip=_apart_from(place)) for alias in aliases):
        raise _held_too()
    if to_come.is_any() or given.is_any():
        shown = [array, *(one for one in related[1:] if isinstance(array, jax.Array) and may_overlap(one, array))]
        written, generators = to_come.Written(place[0] if place is not None else None, _apart_from(place)), list(_giving())
        if to_come.holds(shown, doubted, written, generators):
            raise _to_come()
        for generator in generators:
            generator.check_write([*shown, *doubted], has_views, written.skip)
    picked = place is not None and is_traced(place[1])  # of several, which all are written: as they were, or the new one
    if place is not None and picked:
        _check_apart(place[0])
    for base in related:
        follows = base is array or renewed is not None and renewed.knows(base)
        there = [where for one, where in kept if one is base] or [place if base is array or picked else None]
        holder = holder_of(base, there[0], direct=follows)
        if holder is not None:
            raise _alias_error(holder, base is array)
    of_list = _arrays_of_numpy(place[0]) if place is not None and picked else ()
    for older in (*standing.of_all(related), *of_list):
        holder = holder_of(older, place, direct=False, like=_sharing(older, array, place)) if older.size else None
        if holder is not None:
            raise _alias_error(holder, False)
    shares = history.sharing(array, [*related[1:], *(one for one, _ in kept)])
    if shares is not None and (holder := holder_of(array, place, direct=False, like=shares)) is not None:
        raise _alias_error(holder, False)
    for other in doubted:
        if holder_of(other, place) is not None or any(part is other for alias in aliases for part in reach.arrays(alias)):
            raise doubtful_error()


def _giving() -> Iterator[given.Given]:
    """What the generators that run have given, and those functions that `map` calls."""
    frame = sys._getframe(1) if given.is_any() else None
    while frame is not None:
        if given.may_give(frame.f_code):
            yield from (value for value in frame_variables(frame).values() if type(value) is given.Given)
        frame = frame.f_back


def _to_come() -> AliasError:
    return AliasError(
        "an array is written in place, and what a loop around has yet to take would have to show the write",
        location=user_location(),
        help="loop over indices, or over copies: `for a in (x.copy(), y.copy()): ...`",
    )


def _held_too() -> AliasError:
    return AliasError(
        "an array is written in place in a list or object, and another variable would have to show the write",
        location=user_location(),
        help="write the array by that variable, or give it a copy: `row = rows[0].copy()`",
    )


def check_numpy_write(array: np.ndarray) -> None:
    """An array of NumPy's is written by Python: a JAX array that stands for it would have to show that."""
    if jax_private.may_have_constants():
        constants.keep([array, *_in_memory_of(array)])
    shown = standing.standing_for(array)
    if not shown:
        return
    holder = holder_of(array, None, direct=False, like=lambda part: any(part is one for one in shown))
    if holder is not None:
        raise _alias_error(holder, False)


def _in_memory_of(array: np.ndarray) -> Iterator[np.ndarray]:
    """Arrays that share the memory of one, as far as variables of the functions that are running, or globals, have them."""
    for running in running_functions(False):
        parts = (part for value in running.variables.values() for part in reach.everything(value))
        for part in itertools.chain(parts, running.frame.f_globals.values()):
            if isinstance(part, np.ndarray) and share_memory(part, array):
                yield part


def _check_apart(container: Any) -> None:
    """An array of a list that traced data picks is written: no other one in the list may show that."""
    values = container.values() if isinstance(container, dict) else container if isinstance(container, list) else ()
    arrays = [part for value in values for part in reach.arrays(value) if part.ndim]
    for number, one in enumerate(arrays):
        near = [*doubtful_with(one), *may_share(one)]
        if any(may_overlap(one, other) or any(part is other for part in near) for other in arrays[number + 1 :]):
            raise _twice_in_list()
    if any(itertools.starmap(share_memory, itertools.combinations(_arrays_of_numpy(container), 2))):
        raise _twice_in_list()


def _twice_in_list() -> AliasError:
    return AliasError(
        "an array is written in place that traced data picks, and two of those it may be share their memory",
        location=user_location(),
        help="put a copy into the list: `rows = [x, x.T.copy()]`",
    )


def _arrays_of_numpy(container: Any) -> list[np.ndarray]:
    """Those that a list or dict has as elements; in ported code each has memory of its own that is known."""
    values = container.values() if isinstance(container, dict) else container if isinstance(container, list) else ()
    return [] if hooks.is_porting() else [value for value in values if isinstance(value, np.ndarray) and value.ndim]


def _sharing(older: np.ndarray, array: Any, place: tuple[Any, Any] | None) -> Callable[[Any], bool]:
    """Is something else in this memory of NumPy's? Not what is written, nor what the new array is put into, which shows it."""
    return standing.shares([older], [array, place[0] if place is not None else None])


class _InUse(threading.local):
    def __init__(self) -> None:
        self.values: list[tuple[jax.Array, Callable[[], AliasError]]] = []


_in_use = _InUse()  # the arrays that a statement of this thread is at work with, where no variable need hold them


@contextlib.contextmanager
def in_use(arrays: Sequence[Any], error: Callable[[], AliasError]) -> Iterator[None]:
    """Refuse writes of these arrays meanwhile."""
    before = len(_in_use.values)
    _in_use.values += [(array, error) for array in arrays]
    try:
        yield
    finally:
        del _in_use.values[before:]


@contextlib.contextmanager
def no_longer_in_use(arrays: Sequence[Any]) -> Iterator[None]:
    """Allow writes of these arrays again meanwhile, of each as often as it was refused last: in the `else` of a loop."""
    before = _in_use.values
    _in_use.values = list(before)
    for array in arrays:
        position = max((n for n, (used, _) in enumerate(_in_use.values) if used is array), default=None)
        if position is not None:
            del _in_use.values[position]
    try:
        yield
    finally:
        _in_use.values = before


def holder_of(
    array: Any, place: tuple[Any, Any] | None, direct: bool = True, like: Callable[[Any], bool] | None = None
) -> Holder | None:
    """A variable, read later, that holds this array or something with this array in it; or with one that is `like` it.

    `direct`: it is this array that is written, so that variables of functions around that the writer assigns see the write.
    """
    if collected.has(array, like, _apart_from(place)):
        return sys._getframe(), _COMPREHENSION
    like = like or (lambda part: part is array)
    for running in running_functions(direct):
        for name in (running.names | running.roots) & running.variables.keys():
            value = running.variables[name]
            if name in running.names if like(value) else _holds(value, like, place, running):
                return running.frame, name
        for value in running.variables.values() if running.in_finally else ():
            if isinstance(value, Return | Choice) and reach.holds(value, like):
                return running.frame, "return"
        if any(_holds(manager, like, place, running) for manager in _managers(running)):
            return running.frame, _MANAGER
        for operand in _under_way(running):
            values = operand.values(collections.ChainMap(running.variables, running.frame.f_globals))
            if any(like(value) or _holds(value, like, place, running) for value in values):
                return running.frame, str(operand)
        for name, value in running.frame.f_globals.items():
            if like(value):
                return running.frame, name
        captured = dict(_captured(running))
        for name, value in captured.items():
            if like(value) or _holds(value, like, place, running):
                return running.frame, name
        later = captured | {name: running.variables[name] for name in running.names & running.variables.keys()}
        outer = outside.holder(array, running.frames or [running.frame], later, like, _skips(place, running))
        if outer is not None:
            return running.frame, outer
    return None


def _managers(running: _Running) -> Iterator[Any]:
    """What the `with` statements around have been given, and will leave."""
    for manager in running.managers:
        own, taken = running.variables.get(manager.variable), running.variables.get(manager.target)
        yield from () if isinstance(own, _FROM_GENERATOR) or not _looks_at_itself(own) else (own,)
        yield from (taken,) if isinstance(taken, _HOLDING_OTHERS) else ()


def _looks_at_itself(manager: Any) -> bool:
    """May its `__exit__` read what the manager holds? `nullcontext` has one that does nothing."""
    ending = inspect.getattr_static(type(manager), "__exit__", None)
    if not isinstance(ending, types.FunctionType) or not ending.__code__.co_argcount:
        return True
    own = ending.__code__.co_varnames[0]
    loads = (one.argval for one in bytecode.instructions(ending.__code__) if one.opname.startswith("LOAD"))
    return any(own in load if isinstance(load, tuple) else own == load for load in loads)


_HOLDING_OTHERS = (contextlib.ExitStack, contextlib.AsyncExitStack)
_FROM_GENERATOR = type(contextlib.contextmanager(lambda: iter(()))())  # its generator is one of those that wait
# What stands for that which is no variable of the user's.
_MANAGER = "with"
_COMPREHENSION = "for"


def holds_beside(array: np.ndarray, places: Sequence[Place]) -> bool:
    """Does anything but these places hold an array, or what shares its memory, and is read later?"""
    held = [(place, value) for place in places if isinstance(value := place.read(), np.ndarray)]
    try:
        for place, _ in held:
            place.write(None)
        return holder_of(array, None, direct=False, like=standing.shares([array])) is not None
    finally:
        for place, value in held:
            place.write(value)


def _captured(running: _Running) -> Iterator[tuple[str, Any]]:
    """The variables of functions around that have returned, or are not converted: what they hold shows a write afterwards.

    Not those that the function assigns, `nonlocal x`: they take the new array.
    """
    frame = running.frames[-1] if running.frames else running.frame
    for name in (set(frame.f_code.co_freevars) - outside.assigned(frame.f_code)) & running.variables.keys():
        if not _is_of_running(name, running.variables[name], frame.f_back):
            yield name, running.variables[name]


def _is_of_running(name: str, value: Any, frame: types.FrameType | None) -> bool:
    """Is this a variable of a converted function that is running, of which is known what it still reads?"""
    while frame is not None:
        is_it = name in frame.f_code.co_cellvars and frame_variables(frame).get(name) is value
        if is_it and hooks.read_later(frame) is not None:
            return True
        frame = frame.f_back
    return False


def _under_way(running: _Running) -> Iterator[Operand | Result]:
    """What the statement that a function is at has evaluated already, or is about to return.

    `s = x + fill(x)`: NumPy adds what `fill` leaves in x, since x is one array throughout.
    """
    for frame in running.frames:
        if frame is not running.writer:
            yield from hooks.operands(frame)
        if running.in_finally:
            yield from hooks.returned(frame)


class Uncounted(list[Any]):
    """What we keep of the user's objects ourselves."""


def held_elsewhere(written: Place, *places: Place) -> bool:
    """Does anything but these places hold a written object: another variable, a container, a caller?

    Only asked where an object is changed and replaced in one loop; it looks at everything that Python's collector knows.
    """
    variables: dict[str, Any] = {}
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_frame(frame):
            captured = {*frame.f_code.co_cellvars, *frame.f_code.co_freevars} & {place.name for place in places}
            variables = frame_variables(frame)
            if any(value is written.target for name, value in variables.items() if name not in captured):
                return True
        frame = frame.f_back
    owners = [place.target for place in places if isinstance(place, Attribute | Content)]
    cells = [getattr(place, "cell", None) for place in places]
    own = (variables, *cells, *owners, *(getattr(owner, "__dict__", None) for owner in owners))
    ours = (*_PLACES, Static, Uncounted, types.FrameType, types.GeneratorType)
    holders = (holder for holder in gc.get_referrers(written.target) if not isinstance(holder, ours) and not _is_of_log(holder))
    return any(all(holder is not one for one in own) for holder in holders)


_PLACES = (Cell, Global, Attribute, Inside)


def _is_of_log(holder: Any) -> bool:
    """Is it what a trace keeps of a place, the place and what it held?"""
    return type(holder) is tuple and len(holder) == 2 and isinstance(holder[0], _PLACES)


@dataclasses.dataclass
class _Running:
    """A converted function that is running: its variables, and which of them are read later.

    `roots` are variables that take a new value, but keep what they contain: d in `d['a'][i] = v`. `taken` are those that the
    statement under way gives the new array, or that functions inside share of which one does; `inner` is that one.
    """

    frame: types.FrameType
    names: frozenset[str]
    roots: frozenset[str]
    taken: frozenset[str]
    in_finally: bool
    managers: Sequence[Any] = ()  # of the `with` statements around, as `hooks.read_later` tells
    inner: _Running | None = None  # None: it is this one
    cells: dict[str, types.CellType] = dataclasses.field(default_factory=dict)  # of variables that are taken, as far as known
    writer: types.FrameType | None = None  # the frame whose statement is the write itself
    variables: dict[str, Any] = dataclasses.field(default_factory=dict)
    frames: list[types.FrameType] = dataclasses.field(default_factory=list)  # of its blocks too


def running_functions(direct: bool = True) -> Iterator[_Running]:
    """The converted functions that are running, innermost first. The blocks of one share its variables and are one."""
    frame: types.FrameType | None = sys._getframe(1)
    running: _Running | None = None
    inner: _Running | None = None
    below: types.CodeType | None = None  # of the function that this one has called
    while frame is not None:
        later = hooks.read_later(frame) if id(frame.f_code) in hooks.converted else None  # most are JAX's
        if later is not None:
            if running is None:
                if inner is None:
                    taken = _stored_next(frame) if direct else frozenset()
                    names = later.names | hooks.unread(frame) - taken
                    running = _Running(frame, names, later.roots, taken, later.in_finally, writer=frame)
                else:
                    names = later.names | later.if_raised | hooks.unread(frame)  # what it calls may raise, after it has written
                    running = _Running(frame, names, later.roots, frozenset(), later.in_finally, inner=inner)
                running.managers = later.managers
            running.variables = {**frame_variables(frame), **running.variables}
            running.frames.append(frame)
            if not hooks.is_block(frame.f_code):
                if inner is None:
                    inner = running
                else:
                    running.taken = _shared(running, inner, below)
                    running.names, running.roots = running.names - running.taken, running.roots - running.taken
                yield running
                running, below = None, frame.f_code
        frame = frame.f_back
    yield from _waiting_generators()


def _functions_of(value: Any) -> Iterator[types.FunctionType]:
    """The function that a variable gives: itself, or that of a `partial`."""
    function = value.func if type(value) is functools.partial else value
    if type(function) is types.FunctionType:
        yield function


def _shared(running: _Running, inner: _Running, below: types.CodeType | None) -> frozenset[str]:
    """The variables of a function that the inner one, which writes, has from there, whoever has called that.

    A function that one of the two has in a variable, and that captures such a variable, shows which it is. Where there is none,
    it is the one of this name in the function around that has called it.
    """
    names = inner.taken & set(inner.frames[-1].f_code.co_freevars) & running.variables.keys()
    for one in (one for value in running.variables.values() for one in _functions_of(value)) if names else ():
        for name in names.intersection(one.__code__.co_freevars) - inner.cells.keys():
            if _is_variable(cell := reach.cell(one, name), name, inner.frames):
                inner.cells[name] = cell
    is_around = below is not None and below in running.frames[-1].f_code.co_consts
    return frozenset(
        name for name in names if (_is_variable(inner.cells[name], name, running.frames) if name in inner.cells else is_around)
    )


# Module state: the generators that converted code has made, while they live.
_generators: weakref.WeakSet[Any] = weakref.WeakSet()


def keep_in_view(generator: Any) -> Any:
    """A generator's variables are looked at too, while it waits to go on: it may read an array that is written meanwhile."""
    _generators.add(generator)
    return generator


def with_generator_in_view(manager: Any) -> Any:
    """What a function of `contextlib.contextmanager` has given, whose generator waits until the `with` is left."""
    if isinstance(manager, _FROM_GENERATOR):
        keep_in_view(manager.gen)
    return manager


def _waiting_generators() -> Iterator[_Running]:
    for generator in list(_generators):
        frame: types.FrameType | None = generator.gi_frame
        if frame is not None and not generator.gi_running and (later := hooks.read_later(frame)) is not None:
            variables = frame_variables(frame)
            started = inspect.getgeneratorstate(generator) != inspect.GEN_CREATED
            names = later.names | hooks.unread(frame) if started else frozenset(variables)
            names -= set(frame.f_code.co_freevars)
            yield _Running(frame, names, later.roots, frozenset(), later.in_finally, variables=variables)


def _holds(value: Any, like: Callable[[Any], bool], place: tuple[Any, Any] | None, running: _Running) -> bool:
    return reach.holds(value, like, skip=_skips(place, running))


def _skips(place: tuple[Any, Any] | None, running: _Running) -> reach.Skip:
    """Is it a place that is written itself?"""

    is_place, inner = _apart_from(place), running.inner or running

    def is_written(holder: Any, key: Any) -> bool:
        if isinstance(holder, types.FunctionType):
            return key in inner.taken and _is_variable(reach.cell(holder, key), key, inner.frames)
        return is_place(holder, key)

    return is_written


def _apart_from(place: tuple[Any, Any] | None) -> reach.Skip:
    if place is not None and issubclass(type(place[0]), type):
        owner, name = place
        return lambda holder, key: key == name and _has_from(owner, holder, name)
    return lambda holder, key: place is not None and holder is place[0] and (is_traced(place[1]) or key == place[1])


def _has_from(owner: type, holder: Any, name: str) -> bool:
    """Is this the class that an attribute comes from, of an object or a class that has none itself?"""
    is_class = issubclass(type(holder), type)
    if not is_class and reach.attribute(holder, name, _NONE) is not _NONE:
        return False
    order = holder.__mro__ if is_class else type(holder).__mro__
    return next((base for base in order if name in vars(base)), None) is owner


_NONE = object()


def _is_variable(cell: types.CellType, name: str, frames: Sequence[types.FrameType]) -> bool:
    """Is what a closure captures the variable of a running function? A frame does not give its cells, so this looks whether
    it shows what the cell is filled with."""
    value, mark = cell.cell_contents, object()
    try:
        cell.cell_contents = mark
        return any(frame_variables(frame).get(name) is mark for frame in frames)
    finally:
        cell.cell_contents = value


def _stored_next(frame: types.FrameType) -> frozenset[str]:
    """The variables that take what the call under way in a frame gives: x and y in `x, y = ag__.set_item(v, x, i, y)`."""
    names: set[str] = set()
    for instruction in bytecode.instructions(frame.f_code):
        if instruction.offset <= frame.f_lasti or instruction.opname == "UNPACK_SEQUENCE":
            continue
        if not instruction.opname.startswith("STORE_"):
            break
        stored = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        names.update(stored[:1] if instruction.opname == "STORE_FAST_LOAD_FAST" else stored)
    return frozenset(names)


def _alias_error(holder: Holder, same: bool) -> AliasError:
    frame, name = holder
    if name == _COMPREHENSION:
        return AliasError(
            "an array is written in place that a comprehension has collected before",
            location=user_location(),
            help="collect copies: `[f(v).copy() for v in values]`",
        )
    place = frame_location(frame)
    if name == _MANAGER:
        return AliasError(
            "an array is written in place, and what a `with` around is given would have to show the write",
            location=user_location(),
            details=[
                f"{place.function} ({place.filename}:{place.line}) is in it, and it may look at the array when it is left."
            ],
            help="give it a copy: `with saved(x.copy()): ...`; or write a copy",
        )
    if not hooks.is_users(frame, name):  # `x[1:] += f()` has read x[1:] before f writes it
        return AliasError(
            "an array is written in place, and what a statement has read of it would have to show the write",
            location=user_location(),
            details=[f"The statement at {place.filename}:{place.line}, in {place.function}, goes on with it."],
            help="evaluate what writes before that, in a statement of its own: `v = f(); x[1:] += v`",
        )
    what = "holds this array too" if same else "shares its memory with this array in NumPy"
    return AliasError(
        f"an array is written in place, and `{name}` would have to show the write",
        location=user_location(),
        details=[f"`{name}` ({place.filename}:{place.line}, in {place.function}) {what}, and is read later."],
        help=f"call it in a statement of its own: `y = {name}`"
        if name.endswith(")")  # what a call has given, with which the statement goes on
        else "return the new array and use that, or make a copy first: `y = x.copy()`",
    )
