"""Classes of ported libraries: what Python calls by itself in them is converted when it is called, and put back at the end."""

import threading

import jax
import numpy as np
import pytest
import scipy.sparse.linalg

import autograph_jax as ag
from autograph_jax.runtime import classes, convert, libraries

Operator = scipy.sparse.linalg.LinearOperator
MATRIX = np.array([[2.0, 1.0], [0.0, 3.0]])


@pytest.fixture
def converted(monkeypatch):
    """The names of the functions that are converted meanwhile."""
    names = []
    original = convert.convert_function

    def noting(function, **options):
        names.append(function.__qualname__)
        return original(function, **options)

    monkeypatch.setattr(convert, "convert_function", noting)
    return names


def test_what_no_solver_calls_is_not_converted(converted):
    before = dict(vars(Operator))
    operator = scipy.sparse.linalg.aslinearoperator(MATRIX)
    with libraries.porting():
        classes.meet(Operator)
        assert converted == []
        assert vars(Operator)["__add__"] is not before["__add__"]
        assert vars(Operator)["__add__"].__doc__ == before["__add__"].__doc__
        total = operator + operator
        assert "LinearOperator.__add__" in converted and "LinearOperator.__neg__" not in converted
        np.testing.assert_array_equal(np.asarray(total @ np.ones(2)), 2 * MATRIX @ np.ones(2))
        assert converted.count("LinearOperator.__add__") == 1
        assert operator + operator is not None
        assert converted.count("LinearOperator.__add__") == 1
    assert dict(vars(Operator)) == before


def test_the_original_is_known(converted):
    original = vars(Operator)["__add__"]
    with libraries.porting():
        classes.meet(Operator)
        assert classes.original_of(vars(Operator)["__add__"]) is original


def test_another_thread_runs_the_library_as_it_is(converted):
    operator, found = scipy.sparse.linalg.aslinearoperator(MATRIX), []
    with libraries.porting():
        classes.meet(Operator)
        thread = threading.Thread(target=lambda: found.append((operator + operator) @ np.ones(2)))
        thread.start()
        thread.join()
    assert converted == []
    np.testing.assert_array_equal(found[0], 2 * MATRIX @ np.ones(2))


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


@pytest.mark.parametrize("function", [repeated, on_one_path])
def test_methods_in_variables(function, x64):
    """That a method has been converted meanwhile is nobody's state."""
    np.testing.assert_allclose(jax.jit(ag.port(function))(2.0), function(2.0))


def test_two_names_stay_one_function(monkeypatch):
    kind = type("Twice", (), dict(vars(Operator)))
    kind.__radd__ = kind.__add__
    with libraries.porting():
        classes.meet(kind)
        assert vars(kind)["__radd__"] is vars(kind)["__add__"] is not vars(Operator)["__add__"]
