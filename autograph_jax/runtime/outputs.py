"""What a compiled function returns beside arrays: strings, enums, objects, and choices come out as themselves.

A call that is compiled already runs no Python, so what is no array stands in the output's tree, in a node without leaves. An
object that holds arrays is a node with these as its leaves, and is built anew for each call.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import enum
import sys
from collections.abc import Iterator
from typing import Any

import jax
import jax.core

from autograph_jax.errors import StructureError
from autograph_jax.operators.effects.texts import Text, plain
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.values import forms
from autograph_jax.operators.values.choices import UNBOUND, Choice, decided
from autograph_jax.operators.values.containers import flatten, is_mutable, unflatten
from autograph_jax.runtime.opened import is_made


@dataclasses.dataclass(frozen=True)
class Kept:
    """An output that JAX does not know. Under a bare `jax.jit`, or from `lower(...).compile()`, its `value` is the output."""

    shape: _Shape
    leaves: list[Any]

    @property
    def value(self) -> Any:
        value = unflatten(self.shape.form, iter(self.leaves), _string)
        return copy.copy(value) if self.shape.copied else value


@dataclasses.dataclass(frozen=True)
class _Shape:
    """The Form of such an output; `copied` if it has no parts but the function has made it, so that each call gets its own."""

    form: Any
    copied: bool

    def __hash__(self) -> int:
        return hash(type(self.form))


jax.tree_util.register_pytree_node(
    Kept, lambda kept: (kept.leaves, kept.shape), lambda shape, leaves: Kept(shape, list(leaves))
)


def packed(box: list[Any]) -> Any:
    """The output, in a list that holds it alone, as JAX can return it."""
    leaves, structure = jax.tree.flatten(box, is_leaf=_is_choice)
    if all(map(_is_jax_type, leaves)):
        return box[0]
    packages: list[Any] = []
    leaves.reverse()
    while leaves:
        value = leaves.pop()
        packages.append(value if _is_jax_type(value) else _pack(value))
    return jax.tree.unflatten(structure, packages)[0]


def _is_jax_type(value: Any) -> bool:
    if isinstance(value, Choice):
        if any(option is UNBOUND for option in value._options):
            return False
        kept = (leaf for leaf in jax.tree.leaves(value._options) if not _is_jax_type(leaf))
        return all(map(_is_jax_type, jax.tree.leaves(value))) and not any(map(reach.holds_traced, kept))
    if isinstance(value, enum.Enum):
        return False  # also where it is a number
    # An iterator can be read once: to return one from every call would be wrong, and JAX refuses it.
    return isinstance(value, jax.Array | Iterator) or _has_type(value)


def _has_type(value: Any) -> bool:
    try:
        jax.typeof(value)
    except (TypeError, ValueError):  # ValueError: an object with __jax_array__
        return False
    return True


def _is_choice(value: Any) -> bool:
    return isinstance(value, Choice)


def _pack(value: Any) -> Any:
    """A value that nobody else holds is one that the function has made."""
    references = sys.getrefcount(value)
    traced = reach.holds_traced(value)
    made = isinstance(value, Choice) or is_mutable(value) and (traced or references <= _OWN[0])
    own = _own_parts(value) if made else set[int]()
    try:
        form, leaves = flatten(
            value, is_new=lambda part: made and (part is value or id(part) in own or reach.holds_traced(part))
        )
    except StructureError:  # an object that holds itself; JAX refuses it
        return value
    if isinstance(form, forms.Static) and traced:
        return value  # a closure over traced values, say; JAX refuses it
    _OWN[0] = _OWN[0] or references
    return Kept(_Shape(form, isinstance(form, forms.Static) and references <= _OWN[0] and _is_copied(value)), leaves)


def _own_parts(value: Any) -> set[int]:
    """What is in a value and nobody else holds, by id: the function has made it, too."""
    parts = [*reach.everything(value)]
    held = collections.Counter(id(part) for holder in parts for _, part in reach.parts(holder))
    spare = [sys.getrefcount(part) - held[id(part)] for part in parts]
    _SPARE[0] = _SPARE[0] or spare[-1]
    return {id(part) for part, count in zip(parts, spare, strict=True) if count <= _SPARE[0]}


def _is_copied(value: Any) -> bool:
    """Can a value be copied, and is it not its own copy, as strings and functions are?"""
    try:
        return copy.copy(value) is not value
    except Exception:  # whatever its class raises: a lock, an open file
        return False


# References to an object that only the output holds, which differ between versions of CPython. Set below, once.
_OWN, _SPARE = [0], [0]  # beside those in the output, while these are counted
_own_parts([set()])
packed([set()])


def unpacked(out: Any) -> Any:
    """The output as the function returned it: objects built, each Choice replaced by the option taken where that is known."""
    leaves, structure = jax.tree.flatten(out, is_leaf=_is_ours)
    if not any(map(_is_ours, leaves)):
        return out  # as it is: an option may be a dict or list that the user knows
    return jax.tree.unflatten(structure, map(_value, leaves))


def _is_ours(value: Any) -> bool:
    return isinstance(value, Choice | Text | Kept) or is_made(value)


def has_choice(out: Any) -> bool:
    """Is there a Choice in the output, or a string that holds arrays?"""
    return any(isinstance(leaf, Choice | Text) for leaf in jax.tree.leaves(out, is_leaf=_is_ours))


def has_kept(out: Any) -> bool:
    return any(isinstance(leaf, Kept) or is_made(leaf) for leaf in jax.tree.leaves(out, is_leaf=_is_ours))


def _is_in_text(value: Any) -> bool:
    return not isinstance(value, Text) and _is_ours(value)


def _in_text(value: Any) -> Any:
    return plain(value) if isinstance(value, jax.Array) else _value(value)


def _string(value: Any) -> Any:
    """A text whose values are known as what it is by then, a string."""
    if not isinstance(value, Text) or any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(value)):
        return value
    return str(jax.tree.map(_in_text, value, is_leaf=_is_in_text))


def _checked(value: Any) -> Any:
    """A value that is returned, if it has one: an attribute may not have been set."""
    if value is UNBOUND:
        raise AttributeError("an attribute is returned that has no value: traced data took a path that does not set it")
    return value


def _value(value: Any) -> Any:
    if isinstance(value, Kept) or is_made(value):
        return _checked(value.value)
    if isinstance(value, Text):
        return _string(value)
    if not isinstance(value, Choice):
        return value
    option = _checked(decided(value._index, value._options))
    return option if isinstance(option, Choice) and option._index is value._index else unpacked(option)
