"""A loop's state settles: entry is joined with the end of the body until nothing moves, then the loop is staged once.

A counter that starts as 0 and becomes a float, a None that becomes an array, a scalar that becomes a vector, an attribute
that a method sets: each shows up when the body is traced, and the body is traced again with what was learnt.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import EscapedTracerError, StagingError, user_location
from autograph_jax.loops.axes import NONE, Axes, axes_of
from autograph_jax.operators import hooks
from autograph_jax.operators.effects import attempts
from autograph_jax.operators.effects.failures import Failures, notes_errors_and_calls_python
from autograph_jax.operators.loops import run_turn
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.sequences.several import Several
from autograph_jax.operators.staging import dependence, loop_aliases
from autograph_jax.operators.staging.alike import alike, made_anew, told_by_shape
from autograph_jax.operators.staging.apart import changed_in_a_turn, opened_beside_others
from autograph_jax.operators.staging.blocks import NOT_APART, Aliases, Apart, Traced, trace
from autograph_jax.operators.staging.collectives import refuse
from autograph_jax.operators.staging.mismatches import joined, longer_error, number_unknown, shown
from autograph_jax.operators.staging.remembered import Remembered
from autograph_jax.operators.staging.settled import NO_EXIT, Settled, exit_of
from autograph_jax.operators.tracing import aliasing, state
from autograph_jax.operators.tracing.cells import variables
from autograph_jax.operators.tracing.places import Content, Place, held
from autograph_jax.operators.values import selected
from autograph_jax.operators.values.containers import flatten, flatten_inside, is_mutable
from autograph_jax.operators.values.forms import (
    Array,
    Begun,
    Form,
    Mismatch,
    Options,
    Tree,
    array_forms,
    joining_turns,
    widened,
)
from autograph_jax.operators.values.joins import is_reordered, join, number_as_array

Block = Callable[..., Any]
_BOOL = Array((), np.dtype(bool))
_MOST_ROUNDS = 16
_MOST_LENGTHS = 2
_MOST_NUMBERS = 5
_MOST_DOUBLINGS = 5


def settle(
    body: Block,
    functions: tuple[Block | None, ...],
    names: tuple[str, ...],
    *,
    arguments: Sequence[Form] = (),
    gives_more: bool = False,
    tainted_arguments: bool = False,
    may_grow: int = 0,
    over: Sequence[jax.Array] = (),
    axes: Axes = NONE,
    may_wait: bool = False,
) -> Settled:
    """Trace a loop's body until its state has one Form, and give that with the body's jaxpr.

    The body returns its exit; with `gives_more`, a tuple of its exit and further values. Where the number of turns is known,
    lists `may_grow` in so many, by the same number of elements in each; `over` are the arrays whose rows a turn gets. Along
    `axes` of a mesh devices run different numbers of turns. One that `may_wait` may give `Settled.is_provisional`.
    """
    known = len(arguments), tainted_arguments
    run = _Settling(body, functions, names, arguments, axes, over, gives_more=gives_more, may_grow=may_grow)
    for _ in range(_MOST_ROUNDS):
        if run.is_settled_by_a_round():
            return run.settled(*known)
        if may_wait and run.waits():
            return run.provisional(*known)
        if run.explodes():
            break
    raise StagingError(
        "the variables of this loop don't settle: each turn makes something new of them",
        location=user_location(),
        details=["Still changing: " + ", ".join(shown(place) for place in run.places)],
        help="give each its final type, shape and structure before the loop, or let Python run it: `for x in ag.unroll(xs)`",
    )


class _Settling:
    """The state of a loop, and what is known about it after each round, a trace of the body."""

    def __init__(
        self,
        body: Block,
        functions: tuple[Block | None, ...],
        names: tuple[str, ...],
        arguments: Sequence[Form],
        axes: Axes,
        over: Sequence[jax.Array],
        *,
        gives_more: bool,
        may_grow: int,
    ) -> None:
        self._block = body if gives_more else _alone(body)
        self._functions, self._arguments, self._over = functions, arguments, over
        self.places: list[Place] = variables(functions, names) if names else []
        self._forms = [_start(place) for place in self.places]
        self._axes = axes | state.axes()
        self._exit: Form = NO_EXIT
        self._aliases = Aliases()
        self._apart = NOT_APART
        self._longer = collections.Counter[Any]()  # by key: how often an array has become longer
        self._sizes = collections.Counter[Any]()  # by key: of how many leaves and options a place is
        self._doubled = collections.Counter[Any]()  # in how many rounds one after the other it has become twice as many
        self._turns = may_grow
        self._growing: dict[Any, lists.Growth] | None = {} if may_grow else None
        self._at_entry: Any = None  # what the last trace gave in which the growing lists were as the loop enters with them
        self._memory = state.Memory()
        self._last: Remembered | None = None
        self._begin_from_last_time(body)
        self._begun: Begun | None = Begun()
        self._around = None if attempts.may_handle_a_loop() else state.failures()
        self._memory.failures = None if self._memory.raises_at_once else self._around or Failures()
        if self._last is not None:
            self._last.begin(functions, self.places, self._forms, self._aliases, self._memory.failures, _start)

    def _begin_from_last_time(self, body: Block) -> None:
        """Where the body of a loop around is traced once more, begin where this one settled in it before."""
        self._outer = outer = state.traces()[-1].memory if state.traces() else None
        self._kept = outer.settled if outer else {}
        self._key = outer.key(body.__code__) if outer else None
        if self._key in self._kept:
            self._last, self._memory = self._kept[self._key]
            self._memory.next_round()
        self._memory.is_repeated = True

    def is_settled_by_a_round(self) -> bool:
        """Trace the body once more; did its state stay as it was?"""
        memory, places = self._memory, self.places
        self._before, memory.is_provisional = list(self._forms), False
        loop_aliases.share(places, self._forms, self._aliases)
        if memory.failures is not None and memory.failures is not self._around:
            memory.failures.begin()
        around = aliasing.around(self._functions, places, self._over)
        try:
            self._traced = traced = self._trace()
        except Exception as error:
            if not memory.is_provisional or isinstance(error, EscapedTracerError):
                state.escape()
                raise
            state.take_escaped()
            memory.is_repeated = False  # types that were to become others may have raised it: no loop in here waits any more
            memory.next_round()
            return False
        memory.next_round()
        if notes_errors_and_calls_python(traced.jaxpr.jaxpr, traced.ends, memory.failures):
            memory.failures, memory.raises_at_once = None, True
            return False
        with joining_turns():
            same = self._take_over(traced) and not memory.is_provisional
        apart, self._apart = self._apart, self._apart | self._changed(traced)
        same = apart == self._apart and same
        same = loop_aliases.keep_sharing(self._aliases, traced) and same
        around = around.with_arrays(traced.outside.values())
        same = not loop_aliases.taken_as_views(traced, around, places, self._aliases) and same
        same = not loop_aliases.taken_from_numpy(traced, around, places, self._aliases) and same
        same = not loop_aliases.taken_from_before(traced, self._aliases) and same
        same = not loop_aliases.held_together(traced, self._growing or {}, self._aliases) and same
        same = not loop_aliases.taken_from_lists(traced, self._aliases) and same
        same = not loop_aliases.put_into_lists(places, traced, self._growing or {}, self._aliases) and same
        if same and not traced.found and self._begun is not None and self._begun.has_spread:
            self._begun = None  # a number that stays one has taken an array's shape: that is for the next round to refuse
            return False
        if same and not traced.found:
            return not self._growing or self._is_of_any_length(self._growing)
        self.places = places + traced.found
        self._forms = self._forms + self._found(traced)
        return False

    def waits(self) -> bool:
        """Is it enough for now to know the types that the first round has found, since the loop around is traced once more?

        A loop that holds others waits for that. If it settled at once, so would each one around it, and each would trace all
        that are in it: d loops in one another would be traced d * (d + 3) / 2 times.
        """
        if self._last is not None or self._outer is None or not self._outer.is_repeated or not self._memory.settled:
            return False
        is_traced_anew = not state.inside_another() and not any(trace.inside for trace in state.traces())
        is_plain = not self._growing and not self._traced.found and self._exit == NO_EXIT and not self._axes
        raises = self._memory.failures is not None and bool(self._memory.failures.known)
        return is_traced_anew and is_plain and not raises and self._has_other_types()

    def _has_other_types(self) -> bool:
        """Has the round changed types of arrays, and nothing else?"""
        if self._forms == self._before:
            return False
        return list(map(_without_types, self._forms)) == list(map(_without_types, self._before))

    def explodes(self) -> bool:
        """Has something become twice as large in each of the last rounds: `s += "a" if x > i else "b"`?"""
        for place, form in zip(self.places, self._forms, strict=True):
            before, self._sizes[place.key] = self._sizes[place.key], _size(form)
            is_twice = self._sizes[place.key] >= 2 * before > 0
            self._doubled[place.key] = self._doubled[place.key] + 1 if is_twice else 0
        return max(self._doubled.values(), default=0) >= _MOST_DOUBLINGS

    def _is_of_any_length(self, growing: dict[Any, lists.Growth]) -> bool:
        """Does a turn do the same in a longer list as in one as it enters? First all settles as the loop enters with it."""
        are_longer = not any(growth.is_as_entered for growth in growing.values())
        if are_longer and alike(self._at_entry, self._traced, without=growing):
            self._check_elements(growing)
            return True
        if are_longer and self._at_entry.jaxpr.in_avals == self._traced.jaxpr.in_avals:
            raise lists.not_known()
        self._at_entry = self._traced
        for number, place in enumerate(self.places):
            if (growth := growing.get(place.key)) is not None:
                growth.lengthen(as_entered=are_longer)  # once more, where something else has become another one since
                self._forms[number] = growth.start(cast(Tree, self._forms[number]).kind)
        return False

    def _check_elements(self, growing: dict[Any, lists.Growth]) -> None:
        """Refuse objects that each turn makes anew and that no array stands for: `buckets.append(set())`."""
        for key, growth in growing.items():
            first, second = (growth.new_items(traced.ends[key][1]) for traced in (self._at_entry, self._traced))
            if any(map(made_anew, first, second)):
                raise lists.objects_made()

    def _trace(self) -> Traced:
        inputs = list(zip(self.places, self._forms, strict=True))
        given = [widened(form, self._axes) for form in (*self._arguments, _BOOL)]
        self._begun = Begun() if self._begun is not None else None
        how = {"aliases": self._aliases, "memory": self._memory, "axes": self._axes, "apart": self._apart, "begun": self._begun}
        return trace(self._block, self._functions, (), inputs, arguments=given, **how)

    def _take_over(self, traced: Traced) -> bool:
        """Join the state with what a turn has left; is it the same as before?"""
        forms = _next_forms(self.places, self._forms, traced, self._growing, self._turns)
        exit = joined("how this loop is left", self._exit, exit_of(traced), before="once by", after="once by")
        loop_aliases.check_replaced(self.places, self._forms, forms, traced)
        axes = self._axes | _axes_of_end(exit, self.places, forms, traced, self._memory.failures)
        forms = [widened(form, axes) for form in forms]
        self._check_lengths(forms)
        same = (forms == self._forms or _only_strengthened(self._forms, forms, traced)) and axes == self._axes
        self._forms, self._exit, self._axes = forms, widened(exit, axes), axes
        return same

    def _check_lengths(self, forms: Sequence[Form]) -> None:
        """Refuse arrays that are longer after each turn; one that is longer after the first may stay so.

        A list of several lengths may have one more after each of some turns, and of all, where their number is known.
        """
        for place, before, form in zip(self.places, self._forms, forms, strict=True):
            if isinstance(place.target, Several):
                self._longer[place.key] += _numbers(form) > _numbers(before)
                if self._longer[place.key] > _MOST_NUMBERS and not self._turns:
                    raise lists.number_unknown(shown(place))
                continue
            self._longer[place.key] += selected.is_longer(before, form)
            if self._longer[place.key] > _MOST_LENGTHS:
                raise longer_error(shown(place))

    def _changed(self, traced: Traced) -> Apart:
        forms = {place.key: form for place, form in zip(self.places, self._forms, strict=True)}
        return changed_in_a_turn(forms, traced)

    def _found(self, traced: Traced) -> list[Form]:
        """What the places that a turn has found hold: what they enter with, or what this turn has left there."""
        starts = [_start(place) for place in traced.found]
        forms = [_or_left(place, form, traced) for place, form in zip(traced.found, starts, strict=True)]
        loop_aliases.check_replaced(traced.found, starts, forms, traced)
        return [widened(form, self._axes) for form in forms]

    def provisional(self, arguments: int, tainted_arguments: bool) -> Settled:
        """What the rest of a round of the loop around is traced with; there is to be another round."""
        assert self._outer is not None
        self._outer.is_provisional = True
        settled = self._so_far(arguments, tainted_arguments)
        settled.is_provisional = True
        return settled

    def _so_far(self, arguments: int, tainted_arguments: bool) -> Settled:
        growing = self._growing or {}
        entries = [growing[place.key].entered() if place.key in growing else held(place) for place in self.places]
        if self._key is not None:
            last = Remembered(self._functions, self.places, self._forms, self._aliases, self._memory.failures, growing)
            self._kept[self._key] = last, self._memory
        known = arguments, tainted_arguments, self._aliases, growing
        errors = self._memory.failures, self._memory.failures is self._around
        return Settled(self.places, self._forms, self._exit, self._traced, entries, *known, *errors, self._axes)

    def settled(self, arguments: int, tainted_arguments: bool) -> Settled:
        settled = self._so_far(arguments, tainted_arguments)
        refuse(self._traced.jaxpr.jaxpr, self._axes - state.axes(), "how often this loop turns")
        begun = [number is not None for number in settled.numbers()]
        settled.told_by_shape = any(begun) and not hooks.is_porting() and self._is_told_by_shape(begun)
        return settled

    def _is_told_by_shape(self, begun: Sequence[bool]) -> bool:
        """Does a turn do something else with numbers for the arrays of the state that have `begun` as such?

        Not known, and not asked further, where branches or loops in it cannot join such a number, which is traced here, and
        where it notes errors, whose numbers in the program are those of one trace.
        """
        if self._memory.failures is not None and self._memory.failures.known:
            return False
        leaves = iter(begun)
        inputs = [(place, _with_numbers(form, leaves)) for place, form in zip(self.places, self._forms, strict=True)]
        numbers = {place.key for (place, form), before in zip(inputs, self._forms, strict=True) if form != before}
        if not numbers:
            return False
        given = [widened(form, self._axes) for form in (*self._arguments, _BOOL)]
        how = {"aliases": self._aliases, "memory": state.Memory(), "axes": self._axes, "apart": self._apart}
        try:
            traced = trace(self._block, self._functions, (), inputs, arguments=given, **how)
        except Exception:
            return False
        return told_by_shape(self._traced, traced, begun, to_numbers=numbers)


def _with_numbers(form: Form, begun: Iterator[bool]) -> Form:
    """The same with a number's shape for each leaf that was one before the loop."""
    match form:
        case Array():
            return dataclasses.replace(form, shape=()) if next(begun) else form
        case Tree(kind, children):
            return Tree(kind, tuple(_with_numbers(child, begun) for child in children))
        case Options(options, axes):
            next(begun)  # which of them it is
            return Options(tuple(_with_numbers(option, begun) for option in options), axes)
    return form


def settle_with_test(
    test: Block, body: Block, functions: tuple[Block | None, ...], names: tuple[str, ...], *, may_wait: bool = False
) -> tuple[Settled, Traced]:
    """The state of a while loop, and its test traced with it. Where the test varies over axes of a mesh, so does the state."""
    axes = NONE
    while True:
        settled = settle(body, functions, names, axes=axes, may_wait=may_wait)
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


def _alone(body: Block) -> Block:
    def block(*arguments: Any) -> tuple[Any]:
        return (run_turn(body, *arguments),)

    block.__name__, block.__qualname__ = body.__name__, body.__qualname__
    return block


def _start(place: Place) -> Form:
    """A Python number that the loop writes is traced from the start: it is a counter, as a rule."""
    take = flatten_inside if isinstance(place, Content) else flatten
    return number_as_array(take(held(place), is_mutable)[0])


def _or_left(place: Place, start: Form, traced: Traced) -> Form:
    left = traced.ends[place.key][1]
    if not _grows(place, start, left) and not (isinstance(place, Content) and is_reordered(start, left)):
        with contextlib.suppress(Mismatch):  # which is told when the place is known from the beginning
            return join(start, left)
    return start


def _grows(place: Place, form: Form, end: Form) -> bool:
    """Does a turn make a list or tuple longer? What a list of several lengths holds is one more of them."""
    return lists.is_longer(form, end) and not isinstance(place.target, Several)


def _numbers(form: Form) -> int:
    """Of how many lengths a list may be."""
    return len(form.forms) if isinstance(form, Options) else 1


def _size(form: Form) -> int:
    """Of how many leaves and options something is."""
    match form:
        case Tree(_, children):
            return sum(map(_size, children))
        case Options(options):
            return 1 + sum(map(_size, options))
    return 1


def _next_forms(
    places: Sequence[Place],
    forms: Sequence[Form],
    traced: Traced,
    growing: dict[Any, lists.Growth] | None,
    turns: int,
) -> list[Form]:
    """The state as the next trace of the body finds it: what it was joined with what the turn has left."""
    new, first = [], 0
    for place, form in zip(places, forms, strict=True):
        count = len(array_forms(form))
        new.append(_next(place, form, traced, first, growing, turns))
        first += count
    results = [traced.result, *(end for key, (_, end) in traced.ends.items() if key not in (growing or ()))]
    if growing and any(map(lists.holds_earlier, results)):
        raise lists.not_known()
    return new


def _next(place: Place, form: Form, traced: Traced, first: int, growing: dict[Any, lists.Growth] | None, turns: int) -> Form:
    if place.key not in traced.ends:
        return form
    end = traced.ends[place.key][1]
    if growing is not None and place.key in growing:
        return growing[place.key].next(end, *_variables(place, form, traced, first))
    if _grows(place, form, end):
        if growing is None:
            raise number_unknown(shown(place), form, end, place.target)
        growth = growing[place.key] = lists.Growth(place.read(), turns)
        return growth.start(cast(Tree, end).kind)
    if (opened := opened_beside_others(place, form, end, traced)) is not None:
        return opened
    told = {"before": "it enters this loop as", "after": "and a turn leaves it as"}
    return joined(shown(place), form, end, place=place, **told)


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
    leaves = [leaf for pair in zip(old, new, strict=True) for leaf in zip(*map(array_forms, pair), strict=True)]
    changed = [after.dtype for before, after in leaves if before != after]
    kinds = {jnp.inexact if jnp.issubdtype(dtype, jnp.inexact) else jnp.integer for dtype in changed}
    return dependence.one_precision(traced.jaxpr.jaxpr, *kinds)


def _without_weakness(form: Form) -> Form:
    return _with_each(form, lambda array: dataclasses.replace(array, weak=False))


def _without_types(form: Form) -> Form:
    return _with_each(form, lambda array: dataclasses.replace(array, dtype=_BOOL.dtype, weak=False))


def _with_each(form: Form, replaced: Callable[[Array], Array]) -> Form:
    """The same with other arrays."""
    match form:
        case Array():
            return replaced(form)
        case Tree(kind, children):
            return Tree(kind, tuple(_with_each(child, replaced) for child in children))
        case Options(options, axes):
            return Options(tuple(_with_each(option, replaced) for option in options), axes)
    return form
