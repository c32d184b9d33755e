"""`scipy.signal.lfilter` and what calls it, on traced values: as SciPy's, with derivatives."""

from typing import Any

import jax
import numpy as np
import pytest
import scipy.signal

import autograph_jax as ag

pytestmark = pytest.mark.usefixtures("x64")
RNG = np.random.default_rng(0)
B, A, X = np.array([0.5, 0.2, -0.1]), np.array([1.5, -0.4, 0.3]), RNG.standard_normal((2, 6))
lfilter: Any = scipy.signal.lfilter
ROWS: dict[str, Any] = {
    "of an axis": lambda b, a, x: lfilter(b, a, x),
    "of the other axis": lambda b, a, x: lfilter(b, a, x, axis=0),
    "of few coefficients": lambda b, a, x: (lfilter(b[:1], a, x), lfilter(b, a[:2], x)),
    "with delays": lambda b, a, x: lfilter(b, a, x, zi=x[:, :2]),
    "with delays of an axis": lambda b, a, x: lfilter(b, a, x.T, axis=0, zi=x.T[:2]),
    "of one row": lambda b, a, x: lfilter(b, a, x[0]),
    "of complex numbers": lambda b, a, x: lfilter(b + 1j * a, a, x).imag,
    "of known numbers": lambda b, a, x: lfilter(b, [1.0], np.ones((2, 4))),
    "divided": lambda b, a, x: scipy.signal.deconvolve(x[0], a),
    "twice": lambda b, a, x: lfilter(b, a, lfilter(a, [1.0], x)[:, ::-1])[:, ::-1],
}


@pytest.mark.parametrize("name", ROWS)
def test_it_is_scipys(name: str):
    function = ROWS[name]
    found, want = jax.jit(ag.port(function))(B, A, X), function(B, A, X)
    jax.tree.map(lambda one, other: np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-13), found, want)


@pytest.mark.parametrize("name", ROWS)
@pytest.mark.parametrize("place", range(3))
def test_its_derivative(name: str, place: int):
    def total(part: Any) -> Any:
        given = [part if number == place else one for number, one in enumerate((B, A, X))]
        return sum(np.sum(np.cos(np.arange(np.size(one))).reshape(np.shape(one)) * one) for one in jax.tree.leaves(run(*given)))

    run = ag.port(ROWS[name])
    found = jax.grad(total)((B, A, X)[place])
    run, one = ROWS[name], (B, A, X)[place]
    steps = 1e-6 * np.eye(one.size).reshape(-1, *one.shape)
    want = np.array([total(one + step) - total(one - step) for step in steps]).reshape(one.shape) / 2e-6
    np.testing.assert_allclose(found, want, rtol=1e-6, atol=1e-7)


def test_a_first_coefficient_of_zero():
    run = ag.jit(ag.port(lambda a: lfilter(B, a, X)))
    with pytest.raises(ValueError, match=r"a\[0\] == 0"):
        run(np.array([0.0, 1.0]))
