"""Writes into JAX arrays give what NumPy gives: dtype, indices, masks; and who holds the array is looked up."""

import gc
import operator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from autograph_jax import autograph
from autograph_jax.errors import AliasError, ImmutableError
from autograph_jax.operators import subscripts
from autograph_jax.operators.tracing import aliasing, views

# ------------------------------------------------------------------ one write

grid = np.arange(12.0).reshape(3, 4)
counts = np.arange(5)
flags = np.array([True, False, True])
WRITES = {
    "item": (grid, (1, 2), 9.0),
    "row": (grid, 1, 9.0),
    "row from row": (grid, 1, grid[0]),
    "negative": (grid, (-1, -1), 9.0),
    "column": (grid, (slice(None), 1), np.array([7.0, 8.0, 9.0])),
    "strided": (grid, (slice(None, None, 2), slice(1, None, 2)), 9.0),
    "backwards": (grid, (slice(None, None, -1), 0), np.array([1.0, 2.0, 3.0])),
    "ellipsis": (grid, (..., 0), 5.0),
    "everything": (grid, slice(None), 0.0),
    "list as index": (grid, [0, 2], 9.0),
    "list in a tuple": (grid, ([0, 2], 1), np.array([8.0, 9.0])),
    "list of flags": (grid, [True, False, True], 9.0),
    "array as index": (grid, np.array([2, 0]), grid[:2] * 10),
    "new axis": (grid, (None, 1), 9.0),
    "mask": (grid, grid > 5, 0.0),
    "mask of rows": (grid, flags, 9.0),
    "mask of rows, one row": (grid, flags, grid[1]),
    "mask with values": (grid, grid > 9, np.array([1.0, 2.0])),
    "mask and column": (grid, (flags, 1), 9.0),
    "empty slice": (grid, slice(2, 2), 9.0),
    "float into integers": (counts, 1, 2.7),
    "negative float into integers": (counts, 1, -2.7),
    "float array into integers": (counts, slice(0, 2), np.array([2.7, -1.5])),
    "integer into floats": (grid, (0, 0), 3),
    "bool into integers": (counts, 0, True),
    "integer into flags": (flags, 1, 2),
    "float mask into integers": (counts, counts > 2, 1.9),
    "python list": (counts, slice(0, 2), [7, 8]),
    "complex": (grid.astype("complex64"), (0, 0), 1j),
}


@pytest.mark.parametrize("name", WRITES)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
def test_set_item(name: str, traced: bool):
    array, index, value = WRITES[name]
    expected = array.copy()
    expected[index] = value

    place = jax.tree.map(as_index, index, is_leaf=lambda v: v is None)

    def write(array: Any, value: Any) -> Any:
        return subscripts.set_item(value, array, place)

    found = (jax.jit(write) if traced and not isinstance(value, list) else write)(jnp.asarray(array), value)
    assert found.dtype == jnp.asarray(array).dtype
    assert np.array_equal(found, expected)


def as_index(index: Any) -> Any:
    return jnp.asarray(index) if isinstance(index, np.ndarray) else index


SYMBOLS = ["+=", "-=", "*=", "/=", "//=", "%=", "**="]
BITS = ["<<=", ">>=", "&=", "|=", "^="]


@pytest.mark.parametrize("symbol", SYMBOLS)
@pytest.mark.parametrize("name", ["item", "row", "strided", "column", "mask", "mask of rows", "list as index"])
def test_augmented(symbol: str, name: str):
    array, index, _ = WRITES[name]
    program = f"def f(y, i):\n    y[i] {symbol} 3.0\n    return y\n"
    check_program(program, array, index)


@pytest.mark.parametrize("symbol", BITS)
def test_augmented_bits(symbol: str):
    check_program(f"def f(y, i):\n    y[i] {symbol} 3\n    return y\n", counts, slice(1, 3))


def check_program(program: str, array: Any, index: Any) -> None:
    from tests.converters.helpers import load

    f = load(program)
    expected = f(array.copy(), index)
    found = autograph(f)(jnp.asarray(array), jax.tree.map(as_index, index))
    assert np.allclose(found, expected) and found.dtype == jnp.asarray(array).dtype


def test_numpy_arrays_are_written_in_place():
    array = np.zeros(3)
    assert subscripts.set_item(1.0, array, 0) is array and array[0] == 1
    assert subscripts.set_item(jnp.float32(2), array, 0) is array and array[0] == 2, "nothing is traced"
    jax.make_jaxpr(lambda x: subscripts.set_item(x, np.zeros(3), 0).at[0].get())(1.0)  # a traced value needs a JAX array


@pytest.mark.parametrize("target", [[1, 2], {0: 1}, bytearray(b"ab")], ids=lambda value: type(value).__name__)
def test_pythons_containers_are_written_in_place(target: Any):
    assert subscripts.set_item(5, target, 0) is target and target[0] == 5
    subscripts.del_item(target, 0)
    assert 5 not in target


ERRORS = [((1, 2), 0), ("ab", 0), ({}.keys(), 0), (range(3), 1), (3, 0)]


@pytest.mark.parametrize(("target", "index"), ERRORS, ids=lambda value: type(value).__name__)
def test_errors_are_pythons(target: Any, index: Any):
    with pytest.raises(TypeError) as expected:
        operator.setitem(target, index, 5)
    with pytest.raises(TypeError) as caught:
        subscripts.set_item(5, target, index)
    assert str(caught.value) == str(expected.value)


def test_an_array_in_a_tuple():
    with pytest.raises(ImmutableError):
        subscripts.set_item(jnp.ones(2), (1, 2), 0)


# ------------------------------------------------------------------ who holds the array


def helper_argument(x):
    def fill(v):
        v[0] = 1.0

    fill(x)
    return x


def row(x):
    first = x[0]
    first[1] = 5.0
    return x


def row_read_later(x):
    first = x[0]
    x[0, 1] = 5.0
    return first


def transposed(x):
    t = x.T
    t[0, 1] = 5.0
    return x


def reshaped(x):
    flat = x.reshape(-1)
    flat[1] = 5.0
    return x


def in_list(x):
    xs = [x]
    xs[0][0, 1] = 5.0
    return x


def in_dict_twice(x):
    d = {"a": x, "b": x}
    d["a"][0, 1] = 5.0
    return d["b"]


def attribute(x):
    class Holder:
        pass

    holder = Holder()
    holder.x = x
    x[0, 1] = 5.0
    return holder.x


def loop_rows(x):
    for r in x:
        r[0] = 7.0
    return x


def closure(x):
    keep = lambda: x  # noqa: E731
    y = x
    y[0, 1] = 5.0
    return keep()


def copied_list(x):
    xs = [x, x]
    for y in xs:
        y[0, 1] = 5.0
    return xs


def slice_of_slice(x):
    a = x[1:]
    b = a[0]
    b[0] = 9.0
    return x


def unpacked(x):
    a, b, c = x
    a[0] = 9.0
    return x


def swapped(x):
    a, b = x, x + 1
    a, b = b, a
    b[0, 0] = 9.0
    return x


def returned_by_helper(x):
    def same(v):
        return v

    y = same(x)
    y[0, 0] = 9.0
    return x


def default_argument(x):
    def g(v=x):
        v[0, 0] = 9.0
        return v

    g()
    return x


ALIASED = [helper_argument, row, row_read_later, transposed, reshaped, in_list, in_dict_twice, attribute, loop_rows]
ALIASED += [closure, copied_list, slice_of_slice, unpacked, swapped, returned_by_helper, default_argument]


@pytest.mark.parametrize("function", ALIASED, ids=lambda f: f.__name__)
@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
def test_as_numpy_or_refused(function: Any, traced: bool):
    """Never silently different."""
    expected = function(grid[:, :3].copy())
    converted = jax.jit(autograph(function)) if traced else autograph(function)
    try:
        found = converted(jnp.asarray(grid[:, :3]))
    except (AliasError, ImmutableError):
        return
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        assert np.array_equal(a, b)


def test_doubtful_pairs_go_with_their_arrays():
    first, second = jnp.zeros(2), jnp.ones(2)
    aliasing.doubt(first, second)
    assert any(other is first for other in aliasing.doubtful_with(second))
    with pytest.raises(AliasError):
        aliasing.follow(first, second, jnp.zeros(2), views.Renewed(second, jnp.zeros(2)))
    assert aliasing.doubtful_with(second)
    key = id(first)
    del first
    gc.collect()
    assert not aliasing.doubtful_with(second)
    assert key not in aliasing._doubtful  # another array may get this id


def test_doubt_is_about_two_arrays():
    x = jnp.zeros(2)
    for pair in ((x, x), (x, 1), (None, x)):
        aliasing.doubt(*pair)
    assert not aliasing.doubtful_with(x)


def test_follow():
    old, new, other = jnp.zeros(2), jnp.ones(2), jnp.zeros(2)
    renewed = views.Renewed(old, new)
    assert aliasing.follow(old, old, new, renewed) is new and aliasing.follow(other, old, new, renewed) is other


def test_views_go_with_their_arrays():
    base = jnp.zeros((2, 2))
    first = views.view(base[0], base)
    assert [a is base for a in views.related_to(first)] == [True]
    assert [a is first for a in views.related_to(base)] == [True]
    del first
    gc.collect()
    assert not list(views.related_to(base))
