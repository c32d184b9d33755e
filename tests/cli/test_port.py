"""`autograph-jax port`: what it finds out about a function, and its exit codes. Not how long anything takes."""

import sys
from pathlib import Path

import numpy as np
import pytest

from autograph_jax.cli import port
from autograph_jax.cli.main import main

PROGRAM = """\
import numpy as np
import scipy.integrate

def halved(x, start, name="x"):
    x = np.asarray(x) + start
    while np.max(x) > 1:
        x = np.sqrt(x)
    return {"x": x, "name": name, "steps": 3}

def squared(x):
    return scipy.integrate.odeint(lambda y, t: -y, x, [0.0, 1.0])[-1, 0]

def constant(n):
    return np.ones(n)

calls = []

def differs(x):
    calls.append(0)
    return x + len(calls)
"""


@pytest.fixture(autouse=True)
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "solvers_to_port.py").write_text(PROGRAM)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    yield
    sys.modules.pop("solvers_to_port", None)


def told(capsys: pytest.CaptureFixture[str], name: str, args: str, code: int = 0) -> list[str]:
    assert main(["port", f"solvers_to_port.py:{name}", "--args", args, "--solves", "3"]) == code
    return capsys.readouterr().out.splitlines()


def test_what_is_told(capsys):
    title, converted, names, by_jax, functions, result, one, batch = told(capsys, "halved", "np.array([9.0, 4.0]), 1.5")
    assert title == "solvers_to_port.py:halved, ported"
    assert (converted, names.strip()) == ("  converted  1 functions", "solvers_to_port.halved")
    assert by_jax.startswith("  by JAX     ") and "numpy.sqrt" in functions
    assert result == "  result     the same" and " ms by the original" in one
    assert batch.startswith("  3 solves ") and "times as fast as a loop" in batch


def test_without_floats_there_is_no_batch(capsys):
    assert told(capsys, "constant", "3")[-1] == "  no argument is a float: there is nothing to make a batch of"


def test_a_difference_is_told(capsys):
    assert "  result     DIFFERS by 0.667" in told(capsys, "differs", "0.5", code=1)


def test_what_is_refused(capsys):
    assert main(["port", "solvers_to_port.py:squared", "--args", "0.5"]) == 1
    assert "odeint` has no counterpart" in capsys.readouterr().err


def test_arguments_that_do_not_fit(capsys):
    assert main(["port", "solvers_to_port.py:squared"]) == 2
    assert "does not fit" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wanted, found, difference",
    [
        ({"x": np.array([1.0, 200.0])}, {"x": np.array([1.5, 201.0])}, 0.5),
        ([1.0, "a"], [1.0, "a"], 0.0),
        ([1.0, "a"], [1.0, "b"], float("inf")),
        (np.ones(2), np.ones(3), float("inf")),
        ((1, 2), (1,), float("inf")),
        (float("nan"), float("nan"), 0.0),
    ],
)
def test_differences(wanted, found, difference):
    assert port._difference(wanted, found) == difference
