"""Which tools count as debuggers, and that what they change changes nothing else."""

import pdb
import sys
import types

import pytest

from autograph_jax.runtime.convert import convert_function
from autograph_jax.runtime.debuggers import is_debugged


def plain(x):
    return x


def stopping(x):
    breakpoint()
    return x


def stopping_inside(x):
    def inner():
        import pdb

        pdb.set_trace()

    return inner if x else None


CALLS = {plain: False, stopping: True, stopping_inside: True}


@pytest.mark.parametrize("function", CALLS, ids=lambda function: function.__name__)
def test_a_function_that_calls_one(function: types.FunctionType):
    assert is_debugged(function.__code__) == CALLS[function]


TRACERS = {"pdb": (pdb.Pdb().trace_dispatch, True), "coverage": (lambda *_: None, False)}


@pytest.mark.parametrize("name", TRACERS)
def test_tools_that_trace(name: str, monkeypatch: pytest.MonkeyPatch):
    trace, expected = TRACERS[name]
    monkeypatch.setattr(sys, "gettrace", lambda: trace)
    assert is_debugged(plain.__code__) == expected


def test_a_debugger_of_vs_code(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pydevd", types.ModuleType("pydevd"))
    assert is_debugged(plain.__code__)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is of Python 3.12")
def test_a_debugger_that_monitors():
    monitoring = sys.monitoring
    monitoring.use_tool_id(monitoring.DEBUGGER_ID, "a debugger")
    try:
        found = is_debugged(plain.__code__)
    finally:
        monitoring.free_tool_id(monitoring.DEBUGGER_ID)
    assert found and not is_debugged(plain.__code__)


def test_nothing_else_is_different():
    def f(x, unused, stop):
        def inner(y):
            nonlocal unused
            unused = unused + y
            return y

        total = 0
        for k in range(3):
            if x > k:
                total += inner(k)
            else:
                return total, unused
        try:
            total = 10 / stop
        except ZeroDivisionError as error:
            total = len(str(error))
        return [total + v for v in (1, 2)], unused

    def debugged(x, unused, stop):
        def inner(y):
            nonlocal unused
            unused = unused + y
            return y

        total = 0
        for k in range(3):
            if x > k:
                total += inner(k)
            else:
                return total, unused
        try:
            total = 10 / stop
        except ZeroDivisionError as error:
            total = len(str(error))
        return [total + v for v in (1, 2)], unused
        breakpoint()

    assert is_debugged(debugged.__code__)
    for arguments in ((1, 2, 3), (5, 2, 0), (5, 2, 5)):
        assert convert_function(debugged)(*arguments) == convert_function(f)(*arguments) == f(*arguments)
