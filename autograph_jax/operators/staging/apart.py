"""Objects that a block changes and leaves where a join makes a new object of them: `p = o; o.n += 1`, else `p = Box(0)`.

What the join makes has the changed attributes, so that the block leaves such an object taken apart, with what is in it then.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from autograph_jax.errors import AliasError
from autograph_jax.operators.staging.blocks import NOT_APART, RESULT, Apart, Traced
from autograph_jax.operators.staging.loop_aliases import check_replaced
from autograph_jax.operators.tracing import holders, reach
from autograph_jax.operators.tracing.places import Content, Place, held
from autograph_jax.operators.values.containers import Record, expanded, flatten, flatten_inside, is_mutable
from autograph_jax.operators.values.forms import Form, Mismatch, Options, Static, Tree
from autograph_jax.operators.values.joins import join


def changed_beside_another(branch: Traced, other: Traced) -> Apart:
    """What this branch changes in place, where the other branch gives another object in its place."""
    changed = changed_by(branch)
    if not changed or branch.is_over or other.is_over:
        return NOT_APART
    places, objects = set[Any](), set[tuple[Any, int]]()
    for key, (place, form) in other.ends.items():
        for value in _kept_beside(place, form) if key not in branch.ends else ():
            if _holds(value, changed):
                places.add(key)
                objects.add((key, id(value)))
    for key, own in [(RESULT, branch.result), *((key, form) for key, (_, form) in branch.ends.items())]:
        beside = other.result if key == RESULT else end_of(branch.ends[key][0], other)
        objects |= {(key, id(value)) for value in taken_apart(own, beside) if _holds(value, changed)}
    return Apart(frozenset(places), frozenset(objects))


def _kept_beside(place: Place, other: Form) -> Iterator[Any]:
    """The objects in a place that a block leaves as it is which are not to stay themselves beside what another one leaves."""
    value = place.read()
    if not isinstance(place, Content) and is_mutable(value) and not _is_option(value, other):
        yield value
    yield from taken_apart(as_it_is(place), other)


def changed_in_a_turn(forms: dict[Any, Form], traced: Traced) -> Apart:
    """What a turn of a loop changes in place, and leaves where the loop's state has another object; `forms` are its own."""
    changed = changed_by(traced)
    ends = ((key, form) for key, (_, form) in traced.ends.items() if key in forms) if changed else ()
    found = ((key, value) for key, own in ends for value in taken_apart(own, forms[key]) if _holds(value, changed))
    return Apart(objects=frozenset((key, id(value)) for key, value in found))


def opened_beside_others(place: Place, form: Form, end: Form, traced: Traced) -> Form | None:
    """The join of an object that a loop enters with and those of its class that turns make: `if better: best = Trial(x)`.

    One that nobody else holds need not stay itself beside these: each of its methods would be traced for it and for them.
    None where it has to stay, or is alone.
    """
    if not isinstance(form, Static) or not isinstance(end, Options) or not reach.is_record(form.value):
        return None
    own = expanded(form.value)
    others = [option for option in end.forms if option != form]
    if own is None or not others or not all(_is_of_class(option, type(form.value)) for option in others):
        return None
    with contextlib.suppress(Mismatch, AliasError):
        new = functools.reduce(join, others, own)
        check_replaced([place], [form], [new], traced)
        return None if holders.held_elsewhere(Content(form.value), place) else new
    return None


def _is_of_class(form: Form, kind: type) -> bool:
    return isinstance(form, Tree) and isinstance(form.kind, Record) and form.kind.type is kind


def changed_by(traced: Traced) -> set[int]:
    """The ids of the objects that a block changes in place."""
    return {id(place.target) for place, _ in traced.ends.values() if place.target is not None}


def end_of(place: Place, branch: Traced) -> Form:
    """What a place holds after a branch; one that it did not write holds what was there."""
    return branch.ends[place.key][1] if place.key in branch.ends else as_it_is(place)


def as_it_is(place: Place) -> Form:
    take = flatten_inside if isinstance(place, Content) else flatten
    return take(held(place), is_mutable)[0]


def taken_apart(own: Form, other: Form) -> Iterator[Any]:
    """The objects that stay themselves in a Form, and do not in its join with another one."""
    match own:
        case Static(value) if is_mutable(value):
            if isinstance(other, Tree) or isinstance(other, Options) and not _is_option(value, other):
                yield value
        case Tree(kind, children):
            for tree in _trees(other):
                for name, child in zip(_names(kind, children), children, strict=True):
                    beside = dict(zip(_names(tree.kind, tree.children), tree.children, strict=True))
                    yield from taken_apart(child, beside[name]) if name in beside else ()
        case Options(forms):
            for form in forms:
                yield from taken_apart(form, other) if isinstance(form, Tree) else ()


def _is_option(value: Any, form: Form) -> bool:
    """Is an object one of the options of a Form, or will it be one beside other objects?"""
    kept = [option.value for option in form.forms if isinstance(option, Static)] if isinstance(form, Options) else []
    return any(one is value for one in kept) or reach.is_record(value) and any(map(reach.is_record, kept))


def _trees(form: Form) -> Iterator[Tree]:
    match form:
        case Tree():
            yield form
        case Static(value) if is_mutable(value) and (tree := expanded(value)) is not None:
            yield tree
        case Options(forms):
            for option in forms:
                yield from _trees(option) if isinstance(option, Tree) else ()


def _names(kind: Any, children: tuple[Form, ...]) -> tuple[Any, ...]:
    """What the parts of a container are called: attributes, keys, or their positions."""
    return kind.names if isinstance(kind, Record) else getattr(kind, "keys", None) or tuple(range(len(children)))


def _holds(value: Any, changed: set[int]) -> bool:
    return any(id(part) in changed for part in reach.everything(value))
