"""`@cached_property` and `@lru_cache` where traced data decides whether something is computed for the first time."""

from __future__ import annotations

import functools
import gc
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from autograph_jax.errors import StagingError, user_location
from autograph_jax.operators import hooks
from autograph_jax.operators.conditionals import if_expr
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.places import Attribute, Place, outliving
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


CachedFunction = type(functools.lru_cache(lambda: None))


def of_cached(function: Any) -> Callable[..., Any]:
    """A function with a cache of Python's. What a block computes for it stays out of the cache: it may be a path not taken."""
    if not state.traces():
        return function

    def apply(*arguments: Any, **keywords: Any) -> Any:
        if any(map(reach.holds_traced, (*arguments, *keywords.values()))):
            raise _refusal(function, "It is called with a traced value, which is no key.")
        key = _key(function, arguments, keywords)
        block = next((trace for trace in reversed(state.traces()) if not isinstance(trace, state.Attempt)), state.traces()[0])
        if any(key in held for held in gc.get_referents(function) if type(held) is dict and held is not function.__dict__):
            return _kept_by(function, arguments, keywords, block)
        known = block.cached
        if (function, key) not in known:
            value = _computed(function, arguments, keywords)
            if not reach.is_plain(value) or isinstance(value, np.ndarray):  # which is one object for all that ask
                value = _kept_by(function, arguments, keywords, block)
            known[function, key] = value
            _guard(block, reach.everything(value), function)
        return known[function, key]

    return apply


def _kept_by(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any], block: state.Trace) -> Any:
    """What the cache keeps: it is there beside the block, so that what is done to make it stays."""
    with state.making_again():
        value = function(*arguments, **keywords)
    state.meet(reach.everything(value))
    _guard(block, (part for part in reach.everything(value) if isinstance(part, np.ndarray)), function)
    return value


def _guard(block: state.Trace, parts: Iterable[Any], function: Any) -> None:
    """Nobody in the block may change what the function has given; what is noted there by itself may be older than the block."""
    for part in parts:
        if isinstance(part, np.ndarray):
            block.frozen.freeze(part)
        if isinstance(part, np.ndarray) or id(part) not in block.older:
            block.of_caches[id(part)] = function.__name__


def _key(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The key of functools' own, as its code in C makes it."""
    typed = function.cache_parameters()["typed"]
    if not keywords and not typed:
        return arguments[0] if len(arguments) == 1 and type(arguments[0]) in (int, str) else arguments
    mark = tuple(part for part in gc.get_referents(function) if type(part) is object) if keywords else ()
    items = tuple(part for item in keywords.items() for part in item)
    return (*arguments, *mark, *items, *(map(type, (*arguments, *keywords.values())) if typed else ()))


def _computed(function: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    """The value of a function that only computes. One that writes would do so once, and a tracer ends with the block."""
    with state.attempt() as attempt:
        value = hooks.call(function.__wrapped__)(*arguments, **keywords)
        if reach.holds_traced(value):
            raise _refusal(function, "What it gives depends on traced data, and would be kept beyond the block.")
        if _writes([place for place, _ in attempt.log.values()], value):
            raise _refusal(function, "It changes something, which a second call with the same arguments would not do.")
    return value


def _writes(places: list[Place], value: Any) -> bool:
    """Has one of these places been there before the call?"""
    own = set(map(id, reach.everything(value)))
    older = state.traces()[-1].older
    return any(id(place.target) in older or id(place.target) not in own for place in outliving(places))


def _refusal(function: Any, reason: str) -> StagingError:
    return StagingError(
        f"`{function.__name__}`, which has a cache, is computed in a block that traced data decides about",
        location=user_location(),
        details=[reason],
        help="call it before the block, or leave the cache out: `" + function.__name__ + ".__wrapped__(...)`",
    )
