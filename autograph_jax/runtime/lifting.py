"""The traced values that a function closes over, taken out of it, and put back in as others.

    skeleton, traced = lift(lambda x: a * x)   ->   skeleton.filled(traced) is such a function again

Also what holds such a function or a traced value: methods, partials, containers, objects. What holds none stays as it is.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
import types
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.core
from jax.tree_util import Partial

from autograph_jax.operators.tracing import reach
from autograph_jax.operators.values.choices import Choice
from autograph_jax.operators.values.forms import same_static
from autograph_jax.runtime.calls import call


@dataclasses.dataclass(frozen=True)
class Skeleton:
    """A value without its traced parts, which have the names of the variables and attributes that hold them.

    Two are equal if they are the same code around the same values, so that JAX's caches may take one for the other.
    """

    root: Any
    names: tuple[str, ...] = dataclasses.field(compare=False)

    def __hash__(self) -> int:
        return hash((type(self.root), len(self.names)))

    def filled(self, leaves: Sequence[Any]) -> Any:
        return self.root.build(leaves, {})


def lift(value: Any) -> tuple[Skeleton, list[Any]]:
    """A value's skeleton and its traced parts."""
    if not _holds_traced(value):
        return Skeleton(_Same(value), ()), []
    lifter = _Lifter()
    root = lifter.lifted(value, "")
    return Skeleton(root, tuple(lifter.names)), lifter.leaves


def _is_tracer(value: Any) -> bool:
    return issubclass(type(value), jax.core.Tracer)


def _holds_traced(value: Any) -> bool:
    """Not `is_traced`, by which a tracer of an eager `jax.grad` is none."""
    return reach.holds(value, lambda part: _is_tracer(part) or type(part) is Choice)


# ------------------------------------------------------------------ values that JAX does not know, in the trees it sees


class Held:
    """Any Python value as a pytree, with its traced parts as leaves."""

    __slots__ = ("leaves", "skeleton")

    def __init__(self, skeleton: Skeleton, leaves: Sequence[Any]) -> None:
        self.skeleton, self.leaves = skeleton, leaves

    @property
    def value(self) -> Any:
        return self.skeleton.filled(self.leaves)


jax.tree_util.register_pytree_node(Held, lambda held: (held.leaves, held.skeleton), Held)


Guard = Callable[[Any, str], Any]


def held(value: Any, guard: Guard = lambda leaf, name: leaf) -> Held:
    """The value as a pytree; each traced part goes through `guard`, with its name."""
    skeleton, leaves = lift(value)
    return Held(skeleton, [guard(leaf, name) for leaf, name in zip(leaves, skeleton.names, strict=True)])


def as_partial(function: Callable[..., Any]) -> Partial:
    """A function as JAX's own kind of pytree that can be called: what it closes over is differentiated like an argument."""
    skeleton, leaves = lift(function)
    return Partial(_Caller(skeleton), leaves)


@dataclasses.dataclass(frozen=True)
class _Caller:
    skeleton: Skeleton

    def __call__(self, leaves: Sequence[Any], /, *arguments: Any, **keywords: Any) -> Any:
        return call(self.skeleton.filled(leaves))(*arguments, **keywords)


# ------------------------------------------------------------------ taking apart


@dataclasses.dataclass(frozen=True)
class _Hole:
    """A traced value, by its number."""

    number: int

    def build(self, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
        return leaves[self.number]


@dataclasses.dataclass(frozen=True, eq=False)
class _Same:
    """A value that holds nothing traced."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and same_static(self.value, other.value)

    def __hash__(self) -> int:
        return hash(type(self.value))

    def build(self, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
        return self.value


@dataclasses.dataclass(frozen=True)
class _Again:
    """A function inside itself: a recursive one closes over its own name."""

    number: int

    def build(self, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
        return made[self.number]


@dataclasses.dataclass(frozen=True)
class _Parts:
    """A container, method, partial or object: what `join` makes of its parts. Equal by `key`, of what it is besides these."""

    key: Any
    parts: tuple[Any, ...]
    join: Callable[[list[Any]], Any] = dataclasses.field(compare=False)

    def build(self, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
        return self.join([part.build(leaves, made) for part in self.parts])


@dataclasses.dataclass(frozen=True)
class _Function:
    """A function, by its code; `empty` is the function without what holds traced values."""

    code: types.CodeType
    number: int
    cells: tuple[Any, ...]
    defaults: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...]
    empty: types.FunctionType = dataclasses.field(compare=False)

    def build(self, leaves: Sequence[Any], made: dict[int, Any]) -> Any:
        new = made[self.number] = _emptied(self.empty, self.cells)
        for cell, part in zip(new.__closure__ or (), self.cells, strict=True):
            if not isinstance(part, _Same):
                cell.cell_contents = part.build(leaves, made)
        new.__defaults__ = tuple(part.build(leaves, made) for part in self.defaults) or None
        new.__kwdefaults__ = {name: part.build(leaves, made) for name, part in self.keywords} or None
        return new


def _emptied(function: Any, cells: Sequence[Any]) -> types.FunctionType:
    """The function with new, empty cells for what is not the same each time, and without defaults."""
    parts = zip(function.__closure__ or (), cells, strict=True)
    own = tuple(cell if isinstance(part, _Same) else types.CellType() for cell, part in parts)
    new = types.FunctionType(function.__code__, function.__globals__, function.__name__, closure=own or None)
    functools.update_wrapper(new, function, updated=())
    del new.__wrapped__
    return new


_EMPTY = object()  # a variable without a value


class _Lifter:
    def __init__(self) -> None:
        self.leaves: list[Any] = []
        self.names: list[str] = []
        self._numbers: dict[int, int] = {}  # of leaves, by id
        self._open: list[Any] = []  # what is being taken apart

    def lifted(self, value: Any, name: str) -> Any:
        if _is_tracer(value):
            return self._hole(value, name)
        if type(value) is types.FunctionType:
            functions = [id(function) for function in self._open if type(function) is types.FunctionType]
            return _Again(functions.index(id(value))) if id(value) in functions else self._inside(value, name, self._function)
        if any(value is other for other in self._open) or not _holds_traced(value):
            return _Same(value)
        return self._inside(value, name, self._parts)

    def _inside(self, value: Any, name: str, take: Callable[[Any, str], Any]) -> Any:
        self._open.append(value)
        try:
            taken = take(value, name)
        finally:
            self._open.pop()
        return taken

    def _hole(self, value: Any, name: str) -> _Hole:
        if id(value) not in self._numbers:
            self._numbers[id(value)] = len(self.leaves)
            self.leaves.append(value)
            self.names.append(name)
        return _Hole(self._numbers[id(value)])

    def _function(self, function: types.FunctionType, name: str) -> Any:
        if not _holds_traced(function):
            return _Same(function)
        number = sum(type(value) is types.FunctionType for value in self._open) - 1
        names = function.__code__.co_freevars
        cells = tuple(self.lifted(_content(cell), n) for n, cell in zip(names, function.__closure__ or (), strict=True))
        defaults = tuple(self.lifted(value, name) for value in function.__defaults__ or ())
        keywords = tuple((n, self.lifted(value, n)) for n, value in (function.__kwdefaults__ or {}).items())
        return _Function(function.__code__, number, cells, defaults, keywords, _emptied(function, cells))

    def _parts(self, value: Any, name: str) -> Any:
        match value:
            case Choice():
                parts = [self._hole(value._index, name), *(self.lifted(option, name) for option in value._options)]
                return _Parts(Choice, tuple(parts), lambda parts: Choice(parts[0], tuple(parts[1:])))
            case types.MethodType():
                parts = [self.lifted(value.__func__, name), self.lifted(value.__self__, "self")]
                return _Parts(types.MethodType, tuple(parts), lambda both: types.MethodType(*both))
            case functools.partial():
                kind, keys = type(value), tuple(value.keywords)
                parts = [self.lifted(part, name) for part in (value.func, *value.args, *value.keywords.values())]
                return _Parts((kind, keys), tuple(parts), functools.partial(_joined_partial, kind, keys))
        children, structure = jax.tree.flatten(value, is_leaf=lambda part: part is not value)
        if len(children) != 1 or children[0] is not value:
            return _Parts(structure, tuple(self.lifted(child, name) for child in children), structure.unflatten)
        names = reach.attributes(value)
        values = [reach.attribute(value, attribute, _EMPTY) for attribute in names]
        kept = [(attribute, part) for attribute, part in zip(names, values, strict=True) if part is not _EMPTY]
        parts = tuple(self.lifted(part, attribute) for attribute, part in kept)
        filled = [attribute for attribute, _ in kept]
        empty = _copy(filled, value, [None] * len(filled))
        return _Parts((type(value), tuple(names)), parts, functools.partial(_copy, filled, empty))


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY


def _joined_partial(kind: Any, keys: tuple[str, ...], parts: list[Any]) -> Any:
    function, *rest = parts
    count = len(rest) - len(keys)
    return kind(function, *rest[:count], **dict(zip(keys, rest[count:], strict=True)))


def _copy(names: list[str], value: Any, parts: list[Any]) -> Any:
    """The object with other attributes, past a `__setattr__` or `__init__` of its class."""
    new = copy.copy(value)
    for name, part in zip(names, parts, strict=True):
        object.__setattr__(new, name, part)
    return new
