"""NumPy's polynomials as objects, of traced coefficients: what NumPy gives, and its classes stay as they are."""

import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.interpolate
from numpy.polynomial import Chebyshev, Legendre, Polynomial

import autograph_jax as ag
from tests.porting.programs import Programs, check_compiled

VALUES = [np.array([1.0, 2.0, 4.0]), np.array([-0.5, 3.0, 0.25])]
PROGRAMS = program = Programs()


@program
def made_of_numbers_and_lists(w):
    return np.poly1d(w[0]).coef, np.poly1d([1.0, -w[1]]).coef, np.poly1d(w, r=True).coef, Polynomial([w[0], 2.0]).coef


@program
def arithmetic_of_poly1d(w):
    p, q = np.poly1d(w), np.poly1d([1.0, -w[1]])
    return (p * q).coef, (p + q).coef, (p - 1.0).coef, (p / w[1]).coef, (p**2).coef, (-p).coef


@program
def calculus_of_poly1d(w):
    p = np.poly1d(w)
    return p(w[1]), p.deriv().coef, p.deriv(m=2).coef, p.integ(k=w[0]).coef, p.roots, p[1], p.order


@program
def arithmetic_of_polynomials(w):
    p, q = Polynomial(w), Polynomial([1.0, 2.0])
    quotient, rest = divmod(p, q)
    return (
        (p * w[1]).coef, (w[1] * p).coef, (w[1] + q).coef, (w[1] - q).coef, (p * q).coef, (p**2).coef, (p - q).coef,
        quotient.coef, rest.coef, (p / w[0]).coef, (-p).coef,
    )  # fmt: skip


@program
def calculus_of_polynomials(w):
    p = Polynomial(w, domain=[-1, 2], window=[0, 1])
    return p(w[0]), p.deriv().coef, p.integ(lbnd=0.5).coef, p.linspace(4)[1], Polynomial(w).roots(), p.convert().coef


@program
def sums_of_polynomials(w):
    return sum((b * Polynomial([1.0, 2.0]) ** k for k, b in enumerate(w)), Polynomial([0.0])).coef


@program
def other_bases(w):
    c, p = Chebyshev(w), Legendre(w)
    return c(w[0]), c.convert(kind=Polynomial).coef, (p * p).coef, p.deriv().coef, Legendre.basis(2)(w[0])


@program
def a_fit(w):
    of_integers = np.polyfit(np.arange(3), w, 1), np.polyfit(w, np.arange(3), 1)
    return Polynomial.fit([0.0, 1.0, 2.0], w, 1).convert().coef, np.polyfit(np.array([0.0, 1.0, 2.0]), w, 1), *of_integers


@program
def quotients_and_remainders(w):
    deflated = np.polydiv(np.polymul(w, [1.0, 2.0]), [1.0, 2.0])  # by a root
    return np.polydiv(w, [1.0, 2.0]), np.polydiv(w, w[:2]), np.polydiv(w[:2], w), np.polydiv([1, 2, 3, 5], w), deflated


@program
def of_lagrange(w):
    return scipy.interpolate.lagrange(np.array([0.0, 1.0, 2.0]), w).coef


@pytest.mark.filterwarnings("ignore:`lagrange` is deprecated:DeprecationWarning")  # since SciPy 1.18
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(PROGRAMS[name], VALUES)


def test_derivatives(x64):
    def f(w):
        return (Polynomial(w) * Polynomial(w)).deriv()(0.5)

    w = jnp.asarray(VALUES[0])
    slope = jax.grad(ag.port(f))(w)
    steps = [(f(VALUES[0] + h) - f(VALUES[0] - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(slope, steps, rtol=1e-5)


@pytest.mark.parametrize("last", [0.0, 1.0])
def test_zeros_at_the_end_are_refused_when_the_program_runs(last, x64):
    """Polynomial's own `except Exception` does not end that."""

    def f(w):
        return (Polynomial(w) * 2.0).coef

    w = jnp.array([1.0, 2.0, last])
    if last:
        np.testing.assert_allclose(ag.jit(ag.port(f))(w), [2.0, 4.0, 2.0])
    else:
        with pytest.raises(ag.PortingError, match="would take zeros away"):
            jax.block_until_ready(ag.jit(ag.port(f))(w))


@pytest.mark.parametrize("v", [[1.0, 2.0, 4.0], [0.0, 1.0, 2.0]])
def test_remainders_of_another_length_are_refused_when_the_program_runs(v, x64):
    """Of an exact division, or by what begins with a zero."""
    run = ag.jit(ag.port(lambda v: np.polydiv(np.polymul([1.0, 2.0, 4.0], [1.0, 3.0]), v)))
    with pytest.raises(ag.PortingError, match="would take zeros away"):
        jax.block_until_ready(run(jnp.array(v)))


def test_the_classes_are_as_they_were(x64):
    methods = [(kind, name, member) for kind in (np.poly1d, Polynomial) for name, member in inspect.getmembers_static(kind)]
    ag.jit(ag.port(lambda w: (Polynomial(w) + np.poly1d(w)(2.0)).coef))(jnp.array([1.0, 2.0]))
    assert all(inspect.getattr_static(kind, name) is member for kind, name, member in methods)
    assert (Polynomial([1.0, 2.0]) * 2.0).coef.tolist() == [2.0, 4.0]
