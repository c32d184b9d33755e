"""What two branches leave may be one object, an older one, or a view of one: what a later write then has to know."""

from __future__ import annotations

import collections
from collections.abc import Iterator, Sequence, Set
from typing import Any, NamedTuple

import jax

from autograph_jax.operators.staging.blocks import RESULT, Traced
from autograph_jax.operators.staging.held import Held
from autograph_jax.operators.tracing import aliasing, listed, reach, same_containers, standing, twins, views
from autograph_jax.operators.tracing.places import Content, Place, read_through
from autograph_jax.operators.values import references
from autograph_jax.operators.values.choices import Choice, Unbound
from autograph_jax.operators.values.containers import parts_of
from autograph_jax.operators.values.forms import Form, Options, Static, Tree


class Known(NamedTuple):
    """What a value that a join makes may be, or be a view of."""

    new: dict[Any, Any]  # the values that it makes, by the keys of their places
    own: Set[int]  # the memory of the arrays in these, by id
    around: aliasing.Around  # what was there before
    turn: views.Turn


def with_aliases(
    new: dict[Any, Any], places: dict[Any, Place], first: Traced, second: Traced, outer: dict[int, jax.Array]
) -> dict[Any, Any]:
    """The new values, where two that are one array on both paths are one object, and a pair on one path is doubtful."""
    identities = {key: tuple(branch.identity_of(places[key]) for branch in (first, second)) for key in new}
    leaders: dict[tuple[int, ...], Any] = {}
    containers: dict[tuple[int, ...], Any] = {}
    for key, pair in identities.items():
        if _is_made(new[key], places[key]):
            new[key] = containers.setdefault(_of_paths_taken(pair, first, second), new[key])
        elif isinstance(new[key], jax.Array):
            if pair[0] == pair[1] and pair[0] in outer:
                new[key] = outer[pair[0]]  # both paths give the same array from outside: no new one
            new[key] = leaders.setdefault(pair, new[key])
    together = [{key: {*branch.kin_of(places[key])} for key in new} for branch in (first, second)]
    atoms = {key: [_leaves_atom(branch, key, places[key]) for branch in (first, second)] for key in new}
    for key, others in _that_may_share((first, second), identities, together, atoms).items():
        for other in others:
            _doubt_parts(new[key], list(reach.arrays(new[other])))
            aliasing.doubt_buffers(new[key], new[other])
    return new


def _that_may_share(
    branches: tuple[Traced, Traced],
    identities: dict[Any, tuple[int, ...]],
    kin: Sequence[dict[Any, set[int]]],
    atoms: dict[Any, list[bool]],
) -> dict[Any, list[Any]]:
    """By place, the others that have the same object after a branch, or may have one array with it; most have none."""
    found: dict[Any, set[Any]] = {key: set() for key in identities}
    for number, branch in enumerate(branches):
        holders, relatives = collections.defaultdict[int, list[Any]](list), collections.defaultdict[int, list[Any]](list)
        for key, pair in identities.items():
            holders[pair[number]].append(key)
            for array in kin[number][key]:
                relatives[array].append(key)
        for key, pair in identities.items():
            if not atoms[key][number]:
                found[key].update(holders[pair[number]])
            near = {other for array in kin[number][key] for other in relatives[array]} - found[key]
            found[key].update(other for other in near if _related(branch, kin[number], key, other))
            found[key].discard(key)
    return {key: [other for other in identities if other in others] for key, others in found.items() if others}


def _leaves_atom(branch: Traced, key: Any, place: Place) -> bool:
    """Does a branch leave a number, None or nothing at all there? Two places with one of these share nothing."""
    form = branch.ends[key][1] if key in branch.ends else None
    if form is None:
        return isinstance(read_through(place), _ATOMS)
    return isinstance(form, Static) and isinstance(form.value, _ATOMS)


_ATOMS = (*reach.ATOMS, Unbound)


def _is_made(value: Any, place: Place) -> bool:
    """Is it a list, dict or object that two places may have? The copy of what is in a place is nobody's."""
    return not isinstance(place, Content) and (type(value) is Choice or same_containers.is_container(value))


def _of_paths_taken(pair: tuple[int, ...], *branches: Traced) -> tuple[int, ...]:
    return tuple(0 if branch.is_over else one for one, branch in zip(pair, branches, strict=True))


def together(
    values: dict[Any, Any], places: dict[Any, Place], branches: tuple[Traced, Traced], joining: same_containers.Joining
) -> None:
    """Remember which of the lists, dicts and objects that a join has made were one on some path: `if x > 0: a = b = [x]`.

    And which of the arrays in one of them: `if x > 0: a = [t, t]`.
    """
    before = [(key, read_through(place)) for key, place in places.items()]
    for branch in (branch for branch in branches if not branch.is_over):
        for key, value in before:
            twins.doubt(values[key], branch.twins[key] if key in branch.twins else twins.twins(value))
        twins.doubt(values[RESULT], branch.twins[RESULT])
    pairs = set[same_containers.Pair]().union(*(branch.together(before) for branch in branches if not branch.is_over))
    joining.doubt_together(values, pairs)


def _related(branch: Traced, kin: dict[Any, set[int]], key: Any, other: Any) -> bool:
    """May two places have one array after a branch? Not because each has one of two: `old, new = new, old`."""
    return bool((kin[key] & kin[other]) - (branch.doubted_in(key).keys() & branch.doubted_in(other).keys()))


def relate(
    value: Any,
    key: Any,
    place: Place | None,
    branches: tuple[Traced, Traced],
    known: Known,
    joining: same_containers.Joining,
) -> None:
    """What two branches leave in a place, or as their result, may be an older object or array, or a view of one."""
    for branch in branches:
        arrays, memory = known.around.arrays, known.around.memory
        branch.view_bases(key, value, known.new, arrays, known.turn)
        if branch.is_listed(key, place):
            listed.note(value)
        standing.note_all(value, branch.numpy_of(key, place))
        kin = branch.kin_of(place) if place is not None else branch.held[RESULT].kin
        _doubt_parts(value, [arrays[part] for part in kin if part in arrays])
        for own, ways in branch.doubted_in(RESULT if place is None else place.key).items():
            if own in memory:
                aliasing.doubt_at_ways(value, memory[own], ways)
        form = branch.result if place is None else branch.ends[key][1] if key in branch.ends else None
        if form is None or place is None and branch.raised:
            continue
        for part, own in _elements(value, form) if isinstance(place, Content) else [(value, form)]:
            _doubt_objects(part, own, known.own, joining)
        _doubt_older(value, branch.held[key], joining)


def with_result_aliases(value: Any, first: Traced, second: Traced, outer: dict[int, jax.Array]) -> Any:
    """`m = a if x > 0 else b`: m may be either array, and a write to it is doubtful; if both are one, it is that."""
    if isinstance(value, jax.Array):
        given = [branch.held[RESULT].identity for branch in (first, second) if not branch.raised]
        if given and all(one == given[0] and one in outer for one in given):
            return outer[given[0]]
        for one in given:
            if one in outer:
                aliasing.doubt(value, outer[one])
    return value


def doubt_result(value: Any, new: dict[Any, Any], places: dict[Any, Place], branches: tuple[Traced, Traced]) -> None:
    """The result of a path may be an array that it leaves in a place as well: `self.x[0] = v`, `return self.x`."""
    for branch in (branch for branch in branches if not branch.is_over and not branch.raised):
        own = {*branch.held[RESULT].kin}
        for key, other in new.items() if own else ():
            one_of_two = branch.doubted_in(RESULT).keys() & branch.doubted_in(key).keys()
            if (own & {*branch.kin_of(places[key])}) - one_of_two:
                _doubt_parts(value, list(reach.arrays(other)))
                aliasing.doubt_buffers(value, other)


def _doubt_parts(value: Any, arrays: Sequence[jax.Array]) -> None:
    """A joined value may be one of these arrays, what a joined list, object or choice has in it also a view of one."""
    for part in reach.arrays(value) if arrays else ():
        for array in arrays:
            if part.dtype == array.dtype and part.shape == array.shape:
                aliasing.doubt(part, array)
            elif part.dtype == array.dtype and part.ndim < array.ndim and part is not value:
                views.view(part, array)


def _doubt_older(value: Any, held: Held, joining: same_containers.Joining) -> None:
    """What a path has made itself by a join, of an older object, may be that object."""
    for one in held.older:
        joining.doubt_parts(value, one, anyway=True, ways=held.ways.get(id(one)))


def _doubt_objects(new: Any, form: Form, apart: Set[int], joining: same_containers.Joining) -> None:
    """Where one path gives an older object, what the join makes may be that object: `p = OLD if x > 0 else Point(x)`."""
    if isinstance(form, Static):
        joining.doubt(new, form.value)
    elif isinstance(form, Tree) and isinstance(form.kind, references.View):
        aliasing.doubt_buffers(new, form.kind.array, apart)
    elif isinstance(form, Tree | Options):
        for part, child in _elements(new, form):
            _doubt_objects(part, child, apart, joining)


def _elements(value: Any, form: Form) -> Iterator[tuple[Any, Form]]:
    """The parts of a value that a join has made, each with what one path says of it."""
    if type(value) is Choice:
        forms = form.forms if isinstance(form, Options) else (form,)
        yield from ((part, child) for option in value._options for own in forms for part, child in _elements(option, own))
    elif isinstance(form, Tree):
        yield from zip(parts_of(value, form.kind), form.children, strict=False)
