"""`out_axes={'loss': None}`: what an option says of the parts of a result, by their names.

The body's result is taken apart into the parts that are named and the others, so that the option is a tree for both; what
puts it together again stands beside them, in a node without leaves.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax

from autograph_jax.errors import ArgumentError, user_location


class ByName(NamedTuple):
    """A body whose result is taken apart, what is said of it, and how the function's own result is made of it."""

    body: Callable[..., Any]
    said: Any
    together: Callable[[Any], Any]


def by_name(body: Callable[..., Any], option: str, said: Any, rest: Any) -> ByName:
    """`said` is for the whole result, or a dict by name; parts that it does not name get `rest`."""
    if not isinstance(said, Mapping):
        return ByName(body, said, lambda result: result)

    @functools.wraps(body)
    def apart(*values: Any) -> Any:
        return _apart(body(*values), said, option, body.__name__)

    return ByName(apart, (dict(said), rest, rest), _together)


@jax.tree_util.register_static
class _Structure(NamedTuple):
    treedef: Any
    names: tuple[str, ...]


def _apart(result: Any, said: Mapping[str, Any], option: str, function: str) -> tuple[Any, Any, _Structure]:
    parts, treedef = jax.tree_util.tree_flatten_with_path(result, is_leaf=lambda part: part is not result)
    names = [_name(path) for path, _ in parts]
    values = dict(zip(names, (value for _, value in parts), strict=True))
    for name in said:
        if name not in values:
            raise ArgumentError(
                f"`{option}={name!r}`: the result of `{function}` has no part `{name}`",
                location=user_location(),
                details=[f"Its parts are {', '.join(map(repr, names))}." if any(names) else "It has no parts with names."],
                help="name keys of a dict, or fields of a NamedTuple or dataclass",
            )
    others = {name: value for name, value in values.items() if name not in said}
    return {name: values[name] for name in said}, others, _Structure(treedef, tuple(names))


def _name(path: Any) -> Any:
    """`['loss']`, `.loss`, `[0]`: the key, attribute or index of a part; "" for a result without parts."""
    return next((getattr(key, "key", getattr(key, "name", getattr(key, "idx", ""))) for key in path), "")


def _together(result: Any) -> Any:
    named, others, structure = result
    return structure.treedef.unflatten([named[name] if name in named else others[name] for name in structure.names])
