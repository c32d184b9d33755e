"""Functions in C that JAX lacks, called at run time: the same as without JAX, mapped too, and no derivative."""

import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.cluster.vq
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.sparse.csgraph
import scipy.spatial.distance
import scipy.special

import autograph_jax as ag
from tests.porting.programs import Programs

PROGRAMS = program = Programs()
VECTORS = ([2.0, 1.0, 0.5], [-3.0, 0.25, 1.0])


@program
def a_ufunc_of_several_results(b):
    first, second, *_ = scipy.special.airy(b)
    return first, second, scipy.special.jv(1.5, abs(b)), scipy.special.jn(2, b[0])


@program
def a_function_of_cython(b):
    return scipy.linalg.solve_toeplitz(np.array([9.0, 1.0, 0.5]) + b[1], b)


@program
def what_writes_into_its_argument(b):
    m = scipy.spatial.distance.squareform(abs(b))
    m[0, 1] += 1
    return m, scipy.ndimage.correlate1d(b, np.array([0.5, 1.0, 0.25]))


@program
def a_routine_of_lapack(b):
    return scipy.linalg.lstsq(np.outer(b, b) + np.eye(3), b)


@program
def a_sparse_matrix(b):
    m = scipy.sparse.csr_matrix(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0], [1.0, 0.0, 4.0]]))
    places = np.array([0, 1, 2]), np.array([1, 2, 0])
    return m @ b, b @ m, scipy.sparse.coo_matrix((b, places), shape=(3, 3)).tocsr() @ b


@program
def views_that_c_reads_and_writes(b):
    m = np.outer(b, b)
    scipy.ndimage.gaussian_filter1d(m[0:2], 1.0, output=m[1:3])
    scipy.ndimage.gaussian_filter1d(m[2], 1.0, output=m[2])
    turned = m.T
    scipy.ndimage.gaussian_filter(turned, 1.0, output=m)
    return m, turned


@program
def known_arrays_that_c_writes(b):
    m, row = np.eye(3), np.arange(3.0)
    before, turned = m.copy(), m.T
    scipy.ndimage.gaussian_filter(turned[1:], 1.0, output=m[:2].T[:, ::-1].T)
    scipy.ndimage.gaussian_filter1d(row, 1.0, output=m[2])
    out, untouched = np.zeros(3), np.zeros(3)
    scipy.spatial.distance.pdist(m[:, ::2], out=out)
    scipy.special.airy(row, out=(row, None, None, None))
    return m @ b, before @ b, turned, out * b, untouched, row


@program
def known_arrays_in_another_order_in_memory(b):
    places = np.asarray(np.unravel_index(np.arange(4), (2, 2)), dtype=np.float64).T
    return scipy.spatial.distance.pdist(places) * b[0], scipy.ndimage.gaussian_filter(places.copy(), 1.0) * b[1]


@program
def lists_and_arrays_in_random_order(b):
    generator = np.random.default_rng(1)
    numbers, rows = np.arange(5.0), [np.eye(2), np.ones(2), np.zeros(3)]
    copied = numbers.copy()
    generator.shuffle(numbers)
    generator.shuffle(rows)
    rows[0][...] = 7.0
    words = [3.0, 1.0, 2.0]
    random.Random(0).shuffle(words)
    return numbers * b[0], copied * b[0], rows, np.array(words) * b


@program
def in_a_loop_and_a_branch(b):
    n, y = 0, 0.0
    while y < 3:
        if b[0] > 0:
            y = y + scipy.special.wright_bessel(1.0, 1.0, abs(b[1]))
        else:
            y = y + 1
        n += 1
    return n, y


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_without_jax(name, x64):
    ported = ag.port(PROGRAMS[name])
    batched = jax.jit(jax.vmap(ported))(jnp.asarray(VECTORS))
    for number, vector in enumerate(VECTORS):
        expected = jax.tree.leaves(PROGRAMS[name](np.array(vector)))
        for found in (jax.jit(ported)(jnp.asarray(vector)), jax.tree.map(lambda leaf, number=number: leaf[number], batched)):
            for one, other in zip(jax.tree.leaves(found), expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-12)


def test_what_c_reads_has_64_bits_where_jax_has_32():
    vector = np.array(VECTORS[0])
    for name in ("what writes into its argument", "a function of cython"):
        found, expected = jax.jit(ag.port(PROGRAMS[name]))(vector), PROGRAMS[name](vector)
        for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5)


def test_a_derivative_is_refused_with_the_line():
    @ag.port
    def solve(b):
        return scipy.linalg.solve_toeplitz(b, b).sum()

    with pytest.raises(ag.PortingError, match=r"`levinson`, a function in C[^$]*, has no derivative[\s\S]*_basic.py"):
        jax.grad(solve)(jnp.asarray(VECTORS[0]))


def test_where_nothing_of_it_depends_on_the_argument_the_derivative_is_zero():
    @ag.port
    def scaled(b, factor):
        return (scipy.special.airy(b)[0] * factor).sum()

    expected = scipy.special.airy(np.array(VECTORS[0]))[0].sum()
    assert jax.grad(scaled, argnums=1)(jnp.asarray(VECTORS[0]), 2.0) == pytest.approx(expected)


def test_its_error_is_one_at_run_time():
    @ag.jit
    @ag.port
    def solve(b):
        return scipy.linalg.solve_toeplitz(b, b)

    with pytest.raises(RuntimeError, match="`levinson`, a function in C, has raised an error"):
        solve(jnp.zeros(3))


def test_traced_indices_are_refused():
    @ag.port
    def solve(b):
        places = (b > 0).astype(int)
        return scipy.sparse.coo_matrix((b, (places, np.arange(3))), shape=(3, 3)).tocsr() @ b

    with pytest.raises(ag.PortingError, match="has no counterpart on traced values"):
        jax.jit(solve)(jnp.asarray(VECTORS[0]))


def test_a_function_that_would_end_the_process_is_not_called():
    @ag.port
    def spline(x, y):
        return scipy.interpolate.make_interp_spline(x, y, k=3)(0.5)

    with pytest.raises(ag.PortingError, match="`_coloc`, a function in C, gives cannot be seen"):
        jax.jit(spline)(jnp.linspace(0.0, 1.0, 6), jnp.ones(6))


def test_integers_that_depend_on_how_large_numbers_are_do_not_stay_known(x64):
    @ag.port
    def nearest(points):
        return scipy.cluster.vq.vq(points, np.asarray([[0.0, 0.0], [2.0, 2.0]]))[0]

    points = np.asarray([[0.1, 0.2], [1.5, 2.5]])
    for scale in (1.0, 1e-3, 1e3):
        np.testing.assert_array_equal(jax.jit(nearest)(scale * points), nearest(scale * points))


def test_an_object_that_a_function_in_c_makes_is_refused():
    @ag.port
    def tree(weights):
        return scipy.sparse.csgraph.minimum_spanning_tree(weights).toarray()

    with pytest.raises(ag.PortingError, match="gives cannot be seen by calling it with numbers of no meaning"):
        jax.jit(tree)(jnp.ones((3, 3)))


TABLE = np.array([[0.0, 0.0], [3.0, 4.0]])


def test_known_arrays_of_numpys_own_in_a_branch():
    """They are read-only there, which functions in C refuse also where they only read."""

    @ag.port
    def farthest(x):
        y = x
        if x > 0:
            y = x * scipy.spatial.distance.pdist(TABLE).max() + scipy.cluster.vq.vq(TABLE, TABLE)[1].sum()
        return y

    @ag.port
    def smoothed(x):
        if x > 0:
            scipy.ndimage.gaussian_filter1d(np.arange(2.0), 1.0, output=TABLE[0])
        return x

    assert jax.jit(farthest)(2.0) == 10.0
    with pytest.raises(ag.PortingError, match="writes into an array of NumPy's that it has not made"):
        jax.jit(smoothed)(2.0)
    assert not TABLE[0].any() and TABLE.flags.writeable
