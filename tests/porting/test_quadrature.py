"""`quad`, which SciPy has in C: in ported code, with its counters, codes and derivatives."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.integrate
from scipy.integrate import _quadpack

import autograph_jax as ag
from autograph_jax.porting.in_python import quadrature

pytestmark = pytest.mark.usefixtures("x64")

FINITE = {
    "smooth": (lambda x: np.exp(-x * x), 0.0, 1.0),
    "two equal halves": (lambda x: abs(x) ** 0.7, -1.0, 1.0),
    "endpoint": (lambda x: 1 / np.sqrt(x), 0.0, 2.0),
    "logarithm": (lambda x: np.log(abs(x - 0.5)), -0.5, 3.0),
    "many waves": (lambda x: np.sin(50 * x), 0.0, 10.0),
    "a peak": (lambda x: 1 / (x * x + 1e-6), -1.0, 1.0),
    "a step": (lambda x: 1.0 if x > 0.37 else 0.0, 0.0, 1.0),
    "nothing": (lambda x: 0.0, 0.0, 1.0),
    "both signs": (lambda x: x**3 - 2 * x, -0.5, 3.0),
    "rough": (lambda x: np.exp(20 * np.sin(30 * x)), -1.0, 1.0),
}
TOLERANCES = [(1.49e-8, 1.49e-8, 50), (0.0, 1e-10, 20), (1e-3, 1e-3, 5), (1e-8, 1e-8, 1), (0.0, 0.0, 50), (0.0, 1e-12, 0)]


def agree(found, want):
    """The code and the number of calls are the same, and what is computed differs by rounding."""
    assert found[-1] == want[-1] and found[2]["neval"] == want[2]["neval"] and found[2]["last"] == want[2]["last"]
    rounding = 1e-12 * max(1.0, abs(want[0]))
    np.testing.assert_allclose(found[0], want[0], rtol=1e-10, atol=rounding)
    np.testing.assert_allclose(found[1], want[1], rtol=1e-3, atol=rounding)
    count = want[2]["last"]
    errors, order = found[2]["elist"][:count], found[2]["iord"][:count]
    assert (np.diff(errors[order]) <= 0).all()
    np.testing.assert_allclose(np.sort(errors), np.sort(want[2]["elist"][:count]), rtol=1e-3, atol=rounding)
    np.testing.assert_allclose(np.sum(found[2]["rlist"]), np.sum(want[2]["rlist"][:count]), rtol=1e-10, atol=rounding)
    np.testing.assert_allclose(np.sum(found[2]["blist"] - found[2]["alist"]), found[2]["blist"].max() - found[2]["alist"].min())


@pytest.mark.parametrize("absolute, relative, limit", TOLERANCES[:4])
@pytest.mark.parametrize("name", FINITE)
def test_each_step_is_that_of_the_code_in_c(name, absolute, relative, limit):
    arguments = (*FINITE[name], (), True, absolute, relative, limit)
    agree(quadrature.BY_NAME["_qagse"](*arguments), _quadpack._qagse(*arguments))


@pytest.mark.parametrize("absolute, relative, limit", TOLERANCES[4:])
def test_tolerances_that_cannot_be(absolute, relative, limit):
    with pytest.raises(ValueError) as expected:
        scipy.integrate.quad(np.cos, 0.0, 1.0, epsabs=absolute, epsrel=relative, limit=limit)
    with pytest.raises(ValueError) as found:
        quad = ag.port(scipy.integrate.quad)
        ag.jit(lambda a: quad(lambda x: np.cos(a * x), 0.0, 1.0, epsabs=absolute, epsrel=relative, limit=limit))(1.0)
    assert str(found.value) == str(expected.value)


INFINITE = {
    "bell": lambda x: np.exp(-x * x),
    "bell elsewhere": lambda x: np.exp(-((x - 5) ** 2) * 10),
    "heavy tail": lambda x: 1 / (1 + x * x),
    "damped wave": lambda x: np.exp(-abs(x)) * np.cos(3 * x),
}


@pytest.mark.parametrize("kind", [1, -1, 2])
@pytest.mark.parametrize("name", INFINITE)
def test_intervals_without_an_end(name, kind):
    for bound in (0.0, -2.0):
        for absolute, relative, limit in [TOLERANCES[0], TOLERANCES[2], (0.0, 1e-10, 60)]:
            arguments = (INFINITE[name], bound, kind, (), True, absolute, relative, limit)
            agree(quadrature.BY_NAME["_qagie"](*arguments), _quadpack._qagie(*arguments))


def bell(x, a):
    return np.exp(-a * x * x)


def test_compiled_in_lanes_and_with_a_derivative():
    quad = ag.port(scipy.integrate.quad)
    integral = lambda a: quad(bell, 0.0, a, args=(a,))
    for a in (0.5, 2.0, 40.0):
        np.testing.assert_allclose(jax.jit(integral)(a), scipy.integrate.quad(bell, 0.0, a, args=(a,)), rtol=1e-9, atol=1e-12)
    lanes = jnp.linspace(0.5, 40.0, 20)
    want = [scipy.integrate.quad(bell, 0.0, a, args=(a,))[0] for a in np.asarray(lanes)]
    np.testing.assert_allclose(jax.jit(jax.vmap(integral))(lanes)[0], want, rtol=1e-9)
    slope = jax.jit(jax.grad(lambda a: integral(a)[0]))
    for a in (0.5, 2.0, 40.0):
        less, more = (scipy.integrate.quad(bell, 0.0, b, args=(b,), epsabs=1e-13)[0] for b in (a - 1e-5, a + 1e-5))
        np.testing.assert_allclose(slope(a), (more - less) / 2e-5, rtol=1e-6, atol=1e-9)


def test_the_derivative_at_a_singular_end():
    quad = ag.port(scipy.integrate.quad)
    power = lambda p: quad(lambda x: x**p, 0.0, 1.0)[0]  # 1 / (p + 1)
    for p in (-0.5, 0.3):
        value, slope = jax.jit(lambda p: jax.jvp(power, (p,), (1.0,)))(p)
        np.testing.assert_allclose([value, slope], [1 / (p + 1), -1 / (p + 1) ** 2], rtol=1e-6)


def test_an_interval_that_is_turned_round_and_one_that_is_not_done():
    quad = ag.port(scipy.integrate.quad)

    @ag.jit
    def integral(a, low):
        return quad(lambda x: np.sin(1 / x) if a > 0 else x, low, 0.0, limit=3, full_output=1)[:3]

    want = scipy.integrate.quad(lambda x: np.sin(1 / x), 2.0, 0.0, limit=3, full_output=1)
    value, error, details = integral(1.0, 2.0)
    np.testing.assert_allclose((value, error), want[:2], rtol=1e-9)
    assert details["neval"] == want[2]["neval"] and details["last"] == 3
    np.testing.assert_allclose(integral(-1.0, 2.0)[0], -2.0)
