"""Small matrices of many lanes are multiplied without a call for each pair: the same sums, rounded otherwise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import autograph_jax as ag
from autograph_jax.loops import small_products
from tests.platforms import needs_cpu

pytestmark = [pytest.mark.usefixtures("x64"), needs_cpu]


def pairs(*shapes, kind=np.float64):
    random = np.random.default_rng(0)
    return [random.normal(size=(60, *shape)).astype(kind) for shape in shapes]


@pytest.mark.parametrize("kind", [np.float64, np.float32], ids=lambda k: k.__name__)
@pytest.mark.parametrize(
    ("left", "right", "numbers"),
    [
        ((4, 4), (4, 4), (((2,), (1,)), ((0,), (0,)))),
        ((3, 5), (7, 5), (((2,), (2,)), ((0,), (0,)))),
        ((5, 3), (5, 8), (((1,), (1,)), ((0,), (0,)))),
        ((2, 2, 4), (4, 2, 3), (((2, 3), (2, 1)), ((0,), (0,)))),  # two axes are summed
        ((4, 6, 2), (3, 4, 2), (((1,), (2,)), ((0, 3), (0, 3)))),  # and two are of lanes
        ((2, 3, 5), (5, 4), (((3,), (1,)), ((0,), (0,)))),
    ],
)
def test_it_is_the_product(left, right, numbers, kind):
    a, b = pairs(left, right, kind=kind)
    how = {"dimension_numbers": numbers, "precision": None, "preferred_element_type": None}
    assert small_products.are_small([a, b], **how)
    ours, theirs = small_products.written_out(a, b, **how), lax.dot_general(a, b, **how)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=50 * np.finfo(kind).eps, strict=True)


@pytest.mark.parametrize(
    ("left", "right"),
    [((4, 4), (4,)), ((2, 2), (2, 2)), ((9, 4), (4, 4)), ((4, 9), (9, 4)), ((4, 0), (0, 4)), ((1, 8), (8, 8))],
    ids=str,
)
def test_what_is_left_to_xla(left, right):
    a, b = pairs(left, right)
    assert "dot_general" in jax.jit(jax.vmap(ag.port(lambda a, b: a @ b))).lower(a, b).as_text()


def powers(a):
    """In a loop of JAX code."""
    p = a
    while jnp.abs(p).max() < 100.0:
        p = 1.5 * (p @ a) @ a.T + a
    return p


@pytest.mark.parametrize("optimize", [True, False, "kernel"])
def test_in_loops(optimize):
    (a,) = pairs((4, 4))
    run = ag.autograph(powers, optimize=optimize)
    compiled = jax.jit(jax.vmap(run))
    assert ("dot_general" not in compiled.lower(a).as_text()) == (optimize is True)
    np.testing.assert_allclose(compiled(a), np.stack([run(one) for one in a]), rtol=1e-12)


def products(a, b):
    """Ported code outside of loops."""
    c = a @ b
    c += np.dot(b, a)
    return np.einsum("ij,kj->ik", c, np.linalg.multi_dot([a, b, a])).sum()


def test_ported_code_outside_of_loops():
    a, b = pairs((5, 5), (5, 5))
    compiled = jax.jit(jax.vmap(ag.port(products)))
    text = compiled.lower(a, b).as_text()
    assert "dot_general" not in text
    np.testing.assert_allclose(compiled(a, b), [products(*pair) for pair in zip(a, b, strict=True)], rtol=1e-12)
    slopes = [jax.vmap(derivative(ag.port(products)))(a, b) for derivative in (jax.grad, jax.jacfwd)]
    plain = jax.vmap(jax.grad(lambda a, b: jnp.einsum("ij,kj->ik", a @ b + b @ a, a @ b @ a).sum()))(a, b)
    for slope in slopes:
        np.testing.assert_allclose(slope, plain, rtol=1e-9)
    assert "dot_general" in jax.jit(ag.port(products)).lower(a[0], b[0]).as_text()  # of one pair
    off = jax.jit(jax.vmap(ag.port(ag.autograph(products, optimize=False))))
    assert "dot_general" in off.lower(a, b).as_text()


def test_an_algorithm_that_is_asked_for_is_kept():
    (a,) = pairs((4, 4), kind=np.float32)
    multiply = jax.vmap(ag.port(lambda a: a @ a))
    with jax.default_matmul_precision("BF16_BF16_F32"):
        assert "bf16" in jax.jit(multiply).lower(a).as_text()
    with jax.default_matmul_precision("highest"):
        np.testing.assert_allclose(jax.jit(multiply)(a), a @ a, rtol=1e-5, atol=1e-6)
