"""A list beside an array or a scalar of NumPy's, which NumPy makes an array."""

# pyright: reportOperatorIssue=false

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.errors import PortingError
from tests.porting.programs import Programs, check_compiled

VALUES = [[3.0, 0.5, 2.0], [1.0, -2.0, 5.0]]
LIMITS = np.array([1.0, 2.0])
PROGRAMS = program = Programs()


@program
def a_normalized_list(x):
    q = [x[0], *x]
    q /= np.linalg.norm(q)
    return q


@program
def beside_scalars(x):
    q = [x[0], x[1]]
    return q / x[2], x[2] - q, q - x.sum(), q + x[0], q ** x[2], x[0] // [1.0, 2.0], [1.0, 2.0] / x[2], q < x[2]


@program
def beside_arrays(x):
    q = [x[0], x[1]]
    return q + LIMITS, LIMITS * q, q < LIMITS, [x[0], 2] >= LIMITS, LIMITS < [x[0], x[2]], q - x[:2], [[x[0], x[1]]] * x[1:]


@program
def in_a_loop(x):
    q = [x[0], x[1]]
    for i in range(3):
        q = q - x[:2] * i
        q /= x[2]
    return q


@program
def lists_that_stay_lists(x):
    q, r = [x[0]], [0.0] * 3
    q += [x[1]]
    q = q + [x[2]]
    r[1] = x[0]
    count = 2
    return q, r, [x[0]] * count, len(q), [1, 2] < [1, 3]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_as_numpy(name, x64):
    check_compiled(PROGRAMS[name], VALUES)


def test_what_numpy_refuses():
    with pytest.raises(PortingError, match="unsupported operand"):
        jax.jit(ag.port(lambda x: [x[0], x[1]] * x[2]))(jnp.ones(3))
