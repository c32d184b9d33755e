"""What `x[i] = v`, `o.a = v`, `x[i] += v` and `del` do: in place on what is mutable, `x.at[i].set(v)` on JAX arrays.

Every write is noted in the running trace, so that a staged block finds its state. The value comes first in all of these,
because Python evaluates it first.
"""

from __future__ import annotations

import collections
import dataclasses
import operator
import types
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import ImmutableError, user_location
from autograph_jax.operators import hooks, state
from autograph_jax.operators.state import Attribute, Content

_CONTAINERS = (list, dict, set, collections.deque)


def set_item(value: Any, target: Any, index: Any, aliases: Callable[[], Any] | None = None) -> Any:
    """`target[index] = value`; gives the target, or the new array that takes its place.

    `aliases` is a function that holds the other variables which may be this array, in its closure.
    """
    if isinstance(target, jax.Array) or isinstance(target, np.ndarray) and _has_array(value, index):
        new = _updated(target, index, value)
        _rebind_aliases(aliases, target, new)
        return new
    if isinstance(target, tuple) and isinstance(value, jax.Array):
        raise ImmutableError(
            "an array in a tuple is written in place, and neither JAX arrays nor tuples can change",
            location=user_location(),
            help="keep it in a list, or build a new tuple",
        )
    note_content(target)
    target[index] = value
    return target


def put_item(value: Any, target: Any, index: Any) -> None:
    """`target[index] = value` where no variable of the function holds the target: only what can change by itself."""
    if set_item(value, target, index) is not target:
        raise _nobodys_variable()


def _nobodys_variable() -> ImmutableError:
    return ImmutableError(
        "a JAX array is written in place that no local variable holds",
        location=user_location(),
        details=["JAX arrays don't change; a variable of this function has to take the new array."],
        help="give it a name first, write, and pass the new array on: `y = f(); y[0] = 1`",
    )


def _has_array(*values: Any) -> bool:
    return any(isinstance(leaf, jax.Array) for value in values for leaf in jax.tree.leaves(value))


def _updated(target: Any, index: Any, value: Any) -> jax.Array:
    """`target.at[index].set(value)` with NumPy's dtype rule: the array keeps its own."""
    array = jnp.asarray(target)
    if not isinstance(value, bool | int | float | complex):
        value = jnp.asarray(value)
    if getattr(value, "dtype", array.dtype) != array.dtype:
        value = value.astype(array.dtype)
    elif isinstance(value, float) and jnp.issubdtype(array.dtype, jnp.integer):
        value = int(value)  # y[i] = 2.7 on integers, as NumPy has it
    return array.at[index].set(value)


def _rebind_aliases(aliases: Callable[[], Any] | None, old: Any, new: Any) -> None:
    for cell in state.cells_of((aliases,)).values() if aliases is not None else ():
        if cell.read() is old:
            state.write(cell, new)


def note_content(target: Any) -> None:
    if isinstance(target, _CONTAINERS):
        state.note(Content(target))


def set_attr(value: Any, target: Any, name: str) -> None:
    """`target.name = value`."""
    member = getattr(type(target), name, None)
    if isinstance(member, property) and isinstance(member.fset, types.FunctionType):
        hooks.call(member.fset)(target, value)
        return
    state.note(Attribute(target, name))
    setattr(target, name, value)


def del_attr(target: Any, name: str) -> None:
    state.note(Attribute(target, name))
    delattr(target, name)


def del_item(target: Any, index: Any) -> None:
    note_content(target)
    del target[index]


# Longer paths: `d['a'][i] = v`, `self.rows[i][j] = v`


@dataclasses.dataclass(frozen=True)
class _Attr:
    name: str

    def read(self, target: Any) -> Any:
        return getattr(target, self.name)

    def write(self, value: Any, target: Any) -> Any:
        set_attr(value, target, self.name)
        return target


@dataclasses.dataclass(frozen=True)
class _Item:
    index: Any

    def read(self, target: Any) -> Any:
        return target[self.index]

    def write(self, value: Any, target: Any) -> Any:
        return set_item(value, target, self.index)


attr = _Attr


class _ItemMaker:
    """`item[a:b]` is the step `[a:b]`."""

    def __getitem__(self, index: Any) -> _Item:
        return _Item(index)


class _IndexMaker:
    """`at[a:b]` is the index `slice(a, b)`."""

    def __getitem__(self, index: Any) -> Any:
        return index


item = _ItemMaker()
at = _IndexMaker()


def set_path(value: Any, root: Any, *steps: _Attr | _Item) -> Any:
    """Write at the end of a path; arrays on the way are replaced in what holds them. Gives the root."""
    step, *rest = steps
    if rest:
        inner = step.read(root)
        new = set_path(value, inner, *rest)
        if new is inner:
            return root
        value = new
    return step.write(value, root)


def put_path(value: Any, root: Any, *steps: _Attr | _Item) -> None:
    """`set_path` where no variable of the function holds the root."""
    if set_path(value, root, *steps) is not root:
        raise _nobodys_variable()


def _inplace(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def apply(old: Any, value: Any) -> Any:
        note_content(old)
        return operation(old, value)

    apply.__name__ = apply.__qualname__ = operation.__name__
    return apply


iadd, isub, imul, itruediv = map(_inplace, (operator.iadd, operator.isub, operator.imul, operator.itruediv))
ifloordiv, imod, ipow, imatmul = map(_inplace, (operator.ifloordiv, operator.imod, operator.ipow, operator.imatmul))
ilshift, irshift, iand, ior, ixor = map(
    _inplace, (operator.ilshift, operator.irshift, operator.iand, operator.ior, operator.ixor)
)
