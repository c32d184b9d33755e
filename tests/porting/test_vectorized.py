"""`np.vectorize`, `np.frompyfunc` and polynomials as objects, on traced arrays: what NumPy gives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from tests.porting.programs import VECTORS, Programs, check_compiled

PROGRAMS = program = Programs()


@np.vectorize
def counted(a, n=10):
    turns = 0
    while a < n:
        a, turns = a + 1.5, turns + 1
    return a + turns


@program
def with_branches(x):
    return np.vectorize(lambda a: a * 2 if a > 0 else -a)(x)


@program
def with_loops_and_keywords(x):
    return counted(x), counted(x, n=3), counted(2.0), counted(x[0]), counted(x, n=x[::-1])


@program
def several_results_broadcast(x):
    return np.vectorize(lambda a, b: (a + b, a * b) if a < b else (b, a))(x[:, None], x)


@program
def types_that_are_named(x):
    as_float = np.vectorize(lambda a: 1 if a > 0 else 0.5, otypes="d")
    return as_float(x), np.vectorize(lambda a: a + 0.5, otypes=[int])(x), np.vectorize(lambda a: a, otypes=[float])(x[:0])


@program
def arguments_that_stay_whole(x):
    by_place = np.vectorize(lambda a, c, k=2: a * c[0] + k, excluded=["c", 1])
    return by_place(x, [1.0, 2.0]), np.vectorize(lambda a, c: a * c[0], excluded={"c"})(x, c=[3.0])


@program
def one_element_after_the_other(x):
    calls = [0]

    def weighted(a):
        calls[0] += 1
        return a * calls[0]

    return np.vectorize(weighted, otypes=[float])(x), calls[0]


@program
def long_arrays(x):
    return np.vectorize(lambda a: a * 2 if a > 5 else -a)(np.arange(400.0) * x[0])


@program
def functions_of_python(x):
    return np.frompyfunc(lambda a, b: a + b if a > b else a, 2, 1)(x, 1.0).astype(float)


@program
def polynomials_of_known_coefficients(x):
    p = np.poly1d([1.0, 2.0, 3.0])
    return p(x), p(x[0]), (p + 1)(x), p.deriv()(x), np.polynomial.Polynomial([1.0, 2.0, 3.0])(x)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(PROGRAMS[name], VECTORS)


def test_derivatives(x64):
    doubled = ag.port(lambda x: np.vectorize(lambda a: a**2 if a > 0 else -a)(x).sum())
    np.testing.assert_allclose(jax.grad(doubled)(jnp.array([3.0, -1.0])), [6.0, -1.0])


def in_records(x):
    records = np.zeros(3, dtype=[("a", float), ("b", int)])
    records["a"] = x
    return records["a"]


REFUSED = {
    "a signature": (lambda x: np.vectorize(np.sum, signature="(n)->()")(x), "with a signature has no counterpart"),
    "an iterator": (lambda x: sum(v for v in np.nditer(x)), "`numpy.nditer` has no counterpart"),
    "records": (in_records, "takes NumPy's arrays alone"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    function, text = REFUSED[name]
    with pytest.raises(ag.PortingError, match=text):
        jax.jit(ag.port(function))(jnp.ones(3))
