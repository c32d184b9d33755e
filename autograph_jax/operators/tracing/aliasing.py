"""Two variables that are one array in NumPy: an in-place write shows through both, or is refused.

Plain copies of a variable are replaced with it (`follow`). Who else holds the array is looked up when it is written: the
variables of the converted functions that are running and are read later, and the lists, dicts and objects in them.

Where a branch or a loop makes it depend on traced data whether two variables hold the same array, the pair is remembered as
doubtful, and a write through one of them is an error.
"""

from __future__ import annotations

import dataclasses
import dis
import gc
import inspect
import sys
import types
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import jax

from autograph_jax.errors import AliasError, frame_location, is_user_frame, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.exits import Return
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.cells import arrays_held
from autograph_jax.operators.tracing.places import Attribute, Cell, Content, Global, Place
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.forms import Static
from autograph_jax.operators.values.traced import is_traced

# Module state: pairs of arrays, by their ids, that may be one array. An entry goes when one of the two goes.
_doubtful: dict[frozenset[int], tuple[weakref.ref[Any], weakref.ref[Any]]] = {}


def follow(alias: Any, old: Any, new: Any) -> Any:
    """What another variable holds after `old` was written in place and became `new`."""
    if alias is old:
        return new
    if new is not old and any(is_doubtful(part, old) for part in reach.arrays(alias)):
        raise _doubtful_error()
    if new is not old and any(part is other for other in _related(old) for part in reach.arrays(alias)):
        raise AliasError(
            "an array is written in place, and a variable that shares its memory in NumPy would have to show the write",
            location=user_location(),
            details=["One of them is a view of the other, as `y = x[1:]` or `y = x.T`."],
            help="make a copy first: `y = x[1:].copy()`",
        )
    return alias


def _doubtful_error() -> AliasError:
    return AliasError(
        "an array is written in place that another variable may hold too, depending on traced data",
        location=user_location(),
        details=["In NumPy the other variable would show the write on one path, and not on the other."],
        help="make a copy where the variable gets the array: `y = x.copy()`",
    )


def doubt(first: Any, second: Any) -> None:
    """Remember that two arrays may be one."""
    if first is second or not isinstance(first, jax.Array) or not isinstance(second, jax.Array):
        return
    key = frozenset((id(first), id(second)))

    def forget(_: Any, known: Any = _doubtful) -> None:  # by name, it would be gone when the interpreter ends
        known.pop(key, None)

    _doubtful[key] = (weakref.ref(first, forget), weakref.ref(second, forget))


def doubtful_with(array: Any) -> list[jax.Array]:
    """The arrays that may be this one."""
    found = []
    for first, second in list(_doubtful.values()):
        pair = [first(), second()]
        if any(array is one for one in pair):
            found += [other for other in pair if other is not None and other is not array]
    return found


def kin(value: Any) -> list[int]:
    """The ids of the arrays in a value, and of those that these may be or are views of."""
    arrays = [array for array in reach.arrays(value) if array.ndim]
    return [id(other) for array in arrays for other in (array, *doubtful_with(array), *bases(array))]


def is_doubtful(first: Any, second: Any) -> bool:
    return bool(_doubtful) and frozenset((id(first), id(second))) in _doubtful


# Containers: `b = a; if x > 0: b = [3, 4]` leaves it open whether b is a

# Module state: by the ids of a container that a join has made, and of the older one that it may be as well: one of its arrays,
# and the older one. An entry goes when that array goes; the tracing that made it has ended by then.
_joined_containers: dict[tuple[int, int], tuple[weakref.ref[Any], Any]] = {}


def doubt_container(new: Any, old: Any) -> None:
    """Remember that a container that a join has made anew may be, on some path, the older object `old`."""
    if new is old or not _is_container(new) or not _is_container(old):
        return
    leaf = next((part for part in reach.everything(new) if isinstance(part, jax.Array)), None)
    if leaf is None:
        return
    key = id(new), id(old)
    _joined_containers[key] = (weakref.ref(leaf, lambda _, known=_joined_containers: known.pop(key, None)), old)


def _may_be(target: Any) -> Iterator[Any]:
    """The objects that a container may be as well."""
    for (key, _), (leaf, old) in list(_joined_containers.items()):
        if key == id(target) and reach.holds(target, lambda part, leaf=leaf: part is leaf()):
            yield old
        elif old is target:
            yield from (value for running in _running_functions() for value in running.variables.values() if id(value) == key)


def check_container(target: Any, aliases: tuple[Any, ...] = ()) -> None:
    """Refuse to write a container where it is open whether another variable holds it too."""
    for other in _may_be(target) if _joined_containers else ():
        holder = _holder(other, None)
        if holder is not None or any(alias is other for alias in aliases):
            name = f"`{holder[1]}`" if holder is not None else "another variable"
            raise AliasError(
                f"a {type(target).__name__} is written that {name} may hold too, depending on traced data",
                location=user_location(),
                details=["In Python the other variable would show the write on one path, and not on the other."],
                help="make a copy where the variable gets it: `b = list(a)`",
            )


def check_identity(first: Any, second: Any) -> None:
    """Refuse to say whether two containers are one where that depends on traced data."""
    for new, old in ((first, second), (second, first)):
        entry = _joined_containers.get((id(new), id(old)))
        if entry is not None and reach.holds(new, lambda part, leaf=entry[0]: part is leaf()):
            raise AliasError(
                f"whether this is the same {type(new).__name__} depends on traced data",
                location=user_location(),
                help="compare what they hold, or keep a flag beside them",
            )


def _is_container(value: Any) -> bool:
    return isinstance(value, list | dict) or reach.is_record(value)


# Who else holds an array?

Holder = tuple[types.FrameType, str]


def check_write(array: Any, *, place: tuple[Any, Any] | None = None, aliases: tuple[Any, ...] = ()) -> None:
    """Refuse an in-place write that somebody else would have to see.

    `place` is the container and the key that the new array is put into, `aliases` are values that follow by themselves.
    """
    picked = place is not None and is_traced(place[1])  # of several, which all are written: as they were, or the new one
    for base in (array, *_related(array)):
        holder = _holder(base, place if base is array or picked else None, direct=base is array)
        if holder is not None:
            raise _alias_error(holder, base is array)
    for other in doubtful_with(array):
        if _holder(other, place) is not None or any(part is other for alias in aliases for part in reach.arrays(alias)):
            raise _doubtful_error()


def arrays_around(functions: Sequence[Callable[..., Any] | None], places: Iterable[Place]) -> dict[int, jax.Array]:
    """The arrays that a block's variables and these places hold, and those that these may be or are views of, by their ids."""
    held = arrays_held(functions, places)
    return {id(array): array for own in held for array in (own, *doubtful_with(own), *bases(own))}


def view(value: Any, base: Any) -> Any:
    """`row = x[0]`: in NumPy the row is a view, if it is no scalar."""
    if isinstance(value, jax.Array) and isinstance(base, jax.Array) and value is not base and value.ndim > 0:
        key, references = id(value), [weakref.ref(known) for known in (*bases(value), base)]
        _views[key] = (weakref.ref(value, lambda _, views=_views: views.pop(key, None)), references)
    return value


def view_parts(value: Any, base: Any) -> None:
    """A value may share memory with `base`, or something in it may: a list or a choice in which a turn has put that array."""
    for part in reach.arrays(value):
        if part is value or isinstance(base, jax.Array) and part.ndim <= base.ndim and part.dtype == base.dtype:
            view(part, base)


def bases(value: Any) -> list[jax.Array]:
    """The arrays that this one is a view of: several where traced data has chosen between views."""
    entry = _views.get(id(value))
    if entry is None or entry[0]() is not value:
        return []
    return [base for reference in entry[1] if (base := reference()) is not None]


def rows(base: Any) -> Any:
    """The rows of an array that is unpacked, as views; anything else as it is."""
    return [view(row, base) for row in base] if isinstance(base, jax.Array) and base.ndim > 1 else base


# Module state: by id of the view, the view and what it is a view of. An entry goes when the view goes.
_views: dict[int, tuple[weakref.ref[Any], list[weakref.ref[Any]]]] = {}


def _related(array: Any) -> Iterator[Any]:
    """The array that this one is a view of, and the views of this one."""
    related: list[jax.Array] = []

    def add(values: Iterable[Any]) -> None:
        for value in values:
            if value is not None and value is not array and not any(value is known for known in related):
                related.append(value)

    add(bases(array))
    for base in related:
        add(bases(base))
    for base in [array, *related]:
        add(own() for own, its_bases in list(_views.values()) if any(its_base() is base for its_base in its_bases))
    for base in related:
        add(own() for own, its_bases in list(_views.values()) if any(its_base() is base for its_base in its_bases))
    yield from related


def _holder(array: Any, place: tuple[Any, Any] | None, direct: bool = True) -> Holder | None:
    """A variable, read later, that holds this array or something with this array in it.

    `direct`: it is this array that is written, so that variables of functions around that the writer assigns see the write.
    """
    for running in _running_functions(direct):
        for name in (running.names | running.roots) & running.variables.keys():
            value = running.variables[name]
            if name in running.names if value is array else _holds(value, array, place, running):
                return running.frame, name
        for value in running.variables.values() if running.in_finally else ():
            if isinstance(value, Return | Choice) and reach.holds(value, lambda part: part is array):
                return running.frame, "return"
        for name, value in running.frame.f_globals.items():
            if value is array:
                return running.frame, name
    return None


def held_elsewhere(written: Place, place: Place) -> bool:
    """Does anything but this place hold a written object: another variable, a container, a caller?

    Only asked where an object is changed and replaced in one loop; it looks at everything that Python's collector knows.
    """
    variables: dict[str, Any] = {}
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if is_user_frame(frame):
            captured = {*frame.f_code.co_cellvars, *frame.f_code.co_freevars} & {place.name}
            variables = _variables(frame)
            if any(value is written.target for name, value in variables.items() if name not in captured):
                return True
        frame = frame.f_back
    ours = (Cell, Global, Attribute, Content, Static, types.FrameType, types.GeneratorType)
    holders = (holder for holder in gc.get_referrers(written.target) if not isinstance(holder, ours))
    return any(holder is not getattr(place, "cell", None) and holder is not variables for holder in holders)


@dataclasses.dataclass
class _Running:
    """A converted function that is running: its variables, and which of them are read later.

    `roots` are variables that take a new value, but keep what they contain: d in `d['a'][i] = v`. `taken` are those that the
    statement under way gives the new array, or those of a function inside that does.
    """

    frame: types.FrameType
    names: frozenset[str]
    roots: frozenset[str]
    taken: frozenset[str]
    in_finally: bool
    variables: dict[str, Any] = dataclasses.field(default_factory=dict)
    frames: list[types.FrameType] = dataclasses.field(default_factory=list)  # of its blocks too


def _running_functions(direct: bool = True) -> Iterator[_Running]:
    """The converted functions that are running, innermost first. The blocks of one share its variables and are one."""
    frame: types.FrameType | None = sys._getframe(1)
    running: _Running | None = None
    taken: frozenset[str] | None = None  # not known before the innermost
    while frame is not None:
        later = hooks.read_later(frame)
        if later is not None:
            if running is None:
                # The innermost statement has read all that it reads; one that called it may read on after the call.
                if taken is None:
                    taken = _stored_next(frame) if direct else frozenset()
                    running = _Running(frame, later.names, later.roots, taken, later.in_finally)
                else:
                    names = (later.names | later.again) - taken
                    running = _Running(frame, names, later.roots - taken, taken, later.in_finally)
            running.variables = {**_variables(frame), **running.variables}
            running.frames.append(frame)
            if not hooks.is_block(frame.f_code):
                yield running
                running, taken = None, running.taken & set(frame.f_code.co_freevars)
        frame = frame.f_back
    yield from _waiting_generators()


# Module state: the generators that converted code has made, while they live.
_generators: weakref.WeakSet[Any] = weakref.WeakSet()


def keep_in_view(generator: Any) -> Any:
    """A generator's variables are looked at too, while it waits to go on: it may read an array that is written meanwhile."""
    _generators.add(generator)
    return generator


def _waiting_generators() -> Iterator[_Running]:
    for generator in list(_generators):
        frame: types.FrameType | None = generator.gi_frame
        if frame is not None and not generator.gi_running and (later := hooks.read_later(frame)) is not None:
            variables = _variables(frame)
            started = inspect.getgeneratorstate(generator) != inspect.GEN_CREATED
            names = later.names | later.again if started else frozenset(variables)
            names -= set(frame.f_code.co_freevars)
            yield _Running(frame, names, later.roots, frozenset(), later.in_finally, variables)


def _variables(frame: types.FrameType) -> dict[str, Any]:
    """A frame's variables. Before Python 3.13 the frame keeps the dict that it gives, tracers included, so that is emptied."""
    kept = frame.f_locals
    copied = dict(kept)
    if type(kept) is dict and frame.f_code.co_flags & inspect.CO_OPTIMIZED:  # a module's is its namespace itself
        kept.clear()
    return copied


def _holds(value: Any, array: Any, place: tuple[Any, Any] | None, running: _Running) -> bool:
    def is_written(holder: Any, key: Any) -> bool:
        if isinstance(holder, types.FunctionType):
            return key in running.taken and _is_variable(reach.cell(holder, key), key, running.frames)
        return place is not None and holder is place[0] and (is_traced(place[1]) or key == place[1])

    return reach.holds(value, lambda part: part is array, skip=is_written)


def _is_variable(cell: types.CellType, name: str, frames: Sequence[types.FrameType]) -> bool:
    """Is what a closure captures the variable of a running function? A frame does not give its cells, so this looks whether
    it shows what the cell is filled with."""
    value, mark = cell.cell_contents, object()
    try:
        cell.cell_contents = mark
        return any(_variables(frame).get(name) is mark for frame in frames)
    finally:
        cell.cell_contents = value


def _stored_next(frame: types.FrameType) -> frozenset[str]:
    """The variables that take what the call under way in a frame gives: x and y in `x, y = ag__.set_item(v, x, i, y)`."""
    names: set[str] = set()
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset <= frame.f_lasti or instruction.opname == "UNPACK_SEQUENCE":
            continue
        if not instruction.opname.startswith("STORE_"):
            break
        stored = instruction.argval if isinstance(instruction.argval, tuple) else (instruction.argval,)
        names.update(stored[:1] if instruction.opname == "STORE_FAST_LOAD_FAST" else stored)
    return frozenset(names)


def _alias_error(holder: Holder, same: bool) -> AliasError:
    frame, name = holder
    place = frame_location(frame)
    what = "holds this array too" if same else "shares its memory with this array in NumPy"
    return AliasError(
        f"an array is written in place, and `{name}` would have to show the write",
        location=user_location(),
        details=[f"`{name}` ({place.filename}:{place.line}, in {place.function}) {what}, and is read later."],
        help="return the new array and use that, or make a copy first: `y = x.copy()`",
    )
