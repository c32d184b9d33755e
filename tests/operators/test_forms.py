"""The one join: a table over the lattice, and what must hold of any two values."""

import collections
import dataclasses
import enum
import math
from typing import Any, NamedTuple

import equinox
import hypothesis
import hypothesis.strategies as st
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

import autograph_jax as ag
from autograph_jax.operators.values import bools
from autograph_jax.operators.values.choices import UNBOUND, Choice
from autograph_jax.operators.values.containers import expanded, flatten, is_mutable, unflatten
from autograph_jax.operators.values.forms import Array, Form, Mismatch, Options, Static, Tree, array_forms, same_static
from autograph_jax.operators.values.joins import coerce, join, number_as_array


def shown(form: Form) -> str:
    """The Form as a message has it, with ~ after what is weakly typed."""
    match form:
        case Array():
            return f"{form}{'~' * form.weak}"
        case Tree(kind, children):
            return f"{kind}({', '.join(map(shown, children))})"
        case Options(forms):
            return " or ".join(map(shown, forms))
    return str(form)


def joined(first: Any, second: Any) -> str:
    try:
        return shown(join(flatten(first)[0], flatten(second)[0]))
    except Mismatch as mismatch:
        return f"{mismatch.kind}: {mismatch}"


class Point(NamedTuple):
    x: Any
    y: Any


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Span:
    start: Any
    end: Any
    name: str = dataclasses.field(default="span", metadata=dict(static=True))


class Layer(equinox.Module):
    weight: Any
    size: int = equinox.field(static=True)


@jax.tree_util.register_pytree_node_class
class Pair:
    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b

    def tree_flatten(self) -> Any:
        return (self.a, self.b), None

    @classmethod
    def tree_unflatten(cls, _: None, children: Any) -> Any:
        return cls(*children)


class Color(enum.Enum):
    RED = 1
    BLUE = 2


@dataclasses.dataclass
class Body:
    mass: Any
    place: Any = None


f32, f32_3, i32 = jnp.float32(1), jnp.zeros(3), jnp.int32(1)
weak_float, weak_int = jnp.asarray(1.0), jnp.asarray(1)
either = Choice(jnp.int32(0), ("a", "b"))
maybe = Choice(jnp.int32(0), (None, f32))

TABLE = [
    # equal static values stay static
    (1, 1, "1"),
    ("a", "a", "'a'"),
    (None, None, "None"),
    (math.nan, math.nan, "nan"),
    (len, len, "<built-in function len>"),
    (Color.RED, Color.RED, "<Color.RED: 1>"),
    (slice(1, 2), slice(1, 2), "slice(1, 2, None)"),
    (..., ..., "Ellipsis"),
    (frozenset({1}), frozenset({1}), "frozenset({1})"),
    (UNBOUND, UNBOUND, "no value"),
    (np.dtype("int8"), np.dtype("int8"), "dtype('int8')"),
    # numbers become arrays, weakly typed as JAX has them
    (1, 2, "int32[]~"),
    (1, 2.5, "float32[]~"),
    (0.0, -0.0, "float32[]~"),
    (1, 1.0, "float32[]~"),
    (True, False, "bool[]"),
    (True, 2, "int32[]~"),
    (1.0, 1j, "complex64[]~"),
    # arrays promote as jnp would
    (f32, f32, "float32[]"),
    (f32, weak_float, "float32[]"),
    (weak_float, weak_int, "float32[]~"),
    (i32, f32, "float32[]"),
    (i32, 1.5, "float32[]~"),
    (f32, 1, "float32[]"),
    (jnp.bool_(True), i32, "int32[]"),
    (jnp.uint8(1), jnp.int8(1), "int16[]"),
    (jnp.uint8(1), 300, "int32[]"),
    (jnp.uint8(1), 200, "uint8[]"),
    (jnp.int8(1), 1e9, "float32[]~"),
    (jnp.float16(1), jnp.bfloat16(1), "float32[]"),
    (jnp.bool_(True), 1.5, "float32[]~"),
    (np.float64(1), f32, "float32[]"),
    (np.zeros(3, "int64"), f32_3, "float32[3]"),
    # shapes: a 0 stands for each element
    (f32, f32_3, "shape: float32[] and float32[3]"),
    (0, f32_3, "float32[3]"),
    (jnp.zeros((2, 3)), 0j, "complex64[2,3]"),
    (jnp.zeros((2, 3)), 1j, "number: float32[2,3] and 1j"),
    (jnp.zeros((1, 1)), 1j, "number: float32[1,1] and 1j"),
    (True, f32_3, "number: True and float32[3]"),
    (f32_3, weak_float, "shape: float32[3] and float32[]"),
    (f32_3, jnp.zeros(4), "shape: float32[3] and float32[4]"),
    (f32_3, jnp.zeros((1, 3)), "shape: float32[3] and float32[1,3]"),
    (jnp.zeros(1), f32_3, "shape: float32[1] and float32[3]"),
    (jnp.zeros(0), f32_3, "shape: float32[0] and float32[3]"),
    # what has no array to be: a choice
    ("a", "b", "'a' or 'b'"),
    (None, f32, "None or float32[]"),
    (f32_3, None, "float32[3] or None"),
    (UNBOUND, f32, "no value or float32[]"),
    (UNBOUND, None, "no value or None"),
    (None, 1, "None or 1"),
    (Color.RED, Color.BLUE, "<Color.RED: 1> or <Color.BLUE: 2>"),
    (len, abs, "<built-in function len> or <built-in function abs>"),
    (b"a", "a", "b'a' or 'a'"),
    (None, (f32, 1), "None or tuple(float32[], 1)"),
    ("a", f32, "'a' or float32[]"),
    # choices take more options in
    (either, "a", "'a' or 'b'"),
    (either, "c", "'a' or 'b' or 'c'"),
    ("c", either, "'c' or 'a' or 'b'"),
    (maybe, f32_3, "shape: float32[] and float32[3]"),
    (maybe, None, "None or float32[]"),
    (maybe, "a", "None or float32[] or 'a'"),
    (maybe, i32, "None or float32[]"),
    (maybe, Choice(jnp.int32(0), (f32_3, UNBOUND)), "shape: float32[] and float32[3]"),
    (Choice(jnp.int32(0), (None, f32_3)), jnp.zeros(4), "shape: float32[3] and float32[4]"),
    # containers by structure
    ((1, f32), (1, f32), "tuple(1, float32[])"),
    ((1, 0.0), (2, f32_3), "tuple(int32[]~, float32[3])"),
    ([1], [1.5], "list(float32[]~)"),
    ({"a": 1, "b": 2}, {"a": 1, "b": 3}, "dict of 'a', 'b': (1, int32[]~)"),
    ((), (), "tuple()"),
    ((1, (2, 3)), (1, (2, 4)), "tuple(1, tuple(2, int32[]~))"),
    (("a", None), ("b", f32), "tuple('a' or 'b', None or float32[])"),
    (Point(1, 2), Point(1, f32), "Point(1, float32[])"),
    (Span(1, f32), Span(2, f32), "Span(int32[]~, float32[])"),
    (Layer(f32, 3), Layer(i32, 3), "Layer(float32[])"),
    (Pair(f32, None), Pair(None, None), "Pair(float32[] or None, None)"),
    (collections.OrderedDict(a=1), collections.OrderedDict(a=2), "OrderedDict(int32[]~)"),
    (optax.EmptyState(), optax.EmptyState(), "EmptyState()"),
    # and what does not fit
    ((1, 2), (1, 2, 3), "structure: tuple(1, 2) and tuple(1, 2, 3)"),
    ((1, 2), [1, 2], "structure: tuple(1, 2) and list(1, 2)"),
    ((1, 2), f32, "structure: tuple(1, 2) and float32[]"),
    (1, [1], "structure: 1 and list(1)"),
    (Point(1, 2), (1, 2), "structure: Point(1, 2) and tuple(1, 2)"),
    (Span(1, 2, "a"), Span(1, 2, "b"), "structure: Span(1, 2) and Span(1, 2)"),
    (Layer(f32, 3), Layer(f32, 4), "structure: Layer(float32[]) and Layer(float32[])"),
    (jax.random.key(0), f32, "structure: key<fry>[] and float32[]"),
    (jax.random.key(0), jax.random.key(1), "key<fry>[]"),
    ((f32_3,), (jnp.zeros(4),), "shape: float32[3] and float32[4]"),
]


@pytest.mark.parametrize(("first", "second", "expected"), TABLE)
def test_join(first: Any, second: Any, expected: str):
    assert joined(first, second) == expected


def test_dicts_of_different_keys_do_not_fit():
    with pytest.raises(Mismatch) as caught:
        join(flatten({"a": 1})[0], flatten({"b": 1})[0])
    assert caught.value.kind == "structure"


def test_dicts_of_another_order_do_not_fit_or_join_by_key():
    """Never a's value under b's name."""
    try:
        form = join(flatten({"a": 1, "b": "x"})[0], flatten({"b": "x", "a": 1})[0])
    except Mismatch:
        return
    assert unflatten(form, iter([])) == {"a": 1, "b": "x"}


# ------------------------------------------------------------------ objects


def test_objects_of_one_class_join_by_attributes():
    first, second = Body(1.0), Body(2.0, f32)
    assert shown(join(expanded(first), expanded(second))) == "Body(float32[]~, None or float32[])"


def test_attributes_that_only_one_has_may_be_unbound():
    first, second = Body(1.0), Body(1.0)
    second.speed = f32
    assert shown(join(expanded(first), expanded(second))) == "Body(1.0, None, no value or float32[])"


def test_objects_of_two_classes_are_a_choice():
    class Other:
        x = 1

    assert isinstance(join(Static(Body(1)), Static(Other())), Options)


def test_slots():
    class Slotted:
        __slots__ = ("a", "b")

    first, second = Slotted(), Slotted()
    first.a, second.a, second.b = 1, 2, f32
    form = join(expanded(first), expanded(second))
    assert shown(form) == "Slotted(int32[]~, no value or float32[])"
    leaves = coerce(first, form)
    again = unflatten(form, iter(leaves))
    assert int(again.a) == 1 and not hasattr(again, "b")


def test_expanded():
    xs = [f32]
    assert flatten(xs, is_mutable)[0] == Static(xs) and shown(expanded(xs)) == "list(float32[])"
    assert expanded(3) is None and expanded(Body) is None and expanded(len) is None
    assert shown(expanded(Body(1, 2))) == "Body(1, 2)"


def test_number_as_array():
    assert shown(number_as_array(Static(1))) == "int32[]~"
    assert shown(number_as_array(Static(True))) == "bool[]"
    assert number_as_array(Static("a")) == Static("a")


def test_same_static():
    method, other = [].append, [].append
    assert same_static(1, 1) and not same_static(1, 1.0) and not same_static(True, 1)
    assert not same_static(0.0, -0.0) and same_static(math.nan, math.nan)
    assert not same_static(method, other)
    body = Body(1)
    assert same_static(body.__eq__, body.__eq__) and not same_static(body.__eq__, Body(1).__eq__)
    assert not same_static(Body(1), Body(1)), "objects may change by themselves, so only identity counts"


# ------------------------------------------------------------------ there and back

ROUND_TRIPS = [
    1,
    f32_3,
    None,
    (1, [f32, {"a": i32}]),
    Point(f32, "x"),
    Span(f32, 1),
    Layer(f32_3, 2),
    collections.defaultdict(list, a=f32),
    collections.OrderedDict(b=1, a=f32),
    np.arange(3),
    np.float32(2),
    {3: f32, "a": 1, (1, 2): None},
]


@pytest.mark.parametrize("value", ROUND_TRIPS, ids=str)
def test_flatten_and_unflatten(value: Any):
    form, leaves = flatten(value)
    again = unflatten(form, iter(leaves))
    assert type(again) is type(value) and str(again) == str(value)
    assert len(leaves) == len(array_forms(form))


def test_a_default_dict_keeps_its_factory():
    form, leaves = flatten(collections.defaultdict(list, a=f32))
    assert unflatten(form, iter(leaves))["new"] == []


def test_strings_of_numpy_are_no_arrays():
    text = np.array(["a"])
    assert flatten(text) == (Static(text), [])


def test_a_choice_is_decided_where_its_index_is_known():
    assert unflatten(*(lambda f, v: (f, iter(v)))(*flatten(either))) == "a"


COERCED = [  # a value, what it was joined with, and what its leaves are then
    (1, 2.5, [1.0]),
    (True, 2, [1]),
    (0, f32_3, [[0.0, 0.0, 0.0]]),
    (None, f32_3, [0, [0, 0, 0]]),
    (f32_3, None, [0, [0, 0, 0]]),
    ("b", either, [0]),
    (1, None, [0]),
    ((1, "a"), (2, "b"), [1, 0]),
    (maybe, "x", [0, 1.0]),
    (UNBOUND, f32, [0, 0.0]),
]


@pytest.mark.parametrize(("value", "other", "expected"), COERCED)
def test_coerce(value: Any, other: Any, expected: Any):
    form = join(flatten(value)[0], flatten(other)[0])
    leaves = coerce(value, form)
    assert [leaf.tolist() for leaf in leaves] == expected
    assert [flatten(leaf)[0] for leaf in leaves] == numbers_of(form)


def numbers_of(form: Form) -> list[Any]:
    """The Forms of a Form's leaves. A leaf alone does not tell that it is a bool on some path."""
    return [dataclasses.replace(leaf, may_be_bool=False) for leaf in array_forms(form)]


def test_a_number_that_may_be_a_bool_is_known_to_be_one():
    form = join(flatten(True)[0], flatten(2.5)[0])
    value = unflatten(form, iter(coerce(True, form)))
    assert value == 1.0 and flatten(value)[0] == form != flatten(jnp.asarray(1.0) * 1)[0]
    with pytest.raises(ag.ChoiceError, match="whether this is a bool"):
        bools.check_class(value)
    bools.check_class(value * 1)


def test_a_key_is_an_option():
    key = jax.random.key(7)
    form = join(flatten(None)[0], flatten(key)[0])
    index, leaf = coerce(None, form)
    assert int(index) == 0 and leaf.dtype == key.dtype
    assert jnp.array_equal(jax.random.key_data(coerce(key, form)[1]), jax.random.key_data(key))


# ------------------------------------------------------------------ any two values

dtypes = st.sampled_from(["bool", "int32", "uint8", "float32", "float16", "bfloat16", "complex64"])
shapes = st.sampled_from([(), (), (3,), (2, 3)])
strong = st.builds(lambda shape, dtype: jnp.zeros(shape, dtype), shapes, dtypes)
weak = st.sampled_from([1, 2, 1.5, 2.5, True, False, 1j, weak_float, weak_int])
arrays = st.one_of(strong, weak)
statics = st.sampled_from([None, "a", "b", UNBOUND, len, Color.RED])
leaves = st.one_of(arrays, statics, st.builds(lambda: maybe), st.builds(lambda: either))
values = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.tuples(inner, inner),
        st.lists(inner, max_size=2),
        st.fixed_dictionaries({"a": inner}),
        st.builds(Point, inner, inner),
    ),
    max_leaves=5,
)


def unordered(form: Form) -> Any:
    """The Form, with options in no order."""
    match form:
        case Options(forms):
            return collections.Counter(map(str, map(unordered, forms)))
        case Tree(kind, children):
            return str(kind), tuple(map(unordered, children))
    return shown(form)


def join_or_kind(first: Form, second: Form) -> Any:
    try:
        return unordered(join(first, second))
    except Mismatch:
        return "mismatch"


@hypothesis.given(values, values)
def test_the_order_of_the_two_does_not_matter(first: Any, second: Any):
    a, b = flatten(first)[0], flatten(second)[0]
    assert join_or_kind(a, b) == join_or_kind(b, a)


@hypothesis.given(values)
def test_a_value_joins_with_itself(value: Any):
    form = flatten(value)[0]
    assert join(form, form) == form


@hypothesis.given(values, values)
def test_nothing_moves_after_a_join(first: Any, second: Any):
    """A loop settles by this: what has been taken in is in."""
    a, b = flatten(first)[0], flatten(second)[0]
    try:
        both = join(a, b)
    except Mismatch:
        return
    assert join(both, a) == both and join(both, b) == both and join(both, both) == both


@hypothesis.given(arrays, arrays, arrays)
def test_three_arrays_join_in_any_order(first: Any, second: Any, third: Any):
    """Up to what JAX's own promotion gives, which is no lattice for weak types of several kinds."""
    a, b, c = (flatten(value)[0] for value in (first, second, third))
    try:
        left, right = (number_as_array(form) for form in (join(join(a, b), c), join(a, join(b, c))))
    except Mismatch:
        assert join_or_kind_of_three(a, b, c) == "mismatch"
        return
    assert left.shape == right.shape
    if not any(isinstance(form, Static) or form.weak for form in (a, b, c)):
        assert left == right


def join_or_kind_of_three(a: Form, b: Form, c: Form) -> str:
    shapes = {number_as_array(form).shape for form in (a, b, c)} - {()}
    has_scalar = any(number_as_array(form).shape == () and form != Static(False) for form in (a, b, c))
    return "mismatch" if len(shapes) > 1 or shapes and has_scalar else "fits"


@hypothesis.given(values, values)
def test_both_values_fit_into_the_join(first: Any, second: Any):
    """Each value's leaves, brought to the joined Form, are of that Form; taken back, they are the value."""
    try:
        both = join(flatten(first)[0], flatten(second)[0])
    except Mismatch:
        return
    for value in (first, second):
        leaves = coerce(value, both)
        assert [flatten(leaf)[0] for leaf in leaves] == numbers_of(both)
        assert_same(unflatten(both, iter(leaves)), value)


def assert_same(new: Any, old: Any) -> None:
    """The same value, as far as a join may change it: numbers are arrays, scalars may be broadcast."""
    old = old.value if isinstance(old, Choice) else old
    if isinstance(old, tuple | list):
        assert type(new) is type(old) and len(new) == len(old)
        for a, b in zip(new, old, strict=True):
            assert_same(a, b)
    elif isinstance(old, dict):
        assert new.keys() == old.keys()
        for key in old:
            assert_same(new[key], old[key])
    elif isinstance(old, bool | int | float | complex | jax.Array):
        assert np.array_equal(np.broadcast_to(old, np.shape(new)).astype("complex64"), np.asarray(new).astype("complex64"))
    else:
        assert new is old or new == old


@jax.tree_util.register_pytree_node_class
class OfArrays:
    """As distrax's distributions: only arrays of JAX's are leaves, and anything else belongs to the structure."""

    def __init__(self, **parts: Any) -> None:
        self.__dict__.update(parts)

    def tree_flatten(self) -> Any:
        are_leaves = [isinstance(part, jax.Array) for part in vars(self).values()]
        pairs = list(zip(vars(self).values(), are_leaves, strict=True))
        leaves = [part if is_leaf else None for part, is_leaf in pairs]
        return leaves, (tuple(vars(self)), tuple(None if is_leaf else part for part, is_leaf in pairs), tuple(are_leaves))

    @classmethod
    def tree_unflatten(cls, known: Any, leaves: Any) -> "OfArrays":
        names, others, are_leaves = known
        parts = [leaf if is_leaf else other for leaf, other, is_leaf in zip(leaves, others, are_leaves, strict=True)]
        return cls(**dict(zip(names, parts, strict=True)))


def test_constants_of_two_paths_are_arrays():
    """A literal of a branch's program is a scalar of NumPy's, which such a class would take for no leaf."""

    @ag.autograph
    def scaled(x):
        if x > 0:
            line = OfArrays(slope=jnp.asarray(2.0), start=jnp.asarray(0.0))
        else:
            line = OfArrays(slope=jnp.asarray(1.0), start=jnp.asarray(3.0))
        return line.slope * x + line.start

    assert jax.jit(scaled)(2.0) == 4 and jax.jit(scaled)(-1.0) == 2
