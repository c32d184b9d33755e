"""Containers that may be one object, depending on traced data: `b = a; if x > 0: b = [3, 4]` leaves open whether b is a."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import jax

from autograph_jax.errors import AliasError, user_location
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.tracing.holders import holder_of, running_functions
from autograph_jax.operators.tracing.places import drop, keep
from autograph_jax.operators.values.choices import Choice

# Module state: by the ids of a container that a join has made, and of the older one that it may be as well: one of its arrays,
# and the older one. An entry goes when that array goes; the tracing that made it has ended by then.
_joined_containers: dict[tuple[int, int], tuple[weakref.ref[Any], Any]] = {}


def doubt_container(new: Any, old: Any) -> None:
    """Remember that what a join has made anew may be, on some path, the object `old`; and so what it holds, part by part."""
    if type(old) is Choice:
        for option in old._options:
            doubt_container(new, option)
    elif type(new) is Choice:
        for option in () if any(option is old for option in new._options) else new._options:
            doubt_container(option, old)
    elif new is not old and type(new) is type(old) and (isinstance(new, tuple) or _is_container(new)):
        if isinstance(new, tuple) or _remember(new, old):
            doubt_contents(new, old)


def doubt_contents(new: Any, old: Any) -> None:
    """Remember that what a container holds may be what it held before, or what an older one holds."""
    before = dict(reach.parts(old))
    for key, part in reach.parts(new):
        if key in before:
            doubt_container(part, before[key])


def _remember(new: Any, old: Any) -> bool:
    """Is this pair known only now?"""
    leaf = next((part for part in reach.everything(new) if isinstance(part, jax.Array)), None)
    key = id(new), id(old)
    if leaf is None or key in _joined_containers:
        return False
    keep(old)
    _joined_containers[key] = (weakref.ref(leaf, lambda _, forget=_forget: forget(key)), old)
    return True


def doubt_parts(value: Any, older: Any) -> None:
    """Remember of all containers in a value that they may be an older one. Where that is an option, the others are not it."""
    others: set[int] = set()
    for part in reach.everything(value):
        if type(part) is Choice and any(option is older for option in part._options):
            others.update(map(id, part._options))
        if id(part) not in others:
            doubt_container(part, older)


def _forget(key: tuple[int, int], known: Any = _joined_containers, drop: Any = drop) -> None:  # globals go before arrays do
    if key in known:
        drop(known.pop(key)[1])


def _may_be(target: Any) -> Iterator[Any]:
    """The objects that a container may be as well."""
    yield from older(target)
    yield from _newer(target, set())


def older(target: Any) -> Iterator[Any]:
    """What a container is on some path, and what that is, if a join has made it too."""
    pending, known = [target], {id(target)}
    for own in pending:
        for (key, _), (leaf, old) in list(_joined_containers.items()):
            if key == id(own) and id(old) not in known and reach.holds(own, lambda part, leaf=leaf: part is leaf()):
                known.add(id(old))
                pending.append(old)
                yield old


def older_in(value: Any) -> Iterator[Any]:
    """What the containers in a value are on some path."""
    if _joined_containers:
        made = {key for key, _ in _joined_containers}
        for part in reach.everything(value):
            if id(part) in made:
                yield from older(part)


def _newer(target: Any, known: set[int]) -> Iterator[Any]:
    """What joins have made of a container, as far as variables hold it, or what can be reached from them."""
    keys = {key for (key, _), (_, old) in _joined_containers.items() if old is target} - known
    known |= keys
    for running in running_functions() if keys else ():
        for value in running.variables.values():
            for part in reach.everything(value):
                if id(part) in keys:
                    yield part
                    yield from _newer(part, known)


def check_container(target: Any, aliases: tuple[Any, ...] = ()) -> None:
    """Refuse to write a container where it is open whether another variable holds it too."""
    for other in _may_be(target) if _joined_containers else ():
        holder = holder_of(other, None)
        if holder is not None or any(reach.holds(alias, lambda part, other=other: part is other) for alias in aliases):
            name = f"`{holder[1]}`" if holder is not None else "another variable"
            raise AliasError(
                f"a {type(target).__name__} is written that {name} may hold too, depending on traced data",
                location=user_location(),
                details=["In Python the other variable would show the write on one path, and not on the other."],
                help="make a copy where the variable gets it: `b = list(a)`",
            )


def check_identity(first: Any, second: Any) -> None:
    """Refuse to say whether two containers are one where that depends on traced data."""
    for new, old in ((first, second), (second, first)):
        entry = _joined_containers.get((id(new), id(old)))
        if entry is not None and reach.holds(new, lambda part, leaf=entry[0]: part is leaf()):
            raise AliasError(
                f"whether this is the same {type(new).__name__} depends on traced data",
                location=user_location(),
                help="compare what they hold, or keep a flag beside them",
            )


def _is_container(value: Any) -> bool:
    return isinstance(value, list | dict) or reach.is_record(value)
