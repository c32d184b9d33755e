"""Blocks are traced to jaxprs, with their state as inputs and outputs; lax gets the jaxprs, never the blocks again."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import sys
import types
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import jax
import jax.extend

from autograph_jax.errors import StructureError, is_raised_by_a_builtin, is_raised_by_user, is_raised_for_item, user_location
from autograph_jax.loops import collecting
from autograph_jax.loops.axes import NONE, Axes
from autograph_jax.loops.tracing import traced
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.effects import attempts, checks
from autograph_jax.operators.effects.failures import Carried
from autograph_jax.operators.staging.conditional import followed_by
from autograph_jax.operators.staging.held import Held, held, is_number
from autograph_jax.operators.staging.kept_inside import KeptInside
from autograph_jax.operators.staging.known_arrays import made_inside
from autograph_jax.operators.staging.made import Shared, made_in, written
from autograph_jax.operators.staging.varied import varied
from autograph_jax.operators.staging.writes import with_outputs
from autograph_jax.operators.tracing import (
    aliasing,
    frozen,
    impure,
    kept,
    leaked,
    listed,
    nnx,
    reach,
    recursion,
    same_containers,
    standing,
    state,
    twins,
    views,
)
from autograph_jax.operators.tracing.cells import noted, originals_of
from autograph_jax.operators.tracing.holders import Uncounted
from autograph_jax.operators.tracing.places import Content, Place, outliving, read_through, taken_from_class
from autograph_jax.operators.values import carried, references
from autograph_jax.operators.values.choices import UNBOUND
from autograph_jax.operators.values.containers import flatten, unflatten
from autograph_jax.operators.values.forms import Begun, Form, Options, Static, Tree, array_forms

RESULT = "result"  # in place of a key: what the block returns
Ending = Callable[[Any, dict[Any, Any], Sequence[Any]], list[Any]]


@dataclasses.dataclass
class Traced:
    """A block as a jaxpr: its inputs' leaves in, and out the leaves of its result and of the places that it wrote."""

    jaxpr: Any
    result: Form
    ends: dict[Any, tuple[Place, Form]]  # by key: the places that it wrote, and what it left in them
    found: list[Place]  # of these, the ones that were not among the inputs or the watched
    forgotten: set[Any]  # keys of places in `ends` whose objects the block made for itself
    raised: bool  # it ends by an exception, which is raised at run time
    handled: bool  # if so, by a `try` around, which goes on with what the block has written
    held: dict[Any, Held]  # by key: what each place held at the end, for aliases
    before: Container[int]  # the ids of the containers that were there before the block
    starts: dict[Any, int]  # by key: the identity of what each input held at the start
    objects: dict[Any, list[tuple[same_containers.Position, int]]]  # by key: the containers in what it holds, by their ids
    related: dict[int, frozenset[int]]  # of these, what each may be as well
    twins: dict[Any, twins.Twins]  # by key: the arrays in what it holds that have one memory
    outside: dict[int, Any]  # by id: arrays that it has met in globals and in classes

    def __call__(self, leaves: Sequence[Any], run: Callable[..., Sequence[Any]] | None = None) -> tuple[Any, dict[Any, Any]]:
        """Run the jaxpr, or what stands in for it: the result, and the values left in the places."""
        outputs = iter((run or jax.extend.core.jaxpr_as_fun(self.jaxpr))(*leaves))
        result = unflatten(self.result, outputs)
        return result, {key: unflatten(form, outputs) for key, (_, form) in self.ends.items()}

    @property
    def is_over(self) -> bool:
        """Does the program end here, so that nobody reads what the block has written?"""
        return self.raised and not self.handled

    def view_bases(self, key: Any, value: Any, values: dict[Any, Any], outer: dict[int, jax.Array], turn: views.Turn) -> None:
        """Views in what a place holds stay views: of the places' new `values`, or of the arrays around, by their ids."""
        for base, shape, whole in self.held[key].bases if key in self.held else ():
            known = [values[other] for other, own in self.held.items() if own.identity == base and other in values]
            for array in known + ([outer[base]] if base in outer else []):
                for part in reach.arrays(value):
                    if part.shape == shape:
                        views.relate(part, array, whole_in=turn if whole else None)

    def identity_of(self, place: Place) -> int:
        """The id of what a place holds at the end."""
        return own.identity if (own := self.held.get(place.key)) is not None else aliasing.identity(read_through(place))

    def doubted_in(self, key: Any) -> Mapping[int, set[aliasing.Way]]:
        """The memory that what a place holds at the end may have, by its ids, and the ways to the arrays in it that may."""
        return self.held[key].doubted if key in self.held else {}

    def kin_of(self, place: Place) -> Sequence[int]:
        """The arrays in what a place holds at the end, and those that these may be, by their ids."""
        own = self.held.get(place.key)
        return own.kin if own is not None else [id(part) for part in reach.arrays(read_through(place))]

    def numpy_of(self, key: Any, place: Place | None) -> tuple[standing.Shown, ...]:
        """The arrays of NumPy's in what a place holds at the end, and those that arrays in it stand for."""
        if place is None or key in self.held:
            return self.held[key].numpy
        return standing.shown(reach.everything(read_through(place)))

    def is_listed(self, key: Any, place: Place | None) -> bool:
        """May a list of bounded length hold an array that is in a place at the end?"""
        return self.held[key].is_listed if place is None or key in self.held else listed.holds(read_through(place))

    def together(self, more: Iterable[tuple[Any, Any]] = ()) -> set[same_containers.Pair]:
        """The places that end with one container, or with two that may be one; `more` are what it left as it was, by key."""
        others = [found for key, value in more if key not in self.objects for found in same_containers.positions(key, value)]
        own = [found for objects in self.objects.values() for found in objects]
        known = same_containers.related(part for _, part in others)
        return same_containers.pairs([*own, *((position, id(part)) for position, part in others)], self.related | known)

    def position(self, key: Any) -> int | None:
        """Where among the outputs the leaves of a place begin; None for a place that was not written."""
        position = len(array_forms(self.result))
        for other, (_, form) in self.ends.items():
            if other == key:
                return position
            position += len(array_forms(form))
        return None

    def changes(self, inputs: Sequence[tuple[Place, Form]]) -> bool:
        """Does it leave anything else in its inputs than it found, or write anything else?"""
        found, variables = {}, iter(self.jaxpr.jaxpr.invars)
        for place, form in inputs:
            found[place.key] = form, [next(variables) for _ in array_forms(form)]
        for key, (_, end) in self.ends.items():
            start = self.position(key)
            form, entered = found.get(key, (None, []))
            left = self.jaxpr.jaxpr.outvars[start : start + len(entered)] if start is not None else []
            if form != end or any(a is not b for a, b in zip(entered, left, strict=True)):
                return True
        return False

    def followed_by(self, function: Ending | None, atoms: Sequence[Any] = (), *, without: Container[Any] = ()) -> Any:
        """The program of the block and of what a function gives of its result, of what it leaves in places, and of further
        values in it, the `atoms`. Without a function the result and what it leaves are its outputs; without some places.
        """
        kept = {key: form for key, (_, form) in self.ends.items() if key not in without}
        positions = list(range(len(array_forms(self.result))))
        for key, form in kept.items():
            start = self.position(key)
            assert start is not None
            positions += range(start, start + len(array_forms(form)))
        outputs = [*(self.jaxpr.jaxpr.outvars[position] for position in positions), *atoms]
        if function is None:
            return made_inside(with_outputs(self.jaxpr, outputs))

        def ending(values: Sequence[Any]) -> list[Any]:
            leaves = iter(values)
            result = unflatten(self.result, leaves)
            return function(result, {key: unflatten(form, leaves) for key, form in kept.items()}, list(leaves))

        whole = followed_by(self.jaxpr, outputs, ending)
        return made_inside(with_outputs(whole, whole.jaxpr.outvars))


class Shares(NamedTuple):
    """A place holds a view of another one's array, by key, or of an array from outside; if `whole`, that array in some turn."""

    key: Any
    base: Any
    whole: bool


class Older(NamedTuple):
    """What a place holds may be one of these containers from before the loop; `given`: it is one that a turn leaves itself."""

    key: Any
    containers: Uncounted
    given: bool
    ways: Mapping[int, same_containers.Ways] = types.MappingProxyType({})  # by their ids: to what in it may be one


class Apart(NamedTuple):
    """What a block is to leave taken apart, though it was there before: places, by key, and objects in places, by id."""

    places: frozenset[Any] = frozenset()
    objects: frozenset[tuple[Any, int]] = frozenset()

    def at(self, key: Any) -> frozenset[int]:
        return frozenset(own for place, own in self.objects if place == key)

    def __or__(self, other: Apart) -> Apart:
        return Apart(self.places | other.places, self.objects | other.objects)


NOT_APART = Apart()


@dataclasses.dataclass
class Aliases:
    """Inputs that hold one array (by key: the place that leads), and pairs of which it is not known."""

    same: dict[Any, Any] = dataclasses.field(default_factory=dict)
    doubtful: set[tuple[Any, Any]] = dataclasses.field(default_factory=set)
    views: list[Shares] = dataclasses.field(default_factory=list)
    held: list[tuple[list[Any], Any]] = dataclasses.field(default_factory=list)  # who holds the array of which place too
    older: list[Older] = dataclasses.field(default_factory=list)
    together: set[same_containers.Pair] = dataclasses.field(default_factory=set)  # positions that may hold one container
    twins: dict[Any, twins.Twins] = dataclasses.field(default_factory=dict)  # by key: arrays that a turn leaves as one
    # By key: what of NumPy's a turn leaves.
    numpy: dict[Any, tuple[standing.Shown, ...]] = dataclasses.field(default_factory=dict)
    listed: set[Any] = dataclasses.field(default_factory=set)  # places in which a turn leaves what lists may hold
    growing: dict[Any, list[Any]] = dataclasses.field(default_factory=dict)  # by key: what may be in a growing list


def trace(
    block: Callable[[], Any],
    functions: tuple[Callable[..., Any] | None, ...],
    watched: Sequence[Place],
    inputs: Sequence[tuple[Place, Form]] = (),
    *,
    arguments: Sequence[Form] = (),
    active: Any = None,
    aliases: Aliases | None = None,
    memory: state.Memory | None = None,
    apart: Apart = NOT_APART,
    axes: Axes = NONE,
    begun: Begun | None = None,
) -> Traced:
    """Trace a block of these functions with some places made abstract. Leaves no trace of itself, also if it raises.

    `watched` are the variables whose end values count; places on the heap are found. `arguments` are further abstract
    values, handed to the block; where `active` (the condition under which the block counts) is None, the last of them is.
    What is to be `apart` is so also where it is still the same. `begun` hears of numbers among the inputs that take a shape.
    Along the `axes` of a mesh not all devices run the block alike.
    """
    recorder = _Recorder(block, functions, watched, inputs, arguments, active, aliases or Aliases(), memory, apart, axes, begun)
    avals = [leaf.aval() for form in [*(f for _, f in inputs), *arguments] for leaf in array_forms(form)]
    recursion.check(block)
    is_first = not state.traces()
    if is_first:
        state.take_escaped()  # of a program that has ended
    with _room_to_recurse(), collecting.seldom() if is_first else contextlib.nullcontext():
        code = next((getattr(original, "__code__", None) for original in originals_of(functions)), None)
        jaxpr = varied(kept.apart(code, lambda: traced(recorder, avals)), axes | state.axes())
    if recorder.calls_library:
        leaked.check(recorder.jax_trace)
    leaves = _leaves(recorder) if recorder.found else {}
    found = _outliving(recorder)
    forgotten = {place.key for place in recorder.found} - {place.key for place in found}
    return Traced(
        _without(forgotten, jaxpr, leaves) if forgotten else jaxpr,
        recorder.result,
        recorder.ends,
        found,
        forgotten,
        raised=recorder.raised,
        handled=recorder.handled,
        held=recorder.held,
        before=recorder.before,
        starts=recorder.starts,
        objects=recorder.objects,
        related=recorder.related,
        twins=recorder.twins,
        outside=recorder.outside,
    )


def _outliving(recorder: _Recorder) -> list[Place]:
    """The places of objects that are still there. What is known of the others is dropped, since it may hold further objects."""
    found = recorder.found
    while len(kept_ones := outliving(found, recorder.ends, recorder.before)) < len(found):
        there = {place.key for place in kept_ones}
        for place in found:
            if place.key not in there:
                recorder.ends[place.key] = place, Static(None)
        found = kept_ones
    for place in found:
        if place.key in recorder.refused:
            raise recorder.refused[place.key]
    return found


def _leaves(recorder: _Recorder) -> dict[Any, int]:
    """How many outputs of a block are of its result and of each place, in their order."""
    counts = {key: len(array_forms(form)) for key, (_, form) in recorder.ends.items()}
    return {RESULT: len(array_forms(recorder.result))} | counts


def _without(forgotten: Container[Any], jaxpr: Any, leaves: Mapping[Any, int]) -> Any:
    """The program that gives nothing of objects that are gone: what a function that was mapped has left in them, say."""
    outputs = iter(jaxpr.jaxpr.outvars)
    own = {key: list(itertools.islice(outputs, count)) for key, count in leaves.items()}
    return with_outputs(jaxpr, [variable for key, variables in own.items() if key not in forgotten for variable in variables])


@contextlib.contextmanager
def _room_to_recurse() -> Iterator[None]:
    """Blocks in blocks cost JAX some 40 frames each, and Python's own limit counts them: 30 early returns are enough."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1000 + 100 * len(state.traces())))
    try:
        yield
    finally:
        sys.setrecursionlimit(limit)


class _Recorder:
    """The function that JAX traces; afterwards it holds the Forms of what came out."""

    def __init__(
        self,
        block: Callable[..., Any],
        functions: tuple[Callable[..., Any] | None, ...],
        watched: Sequence[Place],
        inputs: Sequence[tuple[Place, Form]],
        arguments: Sequence[Form],
        active: Any,
        aliases: Aliases,
        memory: state.Memory | None,
        apart: Apart,
        axes: Axes,
        begun: Begun | None,
    ) -> None:
        self._block, self._functions, self._watched = block, functions, watched
        self._inputs, self._arguments, self._active, self._aliases = inputs, arguments, active, aliases
        self._memory, self._apart, self._axes, self._begun = memory, apart, axes, begun
        self._failures = memory.failures if memory is not None else state.failures()
        self._inside, self._around = state.inside_another(), jax_private.current_trace()
        self._changeable = nnx.changeable(functions)
        self.raised = self.handled = False
        self.starts: dict[Any, int] = {}
        self._entered: list[Any] = []  # kept while the block runs, so that their ids stay theirs
        self._known: dict[int, tuple[Any, Held]] = {}  # by id, while its end is looked at: values, and what they hold
        self.calls_library = False
        self.__name__ = getattr(block, "__name__", "block")
        self.__qualname__ = getattr(block, "__qualname__", "block")

    def __call__(self, *leaves: Any) -> list[Any]:
        remaining = iter(leaves)
        places = [place for place, _ in self._inputs] if self._memory is not None else None
        trace = state.Trace(self._active, places, self._memory, self._failures, self._axes)
        trace.block, trace.inside, trace.around = self._block, self._inside, self._around
        trace.is_turn = self._memory is not None
        self.jax_trace = jax_private.reference_to_trace()
        with state.running(trace):
            try:
                self.before, self.outside, self._pytrees = trace.older, trace.outside, trace.pytrees
                trace.older.update(noted(self._functions) | nnx.enter(self._changeable))
                trace.entered = self._entered
                for place in self._watched:
                    state.note(place)
                starts = self._write_inputs(remaining)
                arguments = [unflatten(form, remaining) for form in self._arguments]
                if arguments and self._active is None:
                    trace.active = arguments.pop()
                opened = state.opened()
                try:
                    result = self._run(arguments)
                except Exception as error:
                    if not checks.in_staged_branch() or not checks.raised_later(error):
                        raise
                    self.raised, result = True, None
                except checks.Raised:
                    self.raised, result = True, None
                self.handled = self.raised and any(state.opened())
                if self._memory is not None:
                    attempts.after_a_turn(opened)
                impure.check_untouched(trace.iterators)
                return self._ends(trace, starts, result)
            except BaseException:  # Ctrl-C and `kept.Again` end it as well
                jax_private.break_off()
                raise
            finally:
                self._entered.clear()
                self._known.clear()
                self.calls_library = trace.calls_library
                for holder in [*(holder for holder, _ in self._aliases.held), *self._aliases.growing.values()]:
                    holder.clear()
                trace.roll_back()

    def _run(self, arguments: Sequence[Any]) -> Any:
        """The block's result. Some errors of Python's own are errors at run time in a branch.

        `old = None` before a loop, `if i > 0: y = x / old` in it: in the first round of tracing ported code old is None.
        So where `self.old` or `d["old"]` is not there yet. `sum(v + k for v in x if v > 0)` before there is a k.
        """
        try:
            return self._block(*arguments)
        except (ValueError, TypeError, NameError, AttributeError, LookupError, ArithmeticError) as error:
            if (refusal := frozen.refusal(error)) is not None:
                raise refusal from None
            if self._memory is not None or not _is_of_run_time(error):
                raise
            raise checks.raised(error, by_python=True) from None

    def _write_inputs(self, leaves: Iterator[Any]) -> dict[Any, Any]:
        starts = {}
        values: dict[Any, Any] = {}
        entered: dict[Any, Any] = {}
        renewed: dict[int, jax.Array] = {}
        turn = views.new_turn()
        joining, together = same_containers.Joining.of(form for _, form in self._inputs), self._together()
        for place, form in self._inputs:
            value = unflatten(form, carried.told(form, leaves, self._begun))
            value = values[place.key] = values.get(self._aliases.same.get(place.key), value)
            before = entered[place.key] = read_through(place)
            for part, old in aliasing.side_by_side(value, before):
                first = renewed.setdefault(id(old), part)
                for other in aliasing.doubtful_with(old):
                    aliasing.doubt(part, renewed.get(id(other), other))
                views.hand_over(part, old, turn)  # whoever holds what the loop enters with would see a write in the first turn
                views.view(part, first)  # of two types, though one array
            standing.note_all(value, [*standing.shown(reach.everything(before)), *self._aliases.numpy.get(place.key, ())])
            aliasing.doubt_buffers(value, before)
            if place.key in self._aliases.listed or listed.holds(before):
                listed.note(value)
            doubt = joining.doubt_contents if isinstance(place, Content) else joining.doubt
            doubt(value, before)
            same_containers.write(place, value)
            self.starts[place.key] = aliasing.identity(value)
            self._entered.append(value)
            # A container that is made anew for each turn may be changed in place: then it is no longer what it was.
            starts[place.key] = _REBUILT if isinstance(form, Tree | Options) else place.read()
        for first, second in self._aliases.doubtful:
            aliasing.doubt(values.get(first), values.get(second))
        made = aliasing.memory_in(values.values()) if self._aliases.views else frozenset[int]()
        for key, base, whole in self._aliases.views:
            apart = made if isinstance(base, aliasing.ARRAYS) else frozenset[int]()
            base = base if isinstance(base, aliasing.ARRAYS) else values.get(base)
            views.view_parts(values.get(key), base, whole_in=views.turn_of(entered.get(key), base, turn) if whole else None)
            aliasing.doubt_buffers(values.get(key), base, apart)
        for key, containers, given, ways in self._aliases.older:
            for container in containers:
                joining.doubt_parts(values.get(key), container, anyway=not given, ways=ways.get(id(container)))
        joining.doubt_together(values, together)
        for key, pairs in self._aliases.twins.items():
            twins.doubt(values.get(key), pairs)
        for holder, key in self._aliases.held:
            holder += [values[key], *aliasing.stand_ins(values[key])]
        for key, holder in self._aliases.growing.items():
            older = [one for own in self._aliases.older if own.key == key for one in own.containers]
            pairs = [pair for pair in self._aliases.together if any(position[0] == key for position in pair)]
            others = [position for pair in pairs for position in pair if position[0] != key]
            if older or others:
                holder.append(joining.stand_in(values, older, others))
        return starts

    def _together(self) -> set[same_containers.Pair]:
        """The inputs that may hold one container: at the entry, or after a turn."""
        if not self._inputs:
            return set()
        entered = [found for place, _ in self._inputs for found in same_containers.positions(place.key, place.read())]
        known = same_containers.related(part for _, part in entered)
        return same_containers.pairs([(position, id(part)) for position, part in entered], known) | self._aliases.together

    def _older_than(self, key: Any, value: Any) -> tuple[Uncounted, dict[int, same_containers.Ways]]:
        """What from before the block the containers may be that it has made, or takes apart; what JAX takes apart is that."""
        if reach.is_plain(value):
            return Uncounted(), {}
        made, ways = same_containers.older_in(value, without=self.before)
        older = Uncounted(container for container in made if id(container) in self.before)
        apart = self._apart.at(key) if self._apart.objects else frozenset[int]()
        for part in reach.everything(value) if apart or self._pytrees else ():
            count = (id(part) in apart) + (id(part) in self._pytrees)
            older += [part] * count
            ways |= {id(part): None} if count else {}
        return older, ways

    def _held(self, key: Any, value: Any) -> Held:
        """What a place holds, which others may hold too."""
        if self._apart.objects:
            return held(value, *self._older_than(key, value))
        if id(value) not in self._known:
            self._known[id(value)] = value, held(value, *self._older_than(key, value))  # a value that is kept keeps its id
        return self._known[id(value)][1]

    def _note_objects(self, key: Any, value: Any, found: dict[int, Any]) -> None:
        self.objects[key], self.twins[key] = [], twins.twins(value)
        for position, part in same_containers.positions(key, value):
            self.objects[key].append((position, id(part)))
            found[id(part)] = part

    def _ends(self, trace: state.Trace, starts: dict[Any, Any], result: Any) -> list[Any]:
        """The leaves of the result and of every place that was written; their Forms are kept.

        A block that raises leaves nothing that anybody would read, but which error it is.
        """
        trace.variables = Shared(trace, self._functions)
        is_new = made_in(trace)
        self.result, leaves = flatten_end(result, self.before, is_new, self._apart.at(RESULT))
        self.ends, self.found, self.refused = {}, [], dict[Any, StructureError]()
        self.held: dict[Any, Held] = {RESULT: held(result, *self._older_than(RESULT, result))}
        containers: dict[int, Any] = {}
        self.objects: dict[Any, list[tuple[same_containers.Position, int]]] = {}
        self.twins: dict[Any, twins.Twins] = {}
        self._note_objects(RESULT, result, containers)
        inputs = {place.key for place, _ in self._inputs}
        known = {place.key for place, _ in self._inputs} | {place.key for place in self._watched}
        heap = [p for p, _ in trace.log.values() if p.found and not references.is_made_since(p.target, trace.serial)]
        kept_inside = KeptInside(self._functions, written(trace))
        kept_inside.check_result(self.result)
        for place in [*(place for place, _ in self._inputs), *self._watched, *heap]:
            if self.raised and not self.handled and not isinstance(place, Carried):
                continue
            key, value = place.key, place.read()
            start = starts[key] if key in starts else trace.log[key][1]
            is_same = _unchanged(place, start, value) and key not in self._apart.places
            if is_same and key not in inputs and is_number(value):  # as most are
                continue
            self.held[key] = self._held(key, value)
            if not is_same or key in inputs:
                self._note_objects(key, value, containers)
            if key in self.ends or is_same:
                continue
            value = taken_from_class(place) if value is UNBOUND else value
            try:
                form, more = flatten_end(value, self.before, is_new, self._apart.at(key))
            except StructureError as error:
                if key in known:
                    raise
                form, more = Static(None), []
                self.refused[key] = error.with_traceback(None)  # unless the block has made for itself what it is in
            kept_inside.check(place, form)
            self.ends[key] = (place, form)
            leaves += more
            if key not in known:
                known.add(key)
                self.found.append(place)
        self.related = same_containers.related(containers.values())
        return leaves


class _Rebuilt:
    pass


_REBUILT = _Rebuilt()


def _unchanged(place: Place, start: Any, value: Any) -> bool:
    """Is this still the same object? Contents are copied when read, so theirs are compared one by one."""
    if start is value or not isinstance(place, Content):
        return start is value
    if type(start) is list and type(value) is list:
        return len(start) == len(value) and all(a is b for a, b in zip(start, value, strict=True))
    if type(start) is dict and type(value) is dict:
        return list(start) == list(value) and all(start[key] is value[key] for key in start)
    if type(start) is frozenset and type(value) is frozenset:
        return set(map(id, start)) == set(map(id, value))
    return type(start) is type(value) and isinstance(start, bytes | str) and start == value


def flatten_end(
    value: Any, older: Container[int], is_new: Callable[[Any], bool], apart: frozenset[int] = frozenset()
) -> tuple[Form, list[Any]]:
    """A value that a block left: what it made is taken apart, an object that was there before (`older`) stays that object.

    But those that are to be `apart`, by id, are taken apart too.
    """
    serial = state.traces()[-1].serial
    _check_no_circle(value, apart, ())

    def whole(part: Any) -> bool:
        return id(part) not in apart and (id(part) in older or references.is_older(part, serial))

    return flatten(value, whole, lambda part: id(part) in apart or is_new(part))


def _check_no_circle(value: Any, apart: frozenset[int], around: tuple[int, ...]) -> None:
    """Refuse to take an object apart that holds itself: `o.next = o`."""
    if id(value) in around:
        raise StructureError(
            f"this {type(value).__name__} holds itself and is changed, and is given where another path gives another object",
            location=user_location(),
            help="let both paths give an object that was there before, or keep its attributes in variables of their own",
        )
    if apart and (id(value) in apart or isinstance(value, list | tuple | dict)):
        for _, part in reach.parts(value):
            _check_no_circle(part, apart, (*around, id(value)))


# What Python's and NumPy's own functions say of values that they are not for: `math.log(n)` where n is 0.
_OF_PLAIN_VALUES = re.compile(
    r"math (domain|range) error|expected a (positive|nonnegative|finite|noninteger or positive) .*|"
    r"expected a number (in range|between) .*|expected argument value .*|"
    r"(\w+\(\) |[kn] )(not defined for|argument must be|must be) .*|"
    r"could not convert string to .*|invalid literal for .*|.*\bnot in (list|tuple|deque)|(substring|subsection) not found|"
    r"empty separator|(max|min)\(\) (iterable argument|arg) is (an )?empty.*|zip\(\) argument \d+ is .*|"
    r"range\(\) arg 3 must not be zero|slice step cannot be zero|cannot convert float .*|negative shift count|"
    r"pop (from (an )?empty .*|index out of range)|chr\(\) arg not in range.*|"
    r"zero-size array to reduction .*|attempt to get arg(max|min) of an empty sequence|Integers to negative integer powers .*|"
    r"Singular matrix|Matrix is not positive definite"
)


def _is_of_run_time(error: Exception) -> bool:
    """Does this error tell of a value that is not there at this moment of tracing, or of a branch that may not run?"""
    match error:
        case NameError():
            return str(error).startswith("cannot access")
        case AttributeError() if not isinstance(error.obj, jax.Array | types.ModuleType | None):
            return is_raised_by_user(error)
        case ZeroDivisionError() | OverflowError():
            return True
        case KeyError():
            return is_raised_by_user(error) or is_raised_for_item(error)
        case IndexError() if is_raised_by_user(error) or is_raised_for_item(error):
            return True
        case ValueError() if re.match("(too many|not enough) values to unpack", str(error)) and is_raised_by_user(error):
            return True
        case ValueError() | IndexError():
            return _OF_PLAIN_VALUES.fullmatch(str(error)) is not None and is_raised_by_a_builtin(error)
    return "NoneType" in str(error) and hooks.is_porting()
