"""Classes of ported libraries: their special methods are converted where there is an object, and put back at the end."""

import contextlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse.linalg

import autograph_jax as ag
from autograph_jax.runtime import classes

Operator = scipy.sparse.linalg.LinearOperator
MATRIX = np.array([[2.0, 1.0], [0.0, 3.0]])
pytestmark = pytest.mark.usefixtures("x64")


@pytest.fixture
def met(monkeypatch):
    """The classes that are met meanwhile."""
    kinds = []
    original = classes._convert_members
    monkeypatch.setattr(classes, "_convert_members", lambda kind: kinds.append(kind) or original(kind))
    return kinds


def test_what_is_only_named_is_left_alone(met):
    """SciPy's BFGS asks whether a Hessian is a LinearOperator, or a sparse array."""
    before = dict(vars(Operator))
    solve = ag.port(scipy.optimize.minimize)
    found = jax.jit(lambda a: solve(lambda x: (x[0] - a) ** 2, jnp.ones(1), method="BFGS").x)(3.0)
    np.testing.assert_allclose(found, [3.0], rtol=1e-6)
    assert any(kind.__name__ == "ScalarFunction" for kind in met)
    assert Operator not in met and not any("sparse" in kind.__module__ for kind in met)
    assert dict(vars(Operator)) == before


def added(x):
    operator = scipy.sparse.linalg.aslinearoperator(MATRIX)
    total = operator + operator
    return total @ np.array([x, 1.0])


def repeated(x):
    operator = scipy.sparse.linalg.aslinearoperator(MATRIX)
    product, y, n = operator.__matmul__, np.ones(2), 0.0
    while n < x:
        y = product(y)
        n = n + 1
    return y


def on_one_path(x):
    operator = scipy.sparse.linalg.aslinearoperator(MATRIX)
    add, y = operator.__add__, np.ones(2)
    if x > 0:
        y = add(operator).matvec(np.ones(2))
    return y


AROUND = scipy.sparse.linalg.aslinearoperator(MATRIX)


def one_from_around(x):
    y = np.ones(2)
    if x > 0:
        y = (AROUND * 2.0) @ np.array([x, 1.0])
    return y


@pytest.mark.parametrize("function", [added, repeated, on_one_path, one_from_around])
def test_objects(function, met):
    before, run = dict(vars(Operator)), jax.jit(ag.port(function))
    for value in (2.0, -1.0):
        np.testing.assert_allclose(run(value), function(value))
    assert Operator in met
    assert dict(vars(Operator)) == before


def residuals(p):
    return p * np.exp(-p[::-1]) - 0.25


def test_a_manager_of_a_library():
    """`least_squares` raises within a `with` whose `__exit__` is a method of SciPy's, and is not told of errors."""
    solve = ag.port(scipy.optimize.least_squares)
    with contextlib.suppress(DeprecationWarning):
        found = jax.jit(lambda a: solve(residuals, jnp.array([a, 0.3]), max_nfev=5).x)(1.0)
    np.testing.assert_allclose(found, scipy.optimize.least_squares(residuals, [1.0, 0.3], max_nfev=5).x, rtol=1e-6)


class Own(Operator):
    def __init__(self):
        super().__init__(float, (2, 2))

    def _matvec(self, x):
        return MATRIX @ x


NAMED, OWN = scipy.sparse.linalg.aslinearoperator(MATRIX), Own()


def times_named(b):
    return NAMED @ b


def times_own(b):
    return OWN @ b


def times_new(b):
    return Own() @ b


@pytest.mark.parametrize("function", [times_named, times_own, times_new])
def test_the_class_of_an_object_is_met_in_each_trace(function):
    before = dict(vars(Operator))
    for number in (1.0, 2.0, 3.0):
        product = jax.jit(lambda b: ag.port(function)(b))  # noqa: PLW0108 - traced anew each time
        np.testing.assert_allclose(product(jnp.full(2, number)), MATRIX @ np.full(2, number))
        assert dict(vars(Operator)) == before
