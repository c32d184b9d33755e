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
    "log1p": (POSITIVE,), "beta": (POSITIVE, 2.0), "betaln": (POSITIVE, 2.0), "poch": (POSITIVE, 2.0), "expn": (2, POSITIVE),
    "kl_div": (POSITIVE, 2.0), "rel_entr": (POSITIVE, 2.0), "owens_t": (X, 0.5), "digamma": (POSITIVE,),
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


WIDE = np.array([-10.0, -2.5, -1.0, -0.5, 0.0, 1e-300, 1e-9, 0.3, 1.0, 1.5, 2.0, 7.0, 8.0, 10.0, 19.5, 100.0, 1e3, 1e8])
COMMON = np.array([0.3, 0.5, 1.0, 2.5, 7.0, 10.0, 30.7, 1e3])
SOME = np.array([-1e3, -10.0, -1.0, -1e-9, 0.0, 1e-300, 0.3, 1.0, 7.0, 1e8, np.inf, -np.inf, np.nan])
TABLES = [
    ("beta", (WIDE[:, None], COMMON)),
    ("betaln", (WIDE[:, None], COMMON)),
    ("betaln", (np.array([-3.0, -0.5, -2.5, np.inf]), np.array([2.0, -0.5, 10.0, 2.0]))),
    ("poch", (WIDE[:-1, None], np.array([-0.5, 0.0, 0.3, 1.0, 3.0, 10.0]))),
    ("poch", (np.array([170.5, 100.0, 1e8, -2.5, -1.0]), np.array([10.0, 100.0, 0.3, -1.5, -1.0]))),
    ("binom", (np.array([1e-9, 1e6, -2.5, 40.0]), np.array([2.0, 20.5, 25.0, 20.0]))),
    ("stdtr", (np.array([0.5, 3.0, 1e3, 1e6, 1e8, np.inf, -1.0])[:, None], SOME)),
    ("fdtr", (2.0, np.array([3.0, 0.0, -1.0])[:, None], SOME)),
    ("fdtrc", (2.0, np.array([3.0, 0.0, -1.0])[:, None], SOME)),
    ("bdtr", (np.array([-1.0, 0.0, 3.0, 7.0, 8.0])[:, None], 7.0, np.array([-0.5, 0.0, 0.3, 1.0, 1.5]))),
    ("gdtr", (np.array([-1.0, 2.0])[:, None], 1.5, SOME)),
    ("gdtrc", (np.array([-1.0, 2.0])[:, None], 1.5, SOME)),
    ("pdtr", (np.array([-1.0, 0.0, 3.5])[:, None], POSITIVE)),
    ("pdtrc", (np.array([-1.0, 0.0, 3.5])[:, None], POSITIVE)),
    ("gammainc", (np.array([1e7, 1e8, 1e300]), np.array([1e7 + 4e3, 1e8 - 1e4, 1e300]))),
    ("gammaincc", (np.array([1e7, 1e8, 1e300]), np.array([1e7 + 4e3, 1e8 - 1e4, 1e300]))),
    ("expn", (np.array([0, 1, 2, 50, 4999, 6000, 10**8])[:, None], SOME)),
    ("exp1", (SOME,)),
    ("expi", (SOME,)),
    ("log_ndtr", (np.array([-30.0, -3.0, 0.0, 3.0, 7.0, 8.5, 20.0, np.nan]),)),
    ("digamma", (np.array([-0.0, 0.0, -1.5, 2.0]),)),
    ("psi", (np.array([-0.0, 0.0, -1.5, 2.0]),)),
    ("rel_entr", (SOME[:, None], np.append(SOME, 1.0 + 1e-9))),
    ("kl_div", (SOME[:, None], SOME)),
    ("owens_t", (np.array([0.0, 0.3, 2.0])[:, None], SOME)),
    ("pseudo_huber", (np.array([0.0, 1.5])[:, None], SOME)),
    ("ellipkm1", (np.array([1e-300, 0.5, 1.0, 3.0, 1e20, 1e300, np.inf]),)),
    ("exprel", (SOME,)),
    ("zetac", (np.array([1.0, 1.5, 30.7, 100.0, np.inf]),)),
]  # fmt: skip


@pytest.mark.usefixtures("x64")
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name, arguments", TABLES, ids=[f"{name}-{number}" for number, (name, _) in enumerate(TABLES)])
def test_a_table(name, arguments):
    theirs = getattr(scipy.special, name)
    found, wanted = jax.jit(ag.port(lambda *values: theirs(*values)))(*arguments), theirs(*arguments)
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14 if name == "betaln" else 1e-300)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize(
    "name, arguments",
    [("betaln", (2.0, 10.0)), ("beta", (1.5, 0.7)), ("poch", (2.5, 3.3)), ("stdtr", (3.0, 0.0)), ("stdtr", (1e6, 0.0)),
     ("gammainc", (1e7, 1e7)), ("expn", (3.0, 0.4)), ("expi", (-0.4,)), ("expi", (2.0,)), ("rel_entr", (0.3, 0.3)),
     ("rel_entr", (0.3, 5.0)), ("log_ndtr", (0.5,)), ("zetac", (2.5,)), ("ellipkm1", (3.0,))],
)  # fmt: skip
def test_a_derivative_by_the_last_argument(name, arguments):
    theirs, *rest = getattr(scipy.special, name), *arguments[:-1]
    at = arguments[-1]
    h = 1e-4 * max(1.0, np.sqrt(abs(at)))
    expected = (theirs(*rest, at + h) - theirs(*rest, at - h)) / (2 * h)
    np.testing.assert_allclose(jax.jit(jax.grad(ag.port(lambda x: theirs(*rest, x))))(at), expected, rtol=1e-5)


@pytest.mark.usefixtures("x64")
@pytest.mark.parametrize("name, options, at", EDGES)
def test_edges_and_far_arguments(name, options, at):
    theirs, x = getattr(scipy.special, name), np.array(at)
    found = jax.jit(ag.port(lambda x: theirs(*options, x)))(x)
    np.testing.assert_allclose(found, theirs(*options, x), rtol=1e-11)


@pytest.mark.parametrize(
    "name, options, x", [("hyp1f1", (2.5, 100.0), 100.0), ("hyp1f1", (-2.0, 0.3), 120.0), ("zetac", (), 0.5)]
)
def test_arguments_at_which_jaxs_values_are_others_are_refused(name, options, x, x64):
    with pytest.raises(errors.PortingError, match="has no counterpart"):
        ag.jit(ag.port(lambda x: getattr(scipy.special, name)(*options, x)))(x)


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


@pytest.mark.parametrize("name, a, b", [
    ("poch", 2.5, 2.0), ("poch", 2.5, 0.0), ("poch", -2.5, 3.0), ("poch", 2.5, 1.3), ("binom", 5.5, 2.0), ("binom", -2.5, 1.0),
    ("binom", 7.0, 3.0), ("binom", 30.2, 11.5), ("beta", 2.0, 3.0), ("beta", -0.3, 1.2), ("beta", 10.0, 7.0),
    ("betaln", 2.0, 3.0),
])  # fmt: skip
def test_slopes_of_ratios_of_gamma_functions(name: str, a: float, b: float, x64: None):
    function, h = getattr(scipy.special, name), 1e-6
    slopes = jax.grad(ag.port(lambda a, b: function(a, b)), (0, 1))(a, b)
    wanted = [(function(a + h, b) - function(a - h, b)) / (2 * h), (function(a, b + h) - function(a, b - h)) / (2 * h)]
    np.testing.assert_allclose(slopes, wanted, rtol=1e-4, atol=1e-8)
    assert np.isnan(jax.grad(ag.port(lambda a, b: scipy.special.beta(a, b)))(-0.5, -0.5))  # a pole beside a zero: not told
