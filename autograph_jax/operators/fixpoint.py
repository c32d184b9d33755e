"""A loop's state settles: entry is joined with the end of the body until nothing moves, then the loop is staged once.

A counter that starts as 0 and becomes a float, a None that becomes an array, a scalar that becomes a vector, an attribute
that a method sets: each shows up when the body is traced, and the body is traced again with what was learnt.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import aliasing, dependence, state
from autograph_jax.operators.choices import UNBOUND, Choice
from autograph_jax.operators.exits import turn_ended
from autograph_jax.operators.forms import (
    Array,
    Form,
    Mismatch,
    Options,
    Static,
    Tree,
    array_forms,
    coerce,
    flatten,
    flatten_inside,
    is_mutable,
    join,
    number_as_array,
    unflatten,
)
from autograph_jax.operators.staging import Aliases, Traced, joined, shown, trace
from autograph_jax.operators.state import Cell, Content, Place
from autograph_jax.operators.writes import writes_last

Block = Callable[..., Any]
_BOOL = Array((), np.dtype(bool))
_NO_EXIT = Static(None)
_MOST_ROUNDS = 16


def settle(
    body: Block,
    functions: tuple[Block | None, ...],
    names: tuple[str, ...],
    *,
    arguments: Sequence[Form] = (),
    gives_more: bool = False,
) -> Settled:
    """Trace a loop's body until its state has one Form, and give that with the body's jaxpr.

    The body returns its exit; with `gives_more`, a tuple of its exit and further values.
    """
    places: list[Place] = state.variables(functions, names) if names else []
    forms = [_start(place) for place in places]
    outer = state.traces()[-1] if state.traces() else None
    key = outer.memory.key(body.__code__) if outer and outer.memory else None
    memory = state.Memory()
    if outer and outer.memory and key in outer.memory.settled:
        last, memory = outer.memory.settled[key]
        _start_from(last, places, forms, outer.inputs)
        memory.next_round()
    exit: Form = _NO_EXIT
    aliases = Aliases()
    for _ in range(_MOST_ROUNDS):
        block = body if gives_more else _alone(body)
        _share(places, forms, aliases)
        inputs = list(zip(places, forms, strict=True))
        traced = trace(block, functions, (), inputs, arguments=[*arguments, _BOOL], aliases=aliases, memory=memory)
        memory.next_round()
        new_forms = [_next(place, form, traced) for place, form in zip(places, forms, strict=True)]
        new_exit = joined("how this loop is left", exit, _exit(traced), before="once by", after="once by")
        settled = new_forms == forms or _only_strengthened(forms, new_forms, traced)
        forms, exit = new_forms, new_exit
        settled = _keep_sharing(aliases, traced) and settled
        if settled and not traced.found:
            entries = [place.read() for place in places]
            if outer and outer.memory:
                last = {_lasting(place): form for place, form in zip(places, forms, strict=True)}
                outer.memory.settled[key] = last, memory
            return Settled(places, forms, exit, traced, entries, len(arguments), aliases.same)
        places, forms = places + traced.found, forms + [_start(place) for place in traced.found]
    raise StagingError(
        "the variables of this loop don't settle: each turn makes something new of them",
        location=user_location(),
        details=["Still changing: " + ", ".join(shown(place) for place in places)],
    )


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


def _alone(body: Block) -> Block:
    def block(*arguments: Any) -> tuple[Any]:
        return (turn_ended(body(*arguments)),)

    block.__name__, block.__qualname__ = body.__name__, body.__qualname__
    return block


def _exit(traced: Traced) -> Form:
    """How a turn ends; what the body gives besides stands after it."""
    return cast(Tree, traced.result).children[0]


def _start(place: Place) -> Form:
    """A Python number that the loop writes is traced from the start: it is a counter, as a rule."""
    take = flatten_inside if isinstance(place, Content) else flatten
    return number_as_array(take(place.read(), is_mutable)[0])


def _next(place: Place, form: Form, traced: Traced) -> Form:
    if place.key not in traced.ends:
        return form
    end = traced.ends[place.key][1]
    return joined(shown(place), form, end, before="it enters this loop as", after="and a turn leaves it as")


def _only_strengthened(old: Sequence[Form], new: Sequence[Form], traced: Traced) -> bool:
    """Did only the weak types of Python numbers go, in a body where that changes no result?

    Where all floats of the body have one dtype and all integers one, a strong float promotes as a weak one does.
    """
    if any(_without_weakness(a) != _without_weakness(b) for a, b in zip(old, new, strict=True)):
        return False
    return dependence.one_precision(traced.jaxpr.jaxpr)


def _without_weakness(form: Form) -> Form:
    return dataclasses.replace(form, weak=False) if isinstance(form, Array) else form


@dataclasses.dataclass
class Settled:
    """A loop's state and its body, ready for lax: `start`, `turn`, `finish`.

    The carry is a dict by the user's names. Leaves that the body hands on unchanged are not carried.
    """

    places: list[Place]
    forms: list[Form]
    exit: Form
    traced: Traced
    entries: list[Any]
    argument_count: int
    same: dict[Any, Any]  # by key: the place whose array a place shares throughout

    def __post_init__(self) -> None:
        self._entry_leaves = [coerce(v, f) for v, f in zip(self.entries, self.forms, strict=True)]
        self._varying = self._find_varying()
        self._labels = _unique([place.name for place in self.places])
        self._tainted = self._find_tainted()
        self._run = writes_last(self.traced.jaxpr)

    @property
    def inputs(self) -> list[tuple[Place, Form]]:
        return list(zip(self.places, self.forms, strict=True))

    @property
    def has_exit(self) -> bool:
        return self.exit != _NO_EXIT

    # What varies, and what depends on traced data

    def _find_varying(self) -> list[list[bool]]:
        """For each place's leaves: does a turn give anything else than it got?"""
        jaxpr = self.traced.jaxpr.jaxpr
        outputs = self._output_positions()
        inputs = iter(jaxpr.invars)
        varying = []
        for place, form in zip(self.places, self.forms, strict=True):
            variables = [next(inputs) for _ in array_forms(form)]
            if place.key not in self.traced.ends or place.key in self.same:
                varying.append([False] * len(variables))
                continue
            end = self.traced.ends[place.key][1]
            positions = outputs[place.key]
            same = end == form and len(positions) == len(variables)
            varying.append(
                [not (same and jaxpr.outvars[p] is v) for p, v in zip(positions, variables, strict=True)]
                if same
                else [True] * len(variables)
            )
        return varying

    def _output_positions(self) -> dict[Any, list[int]]:
        position = len(array_forms(self.traced.result))
        positions = {}
        for key, (_, form) in self.traced.ends.items():
            count = len(array_forms(form))
            positions[key] = list(range(position, position + count))
            position += count
        return positions

    def _find_tainted(self) -> list[bool]:
        """Which input leaves hold data that was traced before the loop, or comes to depend on such data in it?"""
        tainted = [isinstance(entry, jax.Array) or not _is_plain(entry) for entry in self.entries]
        leaves = [t for t, form in zip(tainted, self.forms, strict=True) for _ in array_forms(form)]
        outputs = self._output_positions()
        while True:
            out = dependence.tainted_outputs(self.traced.jaxpr, leaves)
            new, position = list(leaves), 0
            for place, form in zip(self.places, self.forms, strict=True):
                count = len(array_forms(form))
                if any(out[p] for p in outputs.get(place.key, ())):
                    new[position : position + count] = [True] * count
                position += count
            if new == leaves:
                return leaves
            leaves = new

    def exits_on_traced(self) -> bool:
        """Does traced data decide whether this loop is left?"""
        if not self.has_exit:
            return False
        out = dependence.tainted_outputs(self.traced.jaxpr, self._tainted)
        exit_leaves = len(array_forms(_exit(self.traced)))
        return any(out[:exit_leaves])

    def result_on_traced(self) -> bool:
        """Does anything that the body gives, its exit or the next test, depend on traced data?"""
        out = dependence.tainted_outputs(self.traced.jaxpr, self._tainted)
        return any(out[: len(array_forms(self.traced.result))])

    def is_traced(self, condition: Traced) -> bool:
        """Does a test of this state depend on traced data?"""
        return any(dependence.tainted_outputs(condition.jaxpr, self._tainted))

    def only_traced_state(self) -> bool:
        """Would plain Python see every variable of this loop become traced too?

        `fact *= k` and `t += 0.1` stay exact Python numbers in an unrolled loop; staged, they would overflow or round.
        """
        varying = [v for leaves in self._varying for v in leaves]
        return any(varying) and all(t for t, v in zip(self._tainted, varying, strict=True) if v)

    # lax's side

    def start(self) -> dict[str, list[jax.Array]]:
        entries = zip(self._labels, self._entry_leaves, strict=True)
        carry = {label: self._carried(number, leaves) for number, (label, leaves) in enumerate(entries)}
        carry = {label: leaves for label, leaves in carry.items() if leaves}
        if self.has_exit:
            carry["exit"] = coerce(None, self.exit)
        return carry

    def _carried(self, number: int, leaves: Sequence[Any]) -> list[Any]:
        return [leaf for leaf, varies in zip(leaves, self._varying[number], strict=True) if varies]

    def _place_leaves(self, carry: dict[str, Any]) -> list[list[Any]]:
        """Each place's leaves: carried ones from the carry, the others as they were at the entry."""
        filled = []
        for label, entry, varying in zip(self._labels, self._entry_leaves, self._varying, strict=True):
            carried = iter(carry.get(label, ()))
            filled.append([next(carried) if v else leaf for leaf, v in zip(entry, varying, strict=True)])
        return filled

    def leaves(self, carry: dict[str, Any]) -> list[Any]:
        return [leaf for leaves in self._place_leaves(carry) for leaf in leaves]

    def turn(self, carry: dict[str, Any], *arguments: Any, active: Any = True) -> dict[str, Any]:
        return self.turn_with(carry, *arguments, active=active)[0]

    def turn_with(self, carry: dict[str, Any], *arguments: Any, active: Any = True) -> tuple[dict[str, Any], list[Any]]:
        """One turn: the new carry, and what the body gave beside its exit."""
        (exit, *more), ends = self.traced([*self.leaves(carry), *arguments, active], self._run)
        new = {}
        for number, (label, place, form) in enumerate(zip(self._labels, self.places, self.forms, strict=True)):
            if label in carry:
                new[label] = self._carried(number, coerce(ends[place.key], form))
        if self.has_exit:
            new["exit"] = coerce(exit, self.exit)
        return new, more

    def not_left(self, carry: dict[str, Any], going: Any) -> Any:
        """Go on, given the test: unless the body has left."""
        if not self.has_exit:
            return going
        assert isinstance(self.exit, Options)
        here = carry["exit"][0] == self.exit.forms.index(_NO_EXIT)
        return here if going is True else jnp.logical_and(going, here)

    def finish(self, carry: dict[str, Any], *, turns: bool) -> Any:
        """Write what the loop left into its places, and give how it left. `turns`: there surely was a turn."""
        values: dict[Any, Any] = {}
        for place, form, leaves in zip(self.places, self.forms, self._place_leaves(carry), strict=True):
            if place.key in self.traced.ends:
                own = unflatten(form, iter(leaves))
                value = values[place.key] = values.get(self.same.get(place.key), own)
                if not isinstance(place, Content):  # which stays the same object
                    aliasing.doubt_container(value, self.entries[self.places.index(place)])
                state.write(place, self._after_a_turn(place, value) if turns else value)
        return unflatten(self.exit, iter(carry["exit"])) if self.has_exit else None

    def _after_a_turn(self, place: Place, value: Any) -> Any:
        """`best = None` before a loop that runs is no longer None if no turn leaves None."""
        end = self.traced.ends[place.key][1]
        if not isinstance(value, Choice) or isinstance(end, Options):
            return value
        return value.only(lambda option: _fits(option, end))

    @property
    def uses_active(self) -> bool:
        """Does the body ask whether its turn counts (run-time checks, under vmap)?"""
        return dependence.uses(self.traced.jaxpr.jaxpr, self.traced.jaxpr.jaxpr.invars[-1])

    @property
    def uses_index(self) -> bool:
        jaxpr = self.traced.jaxpr.jaxpr
        return dependence.uses(jaxpr, jaxpr.invars[-1 - self.argument_count])


def _is_plain(value: Any) -> bool:
    """Is there no array in it, so that plain Python would go on computing with it exactly?"""
    return value is UNBOUND or not array_forms(flatten(value)[0])


def _fits(option: Any, end: Form) -> bool:
    """Is this option of the kind that a turn leaves?"""
    return flatten(option)[0] == end if isinstance(end, Static) else bool(array_forms(flatten(option)[0]))


def _unique(names: Sequence[str]) -> list[str]:
    """Names for the carry's dict: `x`, and `x (2)` where two places have one name."""
    seen: dict[str, int] = {"exit": 1}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique
