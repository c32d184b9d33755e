"""What a user of NumPy relies on, line by line: each row runs with NumPy's arrays, and with ours under jit."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import PortingError
from autograph_jax.porting.arrays import MutableArray, value_of, wrap
from autograph_jax.porting.functions import call


def fill(a):
    a[:] = 7


def a_view_is_the_array(x):
    row = x[1]
    fill(row)
    x.T[0] += 1
    return x


def a_view_of_a_view(x):
    x[1:].reshape(-1)[::2] = 0
    x.ravel()[1] = 9
    return x


def a_copy_is_not(x):
    y = x[[0, 1]]
    y[:] = 0
    z = x.T.ravel()
    z[:] = 1
    return x, y, z


def overlapping(x):
    y = np.cumsum(x)
    y[1:] = y[:-1]
    return y


def overlapping_backwards(x):
    y = np.cumsum(x)
    y[:-1] = y[1:] * 2
    y[::-1] = y
    return y


def in_place_keeps_the_type(x):
    y = x.astype("f4")
    y += x
    y *= 2.5
    return y


def float32_stays(x):
    y = x.astype("f4")
    return y * 2.0, y / 3, np.sqrt(y), y.sum(), y.mean()


def integers(x):
    n = x.astype("i4")
    return n / n.max(), n // 2, n * 1.5, np.mean(n), n.sum(), n * x.astype("f4"), np.dot(n, n.T.astype("f4"))


def out(x):
    y = np.empty_like(x)
    np.add(x, 1, out=y)
    np.multiply(y, 2, out=y[0]) if y.ndim == 1 else np.multiply(y[0], 2, out=y[0])
    np.cumsum(x, axis=0, out=x)
    return x, y


def out_by_its_place(x):
    y, z, m = np.empty_like(x), np.empty_like(x[0]), np.empty_like(x[:, :1])
    x.clip(1, np.inf, y)
    np.take(x[0], [3, 1, 0], None, z, "wrap")
    return x.round(1, x[:]), y, z, x.mean(1, None, m, True), np.dot(x, x.T, np.empty_like(x[:, :2])), x.sum(1, None, m[:, 0]), m


def where(x):
    y = np.zeros_like(x)
    np.divide(1, x, out=y, where=x > 2)
    y[x < 2] = -1
    return y


def reductions(x):
    return np.add.reduce(x), np.maximum.accumulate(x, axis=1), np.multiply.outer(x[0], x[1]), np.subtract.reduce(x, axis=1)


def at(x):
    np.add.at(x, ([0, 0, 1], 1), 2.5)
    np.maximum.at(x, (slice(None), 0), 2)
    return x


def functions(x):
    square = x[:, :2] + 4 * np.eye(2)
    return np.linalg.solve(square, x[:, 0]), np.linalg.norm(x), np.einsum("ij,ij->i", x, x), np.clip(x, 1, 3), np.stack([x, x])


def writers(x):
    np.fill_diagonal(x, 5)
    np.copyto(x[0], x[1], where=x[0] > 0)
    np.put(x, [0, 5], [8, 9])
    np.putmask(x, x > 8, -1)
    x.flat[3] = 4
    x.sort(axis=0)
    return x


def complex_parts(x):
    z = x + 1j
    z.real[0] = 0
    z.imag = x
    return z


def rows_of_an_array(x):
    total = 0.0
    for row in x:
        row *= 2
        total += row[0]
    return total, x, len(x), x.shape, x.ndim, x.size, x.dtype.char


def assigned_through_a_list(x):
    x[0] = [x[1, 0], x[1, 1], 3.0]
    return x


def swapped(x):
    x[[0, 1]] = x[[1, 0]]
    return x


def ravelled_as_in_memory(x):
    spread = np.broadcast_to(x[::-1], (2, 2, 3))
    return x[::-1].ravel("K"), x[:, ::-1].T.ravel("K"), x.T[::-1].ravel("A"), spread.ravel("K"), spread.T.ravel("K")


ROWS: list[Callable[[Any], Any]] = [
    a_view_is_the_array, a_view_of_a_view, a_copy_is_not, overlapping, overlapping_backwards, in_place_keeps_the_type,
    float32_stays, integers, out, out_by_its_place, where, reductions, at, functions, writers, complex_parts, rows_of_an_array,
    assigned_through_a_list, swapped, ravelled_as_in_memory,
]  # fmt: skip


def values() -> np.ndarray:
    return np.array([[1.0, 2.0, 3.0], [4.0, 0.5, 6.0]])


@pytest.mark.parametrize("function", ROWS, ids=lambda row: row.__name__)
def test_under_jit_it_is_what_numpy_gives(function: Callable[[Any], Any], x64: None):
    static: list[Any] = []

    def run(x: Any) -> Any:
        found = jax.tree.map(value_of, function(wrap(x)), is_leaf=lambda leaf: isinstance(leaf, MutableArray))
        static.append([leaf for leaf in jax.tree.leaves(found) if not isinstance(leaf, jax.Array)])
        return [leaf for leaf in jax.tree.leaves(found) if isinstance(leaf, jax.Array)]

    wanted = jax.tree.leaves(function(values()))
    found = jax.jit(run)(values())
    assert [leaf for leaf in wanted if not isinstance(leaf, (np.ndarray, np.generic, float))] == static[0]
    arrays = [leaf for leaf in wanted if isinstance(leaf, (np.ndarray, np.generic, float))]
    for one, other in zip(arrays, found, strict=True):
        assert np.asarray(one).dtype == other.dtype
        np.testing.assert_allclose(other, one, rtol=1e-6)


REFUSED: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a function": (lambda x: np.linalg.eigvals(x[:, :2]) if False else np.busday_count(x, x), "has no counterpart"),
    "bytes": (lambda x: x.view("i8"), "the bytes of an array read as another dtype"),
}


@pytest.mark.parametrize("function, message", REFUSED.values(), ids=REFUSED)
def test_refused(function: Callable[[Any], Any], message: str, x64: None):
    with pytest.raises(PortingError, match=r"\[AG0501\]") as error:
        jax.jit(lambda x: value_of(function(wrap(x))))(values())
    assert message in str(error.value) and "test_arrays.py" in str(error.value)


WRONG: list[Callable[[Any], Any]] = [
    lambda x: x.__iadd__(1j), lambda x: x.__setitem__(5, 1), lambda x: x.__setitem__(0, [1, 2]), lambda x: len(x[0, 0:1][0]),
    lambda x: x.diagonal().__setitem__(0, 1), lambda x: np.broadcast_to(x, (2, 2, 3)).__setitem__(0, 1),
    lambda x: np.add(x, x[:, :2]), lambda x: np.dot(x, x), lambda x: x.reshape(7), lambda x: float(x), lambda x: hash(x),
    lambda x: np.add(x, 1, out=x[0]), lambda x: x.astype(int, casting="safe"), lambda x: x.item(),
]  # fmt: skip


@pytest.mark.parametrize("function", WRONG)
def test_what_numpy_refuses_is_refused_alike(function: Callable[[Any], Any], x64: None):
    with pytest.raises(Exception) as wanted:
        function(values())
    with pytest.raises((TypeError, ValueError, IndexError)) as found:
        jax.jit(lambda x: function(wrap(x)))(values())
    assert isinstance(found.value, type(wanted.value)) or isinstance(wanted.value, type(found.value))


def test_what_is_known_stays_known(x64: None):
    def run(x: jax.Array) -> jax.Array:
        known = call(np.array, ([1.0, 2.0, 3.0],), {})
        known[1:] *= 2
        assert isinstance(known.value, np.ndarray) and known.tolist() == [1.0, 4.0, 6.0]
        assert bool((known > 0).all()) and int(known.argmax()) == 2
        known[0] = x
        assert isinstance(known.value, jax.Array)
        return known.value

    np.testing.assert_array_equal(jax.jit(run)(8.0), [8.0, 4.0, 6.0])


def test_the_buffer_is_one_attribute():
    array = wrap(jnp.zeros((2, 3)))
    view = array[0][1:]
    assert view._buffer is array._buffer and view.base is array
    view[:] = 1
    np.testing.assert_array_equal(array._buffer.value, [[0, 1, 1], [0, 0, 0]])


def test_squares_differentiate_at_zero(x64: None):
    assert jax.grad(lambda x: (wrap(x) ** 2).sum())(jnp.zeros(2)).tolist() == [0.0, 0.0]
    assert jax.grad(lambda x: np.sum(np.power(wrap(x), 3)))(-jnp.ones(2)).tolist() == [3.0, 3.0]


def test_derivatives_pass_through_writes(x64: None):
    def f(x: jax.Array) -> Any:
        a = wrap(x)
        a[1:] = a[:-1] * a[1:]
        a.T[0] *= 3
        return np.sum(a * a)

    x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    expected = np.zeros((2, 2))
    for place in np.ndindex(2, 2):
        step = np.zeros((2, 2))
        step[place] = 1e-6
        expected[place] = (f(x + step) - f(x - step)) / 2e-6
    np.testing.assert_allclose(jax.grad(f)(x), expected, rtol=1e-6)
    np.testing.assert_allclose(jax.jacfwd(f)(x), expected, rtol=1e-6)


def test_without_64_bits_all_is_32():
    array = wrap(jnp.arange(3.0))
    array += np.float64(1)
    assert array.dtype == np.float32 and (array / 2).dtype == np.float32 and np.mean(array).dtype == np.float32


def test_axes_may_be_numpys_integers(x64: None):
    def f(x: Any) -> Any:
        return x.transpose(np.arange(x.ndim)[::-1]), x[0].transpose(np.int64(0))

    values = np.arange(6.0).reshape(2, 3)
    for found, want in zip(jax.jit(ag.port(f))(values), f(values), strict=True):
        np.testing.assert_array_equal(found, want)
