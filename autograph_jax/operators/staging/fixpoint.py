"""A loop's state settles: entry is joined with the end of the body until nothing moves, then the loop is staged once.

A counter that starts as 0 and becomes a float, a None that becomes an array, a scalar that becomes a vector, an attribute
that a method sets: each shows up when the body is traced, and the body is traced again with what was learnt.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import numpy as np

from autograph_jax.errors import AliasError, StagingError, user_location
from autograph_jax.loops.axes import NONE, Axes, axes_of
from autograph_jax.operators.effects import attempts
from autograph_jax.operators.effects.failures import Failures, notes_errors_and_calls_python
from autograph_jax.operators.loops import run_turn
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.staging import dependence
from autograph_jax.operators.staging.blocks import RESULT, Aliases, Traced, joined, shown, trace
from autograph_jax.operators.staging.collectives import refuse
from autograph_jax.operators.staging.settled import NO_EXIT, Settled, exit_of
from autograph_jax.operators.tracing import aliasing, holders, reach, state
from autograph_jax.operators.tracing.cells import variables
from autograph_jax.operators.tracing.places import Cell, Content, Place
from autograph_jax.operators.values.containers import flatten, flatten_inside, is_mutable
from autograph_jax.operators.values.forms import Array, Form, Mismatch, Options, Static, Tree, array_forms, widened
from autograph_jax.operators.values.joins import join, number_as_array

Block = Callable[..., Any]
_BOOL = Array((), np.dtype(bool))
_MOST_ROUNDS = 16


def settle(
    body: Block,
    functions: tuple[Block | None, ...],
    names: tuple[str, ...],
    *,
    arguments: Sequence[Form] = (),
    gives_more: bool = False,
    tainted_arguments: bool = False,
    may_grow: bool = False,
    axes: Axes = NONE,
) -> Settled:
    """Trace a loop's body until its state has one Form, and give that with the body's jaxpr.

    The body returns its exit; with `gives_more`, a tuple of its exit and further values. Where the number of turns is known,
    lists `may_grow` by the same number of elements in each. Along `axes` of a mesh devices run different numbers of turns.
    """
    places: list[Place] = variables(functions, names) if names else []
    forms = [_start(place) for place in places]
    axes |= state.axes()
    outer = state.traces()[-1] if state.traces() else None
    key = outer.memory.key(body.__code__) if outer and outer.memory else None
    memory = state.Memory()
    if outer and outer.memory and key in outer.memory.settled:
        last, memory = outer.memory.settled[key]
        _start_from(last, places, forms, outer.inputs)
        memory.next_round()
    around = None if attempts.may_handle_a_loop() else state.failures()
    memory.failures = None if memory.raises_at_once else around or Failures()
    exit: Form = NO_EXIT
    aliases = Aliases()
    growing: dict[Any, lists.Growth] | None = {} if may_grow else None
    for _ in range(_MOST_ROUNDS):
        block = body if gives_more else _alone(body)
        _share(places, forms, aliases)
        if memory.failures is not None and memory.failures is not around:
            memory.failures.begin()
        outer_arrays = aliasing.arrays_around(functions, places)
        inputs = list(zip(places, forms, strict=True))
        given = [widened(form, axes) for form in (*arguments, _BOOL)]
        traced = trace(block, functions, (), inputs, arguments=given, aliases=aliases, memory=memory, axes=axes)
        memory.next_round()
        if notes_errors_and_calls_python(traced.jaxpr.jaxpr, traced.ends, memory.failures):
            memory.failures, memory.raises_at_once = None, True
            continue
        new_forms = _next_forms(places, forms, traced, growing)
        new_exit = joined("how this loop is left", exit, exit_of(traced), before="once by", after="once by")
        _check_replaced(places, forms, new_forms, traced)
        new_axes = axes | _axes_of_end(new_exit, places, new_forms, traced, memory.failures)
        new_forms = [widened(form, new_axes) for form in new_forms]
        new_exit = widened(new_exit, new_axes)
        settled = (new_forms == forms or _only_strengthened(forms, new_forms, traced)) and new_axes == axes
        axes = new_axes
        forms, exit = new_forms, new_exit
        settled = _keep_sharing(aliases, traced) and settled
        settled = not _taken_as_views(traced, outer_arrays, places, aliases) and settled
        settled = not _put_into_lists(places, traced, growing or {}, aliases) and settled
        if settled and not traced.found:
            entries = [place.read() for place in places]
            for number, place in enumerate(places):
                if growing and place.key in growing:
                    entries[number] = growing[place.key].entered()
            if outer and outer.memory:
                kept = zip(places, forms, strict=True)
                last = {_lasting(place): form for place, form in kept if not _holds_object(form)}
                outer.memory.settled[key] = last, memory
            refuse(traced.jaxpr.jaxpr, axes - state.axes(), "how often this loop turns")
            known = len(arguments), tainted_arguments
            shared = aliases.same, aliases.views
            errors = memory.failures, memory.failures is around
            return Settled(places, forms, exit, traced, entries, *known, *shared, growing or {}, *errors, axes)
        places, forms = places + traced.found, forms + [_start(place) for place in traced.found]
    raise StagingError(
        "the variables of this loop don't settle: each turn makes something new of them",
        location=user_location(),
        details=["Still changing: " + ", ".join(shown(place) for place in places)],
    )


def settle_with_test(
    test: Block, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...]
) -> tuple[Settled, Traced]:
    """The state of a while loop, and its test traced with it. Where the test varies over axes of a mesh, so does the state."""
    axes = NONE
    while True:
        settled = settle(body, functions, names, axes=axes)
        condition = trace(test, functions, (), settled.inputs, axes=settled.axes)
        axes = settled.axes.union(*(leaf.axes for leaf in array_forms(condition.result)))
        if axes == settled.axes:
            refuse(condition.jaxpr.jaxpr, axes - state.axes(), "how often this loop turns")
            return settled, condition


def _axes_of_end(exit: Form, places: Sequence[Place], forms: Sequence[Form], traced: Traced, failures: Any) -> Axes:
    """The axes over which varies what a turn gives of whether there is another: an exit, a test, an error."""
    deciding = [leaf.axes for leaf in array_forms(exit)[:1]]
    deciding += [leaf.axes for form in cast(Tree, traced.result).children[1:] for leaf in array_forms(form)]
    if failures is not None:
        codes = [form for place, form in zip(places, forms, strict=True) if place.key == failures.code.key]
        deciding += [leaf.axes for form in codes for leaf in array_forms(form)] or [axes_of(failures.code.read())]
    return NONE.union(*deciding)


def _start_from(last: dict[Any, Form], places: list[Place], forms: list[Form], around: Sequence[Place]) -> None:
    """Begin where this loop settled when the body around it was last traced; Forms there have only grown since."""
    known = {place.key for place in places}
    for place in around:
        if _lasting(place) in last and place.key not in known and not isinstance(place, Cell):
            places.append(place)
            forms.append(_start(place))
    for number, (place, form) in enumerate(zip(places, forms, strict=True)):
        if _lasting(place) in last:
            with contextlib.suppress(Mismatch):
                forms[number] = join(form, last[_lasting(place)])


def _holds_object(form: Form) -> bool:
    """Is there an object in it that would be kept alive? Whether a block's own objects are gone tells what is state."""
    match form:
        case Static(value):
            return is_mutable(value)
        case Tree(_, children) | Options(children):
            return any(map(_holds_object, children))
    return False


def _lasting(place: Place) -> Any:
    """A key that outlasts a round: a variable inside the body around has a new cell in each."""
    return place.name if isinstance(place, Cell) else place.key


def _share(places: Sequence[Place], forms: Sequence[Form], aliases: Aliases) -> None:
    """Places that enter a loop with one array are one input: `prev = cur` before it, `cur[0] = x` in it."""
    leaders: dict[tuple[int, Form], Any] = {}
    for place, form in zip(places, forms, strict=True):
        entry = place.read()
        if not isinstance(entry, jax.Array) or not isinstance(form, Array):
            continue
        leader = leaders.setdefault((id(entry), form), place.key)
        if leader != place.key and (leader, place.key) not in aliases.doubtful:
            aliases.same[place.key] = leader


def _keep_sharing(aliases: Aliases, traced: Traced) -> bool:
    """Do places that were one array at the start of a turn end as one? If not, they may be one or two: doubtful."""
    parted = [key for key, leader in aliases.same.items() if traced.ids.get(key) != traced.ids.get(leader)]
    for key in parted:
        aliases.doubtful.add((aliases.same.pop(key), key))
    return not parted


def _check_replaced(places: Sequence[Place], forms: Sequence[Form], new_forms: Sequence[Form], traced: Traced) -> None:
    """Refuse a loop that changes an object in place and also gives its variable another, if somebody else holds the first.

    From the second turn on nobody can say which of the two the variable holds; the first would not show the change.
    """
    changed = [place for place, _ in traced.ends.values() if place.target is not None]
    for place, form, new in zip(places, forms, new_forms, strict=True):
        if not isinstance(form, Static) or not isinstance(new, Tree | Options) or not is_mutable(form.value):
            continue
        inside = {id(part) for part in reach.everything(form.value)}
        if any(id(write.target) in inside and holders.held_elsewhere(write, place) for write in changed):
            raise AliasError(
                f"what `{place.name}` holds is changed in this loop, and `{place.name}` is given another object as well",
                location=user_location(),
                details=["Something else holds the first object too, and would have to show the change."],
                help="make a copy before the loop, `copy.copy(x)`; or return what changes instead of writing it",
            )


def _taken_as_views(traced: Traced, outer: dict[int, jax.Array], places: Sequence[Place], aliases: Aliases) -> bool:
    """Does a turn leave in a place a view, `row = m[i]`, or an array that is held elsewhere: `e = a`, `prev = cur`?

    Then the next turn, and what comes after the loop, begin with one.
    """
    before = len(aliases.views)
    for key in [*traced.ends, RESULT]:
        for base in _shared(key, traced, outer, places):
            if isinstance(base, jax.Array) or key != base and aliases.same.get(key) != base and aliases.same.get(base) != key:
                _add_view(key, base, aliases)
    return len(aliases.views) > before


def _shared(key: Any, traced: Traced, outer: dict[int, jax.Array], places: Sequence[Place]) -> Iterator[Any]:
    """Whose memory a turn leaves in a place: that of other places, by key, or arrays from before the loop."""
    entries = {traced.starts[place.key]: place for place in places if place.key in traced.starts}
    keys = [place.key for place in [*places, *traced.found] if place.key in traced.ends]
    for base in traced.parts.get(key, ()):
        yield from (other for other in keys if traced.ids[other] == base)
        if base in outer:
            yield outer[base]
        if base in entries and entries[base].key != key and isinstance(entry := entries[base].read(), jax.Array):
            yield entry


def _add_view(key: Any, base: Any, aliases: Aliases) -> None:
    is_array = isinstance(base, jax.Array)
    known = [other for place, other in aliases.views if place == key and isinstance(other, jax.Array) == is_array]
    if not any(base is other if is_array else base == other for other in known):
        aliases.views.append((key, base))


def _put_into_lists(places: Sequence[Place], traced: Traced, growing: dict[Any, lists.Growth], aliases: Aliases) -> bool:
    """Has a turn put a variable's own array into a growing list? The next turn's writes would show there: `path.append(x)`."""
    before = len(aliases.held)
    outputs = traced.jaxpr.jaxpr.outvars
    for key, growth in growing.items():
        start = traced.position(key) or 0
        new = [outputs[start + n] for n in growth.new_leaves()]
        for place in places:
            position = traced.position(place.key)
            is_array = position is not None and isinstance(traced.ends[place.key][1], Array)
            if is_array and any(outputs[position] is v for v in new) and (growth.holder, place.key) not in aliases.held:
                aliases.held.append((growth.holder, place.key))
    return len(aliases.held) > before


def _alone(body: Block) -> Block:
    def block(*arguments: Any) -> tuple[Any]:
        return (run_turn(body, *arguments),)

    block.__name__, block.__qualname__ = body.__name__, body.__qualname__
    return block


def _start(place: Place) -> Form:
    """A Python number that the loop writes is traced from the start: it is a counter, as a rule."""
    take = flatten_inside if isinstance(place, Content) else flatten
    return number_as_array(take(place.read(), is_mutable)[0])


def _next_forms(
    places: Sequence[Place], forms: Sequence[Form], traced: Traced, growing: dict[Any, lists.Growth] | None
) -> list[Form]:
    """The state as the next trace of the body finds it: what it was joined with what the turn has left."""
    new, first = [], 0
    for place, form in zip(places, forms, strict=True):
        count = len(array_forms(form))
        new.append(_next(place, form, traced, first, growing))
        first += count
    results = [traced.result, *(end for key, (_, end) in traced.ends.items() if key not in (growing or ()))]
    if growing and any(map(lists.holds_earlier, results)):
        raise lists.not_known()
    return new


def _next(place: Place, form: Form, traced: Traced, first: int, growing: dict[Any, lists.Growth] | None) -> Form:
    if place.key not in traced.ends:
        return form
    end = traced.ends[place.key][1]
    if growing is not None and place.key in growing:
        return growing[place.key].next(end, *_variables(place, form, traced, first))
    if lists.is_longer(form, end):
        if growing is None:
            raise lists.number_unknown(shown(place))
        growth = growing[place.key] = lists.Growth(place.read())
        return growth.start(cast(Tree, end).kind)
    return joined(shown(place), form, end, before="it enters this loop as", after="and a turn leaves it as")


def _variables(place: Place, form: Form, traced: Traced, first: int) -> tuple[list[Any], list[Any]]:
    """The jaxpr's variables of what a turn finds in a place, and of what it leaves there."""
    jaxpr, start = traced.jaxpr.jaxpr, traced.position(place.key)
    assert start is not None
    left = len(array_forms(traced.ends[place.key][1]))
    return jaxpr.invars[first : first + len(array_forms(form))], jaxpr.outvars[start : start + left]


def _only_strengthened(old: Sequence[Form], new: Sequence[Form], traced: Traced) -> bool:
    """Did only the weak types of Python numbers go, in a body where that changes no result?

    Where all floats of the body have one dtype and all integers one, a strong float promotes as a weak one does.
    """
    if any(_without_weakness(a) != _without_weakness(b) for a, b in zip(old, new, strict=True)):
        return False
    return dependence.one_precision(traced.jaxpr.jaxpr)


def _without_weakness(form: Form) -> Form:
    return dataclasses.replace(form, weak=False) if isinstance(form, Array) else form
