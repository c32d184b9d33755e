"""A loop whose state has settled, ready for lax: how it starts, what a turn does, and what it leaves."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, cast

import jax
import jax.core
import jax.numpy as jnp

from autograph_jax.errors import StructureError
from autograph_jax.loops import spread
from autograph_jax.loops.axes import Axes, vary
from autograph_jax.loops.lent import lent
from autograph_jax.loops.loop import chosen, merged
from autograph_jax.loops.overflows import overflowing
from autograph_jax.loops.spread import Spread
from autograph_jax.loops.turns import Turn
from autograph_jax.operators import decisions, hooks, loop_options
from autograph_jax.operators.effects import attempts, checks
from autograph_jax.operators.effects.failures import Carried, Failures, errors_are_values
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.staging import dependence
from autograph_jax.operators.staging.blocks import RESULT, Aliases, Traced
from autograph_jax.operators.staging.mismatches import is_users, mismatch_error, shown
from autograph_jax.operators.tracing import aliasing, listed, reach, same_containers, standing, state, twins, views
from autograph_jax.operators.tracing.places import Aside, Content, Place
from autograph_jax.operators.values import references
from autograph_jax.operators.values.choices import UNBOUND, Choice
from autograph_jax.operators.values.containers import expanded, flatten, flatten_inside, is_mutable, unflatten
from autograph_jax.operators.values.forms import Array, Form, Mismatch, Number, Options, Static, Tree, array_forms
from autograph_jax.operators.values.joins import coerce, join
from autograph_jax.porting.numbers import bounded

NO_EXIT = Static(None)


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
    tainted_arguments: bool  # do these, all but the index, come from traced data?
    aliases: Aliases  # places that share an array throughout, or may, and what from before a turn leaves in them
    growing: dict[Any, lists.Growth]  # by key: the lists that get longer
    failures: Failures | None  # what it raises when it is over
    hands_on: bool  # to the loop around, which raises it then
    axes: Axes  # of a mesh: along these devices run different numbers of turns
    told_by_shape: bool = False  # does a turn do something else with the number 0 than with an array of zeros?
    is_provisional: bool = False  # has it types alone, for a round of the loop around that is made once more?

    def __post_init__(self) -> None:
        self._most: int | None = None  # the largest index of a turn, if it is known
        self._entry_leaves = [coerce(v, f) for v, f in zip(self.entries, self.forms, strict=True)]
        self._varying = self._find_varying()
        self._labels = _unique([place.name for place in self.places])
        self._tainted = self._find_tainted()
        self.body = Turn(self.traced.jaxpr, loop_options.current().optimizations)

    @property
    def inputs(self) -> list[tuple[Place, Form]]:
        return list(zip(self.places, self.forms, strict=True))

    @property
    def has_exit(self) -> bool:
        return self.exit != NO_EXIT

    @property
    def is_caught(self) -> bool:
        """Does a `try` around it go on where an error has ended it?"""
        return self.failures is not None and attempts.catches(self.failures)

    def tell(self, how: str, *, since: float, turns: int | None = None) -> None:
        """Say, to whoever listens, how this loop is staged, and what it carries."""
        carried = [number for number, varying in enumerate(self._varying) if any(varying) and is_users(self.places[number])]
        names, forms = [self._labels[n] for n in carried], [self.forms[n] for n in carried]
        decisions.staged(how, names, forms, entries=[self.entries[n] for n in carried], turns=turns, since=since)

    # What varies, and what depends on traced data

    def _find_varying(self) -> list[list[bool]]:
        """For each place's leaves: does a turn give anything else than it got?"""
        jaxpr = self.traced.jaxpr.jaxpr
        outputs = self._output_positions()
        inputs = iter(jaxpr.invars)
        varying = []
        for place, form in zip(self.places, self.forms, strict=True):
            variables = [next(inputs) for _ in array_forms(form)]
            if place.key not in self.traced.ends or place.key in self.aliases.same:
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
        tainted = [
            isinstance(entry, jax.core.Tracer)  # whether the program has failed before
            if isinstance(place, Carried)
            else isinstance(entry, jax.Array) or not _is_plain(entry)
            for place, entry in zip(self.places, self.entries, strict=True)
        ]
        leaves = [t for t, form in zip(tainted, self.forms, strict=True) for _ in array_forms(form)]
        outputs = self._output_positions()
        while True:
            out = self._tainted_outputs(leaves)
            new, position = list(leaves), 0
            for place, form in zip(self.places, self.forms, strict=True):
                count = len(array_forms(form))
                if any(out[p] for p in outputs.get(place.key, ())):
                    new[position : position + count] = [True] * count
                position += count
            if new == leaves:
                return leaves
            leaves = new

    def _tainted_outputs(self, tainted: Sequence[bool]) -> list[bool]:
        """Which outputs of the body depend on traced data, if these leaves of the state do?"""
        arguments = [False] + [self.tainted_arguments] * (self.argument_count - 1)
        return dependence.tainted_outputs(self.traced.jaxpr, [*tainted, *arguments])

    def exits_on_traced(self) -> bool:
        """Does traced data decide whether this loop is left?"""
        if not self.has_exit:
            return False
        out = self._tainted_outputs(self._tainted)
        exit_leaves = len(array_forms(exit_of(self.traced)))
        return any(out[:exit_leaves])

    def result_on_traced(self) -> bool:
        """Does anything that the body gives, its exit or the next test, depend on traced data?"""
        out = self._tainted_outputs(self._tainted)
        return any(out[: len(array_forms(self.traced.result))])

    def reads_by_counter(self, *, of_numpys: bool) -> bool:
        """Does the body look something up by a number that Python would know in each turn, or ask for the class of one?

        An element of an array of NumPy's counts only with `of_numpys`.
        """
        arguments = [False] + [self.tainted_arguments] * (self.argument_count - 1)
        return dependence.plain_indexes(self.traced.jaxpr, [*self._tainted, *arguments, True], of_numpys=of_numpys)

    def is_traced(self, condition: Traced) -> bool:
        """Does a test of this state depend on traced data?"""
        out = dependence.tainted_outputs(condition.jaxpr, self._tainted)
        return any(out[: len(array_forms(condition.result))])

    def only_traced_state(self) -> bool:
        """Would plain Python see every variable of this loop become traced too?

        `fact *= k` and `t += 0.1` stay exact Python numbers in an unrolled loop; staged, they would overflow or round.
        """
        places = zip(self.places, self._varying, strict=True)
        varying = [v and not isinstance(place, Aside) for place, leaves in places for v in leaves]
        tainted = [t for t, v in zip(self._tainted, varying, strict=True) if v] + self._tainted_items()
        return bool(tainted) and all(tainted)

    def _tainted_items(self) -> list[bool]:
        """Of each array that a turn puts into a growing list: does it depend on traced data?"""
        out = self._tainted_outputs(self._tainted)
        positions = self._output_positions()
        return [out[positions[key][n]] for key, growth in self.growing.items() for n in growth.new_leaves()]

    def count_to(self, turns: Any) -> None:
        """A loop counts its turns, from 0 on; where their number is known, so is the largest index."""
        most = turns if isinstance(turns, int) else int(jnp.iinfo(jnp.result_type(int)).max)
        position = len(self.body.known) - 1 - self.argument_count
        self.body.known = (*self.body.known[:position], (0, max(most - 1, 0)), *self.body.known[position + 1 :])
        self._most = most - 1 if isinstance(turns, int) else None

    def overflowing(self, *, in_branches: bool) -> Any:
        """An equation that computes an integer of Python's from the counter, for which there is no room.

        What stands in a branch only, not all turns compute.
        """
        closed = self.traced.jaxpr
        return (
            overflowing(closed, self.body.known[len(closed.consts) :], in_branches=in_branches)
            if self._most is not None
            else None
        )

    def tells_numbers(self, test: Traced | None = None) -> bool:
        """Is a number that it begins with carried as an array, and would somebody tell the two apart?

        Of any number but 0 the sum is another one, and the array has a length. Of 0 a turn or the test may compute what is
        not that of a number, `jnp.sum(jnp.cos(s))`, or a turn may leave another number: `s = s + 1`.
        """
        begun = [Spread.NO if number is None else Spread.of(number) for number in self.numbers()]
        if hooks.is_porting() or not any(begun):
            return False
        if self.told_by_shape:
            return True
        known, outputs = begun, self._output_positions()
        while (left := spread.left(self.traced.jaxpr, self._with_arguments(known))) is not None:
            ends = [Spread.NO if position is None else left[position] for position in self._ends_of_leaves(outputs)]
            after = [max(one, end) for one, end in zip(known, ends, strict=True)]
            if after == known:
                break
            known = after
        told_by_test = test is not None and spread.left(test.jaxpr, known) is None
        return Spread.ANY in begun or left is None or told_by_test or Spread.ANY in left

    def check_numbers(self, test: Traced | None = None) -> None:
        """Refuse such a number."""
        if self.tells_numbers(test):
            raise self._number_beside_array()

    def numbers(self) -> list[Number | None]:
        """For each leaf of the state that is an array: the number with which the loop begins in its place."""
        entries = zip(self.entries, self.forms, strict=True)
        return [one for entry, form in entries for one in _numbers(_form_of_entry(entry), form)]

    def _with_arguments(self, leaves: list[Spread]) -> list[Spread]:
        return leaves + [Spread.NO] * (len(self.traced.jaxpr.in_avals) - len(leaves))

    def _ends_of_leaves(self, outputs: dict[Any, list[int]]) -> list[int | None]:
        """For each leaf of the state: where among the outputs is what a turn leaves of it?"""
        ends: list[int | None] = []
        for place, form in zip(self.places, self.forms, strict=True):
            count = len(array_forms(form))
            own = outputs.get(place.key, [])
            ends += own if len(own) == count else [None] * count
        return ends

    def _number_beside_array(self) -> Exception:
        """The error of the first number that is not 0, or of a 0."""
        numbers = iter(self.numbers())
        leaves = [(next(numbers), place, leaf) for place, form in self.inputs for leaf in array_forms(form)]
        first = _first_number([number for number, _, _ in leaves])
        number, place, leaf = next(one for one in leaves if one[0] is first)
        mismatch = Mismatch("number", repr(number), str(leaf))
        return mismatch_error(shown(place), mismatch, "before this loop it is", "after a turn")

    def _note_counter(self, key: Any, leaves: Sequence[Any]) -> None:
        """After `for k in range(n)`, k is at most n - 1: an array of k + 1 elements has a bound."""
        if self._most is None:
            return
        jaxpr, outputs = self.traced.jaxpr.jaxpr, self._output_positions()[key]
        counter = jaxpr.invars[len(jaxpr.invars) - 1 - self.argument_count]
        for position, leaf in zip(outputs[::-1], leaves[::-1], strict=False):  # a choice, of no value before, comes first
            if jaxpr.outvars[position] is counter:
                bounded(leaf, self._most)

    # lax's side

    def finish_provisionally(self) -> None:
        """Write what a loop without a turn would leave, but as other arrays."""
        start = self.start()
        self.finish(jax.lax.optimization_barrier(start) if start else start, turns=False)

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
        """Each place's leaves: carried ones from the carry, those of what it shares, the others as they were at the entry."""
        filled = []
        for label, entry, varying in zip(self._labels, self._entry_leaves, self._varying, strict=True):
            carried = iter(carry.get(label, ()))
            filled.append([next(carried) if v else leaf for leaf, v in zip(entry, varying, strict=True)])
        number = {place.key: n for n, place in enumerate(self.places)}
        return [filled[number.get(self.aliases.same.get(place.key), n)] for n, place in enumerate(self.places)]

    def leaves(self, carry: dict[str, Any]) -> list[Any]:
        return [leaf for leaves in self._place_leaves(carry) for leaf in leaves]

    def turn(self, carry: dict[str, Any], *arguments: Any, active: Any = True) -> dict[str, Any]:
        return self.turn_with(carry, *arguments, active=active)[0]

    def turn_with(self, carry: dict[str, Any], *arguments: Any, active: Any = True) -> tuple[dict[str, Any], list[Any]]:
        """One turn: the new carry, and what the body gave beside its exit."""
        new, more, _ = self._turn(carry, arguments, active, lambda *leaves: self.body(*self.body.consts, *leaves))
        return new, more

    def left_of_carry(self) -> list[int]:
        """Where among what a turn gives are the leaves of the carry, in its order."""
        ends = iter(self._ends_of_leaves(self._output_positions()))
        of_places = [[(next(ends), varies) for varies in leaves] for leaves in self._varying]
        named = zip(self._labels, of_places, strict=True)
        return jax.tree.leaves({label: [end for end, varies in leaves if varies] for label, leaves in named})

    def only_read(self) -> list[Any]:
        """The arrays that a turn reads by elements and does not carry.

        A scan is to carry them: so each has one cotangent in reverse mode, which is added to in place. Those of a
        scan's constants are added up as whole arrays, in each turn. With loops in loops it reads those that stand
        around (`lent.py`).
        """
        leaves = [leaf for entry in self._entry_leaves for leaf in entry]
        self._reads = self.body.only_reads([False] * len(self.body.consts) + self._handed_on())
        count = len(self.body.consts) + len(leaves)
        arrays = chosen([*self.body.consts, *leaves], self._reads[:count])
        is_nested = self.body.has_loops or any(trace.is_turn for trace in state.traces())
        self._lent = list(arrays) if is_nested else []
        return arrays

    def _handed_on(self) -> list[bool]:
        return [varies for leaves in self._varying for varies in leaves] + [True] * (self.argument_count + 1)

    def turn_with_rows(self, carry: dict[str, Any], reads: Sequence[Any], *arguments: Any) -> tuple[dict[str, Any], Any, Any]:
        """One turn: the new carry, the arrays of `only_read` again, and the leaves of what it puts into each growing list."""
        after: list[Any] = []

        def run(*leaves: Any) -> list[Any]:
            arrays = map(lent, self._lent, reads) if self._lent else reads
            out = self.body.handing_on(*merged([*self.body.consts, *leaves], list(arrays), self._reads))
            left = out[len(out) - len(reads) :]
            after[:] = map(lent, reads, left) if self._lent else left
            return out[: len(out) - len(reads)]

        new, _, rows = self._turn(carry, arguments, True, run)
        return new, after, rows

    def _turn(
        self, carry: dict[str, Any], arguments: Sequence[Any], active: Any, run: Callable[..., list[Any]]
    ) -> tuple[dict[str, Any], list[Any], Any]:
        given = [vary(jnp.asarray(value), self.axes) if self.axes else value for value in (*arguments, active)]
        (exit, *more), ends = self.traced([*self.leaves(carry), *given], run)
        rows = []
        for key, growth in self.growing.items():
            ends[key], items = growth.split(ends[key])
            rows.append(growth.leaves(items))
        with references.holding((place for place, _ in self.traced.ends.values()), ends):
            return self._left(carry, exit, ends), more, rows

    def _left(self, carry: dict[str, Any], exit: Any, ends: dict[Any, Any]) -> dict[str, Any]:
        """The new carry, of what a turn has left."""
        new = {}
        for number, (label, place, form) in enumerate(zip(self._labels, self.places, self.forms, strict=True)):
            if label in carry:
                new[label] = self._carried(number, coerce(ends[place.key], form))
        if self.has_exit:
            new["exit"] = coerce(exit, self.exit)
        return new

    def not_left(self, carry: dict[str, Any], going: Any, *, ends: bool = False) -> Any:
        """Go on, given the test: unless the body has left, or an error has ended it or the loop around.

        `ends` says that the test alone will end the loop, too.
        """
        if self.has_exit:
            assert isinstance(self.exit, Options)
            going = _both(going, carry["exit"][0] == self.exit.forms.index(NO_EXIT))
        # JAX's checkify maps no loop that one lane leaves before another: an error ends only what would go on for ever.
        error = 0 if ends and errors_are_values() else self.error(carry)
        return _both(going, error == 0) if isinstance(error, jax.Array) else going

    def error(self, carry: dict[str, Any]) -> Any:
        """The number of the error that has ended this loop or, before it began, the one around."""
        if self.failures is None:
            return 0
        code = self.failures.code
        own = [leaves[0] for place, leaves in zip(self.places, self._place_leaves(carry), strict=True) if place.key == code.key]
        return own[0] if own else code.read()

    def finish(self, carry: dict[str, Any], *, turns: bool, lists: dict[Any, Any] | None = None) -> Any:
        """Write what the loop left into its places, and give how it left.

        `turns`: there surely was a turn. `lists`: what `fill_lists` has written.
        """
        self.check_numbers()
        values: dict[Any, Any] = dict(lists or {})
        joining = same_containers.Joining.of([*self.forms, self.exit])
        together = self.aliases.together if turns else self.aliases.together | self._entered_together()
        for place, form, leaves in zip(self.places, self.forms, self._place_leaves(carry), strict=True):
            if place.key in self.traced.ends and place.key not in self.growing:
                self._note_counter(place.key, leaves)
                own = unflatten(form, iter(leaves))
                value = values[place.key] = values.get(self.aliases.same.get(place.key), own)
                if isinstance(place, Carried) and place.ends_with_its_loop and not self.hands_on:
                    continue
                entry = self.entries[self.places.index(place)]
                if isinstance(place, Content):  # which stays the same object
                    joining.doubt_contents(value, entry)
                else:
                    joining.doubt(value, entry)
                    aliasing.doubt_buffers(value, entry)
                if listed.holds(entry):
                    listed.note(value)
                same_containers.write(place, _after_a_turn(value, self.traced.ends[place.key][1]) if turns else value)
        exit = values[RESULT] = unflatten(self.exit, iter(carry["exit"])) if self.has_exit else None
        turn = views.new_turn()
        self._relate(values, joining, turn)
        joining.doubt_together(values, together, self.growing)
        for key, pairs in self.aliases.twins.items():
            twins.doubt(values.get(key), pairs)
        for key in self.aliases.listed:
            listed.note(values.get(key))
        if not turns:
            self._doubt_entries(values, turn)
        if self.failures is not None and self.failures.code.key in self.traced.ends:
            if self.hands_on:
                attempts.loop_over(self.failures)
            else:
                checks.raise_after_loop(self.failures, values)
        return exit

    def _entered_together(self) -> set[same_containers.Pair]:
        """The places that enter with one container, or with two that may be one."""
        entered = zip(self.places, self.entries, strict=True)
        found = [one for place, entry in entered for one in same_containers.positions(place.key, entry)]
        known = same_containers.related(part for _, part in found)
        return same_containers.pairs([(position, id(part)) for position, part in found], known)

    def _relate(self, values: dict[Any, Any], joining: same_containers.Joining, turn: views.Turn) -> None:
        """Views stay views: what a place holds after the loop, of what it entered with, and of what a turn leaves in it."""
        made = aliasing.memory_in(values.values()) if self.aliases.views else frozenset[int]()
        entries = {place.key: entry for place, entry in zip(self.places, self.entries, strict=True)}
        for key, base, whole in self.aliases.views:
            if key in values:
                apart = made if isinstance(base, aliasing.ARRAYS) else frozenset[int]()
                base = base if isinstance(base, aliasing.ARRAYS) else values.get(base)
                views.view_parts(values[key], base, whole_in=views.turn_of(entries.get(key), base, turn) if whole else None)
                aliasing.doubt_buffers(values[key], base, apart)
        for key, containers, given, ways in self.aliases.older:
            for container in containers if key in values else ():
                if key not in self.growing:
                    joining.doubt_parts(values[key], container, anyway=not given, ways=ways.get(id(container)))
                for part in values[key] if key in self.growing else ():  # two elements may both be it
                    again = same_containers.Joining.of(self.forms)
                    again.doubt_parts(part, container, anyway=not given)
        for key in values:
            standing.note_all(values[key], self.traced.held[key].numpy if key in self.traced.held else ())
        after = self._after(values)
        for value, old in [pair for pairs in after.values() for pair in pairs]:
            handed = views.handed_over(old)
            for base in views.bases(old):
                for new in _left_of(base, after):
                    views.view_parts(value, new, whole_in=views.turn_of(old, base, turn) if id(base) in handed else None)
            for other in aliasing.doubtful_with(old):
                for new in _left_of(other, after):
                    aliasing.doubt(value, new)

    def _doubt_entries(self, values: dict[Any, Any], turn: views.Turn) -> None:
        """Without a turn, a place holds what it entered with: `y = x`, `while n > 0: x = x / 2`, and then `y[0] = 1`."""
        after = self._after(values)
        for place, entry in zip(self.places, self.entries, strict=True):
            standing.note_all(values.get(place.key), standing.shown(reach.everything(entry)))
            old = [array for array in reach.arrays(entry) if array.ndim] if place.key in values else []
            new = [part for part in reach.arrays(values[place.key]) if part.ndim] if old else []
            for array in old:
                for part in new:
                    if (part.shape, part.dtype) == (array.shape, array.dtype):
                        views.hand_over(part, array, turn)
                        for one in _left_of(array, after):
                            aliasing.doubt(part, one)

    def _after(self, values: dict[Any, Any]) -> _After:
        """What the places hold after the loop, by the ids of the arrays that they entered with."""
        after: _After = collections.defaultdict(list)
        for place, entry in zip(self.places, self.entries, strict=True):
            for value, old in aliasing.side_by_side(values.get(place.key, entry), entry):
                after[id(old)].append((value, old))
        return after

    def fill_lists(self, rows: Sequence[Sequence[jax.Array]], turns: int) -> dict[Any, Any]:
        """Write the growing lists, of the stacked leaves that `turn_with_rows` gave; gives them by the keys of their places."""
        made = {}
        for (key, growth), stacked in zip(self.growing.items(), rows, strict=True):
            place = next(place for place in self.places if place.key == key)
            made[key] = growth.finished(stacked, turns)
            state.write(place, made[key])
        return made

    @property
    def uses_active(self) -> bool:
        """Does the body ask whether its turn counts (run-time checks, under vmap)?"""
        return dependence.uses(self.traced.jaxpr.jaxpr, self.traced.jaxpr.jaxpr.invars[-1])

    @property
    def uses_index(self) -> bool:
        jaxpr = self.traced.jaxpr.jaxpr
        return dependence.uses(jaxpr, jaxpr.invars[-1 - self.argument_count])


_After = dict[int, list[tuple[Any, jax.Array]]]  # each with the array that it was


def _left_of(array: jax.Array, after: _After) -> list[Any]:
    """What the places that entered with an array hold after the loop; the array itself where none did."""
    return [value for value, _ in after.get(id(array), ())] or [array]


def _both(first: Any, second: Any) -> Any:
    return second if first is True else jnp.logical_and(first, second)


def _form_of_entry(entry: Any) -> Form:
    try:
        return flatten(entry)[0]
    except StructureError:  # it holds itself
        return flatten_inside(entry, is_mutable)[0]


def _numbers(entry: Form, form: Form) -> list[Number | None]:
    """Of each leaf of a Form that is an array: the number that the entry's has for it; of several options, one."""
    if isinstance(entry, Options):
        return list(map(_first_number, zip(*(_numbers(option, form) for option in entry.forms), strict=True)))
    match form:
        case Static():
            return []
        case Array():
            return [entry.value if form.shape and isinstance(entry, Static) and isinstance(entry.value, Number) else None]
        case Options(forms):
            return [None, *(number for option in forms for number in _numbers(entry, option))]
        case Tree(_, children):
            taken = expanded(entry.value) if isinstance(entry, Static) else entry
            if not isinstance(taken, Tree) or len(taken.children) != len(children):
                return [None] * len(array_forms(form))
            return [number for part, child in zip(taken.children, children, strict=True) for number in _numbers(part, child)]


def _first_number(numbers: Sequence[Number | None]) -> Number | None:
    """One that is not 0, if there is one."""
    return max(numbers, key=lambda number: -1 if number is None else number != 0)


def _after_a_turn(value: Any, end: Form) -> Any:
    """`best = None` before a loop that runs is no longer None if no turn leaves None, also in a tuple."""
    if type(value) is tuple and isinstance(end, Tree):
        return tuple(map(_after_a_turn, value, end.children))
    if not isinstance(value, Choice) or isinstance(end, Options):
        return value
    return value._only(lambda option: _fits(option, end))


def _is_plain(value: Any) -> bool:
    """Is there no array in it, so that plain Python would go on computing with it exactly?"""
    if reach.is_circular(value):
        return not any(True for _ in reach.arrays(value))
    return value is UNBOUND or not array_forms(flatten(value)[0])


def _fits(option: Any, end: Form) -> bool:
    """Is this option of the kind that a turn leaves?"""
    if isinstance(end, Static):
        form = flatten(option, is_mutable)[0]
        return form == end or isinstance(form, Array) and _holds(form, end)
    form = expanded(option) or flatten(option)[0]
    return isinstance(form, Tree) if isinstance(end, Tree) else bool(array_forms(form))


def _holds(form: Array, number: Static) -> bool:
    """Has a number become this array?"""
    with contextlib.suppress(Mismatch):
        return join(form, number) == form
    return False


def _unique(names: Sequence[str]) -> list[str]:
    """Names for the carry's dict: `x`, and `x (2)` where two places have one name."""
    seen: dict[str, int] = {"exit": 1}
    unique = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        unique.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return unique


def exit_of(traced: Traced) -> Form:
    """How a turn ends; what the body gives besides stands after it."""
    return cast(Tree, traced.result).children[0]
