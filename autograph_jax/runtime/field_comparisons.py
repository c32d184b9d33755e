"""`==`, `<`, `<=`, `>` and `>=` that `dataclasses` writes for a user's class: the fields are compared as tuples of them are.

What it writes has no source text, and asks each comparison of two fields for a plain bool.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.operators import comparisons, jax_private

Comparison = Callable[[Any, Any], Any]
_COMPARISONS: dict[str, Comparison] = {"__eq__": comparisons.equal} | {
    name: comparisons.ordered(symbol) for name, symbol in {"__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}.items()
}


def of(kind: type) -> dict[str, Comparison]:
    """The comparisons in a class that `dataclasses` has written there, by their twins."""
    members = vars(kind)
    if "__dataclass_params__" not in members:
        return {}
    written = {name: members[name] for name in _COMPARISONS if _is_generated(members.get(name))}
    return {name: _twin(kind, member, _COMPARISONS[name]) for name, member in written.items()}


def by_fields(kind: type) -> bool:
    """Are objects of this class compared by `==` as `dataclasses` has written it?"""
    equal: Any = kind.__eq__
    return dataclasses.is_dataclass(kind) and _is_generated(getattr(equal, "__wrapped__", equal))


def _is_generated(member: Any) -> bool:
    return isinstance(member, types.FunctionType) and member.__code__.co_filename == "<string>"


def _twin(kind: type, original: types.FunctionType, compare: Comparison) -> Comparison:
    names = [field.name for field in dataclasses.fields(kind) if field.compare]

    @functools.wraps(original)
    def compared(self: Any, other: Any) -> Any:
        if not jax_private.tracing() or other.__class__ is not self.__class__:
            return original(self, other)
        ours, theirs = (tuple(getattr(one, name) for name in names) for one in (self, other))
        return compare(ours, theirs) if comparisons.may_answer_traced(ours + theirs) else original(self, other)

    return compared
