"""Values are taken apart into a Form and their array leaves, and built again."""

from __future__ import annotations

import collections
import dataclasses
import enum
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.errors import StructureError, user_location
from autograph_jax.loops.axes import axes_of, axes_of_type
from autograph_jax.operators.tracing import reach, state
from autograph_jax.operators.tracing.places import Attribute, Content
from autograph_jax.operators.values import bools, bunches, carried, closures, references
from autograph_jax.operators.values.choices import UNBOUND, Choice, decided
from autograph_jax.operators.values.forms import Array, Form, Number, Options, Static, Tree, same_kind
from autograph_jax.porting.arrays import MutableArray


def _never(value: Any) -> bool:
    return False


Test = Callable[[Any], bool]


def flatten(value: Any, whole: Test = _never, is_new: Test = _never, around: tuple[int, ...] = ()) -> tuple[Form, list[Any]]:
    """A value as its Form and array leaves. What passes `whole` stays whole (`Static`): a list that others hold too is that
    list, not what is in it. So do objects of users' classes that are no pytrees, unless they pass `is_new`. See `expanded`.
    `around` has the ids of the containers that hold it.
    """
    if isinstance(value, jax.Array | np.ndarray | np.generic) and _is_numeric(value):
        return array_form(value), [value]
    if isinstance(value, MutableArray):
        kind = references.View(value) if whole(value) else references.Fresh()
        return _tree((kind, kind.parts(value)), whole, around=around)
    if isinstance(value, Choice):
        forms, leaves = _flatten_all(value._options, whole, is_new, around)
        return Options(forms, axes_of(value._index)), [value._index, *leaves]
    taken = None if whole(value) else children_of(value) or (_made(value) if is_new(value) else None)
    if taken is None:
        return Static(value), []
    if id(value) in around:
        raise StructureError(
            f"this {type(value).__name__} holds itself, and has to be made anew where traced data decides what it holds",
            location=user_location(),
            help="let both paths give one that was there before, or keep what it holds in variables of their own",
        )
    return _tree(taken, whole, is_new, (*around, id(value)))


def _made(value: Any) -> tuple[Any, Sequence[Any]] | None:
    """The kind and parts of an object or function that a block has made."""
    traces = state.traces()
    return _record(value) or closures.of_built(value) or (closures.taken(value, traces[-1].variables) if traces else None)


def _tree(
    taken: tuple[Any, Sequence[Any]], whole: Test, is_new: Test = _never, around: tuple[int, ...] = ()
) -> tuple[Form, list[Any]]:
    kind, children = taken
    forms, leaves = _flatten_all(children, whole, is_new, around)
    return Tree(kind, forms), leaves


def _flatten_all(
    values: Sequence[Any], whole: Test, is_new: Test, around: tuple[int, ...]
) -> tuple[tuple[Form, ...], list[Any]]:
    parts = [flatten(value, whole, is_new, around) for value in values]
    return tuple(form for form, _ in parts), [leaf for _, leaves in parts for leaf in leaves]


def flatten_inside(value: Any, whole: Test) -> tuple[Form, list[Any]]:
    """A list or dict as what it holds, also where it would be whole itself."""
    taken = children_of(value)
    return flatten(value, whole) if taken is None else _tree(taken, whole)


def is_mutable(value: Any) -> bool:
    """Can this change while it stays the same object?"""
    return isinstance(value, list | dict | set | collections.deque | MutableArray) or reach.is_record(value)


def _is_numeric(value: Any) -> bool:
    return isinstance(value, jax.Array) or value.dtype.kind in "biufc" or jnp.issubdtype(value.dtype, jnp.inexact)


def array_form(value: Any) -> Array:
    aval = jax.typeof(value) if isinstance(value, jax.Array) else None
    if aval is None:
        return Array(np.shape(value), jax.dtypes.canonicalize_dtype(value.dtype), False)
    weak = bool(getattr(aval, "weak_type", False))
    return Array(aval.shape, aval.dtype, weak, axes_of_type(aval), bools.may_be(value), *carried.known(value))


_LEAF = jax.tree.structure(0)


@dataclasses.dataclass(frozen=True)
class _Sequence:
    """A list, a plain tuple, or a dict: `keys` in their order for a dict."""

    type: type
    keys: tuple[Any, ...] | None = None
    extra: Any = None

    def build(self, children: Sequence[Any]) -> Any:
        if self.keys is None:
            return self.type(children)
        items = zip(self.keys, children, strict=True)
        return dict(items) if self.type is dict else self.type(self.extra, items)

    def __str__(self) -> str:
        return self.type.__name__ if self.keys is None else f"{self.type.__name__} of {', '.join(map(repr, self.keys))}: "


@dataclasses.dataclass(frozen=True)
class _Objects:
    """An array of NumPy's whose elements are objects, arrays of JAX's among them."""

    shape: tuple[int, ...]

    def build(self, children: Sequence[Any]) -> Any:
        array = np.empty(len(children), object)
        for position, child in enumerate(children):  # `array[:] = children` would look into them
            array[position] = child
        return array.reshape(self.shape)

    def __str__(self) -> str:
        return f"object array of shape {self.shape}"


@dataclasses.dataclass(frozen=True, eq=False)
class _Node:
    """Any other registered pytree: a NamedTuple, an optax state, an equinox module."""

    treedef: Any

    def build(self, children: Sequence[Any]) -> Any:
        with state.making_again():
            return self.treedef.unflatten(children)

    @property
    def is_of_text(self) -> bool:
        """Is it a text, which keeps the types of its numbers?"""
        data = self.treedef.node_data()
        return data is not None and getattr(data[0], "is_of_text", False)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Node) and bool(self.treedef == other.treedef)

    def __str__(self) -> str:
        data = self.treedef.node_data()
        return data[0].__name__ if data else "None"


@dataclasses.dataclass(frozen=True)
class Record:
    """An object of a class that JAX does not know, by its attributes; that of a list or dict also by its `CONTENT`."""

    type: type
    names: tuple[str, ...]
    is_its_own_dict: bool = False

    def build(self, children: Sequence[Any]) -> Any:
        record = state.made(_new(self.type))
        if self.is_its_own_dict:
            record.__dict__ = record
        for name, value in zip(self.names, children, strict=True):
            place = Content(record) if name == CONTENT else Attribute(record, name)
            if value is not UNBOUND:
                place.write(value)
        return record

    def __str__(self) -> str:
        return self.type.__name__


CONTENT = "[]"  # in place of a name


def _new(kind: Any) -> Any:
    return _built_in(kind).__new__(kind)


def _built_in(kind: type) -> Any:
    """The class in C that a user's class extends: `object`, as a rule."""
    return next(base for base in kind.__mro__ if reach.is_in_c(base))


def children_of(value: Any) -> tuple[Any, Sequence[Any]] | None:
    """A container's kind and children; None for what has no parts."""
    kind = type(value)
    if kind in (list, tuple):
        return _Sequence(kind), value
    if kind is dict:
        return _Sequence(dict, tuple(value)), list(value.values())
    if kind.__name__ == "defaultdict" and isinstance(value, collections.defaultdict):
        return _Sequence(kind, tuple(value), value.default_factory), list(value.values())
    if value is None or isinstance(value, str | Number | types.GeneratorType) or reach.is_our_record(kind):
        return None
    if kind is np.ndarray and value.dtype == object:
        return (_Objects(value.shape), list(value.flat)) if any(isinstance(part, jax.Array) for part in value.flat) else None
    bunches.meet(value)
    children, treedef = jax.tree_util.tree_flatten(value, is_leaf=lambda part: part is not value)
    if treedef == _LEAF:  # not `treedef_is_leaf`, which an empty NamedTuple is too
        return None
    return _Node(treedef), children


def expanded(value: Any) -> Tree | None:
    """A list or dict, or an object of a class that JAX does not know, as a Tree of its parts; None for what has none."""
    taken = children_of(value) if isinstance(value, list | dict) else None
    taken = taken or _record(value)
    return cast(Tree, _tree(taken, _never)[0]) if taken is not None else None


def _record(value: Any) -> tuple[Record, list[Any]] | None:
    """An object's kind and attributes."""
    kind = type(value)
    if isinstance(value, type | types.FunctionType | types.MethodType | types.ModuleType | enum.Enum | Choice):
        return None
    foreign = kind.__module__.partition(".")[0] in ("builtins", "jax", "jaxlib", "numpy", "autograph_jax", "threading")
    built_in = _built_in(kind)
    if foreign and not reach.is_our_record(kind) or built_in not in (object, *_CONTENTS):
        return None
    names = reach.attributes(value)
    record = Record(kind, (CONTENT, *names) if built_in in _CONTENTS else tuple(names), reach.is_its_own_dict(value))
    return (record, record_values(value, record)) if record.names else None


_CONTENTS = (list, dict, collections.deque)


def parts_of(value: Any, kind: Any) -> Sequence[Any]:
    """The parts of a value that has been built with the kind of a Tree; none of what has not."""
    if references.is_kind(kind):
        return kind.parts(value) if isinstance(value, MutableArray) else ()
    if isinstance(kind, Record):
        return record_values(value, kind) if type(value) is kind.type else ()
    if isinstance(kind, closures.KINDS):
        taken = closures.of_built(value)
        return taken[1] if taken is not None and same_kind(taken[0], kind) else ()
    taken = children_of(value)
    return taken[1] if taken is not None and same_kind(taken[0], kind) else ()


def record_values(value: Any, kind: Record) -> list[Any]:
    return [_part(value, name) for name in kind.names]


def _part(value: Any, name: str) -> Any:
    return Content(value).read() if name == CONTENT else reach.attribute(value, name, UNBOUND)


def unflatten(form: Form, leaves: Iterator[Any], finish: Callable[[Any], Any] = lambda value: value) -> Any:
    """The value of a Form with these leaves; containers are new objects, of each of which `finish` gives what stands for it."""
    match form:
        case Static(value):
            return value
        case Array():
            return bools.tell(next(leaves)) if form.may_be_bool else next(leaves)
        case Tree(kind, children):
            return finish(kind.build([unflatten(child, leaves, finish) for child in children]))
        case Options(forms):
            index = next(leaves)
            return decided(index, tuple(unflatten(option, leaves, finish) for option in forms))
