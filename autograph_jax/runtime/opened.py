"""Objects with `__jax_array__` as arguments and results of transforms: JAX sees their arrays, the function such objects.

    ag.jit(f)(p)   ->   f gets a copy of p, whose attribute for the array holds a tracer

Where the function returns that, the caller gets p. An object that computes its array comes in as the array.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core

from autograph_jax.errors import StructureError, user_location
from autograph_jax.operators.tracing import reach
from autograph_jax.operators.values.array_likes import is_array_like
from autograph_jax.runtime.array_likes import array_of
from autograph_jax.runtime.snapshots import Identity
from autograph_jax.runtime.statics import Static


class Opened:
    """Such an object as a pytree with its array as the one leaf, or with none where the array is no part of a trace.

    Under a bare `lower(...).compile()`, `value` is the object.
    """

    __slots__ = ("array", "template")

    def __init__(self, template: Template, array: Any) -> None:
        self.template, self.array = template, array

    @property
    def value(self) -> Any:
        return self.template.object if self.array is None else self.template.around(self.array)


class Template:
    """An object without its array: equal to others of its class with the same further attributes.

    `number` says which of a call's arguments it is, where a function returns one of these.
    """

    __slots__ = ("_attributes", "_key", "number", "object")

    def __init__(self, value: Any, array: Any, number: int | None = None) -> None:
        names = reach.attributes(value)
        parts = [(name, reach.attribute(value, name, None)) for name in names]
        self.number, self.object = number, value
        self._attributes = [name for name, part in parts if part is array]
        others = tuple((name, _compared(part)) for name, part in parts if part is not array)
        self._key = Identity(value) if array is None else (type(value), number, tuple(self._attributes), others)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and self._key == other._key

    def __repr__(self) -> str:
        return type(self.object).__name__

    @property
    def keeps_its_array(self) -> bool:
        return bool(self._attributes)

    def around(self, array: Any) -> Any:
        """Such an object around another array; the array alone where no attribute holds it."""
        if not self._attributes:
            return array
        made = copy.copy(self.object)
        for name in self._attributes:
            object.__setattr__(made, name, array)
        return made


def _compared(value: Any) -> Any:
    try:
        return Static(value)
    except TypeError:
        return Identity(value)


def _leaves(opened: Opened) -> tuple[tuple[Any, ...], Template]:
    return () if opened.array is None else (opened.array,), opened.template


def _rebuilt(template: Template, arrays: Sequence[Any]) -> Opened:
    return Opened(template, arrays[0] if arrays else None)


jax.tree_util.register_pytree_node(Opened, _leaves, _rebuilt)


def is_opened(value: Any) -> bool:
    return type(value) is Opened


def is_made(value: Any) -> bool:
    """Is this an object that the function has made, not one of its arguments?"""
    return is_opened(value) and value.template.number is None


def holds_array_like(*values: Any) -> bool:
    return any(map(is_array_like, jax.tree.leaves(values)))


def opened(values: Any) -> tuple[Any, list[Any]]:
    """Arguments with such objects as pytrees, and these objects."""
    leaves, structure = jax.tree.flatten(values)
    if not any(map(is_array_like, leaves)):
        return values, []
    originals: list[Any] = []
    return structure.unflatten([_open(leaf, originals) for leaf in leaves]), originals


def _open(leaf: Any, originals: list[Any]) -> Any:
    if not is_array_like(leaf):
        return leaf
    originals.append(leaf)
    array = array_of(leaf)
    return Opened(Template(leaf, array, len(originals) - 1), array)


def inside(values: Any) -> tuple[Any, list[tuple[Any, Opened]]]:
    """Arguments as the function gets them, and what each object was made of."""
    leaves, structure = jax.tree.flatten(values, is_leaf=is_opened)
    if not any(map(is_opened, leaves)):
        return values, []
    made: list[tuple[Any, Opened]] = []
    for position, leaf in enumerate(leaves):
        if is_opened(leaf):
            leaves[position] = leaf.value
            made.append((leaves[position], leaf))
    return structure.unflatten(leaves), made


def closed(result: Any, made: Sequence[tuple[Any, Opened]]) -> Any:
    """A result with objects as pytrees, where an attribute holds their array and the others hold nothing of a trace."""
    if reach.is_circular(result):
        raise StructureError(
            "a list, tuple or dict that holds itself is returned, which JAX would follow without end",
            location=user_location(),
            help="return what it holds",
        )
    leaves, structure = jax.tree.flatten(result)
    if not any(map(is_array_like, leaves)):
        return result
    return structure.unflatten([_close(leaf, made) if is_array_like(leaf) else leaf for leaf in leaves])


def _close(leaf: Any, made: Sequence[tuple[Any, Opened]]) -> Any:
    array = array_of(leaf)
    if not isinstance(array, jax.core.Tracer):
        return Opened(Template(leaf, None), None)
    template = Template(leaf, array)
    for value, given in made:
        same = Template(leaf, array, given.template.number)
        if leaf is value and array is given.array and same == given.template:
            return given
    others = [reach.attribute(leaf, name, None) for name in reach.attributes(leaf) if name not in template._attributes]
    return Opened(template, array) if template.keeps_its_array and not any(map(reach.holds_traced, others)) else leaf


def built(tree: Any, originals: Sequence[Any] = ()) -> Any:
    """A result with objects in place of such pytrees; of `originals` where the function has returned one of its arguments."""

    def build(part: Any) -> Any:
        if not is_opened(part):
            return part
        number = part.template.number
        return part.value if number is None or not originals else originals[number]

    return _mapped(build, tree)


def arrays_in(tree: Any) -> Any:
    """A tree with arrays in place of such pytrees, and of such objects."""
    return _mapped(_array_in, tree)


def _array_in(part: Any) -> Any:
    if is_opened(part) and part.array is not None:
        return arrays_in(part.array)
    return array_of(part.value if is_opened(part) else part)


def structured(structure: Any, tangents: Any) -> Any:
    """Tangents in the structure of their primals, whose objects are opened."""
    opens = any(is_opened(part) for part in _parts(structure))
    return structure.unflatten(jax.tree.leaves(arrays_in(tangents))) if opens else tangents


def _parts(structure: Any) -> list[Any]:
    return jax.tree.leaves(structure.unflatten([0] * structure.num_leaves), is_leaf=is_opened)


def _mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    leaves, structure = jax.tree.flatten(tree, is_leaf=is_opened)
    if not any(is_opened(leaf) or is_array_like(leaf) for leaf in leaves):
        return tree
    return structure.unflatten(map(change, leaves))


def opening(call: Callable[..., Any]) -> Callable[..., Any]:
    """`call` for arguments that may hold such objects; so may its result."""

    def call_opened(*values: Any) -> Any:
        given, originals = opened(values)
        result = call(*given)
        return built(result) if originals or _holds_opened(result) else result

    return call_opened


def _holds_opened(tree: Any) -> bool:
    return any(map(is_opened, jax.tree.leaves(tree, is_leaf=is_opened)))
