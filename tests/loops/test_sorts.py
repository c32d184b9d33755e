"""Short arrays are sorted without a call of XLA's, with the same result to the bit; equal elements and NaN too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import sorts
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]
SPECIAL = np.array([0.0, -0.0, 1.0, 2.0, np.nan, -np.nan, np.inf, -np.inf])
KINDS = {
    "double": SPECIAL,
    "single": SPECIAL.astype(np.float32),
    "signed": np.arange(-3, 5),
    "unsigned": np.arange(5, dtype=np.uint8),
    "bool": np.array([True, False]),
}


@pytest.mark.parametrize("count", [1, 2, 5, 8])
@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_stable_sort(kind, count):
    rows = np.random.default_rng(count).choice(KINDS[kind], size=(300, count))
    for dimension, key in ((1, rows), (0, rows.T)):
        operands = jnp.asarray(key), lax.broadcasted_iota(jnp.int64, key.shape, dimension), jnp.asarray(key) * 1j
        theirs = lax.sort(operands, dimension=dimension, is_stable=True)
        ours = sorts.by_counting(*operands, dimension=dimension)
        assert [np.asarray(one).tobytes() for one in ours] == [np.asarray(one).tobytes() for one in theirs]


def simplex(x):
    """As in Nelder's and Mead's method."""
    values = jnp.sin(x * jnp.arange(1.0, 4.0))
    for _ in range(20):
        order = jnp.argsort(values)
        values = values[order]
        if values[-1] - values[0] < 1e-3:
            break
        values[-1] = 0.5 * (values[0] + values[1]) + 0.1 * x
    return values


def test_a_loop_that_sorts_is_a_kernel_and_gives_the_same():
    x = np.linspace(0.1, 2.0, 600)
    ours, theirs = [jax.jit(jax.vmap(ag.autograph(simplex, optimize=o))) for o in (True, False)]
    assert "stablehlo.sort" in theirs.lower(x).as_text() and "stablehlo.sort" not in ours.lower(x).as_text()
    np.testing.assert_array_equal(ours(x), theirs(x))
    slopes = [jax.jit(jax.vmap(jax.jacfwd(ag.autograph(simplex, optimize=o)))) for o in (True, False)]
    np.testing.assert_allclose(slopes[0](x), slopes[1](x), rtol=1e-12)


def of_ported_code(x, k):
    last = np.sort(x)[-1]
    return np.argsort(x)[0], last * np.median(x[:5]), x[x > 0.3].sum() * k, np.quantile(x, 0.3)


def test_a_sort_outside_of_loops():
    x = np.random.default_rng(0).normal(size=(600, 7))
    k = np.arange(600.0)
    mapped = jax.jit(jax.vmap(ag.port(of_ported_code)))
    assert "stablehlo.sort" not in mapped.lower(x, k).as_text()
    for ours, theirs in zip(mapped(x, k), zip(*map(of_ported_code, x, k), strict=True), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    slopes = jax.vmap(jax.jacrev(lambda x: ag.port(of_ported_code)(x, 1.0)[1:3]))(x)
    again = jax.vmap(jax.jacfwd(lambda x: ag.port(of_ported_code)(x, 1.0)[1:3]))(x)
    for ours, theirs in zip(slopes, again, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-13)
    plain = jax.jit(jax.vmap(jnp.sort))
    assert "stablehlo.sort" in plain.lower(x).as_text()


def test_options_say_whether_it_is_written_out():
    ported = ag.port(np.sort)

    def sorted_by(x):
        return ported(x)

    x = np.random.default_rng(0).normal(size=(600, 7))
    without = ag.autograph(sorted_by, optimize="kernel")
    assert "stablehlo.sort" in jax.jit(jax.vmap(without)).lower(x).as_text()
    assert "stablehlo.sort" not in jax.jit(jax.vmap(ag.autograph(sorted_by))).lower(x).as_text()


@pytest.mark.parametrize(
    "change",
    [
        lambda v: jnp.sort(jnp.concatenate([v, v, v])),  # too long
        lambda v: jnp.sort(v * 1j).real,
        lambda v: jnp.lexsort((v, v > 0)) * 1.0,  # by two keys
    ],
)
def test_others_stay_sorts(change):
    def loop(v):
        for _ in range(3):
            v = change(v)[: len(v)] + 0.5
        return v

    assert "stablehlo.sort" in jax.jit(ag.autograph(loop)).lower(jnp.arange(4.0)).as_text()
