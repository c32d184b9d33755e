"""Objects with `__jax_array__`, and arrays of ported code, in calls of JAX's functions, which are handed JAX's arrays."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.operators.values import selection
from autograph_jax.operators.values.array_likes import is_array_like
from autograph_jax.operators.values.choices import Choice, refusal
from autograph_jax.porting.arrays import MutableArray


def array_of(value: Any) -> Any:
    """The array that a value stands for; the value itself where it stands for none."""
    if type(value) is Choice and value._may_be_unbound():
        return array_of(value._bound())
    if type(value) is Choice:
        likes = any(map(is_array_like, value._options))
        return selection.of_choice(value, array_of, "as an array") if likes else selection.in_one_piece(value)
    if type(value) is MutableArray:
        return jnp.asarray(value.value)
    return value.__jax_array__() if is_array_like(value) else value


# Module state: types of which nothing stands for an array. JAX's own come in when they are met.
_PLAIN: set[type] = {bool, int, float, complex, str, type(None), np.ndarray, types.FunctionType}


def handing_arrays(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a library, which is handed arrays in place of what stands for them."""

    return _handing(function, arrays_of)


def handing_containers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of a library, which is handed pytrees: one in place of several of which traced data has chosen one."""

    return _handing(function, containers_of)


def _handing(function: Callable[..., Any], opened: Callable[[Any], Any]) -> Callable[..., Any]:
    def apply(*arguments: Any, **keywords: Any) -> Any:
        if keywords or not all(map(_is_plain, arguments)):
            arguments, keywords = opened((arguments, keywords))
        return function(*arguments, **keywords)

    return apply


def containers_of(tree: Any) -> Any:
    """A tree with one list or dict in place of several of which traced data has chosen one."""
    try:
        leaves, structure = jax.tree.flatten(tree, is_leaf=lambda part: type(part) is Choice)
    except (TypeError, ValueError):  # a dict whose keys have no order, say: no pytree
        return tree
    if not any(type(leaf) is Choice for leaf in leaves):
        return tree
    return structure.unflatten(_container(leaf) if type(leaf) is Choice else leaf for leaf in leaves)


def _container(choice: Choice) -> Any:
    whole = selection.in_one_piece(choice)
    if whole is choice and any(isinstance(option, dict | list) for option in choice._options):
        raise refusal(choice, "as a pytree")
    return whole


def _is_plain(argument: Any) -> bool:
    kind = type(argument)
    if kind not in _PLAIN and issubclass(kind, jax.Array):
        _PLAIN.add(kind)
    return kind in _PLAIN


_GIVING = "__autograph_jax_giving__"


def giving_arrays(function: types.FunctionType) -> Callable[..., Any]:
    """The body of a loop or branch of lax, which gives arrays. Kept with the function, by whose identity JAX caches."""
    owner, kept = function.__dict__.get(_GIVING, (None, None))
    if owner is not function:  # functools.wraps copies attributes

        @functools.wraps(function)
        def giving(*arguments: Any, **keywords: Any) -> Any:
            return arrays_of(function(*arguments, **keywords))

        _, kept = function.__dict__[_GIVING] = function, giving
    return kept


def arrays_of(tree: Any) -> Any:
    """A tree with arrays in place of what stands for them."""
    leaves, structure = jax.tree.flatten(tree, is_leaf=lambda part: type(part) is Choice)
    if not any(type(leaf) in (Choice, MutableArray) or is_array_like(leaf) for leaf in leaves):
        return tree
    return structure.unflatten(map(array_of, leaves))
