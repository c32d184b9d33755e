"""What `match` asks of a subject, as CPython's own does: its elements, the values of some keys, attributes by class.

Which of `__len__`, `__iter__`, `__getitem__` and `get` is called, and how often, is that of CPython's bytecode; errors too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# What CPython keeps of a class in `__flags__` for its own `match` (Include/object.h).
_SEQUENCE, _MAPPING, _MATCH_SELF = 1 << 5, 1 << 6, 1 << 22
_MISSING = object()


def is_sequence(subject: Any) -> bool:
    """A list, a tuple, what is registered as a Sequence; no string, no array."""
    return bool(type(subject).__flags__ & _SEQUENCE)


def is_mapping(subject: Any) -> bool:
    return bool(type(subject).__flags__ & _MAPPING)


def unpacked(subject: Any, front: int, back: int | None = None) -> list[Any]:
    """`a, b = subject`; with `back`, `a, *rest, b = subject`."""
    values = [element for element in subject]  # noqa: C416 - list() would ask for its length
    count = front + (back or 0)
    if len(values) < count:
        at_least = "" if back is None else "at least "
        raise ValueError(f"not enough values to unpack (expected {at_least}{count}, got {len(values)})")
    if back is None and len(values) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    end = len(values) - (back or 0)
    return values if back is None else [*values[:front], values[front:end], *values[end:]]


def values_of(subject: Any, keys: Sequence[Any]) -> list[Any] | None:
    """The values of some keys, or None where one is missing. By `get`, so that a defaultdict gets no new key."""
    seen, values = set(), []
    get = subject.get if keys else None
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        value = get(key, _MISSING)  # pyright: ignore[reportOptionalCall] - there are keys
        if value is _MISSING:
            return None
        values.append(value)
    return values


def without(subject: Any, keys: Iterable[Any]) -> dict[Any, Any]:
    """The other items of a mapping, as a dict."""
    rest = dict(subject)
    for key in keys:
        del rest[key]
    return rest


def attributes(subject: Any, kind: type, count: int, names: Iterable[str]) -> list[Any] | None:
    """The first `count` attributes that a class names in `__match_args__`, and some more; None where one is missing."""
    values: list[Any] = []
    match_args: Any = ()
    if count:
        match_args = getattr(kind, "__match_args__", _MISSING)
        if match_args is _MISSING:
            itself = bool(kind.__flags__ & _MATCH_SELF)  # `int(n)`: n is the subject
            _check_count(kind, count, allowed=int(itself))
            values, match_args = [subject], ()
        elif type(match_args) is not tuple:
            raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {type(match_args).__name__})")
        else:
            _check_count(kind, count, allowed=len(match_args))
    seen = set()
    for name in (*match_args[:count], *names):
        if type(name) is not str:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if name in seen:
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.add(name)
        try:
            values.append(getattr(subject, name))
        except AttributeError:
            return None
    return values


def _check_count(kind: type, given: int, *, allowed: int) -> None:
    if given > allowed:
        plural = "" if allowed == 1 else "s"
        raise TypeError(f"{kind.__name__}() accepts {allowed} positional sub-pattern{plural} ({given} given)")
