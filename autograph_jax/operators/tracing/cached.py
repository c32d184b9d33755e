"""`@cached_property` that may be read for the first time where traced data decides whether it is read."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.tracing import state
from autograph_jax.operators.tracing.places import Attribute
from autograph_jax.operators.values.choices import UNBOUND, Choice


class CachedProperty(functools.cached_property):
    """A cached property whose cache is state: a block that fills it leaves "filled or not" behind, and no tracer.

    `r = m.norm if x > 0 else 0.0` fills the cache on one path. The next `m.norm` evaluates it on the other one.
    """

    @staticmethod
    def of(original: functools.cached_property[Any], function: Callable[[Any], Any]) -> CachedProperty:
        new = CachedProperty(function)
        new.attrname, new.__doc__ = original.attrname, original.__doc__
        return new

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        place = self._place(instance)
        kept = place.read()
        if not _may_be_unbound(kept):
            return kept
        value = self.func(instance) if kept is UNBOUND else _filled(kept, lambda: self.func(instance))
        state.write(place, value)
        return value

    # With these two, Python asks `__get__` before it looks into the instance.

    def __set__(self, instance: Any, value: Any) -> None:
        state.write(self._place(instance), value)

    def __delete__(self, instance: Any) -> None:
        place = self._place(instance)
        if place.read() is UNBOUND:
            raise AttributeError(self.attrname)
        state.write(place, UNBOUND)

    def _place(self, instance: Any) -> Attribute:
        if self.attrname is None:
            raise TypeError("Cannot use cached_property instance without calling __set_name__ on it.")
        if not hasattr(instance, "__dict__"):
            kind = type(instance).__name__
            raise TypeError(f"No '__dict__' attribute on {kind!r} instance to cache {self.attrname!r} property.")
        return Attribute(instance, self.attrname)


def _may_be_unbound(value: Any) -> bool:
    return value is UNBOUND or isinstance(value, Choice) and any(option is UNBOUND for option in value._options)


def _filled(kept: Choice, evaluate: Callable[[], Any]) -> Any:
    unbound = kept._where(lambda option: option is UNBOUND)
    return if_expr(unbound, evaluate, lambda: kept)  # which is known there not to be UNBOUND
