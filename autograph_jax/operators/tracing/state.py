"""Places that hold state (variables, attributes, items), and the log of what is written while a block is traced.

State is found, not declared: converted code writes attributes and items through operators, and these note (place, old value)
in the innermost trace. When the trace ends the log is rolled back, and the places join the block's state.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import sys
import threading
import types
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import StagingError, is_user_frame, user_location
from autograph_jax.loops.axes import NONE, Axes
from autograph_jax.operators import jax_private
from autograph_jax.operators.tracing import outside, reach
from autograph_jax.operators.tracing.frozen import Frozen
from autograph_jax.operators.tracing.places import CHANGING, Aside, Place
from autograph_jax.porting.arrays import serial


class Older:
    """The ids of containers and objects that were there before a block; so were those from before the block around it."""

    def __init__(self, around: Older | None) -> None:
        self._own, self._around = set[int](), around

    def __contains__(self, number: int) -> bool:
        return number in self._own or self._around is not None and number in self._around

    def __bool__(self) -> bool:
        return bool(self._own) or bool(self._around)

    def update(self, numbers: Iterable[int]) -> None:
        self._own.update(numbers)


class Memory:
    """What the loops inside a loop's body settled to when the body was last traced, so that they start from there.

    Without it a loop inside d others would settle 2^d times: each round of the outer loop would begin the inner one anew.
    """

    def __init__(self) -> None:
        self.settled: dict[Hashable, Any] = {}
        self.failures: Any = None  # what the loop raises when it is over; None: it raises at the place itself
        self.raises_at_once = False  # for good, since it calls Python anyway
        self.is_repeated = False  # is the body traced until its state stays as it is, and may loops in it wait for that?
        self.is_provisional = False  # has a loop in this round left its types alone, so that there is to be another round?
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
        axes: Axes = NONE,
    ) -> None:
        outer = _local.traces[-1] if _local.traces else None
        self.log: dict[Hashable, tuple[Place, Any]] = {}
        self.active = active
        self.inputs: Sequence[Place] = inputs if inputs is not None else outer.inputs if outer else ()
        self.memory: Memory | None = memory or (outer.memory if outer else None)
        self.failures = failures
        self.axes: Axes = axes | (outer.axes if outer else NONE)
        self.jax_trace = jax_private.current_trace()
        self.serial = serial()  # arrays of ported code that were made before have a smaller one
        self.is_turn = False  # of a loop
        self.around: Any = None  # the trace of JAX's that the block was begun in
        self.inside = False  # of a function that JAX calls by itself
        self.block: Any = None
        self.older = Older(outer.older if outer else None)  # containers and objects that were there before the block
        self.pytrees = Older(outer.pytrees if outer else None)  # objects that were, of classes that JAX knows as pytrees
        self.entered: list[Any] = []  # what its inputs were at first
        self.outside: dict[int, Any] = {}  # by id: arrays that it has met in globals and in classes
        self.made: dict[int, Any] = {}  # iterators and objects that the block makes for itself, by id
        self.variables: Container[int] = ()  # the ids of the cells that the block shares with what is around it, once it ends
        self.cached: dict[Any, Any] = {}  # what functions with a cache have computed in the block, by the function and its key
        self.of_caches: dict[int, str] = {}  # objects in these, by id, with the names of the functions
        self.frozen = Frozen()
        self.met: set[Any] = set()  # the code of functions whose globals it has looked into, classes, functions by id
        self.iterators: list[tuple[Any, Any]] = []  # that are older than the block, and where each stands when it begins
        self.calls_library = False  # which may keep, where nobody sees it, what the block computes
        self.namespaces: dict[int, Any] = {}  # by the id of a `__dict__` that the block has asked for: whose it is
        # By the id of a choice, which is kept: the options for which an error has been raised, and in which bodies of `try`;
        # and by these options too: what is left without them. See values/narrowed.py.
        self.ruled_out: dict[int, tuple[Any, list[tuple[int, list[Any]]]]] = {}
        self.narrowed: dict[tuple[int, frozenset[int]], tuple[Any, Any]] = {}

    def keep(self, place: Place, old: Callable[[], Any]) -> None:
        """Keep what a place held at first. One that is found stays so, though the block's functions mention it too."""
        if place.key not in self.log:
            self.log[place.key] = place, old()
        elif place.found:
            self.log[place.key] = place, self.log[place.key][1]

    def roll_back(self) -> None:
        for place, old in reversed(self.log.values()):
            place.write(old)
        self.frozen.thaw()
        self.iterators.clear()
        self.ruled_out.clear()
        self.narrowed.clear()
        self.made.clear()  # an exception among them holds the frames that it has passed, and those this trace


class Attempt(Trace):
    """Writes that are kept unless the attempt is given up."""

    given_up = False

    def give_up(self) -> None:
        self.given_up = True


# By key: a place, the code that has written it, and the line, None where that is not known.
Written = dict[Hashable, tuple[Place, tuple[types.CodeType, int | None] | None]]


class _Local(threading.local):
    def __init__(self) -> None:
        self.traces: list[Trace] = []
        self.attempts: list[Any] = []  # the bodies of `try` that are running, outermost first; see effects/attempts.py
        # The frames, by id, that an exception out of a traced branch may pass. Not the exception: it would hold tracers.
        self.escaped: frozenset[int] = frozenset()
        self.written: Written | None = None  # outside of blocks, while a transform of ours traces a function


_local = _Local()  # a trace belongs to the thread that runs it


def traces() -> list[Trace]:
    """The traces that are running in this thread, outermost first."""
    return _local.traces


def branch_taken() -> Any:
    """Are all branches taken that the running block stands in? None where there are none."""
    conditions = [trace.active for trace in _local.traces if trace.active is not None and not trace.is_turn]
    return functools.reduce(jnp.logical_and, conditions) if conditions else None


def speculated() -> Any:
    """Is the code reached that is run without a block of its own, though traced data decides? None where there is no such."""
    conditions = [trace.active for trace in _local.traces if isinstance(trace, Attempt) and trace.active is not None]
    return functools.reduce(jnp.logical_and, conditions) if conditions else None


def axes() -> Axes:
    """The axes of a mesh along which not all devices run the innermost block."""
    return _local.traces[-1].axes if _local.traces else NONE


def attempts() -> list[Any]:
    """The bodies of `try` statements that are being traced in this thread, outermost first."""
    return _local.attempts


def opened() -> list[bool]:
    """Which of these may have failed already, where the program is now."""
    return [attempt.is_open for attempt in _local.attempts]


def open_again(flags: list[bool]) -> None:
    for attempt, flag in zip(_local.attempts, flags, strict=True):
        attempt.is_open = flag


def inside_another() -> bool:
    """Does JAX do something of its own between the innermost block and here? `jax.vmap(f)(xs)` in a loop: `f` is inside."""
    return bool(_local.traces) and _local.traces[-1].jax_trace is not jax_private.current_trace()


def boundaries() -> list[int]:
    """How deep in others the running blocks are in which JAX traces a function by itself, to compile or scan it."""
    here, found = jax_private.current_trace(), []
    for depth in reversed(range(len(_local.traces))):
        trace = _local.traces[depth]
        if jax_private.program_of(here) is not jax_private.program_of(trace.jax_trace):
            found.append(depth)
        here = trace.around or trace.jax_trace
    return found


def failures() -> Any:
    """Where the staged loop around keeps its errors; None where there is none, or where what is computed is no state of its."""
    return _local.traces[-1].failures if _local.traces and not inside_another() else None


@contextlib.contextmanager
def running(trace: Trace) -> Iterator[Trace]:
    depth = len(_local.traces)
    _local.traces += [trace]  # no call: Python looks for Ctrl-C when one returns
    try:
        yield trace
    finally:
        del _local.traces[depth:]  # what Ctrl-C has left inside, too


@contextlib.contextmanager
def attempt(active: Any = None) -> Iterator[Attempt]:
    """Something that may turn out not to be the way: if it is given up, or raises, what it wrote is put back.

    A traced `active` says whether the code is reached at run time.
    """
    trace = Attempt(active, failures=failures())
    try:
        with running(trace):
            yield trace
    except BaseException:
        trace.roll_back()
        raise
    if trace.given_up:
        trace.roll_back()
    elif _local.traces:
        for place, old in trace.log.values():
            _local.traces[-1].keep(place, lambda old=old: old)
        _local.traces[-1].made |= trace.made
    else:
        for place, _ in trace.log.values():
            note(place)


def escape() -> None:
    """An exception leaves a branch that traced data decides about."""
    frame: types.FrameType | None = sys._getframe(1)
    frames = set()
    while frame is not None:
        frames.add(id(frame))
        frame = frame.f_back
    _local.escaped = frozenset(frames)
    mark(sys.exc_info()[1], _ESCAPED, _local.escaped)


def take_escaped() -> frozenset[int]:
    """The frames that such an exception may have passed; asked once."""
    frames, _local.escaped = _local.escaped, frozenset()
    return frames


def has_escaped(error: BaseException | None, frame: types.FrameType) -> bool:
    """Is it one, or raised for one, that may have passed this frame? Asked once."""
    frames = take_escaped()
    return id(frame) in frames and follows(error, _ESCAPED, frames)


# A frame that is over may have its place, and so its id, taken by another one. What is known of an exception by a frame that it
# has passed is therefore told by the exception too, which has no more than a mark: its own variables may be tracers.
_ESCAPED = "__autograph_jax_escaped__"


def mark(error: BaseException | None, name: str, value: Any) -> None:
    if error is not None:
        error.__dict__[name] = value


def follows(error: BaseException | None, name: str, value: Any) -> bool:
    """Has this exception, or one that was being handled where it was raised, this mark?"""
    while error is not None and error.__dict__.get(name) is not value:
        error = error.__context__
    return error is not None


def library_called() -> None:
    """Remember that the running block has called a function of a library that may keep what it is given, or gives."""
    if _local.traces:
        _local.traces[-1].calls_library = True


def note(place: Place, function: types.FunctionType | None = None) -> None:
    """Keep the present value of a place that is about to be written, if known by which function."""
    if _local.traces:
        check_not_cached(place.target)
        _local.traces[-1].keep(place, place.read)
    elif _local.written is not None and not isinstance(place, Aside):
        _local.written[place.key] = place, (function.__code__, None) if function is not None else _user_line()


def note_all(target: Any, places: Iterable[Place]) -> None:
    """The same of several places of one object, in a block."""
    check_not_cached(target)
    block = _local.traces[-1]
    for place in places:
        block.keep(place, place.read)


def check_not_cached(target: Any) -> None:
    """Refuse to change what a function with a cache has given in a running block."""
    if isinstance(target, np.ndarray) and isinstance(target.base, np.ndarray):
        check_not_cached(target.base)
    name = next((trace.of_caches[id(target)] for trace in _local.traces if id(target) in trace.of_caches), None)
    if name is None:
        return
    raise StagingError(
        f"what `{name}`, which has a cache, has given in a block that traced data decides about is changed there",
        location=user_location(),
        details=["The cache has to give the same object later: with this change where the block is run, else without it."],
        help=f"call `{name}` before the block, or change a copy",
    )


def _user_line() -> tuple[types.CodeType, int] | None:
    frame: types.FrameType | None = sys._getframe(2)
    while frame is not None and not is_user_frame(frame):
        frame = frame.f_back
    return (frame.f_code, frame.f_lineno) if frame is not None else None


def noting() -> bool:
    """Is it noted which variables a function assigns?"""
    return bool(_local.traces) or _local.written is not None


def swap_written(written: Written | None) -> Written | None:
    """Note the places that are written outside of blocks here from now on; gives where they have been noted until now."""
    _local.written, before = written, _local.written
    return before


def write(place: Place, value: Any) -> None:
    """Write a place, noting what it held."""
    note(place)
    place.write(value)


@contextlib.contextmanager
def making_again() -> Iterator[None]:
    """What a user's code writes here is new, and no state: JAX makes an object of its leaves, or a cache what it keeps."""
    logs = [_local.traces[-1].log] if _local.traces else [] if _local.written is None else [_local.written]
    counts = [len(log) for log in logs]
    yield
    for log, count in zip(logs, counts, strict=True):
        for key in list(log)[count:]:
            if log[key][0].target is not None:
                del log[key]


def entered(function: types.FunctionType) -> None:
    """The running block calls this function."""
    if _local.traces:
        meet_globals(function)


def meet_globals(function: types.FunctionType) -> None:
    """What is in global variables of this function is older than the running block, and only that writes arrays there."""
    if not any(function.__code__ in trace.met for trace in _local.traces):
        _block().met.update(outside.codes(function.__code__))
        meet(outside.contents(function))


def meet_attributes(owner: type | types.FunctionType) -> None:
    """So is what attributes of this class hold, or of this function."""
    known = owner if isinstance(owner, type) else id(owner)  # which must not live longer by this
    if not any(known in trace.met for trace in _local.traces):
        _block().met.add(known)
        meet(outside.contents_of(owner))


def _block() -> Trace:
    """The innermost block; not the body of a `try` in it, which ends before."""
    return next((trace for trace in reversed(_local.traces) if not isinstance(trace, Attempt)), _local.traces[-1])


def meet(parts: Iterable[Any]) -> None:
    """These are older than the running block, as far as that has not put them where they are."""
    block, found = _block(), dict[int, Any]()
    for part in parts:
        if isinstance(part, np.ndarray):
            block.frozen.freeze(part)
        if isinstance(part, (jax.Array, np.ndarray, *CHANGING)) or reach.is_record(part) or reach.is_changing_pytree(part):
            found[id(part)] = part
    pytrees = {number for number, part in found.items() if reach.is_changing_pytree(part)}
    put = set[int]()
    for trace in reversed(_local.traces) if found else ():  # what is inside of a block is part of it
        put |= _put_there_by(trace)
        there = found.keys() - put
        trace.older.update(there - pytrees)
        trace.pytrees.update(there & pytrees)
        trace.outside |= {number: found[number] for number in there if isinstance(found[number], jax.Array | np.ndarray)}


def met() -> list[Any]:
    """The arrays that the running blocks have met in globals and classes."""
    return [array for trace in _local.traces for array in trace.outside.values()]


def _put_there_by(trace: Trace) -> set[int]:
    """By id, what the places that a block has written hold now, and none held before."""
    changed = [(now, old) for place, old in trace.log.values() if (now := place.read()) is not old]
    before = {id(part) for old in [*trace.entered, *(old for _, old in changed)] for part in reach.everything(old)}
    return {id(part) for now, _ in changed for part in reach.everything(now)} - before


def freeze(array: np.ndarray) -> None:
    """This array is older than the running block."""
    _local.traces[-1].frozen.freeze(array)


def is_frozen(array: np.ndarray) -> bool:
    """Is this an array that is older than a running block, or a view of one?"""
    return not array.flags.writeable and any(trace.frozen.holds(array) for trace in _local.traces)


def namespace(attributes: Any, owner: Any) -> Any:
    """Remember whose `__dict__` this is: what is written into it are attributes."""
    if _local.traces:
        _local.traces[-1].namespaces[id(attributes)] = owner
    return attributes


def owner_of(attributes: dict[Any, Any]) -> Any:
    """The object whose `__dict__` this is, if a running block has asked for it."""
    return next((trace.namespaces[id(attributes)] for trace in _local.traces if id(attributes) in trace.namespaces), None)


def is_older(value: Any) -> bool:
    """Is this an iterator or object that the innermost block has not made for itself?"""
    for trace in reversed(_local.traces):
        if id(value) in trace.made:
            return False
        if not isinstance(trace, Attempt) or trace.active is not None:
            return True
    return False


def made(value: Any) -> Any:
    """Remember an iterator or object that the running block makes for itself: when that runs again, it makes another one."""
    if _local.traces:
        _local.traces[-1].made[id(value)] = value
    return value
