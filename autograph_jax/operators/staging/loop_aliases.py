"""Which of a loop's variables hold one array, a view of one, or an object that others hold too, from turn to turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import jax
import numpy as np

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.staging.blocks import RESULT, Aliases, Older, Shares, Traced
from autograph_jax.operators.tracing import aliasing, holders, reach, same_containers, standing
from autograph_jax.operators.tracing.aliasing import ARRAYS
from autograph_jax.operators.tracing.holders import Uncounted
from autograph_jax.operators.tracing.places import Content, Place, read_through
from autograph_jax.operators.tracing.twins import NO_TWINS
from autograph_jax.operators.values import references
from autograph_jax.operators.values.containers import CONTENT, Record, is_mutable
from autograph_jax.operators.values.forms import Array, Form, Options, Static, Tree, statics
from autograph_jax.porting.arrays import Buffer, MutableArray


def share(places: Sequence[Place], forms: Sequence[Form], aliases: Aliases) -> None:
    """Places that enter a loop with one array are one input: `prev = cur` before it, `cur[0] = x` in it.

    In ported code what has no dimensions is a scalar, which nobody writes to.
    """
    leaders: dict[tuple[int, Form], Any] = {}
    for place, form in zip(places, forms, strict=True):
        entry = read_through(place)
        is_array = isinstance(entry, jax.Array | np.ndarray) and isinstance(form, Array)
        if not is_array or hooks.is_porting() and not entry.ndim:
            continue
        leader = leaders.setdefault((id(entry), form), place.key)
        if leader != place.key and (leader, place.key) not in aliases.doubtful:
            aliases.same[place.key] = leader


def keep_sharing(aliases: Aliases, traced: Traced) -> bool:
    """Do places that were one array at the start of a turn end as one? If not, they may be one or two: doubtful."""
    ids = {key: own.identity for key, own in traced.held.items()}
    parted = [key for key, leader in aliases.same.items() if ids.get(key) != ids.get(leader)]
    for key in parted:
        aliases.doubtful.add((aliases.same.pop(key), key))
    return not parted


def check_replaced(places: Sequence[Place], forms: Sequence[Form], new_forms: Sequence[Form], traced: Traced) -> None:
    """Refuse a loop that changes an object in place and also gives its variable another, if somebody else holds the first.

    From the second turn on nobody can say which of the two the variable holds; the first would not show the change.
    """
    changed = [place for place, _ in traced.ends.values() if place.target is not None]
    for place, form, new in zip(places, forms, new_forms, strict=True):
        if not isinstance(form, Static) or not isinstance(new, Tree | Options) or not is_mutable(form.value):
            continue
        kept = {id(part) for static in statics(new) for part in reach.everything(static)}  # of both objects, and the same
        inside = {id(part) for part in reach.everything(form.value)} - kept
        if any(id(write.target) in inside and holders.held_elsewhere(write, place) for write in changed):
            raise AliasError(
                f"what `{place.name}` holds is changed in this loop, and `{place.name}` is given another object as well",
                location=user_location(),
                details=["Something else holds the first object too, and would have to show the change."],
                help="make a copy before the loop, `copy.copy(x)`; or return what changes instead of writing it",
            )


def taken_as_views(traced: Traced, around: aliasing.Around, places: Sequence[Place], aliases: Aliases) -> bool:
    """Does a turn leave in a place a view, `row = m[i]`, or an array that is held elsewhere: `e = a`, `prev = cur`?

    Then the next turn, and what comes after the loop, begin with one. That a place may still have the array that it entered
    with, `if x > 0: q = new`, each turn expects anyhow; what comes after the loop has to know of it.
    """
    before = len(aliases.views)
    keys = [*(key for key in traced.ends if key not in traced.forgotten), RESULT]
    entered = {place.key: read_through(place) for place in places if not isinstance(place, Content)}
    for key in keys:
        for base, whole in _shared(key, traced, around, places):
            if not _is_its_own(base, entered.get(key)):
                _add_view(Shares(key, base, whole), aliases)
    new = aliases.views[before:]
    if new:
        _hand_on(keys, traced, places, aliases)
    expected = [own.whole and isinstance(own.base, jax.Array) and own.base is entered.get(own.key) for own in new]
    return not all(expected) or len(aliases.views) > before + len(new)


def _is_its_own(base: Any, entry: Any) -> bool:
    """Is it the memory of the array that the place itself entered with? Each turn, and what follows, expects that there."""
    return isinstance(entry, MutableArray) and isinstance(base, MutableArray | Buffer) and _memory(base) == _memory(entry)


def _hand_on(keys: Sequence[Any], traced: Traced, places: Sequence[Place], aliases: Aliases) -> None:
    """What a turn leaves in a place that is what another one began with, the next turn leaves there as what that begins with.

    It would find so itself; the turns after it need not be traced for this.
    """
    entries = {traced.starts[place.key]: place.key for place in places if place.key in traced.starts}
    taken = [(key, entries[base]) for key in keys for base in traced.held[key].kin if entries.get(base, key) != key]
    count = -1
    while count != (count := len(aliases.views)):
        for key, other in taken:
            for own in [own for own in aliases.views if own.key == other and not own.whole]:
                _add_view(Shares(key, own.base, whole=False), aliases)


def _shared(key: Any, traced: Traced, around: aliasing.Around, places: Sequence[Place]) -> Iterator[tuple[Any, bool]]:
    """Whose memory a turn leaves in a place: that of other places, by key, or arrays from before the loop.

    And whether it is the array that another place began the turn with, and has given away: `a, b = b, a`.
    """
    entries = {traced.starts[place.key]: place for place in places if place.key in traced.starts}
    keys = [place.key for place in [*places, *traced.found] if place.key in traced.held]
    own = traced.held[key]
    is_alone = not any(traced.held[other].identity == own.identity for other in keys if other != key)
    handed = own.handed | {own.identity}
    for base in own.kin:
        yield from ((other, False) for other in keys if traced.held[other].identity == base)
        if base in around.arrays:
            yield around.arrays[base], is_alone and base in handed
        if base in entries and entries[base].key != key and isinstance(entry := entries[base].read(), ARRAYS):
            yield entry, is_alone and base in handed
    form = traced.result if key is RESULT else traced.ends[key][1]
    yield from ((array, False) for array in _older_arrays(form))
    yield from ((around.memory[one], False) for one in own.doubted if one in around.memory)


def _older_arrays(form: Form) -> Iterator[MutableArray]:
    """The arrays of ported code from before the loop that a turn leaves somewhere."""
    match form:
        case Tree(references.View(array), _):
            yield array
        case Tree(_, forms) | Options(forms):
            for part in forms:
                yield from _older_arrays(part)


def _add_view(new: Shares, aliases: Aliases) -> None:
    is_array = isinstance(new.base, ARRAYS)
    if not is_array and (new.key == new.base or aliases.same.get(new.key) == new.base or aliases.same.get(new.base) == new.key):
        return
    known = [own for own in aliases.views if own.key == new.key and isinstance(own.base, ARRAYS) == is_array]
    for own in known:
        same = _memory(new.base) == _memory(own.base) if is_array else new.base == own.base
        if same and own.whole <= new.whole:
            return
    aliases.views.append(new)


def _memory(array: Any) -> list[int]:
    """What an array is a view of, by id."""
    return [id(part) for part in (array.memory() if isinstance(array, MutableArray | Buffer) else [array])]


def taken_from_numpy(traced: Traced, around: aliasing.Around, places: Sequence[Place], aliases: Aliases) -> bool:
    """Does a turn leave in a place an array of NumPy's from before the loop, `e = table`? So the next turn begins.

    Not in `a, b = b, a`, where nothing else holds the two: each turn has both, in one order or the other. Places that have been
    found in this turn are asked in the next one, which begins with them.
    """
    is_new = False
    for key in (place.key for place in places if place.key in traced.ends):
        known = aliases.numpy.get(key, ())
        new = [one for one in traced.held[key].numpy if id(one.array) in around.numpy and not _is_among(one, known)]
        new = [one for one in new if not _is_only_handed_over(one.array, key, traced, places)]
        if new:
            aliases.numpy[key], is_new = (*known, *new), True
    return is_new


def _is_among(shown: standing.Shown, known: Iterable[standing.Shown]) -> bool:
    return any(shown.array is other.array and shown.shape == other.shape for other in known)


def _is_only_handed_over(array: np.ndarray, key: Any, traced: Traced, places: Sequence[Place]) -> bool:
    """Has a turn taken this array whole from another place that began with it, to one place, and nothing else holds it?"""
    own = traced.held[key]
    if any(traced.held[other].identity == own.identity for other in traced.ends if other != key):
        return False
    begun = [traced.starts.get(place.key) for place in places if place.key != key and place.read() is array]
    return any(start in own.handed or start == own.identity for start in begun) and not holders.holds_beside(array, places)


def taken_from_before(traced: Traced, aliases: Aliases) -> bool:
    """May a turn leave in a place a list, dict or object that was there before the loop? So the next turn begins."""
    known: dict[tuple[Any, int, bool], list[same_containers.Ways]] = {}
    for older in aliases.older:
        for container in older.containers:
            known.setdefault((older.key, id(container), older.given), []).append(older.ways.get(id(container)))
    before = len(aliases.older)
    for key in (key for key in traced.ends if key not in traced.forgotten):
        end = traced.held[key]
        for given, containers, ways in ((False, end.older, end.ways), (True, *_given(traced, key))):
            new = Uncounted(one for one in containers if _is_news(known.get((key, id(one), given)), ways.get(id(one))))
            aliases.older += [Older(key, new, given, ways)] if new else []
    return len(aliases.older) > before


def _is_news(known: list[same_containers.Ways] | None, ways: same_containers.Ways) -> bool:
    """Do these ways lead anywhere else than those that are known?"""
    if known is None or None in known:
        return known is None
    return ways is None or not ways <= set[Any]().union(*(one for one in known if one is not None))


def _given(traced: Traced, key: Any) -> tuple[list[Any], dict[int, same_containers.Ways]]:
    """The containers from before the loop that a turn leaves in a place themselves, and the ways to them."""
    if isinstance(traced.ends[key][0], Content):
        return [], {}
    found = [
        (way, value) for way, value in _statics(traced.ends[key][1], ()) if is_mutable(value) and id(value) in traced.before
    ]
    ways: dict[int, same_containers.Ways] = {}
    for way, value in found:
        known = ways.setdefault(id(value), set())
        ways[id(value)] = known | {way} if known is not None and way is not None else None
    return [value for _, value in found], ways


def _statics(form: Form, way: tuple[Any, ...] | None) -> Iterator[tuple[tuple[Any, ...] | None, Any]]:
    """The values that stay themselves, each with the way there as `same_containers.positions` has it; None: it may be any."""
    match form:
        case Static(value):
            yield way, value
        case Options(forms):
            for part in forms:
                yield from _statics(part, way)
        case Tree(kind, forms):
            names = kind.names if isinstance(kind, Record) and CONTENT not in kind.names else getattr(kind, "keys", None)
            if names is None and getattr(kind, "type", None) in (list, tuple):
                names = range(len(forms))
            for number, part in enumerate(forms):
                yield from _statics(part, None if way is None or names is None else (*way, names[number]))


def held_together(traced: Traced, growing: dict[Any, lists.Growth], aliases: Aliases) -> bool:
    """Does a turn leave one list, dict or object in two places, or one array in two of a list? So the next turn may begin."""
    # Not what a turn leaves in an object of its own, `b = Box([b.items[0]])`: the next turn makes another one.
    pairs = {pair for pair in traced.together() if traced.forgotten.isdisjoint(key for key, _, _ in pair)}
    new = same_containers.in_lists(pairs, growing) - aliases.together
    aliases.together |= new
    aliases.growing = {key: growth.holder for key, growth in growing.items()}
    known = aliases.twins
    found = {key: own for key, own in traced.twins.items() if own and key not in traced.forgotten}
    aliases.twins = known | {key: own | known.get(key, NO_TWINS) for key, own in found.items()}
    return bool(new) or aliases.twins != known


def taken_from_lists(traced: Traced, aliases: Aliases) -> bool:
    """Does a turn leave in a place an array that a list of bounded length may hold? The next turn may begin with one."""
    before = len(aliases.listed)
    aliases.listed |= {key for key, own in traced.held.items() if own.is_listed} - traced.forgotten
    return len(aliases.listed) > before


def put_into_lists(places: Sequence[Place], traced: Traced, growing: dict[Any, lists.Growth], aliases: Aliases) -> bool:
    """Has a turn put an array that a place holds into a growing list? The next turn's writes show there: `path.append(x)`."""
    before = len(aliases.held)
    written = [place.key for place in places if place.key in traced.ends and place.key not in growing]
    for key, growth in growing.items():
        for other in written:
            own, put = traced.held[key], traced.held[other]
            known = any(holder is growth.holder and its_key == other for holder, its_key in aliases.held)
            if not known and not {*own.kin}.isdisjoint({*put.kin} - (own.doubted.keys() & put.doubted.keys())):
                aliases.held.append((growth.holder, other))
    return len(aliases.held) > before
