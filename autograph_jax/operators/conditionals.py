"""What `if` and `a if c else b` do: Python's own branch on a plain condition, lax.cond on a traced one."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.errors import StagingError, StructureError, user_location
from autograph_jax.loops.axes import Axes, axes_of
from autograph_jax.loops.rereads import reads_first
from autograph_jax.operators import decisions
from autograph_jax.operators.effects import attempts, checks
from autograph_jax.operators.effects.failures import Carried
from autograph_jax.operators.exits import Return
from autograph_jax.operators.sequences import lengthened, lists
from autograph_jax.operators.staging import joined_aliases
from autograph_jax.operators.staging.apart import changed_beside_another, end_of
from autograph_jax.operators.staging.blocks import NOT_APART, RESULT, Apart, Traced, trace
from autograph_jax.operators.staging.collectives import refuse
from autograph_jax.operators.staging.conditional import conditional
from autograph_jax.operators.staging.mismatches import is_users, joined, shown
from autograph_jax.operators.staging.writes import Slot, branch_writes, slots_of
from autograph_jax.operators.tracing import aliasing, same_containers, state, views
from autograph_jax.operators.tracing.cells import bind, standing_for, variables
from autograph_jax.operators.tracing.places import Cell, Content, Place, held, read_through
from autograph_jax.operators.values import facts, objects, references
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.containers import flatten, unflatten
from autograph_jax.operators.values.forms import Array, Form, Static, widened
from autograph_jax.operators.values.joins import coerce, zeros
from autograph_jax.operators.values.traced import is_traced, truth

Block = Callable[[], Any]
NO_RESULT = Static(None)


def if_stmt(predicate: Any, then: Block | None, otherwise: Block | None = None, *names: str) -> Any:
    """Run one of two blocks and give what it returned; `names` are the variables that they write and that are read later."""
    predicate = objects.condition(predicate)
    if not is_traced(predicate):
        block = then if lists.truth(predicate) else otherwise
        return block() if block is not None else None
    return _cond(truth(predicate), then, otherwise, names, narrowing=facts.of(predicate))


def if_expr(predicate: Any, then: Block, otherwise: Block, *names: str) -> Any:
    """`then() if predicate else otherwise()`; `names` are the variables that the two assign by a walrus."""
    predicate = objects.condition(predicate)
    if not is_traced(predicate):
        return then() if lists.truth(predicate) else otherwise()
    narrowing = facts.of(predicate)
    return _cond(truth(predicate), then, otherwise, names, narrowing=narrowing, what="the value of this expression")


def decided(condition: Any) -> Any:
    """A condition that Python itself has to answer: which elements a set has, or whether a generator goes on."""
    if is_traced(condition):
        raise StagingError(
            "traced data decides where only Python can: in a generator, in a `finally` that leaves, in a set or dict",
            location=user_location(),
            help="compute a value on both paths and choose: `jnp.where(condition, a, b)`",
        )
    return condition


def unless(exit: Any, rest: Block | None = None, *names: str) -> Any:
    """Go on with `rest` unless a block has left by `exit` (BREAK, Return); gives how this one leaves."""
    if not isinstance(exit, Choice):
        return exit if exit is not None or rest is None else rest()
    goes_on = exit._where(lambda option: option is None)
    if rest is None or goes_on is False:  # for i in count(): if x > i: break; if i > 10: return x
        return exit
    left = exit._only(lambda option: option is not None)
    return _cond(jnp.asarray(goes_on), rest, lambda: left, names)


def returned(exit: Any, rest: Block | None = None, *names: str) -> Any:
    """The function's value: of the `return` that was reached, or of `rest`."""
    if not isinstance(exit, Choice):
        return exit.value if isinstance(exit, Return) else rest() if rest is not None else None
    value = exit._only(lambda option: option is not None).value
    goes_on = exit._where(lambda option: option is None)
    if goes_on is False:
        return value
    return _cond(jnp.asarray(goes_on), rest, lambda: value, names, what="the value that this function returns")


def surely(block: Block, *names: str) -> Block:
    """A block that is only reached where these variables have values, though the statement before may leave without."""

    def run() -> Any:
        bind((block,), names)
        return block()

    return standing_for(run, block)


def _cond(predicate: jax.Array, then: Block | None, otherwise: Block | None, names: tuple[str, ...], **how: Any) -> Any:
    grown = lengthened.Lists((then, otherwise))
    while True:
        try:
            return _staged(predicate, then, otherwise, names, **how)
        except StructureError as error:
            refused = error
        try:  # not while the error is being handled, which converted code would see
            if (variable := grown.only_variable(refused, names)) is not None:
                own = [_with_own_list(variable, block) for block in (then, otherwise)]
                with contextlib.suppress(StructureError):
                    return _staged(predicate, own[0], own[1], names, **how)
                state.take_escaped()
            if not grown.are_bounded_now(refused):
                raise refused
        finally:
            del refused  # which holds what has been traced


def _with_own_list(variable: Cell, block: Block | None) -> Block:
    """A branch with a list of its own in a variable: whether it makes that longer or assigns another one, one list is left."""
    values = variable.read()

    def run() -> Any:
        state.write(variable, list(values))
        return block() if block is not None else None

    return standing_for(run, block)


def _staged(
    predicate: jax.Array,
    then: Block | None,
    otherwise: Block | None,
    names: tuple[str, ...],
    *,
    narrowing: facts.Facts = facts.NONE,
    what: str = "the value that this function returns",
) -> Any:
    """Trace both blocks, join what they leave, and stage one lax.cond."""
    functions, began = (then, otherwise), decisions.clock()
    watched = variables(functions, names) if names else []
    axes = axes_of(predicate) | state.axes()  # of a mesh: along these devices take different branches, or are not here at all
    # By id, so from before the branches: an array made since may have the id of one that a branch has made and dropped.
    around = aliasing.around(functions, watched)
    first, second, kept = _trace_both(functions, watched, predicate, narrowing, axes)
    first, second = map(_reading_first, (first, second))
    if any(branch.raised and branch.handled for branch in (first, second)):
        attempts.cut_short()
    for branch in (first, second):
        refuse(branch.jaxpr.jaxpr, axes - state.axes(), "which branch is taken")
    result = widened(_joined_result(what, first, second), axes)
    places = {key: place for branch in (first, second) for key, (place, _) in branch.ends.items() if key in kept}
    ends = {key: widened(_joined_end(place, first, second), axes) for key, place in places.items()}
    seen = {place.key for place in watched}
    around = around.with_those_in(place for key, place in places.items() if key not in seen)
    around = around.with_arrays([*first.outside.values(), *second.outside.values()])
    parted = _parted(result, ends, places, first) | _parted(result, ends, places, second)
    written = {
        key: slots
        for key, form in ends.items()
        if id(places[key].target) not in parted and (slots := _slots(places[key], form, first, second))
    }
    branches = [_Branch(branch, number, result, ends, places, written) for number, branch in enumerate((first, second))]
    left = {key: place.name for key, place in places.items() if is_users(place)} | (
        {} if result == NO_RESULT else {RESULT: "value"}
    )
    decisions.staged("cond", list(left.values()), [ends.get(key, result) for key in left], since=began)
    with decisions.scope("if"):
        outputs = iter(conditional(predicate, branches[0].program(), branches[1].program()))
    value, *values = [unflatten(form, outputs) for form in (result, *(ends[key] for key in ends if key not in written))]
    new = dict(zip([key for key in ends if key not in written], values, strict=True))
    new |= _write_after(written, places, outputs)
    joining = same_containers.Joining.of([result, *ends.values()])
    new = joined_aliases.with_aliases({key: new[key] for key in ends}, places, first, second, around.arrays)
    joined_aliases.doubt_result(value, new, places, (first, second))
    joined_aliases.together({RESULT: value, **new}, places, (first, second), joining)
    own = aliasing.memory_in(new.values())
    known = joined_aliases.Known(new, own, around, views.new_turn())
    for key in ends:
        doubt = joining.doubt_contents if isinstance(places[key], Content) else joining.doubt  # the former stays one object
        before = read_through(places[key])
        doubt(new[key], before)
        aliasing.doubt_buffers(new[key], before, own)
        joined_aliases.relate(new[key], key, places[key], (first, second), known, joining)
        same_containers.write(places[key], new[key])
    if first.raised and second.raised:
        raise checks.Raised() if checks.is_kept() else checks.raised_by_itself()
    joined_aliases.relate(value, RESULT, None, (first, second), known, joining)
    bind(functions, names)
    return joined_aliases.with_result_aliases(value, first, second, around.arrays)


def _parted(result: Form, ends: dict[Any, Form], places: dict[Any, Place], branch: Traced) -> set[int]:
    """The ids of the memory of which a branch leaves a view where the other leaves another array: its value is needed there."""
    pairs = [(branch.result, result), *((end_of(places[key], branch), form) for key, form in ends.items())]
    return {
        id(buffer)
        for own, joined in pairs
        for buffer in references.viewed(own)
        if all(buffer is not other for other in references.viewed(joined))
    }


def _trace_both(
    functions: tuple[Block | None, Block | None],
    watched: Sequence[Place],
    predicate: jax.Array,
    narrowing: facts.Facts,
    axes: Axes,
) -> tuple[Traced, Traced, set[Any]]:
    """Both branches, and the keys of what they have written, and not only seen as what the condition tells."""
    kept: set[Any] = set()

    def run(holds: bool, apart: Apart) -> Traced:
        block = functions[0 if holds else 1]
        active = predicate if holds else jax.lax.bitwise_not(predicate)
        narrowed = facts.narrowed(block or _nothing, functions, narrowing, holds)
        try:
            traced = trace(narrowed, functions, watched, active=active, apart=apart, axes=axes)
        except Exception:
            state.escape()
            raise
        kept.update(traced.ends.keys() - traced.forgotten - facts.unwritten(narrowed))
        return traced

    opened = state.opened()
    first = run(True, NOT_APART)
    opened_first = state.opened()
    state.open_again(opened)
    second = run(False, NOT_APART)
    state.open_again([own or other for own, other in zip(opened_first, state.opened(), strict=True)])
    apart_first = apart_second = NOT_APART
    while True:  # what one of them takes apart may be what the other one has to take apart then
        if (more := apart_first | changed_beside_another(first, second)) != apart_first:
            first, apart_first = run(True, more), more
        elif (more := apart_second | changed_beside_another(second, first)) != apart_second:
            second, apart_second = run(False, more), more
        else:
            return first, second, kept


def _joined_result(what: str, first: Traced, second: Traced) -> Form:
    if first.raised or second.raised:
        return first.result if second.raised else second.result
    return joined(what, first.result, second.result, before="one path gives", after="the other")


def _reading_first(branch: Traced) -> Traced:
    """The branch with what it reads of arrays on these as it has found them: an array that it then only writes has `_slots`."""
    jaxpr = reads_first(branch.jaxpr, all_of_them=True)
    return branch if jaxpr is branch.jaxpr else dataclasses.replace(branch, jaxpr=jaxpr)


def _slots(place: Place, form: Form, first: Traced, second: Traced) -> list[Slot]:
    """The writes after the branches, for an array that they only write; none for what they compute anew."""
    array = place.read()
    if not isinstance(form, Array) or form.shape == () or not isinstance(array, jax.Array) or flatten(array)[0] != form:
        return []
    if any(place.key in branch.ends and branch.ends[place.key][1] != form for branch in (first, second)):
        return []
    chains = [branch_writes(b.jaxpr, b.position(place.key), array) for b in (first, second)]
    if chains[0] is None or chains[1] is None:
        return []
    return slots_of(chains[0], chains[1])


def _write_after(written: dict[Any, list[Slot]], places: dict[Any, Place], outputs: Iterator[Any]) -> dict[Any, jax.Array]:
    new = {}
    for key, slots in written.items():
        array = places[key].read()
        for slot in slots:
            array = slot.write(array, list(itertools.islice(outputs, len(slot.example.invars) - 1)))
        new[key] = array
    return new


class _Branch:
    """One branch for lax.cond: its outputs, brought to the joined Forms, and what it writes where."""

    def __init__(
        self,
        branch: Traced,
        number: int,
        result: Form,
        ends: dict[Any, Form],
        places: dict[Any, Place],
        written: dict[Any, list[Slot]],
    ) -> None:
        self._branch, self._number, self._result = branch, number, result
        self._ends, self._places, self._written = ends, places, written

    def program(self) -> Any:
        if self._is_as_joined():
            return self._branch.followed_by(None)
        equations = [e for slots in self._written.values() for slot in slots if (e := slot.equations[self._number])]
        atoms = [atom for equation in equations for atom in equation.invars[1:]]

        def ending(value: Any, values: dict[Any, Any], given: Sequence[Any]) -> list[Any]:
            with references.holding((place for place, _ in self._branch.ends.values()), values):
                leaves = self._leaves(value, values)
            known = dict(zip(map(id, atoms), given, strict=True))
            written = (slot.operands(self._number, known) for slots in self._written.values() for slot in slots)
            return [*leaves, *itertools.chain.from_iterable(written)]

        return self._branch.followed_by(ending, atoms, without=self._written)

    def _is_as_joined(self) -> bool:
        """Are the outputs of the block those that are wanted?"""
        own = {key: form for key, (_, form) in self._branch.ends.items()}
        as_joined = self._branch.result == self._result and not self._branch.raised and not self._written
        return as_joined and list(own.items()) == list(self._ends.items())

    def _leaves(self, value: Any, values: dict[Any, Any]) -> list[jax.Array]:
        leaves = zeros(self._result) if self._branch.raised else coerce(value, self._result)
        for key, form in self._ends.items():
            if key not in self._written:
                unread = self._branch.is_over and not isinstance(self._places[key], Carried)
                end = values[key] if key in values else held(self._places[key])
                leaves += zeros(form) if unread else coerce(end, form)
        return leaves


def _nothing() -> None:
    return None


def _joined_end(place: Place, first: Traced, second: Traced) -> Form:
    """What a place holds after the branches; a branch that did not write it leaves what was there.

    After a branch that raises nobody reads it, but which error it is.
    """
    if (first.is_over or second.is_over) and not isinstance(place, Carried):
        return end_of(place, second if first.is_over else first)
    forms = [end_of(place, branch) for branch in (first, second)]
    return joined(shown(place), *forms, before="one path leaves", after="the other", place=place)
