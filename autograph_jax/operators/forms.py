"""The one join: what a value is, as far as two paths have to agree on it.

A value is taken apart into a Form and its array leaves. `join` gives the least Form that both of two values fit into:

    unbound  <  a static Python value  <  a choice of static values  <  an array (dtype, shape)  ;  containers by structure

and `coerce` brings the leaves of a value from its own Form to the joined one. Every `if` joins its two ends, every loop joins
its entry with the end of its body.
"""

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

from autograph_jax.operators import jax_private, reach, state
from autograph_jax.operators.choices import UNBOUND, Choice, decided

Number = bool | int | float | complex


class Mismatch(Exception):
    """Two values that no Form holds: `shape` or `structure`, and what each of them is."""

    def __init__(self, kind: str, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")
        self.kind, self.first, self.second = kind, first, second


@dataclasses.dataclass(frozen=True, eq=False)
class Static:
    """A Python value that both paths share."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Static) and same_static(self.value, other.value)

    def __str__(self) -> str:
        return "no value" if self.value is UNBOUND else repr(self.value)


@dataclasses.dataclass(frozen=True)
class Array:
    """An array leaf. `weak` as in JAX: a Python number that became traced."""

    shape: tuple[int, ...]
    dtype: Any
    weak: bool = False

    def aval(self) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(self.shape, self.dtype, weak_type=self.weak)

    def __str__(self) -> str:
        return f"{self.dtype}[{','.join(map(str, self.shape))}]"


@dataclasses.dataclass(frozen=True, eq=False)
class Tree:
    """A container: how to build it again from children (a `_Kind`), and their Forms."""

    kind: Any
    children: tuple[Form, ...]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and _same_kind(self.kind, other.kind) and self.children == other.children

    def __str__(self) -> str:
        return f"{self.kind}({', '.join(map(str, self.children))})"


@dataclasses.dataclass(frozen=True)
class Options:
    """A Choice: leaves are the index and each option's leaves."""

    forms: tuple[Form, ...]

    def __str__(self) -> str:
        return " or ".join(map(str, self.forms))


Form = Static | Array | Tree | Options


def same_static(first: Any, second: Any) -> bool:
    """Are two Python values interchangeable? Numbers and strings by type and value, everything else by identity."""
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, float):
        return first == second and np.signbit(first) == np.signbit(second) or first != first and second != second
    if isinstance(first, str | bytes | int | complex | enum.Enum | np.dtype | slice | range | type(...)):
        return first == second
    if isinstance(first, types.MethodType):
        return first.__func__ is second.__func__ and first.__self__ is second.__self__
    if isinstance(first, frozenset):
        return first == second
    return False


# Taking values apart


def _never(value: Any) -> bool:
    return False


Test = Callable[[Any], bool]


def flatten(value: Any, whole: Test = _never, is_new: Test = _never) -> tuple[Form, list[Any]]:
    """A value as its Form and array leaves. What passes `whole` stays whole (`Static`): a list that others hold too is that
    list, not what is in it. So do objects of users' classes that are no pytrees, unless they pass `is_new`. See `expanded`.
    """
    if isinstance(value, jax.Array | np.ndarray | np.generic) and _is_numeric(value):
        return _array_form(value), [value]
    if isinstance(value, Choice):
        forms, leaves = _flatten_all(value._options, whole, is_new)
        return Options(forms), [value._index, *leaves]
    taken = None if whole(value) else _children(value) or (_record(value) if is_new(value) else None)
    return _tree(taken, whole, is_new) if taken is not None else (Static(value), [])


def _tree(taken: tuple[Any, Sequence[Any]], whole: Test, is_new: Test = _never) -> tuple[Form, list[Any]]:
    kind, children = taken
    forms, leaves = _flatten_all(children, whole, is_new)
    return Tree(kind, forms), leaves


def _flatten_all(values: Sequence[Any], whole: Test, is_new: Test) -> tuple[tuple[Form, ...], list[Any]]:
    parts = [flatten(value, whole, is_new) for value in values]
    return tuple(form for form, _ in parts), [leaf for _, leaves in parts for leaf in leaves]


def flatten_inside(value: Any, whole: Test) -> tuple[Form, list[Any]]:
    """A list or dict as what it holds, also where it would be whole itself."""
    taken = _children(value)
    return flatten(value, whole) if taken is None else _tree(taken, whole)


def is_mutable(value: Any) -> bool:
    """Can this change while it stays the same object?"""
    return isinstance(value, list | dict | set | collections.deque) or reach.is_record(value)


def _is_numeric(value: Any) -> bool:
    return isinstance(value, jax.Array) or value.dtype.kind in "biufc" or jnp.issubdtype(value.dtype, jnp.inexact)


def _array_form(value: Any) -> Array:
    aval = jax.typeof(value) if isinstance(value, jax.Array) else None
    if aval is None:
        return Array(np.shape(value), jax.dtypes.canonicalize_dtype(value.dtype), False)
    return Array(aval.shape, aval.dtype, bool(getattr(aval, "weak_type", False)))


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


@dataclasses.dataclass(frozen=True, eq=False)
class _Node:
    """Any other registered pytree: a NamedTuple, an optax state, an equinox module."""

    treedef: Any

    def build(self, children: Sequence[Any]) -> Any:
        return self.treedef.unflatten(children)

    def __str__(self) -> str:
        data = self.treedef.node_data()
        return data[0].__name__ if data else "None"


@dataclasses.dataclass(frozen=True)
class _Record:
    """An object of a class that JAX does not know, by its attributes; that of a list or dict also by its `CONTENT`."""

    type: type
    names: tuple[str, ...]

    def build(self, children: Sequence[Any]) -> Any:
        record = state.made(_new(self.type))
        for name, value in zip(self.names, children, strict=True):
            place = state.Content(record) if name == CONTENT else state.Attribute(record, name)
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
    return next(base for base in kind.__mro__ if not base.__flags__ & _HEAP_TYPE)


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a class that Python code has made


def _same_kind(first: Any, second: Any) -> bool:
    if type(first) is not type(second):
        return False
    try:
        return bool(first.treedef == second.treedef) if isinstance(first, _Node) else bool(first == second)
    except Exception:  # auxiliary data may hold arrays, whose == is no bool
        return False


def _children(value: Any) -> tuple[Any, Sequence[Any]] | None:
    """A container's kind and children; None for what has no parts."""
    kind = type(value)
    if kind in (list, tuple):
        return _Sequence(kind), value
    if kind is dict:
        return _Sequence(dict, tuple(value)), list(value.values())
    if kind.__name__ == "defaultdict" and isinstance(value, collections.defaultdict):
        return _Sequence(kind, tuple(value), value.default_factory), list(value.values())
    if value is None or isinstance(value, str | Number):
        return None
    children, treedef = jax.tree_util.tree_flatten(value, is_leaf=lambda part: part is not value)
    if treedef == _LEAF:  # not `treedef_is_leaf`, which an empty NamedTuple is too
        return None
    return _Node(treedef), children


def expanded(value: Any) -> Tree | None:
    """A list or dict, or an object of a class that JAX does not know, as a Tree of its parts; None for what has none."""
    taken = _children(value) if isinstance(value, list | dict) else None
    taken = taken or _record(value)
    return cast(Tree, _tree(taken, _never)[0]) if taken is not None else None


def _record(value: Any) -> tuple[_Record, list[Any]] | None:
    """An object's kind and attributes."""
    kind = type(value)
    if isinstance(value, type | types.FunctionType | types.MethodType | types.ModuleType | enum.Enum | Choice):
        return None
    foreign = kind.__module__.partition(".")[0] in ("builtins", "jax", "jaxlib", "numpy", "autograph_jax", "threading")
    built_in = _built_in(kind)
    if foreign and not reach.is_our_record(kind) or built_in not in (object, *_CONTENTS):
        return None
    names = reach.attributes(value)
    record = _Record(kind, (CONTENT, *names) if built_in in _CONTENTS else tuple(names))
    return (record, record_values(value, record)) if record.names else None


_CONTENTS = (list, dict, collections.deque)


def parts_of(value: Any, kind: Any) -> Sequence[Any]:
    """The parts of a value that has been built with the kind of a Tree; none of what has not."""
    if isinstance(kind, _Record):
        return record_values(value, kind) if type(value) is kind.type else ()
    taken = _children(value)
    return taken[1] if taken is not None and _same_kind(taken[0], kind) else ()


def record_values(value: Any, kind: _Record) -> list[Any]:
    return [_part(value, name) for name in kind.names]


def _part(value: Any, name: str) -> Any:
    return state.Content(value).read() if name == CONTENT else reach.attribute(value, name, UNBOUND)


def unflatten(form: Form, leaves: Iterator[Any]) -> Any:
    """The value of a Form with these leaves; containers are new objects."""
    match form:
        case Static(value):
            return value
        case Array():
            return next(leaves)
        case Tree(kind, children):
            return kind.build([unflatten(child, leaves) for child in children])
        case Options(forms):
            index = next(leaves)
            return decided(index, tuple(unflatten(option, leaves) for option in forms))


def array_forms(form: Form) -> list[Array]:
    """The leaves' Forms, in order."""
    match form:
        case Static():
            return []
        case Array():
            return [form]
        case Tree(_, children):
            return [leaf for child in children for leaf in array_forms(child)]
        case Options(forms):
            return [_INDEX, *(leaf for option in forms for leaf in array_forms(option))]


_INDEX = Array((), np.dtype("int32"))

# Joining


def join(first: Form, second: Form) -> Form:
    """The least Form that holds both. Raises Mismatch where there is none."""
    if first == second:
        return first
    if isinstance(first, Options) or isinstance(second, Options):
        return _join_options(first, second)
    if (one := _as_array(first)) and (other := _as_array(second)):
        return _join_arrays(one, other)
    if isinstance(first, Static) and isinstance(second, Static):
        return _join_statics(first, second)
    first, second = _expanded_like(first, second), _expanded_like(second, first)
    if _of_two_classes(first, second):
        return Options((first, second))
    if isinstance(first, Tree) and isinstance(second, Tree):
        return _join_trees(first, second)
    if _may_be_option(first) or _may_be_option(second):
        return Options((first, second))
    raise Mismatch("structure", str(first), str(second))


def _join_options(first: Form, second: Form) -> Form:
    forms: list[Form] = list(first.forms) if isinstance(first, Options) else [first]
    for form in second.forms if isinstance(second, Options) else [second]:
        _add_option(forms, form)
    return Options(tuple(forms)) if len(forms) > 1 else forms[0]


def _add_option(forms: list[Form], form: Form) -> None:
    """Put a Form among the options: static values side by side, everything with arrays in one place."""
    if form in forms:
        return
    if not _may_be_option(form):
        for position, other in enumerate(forms):
            if not _may_be_option(other) and not _of_two_classes(form, other):
                forms[position] = join(other, form)
                return
    forms.append(form)


def _may_be_option(form: Form) -> bool:
    """None, strings, functions, the unbound: what has no array to be."""
    return isinstance(form, Static) and not isinstance(form.value, Number)


def _of_two_classes(first: Form, second: Form) -> bool:
    """Objects of two classes: one of them is chosen."""
    kinds = [form.kind for form in (first, second) if isinstance(form, Tree) and isinstance(form.kind, _Record)]
    return len(kinds) == 2 and kinds[0].type is not kinds[1].type


def _join_statics(first: Static, second: Static) -> Form:
    return Options((first, second))


def _expanded_like(form: Form, other: Form) -> Form:
    """An object kept whole, taken apart where the other side is one of the same class taken apart."""
    if isinstance(form, Static) and isinstance(other, Tree) and type(form.value) is getattr(other.kind, "type", None):
        return expanded(form.value) or form
    return form


def _join_trees(first: Tree, second: Tree) -> Form:
    if isinstance(first.kind, _Record) and isinstance(second.kind, _Record) and first.kind.type is second.kind.type:
        first, second = _same_attributes(first, second), _same_attributes(second, first)
    if not _same_kind(first.kind, second.kind) or len(first.children) != len(second.children):
        raise Mismatch("structure", str(first), str(second))
    children = tuple(join(a, b) for a, b in zip(first.children, second.children, strict=True))
    return Tree(first.kind, children)


def _same_attributes(record: Tree, other: Tree) -> Tree:
    """Attributes that only the other object has are unbound in this one."""
    names = tuple(sorted({*record.kind.names, *other.kind.names}))
    forms = dict(zip(record.kind.names, record.children, strict=True))
    return Tree(_Record(record.kind.type, names), tuple(forms.get(name, Static(UNBOUND)) for name in names))


def _as_array(form: Form) -> Array | None:
    if isinstance(form, Array):
        return form
    if isinstance(form, Static) and isinstance(form.value, Number):
        # The rule of a jax.custom_vjp is handed a TypedFloat, which is a float.
        kind = next(kind for kind in (bool, int, float, complex) if isinstance(form.value, kind))
        return Array((), jax.dtypes.canonicalize_dtype(np.result_type(kind)), kind is not bool)
    return None


def _join_arrays(first: Array, second: Array) -> Array:
    shape = _join_shapes(first, second)
    if first.dtype == second.dtype:
        return Array(shape, first.dtype, first.weak and second.weak)
    if jnp.issubdtype(first.dtype, jax.dtypes.extended) or jnp.issubdtype(second.dtype, jax.dtypes.extended):
        raise Mismatch("structure", str(first), str(second))
    dtype, weak = jax.dtypes.result_type(_prototype(first), _prototype(second), return_weak_type_flag=True)
    return Array(shape, dtype, weak)


def _prototype(form: Array) -> Any:
    """Something that promotes as this array would."""
    if not form.weak:
        return np.empty((), form.dtype)
    return form.dtype.type(0).item()


def _join_shapes(first: Array, second: Array) -> tuple[int, ...]:
    if first.shape == second.shape or second.shape == ():
        return first.shape
    if first.shape == ():
        return second.shape
    raise Mismatch("shape", str(first), str(second))


def number_as_array(form: Form) -> Form:
    """A Python number as the array that it becomes when it changes in a staged loop."""
    return _as_array(form) or form


# Bringing leaves to a joined Form


def coerce(value: Any, form: Form) -> list[Any]:
    """The leaves of a value for a Form that its own was joined into."""
    match form:
        case Static():
            return []
        case Array():
            return [as_array(value, form)]
        case Options(forms):
            return _coerce_choice(value, forms)
        case Tree(kind, children):
            parts = record_values(value, kind) if isinstance(kind, _Record) else _parts(value)
            return [leaf for part, child in zip(parts, children, strict=True) for leaf in coerce(part, child)]


def _parts(value: Any) -> Sequence[Any]:
    taken = _children(value)
    assert taken is not None
    return taken[1]


def as_array(value: Any, form: Array) -> jax.Array:
    if jnp.issubdtype(form.dtype, jax.dtypes.extended):
        return value
    array = jnp.asarray(value)
    if form.weak:
        array = array if _array_form(array) == form else jax_private.as_weak(array, form.dtype)
    elif array.dtype != form.dtype or _array_form(array).weak:
        array = jax.lax.convert_element_type(array, form.dtype)
    return array if array.shape == form.shape else jnp.broadcast_to(array, form.shape)


def _coerce_choice(value: Any, forms: tuple[Form, ...]) -> list[Any]:
    if isinstance(value, Choice):
        return _coerce_options(value, forms)
    position = _option_of(value, forms)
    leaves: list[Any] = [jnp.int32(position)]
    for number, form in enumerate(forms):
        leaves += coerce(value, form) if number == position else zeros(form)
    return leaves


def _coerce_options(value: Choice, forms: tuple[Form, ...]) -> list[Any]:
    table = [_option_of(option, forms) for option in value._options]
    leaves: list[Any] = [value._index if table == sorted(range(len(table))) else jnp.asarray(table, jnp.int32)[value._index]]
    for number, form in enumerate(forms):
        given = [option for option, place in zip(value._options, table, strict=True) if place == number]
        leaves += coerce(given[0], form) if given else zeros(form)
    return leaves


def _option_of(value: Any, forms: tuple[Form, ...]) -> int:
    """Which option a value is."""
    for position, option in enumerate(forms):
        if isinstance(option, Static) and option.value is value:
            return position
    form, _ = flatten(value)
    for position, option in enumerate(forms):
        if form == option or isinstance(option, Tree) and getattr(option.kind, "type", None) is type(value):
            return position
    for position, option in enumerate(forms):
        if not _may_be_option(option) and not _may_be_option(form):
            return position
    raise AssertionError(f"{form} is none of {forms}")  # join has put it among them


def zeros(form: Form) -> list[Any]:
    """Leaves for a Form that nobody reads."""
    return [_zero(leaf) for leaf in array_forms(form)]


def _zero(form: Array) -> jax.Array:
    if not jnp.issubdtype(form.dtype, jax.dtypes.extended):
        return as_array(jnp.zeros(form.shape, form.dtype), form)
    key = next(key for impl in _KEYS if (key := jax.random.key(0, impl=impl)).dtype == form.dtype)
    return jnp.broadcast_to(key, form.shape)


_KEYS = ("threefry2x32", "rbg", "unsafe_rbg")  # the kinds of jax.random's keys
