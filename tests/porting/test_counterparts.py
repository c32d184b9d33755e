"""Functions in C that their library has in Python, too."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.spatial.transform import Rotation, Slerp

import autograph_jax as ag

QUATERNION = np.array([0.1, -0.4, 0.7, 0.5])
VECTOR = np.array([0.3, -0.2, 0.8])


def product(q, v):
    return (Rotation.from_quat(q) * Rotation.from_rotvec(v)).as_matrix()


def angles(q, v):
    turned = Rotation.from_euler("xyz", v)
    return turned.as_euler("zyx"), Rotation.from_quat(q).inv().magnitude(), turned.apply(v[::-1])


def interpolated(q, v):
    ends = Rotation.from_quat(np.stack([q, q[::-1]]))
    return Slerp(np.array([0.0, 1.0]), ends)(v[0]).as_rotvec()


@pytest.mark.parametrize("program", [product, angles, interpolated])
@pytest.mark.usefixtures("x64")
def test_rotations(program: Callable[..., Any]):
    run = ag.port(program)
    want = jax.tree.leaves(program(QUATERNION, VECTOR))
    for found, one in zip(jax.tree.leaves(jax.jit(run)(QUATERNION, VECTOR)), want, strict=True):
        np.testing.assert_allclose(found, one, atol=1e-12)

    def total(v: Any) -> Any:
        return sum(jnp.sum(part) for part in jax.tree.leaves(run(QUATERNION, v)))

    step = 1e-6 * np.eye(3)
    differences = [
        (sum(np.sum(x) for x in jax.tree.leaves(program(QUATERNION, VECTOR + h)))
        - sum(np.sum(x) for x in jax.tree.leaves(program(QUATERNION, VECTOR - h)))) / 2e-6
        for h in step
    ]  # fmt: skip
    np.testing.assert_allclose(jax.grad(total)(VECTOR), differences, rtol=1e-5, atol=1e-8)


@pytest.mark.usefixtures("x64")
def test_what_is_known_is_computed_in_c():
    @ag.port
    def known(x):
        return x * Rotation.from_rotvec([0.0, 0.0, np.pi / 2]).as_matrix()[1, 0]

    assert float(jax.jit(known)(2.0)) == 2.0
