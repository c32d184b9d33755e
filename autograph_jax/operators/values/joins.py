"""The one join: the least Form that both of two values fit into.

`coerce` brings the leaves of a value from its own Form to the joined one. Every `if` joins its two ends, every loop joins its
entry with the end of its body.
"""

from __future__ import annotations

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np

from autograph_jax.loops.axes import NONE, vary
from autograph_jax.operators import hooks, jax_private
from autograph_jax.operators.values import closures, references, selected
from autograph_jax.operators.values.array_likes import is_array_like
from autograph_jax.operators.values.choices import UNBOUND, Choice, renumbered
from autograph_jax.operators.values.containers import (
    Record,
    array_form,
    children_of,
    expanded,
    flatten,
    parts_of,
    record_values,
)
from autograph_jax.operators.values.forms import (
    Array,
    Begun,
    Form,
    Mismatch,
    Number,
    Options,
    Static,
    Tree,
    array_forms,
    same_kind,
)
from autograph_jax.porting.array_classes import ArrayObject


def join(first: Form, second: Form) -> Form:
    """The least Form that holds both. Raises Mismatch where there is none."""
    if first == second:
        return first
    if isinstance(first, Options) or isinstance(second, Options):
        return _join_options(first, second)
    if any(map(selected.is_selection, (first, second))) and not any(map(_may_be_option, (first, second))):
        return _join_selections(first, second)
    if (
        not (_is_like(first) and _is_like(second) or _is_reference(first) or _is_reference(second))
        and (one := _array_for(first))
        and (other := _array_for(second))
    ):
        return _join_arrays(_in_its_type(one, other), _in_its_type(other, one))
    if isinstance(first, Static) and isinstance(second, Static):
        return _join_statics(first, second)
    if references.are_same_objects(first, second):
        return Tree(references.Fresh(), (Static(references.objects_of(first)),))
    if (_is_reference(first) or _is_reference(second)) and (one := _array_for(first)) and (other := _array_for(second)):
        if selected.are_of_two_shapes(one, other):
            return selected.joined(first, second)
        return Tree(references.Fresh(), (_join_arrays(one, other),))
    first, second = _expanded_like(first, second), _expanded_like(second, first)
    first, second = _emptied_like(first, second)
    second, first = _emptied_like(second, first)
    if _are_apart(first, second):
        return Options((first, second))
    if isinstance(first, Tree) and isinstance(second, Tree):
        return _join_trees(first, second)
    if _may_be_option(first) or _may_be_option(second):
        return Options((first, second))
    raise Mismatch("structure", str(first), str(second))


def _join_selections(first: Form, second: Form) -> Form:
    if isinstance(first, Tree) and isinstance(second, Tree) and same_kind(first.kind, second.kind):
        if selected.are_of_one_capacity(first, second):
            return _join_trees(first, second)
    return selected.joined(first, second)


def _join_options(first: Form, second: Form) -> Form:
    forms: list[Form] = list(first.forms) if isinstance(first, Options) else [first]
    for form in second.forms if isinstance(second, Options) else [second]:
        _add_option(forms, form)
    axes = [form.axes for form in (first, second) if isinstance(form, Options)]
    return Options(tuple(forms), NONE.union(*axes)) if len(forms) > 1 else forms[0]


def _add_option(forms: list[Form], form: Form) -> None:
    """Put a Form among the options: static values side by side, everything with arrays in one place."""
    if form in forms:
        return
    if not _may_be_option(form):
        for position, other in enumerate(forms):
            if not _may_be_option(other) and not _are_apart(form, other):
                forms[position] = join(other, form)
                return
    forms.append(form)


def _may_be_option(form: Form) -> bool:
    """None, strings, functions, the unbound: what has no array to be."""
    return isinstance(form, Static) and not isinstance(form.value, Number)


def _are_apart(first: Form, second: Form) -> bool:
    """Objects of two classes, texts of two kinds; in ported code tuples of two lengths, an array and a list: one is chosen."""
    if hooks.is_porting() and (_is_row(first) and _array_for(second) or _is_row(second) and _array_for(first)):
        return True
    if _is_array_object(first) and _array_for(second) or _is_array_object(second) and _array_for(first):
        return True
    if not isinstance(first, Tree) or not isinstance(second, Tree):
        return False
    if isinstance(first.kind, Record) and isinstance(second.kind, Record):
        return first.kind.type is not second.kind.type
    if any(isinstance(form.kind, closures.KINDS) for form in (first, second)):
        return not same_kind(first.kind, second.kind)
    if all(getattr(form.kind, "is_of_text", False) for form in (first, second)):
        return not _read_alike(first, second)
    are_tuples = all(getattr(form.kind, "type", None) is tuple for form in (first, second))
    return are_tuples and len(first.children) != len(second.children) and hooks.is_porting()


def _is_array_object(form: Form) -> bool:
    """Of a class of a library's that derives from NumPy's array."""
    if isinstance(form, Static):
        return isinstance(form.value, ArrayObject)
    return isinstance(form, Tree) and isinstance(form.kind, Record) and issubclass(form.kind.type, ArrayObject)


def _is_row(form: Form) -> bool:
    return isinstance(form, Tree) and getattr(form.kind, "type", None) in (list, tuple)


def _read_alike(first: Form, second: Form) -> bool:
    """Have two texts the same text around their numbers, and these the same types? A 4 is not shown as 4.0 is."""
    if isinstance(first, Array) and isinstance(second, Array):
        return bool(first.dtype == second.dtype)
    if not isinstance(first, Tree) or not isinstance(second, Tree):
        return first == second
    alike = same_kind(first.kind, second.kind) and len(first.children) == len(second.children)
    return alike and all(map(_read_alike, first.children, second.children))


def _join_statics(first: Static, second: Static) -> Form:
    return Options((first, second))


def _expanded_like(form: Form, other: Form) -> Form:
    """An object kept whole, taken apart where the other side is one of the same class taken apart."""
    if isinstance(form, Static) and isinstance(other, Tree) and type(form.value) is getattr(other.kind, "type", None):
        return expanded(form.value) or form
    return form


def _emptied_like(form: Form, other: Form) -> tuple[Form, Form]:
    """A new empty list beside one of open length, of ported code, which becomes one: `self.steps = []` on one path."""
    if not _is_new_empty_list(form) or not _is_list_of_open_length(other):
        return form, other
    other = (expanded(other.value) or other) if isinstance(other, Static) else other
    assert isinstance(other, Tree)
    parts = zip(other.kind.names, other.children, strict=True)
    return Tree(other.kind, tuple(_of_empty(name, part) for name, part in parts)), other


def _is_list_of_open_length(form: Form) -> bool:
    is_older = isinstance(form, Static) and hasattr(type(form.value), "empty_like")
    return is_older or isinstance(form, Tree) and _is_of_open_length(form.kind)


def _is_new_empty_list(form: Form) -> bool:
    return isinstance(form, Tree) and getattr(form.kind, "type", None) is list and not form.children


def _is_of_open_length(kind: Any) -> bool:
    return isinstance(kind, Record) and hasattr(kind.type, "empty_like")


def _of_empty(name: str, part: Form) -> Form:
    return Static(None) if name == "_columns" else part


def _join_trees(first: Tree, second: Tree) -> Form:
    if isinstance(first.kind, Record) and isinstance(second.kind, Record) and first.kind.type is second.kind.type:
        first, second = _same_attributes(first, second), _same_attributes(second, first)
    first, second = _in_one_order(first, second)
    if not same_kind(first.kind, second.kind) or len(first.children) != len(second.children):
        raise Mismatch("structure", str(first), str(second), _keys_of_one(first, second))
    children = tuple(join(a, b) for a, b in zip(first.children, second.children, strict=True))
    return Tree(first.kind, children)


def _same_attributes(record: Tree, other: Tree) -> Tree:
    """Attributes that only the other object has are unbound in this one."""
    names = tuple(sorted({*record.kind.names, *other.kind.names}))
    forms = dict(zip(record.kind.names, record.children, strict=True))
    return Tree(dataclasses.replace(record.kind, names=names), tuple(forms.get(name, Static(UNBOUND)) for name in names))


def _keys_of_one(first: Tree, second: Tree) -> tuple[Any, ...]:
    keys, others = getattr(first.kind, "keys", None), getattr(second.kind, "keys", None)
    if keys is None or others is None:
        return ()
    return (*(key for key in keys if key not in others), *(key for key in others if key not in keys))


def _in_one_order(first: Tree, second: Tree) -> tuple[Tree, Tree]:
    """Two dicts with their keys in one order, if that can be: the first one's in ported code, where two ways to a result name
    the same fields; else the one that JAX puts them in, if one of the two has it: `params = jax.tree.map(f, params)`.
    """
    if not is_reordered(first, second):
        return first, second
    if any(issubclass(tree.kind.type, collections.OrderedDict) for tree in (first, second)):
        return first, second
    orders = [tree.kind.keys for tree in (first, second)]
    keys = orders[0] if hooks.is_porting() else next(filter(_is_sorted, orders), None)
    return (first, second) if keys is None else (_in_order(first, keys), _in_order(second, keys))


def is_reordered(first: Form, second: Form) -> bool:
    """Are these two dicts with the same keys in two orders?"""
    keys, others = (getattr(form.kind, "keys", None) if isinstance(form, Tree) else None for form in (first, second))
    return keys is not None and others is not None and keys != others and set(keys) == set(others)


def _is_sorted(keys: tuple[Any, ...]) -> bool:
    try:
        return sorted(keys) == list(keys)
    except TypeError:  # JAX refuses these, too
        return False


def _in_order(tree: Tree, keys: tuple[Any, ...]) -> Tree:
    forms = dict(zip(tree.kind.keys, tree.children, strict=True))
    return Tree(dataclasses.replace(tree.kind, keys=keys), tuple(forms[key] for key in keys))


def _is_reference(form: Form) -> bool:
    """Is it an array of ported NumPy code?"""
    return isinstance(form, Tree) and references.is_kind(form.kind)


def _as_array(form: Form) -> Array | None:
    if isinstance(form, Array):
        return form
    if references.objects_of(form) is not None:
        return None
    if isinstance(form, Tree) and isinstance(form.kind, references.View):
        return Array(*references.shape_and_dtype(form.kind.array))
    if isinstance(form, Tree) and isinstance(form.kind, references.Fresh):
        return cast(Array, form.children[0])
    if isinstance(form, Static) and isinstance(form.value, Number):
        # The rule of a jax.custom_vjp is handed a TypedFloat, which is a float.
        kind = next(kind for kind in (bool, int, float, complex) if isinstance(form.value, kind))
        return Array((), jax.dtypes.canonicalize_dtype(np.result_type(kind)), kind is not bool, number=form.value)
    return None


def _is_like(form: Form) -> bool:
    return isinstance(form, Static) and is_array_like(form.value)


def _array_for(form: Form) -> Array | None:
    """As `_as_array`; of an object with `__jax_array__`, which becomes its array where another path has one."""
    return array_form(form.value.__jax_array__()) if isinstance(form, Static) and _is_like(form) else _as_array(form)


def _join_arrays(first: Array, second: Array) -> Array:
    shape, axes = _join_shapes(first, second), first.axes | second.axes
    may_be_bool = first.may_be_bool or second.may_be_bool or shape == () and (first.dtype == bool) != (second.dtype == bool)
    if first.dtype == second.dtype:
        return Array(shape, first.dtype, first.weak and second.weak, axes, may_be_bool)
    if jnp.issubdtype(first.dtype, jax.dtypes.extended) or jnp.issubdtype(second.dtype, jax.dtypes.extended):
        raise Mismatch("structure", str(first), str(second))
    dtype, weak = jax.dtypes.result_type(_prototype(first), _prototype(second), return_weak_type_flag=True)
    return Array(shape, dtype, weak, axes, may_be_bool)


def _in_its_type(own: Array, other: Array) -> Array:
    """A number of Python's does not adapt to an array's type that cannot hold it, nor a traced integer to any small type.

    `best = -1` before `for v in x: if v > 9: best = v`, of an x of uint8.
    """
    if not own.weak or other.weak or own.dtype.kind not in "if" or other.dtype.kind not in "iuf":
        return own
    if own.number is not None:
        adapts = _holds(other.dtype, own.number)
    else:
        adapts = own.dtype.kind == "f" or other.dtype.kind == "f" or other.dtype.itemsize >= own.dtype.itemsize
    return own if adapts else dataclasses.replace(own, weak=False)


def _holds(dtype: np.dtype, number: Any) -> bool:
    """Is this a number of a type, but for rounding?"""
    if not jnp.issubdtype(dtype, jnp.integer):
        return not np.isfinite(number) or bool(abs(number) <= float(jnp.finfo(dtype).max))
    return not isinstance(number, int) or int(jnp.iinfo(dtype).min) <= number <= int(jnp.iinfo(dtype).max)


def _prototype(form: Array) -> Any:
    """Something that promotes as this array would."""
    if not form.weak:
        return np.empty((), form.dtype)
    return form.dtype.type(0).item()


def _join_shapes(first: Array, second: Array) -> tuple[int, ...]:
    """A number of Python's takes the other's shape, where it may."""
    if first.shape == second.shape or _takes_shape(second):
        return first.shape
    if _takes_shape(first):
        return second.shape
    one, other = (str(form) if form.number is None else repr(form.number) for form in (first, second))
    raise Mismatch("shape" if first.number is None and second.number is None else "number", one, other)


def _takes_shape(number: Array) -> bool:
    if number.has_any_shape:
        for begun in number.carried:
            begun.has_spread = True
    return number.has_any_shape


def number_as_array(form: Form) -> Form:
    """A Python number as the array that it becomes when it changes in a staged loop."""
    if _is_reference(form) or (array := _as_array(form)) is None:
        return form
    return array if array.number is None or array.carried else dataclasses.replace(array, carried=(Begun(),))


def numbers_as_arrays(form: Form) -> Form:
    """The same for each number in a tuple, list or dict."""
    if not isinstance(form, Tree) or _is_reference(form):
        return number_as_array(form)
    return Tree(form.kind, tuple(map(numbers_as_arrays, form.children)))


# Bringing leaves to a joined Form


def alike(first: Any, second: Any) -> tuple[Any, Any]:
    """Two numbers or arrays of one shape in the type that holds both."""
    form = join(flatten(first)[0], flatten(second)[0])
    return (as_array(first, form), as_array(second, form)) if isinstance(form, Array) else (first, second)


def coerce(value: Any, form: Form) -> list[Any]:
    """The leaves of a value for a Form that its own was joined into."""
    match form:
        case Static():
            return []
        case Array():
            return [as_array(value, form)]
        case Options(forms, axes):
            index, *leaves = _coerce_choice(value, forms)
            return [vary(index, axes), *leaves]
        case Tree() if type(value) is Choice:  # of objects that a block takes apart, which this one Form holds
            return _coerce_taken(value, range(len(value._options)), form)
        case Tree(kind, children) if selected.is_selection(form):
            pairs = zip(selected.parts(value, form), children, strict=True)
            return [leaf for part, child in pairs for leaf in coerce(part, child)]
        case Tree(kind) if type(value) is list and _is_of_open_length(kind):
            return coerce(kind.type.empty_like(dict(zip(kind.names, form.children, strict=True))), form)
        case Tree(kind, children):
            return [leaf for part, child in zip(_parts_for(value, kind), children, strict=True) for leaf in coerce(part, child)]


def _parts_for(value: Any, kind: Any) -> Sequence[Any]:
    """The parts of a value for a Tree of this kind."""
    if references.is_kind(kind):
        return kind.parts(value)
    if isinstance(value, dict) and (keys := getattr(kind, "keys", None)) is not None:
        return [value[key] for key in keys]
    return record_values(value, kind) if isinstance(kind, Record) else _parts(value)


def _parts(value: Any) -> Sequence[Any]:
    taken = children_of(value) or closures.of_built(value)
    assert taken is not None
    return taken[1]


def as_array(value: Any, form: Array) -> jax.Array:
    if jnp.issubdtype(form.dtype, jax.dtypes.extended):
        return vary(value, form.axes)
    array = jnp.asarray(value)
    if form.weak:
        array = array if _has_type(array, form) else jax_private.as_weak(array, form.dtype)
    elif not _has_type(array, form):
        array = jax.lax.convert_element_type(array, form.dtype)
    return vary(array if array.shape == form.shape else jnp.broadcast_to(array, form.shape), form.axes)


def _has_type(array: jax.Array, form: Array) -> bool:
    return array.dtype == form.dtype and array_form(array).weak == form.weak


def _coerce_choice(value: Any, forms: tuple[Form, ...]) -> list[Any]:
    if isinstance(value, Choice):
        return _coerce_options(value, forms)
    position = option_of(value, forms)
    leaves: list[Any] = [np.int32(position)]
    for number, form in enumerate(forms):
        leaves += coerce(value, form) if number == position else zeros(form)
    return leaves


def _coerce_options(value: Choice, forms: tuple[Form, ...]) -> list[Any]:
    table = [option_of(option, forms) for option in value._options]
    leaves: list[Any] = [renumbered(value._index, table)]
    for number, form in enumerate(forms):
        given = [position for position, place in enumerate(table) if place == number]
        leaves += _coerce_taken(value, given, form) if given else zeros(form)
    return leaves


def _coerce_taken(value: Choice, given: Sequence[int], form: Form) -> list[Any]:
    """The leaves of that of these options that is taken: two dicts with the same keys have one place."""
    first, *others = given
    leaves = coerce(value._options[first], form)
    for position in others:
        taken = value._index == position
        leaves = [jnp.where(taken, new, old) for new, old in zip(coerce(value._options[position], form), leaves, strict=True)]
    return leaves


def option_of(value: Any, forms: tuple[Form, ...]) -> int:
    """Which option a value is."""
    for position, option in enumerate(forms):
        if isinstance(option, Static) and option.value is value:
            return position
    form, _ = flatten(value)
    for position, option in enumerate(forms):
        if isinstance(option, Tree) and isinstance(option.kind, closures.KINDS) and parts_of(value, option.kind):
            return position
        same_class = isinstance(option, Tree) and getattr(option.kind, "type", None) is type(value)
        if form == option or same_class and not _are_apart(form, option):
            return position
    for position, option in enumerate(forms):
        if not _may_be_option(option) and not _may_be_option(form) and not _are_apart(form, option):
            return position
    raise AssertionError(f"{form} is none of {forms}")  # join has put it among them


def zeros(form: Form) -> list[Any]:
    """Leaves for a Form that nobody reads."""
    return [_zero(leaf) for leaf in array_forms(form)]


def _zero(form: Array) -> jax.Array:
    if not jnp.issubdtype(form.dtype, jax.dtypes.extended):
        return as_array(jnp.zeros(form.shape, form.dtype), form)
    key = next(key for impl in _KEYS if (key := jax.random.key(0, impl=impl)).dtype == form.dtype)
    return vary(jnp.broadcast_to(key, form.shape), form.axes)


_KEYS = ("threefry2x32", "rbg", "unsafe_rbg")  # the kinds of jax.random's keys
