"""A function that Numba replaces by another one does nothing in Python: no ported code may go on with its None."""

import sys
import types

import jax
import numpy as np
import pytest

import autograph_jax as ag
from autograph_jax.porting import stubs

pytestmark = pytest.mark.usefixtures("x64")


def solve_in_place(x):
    """What Numba compiles for it solves; here is nothing."""


def documented_nothing(x):
    pass


def gives_a_number(x):
    return 1


def gives_what_it_gets(x):
    return x


def solver(x):
    if solve_in_place(x) != 0:
        return -1.0
    return x * 2


@pytest.fixture
def numba(monkeypatch):
    """Where Numba keeps what it knows; it is no requirement of the tests."""
    templates = types.ModuleType(stubs._REGISTRY)
    templates.builtin_registry = types.SimpleNamespace(globals=[(solve_in_place, object()), (gives_a_number, object())])
    monkeypatch.setitem(sys.modules, stubs._REGISTRY, templates)


def test_what_does_nothing():
    nothing = {f for f in (solve_in_place, documented_nothing, gives_a_number, gives_what_it_gets) if stubs.does_nothing(f)}
    assert nothing == {solve_in_place, documented_nothing}


@pytest.mark.usefixtures("numba")
def test_a_stub_is_refused_with_its_line():
    with pytest.raises(ag.PortingError, match="`solve_in_place` is a function for which Numba compiles another one") as raised:
        jax.jit(ag.port(solver))(3.0)
    assert "test_stubs.py" in str(raised.value) and "if solve_in_place(x) != 0" in str(raised.value)
    assert jax.jit(ag.port(lambda x: x + gives_a_number(x)))(3.0) == 4.0


def test_without_numba_it_is_a_function_like_any_other():
    assert jax.jit(ag.port(solver))(3.0) == -1.0


def test_numbas_own_registry():
    extending = pytest.importorskip("numba.extending", reason="Numba is no requirement of the tests")

    def stub(x):
        pass

    @extending.overload(stub)
    def chosen(x):
        return lambda x: 0 if x > 0 else 1

    with pytest.raises(ag.PortingError, match="`stub` is a function for which Numba"):
        jax.jit(ag.port(lambda x: np.sqrt(x) if stub(x) else x))(3.0)
