"""A call as NumPy spells it, `np.clip(x, a_max=1)`, as JAX's function of the same name spells it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def spelt(theirs: Callable[..., Any], ours: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments, those by position that JAX's function does not know by this name."""
    kwargs = {name: value for name, value in kwargs.items() if value is not np._NoValue}
    if not kwargs:
        return args, kwargs
    try:
        known, places = inspect.signature(ours).parameters.values(), inspect.signature(theirs).parameters.values()
    except (TypeError, ValueError):
        return args, kwargs
    names = {one.name for one in known if one.kind in _BY_PLACE[1:] or one.kind is inspect.Parameter.KEYWORD_ONLY}
    kwargs = {name: value for name, value in kwargs.items() if name != "subok" or name in names}  # JAX has no subclasses
    unknown = kwargs.keys() - names
    places = [one for one in places if one.kind in _BY_PLACE]
    last = max((number for number, one in enumerate(places) if one.name in unknown), default=-1)
    for one in places[len(args) : last + 1]:
        if one.name not in kwargs and one.default is inspect.Parameter.empty:
            break
        value = kwargs.pop(one.name, one.default)
        args = (*args, None if value is np._NoValue else value)
    return args, kwargs


def with_out_by_name(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The arguments of `np.clip(x, 0, 1, y)` as those of `np.clip(x, 0, 1, out=y)`."""
    names = _places(function) if len(args) > 1 else ()
    if "out" not in names[: len(args)]:
        return args, kwargs
    place = names.index("out")
    return args[:place], kwargs | dict(zip(names[place:], args[place:], strict=False))


@functools.cache
def _places(function: Callable[..., Any]) -> tuple[str, ...]:
    try:
        return tuple(one.name for one in inspect.signature(function).parameters.values() if one.kind in _BY_PLACE)
    except (TypeError, ValueError):
        return ()
