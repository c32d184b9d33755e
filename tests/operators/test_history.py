"""Rows that no converted code has taken of an array: under jit, their history says of which array they are."""

import collections
import itertools
import operator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag

M = np.array([[1.0, 2.0], [3.0, 4.0]])


def zipped(m):
    rows = dict(zip("ab", m, strict=True))
    rows["a"][0] = 9.0
    return m


def of_a_chain(m):
    rows = list(itertools.chain(m, m))
    rows[0][0] = 9.0
    return m


def of_a_deque(m):
    rows = collections.deque(m)
    rows[0][0] = 9.0
    return m


def picked_by_an_operator(m):
    row = operator.itemgetter(0)(m)
    row[0] = 9.0
    return m


def unpacked_in_parts(m):
    (first, _), _ = m, 1
    first[0] = 9.0
    return m


def base_written(m):
    (first, _), _ = m, 1
    m[0, 0] = 9.0
    return first


def written_by_a_callee(m):
    def write(row):
        row[0] = 9.0
        return row

    first, _ = m
    write(first)
    return m


SHARED = [zipped, of_a_chain, of_a_deque, picked_by_an_operator, unpacked_in_parts, base_written, written_by_a_callee]


@pytest.mark.parametrize("function", SHARED, ids=lambda function: function.__name__)
@pytest.mark.parametrize("transform", [jax.jit, ag.jit, lambda f: jax.jit(jax.vmap(f))], ids=["jit", "ag.jit", "vmap"])
def test_refused(function, transform):
    assert function(M.copy())[0][0] == 9 if function is not base_written else function(M.copy())[0] == 9
    m = jnp.array([M, M]) if transform not in (jax.jit, ag.jit) else jnp.array(M)
    with pytest.raises(ag.AliasError):
        transform(ag.autograph(function))(m)


def copied(m):
    (first, _), _ = m, 1
    own = first.copy()
    own[0] = 9.0
    return m, own


def not_read_later(m):
    (first, _), _ = m, 1
    first[0] = 9.0
    return first


def scalars(m):
    v = m[0] * 1.0
    a, b = v[0], v[1]
    v[0], v[1] = b, a
    return v, a


def picked_by_an_array(m):
    rows = m[np.array([0, 1])]
    rows[0] = 9.0
    return m, rows


def flattened(m):
    flat = m.flatten()
    flat[0] = 9.0
    return m, flat


def stacked_alone(m):
    rows = np.stack([m])
    rows[0, 0, 0] = 9.0
    return m, rows


def sliced_by_lax(m):
    part = jax.lax.slice_in_dim(m, 0, 1) if isinstance(m, jax.Array) else m[:1].copy()
    part[0, 0] = 9.0
    return m, part


COPIES = [copied, not_read_later, scalars, picked_by_an_array, flattened, stacked_alone, sliced_by_lax]


@pytest.mark.parametrize("function", COPIES, ids=lambda function: function.__name__)
def test_copies_are_written(function):
    found, want = jax.jit(ag.autograph(function))(jnp.array(M)), function(M.copy())
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(want), strict=True):
        np.testing.assert_array_equal(one, other)
