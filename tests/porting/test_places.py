"""`np.bincount`, `np.choose` and `np.ravel_multi_index` at places that are traced, or known, of values that are traced."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import Programs, check_compiled

VALUES = [[3.0, 1.0, 2.0, 0.5], [2.0, 0.0, 7.0, 1.0]]
PROGRAMS = program = Programs()


@program
def sums_at_known_places(x):
    places = np.array([0, 1, 2, 1])
    return np.bincount(places, weights=x), np.bincount([0, 1, 2, 1], x.astype(int), 6), np.bincount(places) * x[0]


@program
def sums_at_traced_places(x):
    k = x.astype(int) % 3
    return np.bincount(k, x, 6), np.bincount(k, minlength=3), np.bincount(x > 1, minlength=2), np.bincount(k[:0], minlength=2)


@program
def one_of_several(x):
    return np.choose([0, 1, 0, 1], [x, -x]), np.choose(x > 2, [x, -1]), (x > 2).astype(int).choose([x, [1, 2, 3, 4]])


@program
def places_out_of_range(x):
    k, a = x.astype(int), [x, -x, 7.0]
    return np.choose(k, a, mode="clip"), np.choose(k - 9, a, mode="wrap"), np.choose(k[3], [4, 2])


@program
def rows_of_a_matrix(x):
    out = np.zeros((1, 4))
    np.choose([[0, 1, 2, 3]], np.outer(x, x), out=out)
    return out, np.choose(np.array([0, 3, 0, 3]), np.outer(x, x))


@program
def places_in_a_row(x):
    k = x.astype(int)
    index = np.stack([k % 3, k % 2])
    return (
        np.ravel_multi_index((k % 3, k % 2), (3, 4)), np.ravel_multi_index(index, (3, 4), order="F"),
        np.ravel_multi_index((k, k), (3, 4), mode="clip"), np.ravel_multi_index((k - 5, k), (3, 4), mode=("wrap", "clip")),
        np.ravel_multi_index((k[0], 2), (8, 4)), np.ravel_multi_index((k, [0, 1, 2, 3]), (8, 4)),
    )  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(PROGRAMS[name], VALUES)
    want, found = (jax.tree.leaves(run(np.array(VALUES[0]))) for run in (PROGRAMS[name], ag.port(PROGRAMS[name])))
    assert [np.asarray(one).dtype for one in found] == [np.asarray(one).dtype for one in want]


@pytest.mark.parametrize(
    "function, error, match",
    [
        (lambda x: np.bincount(x.astype(int), minlength=3), ag.PortingError, "longer than `minlength`"),
        (lambda x: np.bincount(x.astype(int) - 4, minlength=3), ValueError, "no negative elements"),
        (lambda x: np.bincount(x.astype(int)), ag.PortingError, "an array of that length"),
        (lambda x: np.bincount(x, minlength=3), TypeError, "Cannot cast"),
        (lambda x: np.bincount([0, 1, 2, 1], x * 1j), TypeError, "Cannot cast"),
        (lambda x: np.choose(x.astype(int), [x, -x]), ValueError, "invalid entry in choice array"),
        (lambda x: np.ravel_multi_index((x.astype(int),) * 2, (3, 4)), ValueError, "invalid entry in coordinates array"),
        (lambda x: np.ravel_multi_index((x, x), (3, 4)), TypeError, "only int indices"),
    ],
)
def test_what_numpy_refuses_and_what_is_not_known(function, error, match, x64):
    with pytest.raises(error, match=match):
        jax.block_until_ready(ag.jit(ag.port(function))(jnp.array(VALUES[0])))


def test_counts_of_a_traced_length(x64):
    found = jax.jit(ag.port(lambda x: np.bincount(x.astype(int), x), max_len=8))(jnp.array(VALUES[0]))
    np.testing.assert_allclose(found.padded(0.0)[:4], np.bincount([3, 1, 2, 0], VALUES[0]))
