"""The texts of Python's own containers, in parts: `deque([x])` is shown as "deque(", the text of `[x]`, and ")".

By the function that makes the text, so that classes which derive from a container are shown as Python shows them.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
import gc
import sys
import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any


@dataclasses.dataclass(frozen=True)
class Asked:
    """What stands in a text as Python shows it: by `repr`, or with the conversion `s` by `str`."""

    value: Any
    conversion: str = "r"


@dataclasses.dataclass(frozen=True)
class Counts:
    """A counter's elements and counts, which are shown with the largest first."""

    value: dict[Any, Any]


Parts = Iterable[str | Asked | Counts]


def parts(function: Any, value: Any) -> Parts | None:
    """The text that `function` makes of a value, `deque.__repr__` for one; None where it is no container's."""
    if isinstance(function, types.FunctionType) and function.__code__ is _NAMED:
        return _of_named_tuple(value)
    try:
        of_container = _PARTS.get(function)
    except TypeError:  # no such function: it has no hash
        return None
    return None if of_container is None else of_container(value)


def is_known(function: Any) -> bool:
    return function in _PARTS


def _listed(values: Iterable[Any]) -> Iterator[str | Asked]:
    for number, value in enumerate(values):
        yield ", " * bool(number)
        yield Asked(value)


def _called(name: str, *content: Any) -> Parts:
    return (f"{name}(", *_listed(content), ")")


def _by_name(fields: Iterable[tuple[Any, Any]]) -> Iterator[str | Asked]:
    for number, (name, value) in enumerate(fields):
        yield f"{', ' * bool(number)}{name}="
        yield Asked(value)


def _name(value: Any) -> str:
    return type(value).__name__


def _of_named_tuple(value: Any) -> Parts:
    return (f"{_name(value)}(", *_by_name(zip(value._fields, value, strict=True)), ")")


def _of_set(value: Any) -> Parts:
    if not value:
        return (f"{_name(value)}()",)
    content = ("{", *_listed(value), "}")
    return content if type(value) is set else (f"{_name(value)}(", *content, ")")


def _of_deque(value: collections.deque[Any]) -> Parts:
    end = ")" if value.maxlen is None else f", maxlen={value.maxlen})"
    return (f"{_name(value)}(", Asked(list(value)), end)


def _of_ordered_dict(value: Any) -> Parts:
    if not value:
        return (f"{_name(value)}()",)
    return _called(_name(value), dict(value.items()) if sys.version_info >= (3, 12) else list(value.items()))


def _of_namespace(value: types.SimpleNamespace) -> Parts:
    name = "namespace" if type(value) is types.SimpleNamespace else _name(value)
    return (f"{name}(", *_by_name(vars(value).items()), ")")


def _of_counter(value: Any) -> Parts:
    return (f"{_name(value)}(", Counts(dict(value)), ")") if value else (f"{_name(value)}()",)


def _mapping(value: types.MappingProxyType[Any, Any]) -> Any:
    return gc.get_referents(value)[0]


_NAMED = collections.namedtuple("_NAMED", "field").__repr__.__code__  # which all named tuples share
_PARTS: dict[Any, Callable[[Any], Parts]] = {
    list.__repr__: lambda value: [Asked(list(list.__iter__(value)))],
    tuple.__repr__: lambda value: [Asked(tuple(tuple.__iter__(value)))],
    dict.__repr__: lambda value: [Asked(dict(dict.items(value)))],
    **dict.fromkeys((set.__repr__, frozenset.__repr__), _of_set),
    **{type(view).__repr__: lambda value: _called(_name(value), list(value)) for view in ({}.keys(), {}.values(), {}.items())},
    slice.__repr__: lambda value: _called("slice", value.start, value.stop, value.step),
    collections.deque.__repr__: _of_deque,
    collections.OrderedDict.__repr__: _of_ordered_dict,
    collections.defaultdict.__repr__: lambda value: _called(_name(value), value.default_factory, dict(dict.items(value))),
    collections.Counter.__repr__: _of_counter,
    collections.ChainMap.__repr__: lambda value: _called(_name(value), *value.maps),
    **dict.fromkeys((collections.UserList.__repr__, collections.UserDict.__repr__), lambda value: [Asked(value.data)]),
    types.SimpleNamespace.__repr__: _of_namespace,
    types.MappingProxyType.__repr__: lambda value: _called("mappingproxy", _mapping(value)),
    types.MappingProxyType.__str__: lambda value: [Asked(_mapping(value), "s")],
    functools.partial.__repr__: lambda value: (
        "functools.partial(" if type(value) is functools.partial else f"{type(value).__qualname__}(",
        *_listed((value.func, *value.args)),
        *(part for name, one in value.keywords.items() for part in (f", {name}=", Asked(one))),
        ")",
    ),
}
