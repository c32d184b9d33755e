"""`numpy.ma` where data or mask are traced."""

# pyright: reportAttributeAccessIssue=false, reportIndexIssue=false, reportArgumentType=false, reportCallIssue=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import PortingError
from tests.porting.programs import Programs, check_compiled

VALUES = [[3.0, 0.5, 0.0, 2.0], [1.0, -2.0, 5.0, 2.0], [0.25, 0.5, 0.75, 1.0]]
PROGRAMS = program = Programs()


@program
def reductions(x):
    m = np.ma.masked_where(x > 2.5, x)
    return m.count(), m.min(), m.max(), m.sum(), m.mean(), m.std(), m.var(ddof=1), m.prod(), m.argmin(), m.argmax()


@program
def functions_of_both_modules(x):
    m = np.ma.masked_greater(x, 2.5)
    return np.ma.count(m), np.ma.min(m), np.sum(m), np.mean(m), np.ma.nonzero(m == m.min())[0][0], (m > 0).any(), np.size(m)


@program
def no_mask(x):
    return np.any(np.ma.getmask(x)), np.ma.getmaskarray(x), np.ma.asarray(x).sum(), np.ma.is_masked(x), np.ma.filled(x)


@program
def data_of_what_has_no_mask(x):
    """As pykalman's filters."""
    z, gain, out = np.ma.atleast_2d(np.ma.asarray(x)), np.arange(8.0).reshape(2, 4), np.zeros((2, 4))
    if not np.any(np.ma.getmask(z[0])):
        out[0] = z[0]
    gained = np.dot(gain, z[0]), gain.dot(z.T), (gain * x[0]).dot(z[0] - x[1]), np.dot(z, gain.T), np.linalg.norm(z)
    return out, *gained, z.T.shape, np.outer(z[0], z[0])


@program
def a_known_mask(x):
    m = np.ma.array(x, mask=[0, 1, 0, 0])
    return (
        m.mask,
        m.filled(-1),
        (m * m - 2.0).filled(0),
        (2 - m).data,
        abs(m).filled(8),
        (-m).mask,
        m.T.filled(),
        m[0],
        m[1:].filled(3),
    )


@program
def outside_of_a_domain(x):
    m = np.ma.array(x, mask=x == 2)
    roots = np.ma.sqrt(x - 1.5).filled(9), np.sqrt(m).filled(7), np.ma.log(m).mask
    return (1 / m).filled(-1), (m / m).mask, *roots, (m // x).filled(5), (m % x).mask, (m**-1.0).mask


@program
def compared(x):
    m, n = np.ma.masked_less(x, 0.6), np.ma.masked_equal(x, 2.0)
    return (
        (m == n).filled(4),
        (m == n).data,
        (m != 2).mask,
        ((m > 0.7) & (n < 2)).filled(False),
        np.ma.where(m > 0.8, m, n).filled(-7),
    )


@program
def along_an_axis(x):
    m = np.ma.masked_equal(x.reshape(2, 2), 2.0)
    return (
        m.sum(axis=0).filled(-1),
        m.mean(axis=1).filled(-1),
        m.min(axis=0).filled(-5),
        m.T.filled(3),
        m.count(axis=1),
        m.ravel().mask,
    )


@program
def invalid_elements(x):
    m = np.ma.masked_invalid(np.log(x))
    return m.mean(), m.compressed().sum(), np.ma.concatenate([m, m]).filled(0), np.ma.average(m, weights=[1, 2, 3, 4])


@program
def elements_written(x):
    m = np.ma.masked_less(x, 0.6)
    for i in range(3):
        if m.mask[i]:
            m[i] = x[i] + 10
        else:
            m = m * 2
    m[3] = np.ma.masked
    m.mask[0] = False
    return m.filled(0), m.mask, isinstance(m, np.ma.MaskedArray)


@program
def the_next_one_that_is_left(x):
    done, total = np.zeros(4, bool), 0.0
    while not done.all():
        place = np.ma.array(x, mask=done).argmin()
        done[place] = True
        total = 2 * total + x[place]
    return total


@program
def a_part_of_an_array(x):
    m = np.ma.masked_where(x[1:] >= 1, x[1:], copy=False)
    x[1] = 0.125
    return m.filled(0), m.data


def pivot(x):
    m = np.ma.masked_where(x >= 1, x, copy=False)
    if m.count() == 0:
        return False, np.nan
    return True, np.ma.nonzero(m == m.min())[0][0]


@program
def a_place_or_a_nan(x):
    """As SciPy's simplex method looks for a pivot."""
    steps = 0
    while True:
        is_found, place = pivot(x)
        if not is_found:
            break
        x[place] += 0.75
        steps += 1
    return x, steps


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(lambda x: filled(PROGRAMS[name](x)), VALUES)


def filled(parts):
    """The parts of what a program gives, the masked ones with zeros."""
    return [np.ma.filled(part, 0) for part in parts] if isinstance(parts, tuple) else parts


def test_none_counts():
    smallest = ag.jit(ag.port(lambda x: np.ma.masked_where(x > 1, x).min()))
    assert smallest(jnp.array([0.5, 2.0])) == 0.5
    with pytest.raises(ValueError, match="no element of a masked array counts"):
        smallest(jnp.array([3.0, 2.0]))


def test_a_masked_array_of_numpys_own(x64):
    mask = np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0])
    x = jnp.array([4.0, 5.0, 6.0])
    np.testing.assert_array_equal(jax.jit(ag.port(lambda x: np.multiply(x, mask).filled(0)))(x), [4, 0, 18])
    assert ag.port(lambda x: np.sum(mask) + x[0])(x) == 8
    for function in (lambda x: np.sum(x * mask), lambda x: x - mask, lambda x: mask * x):
        with pytest.raises(PortingError):
            jax.jit(ag.port(function))(x)


def test_derivatives_pass_what_is_masked(x64):
    def roots(x):
        m = np.ma.sqrt(x)
        return (m * m * m).sum() + m.var()

    x = np.array([4.0, -1.0, 9.0])
    ends = [roots(x + d) - roots(x - d) for d in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(jax.grad(ag.port(roots))(x), np.array(ends) / 2e-6, rtol=1e-8)


def test_what_has_no_counterpart_is_refused():
    with pytest.raises(ag.PortingError, match="median"):
        jax.jit(ag.port(lambda x: np.ma.median(np.ma.masked_where(x > 1, x))))(jnp.ones(3))


def test_an_array_of_ported_code_as_an_index_may_not_be_a_fraction(x64):
    def element(x):
        place = np.nan if x[0] > 2 else 1
        return x[place]

    assert ag.jit(ag.port(element))(jnp.array([1.0, 5.0])) == 5
    with pytest.raises(IndexError, match="only integers"):
        ag.jit(ag.port(element))(jnp.array([3.0, 5.0]))


def lowered(table, row):
    before = table[row, 0]
    for i in range(table.shape[0]):
        table[i] = table[i] - 1
    return before


def test_a_selection_that_a_function_writes_is_written_for_its_caller(x64):
    def program(x):
        table = x.reshape(2, 2)
        if x[0] > 2:
            table = table[:-1] * 1
        before = lowered(table, 0)
        return table[0], before, table.sum()

    check_compiled(program, VALUES)


def test_the_simplex_method(x64):
    simplex = pytest.importorskip("scipy.optimize._linprog_simplex")

    def solved(a, b, c):
        (m, n), table = a.shape, np.vstack((np.hstack((a, np.eye(len(a)), b[:, None])), np.hstack((c, np.zeros(len(a) + 1)))))
        basis = np.arange(n, n + m)
        turns, status = simplex._solve_simplex(table, n + m, basis, None, (), phase=2)
        x = np.zeros(n + m)
        x[basis[:m]] = table[:m, -1]
        return x, table, turns, status

    run = jax.jit(ag.port(solved))
    for seed in range(3):
        random = np.random.default_rng(seed)
        a, b, c = random.uniform(0.5, 2, (3, 4)), random.uniform(2, 5, 3), -random.uniform(0.5, 2, 4)
        for found, want in zip(run(a, b, c), solved(a, b, c), strict=True):
            np.testing.assert_allclose(found, want, rtol=1e-9, atol=1e-12)
