"""Members of classes: which function runs where one is read or called, and how a check sees that the class still has it.

class Model:
    def step(self, x): ...      # `Model.step is f`: not replaced, and not overridden in a class below
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import types
from collections.abc import Callable
from typing import Any

from autograph_jax.operators.tracing.cached import CachedProperty
from autograph_jax.runtime.captured_values import unwrapped
from autograph_jax.runtime.classes import original_of

_CACHED = (functools.cached_property, CachedProperty)
_GIVES_ITSELF = (types.FunctionType, property, *_CACHED)  # where it is read of the class
_HOLDS_FUNCTION = (functools.cached_property, functools.partialmethod, functools.singledispatchmethod)
Root = Callable[[Any], str]  # the name of a value in a check


def owners_of(kind: type, attribute: str) -> list[type]:
    """The classes that have a member of this name, in the order in which Python looks."""
    return [owner for owner in kind.__mro__ if attribute in vars(owner)]


def kind_with(target: Any, attribute: str) -> type | None:
    """The class in which Python looks for what an object does not have itself: of a class, itself, then its metaclass."""
    kinds = (target, type(target)) if isinstance(target, type) else (type(target),)
    return next((kind for kind in kinds if owners_of(kind, attribute)), None)


def is_cached(kind: type, attribute: str) -> bool:
    """Is this a cached property, whose value the object keeps?"""
    return isinstance(inspect.getattr_static(kind, attribute, None), _CACHED)


@dataclasses.dataclass(frozen=True)
class Member:
    """What objects of a class `kind` have from the class `owner`, itself or one above, under a name."""

    kind: type
    owner: type
    attribute: str

    @property
    def value(self) -> Any:
        return vars(self.owner)[self.attribute]

    @property
    def wrapped(self) -> Any:
        """What a property, a method of the class and the like call: as it was before we converted it."""
        member = self.value
        if isinstance(member, property):
            return original_of(member.fget)
        if isinstance(member, staticmethod | classmethod):
            return original_of(member.__func__)
        return original_of(member.func if isinstance(member, _HOLDS_FUNCTION) else member)

    @property
    def function(self) -> types.FunctionType | None:
        """The user's function that runs where the member is read or called."""
        function = original_of(unwrapped(self.wrapped))
        return function if type(function) is types.FunctionType else None

    @property
    def below(self) -> tuple[type, ...]:
        """The classes in which Python looks before that."""
        return self.kind.__mro__[: self.kind.__mro__.index(self.owner)]

    @property
    def is_first(self) -> bool:
        return owners_of(self.kind, self.attribute)[0] is self.owner

    @property
    def may_be_hidden(self) -> bool:
        """May an object have an attribute of this name that comes first? Not before a property, or what Python calls itself."""
        is_special = self.attribute.startswith("__") and self.attribute.endswith("__")
        return not (is_special or hasattr(type(self.value), "__set__") or self.is_cached)

    @property
    def is_cached(self) -> bool:
        return isinstance(self.value, _CACHED)

    def is_of(self, kind: type) -> bool:
        return isinstance(self.value, kind)

    def text(self, root: Root) -> str:
        """The member itself, where reading it would call something."""
        return f"{root(self.owner)}.__dict__[{self.attribute!r}]"

    def stays(self, root: Root) -> str:
        """The condition that the class has this member."""
        member, read = self.value, f"{root(self.kind)}.{self.attribute}"
        if not self._is_hidden_by_metaclass():
            if type(member) in _GIVES_ITSELF or not hasattr(type(member), "__get__"):
                return f"{read} is {root(member)}"
            if type(member) is staticmethod:
                return f"{read} is {root(member.__func__)}"
            if type(member) is classmethod and type(member.__func__) is types.FunctionType:
                return f"{read}.__func__ is {root(member.__func__)}"
        return f"{self.text(root)} is {root(member)}"

    def _is_hidden_by_metaclass(self) -> bool:
        return hasattr(type(inspect.getattr_static(type(self.kind), self.attribute, None)), "__set__")
