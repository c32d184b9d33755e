"""Derivatives of functions in C that are called at run time, against differences of SciPy's."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special as sc

import autograph_jax as ag
from autograph_jax.porting import slopes

pytestmark = pytest.mark.usefixtures("x64")
X = 0.7
OF_ONE = "j0 j1 y0 y1 k0 k1 k0e k1e wrightomega erfi".split()
OF_THE_LAST = {
    **{name: (1.5, X) for name in "jv yv iv kv ive kve".split()}, **{name: (2, X) for name in ("jn", "yn", "kn")},
    "hyp0f1": (1.2, X), "ellipkinc": (0.4, X), "ellipeinc": (0.4, X), "gammaincinv": (1.3, X), "gammainccinv": (1.3, X),
    "betaincinv": (1.3, 2.2, X), "stdtrit": (3.5, X), "chdtri": (3.5, X), "eval_jacobi": (3.0, 0.5, 1.2, X),
    "eval_gegenbauer": (3.0, 0.5, X), "eval_genlaguerre": (3.0, 0.5, X), **{name: (X,) for name in OF_ONE},
}  # fmt: skip


def difference(f: Any, x: float) -> Any:
    step = 1e-5
    return jax.tree.map(lambda above, below: (above - below) / (2 * step), f(x + step), f(x - step))


@pytest.mark.parametrize("name", OF_THE_LAST)
def test_by_the_last_argument(name: str):
    *known, x = OF_THE_LAST[name]
    f = ag.port(lambda x: getattr(sc, name)(*known, x))
    want = difference(lambda x: getattr(sc, name)(*known, x), x)
    assert jax.jit(jax.grad(f))(x) == pytest.approx(want, rel=1e-6)
    assert jax.vmap(jax.jacfwd(f))(jnp.array([x, x]))[1] == pytest.approx(want, rel=1e-6)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: sc.ellipkinc(x, 0.4), lambda x: sc.ellipeinc(x, 0.4), lambda x: sc.lambertw(x).real,
        lambda x: sc.lambertw(x, -1).imag, lambda x: abs(sc.hankel1(1.0, x)), lambda x: abs(sc.hankel2(1.0, x)),
        lambda x: np.array(sc.airy(x)), lambda x: np.array(sc.ellipj(x, 0.3)), lambda x: np.array(sc.shichi(x)),
        lambda x: sc.spherical_jn(2, x) * sc.spherical_yn(1, x), lambda x: sc.spherical_in(2, x) * sc.spherical_kn(1, x),
        lambda x: sc.spherical_jn(2, x, True) * sc.spherical_yn(1, x, True),
        lambda x: sc.spherical_in(2, x, True) * sc.spherical_kn(1, x, True),
    ],
)  # fmt: skip
def test_of_other_kinds(function: Any):
    found = jax.jit(jax.jacfwd(ag.port(function)))(X)
    np.testing.assert_allclose(found, difference(function, X), rtol=1e-6, atol=1e-8)


def test_of_the_second_order():
    f = ag.port(lambda x: sc.j0(x))
    want = difference(lambda x: -sc.j1(x), X)
    assert jax.grad(jax.grad(f))(X) == pytest.approx(want, rel=1e-6)


def test_by_an_order_there_is_none():
    with pytest.raises(ag.PortingError, match="`jv`, a function in C without a counterpart in JAX, has no derivative"):
        jax.grad(ag.port(lambda v: sc.jv(v, X)))(1.5)


def test_each_name_is_one_of_scipys():
    assert all(isinstance(slopes._named(name), np.ufunc) for name in slopes._SLOPES)
