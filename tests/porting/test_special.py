"""Functions of scipy.special on traced values, against SciPy's own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

import autograph_jax as ag
from autograph_jax import errors
from autograph_jax.porting import special

X = np.array([-2.5, -0.7, -1e-9, 0.0, 1e-9, 0.3, 1.0, 2.5])
POSITIVE = np.array([1e-6, 0.2, 0.9, 1.0, 2.5, 7.0])
UNIT = np.array([0.0, 1e-9, 0.1, 0.5, 0.9, 0.999999])
ARGUMENTS = {
    "hyp1f1": (1.0, 2.5, X), "hyp2f1": (1.0, 2.0, 3.5, X),
    "gammainc": (np.array([0.0, 0.5, 0.0, 3.0, np.inf, np.inf]), np.array([0.5, 0.0, 0.0, 2.0, 5.0, 0.0])),
    "gammaincc": (np.array([0.0, 0.5, 0.0, 3.0, np.inf, np.inf]), np.array([0.5, 0.0, 0.0, 2.0, 5.0, 0.0])),
    "round": (X,), "psi": (POSITIVE,), "rgamma": (POSITIVE,), "erfcinv": (np.array([1e-12, 0.1, 1.0, 1.9]),),
    "inv_boxcox": (np.array([0.1, 0.5, 0.5]), np.array([0.0, 1.0, -0.5])), "huber": (1.0, X), "pseudo_huber": (1.5, X),
    "binom": (10.0, np.array([0.0, 3.0, 9.0])), "betaincc": (2.0, 3.5, UNIT), "zetac": (np.array([1.5, 2.0, 5.0]),),
    "chdtr": (3.0, POSITIVE), "chdtrc": (3.0, POSITIVE), "gdtr": (2.0, 1.5, POSITIVE), "gdtrc": (2.0, 1.5, POSITIVE),
    "pdtr": (np.array([0.0, 2.5, 4.0]), 2.5), "pdtrc": (np.array([0.0, 2.5, 4.0]), 2.5),
    "bdtr": (np.array([0.0, 2.0, 4.0]), 7, 0.3), "stdtr": (3.0, X), "fdtr": (3.0, 5.0, POSITIVE), "fdtrc": (3.0, 5.0, POSITIVE),
    "ellipk": (UNIT,), "ellipkm1": (np.array([1e-12, 0.1, 1.0]),), "ellipe": (np.array([*UNIT, 1.0]),), "cbrt": (X,),
    "log1p": (POSITIVE,),
}  # fmt: skip
ORDERS = [0, 1, 2, 7]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", sorted(set(special._OURS) - set(special._POLYNOMIALS)))
def test_a_function(name):
    theirs = getattr(scipy.special, name)
    arguments = ARGUMENTS.get(name, (X,))
    ported = ag.port(lambda *values: theirs(*values))
    np.testing.assert_allclose(jax.jit(ported)(*arguments), theirs(*arguments), rtol=2e-13, atol=1e-15)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", sorted(special._POLYNOMIALS))
def test_a_polynomial(name, order):
    theirs = getattr(scipy.special, name)
    ported = ag.port(lambda x: theirs(order, x))
    np.testing.assert_allclose(jax.jit(ported)(X), theirs(order, X), rtol=1e-12, atol=1e-13)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", sorted(special._POLYNOMIALS))
def test_several_degrees(name):
    theirs = getattr(scipy.special, name)
    degrees = np.array([[0], [1], [3]])
    np.testing.assert_allclose(jax.jit(ag.port(lambda x: theirs(degrees, x)))(X), theirs(degrees, X), rtol=1e-12, atol=1e-13)
    counts = ag.port(lambda n: theirs(n, 0.3))
    np.testing.assert_allclose(jax.jit(counts)(jnp.arange(3)), theirs(np.arange(3), 0.3), rtol=1e-12)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name", ["eval_legendre", "eval_chebyt", "eval_chebyu", "eval_laguerre"])
@pytest.mark.parametrize("degree", [2.5, -3.0])
def test_degrees_that_are_no_counts(name, degree):
    theirs = getattr(scipy.special, name)
    value, slope = jax.value_and_grad(ag.port(lambda x: theirs(degree, x)))(0.3)
    np.testing.assert_allclose(value, theirs(degree, 0.3), rtol=1e-12)
    np.testing.assert_allclose(slope, (theirs(degree, 0.3 + 1e-6) - theirs(degree, 0.3 - 1e-6)) / 2e-6, rtol=1e-6, atol=1e-8)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name, at", [("ellipk", 0.3), ("ellipe", 0.3), ("exprel", 0.0), ("inv_boxcox", 0.2), ("huber", 0.4)])
def test_a_derivative(name, at):
    theirs, options = getattr(scipy.special, name), {"inv_boxcox": (0.5,), "huber": (1.0,)}.get(name, ())

    def value(x):
        return theirs(*options, x) if name == "huber" else theirs(x, *options)

    h = 1e-5
    expected = (value(at + h) - value(at - h)) / (2 * h)
    np.testing.assert_allclose(jax.grad(ag.port(value))(at), expected, rtol=1e-6)


EDGES = [
    ("ellipk", (), (0.0, 0.5, 1.0, -3.0)),
    ("ellipkm1", (), (0.0, 0.5, 1e-300, 1e-12)),
    ("binom", (-5.5,), (3.0, 2.0, 0.0, 1.5)),
    ("binom", (30.0,), (2.0, 28.0, 15.0, 31.0, 2.5, -1.0)),
    ("huber", (-1.0,), (0.0, 0.5, 3.0)),
    ("huber", (1.0,), (0.0, 0.5, -3.0)),
    ("pseudo_huber", (0.0,), (0.0, 0.5, 3.0)),
    ("pseudo_huber", (-1.0,), (0.0, 0.5, 3.0)),
    ("pseudo_huber", (2.0,), (0.0, 1e-9, 3.0)),
    ("rgamma", (), (0.0, -1.0, -2.0, 3.0, 200.0, -1.5)),
    ("hyp2f1", (1.0, 2.0, 3.5), (-8.0, -3.0, -1.0, -0.5, 0.5)),
    ("hyp2f1", (0.5, 0.7, 1.2), (-8.0, -3.0, -1.0, -0.5, 0.5)),
    ("hyp2f1", (-2.0, 1.3, 0.7), (-20.0, -3.0, -0.2, 0.5, 1.0, 1.5, 4.0)),  # a polynomial
    ("hyp2f1", (0.5, -3.0, 1.0), (-20.0, -3.0, -0.2, 0.5, 1.0, 1.5, 4.0)),
    ("hyp2f1", (0.5, 1.3, 1.0), (0.9, 0.91, 0.99, 1 - 1e-9, 1.0, 1.5)),
    ("hyp2f1", (-2.0, 2.0, -1.2), (0.9, 0.95, 0.99, 1.0)),
    ("hyp2f1", (-1.5, 2.0, 1.0), (0.9, 0.95, 0.99, 1.0)),
    ("hyp2f1", (2.3, 0.5, 3.5), (0.9, 0.91, 0.99, 1 - 1e-9, 1.0, 1.5)),
    ("hyp1f1", (1.0, 2.5), (-100.0, -30.0, -14.0, -0.5, 0.5, 30.0)),
    ("hyp1f1", (3.0, 1.5), (-100.0, -30.0, -14.0, -0.5, 0.5, 30.0)),
]


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name, options, at", EDGES)
def test_edges_and_far_arguments(name, options, at):
    theirs, x = getattr(scipy.special, name), np.array(at)
    found = jax.jit(ag.port(lambda x: theirs(*options, x)))(x)
    np.testing.assert_allclose(found, theirs(*options, x), rtol=1e-11)


@pytest.mark.parametrize(
    "a, b, c, x, where",
    [
        (0.5, 0.7, 1.2, -100.0, "below -9"),
        (-40.0, 0.7, 1.2, 1.5, "ends late"),
        (-100.0, 0.7, 1.2, 1.5, "ends late"),
        (-2.0, 0.7, -3.0, 0.5, "such a `c`"),
        (0.5, 0.7, 1.2 + 1e-9, 0.95, "nearly whole"),
        (0.5, 0.7, -1.2, 1.5, "from 1 on"),
    ],
)
def test_arguments_that_jaxs_series_does_not_reach_are_refused(a, b, c, x, where, x64):
    with pytest.raises(errors.PortingError, match=where):
        ag.jit(ag.port(lambda x: scipy.special.hyp2f1(a, b, c, x)))(x)
