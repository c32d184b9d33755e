"""What is known of a traced number while a program is traced: that it never exceeds a bound, that it is the same as another."""

from __future__ import annotations

import weakref
from typing import Any

import jax
import numpy as np

from .replacing import literal, outside, parent_of, staged

# Module state: for the id of a traced number, itself and what it never exceeds. An entry goes when the number goes.
_bounds: dict[int, tuple[weakref.ref[Any], int]] = {}


def bounded(count: Any, bound: int) -> Any:
    """The number, of which is remembered that it never exceeds the bound: `np.zeros(len(x[m]))`."""
    for number in {id(one): one for one in (count, staged(count)) if isinstance(one, jax.Array)}.values():
        key = id(number)
        _bounds[key] = weakref.ref(number, lambda _, key=key: _bounds.pop(key, None)), bound
    return count


def noted_bound(count: Any) -> int | None:
    known = _bounds.get(id(count))
    return known[1] if known is not None and known[0]() is count else None


def bound_of(count: Any) -> int | None:
    """What a traced number never exceeds, if that is known: of `k + 1`, if it is known of k."""
    if (known := noted_bound(count)) is not None:
        return known
    if (value := literal(count)) is not None:
        return value
    number = staged(count)
    if number is not count and number is not None:
        return bound_of(number)
    parent = parent_of(number)
    if parent is None and (there := outside(number)) is not None:
        return bound_of(there)
    if number is not None and number.dtype == bool:
        return 1
    if parent is None or number is None or number.size != 1 or number.dtype.kind not in "iu":
        return None
    name = str(parent.primitive)
    if name not in ("add", "sub", "min", "max", *_SAME):
        return None
    first, second = (*map(bound_of, parent.in_tracers), None)[:2]
    if name in _SAME:
        return first
    if name == "min":
        return min((bound for bound in (first, second) if bound is not None), default=None)
    if name == "sub":
        second = literal(parent.in_tracers[1])
        second = 0 if second is None and is_natural(parent.in_tracers[1]) else second
    if first is None or second is None:
        return None
    return first - second if name == "sub" else max(first, second) if name == "max" else first + second


_SAME = ("convert_element_type", "reshape", "squeeze")


def difference(stop: Any, start: Any) -> int | None:
    """How much more a traced number is than another, if that is known: `i + 3` than `i`."""
    (first, more), (second, less) = _offset(stop), _offset(start)
    return more - less if first is second else None


def _offset(number: Any) -> tuple[Any, int]:
    """A number as another one and what is added to that."""
    own = staged(number)
    parent = None if own is None else parent_of(own)
    if parent is None or str(parent.primitive) not in ("add", "sub"):
        return number if own is None else own, 0
    is_sum = str(parent.primitive) == "add"
    for one, other in (parent.in_tracers, parent.in_tracers[::-1])[: 1 + is_sum]:
        if (value := literal(other)) is not None:
            base, more = _offset(one)
            return base, more + (value if is_sum else -value)
    return own, 0


# Module state: by id, traced numbers that are never negative. An entry goes when the number goes.
_natural: dict[int, weakref.ref[Any]] = {}
_KEEP_NATURAL = frozenset(("add", "mul", "max", "min", "convert_element_type"))


def natural(number: Any) -> Any:
    """The number, of which is remembered that it is never negative: k in `for k in range(n)`."""
    for own in (number, staged(number)):
        if isinstance(own, jax.Array):
            key = id(own)
            _natural[key] = weakref.ref(own, lambda _, key=key, known=_natural: known.pop(key, None))
    return number


def is_noted_natural(number: Any) -> bool:
    return (known := _natural.get(id(number))) is not None and known() is number


def is_natural(number: Any, depth: int = 8) -> bool:
    """Is a traced integer known to be never negative?"""
    if is_noted_natural(number):
        return True
    if not isinstance(number, jax.Array) or (value := literal(number)) is not None:
        return isinstance(number, int) and number >= 0 or isinstance(number, jax.Array) and value >= 0
    own = staged(number)
    parent = parent_of(own)
    if parent is None and depth and (there := outside(own)) is not None:
        return is_natural(there, depth - 1)
    if parent is None or str(parent.primitive) not in _KEEP_NATURAL or not depth:
        return own is not number and own is not None and is_natural(own, depth - 1)
    return all(is_natural(part, depth - 1) for part in parent.in_tracers)


_PURE = frozenset(
    "add sub mul neg min max sign clamp select_n lt le gt ge eq ne and or not convert_element_type reduce_sum jit pjit".split()
)
_DEEPEST = 8


def is_same_number(first: Any, second: Any, depth: int = _DEEPEST) -> bool:
    """Are these sure to be the same, as the two are in `A[k + 1 :, k + 1 :]`: computed alike from the same?"""
    if first is second:
        return True
    one, other = (literal(x) if isinstance(x, jax.Array) else x for x in (first, second))
    if isinstance(one, int | np.integer) and isinstance(other, int | np.integer):
        return int(one) == int(other)
    one, other = staged(first), staged(second)
    if one is None or other is None:
        return False
    if one is other:
        return True
    made, like = parent_of(one), parent_of(other)
    if made is None or like is None or made.primitive is not like.primitive or str(made.primitive) not in _PURE or not depth:
        return False
    if len(made.in_tracers) != len(like.in_tracers) or not _same_parameters(made.params, like.params):
        return False
    return all(is_same_number(*pair, depth - 1) for pair in zip(made.in_tracers, like.in_tracers, strict=True))


def _same_parameters(first: dict[str, Any], second: dict[str, Any]) -> bool:
    return first.keys() == second.keys() and all(_is_same(first[name], second[name]) for name in first)


def _is_same(first: Any, second: Any) -> bool:
    return first is second or not isinstance(first, np.ndarray | jax.Array) and bool(first == second)
