"""`pop(k)`, `insert(k, x)`, `remove(x)` and `del values[k]` of a list, where traced data says at which place: the others move.

How many elements there are is known, so that each place holds one of two or three from then on.
"""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from autograph_jax.operators import builtins
from autograph_jax.operators.sequences import lists
from autograph_jax.operators.values import selection
from autograph_jax.operators.values.traced import is_traced


def pop(values: list[Any], *place: Any) -> Any:
    """`values.pop(k)`."""
    if not place or not is_place(place[0]):
        return values.pop(*place)
    position = _position(values, place[0], "pop index out of range")
    taken = selection.pick(jnp.clip(position, 0, len(values) - 1), list(values))
    _close(values, position)
    return taken


def delete(values: list[Any], place: jax.Array) -> None:
    """`del values[k]`."""
    _close(values, _position(values, place, "list assignment index out of range"))


def remove(values: list[Any], value: Any) -> None:
    """`values.remove(x)`: the first that is equal."""
    lists.check_known(values)
    position = builtins.index_of(values, value, error="list.remove(x): x not in list")
    if is_traced(position):
        _close(values, position)
    else:
        del values[position]


def insert(values: list[Any], place: Any, value: Any) -> None:
    """`values.insert(k, x)`, which takes any k."""
    if not is_place(place):
        return values.insert(place, value)
    lists.check_known(values)
    size = len(values)
    position = jnp.clip(jnp.where(place < 0, place + size, place), 0, size)
    new = []
    for number in range(size + 1):
        # What stands here: what stood here, the new one, or what stood before it.
        options = [*values[number : number + 1], value, *values[max(number - 1, 0) : number]]
        which = jnp.sign(number - position) + (1 if number < size else 0)
        new.append(selection.pick(jnp.clip(which, 0, len(options) - 1), options))
    values[:] = new


def is_place(place: Any) -> bool:
    """Is this an integer that only traced data tells?"""
    return isinstance(place, jax.Array) and is_traced(place) and not place.ndim and jnp.issubdtype(place.dtype, jnp.integer)


def _position(values: list[Any], place: jax.Array, text: str) -> jax.Array:
    lists.check_known(values)
    return selection.position_in(len(values), place, IndexError(text))


def _close(values: list[Any], position: jax.Array) -> None:
    """Let those behind a place move by one."""
    pairs = zip(values[:-1], values[1:], strict=True)
    values[:] = [
        selection.pick(jnp.asarray(number >= position, jnp.int32), [own, next_one])
        for number, (own, next_one) in enumerate(pairs)
    ]
