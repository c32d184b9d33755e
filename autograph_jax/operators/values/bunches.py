"""Named tuples with further attributes, which JAX takes for plain named tuples: it is told of these when they are met."""

from __future__ import annotations

from typing import Any

import jax

# Module state: the classes that JAX has been told of. It only grows.
_known: set[type] = set()


def meet(value: Any) -> None:
    """Let JAX take this apart with its attributes: the results of `scipy.stats` have some that are no elements."""
    kind = type(value)
    if not isinstance(value, tuple) or not hasattr(kind, "_fields") or kind in _known or not getattr(value, "__dict__", None):
        return
    _known.add(kind)
    jax.tree_util.register_pytree_node(kind, _flat, lambda names, parts: made(kind, names, parts))


def _flat(value: Any) -> tuple[Any, Any]:
    return (*value, *vars(value).values()), tuple(vars(value))


def made(kind: Any, names: tuple[str, ...], parts: Any) -> Any:
    """A tuple of this class; the last of its parts are attributes of these names."""
    parts = tuple(parts)
    made = tuple.__new__(kind, parts[: len(parts) - len(names)])
    vars(made).update(zip(names, parts[len(parts) - len(names) :], strict=True))
    return made
