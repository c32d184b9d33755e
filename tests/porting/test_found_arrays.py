"""Arrays of NumPy's own that ported code comes across, in a global variable or an object from outside: read, and written as by
NumPy, or refused. Never written in a copy that nobody sees."""

import functools
import types

import jax
import numpy as np
import pytest

import autograph_jax as ag

TABLE = np.zeros((2, 2))
START = [[2.0, 1.0], [1.0, 0.0]]


def known_item(x):
    TABLE[0] = 5.0


def known_view(x):
    row = TABLE[0]
    row[0] = 5.0
    TABLE.T[1] = 3.0


def known_methods(x):
    TABLE.sort(axis=0)
    TABLE.flat[0] = 9.0
    TABLE.ravel()[1] = 7.0


def known_functions(x):
    np.copyto(TABLE, 3.0)
    np.add(TABLE, 1.0, out=TABLE)
    np.multiply.at(TABLE, 0, 2.0)
    np.fill_diagonal(TABLE, 6.0)


def each_row(x):
    for row in TABLE:
        row += 1


def item(x):
    TABLE[0, 0] = x


def view(x):
    turned = TABLE.T
    turned[0] = x


def by_out(x):
    np.add(TABLE, x, out=TABLE)


def by_at(x):
    np.add.at(TABLE, 0, x)


def by_copyto(x):
    np.copyto(TABLE, x)


def as_array(x):
    rows = np.asarray(TABLE)
    rows[1] = x


def reshaped(x):
    flat = np.reshape(TABLE, 4)
    flat[1] = x


WRITES = (known_item, known_view, known_methods, known_functions, each_row)
REFUSED = (item, view, by_out, by_at, by_copyto, as_array, reshaped)


@pytest.mark.parametrize("write", [*WRITES, *REFUSED])
def test_as_by_numpy_or_refused(write, x64):
    def f(x):
        write(x)
        return TABLE * x

    TABLE[...] = START
    expected, left = f(3.0), TABLE.copy()
    TABLE[...] = START
    if write in REFUSED:
        with pytest.raises(ag.PortingError, match="that it has not made|NumPy's arrays alone"):
            jax.jit(ag.port(f))(3.0)
        assert TABLE.tolist() == START
    else:
        np.testing.assert_allclose(jax.jit(ag.port(f))(3.0), expected)
        np.testing.assert_allclose(TABLE, left)


def test_copies_can_be_written(x64):
    model = types.SimpleNamespace(table=np.array(START))

    def f(x):
        a, b, c = np.array(model.table), model.table.copy(), np.asarray(model.table, dtype=complex)
        a[0], b[1], c[0, 0] = x, x, x
        return a, b, c, np.asarray(model.table) @ a

    for found, expected in zip(jax.jit(ag.port(f))(3.0), f(3.0), strict=True):
        np.testing.assert_allclose(found, expected)
    assert model.table.tolist() == START


@functools.cache
def cached_table():
    return np.zeros(2)


@pytest.mark.parametrize("is_known", [True, False])
def test_what_a_cache_has_given_and_a_block_changes(is_known, x64):
    def f(x):
        if x > 0:
            cached_table()[0] = x
        return cached_table()[0] + x

    cached_table.cache_clear()
    if is_known:
        cached_table()
    for porting in (ag.port, ag.autograph):
        with pytest.raises(ag.StagingError, match="`cached_table`, which has a cache, has given"):
            jax.jit(porting(f))(3.0)


NODES = np.linspace(0.0, 1.0, 6)
SQUARE = np.arange(12.0).reshape(3, 4)


def test_parts_at_places_and_bounds_that_are_traced(x64):
    def parts(t):
        k = int(t * 5)
        return (
            NODES[np.flatnonzero(NODES < t)].sum(), NODES[k:].sum(), SQUARE[:, int(t * 3) :].sum(),
            SQUARE[int(t * 2), 1:].max(), NODES[[0, k]], NODES[np.array([k, 1])],
        )  # fmt: skip

    def written(t):
        part = NODES[int(t * 5) :]
        part[0] = 5.0
        return NODES.sum()

    for t in (0.2, 0.61):
        jax.tree.map(np.testing.assert_allclose, jax.jit(ag.port(parts))(t), parts(t))
    with pytest.raises(ag.PortingError, match="has not made"):
        jax.jit(ag.port(written))(0.61)
